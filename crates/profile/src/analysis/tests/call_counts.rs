//! Counts of calls in a focus, without it, and over hidden functions, against the runs of a program.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{Truth, graph, n, truths_of_threads};
use crate::analysis::{ArcId, bypass, focus, hide, leave_out};

/// Gives what begins without a call a cost: in a profile it shows in nothing else.
fn with_costly_roots(mut truth: Truth) -> Truth {
    let roots = truth.invocations.iter_mut().filter(|(caller, ..)| caller.is_none());
    roots.for_each(|(.., cost)| *cost += 1);
    truth
}

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

/// By caller and callee: the calls that lead from one function to another, over hidden ones only.
fn naive_bypass_counts(truth: &Truth, is_hidden: &[bool]) -> BTreeMap<(usize, usize), Cost> {
    let mut arcs = BTreeMap::new();
    for &(caller, function, _) in &truth.invocations {
        let is_above = |&above: &usize| is_hidden[truth.invocations[above].1];
        let mut stack = std::iter::successors(caller, |&above| truth.invocations[above].0);
        if let Some(caller) = stack.find(|above| !is_above(above)).filter(|_| !is_hidden[function]) {
            *arcs.entry((truth.invocations[caller].1, function)).or_default() += 1;
        }
    }
    arcs
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
    fn calls_are_counted_where_they_are(
        truth in truths_of_threads(),
        chosen in prop::collection::vec(any::<bool>(), 9),
    ) {
        let truth = with_costly_roots(truth);
        let graph = truth.graph();
        let chosen = &chosen[..truth.functions];
        let (focused, rest) = (focus(&graph, chosen).unwrap(), leave_out(&graph, chosen).unwrap());
        let [within, without] = naive_focus_counts(&truth, chosen);
        let of = |counts: &BTreeMap<(usize, usize), Cost>, ends| counts.get(&ends).copied().unwrap_or(0);
        for id in graph.arc_ids() {
            let ends = (graph.caller(id).index(), graph.callee(id).index());
            let (all, found) = (graph.arc(id).count, focused.graph.arc(id).count);
            // All calls on a way to chosen functions are shown.
            let is_way = of(&without, ends) == all && of(&within, ends) > 0 && found == all;
            let is_marked = focused.is_count_estimate[id.index()];
            prop_assert!(is_marked || is_way || found == of(&within, ends), "{:?}: {} of {}", ends, found, all);
            let found = rest.graph.arc(id).count;
            let is_marked = rest.is_count_estimate[id.index()];
            prop_assert!(is_marked || found == of(&without, ends), "{:?}: {} of {}", ends, found, all);
        }
    }

    #[test]
    fn calls_over_hidden_functions_are_counted_where_they_are(
        truth in truths_of_threads(),
        hidden in prop::collection::vec(any::<bool>(), 9),
    ) {
        let truth = with_costly_roots(truth);
        let graph = truth.graph();
        // If no call has a cost, none is known to have had one.
        prop_assume!(graph.arc_ids().any(|id| graph.arc_cost(id)[0] > 0));
        let hidden = &hidden[..truth.functions];
        let of = bypass(hide(&graph, hidden), hidden).unwrap();
        let expected = naive_bypass_counts(&truth, hidden);
        let is_seen = |id: &ArcId| !hidden[of.graph.caller(*id).index()];
        for id in of.graph.arc_ids().filter(is_seen) {
            let ends = (of.graph.caller(id).index(), of.graph.callee(id).index());
            let (found, count) = (of.graph.arc(id).count, expected.get(&ends).copied().unwrap_or(0));
            let is_left_over = hidden[ends.1];
            prop_assert!(is_left_over || of.is_count_estimate[id.index()] || found == count, "{:?}: {} of {}", ends, found, count);
        }
    }
}
