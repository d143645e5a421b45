//! Call trees: functions by the stack of calls that leads to them.
//!
//! A call graph tells who calls whom, but not by which stack: if `a` and `b` call `c`, and `c` calls `d`, nothing tells
//! whether `d` was ever reached from `a`. Some files hold more than the graph:
//!
//! - Files with one block for each invocation, each after the blocks of what it called. Their tree is exact: [`ExactTree`].
//! - Files where the name of a function contains its callers. There the last callers of each cost are exact:
//!   [`RecordedCallers`].
//!
//! For any other file, [`CallTree::estimate`] makes a tree that is consistent with the graph, and states how much of it is
//! a guess.
//!
//! | file | content |
//! |---|---|
//! | `tree/growing` | a tree while nodes are added, and the queue of nodes still to be made |
//! | `tree/invocations` | the exact tree, from blocks |
//! | `tree/callers` | the tree of recorded callers, from names |
//! | `tree/recorded` | the costs that arcs allow a tree to hold |
//! | `tree/flow` | the costs that flow through a call graph, and what its arcs determine |
//! | `tree/estimate` | the estimate, from a call graph |
//! | `tree/attribution` | trees without some functions, or as far as some functions are on the stack |
//! | `tree/caller_tables` | what the callers of nodes state of their costs |
//! | `tree/inverted` | the inverted tree of a function, from a tree or from a call graph |
//! | `tree/bottom_up` | the inverted tree of all functions |
//! | `tree/selection` | parts of a tree: below a function, without cheap nodes |

mod attribution;
mod bottom_up;
mod caller_tables;
mod callers;
mod estimate;
mod flow;
mod growing;
mod inverted;
mod invocations;
mod naive_estimate;
mod recorded;
mod selection;

use gristmill_format::Cost;

use crate::analysis::ids::TreeNodeId;
use crate::cost::CostTable;
use crate::csr::Csr;
use growing::Trie;

pub use callers::{CallerName, CallerNameId, RecordedCallers};
pub use estimate::Estimator;
pub use invocations::{ExactTree, Invocation, NoExactTree, NotInvocations};
pub use selection::TreeLimits;

/// The origin of a tree, and its certainty. See the example of [`CallTree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TreeBasis {
    /// The file has a block for each invocation: the tree is what happened.
    Exact,
    /// The names contain callers: each stack is what happened, but begins where the name ends.
    Callers,
    /// An estimate.
    Estimate {
        /// The cost of the root that is placed by a guess, by event type. Cost of functions that can be reached in one
        /// way only is not guessed, unless the calls to them state another cost.
        guessed: Vec<Cost>,
    },
}

/// A node of a [`CallTree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeNode<T> {
    /// The item of the node. `None` is the program as a whole, above all functions that nothing calls.
    pub item: Option<T>,
    /// The node above; `None` for the root.
    pub parent: Option<TreeNodeId>,
    /// Count of its calls by the node above.
    pub count: Cost,
    /// `true` if that is a guess: several stacks lead to the node above, and nothing tells how many calls each has.
    pub is_count_guessed: bool,
    /// Count of children that were left out. Their cost is the part of the inclusive cost that is neither self cost nor
    /// that of a child.
    pub hidden: usize,
    /// `true` if the inclusive cost is a guess, or if the profile states another cost for the calls.
    pub is_guessed: bool,
    /// `true` if the division of the inclusive cost among self cost and callees is a guess.
    pub is_self_guessed: bool,
}

/// A call tree, whose nodes stand for functions of a profile, units of a call graph or other items of type `T`.
///
/// ```
/// use gristmill_profile::analysis::{
///     CallArc, CallGraph, CallTree, Cycles, TreeBasis, TreeLimits, TreeNodeId, Unit,
/// };
///
/// // `main` calls `read` and `parse`, which also calls `read`.
/// let mut builder = CallGraph::builder(1);
/// let [main, parse, read] = [1, 10, 40].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee, cost) in [(main, parse, 40), (main, read, 10), (parse, read, 30)] {
///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[cost]);
/// }
/// let graph = builder.build();
///
/// let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, TreeLimits::NONE);
/// assert_eq!(tree.inclusive(TreeNodeId::ROOT), [51]);
/// // The callers state the costs of their calls of `read`, and it calls nothing: no cost is placed by a guess.
/// assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![0] });
/// let costs: Vec<_> = tree.ids().map(|id| (tree.node(id).item, tree.self_cost(id)[0])).collect();
/// let unit = |node| Some(Unit::Node(node));
/// assert_eq!(costs, [(None, 0), (unit(main), 1), (unit(parse), 10), (unit(read), 10), (unit(read), 30)]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallTree<T> {
    basis: TreeBasis,
    /// Each after the one above it.
    nodes: Vec<TreeNode<T>>,
    /// Nodes by the one above them.
    children: Csr,
    self_costs: CostTable,
    inclusive: CostTable,
}

impl<T> CallTree<T> {
    /// Returns the origin of the tree.
    pub fn basis(&self) -> &TreeBasis {
        &self.basis
    }

    /// Returns the count of nodes. There is always a root.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Iterates over the nodes, each after the one above it.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = TreeNodeId> + ExactSizeIterator + use<T> {
        (0..self.len()).map(TreeNodeId::new)
    }

    /// Returns a node.
    pub fn node(&self, id: TreeNodeId) -> &TreeNode<T> {
        &self.nodes[id.index()]
    }

    /// Iterates over the nodes right below a node, in order.
    pub fn children(
        &self,
        id: TreeNodeId,
    ) -> impl DoubleEndedIterator<Item = TreeNodeId> + ExactSizeIterator + '_ {
        self.children.get(id.index()).iter().map(|&child| TreeNodeId::from_u32(child))
    }

    /// Returns the self cost of a node.
    pub fn self_cost(&self, id: TreeNodeId) -> &[Cost] {
        self.self_costs.row(id.index())
    }

    /// Returns the cost of a node with everything below it.
    pub fn inclusive(&self, id: TreeNodeId) -> &[Cost] {
        self.inclusive.row(id.index())
    }

    /// Returns the cost of the nodes that were left out below a node.
    pub fn hidden_cost(&self, id: TreeNodeId) -> Vec<Cost> {
        let mut rest = self.inclusive(id).to_vec();
        let children = self.children(id).map(|child| self.inclusive(child));
        for row in children.chain([self.self_cost(id)]) {
            rest.iter_mut().zip(row).for_each(|(rest, cost)| *rest -= cost);
        }
        rest
    }

    /// Iterates over a node and those above it, up to the root.
    pub fn path_up(&self, id: TreeNodeId) -> impl Iterator<Item = TreeNodeId> + '_ {
        std::iter::successors(Some(id), |&id| self.node(id).parent)
    }

    /// The amount by which nodes are ordered: that of the first event type.
    fn weight(&self, id: TreeNodeId) -> u128 {
        self.inclusive(id).first().map_or(0, |cost| cost.unsigned_abs())
    }

    /// Returns the same tree with other items. Siblings must not get the same item; [`CallTree::folded`] merges these.
    pub fn with_items<U>(self, mut map: impl FnMut(T) -> U) -> CallTree<U> {
        let CallTree { basis, nodes, children, self_costs, inclusive } = self;
        let node = |node: TreeNode<T>| {
            let TreeNode { item, parent, count, is_count_guessed, hidden, is_guessed, is_self_guessed } =
                node;
            let item = item.map(&mut map);
            TreeNode { item, parent, count, is_count_guessed, hidden, is_guessed, is_self_guessed }
        };
        CallTree { basis, nodes: nodes.into_iter().map(node).collect(), children, self_costs, inclusive }
    }

    /// Returns the same tree where more nodes are marked as guesses: those for which `is_guess` is `true`.
    pub(crate) fn marked(mut self, is_guess: impl Fn(&CallTree<T>, TreeNodeId) -> bool) -> CallTree<T> {
        let guesses: Vec<TreeNodeId> = self.ids().filter(|&id| is_guess(&self, id)).collect();
        for id in guesses {
            self.nodes[id.index()].is_guessed = true;
        }
        self
    }

    /// Returns the same tree with these event types, in this order.
    ///
    /// # Panics
    ///
    /// If the tree has fewer event types.
    pub fn with_columns(self, columns: &[usize]) -> CallTree<T> {
        let basis = match self.basis {
            TreeBasis::Estimate { guessed } => {
                TreeBasis::Estimate { guessed: columns.iter().map(|&column| guessed[column]).collect() }
            }
            basis => basis,
        };
        let (self_costs, inclusive) =
            (self.self_costs.with_columns(columns), self.inclusive.with_columns(columns));
        CallTree { basis, self_costs, inclusive, ..self }
    }

    /// Returns the same tree with other event types: `map` makes a row of `width` costs from each row, and must be linear.
    ///
    /// # Errors
    ///
    /// The error of `map`.
    pub fn with_costs<E>(
        self,
        width: usize,
        mut map: impl FnMut(&[Cost]) -> Result<Vec<Cost>, E>,
    ) -> Result<CallTree<T>, E> {
        let mut apply = |table: &CostTable| {
            let mut mapped = CostTable::new(width, 0);
            table.rows().try_for_each(|row| map(row).map(|row| mapped.push(&row)))?;
            Ok(mapped)
        };
        let (self_costs, inclusive) = (apply(&self.self_costs)?, apply(&self.inclusive)?);
        Ok(CallTree { self_costs, inclusive, ..self })
    }
}

impl<T: Copy + Ord + std::hash::Hash> CallTree<T> {
    /// Returns the tree with other items, where siblings that get the same item become one node.
    ///
    /// Recursion levels and caller chains in names are folded in this way.
    pub fn folded<U: Copy + Ord + std::hash::Hash>(&self, mut item: impl FnMut(T) -> U) -> CallTree<U> {
        let mut item = |node: &TreeNode<T>| node.item.map(&mut item);
        let mut trie = Trie::new(item(self.node(TreeNodeId::ROOT)), self.inclusive.width());
        let mut target = vec![TreeNodeId::ROOT; self.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                target[index] = trie.child(target[parent.index()], item(node));
            }
            let to = target[index];
            trie.tree.merge(to, node, self.self_costs.row(index), self.inclusive.row(index));
        }
        trie.tree.arranged(self.basis.clone())
    }
}
