//! Arcs, cuts, groups, and what can be reached.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{Truth, graph, graphs, n, reaches, truths, truths_of_threads};
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

    // 0 and 2 are of group 0: calls leave it and come back, and only its calls do.
    let back = graph(&[1, 10, 100], &[(0, 1, 1, 110), (1, 2, 1, 100)]);
    let costs = group_costs(&back, 2, |function| function.index() % 2);
    assert_eq!(costs.inclusive.rows().collect::<Vec<_>>(), [[111], [110]]);
    assert_eq!(costs.is_upper_bound, [false; 2]);

    // 0 and 1 call each other, and nothing calls them; 2 is said to have been called for less than it cost.
    let odd = graph(&[10, 70, 30], &[(0, 1, 1, 80), (1, 0, 1, 10), (1, 2, 1, 5)]);
    let costs = group_costs(&odd, 2, |function| function.index() / 2);
    assert_eq!(costs.inclusive.rows().collect::<Vec<_>>(), [[85], [30]]);
    assert_eq!(costs.is_upper_bound, [false; 2]);
    let costs = group_costs(&odd, 1, |_| 0);
    assert_eq!(costs.inclusive.rows().collect::<Vec<_>>(), [[110]]);
}

/// 0 is `main`; 1 `parse` and 3 `parse_item` are a group; 2 `visit` is called by `parse` and calls `parse_item`.
#[test]
fn calls_through_a_function_of_another_group() {
    const PARSER: [usize; 2] = [1, 3];
    let parser = |self_costs: &[Cost], arcs: &[(usize, usize, Cost, Cost)]| {
        let costs = group_costs(&graph(self_costs, arcs), 2, |function| {
            usize::from(PARSER.contains(&function.index()))
        });
        assert_eq!(costs.leads_back[1].is_some(), costs.is_upper_bound[1] && self_costs[1] > 0);
        assert!(costs.leads_back[1].is_none_or(|visit| visit == n(2)));
        (costs.inclusive.row(1)[0], costs.is_upper_bound[1])
    };
    let simple = [(0, 1, 1, 900), (1, 2, 1, 800), (2, 3, 1, 700)];
    assert_eq!(parser(&[5000, 100, 100, 700], &simple), (900, false));
    // Visitors that call each other, and the parser itself, for more items.
    let recursive =
        [(0, 1, 1, 900), (1, 2, 1, 800), (2, 4, 3, 375), (4, 2, 2, 300), (2, 3, 4, 700), (3, 2, 1, 50)];
    assert_eq!(parser(&[5000, 100, 75, 650, 75], &recursive), (900, false));
    // `main` visits, too, and it is not known which visit was how expensive.
    let also_called = [(0, 1, 1, 800), (0, 2, 1, 100), (1, 2, 1, 700), (2, 3, 2, 700)];
    assert_eq!(parser(&[5000, 100, 100, 700], &also_called), (1500, true));
    // `visit` is where a stack begins: it costs more than its callers state.
    let thread = [(0, 1, 1, 800), (1, 2, 1, 700), (2, 3, 2, 700)];
    assert_eq!(parser(&[5000, 100, 100, 700], &thread), (1500, true));
    // It comes back for nothing.
    let free = [(0, 1, 1, 1400), (0, 2, 1, 100), (1, 2, 1, 600), (1, 3, 1, 700), (2, 3, 2, 0)];
    assert_eq!(parser(&[5000, 100, 700, 700], &free), (1400, false));
    // Nothing enters the cycle of 2 and 4, so it is not below the parser.
    let alone = [(0, 1, 1, 800), (1, 3, 1, 700), (2, 4, 1, 700), (4, 2, 1, 700), (2, 3, 1, 300)];
    assert_eq!(parser(&[5000, 100, 0, 1000, 0], &alone), (1100, false));
    // A difference can be below 0 where it is not so on either side.
    let difference = [(0, 1, 1, -900), (1, 2, 1, -800), (2, 3, 1, -700)];
    let difference = group_costs(&graph(&[5000, -100, -100, -700], &difference), 2, |function| {
        usize::from(PARSER.contains(&function.index()))
    });
    assert_eq!([0, 1].map(|group| difference.is_estimate(group, 0)), [true; 2]);
}

#[test]
fn groups_beyond_the_limit_of_steps_are_upper_bounds() {
    // Each of the groups has two functions of a long chain, and all between them is inside of it.
    let length = 12_000;
    let arcs: Vec<_> =
        (1..2 * length).map(|callee| (callee - 1, callee, 1, (2 * length - callee) as Cost)).collect();
    let chain = graph(&vec![1; 2 * length], &arcs);
    let costs = group_costs(&chain, length, |function| function.index() % length);
    let truth = |group: usize| (2 * length - group) as Cost;
    let mut exact = 0;
    for group in 0..length {
        let [said] = costs.inclusive.row(group) else { panic!("one event type") };
        match costs.is_upper_bound[group] {
            true => assert!(*said >= truth(group)),
            false => {
                exact += 1;
                assert_eq!(*said, truth(group));
            }
        }
    }
    assert!((64..length - 64).contains(&exact), "{exact}");
    // The most expensive ones are known.
    assert!(costs.is_upper_bound.is_sorted());
}

/// A simple way to tell whether calls of a group may come back from a function that is also called without it.
fn may_come_back(graph: &CallGraph, begins: &[bool], is_member: impl Fn(NodeId) -> bool) -> bool {
    let members: Vec<bool> = graph.nodes().map(is_member).collect();
    let is_cut = |arc: ArcId| members[graph.caller(arc).index()] || members[graph.callee(arc).index()];
    let without = reaches(graph, is_cut);
    let outside: Vec<bool> = (0..members.len())
        .map(|node| {
            let from =
                |begin: usize| begins[begin] && !members[begin] && (begin == node || without[begin][node]);
            !members[node] && (0..members.len()).any(from)
        })
        .collect();
    let ends = |arc: ArcId| (graph.caller(arc).index(), graph.callee(arc).index());
    graph.arc_ids().any(|leaving| {
        let (inside, first) = ends(leaving);
        !outside[inside]
            && outside[first]
            && graph.arc_cost(leaving) != [0]
            && graph.arc_ids().any(|entering| {
                let (last, member) = ends(entering);
                members[member]
                    && outside[last]
                    && (first == last || without[first][last])
                    && graph.arc_cost(entering) != [0]
            })
    })
}

#[test]
fn reached_in_order_of_distance() {
    let graph =
        graph(&[1; 5], &[(0, 2, 1, 5), (0, 1, 1, 6), (1, 3, 1, 2), (2, 3, 1, 3), (3, 0, 1, 9), (3, 4, 1, 0)]);
    let reached = |farthest| -> Vec<_> {
        let reached = reach(&graph, n(0), Direction::Callees, farthest);
        let via = |arc: ArcId| graph.caller(arc).index();
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
            prop_assert!(graph.outgoing(function).all(|arc| graph.caller(arc) == function));
            prop_assert!(graph.incoming(function).all(|arc| graph.callee(arc) == function));
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
    fn groups_are_exact_unless_calls_come_back(
        truth in prop_oneof![truths(), truths_of_threads()],
        groups in prop::collection::vec(0usize..3, 9),
    ) {
        let graph = truth.graph();
        let costs = group_costs(&graph, 3, |function| groups[function.index()]);
        let begins: Vec<bool> = graph.nodes().map(|node| {
            let inclusive = truth.inclusive();
            let of_stacks = truth.invocations.iter().zip(inclusive);
            let mut of_stacks = of_stacks.filter(|((caller, function, _), _)| caller.is_none() && n(*function) == node);
            of_stacks.any(|(_, cost)| cost > 0)
        }).collect();
        for group in 0..3 {
            let is_member = |node: NodeId| groups[node.index()] == group;
            prop_assert_eq!(costs.is_upper_bound[group], may_come_back(&graph, &begins, is_member));
            let members: Vec<_> = graph.nodes().filter(|&node| is_member(node)).collect();
            let (said, truth) = (costs.inclusive.row(group)[0], truth.cost_within(&members));
            match costs.is_upper_bound[group] {
                true => prop_assert!(said >= truth, "{} for {}", said, truth),
                false => prop_assert_eq!(said, truth),
            }
        }
    }

    #[test]
    fn groups_with_costs_below_0_are_exact_or_estimates(
        truth in prop_oneof![truths(), truths_of_threads()],
        signs in prop::collection::vec(prop::bool::ANY, 41),
        groups in prop::collection::vec(0usize..3, 9),
    ) {
        let Truth { functions, invocations } = truth;
        let signed = invocations.into_iter().zip(signs).map(|((caller, function, cost), is_less)| {
            (caller, function, if is_less { -cost } else { cost })
        });
        let truth = Truth { functions, invocations: signed.collect() };
        let graph = truth.graph();
        let costs = group_costs(&graph, 3, |function| groups[function.index()]);
        // Costs below 0 can be lost in sums.
        prop_assume!(costs.may_be_negative[0]);
        for group in 0..3 {
            let members: Vec<_> = graph.nodes().filter(|&node| groups[node.index()] == group).collect();
            let said = costs.inclusive.row(group)[0];
            prop_assert!(costs.is_estimate(group, 0) || said == truth.cost_within(&members), "{}: {}", group, said);
        }
    }

    #[test]
    fn groups_cost_no_less_than_their_functions(graph in graphs(7, 20), groups in prop::collection::vec(0usize..3, 7)) {
        let costs = group_costs(&graph, 3, |function| groups[function.index()]);
        for group in 0..3 {
            prop_assert!(costs.inclusive.row(group)[0] >= costs.self_costs.row(group)[0]);
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
