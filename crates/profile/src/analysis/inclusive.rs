//! Inclusive cost: what a function cost with all that it called.
//!
//! A file tells self costs, and of each arc what it cost with all below. From these there is more than one way to the
//! inclusive cost of a function. In files of Callgrind all of them agree for functions that never recur; elsewhere they
//! do not, so which rule was taken must be said. Here are three. In all of them the total is the sum of all self costs,
//! whatever the file claims.
//!
//! # Own
//!
//! [`Inclusive::own`] is what Gristmill shows unless asked otherwise.
//!
//! - A function outside of any cycle: its self cost plus its outgoing arcs. Its calls to itself do not count; their cost
//!   is within the others already.
//! - A cycle is one unit: the self costs of its members plus the arcs that lead out of it. A member has its self cost
//!   plus its arcs that lead out, so that members add up to their cycle.
//! - Nothing is above the total. Where a sum is, some cost was counted again with each level of a recursion that cannot
//!   be seen as one, and the total is shown. This does not hold for an event type with negative costs, such as a
//!   difference of two profiles has: a part of it may well be larger than the whole.
//!
//! What the callers say a unit cost is another number. In a consistent file it is the same for everything that is called
//! at all. [`Inclusive::sides`] has both, without the limit, and [`Inclusive::differences`] lists where they differ.
//!
//! # KCachegrind
//!
//! [`KCachegrind`] has the numbers that KCachegrind shows. Part by part, a function that was called has the sum of its
//! incoming arcs, and one that was not its self cost plus its outgoing arcs, its calls to itself left out of both. The
//! parts add up. "Called" means that the counts of its incoming arcs, calls to itself included, have a sum above 0.
//! Nothing keeps such a sum below the total, or above the function's own cost.
//!
//! Members of cycles are an exception: self cost plus the arcs that lead out of the cycle. A cycle has the sums over
//! its members, and is called as often as the arcs into it say. Which cycles there are is not taken from KCachegrind, as
//! its search may miss some; see [`Cycles`].
//!
//! # Annotate
//!
//! [`Inclusive::annotate`] has those of callgrind_annotate. A function that was called has the sum of all its incoming
//! arcs, and one that was not its self cost plus its outgoing arcs. Calls to itself count in full, and there are no
//! cycles, so recursion adds up far above the total. An arc with a count of 0 is no call to it: its cost counts as self
//! cost of the caller. That tool also takes a function's inlined lines for a function of their own, and its total from
//! what the file claims; this is not repeated here.

use std::cmp::Reverse;

use gristmill_format::Cost;

use crate::analysis::arcs::Arc;
use crate::analysis::cycle::{CycleId, Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::cost::{CostTable, add};
use crate::id::FunctionId;
use crate::threads::both;

/// How inclusive costs were reckoned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InclusiveRule {
    /// Self plus outgoing arcs, cycles as one, nothing above the total.
    Own,
    /// As KCachegrind shows them.
    KCachegrind,
    /// As callgrind_annotate shows them.
    Annotate,
}

/// The inclusive costs of all functions and cycles of a call graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inclusive {
    rule: InclusiveRule,
    cycles: Cycles,
    functions: CostTable,
    called: Vec<Cost>,
    cycle_self_costs: CostTable,
    cycle_costs: CostTable,
    cycle_called: Vec<Cost>,
}

/// What a unit cost, from both sides, without any limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sides {
    /// Its self cost plus what it called.
    pub callees: Vec<Cost>,
    /// What its callers say that their calls cost. None where nothing calls it.
    pub callers: Option<Vec<Cost>>,
}

/// A unit whose callers say something else than its callees.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Difference {
    /// The function or cycle.
    pub unit: Unit,
    /// How much more the callers say it cost; below 0 when they say less.
    pub surplus: Cost,
}

impl Inclusive {
    /// Self plus outgoing arcs, each cycle as one, nothing above the total.
    pub fn own(graph: &CallGraph, cycles: Cycles) -> Self {
        Inclusive::own_with(graph, || cycles)
    }

    /// The same with the cycles that are found meanwhile: in a large graph that takes as long as all the rest.
    pub fn own_with(graph: &CallGraph, find: impl FnOnce() -> Cycles) -> Self {
        let beside = || {
            let mut functions = graph.self_costs().clone();
            for (place, arc) in graph.arcs().enumerate().filter(|(_, arc)| !arc.is_loop()) {
                functions.add(arc.caller.index(), graph.arc_cost(place));
            }
            (functions, graph.call_counts(), Limit::of(graph))
        };
        let ((functions, called, limit), cycles) = both(graph.functions(), beside, find);
        let mut inclusive = Inclusive::new(InclusiveRule::Own, graph, cycles, functions, called);
        limit.apply(&mut inclusive.functions);
        limit.apply(&mut inclusive.cycle_costs);
        inclusive
    }

    /// As callgrind_annotate has them.
    pub fn annotate(graph: &CallGraph) -> Self {
        let mut incoming = CostTable::new(graph.width(), graph.functions());
        let mut outgoing = graph.self_costs().clone();
        let mut was_called = vec![false; graph.functions()];
        for (place, arc) in graph.arcs().enumerate() {
            outgoing.add(arc.caller.index(), graph.arc_cost(place));
            if arc.count > 0 {
                was_called[arc.callee.index()] = true;
                incoming.add(arc.callee.index(), graph.arc_cost(place));
            }
        }
        for (index, _) in was_called.iter().enumerate().filter(|(_, was_called)| !**was_called) {
            incoming.row_mut(index).copy_from_slice(outgoing.row(index));
        }
        let called = graph.call_counts();
        Inclusive::new(InclusiveRule::Annotate, graph, Cycles::none(graph), incoming, called)
    }

    /// From what functions outside of cycles cost. A member of a cycle has its self cost and that of its arcs that lead
    /// out of it, so that the costs of all members are those of the cycle.
    fn new(
        rule: InclusiveRule,
        graph: &CallGraph,
        cycles: Cycles,
        mut functions: CostTable,
        called: Vec<Cost>,
    ) -> Self {
        let mut cycle_self_costs = CostTable::new(graph.width(), cycles.len());
        let mut cycle_costs = CostTable::new(graph.width(), cycles.len());
        let mut cycle_called = vec![0; cycles.len()];
        for cycle in cycles.ids() {
            for &member in cycles.members(cycle) {
                let costs = functions.row_mut(member.index());
                costs.copy_from_slice(graph.self_cost(member));
                let mut entered = called[member.index()];
                for place in graph.outgoing(member) {
                    let arc = &graph.arc(place);
                    if cycles.is_inner(arc) {
                        entered -= arc.count;
                    } else {
                        add(costs, graph.arc_cost(place));
                    }
                }
                cycle_called[cycle.index()] += entered;
                cycle_self_costs.add(cycle.index(), graph.self_cost(member));
                cycle_costs.add(cycle.index(), costs);
            }
        }
        Inclusive { rule, cycles, functions, called, cycle_self_costs, cycle_costs, cycle_called }
    }

    /// The rule that was taken.
    pub fn rule(&self) -> InclusiveRule {
        self.rule
    }

    /// The cycles that were taken as one.
    pub fn cycles(&self) -> &Cycles {
        &self.cycles
    }

    /// The inclusive cost of a function.
    #[inline]
    pub fn of(&self, function: FunctionId) -> &[Cost] {
        self.functions.row(function.index())
    }

    /// How often a function was called, its calls to itself included.
    #[inline]
    pub fn called(&self, function: FunctionId) -> Cost {
        self.called[function.index()]
    }

    /// The inclusive cost of a cycle.
    pub fn of_cycle(&self, cycle: CycleId) -> &[Cost] {
        self.cycle_costs.row(cycle.index())
    }

    /// The self costs of a cycle's members.
    pub fn cycle_self_cost(&self, cycle: CycleId) -> &[Cost] {
        self.cycle_self_costs.row(cycle.index())
    }

    /// How often a cycle was called from outside.
    pub fn cycle_called(&self, cycle: CycleId) -> Cost {
        self.cycle_called[cycle.index()]
    }

    /// The inclusive cost of a function, or of a cycle.
    pub fn of_unit(&self, unit: Unit) -> &[Cost] {
        match unit {
            Unit::Function(function) => self.of(function),
            Unit::Cycle(cycle) => self.of_cycle(cycle),
        }
    }

    /// What a unit cost from both sides, without any limit.
    pub fn sides(&self, graph: &CallGraph, unit: Unit) -> Sides {
        let members = match &unit {
            Unit::Function(function) => std::slice::from_ref(function),
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

    /// Where the callers say something else than the callees, by the size of the difference.
    pub fn differences(&self, graph: &CallGraph, event: usize) -> Vec<Difference> {
        let functions = graph.function_ids().filter(|&function| self.cycles.cycle_of(function).is_none());
        let units = functions.map(Unit::Function).chain(self.cycles.ids().map(Unit::Cycle));
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

/// The total, for the event types that nothing may be above.
pub(crate) struct Limit(Vec<Option<Cost>>);

impl Limit {
    pub(crate) fn of(graph: &CallGraph) -> Self {
        let mut limit: Vec<Option<Cost>> = graph.total().into_iter().map(Some).collect();
        for row in graph.self_costs().rows().chain(graph.arc_costs().rows()) {
            for (limit, &cost) in limit.iter_mut().zip(row) {
                if cost < 0 {
                    *limit = None;
                }
            }
        }
        Limit(limit)
    }

    pub(crate) fn apply(&self, table: &mut CostTable) {
        for index in 0..table.len() {
            for (cost, limit) in table.row_mut(index).iter_mut().zip(&self.0) {
                if let Some(limit) = limit {
                    *cost = (*cost).min(*limit);
                }
            }
        }
    }
}

/// Inclusive costs as KCachegrind has them: part by part.
///
/// ```
/// use gristmill_profile::analysis::{Arc, CallGraph, Cycles, KCachegrind};
/// use gristmill_profile::{CostTable, FunctionId};
///
/// // `main` calls `grind`, which is said to cost 100 but has 500 of its own.
/// let [main, grind] = [0, 1].map(FunctionId::new);
/// let mut self_costs = CostTable::new(1, 2);
/// self_costs.add(main.index(), &[20]);
/// self_costs.add(grind.index(), &[500]);
/// let mut arc_costs = CostTable::new(1, 0);
/// arc_costs.push(&[100]);
/// let graph = CallGraph::new(self_costs, vec![Arc { caller: main, callee: grind, count: 1 }], arc_costs);
///
/// let inclusive = KCachegrind::of_one_part(&graph, Cycles::of(&graph));
/// assert_eq!(inclusive.of(main), [120]);
/// assert_eq!(inclusive.of(grind), [100]);
/// ```
#[derive(Debug)]
pub struct KCachegrind {
    functions: CostTable,
    called: Vec<Cost>,
    /// For the part at hand; all zeros between two parts.
    callees: CostTable,
    callers: CostTable,
    counts: Vec<Cost>,
    is_touched: Vec<bool>,
    touched: Vec<FunctionId>,
}

impl KCachegrind {
    /// To be given the parts one by one.
    pub fn new(functions: usize, width: usize) -> Self {
        let table = CostTable::new(width, functions);
        KCachegrind {
            callees: table.clone(),
            callers: table.clone(),
            functions: table,
            called: vec![0; functions],
            counts: vec![0; functions],
            is_touched: vec![false; functions],
            touched: Vec::new(),
        }
    }

    /// Adds a part: the self costs of its functions and its arcs, in any order, in as many pieces as there are.
    ///
    /// This takes as long as the part is large, however many functions the profile has.
    pub fn add_part<'a>(
        &mut self,
        self_costs: impl IntoIterator<Item = (FunctionId, &'a [Cost])>,
        arcs: impl IntoIterator<Item = (Arc, &'a [Cost])>,
    ) {
        for (function, costs) in self_costs {
            self.touch(function);
            self.callees.add(function.index(), costs);
        }
        for (arc, costs) in arcs {
            self.touch(arc.callee);
            self.counts[arc.callee.index()] += arc.count;
            if !arc.is_loop() {
                self.touch(arc.caller);
                self.callees.add(arc.caller.index(), costs);
                self.callers.add(arc.callee.index(), costs);
            }
        }
        while let Some(function) = self.touched.pop() {
            let index = function.index();
            let count = std::mem::take(&mut self.counts[index]);
            let from = if count > 0 { &self.callers } else { &self.callees };
            self.functions.add(index, from.row(index));
            self.called[index] += count;
            self.callees.row_mut(index).fill(0);
            self.callers.row_mut(index).fill(0);
            self.is_touched[index] = false;
        }
    }

    fn touch(&mut self, function: FunctionId) {
        if !std::mem::replace(&mut self.is_touched[function.index()], true) {
            self.touched.push(function);
        }
    }

    /// The costs over all parts that were added. `graph` is the sum of these parts; `cycles` are those of all parts of
    /// the profile, or none.
    pub fn finish(self, graph: &CallGraph, cycles: Cycles) -> Inclusive {
        Inclusive::new(InclusiveRule::KCachegrind, graph, cycles, self.functions, self.called)
    }

    /// The costs of a graph that is but one part.
    pub fn of_one_part(graph: &CallGraph, cycles: Cycles) -> Inclusive {
        let mut sums = KCachegrind::new(graph.functions(), graph.width());
        sums.add_part(
            graph.function_ids().map(|function| (function, graph.self_cost(function))),
            graph.arcs().enumerate().map(|(place, arc)| (arc, graph.arc_cost(place))),
        );
        sums.finish(graph, cycles)
    }
}
