//! Costs of which some were never given.

use std::fmt;

use gristmill_format::{Cost, Costs};

use crate::id::EventId;

/// The cell of a cost that no line gave. No sum of 64-bit numbers comes near it.
const NOT_GIVEN: Cost = Cost::MIN;

/// A table of costs of which some were never given: a row for each thing, a column for each event type of the profile.
///
/// A line may omit costs. A cost that no line of a thing gives is known to be zero only because no line says otherwise;
/// the layouts of Valgrind's tools show it as `.`, and a zero that was given as `0`.
///
/// See the example of [`FileLines`](super::FileLines).
#[derive(Clone, PartialEq, Eq)]
pub struct PartialCosts {
    width: usize,
    row_count: usize,
    cells: Vec<Cost>,
}

impl PartialCosts {
    /// Creates a table without rows.
    pub fn new(width: usize) -> Self {
        PartialCosts { width, row_count: 0, cells: Vec::new() }
    }

    /// Creates a table of empty rows.
    pub fn with_rows(width: usize, row_count: usize) -> Self {
        PartialCosts { width, row_count, cells: vec![NOT_GIVEN; width * row_count] }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.row_count
    }

    /// `true` if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// The number of event types.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds an empty row and returns its index.
    pub fn push_empty(&mut self) -> usize {
        self.cells.resize(self.cells.len() + self.width, NOT_GIVEN);
        self.row_count += 1;
        self.row_count - 1
    }

    /// Adds a row, which may be of another table of the same width.
    pub fn push(&mut self, row: PartialRow<'_>) {
        debug_assert_eq!(row.0.len(), self.width);
        self.cells.extend_from_slice(row.0);
        self.row_count += 1;
    }

    /// Makes a row empty.
    pub fn clear_row(&mut self, row: usize) {
        self.row_mut(row).fill(NOT_GIVEN);
    }

    /// Adds the costs of a line; `events` are those of its part.
    pub fn add_line(&mut self, row: usize, costs: &Costs<'_>, events: &[EventId]) {
        let cells = self.row_mut(row);
        for (cost, event) in costs.iter().zip(events) {
            add(&mut cells[event.index()], cost.unwrap_or_else(|fault| fault.repaired));
        }
    }

    /// Adds one cost.
    pub fn add(&mut self, row: usize, event: usize, cost: Cost) {
        add(&mut self.row_mut(row)[event], cost);
    }

    /// Adds all costs of a row, which may be of another table.
    pub fn add_row(&mut self, row: usize, more: PartialRow<'_>) {
        for (cell, &cost) in self.row_mut(row).iter_mut().zip(more.0) {
            if cost != NOT_GIVEN {
                add(cell, cost);
            }
        }
    }

    fn row_mut(&mut self, row: usize) -> &mut [Cost] {
        &mut self.cells[row * self.width..(row + 1) * self.width]
    }

    /// The costs of one thing.
    pub fn row(&self, row: usize) -> PartialRow<'_> {
        PartialRow(&self.cells[row * self.width..(row + 1) * self.width])
    }

    /// Iterates over all rows.
    pub fn rows(&self) -> impl Iterator<Item = PartialRow<'_>> {
        (0..self.row_count).map(|row| self.row(row))
    }
}

fn add(cell: &mut Cost, cost: Cost) {
    *cell = if *cell == NOT_GIVEN { cost } else { *cell + cost };
}

impl fmt::Debug for PartialCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}

/// A row of [`PartialCosts`]: the costs of one thing. See the example of [`FileLines`](super::FileLines).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PartialRow<'a>(&'a [Cost]);

impl<'a> PartialRow<'a> {
    /// A row in which no cost was given.
    pub const EMPTY: PartialRow<'static> = PartialRow(&[]);

    /// The cost of an event type, if any line gave it.
    pub fn get(self, event: usize) -> Option<Cost> {
        self.0.get(event).copied().filter(|&cost| cost != NOT_GIVEN)
    }

    /// Iterates over the costs of all event types.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Option<Cost>> + use<'a> {
        self.0.iter().map(|&cost| (cost != NOT_GIVEN).then_some(cost))
    }

    /// Collects the costs of all event types, with zero for those that no line gave.
    pub fn or_zero(self) -> Vec<Cost> {
        self.iter().map(|cost| cost.unwrap_or(0)).collect()
    }
}

impl fmt::Debug for PartialRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
