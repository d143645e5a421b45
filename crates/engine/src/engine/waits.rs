//! System calls that wait. The signal of the engine, which stops threads and wakes the program up for requests, is never in their masks and
//! sets of signals, and a wait that it interrupts goes on for the rest of its time.

use std::time::{Duration, Instant};

use linux_raw_sys::general as sys;

use super::Engine;
use super::masks::without_stop;
use crate::memory;
use crate::state::{State, Wait};

/// The size of a mask.
const MASK_BYTES: u64 = 8;

/// The part of the operation of `futex` that is not a flag.
const FUTEX_COMMAND: u64 = 0x7f;

/// The flag of `io_uring_enter` that its mask is in a structure.
const EXTENDED_ARGUMENT: u64 = 8;

/// The flag of `io_uring_enter` that its time is the one of the clock at which it ends.
const ABSOLUTE_TIMER: u64 = 1 << 5;

/// A limit of time of a system call.
enum TimeLimit {
    /// The address of seconds and nanoseconds.
    Time(usize),
    Milliseconds(usize),
    /// The third word of a structure is the address of the time.
    OfStructure(usize),
}

/// Returns the argument of a system call that limits its time, and is left as it is when the call is interrupted.
fn time_limit(number: u64, arguments: [u64; 6]) -> Option<TimeLimit> {
    let limit = match number as u32 {
        sys::__NR_nanosleep => TimeLimit::Time(0),
        sys::__NR_clock_nanosleep if arguments[1] & u64::from(sys::TIMER_ABSTIME) == 0 => TimeLimit::Time(2),
        sys::__NR_rt_sigtimedwait => TimeLimit::Time(2),
        sys::__NR_futex if arguments[1] & FUTEX_COMMAND == u64::from(sys::FUTEX_WAIT) => TimeLimit::Time(3),
        sys::__NR_epoll_pwait2 | sys::__NR_semtimedop => TimeLimit::Time(3),
        sys::__NR_io_getevents | sys::__NR_io_pgetevents => TimeLimit::Time(4),
        sys::__NR_io_uring_enter
            if arguments[3] & (EXTENDED_ARGUMENT | ABSOLUTE_TIMER) == EXTENDED_ARGUMENT =>
        {
            TimeLimit::OfStructure(4)
        }
        sys::__NR_poll => TimeLimit::Milliseconds(2),
        sys::__NR_epoll_wait | sys::__NR_epoll_pwait => TimeLimit::Milliseconds(3),
        _ => return None,
    };
    Some(limit)
}

impl Engine {
    /// Returns the arguments of a system call at an address, with the rest of the time if it has waited before.
    pub(super) fn with_rest_of_time(
        &self,
        state: &mut State,
        number: u64,
        next: u64,
        mut arguments: [u64; 6],
    ) -> [u64; 6] {
        let call = [number, next, state.gpr[4]];
        let before = state.wait.take().filter(|wait| wait.is_interrupted && wait.call == call);
        let Some(limit) = time_limit(number, arguments) else { return arguments };
        let length = match limit {
            TimeLimit::Milliseconds(index) => {
                u64::try_from(arguments[index] as i32).ok().map(Duration::from_millis)
            }
            TimeLimit::Time(index) => self.duration(arguments[index]),
            TimeLimit::OfStructure(index) => {
                self.structure(state, arguments[index]).and_then(|words| self.duration(words[2]))
            }
        };
        let now = Instant::now();
        let end = before.map(|before| before.end).or_else(|| now.checked_add(length?));
        let Some(end) = end else { return arguments };
        state.wait = Some(Wait { call, end, is_interrupted: false });
        if before.is_some() {
            let rest = end.saturating_duration_since(now);
            state.rest_of_time = [rest.as_secs(), rest.subsec_nanos().into()];
            let rest_of_time = &raw const state.rest_of_time as u64;
            match limit {
                TimeLimit::Milliseconds(index) => {
                    arguments[index] = rest.as_nanos().div_ceil(1_000_000) as u64;
                }
                TimeLimit::Time(index) => arguments[index] = rest_of_time,
                TimeLimit::OfStructure(index) => {
                    let Some([mask, size, _]) = self.structure(state, arguments[index]) else {
                        return arguments;
                    };
                    state.mask_words = [mask, size, rest_of_time];
                    arguments[index] = &raw const state.mask_words as u64;
                }
            }
        }
        arguments
    }

    /// Returns the words of a structure of the program, or of the copy with the mask of the engine.
    fn structure(&self, state: &State, address: u64) -> Option<[u64; 3]> {
        if address == &raw const state.mask_words as u64 {
            return Some(state.mask_words);
        }
        let mut words = [0; 3];
        memory::read_words(&self.space, address, &mut words).then_some(words)
    }

    fn duration(&self, address: u64) -> Option<Duration> {
        let mut words = [0; 2];
        let is_read = address != 0 && memory::read_words(&self.space, address, &mut words);
        let [seconds, nanoseconds] = words;
        let is_valid = seconds <= u64::from(u32::MAX) && nanoseconds < 1_000_000_000;
        (is_read && is_valid).then(|| Duration::new(seconds, nanoseconds as u32))
    }

    /// Returns the arguments of a system call with the mask, or the structure that has its address, in memory of the engine. The kernel
    /// reads it while the lock is free, from where only this thread writes. What cannot be read is left to the kernel.
    pub(super) fn with_own_mask(&self, state: &mut State, number: u32, arguments: [u64; 6]) -> [u64; 6] {
        let is_extended = arguments[3] & EXTENDED_ARGUMENT != 0;
        let own = match number {
            sys::__NR_rt_sigsuspend => self.own_mask(state, arguments, 0, 1),
            sys::__NR_rt_sigtimedwait => self.own_mask(state, arguments, 0, 3),
            sys::__NR_signalfd | sys::__NR_signalfd4 => self.own_mask(state, arguments, 1, 2),
            sys::__NR_ppoll => self.own_mask(state, arguments, 3, 4),
            sys::__NR_pselect6 | sys::__NR_io_pgetevents => self.own_structure(state, arguments, 5, 2),
            sys::__NR_io_uring_enter if is_extended => self.own_structure(state, arguments, 4, 3),
            _ => self.own_mask(state, arguments, 4, 5),
        };
        // The others have a set of signals to wait for.
        let is_mask = !matches!(number, sys::__NR_rt_sigtimedwait | sys::__NR_signalfd | sys::__NR_signalfd4);
        state.has_temporary_mask = is_mask && own.is_some();
        own.unwrap_or(arguments)
    }

    /// The address of a mask and its size are arguments.
    fn own_mask(
        &self,
        state: &mut State,
        mut arguments: [u64; 6],
        index: usize,
        size: usize,
    ) -> Option<[u64; 6]> {
        arguments[index] = self.copied_mask(state, arguments[index], arguments[size])?;
        Some(arguments)
    }

    /// An argument is the address of a structure of this many words, which begins with the address of a mask and its size.
    fn own_structure(
        &self,
        state: &mut State,
        mut arguments: [u64; 6],
        index: usize,
        count: usize,
    ) -> Option<[u64; 6]> {
        let mut words = [0; 3];
        let is_read = memory::read_words(&self.space, arguments[index], &mut words[..count]);
        if arguments[index] == 0 || !is_read {
            return None;
        }
        words[0] = self.copied_mask(state, words[0], words[1] & u64::from(u32::MAX))?;
        state.mask_words = words;
        arguments[index] = &raw const state.mask_words as u64;
        Some(arguments)
    }

    fn copied_mask(&self, state: &mut State, address: u64, size: u64) -> Option<u64> {
        let mut words = [0];
        if address == 0 || size != MASK_BYTES || !memory::read_words(&self.space, address, &mut words) {
            return None;
        }
        state.mask = without_stop(words[0]);
        Some(&raw const state.mask as u64)
    }
}
