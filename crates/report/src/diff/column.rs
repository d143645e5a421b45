//! An event type of a comparison as reports show it.

use gristmill_output::{CostUnit, lossy};
use gristmill_profile::compare::Comparison;
use gristmill_profile::event::known_long_name;

use super::event_name;
use crate::columns::EventColumn;

/// Returns an event type of a comparison as reports show it.
pub(super) fn event_column(comparison: &Comparison<'_>, column: usize) -> EventColumn {
    let event = &comparison.events()[column];
    EventColumn {
        name: event_name(event),
        unit: CostUnit::parse(&event.name, event.long_name.as_deref()),
        long_name: event
            .long_name
            .as_deref()
            .map(lossy)
            .or_else(|| known_long_name(&event.name).map(str::to_owned)),
        formula: event.definition.as_ref().map(|definition| definition.formula.to_string()),
    }
}
