//! Strongly connected components: the nodes of a directed graph that can reach each other.

use std::ops::Range;

use crate::prefetch::{AHEAD, glance};

/// Which component each node is in. A component has a greater number than those that can be reached from it.
pub(crate) struct Components {
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// Where its arcs begin. They end where those of the next one begin.
    begin: u32,
    /// Of a node on the way, the first one there that is known to be reached from it, counted from 1. Of a node whose
    /// component is complete, the number of this, counted down: above all others, so that it holds nothing back.
    low: u32,
}

const UNSEEN: u32 = 0;

/// A node on the way.
struct Step {
    node: usize,
    /// Its arcs that were not followed yet.
    arcs: Range<u32>,
    /// No node before it can be reached from it, as far as is known.
    is_first: bool,
}

impl Step {
    fn new(nodes: &mut [Node], node: usize, nth: u32, target: impl Fn(usize) -> Option<usize>) -> Self {
        nodes[node].low = nth;
        let arcs = nodes[node].begin..nodes[node + 1].begin;
        // All of them will be looked at, in whatever order.
        let ahead = arcs.clone().take(AHEAD).filter_map(|arc| target(arc as usize));
        glance(ahead.map(|to| nodes[to].low));
        Step { node, arcs, is_first: true }
    }
}

/// Strongly connected components after Tarjan, as Pearce has them: with a single number for each node, as most of the time
/// goes into looking these up all over memory. A stack of its own stands in place of recursion, so that a chain of a
/// million calls is no matter.
///
/// `begins` tells where the arcs of each node begin, and at last where those of the last one end; `target` where an arc
/// leads, or that it is left out.
pub(crate) fn components(begins: &[u32], target: impl Fn(usize) -> Option<usize>) -> Components {
    let mut nodes: Vec<Node> = begins.iter().map(|&begin| Node { begin, low: UNSEEN }).collect();
    let (mut next, mut last) = (1, u32::MAX);
    // Nodes from which others before them can be reached.
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<Step> = Vec::new();
    for root in 0..begins.len().saturating_sub(1) {
        if nodes[root].low != UNSEEN {
            continue;
        }
        path.push(Step::new(&mut nodes, root, next, &target));
        next += 1;
        while let Some(Step { node, arcs, is_first }) = path.last_mut() {
            let node = *node;
            if let Some(arc) = arcs.next() {
                match target(arc as usize) {
                    Some(to) if nodes[to].low == UNSEEN => {
                        path.push(Step::new(&mut nodes, to, next, &target));
                        next += 1;
                    }
                    Some(to) if nodes[to].low < nodes[node].low => {
                        nodes[node].low = nodes[to].low;
                        *is_first = false;
                    }
                    _ => {}
                }
                continue;
            }
            let is_first = *is_first;
            path.pop();
            let low = nodes[node].low;
            if !is_first {
                open.push(node);
                if let Some(parent) = path.last_mut()
                    && low < nodes[parent.node].low
                {
                    nodes[parent.node].low = low;
                    parent.is_first = false;
                }
                continue;
            }
            next -= 1;
            while let Some(&member) = open.last()
                && nodes[member].low >= low
            {
                open.pop();
                nodes[member].low = last;
                next -= 1;
            }
            nodes[node].low = last;
            last -= 1;
        }
    }
    nodes.pop();
    let of = nodes.into_iter().map(|node| u32::MAX - node.low).collect();
    Components { of, count: (u32::MAX - last) as usize }
}
