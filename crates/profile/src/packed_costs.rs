//! A table of costs in little memory.

use std::fmt;

use gristmill_format::Cost;

use crate::index::cost_rows::{add_row, push_row};

/// A table of costs in as few bytes as they need: zeros at the end of a row take none, and small costs a byte.
///
/// The rows of a profile with many event types take about as much memory as in its file.
///
/// ```
/// use gristmill_profile::PackedCosts;
///
/// let mut table = PackedCosts::new(3);
/// table.push(&[7, 0, 0]);
/// let mut row = Vec::new();
/// table.row(0, &mut row);
/// assert_eq!(row, [7, 0, 0]);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct PackedCosts {
    width: usize,
    starts: Vec<usize>,
    bytes: Vec<u8>,
}

impl PackedCosts {
    /// Creates a table without rows, with this many columns.
    pub fn new(width: usize) -> Self {
        PackedCosts { width, starts: Vec::new(), bytes: Vec::new() }
    }

    /// Appends a row.
    pub fn push(&mut self, costs: &[Cost]) {
        self.starts.push(self.bytes.len());
        push_row(&mut self.bytes, costs);
    }

    /// Copies a row into `costs`.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, index: usize, costs: &mut Vec<Cost>) {
        costs.clear();
        costs.resize(self.width, 0);
        add_row(&self.bytes, self.starts[index], costs);
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Returns `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}

impl fmt::Debug for PackedCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PackedCosts").field("width", &self.width).field("len", &self.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_rows_come_back() {
        let mut packed = PackedCosts::new(3);
        let rows: [&[Cost]; 4] = [&[1, -2, 1 << 100], &[], &[0, 7], &[0, 0, 0]];
        rows.iter().for_each(|row| packed.push(row));
        let mut costs = vec![9; 5];
        for (index, expected) in [[1, -2, 1 << 100], [0; 3], [0, 7, 0], [0; 3]].iter().enumerate() {
            packed.row(index, &mut costs);
            assert_eq!(costs, expected);
        }
        assert_eq!(packed.len(), 4);
    }
}
