//! Call trees: what called what called what.
//!
//! A call graph tells who calls whom, not which way the calls came: if `a` and `b` call `c`, and `c` calls `d`, nothing
//! says whether `d` was ever reached from `a`. Some files hold more than the graph:
//!
//! - Those with one block for each invocation, each after the blocks of what it called. There the tree is exact:
//!   [`ExactTree`].
//! - Those where a function's name has its callers in it. There the last callers of each cost are exact:
//!   [`CallTree::of_chains`].
//!
//! From any other, [`CallTree::estimate`] makes a tree that could be, and says how much of it is a guess.

mod estimate;
mod invocations;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::ops::Range;

use gristmill_format::Cost;

use crate::analysis::cycle::{CycleId, Unit};
use crate::cost::CostTable;
use crate::csr::Grouped;
use crate::id::FunctionId;
use crate::id::narrow;

pub use estimate::TreeLimits;
pub use invocations::{ExactTree, Invocation, NotInvocations};

/// What a node of a tree stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TreeItem {
    /// The program as a whole, above all functions that nothing calls.
    Program,
    /// A function.
    Function(FunctionId),
    /// A cycle, whose members are not told apart.
    Cycle(CycleId),
}

impl From<Unit> for TreeItem {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Function(function) => TreeItem::Function(function),
            Unit::Cycle(cycle) => TreeItem::Cycle(cycle),
        }
    }
}

/// What a tree is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeBasis {
    /// The file tells of each invocation: the tree is what happened.
    Exact,
    /// The names tell the callers: each stack is what happened, but begins where the name ends.
    Callers,
    /// An estimate.
    Estimate {
        /// How much of the root's cost stands where it does by a guess, by event type. Cost of functions that can be
        /// reached in one way only is not guessed.
        guessed: Vec<Cost>,
    },
}

/// One node of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeNode {
    /// What it stands for.
    pub item: TreeItem,
    /// The node above; none for the root.
    pub parent: Option<usize>,
    /// How often it was called from there. In an estimate this is one, too.
    pub count: Cost,
    /// The nodes below, the dearest first.
    pub children: Range<usize>,
    /// How many more there would be below, left out for their size. What they cost is the part of the inclusive cost
    /// that is neither self cost nor that of a child.
    pub hidden: usize,
    /// Whether some of the calls that lead here are a guess.
    pub is_guessed: bool,
}

/// A call tree. Nodes are numbered; the root is 0, and a node comes after the one above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTree {
    basis: TreeBasis,
    nodes: Vec<TreeNode>,
    self_costs: CostTable,
    inclusive: CostTable,
}

impl CallTree {
    /// The node all others are below.
    pub const ROOT: usize = 0;

    /// What the tree is based on.
    pub fn basis(&self) -> &TreeBasis {
        &self.basis
    }

    /// How many nodes there are. There is always a root.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// All nodes.
    pub fn nodes(&self) -> &[TreeNode] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, node: usize) -> &TreeNode {
        &self.nodes[node]
    }

    /// What a node cost by itself.
    pub fn self_cost(&self, node: usize) -> &[Cost] {
        self.self_costs.row(node)
    }

    /// What a node cost with all below.
    pub fn inclusive(&self, node: usize) -> &[Cost] {
        self.inclusive.row(node)
    }

    /// What the nodes cost that were left out below one.
    pub fn hidden_cost(&self, node: usize) -> Vec<Cost> {
        let mut rest = self.inclusive(node).to_vec();
        let children = self.nodes[node].children.clone().map(|child| self.inclusive(child));
        for row in children.chain([self.self_cost(node)]) {
            rest.iter_mut().zip(row).for_each(|(rest, cost)| *rest -= cost);
        }
        rest
    }

    /// All nodes with their depth, each before those below it and these in order: as they are printed.
    pub fn preorder(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let mut open = vec![(Self::ROOT, 0)];
        std::iter::from_fn(move || {
            let (node, depth) = open.pop()?;
            open.extend(self.nodes[node].children.clone().rev().map(|child| (child, depth + 1)));
            Some((node, depth))
        })
    }

    /// What leads to a node, from the root down to itself.
    pub fn stack(&self, node: usize) -> Vec<TreeItem> {
        let mut stack: Vec<TreeItem> = std::iter::successors(Some(node), |&node| self.nodes[node].parent)
            .map(|node| self.nodes[node].item)
            .collect();
        stack.reverse();
        stack
    }

    /// The nodes with the greatest self cost, so many at most.
    pub fn hottest(&self, event: usize, most: usize) -> Vec<usize> {
        let mut nodes: Vec<usize> = (0..self.len()).collect();
        nodes.sort_by_key(|&node| (Reverse(self.self_cost(node)[event].unsigned_abs()), node));
        nodes.truncate(most);
        nodes
    }

    /// The tree without the nodes that cost less, and with so many nodes at most: the dearest.
    pub fn pruned(&self, event: usize, limits: TreeLimits) -> CallTree {
        let weight = |node: usize| self.inclusive(node).get(event).map_or(0, |cost| cost.unsigned_abs());
        let mut sprouts = Sprouts::new(self.inclusive.width());
        // Weight, the node here, the node above it there.
        type Open = (u128, Reverse<(usize, Option<usize>)>);
        let mut open: BinaryHeap<Open> = BinaryHeap::new();
        open.push((weight(Self::ROOT), Reverse((Self::ROOT, None))));
        while let Some((_, Reverse((node, parent)))) = open.pop() {
            if let Some(parent) = parent
                && sprouts.nodes.len() >= limits.most_nodes.max(1)
            {
                sprouts.nodes[parent].hidden += 1;
                continue;
            }
            let TreeNode { item, count, hidden, is_guessed, .. } = self.nodes[node];
            let place = sprouts.nodes.len();
            sprouts.nodes.push(Sprout { item, parent, count, hidden, is_guessed });
            sprouts.self_costs.push(self.self_cost(node));
            sprouts.inclusive.push(self.inclusive(node));
            for child in self.nodes[node].children.clone() {
                if weight(child) < limits.least {
                    sprouts.nodes[place].hidden += 1;
                } else {
                    open.push((weight(child), Reverse((child, Some(place)))));
                }
            }
        }
        sprouts.arrange(self.basis.clone())
    }

    /// The tree with its nodes named anew; children of the same node with the same new name become one.
    ///
    /// This is how recursion levels and caller chains in the names are folded.
    pub fn renamed(&self, mut name: impl FnMut(TreeItem) -> TreeItem) -> CallTree {
        let mut trie = Trie::new(name(self.nodes[Self::ROOT].item), self.inclusive.width());
        let mut place = vec![Self::ROOT; self.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                place[index] = trie.child(place[parent], name(node.item));
            }
            let sprout = &mut trie.sprouts.nodes[place[index]];
            sprout.count += node.count;
            sprout.hidden += node.hidden;
            sprout.is_guessed |= node.is_guessed;
            trie.sprouts.self_costs.add(place[index], self.self_cost(index));
            trie.sprouts.inclusive.add(place[index], self.inclusive(index));
        }
        trie.sprouts.arrange(self.basis.clone())
    }

    /// The tree of stacks that names tell. `chain` gives the callers of each function as far as its name has them, the
    /// farthest first, and at last the function itself.
    ///
    /// Each stack is one that happened, with the cost that it had. It begins where the name ends, so that the cost of
    /// one function may be in several places, and a caller's inclusive cost is no more than what names it.
    pub fn of_chains<'a, C: AsRef<[FunctionId]>>(
        width: usize,
        self_costs: impl IntoIterator<Item = (FunctionId, &'a [Cost])>,
        mut chain: impl FnMut(FunctionId) -> C,
    ) -> CallTree {
        let mut trie = Trie::new(TreeItem::Program, width);
        for (function, costs) in self_costs {
            let mut node = Self::ROOT;
            for &item in chain(function).as_ref() {
                node = trie.child(node, TreeItem::Function(item));
            }
            trie.sprouts.self_costs.add(node, costs);
        }
        trie.sprouts.sum_up();
        trie.sprouts.arrange(TreeBasis::Callers)
    }
}

/// A node of a tree that still grows.
#[derive(Debug)]
struct Sprout {
    item: TreeItem,
    parent: Option<usize>,
    count: Cost,
    hidden: usize,
    is_guessed: bool,
}

/// A tree that still grows: a node comes after the one above it, and that is all of the order.
#[derive(Debug)]
struct Sprouts {
    nodes: Vec<Sprout>,
    self_costs: CostTable,
    inclusive: CostTable,
}

impl Sprouts {
    fn new(width: usize) -> Self {
        let empty = CostTable::new(width, 0);
        Sprouts { nodes: Vec::new(), self_costs: empty.clone(), inclusive: empty }
    }

    /// A node, whose costs are to follow.
    fn push(&mut self, item: TreeItem, parent: Option<usize>, count: Cost, is_guessed: bool) {
        self.nodes.push(Sprout { item, parent, count, hidden: 0, is_guessed });
    }

    /// A node of which nothing is known as yet.
    fn push_empty(&mut self, item: TreeItem, parent: Option<usize>) {
        self.push(item, parent, 0, false);
        self.self_costs.push_zeros();
        self.inclusive.push_zeros();
    }

    /// Makes inclusive costs of the self costs.
    fn sum_up(&mut self) {
        self.inclusive = self.self_costs.clone();
        for node in (0..self.nodes.len()).rev() {
            if let Some(parent) = self.nodes[node].parent {
                let costs = self.inclusive.row(node).to_vec();
                self.inclusive.add(parent, &costs);
            }
        }
    }

    /// Puts children beside each other, the dearest first.
    fn arrange(self, basis: TreeBasis) -> CallTree {
        let key = |&node: &u32| {
            let cost = self.inclusive.row(node as usize).first().map_or(0, |cost| cost.unsigned_abs());
            (Reverse(cost), self.nodes[node as usize].item)
        };
        let mut children = Grouped::of(self.nodes.len(), self.nodes.iter().map(|node| node.parent));
        let mut order = vec![CallTree::ROOT];
        let mut tree = CallTree {
            basis,
            nodes: Vec::with_capacity(self.nodes.len()),
            self_costs: CostTable::new(self.self_costs.width(), 0),
            inclusive: CostTable::new(self.inclusive.width(), 0),
        };
        let mut parents = vec![None];
        while let Some(&node) = order.get(tree.nodes.len()) {
            let below = children.get_mut(node);
            below.sort_by_key(key);
            let place = tree.nodes.len();
            let Sprout { item, count, hidden, is_guessed, .. } = self.nodes[node];
            let children = order.len()..order.len() + below.len();
            tree.nodes.push(TreeNode { item, parent: parents[place], count, children, hidden, is_guessed });
            tree.self_costs.push(self.self_costs.row(node));
            tree.inclusive.push(self.inclusive.row(node));
            parents.extend(below.iter().map(|_| Some(place)));
            order.extend(below.iter().map(|&node| node as usize));
        }
        tree
    }
}

/// A tree that still grows and knows its nodes by what is above them.
#[derive(Debug)]
struct Trie {
    sprouts: Sprouts,
    places: HashMap<(u32, TreeItem), u32>,
}

impl Trie {
    fn new(root: TreeItem, width: usize) -> Self {
        let mut sprouts = Sprouts::new(width);
        sprouts.push_empty(root, None);
        Trie { sprouts, places: HashMap::new() }
    }

    /// The node for an item below another node; a new one if there is none.
    fn child(&mut self, parent: usize, item: TreeItem) -> usize {
        let Trie { sprouts, places } = self;
        let place = *places.entry((narrow(parent), item)).or_insert_with(|| {
            let place = narrow(sprouts.nodes.len());
            sprouts.push_empty(item, Some(parent));
            place
        });
        place as usize
    }
}
