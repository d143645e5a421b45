//! Parts of a profile: what their headers say.

use std::ops::Range;

use gristmill_format::{Columns, Cost, Location};

use crate::block::BodyState;
use crate::cost::add;
use crate::id::{EventId, PartId};
use crate::profile::{Index, Profile};
use crate::sums::SumPlace;
use crate::text::Text;

/// What is known of one part.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PartData {
    pub(crate) input: u32,
    pub(crate) header: u32,
    pub(crate) said: u32,
    pub(crate) location: Location,
    pub(crate) end: u64,
    /// Where its blocks and sums begin; they end where those of the next part begin.
    pub(crate) blocks: usize,
    pub(crate) selves: SumPlace,
    pub(crate) arcs: SumPlace,
}

/// What a part says of itself. Kept apart from the rest, as a file may hold a million parts that say nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PartSaid {
    pub(crate) pid: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) thread: Option<u64>,
    pub(crate) trigger: Option<Text>,
    pub(crate) time_range: Option<Text>,
    pub(crate) summary: Option<Box<[Cost]>>,
    pub(crate) totals: Option<Box<[Cost]>>,
}

/// What many parts have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PartHeader {
    pub(crate) creator: Option<Text>,
    pub(crate) command: Option<Text>,
    pub(crate) descriptions: Vec<(Text, Text)>,
    /// One for each column.
    pub(crate) events: Vec<EventId>,
    pub(crate) columns: Columns,
    pub(crate) body: Option<BodyState>,
}

impl Index {
    pub(crate) fn self_range(&self, part: usize) -> (SumPlace, SumPlace) {
        let from = self.parts.get(part).map_or(self.selves.end(), |part| part.selves);
        (from, self.parts.get(part + 1).map_or(self.selves.end(), |next| next.selves))
    }

    pub(crate) fn arc_range(&self, part: usize) -> (SumPlace, SumPlace) {
        let from = self.parts.get(part).map_or(self.arcs.end(), |part| part.arcs);
        (from, self.parts.get(part + 1).map_or(self.arcs.end(), |next| next.arcs))
    }

    pub(crate) fn block_range(&self, part: usize) -> Range<usize> {
        let from = self.parts.get(part).map_or(self.blocks.len(), |part| part.blocks);
        from..self.parts.get(part + 1).map_or(self.blocks.len(), |next| next.blocks)
    }
}

/// A part of a profile: a thread, a dump, a time span.
#[derive(Debug, Clone, Copy)]
pub struct Part<'p> {
    profile: &'p Profile,
    index: usize,
}

impl<'p> Part<'p> {
    pub(crate) fn new(profile: &'p Profile, index: usize) -> Self {
        Part { profile, index }
    }

    fn data(&self) -> &'p PartData {
        &self.profile.index.parts[self.index]
    }

    fn header(&self) -> &'p PartHeader {
        &self.profile.index.headers[self.data().header as usize]
    }

    fn said(&self) -> &'p PartSaid {
        &self.profile.index.said[self.data().said as usize]
    }

    /// Which one it is.
    pub fn id(&self) -> PartId {
        PartId::new(self.index)
    }

    /// The input it came from: its index.
    pub fn input(&self) -> usize {
        self.data().input as usize
    }

    /// Where it begins in its input.
    pub fn location(&self) -> Location {
        self.data().location
    }

    /// Where it stands in its input.
    pub fn bytes(&self) -> Range<u64> {
        self.data().location.byte..self.data().end
    }

    /// The process that was measured: what the part says, or else one before it in the same input.
    pub fn pid(&self) -> Option<u64> {
        self.said().pid
    }

    /// The number of the dump.
    pub fn number(&self) -> Option<u64> {
        self.said().number
    }

    /// The thread.
    pub fn thread(&self) -> Option<u64> {
        self.said().thread
    }

    /// Why it was written: `desc: Trigger:`
    pub fn trigger(&self) -> Option<&'p [u8]> {
        self.said().trigger.map(|text| self.profile.text(text))
    }

    /// What it covers: `desc: Timerange:`
    pub fn time_range(&self) -> Option<&'p [u8]> {
        self.said().time_range.map(|text| self.profile.text(text))
    }

    /// The program that was measured and its arguments: what the part says, or else one before it in the same input.
    pub fn command(&self) -> Option<&'p [u8]> {
        self.header().command.map(|text| self.profile.text(text))
    }

    /// Who wrote it: what the part says, or else one before it in the same input.
    pub fn creator(&self) -> Option<&'p [u8]> {
        self.header().creator.map(|text| self.profile.text(text))
    }

    /// Other descriptions than trigger and time range: kind and value.
    pub fn descriptions(&self) -> impl Iterator<Item = (&'p [u8], &'p [u8])> + use<'p> {
        let profile = self.profile;
        self.header().descriptions.iter().map(|&(kind, value)| (profile.text(kind), profile.text(value)))
    }

    /// The event types of its columns.
    pub fn event_types(&self) -> &'p [EventId] {
        &self.header().events
    }

    /// Its position columns.
    pub fn columns(&self) -> &'p Columns {
        &self.header().columns
    }

    /// What its `summary:` says: never trusted, and not always as many as there are event types.
    pub fn claimed_summary(&self) -> Option<&'p [Cost]> {
        self.said().summary.as_deref()
    }

    /// What its `totals:` says.
    pub fn claimed_totals(&self) -> Option<&'p [Cost]> {
        self.said().totals.as_deref()
    }

    /// The sums of its self costs, in the order of its own event types.
    pub fn totals(&self) -> Vec<Cost> {
        let mut totals = vec![0; self.event_types().len()];
        self.profile.each_self_cost(self, |_, _, costs| add(&mut totals, costs));
        totals
    }
}
