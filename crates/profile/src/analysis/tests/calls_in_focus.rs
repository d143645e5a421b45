//! Counts of calls in a focus, and of those that are left without it, against the runs of a program.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{Truth, graph, n, truths_of_threads};
use crate::analysis::{focus, leave_out};

/// By caller and callee: the calls below, of, by and on the way to chosen functions, and those without them on the stack.
fn naive_focus_counts(truth: &Truth, is_chosen: &[bool]) -> [BTreeMap<(usize, usize), Cost>; 2] {
    let invocations = &truth.invocations;
    let stack = |index| std::iter::successors(Some(index), |&invocation: &usize| invocations[invocation].0);
    let is_below = |index| stack(index).any(|above| is_chosen[invocations[above].1]);
    let mut is_way = vec![false; invocations.len()];
    for index in (0..invocations.len()).filter(|&index| is_chosen[invocations[index].1]) {
        stack(index).for_each(|above| is_way[above] = true);
    }
    let counts = |counts: &dyn Fn(usize) -> bool| {
        let mut arcs = BTreeMap::new();
        for (index, &(caller, function, _)) in invocations.iter().enumerate() {
            if let Some(caller) = caller.filter(|_| counts(index)) {
                *arcs.entry((invocations[caller].1, function)).or_default() += 1;
            }
        }
        arcs
    };
    [counts(&|index| is_below(index) || is_way[index]), counts(&|index| !is_below(index))]
}

#[test]
fn a_focus_above_a_cycle_and_on_a_member_has_both_calls() {
    // 0 calls 1, and 2 itself. 1 calls 3; 2 and 3 call each other. 1 and 2 are chosen: only the self cost of 0 does not count.
    let arcs = [(0, 1, 1, 10_000), (0, 2, 1, 8_000), (1, 3, 1, 8_000), (2, 3, 1, 6_000), (3, 2, 1, 5_000)];
    let graph = graph(&[10, 2_000, 7_000, 9_000], &arcs);
    let is_chosen = [false, true, true, false];
    let of = focus(&graph, &is_chosen).unwrap();
    assert_eq!(of.graph.total(), [18_000]);
    assert_eq!([0, 1, 2, 3].map(|node| of.graph.self_cost(n(node))[0]), [0, 2_000, 7_000, 9_000]);
    assert_eq!(leave_out(&graph, &is_chosen).unwrap().graph.total(), [10]);
}

proptest! {
    #[test]
    fn calls_that_cost_nothing_are_counted_where_they_are(
        mut truth in truths_of_threads(),
        chosen in prop::collection::vec(any::<bool>(), 9),
    ) {
        // That a part of a function begins without a call shows in its cost alone.
        let roots = truth.invocations.iter_mut().filter(|(caller, ..)| caller.is_none());
        roots.for_each(|(.., cost)| *cost += 1);
        let graph = truth.graph();
        let chosen = &chosen[..truth.functions];
        let (focused, rest) = (focus(&graph, chosen).unwrap(), leave_out(&graph, chosen).unwrap());
        let [within, without] = naive_focus_counts(&truth, chosen);
        for id in graph.arc_ids().filter(|&id| graph.arc_cost(id)[0] == 0) {
            let ends = (graph.caller(id).index(), graph.callee(id).index());
            for (of, expected) in [(&focused, &within), (&rest, &without)] {
                let count = expected.get(&ends).copied().unwrap_or(0);
                let found = of.graph.arc(id).count;
                prop_assert!(of.is_arc_estimate[id.index()] || found == count, "{:?}: {} of {}", ends, found, count);
            }
        }
    }
}
