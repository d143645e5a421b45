//! An event type of a comparison as reports show it.

use gristmill_output::{CostUnit, lossy};
use gristmill_profile::compare::{ComparedEvent, Comparison, Side};
use gristmill_profile::event::known_long_name;

use super::event_name;
use crate::columns::EventColumn;

/// Returns an event type of a comparison as reports show it.
pub(super) fn event_column(comparison: &Comparison<'_>, column: usize) -> EventColumn {
    let event = &comparison.events()[column];
    let long_name = match &event.definition {
        Some(definition) => definition.long_name.clone(),
        None => recorded_long_name(comparison, event),
    };
    EventColumn {
        name: event_name(event),
        unit: CostUnit::parse(&event.name, long_name.as_deref()),
        long_name: long_name
            .map(|name| lossy(&name))
            .or_else(|| known_long_name(&event.name).map(str::to_owned)),
        formula: event.definition.as_ref().map(|definition| definition.formula.to_string()),
    }
}

/// Returns the long name that a profile gives to an event type, one of the new side first.
fn recorded_long_name(comparison: &Comparison<'_>, event: &ComparedEvent) -> Option<Vec<u8>> {
    let mut profiles = [Side::New, Side::Base].into_iter().flat_map(|side| comparison.runs(side));
    profiles.find_map(|profile| {
        let mut definitions = profile.event_definitions();
        let definition =
            definitions.find(|definition| definition.name == event.name && definition.formula.is_none());
        definition?.long_name.map(<[u8]>::to_vec)
    })
}
