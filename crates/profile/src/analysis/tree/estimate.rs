//! The estimated tree of a call graph.
//!
//! 1. The graph is condensed: each cycle becomes one node, so that nothing calls itself. To see into a cycle, cut an arc of
//!    it first ([`CallGraph::without`]).
//! 2. From the callees upwards, the inclusive cost of each unit is divided among its callers in proportion to the inclusive
//!    costs of their arcs: exactly these costs where the file is consistent. Where the arcs have no costs, the counts
//!    decide, and without counts all callers get the same. Cost that the arcs cannot contain is a surplus: it came from no
//!    caller.
//! 3. The roots are the units that nothing calls, and those with a surplus, such as the start of a thread.
//! 4. From the roots downwards, each node has its share of the cost of its unit, and passes on the same share of what flows
//!    to the callees. That all stacks through a unit continue alike is the guess. Nothing is guessed where a single stack
//!    leads to the unit, or where its cost is of one kind: its own, or that of one callee. The call below such a node costs
//!    what its arc states, also if the callee has other callers.
//! 5. Nodes of an arc whose cost is not what the file states are a guess, too.
//!
//! Rounding loses nothing: over all its nodes, shown or hidden, each unit has exactly its self cost, and each node exactly
//! what it and the nodes below it have. Negative costs are divided apart from the others.
//!
//! The most expensive nodes are made first, so the limits of a tree leave out the cheapest.
//!
//! The first two steps are those of a graph and take most of the time; a tree takes only as much as it has nodes. So an
//! [`Estimator`] does them once for all trees.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::OnceLock;

use gristmill_format::Cost;

use crate::analysis::cycle::{Condensation, Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{NodeId, TreeNodeId};
use crate::analysis::proportion::{apportion, nearest_proportion};
use crate::analysis::tree::caller_tables::CallerTables;
use crate::analysis::tree::flow::{Bud, Certainty, Flow, FlowTables};
use crate::analysis::tree::growing::{Frontier, GrowingTree, MANY};
use crate::analysis::tree::recorded::{ArcLimits, RecordedArcs, are_little};
use crate::analysis::tree::{CallTree, TreeBasis, TreeLimits, TreeNode};
use crate::cost::{CostTable, subtract};
use crate::ordered::OrderedMap;

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
        Estimator::new(graph, cycles).tree(from, limits)
    }
}

/// A call graph that is prepared for estimates of its trees.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, CallTree, Cycles, Estimator, TreeLimits, TreeNodeId};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, read] = [1, 40].map(|cost| builder.add_node(&[cost]));
/// builder.add_arc(CallArc { caller: main, callee: read, count: 1 }, &[40]);
/// let graph = builder.build();
/// let cycles = Cycles::new(&graph);
///
/// let estimator = Estimator::new(&graph, &cycles);
/// let tree = estimator.tree(Some(main), TreeLimits::NONE);
/// assert_eq!(tree, CallTree::estimate(&graph, &cycles, Some(main), TreeLimits::NONE));
/// assert_eq!(estimator.inverted(read, 10).inclusive(TreeNodeId::ROOT), estimator.inclusive(read));
/// ```
#[derive(Debug)]
pub struct Estimator {
    pub(super) condensation: Condensation,
    pub(super) limits: ArcLimits,
    flow: OnceLock<FlowTables>,
    pub(super) callers: OnceLock<CallerTables>,
    /// The cost of the bottom-up tree that is placed by a guess.
    pub(super) guessed_bottom_up: OnceLock<Vec<Cost>>,
}

impl Estimator {
    /// Prepares a graph. Tables that only some trees need are made when they are first asked for.
    ///
    /// # Panics
    ///
    /// If `cycles` are not those of the graph.
    pub fn new(graph: &CallGraph, cycles: &Cycles) -> Self {
        let condensation = cycles.condensation(graph);
        let limits = ArcLimits::new(&condensation.graph);
        Estimator {
            condensation,
            limits,
            flow: OnceLock::new(),
            callers: OnceLock::new(),
            guessed_bottom_up: OnceLock::new(),
        }
    }

    fn flow(&self) -> Flow<'_> {
        let Estimator { condensation, limits, .. } = self;
        let recorded = RecordedArcs::new(&condensation.graph, limits);
        let tables = self.flow.get_or_init(|| FlowTables::new(&condensation.graph, recorded));
        Flow::new(condensation, limits, tables)
    }

    /// Estimates the tree of the graph, from all units that nothing calls, or from one node.
    ///
    /// # Panics
    ///
    /// If the graph does not have the node.
    pub fn tree(&self, from: Option<NodeId>, limits: TreeLimits) -> CallTree<Unit> {
        let flow = self.flow();
        match from {
            None => Growth::new(flow, limits, &flow.program().certainty).program(),
            Some(node) => {
                let root = flow.start(self.condensation.node_of(node));
                let roots = flow.roots(std::slice::from_ref(&root));
                Growth::new(flow, limits, &roots.certainty).grow(Some(root), flow.guessed(&roots))
            }
        }
    }

    /// Returns the cost of the root of the tree from a node.
    ///
    /// # Panics
    ///
    /// If the graph does not have the node.
    pub fn inclusive(&self, from: NodeId) -> Vec<Cost> {
        let flow = self.flow();
        let node = self.condensation.node_of(from);
        let mut costs = flow.merge(flow.tables.inclusive.row(node.index())).into_owned();
        flow.graph.kinds().derive(&mut costs);
        costs
    }
}

/// The costs and calls of a unit that no tree node has yet.
struct Left {
    /// By lane.
    own: Vec<Cost>,
    inclusive: Vec<Cost>,
    call_count: Cost,
    /// By callee, by lane.
    flow: CostTable,
    /// By callee.
    counts: Vec<Cost>,
}

impl Left {
    fn new(flow: Flow<'_>, node: NodeId) -> Self {
        let (tables, arcs) = (flow.tables, flow.graph.outgoing(node));
        let mut flows = CostTable::new(flow.lane_count(), 0);
        arcs.clone().for_each(|arc| flows.push(tables.flow.row(arc.index())));
        Left {
            own: tables.own.row(node.index()).to_vec(),
            inclusive: tables.inclusive.row(node.index()).to_vec(),
            call_count: tables.call_counts[node.index()],
            flow: flows,
            counts: arcs.map(|arc| flow.graph.arc(arc).count.max(0)).collect(),
        }
    }
}

/// A tree under construction, and the nodes that it may get.
struct Growth<'a> {
    flow: Flow<'a>,
    certainty: &'a Certainty,
    tree: GrowingTree<Unit>,
    frontier: Frontier<Bud>,
    limits: TreeLimits,
    /// The only node that is left out below another one, if limits keep these.
    lone: OrderedMap<TreeNodeId, Bud>,
    /// The units that have a tree node and may get another, as far as they call something.
    left: HashMap<NodeId, Left>,
}

impl<'a> Growth<'a> {
    fn new(flow: Flow<'a>, limits: TreeLimits, certainty: &'a Certainty) -> Self {
        Growth {
            flow,
            certainty,
            tree: GrowingTree::new(flow.graph.width()),
            frontier: Frontier::new(),
            limits,
            lone: OrderedMap::default(),
            left: HashMap::new(),
        }
    }

    /// Grows the tree of the program.
    fn program(mut self) -> CallTree<Unit> {
        let flow = self.flow;
        let roots = flow.program();
        let root = self.tree.push_empty(None, None);
        self.tree.inclusive.add(0, &flow.merge(&roots.whole));
        self.offer_all(
            root,
            roots.nodes.len(),
            |nth| flow.weight(flow.costs_of_root(roots.nodes[nth])),
            |nth| flow.root(roots.nodes[nth], root),
        );
        self.grow(None, flow.guessed(roots))
    }

    fn grow(mut self, root: Option<Bud>, mut guessed: Vec<Cost>) -> CallTree<Unit> {
        let graph = self.flow.graph;
        if let Some(root) = root {
            self.unfold(root);
        }
        // A tree node costs as much work as its unit has callees, and a unit may have many tree nodes.
        let most_work = graph.arcs().len().saturating_add(self.limits.max_nodes.saturating_mul(16));
        let mut work = most_work;
        while self.tree.nodes.len() < self.limits.max_nodes
            && let Some(bud) = self.frontier.pop()
        {
            match work.checked_sub(graph.outgoing(bud.node).len()) {
                None => self.leave_out(bud),
                Some(left) => {
                    work = left;
                    self.unfold(bud);
                }
            }
            // No more of them than there may be nodes can become one. Each node may offer thousands.
            let nodes_left = self.limits.max_nodes.saturating_sub(self.tree.nodes.len());
            for bud in self.frontier.prune(nodes_left) {
                self.leave_out(bud);
            }
        }
        for bud in self.frontier.drain() {
            self.leave_out(bud);
        }
        // What is below a lone node stays out.
        self.limits.min_cost = u128::MAX;
        self.limits.keeps_lone = false;
        let mut work = most_work;
        for (parent, bud) in std::mem::take(&mut self.lone).into_iter() {
            // Without work left it stays counted as left out.
            let Some(left) = work.checked_sub(graph.outgoing(bud.node).len()) else { continue };
            work = left;
            self.tree.node_mut(parent).hidden = 0;
            self.unfold(bud);
        }
        // Their memory is needed to put the tree in order.
        drop((self.frontier, self.left));
        let mut tree = self.tree;
        graph.kinds().derive(&mut guessed);
        tree.derive(graph.kinds());
        tree.arranged(TreeBasis::Estimate { guessed })
    }

    /// Makes a tree node, and offers buds for what it called.
    fn unfold(&mut self, bud: Bud) {
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
        let flow = self.flow;
        let is_self_guessed = is_guessed || !is_thread && flow.is_divided(node, self.certainty);
        let new = |own: &[Cost]| TreeNode {
            item: Some(flow.units[node.index()]),
            parent,
            count,
            is_count_guessed,
            hidden: 0,
            is_guessed: is_guessed || is_marked,
            is_self_guessed: is_self_guessed || is_marked || !are_little(&doubt, own),
        };
        let arcs = flow.graph.outgoing(node);
        if arcs.len() == 0 {
            let inclusive = flow.merge(&costs);
            self.tree.push(new(&costs), &inclusive, &inclusive);
            return;
        }
        let mut left = self.left.remove(&node).unwrap_or_else(|| Left::new(flow, node));
        let mut own = vec![0; costs.len()];
        let mut passed = CostTable::new(costs.len(), arcs.len());
        for (lane, &amount) in costs.iter().enumerate() {
            // Shares are taken from what is left, so that all of them add up to the whole.
            let flows = (0..arcs.len()).map(|nth| left.flow.row(nth)[lane]);
            let weights = [left.own[lane]].into_iter().chain(flows);
            apportion(amount, weights, |index, share| match index.checked_sub(1) {
                None => own[lane] = share,
                Some(arc) => passed.row_mut(arc)[lane] = share,
            });
        }
        let new = self.tree.push(new(&own), &flow.merge(&own), &flow.merge(&costs));

        // The calls that led to a surplus are not counted: the costs tell how many of its own calls belong to it.
        let (part, whole) = match flow.has_surplus(node) {
            true => (flow.amount(&costs), flow.amount(&left.inclusive)),
            false => (count.min(left.call_count), left.call_count),
        };
        // A root was called by nothing, and all calls that it made are of its one node.
        let calls_of = |left: Cost| if whole > 0 { nearest_proportion(left, part, whole) } else { left };
        let calls: Vec<Cost> = left.counts.iter().map(|&left| calls_of(left)).collect();
        self.offer_all(
            new,
            arcs.len(),
            |nth| flow.weight(passed.row(nth)),
            |nth| {
                let arc = flow.graph.arc_at(node, nth);
                Bud {
                    node: flow.graph.callee(arc),
                    parent: Some(new),
                    count: calls[nth],
                    is_count_guessed: !self.certainty.has_one_stack[node.index()]
                        && flow.graph.arc(arc).count > 0,
                    costs: passed.row(nth).to_vec(),
                    is_guessed: is_self_guessed
                        || !flow.is_stated(arc)
                        || !are_little(&doubt, passed.row(nth)),
                    contradicts: flow.contradicts(arc),
                    is_thread: is_thread && flow.is_of_thread(arc, passed.row(nth), &doubt),
                    doubt: doubt.clone(),
                }
            },
        );
        // A unit with one stack gets no other node, and the root of the tree is called by nothing in it.
        if parent.is_none() || self.certainty.has_one_stack[node.index()] {
            return;
        }
        subtract(&mut left.own, &own);
        subtract(&mut left.inclusive, &costs);
        subtract(&mut left.counts, &calls);
        (0..arcs.len()).for_each(|nth| subtract(left.flow.row_mut(nth), passed.row(nth)));
        left.call_count = (left.call_count - count).max(0);
        self.left.insert(node, left);
    }

    /// Offers the buds below a node. Of more than may become nodes, only the most expensive ones are made.
    fn offer_all(
        &mut self,
        parent: TreeNodeId,
        count: usize,
        weight: impl Fn(usize) -> u128,
        bud: impl Fn(usize) -> Bud,
    ) {
        let (min_cost, most) = (self.limits.min_cost, self.limits.max_nodes);
        if count <= most.saturating_mul(2).saturating_add(MANY) {
            for nth in 0..count {
                match weight(nth) {
                    weight if weight >= min_cost => self.frontier.push(weight, bud(nth)),
                    _ if self.limits.keeps_lone => self.leave_out(bud(nth)),
                    _ => self.tree.node_mut(parent).hidden += 1,
                }
            }
            return;
        }
        let mut offered: Vec<_> = (0..count)
            .map(|nth| (Reverse(weight(nth)), nth))
            .filter(|(weight, _)| weight.0 >= min_cost)
            .collect();
        // Several are left out, so none is a lone one.
        self.lone.remove(parent);
        let mut is_offered = vec![false; count];
        if offered.len() > most {
            offered.select_nth_unstable(most);
            offered.truncate(most);
        }
        self.tree.node_mut(parent).hidden += count - offered.len();
        offered.into_iter().for_each(|(_, nth)| is_offered[nth] = true);
        for nth in (0..count).filter(|&nth| is_offered[nth]) {
            self.frontier.push(weight(nth), bud(nth));
        }
    }

    fn leave_out(&mut self, bud: Bud) {
        let Some(parent) = bud.parent else { return };
        let hidden = &mut self.tree.node_mut(parent).hidden;
        *hidden += 1;
        match *hidden {
            1 if self.limits.keeps_lone => drop(self.lone.insert(parent, bud)),
            2 if self.limits.keeps_lone => drop(self.lone.remove(parent)),
            _ => {}
        }
    }
}
