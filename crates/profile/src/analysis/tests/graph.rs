//! Arcs, cuts, groups, and what can be reached.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{graph, graphs, n, reaches, truths};
use crate::analysis::{ArcId, CallGraph, Direction, GroupCosts, NodeId, Partition, reach};
use crate::formula::{CostOverflow, DefinedBy, Definition, derive};

#[test]
fn arcs_in_any_order_become_one_each() {
    let graph = graph(&[1, 2, 3], &[(2, 0, 1, 10), (0, 1, 2, 20), (2, 0, 3, 30), (0, 0, 1, 5), (1, 2, 1, 7)]);
    let arcs: Vec<_> = graph
        .arc_ids()
        .zip(graph.arcs())
        .map(|(place, arc)| (arc.caller.index(), arc.callee.index(), arc.count, graph.arc_cost(place)[0]))
        .collect();
    assert_eq!(arcs, [(0, 0, 1, 5), (0, 1, 2, 20), (1, 2, 1, 7), (2, 0, 4, 40)]);
    assert_eq!(graph.outgoing(n(0)).map(ArcId::index).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(graph.incoming(n(0)).map(ArcId::index).collect::<Vec<_>>(), [0, 3]);
    assert_eq!(graph.arc_between(n(1), n(2)), Some(ArcId::new(2)));
    assert_eq!(graph.arc_between(n(2), n(1)), None);
    assert_eq!(graph.total(), [6]);
    assert_eq!(graph.call_count(n(0)), 5);
    assert_eq!(graph.self_and_callees(n(0)), [21]);
}

#[test]
fn weak_arcs_can_be_cut() {
    let graph = graph(&[1, 1, 1], &[(0, 2, 1, 1000), (1, 2, 1, 99), (2, 2, 1, 1), (0, 1, 1, 3)]);
    let weak = graph.weak_arcs(1, 10, |costs| costs[0]);
    let cut = graph.without(|arc, _| weak[arc.index()]);
    let left: Vec<_> = cut.arcs().map(|arc| (arc.caller.index(), arc.callee.index())).collect();
    assert_eq!(left, [(0, 1), (0, 2), (2, 2)]);
    assert_eq!(cut.total(), graph.total());
    assert!(graph.weak_arcs(0, 1, |costs| costs[0]).iter().all(|is_weak| !is_weak));
}

#[test]
fn derived_costs_follow_the_recorded_ones() {
    let graph = graph(&[5, 7], &[(0, 1, 1, 7)]);
    let definition = Definition::parse(b"Twice = 2 Ir", DefinedBy::User).unwrap();
    let derivation = derive(&[b"Ir"], &[definition]);
    let derived = graph.with_derived(&derivation.derived).unwrap();
    assert_eq!(derived.self_cost(n(0)), [5, 10]);
    assert_eq!(derived.arc_cost(ArcId::new(0)), [7, 14]);
    assert_eq!(derived.total(), [12, 24]);
    let large = super::sample::graph(&[Cost::MAX / 2 + 1], &[]);
    assert_eq!(large.with_derived(&derivation.derived), Err(CostOverflow));
}

/// Costs of groups by the index of a node.
fn group_costs(graph: &CallGraph, groups: usize, group_of: impl Fn(NodeId) -> usize) -> GroupCosts {
    crate::analysis::group_costs(graph, &Partition::new(groups, graph.nodes().map(group_of)))
}

#[test]
fn groups_by_hand() {
    // 0 and 1 are of group 0, 2 and 3 of group 1. 0 calls 1 and 2, 1 calls 2, 2 calls 3.
    let one_way =
        graph(&[1, 10, 100, 1000], &[(0, 1, 1, 560), (0, 2, 1, 550), (1, 2, 2, 550), (2, 3, 5, 1000)]);
    let costs = group_costs(&one_way, 3, |function| function.index() / 2);
    assert_eq!(costs.self_costs.rows().collect::<Vec<_>>(), [[11], [1100], [0]]);
    // The first has 1 + 10 of its own, and calls the second twice, with 550 each.
    assert_eq!(costs.inclusive.rows().collect::<Vec<_>>(), [[1111], [1100], [0]]);
    assert_eq!(costs.call_counts, [0, 3, 0]);
    assert_eq!(costs.is_upper_bound, [false; 3]);

    // 0 and 2 are of group 0: calls leave it and come back.
    let back = graph(&[1, 10, 100], &[(0, 1, 1, 110), (1, 2, 1, 100)]);
    let costs = group_costs(&back, 2, |function| function.index() % 2);
    assert_eq!(costs.inclusive.rows().collect::<Vec<_>>(), [[111], [110]]);
    assert_eq!(costs.is_upper_bound, [true; 2]);

    // 0 and 1 call each other, and nothing calls them; 2 is said to have been called for less than it cost.
    let odd = graph(&[10, 70, 30], &[(0, 1, 1, 80), (1, 0, 1, 10), (1, 2, 1, 5)]);
    let costs = group_costs(&odd, 2, |function| function.index() / 2);
    assert_eq!(costs.inclusive.rows().collect::<Vec<_>>(), [[85], [30]]);
    assert_eq!(costs.is_upper_bound, [false; 2]);
    let costs = group_costs(&odd, 1, |_| 0);
    assert_eq!(costs.inclusive.rows().collect::<Vec<_>>(), [[110]]);
}

#[test]
fn reached_in_order_of_distance() {
    let graph =
        graph(&[1; 5], &[(0, 2, 1, 5), (0, 1, 1, 6), (1, 3, 1, 2), (2, 3, 1, 3), (3, 0, 1, 9), (3, 4, 1, 0)]);
    let reached = |farthest| -> Vec<_> {
        let reached = reach(&graph, n(0), Direction::Callees, farthest);
        let via = |arc: ArcId| graph.arc(arc).caller.index();
        reached.iter().map(|reached| (reached.node.index(), reached.distance, via(reached.via))).collect()
    };
    assert_eq!(reached(0), []);
    assert_eq!(reached(1), [(1, 1, 0), (2, 1, 0)]);
    assert_eq!(reached(usize::MAX), [(1, 1, 0), (2, 1, 0), (3, 2, 2), (4, 3, 3)]);
}

proptest! {
    #[test]
    fn merged_as_in_a_map(arcs in prop::collection::vec((0usize..5, 0usize..5, 0i128..9, -9i128..9), 0..40)) {
        let graph = graph(&[0; 5], &arcs);
        let mut map: BTreeMap<(usize, usize), (Cost, Cost)> = BTreeMap::new();
        for (caller, callee, count, cost) in arcs {
            let sums = map.entry((caller, callee)).or_default();
            *sums = (sums.0 + count, sums.1 + cost);
        }
        let found: BTreeMap<_, _> = graph.arc_ids().zip(graph.arcs()).map(|(place, arc)| {
            ((arc.caller.index(), arc.callee.index()), (arc.count, graph.arc_cost(place)[0]))
        }).collect();
        prop_assert_eq!(found.len(), graph.arcs().len());
        prop_assert_eq!(found, map);
        for function in graph.nodes() {
            prop_assert!(graph.outgoing(function).all(|arc| graph.arc(arc).caller == function));
            prop_assert!(graph.incoming(function).all(|arc| graph.arc(arc).callee == function));
        }
        let ways: usize = graph.nodes().map(|function| graph.incoming(function).len()).sum();
        prop_assert_eq!(ways, graph.arcs().len());
    }

    #[test]
    fn folded_as_in_a_map(
        arcs in prop::collection::vec((0usize..9, 0usize..9, 0i128..9, -9i128..9), 0..60),
        groups in prop::collection::vec(0usize..5, 9),
    ) {
        let graph = graph(&[1, 2, 3, 4, 5, 6, 7, 8, 9], &arcs);
        let folded = graph.folded(&Partition::new(5, groups.iter().copied()));
        let mut map: BTreeMap<(usize, usize), (Cost, Cost)> = BTreeMap::new();
        for (caller, callee, count, cost) in arcs {
            let sums = map.entry((groups[caller], groups[callee])).or_default();
            *sums = (sums.0 + count, sums.1 + cost);
        }
        // In the order of the map, too.
        let found: Vec<_> = folded.arc_ids().zip(folded.arcs()).map(|(id, arc)| {
            ((arc.caller.index(), arc.callee.index()), (arc.count, folded.arc_cost(id)[0]))
        }).collect();
        prop_assert_eq!(found, map.into_iter().collect::<Vec<_>>());
        for group in 0..5 {
            let own: Cost = (0..9).filter(|&node| groups[node] == group).map(|node| node as Cost + 1).sum();
            prop_assert_eq!(folded.self_cost(n(group)), [own]);
        }
    }

    #[test]
    fn the_way_to_what_is_reached_is_the_most_expensive(graph in graphs(7, 20)) {
        for from in graph.nodes() {
            for direction in [Direction::Callees, Direction::Callers] {
                let reached = reach(&graph, from, direction, usize::MAX);
                prop_assert!(reached.is_sorted_by_key(|it| (it.distance, it.node)));
                let distance_of = |node: NodeId| match node == from {
                    true => Some(0),
                    false => reached.iter().find(|it| it.node == node).map(|it| it.distance),
                };
                for it in &reached {
                    let near_and_far = |arc: ArcId| {
                        let arc = graph.arc(arc);
                        match direction {
                            Direction::Callees => (arc.caller, arc.callee),
                            Direction::Callers => (arc.callee, arc.caller),
                        }
                    };
                    let ways = graph.arc_ids().filter(|&arc| {
                        let (near, far) = near_and_far(arc);
                        far == it.node && distance_of(near) == Some(it.distance - 1)
                    });
                    let best = ways.max_by_key(|&arc| (graph.arc_cost(arc)[0], std::cmp::Reverse(arc)));
                    prop_assert_eq!(Some(it.via), best);
                }
            }
        }
    }

    #[test]
    fn reached_is_what_can_be_reached(graph in graphs(7, 14)) {
        let matrix = reaches(&graph, |_| false);
        for from in graph.nodes() {
            for (direction, other) in [(Direction::Callees, Direction::Callers), (Direction::Callers, Direction::Callees)] {
                let reached = reach(&graph, from, direction, usize::MAX);
                let mut functions: Vec<_> = reached.iter().map(|reached| reached.node).collect();
                functions.sort();
                let expected: Vec<_> = graph.nodes().filter(|&to| to != from && match direction {
                    Direction::Callees => matrix[from.index()][to.index()],
                    Direction::Callers => matrix[to.index()][from.index()],
                }).collect();
                prop_assert_eq!(functions, expected);
                // As far there as back.
                for there in reached {
                    let back = reach(&graph, there.node, other, there.distance);
                    prop_assert!(back.iter().any(|back| back.node == from && back.distance == there.distance));
                }
            }
        }
    }

    #[test]
    fn groups_cost_what_happened_in_them(truth in truths(), groups in prop::collection::vec(0usize..4, 6)) {
        let graph = truth.graph();
        let costs = group_costs(&graph, 4, |function| groups[function.index()]);
        prop_assert_eq!(costs.self_costs.total(), graph.total());
        for group in 0..4 {
            let members: Vec<_> = graph.nodes().filter(|function| groups[function.index()] == group).collect();
            let truth = truth.cost_within(&members);
            let said = costs.inclusive.row(group)[0];
            if costs.is_upper_bound[group] {
                prop_assert!(said >= truth, "{} for {}", said, truth);
            } else {
                prop_assert_eq!(said, truth);
            }
        }
    }
}
