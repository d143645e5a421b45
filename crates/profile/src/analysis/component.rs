//! Strongly connected components: the nodes of a directed graph that can reach each other.

use std::ops::Range;

/// Which component each node is in. A component has a greater number than those that can be reached from it.
pub(crate) struct Components {
    pub(crate) of: Vec<u32>,
    pub(crate) count: usize,
}

/// A node on the way.
struct Step {
    node: usize,
    /// Its arcs that were not followed yet.
    arcs: Range<u32>,
    /// No node before it can be reached from it, as far as is known.
    is_first: bool,
}

/// Strongly connected components after Tarjan, as Pearce has them: with a single number for each node, as most of the time
/// goes into looking these up all over memory. A stack of its own stands in place of recursion, so that a chain of a
/// million calls is no matter.
///
/// `begins` tells where the arcs of each node begin, and at last where those of the last one end; `target` where an arc
/// leads, or that it is left out.
pub(crate) fn components(begins: &[u32], target: impl Fn(usize) -> Option<usize>) -> Components {
    const UNSEEN: u32 = 0;
    let nodes = begins.len().saturating_sub(1);
    // Of a node on the way, the first one there that is known to be reached from it, counted from 1. Of a node whose
    // component is complete, the number of this, counted down: above all others, so that it holds nothing back.
    let mut low = vec![UNSEEN; nodes];
    let (mut next, mut last) = (1, u32::MAX);
    // Nodes from which others before them can be reached.
    let mut open: Vec<usize> = Vec::new();
    let mut path: Vec<Step> = Vec::new();
    let step = |low: &mut [u32], next: &mut u32, node: usize| {
        low[node] = *next;
        *next += 1;
        Step { node, arcs: begins[node]..begins[node + 1], is_first: true }
    };
    for root in 0..nodes {
        if low[root] != UNSEEN {
            continue;
        }
        path.push(step(&mut low, &mut next, root));
        while let Some(Step { node, arcs, is_first }) = path.last_mut() {
            let node = *node;
            if let Some(arc) = arcs.next() {
                match target(arc as usize) {
                    Some(to) if low[to] == UNSEEN => path.push(step(&mut low, &mut next, to)),
                    Some(to) if low[to] < low[node] => {
                        low[node] = low[to];
                        *is_first = false;
                    }
                    _ => {}
                }
                continue;
            }
            let is_first = *is_first;
            path.pop();
            if !is_first {
                open.push(node);
                if let Some(parent) = path.last_mut()
                    && low[node] < low[parent.node]
                {
                    low[parent.node] = low[node];
                    parent.is_first = false;
                }
                continue;
            }
            next -= 1;
            while let Some(&member) = open.last()
                && low[member] >= low[node]
            {
                open.pop();
                low[member] = last;
                next -= 1;
            }
            low[node] = last;
            last -= 1;
        }
    }
    low.iter_mut().for_each(|component| *component = u32::MAX - *component);
    Components { of: low, count: (u32::MAX - last) as usize }
}
