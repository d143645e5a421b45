//! Inclusive cost: the self cost of a function plus the cost of what it called.
//!
//! A file has self costs, and for each arc the cost of the callee with everything below it. There is more than one way to
//! calculate the inclusive cost of a function from these. In files of Callgrind all ways agree for functions without
//! recursion; elsewhere they differ, so the rule must be named. [`InclusiveRule`] has three. For each of them the total is
//! the sum of all self costs, whatever the file claims.
//!
//! # Gristmill
//!
//! [`Inclusive::new`] is the default.
//!
//! - A function outside of any cycle has its self cost plus its outgoing arcs. Its calls to itself do not count; their
//!   cost is within the others already.
//! - A cycle is one unit: the self costs of its members plus the arcs that leave it. A member has its self cost plus its
//!   arcs that leave the cycle, so that members add up to their cycle.
//! - Nothing is above the total. Where a sum is larger, some cost was counted again with each level of a recursion that
//!   cannot be seen as one, and the total is shown, as an upper limit. This does not hold for an event type with negative costs, such as a
//!   difference of two profiles has: there a part may be larger than the whole. A derived event type is calculated from the
//!   limited costs, so each row follows its formula.
//!
//! [`Inclusive::without_cycles`] takes cycles apart: each member has its self cost plus all of its calls of others. That
//! counts what several levels of the recursion have in common more than once, so it is an upper limit of the cost while
//! the member is on the stack; the cost of its cycle is another. Lower limits are its self cost plus the arcs that leave the
//! cycle, and its calls from outside of the cycle, which do not nest. Where a lower limit meets the upper one, the cost is
//! exact; everywhere else [`Inclusive::is_upper_limit`] says so. If costs can be below 0, there are no such limits, and the costs of members
//! are [estimates](Inclusive::is_estimate).
//!
//! The cost that the callers state is another number. In a consistent file it is the same for every unit that is called.
//! [`Inclusive::sides`] has both, without the limit, and [`Inclusive::differences`] lists where they differ.
//!
//! # KCachegrind
//!
//! [`KCachegrindSums`] has the numbers that KCachegrind shows. In each part, a function that was called has the sum of its
//! incoming arcs, and one that was not has its self cost plus its outgoing arcs; calls to itself are left out of both. The
//! parts are summed. "Called" means that the counts of its incoming arcs, calls to itself included, have a sum above 0.
//! Nothing keeps such a sum below the total, or above the function's own self cost.
//!
//! Members of cycles are an exception: self cost plus the arcs that leave the cycle. A cycle has the sums over its members,
//! and its count of calls is that of the arcs into it. The cycles are those of [`Cycles`], as KCachegrind's own search may
//! miss some.
//!
//! # callgrind_annotate
//!
//! [`Inclusive::callgrind_annotate`] has the numbers of that tool. A function that was called has the sum of all its
//! incoming arcs, and one that was not has its self cost plus its outgoing arcs. Calls to itself count in full, and there
//! are no cycles, so recursion adds up far above the total. An arc with a count of 0 is no call of its callee: its cost
//! counts for the caller only, and only if nothing called the caller. That tool also takes a function's inlined lines for a function of their own, and its total
//! from what the file claims; this is not repeated here.

use std::cmp::Reverse;

use gristmill_format::Cost;

use crate::analysis::arcs::CallArc;
use crate::analysis::column_kinds::ColumnKinds;
use crate::analysis::cycle::{Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{CycleId, NodeId};
use crate::analysis::member_costs::costs_of_members;
use crate::cost::{CostTable, add};
use crate::threads::both;

/// The definition of inclusive cost. The [module](self) describes each; see the example of [`Inclusive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InclusiveRule {
    /// Self cost plus outgoing arcs, cycles as one, nothing above the total.
    #[default]
    Gristmill,
    /// As KCachegrind shows them.
    KCachegrind,
    /// As callgrind_annotate shows them.
    CallgrindAnnotate,
}

impl InclusiveRule {
    /// `true` if the cost of an arc outside of cycles is within the inclusive cost of its caller.
    #[inline]
    pub(super) fn counts_for_caller(self, arc: &CallArc) -> bool {
        self == InclusiveRule::CallgrindAnnotate || !arc.is_loop()
    }

    /// `true` if the cost of an arc is among those that the callers state.
    #[inline]
    pub(super) fn counts_for_callee(self, arc: &CallArc) -> bool {
        match self {
            InclusiveRule::CallgrindAnnotate => arc.count > 0,
            InclusiveRule::Gristmill | InclusiveRule::KCachegrind => !arc.is_loop(),
        }
    }

    /// `true` if the cost that the callers state is the inclusive cost of a node outside of cycles that was called this often.
    #[inline]
    pub(super) fn trusts_callers(self, call_count: Cost) -> bool {
        self != InclusiveRule::Gristmill && call_count > 0
    }
}

/// The inclusive costs of all nodes and cycles of a call graph.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Cycles, Inclusive, InclusiveRule, Unit};
///
/// // `main` calls `even` and `odd`, which call each other.
/// let mut builder = CallGraph::builder(1);
/// let [main, even, odd] = [10, 40, 50].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee, count, cost) in [(main, even, 1, 90), (even, odd, 5, 80), (odd, even, 4, 60)] {
///     builder.add_arc(CallArc { caller, callee, count }, &[cost]);
/// }
/// let graph = builder.build();
///
/// let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
/// let cycle = inclusive.cycles().cycle_of(odd).expect("they call each other");
/// assert_eq!(inclusive.cost(main), [100]);
/// assert_eq!(inclusive.cycle_cost(cycle), [90]);
///
/// // The callers agree with that.
/// assert_eq!(inclusive.rule(), InclusiveRule::Gristmill);
/// assert_eq!(inclusive.sides(&graph, Unit::Cycle(cycle)).callers, Some(vec![90]));
/// assert_eq!(inclusive.differences(&graph, 0), []);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inclusive {
    rule: InclusiveRule,
    cycles: Cycles,
    /// By node.
    costs: CostTable,
    call_counts: Vec<Cost>,
    /// By cycle.
    cycle_self_costs: CostTable,
    cycle_costs: CostTable,
    cycle_call_counts: Vec<Cost>,
    /// By node; empty if all costs are what the rule says.
    is_upper_limit: Vec<bool>,
    /// By node; empty if no cost is an estimate.
    is_estimate: Vec<bool>,
}

/// The cost of a unit from both sides, without any limit. See the example of [`Inclusive`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// Its self cost plus what it called.
    pub callees: Vec<Cost>,
    /// The cost that its callers state. `None` if nothing calls it.
    pub callers: Option<Vec<Cost>>,
}

/// A unit whose callers state another cost than its callees. See the example of [`Inclusive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The node or cycle.
    pub unit: Unit,
    /// The surplus of the callers' side; below 0 if they state less.
    pub surplus: Cost,
}

impl Inclusive {
    /// Calculates inclusive costs by the rule of Gristmill.
    pub fn new(graph: &CallGraph, cycles: Cycles) -> Self {
        Inclusive::with_cycles(graph, || cycles)
    }

    /// Calculates inclusive costs by the rule of Gristmill, while `find` finds the cycles on another core: in a large graph
    /// that takes as long as the rest.
    pub fn with_cycles(graph: &CallGraph, find: impl FnOnce() -> Cycles) -> Self {
        let beside = || {
            let (costs, limit) = with_callees(graph);
            (costs, graph.call_counts(), limit)
        };
        let ((costs, call_counts, limit), cycles) = both(graph.node_count(), beside, find);
        let mut inclusive = Inclusive::complete(InclusiveRule::Gristmill, graph, cycles, costs, call_counts);
        let nodes = graph.node_count();
        limit.apply(&mut inclusive.costs, |row| mark(&mut inclusive.is_upper_limit, nodes, row));
        limit.apply(&mut inclusive.cycle_costs, |_| {});
        inclusive
    }

    /// Calculates inclusive costs by the rule of Gristmill with no cycle taken as one. Costs of members of cycles may be
    /// upper limits, and are estimates if costs can be below 0.
    ///
    /// ```
    /// use gristmill_profile::analysis::{CallArc, CallGraph, Inclusive};
    ///
    /// // `main` calls `even`, which calls `odd`, which calls `even` again.
    /// let mut builder = CallGraph::builder(1);
    /// let [main, even, odd] = [10, 40, 50].map(|cost| builder.add_node(&[cost]));
    /// for (caller, callee, count, cost) in [(main, even, 1, 90), (even, odd, 2, 80), (odd, even, 1, 30)] {
    ///     builder.add_arc(CallArc { caller, callee, count }, &[cost]);
    /// }
    /// let inclusive = Inclusive::without_cycles(&builder.build());
    /// // Nothing else enters the cycle, so that all of it is below `even`. Of `odd`, only a limit is known.
    /// assert_eq!([main, even, odd].map(|node| inclusive.cost(node)[0]), [100, 90, 80]);
    /// assert_eq!([main, even, odd].map(|node| inclusive.is_upper_limit(node)), [false, false, true]);
    /// ```
    pub fn without_cycles(graph: &CallGraph) -> Self {
        let cycles = Cycles::new(graph);
        let mut inclusive = Inclusive::with_cycles(graph, || Cycles::none(graph));
        let limit = Limit::new(graph);
        let may_be_negative = limit.may_be_negative().contains(&true);
        for cycle in cycles.ids() {
            let members = cycles.members(cycle);
            // What members have for certain: their self cost and the arcs that leave the cycle.
            let mut certain = CostTable::new(graph.width(), members.len());
            let mut whole = vec![0; graph.width()];
            for (nth, &member) in members.iter().enumerate() {
                certain.add(nth, graph.self_cost(member));
                for id in graph.outgoing(member).filter(|&id| !cycles.is_inner(&graph.arc(id))) {
                    certain.add(nth, graph.arc_cost(id));
                }
                add(&mut whole, certain.row(nth));
            }
            for (nth, &member) in members.iter().enumerate() {
                let mut entered = vec![0; graph.width()];
                for id in graph.incoming(member).filter(|&id| !cycles.is_inner(&graph.arc(id))) {
                    add(&mut entered, graph.arc_cost(id));
                }
                let lower: Vec<Cost> =
                    certain.row(nth).iter().zip(entered).map(|(&own, entered)| own.max(entered)).collect();
                let costs = inclusive.costs.row_mut(member.index());
                let is_above = limit.narrow(costs, &lower, &whole);
                if may_be_negative {
                    mark(&mut inclusive.is_estimate, graph.node_count(), member.index());
                } else if is_above {
                    mark(&mut inclusive.is_upper_limit, graph.node_count(), member.index());
                } else if let Some(is_upper_limit) = inclusive.is_upper_limit.get_mut(member.index()) {
                    *is_upper_limit = false;
                }
            }
        }
        inclusive
    }

    /// Calculates inclusive costs as callgrind_annotate does.
    pub fn callgrind_annotate(graph: &CallGraph) -> Self {
        const RULE: InclusiveRule = InclusiveRule::CallgrindAnnotate;
        let mut incoming = CostTable::new(graph.width(), graph.node_count());
        let mut outgoing = graph.self_costs().clone();
        let mut was_called = vec![false; graph.node_count()];
        for (id, arc) in graph.arc_ids().zip(graph.arcs()) {
            outgoing.add(arc.caller.index(), graph.arc_cost(id));
            if RULE.counts_for_callee(&arc) {
                was_called[arc.callee.index()] = true;
                incoming.add(arc.callee.index(), graph.arc_cost(id));
            }
        }
        for (index, _) in was_called.iter().enumerate().filter(|(_, was_called)| !**was_called) {
            incoming.row_mut(index).copy_from_slice(outgoing.row(index));
        }
        Inclusive::complete(RULE, graph, Cycles::none(graph), incoming, graph.call_counts())
    }

    /// Takes the costs of nodes outside of cycles, and calculates those of members and cycles. A member of a cycle has its
    /// self cost and that of its arcs that leave the cycle, so that members add up to the cycle.
    fn complete(
        rule: InclusiveRule,
        graph: &CallGraph,
        cycles: Cycles,
        mut costs: CostTable,
        call_counts: Vec<Cost>,
    ) -> Self {
        let mut cycle_self_costs = CostTable::new(graph.width(), cycles.len());
        let mut cycle_costs = CostTable::new(graph.width(), cycles.len());
        let mut cycle_call_counts = vec![0; cycles.len()];
        for sums in costs_of_members(graph, &cycles, &call_counts, &mut costs) {
            for (row, &(cycle, count)) in sums.counts.iter().enumerate() {
                cycle_call_counts[cycle.index()] += count;
                cycle_self_costs.add(cycle.index(), sums.self_costs.row(row));
                cycle_costs.add(cycle.index(), sums.costs.row(row));
            }
        }
        Inclusive {
            rule,
            cycles,
            costs,
            call_counts,
            cycle_self_costs,
            cycle_costs,
            cycle_call_counts,
            is_upper_limit: Vec::new(),
            is_estimate: Vec::new(),
        }
    }

    /// Returns the same costs by these event types, in this order.
    ///
    /// # Panics
    ///
    /// If there are fewer event types.
    pub fn with_columns(self, columns: &[usize]) -> Inclusive {
        Inclusive {
            costs: self.costs.with_columns(columns),
            cycle_self_costs: self.cycle_self_costs.with_columns(columns),
            cycle_costs: self.cycle_costs.with_columns(columns),
            ..self
        }
    }

    /// Returns the costs and the counts of calls, by node.
    pub(crate) fn into_costs(self) -> (CostTable, Vec<Cost>) {
        (self.costs, self.call_counts)
    }

    /// Returns the rule that was used.
    pub fn rule(&self) -> InclusiveRule {
        self.rule
    }

    /// Returns the cycles that were taken as one.
    pub fn cycles(&self) -> &Cycles {
        &self.cycles
    }

    /// Returns the inclusive cost of a node.
    #[inline]
    pub fn cost(&self, node: NodeId) -> &[Cost] {
        self.costs.row(node.index())
    }

    /// `true` if the cost of a node may be less than stated, as some of it may be counted more than once. The [module](self)
    /// describes when.
    #[inline]
    pub fn is_upper_limit(&self, node: NodeId) -> bool {
        self.is_upper_limit.get(node.index()).copied().unwrap_or(false)
    }

    /// `true` if the cost of a node may be more or less than stated: levels of a recursion have some of it in common, and costs can be
    /// below 0.
    #[inline]
    pub fn is_estimate(&self, node: NodeId) -> bool {
        self.is_estimate.get(node.index()).copied().unwrap_or(false)
    }

    /// Returns the count of calls to a node, its calls to itself included.
    #[inline]
    pub fn call_count(&self, node: NodeId) -> Cost {
        self.call_counts[node.index()]
    }

    /// Returns the inclusive cost of a cycle.
    pub fn cycle_cost(&self, cycle: CycleId) -> &[Cost] {
        self.cycle_costs.row(cycle.index())
    }

    /// Returns the sum of the self costs of a cycle's members.
    pub fn cycle_self_cost(&self, cycle: CycleId) -> &[Cost] {
        self.cycle_self_costs.row(cycle.index())
    }

    /// Returns the count of calls of a cycle from outside.
    pub fn cycle_call_count(&self, cycle: CycleId) -> Cost {
        self.cycle_call_counts[cycle.index()]
    }

    /// Returns the inclusive cost of a node or cycle.
    pub fn unit_cost(&self, unit: Unit) -> &[Cost] {
        match unit {
            Unit::Node(node) => self.cost(node),
            Unit::Cycle(cycle) => self.cycle_cost(cycle),
        }
    }

    /// Returns the cost of a unit from both sides, without any limit.
    pub fn sides(&self, graph: &CallGraph, unit: Unit) -> Sides {
        let members = match &unit {
            Unit::Node(node) => std::slice::from_ref(node),
            Unit::Cycle(cycle) => self.cycles.members(*cycle),
        };
        let mut callees = vec![0; graph.width()];
        let mut callers: Option<Vec<Cost>> = None;
        for &member in members {
            add(&mut callees, graph.self_cost(member));
            for arc in graph.outgoing(member).filter(|&arc| !self.cycles.is_inner(&graph.arc(arc))) {
                add(&mut callees, graph.arc_cost(arc));
            }
            for arc in graph.incoming(member).filter(|&arc| !self.cycles.is_inner(&graph.arc(arc))) {
                add(callers.get_or_insert_with(|| vec![0; graph.width()]), graph.arc_cost(arc));
            }
        }
        Sides { callees, callers }
    }

    /// Returns the units whose callers state another cost than their callees, the largest difference first.
    pub fn differences(&self, graph: &CallGraph, event: usize) -> Vec<Difference> {
        let nodes = graph.nodes().filter(|&node| self.cycles.cycle_of(node).is_none());
        let units = nodes.map(Unit::Node).chain(self.cycles.ids().map(Unit::Cycle));
        let mut differences: Vec<Difference> = units
            .filter_map(|unit| {
                let sides = self.sides(graph, unit);
                let surplus = sides.callers?.get(event)? - sides.callees.get(event)?;
                (surplus != 0).then_some(Difference { unit, surplus })
            })
            .collect();
        differences.sort_by_key(|difference| (Reverse(difference.surplus.abs()), difference.unit));
        differences
    }
}

/// Returns the self cost of each node with the costs of its calls of others, and the limit of such costs.
fn with_callees(graph: &CallGraph) -> (CostTable, Limit<'_>) {
    let mut costs = graph.self_costs().clone();
    let mut totals = vec![0; graph.width()];
    // A bit that is set in any cost of an event type, such as that of the sign.
    let mut bits = vec![0; graph.width()];
    let mut see = |row: &[Cost]| bits.iter_mut().zip(row).for_each(|(bits, cost)| *bits |= cost);
    for node in graph.nodes() {
        let row = costs.row_mut(node.index());
        add(&mut totals, row);
        see(row);
        for id in graph.outgoing(node) {
            let arc_cost = graph.arc_cost(id);
            see(arc_cost);
            if graph.callee(id) != node {
                add(row, arc_cost);
            }
        }
    }
    (costs, Limit::from_sums(graph, totals, &bits))
}

/// Marks a row of a list that is only made when there is one.
fn mark(marks: &mut Vec<bool>, rows: usize, row: usize) {
    marks.resize(rows, false);
    marks[row] = true;
}

/// The limits of inclusive costs.
pub(super) struct Limit<'a> {
    /// The total of each event type whose costs have an upper limit.
    totals: Vec<Option<Cost>>,
    kinds: &'a ColumnKinds,
    /// `true` if a cost is below 0.
    pub(super) has_negative: bool,
}

impl<'a> Limit<'a> {
    pub(super) fn new(graph: &'a CallGraph) -> Self {
        let mut bits = vec![0; graph.width()];
        for row in graph.self_costs().rows().chain(graph.arc_costs().rows()) {
            bits.iter_mut().zip(row).for_each(|(bits, cost)| *bits |= cost);
        }
        Limit::from_sums(graph, graph.total(), &bits)
    }

    /// Makes limits from the totals, and all bits that are set in any cost of an event type.
    fn from_sums(graph: &'a CallGraph, totals: Vec<Cost>, bits: &[Cost]) -> Self {
        let kinds = graph.kinds();
        let mut totals: Vec<Option<Cost>> =
            totals.into_iter().zip(bits).map(|(total, &bits)| (bits >= 0).then_some(total)).collect();
        // A formula with a minus is no cost.
        kinds.derived().for_each(|column| totals[column] = Some(0));
        let has_negative = totals.iter().any(Option::is_none);
        kinds.derived().for_each(|column| totals[column] = None);
        kinds.memory().iter().for_each(|&column| totals[column] = None);
        Limit { totals, kinds, has_negative }
    }

    /// Returns by event type `true` if costs can be below 0. Of one that is derived, it is so if those of any other can.
    pub(super) fn may_be_negative(&self) -> Vec<bool> {
        let mut may_be: Vec<bool> = self.totals.iter().map(Option::is_none).collect();
        self.kinds.derived().for_each(|column| may_be[column] = false);
        let any = may_be.contains(&true);
        self.kinds.derived().for_each(|column| may_be[column] = any);
        may_be
    }

    /// Limits the costs of a member of a cycle to those of the cycle. Returns `true` if they are above the lower limits then,
    /// for an event type whose costs have an upper limit.
    fn narrow(&self, costs: &mut [Cost], lower: &[Cost], upper: &[Cost]) -> bool {
        let mut is_above = false;
        for (nth, cost) in costs.iter_mut().enumerate().filter(|(nth, _)| self.totals[*nth].is_some()) {
            *cost = (*cost).min(upper[nth]);
            is_above |= *cost > lower[nth];
        }
        self.kinds.derive(costs);
        is_above
    }

    /// Limits the costs of a table to the totals. Passes each row that was above.
    pub(super) fn apply(&self, table: &mut CostTable, mut above: impl FnMut(usize)) {
        for index in 0..table.len() {
            let row = table.row_mut(index);
            let mut is_limited = false;
            for (cost, limit) in row.iter_mut().zip(&self.totals) {
                if let Some(limit) = *limit
                    && *cost > limit
                {
                    *cost = limit;
                    is_limited = true;
                }
            }
            if is_limited {
                above(index);
                self.kinds.derive(row);
            }
        }
    }
}

/// Inclusive costs by the rule of KCachegrind, summed part by part.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Cycles, KCachegrindSums};
///
/// // `main` calls `grind`, which costs 100 by its caller but has 500 of its own.
/// let mut builder = CallGraph::builder(1);
/// let [main, grind] = [20, 500].map(|cost| builder.add_node(&[cost]));
/// builder.add_arc(CallArc { caller: main, callee: grind, count: 1 }, &[100]);
/// let graph = builder.build();
///
/// let inclusive = KCachegrindSums::from_graph(&graph, Cycles::new(&graph));
/// assert_eq!(inclusive.cost(main), [120]);
/// assert_eq!(inclusive.cost(grind), [100]);
/// ```
#[derive(Debug)]
pub struct KCachegrindSums {
    costs: CostTable,
    call_counts: Vec<Cost>,
    /// Of the current part; all zeros between two parts.
    callees: CostTable,
    callers: CostTable,
    part_call_counts: Vec<Cost>,
    is_touched: Vec<bool>,
    touched: Vec<NodeId>,
}

impl KCachegrindSums {
    /// Begins with zeros for this count of nodes and event types.
    pub fn new(node_count: usize, width: usize) -> Self {
        let table = CostTable::new(width, node_count);
        KCachegrindSums {
            callees: table.clone(),
            callers: table.clone(),
            costs: table,
            call_counts: vec![0; node_count],
            part_call_counts: vec![0; node_count],
            is_touched: vec![false; node_count],
            touched: Vec::new(),
        }
    }

    /// Adds a part: the self costs of its nodes and its arcs, in any order. The same node or arc may come several times.
    ///
    /// The time this takes depends on the size of the part only, and not on the count of nodes.
    pub fn add_part<'a>(
        &mut self,
        self_costs: impl IntoIterator<Item = (NodeId, &'a [Cost])>,
        arcs: impl IntoIterator<Item = (CallArc, &'a [Cost])>,
    ) {
        self_costs.into_iter().for_each(|(node, costs)| self.add_self_cost(node, costs));
        arcs.into_iter().for_each(|(arc, costs)| self.add_arc(&arc, costs));
        self.end_part();
    }

    /// Adds a self cost of the part that is read.
    pub(super) fn add_self_cost(&mut self, node: NodeId, costs: &[Cost]) {
        self.touch(node);
        self.callees.add(node.index(), costs);
    }

    /// Adds an arc of the part that is read.
    pub(super) fn add_arc(&mut self, arc: &CallArc, costs: &[Cost]) {
        const RULE: InclusiveRule = InclusiveRule::KCachegrind;
        self.touch(arc.callee);
        self.part_call_counts[arc.callee.index()] += arc.count;
        if RULE.counts_for_caller(arc) {
            self.touch(arc.caller);
            self.callees.add(arc.caller.index(), costs);
        }
        if RULE.counts_for_callee(arc) {
            self.callers.add(arc.callee.index(), costs);
        }
    }

    /// Ends a part.
    pub(super) fn end_part(&mut self) {
        while let Some(node) = self.touched.pop() {
            let index = node.index();
            let call_count = std::mem::take(&mut self.part_call_counts[index]);
            let trusts_callers = InclusiveRule::KCachegrind.trusts_callers(call_count);
            let side = if trusts_callers { &self.callers } else { &self.callees };
            self.costs.add(index, side.row(index));
            self.call_counts[index] += call_count;
            self.callees.row_mut(index).fill(0);
            self.callers.row_mut(index).fill(0);
            self.is_touched[index] = false;
        }
    }

    fn touch(&mut self, node: NodeId) {
        if !std::mem::replace(&mut self.is_touched[node.index()], true) {
            self.touched.push(node);
        }
    }

    /// Returns the sum over the parts that were added. `graph` is the sum of these parts; `cycles` are those of all parts
    /// of the profile, or none.
    pub fn finish(self, graph: &CallGraph, cycles: Cycles) -> Inclusive {
        Inclusive::complete(InclusiveRule::KCachegrind, graph, cycles, self.costs, self.call_counts)
    }

    /// Calculates the costs of a graph that is a single part.
    pub fn from_graph(graph: &CallGraph, cycles: Cycles) -> Inclusive {
        let mut sums = KCachegrindSums::new(graph.node_count(), graph.width());
        sums.add_part(
            graph.nodes().map(|node| (node, graph.self_cost(node))),
            graph.arc_ids().map(|arc| (graph.arc(arc), graph.arc_cost(arc))),
        );
        sums.finish(graph, cycles)
    }
}
