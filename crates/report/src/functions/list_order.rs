//! The orders of lists of functions.

use gristmill_format::Cost;

use super::SortBy;

/// The order of a [`FunctionList`](super::FunctionList), which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrder {
    /// That of the report.
    By(SortBy),
    /// Inclusive cost by call, the greatest first. Rows without calls come last.
    PerCall,
    /// Object, then name.
    Object,
    /// Source file, then name.
    File,
}

/// Compares costs by call. Without calls there is no such cost, which is less than any other.
pub(super) fn per_call(
    (cost_a, calls_a): (Cost, Cost),
    (cost_b, calls_b): (Cost, Cost),
) -> std::cmp::Ordering {
    let key = |cost: Cost, calls: Cost| (calls > 0).then(|| cost.unsigned_abs() / calls.unsigned_abs());
    let rest = |cost: Cost, calls: Cost| cost.unsigned_abs() as f64 / calls as f64;
    let by_whole = key(cost_a, calls_a).cmp(&key(cost_b, calls_b));
    if by_whole.is_eq() && calls_a > 0 {
        return rest(cost_a, calls_a).total_cmp(&rest(cost_b, calls_b));
    }
    by_whole.then_with(|| cost_a.unsigned_abs().cmp(&cost_b.unsigned_abs()))
}
