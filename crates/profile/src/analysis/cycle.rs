//! Cycles of a call graph.
//!
//! A cycle is a strongly connected component of two or more nodes: from each member every other member can be reached
//! over arcs. A function that only calls itself is not in a cycle. KCachegrind searches for the same, but overlooks arcs
//! back to the function where its search began, so that a cycle may be smaller there, or missing.
//!
//! Cycles are numbered from 1 in the order of their first members.

use std::sync::OnceLock;

use gristmill_format::Cost;

use crate::analysis::arcs::CallArc;
use crate::analysis::component::{Components, components};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, CycleId, NodeId};
use crate::analysis::large_components::{ALONE, MANY_NODES, Members, large_components};
use crate::analysis::partition::Partition;
use crate::csr::{Csr, group_starts};
use crate::id::narrow;
use crate::ordered::OrderedKey;

/// A node outside of any cycle, or a cycle as a whole. See the example of [`Cycles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A node that is in no cycle.
    Node(NodeId),
    /// All members of a cycle.
    Cycle(CycleId),
}

impl OrderedKey for Unit {
    const BITS: u32 = 1 + u32::BITS;

    fn ordinal(self) -> u128 {
        match self {
            Unit::Node(node) => node.ordinal(),
            Unit::Cycle(cycle) => 1 << u32::BITS | cycle.ordinal(),
        }
    }
}

/// The cycles of a call graph.
///
/// Calls between units (cycles, and nodes outside of any) form no cycle; see [`Condensation`].
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Cycles, Unit};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, even, odd] = [1, 2, 3].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee) in [(main, even), (even, odd), (odd, even)] {
///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[5]);
/// }
/// let graph = builder.build();
///
/// let cycles = Cycles::new(&graph);
/// assert_eq!(cycles.unit(main), Unit::Node(main));
/// let cycle = cycles.cycle_of(odd).expect("they call each other");
/// assert_eq!(cycles.members(cycle), [even, odd]);
/// assert_eq!(cycle.number(), 1);
///
/// // Calls from either to the other hold the cycle together.
/// let breaker = cycles.breaker(&graph, cycle, 0, 100).expect("two arcs");
/// assert_eq!((graph.caller(breaker.arc), breaker.members_left), (even, 0));
///
/// let condensation = cycles.condensation(&graph);
/// assert_eq!(condensation.graph.self_cost(condensation.node_of(odd)), [5]);
/// ```
#[derive(Debug, Clone)]
pub struct Cycles {
    /// The cycle of each node. 32 bits: each arc looks it up.
    cycle_of: Vec<u32>,
    /// Members, cycle after cycle, and the offset of each cycle's first one.
    members: Vec<NodeId>,
    first_member: Vec<u32>,
    /// By node: the rank of its unit, once it is known. No unit calls one of a smaller rank.
    ranks: OnceLock<Vec<u32>>,
}

impl PartialEq for Cycles {
    fn eq(&self, other: &Self) -> bool {
        // The other fields follow from this one, or from the graph.
        self.cycle_of == other.cycle_of
    }
}

impl Eq for Cycles {}

/// The value of [`Cycles::cycle_of`] for a node outside of any cycle.
const NO_CYCLE: u32 = ALONE;

/// The condensation of a call graph: a graph without cycles that has one node for each unit.
///
/// Callers come before callees, and calls of a unit to itself are left out. See the example of [`Cycles`].
#[derive(Debug)]
pub struct Condensation {
    /// The graph of the units.
    pub graph: CallGraph,
    /// The unit that each node of it stands for.
    pub units: Vec<Unit>,
    partition: Partition,
}

impl Condensation {
    /// Returns the node that a node of the original graph was condensed into.
    pub fn node_of(&self, node: NodeId) -> NodeId {
        self.partition.group_of(node)
    }
}

impl Cycles {
    /// Finds the cycles of a graph.
    pub fn new(graph: &CallGraph) -> Self {
        match graph.node_count() < MANY_NODES {
            true => Cycles::with_ranks(graph),
            false => Cycles::by_passes(graph, MANY_NODES),
        }
    }

    /// Finds the cycles of a graph and the order of its units, in which other graphs can be condensed that lack some of its arcs.
    pub(crate) fn with_ranks(graph: &CallGraph) -> Self {
        let (ranks, count) = ranks(graph);
        let mut size = vec![0u32; count];
        ranks.iter().for_each(|&rank| size[rank as usize] += 1);
        let component = |&rank: &u32| if size[rank as usize] < 2 { ALONE } else { rank };
        let cycles = Cycles::from_components(ranks.iter().map(component).collect(), count);
        Cycles { ranks: ranks.into(), ..cycles }
    }

    /// Finds the cycles of a graph by passes, as long as it has many nodes.
    pub(super) fn by_passes(graph: &CallGraph, many: usize) -> Self {
        let Members { component_of, count } = large_components(graph.first_out(), graph.callees(), many);
        Cycles::from_components(component_of, count)
    }

    /// Makes the answer that there are no cycles.
    pub fn none(graph: &CallGraph) -> Self {
        Cycles {
            cycle_of: vec![NO_CYCLE; graph.node_count()],
            members: Vec::new(),
            first_member: vec![0],
            ranks: OnceLock::new(),
        }
    }

    /// Makes them of the component of each node, if it has others.
    fn from_components(component_of: Vec<u32>, count: usize) -> Self {
        let mut cycle_of_component = vec![NO_CYCLE; count];
        let mut cycle_of = component_of;
        let mut sizes: Vec<u32> = Vec::new();
        for cycle in cycle_of.iter_mut().filter(|cycle| **cycle != ALONE) {
            let number = &mut cycle_of_component[*cycle as usize];
            if *number == NO_CYCLE {
                *number = narrow(sizes.len());
                sizes.push(0);
            }
            *cycle = *number;
            sizes[*number as usize] += 1;
        }
        let mut first_member = vec![0u32];
        for size in sizes {
            first_member.push(first_member[first_member.len() - 1] + size);
        }
        let mut next = first_member.clone();
        let mut members = vec![NodeId::from_u32(0); first_member[first_member.len() - 1] as usize];
        for (node, &cycle) in cycle_of.iter().enumerate() {
            if cycle != NO_CYCLE {
                members[next[cycle as usize] as usize] = NodeId::new(node);
                next[cycle as usize] += 1;
            }
        }
        Cycles { cycle_of, members, first_member, ranks: OnceLock::new() }
    }

    /// Returns the count of cycles.
    pub fn len(&self) -> usize {
        self.first_member.len() - 1
    }

    /// `true` if there is no cycle.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Iterates over the cycles.
    pub fn ids(&self) -> impl ExactSizeIterator<Item = CycleId> + use<> {
        (0..self.len()).map(CycleId::new)
    }

    /// Returns the cycle that a node is in.
    #[inline]
    pub fn cycle_of(&self, node: NodeId) -> Option<CycleId> {
        let cycle = self.cycle_of[node.index()];
        (cycle != NO_CYCLE).then_some(CycleId::from_u32(cycle))
    }

    /// Returns the unit that a node belongs to.
    pub fn unit(&self, node: NodeId) -> Unit {
        self.cycle_of(node).map_or(Unit::Node(node), Unit::Cycle)
    }

    /// Returns the members of a cycle, in order.
    pub fn members(&self, cycle: CycleId) -> &[NodeId] {
        let [start, end] = [0, 1].map(|next| self.first_member[cycle.index() + next] as usize);
        &self.members[start..end]
    }

    /// `true` if an arc goes from a unit to itself: inside a cycle, or from a node to itself.
    #[inline]
    pub fn is_inner(&self, arc: &CallArc) -> bool {
        // Most nodes are in no cycle; then the callee need not be looked up.
        let cycle = self.cycle_of[arc.caller.index()];
        arc.is_loop() || cycle != NO_CYCLE && cycle == self.cycle_of[arc.callee.index()]
    }

    /// Returns, by node, the rank of its unit. No unit calls one of a smaller rank. Few questions need it, so it is found when it is
    /// first asked for.
    ///
    /// # Panics
    ///
    /// If these are not the cycles of this graph, and were found without the ranks.
    pub(crate) fn ranks(&self, graph: &CallGraph) -> &[u32] {
        self.ranks.get_or_init(|| {
            let (ranks, count) = ranks(graph);
            assert_eq!(count, self.unit_count(), "the cycles of this graph");
            ranks
        })
    }

    /// Returns the count of units: cycles, and nodes outside of any.
    pub fn unit_count(&self) -> usize {
        self.cycle_of.len() - self.members.len() + self.len()
    }

    /// Condenses the graph.
    ///
    /// # Panics
    ///
    /// If these are not the cycles of this graph.
    pub fn condensation(&self, graph: &CallGraph) -> Condensation {
        let ranks = self.ranks(graph).iter().map(|&rank| rank as usize);
        let partition = Partition::new(self.unit_count(), ranks);
        let mut condensed = graph.folded(&partition);
        if condensed.arcs().any(|arc| arc.is_loop()) {
            condensed = condensed.without(|_, arc| arc.is_loop());
        }
        assert!(condensed.arcs().all(|arc| arc.caller < arc.callee), "the cycles of this graph");
        // Each unit has a node, so all of these are replaced.
        let mut units = vec![Unit::Node(NodeId::from_u32(0)); self.unit_count()];
        for node in graph.nodes() {
            units[partition.group_of(node).index()] = self.unit(node);
        }
        Condensation { graph: condensed, units, partition }
    }

    /// Returns the arcs that enter a cycle from outside, by callee.
    pub fn entries(&self, graph: &CallGraph, cycle: CycleId) -> Vec<ArcId> {
        let members = self.members(cycle).iter();
        let arcs = members.flat_map(|&member| graph.incoming(member));
        arcs.filter(|&arc| self.cycle_of(graph.caller(arc)) != Some(cycle)).collect()
    }

    /// Returns the arcs from one member to another, by caller. Calls of a member to itself are left out: they do not hold
    /// the cycle together.
    pub fn inner(&self, graph: &CallGraph, cycle: CycleId) -> Vec<ArcId> {
        let members = self.members(cycle).iter();
        let arcs = members.flat_map(|&member| graph.outgoing(member));
        let is_inner = |arc: &CallArc| !arc.is_loop() && self.cycle_of(arc.callee) == Some(cycle);
        arcs.filter(|&arc| is_inner(&graph.arc(arc))).collect()
    }

    /// Returns the arc whose removal breaks most of a cycle: it leaves the fewest members in cycles. `None` if no arc that
    /// was tried breaks it.
    ///
    /// Among equals it is the arc with the smallest largest cycle that is left, then the one with the least inclusive cost
    /// of the event type, then the first. `max_work` limits the count of members and arcs that are looked at, over all arcs
    /// that are tried; see [`Breaker::is_best`].
    pub fn breaker(
        &self,
        graph: &CallGraph,
        cycle: CycleId,
        event: usize,
        max_work: usize,
    ) -> Option<Breaker> {
        let inner = CycleGraph::new(self, graph, cycle);
        let mut work_left = max_work;
        let mut best: Option<Breaker> = None;
        let mut is_best = true;
        for candidate in inner.candidates() {
            let Some(left) = work_left.checked_sub(inner.arcs.len() + inner.member_count) else {
                is_best = false;
                break;
            };
            work_left = left;
            let broken = inner.components_without(candidate);
            if broken.count == 1 {
                continue;
            }
            let mut size = vec![0usize; broken.count];
            broken.component_of.iter().for_each(|&component| size[component as usize] += 1);
            let found = Breaker {
                arc: inner.arc_ids[candidate],
                largest_left: size.iter().copied().filter(|&size| size > 1).max().unwrap_or(0),
                members_left: size.iter().filter(|&&size| size > 1).sum(),
                is_best: true,
            };
            let key = |breaker: &Breaker| {
                let cost = graph.arc_cost(breaker.arc).get(event).copied().unwrap_or(0);
                (breaker.members_left, breaker.largest_left, cost, breaker.arc)
            };
            if best.as_ref().is_none_or(|best| key(&found) < key(best)) {
                best = Some(found);
            }
        }
        best.map(|best| Breaker { is_best, ..best })
    }
}

/// Finds the rank of the unit of each node, and the count of units.
fn ranks(graph: &CallGraph) -> (Vec<u32>, usize) {
    let callees = graph.callees();
    let Components { mut component_of, count } =
        components(graph.first_out(), |arc| Some(callees[arc] as usize));
    // A component is complete when all its callees are, so callees come first.
    component_of.iter_mut().for_each(|component| *component = narrow(count) - 1 - *component);
    (component_of, count)
}

/// The arc whose removal breaks most of a cycle. Found by [`Cycles::breaker`]; see the example of [`Cycles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breaker {
    /// The arc.
    pub arc: ArcId,
    /// Count of members of the largest cycle that is left; 0 if none is.
    pub largest_left: usize,
    /// Count of members that are still in cycles.
    pub members_left: usize,
    /// `true` if all arcs were tried that could be better. `false` for cycles so large that this would take too long.
    pub is_best: bool,
}

/// A cycle as a graph of its own, with its members numbered from 0.
struct CycleGraph {
    member_count: usize,
    /// Caller and callee; sorted by caller.
    arcs: Vec<(u32, u32)>,
    /// The same arcs in the whole graph.
    arc_ids: Vec<ArcId>,
    first_out: Vec<u32>,
    /// The member that most cost enters by: the best place for a cut.
    entry: u32,
}

impl CycleGraph {
    fn new(cycles: &Cycles, graph: &CallGraph, cycle: CycleId) -> CycleGraph {
        let members = cycles.members(cycle);
        #[expect(clippy::expect_used, reason = "ends of arcs inside the cycle are members of it")]
        let member = |node| narrow(members.binary_search(&node).expect("a member"));
        let arc_ids = cycles.inner(graph, cycle);
        let arcs: Vec<(u32, u32)> = arc_ids
            .iter()
            .map(|&arc| graph.arc(arc))
            .map(|arc| (member(arc.caller), member(arc.callee)))
            .collect();
        let first_out = group_starts(members.len(), arcs.iter().map(|&(caller, _)| caller as usize));
        let mut entering: Vec<Cost> = vec![0; members.len()];
        for arc in cycles.entries(graph, cycle) {
            entering[member(graph.callee(arc)) as usize] += graph.arc_cost(arc).first().copied().unwrap_or(0);
        }
        let most = entering.iter().copied().max();
        let entry = entering.iter().position(|&cost| Some(cost) == most).map_or(0, narrow);
        CycleGraph { member_count: members.len(), arcs, arc_ids, first_out, entry }
    }

    /// Returns the arcs that may break the cycle.
    ///
    /// From one member a tree of arcs leads to all others, and another tree leads back. While both are whole, so is the
    /// cycle. So only their arcs need to be tried: fewer than two for each member.
    fn candidates(&self) -> Vec<usize> {
        let mut in_tree = vec![false; self.arcs.len()];
        let incoming =
            Csr::new(self.member_count, self.arcs.iter().map(|&(_, callee)| Some(callee as usize)));
        for forward in [true, false] {
            let mut seen = vec![false; self.member_count];
            seen[self.entry as usize] = true;
            let mut queue = vec![self.entry];
            let mut next = 0;
            while let Some(&member) = queue.get(next) {
                next += 1;
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
