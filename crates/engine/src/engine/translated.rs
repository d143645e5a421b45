//! Blocks that were translated, and how their runs are counted.
//!
//! A block that goes on within its function leaves its counting to the next one, which is translated once for each block before it: one
//! counter and one addition to the cost are enough for several blocks. Where a signal comes between them, or the next one cannot run, the
//! engine counts what has run.

use std::num::NonZeroU32;

use super::Engine;
use super::transfer::Transfer;
use crate::arena::Cell;
use crate::block::{Block, End, MAX_BEFORE, MAX_REPEATED, MAX_WAYS};
use crate::contexts::ContextId;
use crate::state::State;

/// The number of a block. An option of it takes no more memory than the number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct BlockNumber(NonZeroU32);

impl BlockNumber {
    pub(super) fn new(number: u32) -> BlockNumber {
        BlockNumber(NonZeroU32::MIN.saturating_add(number))
    }

    pub(super) fn get(self) -> u32 {
        self.0.get() - 1
    }
}

/// A way into a block: the same code is translated once for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Entrance {
    pub(crate) address: u64,
    pub(crate) context: ContextId,
    /// The block before, if that leaves its counting to this one.
    pub(crate) before: Option<BlockNumber>,
}

impl Entrance {
    pub(super) fn new(address: u64, context: ContextId) -> Entrance {
        Entrance { address, context, before: None }
    }
}

/// An instruction of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Translation {
    pub(crate) length: u8,
    /// The start of its code in that of the block.
    pub(super) offset: u16,
}

/// A block that was translated.
#[derive(Debug)]
pub(crate) struct Translated {
    pub(crate) entrance: Entrance,
    /// The count of its instructions, and of those in the blocks that it counts, too.
    pub(super) cost: u16,
    /// The count of the blocks that it counts, too.
    pub(super) before_count: u8,
    /// The address of its code.
    pub(crate) code: u64,
    /// The count of its runs.
    pub(crate) counter: Cell,
    pub(crate) instructions: Box<[Translation]>,
    /// For each repeated instruction, its index and its count of repetitions.
    pub(crate) repetitions: Vec<(u8, Cell)>,
    /// The first offset behind the counting.
    pub(super) counted_from: u16,
    pub(super) code_bytes: u32,
    /// `true` if the code of the last instruction spills `rcx`.
    pub(super) spills: bool,
}

impl Translated {
    /// Returns the index of the instruction whose code an address is in.
    pub(super) fn instruction_at(&self, code: u64) -> usize {
        let offset = (code - self.code) as u16;
        self.instructions.partition_point(|translation| translation.offset <= offset).saturating_sub(1)
    }

    /// `true` if an address is in code that comes before the instructions.
    pub(super) fn is_before_instructions(&self, code: u64) -> bool {
        self.instructions.first().is_some_and(|first| code - self.code < u64::from(first.offset))
    }

    /// `true` if the block is counted, as a whole, where an address in its code is reached.
    pub(super) fn has_counted(&self, code: u64) -> bool {
        code - self.code >= u64::from(self.counted_from)
    }

    /// Returns the cell of the repetitions of an instruction, if an address in the code is where it has begun.
    pub(super) fn begun_repetitions(&self, index: usize, code: u64) -> Option<Cell> {
        let has_begun = self
            .instructions
            .get(index)
            .is_some_and(|translation| code - self.code > u64::from(translation.offset));
        let cells = self.repetitions.iter().filter(|(known, _)| has_begun && usize::from(*known) == index);
        cells.map(|(_, cell)| *cell).next()
    }

    /// Returns the address behind it.
    pub(super) fn next(&self) -> u64 {
        self.address_of(self.instructions.len())
    }

    /// Returns the address of an instruction, or that behind the last one.
    pub(super) fn address_of(&self, index: usize) -> u64 {
        self.entrance.address + bytes(&self.instructions[..index])
    }
}

/// Returns the count of bytes of instructions.
fn bytes(instructions: &[Translation]) -> u64 {
    instructions.iter().map(|translation| u64::from(translation.length)).sum()
}

/// `true` if instructions have the same lengths, wherever their code is.
fn have_same_lengths(some: &[Translation], others: &[Translation]) -> bool {
    some.iter().map(|translation| translation.length).eq(others.iter().map(|translation| translation.length))
}

/// A run of a block that was left before its end: an instruction has failed, or a signal has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PartialRun {
    pub(crate) block: u32,
    /// The index of the first instruction that has not run.
    pub(crate) instruction: u8,
    /// `true` if the block had counted.
    pub(crate) is_counted: bool,
    /// The memory of the thread.
    pub(crate) thread: u64,
}

impl PartialRun {
    /// Returns what as many such runs change at an instruction of what its block has counted there: what did not run is taken off, or what
    /// ran is added.
    pub(super) fn change(&self, instruction: usize, runs: u64) -> u64 {
        match (instruction < usize::from(self.instruction), self.is_counted) {
            (false, true) => runs.wrapping_neg(),
            (true, false) => runs,
            _ => 0,
        }
    }
}

impl Engine {
    /// Returns the number of a block: that of an earlier translation if there was one.
    pub(super) fn number_of(&mut self, block: &Block<'_>, entrance: Entrance) -> u32 {
        let instructions = block.instructions.iter();
        let instructions: Box<[Translation]> = instructions
            .map(|decoded| Translation { length: decoded.instruction.len() as u8, offset: 0 })
            .collect();
        let known = self.retired.take(entrance);
        let is_same = |known: &u32| {
            have_same_lengths(&self.blocks[*known as usize].instructions, &instructions)
                && self.has_jumps_of(*known, block.end)
        };
        if let Some(known) = known.filter(is_same) {
            return known;
        }
        let counter = self.cells(1);
        let (mut cost, mut before_count) = (instructions.len() as u16, 0);
        if let Some(before) = entrance.before {
            let before = &self.blocks[before.get() as usize];
            cost += before.cost;
            before_count = before.before_count + 1;
        }
        self.blocks.push(Translated {
            entrance,
            cost,
            before_count,
            code: 0,
            counter,
            instructions,
            repetitions: Vec::new(),
            counted_from: 0,
            code_bytes: 0,
            spills: false,
        });
        self.blocks.len() as u32 - 1
    }

    /// `true` if a block leaves its counting to those behind it. None that may jump back does: so the code of a loop
    /// is the same in each of its turns.
    pub(super) fn leaves_counting(
        &mut self,
        block: &Block<'_>,
        number: u32,
        transfers: [&Transfer; 2],
    ) -> bool {
        let targets = match block.end {
            End::Next(target) | End::Jump(target) => &[target][..],
            End::Conditional(target) => &[target, block.next()],
            _ => return false,
        };
        let Translated { entrance, before_count, .. } = self.blocks[number as usize];
        let ways_to =
            |target: &u64| self.cached.ways.get(&(*target, entrance.context)).copied().unwrap_or_default();
        let leaves = usize::from(before_count) < MAX_BEFORE
            && self.cached.repeated_count < MAX_REPEATED
            && !self.options.collects_jumps
            && self.options.dump_every == 0
            && targets.iter().all(|target| *target >= block.next() && ways_to(target) < MAX_WAYS)
            && transfers.iter().all(|transfer| matches!(transfer, Transfer::Jump));
        if leaves {
            targets
                .iter()
                .for_each(|target| *self.cached.ways.entry((*target, entrance.context)).or_default() += 1);
        }
        leaves
    }

    /// Iterates over the blocks that are counted with a block: itself, and those before it that leave their counting to it.
    pub(super) fn counted_with<'a>(&'a self, block: &'a Translated) -> impl Iterator<Item = &'a Translated> {
        std::iter::successors(Some(block), |block| {
            block.entrance.before.map(|before| &self.blocks[before.get() as usize])
        })
    }

    /// Counts a run of the block before another one, which was to count it.
    pub(super) fn count_before(&self, state: &mut State, before: Option<BlockNumber>) {
        if let Some(before) = before {
            self.count_block(state, before.get(), 1);
        }
    }

    /// Adds to the count of a block.
    pub(super) fn count_block(&self, state: &mut State, number: u32, count: u64) {
        let block = &self.blocks[number as usize];
        block.counter.add(state.own_address, count);
        let cost = u64::from(block.cost).wrapping_mul(count);
        state.cost = state.cost.wrapping_add(cost);
    }
}
