//! Graphs to try things on.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use crate::FunctionId;
use crate::analysis::{ArcId, CallArc, CallGraph, ExactTree, Invocation, NodeId, NotInvocations};

pub(super) fn n(index: usize) -> NodeId {
    NodeId::new(index)
}

pub(super) fn f(index: usize) -> FunctionId {
    FunctionId::new(index)
}

/// A graph with one event type: self costs, and arcs as caller, callee, count, cost.
pub(crate) fn graph(self_costs: &[Cost], arcs: &[(usize, usize, Cost, Cost)]) -> CallGraph {
    let mut graph = CallGraph::builder(1);
    let nodes: Vec<NodeId> = self_costs.iter().map(|&cost| graph.add_node(&[cost])).collect();
    for &(caller, callee, count, cost) in arcs {
        graph.add_arc(CallArc { caller: nodes[caller], callee: nodes[callee], count }, &[cost]);
    }
    graph.build()
}

/// Any graph; its costs need not fit together.
pub(crate) fn graphs(functions: usize, arcs: usize) -> impl Strategy<Value = CallGraph> {
    let cost = prop_oneof![Just(0i128), 1i128..30];
    (1..=functions).prop_flat_map(move |functions| {
        let arc = (0..functions, 0..functions, 0i128..4, cost.clone());
        (prop::collection::vec(0i128..30, functions), prop::collection::vec(arc, 0..=arcs))
            .prop_map(|(self_costs, arcs)| graph(&self_costs, &arcs))
    })
}

/// The real invocations, each after its caller.
#[derive(Debug, Clone)]
pub(super) struct Truth {
    pub(super) functions: usize,
    /// Caller, function, self cost.
    pub(super) invocations: Vec<(Option<usize>, usize, Cost)>,
}

/// Any run of a program whose function 0 is not called again.
pub(super) fn truths() -> impl Strategy<Value = Truth> {
    (2usize..6, prop::collection::vec((any::<prop::sample::Index>(), 0usize..5, 0i128..20), 0..40)).prop_map(
        |(functions, calls)| {
            let mut invocations = vec![(None, 0, 1)];
            for (caller, function, cost) in calls {
                let caller = caller.index(invocations.len());
                invocations.push((Some(caller), 1 + function % (functions - 1), cost));
            }
            Truth { functions, invocations }
        },
    )
}

/// Any run of a program with threads: stacks begin with any function, also with one that is called.
pub(super) fn truths_of_threads() -> impl Strategy<Value = Truth> {
    let cost = prop_oneof![Just(0), 0i128..20];
    let call = (prop::option::weighted(0.9, any::<prop::sample::Index>()), 0usize..9, cost);
    (2usize..9, prop::collection::vec(call, 1..30)).prop_map(|(functions, calls)| {
        let mut invocations: Vec<(Option<usize>, usize, Cost)> = Vec::new();
        for (caller, function, cost) in calls {
            let caller = caller.filter(|_| !invocations.is_empty());
            let caller = caller.map(|caller| caller.index(invocations.len()));
            invocations.push((caller, function % functions, cost));
        }
        Truth { functions, invocations }
    })
}

/// Any run of a program without recursion: a function calls only functions of higher numbers.
pub(super) fn truths_without_recursion() -> impl Strategy<Value = Truth> {
    (3usize..7, prop::collection::vec((any::<prop::sample::Index>(), 0usize..6, 0i128..20), 0..20)).prop_map(
        |(functions, calls)| {
            let mut invocations = vec![(None, 0, 1)];
            for (caller, step, cost) in calls {
                let caller = caller.index(invocations.len());
                let above = functions - 1 - invocations[caller].1;
                if above > 0 {
                    invocations.push((Some(caller), invocations[caller].1 + 1 + step % above, cost));
                }
            }
            Truth { functions, invocations }
        },
    )
}

impl Truth {
    /// The cost of each invocation with all below.
    pub(super) fn inclusive(&self) -> Vec<Cost> {
        let mut costs: Vec<Cost> = self.invocations.iter().map(|invocation| invocation.2).collect();
        for index in (0..costs.len()).rev() {
            if let (Some(caller), ..) = self.invocations[index] {
                costs[caller] += costs[index];
            }
        }
        costs
    }

    /// Returns the graph that a profiler with arcs only writes.
    pub(super) fn graph(&self) -> CallGraph {
        let inclusive = self.inclusive();
        let mut self_costs = vec![0; self.functions];
        let mut arcs = Vec::new();
        for (index, &(caller, function, cost)) in self.invocations.iter().enumerate() {
            self_costs[function] += cost;
            if let Some(caller) = caller {
                arcs.push((self.invocations[caller].1, function, 1, inclusive[index]));
            }
        }
        graph(&self_costs, &arcs)
    }

    /// Returns the cost while one of some functions was active, on any level.
    pub(super) fn cost_within(&self, functions: &[NodeId]) -> Cost {
        let mut is_within = vec![false; self.invocations.len()];
        let mut sum = 0;
        for (index, &(caller, function, cost)) in self.invocations.iter().enumerate() {
            is_within[index] =
                functions.contains(&n(function)) || caller.is_some_and(|caller| is_within[caller]);
            sum += if is_within[index] { cost } else { 0 };
        }
        sum
    }

    /// Self cost by stack, without those of no cost at all.
    pub(super) fn stacks(&self) -> BTreeMap<Vec<usize>, Cost> {
        let mut stacks: Vec<Vec<usize>> = Vec::new();
        let mut costs = BTreeMap::new();
        for &(caller, function, cost) in &self.invocations {
            let mut stack = caller.map_or(Vec::new(), |caller| stacks[caller].clone());
            stack.push(function);
            *costs.entry(stack.clone()).or_insert(0) += cost;
            stacks.push(stack);
        }
        costs
    }

    /// Returns the tree that a profiler with one block per invocation writes.
    pub(super) fn exact_tree(&self) -> Result<ExactTree, NotInvocations> {
        let inclusive = self.inclusive();
        let mut called: Vec<Vec<usize>> = vec![Vec::new(); self.invocations.len()];
        for (index, &(caller, ..)) in self.invocations.iter().enumerate() {
            if let Some(caller) = caller {
                called[caller].push(index);
            }
        }
        let mut order = Vec::new();
        let mut open = vec![(0, false)];
        while let Some((index, is_done)) = open.pop() {
            match is_done {
                true => order.push(index),
                false => {
                    open.push((index, true));
                    open.extend(called[index].iter().rev().map(|&callee| (callee, false)));
                }
            }
        }
        let mut tree = ExactTree::new(1);
        for index in order {
            let (_, function, cost) = self.invocations[index];
            let calls: Vec<_> =
                called[index].iter().map(|&callee| (f(self.invocations[callee].1), 1)).collect();
            let call_costs: Vec<_> = called[index].iter().map(|&callee| inclusive[callee]).collect();
            let (self_costs, calls, call_costs) = (&[cost][..], &calls[..], &call_costs[..]);
            tree.push(Invocation { function: f(function), self_costs, calls, call_costs })?;
        }
        Ok(tree)
    }
}

/// Returns the nodes that each node reaches over one or more arcs, in the simplest way.
pub(super) fn reaches(graph: &CallGraph, is_cut: impl Fn(ArcId) -> bool) -> Vec<Vec<bool>> {
    let count = graph.node_count();
    let mut reaches = vec![vec![false; count]; count];
    for (place, arc) in graph.arc_ids().zip(graph.arcs()) {
        reaches[arc.caller.index()][arc.callee.index()] |= !is_cut(place);
    }
    for over in 0..count {
        for from in 0..count {
            for to in 0..count {
                reaches[from][to] |= reaches[from][over] && reaches[over][to];
            }
        }
    }
    reaches
}
