//! Costs as a profile records them, brought to the columns that a view shows.
//!
//! A view has the costs of functions and of calls. What is read again from the files, lines and invocations, has a
//! column for each recorded event type and none for derived ones. These are linear, so they follow row by row.

use gristmill_format::Cost;

use crate::view::View;

/// The shown columns of costs as the profile records them. None when a derived cost is above all bounds.
pub(crate) fn shown_of_recorded(view: &View<'_>, recorded: &[Cost]) -> Option<Vec<Cost>> {
    let cost = |&column: &usize| match view.derived(column) {
        Some(derived) => derived.of(recorded).ok(),
        // A profile without event types is shown with a column of zeros.
        None => Some(recorded.get(column).copied().unwrap_or(0)),
    };
    view.shown().iter().map(cost).collect()
}

/// The shown columns of a row that has all columns of the view.
pub(crate) fn shown_of(view: &View<'_>, row: &[Cost]) -> Vec<Cost> {
    view.shown().iter().map(|&column| row[column]).collect()
}
