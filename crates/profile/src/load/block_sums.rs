//! The sums of a block while its lines are read.

use gristmill_format::{Cost, CostFault, Costs};

use super::local::{LocalFunctionId, SumKind};
use crate::index::sum_builder::{GroupList, LOOK_BACK};

/// Number of event types up to which the rows of a block are in one buffer. Each wider row has memory of its own,
/// for only as many costs as its longest line has.
const MAX_FLAT_WIDTH: usize = 32;

/// The sums of one kind of a block, by second id: the files of its lines, or the functions that it calls.
///
/// A row is a count of calls, then a sum for each event type.
#[derive(Debug)]
pub(super) struct BlockSums {
    kind: SumKind,
    max_rows: usize,
    keys: Vec<u32>,
    width: usize,
    flat: Vec<Cost>,
    wide: Vec<Vec<Cost>>,
}

impl BlockSums {
    /// Creates sums without rows, which are written when there are `max_rows`.
    pub(super) fn new(kind: SumKind, max_rows: usize) -> Self {
        BlockSums { kind, max_rows, keys: Vec::new(), width: 0, flat: Vec::new(), wide: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the row of a key.
    ///
    /// Only the last rows are searched. A key that is further back gets another row, and both are added up when the part
    /// is sealed: a longer search would cost more than it saves. If there are too many rows, they are written first.
    #[inline(always)]
    pub(super) fn row(
        &mut self,
        key: u32,
        width: usize,
        function: LocalFunctionId,
        list: &mut GroupList<{ SumKind::COUNT }>,
    ) -> usize {
        let searched = self.keys.len().saturating_sub(LOOK_BACK);
        match self.keys[searched..].iter().rposition(|&other| other == key) {
            Some(found) => searched + found,
            None => self.new_row(key, width, function, list),
        }
    }

    #[inline(never)]
    fn new_row(
        &mut self,
        key: u32,
        width: usize,
        function: LocalFunctionId,
        list: &mut GroupList<{ SumKind::COUNT }>,
    ) -> usize {
        if self.keys.len() >= self.max_rows || width != self.width {
            self.write_group(function, list);
            self.width = width;
        }
        self.keys.push(key);
        // Nearly all files have one event type, and filling a fixed length needs no function call.
        if width == 1 {
            self.flat.extend_from_slice(&[0, 0]);
        } else if width <= MAX_FLAT_WIDTH {
            self.flat.resize(self.flat.len() + 1 + width, 0);
        } else {
            self.wide.push(vec![0]);
        }
        self.keys.len() - 1
    }

    /// Adds to the count of calls of a row.
    #[inline(always)]
    pub(super) fn add_count(&mut self, row: usize, count: Cost) {
        let counts = if self.width > MAX_FLAT_WIDTH {
            &mut self.wide[row][0]
        } else {
            &mut self.flat[row * (1 + self.width)]
        };
        *counts += count;
    }

    /// Returns `true` if rows have one sum.
    #[inline(always)]
    pub(super) fn have_one_sum(&self) -> bool {
        self.width == 1
    }

    /// Adds a cost to the first sum of a row.
    #[inline(always)]
    pub(super) fn add_cost(&mut self, row: usize, cost: u64) {
        self.flat[row * (1 + self.width) + 1] += Cost::from(cost);
    }

    /// Adds the costs of a line to a row.
    #[inline(always)]
    pub(super) fn add(&mut self, row: usize, costs: &Costs<'_>) -> Result<(), CostFault> {
        if self.width > MAX_FLAT_WIDTH {
            return self.add_to_wide(row, costs);
        }
        let start = row * (1 + self.width) + 1;
        costs.add_to(&mut self.flat[start..start + self.width])
    }

    #[inline(never)]
    fn add_to_wide(&mut self, row: usize, costs: &Costs<'_>) -> Result<(), CostFault> {
        let row = &mut self.wide[row];
        let written = costs.len().min(self.width);
        if row.len() < 1 + written {
            row.resize(1 + written, 0);
        }
        let sums = &mut row[1..];
        // `add_to` takes costs beyond the sums for a fault, so it gets all sums where there are too many costs.
        costs.add_to(if written < self.width { &mut sums[..written] } else { sums })
    }

    /// Writes the rows as a group of their own, and removes them.
    #[cold]
    fn write_group(&mut self, function: LocalFunctionId, list: &mut GroupList<{ SumKind::COUNT }>) {
        if !self.is_empty() {
            let mut counts = [0; SumKind::COUNT];
            counts[self.kind as usize] = self.write(list);
            list.end_group(function.to_u32(), counts);
        }
    }

    /// Appends the rows to the next group, and removes them. Returns how many they were.
    pub(super) fn write(&mut self, list: &mut GroupList<{ SumKind::COUNT }>) -> u16 {
        debug_assert!(self.keys.len() <= self.max_rows, "rows are written in time");
        #[expect(clippy::cast_possible_truncation, reason = "there are no more than `max_rows`")]
        let count = self.keys.len() as u16;
        if self.width <= MAX_FLAT_WIDTH {
            let rows = self.flat.chunks_exact(1 + self.width);
            self.keys.iter().zip(rows).for_each(|(&key, row)| list.push_member(key, row));
        } else {
            self.keys.iter().zip(&self.wide).for_each(|(&key, row)| list.push_member(key, row));
        }
        self.keys.clear();
        self.flat.clear();
        self.wide.clear();
        count
    }
}
