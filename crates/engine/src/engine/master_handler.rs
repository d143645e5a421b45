//! The handler of all signals: it notes what came, and gets translated code to where the program's registers are complete.
//!
//! It can interrupt anything, so it allocates nothing and uses nothing of the thread: the base of `fs` may be the program's.
#![allow(unsafe_code)]

use linux_raw_sys::general as sys;

use super::masks::{self, FAULTS, bit, has};
use super::own_call::{STOPPED, exit};
use super::{FAULT_EXIT, SIGNAL_EXIT};
use crate::arena::Arena;
use crate::raw;
use crate::state::{OWN_ADDRESS, State};
use crate::switch::{self, Place};

/// Registers of a `ucontext`, as indexes of its words.
pub(crate) mod word {
    pub(crate) const STACK: usize = 2;
    pub(crate) const REGISTERS: usize = 5;
    pub(crate) const RIP: usize = 21;
    pub(crate) const FLAGS: usize = 22;
    pub(crate) const SEGMENTS: usize = 23;
    pub(crate) const ERROR: usize = 24;
    pub(crate) const TRAP: usize = 25;
    pub(crate) const FAULT_ADDRESS: usize = 27;
    pub(crate) const FLOATING_POINT: usize = 28;
    pub(crate) const MASK: usize = 37;
    /// Words of the whole.
    pub(crate) const COUNT: usize = 38;
    /// General registers in the order of a `ucontext`, by their numbers in encodings: r8 to r15, then these.
    pub(crate) const ORDER: [usize; 16] = [8, 9, 10, 11, 12, 13, 14, 15, 7, 6, 5, 3, 2, 0, 1, 4];
}

/// The trap flag: the processor stops after each instruction.
pub(crate) const TRAP_FLAG: u64 = 0x100;

/// The flag for alignment checks: an access that is not aligned is a fault.
const ALIGNMENT_FLAG: i32 = 0x4_0000;

const REGISTER_RAX: usize = 18;

/// The code of a signal that `tgkill` has sent.
const SENT_TO_THREAD: i32 = -6;

#[repr(C)]
struct KernelAction {
    handler: u64,
    flags: u64,
    restorer: u64,
    mask: u64,
}

/// Installs the handler for a signal. Its other flags are the program's.
pub(crate) fn install(signal: u32, flags: u64) {
    let own = u64::from(sys::SA_SIGINFO | sys::SA_ONSTACK | sys::SA_RESTORER);
    let action = KernelAction {
        handler: enter as *const () as u64,
        flags: own | flags,
        restorer: restore as *const () as u64,
        mask: u64::MAX,
    };
    set(signal, &action);
}

/// Leaves a signal to the kernel: `SIG_DFL` or `SIG_IGN`. `false` if that fails.
pub(crate) fn leave_to_kernel(signal: u32, handler: u64, flags: u64) -> bool {
    set(signal, &KernelAction { handler, flags: flags & !u64::from(sys::SA_RESTORER), restorer: 0, mask: 0 })
}

fn set(signal: u32, action: &KernelAction) -> bool {
    let arguments = [u64::from(signal), std::ptr::from_ref(action) as u64, 0, 8, 0, 0];
    // SAFETY: the action is complete, and its handler keeps to the rules of one.
    unsafe { raw::system_call(u64::from(sys::__NR_rt_sigaction), arguments) == 0 }
}

/// Returns `SIG_IGN` if the kernel ignores a signal.
pub(crate) fn is_ignored(signal: u32) -> bool {
    let mut action = KernelAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
    let arguments = [u64::from(signal), 0, &raw mut action as u64, 8, 0, 0];
    // SAFETY: the kernel writes to the action alone.
    unsafe { raw::system_call(u64::from(sys::__NR_rt_sigaction), arguments) };
    action.handler == 1
}

#[unsafe(naked)]
unsafe extern "C" fn restore() -> ! {
    std::arch::naked_asm!("mov eax, {number}", "syscall", number = const sys::__NR_rt_sigreturn)
}

/// Goes on with [`handle`]. The kernel leaves the flag for alignment checks as the program has it, and compiled code is not aligned.
#[unsafe(naked)]
unsafe extern "C" fn enter() -> ! {
    std::arch::naked_asm!(
        "pushfq",
        "and dword ptr [rsp], {without_checks}",
        "popfq",
        "jmp {handle}",
        without_checks = const !ALIGNMENT_FLAG,
        handle = sym handle,
    )
}

extern "C" fn handle(signal: u32, data: *const [u64; 16], context: *mut [u64; word::COUNT]) {
    let state: *mut State;
    // SAFETY: the base of `gs` is the state since before the handler was installed, and the kernel gives the other two.
    let (state, data, context) = unsafe {
        std::arch::asm!("mov {}, gs:[{}]", out(reg) state, const OWN_ADDRESS, options(nostack, readonly));
        (&mut *state, &*data, &mut *context)
    };
    let rip = context[word::RIP];
    let is_of_kernel = (data[1] as i32) > 0;
    if signal == sys::SIGTRAP && is_of_kernel {
        if matches!(switch::place(rip), Place::GoingOn) {
            // The instruction before has loaded flags that were read before the signal came.
            context[word::FLAGS] |= TRAP_FLAG;
        }
        if context[word::FLAGS] & TRAP_FLAG != 0 {
            return step(state, context);
        }
    }
    if has(FAULTS, signal) && is_of_kernel {
        return fault(signal, state, data, context);
    }
    let blocked = if state.has_temporary_mask { state.mask } else { state.blocked_faults };
    if has(FAULTS, signal) && masks::is_ignored(signal) && !has(blocked, signal) {
        // Sent by a process: a call that it has interrupted is made again.
        state.has_held_back = true;
        return;
    }
    if has(FAULTS, signal) && (has(blocked, signal) || state.pending != 0) {
        // Sent by a process: it waits in the kernel until the program changes its mask, or the other one is delivered.
        if signal != sys::SIGTRAP || state.pending == 0 {
            context[word::MASK] |= bit(signal);
            state.has_held_back = true;
            if has(blocked, signal) {
                state.held_for_call |= bit(signal) & !state.blocked_faults;
            }
            send_again(signal.into(), data);
            return;
        }
        if has(blocked, signal) {
            // Single steps need it, so it can wait nowhere.
            return;
        }
        // The same for the other one, which waits in the kernel instead.
        send_again(state.pending, &state.signal_data);
        context[word::MASK] |= bit(state.pending as u32);
        state.pending = u64::from(signal);
        state.signal_data = *data;
        return;
    }
    note(signal, state, data, context);
    match switch::place(rip) {
        Place::Call => {
            context[word::RIP] = switch::call_end();
            context[REGISTER_RAX] = switch::RESTART as u64;
        }
        Place::GoingOn => {
            state.flags |= TRAP_FLAG;
            context[word::FLAGS] |= TRAP_FLAG;
        }
        _ if Arena::has_code(rip) => {
            context[word::FLAGS] |= TRAP_FLAG;
            step(state, context);
        }
        // The engine may be about to go on already.
        _ => state.flags |= TRAP_FLAG,
    }
}

/// Notes a signal. Until it is delivered, others wait, and single steps are possible.
fn note(signal: u32, state: &mut State, data: &[u64; 16], context: &mut [u64; word::COUNT]) {
    state.pending = u64::from(signal);
    state.saved_mask = context[word::MASK] | state.blocked_faults;
    context[word::MASK] |= !FAULTS;
    context[word::MASK] &= !bit(sys::SIGTRAP);
    state.signal_data = *data;
    state.fault = [context[word::ERROR], context[word::TRAP], context[word::FAULT_ADDRESS]];
}

/// Sends the signal that waits to this process again, while all signals are blocked: from then on it waits in the kernel.
pub(super) fn give_back(state: &mut State) {
    let pending = masks::pending(state);
    if pending != 0 {
        send_again(pending, &state.signal_data);
        state.pending = 0;
        state.flags &= !TRAP_FLAG;
    }
}

/// Sends a signal again: to this thread if it was sent to that, otherwise to the process.
fn send_again(signal: u64, data: &[u64; 16]) {
    // SAFETY: the calls send a signal to this process.
    unsafe {
        let process = raw::system_call(u64::from(sys::__NR_getpid), [0; 6]) as u64;
        let thread = raw::system_call(u64::from(sys::__NR_gettid), [0; 6]) as u64;
        if data[1] as i32 == SENT_TO_THREAD {
            let arguments = [process, thread, signal, data.as_ptr() as u64, 0, 0];
            raw::system_call(u64::from(sys::__NR_rt_tgsigqueueinfo), arguments);
            return;
        }
        let arguments = [process, signal, data.as_ptr() as u64, 0, 0, 0];
        if raw::system_call(u64::from(sys::__NR_rt_sigqueueinfo), arguments) < 0 {
            // Only the first thread may say that another process has sent it.
            raw::system_call(u64::from(sys::__NR_kill), [process, signal, 0, 0, 0, 0]);
        }
    }
}

/// Lets translated code go on to the start of a block, or of an instruction in it, where all registers are the program's. Each step takes as
/// long as thousands of instructions.
fn step(state: &mut State, context: &mut [u64; word::COUNT]) {
    let rip = context[word::RIP];
    if state.pending == 0 || matches!(switch::place(rip), Place::Leaving) {
        context[word::FLAGS] &= !TRAP_FLAG;
        return;
    }
    if Arena::begins_block(rip) || Arena::is_boundary(rip) {
        state.interrupted = rip;
        state.exit = u64::from(SIGNAL_EXIT);
        context[word::FLAGS] &= !TRAP_FLAG;
        context[word::RIP] = switch::leave_address();
    }
}

fn fault(signal: u32, state: &mut State, data: &[u64; 16], context: &mut [u64; word::COUNT]) {
    let rip = context[word::RIP];
    if !Arena::has_code(rip) {
        // A fault of the engine: the kernel ends the process when the instruction runs again.
        if !leave_to_kernel(signal, 0, 0) {
            // A filter of system calls does not allow it.
            exit(STOPPED);
        }
        return;
    }
    if state.pending != 0 {
        // The signal that waits was blocked for the kernel to give this one first: it is sent again.
        send_again(state.pending, &state.signal_data);
        context[word::MASK] = state.saved_mask;
    }
    note(signal, state, data, context);
    context[word::FLAGS] &= !TRAP_FLAG;
    state.interrupted = rip;
    state.exit = u64::from(FAULT_EXIT);
    context[word::RIP] = switch::leave_address();
}
