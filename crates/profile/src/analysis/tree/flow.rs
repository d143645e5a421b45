//! The costs that flow through a call graph without cycles, and what its arcs determine of the trees below some roots.

use std::borrow::Cow;
use std::sync::OnceLock;

use gristmill_format::Cost;

use crate::analysis::cycle::{Condensation, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId, TreeNodeId};
use crate::analysis::node_set::NodeSet;
use crate::analysis::proportion::{apportion, proportion};
use crate::analysis::tree::recorded::{ArcLimits, RecordedArcs, are_little};
use crate::cost::{CostTable, add, subtract};

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

/// The count of ways that stands for more as well.
const MANY_WAYS: u8 = 2;

/// The costs that flow through a graph, by lane.
#[derive(Debug)]
pub(super) struct FlowTables {
    lanes: Vec<Lane>,
    /// Self costs, by node.
    pub(super) own: CostTable,
    /// The cost that flows to the caller, by arc.
    pub(super) flow: CostTable,
    /// The cost of a node with everything below it.
    pub(super) inclusive: CostTable,
    /// By node: cost that comes from no caller although there are callers.
    pub(super) surplus: CostTable,
    /// By node: calls, without negative counts.
    pub(super) call_counts: Vec<Cost>,
    /// By node: the ways that lead to it, its callers and being a root, and 2 for more. A tree looks them up for each arc, all
    /// over memory, so that a byte takes much less time than the callers.
    ways: Vec<u8>,
    /// The roots of the tree of the program, which are found when they are first asked for.
    program: OnceLock<Roots>,
}

impl FlowTables {
    pub(super) fn new(graph: &CallGraph, recorded: RecordedArcs<'_>) -> Self {
        let lanes = Lane::all(graph);
        let mut own = CostTable::new(lanes.len(), graph.node_count());
        for node in graph.nodes() {
            let row = own.row_mut(node.index());
            row.iter_mut().zip(&lanes).for_each(|(own, lane)| *own = lane.cost(graph.self_cost(node)));
        }
        let mut flow = CostTable::new(lanes.len(), graph.arcs().len());
        let mut inclusive = own.clone();
        let mut surplus = CostTable::new(lanes.len(), graph.node_count());
        let mut callers: Vec<ArcId> = Vec::new();
        for node in graph.nodes().rev() {
            for arc in graph.outgoing(node) {
                inclusive.add(node.index(), flow.row(arc.index()));
            }
            callers.clear();
            callers.extend(graph.incoming(node));
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
        let mut call_counts = vec![0; graph.node_count()];
        for arc in graph.arcs() {
            call_counts[arc.callee.index()] += arc.count.max(0);
        }
        let ways = graph.nodes().map(|node| {
            let has_surplus = surplus.row(node.index()).iter().any(|&cost| cost > 0);
            let count = graph.incoming(node).len() + usize::from(has_surplus);
            u8::try_from(count).unwrap_or(MANY_WAYS).min(MANY_WAYS)
        });
        let ways = ways.collect();
        FlowTables { lanes, own, flow, inclusive, surplus, call_counts, ways, program: OnceLock::new() }
    }
}

/// The roots of a tree, and what the arcs determine of it.
#[derive(Debug)]
pub(super) struct Roots {
    pub(super) nodes: Vec<NodeId>,
    /// The sum of their costs, by lane.
    pub(super) whole: Vec<Cost>,
    pub(super) certainty: Certainty,
}

/// The parts of an estimate that are no guess.
#[derive(Debug)]
pub(super) struct Certainty {
    /// By lane: self cost that is placed without a guess.
    own: Vec<Cost>,
    /// By node: `true` if a single stack leads to it.
    pub(super) has_one_stack: Vec<bool>,
}

/// A tree node still to be made.
pub(super) struct Bud {
    pub(super) node: NodeId,
    pub(super) parent: Option<TreeNodeId>,
    pub(super) count: Cost,
    /// `true` if the count is a part of the calls that the file states, by a guess.
    pub(super) is_count_guessed: bool,
    /// By lane.
    pub(super) costs: Vec<Cost>,
    /// `true` if the stacks below are a guess, too.
    pub(super) is_guessed: bool,
    /// `true` if the cost is not what the file states.
    pub(super) contradicts: bool,
    /// `true` for the start of a thread: a root although it has callers, whose calls cost next to nothing. So is what only that calls.
    pub(super) is_thread: bool,
    /// By lane: the cost of these calls, which can be that of any function below. Empty where it is no thread.
    pub(super) doubt: Vec<Cost>,
}

/// The part of a node's cost that is of one thread, if the other stacks to the node have no more than the calls that start it.
struct ThreadPart {
    costs: Vec<Cost>,
    contradicts: bool,
    doubt: Vec<Cost>,
}

/// A condensed graph, where callers come before callees, and the costs that flow through it.
#[derive(Clone, Copy)]
pub(super) struct Flow<'a> {
    pub(super) graph: &'a CallGraph,
    recorded: RecordedArcs<'a>,
    /// By node of the graph.
    pub(super) units: &'a [Unit],
    pub(super) tables: &'a FlowTables,
}

impl<'a> Flow<'a> {
    pub(super) fn new(
        condensation: &'a Condensation,
        limits: &'a ArcLimits,
        tables: &'a FlowTables,
    ) -> Flow<'a> {
        let graph = &condensation.graph;
        Flow { graph, recorded: RecordedArcs::new(graph, limits), units: &condensation.units, tables }
    }

    pub(super) fn lane_count(self) -> usize {
        self.tables.lanes.len()
    }

    pub(super) fn has_surplus(self, node: NodeId) -> bool {
        self.tables.surplus.row(node.index()).iter().any(|&cost| cost > 0)
    }

    /// `true` if a single way leads to a node: one caller, or being a root.
    fn has_one_way(self, node: NodeId) -> bool {
        self.tables.ways[node.index()] == 1
    }

    /// Returns the cost of a root of the program: all of it, or what no caller states.
    pub(super) fn costs_of_root(self, node: NodeId) -> &'a [Cost] {
        let is_called = self.graph.incoming(node).len() > 0;
        let table = if is_called { &self.tables.surplus } else { &self.tables.inclusive };
        table.row(node.index())
    }

    /// Returns the bud of a root of the program.
    pub(super) fn root(self, node: NodeId, parent: TreeNodeId) -> Bud {
        let is_called = self.graph.incoming(node).len() > 0;
        let costs = self.costs_of_root(node);
        let mut below_callers = self.tables.inclusive.row(node.index()).to_vec();
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
            doubt: if is_thread { below_callers } else { Vec::new() },
        }
    }

    /// Returns the bud of a node that is the root of a tree by itself.
    pub(super) fn start(self, node: NodeId) -> Bud {
        let costs = self.tables.inclusive.row(node.index()).to_vec();
        let contradicts = self.recorded.differ(&self.merge(&costs), &self.graph.self_and_callees(node));
        let count = self.tables.call_counts[node.index()];
        Bud {
            node,
            parent: None,
            count,
            is_count_guessed: false,
            costs,
            is_guessed: false,
            contradicts,
            is_thread: false,
            doubt: Vec::new(),
        }
    }

    /// Returns the units that nothing calls, and those with a surplus.
    pub(super) fn program(self) -> &'a Roots {
        self.tables.program.get_or_init(|| {
            // Functions that are hidden, or not in the focus, are left with no cost and no call: they are no part of the tree.
            let has_part = |node: NodeId| {
                self.graph.outgoing(node).len() > 0
                    || self.tables.inclusive.row(node.index()).iter().any(|&cost| cost != 0)
            };
            let is_of_nothing = self.graph.width() == 0 || !self.graph.nodes().any(has_part);
            let is_root = |&node: &NodeId| {
                self.graph.incoming(node).len() == 0 && (is_of_nothing || has_part(node))
                    || self.has_surplus(node)
            };
            let nodes: Vec<NodeId> = self.graph.nodes().filter(is_root).collect();
            let buds: Vec<Bud> = nodes.iter().map(|&node| self.root(node, TreeNodeId::ROOT)).collect();
            self.roots(&buds)
        })
    }

    /// Finds what the arcs determine of the tree below these roots, which are in the order of nodes.
    pub(super) fn roots(self, buds: &[Bud]) -> Roots {
        let mut whole = vec![0; self.lane_count()];
        buds.iter().for_each(|bud| add(&mut whole, &bud.costs));
        Roots { nodes: buds.iter().map(|bud| bud.node).collect(), whole, certainty: self.certainty(buds) }
    }

    /// `true` if the cost of an arc in the tree is not what the file states.
    pub(super) fn contradicts(self, arc: ArcId) -> bool {
        self.recorded.contradicts(arc, &self.merge(self.tables.flow.row(arc.index())))
    }

    /// `true` if the cost that flows through an arc is known: it is the only way to the callee, or the file states it.
    pub(super) fn is_stated(self, arc: ArcId) -> bool {
        let callee = self.graph.callee(arc);
        self.has_one_way(callee) || self.recorded.states(arc, &self.merge(self.tables.flow.row(arc.index())))
    }

    /// `true` if the cost of each stack of a node is divided among its own and its callees by a guess.
    pub(super) fn is_divided(self, node: NodeId, certainty: &Certainty) -> bool {
        let is_divided =
            |lane| self.tables.inclusive.row(node.index())[lane] > 0 && self.has_several_ends(node, lane);
        !certainty.has_one_stack[node.index()] && (0..self.lane_count()).any(is_divided)
    }

    /// `true` if the cost of a node is of several kinds: its own, and that of each callee.
    fn has_several_ends(self, node: NodeId, lane: usize) -> bool {
        let own = self.tables.own.row(node.index())[lane];
        let mut flows = self.graph.outgoing(node).map(|arc| self.tables.flow.row(arc.index())[lane]);
        [own].into_iter().chain(&mut flows).filter(|&cost| cost > 0).nth(1).is_some()
    }

    /// Finds what the arcs determine of the tree below these roots. Only nodes that certain stacks lead to are looked at.
    fn certainty(self, roots: &[Bud]) -> Certainty {
        let lane_count = self.lane_count();
        // By node: the part of its inclusive cost that a certain stack leads to, and of that what no arc contradicts.
        let [mut reached, mut sound] = [(); 2].map(|()| CostTable::new(lane_count, self.graph.node_count()));
        // By node: a single stack leads to it.
        let mut has_one_stack = vec![false; self.graph.node_count()];
        // By node: its part in a thread.
        let mut threads: Vec<Option<ThreadPart>> = Vec::new();
        threads.resize_with(self.graph.node_count(), || None);
        // Callers come before callees, so the next node is always one whose callers are done.
        let mut to_visit = NodeSet::none(self.graph.node_count());
        for root in roots.iter().filter(|root| !root.is_guessed) {
            let index = root.node.index();
            to_visit.insert(root.node.index());
            reached.row_mut(index).copy_from_slice(&root.costs);
            if !root.contradicts {
                sound.row_mut(index).copy_from_slice(&root.costs);
            }
            if root.is_thread {
                let (costs, doubt) = (root.costs.clone(), root.doubt.clone());
                threads[index] = Some(ThreadPart { costs, contradicts: root.contradicts, doubt });
            } else {
                has_one_stack[index] = true;
            }
        }
        let mut certain = vec![0; lane_count];
        let mut next = 0;
        while let Some(index) = to_visit.first_from(next) {
            next = index + 1;
            let node = self.graph.node(index);
            if self.has_one_way(node)
                && let Some(arc) = self.graph.incoming(node).next()
            {
                has_one_stack[index] |= has_one_stack[self.graph.caller(arc).index()];
            }
            if has_one_stack[index] {
                let callees = self.graph.outgoing(node).map(|arc| self.graph.callee(arc));
                callees.filter(|&callee| self.has_one_way(callee)).for_each(|it| to_visit.insert(it.index()));
            }
            let mut stated: Option<Vec<(ArcId, bool)>> = None;
            for (lane, certain) in certain.iter_mut().enumerate() {
                let whole = self.tables.inclusive.row(index)[lane];
                if whole <= 0 {
                    continue;
                }
                let (mut part, mut sound_part) = (reached.row(index)[lane], sound.row(index)[lane]);
                if !has_one_stack[index] && self.has_several_ends(node, lane) {
                    let thread = threads[index].as_ref();
                    part = thread.map_or(0, |thread| thread.costs[lane]);
                    sound_part = thread.filter(|thread| !thread.contradicts).map_or(0, |_| part);
                }
                if part == 0 {
                    continue;
                }
                *certain += proportion(self.tables.own.row(index)[lane], sound_part, whole);
                // Both are the same for all lanes, of which there can be very many.
                let stated = stated.get_or_insert_with(|| {
                    let arcs = self.graph.outgoing(node).filter(|&arc| self.is_stated(arc));
                    arcs.map(|arc| (arc, self.contradicts(arc))).collect()
                });
                for &(arc, contradicts) in &*stated {
                    let flow = self.tables.flow.row(arc.index())[lane];
                    if flow == 0 {
                        continue;
                    }
                    let callee = self.graph.callee(arc);
                    let share = proportion(flow, part, whole);
                    to_visit.insert(callee.index());
                    reached.row_mut(callee.index())[lane] += share;
                    if !contradicts {
                        sound.row_mut(callee.index())[lane] += share;
                    }
                }
            }
            let Some(thread) = threads[index].take() else { continue };
            for arc in self.graph.outgoing(node) {
                let callee = self.graph.callee(arc).index();
                threads[callee] = self.part_below(node, arc, &thread).or(threads[callee].take());
            }
        }
        Certainty { own: certain, has_one_stack }
    }

    /// `true` if a call in a thread, of these costs, leads to what hardly anything else calls: all else can be the cost of the calls that start
    /// the thread.
    pub(super) fn is_of_thread(self, arc: ArcId, costs: &[Cost], doubt: &[Cost]) -> bool {
        let whole = self.tables.inclusive.row(self.graph.callee(arc).index());
        let mut lanes = whole.iter().zip(costs).zip(doubt);
        lanes.all(|((whole, cost), doubt)| whole - cost <= *doubt) && self.is_stated(arc)
    }

    /// Returns the part of a callee in a thread, if that is hardly called by anything else.
    fn part_below(self, node: NodeId, arc: ArcId, thread: &ThreadPart) -> Option<ThreadPart> {
        let whole = self.tables.inclusive.row(node.index());
        let mut costs = self.tables.flow.row(arc.index()).to_vec();
        for (lane, cost) in costs.iter_mut().enumerate() {
            *cost = if whole[lane] > 0 { proportion(*cost, thread.costs[lane], whole[lane]) } else { 0 };
        }
        let contradicts = thread.contradicts || self.contradicts(arc);
        let doubt = thread.doubt.clone();
        self.is_of_thread(arc, &costs, &doubt).then_some(ThreadPart { costs, contradicts, doubt })
    }

    /// Returns the cost of some roots that is placed by a guess, by event type.
    pub(super) fn guessed(self, roots: &Roots) -> Vec<Cost> {
        let mut guessed = roots.whole.clone();
        subtract(&mut guessed, &roots.certainty.own);
        self.merge(&guessed).into_owned()
    }

    /// Returns costs by event type from costs by lane.
    pub(super) fn merge(self, costs: &[Cost]) -> Cow<'_, [Cost]> {
        let lanes = &self.tables.lanes;
        if lanes.len() == self.graph.width() {
            return Cow::Borrowed(costs);
        }
        let mut merged = vec![0; self.graph.width()];
        for (lane, cost) in lanes.iter().zip(costs) {
            merged[lane.event] += if lane.is_negative { -cost } else { *cost };
        }
        Cow::Owned(merged)
    }

    /// Returns the weight of costs: the sum of both lanes of the first event type, so that they do not cancel out.
    pub(super) fn weight(self, costs: &[Cost]) -> u128 {
        self.amount(costs).unsigned_abs()
    }

    pub(super) fn amount(self, costs: &[Cost]) -> Cost {
        let first = self.tables.lanes.iter().zip(costs).take_while(|(lane, _)| lane.event == 0);
        first.map(|(_, cost)| cost).sum()
    }
}

/// Divides an amount of an event type, 0 or more, among the callers of a node: in proportion to the costs of their arcs,
/// without these by counts, and without counts evenly. `give` gets the index of each caller with its share.
pub(super) fn divide(
    graph: &CallGraph,
    callers: &[ArcId],
    event: usize,
    amount: Cost,
    give: impl FnMut(usize, Cost),
) {
    let costs = callers.iter().map(|&arc| graph.arc_cost(arc)[event].saturating_abs());
    let counts = callers.iter().map(|&arc| graph.arc(arc).count.max(0));
    if costs.clone().any(|cost| cost > 0) {
        apportion(amount, costs, give);
    } else if counts.clone().any(|count| count > 0) {
        apportion(amount, counts, give);
    } else {
        apportion(amount, callers.iter().map(|_| 1), give);
    }
}
