//! The parts of a profile, and the sums of each.

use std::ops::Range;

use gristmill_format::{Columns, Cost, Location, ProducerKind};

use crate::analysis::arcs::CallArc;
use crate::id::{EventId, FileId, FunctionId, PartId};
use crate::index::part::{OwnHeader, PartData, PartStatements, SharedHeader};
use crate::profile::Profile;
use crate::selection::Selection;

/// The beginning of the [trigger](Part::trigger) of a part of a program that another one has replaced in its process.
pub const REPLACED_BY: &[u8] = b"Replaced by ";

/// A part of a profile: a thread, a dump, a time span. See [`Profile::parts`].
#[derive(Debug, Clone, Copy)]
pub struct Part<'p> {
    profile: &'p Profile,
    id: PartId,
}

impl Profile {
    /// Returns how many parts there are.
    pub fn part_count(&self) -> usize {
        self.index.parts.len()
    }

    /// Returns the parts, in the order of the files.
    ///
    /// ```
    /// use gristmill_profile::Profile;
    ///
    /// let profile = Profile::from_bytes(b"events: Ir\npart: 1\nfn=f\n1 2\n\npart: 2\nevents: Ir\nfn=f\n1 3\n");
    /// let totals: Vec<_> = profile.parts().map(|part| (part.number(), part.totals())).collect();
    /// assert_eq!(totals, [(Some(1), vec![2]), (Some(2), vec![3])]);
    /// ```
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Part<'_>> {
        (0..self.index.parts.len()).map(|index| Part::new(self, PartId::new(index)))
    }

    /// Returns a part.
    ///
    /// # Panics
    ///
    /// If the id is of another profile, and beyond this one.
    pub fn part(&self, id: PartId) -> Part<'_> {
        assert!(id.index() < self.index.parts.len(), "a part of this profile");
        Part::new(self, id)
    }

    /// Returns the selected parts, in the order of the files.
    pub fn selected<'p>(&'p self, selection: &'p Selection) -> impl Iterator<Item = Part<'p>> {
        self.parts().filter(|part| selection.includes(part.number(), part.thread(), part.pid()))
    }

    /// Returns the sums of self costs, by event type.
    pub fn totals(&self, selection: &Selection) -> Vec<Cost> {
        let mut totals = vec![0; self.event_count()];
        for part in self.selected(selection) {
            let events = part.event_types();
            self.each_self_cost(&part, |_, _, costs| {
                events.iter().zip(costs).for_each(|(event, cost)| totals[event.index()] += cost);
            });
        }
        totals
    }

    /// Passes on the self costs of a part by function and by file of the lines, which differs from that of the function for
    /// inlined code. Costs are in the order of the part's own event types.
    pub fn each_self_cost(&self, part: &Part<'_>, mut take: impl FnMut(FunctionId, FileId, &[Cost])) {
        let range = self.index.self_cost_range(part.id);
        self.index.self_costs.for_each(range, part.event_types().len(), |(function, file), _, costs| {
            take(FunctionId::from_u32(function), FileId::from_u32(file), costs);
        });
    }

    /// Does the same without the file, and without the zeros at the end of a row.
    pub(crate) fn each_short_self_cost(&self, part: &Part<'_>, mut take: impl FnMut(FunctionId, &[Cost])) {
        let range = self.index.self_cost_range(part.id);
        self.index
            .self_costs
            .for_each_short(range, |(function, _), costs| take(FunctionId::from_u32(function), costs));
    }

    /// Passes on the arcs of a part by caller and callee: count, and inclusive costs in the order of the part's own event
    /// types.
    pub fn each_arc(&self, part: &Part<'_>, mut take: impl FnMut(CallArc<FunctionId>, &[Cost])) {
        let range = self.index.arc_range(part.id);
        self.index.arcs.for_each(range, part.event_types().len(), |(caller, callee), count, costs| {
            let [caller, callee] = [caller, callee].map(FunctionId::from_u32);
            take(CallArc { caller, callee, count }, costs);
        });
    }
}

impl<'p> Part<'p> {
    /// Returns how many pairs of a function and a file with self costs it has.
    pub(crate) fn self_cost_count(&self) -> usize {
        let range = self.profile.index.self_cost_range(self.id);
        range.start.count_to(range.end)
    }

    /// Returns how many pairs of a caller and a callee it has.
    pub(crate) fn arc_count(&self) -> usize {
        let range = self.profile.index.arc_range(self.id);
        range.start.count_to(range.end)
    }

    pub(crate) fn new(profile: &'p Profile, id: PartId) -> Self {
        Part { profile, id }
    }

    fn data(&self) -> &'p PartData {
        self.profile.index.part(self.id)
    }

    fn shared_header(&self) -> &'p SharedHeader {
        self.profile.index.shared_header(self.id)
    }

    fn own_header(&self) -> &'p OwnHeader {
        self.profile.index.own_header(self.id)
    }

    fn statements(&self) -> Option<&'p PartStatements> {
        self.own_header().statements.as_deref()
    }

    /// Returns its id.
    pub fn id(&self) -> PartId {
        self.id
    }

    /// Returns the index of its input.
    pub fn input(&self) -> usize {
        self.data().input.index()
    }

    /// Returns where it starts in its input.
    pub fn location(&self) -> Location {
        self.data().start.location
    }

    /// Returns its range of bytes in its input.
    pub fn bytes(&self) -> Range<u64> {
        self.data().start.location.byte..self.data().end_byte
    }

    /// Returns the process that was measured: that of the part, or else of one before it in the same input.
    pub fn pid(&self) -> Option<u64> {
        self.own_header().pid
    }

    /// Returns the number of the dump.
    pub fn number(&self) -> Option<u64> {
        self.own_header().number
    }

    /// Returns the thread.
    pub fn thread(&self) -> Option<u64> {
        self.own_header().thread
    }

    /// Returns why it was written: `desc: Trigger:`.
    pub fn trigger(&self) -> Option<&'p [u8]> {
        self.statements()?.trigger.map(|text| self.profile.text(text))
    }

    /// Returns the time that it covers: `desc: Timerange:`.
    pub fn time_range(&self) -> Option<&'p [u8]> {
        self.statements()?.time_range.map(|text| self.profile.text(text))
    }

    /// Returns the program that was measured and its arguments: those of the part, or else of one before it in the same input.
    pub fn command(&self) -> Option<&'p [u8]> {
        self.shared_header().command.map(|text| self.profile.text(text))
    }

    /// Returns the creator: that of the part, or else of one before it in the same input.
    pub fn creator(&self) -> Option<&'p [u8]> {
        self.shared_header().creator.map(|text| self.profile.text(text))
    }

    /// Returns the producer, told by the creator if there is one, and otherwise by the contents of its input.
    pub fn producer(&self) -> ProducerKind {
        self.shared_header().producer
    }

    /// Returns descriptions other than trigger and time range: kind and value.
    pub fn descriptions(&self) -> impl Iterator<Item = (&'p [u8], &'p [u8])> + use<'p> {
        let profile = self.profile;
        self.shared_header()
            .descriptions
            .iter()
            .map(|&(kind, value)| (profile.text(kind), profile.text(value)))
    }

    /// Returns the event types of its columns.
    pub fn event_types(&self) -> &'p [EventId] {
        &self.shared_header().events
    }

    /// Returns its position columns.
    pub fn columns(&self) -> &'p Columns {
        &self.shared_header().columns
    }

    /// Returns the claimed totals of its `summary:`: never trusted, and not always as many as there are event types.
    pub fn claimed_summary(&self) -> Option<&'p [Cost]> {
        self.statements()?.summary.as_deref()
    }

    /// Returns the claimed totals of its `totals:`.
    pub fn claimed_totals(&self) -> Option<&'p [Cost]> {
        self.statements()?.totals.as_deref()
    }

    /// Returns the sums of its self costs, in the order of its own event types.
    pub fn totals(&self) -> Vec<Cost> {
        let index = &self.profile.index;
        index.self_costs.totals(index.self_cost_range(self.id), self.event_types().len())
    }
}
