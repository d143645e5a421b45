//! What follows from a profile: nothing here changes one.
//!
//! All begins with a [`CallGraph`]: functions with their self costs, and arcs with counts and inclusive costs. From it
//! follow [`Cycles`], [`Inclusive`] costs by one of three rules, costs of groups ([`group_costs`]), what can be reached
//! from a function ([`reach()`]), and a [`CallTree`], exact where the file tells and an estimate where it does not.
//!
//! ```
//! use gristmill_profile::analysis::{Arc, CallGraph, CallTree, Cycles, Inclusive, TreeLimits};
//! use gristmill_profile::{CostTable, FunctionId};
//!
//! // `main` calls `even` and `odd`, which call each other.
//! let [main, even, odd] = [0, 1, 2].map(FunctionId::new);
//! let mut self_costs = CostTable::new(1, 0);
//! [10, 40, 50].iter().for_each(|&cost| self_costs.push(&[cost]));
//! let mut arcs = Vec::new();
//! let mut arc_costs = CostTable::new(1, 0);
//! for (caller, callee, count, cost) in [(main, even, 1, 90), (even, odd, 5, 80), (odd, even, 4, 60)] {
//!     arcs.push(Arc { caller, callee, count });
//!     arc_costs.push(&[cost]);
//! }
//! let graph = CallGraph::new(self_costs, arcs, arc_costs);
//!
//! let inclusive = Inclusive::own(&graph, Cycles::of(&graph));
//! let cycle = inclusive.cycles().cycle_of(odd).expect("they call each other");
//! assert_eq!(inclusive.of(main), [100]);
//! assert_eq!(inclusive.of_cycle(cycle), [90]);
//!
//! let limits = TreeLimits::millionths(100, 1000, 500);
//! let tree = CallTree::estimate(&graph, inclusive.cycles(), None, limits);
//! assert_eq!(tree.inclusive(CallTree::ROOT), [100]);
//! ```

pub(crate) mod arcs;
pub(crate) mod component;
mod cycle;
mod graph;
pub mod group;
pub mod inclusive;
mod proportion;
mod reach;
pub(crate) mod tests;
pub mod tree;

pub use arcs::Arc;
pub use cycle::{Breaker, CycleId, Cycles, Unit};
pub use graph::CallGraph;
pub use group::{GroupCosts, group_costs};
pub use inclusive::{Difference, Inclusive, InclusiveRule, KCachegrind, Sides};
pub use reach::{Direction, Reached, hottest_path, reach};
pub use tree::{CallTree, ExactTree, Invocation, NotInvocations, TreeBasis, TreeItem, TreeLimits, TreeNode};
