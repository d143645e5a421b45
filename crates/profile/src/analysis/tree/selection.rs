//! Parts of a tree.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hash::Hash;

use gristmill_format::Cost;

use crate::analysis::ids::TreeNodeId;
use crate::analysis::tree::CallTree;
use crate::analysis::tree::growing::{GrowingTree, Trie};

/// Limits of a tree. See the example of [`CallTree::selected`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Nodes that cost less are left out. The first event type decides.
    pub min_cost: u128,
    /// The greatest count of nodes.
    pub max_nodes: usize,
    /// `true` to keep a lone node: the only one that would be left out below another. What is below it is left out. It does
    /// not count among the greatest count of nodes.
    pub keeps_lone: bool,
}

impl TreeLimits {
    /// No limits.
    pub const NONE: TreeLimits = TreeLimits { min_cost: 0, max_nodes: usize::MAX, keeps_lone: false };

    /// Leaves out nodes below a share of a total, in thousandths.
    pub fn from_share(total: Cost, thousandths: u32, max_nodes: usize) -> Self {
        let [high, low] = [total.unsigned_abs() / 1000, total.unsigned_abs() % 1000];
        let thousandths = u128::from(thousandths);
        // Rounded up: what is below the share is below this. A share of zero keeps all.
        let min_cost = high.saturating_mul(thousandths).saturating_add((low * thousandths).div_ceil(1000));
        TreeLimits { min_cost, max_nodes, keeps_lone: false }
    }
}

impl<T: Copy + Ord + Hash> CallTree<T> {
    /// Returns the tree below some nodes, all of which become its root. `None` if there is no such node.
    ///
    /// A start below another one is part of the tree of that one.
    pub fn below(&self, is_start: impl Fn(TreeNodeId) -> bool) -> Option<CallTree<T>> {
        let start = self.ids().find(|&id| is_start(id))?;
        let mut trie = Trie::new(self.node(start).item, self.inclusive.width());
        let mut target: Vec<Option<TreeNodeId>> = vec![None; self.len()];
        for id in self.ids() {
            let node = self.node(id);
            let to = match node.parent.and_then(|parent| target[parent.index()]) {
                Some(parent) => trie.child(parent, node.item),
                None if is_start(id) => TreeNodeId::ROOT,
                None => continue,
            };
            target[id.index()] = Some(to);
            trie.tree.merge(to, node, self.self_cost(id), self.inclusive(id));
        }
        Some(trie.tree.finish(self.basis.clone()))
    }

    /// Returns the most expensive nodes of the tree, in the order in which they are printed: each before those below it,
    /// siblings by cost and then by name.
    ///
    /// ```
    /// use gristmill_profile::analysis::{CallArc, CallGraph, CallTree, Cycles, TreeLimits};
    ///
    /// let mut builder = CallGraph::builder(1);
    /// let main = builder.add_node(&[1]);
    /// for cost in [5, 70, 24] {
    ///     let callee = builder.add_node(&[cost]);
    ///     builder.add_arc(CallArc { caller: main, callee, count: 1 }, &[cost]);
    /// }
    /// let graph = builder.build();
    /// let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, TreeLimits::NONE);
    ///
    /// // Without what costs less than a tenth.
    /// let limits = TreeLimits::from_share(100, 100, 10);
    /// let selected = tree.selected(limits, usize::MAX, |_| "");
    /// let costs: Vec<_> = selected.ids().map(|id| selected.inclusive(id)[0]).collect();
    /// assert_eq!(costs, [100, 100, 70, 24]);
    /// ```
    pub fn selected<'n>(
        &self,
        limits: TreeLimits,
        max_depth: usize,
        name: impl Fn(Option<T>) -> &'n str,
    ) -> CallTree<T> {
        self.selected_and_lone(limits, max_depth, name).0
    }

    /// Returns the same tree, and its lone nodes: each node of it that has a single node left out below, and the id of that
    /// one in this tree.
    pub fn selected_and_lone<'n>(
        &self,
        limits: TreeLimits,
        max_depth: usize,
        name: impl Fn(Option<T>) -> &'n str,
    ) -> (CallTree<T>, Vec<(TreeNodeId, TreeNodeId)>) {
        let is_selected = self.select(limits, max_depth);
        let name = |id: TreeNodeId| name(self.node(id).item);
        let mut lone = Vec::new();
        let mut selected = GrowingTree::new(self.inclusive.width());
        // The node here, and the one above it in the new tree.
        let mut stack: Vec<(TreeNodeId, Option<TreeNodeId>)> = vec![(TreeNodeId::ROOT, None)];
        while let Some((id, parent)) = stack.pop() {
            let mut shown: Vec<TreeNodeId> =
                self.children(id).filter(|child| is_selected[child.index()]).collect();
            // Most names are made when they are first asked for, which takes longer than to compare weights.
            shown.sort_by(|&a, &b| {
                let by_weight = self.weight(b).cmp(&self.weight(a));
                by_weight.then_with(|| name(a).cmp(name(b))).then_with(|| a.cmp(&b))
            });
            let mut node = *self.node(id);
            node.parent = parent;
            node.hidden += self.children(id).len() - shown.len();
            let new = selected.push(node, self.self_cost(id), self.inclusive(id));
            if node.hidden == 1 {
                lone.extend(
                    self.children(id).find(|child| !is_selected[child.index()]).map(|child| (new, child)),
                );
            }
            stack.extend(shown.into_iter().rev().map(|child| (child, Some(new))));
        }
        (selected.finish(self.basis.clone()), lone)
    }

    /// Finds the most expensive nodes within the limits, by node. The root is always one.
    fn select(&self, limits: TreeLimits, max_depth: usize) -> Vec<bool> {
        let mut depth = vec![0usize; self.len()];
        let mut is_selected = vec![false; self.len()];
        let mut frontier = BinaryHeap::from([(self.weight(TreeNodeId::ROOT), Reverse(TreeNodeId::ROOT))]);
        let mut count = 0;
        while count < limits.max_nodes.max(1)
            && let Some((_, Reverse(id))) = frontier.pop()
        {
            is_selected[id.index()] = true;
            count += 1;
            if depth[id.index()] >= max_depth {
                continue;
            }
            for child in self.children(id) {
                depth[child.index()] = depth[id.index()] + 1;
                if self.weight(child) >= limits.min_cost {
                    frontier.push((self.weight(child), Reverse(child)));
                }
            }
        }
        is_selected
    }
}
