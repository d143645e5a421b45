//! Three rules for inclusive costs, by hand and against naive twins.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{graph, graphs, n, reaches, truths};
use crate::analysis::{
    CallArc, CallGraph, Cycles, Difference, Inclusive, InclusiveRule, KCachegrindSums, Sides, Unit,
};

fn all(inclusive: &Inclusive, count: usize) -> Vec<Cost> {
    (0..count).map(|function| inclusive.cost(n(function))[0]).collect()
}

fn own(graph: &CallGraph) -> Inclusive {
    Inclusive::new(graph, Cycles::new(graph))
}

#[test]
fn without_recursion_all_rules_agree() {
    // main calls mill twice and log; mill calls stone and log.
    let graph = graph(&[10, 20, 300, 4], &[(0, 1, 2, 322), (0, 3, 1, 2), (1, 2, 5, 300), (1, 3, 1, 2)]);
    let expected = [334, 322, 300, 4];
    assert_eq!(all(&own(&graph), 4), expected);
    assert_eq!(all(&KCachegrindSums::from_graph(&graph, Cycles::new(&graph)), 4), expected);
    assert_eq!(all(&Inclusive::callgrind_annotate(&graph), 4), expected);
    assert_eq!(own(&graph).differences(&graph, 0), []);
    assert_eq!((0..4).map(|function| own(&graph).call_count(n(function))).collect::<Vec<_>>(), [0, 2, 5, 2]);
}

#[test]
fn calls_to_itself() {
    // main calls fib once; fib calls itself 8 times. Below fib, 90 is counted again on each level.
    let graph = graph(&[10, 90], &[(0, 1, 1, 90), (1, 1, 8, 240)]);
    assert_eq!(all(&own(&graph), 2), [100, 90]);
    assert_eq!(all(&KCachegrindSums::from_graph(&graph, Cycles::new(&graph)), 2), [100, 90]);
    assert_eq!(all(&Inclusive::callgrind_annotate(&graph), 2), [100, 330]);
    assert_eq!(own(&graph).call_count(n(1)), 9);
}

#[test]
fn a_cycle_is_one() {
    // main -> even <-> odd -> leaf.
    let graph = graph(&[1, 20, 30, 400], &[(0, 1, 1, 450), (1, 2, 3, 440), (2, 1, 2, 300), (2, 3, 3, 400)]);
    let inclusive = own(&graph);
    // A member has what is its own and what it calls outside.
    assert_eq!(all(&inclusive, 4), [451, 20, 430, 400]);
    let cycle = inclusive.cycles().ids().next().unwrap();
    assert_eq!((inclusive.cycle_cost(cycle), inclusive.cycle_self_cost(cycle)), (&[450][..], &[50][..]));
    assert_eq!(inclusive.cycle_call_count(cycle), 1);
    assert_eq!(inclusive.call_count(n(1)), 3);
    assert_eq!(inclusive.unit_cost(Unit::Cycle(cycle)), [450]);
    let sides = Sides { callees: vec![450], callers: Some(vec![450]) };
    assert_eq!(inclusive.sides(&graph, Unit::Cycle(cycle)), sides);
    assert_eq!(inclusive.sides(&graph, Unit::Node(n(0))), Sides { callees: vec![451], callers: None });

    assert_eq!(KCachegrindSums::from_graph(&graph, Cycles::new(&graph)).cycle_cost(cycle), [450]);
    // Without cycles, KCachegrind has the callers' sums, and ours go no higher than the total.
    assert_eq!(all(&KCachegrindSums::from_graph(&graph, Cycles::none(&graph)), 4), [451, 750, 440, 400]);
    assert_eq!(all(&Inclusive::new(&graph, Cycles::none(&graph)), 4), [451, 451, 451, 400]);
    assert_eq!(all(&Inclusive::callgrind_annotate(&graph), 4), [451, 750, 440, 400]);
}

/// Of two functions that call each other only the one that is entered has all of the cycle for certain.
#[test]
fn members_of_cycles_have_limits() {
    let graph = graph(&[1, 20, 30, 400], &[(0, 1, 1, 450), (1, 2, 3, 440), (2, 1, 2, 300), (2, 3, 3, 400)]);
    let inclusive = Inclusive::without_cycles(&graph);
    assert_eq!(all(&inclusive, 4), [451, 450, 450, 400]);
    let limits: Vec<bool> = (0..4).map(|node| inclusive.is_upper_limit(n(node))).collect();
    assert_eq!(limits, [false, false, true, false]);
    assert!(inclusive.cycles().is_empty());
    // What is above the total is a limit by the other rule, too: 15 of a total of 13.
    let jump = super::sample::graph(&[1, 2, 10], &[(0, 1, 1, 12), (1, 2, 3, 15)]);
    assert!(own(&jump).is_upper_limit(n(1)) && !own(&jump).is_upper_limit(n(0)));
}

#[test]
fn where_callers_and_callees_disagree() {
    // The callers' side wins in KCachegrind, even below the self cost.
    let graph = graph(&[20, 500], &[(0, 1, 1, 100)]);
    let cycles = || Cycles::new(&graph);
    assert_eq!(all(&KCachegrindSums::from_graph(&graph, cycles()), 2), [120, 100]);
    let inclusive = own(&graph);
    assert_eq!(all(&inclusive, 2), [120, 500]);
    assert_eq!(inclusive.differences(&graph, 0), [Difference { unit: Unit::Node(n(1)), surplus: -400 }]);
    assert_eq!(inclusive.rule(), InclusiveRule::Gristmill);

    // A function whose first instruction heads a loop looks as if it called itself: 15 of a total of 13.
    let jump = super::sample::graph(&[1, 2, 10], &[(0, 1, 1, 12), (1, 2, 3, 15)]);
    assert_eq!(all(&own(&jump), 3), [13, 13, 10]);
    assert_eq!(own(&jump).sides(&jump, Unit::Node(n(1))).callees, [17]);
}

#[test]
fn calls_without_a_count() {
    // The call began in a part before this one.
    let graph = graph(&[5, 50, 7], &[(0, 1, 0, 40), (2, 1, 0, 10)]);
    assert_eq!(all(&KCachegrindSums::from_graph(&graph, Cycles::new(&graph)), 3), [45, 50, 17]);
    assert_eq!(all(&Inclusive::callgrind_annotate(&graph), 3), [45, 50, 17]);
    let graph = super::sample::graph(&[5, 50, 7], &[(0, 1, 0, 40), (2, 1, 1, 10)]);
    assert_eq!(all(&KCachegrindSums::from_graph(&graph, Cycles::new(&graph)), 3), [45, 50, 17]);
    assert_eq!(all(&Inclusive::callgrind_annotate(&graph), 3), [45, 10, 17]);
}

#[test]
fn parts_are_calculated_one_by_one() {
    // In the first part nothing calls 1, in the second 0 does, with a cost that does not fit.
    let arc = |caller, callee, count| CallArc { caller: n(caller), callee: n(callee), count };
    let mut sums = KCachegrindSums::new(2, 1);
    sums.add_part([(n(1), &[30][..])], []);
    sums.add_part([(n(0), &[1][..]), (n(1), &[4]), (n(1), &[5])], [(arc(0, 1, 1), &[100][..])]);
    let whole = graph(&[1, 39], &[(0, 1, 1, 100)]);
    let inclusive = sums.finish(&whole, Cycles::none(&whole));
    assert_eq!(all(&inclusive, 2), [101, 130]);
    assert_eq!(inclusive.rule(), InclusiveRule::KCachegrind);
}

#[test]
fn negative_costs_have_no_limit() {
    let graph = graph(&[-50, 80], &[(0, 1, 1, 80)]);
    assert_eq!(all(&own(&graph), 2), [30, 80]);
}

/// KCachegrind's numbers in the plainest way: inclusive, called, and inclusive and called of each cycle by its members.
type Numbers = (BTreeMap<usize, Cost>, BTreeMap<usize, Cost>, BTreeMap<Vec<usize>, (Cost, Cost, Cost)>);

fn naive_kcachegrind(parts: &[CallGraph], with_cycles: bool) -> Numbers {
    let functions = parts[0].node_count();
    let (mut inclusive, mut called) = (BTreeMap::new(), BTreeMap::new());
    let mut edges: BTreeMap<(usize, usize), (Cost, Cost)> = BTreeMap::new();
    let mut own: BTreeMap<usize, Cost> = BTreeMap::new();
    for part in parts {
        for function in 0..functions {
            let self_cost = part.self_cost(n(function))[0];
            *own.entry(function).or_default() += self_cost;
            let (mut count, mut incoming, mut outgoing) = (0, 0, self_cost);
            for (place, arc) in part.arc_ids().zip(part.arcs()) {
                let (caller, callee, cost) =
                    (arc.caller.index(), arc.callee.index(), part.arc_cost(place)[0]);
                if callee == function {
                    count += arc.count;
                    incoming += if caller == callee { 0 } else { cost };
                }
                if caller == function && callee != function {
                    outgoing += cost;
                }
            }
            *inclusive.entry(function).or_default() += if count > 0 { incoming } else { outgoing };
            *called.entry(function).or_default() += count;
        }
        for (place, arc) in part.arc_ids().zip(part.arcs()) {
            let edge = edges.entry((arc.caller.index(), arc.callee.index())).or_default();
            *edge = (edge.0 + arc.count, edge.1 + part.arc_cost(place)[0]);
        }
    }
    let mut cycles = BTreeMap::new();
    if with_cycles {
        let whole = sum_of(parts);
        let reaches = reaches(&whole, |_| false);
        for (first, reached) in reaches.iter().enumerate() {
            let is_member = |other: &usize| reached[*other] && reaches[*other][first];
            let members: Vec<usize> = (0..functions).filter(is_member).collect();
            if members.len() < 2 {
                continue;
            }
            let mut sums = (0, 0, 0);
            for &member in &members {
                let outside = edges
                    .iter()
                    .filter(|((caller, callee), _)| *caller == member && !members.contains(callee));
                let cost = own[&member] + outside.map(|(_, (_, cost))| cost).sum::<Cost>();
                inclusive.insert(member, cost);
                let entering = edges
                    .iter()
                    .filter(|((caller, callee), _)| *callee == member && !members.contains(caller));
                sums = (
                    sums.0 + own[&member],
                    sums.1 + cost,
                    sums.2 + entering.map(|(_, (count, _))| count).sum::<Cost>(),
                );
            }
            cycles.insert(members, sums);
        }
    }
    (inclusive, called, cycles)
}

fn sum_of(parts: &[CallGraph]) -> CallGraph {
    let mut sum = CallGraph::builder(1);
    for node in parts[0].nodes() {
        sum.add_node(&[parts.iter().map(|part| part.self_cost(node)[0]).sum()]);
    }
    for part in parts {
        part.arc_ids().for_each(|arc| sum.add_arc(part.arc(arc), part.arc_cost(arc)));
    }
    sum.build()
}

fn parts() -> impl Strategy<Value = Vec<CallGraph>> {
    let arc = (0usize..6, 0usize..6, 0i128..3, 0i128..30);
    let part = (prop::collection::vec(0i128..30, 6), prop::collection::vec(arc, 0..12));
    prop::collection::vec(part.prop_map(|(self_costs, arcs)| graph(&self_costs, &arcs)), 1..4)
}

proptest! {
    #[test]
    fn kcachegrind_in_the_plainest_way(parts in parts(), with_cycles in any::<bool>()) {
        let whole = sum_of(&parts);
        let cycles = if with_cycles { Cycles::new(&whole) } else { Cycles::none(&whole) };
        let mut sums = KCachegrindSums::new(6, 1);
        for part in &parts {
            sums.add_part(
                part.nodes().map(|function| (function, part.self_cost(function))),
                part.arc_ids().zip(part.arcs()).map(|(place, arc)| (arc, part.arc_cost(place))),
            );
        }
        let found = sums.finish(&whole, cycles);
        let (inclusive, called, cycles) = naive_kcachegrind(&parts, with_cycles);
        for function in 0..6 {
            prop_assert_eq!(found.cost(n(function)), [inclusive[&function]]);
            prop_assert_eq!(found.call_count(n(function)), called[&function]);
        }
        let found_cycles: BTreeMap<Vec<usize>, _> = found.cycles().ids().map(|cycle| {
            let members = found.cycles().members(cycle).iter().map(|member| member.index()).collect();
            (members, (found.cycle_self_cost(cycle)[0], found.cycle_cost(cycle)[0], found.cycle_call_count(cycle)))
        }).collect();
        prop_assert_eq!(found_cycles, cycles);
    }

    #[test]
    fn annotate_in_the_plainest_way(graph in graphs(6, 12)) {
        let found = Inclusive::callgrind_annotate(&graph);
        let arcs = || graph.arc_ids().zip(graph.arcs()).map(|(place, arc)| (arc, graph.arc_cost(place)[0]));
        let called: BTreeSet<_> = arcs().filter(|(arc, _)| arc.count > 0).map(|(arc, _)| arc.callee).collect();
        for function in graph.nodes() {
            let incoming: Cost =
                arcs().filter(|(arc, _)| arc.callee == function && arc.count > 0).map(|(_, cost)| cost).sum();
            let outgoing: Cost = arcs().filter(|(arc, _)| arc.caller == function).map(|(_, cost)| cost).sum();
            let own = graph.self_cost(function)[0] + outgoing;
            prop_assert_eq!(found.cost(function), [if called.contains(&function) { incoming } else { own }]);
        }
    }

    #[test]
    fn nothing_is_above_the_total(graph in graphs(7, 14), with_cycles in any::<bool>()) {
        let cycles = if with_cycles { Cycles::new(&graph) } else { Cycles::none(&graph) };
        let inclusive = Inclusive::new(&graph, cycles);
        let total = graph.total()[0];
        prop_assert!(graph.nodes().all(|function| inclusive.cost(function)[0] <= total));
        prop_assert!(graph.nodes().all(|function| inclusive.cost(function)[0] >= graph.self_cost(function)[0]));
        prop_assert!(inclusive.cycles().ids().all(|cycle| inclusive.cycle_cost(cycle)[0] <= total));
    }

    /// Unmarked costs are exact, and the others are no less than what happened.
    #[test]
    fn members_of_cycles_are_exact_or_limited(truth in truths()) {
        let graph = truth.graph();
        let inclusive = Inclusive::without_cycles(&graph);
        for function in graph.nodes() {
            let (cost, truth) = (inclusive.cost(function)[0], truth.cost_within(&[function]));
            prop_assert!(cost >= truth, "{function:?}: {cost} of {truth}");
            prop_assert!(cost == truth || inclusive.is_upper_limit(function), "{function:?}: {cost} of {truth}");
        }
    }

    #[test]
    fn inclusive_is_what_happened(truth in truths()) {
        let graph = truth.graph();
        let inclusive = own(&graph);
        prop_assert_eq!(inclusive.cost(n(0)), graph.total());
        prop_assert_eq!(inclusive.differences(&graph, 0), []);
        for function in graph.nodes() {
            let unit = inclusive.cycles().unit(function);
            let members = match unit {
                Unit::Node(node) => vec![node],
                Unit::Cycle(cycle) => inclusive.cycles().members(cycle).to_vec(),
            };
            prop_assert_eq!(inclusive.unit_cost(unit), [truth.cost_within(&members)]);
        }
    }
}
