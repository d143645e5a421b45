//! The limits that recorded arcs set to a tree, and the distance of a tree from them.
//!
//! An arc states the inclusive cost of its calls. Where the callers of a function state less than it costs, the rest did not
//! come from them: a thread begins with a function that nothing called, or whose caller waits only until the thread starts.
//! A profile can also contradict itself. One hundredth of the total decides between rounding and a contradiction.

use gristmill_format::Cost;

use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId};

/// The event types of a graph that its arcs set limits to.
#[derive(Debug)]
pub(super) struct ArcLimits {
    /// By event type: the amount of the total.
    totals: Vec<u128>,
    /// By event type: `true` if arcs state costs of it, and no cost is below 0.
    has_limits: Vec<bool>,
}

impl ArcLimits {
    pub(super) fn new(graph: &CallGraph) -> Self {
        let mut has_limits = vec![false; graph.width()];
        for row in graph.arc_costs().rows() {
            has_limits.iter_mut().zip(row).for_each(|(has_limit, &cost)| *has_limit |= cost != 0);
        }
        for row in graph.arc_costs().rows().chain(graph.self_costs().rows()) {
            has_limits.iter_mut().zip(row).for_each(|(has_limit, &cost)| *has_limit &= cost >= 0);
        }
        let totals = graph.total().into_iter().map(Cost::unsigned_abs).collect();
        ArcLimits { totals, has_limits }
    }
}

/// The costs that the arcs of a graph without cycles state.
#[derive(Clone, Copy)]
pub(super) struct RecordedArcs<'a> {
    graph: &'a CallGraph,
    limits: &'a ArcLimits,
}

impl<'a> RecordedArcs<'a> {
    /// Takes the limits, which are those of the graph.
    pub(super) fn new(graph: &'a CallGraph, limits: &'a ArcLimits) -> Self {
        RecordedArcs { graph, limits }
    }

    /// `true` if an amount is more than rounding.
    pub(super) fn is_notable(&self, event: usize, amount: Cost) -> bool {
        amount.unsigned_abs().saturating_mul(100) > self.limits.totals[event]
    }

    /// `true` if two rows of costs differ by more than rounding.
    pub(super) fn differ(&self, costs: &[Cost], others: &[Cost]) -> bool {
        let mut pairs = costs.iter().zip(others).enumerate();
        pairs.any(|(event, (cost, other))| self.is_notable(event, cost.saturating_sub(*other)))
    }

    /// Returns the part of a node's cost that its callers' arcs cannot contain. It is 0 if nothing calls the node.
    pub(super) fn surplus(&self, node: NodeId, event: usize, inclusive: Cost) -> Cost {
        if !self.limits.has_limits[event] || self.graph.incoming(node).len() == 0 {
            return 0;
        }
        let surplus = inclusive - self.callers(node, event);
        if surplus > 0 && self.is_notable(event, surplus) { surplus } else { 0 }
    }

    /// Returns the cost of a node that no caller states.
    pub(super) fn without_callers(&self, node: NodeId) -> Vec<Cost> {
        let mut costs = self.graph.self_and_callees(node);
        for (event, cost) in costs.iter_mut().enumerate().filter(|(event, _)| self.limits.has_limits[*event])
        {
            *cost = (*cost - self.callers(node, event)).max(0);
        }
        costs
    }

    fn callers(&self, node: NodeId, event: usize) -> Cost {
        self.graph.incoming(node).map(|arc| self.graph.arc_cost(arc)[event]).sum()
    }

    /// `true` if the cost of an arc in a tree, over all nodes, is not what the arc states.
    pub(super) fn contradicts(&self, arc: ArcId, costs: &[Cost]) -> bool {
        self.differ(costs, self.graph.arc_cost(arc))
    }

    /// `true` if an arc states these costs, except for rounding.
    pub(super) fn states(&self, arc: ArcId, costs: &[Cost]) -> bool {
        let mut pairs = costs.iter().zip(self.graph.arc_cost(arc)).enumerate();
        pairs.all(|(event, (&cost, &stated))| {
            let difference = cost.saturating_sub(stated).unsigned_abs();
            difference == 0 || self.limits.has_limits[event] && difference <= 1 + stated.unsigned_abs() / 100
        })
    }

    /// `true` if a node has more than the arc that leads to it states.
    pub(super) fn is_exceeded(&self, arc: ArcId, costs: &[Cost]) -> bool {
        let mut pairs = costs.iter().zip(self.graph.arc_cost(arc)).enumerate();
        pairs.any(|(event, (&cost, &stated))| {
            let surplus = cost.saturating_sub(stated);
            surplus > 0 && self.is_notable(event, surplus)
        })
    }
}
