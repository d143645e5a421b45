//! Trees while nodes are added.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

use gristmill_format::Cost;

use crate::analysis::column_kinds::ColumnKinds;
use crate::analysis::ids::TreeNodeId;
use crate::analysis::tree::{CallTree, TreeBasis, TreeNode};
use crate::cost::CostTable;
use crate::csr::Csr;

/// The count of nodes beyond which it takes less time to find out which are cheap than to make all of them.
pub(super) const MANY: usize = 1024;

/// A tree under construction. A node comes after the one above it; siblings are in no order yet.
#[derive(Debug)]
pub(super) struct GrowingTree<T> {
    pub(super) nodes: Vec<TreeNode<T>>,
    pub(super) self_costs: CostTable,
    pub(super) inclusive: CostTable,
}

impl<T: Copy> GrowingTree<T> {
    pub(super) fn new(width: usize) -> Self {
        let empty = CostTable::new(width, 0);
        GrowingTree { nodes: Vec::new(), self_costs: empty.clone(), inclusive: empty }
    }

    /// Adds a node with its costs.
    pub(super) fn push(&mut self, node: TreeNode<T>, self_costs: &[Cost], inclusive: &[Cost]) -> TreeNodeId {
        self.nodes.push(node);
        self.self_costs.push(self_costs);
        self.inclusive.push(inclusive);
        TreeNodeId::new(self.nodes.len() - 1)
    }

    /// Adds a node without calls and costs.
    pub(super) fn push_empty(&mut self, item: Option<T>, parent: Option<TreeNodeId>) -> TreeNodeId {
        self.nodes.push(TreeNode {
            item,
            parent,
            count: 0,
            is_count_guessed: false,
            hidden: 0,
            is_guessed: false,
            is_self_guessed: false,
        });
        self.self_costs.push_zeros();
        self.inclusive.push_zeros();
        TreeNodeId::new(self.nodes.len() - 1)
    }

    pub(super) fn node_mut(&mut self, id: TreeNodeId) -> &mut TreeNode<T> {
        &mut self.nodes[id.index()]
    }

    /// Adds calls and costs of another node to a node.
    pub(super) fn merge<U>(
        &mut self,
        id: TreeNodeId,
        other: &TreeNode<U>,
        self_costs: &[Cost],
        inclusive: &[Cost],
    ) {
        let node = self.node_mut(id);
        node.count += other.count;
        node.is_count_guessed |= other.is_count_guessed;
        node.hidden += other.hidden;
        node.is_guessed |= other.is_guessed;
        node.is_self_guessed |= other.is_self_guessed;
        self.self_costs.add(id.index(), self_costs);
        self.inclusive.add(id.index(), inclusive);
    }

    /// Calculates inclusive costs from the self costs.
    pub(super) fn sum_up(&mut self) {
        self.inclusive = self.self_costs.clone();
        for index in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[index].parent {
                let costs = self.inclusive.row(index).to_vec();
                self.inclusive.add(parent.index(), &costs);
            }
        }
    }

    /// Calculates derived event types from the others: shares of them do not follow their formula.
    pub(super) fn derive(&mut self, kinds: &ColumnKinds) {
        kinds.derive_all(&mut self.self_costs);
        kinds.derive_all(&mut self.inclusive);
    }

    fn children(&self) -> Csr {
        Csr::new(self.nodes.len(), self.nodes.iter().map(|node| node.parent.map(TreeNodeId::index)))
    }

    /// Makes the tree with the nodes in the order in which they were added.
    pub(super) fn finish(self, basis: TreeBasis) -> CallTree<T> {
        let children = self.children();
        let GrowingTree { nodes, self_costs, inclusive } = self;
        CallTree { basis, nodes, children, self_costs, inclusive }
    }

    /// Makes the tree with siblings side by side, the most expensive first, then by item.
    pub(super) fn arranged(mut self, basis: TreeBasis) -> CallTree<T>
    where
        T: Ord,
    {
        let key = |&node: &u32| {
            let cost = self.inclusive.row(node as usize).first().map_or(0, |cost| cost.unsigned_abs());
            (Reverse(cost), self.nodes[node as usize].item)
        };
        let mut children = self.children();
        // Breadth first: the node here, and the one above it in the arranged tree.
        let mut queue: Vec<(usize, Option<TreeNodeId>)> = vec![(0, None)];
        let mut next = 0;
        while let Some(&(index, _)) = queue.get(next) {
            let id = TreeNodeId::new(next);
            let below = children.get_mut(index);
            below.sort_by_key(key);
            queue.extend(below.iter().map(|&child| (child as usize, Some(id))));
            next += 1;
        }
        // One table after the other, as wide ones take most of the memory.
        self.nodes = queue.iter().map(|&(index, parent)| TreeNode { parent, ..self.nodes[index] }).collect();
        self.self_costs = self.self_costs.with_rows(queue.iter().map(|&(index, _)| index));
        self.inclusive = self.inclusive.with_rows(queue.iter().map(|&(index, _)| index));
        self.finish(basis)
    }
}

/// A tree under construction that finds its nodes by the items above them.
#[derive(Debug)]
pub(super) struct Trie<T> {
    pub(super) tree: GrowingTree<T>,
    known: HashMap<(TreeNodeId, Option<T>), TreeNodeId>,
}

impl<T: Copy + Eq + Hash> Trie<T> {
    pub(super) fn new(root: Option<T>, width: usize) -> Self {
        let mut tree = GrowingTree::new(width);
        tree.push_empty(root, None);
        Trie { tree, known: HashMap::new() }
    }

    /// Returns the child of a node for an item, and adds it if there is none.
    pub(super) fn child(&mut self, parent: TreeNodeId, item: Option<T>) -> TreeNodeId {
        let Trie { tree, known } = self;
        *known.entry((parent, item)).or_insert_with(|| tree.push_empty(item, Some(parent)))
    }
}

/// The queue of nodes still to be made: the most expensive first, of equals the one that was added first.
pub(super) struct Frontier<B> {
    heap: BinaryHeap<(u128, Reverse<usize>)>,
    nodes: Vec<Option<B>>,
}

impl<B> Frontier<B> {
    pub(super) fn new() -> Self {
        Frontier { heap: BinaryHeap::new(), nodes: Vec::new() }
    }

    pub(super) fn push(&mut self, weight: u128, node: B) {
        self.heap.push((weight, Reverse(self.nodes.len())));
        self.nodes.push(Some(node));
    }

    pub(super) fn pop(&mut self) -> Option<B> {
        let (_, Reverse(index)) = self.heap.pop()?;
        self.nodes[index].take()
    }

    /// Takes out all nodes, in no order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = B> + use<B> {
        self.heap.clear();
        std::mem::take(&mut self.nodes).into_iter().flatten()
    }

    /// Takes out the cheapest nodes, except for this count, if there are many more.
    pub(super) fn prune(&mut self, count: usize) -> Vec<B> {
        if self.heap.len() <= count.saturating_add(count / 4).saturating_add(MANY) {
            return Vec::new();
        }
        let mut best = std::mem::take(&mut self.heap).into_vec();
        let cheap = best.len() - count;
        best.select_nth_unstable(cheap - 1);
        // Those that are kept stay in the order in which they were added. No sort, as they are many.
        let nodes = std::mem::take(&mut self.nodes);
        let mut weights = vec![None; nodes.len()];
        best.drain(cheap..).for_each(|(weight, Reverse(index))| weights[index] = Some(weight));
        let mut pruned = Vec::with_capacity(cheap);
        for (node, weight) in nodes.into_iter().zip(weights) {
            match (node, weight) {
                (Some(node), Some(weight)) => self.push(weight, node),
                (Some(node), None) => pruned.push(node),
                (None, _) => {}
            }
        }
        pruned
    }
}
