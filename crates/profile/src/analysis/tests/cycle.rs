//! Cycles, found in a clever way and in the plainest.

use proptest::prelude::*;

use super::sample::{graph, graphs, n, reaches};
use crate::analysis::{ArcId, Breaker, CallGraph, Cycles, Unit};

#[test]
fn cycles_by_hand() {
    // 0 calls 3; 1 and 4 call each other; 2, 3 and 5 go round; 6 calls itself.
    let graph = graph(
        &[1; 7],
        &[
            (0, 3, 1, 9),
            (1, 4, 1, 1),
            (4, 1, 1, 1),
            (3, 2, 1, 6),
            (2, 5, 1, 5),
            (5, 3, 1, 4),
            (5, 6, 1, 1),
            (6, 6, 1, 1),
        ],
    );
    let cycles = Cycles::new(&graph);
    assert_eq!(cycles.len(), 2);
    let [first, second] = cycles.ids().collect::<Vec<_>>()[..] else { panic!("two") };
    assert_eq!((first.number(), second.number()), (1, 2));
    assert_eq!(cycles.members(first), [n(1), n(4)]);
    assert_eq!(cycles.members(second), [n(2), n(3), n(5)]);
    assert_eq!((cycles.unit(n(5)), cycles.unit(n(6))), (Unit::Cycle(second), Unit::Node(n(6))));
    assert_eq!(cycles.unit_count(), 4);

    let ends = |arcs: Vec<ArcId>| -> Vec<(usize, usize)> {
        arcs.into_iter().map(|arc| (graph.caller(arc).index(), graph.callee(arc).index())).collect()
    };
    assert_eq!(ends(cycles.entries(&graph, second)), [(0, 3)]);
    assert_eq!(ends(cycles.inner(&graph, second)), [(2, 5), (3, 2), (5, 3)]);
}

#[test]
fn a_cycle_back_to_the_first_function_is_found() {
    // A search that begins at 0 meets the arcs back to it last.
    for arcs in [&[(0, 1, 1, 1), (1, 0, 1, 1)][..], &[(0, 1, 1, 1), (1, 2, 1, 1), (2, 0, 1, 1), (2, 1, 1, 1)]]
    {
        let graph = graph(&[1; 3], arcs);
        let cycles = Cycles::new(&graph);
        let first = cycles.ids().next().unwrap();
        assert_eq!(cycles.members(first).len(), arcs.len().min(3));
    }
}

#[test]
fn the_arc_that_breaks_most() {
    // Two rings, 0-1-2 and 2-3-4-5, hang together at 2. Without 5 -> 2 or any other of its ring a ring of 3 is left,
    // without one of the smaller ring a ring of 4.
    let arcs = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 2)];
    let costs = [9, 8, 1, 7, 3, 4, 4];
    let arcs: Vec<_> =
        arcs.iter().zip(costs).map(|(&(caller, callee), cost)| (caller, callee, 1, cost)).collect();
    let graph = graph(&[1; 6], &arcs);
    let cycles = Cycles::new(&graph);
    let cycle = cycles.ids().next().unwrap();
    let breaker = cycles.breaker(&graph, cycle, 0, WORK).unwrap();
    assert_eq!(Some(breaker.arc), graph.arc_between(n(3), n(4)));
    assert_eq!((breaker.largest_left, breaker.members_left, breaker.is_best), (3, 3, true));

    let hurried = cycles.breaker(&graph, cycle, 0, 13).unwrap();
    assert!(!hurried.is_best);
    assert_eq!(cycles.breaker(&graph, cycle, 0, 12), None);

    // All call all: no single arc holds them together.
    let all: Vec<_> = (0..4).flat_map(|caller| (0..4).map(move |callee| (caller, callee, 1, 1))).collect();
    let all = super::sample::graph(&[1; 4], &all);
    let cycles = Cycles::new(&all);
    assert_eq!(cycles.breaker(&all, cycles.ids().next().unwrap(), 0, WORK), None);
}

/// More than any of these graphs needs.
const WORK: usize = 1_000_000;

fn is_cycle(reaches: &[Vec<bool>], a: usize, b: usize) -> bool {
    a != b && reaches[a][b] && reaches[b][a]
}

/// The best arc, by trying every one.
fn naive_breaker(graph: &CallGraph, members: &[usize]) -> Option<(usize, usize, ArcId)> {
    let inner = |arc: &ArcId| {
        let arc = &graph.arc(*arc);
        members.contains(&arc.caller.index()) && members.contains(&arc.callee.index())
    };
    graph
        .arc_ids()
        .filter(inner)
        .filter_map(|place| {
            let left = reaches(graph, |cut| cut == place);
            let size =
                |member: usize| 1 + members.iter().filter(|&&other| is_cycle(&left, member, other)).count();
            let sizes: Vec<usize> =
                members.iter().map(|&member| size(member)).filter(|&size| size > 1).collect();
            let largest = sizes.iter().copied().max().unwrap_or(0);
            (largest < members.len()).then_some((largest, sizes.len(), place))
        })
        .min_by_key(|&(largest, left, place)| (left, largest, graph.arc_cost(place)[0], place))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn cycles_are_what_reaches_each_other(graph in graphs(8, 18)) {
        let cycles = Cycles::new(&graph);
        let condensation = cycles.condensation(&graph);
        let reaches = reaches(&graph, |_| false);
        for a in graph.nodes() {
            for b in graph.nodes() {
                let together = is_cycle(&reaches, a.index(), b.index());
                let same = a != b && cycles.cycle_of(a).is_some() && cycles.cycle_of(a) == cycles.cycle_of(b);
                prop_assert_eq!(together, same);
                let [one, other] = [a, b].map(|node| condensation.node_of(node));
                prop_assert_eq!(together || a == b, one == other);
            }
        }
        // Units have an order, and cycles go by their first members.
        prop_assert!(condensation.graph.arcs().all(|arc| arc.caller < arc.callee));
        let unit = |node| condensation.units[condensation.node_of(node).index()];
        prop_assert!(graph.nodes().all(|node| unit(node) == cycles.unit(node)));
        prop_assert_eq!(condensation.graph.total(), graph.total());
        let first: Vec<_> = cycles.ids().map(|cycle| cycles.members(cycle)[0]).collect();
        prop_assert!(first.is_sorted());
        prop_assert!(cycles.ids().all(|cycle| cycles.members(cycle).is_sorted() && cycles.members(cycle).len() > 1));
    }

    #[test]
    fn passes_find_the_same_cycles(graph in graphs(80, 160), many in 0usize..90) {
        prop_assert_eq!(Cycles::by_passes(&graph, many), Cycles::new(&graph));
    }

    #[test]
    fn no_arc_breaks_more(graph in graphs(7, 14)) {
        let cycles = Cycles::new(&graph);
        for cycle in cycles.ids() {
            let members: Vec<usize> = cycles.members(cycle).iter().map(|member| member.index()).collect();
            let best = cycles.breaker(&graph, cycle, 0, WORK);
            let naive = naive_breaker(&graph, &members);
            let naive = naive.map(|(largest_left, members_left, arc)| {
                Breaker { arc, largest_left, members_left, is_best: true }
            });
            prop_assert_eq!(best, naive);
        }
    }
}
