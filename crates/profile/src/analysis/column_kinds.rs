//! Columns of a call graph that are derived from its other columns, and those of memory.
//!
//! Sums of costs follow a formula by themselves. Where a number is more than a sum, as a cost that is limited to the total
//! or the share of a caller, a derived column is calculated from the others of its row, so that each row follows the formula.

use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;

use crate::cost::CostTable;

/// The columns of a graph that are derived, and those of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ColumnKinds {
    /// Each with its operands: columns that are not derived, and their factors.
    derived: Vec<(usize, Vec<(usize, Cost)>)>,
    /// A call can cost less than 0 there, also where no sum does.
    memory: Vec<usize>,
}

impl ColumnKinds {
    /// Adds a column of memory.
    pub(crate) fn push_memory(&mut self, column: usize) {
        self.memory.push(column);
    }

    /// Adds a derived column.
    pub(crate) fn push(&mut self, column: usize, factors: &[(usize, Cost)]) {
        self.derived.push((column, factors.to_vec()));
    }

    /// Returns the kinds of a graph that has these columns of this one. A column whose operands are not all among them is no
    /// longer derived.
    pub(crate) fn selected(&self, columns: &[usize]) -> Self {
        // The first of equal columns counts.
        let new_columns: HashMap<usize, usize> = columns
            .iter()
            .copied()
            .enumerate()
            .rev()
            .map(|(new_column, column)| (column, new_column))
            .collect();
        let derived: HashMap<usize, &[(usize, Cost)]> =
            self.derived.iter().rev().map(|(column, factors)| (*column, &factors[..])).collect();
        let memory: HashSet<usize> = self.memory.iter().copied().collect();
        let mut selected = ColumnKinds::default();
        for (new_column, column) in columns.iter().enumerate() {
            if memory.contains(column) {
                selected.memory.push(new_column);
            }
            let Some(factors) = derived.get(column) else { continue };
            let new_factor = |&(operand, factor): &(usize, Cost)| Some((*new_columns.get(&operand)?, factor));
            let factors: Option<Vec<(usize, Cost)>> = factors.iter().map(new_factor).collect();
            selected.derived.extend(factors.map(|factors| (new_column, factors)));
        }
        selected
    }

    /// Goes through the derived columns.
    pub(crate) fn derived(&self) -> impl Iterator<Item = usize> + '_ {
        self.derived.iter().map(|&(column, _)| column)
    }

    /// Returns the columns of memory that are not derived.
    pub(crate) fn memory(&self) -> &[usize] {
        &self.memory
    }

    /// Calculates the derived columns of a row from the others. A cost that does not fit stays as it is.
    pub(crate) fn derive(&self, row: &mut [Cost]) {
        for (column, factors) in &self.derived {
            let sum = factors.iter().try_fold(0, |sum: Cost, &(operand, factor)| {
                row[operand].checked_mul(factor).and_then(|cost| sum.checked_add(cost))
            });
            row[*column] = sum.unwrap_or(row[*column]);
        }
    }

    /// Calculates the derived columns of all rows.
    pub(crate) fn derive_all(&self, table: &mut CostTable) {
        if !self.derived.is_empty() {
            (0..table.len()).for_each(|index| self.derive(table.row_mut(index)));
        }
    }
}
