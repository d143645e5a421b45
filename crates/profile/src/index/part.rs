//! The parts of the inputs, as the index keeps them.

use std::ops::Range;

use gristmill_format::{Columns, Cost, Location, ProducerKind};

use super::Index;
use super::block::BodyState;
use super::names::Text;
use super::sum_table::SumOffset;
use crate::id::{EventId, InputId, PartId, define_ids};

define_ids! {
    /// The id of header values that consecutive parts usually have in common.
    pub(crate) SharedHeaderId;
    /// The id of header values that usually differ from part to part.
    pub(crate) OwnHeaderId;
}

/// A part of an input.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PartData {
    pub(crate) input: InputId,
    pub(crate) shared_header: SharedHeaderId,
    pub(crate) own_header: OwnHeaderId,
    pub(crate) start: PartStart,
    /// Offset of the first byte behind it.
    pub(crate) end_byte: u64,
}

/// The start of a part, and of its ranges of the tables. They end where those of the next part start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PartStart {
    pub(crate) location: Location,
    /// Index of its first block.
    pub(crate) block: usize,
    pub(crate) self_costs: SumOffset,
    pub(crate) arcs: SumOffset,
}

/// Header values that differ from part to part. Consecutive parts with equal values share them, as a file may hold a
/// million parts without any.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct OwnHeader {
    pub(crate) pid: Option<u64>,
    pub(crate) number: Option<u64>,
    pub(crate) thread: Option<u64>,
    /// Boxed, as a file may hold a million parts with a number and nothing else.
    pub(crate) statements: Option<Box<PartStatements>>,
}

/// Statements of a part about itself, which take long lines in the file.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct PartStatements {
    pub(crate) trigger: Option<Text>,
    pub(crate) time_range: Option<Text>,
    pub(crate) summary: Option<Box<[Cost]>>,
    pub(crate) totals: Option<Box<[Cost]>>,
}

/// Header values that consecutive parts usually have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SharedHeader {
    pub(crate) creator: Option<Text>,
    pub(crate) command: Option<Text>,
    pub(crate) descriptions: Vec<(Text, Text)>,
    /// The event type of each column.
    pub(crate) events: Vec<EventId>,
    pub(crate) columns: Columns,
    pub(crate) body: Option<BodyState>,
    pub(crate) producer: ProducerKind,
}

impl Index {
    /// Returns a part.
    #[inline]
    pub(crate) fn part(&self, part: PartId) -> &PartData {
        &self.parts[part.index()]
    }

    /// Returns the header values that a part shares with others.
    #[inline]
    pub(crate) fn shared_header(&self, part: PartId) -> &SharedHeader {
        &self.shared_headers[self.part(part).shared_header.index()]
    }

    /// Returns the header values of a part that usually differ from part to part.
    #[inline]
    pub(crate) fn own_header(&self, part: PartId) -> &OwnHeader {
        &self.own_headers[self.part(part).own_header.index()]
    }

    fn start_after(&self, part: PartId) -> Option<&PartStart> {
        self.parts.get(part.index() + 1).map(|next| &next.start)
    }

    /// Returns where the self costs of a part start and end.
    pub(crate) fn self_cost_range(&self, part: PartId) -> Range<SumOffset> {
        let end = self.start_after(part).map_or(self.self_costs.end(), |next| next.self_costs);
        self.part(part).start.self_costs..end
    }

    /// Returns where the arcs of a part start and end.
    pub(crate) fn arc_range(&self, part: PartId) -> Range<SumOffset> {
        let end = self.start_after(part).map_or(self.arcs.end(), |next| next.arcs);
        self.part(part).start.arcs..end
    }

    /// Returns the indices of the blocks of a part.
    pub(crate) fn block_range(&self, part: PartId) -> Range<usize> {
        let end = self.start_after(part).map_or(self.blocks.len(), |next| next.block);
        self.part(part).start.block..end
    }
}
