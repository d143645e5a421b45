//! The estimated tree of a call graph.
//!
//! 1. The graph is condensed: each cycle becomes one node, so that nothing calls itself. To see into a cycle, cut an arc of
//!    it first ([`CallGraph::without`]).
//! 2. From the callees upwards, the inclusive cost of each unit is divided among its callers in proportion to the inclusive
//!    costs of their arcs: exactly these costs where the file is consistent. Where the arcs have no costs, the counts
//!    decide, and without counts all callers get the same.
//! 3. From the roots downwards, each node has its share of the cost of its unit, and passes on the same share of what flows
//!    to the callees. That all stacks through a unit continue alike is the guess.
//!
//! Rounding loses nothing: over all its nodes, shown or hidden, each unit has exactly its self cost, and each node exactly
//! what it and the nodes below it have. Negative costs are divided apart from the others.
//!
//! The most expensive nodes are made first, so the limits of a tree leave out the cheapest.

use gristmill_format::Cost;

use crate::analysis::cycle::{Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId, TreeNodeId};
use crate::analysis::proportion::{apportion, proportion};
use crate::analysis::tree::growing::{Frontier, GrowingTree};
use crate::analysis::tree::{CallTree, TreeBasis, TreeLimits, TreeNode};
use crate::cost::{CostTable, add};

impl CallTree<Unit> {
    /// Estimates the tree of a graph, from all units that nothing calls, or from one node.
    ///
    /// # Panics
    ///
    /// If `cycles` are not those of the graph.
    pub fn estimate(
        graph: &CallGraph,
        cycles: &Cycles,
        from: Option<NodeId>,
        limits: TreeLimits,
    ) -> CallTree<Unit> {
        let condensation = cycles.condensation(graph);
        let from = from.map(|node| condensation.node_of(node));
        Flow::new(&condensation.graph, condensation.units).grow(from, limits)
    }
}

/// Half of an event type: its costs from 0 up, or its negative costs with their sign inverted.
#[derive(Debug, Clone, Copy)]
struct Lane {
    event: usize,
    is_negative: bool,
}

impl Lane {
    fn all(graph: &CallGraph) -> Vec<Lane> {
        let mut lanes = Vec::new();
        for event in 0..graph.width() {
            lanes.push(Lane { event, is_negative: false });
            if graph.self_costs().rows().any(|row| row[event] < 0) {
                lanes.push(Lane { event, is_negative: true });
            }
        }
        lanes
    }

    fn cost(self, row: &[Cost]) -> Cost {
        let cost = row[self.event];
        if self.is_negative { (-cost).max(0) } else { cost.max(0) }
    }
}

/// A condensed graph, where callers come before callees, and the costs of it that are not in the tree yet.
struct Flow<'a> {
    graph: &'a CallGraph,
    /// By node of the graph.
    units: Vec<Unit>,
    lanes: Vec<Lane>,
    /// By node: self cost that no tree node has yet.
    own: CostTable,
    /// By arc: cost that flows to the caller and that no tree node has yet.
    flow: CostTable,
    /// By node: its cost with everything below.
    inclusive: CostTable,
    /// By node: calls that no tree node has yet.
    call_counts: Vec<Cost>,
    /// By arc: the same.
    arc_counts: Vec<Cost>,
}

impl<'a> Flow<'a> {
    fn new(graph: &'a CallGraph, units: Vec<Unit>) -> Self {
        let lanes = Lane::all(graph);
        let mut own = CostTable::new(lanes.len(), graph.node_count());
        for node in graph.nodes() {
            let row = own.row_mut(node.index());
            row.iter_mut().zip(&lanes).for_each(|(own, lane)| *own = lane.cost(graph.self_cost(node)));
        }
        let mut flow = CostTable::new(lanes.len(), graph.arcs().len());
        let mut inclusive = own.clone();
        for node in graph.nodes().rev() {
            for arc in graph.outgoing(node) {
                inclusive.add(node.index(), flow.row(arc.index()));
            }
            let callers: Vec<ArcId> = graph.incoming(node).collect();
            for (column, lane) in lanes.iter().enumerate() {
                let amount = inclusive.row(node.index())[column];
                let shares = &mut flow;
                divide(graph, &callers, lane.event, amount, |arc, share| {
                    shares.row_mut(arc.index())[column] = share;
                });
            }
        }
        let arc_counts: Vec<Cost> = graph.arcs().map(|arc| arc.count.max(0)).collect();
        let mut call_counts = vec![0; graph.node_count()];
        for (arc, count) in graph.arcs().zip(&arc_counts) {
            call_counts[arc.callee.index()] += count;
        }
        Flow { graph, units, lanes, own, flow, inclusive, call_counts, arc_counts }
    }

    /// Returns the cost that is placed without a guess: the self costs of units that can be reached in one way only.
    fn certain(&self, roots: &[NodeId]) -> Vec<Cost> {
        let mut is_certain = vec![false; self.graph.node_count()];
        let mut certain = vec![0; self.lanes.len()];
        for &root in roots {
            is_certain[root.index()] = true;
        }
        for node in self.graph.nodes() {
            let mut callers = self.graph.incoming(node);
            if callers.len() == 1 {
                is_certain[node.index()] |= callers.all(|arc| is_certain[self.graph.arc(arc).caller.index()]);
            }
            if is_certain[node.index()] {
                add(&mut certain, self.own.row(node.index()));
            }
        }
        certain
    }

    /// Returns costs by event type from costs by lane.
    fn merge(&self, costs: &[Cost]) -> Vec<Cost> {
        let mut merged = vec![0; self.graph.width()];
        for (lane, cost) in self.lanes.iter().zip(costs) {
            merged[lane.event] += if lane.is_negative { -cost } else { *cost };
        }
        merged
    }

    /// The weight of costs: the sum of both lanes of the first event type, so that they do not cancel out.
    fn weight(&self, costs: &[Cost]) -> u128 {
        let first = self.lanes.iter().zip(costs).filter(|(lane, _)| lane.event == 0);
        first.map(|(_, cost)| cost.unsigned_abs()).sum()
    }

    fn grow(mut self, from: Option<NodeId>, limits: TreeLimits) -> CallTree<Unit> {
        let roots: Vec<NodeId> = match from {
            Some(node) => vec![node],
            None => self.graph.nodes().filter(|&node| self.graph.incoming(node).len() == 0).collect(),
        };
        let mut whole = vec![0; self.lanes.len()];
        roots.iter().for_each(|root| add(&mut whole, self.inclusive.row(root.index())));
        let mut guessed = whole.clone();
        guessed.iter_mut().zip(self.certain(&roots)).for_each(|(guessed, certain)| *guessed -= certain);

        let mut tree = GrowingTree::new(self.graph.width());
        let mut frontier = Frontier::new();
        match from {
            Some(node) => {
                let count = self.call_counts[node.index()];
                let weight = self.weight(&whole);
                frontier.push(weight, Bud { node, parent: None, count, costs: whole, is_guessed: false });
            }
            None => {
                let root = TreeNode { item: None, parent: None, count: 0, hidden: 0, is_guessed: false };
                let root = tree.push(root, &vec![0; self.graph.width()], &self.merge(&whole));
                for node in roots {
                    let costs = self.inclusive.row(node.index()).to_vec();
                    let bud = Bud { node, parent: Some(root), count: 0, costs, is_guessed: false };
                    self.offer(bud, limits, &mut tree, &mut frontier);
                }
            }
        }
        // A tree node costs as much work as its unit has callees, and a unit may have many tree nodes.
        let mut work = self.graph.arcs().len().saturating_add(limits.max_nodes.saturating_mul(16));
        while let Some(bud) = frontier.pop() {
            let callees = self.graph.outgoing(bud.node).len();
            match (bud.parent, work.checked_sub(callees)) {
                (Some(parent), None) => tree.node_mut(parent).hidden += 1,
                (Some(parent), _) if tree.nodes.len() >= limits.max_nodes => {
                    tree.node_mut(parent).hidden += 1;
                }
                (_, left) => {
                    work = left.unwrap_or(0);
                    self.unfold(bud, limits, &mut tree, &mut frontier);
                }
            }
        }
        let guessed = self.merge(&guessed);
        tree.arranged(TreeBasis::Estimate { guessed })
    }

    /// Makes a tree node, and buds for what it called.
    fn unfold(
        &mut self,
        bud: Bud,
        limits: TreeLimits,
        tree: &mut GrowingTree<Unit>,
        frontier: &mut Frontier<Bud>,
    ) {
        let Bud { node, parent, count, costs, is_guessed } = bud;
        let arcs = self.graph.outgoing(node);
        let mut own = vec![0; self.lanes.len()];
        let mut passed = CostTable::new(self.lanes.len(), arcs.len());
        for (lane, &amount) in costs.iter().enumerate() {
            // Shares are taken from what is left, so that all of them add up to the whole.
            let (left, flow) = (self.own.row(node.index())[lane], &self.flow);
            let weights = [left].into_iter().chain(arcs.clone().map(|arc| flow.row(arc.index())[lane]));
            apportion(amount, weights, |index, share| match index.checked_sub(1) {
                None => own[lane] = share,
                Some(arc) => passed.row_mut(arc)[lane] = share,
            });
        }
        subtract(self.own.row_mut(node.index()), &own);
        let item = Some(self.units[node.index()]);
        let new = TreeNode { item, parent, count, hidden: 0, is_guessed };
        let new = tree.push(new, &self.merge(&own), &self.merge(&costs));

        let call_count = self.call_counts[node.index()];
        for (index, arc) in arcs.enumerate() {
            subtract(self.flow.row_mut(arc.index()), passed.row(index));
            let left = &mut self.arc_counts[arc.index()];
            // A root was called by nothing, and all calls that it made are of its one node.
            let calls = match call_count {
                ..=0 => *left,
                _ => proportion(*left, count.min(call_count), call_count),
            };
            *left -= calls;
            let callee = self.graph.arc(arc).callee;
            let is_guessed = is_guessed || self.graph.incoming(callee).len() > 1;
            let costs = passed.row(index).to_vec();
            let bud = Bud { node: callee, parent: Some(new), count: calls, costs, is_guessed };
            self.offer(bud, limits, tree, frontier);
        }
        self.call_counts[node.index()] = (call_count - count).max(0);
    }

    fn offer(
        &self,
        bud: Bud,
        limits: TreeLimits,
        tree: &mut GrowingTree<Unit>,
        frontier: &mut Frontier<Bud>,
    ) {
        let weight = self.weight(&bud.costs);
        match bud.parent {
            Some(parent) if weight < limits.min_cost => tree.node_mut(parent).hidden += 1,
            _ => frontier.push(weight, bud),
        }
    }
}

/// Divides an amount of an event type, 0 or more, among the callers of a node: in proportion to the costs of their arcs,
/// without these by counts, and without counts evenly.
pub(super) fn divide(
    graph: &CallGraph,
    callers: &[ArcId],
    event: usize,
    amount: Cost,
    mut give: impl FnMut(ArcId, Cost),
) {
    let costs = callers.iter().map(|&arc| graph.arc_cost(arc)[event].saturating_abs());
    let counts = callers.iter().map(|&arc| graph.arc(arc).count.max(0));
    let give = |index: usize, share| give(callers[index], share);
    if costs.clone().any(|cost| cost > 0) {
        apportion(amount, costs, give);
    } else if counts.clone().any(|count| count > 0) {
        apportion(amount, counts, give);
    } else {
        apportion(amount, callers.iter().map(|_| 1), give);
    }
}

fn subtract(from: &mut [Cost], costs: &[Cost]) {
    from.iter_mut().zip(costs).for_each(|(from, cost)| *from -= cost);
}

/// A tree node still to be made.
struct Bud {
    node: NodeId,
    parent: Option<TreeNodeId>,
    count: Cost,
    /// By lane.
    costs: Vec<Cost>,
    is_guessed: bool,
}
