//! The event types that the layout shows and sorts by.

use gristmill_format::Cost;
use gristmill_profile::Profile;
use gristmill_profile::event_choice::{EventSource, derivation};
use gristmill_profile::formula::{Definition, Derived};
use gristmill_profile::source_lines::PartialRow;

use crate::error::LayoutError;

/// A recorded or derived event type to show or to sort by. See the example of [`LayoutError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedEvent {
    /// The name of the event type.
    pub name: String,
    source: EventSource,
}

impl SelectedEvent {
    /// The recorded event types of a profile, in its order.
    pub fn recorded(profile: &Profile) -> Vec<SelectedEvent> {
        let event = |(index, id): (usize, _)| SelectedEvent {
            name: String::from_utf8_lossy(profile.event(id).name).into_owned(),
            source: EventSource::Recorded(index),
        };
        profile.events().enumerate().map(event).collect()
    }

    /// Finds event types by name: recorded ones, and derived ones as the profile, the user or convention defines them.
    ///
    /// # Errors
    ///
    /// Returns the first name that is no event type.
    pub fn named(
        profile: &Profile,
        names: &[String],
        own: &[Definition],
    ) -> Result<Vec<SelectedEvent>, LayoutError> {
        let recorded = SelectedEvent::recorded(profile);
        let mut derived: Option<Vec<SelectedEvent>> = None;
        let find = |events: &[SelectedEvent], name: &str| {
            let same = events.iter().find(|event| event.name == name);
            same.or_else(|| events.iter().find(|event| event.name.eq_ignore_ascii_case(name))).cloned()
        };
        let mut event = |name: &String| {
            // An exact match precedes one that differs in case.
            if let Some(exactly) = recorded.iter().find(|event| event.name == *name) {
                return Ok(exactly.clone());
            }
            let derived = derived.get_or_insert_with(|| derived_events(profile, &recorded, own));
            let found = find(derived, name).or_else(|| find(&recorded, name));
            found.ok_or_else(|| LayoutError::UnknownEvent {
                name: name.clone(),
                known: recorded.iter().chain(derived.iter()).map(|event| event.name.clone()).collect(),
            })
        };
        names.iter().map(&mut event).collect()
    }

    /// `true` unless this event type is derived and its cost in a row is out of range.
    pub(super) fn is_in_range<'r>(&self, mut rows: impl Iterator<Item = PartialRow<'r>>) -> bool {
        match &self.source {
            EventSource::Recorded(_) => true,
            EventSource::Derived(derived) => {
                rows.all(|row| derived.cost_from(|event| row.get(event).unwrap_or_default()).is_ok())
            }
        }
    }

    /// The cost of this event type, if any line gave it. A derived cost is given if one of its terms is.
    pub(super) fn of(&self, row: PartialRow<'_>) -> Option<Cost> {
        match &self.source {
            EventSource::Recorded(event) => row.get(*event),
            EventSource::Derived(derived) => {
                if derived.factors.iter().all(|&(event, _)| row.get(event).is_none()) {
                    return None;
                }
                let sum = |sum: Cost, &(event, factor): &(usize, Cost)| {
                    row.get(event).unwrap_or_default().saturating_mul(factor).saturating_add(sum)
                };
                Some(derived.factors.iter().fold(0, sum))
            }
        }
    }
}

fn derived_events(profile: &Profile, recorded: &[SelectedEvent], own: &[Definition]) -> Vec<SelectedEvent> {
    let names: Vec<&str> = recorded.iter().map(|event| event.name.as_str()).collect();
    let event = |derived: Derived| SelectedEvent {
        name: String::from_utf8_lossy(&derived.definition.name).into_owned(),
        source: EventSource::Derived(derived),
    };
    derivation(profile, &names, own).derived.into_iter().map(event).collect()
}
