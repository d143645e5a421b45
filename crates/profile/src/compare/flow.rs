//! The calls and costs of both sides in one column, which the search for causes may rearrange.
//!
//! Inlining moves cost from a function to its callers without any work being added or saved. [`Flow::fold`] does the same
//! to the side where the function is still called, so that the rest of the search compares like with like.

use std::ops::Range;

use gristmill_format::Cost;

use super::id::{FlowArcId, MoveId};
use super::ratio::scaled;
use super::{Change, ComparedArc, Comparison, JoinedId, Side};
use crate::analysis::Cycles;
use crate::csr::{Csr, group_starts};
use crate::hash::Map;
use crate::ordered::OrderedKey;

/// The key of a cause: changes with the same key are its parts.
///
/// It has 8 bytes: large profiles have millions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Key {
    Move(MoveId),
    Calls(FlowArcId),
    PerCall(JoinedId),
    /// The calls of one caller cost more or less.
    CallsFrom(FlowArcId),
    SelfCost(JoinedId),
    New(JoinedId),
    Vanished(JoinedId),
    /// By the new or vanished function.
    Split(JoinedId),
    /// By the first function.
    Swapped(JoinedId),
}

impl OrderedKey for Key {
    const BITS: u32 = 4 + u32::BITS;

    fn ordinal(self) -> u128 {
        let (kind, index): (u128, usize) = match self {
            Key::Move(id) => (0, id.index()),
            Key::Calls(id) => (1, id.index()),
            Key::PerCall(id) => (2, id.index()),
            Key::CallsFrom(id) => (3, id.index()),
            Key::SelfCost(id) => (4, id.index()),
            Key::New(id) => (5, id.index()),
            Key::Vanished(id) => (6, id.index()),
            Key::Split(id) => (7, id.index()),
            Key::Swapped(id) => (8, id.index()),
        };
        kind << u32::BITS | index as u128
    }
}

/// All calls from one function to another. Numbers are of base and new.
#[derive(Debug, Clone)]
pub(super) struct FlowArc {
    pub(super) caller: JoinedId,
    pub(super) callee: JoinedId,
    pub(super) calls: [Cost; 2],
    pub(super) costs: [Cost; 2],
    /// `true` if its numbers are those of the profiles.
    pub(super) is_recorded: bool,
    /// `true` if its count of calls is within the spread of the runs.
    pub(super) is_noise: bool,
}

impl FlowArc {
    /// Returns `true` if base and new have the same calls and costs.
    pub(super) fn is_equal(&self) -> bool {
        self.calls[0] == self.calls[1] && self.costs[0] == self.costs[1]
    }

    /// Returns `true` if it has calls or costs.
    pub(super) fn is_used(&self) -> bool {
        self.calls != [0, 0] || self.costs != [0, 0]
    }

    /// Returns `true` if calls have costs on both sides and a count on one side only, as those of a function that was inlined.
    pub(super) fn is_counted_once(&self) -> bool {
        self.costs.iter().all(|&cost| cost != 0) && (self.calls[0] == 0) != (self.calls[1] == 0)
    }
}

/// Functions and arcs with the costs of one column.
#[derive(Debug)]
pub(super) struct Flow {
    /// By function: the self cost of base and new.
    pub(super) selves: Vec<[Cost; 2]>,
    /// By function: the calls that it got, base and new.
    pub(super) called: Vec<[Cost; 2]>,
    /// The arcs of the comparison, in its order, then those that folding added.
    pub(super) arcs: Vec<FlowArc>,
    /// By function: the first of its outgoing arcs, which are sorted by caller, then callee. Without those that were added.
    first_out: Vec<u32>,
    /// By function: its incoming arcs, without those that were added.
    incoming: Csr,
    /// The arcs that folding added: by caller and callee, by caller, by callee.
    added: Map<(JoinedId, JoinedId), usize>,
    added_out: Map<JoinedId, Vec<usize>>,
    added_in: Map<JoinedId, Vec<usize>>,
    /// By function: the sums of its incoming arcs in base and new.
    incoming_sums: Vec<[ArcSums; 2]>,
    /// The sums of the counts below 0 of incoming arcs, by function and side.
    negative_calls: Map<(JoinedId, usize), Cost>,
    cycles: Cycles,
}

/// The sums of several arcs. A difference can have counts and costs below 0.
#[derive(Debug, Clone, Copy, Default)]
struct ArcSums {
    /// Without those below 0.
    positive_calls: Cost,
    /// Without those below 0.
    positive_cost: Cost,
}

/// Returns the medians of base and new.
pub(super) fn medians(change: Change) -> [Cost; 2] {
    [change.base.median, change.new.median]
}

impl Flow {
    pub(super) fn new(comparison: &Comparison<'_>, column: usize) -> Self {
        let arc = |(index, arc): (usize, ComparedArc)| FlowArc {
            caller: arc.caller,
            callee: arc.callee,
            calls: medians(arc.count),
            costs: medians(comparison.arc_cost(index, column)),
            is_recorded: true,
            is_noise: arc.count.is_noise(),
        };
        let arcs: Vec<FlowArc> = comparison.arcs().enumerate().map(arc).collect();
        let functions = comparison.functions();
        let count = functions.len();
        let mut flow = Flow {
            selves: functions.map(|function| medians(comparison.self_cost(function, column))).collect(),
            called: comparison.functions().map(|function| medians(comparison.calls(function))).collect(),
            first_out: group_starts(count, arcs.iter().map(|arc| arc.caller.index())),
            incoming: Csr::new(count, arcs.iter().map(|arc| Some(arc.callee.index()))),
            added: Map::default(),
            added_out: Map::default(),
            added_in: Map::default(),
            incoming_sums: vec![[ArcSums::default(); 2]; count],
            negative_calls: Map::default(),
            cycles: Cycles::new(&comparison.measured.links),
            arcs,
        };
        (0..flow.arcs.len()).for_each(|arc| flow.add_to_sums(arc, 1));
        flow
    }

    /// Returns the arcs from a function: recorded ones, then those that folding added.
    pub(super) fn outgoing(&self, function: JoinedId) -> impl Iterator<Item = usize> + '_ {
        self.recorded_outgoing(function).chain(added(&self.added_out, function).iter().copied())
    }

    /// Returns one of these arcs.
    pub(super) fn nth_outgoing(&self, function: JoinedId, nth: usize) -> Option<usize> {
        let recorded = self.recorded_outgoing(function);
        let beyond = || added(&self.added_out, function).get(nth - recorded.len()).copied();
        recorded.clone().nth(nth).or_else(beyond)
    }

    /// Returns the arcs to a function: recorded ones, then those that folding added.
    pub(super) fn incoming(&self, function: JoinedId) -> impl Iterator<Item = usize> + '_ {
        let recorded = self.incoming.get(function.index()).iter().map(|&arc| arc as usize);
        recorded.chain(added(&self.added_in, function).iter().copied())
    }

    fn recorded_outgoing(&self, function: JoinedId) -> Range<usize> {
        self.first_out[function.index()] as usize..self.first_out[function.index() + 1] as usize
    }

    /// Returns `true` if a function is part of a recursion. Inclusive costs there contain each other.
    pub(super) fn is_recursive(&self, function: JoinedId) -> bool {
        self.cycles.cycle_of(function.node()).is_some()
    }

    /// Returns the cost of a function and what it calls that is in no call of it, in the base; `None` if calls have nearly all
    /// of it on both sides. The first function of a thread has such a cost, also if others call it.
    pub(super) fn cost_without_calls(&self, function: JoinedId) -> Option<Cost> {
        /// The part that can be without calls: one in this many.
        const ONE_IN: Cost = 20;
        let called = self.incoming_sums[function.index()].map(|sums| sums.positive_cost);
        if called == [0, 0] {
            return None;
        }
        let mut costs = self.selves[function.index()];
        for arc in self.outgoing(function) {
            (0..2).for_each(|side| costs[side] += self.arcs[arc].costs[side]);
        }
        let without = [0, 1].map(|side| (costs[side] - called[side]).max(0));
        let is_much = (0..2).any(|side| without[side].saturating_mul(ONE_IN) > costs[side].max(0));
        is_much.then_some(without[0])
    }

    /// Returns the calls of a function by others, on one side.
    pub(super) fn calls_to(&self, function: JoinedId, side: Side) -> Cost {
        let negative = self.negative_calls.get(&(function, side.index())).copied().unwrap_or(0);
        self.incoming_sums[function.index()][side.index()].positive_calls + negative
    }

    /// Adds an arc to the sums of its callee, or with -1 takes it out.
    fn add_to_sums(&mut self, arc: usize, sign: Cost) {
        let FlowArc { callee, calls, costs, .. } = self.arcs[arc];
        for (side, sums) in self.incoming_sums[callee.index()].iter_mut().enumerate() {
            if calls[side] < 0 {
                *self.negative_calls.entry((callee, side)).or_insert(0) += sign * calls[side];
            }
            sums.positive_calls += sign * calls[side].max(0);
            sums.positive_cost += sign * costs[side].max(0);
        }
    }

    /// Adds calls and cost to an arc on one side. Its numbers are no longer those of the profiles.
    fn add_to_arc(&mut self, arc: usize, side: Side, calls: Cost, cost: Cost) {
        self.add_to_sums(arc, -1);
        self.arcs[arc].calls[side.index()] += calls;
        self.arcs[arc].costs[side.index()] += cost;
        self.arcs[arc].is_recorded = false;
        self.add_to_sums(arc, 1);
    }

    /// Returns the part of a function that an arc calls, as a fraction: by inclusive cost, or by calls in a
    /// recursion and if there is none.
    pub(super) fn share(&self, arc: usize, side: Side) -> (Cost, Cost) {
        let FlowArc { callee, .. } = self.arcs[arc];
        let side = side.index();
        let ArcSums { positive_calls, positive_cost, .. } = self.incoming_sums[callee.index()][side];
        if positive_cost > 0 && !self.is_recursive(callee) {
            return (self.arcs[arc].costs[side].max(0), positive_cost);
        }
        (self.arcs[arc].calls[side].max(0), positive_calls)
    }

    /// Returns the count of calls that an arc would have on the other side if its caller did as before; `None` if it has no
    /// calls.
    pub(super) fn expected_calls(&self, arc: usize, side: Side) -> Option<Cost> {
        let FlowArc { caller, calls, .. } = self.arcs[arc];
        let count = calls[side.index()];
        let [before, after] = [side, side.other()].map(|side| self.calls_to(caller, side));
        if count <= 0 {
            return None;
        }
        if before <= 0 { Some(count) } else { scaled(count, after, before) }
    }

    /// Moves `part` of `whole` of an arc's calls into the caller, on one side: their self cost, and the calls that they
    /// make. Returns the self cost that moved.
    pub(super) fn fold(&mut self, arc: usize, side: Side, (part, whole): (Cost, Cost)) -> Cost {
        let index = side.index();
        let FlowArc { caller, callee, .. } = self.arcs[arc];
        let (cost, all) = self.share(arc, side);
        // The cost that the calls of the arc have of a cost of the callee, and of that the part that moves.
        let moved_of = |amount: Cost| {
            let moved = scaled(amount, cost, all).and_then(|of_arc| scaled(of_arc, part, whole));
            moved.unwrap_or(0).clamp(0, amount.max(0))
        };
        let own = moved_of(self.selves[callee.index()][index]);
        let moves: Vec<(JoinedId, Cost, Cost)> = self
            .outgoing(callee)
            .map(|further| &self.arcs[further])
            .filter(|further| further.callee != callee)
            .map(|further| (further.callee, moved_of(further.calls[index]), moved_of(further.costs[index])))
            .collect();
        self.selves[callee.index()][index] -= own;
        self.selves[caller.index()][index] += own;
        for (target, calls, cost) in moves {
            if calls == 0 && cost == 0 {
                continue;
            }
            let from = self.arc_between(callee, target);
            let to = self.arc_between(caller, target);
            self.add_to_arc(from, side, -calls, -cost);
            self.add_to_arc(to, side, calls, cost);
        }
        let gone = |amount: Cost| scaled(amount, part, whole).unwrap_or(0).clamp(0, amount.max(0));
        let FlowArc { calls, costs, .. } = self.arcs[arc];
        let (calls_gone, cost_gone) = (gone(calls[index]), gone(costs[index]));
        self.add_to_arc(arc, side, -calls_gone, -cost_gone);
        self.called[callee.index()][index] -= calls_gone;
        own
    }

    /// Returns the arc from one function to another; adds it if there is none.
    fn arc_between(&mut self, caller: JoinedId, callee: JoinedId) -> usize {
        let recorded = self.recorded_outgoing(caller);
        if let Ok(offset) = self.arcs[recorded.clone()].binary_search_by_key(&callee, |arc| arc.callee) {
            return recorded.start + offset;
        }
        let next = self.arcs.len();
        let arc = *self.added.entry((caller, callee)).or_insert(next);
        if arc < next {
            return arc;
        }
        self.arcs.push(FlowArc {
            caller,
            callee,
            calls: [0; 2],
            costs: [0; 2],
            is_recorded: false,
            is_noise: false,
        });
        self.added_out.entry(caller).or_default().push(arc);
        self.added_in.entry(callee).or_default().push(arc);
        arc
    }

    /// Returns the recorded count of calls of an arc. What folding added to it is in no profile: if the count changed in the other
    /// direction without that, or is on one side only, there is none that tells the change.
    pub(super) fn count(&self, comparison: &Comparison<'_>, arc: usize) -> Option<Change> {
        let FlowArc { calls: [before, after], is_recorded, .. } = self.arcs[arc];
        let count = (arc < comparison.arcs().len()).then(|| comparison.arc(arc).count)?;
        let is_alike = count.delta().signum() == (after - before).signum();
        (is_recorded || is_alike && !medians(count).contains(&0)).then_some(count)
    }
}

fn added(arcs: &Map<JoinedId, Vec<usize>>, function: JoinedId) -> &[usize] {
    arcs.get(&function).map_or(&[], Vec::as_slice)
}
