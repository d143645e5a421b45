//! A table of costs in little room.

use std::fmt;

use gristmill_format::Cost;

use crate::index::cost_rows::{add_row, push_row};

/// Rows of costs, one after the other, in as few bytes as they need: zeros at the end of a row take none, and small
/// numbers a byte. So many rows of a profile with many event types take about as much room as in its file.
#[derive(Clone, PartialEq, Eq)]
pub struct PackedCosts {
    width: usize,
    starts: Vec<usize>,
    bytes: Vec<u8>,
}

impl PackedCosts {
    /// No rows yet, for so many event types.
    pub fn new(width: usize) -> Self {
        PackedCosts { width, starts: Vec::new(), bytes: Vec::new() }
    }

    /// Adds a row at the end.
    pub fn push(&mut self, costs: &[Cost]) {
        self.starts.push(self.bytes.len());
        push_row(&mut self.bytes, costs);
    }

    /// Puts the costs of a row into the places, which become as many as there are event types.
    pub fn row(&self, index: usize, places: &mut Vec<Cost>) {
        places.clear();
        places.resize(self.width, 0);
        if let Some(&start) = self.starts.get(index) {
            add_row(&self.bytes, start, places);
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there is no row.
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
    fn rows_come_back() {
        let mut packed = PackedCosts::new(3);
        let rows: [&[Cost]; 4] = [&[1, -2, 1 << 100], &[], &[0, 7], &[0, 0, 0]];
        rows.iter().for_each(|row| packed.push(row));
        let mut places = vec![9; 5];
        for (index, expected) in [[1, -2, 1 << 100], [0; 3], [0, 7, 0], [0; 3], [0; 3]].iter().enumerate() {
            packed.row(index, &mut places);
            assert_eq!(places, expected);
        }
        assert_eq!(packed.len(), 4);
    }
}
