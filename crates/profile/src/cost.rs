//! Tables of costs, in one block of memory.

use std::fmt;

use gristmill_format::Cost;

/// A table of costs: a row for each element, a column for each event type.
///
/// ```
/// use gristmill_profile::CostTable;
///
/// let mut table = CostTable::new(2, 1);
/// table.add(0, &[5, 1]);
/// table.push(&[4, 0]);
/// assert_eq!((table.row(0), table.total()), (&[5, 1][..], vec![9, 1]));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct CostTable {
    width: usize,
    /// Without event types there are rows but no values.
    rows: usize,
    values: Vec<Cost>,
}

impl CostTable {
    /// Creates a table with rows of zeros.
    pub fn new(width: usize, rows: usize) -> Self {
        CostTable { width, rows, values: vec![0; width * rows] }
    }

    /// Creates a table with one column.
    pub(crate) fn from_column(values: Vec<Cost>) -> Self {
        CostTable { width: 1, rows: values.len(), values }
    }

    /// Creates a table with one row.
    pub(crate) fn from_row(values: Vec<Cost>) -> Self {
        CostTable { width: values.len(), rows: 1, values }
    }

    /// Returns how many columns there are.
    #[inline]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns how many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns `true` if there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns a row.
    #[inline]
    pub fn row(&self, index: usize) -> &[Cost] {
        &self.values[index * self.width..][..self.width]
    }

    /// Returns a row, to be changed.
    #[inline]
    pub fn row_mut(&mut self, index: usize) -> &mut [Cost] {
        &mut self.values[index * self.width..][..self.width]
    }

    /// Adds costs to a row.
    #[inline]
    pub fn add(&mut self, index: usize, costs: &[Cost]) {
        add(self.row_mut(index), costs);
    }

    /// Appends a row.
    pub fn push(&mut self, costs: &[Cost]) {
        debug_assert_eq!(costs.len(), self.width);
        self.values.extend_from_slice(costs);
        self.rows += 1;
    }

    /// Appends a row of zeros.
    pub(crate) fn push_zeros(&mut self) {
        self.rows += 1;
        self.values.resize(self.rows * self.width, 0);
    }

    /// Returns the cells of all rows, to be changed.
    pub(crate) fn values_mut(&mut self) -> &mut [Cost] {
        &mut self.values
    }

    /// Returns the rows.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[Cost]> {
        (0..self.rows).map(|index| self.row(index))
    }

    /// Returns the table with these columns, in this order.
    pub(crate) fn with_columns(&self, columns: &[usize]) -> CostTable {
        let mut selected = CostTable::new(columns.len(), 0);
        selected.values.reserve_exact(columns.len() * self.rows);
        for row in self.rows() {
            selected.values.extend(columns.iter().map(|&column| row[column]));
        }
        CostTable { rows: self.rows, ..selected }
    }

    /// Returns the table with these rows, in this order.
    pub(crate) fn with_rows(&self, rows: impl ExactSizeIterator<Item = usize>) -> CostTable {
        let mut selected = CostTable { width: self.width, rows: rows.len(), values: Vec::new() };
        selected.values.reserve_exact(self.width * rows.len());
        rows.for_each(|row| selected.values.extend_from_slice(self.row(row)));
        selected
    }

    /// Returns the sum of all rows.
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

/// Subtracts costs from sums.
pub(crate) fn subtract(from: &mut [Cost], costs: &[Cost]) {
    from.iter_mut().zip(costs).for_each(|(from, cost)| *from -= cost);
}

impl fmt::Debug for CostTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.rows()).finish()
    }
}
