//! Ids of a comparison, and its two sides.

use crate::analysis::NodeId;
use crate::id::define_ids;

define_ids! {
    /// A function of a [`Comparison`](super::Comparison): one or more functions of either side, joined.
    ///
    /// It is valid for the comparison that made it, and stable: the same profiles and options give the same ids. See the
    /// example there.
    pub JoinedId;
    /// A path of a [`Comparison`](super::Comparison): a source file or an object, joined. See the example there.
    pub JoinedPathId;
    /// A function as the runs have it: an object, a source file and a name.
    pub(super) RawFunctionId;
    /// A path as the runs have it.
    pub(super) RawPathId;
    /// An arc of the flow that the search for causes works on.
    pub(super) FlowArcId;
    /// A move of cost by inlining.
    pub(super) MoveId;
}

impl JoinedId {
    /// Its node in the call graphs of a comparison.
    pub(super) fn node(self) -> NodeId {
        NodeId::new(self.index())
    }

    /// The function of a node in the call graphs of a comparison.
    pub(super) fn from_node(node: NodeId) -> Self {
        JoinedId::new(node.index())
    }
}

/// A side of a [`Comparison`](super::Comparison). See the example there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The profiles before the change.
    Base,
    /// The profiles after the change.
    New,
}

impl Side {
    /// Both sides.
    pub const ALL: [Side; 2] = [Side::Base, Side::New];

    /// Returns the other side.
    pub fn other(self) -> Side {
        match self {
            Side::Base => Side::New,
            Side::New => Side::Base,
        }
    }

    /// Its index in a pair: 0 for the base, 1 for the new side.
    pub fn index(self) -> usize {
        self as usize
    }
}
