//! Calls that come back to a group of functions.
//!
//! A stack has a group on it from its first member on. A function that is only ever called below the group, such as a visitor
//! between two functions of a parser, is *inside* of it, and what it calls in the group is no entry. A function is inside if
//! every path of calls to it, from a function where a stack begins, has a member on it. All others are *outside*: they can be
//! found by following calls from where stacks begin, without passing members.
//!
//! Stacks begin at functions that cost more than their callers state. The self cost of a function and the calls that it makes
//! cost as much, in a consistent file, as the calls to it and the stacks that begin with it; this holds in any recursion.
//! Where a file is not consistent, this test also keeps what is taken off below what was counted twice.
//!
//! 64 groups are looked at together, one bit for each. All groups of a graph could take the square of its size, so the count
//! of steps has a limit.

use std::collections::VecDeque;

use gristmill_format::Cost;

use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId};
use crate::analysis::partition::Partition;
use crate::cost::subtract;

/// Arcs and nodes that are looked at: some 0.1 s, as a person waits for them. 64 groups take two to five for each arc and node
/// of the graph, so this is enough for a thousand groups of a program of 12,000 functions. All groups of a graph of some
/// million arcs keep an upper bound.
const MAX_STEPS: usize = 1 << 22;
/// Steps, for each arc and node, without which it is not worth while to begin.
const STEPS_OF_A_BATCH: usize = 2;

/// The ways back to one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reentry {
    /// The group.
    pub(super) group: NodeId,
    /// Calls of its functions from functions that are inside of it.
    pub(super) inner: Vec<ArcId>,
    /// `false` if no call comes back to it, of any cost. It is only looked for if costs can be below 0.
    pub(super) comes_back: bool,
    /// A function outside of the group that is called below it, and from which calls lead back, so that some entries of the group
    /// may be within others. Of several it is the one whose calls cost most.
    pub(super) leads_back: Option<NodeId>,
}

/// Finds the ways back to groups. Later groups, or all, are missing if the limit of steps was reached. `may_be_negative` says that costs
/// can be below 0.
pub(super) fn reentries(
    graph: &CallGraph,
    partition: &Partition,
    groups: &[NodeId],
    may_be_negative: bool,
) -> Vec<Reentry> {
    let elements = graph.node_count() + graph.arcs().len();
    if MAX_STEPS / STEPS_OF_A_BATCH < elements {
        return Vec::new();
    }
    let begins = begins(graph, may_be_negative);
    let mut group_bits = vec![0u64; partition.group_count()];
    let mut steps = MAX_STEPS;
    let mut found = Vec::new();
    for batch in groups.chunks(u64::BITS as usize) {
        group_bits.fill(0);
        batch.iter().enumerate().for_each(|(nth, group)| group_bits[group.index()] = 1 << nth);
        let own: Vec<u64> = partition.groups().map(|group| group_bits[group.index()]).collect();
        let Some(ways) = Ways::new(graph, &own, &begins, &mut steps) else { break };
        let all = if may_be_negative { come_back(graph, &own, &mut steps) } else { Some(u64::MAX) };
        let Some(all) = all else { break };
        let mut inner = vec![Vec::new(); batch.len()];
        for (id, arc) in graph.arc_ids().zip(graph.arcs()) {
            let [caller, callee] = [arc.caller, arc.callee].map(NodeId::index);
            let entered = own[callee] & !own[caller] & !ways.outside[caller];
            if entered != 0 {
                inner[entered.trailing_zeros() as usize].push(id);
            }
        }
        for (nth, (inner, &group)) in inner.into_iter().zip(batch).enumerate() {
            let comes_back = all >> nth & 1 == 1;
            found.push(Reentry { group, inner, comes_back, leads_back: ways.leads_back[nth] });
        }
    }
    found
}

/// Returns the bits of groups that calls come back to.
fn come_back(graph: &CallGraph, own: &[u64], steps: &mut usize) -> Option<u64> {
    let mut called = vec![0; graph.node_count()];
    for arc in graph.arcs() {
        called[arc.callee.index()] |= own[arc.caller.index()] & !own[arc.callee.index()];
    }
    let mut below = Spread::new(called);
    below.follow_calls(graph, own, steps)?;
    Some(graph.arcs().fold(0, |bits, arc| bits | below.bits[arc.caller.index()] & own[arc.callee.index()]))
}

/// Returns `true` for each node with which stacks begin that cost something, by node.
fn begins(graph: &CallGraph, may_be_negative: bool) -> Vec<bool> {
    let mut surplus = graph.self_costs().clone();
    for (id, arc) in graph.arc_ids().zip(graph.arcs()) {
        surplus.add(arc.caller.index(), graph.arc_cost(id));
        subtract(surplus.row_mut(arc.callee.index()), graph.arc_cost(id));
    }
    let mut is_recorded = vec![true; graph.width()];
    graph.kinds().derived().for_each(|column| is_recorded[column] = false);
    let is_some = |cost: Cost| cost > 0 || may_be_negative && cost != 0;
    let begins =
        |row: &[Cost]| row.iter().zip(&is_recorded).any(|(&cost, &recorded)| recorded && is_some(cost));
    surplus.rows().map(begins).collect()
}

/// Returns `true` for calls that cost something. Others are counted twice without harm.
fn costs_something(graph: &CallGraph, arc: ArcId) -> bool {
    graph.arc_cost(arc).iter().any(|&cost| cost != 0)
}

/// The nodes outside of up to 64 groups, one bit for each, and those of them from which calls lead back.
struct Ways {
    /// By node: the groups that it is outside of.
    outside: Vec<u64>,
    /// By group: the node that leads back.
    leads_back: [Option<NodeId>; 64],
}

impl Ways {
    /// Finds them, unless that takes more steps than are left. `own` has the groups of each node.
    fn new(graph: &CallGraph, own: &[u64], begins: &[bool], steps: &mut usize) -> Option<Ways> {
        // The loops over all arcs, here and by the caller.
        *steps = steps.checked_sub(graph.node_count() + graph.arcs().len())?;
        let mut outside =
            Spread::new(begins.iter().zip(own).map(|(&begins, own)| if begins { !own } else { 0 }).collect());
        outside.follow_calls(graph, own, steps)?;
        let outside = outside.bits;
        let mut back = vec![0; graph.node_count()];
        for (id, arc) in graph.arc_ids().zip(graph.arcs()) {
            let [caller, callee] = [arc.caller, arc.callee].map(NodeId::index);
            if own[callee] & outside[caller] != 0 && costs_something(graph, id) {
                back[caller] |= own[callee];
            }
        }
        back.iter_mut().zip(&outside).for_each(|(back, outside)| *back &= outside);
        let mut back = Spread::new(back);
        back.follow(steps, |node, spread| {
            let arcs = graph.incoming(node);
            let count = arcs.len();
            for arc in arcs {
                let caller = graph.caller(arc);
                spread(caller, outside[caller.index()]);
            }
            count
        })?;
        let mut leads_back = [None; 64];
        let mut highest: [&[Cost]; 64] = [&[]; 64];
        for (id, arc) in graph.arc_ids().zip(graph.arcs()) {
            // From a member, or from what is inside of the group.
            let mut bits = !outside[arc.caller.index()] & back.bits[arc.callee.index()];
            if bits == 0 || !costs_something(graph, id) {
                continue;
            }
            while bits != 0 {
                let nth = bits.trailing_zeros() as usize;
                if graph.arc_cost(id) > highest[nth] {
                    (highest[nth], leads_back[nth]) = (graph.arc_cost(id), Some(arc.callee));
                }
                bits &= bits - 1;
            }
        }
        Some(Ways { outside, leads_back })
    }
}

/// Bits that spread from node to node.
struct Spread {
    bits: Vec<u64>,
    /// Nodes with bits that have not spread yet, and `true` for each of them.
    waiting: VecDeque<NodeId>,
    is_waiting: Vec<bool>,
}

impl Spread {
    fn new(bits: Vec<u64>) -> Spread {
        let is_waiting: Vec<bool> = bits.iter().map(|&bits| bits != 0).collect();
        let waiting = (0..bits.len()).filter(|&index| is_waiting[index]).map(NodeId::new).collect();
        Spread { bits, waiting, is_waiting }
    }

    /// Spreads bits to functions that are called, but not into the groups that they stand for. Returns `None` if that takes more steps than are
    /// left.
    fn follow_calls(&mut self, graph: &CallGraph, own: &[u64], steps: &mut usize) -> Option<()> {
        self.follow(steps, |node, spread| {
            let arcs = graph.outgoing(node);
            let count = arcs.len();
            for arc in arcs {
                let callee = graph.callee(arc);
                spread(callee, !own[callee.index()]);
            }
            count
        })
    }

    /// Spreads bits until nothing changes. `neighbours` passes on each node that the bits of a node spread to, with the bits
    /// that it may have, and returns the count of arcs it looked at. Returns `None` if that takes more steps than are left.
    fn follow(
        &mut self,
        steps: &mut usize,
        neighbours: impl Fn(NodeId, &mut dyn FnMut(NodeId, u64)) -> usize,
    ) -> Option<()> {
        while let Some(node) = self.waiting.pop_front() {
            self.is_waiting[node.index()] = false;
            let Spread { bits, waiting, is_waiting } = self;
            let spreading = bits[node.index()];
            let count = neighbours(node, &mut |to, allowed| {
                let bits = &mut bits[to.index()];
                let new = spreading & allowed & !*bits;
                if new != 0 {
                    *bits |= new;
                    if !std::mem::replace(&mut is_waiting[to.index()], true) {
                        waiting.push_back(to);
                    }
                }
            });
            *steps = steps.checked_sub(count + 1)?;
        }
        Some(())
    }
}
