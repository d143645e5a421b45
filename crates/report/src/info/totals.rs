//! Costs by the names of event types, which are not copied: there may be a million of them.

use std::borrow::Cow;

use gristmill_format::Cost;
use gristmill_profile::{EventId, Part, Profile};

use super::InfoReport;

/// Costs by the names of event types. See [`InfoReport::totals`] and the example of [`info`](crate::info).
#[derive(Debug, Clone)]
pub struct EventTotals<'a> {
    profile: &'a Profile,
    events: Cow<'a, [EventId]>,
    costs: Cow<'a, [Cost]>,
}

impl InfoReport {
    /// Returns the totals over all parts, in the order in which the event types are first named.
    pub fn totals(&self) -> EventTotals<'_> {
        let mut parts = self.profile.parts();
        // Most profiles have one part.
        if let (Some(only), None) = (parts.next(), parts.next()) {
            return EventTotals::of_part(&self.profile, &only, only.totals());
        }
        let mut totals = vec![0; self.profile.event_count()];
        for part in self.profile.parts() {
            let events = part.event_types().iter();
            events.zip(part.totals()).for_each(|(event, cost)| totals[event.index()] += cost);
        }
        let events = self.profile.events().collect();
        EventTotals { profile: &self.profile, events: Cow::Owned(events), costs: Cow::Owned(totals) }
    }
}

impl<'a> EventTotals<'a> {
    /// Costs in the order of the columns of a part, of which zeros at the end may be missing.
    pub(super) fn of_part(profile: &'a Profile, part: &Part<'a>, costs: impl Into<Cow<'a, [Cost]>>) -> Self {
        EventTotals { profile, events: Cow::Borrowed(part.event_types()), costs: costs.into() }
    }

    /// Returns the count of event types.
    pub fn len(&self) -> usize {
        self.costs.len().min(self.events.len())
    }

    /// `true` if there are no event types.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Goes through names and costs.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u8], Cost)> {
        let profile = self.profile;
        let names = self.events.iter().map(|&event| profile.event(event).name);
        names.zip(self.costs.iter().copied())
    }
}
