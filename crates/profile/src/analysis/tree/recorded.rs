//! The limits that recorded arcs set to a tree, and the distance of a tree from them.
//!
//! An arc states the inclusive cost of its calls. Where the callers of a function state less than it costs, the rest did not
//! come from them: a thread begins with a function that nothing called, or whose caller waits only until the thread starts.
//!
//! Profiles of counts are exact, so each unit of such a rest counts. A profile of times, or of samples, can be rounded, and then some
//! callers state more than their callee costs. Only in these, little differences are rounding: one hundredth of a cost, and the smallest
//! rests, as many as fit into one hundredth of the total together.

use gristmill_format::Cost;

use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId};
use crate::cost::CostTable;

/// In a rounded profile, at least one of this many functions costs less than its callers state.
const MIN_ROUNDED_SHARE: usize = 20;

/// The event types of a graph that its arcs set limits to.
#[derive(Debug)]
pub(super) struct ArcLimits {
    /// By event type: the amount of the total.
    totals: Vec<u128>,
    /// By event type: `true` if arcs state costs of it, and no cost is below 0.
    has_limits: Vec<bool>,
    /// By event type: `true` if costs can be rounded.
    is_rounded: Vec<bool>,
    /// By event type: what all functions cost less than their callers state.
    lacks: Vec<u128>,
    /// By node and event type: `true` if the node costs more than its callers state, by more than rounding.
    is_beyond: Vec<bool>,
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
        let is_rounded = has_limits.iter().map(|has_limit| !has_limit).collect();
        let is_beyond = vec![false; graph.node_count() * graph.width()];
        let lacks = vec![0; graph.width()];
        let mut limits = ArcLimits { totals, has_limits, is_rounded, lacks, is_beyond };
        limits.find_surpluses(graph);
        limits
    }

    /// Marks the nodes that cost more than their callers state, by more than rounding.
    fn find_surpluses(&mut self, graph: &CallGraph) {
        let mut surpluses = CostTable::new(graph.width(), graph.node_count());
        for node in graph.nodes().filter(|&node| graph.incoming(node).len() > 0) {
            let row = surpluses.row_mut(node.index());
            row.copy_from_slice(&graph.self_and_callees(node));
            for arc in graph.incoming(node) {
                row.iter_mut().zip(graph.arc_cost(arc)).for_each(|(cost, stated)| *cost -= stated);
            }
        }
        for event in (0..graph.width()).filter(|&event| self.has_limits[event]) {
            let of_nodes = || surpluses.rows().map(|row| row[event].max(0).unsigned_abs());
            self.lacks[event] = surpluses.rows().map(|row| row[event].min(0).unsigned_abs()).sum();
            self.is_rounded[event] = is_rounded(surpluses.rows().map(|row| row[event]));
            let rounding = match self.is_rounded[event] {
                true => most_that_fit(self.totals[event] / 100, of_nodes),
                false => 0,
            };
            for (node, surplus) in of_nodes().enumerate() {
                self.is_beyond[node * graph.width() + event] = surplus > rounding;
            }
        }
    }
}

/// `true` if costs can be rounded: of all functions, many cost less than their callers state. In an exact profile, no more than a few do:
/// Callgrind gives the call that ends the program more than that costs.
fn is_rounded(surpluses: impl Iterator<Item = Cost>) -> bool {
    let (mut all, mut less) = (0usize, 0usize);
    for surplus in surpluses {
        all += 1;
        less += usize::from(surplus < 0);
    }
    less * MIN_ROUNDED_SHARE > all
}

/// Returns the highest value for which all amounts up to it fit into a limit together.
fn most_that_fit<I: Iterator<Item = u128>>(limit: u128, amounts: impl Fn() -> I) -> u128 {
    let fits = |most: u128| amounts().filter(|&amount| amount <= most).sum::<u128>() <= limit;
    let (mut most, mut too_high) = (0, limit + 1);
    if fits(limit) {
        return limit;
    }
    while too_high - most > 1 {
        let middle = most + (too_high - most) / 2;
        if fits(middle) { most = middle } else { too_high = middle }
    }
    most
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

    /// `true` if a cost is another one than is stated, by more than rounding.
    fn is_other(&self, event: usize, cost: Cost, stated: Cost) -> bool {
        let difference = cost.saturating_sub(stated).unsigned_abs();
        match self.limits.is_rounded[event] {
            true => difference > 1 + stated.unsigned_abs() / 100,
            false if cost < stated => difference > self.limits.lacks[event].min(stated.unsigned_abs() / 100),
            false => difference > 0,
        }
    }

    /// `true` if costs are others than are stated, by more than rounding.
    pub(super) fn differ(&self, costs: &[Cost], stated: &[Cost]) -> bool {
        let mut pairs = costs.iter().zip(stated).enumerate();
        pairs.any(|(event, (cost, stated))| self.is_other(event, *cost, *stated))
    }

    /// Returns the part of a node's cost that its callers' arcs cannot contain. It is 0 if nothing calls the node.
    pub(super) fn surplus(&self, node: NodeId, event: usize, inclusive: Cost) -> Cost {
        if !self.limits.is_beyond[node.index() * self.graph.width() + event] {
            return 0;
        }
        (inclusive - self.callers(node, event)).max(0)
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
            cost == stated || self.limits.has_limits[event] && !self.is_other(event, cost, stated)
        })
    }

    /// `true` if a node has more than the arc that leads to it states.
    pub(super) fn is_exceeded(&self, arc: ArcId, costs: &[Cost]) -> bool {
        let mut pairs = costs.iter().zip(self.graph.arc_cost(arc)).enumerate();
        pairs.any(|(event, (&cost, &stated))| cost > stated && self.is_other(event, cost, stated))
    }
}

/// `true` if amounts change costs by next to nothing.
pub(super) fn are_little(amounts: &[Cost], costs: &[Cost]) -> bool {
    let mut pairs = amounts.iter().zip(costs);
    pairs.all(|(amount, cost)| amount.unsigned_abs().saturating_mul(100) <= cost.unsigned_abs())
}
