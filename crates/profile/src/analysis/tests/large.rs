//! A million of anything must not take long, and nothing may go down with the depth of calls.

use gristmill_format::Cost;

use super::sample::{f, graph, n};
use crate::analysis::{
    CallArc, CallGraph, CallTree, Cycles, Direction, ExactTree, Inclusive, Invocation, KCachegrindSums,
    NodeId, Partition, TreeLimits, TreeNodeId, Unit, group_costs, reach,
};

/// The count of functions: deeper than any stack of calls can be. `GRISTMILL_CI` in the environment makes it a million.
fn many() -> usize {
    if std::env::var_os("GRISTMILL_CI").is_some() { 1_000_000 } else { 30_000 }
}

/// Each function calls the next.
fn chain(length: usize) -> CallGraph {
    let arcs: Vec<_> = (1..length).map(|callee| (callee - 1, callee, 1, (length - callee) as Cost)).collect();
    graph(&vec![1; length], &arcs)
}

/// One function calls all others.
fn star(callees: usize) -> CallGraph {
    let arcs: Vec<_> = (1..=callees).map(|callee| (0, callee, 2, 3)).collect();
    let mut self_costs = vec![3; callees + 1];
    self_costs[0] = 1;
    graph(&self_costs, &arcs)
}

#[test]
fn a_chain_of_a_million() {
    let graph = chain(many());
    let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
    assert_eq!((inclusive.cost(n(0)), inclusive.cost(n(many() - 1))), (&[many() as Cost][..], &[1][..]));
    assert_eq!(inclusive.differences(&graph, 0), []);
    assert_eq!(KCachegrindSums::from_graph(&graph, Cycles::none(&graph)).cost(n(1)), [many() as Cost - 1]);
    assert_eq!(reach(&graph, n(many() - 1), Direction::Callers, usize::MAX).len(), many() - 1);

    let limits = TreeLimits { min_cost: 0, max_nodes: usize::MAX, keeps_lone: false };
    let tree = CallTree::estimate(&graph, inclusive.cycles(), None, limits);
    assert_eq!(tree.len(), many() + 1);
    assert_eq!(tree.path_up(TreeNodeId::new(many())).count(), many() + 1);
}

#[test]
fn a_ring_of_a_million() {
    let mut arcs: Vec<_> = (0..many()).map(|caller| (caller, (caller + 1) % many(), 1, 5)).collect();
    arcs.push((0, 2, 1, 1));
    let graph = graph(&vec![1; many()], &arcs);
    let cycles = Cycles::new(&graph);
    let cycle = cycles.ids().next().unwrap();
    assert_eq!(cycles.members(cycle).len(), many());
    assert_eq!(Inclusive::new(&graph, cycles.clone()).unit_cost(Unit::Cycle(cycle)), [many() as Cost]);
    // Trying all arcs would take a million times a million steps.
    let breaker = cycles.breaker(&graph, cycle, 0, 10 * many()).unwrap();
    assert!(!breaker.is_best);
    assert_eq!(breaker.members_left, 0);
}

#[test]
fn a_star_of_a_million() {
    let graph = star(many());
    let cycles = Cycles::new(&graph);
    let inclusive = Inclusive::new(&graph, cycles.clone());
    assert_eq!(inclusive.cost(n(0)), [3 * many() as Cost + 1]);
    assert_eq!(reach(&graph, n(0), Direction::Callees, 1).len(), many());
    let groups = group_costs(&graph, &Partition::new(many(), (0..=many()).map(|index| index % many())));
    assert_eq!(groups.self_costs.total(), graph.total());
    let tree = CallTree::estimate(
        &graph,
        &cycles,
        None,
        TreeLimits { min_cost: 0, max_nodes: 100, keeps_lone: false },
    );
    assert_eq!((tree.len(), tree.node(TreeNodeId::new(1)).hidden), (100, many() - 98));
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), [3 * many() as Cost + 1]);
}

#[test]
fn many_callers_of_one_that_calls_many() {
    // 1 000 functions call one that calls 1 000: a million stacks, and in a tree the middle one a thousand times.
    let side = 1000;
    let mut arcs: Vec<_> = (1..=side).map(|caller| (caller, 0, 1, side as Cost)).collect();
    arcs.extend((1..=side).map(|callee| (0, side + callee, side as Cost, side as Cost)));
    let mut self_costs = vec![0; 2 * side + 1];
    self_costs[side + 1..].fill(side as Cost);
    let graph = graph(&self_costs, &arcs);
    let cycles = Cycles::new(&graph);
    let tree = CallTree::estimate(
        &graph,
        &cycles,
        None,
        TreeLimits { min_cost: 0, max_nodes: 5000, keeps_lone: false },
    );
    assert!(tree.len() <= 5000);
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), [(side * side) as Cost]);
}

#[test]
fn a_diamond_of_sixty_four() {
    // Each of 64 levels is reached in two ways: 2^64 stacks.
    let mut arcs = Vec::new();
    for level in 0..64 {
        let [top, left, right, bottom] = [0, 1, 2, 3].map(|offset| 3 * level + offset);
        arcs.extend([(top, left, 1, 10), (top, right, 1, 10), (left, bottom, 1, 10), (right, bottom, 1, 10)]);
    }
    let mut self_costs = vec![0; 3 * 64 + 1];
    self_costs[3 * 64] = 1 << 40;
    let graph = graph(&self_costs, &arcs);
    let cycles = Cycles::new(&graph);
    let tree = CallTree::estimate(
        &graph,
        &cycles,
        None,
        TreeLimits { min_cost: 1 << 20, max_nodes: 10_000, keeps_lone: false },
    );
    assert!(tree.len() <= 10_000);
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), [1 << 40]);
}

#[test]
fn a_million_invocations_in_one_stack() {
    let mut tree = ExactTree::new(1);
    for depth in 0..many() {
        let (calls, costs) = ([(f(0), 1)], [depth as Cost]);
        let below = usize::from(depth > 0);
        let block = Invocation {
            function: f(0),
            self_costs: &[1],
            calls: &calls[..below],
            call_costs: &costs[..below],
        };
        tree.push(block).unwrap();
    }
    assert_eq!(tree.unequal_call_count(), 0);
    let tree = tree.finish();
    assert_eq!((tree.len(), tree.inclusive(TreeNodeId::new(1))), (many() + 1, &[many() as Cost][..]));
}

#[test]
fn members_of_large_cycles_are_added_up_by_all_threads() {
    // A ring of more functions than a thread takes, which calls a function outside of it, and is called by another one.
    const COUNT: usize = 3 * crate::threads::ITEMS_PER_THREAD;
    let mut builder = CallGraph::builder(1);
    let start = builder.add_node(&[1]);
    let ring: Vec<NodeId> = (0..COUNT).map(|_| builder.add_node(&[2])).collect();
    let leaf = builder.add_node(&[3]);
    for (nth, &node) in ring.iter().enumerate() {
        builder.add_arc(CallArc { caller: node, callee: ring[(nth + 1) % COUNT], count: 5 }, &[7]);
        builder.add_arc(CallArc { caller: node, callee: leaf, count: 1 }, &[11]);
        builder.add_arc(CallArc { caller: start, callee: node, count: 2 }, &[13]);
    }
    let graph = builder.build();
    let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
    let cycle = inclusive.cycles().cycle_of(ring[0]).expect("a ring");
    let count = COUNT as Cost;
    assert_eq!(inclusive.cycle_call_count(cycle), 2 * count);
    assert_eq!(inclusive.cycle_self_cost(cycle), [2 * count]);
    // All of it is no more than the total.
    let total = 1 + 2 * count + 3;
    assert_eq!(inclusive.cycle_cost(cycle), [(13 * count).min(total)]);
    assert!(ring.iter().all(|&node| inclusive.cost(node) == [13]));
}
