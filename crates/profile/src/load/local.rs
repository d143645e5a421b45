//! The view of an input that the reader of a chunk gets, and the ids that hold within a chunk.

use crate::hash::Seeds;
use crate::id::{InputId, define_ids};
use crate::index::names::Text;
use crate::tuning::Tuning;

define_ids! {
    /// A name of one chunk in one name space, in the order of first use. Two of them may be the same name of the profile.
    pub(crate) LocalName;
    /// A function of one chunk, in the order of first use.
    pub(crate) LocalFunctionId;
    /// A part of one chunk.
    pub(crate) LocalPart;
}

impl LocalName {
    /// The empty name, which also stands for one that was never given: the first of each name space.
    pub(super) const NAMELESS: LocalName = LocalName::FIRST;

    /// Returns the local name behind this one.
    #[inline(always)]
    pub(super) fn next(self) -> LocalName {
        LocalName::new(self.index() + 1)
    }
}

/// The tables of sums that groups of the loader have members for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SumKind {
    /// Self costs, by function and file.
    SelfCosts,
    /// Calls and their costs, by caller and callee.
    Arcs,
}

impl SumKind {
    /// The kinds in the order of the tables.
    pub(crate) const ALL: [SumKind; 2] = [SumKind::SelfCosts, SumKind::Arcs];
    /// Number of kinds.
    pub(crate) const COUNT: usize = SumKind::ALL.len();
}

/// An input that is being loaded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputView<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) id: InputId,
    pub(crate) seeds: Seeds,
    pub(crate) tuning: Tuning,
}

impl InputView<'_> {
    /// Returns a slice of the input as a text.
    #[inline]
    pub(super) fn text(&self, slice: &[u8]) -> Text {
        Text { start: offset(self.bytes, slice), length: slice.len(), input: Some(self.id) }
    }
}

/// Returns the offset of a slice in the bytes that it is of; 0 of an empty one, which may be of other bytes.
#[inline]
pub(super) fn offset(bytes: &[u8], slice: &[u8]) -> usize {
    if slice.is_empty() {
        return 0;
    }
    let offset = slice.as_ptr() as usize - bytes.as_ptr() as usize;
    debug_assert!(offset + slice.len() <= bytes.len(), "a slice of the bytes");
    offset
}
