//! The estimate as a naive twin makes it: it does everything again for each tree, looks at all nodes and arcs of the graph,
//! and makes a bud for each callee, however many may become nodes.
#![cfg(test)]

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use crate::analysis::cycle::{Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId, TreeNodeId};
use crate::analysis::proportion::{apportion, nearest_proportion, proportion};
use crate::analysis::tests::sample::{graph, graphs};
use crate::analysis::tree::estimate::Estimator;
use crate::analysis::tree::flow::divide;
use crate::analysis::tree::growing::{Frontier, GrowingTree};
use crate::analysis::tree::recorded::{ArcLimits, RecordedArcs, are_little};
use crate::analysis::tree::{CallTree, TreeBasis, TreeLimits, TreeNode};
use crate::cost::{CostTable, add, subtract};

fn estimate(graph: &CallGraph, cycles: &Cycles, from: Option<NodeId>, limits: TreeLimits) -> CallTree<Unit> {
    let condensation = cycles.condensation(graph);
    let from = from.map(|node| condensation.node_of(node));
    let arc_limits = ArcLimits::new(&condensation.graph);
    Flow::new(&condensation.graph, &arc_limits, condensation.units).grow(from, limits)
}

proptest! {
    #[test]
    fn trees_of_one_estimator_are_those_of_the_twin(
        graph in graphs(9, 24),
        min_cost in 0u128..30,
        max_nodes in 1usize..60,
        keeps_lone in any::<bool>(),
    ) {
        let cycles = Cycles::new(&graph);
        let estimator = Estimator::new(&graph, &cycles);
        let limits = TreeLimits { min_cost, max_nodes, keeps_lone };
        // Twice: a tree leaves the costs of the graph as they were.
        let nodes = || [None].into_iter().chain(graph.nodes().map(Some));
        for from in nodes().chain(nodes()) {
            prop_assert_eq!(estimator.tree(from, limits), estimate(&graph, &cycles, from, limits));
            if let Some(from) = from {
                let root = estimate(&graph, &cycles, Some(from), limits).inclusive(TreeNodeId::ROOT).to_vec();
                prop_assert_eq!(estimator.inclusive(from), root);
            }
        }
    }
}

/// A root with many callees, all of which call one more, and a function that all of these call.
fn wide_graph(seed: u64) -> CallGraph {
    const WIDTH: usize = 1500;
    let mut state = seed;
    let mut random = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut costs: Vec<Cost> = vec![0, 0];
    let mut arcs = Vec::new();
    for callee in 2..WIDTH + 2 {
        let (own, shared) = (Cost::from(random(50)), Cost::from(random(9)));
        costs.push(own);
        costs[1] += shared;
        arcs.push((0, callee, 1 + Cost::from(random(3)), own + shared));
        arcs.push((callee, 1, 1, shared));
    }
    graph(&costs, &arcs)
}

#[test]
fn the_most_expensive_of_many_callees_are_made() {
    for seed in 0..4 {
        let graph = wide_graph(seed);
        let cycles = Cycles::new(&graph);
        let estimator = Estimator::new(&graph, &cycles);
        for (max_nodes, min_cost) in [(1, 0), (2, 0), (50, 0), (200, 0), (50, 45), (50, 1000), (5000, 3)] {
            for keeps_lone in [false, true] {
                let limits = TreeLimits { min_cost, max_nodes, keeps_lone };
                for from in [None, Some(graph.node(0)), Some(graph.node(7))] {
                    assert_eq!(estimator.tree(from, limits), estimate(&graph, &cycles, from, limits));
                }
            }
        }
    }
}

#[test]
fn the_most_expensive_of_many_callers_are_made() {
    let selected = |tree: &CallTree<Unit>, max_nodes| {
        tree.selected(TreeLimits { max_nodes, ..TreeLimits::NONE }, usize::MAX, |_| "")
    };
    for seed in 0..4 {
        let graph = wide_graph(seed);
        let cycles = Cycles::new(&graph);
        let estimator = Estimator::new(&graph, &cycles);
        let from = graph.node(1);
        // All callers become buds, because all may become nodes.
        let (whole, all) = (estimator.inverted(from, 10_000), estimator.bottom_up(&graph, &cycles, 10_000));
        for max_nodes in [1, 2, 50, 200] {
            let inverted = estimator.inverted(from, max_nodes);
            assert_eq!(selected(&inverted, max_nodes), selected(&whole, max_nodes));
            let bottom_up = estimator.bottom_up(&graph, &cycles, max_nodes);
            assert_eq!(selected(&bottom_up, max_nodes), selected(&all, max_nodes));
        }
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
    recorded: RecordedArcs<'a>,
    /// By node of the graph.
    units: Vec<Unit>,
    lanes: Vec<Lane>,
    /// By node: self cost that no tree node has yet.
    own: CostTable,
    /// By arc: cost that flows to the caller and that no tree node has yet.
    flow: CostTable,
    /// By node: its cost with everything below that no tree node has yet.
    inclusive: CostTable,
    /// By node: cost that comes from no caller although there are callers.
    surplus: CostTable,
    /// By node: calls that no tree node has yet.
    call_counts: Vec<Cost>,
    /// By arc: the same.
    arc_counts: Vec<Cost>,
}

impl<'a> Flow<'a> {
    fn new(graph: &'a CallGraph, limits: &'a ArcLimits, units: Vec<Unit>) -> Self {
        let lanes = Lane::all(graph);
        let mut own = CostTable::new(lanes.len(), graph.node_count());
        for node in graph.nodes() {
            let row = own.row_mut(node.index());
            row.iter_mut().zip(&lanes).for_each(|(own, lane)| *own = lane.cost(graph.self_cost(node)));
        }
        let mut flow = CostTable::new(lanes.len(), graph.arcs().len());
        let mut inclusive = own.clone();
        let mut surplus = CostTable::new(lanes.len(), graph.node_count());
        let recorded = RecordedArcs::new(graph, limits);
        for node in graph.nodes().rev() {
            for arc in graph.outgoing(node) {
                inclusive.add(node.index(), flow.row(arc.index()));
            }
            let callers: Vec<ArcId> = graph.incoming(node).collect();
            for (column, lane) in lanes.iter().enumerate() {
                let amount = inclusive.row(node.index())[column];
                let beyond = recorded.surplus(node, lane.event, amount);
                surplus.row_mut(node.index())[column] = beyond;
                let amount = amount - beyond;
                let shares = &mut flow;
                divide(graph, &callers, lane.event, amount, |nth, share| {
                    shares.row_mut(callers[nth].index())[column] = share;
                });
            }
        }
        let arc_counts: Vec<Cost> = graph.arcs().map(|arc| arc.count.max(0)).collect();
        let mut call_counts = vec![0; graph.node_count()];
        for (arc, count) in graph.arcs().zip(&arc_counts) {
            call_counts[arc.callee.index()] += count;
        }
        Flow { graph, recorded, units, lanes, own, flow, inclusive, surplus, call_counts, arc_counts }
    }

    fn has_surplus(&self, node: NodeId) -> bool {
        self.surplus.row(node.index()).iter().any(|&cost| cost > 0)
    }

    /// Returns the ways that lead to a node: its callers, and being a root.
    fn way_count(&self, node: NodeId) -> usize {
        self.graph.incoming(node).len() + usize::from(self.has_surplus(node))
    }

    /// Returns the buds of the units that nothing calls, and of those with a surplus.
    fn roots(&self, parent: TreeNodeId) -> Vec<Bud> {
        let root = |node: NodeId| {
            let is_called = self.graph.incoming(node).len() > 0;
            let all = self.inclusive.row(node.index());
            let costs = if is_called { self.surplus.row(node.index()) } else { all };
            let mut below_callers = all.to_vec();
            subtract(&mut below_callers, costs);
            // A thread whose caller started it and no more is still certain to be a root.
            let is_guessed = !are_little(&below_callers, costs);
            let contradicts = self.recorded.differ(&self.merge(costs), &self.recorded.without_callers(node));
            let is_thread = is_called && !is_guessed;
            Bud {
                node,
                parent: Some(parent),
                count: 0,
                is_count_guessed: false,
                costs: costs.to_vec(),
                is_guessed,
                contradicts,
                is_thread,
                doubt: if is_thread { below_callers } else { vec![0; costs.len()] },
            }
        };
        // Functions that are hidden, or not in the focus, are left with no cost and no call: they are no part of the tree.
        let has_part = |node: NodeId| {
            self.graph.outgoing(node).len() > 0
                || self.inclusive.row(node.index()).iter().any(|&cost| cost != 0)
        };
        let is_of_nothing = self.graph.width() == 0 || !self.graph.nodes().any(has_part);
        let is_root = |&node: &NodeId| {
            self.graph.incoming(node).len() == 0 && (is_of_nothing || has_part(node))
                || self.has_surplus(node)
        };
        self.graph.nodes().filter(is_root).map(root).collect()
    }

    /// Returns, by arc, `true` if its cost in the tree is not what the file states.
    fn contradictions(&self) -> Vec<bool> {
        let contradicts =
            |arc: ArcId| self.recorded.contradicts(arc, &self.merge(self.flow.row(arc.index())));
        self.graph.arc_ids().map(contradicts).collect()
    }

    /// Finds what the arcs determine of the tree below these roots.
    fn certainty(&self, roots: &[Bud], contradicts: &[bool]) -> Certainty {
        let lane_count = self.lanes.len();
        // By node: the part of its inclusive cost that a certain stack leads to, and of that what no arc contradicts.
        let [mut reached, mut sound] = [(); 2].map(|()| CostTable::new(lane_count, self.graph.node_count()));
        // By node: a single stack leads to it.
        let mut has_one_stack = vec![false; self.graph.node_count()];
        // By node: its costs in a thread, whether an arc contradicts them, and the cost of the calls that start it.
        let mut threads: BTreeMap<usize, (Vec<Cost>, bool, Vec<Cost>)> = BTreeMap::new();
        for root in roots.iter().filter(|root| !root.is_guessed) {
            let index = root.node.index();
            reached.row_mut(index).copy_from_slice(&root.costs);
            if !root.contradicts {
                sound.row_mut(index).copy_from_slice(&root.costs);
            }
            match root.is_thread {
                true => {
                    threads.insert(index, (root.costs.clone(), root.contradicts, root.doubt.clone()));
                }
                false => has_one_stack[index] = true,
            }
        }
        let mut certainty = Certainty {
            own: vec![0; lane_count],
            is_divided: vec![false; self.graph.node_count()],
            is_stated: self.graph.arc_ids().map(|arc| self.is_stated(arc)).collect(),
            has_one_stack: Vec::new(),
            inclusive: self.inclusive.clone(),
        };
        for node in self.graph.nodes() {
            let index = node.index();
            let mut callers = self.graph.incoming(node);
            if self.way_count(node) == 1
                && let Some(arc) = callers.next()
            {
                has_one_stack[index] |= has_one_stack[self.graph.caller(arc).index()];
            }
            for lane in 0..lane_count {
                let whole = self.inclusive.row(index)[lane];
                if whole <= 0 {
                    continue;
                }
                let own = self.own.row(index)[lane];
                let flows = || self.graph.outgoing(node).map(|arc| (arc, self.flow.row(arc.index())[lane]));
                let (mut part, mut sound_part) = (reached.row(index)[lane], sound.row(index)[lane]);
                let ends = usize::from(own > 0) + flows().filter(|&(_, flow)| flow > 0).count();
                if !has_one_stack[index] && ends > 1 {
                    certainty.is_divided[index] = true;
                    part = threads.get(&index).map_or(0, |thread| thread.0[lane]);
                    sound_part = threads.get(&index).filter(|thread| !thread.1).map_or(0, |_| part);
                }
                certainty.own[lane] += proportion(own, sound_part, whole);
                for (arc, flow) in flows().filter(|(arc, _)| certainty.is_stated[arc.index()]) {
                    let callee = self.graph.callee(arc).index();
                    let share = proportion(flow, part, whole);
                    reached.row_mut(callee)[lane] += share;
                    if !contradicts[arc.index()] {
                        sound.row_mut(callee)[lane] += share;
                    }
                }
            }
            let Some((costs, is_contradicted, doubt)) = threads.get(&index).cloned() else { continue };
            for arc in self.graph.outgoing(node).filter(|arc| certainty.is_stated[arc.index()]) {
                let callee = self.graph.callee(arc).index();
                let (flow, wholes) = (self.flow.row(arc.index()), self.inclusive.row(index));
                let share = |lane| match wholes[lane] > 0 {
                    true => proportion(flow[lane], costs[lane], wholes[lane]),
                    false => 0,
                };
                let shares: Vec<Cost> = (0..lane_count).map(share).collect();
                if (0..lane_count).all(|lane| self.inclusive.row(callee)[lane] - shares[lane] <= doubt[lane])
                {
                    let is_contradicted = is_contradicted || contradicts[arc.index()];
                    threads.insert(callee, (shares, is_contradicted, doubt.clone()));
                }
            }
        }
        certainty.has_one_stack = has_one_stack;
        certainty
    }

    /// `true` if the cost that flows through an arc is known: it is the only way to the callee, or the file states it.
    fn is_stated(&self, arc: ArcId) -> bool {
        let callee = self.graph.callee(arc);
        self.way_count(callee) == 1 || self.recorded.states(arc, &self.merge(self.flow.row(arc.index())))
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
        self.amount(costs).unsigned_abs()
    }

    fn amount(&self, costs: &[Cost]) -> Cost {
        let first = self.lanes.iter().zip(costs).filter(|(lane, _)| lane.event == 0);
        first.map(|(_, cost)| cost).sum()
    }

    fn grow(mut self, from: Option<NodeId>, limits: TreeLimits) -> CallTree<Unit> {
        let mut growth = Growth::new(self.graph.width(), limits);
        let roots = match from {
            Some(node) => {
                let costs = self.inclusive.row(node.index()).to_vec();
                let stated = self.graph.self_and_callees(node);
                let contradicts = self.recorded.differ(&self.merge(&costs), &stated);
                let count = self.call_counts[node.index()];
                vec![Bud {
                    node,
                    parent: None,
                    count,
                    is_count_guessed: false,
                    costs,
                    is_guessed: false,
                    contradicts,
                    is_thread: false,
                    doubt: vec![0; self.lanes.len()],
                }]
            }
            None => self.roots(TreeNodeId::ROOT),
        };
        let contradicts = self.contradictions();
        let mut whole = vec![0; self.lanes.len()];
        roots.iter().for_each(|root| add(&mut whole, &root.costs));
        let mut guessed = whole.clone();
        let certainty = self.certainty(&roots, &contradicts);
        subtract(&mut guessed, &certainty.own);

        if from.is_none() {
            growth.tree.push_empty(None, None);
            growth.tree.inclusive.add(0, &self.merge(&whole));
        }
        for root in roots {
            self.offer(root, &mut growth);
        }
        // A tree node costs as much work as its unit has callees, and a unit may have many tree nodes.
        let most_work = self.graph.arcs().len().saturating_add(limits.max_nodes.saturating_mul(16));
        let mut work = most_work;
        while let Some(bud) = growth.frontier.pop() {
            let callees = self.graph.outgoing(bud.node).len();
            match (bud.parent, work.checked_sub(callees)) {
                (Some(parent), None) => growth.leave_out(parent, bud),
                (Some(parent), _) if growth.tree.nodes.len() >= limits.max_nodes => {
                    growth.leave_out(parent, bud);
                }
                (_, left) => {
                    work = left.unwrap_or(0);
                    self.unfold(bud, &certainty, &contradicts, &mut growth);
                }
            }
        }
        // What is below a lone node stays out.
        growth.limits.min_cost = u128::MAX;
        let mut work = most_work;
        for (parent, bud) in std::mem::take(&mut growth.lone) {
            // Without work left it stays counted as left out.
            let Some(left) = work.checked_sub(self.graph.outgoing(bud.node).len()) else { continue };
            work = left;
            growth.tree.node_mut(parent).hidden = 0;
            growth.limits.keeps_lone = false;
            self.unfold(bud, &certainty, &contradicts, &mut growth);
        }
        let mut tree = growth.tree;
        let mut guessed = self.merge(&guessed);
        self.graph.kinds().derive(&mut guessed);
        tree.derive(self.graph.kinds());
        tree.arranged(TreeBasis::Estimate { guessed })
    }

    /// Makes a tree node, and buds for what it called.
    fn unfold(&mut self, bud: Bud, certainty: &Certainty, contradicts: &[bool], growth: &mut Growth) {
        let Bud {
            node,
            parent,
            count,
            is_count_guessed,
            costs,
            is_guessed,
            contradicts: is_marked,
            is_thread,
            doubt,
        } = bud;
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
        let is_self_guessed = is_guessed || !is_thread && certainty.is_divided[node.index()];
        let new = TreeNode {
            item,
            parent,
            count,
            is_count_guessed,
            hidden: 0,
            is_guessed: is_guessed || is_marked,
            is_self_guessed: is_self_guessed || is_marked || !are_little(&doubt, &own),
        };
        let new = growth.tree.push(new, &self.merge(&own), &self.merge(&costs));

        let call_count = self.call_counts[node.index()];
        // The calls that led to a surplus are not counted: the costs tell how many of its own calls belong to it.
        let (part, whole) = match self.has_surplus(node) {
            true => (self.amount(&costs), self.amount(self.inclusive.row(node.index()))),
            false => (count.min(call_count), call_count),
        };
        subtract(self.inclusive.row_mut(node.index()), &costs);
        for (index, arc) in arcs.enumerate() {
            subtract(self.flow.row_mut(arc.index()), passed.row(index));
            let left = &mut self.arc_counts[arc.index()];
            // A root was called by nothing, and all calls that it made are of its one node.
            let calls = if whole > 0 { nearest_proportion(*left, part, whole) } else { *left };
            *left -= calls;
            let callee = self.graph.callee(arc);
            let costs = passed.row(index).to_vec();
            let is_guessed =
                is_self_guessed || !certainty.is_stated[arc.index()] || !are_little(&doubt, &costs);
            let contradicts = contradicts[arc.index()];
            let wholes = certainty.inclusive.row(callee.index());
            let is_of_thread = is_thread
                && certainty.is_stated[arc.index()]
                && (0..costs.len()).all(|lane| wholes[lane] - costs[lane] <= doubt[lane]);
            let bud = Bud {
                node: callee,
                parent: Some(new),
                count: calls,
                is_count_guessed: !certainty.has_one_stack[node.index()] && self.graph.arc(arc).count > 0,
                costs,
                is_guessed,
                contradicts,
                is_thread: is_of_thread,
                doubt: doubt.clone(),
            };
            self.offer(bud, growth);
        }
        self.call_counts[node.index()] = (call_count - count).max(0);
    }

    fn offer(&self, bud: Bud, growth: &mut Growth) {
        let weight = self.weight(&bud.costs);
        match bud.parent {
            Some(parent) if weight < growth.limits.min_cost => growth.leave_out(parent, bud),
            _ => growth.frontier.push(weight, bud),
        }
    }
}

/// A tree under construction, and the nodes that it may get.
struct Growth {
    tree: GrowingTree<Unit>,
    frontier: Frontier<Bud>,
    limits: TreeLimits,
    /// The only node that is left out below another one, if limits keep these.
    lone: BTreeMap<TreeNodeId, Bud>,
}

impl Growth {
    fn new(width: usize, limits: TreeLimits) -> Self {
        let (tree, frontier) = (GrowingTree::new(width), Frontier::new());
        Growth { tree, frontier, limits, lone: BTreeMap::new() }
    }

    fn leave_out(&mut self, parent: TreeNodeId, bud: Bud) {
        let hidden = &mut self.tree.node_mut(parent).hidden;
        *hidden += 1;
        match *hidden {
            1 if self.limits.keeps_lone => drop(self.lone.insert(parent, bud)),
            2 if self.limits.keeps_lone => drop(self.lone.remove(&parent)),
            _ => {}
        }
    }
}

/// The parts of an estimate that are no guess.
struct Certainty {
    /// By lane: self cost that is placed without a guess.
    own: Vec<Cost>,
    /// By node: `true` if the cost of each of its stacks is divided among its own and its callees by a guess.
    is_divided: Vec<bool>,
    /// By arc: `true` if the cost that flows through it is known.
    is_stated: Vec<bool>,
    /// By node: `true` if a single stack leads to it.
    has_one_stack: Vec<bool>,
    /// By node: its cost before any of it is in the tree.
    inclusive: CostTable,
}

/// A tree node still to be made.
struct Bud {
    node: NodeId,
    parent: Option<TreeNodeId>,
    count: Cost,
    is_count_guessed: bool,
    /// By lane.
    costs: Vec<Cost>,
    /// `true` if the stacks below are a guess, too.
    is_guessed: bool,
    /// `true` if the cost is not what the file states.
    contradicts: bool,
    /// `true` for the start of a thread: a root although it has callers, whose calls cost next to nothing.
    is_thread: bool,
    /// By lane: the cost of these calls. It can be that of any function below.
    doubt: Vec<Cost>,
}
