//! The state of the thread that runs the program: its registers while the engine runs, and what translated code keeps in memory.

/// A frame of the shadow stack: a call that has not returned.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Frame {
    /// The complement of the stack pointer behind the call.
    pub(crate) inverse_sp: u64,
    /// The code that a return goes on with.
    pub(crate) continuation: u64,
    /// The cost at the call.
    pub(crate) enter_cost: u64,
    /// The number of the edge.
    pub(crate) edge: u32,
    pub(crate) unused: u32,
}

impl Frame {
    pub(crate) const BYTES: i8 = 32;

    pub(crate) fn sp(&self) -> u64 {
        !self.inverse_sp
    }
}

/// The registers and counters of a thread. Translated code reaches it through the base of `gs`.
#[repr(C, align(64))]
pub(crate) struct State {
    /// General registers, by their number in encodings.
    pub(crate) gpr: [u64; 16],
    pub(crate) flags: u64,
    /// The translated code to go on with.
    pub(crate) resume: u64,
    /// The stack of the engine.
    pub(crate) host_rsp: u64,
    pub(crate) host_fs: u64,
    pub(crate) guest_fs: u64,
    /// The reason to leave translated code: an index of the engine's exits.
    pub(crate) exit: u64,
    pub(crate) spill0: u64,
    pub(crate) spill1: u64,
    pub(crate) spill2: u64,
    /// The end of the shadow stack.
    pub(crate) shadow: u64,
    /// All instructions so far.
    pub(crate) cost: u64,
    /// The target of an indirect branch.
    pub(crate) target: u64,
    pub(crate) engine: u64,
    /// The engine's function that decides how to go on.
    pub(crate) handler: u64,
    /// The code that leaves translated code.
    pub(crate) leave: u64,
    /// This structure.
    pub(crate) own_address: u64,
    pub(crate) vectors: [[u64; 4]; 16],
    /// A signal that was caught and is not delivered yet; 0 if there is none.
    pub(crate) pending: u64,
    /// The signals that the program had blocked when it was caught.
    pub(crate) saved_mask: u64,
    /// The interrupted code: the number of a block that is about to run, or the translated code of a fault.
    pub(crate) interrupted: u64,
    /// The kernel's description of the signal.
    pub(crate) signal_data: [u64; 16],
    /// Error code, number and address of a fault.
    pub(crate) fault: [u64; 3],
}

macro_rules! offsets {
    ($($name:ident = $field:ident;)*) => {
        $(pub(crate) const $name: i32 = std::mem::offset_of!(State, $field) as i32;)*
    };
}

offsets! {
    FLAGS = flags;
    RESUME = resume;
    HOST_RSP = host_rsp;
    HOST_FS = host_fs;
    GUEST_FS = guest_fs;
    EXIT = exit;
    SPILL0 = spill0;
    SPILL1 = spill1;
    SPILL2 = spill2;
    SHADOW = shadow;
    COST = cost;
    TARGET = target;
    HANDLER = handler;
    LEAVE = leave;
    OWN_ADDRESS = own_address;
    VECTORS = vectors;
    PENDING = pending;
}
