//! The lines of the text of a tree: which nodes share one, and which are left out.

use std::ops::RangeInclusive;

use gristmill_format::Cost;

use super::{EntryKind, Node, Tree};

/// The cost that a chain may leave without a number of its own, as the part of the root's cost: one in this many.
const CHAIN_PART_OF_ROOT: u128 = 100;
/// The same as the part of the cost of the chain's first node. It protects the numbers of cheap nodes.
const CHAIN_PART_OF_FIRST: u128 = 20;

/// A line of the text.
pub(super) struct Line {
    /// The count of lines that it is below.
    pub(super) depth: usize,
    /// `true` if nothing comes after it below the same line.
    pub(super) is_last: bool,
    pub(super) content: Content,
}

/// The content of a [`Line`].
pub(super) enum Content {
    /// A node, or a chain: each node of it is right below the one before.
    Nodes(RangeInclusive<usize>),
    /// The only node that is left out below this one.
    Lone(usize),
    /// Nodes that are left out.
    Hidden(Hidden),
}

/// Nodes that are left out below others.
pub(super) struct Hidden {
    pub(super) count: usize,
    pub(super) costs: Vec<Cost>,
    /// `true` if the costs are a guess: they are the rest of the nodes above, one of which, or of those shown below, has one.
    pub(super) is_guessed: bool,
}

/// A line whose lines below are not all there yet.
struct Open {
    /// The count of shown nodes to come.
    left: usize,
    /// The line after these.
    end: Option<Content>,
}

impl Tree {
    /// The first node of the text: the program is left out above its only function.
    pub(super) fn first(&self) -> usize {
        let root = &self.nodes[0];
        let is_program = self.entry(root).kind == EntryKind::Program;
        usize::from(is_program && root.children == 1 && root.hidden == 0 && self.nodes.len() > 1)
    }

    /// Makes the lines of the text: each before those below it.
    pub(super) fn lines(&self) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut has_guess_below = vec![false; self.nodes.len()];
        for node in self.nodes.iter().filter(|node| node.is_guessed) {
            node.parent.into_iter().for_each(|parent| has_guess_below[parent] = true);
        }
        let mut place = self.first();
        while place < self.nodes.len() {
            let last = self.chain_end(place);
            let is_last = open.last_mut().is_none_or(|above| {
                above.left -= 1;
                above.left == 0 && above.end.is_none()
            });
            lines.push(Line { depth: open.len(), is_last, content: Content::Nodes(place..=last) });
            open.push(Open {
                left: self.nodes[last].children,
                end: self.left_out(place..=last, &has_guess_below),
            });
            while let Some(above) = open.pop_if(|above| above.left == 0) {
                let depth = open.len() + 1;
                lines.extend(above.end.map(|content| Line { depth, is_last: true, content }));
            }
            place = last + 1;
        }
        lines
    }

    /// The line for what is left out below the nodes of a chain.
    fn left_out(&self, chain: RangeInclusive<usize>, has_guess_below: &[bool]) -> Option<Content> {
        let last = *chain.end();
        let mut hidden = Hidden { count: 0, costs: vec![0; self.head.events.len()], is_guessed: false };
        for place in chain {
            let node = &self.nodes[place];
            hidden.count += node.hidden;
            hidden.costs.iter_mut().zip(&node.hidden_costs).for_each(|(sum, cost)| *sum += cost);
            let is_guessed = node.is_guessed || node.is_self_guessed || has_guess_below[place];
            hidden.is_guessed |= node.hidden > 0 && is_guessed;
        }
        match hidden.count {
            0 => None,
            1 if self.lone.contains_key(&last) => Some(Content::Lone(last)),
            _ => Some(Content::Hidden(hidden)),
        }
    }

    /// The last node of the chain that begins with a node; without a chain, the node itself.
    ///
    /// A node joins the one above it if that has no other node below, shown or known by name. What the nodes before the
    /// last one cost without the last one, by themselves and in hidden nodes, is at most 1% of the root and 5% of the
    /// chain's first node, for each event type. So the costs of the first node are those of all nodes of the chain within
    /// this. Cycles and the program are in no chain, and a chain does not mix certain costs with apportioned ones.
    fn chain_end(&self, first: usize) -> usize {
        let mut last = first;
        if self.splits_chains || !self.is_function(first) {
            return last;
        }
        let head = &self.nodes[first];
        let mut beside = vec![0u128; head.inclusive.len()];
        loop {
            let node = &self.nodes[last];
            if node.children != 1 || self.lone.contains_key(&last) || !self.is_function(last + 1) {
                return last;
            }
            let pairs = node.self_costs.iter().zip(&node.hidden_costs);
            for (beside, (own, hidden)) in beside.iter_mut().zip(pairs) {
                *beside = beside.saturating_add(own.unsigned_abs()).saturating_add(hidden.unsigned_abs());
            }
            let wholes = self.nodes[0].inclusive.iter().zip(head.inclusive.iter());
            let is_little = beside.iter().zip(wholes).all(|(beside, (root, first))| {
                beside.saturating_mul(CHAIN_PART_OF_ROOT) <= root.unsigned_abs()
                    && beside.saturating_mul(CHAIN_PART_OF_FIRST) <= first.unsigned_abs()
            });
            if !is_little || self.nodes[last + 1].is_guessed != head.is_guessed {
                return last;
            }
            last += 1;
        }
    }

    fn is_function(&self, node: usize) -> bool {
        self.entry(&self.nodes[node]).kind == EntryKind::Function
    }

    /// The nodes of a line: none for a line that counts hidden ones.
    pub(super) fn nodes_of(&self, line: &Line) -> &[Node] {
        match &line.content {
            Content::Nodes(chain) => &self.nodes[chain.clone()],
            Content::Lone(above) => std::slice::from_ref(&self.lone[above]),
            Content::Hidden(..) => &[],
        }
    }
}
