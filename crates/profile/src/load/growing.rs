//! The sums of a block while its lines are read.

use gristmill_format::{Cost, CostFault, Costs};

use super::chunk::LocalSums;
use crate::rows::push_row;

/// Rows of so many event types lie side by side; wider ones are as long as the lines that they sum up.
const NARROW: usize = 32;

/// So many of the last rows are looked at for one of the same key. One that is further away gets another row, and they
/// are added up later: looking further would cost more than it saves, and as much as there are rows.
const LOOKED_AT: usize = 8;

/// With so many rows a block is written down though it goes on.
const MOST: usize = if cfg!(test) { 12 } else { 512 };

/// The sums of one function, by something else: the files of its lines or those whom it calls.
#[derive(Debug, Default)]
pub(super) struct Sums {
    keys: Vec<u32>,
    counts: Vec<Cost>,
    width: usize,
    flat: Vec<Cost>,
    wide: Vec<Vec<Cost>>,
    values: Vec<Cost>,
}

impl Sums {
    /// The row of a key. None when there are so many rows that they are to be written first.
    #[inline]
    pub(super) fn row(&mut self, key: u32, width: usize) -> Option<usize> {
        let rows = self.keys.len();
        let looked_at = self.keys.len().saturating_sub(LOOKED_AT);
        if let Some(found) = self.keys[looked_at..].iter().rposition(|&other| other == key) {
            return Some(looked_at + found);
        }
        if rows >= MOST || rows > 0 && width != self.width {
            return None;
        }
        self.width = width;
        self.keys.push(key);
        self.counts.push(0);
        if width <= NARROW {
            self.flat.resize(self.flat.len() + width, 0);
        } else {
            self.wide.push(Vec::new());
        }
        Some(rows)
    }

    /// More calls were made.
    #[inline]
    pub(super) fn count(&mut self, row: usize, count: Cost) {
        if let Some(sum) = self.counts.get_mut(row) {
            *sum += count;
        }
    }

    #[inline]
    pub(super) fn add(&mut self, row: usize, costs: &Costs<'_>) -> Result<(), CostFault> {
        if self.width <= NARROW {
            let at = row * self.width;
            return match self.flat.get_mut(at..at + self.width) {
                Some(sums) => costs.add_to(sums),
                None => Ok(()),
            };
        }
        let Some(sums) = self.wide.get_mut(row) else { return Ok(()) };
        let count = costs.len().min(self.width);
        if sums.len() < count {
            sums.resize(count, 0);
        }
        // With fewer sums than event types there would be too many costs where there are not.
        let sums = if count < self.width { &mut sums[..count] } else { &mut sums[..] };
        costs.add_to(sums)
    }

    /// Writes the rows in few bytes, and begins anew. A count of calls is the first number of its row.
    pub(super) fn write(&mut self, function: u32, sums: &mut LocalSums) {
        if self.keys.is_empty() {
            return;
        }
        sums.groups.push((function, u32::try_from(self.keys.len()).unwrap_or(u32::MAX)));
        sums.keys.extend_from_slice(&self.keys);
        for (row, &count) in self.counts.iter().enumerate() {
            self.values.clear();
            self.values.push(count);
            if self.width <= NARROW {
                let at = row * self.width;
                self.values.extend_from_slice(self.flat.get(at..at + self.width).unwrap_or_default());
            } else {
                self.values.extend_from_slice(self.wide.get(row).map(Vec::as_slice).unwrap_or_default());
            }
            push_row(&mut sums.rows, &self.values);
        }
        self.keys.clear();
        self.counts.clear();
        self.flat.clear();
        self.wide.clear();
    }
}
