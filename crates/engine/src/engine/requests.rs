//! Requests of the program to the engine, as `valgrind.h` and `callgrind.h` make them.

use super::trigger::Trigger;
use super::{Engine, Entrance};
use crate::contexts::{ContextId, Kind};
use crate::memory;
use crate::raw;
use crate::state::{Frame, State};

const RUNNING_ON_VALGRIND: u64 = 0x1001;

/// Calls of a function outside of Valgrind's control: from `CLIENT_CALL0` to `CLIENT_CALL3`.
const FIRST_CLIENT_CALL: u64 = 0x1101;
const LAST_CLIENT_CALL: u64 = 0x1104;

/// The requests of `callgrind.h`, in their order.
const CALLGRIND: u64 = (b'C' as u64) << 24 | (b'T' as u64) << 16;
const DUMP: u64 = CALLGRIND;
const ZERO: u64 = CALLGRIND + 1;
const TOGGLE_COLLECT: u64 = CALLGRIND + 2;
const DUMP_AT: u64 = CALLGRIND + 3;
const START: u64 = CALLGRIND + 4;
const STOP: u64 = CALLGRIND + 5;

/// The trigger of a part that the program asks for.
const TRIGGER: &[u8] = b"Client Request";

impl Engine {
    /// Answers a request of the program, at the end of a block. It goes on at `next` in a context.
    pub(super) fn request(&mut self, state: &mut State, block: u32, next: u64, context: ContextId) {
        let mut words = [0; 6];
        // The answer is there already, for a request that is not known.
        if memory::read_words(&self.space, state.gpr[0], &mut words) {
            self.answer(state, block, words);
        }
        self.go_behind(state, next, context);
    }

    fn answer(&mut self, state: &mut State, block: u32, [request, argument, ..]: [u64; 6]) {
        match request {
            RUNNING_ON_VALGRIND => {
                state.gpr[2] = 1;
                return;
            }
            FIRST_CLIENT_CALL..=LAST_CLIENT_CALL => {
                self.stop(state, "the program asks for a call that is not recorded (VALGRIND_NON_SIMD_CALL)")
            }
            DUMP | ZERO | TOGGLE_COLLECT | DUMP_AT | START | STOP => {}
            _ => return,
        }
        state.gpr[2] = 0;
        // Callgrind counts a block when the next one begins, so this one comes after what is asked for.
        let was_counted = self.is_counted;
        if was_counted && state.collects {
            self.count_block(state, block, u64::MAX);
        }
        match request {
            DUMP => self.dump(state, &Trigger::Request(TRIGGER.to_vec())),
            DUMP_AT => {
                let mut name = raw::text(argument).unwrap_or_default();
                name.retain(|byte| !byte.is_ascii_control());
                self.dump(state, &Trigger::Request([TRIGGER, b": ", &name].concat()));
            }
            ZERO => self.zero(state, self.options.separates_threads),
            TOGGLE_COLLECT => {
                state.collects = !state.collects;
                self.return_by_engine(state);
            }
            START => self.switch_counting(state, true),
            _ => self.switch_counting(state, false),
        }
        if was_counted && self.is_counted && state.collects {
            self.count_block(state, block, 1);
        }
    }

    /// Lets all calls of a thread return through the engine: they go on in other contexts than those that they came from.
    fn return_by_engine(&mut self, state: &mut State) {
        for index in 0..state.frame_count() {
            let frame = Frame { continuation: self.odd_return, ..memory::frame(state.first_frame, index) };
            memory::set_frame(state.first_frame, index, frame);
        }
    }

    /// Follows calls and counts from here on, or does not.
    pub(super) fn switch_counting(&mut self, state: &mut State, is_on: bool) {
        if self.is_counted == is_on {
            return;
        }
        self.stop_others(state);
        // All calls end.
        self.end_calls(state);
        for other in self.threads.others(state) {
            self.end_calls(other);
        }
        self.threads.restart_summaries(&self.threads.bases());
        self.is_counted = is_on;
        if is_on {
            state.collects = self.options.collects_at_start;
            for other in self.threads.others(state) {
                other.collects = self.options.collects_at_start;
            }
        }
    }

    /// Goes on after a return of the code that a thread began with, from a context to an address.
    pub(super) fn return_from_root(&mut self, state: &mut State, before: ContextId, target: u64) {
        let cost = state.cost.wrapping_sub(state.root_cost);
        self.contexts.leave(before, state.own_address);
        let root = self.resumed_context(state, target);
        self.begin_root(state, root);
        if let Kind::Function(running) = self.contexts.kind(before)
            && self.contexts.function_of(root).is_some()
        {
            // As Callgrind, it is taken for a call by what it returns to.
            let start = self.contexts.function(running.function).start;
            let site = target.wrapping_sub(1);
            let edge = self.contexts.edge(root, site.into(), before, start, Some(target), &mut self.arena);
            let Some(edge) = edge else { self.out_of_memory() };
            if let Some(cells) = self.contexts.get(edge).cells {
                cells.add(state.own_address, 1, cost);
            }
        }
        state.resume = self.block(Entrance::new(target, root));
    }
}
