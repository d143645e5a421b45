//! Cycles: functions that call each other in a circle.
//!
//! A cycle is a strongly connected component of two functions or more: from each of its members each other one can be
//! reached over arcs. A function that only calls itself is none. KCachegrind looks for the same, but overlooks arcs
//! back to the function where its search began, so that a cycle may appear smaller there, or not at all. Here it is the
//! complete one.
//!
//! Cycles are numbered from 1 in the order of their first members.

use std::fmt;

use gristmill_format::Cost;

use crate::analysis::arcs::Arc;
use crate::analysis::component::{Components, components};
use crate::analysis::graph::CallGraph;
use crate::csr::{Grouped, begins};
use crate::id::{FunctionId, narrow};

/// The number of a cycle, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CycleId(u32);

impl CycleId {
    /// Its place in the lists of cycles, from 0.
    #[inline]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The number to be shown, from 1.
    pub fn number(self) -> usize {
        self.index() + 1
    }
}

impl fmt::Debug for CycleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CycleId({})", self.number())
    }
}

/// What calls are followed between: a function outside of any cycle, or a cycle as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A function that is in no cycle.
    Function(FunctionId),
    /// All members of a cycle.
    Cycle(CycleId),
}

/// The cycles of a call graph.
///
/// A unit is a cycle or a function outside of any. The units call each other in no circle, so they have an order in
/// which no unit calls an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycles {
    /// By function: its cycle, or none.
    cycle_of: Vec<u32>,
    /// Members, cycle after cycle, and where those of each cycle begin.
    members: Vec<FunctionId>,
    first_member: Vec<u32>,
    /// By function: the place of its unit in the order of calls.
    rank: Vec<u32>,
    /// How many units there are.
    units: usize,
}

const NO_CYCLE: u32 = u32::MAX;

impl Cycles {
    /// Finds the cycles.
    pub fn of(graph: &CallGraph) -> Self {
        let callees = graph.callees();
        Cycles::from_components(&components(graph.first_out(), |arc| Some(callees[arc] as usize)))
    }

    /// No cycles, whatever calls what.
    ///
    /// The order of units then is that of functions.
    pub fn none(graph: &CallGraph) -> Self {
        Cycles {
            cycle_of: vec![NO_CYCLE; graph.functions()],
            members: Vec::new(),
            first_member: vec![0],
            rank: (0..graph.functions()).map(narrow).collect(),
            units: graph.functions(),
        }
    }

    /// Finds the cycles that there are without some of the arcs.
    pub fn ignoring(graph: &CallGraph, mut is_ignored: impl FnMut(usize, &Arc) -> bool) -> Self {
        let ignored: Vec<bool> =
            graph.arcs().enumerate().map(|(place, arc)| is_ignored(place, &arc)).collect();
        let callees = graph.callees();
        let found = components(graph.first_out(), |arc| (!ignored[arc]).then(|| callees[arc] as usize));
        Cycles::from_components(&found)
    }

    fn from_components(components: &Components) -> Self {
        let functions = components.of.len();
        let mut size = vec![0u32; components.count];
        components.of.iter().for_each(|&component| size[component as usize] += 1);

        let mut number = vec![NO_CYCLE; components.count];
        let mut cycle_of = vec![NO_CYCLE; functions];
        let mut first_member = vec![0u32];
        for (function, &component) in components.of.iter().enumerate() {
            let component = component as usize;
            if size[component] < 2 {
                continue;
            }
            if number[component] == NO_CYCLE {
                number[component] = narrow(first_member.len() - 1);
                first_member.push(first_member[first_member.len() - 1] + size[component]);
            }
            cycle_of[function] = number[component];
        }
        let mut next = first_member.clone();
        let mut members = vec![FunctionId::new(0); first_member[first_member.len() - 1] as usize];
        for (function, &cycle) in cycle_of.iter().enumerate() {
            if cycle != NO_CYCLE {
                members[next[cycle as usize] as usize] = FunctionId::new(function);
                next[cycle as usize] += 1;
            }
        }
        // A component is complete when all that it calls is, so callees come first.
        let rank = components.of.iter().map(|&component| narrow(components.count) - 1 - component).collect();
        Cycles { cycle_of, members, first_member, rank, units: components.count }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.first_member.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// All of them.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = CycleId> + use<> {
        (0..narrow(self.len())).map(CycleId)
    }

    /// The cycle that a function is in.
    #[inline]
    pub fn cycle_of(&self, function: FunctionId) -> Option<CycleId> {
        let cycle = self.cycle_of[function.index()];
        (cycle != NO_CYCLE).then_some(CycleId(cycle))
    }

    /// The unit that a function belongs to.
    pub fn unit(&self, function: FunctionId) -> Unit {
        self.cycle_of(function).map_or(Unit::Function(function), Unit::Cycle)
    }

    /// The functions of a cycle, in their order.
    pub fn members(&self, cycle: CycleId) -> &[FunctionId] {
        let [start, end] = [0, 1].map(|next| self.first_member[cycle.index() + next] as usize);
        &self.members[start..end]
    }

    /// Whether an arc goes from a unit to itself: inside a cycle, or from a function to itself.
    #[inline]
    pub fn is_inner(&self, arc: &Arc) -> bool {
        // Most functions are in no cycle, and then where the arc leads need not be looked up.
        let cycle = self.cycle_of[arc.caller.index()];
        arc.is_loop() || cycle != NO_CYCLE && cycle == self.cycle_of[arc.callee.index()]
    }

    /// How many units there are: cycles, and functions outside of any.
    pub fn units(&self) -> usize {
        self.units
    }

    /// The place of a function's unit in the order of calls: no unit calls one with a smaller place. This holds for
    /// the arcs that were not ignored.
    #[inline]
    pub fn rank(&self, function: FunctionId) -> usize {
        self.rank[function.index()] as usize
    }

    /// The arcs that lead into a cycle from outside, as places in [`CallGraph::arcs`], by callee.
    pub fn entries(&self, graph: &CallGraph, cycle: CycleId) -> Vec<usize> {
        let members = self.members(cycle).iter();
        let arcs = members.flat_map(|&member| graph.incoming(member));
        arcs.filter(|&arc| self.cycle_of(graph.arc(arc).caller) != Some(cycle)).collect()
    }

    /// The arcs that lead out of a cycle, as places in [`CallGraph::arcs`], by caller.
    pub fn exits(&self, graph: &CallGraph, cycle: CycleId) -> Vec<usize> {
        let members = self.members(cycle).iter();
        let arcs = members.flat_map(|&member| graph.outgoing(member));
        arcs.filter(|&arc| self.cycle_of(graph.arc(arc).callee) != Some(cycle)).collect()
    }

    /// The arcs from one member to another, as places in [`CallGraph::arcs`], by caller. Calls of a member to itself
    /// are not among them: they do not hold the cycle together.
    pub fn inner(&self, graph: &CallGraph, cycle: CycleId) -> Vec<usize> {
        let members = self.members(cycle).iter();
        let arcs = members.flat_map(|&member| graph.outgoing(member));
        let is_inner = |arc: &Arc| !arc.is_loop() && self.cycle_of(arc.callee) == Some(cycle);
        arcs.filter(|&arc| is_inner(&graph.arc(arc))).collect()
    }

    /// The arc whose removal breaks most of a cycle: what stays together then is smallest. None where no single arc
    /// breaks it.
    ///
    /// Among equals it is the one with the least inclusive cost of the event type, then the first.
    pub fn breaker(&self, graph: &CallGraph, cycle: CycleId, event: usize) -> Option<Breaker> {
        self.breaker_within(graph, cycle, event, 100_000_000)
    }

    /// The same with a limit to the work, in arcs looked at.
    pub fn breaker_within(
        &self,
        graph: &CallGraph,
        cycle: CycleId,
        event: usize,
        mut work: usize,
    ) -> Option<Breaker> {
        let inner = Inner::of(self, graph, cycle);
        let mut best: Option<Breaker> = None;
        let mut is_best = true;
        for candidate in inner.candidates() {
            let Some(left) = work.checked_sub(inner.arcs.len() + inner.members) else {
                is_best = false;
                break;
            };
            work = left;
            let broken = inner.components_without(candidate);
            if broken.count == 1 {
                continue;
            }
            let mut size = vec![0usize; broken.count];
            broken.of.iter().for_each(|&component| size[component as usize] += 1);
            let found = Breaker {
                arc: inner.places[candidate],
                largest_left: size.iter().copied().filter(|&size| size > 1).max().unwrap_or(0),
                members_left: size.iter().filter(|&&size| size > 1).sum(),
                is_best: true,
            };
            let key = |breaker: &Breaker| {
                let cost = graph.arc_cost(breaker.arc).get(event).copied().unwrap_or(0);
                (breaker.largest_left, breaker.members_left, cost, breaker.arc)
            };
            if best.as_ref().is_none_or(|best| key(&found) < key(best)) {
                best = Some(found);
            }
        }
        best.map(|best| Breaker { is_best, ..best })
    }
}

/// The arc whose removal breaks most of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaker {
    /// Its place in [`CallGraph::arcs`].
    pub arc: usize,
    /// How many members the largest cycle has that is left. 0 when none is.
    pub largest_left: usize,
    /// How many members are then still in cycles.
    pub members_left: usize,
    /// Whether all arcs were tried that could be better. Not so in cycles so large that trying them would take long.
    pub is_best: bool,
}

/// A cycle as a graph of its own, with members numbered from 0.
struct Inner {
    members: usize,
    /// Caller and callee; sorted by caller.
    arcs: Vec<(u32, u32)>,
    /// The places of the arcs in the graph.
    places: Vec<usize>,
    first_out: Vec<u32>,
    /// The member that most is entered by: where a cut is most likely to be right.
    entry: u32,
}

impl Inner {
    fn of(cycles: &Cycles, graph: &CallGraph, cycle: CycleId) -> Inner {
        let members = cycles.members(cycle);
        // Members are sorted, so their place in the list is their number.
        let number = |function| members.binary_search(&function).map_or(0, narrow);
        let places = cycles.inner(graph, cycle);
        let arcs: Vec<(u32, u32)> = places
            .iter()
            .map(|&place| (number(graph.arc(place).caller), number(graph.arc(place).callee)))
            .collect();
        let first_out = begins(members.len(), arcs.iter().map(|&(caller, _)| caller as usize));
        let mut entered: Vec<Cost> = vec![0; members.len()];
        for place in cycles.entries(graph, cycle) {
            entered[number(graph.arc(place).callee) as usize] +=
                graph.arc_cost(place).first().copied().unwrap_or(0);
        }
        let most = entered.iter().copied().max();
        let entry = entered.iter().position(|&cost| Some(cost) == most).map_or(0, narrow);
        Inner { members: members.len(), arcs, places, first_out, entry }
    }

    /// The arcs that can break the cycle at all. From one member, a tree of arcs leads to all others, and another tree
    /// leads back from all others. While both are whole, so is the cycle: only their arcs need be tried, and there are
    /// fewer than two of them for each member.
    fn candidates(&self) -> Vec<usize> {
        let mut in_tree = vec![false; self.arcs.len()];
        let incoming = Grouped::of(self.members, self.arcs.iter().map(|&(_, callee)| Some(callee as usize)));
        for forward in [true, false] {
            let mut seen = vec![false; self.members];
            seen[self.entry as usize] = true;
            let mut queue = vec![self.entry];
            let mut at = 0;
            while let Some(&member) = queue.get(at) {
                at += 1;
                let mut visit = |index: u32| {
                    let (caller, callee) = self.arcs[index as usize];
                    let other = if forward { callee } else { caller };
                    if !std::mem::replace(&mut seen[other as usize], true) {
                        in_tree[index as usize] = true;
                        queue.push(other);
                    }
                };
                if forward {
                    (self.first_out[member as usize]..self.first_out[member as usize + 1])
                        .for_each(&mut visit);
                } else {
                    incoming.get(member as usize).iter().copied().for_each(&mut visit);
                }
            }
        }
        let mut candidates: Vec<usize> = (0..self.arcs.len()).filter(|&index| in_tree[index]).collect();
        // Where not all can be tried, those back to the entry come first.
        candidates.sort_by_key(|&index| self.arcs[index].1 != self.entry);
        candidates
    }

    fn components_without(&self, cut: usize) -> Components {
        components(&self.first_out, |arc| (arc != cut).then(|| self.arcs[arc].1 as usize))
    }
}
