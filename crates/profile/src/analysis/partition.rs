//! Partitions of a graph's nodes.

use std::collections::HashMap;
use std::hash::Hash;

use crate::analysis::ids::NodeId;

/// A partition of the nodes of a [`CallGraph`](super::CallGraph) into groups.
///
/// [`CallGraph::folded`](super::CallGraph::folded) makes one node of each group. Groups are numbered from 0; the node of a
/// folded graph has the index of its group.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Partition};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, read, write] = [1, 10, 20].map(|cost| builder.add_node(&[cost]));
/// builder.add_arc(CallArc { caller: main, callee: read, count: 1 }, &[10]);
/// builder.add_arc(CallArc { caller: main, callee: write, count: 1 }, &[20]);
/// let graph = builder.build();
///
/// let partition = Partition::from_keys(["program", "library", "library"]);
/// let folded = graph.folded(&partition);
/// assert_eq!(folded.self_cost(partition.group_of(read)), [30]);
/// assert_eq!(folded.arcs().len(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The group of each node, as a node of the folded graph.
    group_of: Vec<NodeId>,
    group_count: usize,
}

impl Partition {
    /// Takes the group of each node, in the order of the nodes.
    ///
    /// # Panics
    ///
    /// If a group is not below `group_count`.
    pub fn new(group_count: usize, groups: impl IntoIterator<Item = usize>) -> Self {
        let group = |group: usize| {
            assert!(group < group_count, "group {group} of {group_count}");
            NodeId::new(group)
        };
        Partition { group_of: groups.into_iter().map(group).collect(), group_count }
    }

    /// Puts nodes with the same key into one group. Groups are numbered in the order of their first nodes.
    pub fn from_keys<K: Eq + Hash>(keys: impl IntoIterator<Item = K>) -> Self {
        let mut known: HashMap<K, NodeId> = HashMap::new();
        let mut group = |key| {
            let next = NodeId::new(known.len());
            *known.entry(key).or_insert(next)
        };
        let group_of = keys.into_iter().map(&mut group).collect();
        Partition { group_of, group_count: known.len() }
    }

    /// Returns the count of groups.
    pub fn group_count(&self) -> usize {
        self.group_count
    }

    /// Returns the count of nodes that are grouped.
    pub fn node_count(&self) -> usize {
        self.group_of.len()
    }

    /// Iterates over the groups of the nodes, in the order of the nodes.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = NodeId> + '_ {
        self.group_of.iter().copied()
    }

    /// Returns the group of a node, as a node of the folded graph.
    #[inline]
    pub fn group_of(&self, node: NodeId) -> NodeId {
        self.group_of[node.index()]
    }

    /// Returns the group of the node with this index.
    pub fn group_at(&self, index: usize) -> NodeId {
        self.group_of[index]
    }
}
