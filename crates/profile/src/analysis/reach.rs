//! Callers and callees of a function at any distance.

use std::cmp::Reverse;

use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId};

/// The direction in which calls are followed. See the example of [`reach`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To what calls the node.
    Callers,
    /// To what the node calls.
    Callees,
}

/// A node that can be reached from another one. See the example of [`reach`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The node.
    pub node: NodeId,
    /// The least count of calls on the way.
    pub distance: usize,
    /// The arc of such a way that ends at this node. Of several it is the most expensive by the first event type.
    pub via: ArcId,
}

/// Returns all callers or callees of a node up to a distance, the nearest first, then in the order of nodes.
///
/// The node itself is left out, even if it is in a cycle.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Direction, reach};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, parse, read] = [1, 2, 3].map(|cost| builder.add_node(&[cost]));
/// builder.add_arc(CallArc { caller: main, callee: parse, count: 1 }, &[5]);
/// builder.add_arc(CallArc { caller: parse, callee: read, count: 1 }, &[3]);
/// let graph = builder.build();
///
/// let reached = reach(&graph, main, Direction::Callees, 2);
/// assert_eq!([(parse, 1), (read, 2)].to_vec(), reached.iter().map(|it| (it.node, it.distance)).collect::<Vec<_>>());
/// ```
pub fn reach(graph: &CallGraph, from: NodeId, direction: Direction, max_distance: usize) -> Vec<Reached> {
    let mut is_seen = vec![false; graph.node_count()];
    is_seen[from.index()] = true;
    // By node that was found: the most expensive arc to it; of equals the first one.
    let mut via: Vec<Option<ArcId>> = vec![None; graph.node_count()];
    let cost = |arc: ArcId| graph.arc_cost(arc).first().copied();
    let mut reached: Vec<Reached> = Vec::new();
    let mut nearest = vec![from];
    for distance in 1..=max_distance {
        let mut found: Vec<NodeId> = Vec::new();
        for &node in &nearest {
            let mut visit = |arc: ArcId, other: NodeId| {
                if is_seen[other.index()] {
                    return;
                }
                let best = &mut via[other.index()];
                match *best {
                    None => {
                        found.push(other);
                        *best = Some(arc);
                    }
                    Some(known) if (cost(arc), Reverse(arc)) > (cost(known), Reverse(known)) => {
                        *best = Some(arc)
                    }
                    Some(_) => {}
                }
            };
            match direction {
                Direction::Callers => graph.incoming(node).for_each(|arc| visit(arc, graph.caller(arc))),
                Direction::Callees => graph.outgoing(node).for_each(|arc| visit(arc, graph.callee(arc))),
            }
        }
        found.sort_unstable();
        found.iter().for_each(|node| is_seen[node.index()] = true);
        let new = found.iter().filter_map(|&node| Some(Reached { node, distance, via: via[node.index()]? }));
        reached.extend(new);
        nearest = found;
        if nearest.is_empty() {
            break;
        }
    }
    reached
}
