//! A tree as it comes, and what of it is shown: the dearest nodes, in the order in which they are printed.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use gristmill_format::Cost;
use gristmill_profile::analysis::{CallTree, TreeItem};

use super::Node;
use crate::amount::add;

/// A tree that may be large: a node comes after the one above it. Costs are by shown column.
#[derive(Debug, Default)]
pub(super) struct Growth {
    pub(super) nodes: Vec<Sprout>,
    /// Costs of the nodes one after the other.
    self_costs: Vec<Cost>,
    inclusive: Vec<Cost>,
    width: usize,
}

/// A node of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sprout {
    /// What it stands for, by its place in the list of entries.
    pub(super) entry: usize,
    pub(super) parent: Option<usize>,
    pub(super) count: Cost,
    /// How many nodes were left out below.
    pub(super) hidden: usize,
    pub(super) is_guessed: bool,
}

/// What limits how much is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Nodes below this share of the root are left out, in thousandths.
    pub(super) least: u32,
    pub(super) depth: usize,
    pub(super) nodes: usize,
}

impl Growth {
    pub(super) fn new(width: usize) -> Self {
        Growth { width, ..Growth::default() }
    }

    pub(super) fn push(&mut self, sprout: Sprout, self_costs: &[Cost], inclusive: &[Cost]) {
        self.nodes.push(sprout);
        self.self_costs.extend_from_slice(self_costs);
        self.inclusive.extend_from_slice(inclusive);
    }

    fn self_cost(&self, node: usize) -> &[Cost] {
        &self.self_costs[node * self.width..][..self.width]
    }

    pub(super) fn inclusive(&self, node: usize) -> &[Cost] {
        &self.inclusive[node * self.width..][..self.width]
    }

    /// Takes a tree, with a row of shown costs made of each of its rows. None when a row cannot be made.
    pub(super) fn of(
        tree: &CallTree,
        width: usize,
        entry: impl Fn(TreeItem) -> usize,
        row: impl Fn(&[Cost]) -> Option<Vec<Cost>>,
    ) -> Option<Self> {
        let mut growth = Growth::new(width);
        for (index, node) in tree.nodes().iter().enumerate() {
            let sprout = Sprout {
                entry: entry(node.item),
                parent: node.parent,
                count: node.count,
                hidden: node.hidden,
                is_guessed: node.is_guessed,
            };
            growth.push(sprout, &row(tree.self_cost(index))?, &row(tree.inclusive(index))?);
        }
        Some(growth)
    }

    /// The tree below some nodes, all of them put together at the root. None when there is no such node.
    ///
    /// Of a start below another one nothing is said apart: it is within that one.
    pub(super) fn below(&self, is_start: impl Fn(usize) -> bool) -> Option<Growth> {
        const OUTSIDE: usize = usize::MAX;
        let mut below = Growth::new(self.width);
        let mut place = vec![OUTSIDE; self.nodes.len()];
        let mut known: HashMap<(usize, usize), usize> = HashMap::new();
        for (index, sprout) in self.nodes.iter().enumerate() {
            let parent = sprout.parent.map(|parent| place[parent]).filter(|&parent| parent != OUTSIDE);
            let next = below.nodes.len();
            let at = match parent {
                Some(parent) => *known.entry((parent, sprout.entry)).or_insert(next),
                None if is_start(index) => 0,
                None => continue,
            };
            place[index] = at;
            if at == next {
                below.push(
                    Sprout { parent, count: 0, hidden: 0, is_guessed: false, ..*sprout },
                    &vec![0; self.width],
                    &vec![0; self.width],
                );
            }
            let sum = &mut below.nodes[at];
            sum.count += sprout.count;
            sum.hidden += sprout.hidden;
            sum.is_guessed |= sprout.is_guessed;
            let columns = at * self.width..(at + 1) * self.width;
            add(&mut below.self_costs[columns.clone()], self.self_cost(index));
            add(&mut below.inclusive[columns], self.inclusive(index));
        }
        (!below.nodes.is_empty()).then_some(below)
    }

    /// What is shown: the dearest nodes, each before those below it, and these by cost, then name.
    pub(super) fn select<'n>(&self, name_of: impl Fn(usize) -> &'n str, limits: Limits) -> Vec<Node> {
        let weight = |node: usize| self.inclusive(node).first().map_or(0, |cost| cost.unsigned_abs());
        let children = Children::of(&self.nodes);
        let whole = if self.nodes.is_empty() { 0 } else { weight(0) };
        // Without a division no share is lost to rounding; costs that large are above any rounding.
        let is_small =
            |node: usize| match (weight(node).checked_mul(1000), whole.checked_mul(limits.least.into())) {
                (Some(cost), Some(least)) => cost < least,
                _ => weight(node) / u128::from(limits.least.max(1)) < whole / 1000,
            };
        let mut depth = vec![0usize; self.nodes.len()];
        let mut is_taken = vec![false; self.nodes.len()];
        let mut open = BinaryHeap::new();
        let mut taken = 0;
        if !self.nodes.is_empty() {
            open.push((weight(0), Reverse(0)));
        }
        while taken < limits.nodes.max(1)
            && let Some((_, Reverse(node))) = open.pop()
        {
            is_taken[node] = true;
            taken += 1;
            if depth[node] >= limits.depth {
                continue;
            }
            for &child in children.of_node(node) {
                depth[child] = depth[node] + 1;
                if !is_small(child) {
                    open.push((weight(child), Reverse(child)));
                }
            }
        }

        let mut nodes: Vec<Node> = Vec::with_capacity(taken);
        // The node here, and the one above it there.
        let mut stack: Vec<(usize, Option<usize>)> = Vec::new();
        stack.extend(is_taken.first().filter(|&&taken| taken).map(|_| (0, None)));
        while let Some((node, parent)) = stack.pop() {
            let place = nodes.len();
            let Sprout { entry, count, is_guessed, hidden, .. } = self.nodes[node];
            let mut shown: Vec<usize> =
                children.of_node(node).iter().copied().filter(|&child| is_taken[child]).collect();
            let name = |child: usize| name_of(self.nodes[child].entry);
            shown.sort_by(|&a, &b| (weight(b), name(a), a).cmp(&(weight(a), name(b), b)));
            let mut hidden_costs = self.inclusive(node).to_vec();
            for row in shown.iter().map(|&child| self.inclusive(child)).chain([self.self_cost(node)]) {
                hidden_costs.iter_mut().zip(row).for_each(|(rest, cost)| *rest -= cost);
            }
            nodes.push(Node {
                entry,
                parent,
                depth: parent.map_or(0, |parent: usize| nodes[parent].depth + 1),
                count,
                self_costs: self.self_cost(node).to_vec(),
                inclusive: self.inclusive(node).to_vec(),
                children: shown.len(),
                hidden: hidden + children.of_node(node).len() - shown.len(),
                hidden_costs,
                is_guessed,
            });
            stack.extend(shown.into_iter().rev().map(|child| (child, Some(place))));
        }
        nodes
    }
}

/// The nodes below each node.
struct Children {
    first: Vec<usize>,
    children: Vec<usize>,
}

impl Children {
    fn of(nodes: &[Sprout]) -> Self {
        let mut first = vec![0; nodes.len() + 1];
        nodes.iter().filter_map(|node| node.parent).for_each(|parent| first[parent + 1] += 1);
        for node in 0..nodes.len() {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut children = vec![0; nodes.len().saturating_sub(1)];
        for (index, node) in nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[next[parent]] = index;
                next[parent] += 1;
            }
        }
        Children { first, children }
    }

    fn of_node(&self, node: usize) -> &[usize] {
        &self.children[self.first[node]..self.first[node + 1]]
    }
}
