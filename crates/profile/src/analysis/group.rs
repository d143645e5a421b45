//! Costs of groups of functions: of an object, a file, a directory, a class.
//!
//! # The rule
//!
//! - Self cost of a group is the sum of the self costs of its functions.
//! - Inclusive cost is the self cost and the cost of the arcs that leave the group, as it is for a function. Calls inside
//!   the group add nothing.
//! - It is called as often as the arcs that enter it say.
//! - Nothing is above the total, by the same limit as for functions.
//!
//! What the arcs that enter a group cost says nothing of functions that nothing calls, nor of cycles that nothing enters; and
//! some producers give calls less than they cost.
//!
//! If calls leave a group and come back to it (the C library calls `main`, and `main` the C library), the inner visit is
//! counted with the outer one and once more for itself. How often cannot be told from a call graph. So where groups call
//! each other in a circle the inclusive cost is an upper bound, and [`GroupCosts::is_upper_bound`] says so.

use gristmill_format::Cost;

use crate::analysis::cycle::Cycles;
use crate::analysis::graph::CallGraph;
use crate::analysis::inclusive::Limit;
use crate::cost::CostTable;
use crate::id::FunctionId;

/// What groups of functions cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCosts {
    /// Self costs, by group.
    pub self_costs: CostTable,
    /// Inclusive costs, by group.
    pub inclusive: CostTable,
    /// Calls from outside, by group.
    pub called: Vec<Cost>,
    /// By group, whether calls may leave it and come back, so that its inclusive cost may be less than is said.
    pub is_upper_bound: Vec<bool>,
}

/// Adds up costs by group. `group_of` tells the group of a function, and there are `groups` of them.
pub fn group_costs(
    graph: &CallGraph,
    groups: usize,
    mut group_of: impl FnMut(FunctionId) -> usize,
) -> GroupCosts {
    let group: Vec<FunctionId> =
        graph.function_ids().map(|function| FunctionId::new(group_of(function))).collect();
    let between = graph.folded(groups, |function| group[function.index()]);
    let mut inclusive = between.self_costs().clone();
    let mut called = vec![0; groups];
    for (place, arc) in between.arcs().enumerate().filter(|(_, arc)| !arc.is_loop()) {
        inclusive.add(arc.caller.index(), between.arc_cost(place));
        called[arc.callee.index()] += arc.count;
    }
    Limit::of(graph).apply(&mut inclusive);
    let cycles = Cycles::of(&between);
    let is_upper_bound = between.function_ids().map(|group| cycles.cycle_of(group).is_some()).collect();
    GroupCosts { self_costs: between.self_costs().clone(), inclusive, called, is_upper_bound }
}
