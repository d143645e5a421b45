//! Strongly connected components: the nodes of a directed graph that can reach each other.

use std::ops::Range;

use crate::prefetch::{PREFETCH_COUNT, prefetch};

/// The component of each node. A component has a greater number than those that can be reached from it.
pub(crate) struct Components {
    pub(crate) component_of: Vec<u32>,
    pub(crate) count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    /// Offset of its arcs. They end where those of the next node begin.
    begin: u32,
    /// Of a node on the path: the first node of the path that is known to be reached from it, counted from 1. Of a node
    /// whose component is complete: the number of the component, counted down. Such numbers are above all others, so they
    /// never lower another node's value.
    low: u32,
}

const UNSEEN: u32 = 0;

/// A node on the path of the search.
struct Step {
    node: usize,
    /// Its arcs that are not followed yet.
    arcs: Range<u32>,
    /// `true` while no earlier node of the path is known to be reached from it.
    is_first: bool,
}

impl Step {
    fn new(nodes: &mut [Node], node: usize, nth: u32, target: impl Fn(usize) -> Option<usize>) -> Self {
        nodes[node].low = nth;
        let arcs = nodes[node].begin..nodes[node + 1].begin;
        // All of them are read soon: prefetch them together.
        let ahead = arcs.clone().take(PREFETCH_COUNT).filter_map(|arc| target(arc as usize));
        prefetch(ahead.map(|to| nodes[to].low));
        Step { node, arcs, is_first: true }
    }
}

/// Finds strongly connected components with Pearce's variant of Tarjan's algorithm.
///
/// It needs a single number for each node, which matters as most time goes into looking these up all over memory. An explicit
/// stack stands in for recursion, so that a chain of a million calls is no problem.
///
/// `begins` has the offset of the arcs of each node, and the end of the last ones (CSR). `target` gives the node that an arc
/// leads to, or `None` for an arc that is left out.
pub(crate) fn components(begins: &[u32], target: impl Fn(usize) -> Option<usize>) -> Components {
    let mut nodes: Vec<Node> = begins.iter().map(|&begin| Node { begin, low: UNSEEN }).collect();
    let (mut next, mut last) = (1, u32::MAX);
    // Finished nodes that wait for their component to be complete.
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
    let component_of = nodes.into_iter().map(|node| u32::MAX - node.low).collect();
    Components { component_of, count: (u32::MAX - last) as usize }
}
