//! The parts of the inputs, as the index keeps them.

use std::ops::Range;

use gristmill_format::{Columns, Cost, Location};

use super::Index;
use super::block::BodyState;
use super::names::Text;
use super::sum_table::SumPlace;
use crate::id::EventId;

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

    pub(crate) fn body_state(&self, part: usize) -> Option<&BodyState> {
        let header = self.parts.get(part)?.header;
        self.headers.get(header as usize)?.body.as_ref()
    }

    pub(crate) fn block_range(&self, part: usize) -> Range<usize> {
        let from = self.parts.get(part).map_or(self.blocks.len(), |part| part.blocks);
        from..self.parts.get(part + 1).map_or(self.blocks.len(), |next| next.blocks)
    }
}
