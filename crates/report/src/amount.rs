//! Sums of costs, and the signs of numbers.

use gristmill_format::Cost;
use gristmill_output::CostUnit;
use gristmill_profile::{CostRow, Part};

/// Adds costs to sums, column by column.
#[inline]
pub(crate) fn add(sums: &mut [Cost], costs: &[Cost]) {
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}

/// Adds the costs of a part to those of all recorded event types.
pub(crate) fn add_part(recorded: &mut CostRow, part: &Part<'_>) {
    for (event, cost) in part.event_types().iter().zip(part.totals()) {
        recorded.add(event.index(), cost);
    }
}

/// The reason why inclusive costs are estimates without a focus.
pub(crate) const NOTE_BELOW_0: &str =
    "~ estimate: what calls have in common counts more than once, and costs can be below 0";

/// The sign before a number that may be an estimate.
pub(crate) fn estimate_mark(is_estimate: bool) -> &'static str {
    if is_estimate { "~" } else { "" }
}

/// Returns a change with its sign: `+1,234`, `-5.2 ms`, `0`.
pub(crate) fn signed(cost: Cost, unit: CostUnit) -> String {
    let shown = unit.show(cost);
    if cost > 0 { format!("+{shown}") } else { shown }
}
