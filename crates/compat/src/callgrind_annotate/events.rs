//! The event types that an annotation shows and sorts by, recorded ones and derived ones.

use gristmill_format::Cost;
use gristmill_profile::Profile;
use gristmill_profile::event_choice::{EventSource, definitions};
use gristmill_profile::formula::{Definition, Derived, derive};
use gristmill_profile::source_lines::PartialRow;

use crate::error::LayoutError;

/// An event type to show or to sort by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelectedEvent {
    /// Its name.
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

    /// The event types of these names: recorded ones, or derived ones as the profile, the user or custom define them.
    ///
    /// # Errors
    ///
    /// When there is none of a name.
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
            // A name that is spelled exactly goes before one that differs in case.
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

    /// The cost of this event type, if any line gave it. A derived one is given if anything that it is made of is.
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
    let names: Vec<&[u8]> = recorded.iter().map(|event| event.name.as_bytes()).collect();
    let event = |derived: Derived| SelectedEvent {
        name: String::from_utf8_lossy(&derived.definition.name).into_owned(),
        source: EventSource::Derived(derived),
    };
    derive(&names, &definitions(profile, own)).derived.into_iter().map(event).collect()
}
