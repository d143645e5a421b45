//! Costs of many things, one after the other in one block of memory.

use std::fmt;

use gristmill_format::Cost;

/// A table has a cell for each function and event type. No profile that was measured comes near this; one made to do harm
/// has thousands of event types, and a few bytes for each function.
pub const MOST_CELLS: usize = 1 << 27;

/// One row of costs for each thing, one column for each event type.
#[derive(Clone, PartialEq, Eq)]
pub struct CostTable {
    width: usize,
    /// Kept apart from the values: without event types there are rows all the same.
    rows: usize,
    values: Vec<Cost>,
}

impl CostTable {
    /// So many rows of zeros.
    pub fn new(width: usize, rows: usize) -> Self {
        CostTable { width, rows, values: vec![0; width * rows] }
    }

    /// How many event types there are.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The costs of one thing.
    #[inline]
    pub fn row(&self, index: usize) -> &[Cost] {
        &self.values[index * self.width..][..self.width]
    }

    /// The costs of one thing, to be changed.
    #[inline]
    pub fn row_mut(&mut self, index: usize) -> &mut [Cost] {
        &mut self.values[index * self.width..][..self.width]
    }

    /// Adds to the costs of one thing.
    #[inline]
    pub fn add(&mut self, index: usize, costs: &[Cost]) {
        add(self.row_mut(index), costs);
    }

    /// Adds one row at the end.
    pub fn push(&mut self, costs: &[Cost]) {
        debug_assert_eq!(costs.len(), self.width);
        self.values.extend_from_slice(costs);
        self.rows += 1;
    }

    /// Adds one row of zeros at the end.
    pub(crate) fn push_zeros(&mut self) {
        self.rows += 1;
        self.values.resize(self.rows * self.width, 0);
    }

    /// All rows, one after the other, to be changed.
    pub(crate) fn values_mut(&mut self) -> &mut [Cost] {
        &mut self.values
    }

    /// One row after the other.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Cost]> {
        (0..self.rows).map(|index| self.row(index))
    }

    /// The sum over all rows.
    pub fn total(&self) -> Vec<Cost> {
        let mut total = vec![0; self.width];
        if self.width > 0 {
            self.values.chunks_exact(self.width).for_each(|row| add(&mut total, row));
        }
        total
    }
}

/// Adds costs to sums, event type by event type.
#[inline]
pub(crate) fn add(sums: &mut [Cost], costs: &[Cost]) {
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}

impl fmt::Debug for CostTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}
