//! Long names of event types, as `event:` lines give them.

use gristmill_profile::Profile;

/// The long names of a profile, to be searched by the name of the event type: there may be a million of both.
#[derive(Debug)]
pub(super) struct LongNames<'p> {
    /// Name and long name, sorted by name; of several definitions with one name the first comes first.
    by_name: Vec<(&'p [u8], Option<&'p [u8]>)>,
}

impl<'p> LongNames<'p> {
    pub(super) fn new(profile: &'p Profile) -> Self {
        let definitions = profile.event_definitions();
        let mut by_name: Vec<_> = definitions.map(|event| (event.name, event.long_name)).collect();
        by_name.sort_by_key(|&(name, _)| name);
        LongNames { by_name }
    }

    /// Returns the long name of an event type: that of its first definition.
    pub(super) fn get(&self, name: &[u8]) -> Option<&'p [u8]> {
        let first = self.by_name.partition_point(|&(other, _)| other < name);
        self.by_name.get(first).filter(|(other, _)| *other == name)?.1
    }
}
