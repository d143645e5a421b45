//! The network simplex method for numbers with least weighted differences.
//!
//! Given edges `tail → head` with a minimum length and a weight, it finds a whole number for each vertex so that
//! `head - tail` is at least the minimum, and the sum of weight times length is least. Layers and horizontal positions are
//! both such numbers. After Gansner, Koutsofios, North and Vo, "A Technique for Drawing Directed Graphs" (1993).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A lower bound of a difference, and the price of exceeding it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edge {
    pub(super) tail: usize,
    pub(super) head: usize,
    pub(super) min_length: i64,
    pub(super) weight: i64,
}

/// Vertices in which negative edges are looked for before the most negative one leaves the tree.
const SEARCH_BLOCK: usize = 48;

/// Improves `values`, which fulfil all edges, until they are best or `budget` steps are spent. They fulfil all edges at any time.
/// The edges have to connect all vertices.
pub(super) fn minimize(values: &mut [i64], edges: &[Edge], budget: &mut u64) {
    if values.len() < 2 {
        return;
    }
    let Some(mut tree) = Tree::new(values, edges) else { return };
    let mut next = 0;
    while *budget > 0 {
        let Some(leaving) = tree.find_leaving(&mut next, budget) else { return };
        if !tree.pivot(leaving, values, budget) {
            return;
        }
    }
}

/// A spanning tree of edges without slack, as parents.
struct Tree<'a> {
    edges: &'a [Edge],
    /// By vertex: the incident edges.
    incident: Vec<Vec<u32>>,
    /// By vertex: the edge to the parent. The root has none.
    parent_edge: Vec<Option<u32>>,
    /// By vertex: the tree edges.
    branches: Vec<Vec<u32>>,
    depth: Vec<u32>,
    /// By vertex: weights of edges that leave its subtree minus those that enter it.
    net: Vec<i64>,
    /// By vertex: the last pivot that moved it.
    moved: Vec<u32>,
    pivots: u32,
}

impl<'a> Tree<'a> {
    /// Makes edges tight by moving what is connected so far, always by the least slack.
    fn new(values: &mut [i64], edges: &'a [Edge]) -> Option<Tree<'a>> {
        let vertices = values.len();
        let mut incident = vec![Vec::new(); vertices];
        let mut net = vec![0; vertices];
        for (index, edge) in (0_u32..).zip(edges) {
            incident[edge.tail].push(index);
            incident[edge.head].push(index);
            net[edge.tail] += edge.weight;
            net[edge.head] -= edge.weight;
        }
        let mut parent_edge = vec![None; vertices];
        let mut branches = vec![Vec::new(); vertices];
        let mut depth = vec![0; vertices];
        let mut joined = vec![false; vertices];
        let mut order = Vec::with_capacity(vertices);
        // The tree moves as a whole: all slacks of edges that leave it shrink by as much as those that enter it grow.
        let mut shift = 0;
        let (mut leaving, mut entering) = (BinaryHeap::new(), BinaryHeap::new());
        let mut vertex = 0;
        loop {
            joined[vertex] = true;
            values[vertex] -= shift;
            order.push(vertex);
            for &index in &incident[vertex] {
                let edge = &edges[index as usize];
                if edge.tail == vertex && !joined[edge.head] {
                    leaving.push(Reverse((values[edge.head] - values[vertex] - edge.min_length, index)));
                } else if edge.head == vertex && !joined[edge.tail] {
                    entering.push(Reverse((values[vertex] - values[edge.tail] - edge.min_length, index)));
                }
            }
            if order.len() == vertices {
                break;
            }
            while leaving.peek().is_some_and(|Reverse((_, index))| joined[edges[*index as usize].head]) {
                leaving.pop();
            }
            while entering.peek().is_some_and(|Reverse((_, index))| joined[edges[*index as usize].tail]) {
                entering.pop();
            }
            let out = leaving.peek().map(|Reverse((key, index))| (key - shift, *index));
            let into = entering.peek().map(|Reverse((key, index))| (key + shift, *index));
            let (index, parent) = match (out, into) {
                (Some((slack, index)), other) if other.is_none_or(|(least, _)| slack <= least) => {
                    shift += slack;
                    vertex = edges[index as usize].head;
                    (index, edges[index as usize].tail)
                }
                (_, Some((slack, index))) => {
                    shift -= slack;
                    vertex = edges[index as usize].tail;
                    (index, edges[index as usize].head)
                }
                // Unreachable while the edges connect all vertices; the values stay as they were found.
                _ => {
                    for &vertex in &order {
                        values[vertex] += shift;
                    }
                    return None;
                }
            };
            parent_edge[vertex] = Some(index);
            depth[vertex] = depth[parent] + 1;
            branches[vertex].push(index);
            branches[parent].push(index);
        }
        for value in values.iter_mut() {
            *value += shift;
        }
        for &vertex in order.iter().rev() {
            if let Some(index) = parent_edge[vertex] {
                net[other_end(&edges[index as usize], vertex)] += net[vertex];
            }
        }
        let moved = vec![0; vertices];
        Some(Tree { edges, incident, parent_edge, branches, depth, net, moved, pivots: 0 })
    }

    /// The cost of a unit more length of the edge above a vertex.
    fn cut_value(&self, vertex: usize) -> i64 {
        match self.parent_edge[vertex] {
            Some(index) if self.edges[index as usize].tail == vertex => self.net[vertex],
            Some(_) => -self.net[vertex],
            None => 0,
        }
    }

    /// Returns the vertex below the most negative of some edges. None if no edge is negative.
    fn find_leaving(&self, next: &mut usize, budget: &mut u64) -> Option<usize> {
        let vertices = self.net.len();
        let mut best: Option<(i64, usize)> = None;
        let mut found = 0;
        for looked in 0..vertices {
            let vertex = *next;
            *next = if vertex + 1 == vertices { 0 } else { vertex + 1 };
            let cut = self.cut_value(vertex);
            if cut < 0 {
                found += 1;
                if best.is_none_or(|(least, _)| cut < least) {
                    best = Some((cut, vertex));
                }
            }
            if best.is_some() && (looked >= vertices / 4 || found >= SEARCH_BLOCK) {
                break;
            }
        }
        *budget = budget.saturating_sub(1 + vertices as u64 / 16);
        best.map(|(_, vertex)| vertex)
    }

    /// Replaces the edge above `child` by the one of least slack in the other direction. `false` if there is none.
    fn pivot(&mut self, child: usize, values: &mut [i64], budget: &mut u64) -> bool {
        let Some(leaving) = self.parent_edge[child] else { return false };
        self.pivots += 1;
        let mut subtree = vec![child];
        self.moved[child] = self.pivots;
        let mut done = 0;
        while done < subtree.len() {
            let vertex = subtree[done];
            done += 1;
            for &index in &self.branches[vertex] {
                let other = other_end(&self.edges[index as usize], vertex);
                if index != leaving && self.moved[other] != self.pivots {
                    self.moved[other] = self.pivots;
                    subtree.push(other);
                }
            }
        }
        let moves_down = self.edges[leaving as usize].tail == child;
        let mut best: Option<(i64, u32)> = None;
        for &vertex in &subtree {
            for &index in &self.incident[vertex] {
                let edge = &self.edges[index as usize];
                let (inner, outer) = if moves_down { (edge.head, edge.tail) } else { (edge.tail, edge.head) };
                if inner == vertex && self.moved[outer] != self.pivots {
                    let slack = values[edge.head] - values[edge.tail] - edge.min_length;
                    if best.is_none_or(|least| (slack, index) < least) {
                        best = Some((slack, index));
                    }
                }
            }
            *budget = budget.saturating_sub(1 + self.incident[vertex].len() as u64);
        }
        let Some((slack, entering)) = best else { return false };
        for &vertex in &subtree {
            values[vertex] += if moves_down { -slack } else { slack };
        }
        self.exchange(child, leaving, entering);
        true
    }

    /// Hangs the subtree of `child` below the edge `entering` instead of `leaving`.
    fn exchange(&mut self, child: usize, leaving: u32, entering: u32) {
        let net = self.net[child];
        let edge = &self.edges[entering as usize];
        let (inner, outer) = if self.moved[edge.head] == self.pivots {
            (edge.head, edge.tail)
        } else {
            (edge.tail, edge.head)
        };
        // Sums of the ancestors lose the subtree on one side and gain it on the other.
        let (mut old, mut new) = (other_end(&self.edges[leaving as usize], child), outer);
        while old != new {
            let climbs_old = self.depth[old] >= self.depth[new];
            let vertex = if climbs_old { old } else { new };
            self.net[vertex] += if climbs_old { -net } else { net };
            let Some(index) = self.parent_edge[vertex] else { break };
            let up = other_end(&self.edges[index as usize], vertex);
            if climbs_old {
                old = up;
            } else {
                new = up;
            }
        }
        // Parents from the new top of the subtree to its old top turn round.
        let (mut vertex, mut above, mut below_net) = (inner, entering, 0);
        loop {
            let old_net = self.net[vertex];
            let old_parent = self.parent_edge[vertex].replace(above);
            self.net[vertex] = net - below_net;
            if vertex == child {
                break;
            }
            let Some(index) = old_parent else { break };
            below_net = old_net;
            above = index;
            vertex = other_end(&self.edges[index as usize], vertex);
        }
        for vertex in [self.edges[leaving as usize].tail, self.edges[leaving as usize].head] {
            self.branches[vertex].retain(|index| *index != leaving);
        }
        self.branches[inner].push(entering);
        self.branches[outer].push(entering);
        self.depth[inner] = self.depth[outer] + 1;
        let mut stack = vec![inner];
        while let Some(vertex) = stack.pop() {
            for &index in &self.branches[vertex] {
                if self.parent_edge[vertex] != Some(index) {
                    let below = other_end(&self.edges[index as usize], vertex);
                    self.depth[below] = self.depth[vertex] + 1;
                    stack.push(below);
                }
            }
        }
    }
}

fn other_end(edge: &Edge, vertex: usize) -> usize {
    if edge.tail == vertex { edge.head } else { edge.tail }
}
