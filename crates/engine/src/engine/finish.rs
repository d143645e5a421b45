//! The end of the program, and of a recording that cannot go on.

use std::cell::RefCell;

use linux_raw_sys::general as sys;

use super::flush::{Cached, FIRST, Retired};
use super::locked_memory::FutureLocks;
use super::master_handler;
use super::own_call::{STOPPED, exit, own_call};
use super::signals::HANDLER_EDGE;
use super::trigger::Trigger;
use super::{Engine, Entrance, Translated};
use crate::block::MAX_BLOCK_BYTES;
use crate::state::State;

impl Engine {
    /// Writes the profile and ends the process, as the program wants it.
    pub(super) fn end(&mut self, state: &mut State, status: u8) -> ! {
        self.return_lent_memory();
        self.write_profile(state);
        exit(status)
    }

    /// Writes the profile and ends the process by a signal.
    pub(super) fn end_by_signal(&mut self, state: &mut State, signal: u32) -> ! {
        self.write_profile(state);
        master_handler::leave_to_kernel(signal, 0, 0);
        // To this thread: the process does not go on until another one has taken it.
        let process = u64::from(std::process::id());
        let thread = own_call(sys::__NR_gettid, [0; 6]) as u64;
        own_call(sys::__NR_tgkill, [process, thread, u64::from(signal), 0, 0, 0]);
        let unblocked = 1u64 << (signal - 1);
        let unblock = u64::from(sys::SIG_UNBLOCK);
        own_call(sys::__NR_rt_sigprocmask, [unblock, &raw const unblocked as u64, 0, 8, 0, 0]);
        exit(STOPPED)
    }

    /// Says why the recording cannot go on, writes the profile so far, and ends the process.
    pub(super) fn stop(&mut self, state: &mut State, reason: &str) -> ! {
        self.options.report(&format!("the recording ended early: {reason}"));
        self.write_profile(state);
        exit(STOPPED)
    }

    /// Ends the process if there is no memory for more code or counters. There is none for a profile then.
    pub(super) fn out_of_memory(&self) -> ! {
        self.options.report(
            "the recording ended early: the program has more code than the native engine has memory for",
        );
        exit(STOPPED)
    }

    fn write_profile(&mut self, state: &mut State) {
        self.stop_others(state);
        self.end_calls(state);
        for other in self.threads.others(state) {
            self.end_calls(other);
        }
        self.release_code(state);
        self.write_part(&Trigger::End, None);
        self.options.client.end(std::process::id(), self.collected);
    }

    /// Gives back the memory of what only code that runs needs: the process ends with the profile, which needs memory, too.
    fn release_code(&mut self, state: &State) {
        if !self.threads.running_others(state).is_empty() {
            return;
        }
        self.cached = Cached::default();
        self.needed_flags = RefCell::default();
        self.retired = Retired::default();
        self.exits = Vec::new();
        self.arena.release_code();
    }

    /// Ends all calls of a thread: those that have not returned have cost what ran since.
    pub(super) fn end_calls(&mut self, state: &mut State) {
        while let Some(frame) = self.top_frame(state) {
            if frame.edge == HANDLER_EDGE {
                self.pop_handler(state);
            } else {
                self.end_call_on_top(state);
            }
        }
    }

    /// A process that was forked goes on with the counts of its parent, as under Callgrind.
    pub(super) fn begin_child(&mut self, state: &mut State) {
        for other in self.threads.others(state) {
            self.end_calls(other);
        }
        self.threads.keep_only(state);
        // Locks of memory are not inherited.
        self.future_locks = FutureLocks::default();
        (self.parts, self.first_part) = (0, 1);
        if self.options.words_for_others.is_some() {
            self.set_counts_of_parent_apart(state);
        }
        // What is forked goes on, as under Callgrind.
        self.options.parent = None;
        self.options.client.begin(std::process::id());
    }

    /// Forgets the code of a range, which will change: its translations lead to new ones.
    pub(super) fn forget_code(&mut self, address: u64, length: u64) {
        // Code of a file stays that where it may not run for a time.
        if self.space.has_code(address, length) || self.objects.is_at(address, length) {
            self.forget_range(address, length);
        }
    }

    /// Goes on with a block whose code has changed. The one before keeps its counts.
    pub(super) fn translate_again(&mut self, state: &mut State, block: u32) {
        let Translated { entrance, code, .. } = self.blocks[block as usize];
        if self.cached.by_entrance.get(&entrance) == Some(&block) {
            self.forget_blocks(&[(entrance, code)]);
        }
        self.go(state, entrance);
    }

    /// Forgets blocks, by their keys and the addresses of their code, which leads to new translations.
    fn forget_blocks(&mut self, old: &[(Entrance, u64)]) {
        let leads_on = self.leads_on(old.len());
        for &(entrance, code) in old {
            if self.cached.by_entrance.remove(&entrance).is_some() {
                self.cached.repeated_count -= usize::from(entrance.before.is_some());
            }
            self.cached.entrances.remove(&entrance);
            if leads_on {
                self.lead_on(code, entrance);
            }
        }
    }

    /// As [`Engine::forget_code`], also where no code was mapped: the program may have tried to run it.
    pub(super) fn forget_range(&mut self, address: u64, length: u64) {
        self.objects.remove(address, length);
        self.forget_translations(address, length);
        self.contexts.forget(address, length);
    }

    /// Forgets the translations of a range. What it is code of stays known.
    pub(super) fn forget_translations(&mut self, address: u64, length: u64) {
        let end = address + length;
        self.needed_flags.borrow_mut().clear();
        let is_inside = |block: &Translated| block.entrance.address < end && block.next() > address;
        // A block that begins before may reach into it.
        let first = address.saturating_sub(MAX_BLOCK_BYTES as u64);
        let near = self.cached.entrances.range(Entrance::new(first, FIRST)..Entrance::new(end, FIRST));
        let old = near.filter_map(|entrance| {
            let block = &self.blocks[*self.cached.by_entrance.get(entrance)? as usize];
            is_inside(block).then_some((*entrance, block.code))
        });
        let old: Vec<(Entrance, u64)> = old.collect();
        self.retired.forget(address, end);
        self.forget_blocks(&old);
        self.forget_targets(address..end);
    }
}
