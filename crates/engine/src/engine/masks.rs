//! The signals that the program blocks, and those that the kernel blocks for it.
//!
//! The kernel never blocks the signal that stops threads, nor those that an instruction causes: it ends a process that causes one which is
//! blocked or ignored, and no profile would be written. The engine keeps in mind which of them the program blocks and ignores. Only while
//! another program takes its place does the kernel do so.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicU64, Ordering};

use linux_raw_sys::errno::{EFAULT, EINVAL};
use linux_raw_sys::general as sys;

use super::Engine;
use super::own_call::own_call;
use crate::memory;
use crate::state::State;
use crate::switch;

/// The signal that stops threads, which Valgrind does not give to programs either.
pub(crate) const STOP_SIGNAL: u32 = 64;

/// Signals that an instruction causes.
const FAULT_SIGNALS: [u32; 5] = [sys::SIGILL, sys::SIGTRAP, sys::SIGBUS, sys::SIGFPE, sys::SIGSEGV];

/// The same as a mask.
pub(super) const FAULTS: u64 = {
    let mut mask = 0;
    let mut index = 0;
    while index < FAULT_SIGNALS.len() {
        mask |= bit(FAULT_SIGNALS[index]);
        index += 1;
    }
    mask
};

/// The faults that the program ignores if a process sends them. The handler reads it.
static IGNORED: AtomicU64 = AtomicU64::new(0);

/// Notes whether the program ignores a fault.
pub(super) fn set_ignored(fault: u32, is_ignored: bool) {
    if is_ignored {
        IGNORED.fetch_or(bit(fault), Ordering::SeqCst);
    } else {
        IGNORED.fetch_and(!bit(fault), Ordering::SeqCst);
    }
}

/// `true` if the program ignores a fault.
pub(super) fn is_ignored(fault: u32) -> bool {
    has(IGNORED.load(Ordering::SeqCst), fault)
}

/// Iterates over the faults that the program ignores.
pub(super) fn ignored_faults() -> impl Iterator<Item = u32> {
    FAULT_SIGNALS.into_iter().filter(|fault| is_ignored(*fault))
}

/// Returns the mask with one signal.
pub(super) const fn bit(signal: u32) -> u64 {
    1 << (signal - 1)
}

/// `true` if a mask has a signal.
pub(super) fn has(mask: u64, signal: u32) -> bool {
    mask & bit(signal) != 0
}

/// Returns a mask that lets the engine stop the thread.
pub(super) fn without_stop(mask: u64) -> u64 {
    mask & !bit(STOP_SIGNAL)
}

/// Blocks signals as the program wants it. Those that were blocked before may come at once.
pub(crate) fn set_mask(state: &mut State, mask: u64) {
    set_blocked_faults(state, mask & FAULTS);
    set_of_kernel(without_stop(mask) & !FAULTS);
}

/// Notes which faults the program blocks. The handler reads it, which the compiler does not know.
fn set_blocked_faults(state: &mut State, faults: u64) {
    // SAFETY: this is a field of the state.
    unsafe { (&raw mut state.blocked_faults).write_volatile(faults) };
}

/// Returns the signal that waits, or 0. The handler may just have noted it, which the compiler does not know.
pub(super) fn pending(state: &State) -> u64 {
    // SAFETY: this is a field of the state.
    unsafe { (&raw const state.pending).read_volatile() }
}

/// Returns the signals that the program has blocked, given those that the kernel blocks now or has blocked before all were. The kernel blocks
/// more if a signal waits.
pub(super) fn program_mask(state: &State, of_kernel: u64) -> u64 {
    if pending(state) == 0 {
        return of_kernel | state.blocked_faults;
    }
    // SAFETY: this is a field of the state, which the handler has written with the signal.
    unsafe { (&raw const state.saved_mask).read_volatile() }
}

/// Lets the kernel block what the program blocks, for a program that takes its place.
pub(super) fn hand_over(state: &mut State) {
    state.has_handed_over = true;
    if state.blocked_faults != 0 {
        change(sys::SIG_BLOCK, state.blocked_faults);
    }
}

/// Takes back what was handed over, if no program has taken the place. `false` if nothing was.
pub(super) fn take_back(state: &mut State) -> bool {
    let was_handed_over = std::mem::take(&mut state.has_handed_over);
    if was_handed_over && state.blocked_faults != 0 {
        change(sys::SIG_UNBLOCK, FAULTS);
    }
    was_handed_over
}

/// `true` if a signal that the program blocks or ignores has come since the last call.
pub(super) fn was_held_back(state: &mut State) -> bool {
    // SAFETY: this is a field of the state, which the handler writes.
    unsafe {
        let was_held_back = (&raw const state.has_held_back).read_volatile();
        (&raw mut state.has_held_back).write_volatile(false);
        was_held_back
    }
}

/// Unblocks those faults that the program blocked only during a system call, which has ended.
pub(super) fn let_held_faults_come(state: &mut State) {
    let (held, saved_mask) = (&raw mut state.held_for_call, &raw mut state.saved_mask);
    // SAFETY: these are fields of the state, which the handler writes.
    unsafe {
        let faults = held.read_volatile();
        if faults != 0 {
            held.write_volatile(0);
            change(sys::SIG_UNBLOCK, faults);
            // Of a signal that has come meanwhile.
            saved_mask.write_volatile(saved_mask.read_volatile() & !faults);
        }
    }
}

fn change(how: u32, mask: u64) {
    own_call(sys::__NR_rt_sigprocmask, [how.into(), &raw const mask as u64, 0, 8, 0, 0]);
}

/// Lets the kernel block all signals, and returns those that it blocked before.
pub(crate) fn block_all() -> u64 {
    let (mask, mut before) = (u64::MAX, 0u64);
    let arguments = [sys::SIG_SETMASK.into(), &raw const mask as u64, &raw mut before as u64, 8, 0, 0];
    own_call(sys::__NR_rt_sigprocmask, arguments);
    before
}

/// Does the same for a call that a signal must not interrupt. `None` if one came before the call: its handler runs first.
pub(super) fn block_all_for_call(state: &State) -> Option<u64> {
    let before = block_all();
    (pending(state) == 0).then_some(before)
}

/// Lets the kernel block exactly these signals.
pub(super) fn set_of_kernel(mask: u64) {
    change(sys::SIG_SETMASK, mask);
}

/// Returns the signals that the kernel blocks.
pub(super) fn of_kernel() -> u64 {
    let mut mask = 0u64;
    own_call(sys::__NR_rt_sigprocmask, [0, 0, &raw mut mask as u64, 8, 0, 0]);
    mask
}

/// `true` if the kernel alone can make the call that changes a mask: no fault is blocked before or after it.
pub(super) fn is_for_kernel(state: &State, change: u64) -> bool {
    (change | state.blocked_faults) & FAULTS == 0
}

impl Engine {
    /// `rt_sigprocmask`, with the signals of its set, if it has one.
    pub(super) fn change_mask(&mut self, state: &mut State, how: u64, set: Option<u64>, old: u64) -> i64 {
        let Some(of_kernel) = block_all_for_call(state) else { return switch::RESTART };
        let before = of_kernel | state.blocked_faults;
        let after = match (set, how as u32) {
            (None, _) => Some(before),
            (Some(set), sys::SIG_BLOCK) => Some(before | set),
            (Some(set), sys::SIG_UNBLOCK) => Some(before & !set),
            (Some(set), sys::SIG_SETMASK) => Some(set),
            _ => None,
        };
        set_mask(state, after.unwrap_or(before));
        match after {
            None => -i64::from(EINVAL),
            Some(_) if old != 0 && !memory::write_words(&self.space, old, &[before]) => -i64::from(EFAULT),
            Some(_) => 0,
        }
    }
}
