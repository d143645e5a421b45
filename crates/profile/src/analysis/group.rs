//! Costs of groups of functions: of an object, a file, a directory, a class.
//!
//! - Self cost of a group is the sum of the self costs of its nodes.
//! - Inclusive cost is the self cost plus the cost of the arcs that leave the group. Calls inside the group add nothing.
//! - The count of calls is that of the arcs that enter the group.
//! - Nothing is above the total, by the same limit as for single nodes.
//!
//! The costs of the entering arcs are not used: functions that nothing calls, and cycles that nothing enters, have none, and
//! some producers give calls less than they cost.
//!
//! Calls may leave a group and come back to it: a parser calls a visitor, and that the parser. The inner visit counts within
//! the outer one and once more for itself. If the visitor is only ever called below the group, all of its calls are such inner visits, and
//! their cost is taken off again: the result is exact. [`reentry`](super::reentry) finds these functions. If the visitor is
//! called from elsewhere, too, a call graph does not tell how often calls come back, and the inclusive cost is an upper bound;
//! see [`GroupCosts::is_upper_bound`]. If costs can be below 0, as memory that is returned, a sum of 0 does not tell that nothing was
//! called, and nothing is a bound: where calls come back at all, the inclusive cost is an estimate; see [`GroupCosts::is_estimate`].

use std::cmp::Reverse;

use gristmill_format::Cost;

use crate::analysis::cycle::Cycles;
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::NodeId;
use crate::analysis::inclusive::Limit;
use crate::analysis::partition::Partition;
use crate::analysis::reentry::reentries;
use crate::cost::{CostTable, subtract};

/// Costs of groups of nodes. See the example of [`group_costs`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupCosts {
    /// Self costs, by group.
    pub self_costs: CostTable,
    /// Inclusive costs, by group.
    pub inclusive: CostTable,
    /// Counts of calls from outside, by group.
    pub call_counts: Vec<Cost>,
    /// By group, `true` if some of the calls from outside are inlined.
    pub has_inlined_calls: Vec<bool>,
    /// By group, `true` if calls may leave it and come back from a function that others call as well: its real inclusive cost
    /// may be less.
    pub is_upper_bound: Vec<bool>,
    /// By group, `true` if calls leave it and come back in any way.
    comes_back: Vec<bool>,
    /// By event type, `true` if costs can be below 0.
    pub may_be_negative: Vec<bool>,
    /// By group, a function outside of it from which calls come back, if that makes its inclusive cost an upper bound: with it, the
    /// group might have an exact cost. Missing if there are too many groups to look for it.
    pub leads_back: Vec<Option<NodeId>>,
}

impl GroupCosts {
    /// `true` if the inclusive cost of a group by an event type may be more or less than stated.
    pub fn is_estimate(&self, group: usize, column: usize) -> bool {
        self.comes_back[group] && self.may_be_negative[column]
    }
}

/// Sums costs by group.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Partition, group_costs};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, read, write] = [1, 10, 20].map(|cost| builder.add_node(&[cost]));
/// builder.add_arc(CallArc { caller: main, callee: read, count: 1 }, &[30]);
/// builder.add_arc(CallArc { caller: read, callee: write, count: 2 }, &[20]);
///
/// let costs = group_costs(&builder.build(), &Partition::from_keys(["program", "library", "library"]));
/// assert_eq!((costs.self_costs.row(1), costs.inclusive.row(0)), (&[30][..], &[31][..]));
/// assert_eq!(costs.call_counts, [0, 1]);
/// ```
pub fn group_costs(graph: &CallGraph, partition: &Partition) -> GroupCosts {
    let between = graph.folded(partition);
    let mut inclusive = between.self_costs().clone();
    let mut call_counts = vec![0; between.node_count()];
    let mut has_inlined_calls = vec![false; between.node_count()];
    for (id, arc) in between.arc_ids().zip(between.arcs()).filter(|(_, arc)| !arc.is_loop()) {
        inclusive.add(arc.caller.index(), between.arc_cost(id));
        call_counts[arc.callee.index()] += arc.count;
        has_inlined_calls[arc.callee.index()] |= between.is_inlined(id);
    }
    let limit = Limit::new(graph);
    let cycles = Cycles::new(&between);
    let mut comes_back: Vec<bool> = between.nodes().map(|group| cycles.cycle_of(group).is_some()).collect();
    let mut is_upper_bound = comes_back.clone();
    let mut leads_back = vec![None; between.node_count()];
    let may_be_negative = limit.may_be_negative();
    let mut doubtful: Vec<NodeId> = between.nodes().filter(|group| comes_back[group.index()]).collect();
    // The most expensive ones first, as there may be too many.
    doubtful.sort_by_key(|group| Reverse(inclusive.row(group.index()).first().copied()));
    for reentry in reentries(graph, partition, &doubtful, limit.has_negative) {
        comes_back[reentry.group.index()] = reentry.comes_back;
        if !reentry.comes_back {
            is_upper_bound[reentry.group.index()] = false;
            continue;
        }
        is_upper_bound[reentry.group.index()] = reentry.leads_back.is_some();
        leads_back[reentry.group.index()] = reentry.leads_back;
        let row = inclusive.row_mut(reentry.group.index());
        reentry.inner.into_iter().for_each(|arc| subtract(row, graph.arc_cost(arc)));
    }
    limit.apply(&mut inclusive, |_| {});
    let self_costs = between.self_costs().clone();
    GroupCosts {
        self_costs,
        inclusive,
        call_counts,
        has_inlined_calls,
        is_upper_bound,
        comes_back,
        may_be_negative,
        leads_back,
    }
}
