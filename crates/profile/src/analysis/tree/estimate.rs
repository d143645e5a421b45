//! A tree that could be, from a call graph alone.
//!
//! 1. Each cycle becomes one node, so that nothing calls itself. Whoever wants to see into a cycle cuts an arc of it
//!    first ([`CallGraph::without`]).
//! 2. From the callees upwards, what a function cost with all below it is divided among its callers in proportion to
//!    the inclusive costs of their arcs: exactly these costs where the file is consistent. Where the arcs have none, the
//!    counts decide, and without counts all callers are alike.
//! 3. From the roots downwards, each node has its part of what its function cost, and passes on to its callees the same
//!    part of what flows there. That all ways through a function go on alike is the guess.
//!
//! Nothing is lost by rounding: over all its nodes, shown or not, each function has exactly its self cost, and each
//! node exactly what it and the nodes below it have. Costs below 0 are divided apart from those above.
//!
//! The dearest nodes are made first, so what limits the tree leaves out the cheapest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gristmill_format::Cost;

use crate::analysis::cycle::Cycles;
use crate::analysis::graph::CallGraph;
use crate::analysis::proportion::{apportion, proportion};
use crate::analysis::tree::{CallTree, Sprouts, TreeBasis, TreeItem};
use crate::cost::{CostTable, add};
use crate::id::FunctionId;

/// What limits a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeLimits {
    /// Nodes that cost less are left out. The first event type of an estimate decides.
    pub least: u128,
    /// How many nodes there may be.
    pub most_nodes: usize,
}

impl TreeLimits {
    /// Leaves out nodes below so many millionths of a total.
    pub fn millionths(total: Cost, millionths: u32, most_nodes: usize) -> Self {
        let [high, low] = [total.unsigned_abs() / 1_000_000, total.unsigned_abs() % 1_000_000];
        let millionths = u128::from(millionths);
        // Rounded up: what is below the share is below this. A share of zero keeps all.
        let least = high.saturating_mul(millionths).saturating_add((low * millionths).div_ceil(1_000_000));
        TreeLimits { least, most_nodes }
    }
}

impl CallTree {
    /// Makes a tree of a graph, from all functions that nothing calls, or from one function.
    ///
    /// # Panics
    ///
    /// When `cycles` are not those of the graph.
    pub fn estimate(
        graph: &CallGraph,
        cycles: &Cycles,
        from: Option<FunctionId>,
        limits: TreeLimits,
    ) -> CallTree {
        let units = graph
            .folded(cycles.units(), |function| FunctionId::new(cycles.rank(function)))
            .without(|_, arc| arc.is_loop());
        assert!(
            graph.functions() == 0 || units.arcs().all(|arc| arc.caller < arc.callee),
            "the cycles of this graph"
        );
        let mut item = vec![TreeItem::Program; cycles.units()];
        for function in graph.function_ids() {
            item[cycles.rank(function)] = cycles.unit(function).into();
        }
        let from = from.map(|function| FunctionId::new(cycles.rank(function)));
        Growth::new(&units, item).grow(from, limits)
    }
}

/// One part of an event type: its costs from 0 up, or those below 0 with their sign turned.
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

    fn of(self, row: &[Cost]) -> Cost {
        let cost = row[self.event];
        if self.is_negative { (-cost).max(0) } else { cost.max(0) }
    }
}

/// A graph without cycles, where callers come before callees, and what of it is not in the tree yet.
struct Growth<'a> {
    units: &'a CallGraph,
    item: Vec<TreeItem>,
    lanes: Vec<Lane>,
    /// By unit: self cost that no node has yet.
    own: CostTable,
    /// By arc: what flows to the caller and no node has yet.
    flow: CostTable,
    /// By unit: what it cost with all below.
    inclusive: CostTable,
    /// By unit, by arc: calls that no node has yet.
    called: Vec<Cost>,
    counts: Vec<Cost>,
}

impl<'a> Growth<'a> {
    fn new(units: &'a CallGraph, item: Vec<TreeItem>) -> Self {
        let lanes = Lane::all(units);
        let mut own = CostTable::new(lanes.len(), units.functions());
        for unit in units.function_ids() {
            let row = own.row_mut(unit.index());
            row.iter_mut().zip(&lanes).for_each(|(own, lane)| *own = lane.of(units.self_cost(unit)));
        }
        let mut flow = CostTable::new(lanes.len(), units.arcs().len());
        let mut inclusive = own.clone();
        for unit in units.function_ids().rev() {
            for arc in units.outgoing(unit) {
                inclusive.add(unit.index(), flow.row(arc));
            }
            let callers: Vec<usize> = units.incoming(unit).collect();
            for (at, lane) in lanes.iter().enumerate() {
                let amount = inclusive.row(unit.index())[at];
                let mut give = |index: usize, share| flow.row_mut(callers[index])[at] = share;
                let costs = callers.iter().map(|&arc| units.arc_cost(arc)[lane.event].saturating_abs());
                let counts = callers.iter().map(|&arc| units.arc(arc).count.max(0));
                if costs.clone().any(|cost| cost > 0) {
                    apportion(amount, costs, give);
                } else if counts.clone().any(|count| count > 0) {
                    apportion(amount, counts, give);
                } else {
                    apportion(amount, callers.iter().map(|_| 1), &mut give);
                }
            }
        }
        let counts: Vec<Cost> = units.arcs().map(|arc| arc.count.max(0)).collect();
        let mut called = vec![0; units.functions()];
        for (arc, count) in units.arcs().zip(&counts) {
            called[arc.callee.index()] += count;
        }
        Growth { units, item, lanes, own, flow, inclusive, called, counts }
    }

    /// What stands where it does without a guess: the self costs of units that can be reached in one way only.
    fn certain(&self, roots: &[FunctionId]) -> Vec<Cost> {
        let mut is_certain = vec![false; self.units.functions()];
        let mut certain = vec![0; self.lanes.len()];
        for &root in roots {
            is_certain[root.index()] = true;
        }
        for unit in self.units.function_ids() {
            let mut callers = self.units.incoming(unit);
            if callers.len() == 1 {
                is_certain[unit.index()] |= callers.all(|arc| is_certain[self.units.arc(arc).caller.index()]);
            }
            if is_certain[unit.index()] {
                add(&mut certain, self.own.row(unit.index()));
            }
        }
        certain
    }

    /// Costs by event type from costs by lane.
    fn merge(&self, costs: &[Cost]) -> Vec<Cost> {
        let mut merged = vec![0; self.units.width()];
        for (lane, cost) in self.lanes.iter().zip(costs) {
            merged[lane.event] += if lane.is_negative { -cost } else { *cost };
        }
        merged
    }

    /// How heavy costs are: both lanes of the first event type, so that they do not cancel out.
    fn weight(&self, costs: &[Cost]) -> u128 {
        let first = self.lanes.iter().zip(costs).filter(|(lane, _)| lane.event == 0);
        first.map(|(_, cost)| cost.unsigned_abs()).sum()
    }

    fn grow(mut self, from: Option<FunctionId>, limits: TreeLimits) -> CallTree {
        let roots: Vec<FunctionId> = match from {
            Some(unit) => vec![unit],
            None => self.units.function_ids().filter(|&unit| self.units.incoming(unit).len() == 0).collect(),
        };
        let mut whole = vec![0; self.lanes.len()];
        roots.iter().for_each(|root| add(&mut whole, self.inclusive.row(root.index())));
        let mut guessed = whole.clone();
        guessed.iter_mut().zip(self.certain(&roots)).for_each(|(guessed, certain)| *guessed -= certain);

        let mut sprouts = Sprouts::new(self.units.width());
        let mut buds = Buds::default();
        match from {
            Some(unit) => {
                let count = self.called[unit.index()];
                buds.push(
                    self.weight(&whole),
                    Bud { unit, parent: None, count, costs: whole, is_guessed: false },
                );
            }
            None => {
                sprouts.push(TreeItem::Program, None, 0, false);
                sprouts.self_costs.push_zeros();
                sprouts.inclusive.push(&self.merge(&whole));
                for unit in roots {
                    let costs = self.inclusive.row(unit.index()).to_vec();
                    let bud = Bud { unit, parent: Some(CallTree::ROOT), count: 0, costs, is_guessed: false };
                    self.offer(bud, limits, &mut sprouts, &mut buds);
                }
            }
        }
        // A node costs as much work as its function has callees, and a function may have many nodes.
        let mut work = self.units.arcs().len().saturating_add(limits.most_nodes.saturating_mul(16));
        while let Some(bud) = buds.pop() {
            let callees = self.units.outgoing(bud.unit).len();
            match (bud.parent, work.checked_sub(callees)) {
                (Some(parent), None) => sprouts.nodes[parent].hidden += 1,
                (Some(parent), _) if sprouts.nodes.len() >= limits.most_nodes => {
                    sprouts.nodes[parent].hidden += 1;
                }
                (_, left) => {
                    work = left.unwrap_or(0);
                    self.unfold(bud, limits, &mut sprouts, &mut buds);
                }
            }
        }
        let guessed = self.merge(&guessed);
        sprouts.arrange(TreeBasis::Estimate { guessed })
    }

    /// Makes a node, and buds for what it called.
    fn unfold(&mut self, bud: Bud, limits: TreeLimits, sprouts: &mut Sprouts, buds: &mut Buds) {
        let Bud { unit, parent, count, costs, is_guessed } = bud;
        let place = sprouts.nodes.len();
        sprouts.push(self.item[unit.index()], parent, count, is_guessed);
        sprouts.inclusive.push(&self.merge(&costs));

        let arcs = self.units.outgoing(unit);
        let mut own = vec![0; self.lanes.len()];
        let mut passed = CostTable::new(self.lanes.len(), arcs.len());
        for (lane, &amount) in costs.iter().enumerate() {
            // Taking a part of what is left, and not of what there was, is what makes all parts together the whole.
            let (left, flow) = (self.own.row(unit.index())[lane], &self.flow);
            let weights = [left].into_iter().chain(arcs.clone().map(|arc| flow.row(arc)[lane]));
            apportion(amount, weights, |index, share| match index.checked_sub(1) {
                None => own[lane] = share,
                Some(arc) => passed.row_mut(arc)[lane] = share,
            });
        }
        subtract(self.own.row_mut(unit.index()), &own);
        sprouts.self_costs.push(&self.merge(&own));

        let called = self.called[unit.index()];
        for (index, arc) in arcs.enumerate() {
            subtract(self.flow.row_mut(arc), passed.row(index));
            // A root was called by nothing, and all calls that it made are of its one node.
            let calls = match called {
                ..=0 => self.counts[arc],
                _ => proportion(self.counts[arc], count.min(called), called),
            };
            self.counts[arc] -= calls;
            let callee = self.units.arc(arc).callee;
            let is_guessed = is_guessed || self.units.incoming(callee).len() > 1;
            let costs = passed.row(index).to_vec();
            let bud = Bud { unit: callee, parent: Some(place), count: calls, costs, is_guessed };
            self.offer(bud, limits, sprouts, buds);
        }
        self.called[unit.index()] = (called - count).max(0);
    }

    fn offer(&self, bud: Bud, limits: TreeLimits, sprouts: &mut Sprouts, buds: &mut Buds) {
        let weight = self.weight(&bud.costs);
        match bud.parent {
            Some(parent) if weight < limits.least => sprouts.nodes[parent].hidden += 1,
            _ => buds.push(weight, bud),
        }
    }
}

fn subtract(from: &mut [Cost], costs: &[Cost]) {
    from.iter_mut().zip(costs).for_each(|(from, cost)| *from -= cost);
}

/// A node to be.
struct Bud {
    unit: FunctionId,
    parent: Option<usize>,
    count: Cost,
    costs: Vec<Cost>,
    is_guessed: bool,
}

/// Nodes to be, the heaviest first, and the first of equals.
#[derive(Default)]
struct Buds {
    heap: BinaryHeap<(u128, Reverse<usize>)>,
    buds: Vec<Option<Bud>>,
}

impl Buds {
    fn push(&mut self, weight: u128, bud: Bud) {
        self.heap.push((weight, Reverse(self.buds.len())));
        self.buds.push(Some(bud));
    }

    fn pop(&mut self) -> Option<Bud> {
        let (_, Reverse(index)) = self.heap.pop()?;
        self.buds[index].take()
    }
}
