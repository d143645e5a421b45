//! A row of few costs in a table of very many event types.

use gristmill_format::Cost;

/// The costs of one line, function or part at a time, by recorded event type. There can be very many event types of which most rows have
/// few, so clearing a row, and [a sum](crate::formula::Derived::cost_of) of its costs, takes time for these alone.
///
/// ```
/// use gristmill_profile::CostRow;
///
/// let mut row = CostRow::new(3);
/// row.add(1, 400);
/// row.add(1, 20);
/// assert_eq!([row.get(0), row.get(1)], [0, 420]);
/// row.clear();
/// assert_eq!(row.get(1), 0);
/// ```
#[derive(Debug, Clone)]
pub struct CostRow {
    costs: Vec<Cost>,
    /// The columns that the row has, each once.
    columns: Vec<usize>,
    is_present: Vec<bool>,
}

impl CostRow {
    /// Creates an empty row of a table with this many columns.
    pub fn new(width: usize) -> Self {
        CostRow { costs: vec![0; width], columns: Vec::new(), is_present: vec![false; width] }
    }

    /// Adds a cost to that of a column.
    ///
    /// # Panics
    ///
    /// If the table has no such column.
    pub fn add(&mut self, column: usize, cost: Cost) {
        if cost != 0 && !std::mem::replace(&mut self.is_present[column], true) {
            self.columns.push(column);
        }
        self.costs[column] += cost;
    }

    /// Removes all costs.
    pub fn clear(&mut self) {
        for column in self.columns.drain(..) {
            self.costs[column] = 0;
            self.is_present[column] = false;
        }
    }

    /// Returns the cost of a column, 0 if the row has none.
    pub fn get(&self, column: usize) -> Cost {
        self.costs.get(column).copied().unwrap_or(0)
    }

    /// Returns how many columns the table has.
    pub(crate) fn width(&self) -> usize {
        self.costs.len()
    }

    /// The columns that the row has, each once.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }
}
