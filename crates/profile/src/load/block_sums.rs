//! The sums of a block while its lines are read.

use gristmill_format::{Cost, CostFault, Costs};

use super::chunk::TABLES;
use crate::index::sum_builder::{DIFFERENT, GroupList};

/// Rows of so many event types lie side by side; wider ones are as long as the lines that they sum up.
const NARROW: usize = 32;

/// With so many rows a block is written down though it goes on.
const MOST: usize = if cfg!(test) { 12 } else { 512 };

/// The sums of one function, by something else: the files of its lines or those whom it calls.
///
/// A row has a count of calls, then a sum for each event type.
#[derive(Debug, Default)]
pub(super) struct Sums<const TABLE: usize> {
    keys: Vec<u32>,
    width: usize,
    flat: Vec<Cost>,
    wide: Vec<Vec<Cost>>,
}

impl<const TABLE: usize> Sums<TABLE> {
    pub(super) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The row of a key. Only the last ones are looked at for one of the same key: one that is further away gets another row,
    /// and they are added up later. Looking further would cost more than it saves, and as much as there are rows. Where
    /// there are too many of this function, they are written down first.
    #[inline(always)]
    pub(super) fn row_of(
        &mut self,
        key: u32,
        width: usize,
        function: u32,
        list: &mut GroupList<TABLES>,
    ) -> usize {
        let looked_at = self.keys.len().saturating_sub(DIFFERENT);
        match self.keys[looked_at..].iter().rposition(|&other| other == key) {
            Some(found) => looked_at + found,
            None => self.new_row(key, width, function, list),
        }
    }

    #[inline(never)]
    fn new_row(&mut self, key: u32, width: usize, function: u32, list: &mut GroupList<TABLES>) -> usize {
        if self.keys.len() >= MOST || width != self.width {
            self.write_group(function, list);
            self.width = width;
        }
        self.keys.push(key);
        // Nearly all files; to fill memory of any length takes a call.
        if width == 1 {
            self.flat.extend_from_slice(&[0, 0]);
        } else if width <= NARROW {
            self.flat.resize(self.flat.len() + 1 + width, 0);
        } else {
            self.wide.push(vec![0]);
        }
        self.keys.len() - 1
    }

    /// More calls were made.
    #[inline(always)]
    pub(super) fn count(&mut self, row: usize, count: Cost) {
        let counts = if self.width > NARROW {
            self.wide.get_mut(row).and_then(|row| row.first_mut())
        } else {
            self.flat.get_mut(row * (1 + self.width))
        };
        if let Some(counts) = counts {
            *counts += count;
        }
    }

    /// Whether rows have a single sum.
    #[inline(always)]
    pub(super) fn are_single(&self) -> bool {
        self.width == 1
    }

    /// Adds a cost to the first sum of a row.
    #[inline(always)]
    pub(super) fn add_single(&mut self, row: usize, cost: u64) {
        if let Some(sum) = self.flat.get_mut(row * (1 + self.width) + 1) {
            *sum += Cost::from(cost);
        }
    }

    /// Adds costs to a row.
    #[inline(always)]
    pub(super) fn add(&mut self, row: usize, costs: &Costs<'_>) -> Result<(), CostFault> {
        if self.width > NARROW {
            return self.add_to_wide(row, costs);
        }
        let begin = row * (1 + self.width) + 1;
        match self.flat.get_mut(begin..begin + self.width) {
            Some(sums) => costs.add_to(sums),
            None => Ok(()),
        }
    }

    #[inline(never)]
    fn add_to_wide(&mut self, row: usize, costs: &Costs<'_>) -> Result<(), CostFault> {
        let Some(sums) = self.wide.get_mut(row) else { return Ok(()) };
        let written = costs.len().min(self.width);
        if sums.len() < 1 + written {
            sums.resize(1 + written, 0);
        }
        let Some((_, sums)) = sums.split_first_mut() else { return Ok(()) };
        // With fewer sums than event types there would be too many costs where there are not.
        costs.add_to(if written < self.width { &mut sums[..written] } else { sums })
    }

    /// Makes the rows a group of their own, and begins anew.
    #[cold]
    fn write_group(&mut self, function: u32, list: &mut GroupList<TABLES>) {
        if !self.is_empty() {
            let mut counts = [0; TABLES];
            counts[TABLE] = self.write(list);
            list.end_group(function, counts);
        }
    }

    /// Makes the rows members of the next group, and begins anew. Returns how many they were.
    pub(super) fn write(&mut self, list: &mut GroupList<TABLES>) -> u16 {
        let count = u16::try_from(self.keys.len()).unwrap_or(u16::MAX);
        if self.width <= NARROW {
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
