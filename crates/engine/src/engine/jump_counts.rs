//! The counts of jumps within functions, for `--collect-jumps`.

use gristmill_profile::hash::Map;

use super::branches::IndirectBranch;
use super::chunk::Chunk;
use super::transfer::{BranchKind, DirectBranch};
use super::{Engine, Entrance};
use crate::arena::Cell;
use crate::asm::{Mem, SCRATCH};
use crate::block::End;
use crate::contexts::{ContextId, Kind};
use crate::state::State;

/// A jump within a function: its address, and where it leads.
pub(super) type JumpKey = (u64, u64);

/// The counts of a jump: how often it is followed, and executed if it is conditional.
pub(super) type JumpCount = (u64, Option<u64>);

/// The count of a jump at the end of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    /// Each time that the block runs.
    Always,
    /// As often as the count says, of the runs of the block.
    Sometimes(Cell),
    /// As often as the count says: the jump has other targets.
    ToOneOfMany(Cell),
}

impl Followed {
    /// Returns the counter.
    pub(crate) fn cell(self) -> Option<Cell> {
        match self {
            Followed::Always => None,
            Followed::Sometimes(cell) | Followed::ToOneOfMany(cell) => Some(cell),
        }
    }
}

impl Engine {
    /// `true` if jumps in a context are counted.
    fn counts_jumps(&self, context: ContextId) -> bool {
        self.options.collects_jumps
            && self.contexts.collects(context)
            && matches!(self.contexts.kind(context), Kind::Function(_))
    }

    /// Notes a jump that always leads to a target.
    pub(super) fn note_jump(&mut self, block: u32, context: ContextId, target: u64) {
        if self.counts_jumps(context) {
            self.jumps.insert((block, target), Followed::Always);
        }
    }

    /// `true` if the jumps of a block are those that an end has. Other code can have come to its place.
    pub(super) fn has_jumps_of(&self, block: u32, end: End) -> bool {
        self.jumps.range((block, 0)..=(block, u64::MAX)).all(|((_, target), followed)| match followed {
            Followed::Always => end == End::Jump(*target),
            Followed::Sometimes(_) => end == End::Conditional(*target),
            Followed::ToOneOfMany(_) => end == End::IndirectJump,
        })
    }

    /// Returns the counter of a conditional jump, if it is counted.
    pub(super) fn conditional_jump(&mut self, block: u32, context: ContextId, target: u64) -> Option<Cell> {
        self.jump_cell(block, context, target, Followed::Sometimes)
    }

    fn jump_cell(
        &mut self,
        block: u32,
        context: ContextId,
        target: u64,
        followed: fn(Cell) -> Followed,
    ) -> Option<Cell> {
        if !self.counts_jumps(context) {
            return None;
        }
        if let Some(known) = self.jumps.get(&(block, target)) {
            return known.cell();
        }
        let cell = self.cells(1);
        self.jumps.insert((block, target), followed(cell));
        Some(cell)
    }

    /// Writes the counting of a jump.
    pub(super) fn emit_jump_count(chunk: &mut Chunk, cell: Option<Cell>) {
        let Some(cell) = cell else { return };
        let asm = &mut chunk.asm;
        asm.add_without_flags(SCRATCH, Mem::State(cell.offset()), 1);
        asm.restore_scratch();
    }

    /// Returns the counter of an indirect jump to a target, if it is counted.
    pub(super) fn indirect_jump(&mut self, branch: IndirectBranch, target: u64) -> Option<Cell> {
        self.jump_cell(branch.block, branch.context, target, Followed::ToOneOfMany)
    }

    /// Counts an indirect jump that the engine makes.
    pub(super) fn count_indirect_jump(&mut self, state: &State, branch: IndirectBranch, target: u64) {
        if let Some(cell) = self.indirect_jump(branch, target) {
            cell.add(state.own_address, 1);
        }
    }

    /// Counts a direct branch that the engine makes.
    pub(super) fn count_branch(&self, state: &State, branch: &DirectBranch, target: u64) {
        let is_jump = matches!(branch.kind, BranchKind::Conditional(_) | BranchKind::Counting(_));
        if !is_jump || target != branch.target {
            return;
        }
        let block = self.cached.by_entrance.get(&Entrance::new(branch.site.block, branch.context));
        if let Some(Followed::Sometimes(cell)) = block.and_then(|block| self.jumps.get(&(*block, target))) {
            cell.add(state.own_address, 1);
        }
    }

    /// Adds up jumps in threads, by the addresses of their counters. They are sorted.
    pub(super) fn sum_jumps(&self, bases: &[u64]) -> Vec<(ContextId, JumpKey, JumpCount)> {
        if self.jumps.is_empty() {
            return Vec::new();
        }
        // What partial runs change at the ends of blocks.
        let mut changes: Map<u32, u64> = Map::default();
        for (run, count) in self.partial_runs.iter().filter(|(run, _)| bases.contains(&run.thread)) {
            let last = self.blocks[run.block as usize].instructions.len() - 1;
            let change = changes.entry(run.block).or_default();
            *change = change.wrapping_add(run.change(last, *count));
        }
        let mut jumps: Vec<(ContextId, JumpKey, JumpCount)> = Vec::new();
        for ((number, target), followed) in &self.jumps {
            let block = &self.blocks[*number as usize];
            let change = changes.get(number).copied().unwrap_or_default();
            let executed = block.counter.sum(bases).wrapping_add(change);
            let count = match followed {
                Followed::Always => (executed, None),
                Followed::Sometimes(cell) => (cell.sum(bases), Some(executed)),
                Followed::ToOneOfMany(cell) => (cell.sum(bases), None),
            };
            let address = block.address_of(block.instructions.len() - 1);
            let context = self.contexts.shown(self.contexts.owner(block.entrance.context).0);
            jumps.push((context, (address, *target), count));
        }
        jumps.sort_unstable_by_key(|(context, key, count)| (*context, *key, count.1.is_some()));
        // Blocks that overlap have their ends in common.
        jumps.dedup_by(|(context, key, count), (kept_context, kept_key, kept)| {
            let is_same = (*context, *key, count.1.is_some()) == (*kept_context, *kept_key, kept.1.is_some());
            if is_same {
                kept.0 = kept.0.wrapping_add(count.0);
                kept.1 = kept.1.zip(count.1).map(|(one, other)| one.wrapping_add(other));
            }
            is_same
        });
        // As under Callgrind, a jump that is never followed is not there.
        jumps.retain(|(.., (taken, _))| *taken != 0);
        jumps
    }
}
