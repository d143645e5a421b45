//! Memory of the program that is locked: `mlockall` and what belongs to it.
//!
//! The kernel would lock all of the process, with the gigabytes that the engine reserves and never uses, and count them against the limit
//! of locked memory. So the engine locks the mappings of the program one by one, also those that it maps later.

use linux_raw_sys::errno::{EINVAL, ENOMEM};
use linux_raw_sys::general as sys;

use super::Engine;
use super::own_call::own_call;
use crate::address_space::{STACK_END, page_end, page_start};
use crate::raw;
use crate::state::State;

/// The memory that the kernel maps below the stack pointer of a program that begins.
const FIRST_STACK_BYTES: u64 = 128 << 10;

/// Locks for memory that the program maps from now on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum FutureLocks {
    #[default]
    None,
    /// It is read at once, and stays in memory.
    All,
    /// A page stays in memory once it was touched.
    Touched,
}

impl FutureLocks {
    /// Returns the flag that new mappings of the program have: with it, the kernel refuses those beyond the limit.
    pub(super) fn flag(self) -> u32 {
        if self == FutureLocks::All { sys::MAP_LOCKED } else { 0 }
    }

    /// Locks a new mapping that has the flag, as far as it is not locked. `false` if it is beyond the limit.
    pub(super) fn lock(self, start: u64, length: u64) -> bool {
        self != FutureLocks::Touched || raw::error_of(lock_touched(start, length)).is_none()
    }

    /// Locks shared memory, which is attached without a flag. It is there, so an error would come too late.
    pub(super) fn lock_attached(self, start: u64, length: u64) {
        match self {
            FutureLocks::None => {}
            FutureLocks::All => drop(own_call(sys::__NR_mlock, [start, length, 0, 0, 0, 0])),
            FutureLocks::Touched => drop(lock_touched(start, length)),
        }
    }
}

/// Locks the pages of a range that are touched. The kernel checks whether the program may.
fn lock_touched(start: u64, length: u64) -> i64 {
    own_call(sys::__NR_mlock2, [start, length, u64::from(sys::MLOCK_ONFAULT), 0, 0, 0])
}

impl Engine {
    /// `mlockall`
    pub(super) fn lock_all(&mut self, state: &State, flags: u32) -> i64 {
        let known = sys::MCL_CURRENT | sys::MCL_FUTURE | sys::MCL_ONFAULT;
        if flags & !known != 0 || flags & (sys::MCL_CURRENT | sys::MCL_FUTURE) == 0 {
            return -i64::from(EINVAL);
        }
        // The kernel says whether the program may lock anything at all.
        let result = lock_touched(page_start(STACK_END - 1), 0);
        if raw::error_of(result).is_some() {
            return result;
        }
        let is_for_touched = flags & sys::MCL_ONFAULT != 0;
        if flags & sys::MCL_CURRENT != 0 {
            let result = self.lock_mapped(state, is_for_touched);
            if raw::error_of(result).is_some() {
                return result;
            }
        }
        self.future_locks = match flags & sys::MCL_FUTURE {
            0 => FutureLocks::None,
            _ if is_for_touched => FutureLocks::Touched,
            _ => FutureLocks::All,
        };
        0
    }

    /// `munlockall`
    pub(super) fn unlock_all(&mut self) -> i64 {
        self.future_locks = FutureLocks::None;
        own_call(sys::__NR_munlockall, [0; 6])
    }

    /// `true` if a range that the program locks is the engine's: alone, nothing would be there.
    pub(super) fn locks_foreign(&self, start: u64, length: u64) -> bool {
        let has_end = start.checked_add(length).is_some_and(|end| page_end(end) != 0);
        length != 0 && has_end && self.space.is_foreign(start, length)
    }

    fn lock_mapped(&self, state: &State, is_for_touched: bool) -> i64 {
        let ranges: Vec<[u64; 2]> =
            self.space.ranges().map(|(start, end)| self.without_unused_stack(state, start, end)).collect();
        for (index, &[start, end]) in ranges.iter().enumerate() {
            // This way the kernel reads nothing, and an error is that of the limit.
            if raw::error_of(lock_touched(start, end - start)).is_some() {
                for &[start, end] in &ranges[..index] {
                    own_call(sys::__NR_munlock, [start, end - start, 0, 0, 0, 0]);
                }
                return -i64::from(ENOMEM);
            }
        }
        if !is_for_touched {
            for [start, end] in ranges {
                // As with the call of the program, memory that cannot be read is no error.
                own_call(sys::__NR_mlock, [start, end - start, 0, 0, 0, 0]);
            }
        }
        0
    }

    /// Returns what is in use of a mapping: alone, the stack grows as it is needed.
    fn without_unused_stack(&self, state: &State, start: u64, end: u64) -> [u64; 2] {
        if end != STACK_END {
            return [start, end];
        }
        let sp = Some(state.gpr[4]).filter(|sp| (start..end).contains(sp)).unwrap_or(end);
        [start.max(page_start(sp) - FIRST_STACK_BYTES), end]
    }
}
