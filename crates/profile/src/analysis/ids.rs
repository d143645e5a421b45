//! Ids of the graph algorithms.
//!
//! A [`CallGraph`](super::CallGraph) numbers its nodes and arcs, and other structures of this module number their parts. Each
//! index space has its own type, which only its owner can make.

use std::fmt;

use crate::id::narrow;
use crate::ordered::OrderedKey;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            #[inline]
            pub(crate) fn new(index: usize) -> Self {
                $name(narrow(index))
            }

            #[inline]
            pub(in crate::analysis) const fn from_u32(index: u32) -> Self {
                $name(index)
            }

            /// Returns the index in the lists of its owner, from 0.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl OrderedKey for $name {
            const BITS: u32 = u32::BITS;

            fn ordinal(self) -> u128 {
                self.0.into()
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    )*};
}

ids! {
    /// A node of a [`CallGraph`](super::CallGraph): a function of a profile, or several folded into one.
    ///
    /// Made by the graph alone. It is valid for that graph, and for those made of it with other costs or fewer arcs.
    NodeId;
    /// An arc of a [`CallGraph`](super::CallGraph), made by the graph alone and valid for that graph.
    ///
    /// Arcs are numbered by caller, then callee.
    ArcId;
    /// A cycle of a call graph, made by [`Cycles`](super::Cycles) alone.
    CycleId;
    /// A node of a [`CallTree`](super::CallTree), made by the tree alone. A node has a greater id than the one above it.
    TreeNodeId;
}

impl CycleId {
    /// Returns the number that people see, from 1.
    pub fn number(self) -> usize {
        self.index() + 1
    }
}

impl TreeNodeId {
    /// The root of each tree: the node that all others are below.
    pub const ROOT: TreeNodeId = TreeNodeId(0);
}
