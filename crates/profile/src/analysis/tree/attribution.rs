//! Trees without some functions, or as far as some functions are on the stack.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use gristmill_format::Cost;

use super::growing::Trie;
use super::{CallTree, TreeBasis};
use crate::analysis::attribution::Attributed;
use crate::analysis::cycle::{Cycles, Unit};
use crate::analysis::ids::TreeNodeId;
use crate::cost::add;

impl<T: Copy + Ord + Hash> CallTree<T> {
    /// Returns a tree with all of its nodes without those that are hidden, whose self cost and callees go to the node above,
    /// and with the cost only that arises below a chosen node or in one. Nothing of that is an estimate.
    pub fn attributed(
        &self,
        mut is_hidden: impl FnMut(T) -> bool,
        mut is_chosen: impl FnMut(T) -> bool,
    ) -> CallTree<T> {
        let parent = |id: TreeNodeId| self.node(id).parent.map(TreeNodeId::index);
        let mut is_within = vec![false; self.len()];
        for id in self.ids() {
            let above = parent(id).is_some_and(|parent| is_within[parent]);
            is_within[id.index()] = above || self.node(id).item.is_some_and(&mut is_chosen);
        }
        // A node stays if it is within the focus or on the way there.
        let mut is_kept = is_within.clone();
        for id in self.ids().rev() {
            if let Some(parent) = parent(id) {
                is_kept[parent] |= is_kept[id.index()];
            }
        }
        let nothing: Vec<Cost> = vec![0; self.inclusive.width()];
        let mut trie = Trie::new(self.node(TreeNodeId::ROOT).item, self.inclusive.width());
        let mut target = vec![TreeNodeId::ROOT; self.len()];
        for id in self.ids().filter(|id| is_kept[id.index()]) {
            let node = self.node(id);
            let own = if is_within[id.index()] { self.self_cost(id) } else { &nothing };
            let above = parent(id).map(|parent| target[parent]);
            match (above, node.item) {
                (Some(above), Some(item)) if is_hidden(item) => {
                    target[id.index()] = above;
                    trie.tree.self_costs.add(above.index(), own);
                }
                (Some(above), item) => {
                    let to = trie.child(above, item);
                    target[id.index()] = to;
                    trie.tree.merge(to, node, own, &nothing);
                }
                (None, _) => trie.tree.merge(TreeNodeId::ROOT, node, own, &nothing),
            }
        }
        trie.tree.sum_up();
        trie.tree.arranged(self.basis.clone())
    }
}

impl<T: Copy + Ord + Hash> CallTree<T> {
    /// Returns a tree without chosen nodes and everything below them: their cost leaves all nodes above. Nothing of that is an
    /// estimate.
    pub fn without(&self, mut is_chosen: impl FnMut(T) -> bool) -> CallTree<T> {
        let mut is_gone = vec![false; self.len()];
        let nothing: Vec<Cost> = vec![0; self.inclusive.width()];
        let mut trie = Trie::new(self.node(TreeNodeId::ROOT).item, self.inclusive.width());
        let mut target = vec![TreeNodeId::ROOT; self.len()];
        for id in self.ids() {
            let node = self.node(id);
            let parent = node.parent.map(TreeNodeId::index);
            is_gone[id.index()] =
                parent.is_some_and(|parent| is_gone[parent]) || node.item.is_some_and(&mut is_chosen);
            if is_gone[id.index()] {
                continue;
            }
            if let Some(parent) = parent {
                target[id.index()] = trie.child(target[parent], node.item);
            }
            trie.tree.merge(target[id.index()], node, self.self_cost(id), &nothing);
        }
        trie.tree.sum_up();
        trie.tree.arranged(self.basis.clone())
    }
}

impl CallTree<Unit> {
    /// Marks the nodes of an estimate that costs of its graph make one: those below a call whose cost is an estimate, those that
    /// share the rest of a cost of which the self cost is one, and the program if all costs together are one.
    ///
    /// # Panics
    ///
    /// If the tree or the cycles are not those of the graph.
    pub fn marked_by(mut self, of: &Attributed, cycles: &Cycles, is_inverted: bool) -> CallTree<Unit> {
        let graph = &of.graph;
        let members = |unit: Unit| match unit {
            Unit::Node(node) => vec![node],
            Unit::Cycle(cycle) => cycles.members(cycle).to_vec(),
        };
        let any = |marks: &[bool], unit: Unit| members(unit).iter().any(|member| marks[member.index()]);
        let calls_with = |marks: &[bool]| -> HashSet<(Unit, Unit)> {
            let marked = graph.arc_ids().filter(|id| marks[id.index()]);
            marked.map(|id| (cycles.unit(graph.caller(id)), cycles.unit(graph.callee(id)))).collect()
        };
        let [estimates, counts] = [&of.is_arc_estimate, &of.is_count_estimate].map(|marks| calls_with(marks));
        let is_called_by_estimate = |unit: Unit| {
            let mut calls = members(unit).into_iter().flat_map(|member| graph.incoming(member));
            calls.any(|id| of.is_arc_estimate[id.index()])
        };
        let mut is_shared: HashMap<Unit, bool> = HashMap::new();
        let mut is_marked = vec![false; self.len()];
        let mut marked = vec![0; self.inclusive.width()];
        for index in 0..self.len() {
            let Some(unit) = self.nodes[index].item else {
                self.nodes[index].is_guessed |= of.is_total_estimate;
                continue;
            };
            let is_self_estimate = any(&of.is_self_estimate, unit);
            let above = self.nodes[index].parent.map(TreeNodeId::index);
            is_marked[index] = match above.and_then(|above| Some((above, self.nodes[above].item?))) {
                None if is_inverted => is_self_estimate || any(&of.is_inclusive_estimate, unit),
                // A function that is called is a root for what its calls do not state.
                None => any(&of.is_inclusive_estimate, unit) || is_called_by_estimate(unit),
                Some((above, parent)) => {
                    let ends = if is_inverted { (unit, parent) } else { (parent, unit) };
                    // If all of its calls are here, what it calls costs what the arcs state.
                    let mut has_several_callers = || {
                        *is_shared.entry(parent).or_insert_with(|| match parent {
                            Unit::Node(node) => graph.incoming(node).len() > 1,
                            Unit::Cycle(_) => true,
                        })
                    };
                    is_marked[above]
                        || estimates.contains(&ends)
                        || any(&of.is_self_estimate, parent) && (is_inverted || has_several_callers())
                }
            };
            let is_divided_call = !is_inverted
                && above
                    .and_then(|above| self.nodes[above].item)
                    .is_some_and(|parent| counts.contains(&(parent, unit)));
            let is_marked = is_marked[index];
            let node = &mut self.nodes[index];
            let was_known = !node.is_guessed;
            let was_self_known = !node.is_self_guessed;
            node.is_count_guessed |= is_divided_call;
            node.is_guessed |= is_marked;
            node.is_self_guessed |= is_marked || is_self_estimate;
            let id = TreeNodeId::new(index);
            if was_self_known && self.nodes[index].is_self_guessed {
                add(&mut marked, self.self_costs.row(index));
            }
            if was_known && is_marked && self.nodes[index].hidden > 0 {
                add(&mut marked, &self.hidden_cost(id));
            }
        }
        // Of what is left out below a marked node, a part may be a guess already.
        if let TreeBasis::Estimate { guessed } = &mut self.basis {
            let whole = self.inclusive.row(TreeNodeId::ROOT.index());
            for ((guessed, marked), &whole) in guessed.iter_mut().zip(marked).zip(whole) {
                let sum = guessed.saturating_add(marked);
                *guessed = if whole > 0 { sum.min(whole) } else { sum };
            }
        }
        self
    }
}
