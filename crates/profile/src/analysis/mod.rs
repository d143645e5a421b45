//! Analysis of a profile. Nothing here changes a profile.
//!
//! Everything begins with a [`CallGraph`]: nodes with their self costs, and arcs with counts and inclusive costs. From it
//! follow [`Cycles`], [`Inclusive`] costs by one of three rules, costs of groups ([`group_costs`]), callers and callees at
//! any distance ([`reach()`]), and a [`CallTree`], exact where the file tells and an estimate where it does not.
//!
//! A graph has its own ids: [`NodeId`] and [`ArcId`]. [`CallGraph::node_of`] gives the node of a function in a graph that is
//! not folded; [`Partition::group_of`] gives the node of a folded graph that a node was folded into.
//!
//! ```
//! use gristmill_profile::analysis::{CallTree, Cycles, Inclusive, TreeLimits, TreeNodeId};
//! use gristmill_profile::{Profile, Selection};
//!
//! let text = "events: Ir\nfn=main\n1 10\ncfn=mill\ncalls=1 2\n1 90\nfn=mill\n2 90\n";
//! let profile = Profile::from_bytes(text.as_bytes().to_vec());
//! let graph = profile.call_graph(&Selection::default());
//!
//! let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
//! let main = profile.functions().next().expect("two functions");
//! assert_eq!(inclusive.cost(graph.node_of(main)), [100]);
//!
//! let limits = TreeLimits::from_share(100, 1, 500);
//! let tree = CallTree::estimate(&graph, inclusive.cycles(), None, limits);
//! assert_eq!(tree.inclusive(TreeNodeId::ROOT), [100]);
//! ```

pub(crate) mod arcs;
mod attribution;
mod column_kinds;
pub(crate) mod component;
mod cycle;
mod folding;
mod graph;
mod group;
mod ids;
pub mod inclusive;
mod large_components;
mod member_costs;
mod node_set;
mod partition;
mod proportion;
mod reach;
mod reentry;
pub(crate) mod tests;
pub mod tree;

pub use arcs::CallArc;
pub use attribution::{
    Attributed, Estimates, OwnPart, bypass, focus, focus_after, hide, hide_after, leave_out,
};
pub use cycle::{Breaker, Condensation, Cycles, Unit};
pub use folding::{CutArcs, FoldedProfile, NodeCosts};
pub use graph::{CallGraph, CallGraphBuilder};
pub use group::{GroupCosts, group_costs};
pub use ids::{ArcId, CycleId, NodeId, TreeNodeId};
pub use inclusive::{Difference, Inclusive, InclusiveRule, KCachegrindSums, Sides};
pub use partition::Partition;
pub(crate) use proportion::apportion;
pub use reach::{Direction, Reached, reach};
pub use tree::{
    CallTree, CallerName, CallerNameId, Estimator, ExactTree, Invocation, NoExactTree, NotInvocations,
    RecordedCallers, TreeBasis, TreeLimits, TreeNode,
};
