//! Costs of which some were never given.

use std::fmt;

use gristmill_format::{Cost, Costs};
use gristmill_profile::EventId;

/// Stands for a cost that no line gave. No sum of 64-bit numbers comes near it.
const NOT_GIVEN: Cost = Cost::MIN;

/// One row of costs for each thing, with a column for each event type of the profile.
///
/// A line may leave costs off. Where none of the lines of a thing has a number for an event type, it is known to be zero
/// only because nobody said otherwise; the layouts of Valgrind's tools show `.` then, and `0` for a zero that was given.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct GivenCosts {
    width: usize,
    rows: usize,
    values: Vec<Cost>,
}

impl GivenCosts {
    /// No rows yet.
    pub(super) fn new(width: usize) -> Self {
        GivenCosts { width, rows: 0, values: Vec::new() }
    }

    /// Rows for which nothing was given yet.
    pub(super) fn with_rows(width: usize, rows: usize) -> Self {
        GivenCosts { width, rows, values: vec![NOT_GIVEN; width * rows] }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.rows
    }

    /// Adds a row for which nothing was given yet, and says which one it is.
    pub(super) fn begin_row(&mut self) -> usize {
        self.values.resize(self.values.len() + self.width, NOT_GIVEN);
        self.rows += 1;
        self.rows - 1
    }

    /// Forgets what was given for a row.
    pub(super) fn clear_row(&mut self, row: usize) {
        self.cells(row).fill(NOT_GIVEN);
    }

    /// Adds the costs of a line; `events` are those of its part.
    pub(super) fn add_line(&mut self, row: usize, costs: &Costs<'_>, events: &[EventId]) {
        let cells = self.cells(row);
        for (cost, event) in costs.iter().zip(events) {
            if let Some(cell) = cells.get_mut(event.index()) {
                add(cell, cost.unwrap_or_else(|fault| fault.repaired));
            }
        }
    }

    /// Adds one cost.
    pub(super) fn add(&mut self, row: usize, event: usize, cost: Cost) {
        if let Some(cell) = self.cells(row).get_mut(event) {
            add(cell, cost);
        }
    }

    /// Adds all costs of a row, which may be of another table.
    pub(super) fn add_row(&mut self, row: usize, more: GivenRow<'_>) {
        for (cell, &cost) in self.cells(row).iter_mut().zip(more.0) {
            if cost != NOT_GIVEN {
                add(cell, cost);
            }
        }
    }

    fn cells(&mut self, row: usize) -> &mut [Cost] {
        self.values.get_mut(row * self.width..(row + 1) * self.width).unwrap_or_default()
    }

    /// The costs of one thing.
    pub(super) fn row(&self, row: usize) -> GivenRow<'_> {
        GivenRow(self.values.get(row * self.width..(row + 1) * self.width).unwrap_or_default())
    }

    /// Adds a row at the end, which may be of another table.
    pub(super) fn push(&mut self, row: GivenRow<'_>) {
        let row = row.0.get(..self.width).unwrap_or_default();
        self.values.extend_from_slice(row);
        self.rows += 1;
    }

    /// How many event types there are.
    pub(super) fn width(&self) -> usize {
        self.width
    }
}

fn add(cell: &mut Cost, cost: Cost) {
    *cell = if *cell == NOT_GIVEN { cost } else { *cell + cost };
}

impl fmt::Debug for GivenCosts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries((0..self.rows).map(|row| self.row(row))).finish()
    }
}

/// The costs of one thing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct GivenRow<'a>(&'a [Cost]);

impl<'a> GivenRow<'a> {
    /// A row without costs.
    pub(super) const NONE: GivenRow<'static> = GivenRow(&[]);

    /// The cost of an event type, if any line gave it.
    pub(super) fn get(self, event: usize) -> Option<Cost> {
        self.0.get(event).copied().filter(|&cost| cost != NOT_GIVEN)
    }

    /// The costs of all event types.
    pub(super) fn iter(self) -> impl ExactSizeIterator<Item = Option<Cost>> + use<'a> {
        self.0.iter().map(|&cost| (cost != NOT_GIVEN).then_some(cost))
    }

    /// The costs of all event types, with zero for what was not given.
    pub(super) fn or_zero(self) -> Vec<Cost> {
        self.iter().map(Option::unwrap_or_default).collect()
    }
}

impl fmt::Debug for GivenRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
