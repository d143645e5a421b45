//! Parts of the profile: what was counted is written, and counting begins again, while calls go on.

use std::path::PathBuf;

use gristmill_profile::REPLACED_BY;
use linux_raw_sys::general as sys;

use super::limits::Limits;
use super::own_call::own_call;
use super::signals::HANDLER_EDGE;
use super::trigger::Trigger;
use super::{Engine, Exit, PartialRun, profile};
use crate::arena::Cell;
use crate::contexts::{EdgeId, FunctionId};
use crate::memory;
use crate::state::{Frame, State};

/// The end of the descriptors that are closed if there are too many files.
const LAST_CLOSED: u64 = 16;

/// The least cost of a forked process that has a part when another program replaces it: starting a program costs less.
const MIN_COST_OF_FORKED: u64 = 1_000_000;

/// The end of the error.
const TOO_MANY_FILES: &str = "(os error 24)";

/// A reason to look at the calls that go on.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// A part ends. It has no calls that have cost nothing so far: such a call is counted in the next one.
    Part,
    /// Counts are set to zero.
    Zero,
    /// Counts begin again: calls that were counted are not when they end.
    Restart,
}

impl Engine {
    /// Returns the text that a part has for what it was written for.
    pub(super) fn trigger_text(&self, trigger: &Trigger) -> Vec<u8> {
        let function = |option: &str, function: FunctionId| {
            let name = self.contexts.function(function).name.clone().unwrap_or_default();
            [option.as_bytes(), &name].concat()
        };
        match trigger {
            Trigger::End => b"Program termination".to_vec(),
            Trigger::Replaced(program) => [REPLACED_BY, &program[..]].concat(),
            Trigger::Before(id) => function("--dump-before=", *id),
            Trigger::After(id) => function("--dump-after=", *id),
            Trigger::Blocks => format!("--dump-every-bb={}", self.options.dump_every).into_bytes(),
            Trigger::Request(text) => text.clone(),
            Trigger::Command(text) => text.clone().into_bytes(),
        }
    }

    /// Writes what was counted since the last part, and begins to count again. The file is complete when this returns.
    pub(super) fn dump(&mut self, state: &mut State, trigger: &Trigger) {
        let is_alone = self.options.separates_threads && trigger.is_of_thread();
        self.stop_others(state);
        self.count_begun_blocks(state, u64::MAX);
        self.add_all_calls(state, is_alone, Change::Part);
        self.write_part(trigger, is_alone.then_some(state.own_address));
        self.restart(state, is_alone, !matches!(trigger, Trigger::Replaced(_)));
        self.count_begun_blocks(state, 1);
    }

    /// Writes what was counted for a program that another one is about to replace. Of a forked process, that is not what its parent has
    /// counted, and a start of a program is no reason for a file.
    pub(super) fn dump_replaced(&mut self, state: &mut State, program: &[u8]) {
        let output = self.options.client.output(std::process::id());
        if output.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            // Beside a device, such as /dev/null, there is no place for another file.
            return;
        }
        self.stop_others(state);
        // With its first part, it has written what its parent has counted.
        let is_as_forked = !self.forked_from.is_empty() && self.parts == 0;
        let cost = self.counted(&self.threads.bases());
        if cost > 0 && !(is_as_forked && (cost < MIN_COST_OF_FORKED || !self.knows_own_counts)) {
            self.dump(state, &Trigger::Replaced(program.to_owned()));
        }
    }

    /// Gives a file of several parts the name of its last part: the program that replaces this one writes a file of its own. Returns both
    /// names.
    pub(super) fn set_parts_apart(&self) -> Option<[PathBuf; 2]> {
        if !self.options.combines_parts || self.parts < self.first_part {
            return None;
        }
        let path = self.options.client.output(std::process::id());
        let mut apart = path.clone().into_os_string();
        apart.push(format!(".{}", self.parts));
        let names = [path, apart.into()];
        (names[0].is_file() && std::fs::rename(&names[0], &names[1]).is_ok()).then_some(names)
    }

    /// Keeps what the parent of a forked process has counted apart from what this process counts.
    pub(super) fn set_counts_of_parent_apart(&mut self, state: &mut State) {
        let root_cost = state.root_cost;
        self.add_calls(state, Change::Part);
        self.knows_own_counts = true;
        for base in self.threads.bases() {
            let Some(kept) = self.threads.begin_own_counts(base) else {
                self.knows_own_counts = false;
                continue;
            };
            self.counts().for_each(|cell| {
                let count = cell.of(base);
                if count != 0 {
                    cell.add(kept, count);
                    cell.set(base, 0);
                }
            });
        }
        for (run, count) in std::mem::take(&mut self.partial_runs) {
            let thread = self.threads.counts_of_parent(run.thread).unwrap_or(run.thread);
            *self.partial_runs.entry(PartialRun { thread, ..run }).or_default() += count;
        }
        self.add_calls(state, Change::Restart);
        state.root_cost = root_cost;
    }

    /// Adds up what blocks cost in threads, by the addresses of their counters.
    pub(super) fn counted(&self, bases: &[u64]) -> u64 {
        let costs = self.blocks.iter().map(|block| {
            let repetitions = block.repetitions.iter().map(|(_, cell)| cell.sum(bases));
            let cost = block.counter.sum(bases).wrapping_mul(block.cost.into());
            repetitions.fold(cost, u64::wrapping_add)
        });
        costs.fold(0, u64::wrapping_add)
    }

    /// Returns what a thread has for the part that is written next. Blocks that are about to be counted are not in it.
    pub(super) fn counted_so_far(&self, base: u64) -> u64 {
        let partial_runs = self.partial_runs.iter().filter(|(run, _)| run.thread == base);
        let changes = partial_runs.flat_map(|(run, &runs)| {
            let instructions = self.blocks[run.block as usize].instructions.len();
            (0..instructions).map(move |instruction| run.change(instruction, runs))
        });
        changes.fold(self.counted(&[base]), u64::wrapping_add)
    }

    /// Iterates over the counters of a thread.
    fn counts(&self) -> impl Iterator<Item = Cell> {
        let blocks = self.blocks.iter().flat_map(|block| {
            std::iter::once(block.counter).chain(block.repetitions.iter().map(|(_, cell)| *cell))
        });
        let jumps = self.jumps.values().filter_map(|followed| followed.cell());
        let calls = self.contexts.edges().iter().filter_map(|edge| edge.cells);
        blocks.chain(jumps).chain(calls.flat_map(|cells| [cells.count(), cells.cost()]))
    }

    /// Begins to count again, in a thread that has a profile of its own or in all.
    pub(super) fn zero(&mut self, state: &mut State, is_alone: bool) {
        self.stop_others(state);
        self.count_begun_blocks(state, u64::MAX);
        self.add_all_calls(state, is_alone, Change::Zero);
        self.restart(state, is_alone, true);
        self.count_begun_blocks(state, 1);
    }

    /// Adds to the counts of what other threads have begun, and wait to have a part of taken off. That part is then in the next part of the
    /// profile, so the whole has to be.
    fn count_begun_blocks(&self, state: &State, count: u64) {
        for other in self.threads.others(state) {
            match self.exits.get(other.exit as usize) {
                Some(Exit::Request { block, .. }) if self.is_counted && other.collects => {
                    self.count_block(other, *block, count);
                }
                Some(Exit::Signal | Exit::Fault) => self.count_begun_block(other, count),
                _ => {}
            }
        }
    }

    /// Adds to the counts of the block in which a thread was interrupted, and of its repeated instruction.
    fn count_begun_block(&self, state: &mut State, count: u64) {
        let code = state.interrupted;
        let Some(number) = self.block_around(code) else { return };
        let block = &self.blocks[number as usize];
        if !self.contexts.collects(block.entrance.context) {
            return;
        }
        if block.has_counted(code) {
            self.count_block(state, number, count);
        }
        let index = block.instruction_at(code);
        if let Some(cell) = block.begun_repetitions(index, code)
            && !self.is_comparison(block.address_of(index))
        {
            let left = state.gpr[1].wrapping_mul(count);
            cell.add(state.own_address, left);
            state.cost = state.cost.wrapping_add(left);
        }
    }

    /// Writes a part of the profile, of one thread or of all.
    pub(super) fn write_part(&mut self, trigger: &Trigger, thread: Option<u64>) {
        self.parts += 1;
        let limits = Limits::lift_files();
        let mut written = profile::write(self, trigger, self.parts, thread);
        let has_too_many_files = written.as_ref().is_err_and(|error| error.ends_with(TOO_MANY_FILES));
        if has_too_many_files && matches!(trigger, Trigger::End) {
            // The program can have as many files open as it may. It needs none from here on.
            for descriptor in 3..LAST_CLOSED {
                own_call(sys::__NR_close, [descriptor, 0, 0, 0, 0, 0]);
            }
            written = profile::write(self, trigger, self.parts, thread);
        }
        match written {
            Ok(total) => self.collected += total,
            Err(error) => {
                self.options.report(&format!("the profile could not be written: {error}"));
                self.options.client.fail(std::process::id());
            }
        }
        if !matches!(trigger, Trigger::End) {
            Limits::restore_files(limits);
        }
    }

    /// Sets all counts to zero, of one thread or of all. Calls that go on were counted, and are not when they end.
    fn restart(&mut self, state: &mut State, is_alone: bool, forgets_parent: bool) {
        let bases = if is_alone { vec![state.own_address] } else { self.threads.bases() };
        for base in &bases {
            self.counts().for_each(|cell| cell.set(*base, 0));
        }
        self.partial_runs.retain(|run, _| !bases.contains(&run.thread));
        if forgets_parent {
            let forgotten = self.threads.forget_counts_of_parent(&bases);
            self.partial_runs.retain(|run, _| !forgotten.contains(&run.thread));
        }
        self.add_all_calls(state, is_alone, Change::Restart);
        self.threads.restart_summaries(&bases);
        // If there are any, they are in the next part.
        for base in bases {
            let kept = self.threads.counts_of_parent(base).map_or(0, |kept| self.counted(&[kept]));
            self.threads.add_to_summary(base, kept);
        }
    }

    fn add_all_calls(&self, state: &mut State, is_alone: bool, change: Change) {
        self.add_calls(state, change);
        if !is_alone {
            for other in self.threads.others(state) {
                self.add_calls(other, change);
            }
        }
    }

    /// Counts the calls of a thread that go on, and adds what they have cost so far, or takes the counts back.
    fn add_calls(&self, state: &mut State, change: Change) {
        let mut cost = state.cost;
        let mut level = state.levels.len();
        for index in (0..state.frame_count()).rev() {
            let frame = memory::frame(state.first_frame, index);
            if frame.edge == HANDLER_EDGE {
                // What is below was interrupted.
                level = level.saturating_sub(1);
                cost = state.levels.get(level).map_or(cost, |level| level.cost);
                continue;
            }
            let is_counted = match change {
                Change::Part => cost != frame.enter_cost || frame.is_counted != 0,
                Change::Zero => true,
                Change::Restart => frame.is_counted != 0,
            };
            let count = if matches!(change, Change::Restart) { u64::MAX } else { 1 };
            if let Some(cells) = self.contexts.get(EdgeId(frame.edge)).cells.filter(|_| is_counted) {
                cells.add(state.own_address, count, cost.wrapping_sub(frame.enter_cost));
            }
            // Only a frame that goes on with the engine has a note of that.
            let continuation = if is_counted { self.odd_return } else { frame.continuation };
            let is_counted = u32::from(is_counted);
            let frame = Frame { enter_cost: cost, continuation, is_counted, ..frame };
            memory::set_frame(state.first_frame, index, frame);
        }
        state.root_cost = cost;
    }
}
