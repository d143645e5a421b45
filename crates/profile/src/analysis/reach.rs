//! What can be reached from a function, and the path on which most of its cost lies.

use std::cmp::Reverse;

use crate::analysis::graph::CallGraph;
use crate::id::FunctionId;

/// Which way to follow calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To what calls the function.
    Callers,
    /// To what the function calls.
    Callees,
}

/// A function that can be reached from another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reached {
    /// The function.
    pub function: FunctionId,
    /// The least number of calls on the way.
    pub distance: usize,
    /// The arc of such a way that is at this function, as a place in [`CallGraph::arcs`]. Of several it is the dearest by
    /// the first event type.
    pub via: usize,
}

/// All callers or callees of a function that are at most so far away, the nearest first, then in the order of
/// functions. The function itself is not among them, though it may be in a cycle.
pub fn reach(graph: &CallGraph, from: FunctionId, direction: Direction, farthest: usize) -> Vec<Reached> {
    let mut is_seen = vec![false; graph.functions()];
    is_seen[from.index()] = true;
    let mut reached: Vec<Reached> = Vec::new();
    let mut nearest = vec![from];
    for distance in 1..=farthest {
        let start = reached.len();
        let mut found: Vec<(FunctionId, usize)> = Vec::new();
        for &function in &nearest {
            for_each_arc(graph, function, direction, |arc, other| {
                if !is_seen[other.index()] {
                    found.push((other, arc));
                }
            });
        }
        let cost = |arc: usize| graph.arc_cost(arc).first().copied();
        found.sort_unstable_by_key(|&(function, arc)| (function, Reverse(cost(arc)), arc));
        found.dedup_by_key(|(function, _)| *function);
        for (function, via) in found {
            is_seen[function.index()] = true;
            reached.push(Reached { function, distance, via });
        }
        nearest.clear();
        nearest.extend(reached[start..].iter().map(|reached| reached.function));
        if nearest.is_empty() {
            break;
        }
    }
    reached
}

/// The arcs from a function on along which the cost is greatest, as places in [`CallGraph::arcs`]: at each function the
/// dearest one that does not lead back to where the path has been.
///
/// Each step follows what is dearest among all calls of that function, whoever called it. So the path is one along
/// which calls are known step by step, and not one that must have happened as a whole.
pub fn hottest_path(graph: &CallGraph, from: FunctionId, direction: Direction, event: usize) -> Vec<usize> {
    let mut is_on_path = vec![false; graph.functions()];
    let mut path = Vec::new();
    let mut at = from;
    loop {
        is_on_path[at.index()] = true;
        let mut best = None;
        for_each_arc(graph, at, direction, |arc, other| {
            let cost = graph.arc_cost(arc)[event];
            if cost > 0 && !is_on_path[other.index()] && best.is_none_or(|(dearest, _, _)| cost > dearest) {
                best = Some((cost, arc, other));
            }
        });
        let Some((_, arc, other)) = best else { return path };
        path.push(arc);
        at = other;
    }
}

/// All arcs of a function in one direction, with the function at their other end.
fn for_each_arc(
    graph: &CallGraph,
    function: FunctionId,
    direction: Direction,
    mut with: impl FnMut(usize, FunctionId),
) {
    match direction {
        Direction::Callers => graph.incoming(function).for_each(|arc| with(arc, graph.arc(arc).caller)),
        Direction::Callees => graph.outgoing(function).for_each(|arc| with(arc, graph.arc(arc).callee)),
    }
}
