//! The state of a thread of the program: its registers while the engine runs, and what translated code keeps in memory.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::contexts::ContextId;

/// A frame of the shadow stack: a call that has not returned.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(crate) struct Frame {
    /// The stack pointer behind the call.
    pub(crate) sp: u64,
    /// The code that a return goes on with.
    pub(crate) continuation: u64,
    /// The cost at the call.
    pub(crate) enter_cost: u64,
    /// The number of the edge. In memory it is right only if the engine has written it: see [`EDGE_IN_FRAME`].
    pub(crate) edge: u32,
    /// 1 if the call is counted in a part of the profile, otherwise 0. In memory as the edge.
    pub(crate) is_counted: u32,
}

/// The number before the code of a continuation is that of its edge. This one says that the frame has it.
pub(crate) const EDGE_IN_FRAME: u32 = u32::MAX - 1;

impl Frame {
    pub(crate) const BYTES: i8 = 32;
}

// Translated code reaches the fields by these offsets.
const _: () = assert!(
    std::mem::offset_of!(Frame, continuation) == 8
        && std::mem::offset_of!(Frame, enter_cost) == 16
        && std::mem::offset_of!(Frame, edge) == 24
        && size_of::<Frame>() == Frame::BYTES as usize
);

/// The registers and counters of a thread. Translated code reaches it through the base of `gs`.
#[derive(Debug)]
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
    /// All instructions so far, while translated code does not run.
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
    /// Aligned to their size.
    pub(crate) vectors: [[u64; 4]; 16],
    /// A part of the cost while translated code runs, otherwise 0: an addition to a number in memory waits for the one before it to the same.
    pub(crate) part_of_cost: u64,
    /// The value that the program has in the scratch register, while translated code runs.
    pub(crate) kept: u64,
    /// The flags of the last return that took some along, as `lahf` has them, and the overflow flag in the lowest bit.
    pub(crate) returned_flags: u64,
    /// A signal that was caught and is not delivered yet; 0 if there is none.
    pub(crate) pending: u64,
    /// The signals that the program had blocked when it was caught.
    pub(crate) saved_mask: u64,
    /// The signals that the program blocks although the kernel does not.
    pub(crate) blocked_faults: u64,
    /// `true` if one of them came, and waits in the kernel, or one that the program ignores.
    pub(crate) has_held_back: bool,
    /// Those of them that the program blocks only during a system call. The kernel blocks them until that ends.
    pub(crate) held_for_call: u64,
    /// `true` while the kernel blocks them, and ignores those that the program ignores, as another program may take the place of this one.
    pub(crate) has_handed_over: bool,
    /// The interrupted code: the number of a block that is about to run, or the translated code of a fault.
    pub(crate) interrupted: u64,
    /// The kernel's description of the signal.
    pub(crate) signal_data: [u64; 16],
    /// Error code, number and address of a fault.
    pub(crate) fault: [u64; 3],
    /// The lowest frame of the shadow stack.
    pub(crate) first_frame: u64,
    /// The size of the shadow stack.
    pub(crate) shadow_bytes: u64,
    /// The context of code that no call has entered, and the cost at its start.
    pub(crate) root: ContextId,
    pub(crate) root_cost: u64,
    /// Handlers of signals that run.
    pub(crate) levels: Vec<Level>,
    /// The alternative stack for them: address, flags, size.
    pub(crate) alternative_stack: [u64; 3],
    /// The mask of a system call that sets one.
    pub(crate) mask: u64,
    /// `true` if that is blocked until the call ends.
    pub(crate) has_temporary_mask: bool,
    /// The structure with its address that some have.
    pub(crate) mask_words: [u64; 3],
    /// The system call with a limit of time that was made last, and the rest of its time.
    pub(crate) wait: Option<Wait>,
    pub(crate) rest_of_time: [u64; 2],
    /// The number that the kernel has for the thread.
    pub(crate) thread: u32,
    /// The address of the number that the end of the thread sets to 0; 0 if there is none.
    pub(crate) cleared_at_end: u64,
    /// The list of robust locks; 0 if there is none.
    pub(crate) robust_list: u64,
    /// `true` if costs are collected.
    pub(crate) collects: bool,
    /// `true` if calls are followed: the thread runs code that was translated for that.
    pub(crate) is_counted: bool,
    /// 1 if the cost, the end of the shadow stack, and what is spilled or kept are in vector registers while translated code runs.
    pub(crate) has_vector: u64,
    /// Blocks that run before what was counted is written.
    pub(crate) blocks_left: u64,
    /// `true` while translated code runs, and not the engine or a system call.
    pub(crate) runs_code: AtomicBool,
}

/// A wait with a limit of time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// The number of the system call, the address behind it, and the stack pointer.
    pub(crate) call: [u64; 3],
    pub(crate) end: Instant,
    /// `true` if the engine has interrupted it, and the program makes the call again.
    pub(crate) is_interrupted: bool,
}

/// A handler of a signal that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Level {
    /// The context that was interrupted.
    pub(crate) context: ContextId,
    /// The address at which it was.
    pub(crate) pc: u64,
    pub(crate) cost: u64,
    /// `true` if costs were collected.
    pub(crate) collects: bool,
    /// The context of the handler.
    pub(crate) root: ContextId,
}

/// The flag of an alternative stack that there is not.
pub(crate) const STACK_DISABLED: u64 = 2;

impl State {
    /// Returns the state of a thread with memory at an address.
    pub(crate) fn new(own_address: u64, first_frame: u64, links: Links) -> State {
        State {
            gpr: [0; 16],
            flags: 0x202,
            resume: 0,
            host_rsp: 0,
            host_fs: 0,
            guest_fs: 0,
            exit: 0,
            spill0: 0,
            spill1: 0,
            spill2: 0,
            returned_flags: 0,
            shadow: first_frame,
            cost: 0,
            target: 0,
            engine: links.engine,
            handler: links.handler,
            leave: links.leave,
            own_address,
            vectors: [[0; 4]; 16],
            part_of_cost: 0,
            kept: 0,
            pending: 0,
            saved_mask: 0,
            blocked_faults: 0,
            has_held_back: false,
            held_for_call: 0,
            has_handed_over: false,
            interrupted: 0,
            signal_data: [0; 16],
            fault: [0; 3],
            first_frame,
            shadow_bytes: 0,
            root: ContextId(0),
            root_cost: 0,
            levels: Vec::new(),
            alternative_stack: [0, STACK_DISABLED, 0],
            mask: 0,
            has_temporary_mask: false,
            mask_words: [0; 3],
            wait: None,
            rest_of_time: [0; 2],
            thread: 0,
            cleared_at_end: 0,
            robust_list: 0,
            collects: true,
            is_counted: true,
            has_vector: links.has_vector,
            blocks_left: 0,
            runs_code: AtomicBool::new(true),
        }
    }

    /// Returns the count of frames of the shadow stack.
    pub(crate) fn frame_count(&self) -> u64 {
        (self.shadow - self.first_frame) / Frame::BYTES as u64
    }
}

/// The addresses that a state has of the engine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Links {
    pub(crate) engine: u64,
    pub(crate) handler: u64,
    pub(crate) leave: u64,
    pub(crate) has_vector: u64,
}

// The way into translated code loads them so.
const _: () = assert!(std::mem::offset_of!(State, vectors).is_multiple_of(32));

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
    RETURNED_FLAGS = returned_flags;
    KEPT = kept;
    SHADOW = shadow;
    FIRST_FRAME = first_frame;
    COST = cost;
    PART_OF_COST = part_of_cost;
    TARGET = target;
    HANDLER = handler;
    LEAVE = leave;
    OWN_ADDRESS = own_address;
    VECTORS = vectors;
    PENDING = pending;
    BLOCKS_LEFT = blocks_left;
    HAS_VECTOR = has_vector;
}
