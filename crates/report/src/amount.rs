//! Sums of costs.

use gristmill_format::Cost;

/// Adds costs to sums, column by column.
pub(crate) fn add(sums: &mut [Cost], costs: &[Cost]) {
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}
