//! Tables of the targets of an indirect branch: by a byte of their hash, and by the next byte where many have that in common.

use super::Engine;
use crate::arena::{Arena, Table};
use crate::asm::{HASH_BYTES, displacement, hash};

/// Slots of a table.
const SLOT_COUNT: u64 = 256;

/// The most comparisons of a slot. With more, it gets a table of its own.
const MAX_COMPARISONS: usize = 8;

/// Code that compares with a target.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Comparison {
    /// The hash of the target.
    hash: u32,
    start: u32,
    /// The displacement of the jump if it is another one.
    next: u32,
}

/// A table of targets.
#[derive(Debug)]
pub(super) struct TargetTable {
    table: Table,
    /// The byte of the hash, from the lowest.
    byte: u8,
    /// Those of all slots, the oldest first.
    comparisons: Vec<Comparison>,
    /// Slots that have a table of their own, with its number.
    deeper: Vec<(u8, u32)>,
}

impl Comparison {
    pub(super) fn new(target: u64, start: u64, next: u64) -> Comparison {
        Comparison { hash: hash(target) as u32, start: start as u32, next: next as u32 }
    }

    /// Lets the code lead to other code if the target is another one.
    fn lead_to(self, next: u64) {
        Arena::patch(self.next.into(), displacement(self.next.into(), next));
    }
}

impl TargetTable {
    pub(super) fn table(&self) -> Table {
        self.table
    }

    fn slot_of(&self, hash: u32) -> u8 {
        (hash >> (8 * self.byte)) as u8
    }

    /// Adds a comparison to its slot. Those that were there come after it.
    fn add(&mut self, comparison: Comparison) {
        let slot = self.slot_of(comparison.hash).into();
        comparison.lead_to(self.table.get(slot));
        self.table.set(slot, comparison.start.into());
        self.comparisons.push(comparison);
    }

    /// Takes the comparisons of a slot out of the list. The table still leads to them.
    fn take(&mut self, slot: u8) -> Vec<Comparison> {
        let (taken, kept) = std::mem::take(&mut self.comparisons)
            .into_iter()
            .partition(|comparison| self.slot_of(comparison.hash) == slot);
        self.comparisons = kept;
        taken
    }

    fn is_full(&self, slot: u8) -> bool {
        let comparisons = self.comparisons.iter();
        comparisons.filter(|comparison| self.slot_of(comparison.hash) == slot).count() >= MAX_COMPARISONS
    }
}

impl Engine {
    /// Makes a table, whose slots lead to the code for an unknown target. Returns its number, and the code that jumps by it.
    pub(super) fn add_target_table(&mut self, byte: u8, unknown: u64) -> (u32, u64) {
        let table = self.retired.table().or_else(|| self.arena.table(SLOT_COUNT));
        let Some(table) = table else { self.out_of_memory() };
        for slot in 0..SLOT_COUNT as u32 {
            table.set(slot, unknown);
        }
        let mut chunk = self.chunk();
        chunk.asm.jump_by_hash(table.address(), byte);
        let code = self.add_chunk(chunk);
        self.target_tables.push(TargetTable { table, byte, comparisons: Vec::new(), deeper: Vec::new() });
        (self.target_tables.len() as u32 - 1, code)
    }

    /// Adds a comparison to a table, or to one of its slots'.
    pub(super) fn add_to_table(&mut self, number: u32, comparison: Comparison, unknown: u64) {
        let (number, slot) = self.table_of(number, comparison.hash);
        let table = &self.target_tables[number as usize];
        let byte = table.byte + 1;
        if !table.is_full(slot) || byte == HASH_BYTES || !self.arena.has_space_for_tables() {
            return self.target_tables[number as usize].add(comparison);
        }
        let (deeper, code) = self.add_target_table(byte, unknown);
        // From the last one on: others run them meanwhile, and each leads to those behind it.
        for moved in self.target_tables[number as usize].take(slot) {
            self.target_tables[deeper as usize].add(moved);
        }
        let table = &mut self.target_tables[number as usize];
        table.deeper.push((slot, deeper));
        table.table.set(slot.into(), code);
        self.add_to_table(deeper, comparison, unknown);
    }

    /// Forgets a target, and others of its slot, which come back when they are needed.
    pub(super) fn forget_target(&mut self, number: u32, target: u64, unknown: u64) {
        let (number, slot) = self.table_of(number, hash(target) as u32);
        let table = &mut self.target_tables[number as usize];
        table.take(slot);
        table.table.set(slot.into(), unknown);
    }

    /// Returns the table that has comparisons of a hash, and their slot there.
    fn table_of(&self, mut number: u32, hash: u32) -> (u32, u8) {
        loop {
            let table = &self.target_tables[number as usize];
            let slot = table.slot_of(hash);
            match table.deeper.iter().find(|deeper| deeper.0 == slot) {
                Some(deeper) => number = deeper.1,
                None => return (number, slot),
            }
        }
    }
}
