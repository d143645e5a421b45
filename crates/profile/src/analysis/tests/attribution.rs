//! Hidden functions and functions to focus on, against call trees whose graph is known.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{Truth, graph, graphs, n, truths, truths_of_threads, truths_without_recursion};
use crate::analysis::{
    Attributed, CallTree, Cycles, Estimates, NodeId, TreeLimits, Unit, bypass, focus, focus_after, hide,
    hide_after, leave_out,
};

/// By function: the cost of its invocations and of hidden ones right below them, and that of hidden ones below nothing.
fn naive_hide(truth: &Truth, is_hidden: &[bool]) -> (Vec<Cost>, Cost) {
    let mut costs = vec![0; truth.functions];
    let mut without_caller = 0;
    for &(caller, function, cost) in &truth.invocations {
        let mut owner = Some((caller, function));
        while let Some((caller, function)) = owner
            && is_hidden[function]
        {
            owner = caller.map(|caller| (truth.invocations[caller].0, truth.invocations[caller].1));
        }
        match owner {
            Some((_, function)) => costs[function] += cost,
            None => without_caller += cost,
        }
    }
    (costs, without_caller)
}

/// By function: self and inclusive cost of what happens while a chosen function is on the stack.
fn naive_focus(truth: &Truth, is_chosen: &[bool]) -> Vec<(Cost, Cost)> {
    let mut costs = vec![(0, 0); truth.functions];
    for (index, &(_, function, cost)) in truth.invocations.iter().enumerate() {
        let mut stack = vec![false; truth.functions];
        let mut next = Some(index);
        while let Some(invocation) = next {
            stack[truth.invocations[invocation].1] = true;
            next = truth.invocations[invocation].0;
        }
        if stack.iter().zip(is_chosen).any(|(on_stack, chosen)| *on_stack && *chosen) {
            costs[function].0 += cost;
            (0..truth.functions)
                .filter(|&on_stack| stack[on_stack])
                .for_each(|on_stack| costs[on_stack].1 += cost);
        }
    }
    costs
}

/// By caller and callee: what the calls cost that lead from one function to another, over hidden ones only.
fn naive_bypass(truth: &Truth, is_hidden: &[bool]) -> BTreeMap<(usize, usize), Cost> {
    let mut arcs = BTreeMap::new();
    for (&(caller, function, _), cost) in truth.invocations.iter().zip(truth.inclusive()) {
        let mut caller = caller;
        while let Some(hidden) = caller.filter(|&caller| is_hidden[truth.invocations[caller].1]) {
            caller = truth.invocations[hidden].0;
        }
        if let Some(caller) = caller.filter(|_| !is_hidden[function]) {
            *arcs.entry((truth.invocations[caller].1, function)).or_default() += cost;
        }
    }
    arcs
}

/// By caller and callee: what the calls cost while a chosen function is on the stack.
fn naive_focus_arcs(truth: &Truth, is_chosen: &[bool]) -> BTreeMap<(usize, usize), Cost> {
    let mut arcs = BTreeMap::new();
    for (index, &(_, _, cost)) in truth.invocations.iter().enumerate() {
        let stack: Vec<usize> =
            std::iter::successors(Some(index), |&invocation| truth.invocations[invocation].0).collect();
        if stack.iter().any(|&invocation| is_chosen[truth.invocations[invocation].1]) {
            for pair in stack.windows(2) {
                let ends = (truth.invocations[pair[1]].1, truth.invocations[pair[0]].1);
                *arcs.entry(ends).or_default() += cost;
            }
        }
    }
    arcs
}

/// Checks each node of the estimated tree that is not marked: its cost, and its self cost. The truth is the cost by stack.
fn check_tree(of: &Attributed, stacks: &[(Vec<usize>, Cost)]) -> Result<(), TestCaseError> {
    let cycles = Cycles::new(&of.graph);
    let tree = CallTree::estimate(&of.graph, &cycles, None, TreeLimits::NONE).marked_by(of, &cycles, false);
    for id in tree.ids() {
        let node = tree.node(id);
        let mut path: Vec<usize> = tree
            .path_up(id)
            .filter_map(|id| match tree.node(id).item {
                Some(Unit::Node(node)) => Some(node.index()),
                _ => None,
            })
            .collect();
        path.reverse();
        let sum = |is_part: &dyn Fn(&[usize]) -> bool| -> Cost {
            stacks.iter().filter(|(stack, _)| is_part(stack)).map(|(_, cost)| *cost).sum()
        };
        if !node.is_guessed {
            prop_assert_eq!(tree.inclusive(id)[0], sum(&|stack| stack.starts_with(&path)), "{:?}", path);
        }
        if !path.is_empty() && !node.is_self_guessed && !node.is_guessed {
            prop_assert_eq!(tree.self_cost(id)[0], sum(&|stack| stack == path), "{:?}", path);
        }
    }
    Ok(())
}

/// The cost of each invocation, with the functions on its stack.
fn stacks(truth: &Truth) -> Vec<(Vec<usize>, Cost)> {
    let mut stacks: Vec<(Vec<usize>, Cost)> = Vec::new();
    for &(caller, function, cost) in &truth.invocations {
        let mut stack = caller.map_or_else(Vec::new, |caller| stacks[caller].0.clone());
        stack.push(function);
        stacks.push((stack, cost));
    }
    stacks
}

#[test]
fn callers_of_hidden_functions_call_their_callees() {
    // 0 calls 1 and 2, which call 3; 3 calls 4 and 5, and is hidden.
    let arcs = [(0, 1, 1, 60), (0, 2, 1, 40), (1, 3, 3, 60), (2, 3, 1, 40), (3, 4, 4, 50), (3, 5, 2, 50)];
    let is_hidden = [false, false, false, true, false, false];
    let of = bypass(hide(&graph(&[0, 0, 0, 0, 50, 50], &arcs), &is_hidden), &is_hidden).unwrap();
    let arcs: Vec<_> = of
        .graph
        .arc_ids()
        .map(|id| {
            let arc = of.graph.arc(id);
            (
                arc.caller.index(),
                arc.callee.index(),
                arc.count,
                of.graph.arc_cost(id)[0],
                of.is_arc_estimate[id.index()],
            )
        })
        .collect();
    let of_both = [(1, 4, 2, 30, true), (1, 5, 1, 30, true), (2, 4, 2, 20, true), (2, 5, 1, 20, true)];
    assert_eq!(arcs[..2], [(0, 1, 1, 60, false), (0, 2, 1, 40, false)]);
    let without_counts = |arc: &(usize, usize, Cost, Cost, bool)| (arc.0, arc.1, arc.3, arc.4);
    assert!(arcs[2..].iter().map(without_counts).eq(of_both.iter().map(without_counts)), "{arcs:?}");
}

#[test]
fn what_is_divided_twice_is_an_estimate_also_where_nothing_is_left() {
    // 0 and 1 call 2, and 3 calls it through 4; 2 and 4 are hidden. 2 calls 5 (cost 100) and 6 (cost 1).
    let arcs = [
        (0, 2, 1, 60),
        (1, 2, 1, 40),
        (3, 4, 1, 1),
        (4, 2, 1, 1),
        (7, 4, 1, 0),
        (2, 5, 1, 100),
        (2, 6, 1, 1),
    ];
    let is_hidden = [false, false, true, false, true, false, false, false];
    let of = bypass(hide(&graph(&[0, 0, 0, 0, 0, 100, 1, 0], &arcs), &is_hidden), &is_hidden).unwrap();
    let arc = of.graph.arc_between(n(3), n(6)).unwrap();
    assert!(of.is_arc_estimate[arc.index()], "{:?}", of.graph.arc_cost(arc));
}

#[test]
fn hidden_callers_of_hidden_functions_pass_costs_on() {
    // 0 calls 1 and 2, which call 3; 1 and 3 are hidden. 3 costs 40: 30 for 1, 10 for 2.
    let graph = graph(&[10, 20, 30, 40], &[(0, 1, 1, 50), (0, 2, 1, 40), (1, 3, 3, 30), (2, 3, 1, 10)]);
    let hidden = hide(&graph, &[false, true, false, true]);
    let costs: Vec<_> = graph.nodes().map(|node| hidden.graph.self_cost(node)[0]).collect();
    assert_eq!(costs, [60, 0, 40, 0]);
    // Every function that they call is hidden.
    assert!(!hidden.is_self_estimate.contains(&true));
    assert_eq!(hidden.without_caller, [0]);
    let root = hide(&graph, &[true, false, false, false]);
    assert_eq!((root.graph.self_cost(n(0)), &root.without_caller[..]), (&[10][..], &[10][..]));
}

#[test]
fn what_a_difference_has_without_a_caller_is_an_estimate_for_callers() {
    // A call of 1 states 10 less than before, but 1 and 2 together cost 20 more.
    let (arcs, is_hidden) = ([(0, 1, 1, -10), (1, 2, 1, 15)], [false, true, false]);
    let of = hide(&graph(&[-5, 5, 15], &arcs), &is_hidden);
    assert!(of.is_self_estimate[0] && of.is_arc_estimate[0]);
    let of = bypass(of, &is_hidden).unwrap();
    assert!(of.is_arc_estimate[of.graph.arc_between(n(0), n(2)).unwrap().index()]);
}

#[test]
fn memory_that_a_hidden_function_frees_does_not_keep_its_self_cost_from_callers() {
    // 0 calls 1, which costs 40 itself and calls 2, which frees 300.
    let (arcs, is_hidden) = ([(0, 1, 1, -260), (1, 2, 1, -300)], [false, true, false]);
    let of = hide(&graph(&[1000, 40, -300], &arcs), &is_hidden);
    assert_eq!([0, 1, 2].map(|node| of.graph.self_cost(n(node))[0]), [1040, 0, -300]);
    assert_eq!((of.without_caller[0], of.is_self_estimate[0]), (0, false));
    // Two callers share it.
    let arcs = [(0, 1, 1, -260), (0, 3, 1, 240), (3, 1, 1, -260), (1, 2, 2, -600)];
    let of = hide(&graph(&[1000, 80, -600, 500], &arcs), &[false, true, false, false]);
    assert_eq!([0, 1, 3].map(|node| of.graph.self_cost(n(node))[0]), [1040, 0, 540]);
    assert!(of.is_self_estimate[0] && of.is_self_estimate[3] && of.without_caller[0] == 0);
}

#[test]
fn a_focus_on_a_member_of_a_cycle_has_what_its_calls_cost() {
    // 0 calls 1, which calls itself and, once, 2; that calls 1 once. 1 costs much, but the call of 2 cost 10.
    let arcs = [(0, 1, 1, 1_000_000), (1, 1, 100, 900_000), (1, 2, 1, 10), (2, 1, 1, 5)];
    let graph = graph(&[10, 999_985, 5], &arcs);
    let is_chosen = [false, false, true];
    let of = focus(&graph, &is_chosen).unwrap();
    assert_eq!([0, 1, 2].map(|node| of.graph.self_cost(n(node))[0]), [0, 5, 5]);
    assert!(of.is_total_estimate && of.is_self_estimate[1]);
    let rest = leave_out(&graph, &is_chosen).unwrap();
    assert_eq!([0, 1, 2].map(|node| rest.graph.self_cost(n(node))[0]), [10, 999_980, 0]);
    assert!(rest.is_total_estimate);
    // What the cycle calls is chosen, too: all of that counts.
    let arcs = [(0, 1, 1, 1_000_000), (1, 1, 100, 900_000), (1, 2, 1, 10), (2, 1, 1, 5), (1, 3, 9, 900_000)];
    let calling = super::sample::graph(&[10, 99_985, 5, 900_000], &arcs);
    let of = focus(&calling, &[false, false, true, true]).unwrap();
    assert_eq!(
        [0, 1]
            .map(|node| of.graph.arc_cost(of.graph.arc_between(n(node), n(node + 1)).unwrap())[0] >= 900_000),
        [true, false]
    );
    // What calls the cycle is chosen, too: all of it counts.
    let of = focus(&graph, &[true, false, true]).unwrap();
    assert_eq!(of.graph.total(), graph.total());
    assert_eq!(leave_out(&graph, &[true, false, true]).unwrap().graph.total(), [0]);
}

#[test]
fn a_focus_on_callers_and_callees_is_exact() {
    // 0 calls 1, which calls 2 and, by 3, 4.
    let graph = graph(&[10, 20, 30, 5, 40], &[(0, 1, 1, 95), (1, 2, 1, 30), (1, 3, 1, 45), (3, 4, 2, 40)]);
    for is_chosen in [[false, true, true, false, false], [false, true, false, false, true]] {
        let of = focus(&graph, &is_chosen).unwrap();
        assert!(!of.is_total_estimate && !of.is_self_estimate.contains(&true));
        assert_eq!(of.graph.total(), [95]);
    }
}

#[test]
fn calls_that_state_too_little_do_not_fall_below_zero() {
    // The calls state 5, and the callee has 100: the rest has no caller.
    let hidden = hide(&graph(&[10, 100], &[(0, 1, 1, 5)]), &[false, true]);
    assert_eq!((hidden.graph.self_cost(n(0)), hidden.graph.self_and_callees(n(0))), (&[15][..], vec![15]));
    assert_eq!((hidden.graph.self_cost(n(1)), &hidden.without_caller[..]), (&[95][..], &[95][..]));
    assert!(!hidden.is_self_estimate.contains(&true) && !hidden.is_inclusive_estimate.contains(&true));
    // Some of the rest may be that of 2, which it calls.
    let hidden = hide(&graph(&[10, 50, 50], &[(0, 1, 1, 20), (1, 2, 1, 50)]), &[false, true, false]);
    assert_eq!((hidden.graph.self_cost(n(0)), hidden.graph.self_and_callees(n(0))), (&[20][..], vec![30]));
    assert_eq!((hidden.is_self_estimate, &hidden.without_caller[..]), (vec![true, false, false], &[40][..]));
    // No call states a cost.
    let hidden = hide(&graph(&[10, 100], &[(0, 1, 1, 0)]), &[false, true]);
    assert_eq!((hidden.graph.self_cost(n(0)), hidden.is_inclusive_estimate[0]), (&[110][..], true));
    // In a difference of profiles a call may have any cost.
    let hidden = hide(&graph(&[10, 100, -1], &[(0, 1, 1, 5)]), &[false, true, false]);
    assert_eq!((hidden.graph.self_cost(n(0)), hidden.graph.self_and_callees(n(0))), (&[110][..], vec![15]));
}

#[test]
fn costs_below_zero_have_no_focus() {
    assert!(focus(&graph(&[-1], &[]), &[true]).is_none());
}

/// By function: its self and inclusive cost of the stacks that are left, and self cost with that of hidden functions below.
fn naive_rest(stacks: &[(Vec<usize>, Cost)], is_hidden: &[bool]) -> Vec<(Cost, Cost)> {
    let mut costs = vec![(0, 0); is_hidden.len()];
    for (stack, cost) in stacks {
        if let Some(&owner) = stack.iter().rev().find(|&&function| !is_hidden[function]) {
            costs[owner].0 += cost;
        }
        let mut on_stack = stack.clone();
        on_stack.sort_unstable();
        on_stack.dedup();
        on_stack.into_iter().for_each(|function| costs[function].1 += cost);
    }
    costs
}

#[test]
fn estimates_of_a_focus_stay_estimates_where_they_are_hidden() {
    // 0 calls 1 and 2, and 1 calls 2, which calls 3 once: for 0. The graph does not tell for whom.
    let arcs = [(0, 1, 1, 100), (0, 2, 1, 1100), (1, 2, 1, 100), (2, 3, 1, 1000)];
    let graph = graph(&[0, 0, 200, 1000], &arcs);
    let (graph, estimates) = focus(&graph, &[false, true, false, false]).unwrap().split();
    assert_ne!(graph.self_cost(n(2)), [100]);
    let of = hide_after(&graph, &[false, false, true, false], estimates);
    assert_ne!(of.graph.self_cost(n(1)), [100]);
    assert!(of.is_self_estimate[1]);
}

#[test]
fn a_focus_on_what_is_left_has_its_estimates() {
    // Below 1 and 2 is 3, which calls 4 and 5. Without 5, nobody knows how much of the calls of 3 is left for 1.
    let arcs = [(0, 1, 1, 60), (0, 2, 1, 40), (1, 3, 1, 60), (2, 3, 1, 40), (3, 4, 1, 30), (3, 5, 1, 70)];
    let of =
        leave_out(&graph(&[0, 0, 0, 0, 30, 70], &arcs), &[false, false, false, false, false, true]).unwrap();
    let (graph, estimates) = of.split();
    let of = focus_after(&graph, &[false, false, false, true, false, false], &estimates).unwrap();
    assert_eq!(of.is_inclusive_estimate[1..], [true, true, false, false, false]);
}

#[test]
fn hidden_functions_that_call_nothing_cost_what_their_calls_cost_also_below_zero() {
    // 0 calls 1 and 2, which call 3.
    let graph = graph(&[0, 0, 0, 60], &[(0, 1, 1, 100), (0, 2, 1, -40), (1, 3, 1, 100), (2, 3, 1, -40)]);
    let is_hidden = [false, false, false, true];
    let of = hide(&graph, &is_hidden);
    assert_eq!([1, 2].map(|node| of.graph.self_cost(n(node))[0]), [100, -40]);
    assert!(!of.is_self_estimate.contains(&true));
    let of = bypass(of, &is_hidden).unwrap();
    assert_eq!(of.graph.arcs().len(), 2);
    // What 3 costs by itself adds up to nothing, which need not be so for each caller.
    let arcs = [(0, 1, 1, 100), (0, 2, 1, -40), (1, 3, 1, 100), (2, 3, 1, -40), (3, 4, 1, 60)];
    let of = hide(&super::sample::graph(&[0, 0, 0, 0, 60], &arcs), &[false, false, false, true, false]);
    assert_eq!(of.is_self_estimate, [false, true, true, false, false]);
}

proptest! {
    #[test]
    fn hidden_costs_are_those_of_the_callers(
        truth in prop_oneof![truths(), truths_of_threads()],
        hidden in prop::collection::vec(any::<bool>(), 9),
    ) {
        let graph = truth.graph();
        let of = hide(&graph, &hidden[..truth.functions]);
        let (expected, without_caller) = naive_hide(&truth, &hidden);
        prop_assert_eq!(of.graph.total(), graph.total());
        if !of.is_self_estimate.contains(&true) {
            prop_assert_eq!(&of.without_caller, &[without_caller]);
        }
        for node in graph.nodes().filter(|node| !hidden[node.index()] && !of.is_self_estimate[node.index()]) {
            prop_assert_eq!(of.graph.self_cost(node)[0], expected[node.index()], "{:?}", node);
        }
    }

    #[test]
    fn hiding_keeps_inclusive_costs(truth in truths(), hidden in prop::collection::vec(any::<bool>(), 6)) {
        let graph = truth.graph();
        let of = hide(&graph, &hidden[..truth.functions]);
        let cycles = Cycles::new(&graph);
        let is_estimate = |node: NodeId| of.is_inclusive_estimate[node.index()];
        prop_assert!(graph.nodes().all(|node| cycles.cycle_of(node).is_some() || !is_estimate(node)));
        for node in graph.nodes().filter(|node| !hidden[node.index()]) {
            prop_assert_eq!(of.graph.self_and_callees(node), graph.self_and_callees(node));
        }
    }

    /// The calls of these graphs state any costs.
    #[test]
    fn hiding_leaves_no_call_below_zero(graph in graphs(7, 14), hidden in prop::collection::vec(any::<bool>(), 7)) {
        let of = hide(&graph, &hidden[..graph.node_count()]);
        prop_assert_eq!(of.graph.total(), graph.total());
        prop_assert!(of.graph.arc_costs().rows().flatten().all(|&cost| cost >= 0));
        for node in graph.nodes().filter(|node| !hidden[node.index()]) {
            let [before, after] = [&graph, &of.graph].map(|graph| graph.self_and_callees(node)[0]);
            prop_assert!(after == before || after > before && of.is_inclusive_estimate[node.index()]);
        }
    }

    #[test]
    fn focused_costs_are_those_with_it_on_the_stack(truth in truths(), chosen in prop::collection::vec(any::<bool>(), 6)) {
        let graph = truth.graph();
        let chosen = &chosen[..truth.functions];
        let of = focus(&graph, chosen).unwrap();
        let cycles = Cycles::new(&graph);
        let expected = naive_focus(&truth, chosen);
        let is_alone = |node: NodeId| cycles.cycle_of(node).is_none() && graph.arc_between(node, node).is_none();
        for node in graph.nodes() {
            let (own, inclusive) = expected[node.index()];
            if !of.is_self_estimate[node.index()] {
                prop_assert_eq!(of.graph.self_cost(node)[0], own, "{:?}", node);
            }
            if is_alone(node) && !of.is_inclusive_estimate[node.index()] {
                prop_assert_eq!(of.graph.self_and_callees(node)[0], inclusive, "{:?}", node);
            }
        }
    }

    #[test]
    fn bypassed_calls_are_those_over_hidden_functions(truth in truths(), hidden in prop::collection::vec(any::<bool>(), 6)) {
        let graph = truth.graph();
        let is_hidden = &hidden[..truth.functions];
        let of = bypass(hide(&graph, is_hidden), is_hidden).unwrap();
        let mut expected = naive_bypass(&truth, is_hidden);
        prop_assert_eq!(of.graph.total(), graph.total());
        for id in of.graph.arc_ids() {
            let arc = of.graph.arc(id);
            prop_assert!(!hidden[arc.caller.index()] && !hidden[arc.callee.index()], "{:?}", arc);
            let cost = expected.remove(&(arc.caller.index(), arc.callee.index())).unwrap_or(0);
            prop_assert!(of.is_arc_estimate[id.index()] || of.graph.arc_cost(id)[0] == cost, "{:?} of {}", arc, cost);
        }
        prop_assert!(expected.is_empty(), "{expected:?}");
        // Where nothing of a recursion is hidden, inclusive costs stay.
        let cycles = Cycles::new(&graph);
        for node in graph.nodes().filter(|node| !hidden[node.index()] && cycles.cycle_of(*node).is_none()) {
            prop_assert_eq!(of.graph.self_and_callees(node), graph.self_and_callees(node));
        }
    }

    #[test]
    fn what_hidden_starts_of_threads_call_is_no_callers(
        truth in truths_of_threads(),
        hidden in prop::collection::vec(any::<bool>(), 9),
    ) {
        let is_hidden = &hidden[..truth.functions];
        let of = bypass(hide(&truth.graph(), is_hidden), is_hidden).unwrap();
        let expected = naive_bypass(&truth, is_hidden);
        let seen = |node: NodeId| !hidden[node.index()];
        prop_assert!(of.graph.arc_costs().rows().all(|costs| costs[0] >= 0));
        for id in of.graph.arc_ids().filter(|&id| seen(of.graph.caller(id)) && seen(of.graph.callee(id))) {
            let (arc, found) = (of.graph.arc(id), of.graph.arc_cost(id)[0]);
            let cost = expected.get(&(arc.caller.index(), arc.callee.index())).copied().unwrap_or(0);
            prop_assert!(of.is_arc_estimate[id.index()] || found == cost, "{:?}: {} of {}", arc, found, cost);
        }
    }

    #[test]
    fn focused_calls_are_those_with_it_on_the_stack(truth in truths(), chosen in prop::collection::vec(any::<bool>(), 6)) {
        let graph = truth.graph();
        let of = focus(&graph, &chosen[..truth.functions]).unwrap();
        let expected = naive_focus_arcs(&truth, &chosen);
        for id in of.graph.arc_ids().filter(|id| !of.is_arc_estimate[id.index()]) {
            let arc = of.graph.arc(id);
            let cost = expected.get(&(arc.caller.index(), arc.callee.index())).copied().unwrap_or(0);
            prop_assert_eq!(of.graph.arc_cost(id)[0], cost, "{:?}", arc);
        }
    }

    /// Unmarked costs in a tree without hidden functions are what happened.
    #[test]
    fn trees_without_hidden_functions(
        truth in truths_without_recursion(), hidden in prop::collection::vec(any::<bool>(), 7)
    ) {
        // Function 0 is the root.
        let hidden: Vec<bool> = (0..truth.functions).map(|function| function > 0 && hidden[function]).collect();
        let of = bypass(hide(&truth.graph(), &hidden), &hidden).unwrap();
        let mut stacks = stacks(&truth);
        stacks.iter_mut().for_each(|(stack, _)| stack.retain(|&function| !hidden[function]));
        check_tree(&of, &stacks)?;
    }

    /// Unmarked costs in a tree of a focus are what happened.
    #[test]
    fn trees_of_a_focus(truth in truths_without_recursion(), chosen in prop::collection::vec(any::<bool>(), 7)) {
        let of = focus(&truth.graph(), &chosen[..truth.functions]).unwrap();
        let mut stacks = stacks(&truth);
        stacks.retain(|(stack, _)| stack.iter().any(|&function| chosen[function]));
        check_tree(&of, &stacks)?;
    }

    #[test]
    fn what_is_left_are_the_costs_without_it_on_the_stack(
        truth in truths(), chosen in prop::collection::vec(any::<bool>(), 6)
    ) {
        let graph = truth.graph();
        let chosen = &chosen[..truth.functions];
        let of = leave_out(&graph, chosen).unwrap();
        let everything = naive_focus(&truth, &vec![true; truth.functions]);
        let gone = naive_focus(&truth, chosen);
        let cycles = Cycles::new(&graph);
        let is_alone = |node: NodeId| cycles.cycle_of(node).is_none() && graph.arc_between(node, node).is_none();
        for node in graph.nodes() {
            let [all, gone] = [&everything, &gone].map(|costs| costs[node.index()]);
            if !of.is_self_estimate[node.index()] && is_alone(node) {
                prop_assert_eq!(of.graph.self_cost(node)[0], all.0 - gone.0, "{:?}", node);
            }
            if is_alone(node) && !of.is_inclusive_estimate[node.index()] {
                prop_assert_eq!(of.graph.self_and_callees(node)[0], all.1 - gone.1, "{:?}", node);
            }
            prop_assert!(!chosen[node.index()] || of.graph.self_cost(node)[0] == 0);
        }
    }

    /// Unmarked costs in a tree of what is left are what happened.
    #[test]
    fn trees_of_what_is_left(truth in truths_without_recursion(), chosen in prop::collection::vec(any::<bool>(), 7)) {
        let of = leave_out(&truth.graph(), &chosen[..truth.functions]).unwrap();
        let mut stacks = stacks(&truth);
        stacks.retain(|(stack, _)| !stack.iter().any(|&function| chosen[function]));
        check_tree(&of, &stacks)?;
    }

    /// All three at once: what is not marked is what happened.
    #[test]
    fn what_is_left_of_a_focus_without_hidden_functions(
        truth in truths_without_recursion(),
        dropped in prop::collection::vec(prop::bool::weighted(0.2), 7),
        chosen in prop::collection::vec(prop::bool::weighted(0.4), 7),
        hidden in prop::collection::vec(prop::bool::weighted(0.4), 7),
        has_steps in any::<(bool, bool)>(),
    ) {
        let [dropped, chosen] = [&dropped, &chosen].map(|pattern| &pattern[..truth.functions]);
        // Function 0 is the root.
        let hidden: Vec<bool> = (0..truth.functions).map(|function| function > 0 && hidden[function]).collect();
        let (mut graph, mut estimates) = (truth.graph(), Estimates::none(&truth.graph()));
        let mut stacks = stacks(&truth);
        if has_steps.0 {
            (graph, estimates) = leave_out(&graph, dropped).unwrap().split();
            stacks.retain(|(stack, _)| !stack.iter().any(|&function| dropped[function]));
        }
        if has_steps.1 {
            (graph, estimates) = focus_after(&graph, chosen, &estimates).unwrap().split();
            stacks.retain(|(stack, _)| stack.iter().any(|&function| chosen[function]));
        }
        let check = |of: &Attributed, hidden: &[bool]| -> Result<(), TestCaseError> {
            for (node, (own, inclusive)) in of.graph.nodes().zip(naive_rest(&stacks, hidden)) {
                if hidden[node.index()] {
                    continue;
                }
                let is_exact = of.is_self_estimate[node.index()] || of.graph.self_cost(node)[0] == own;
                prop_assert!(is_exact, "{:?}: self cost {:?}, not {}", node, of.graph.self_cost(node), own);
                let found = of.graph.self_and_callees(node)[0];
                let is_exact = of.is_inclusive_estimate[node.index()] || found == inclusive;
                prop_assert!(is_exact, "{:?}: inclusive cost {}, not {}", node, found, inclusive);
            }
            Ok(())
        };
        let of = hide_after(&graph, &hidden, estimates);
        check(&of, &hidden)?;
        let of = bypass(of, &hidden).unwrap();
        check(&of, &hidden)?;
        let mut shown = stacks.clone();
        shown.iter_mut().for_each(|(stack, _)| stack.retain(|&function| !hidden[function]));
        check_tree(&of, &shown)?;
    }

    #[test]
    fn no_cost_is_left_below_zero(graph in graphs(7, 14), chosen in prop::collection::vec(any::<bool>(), 7)) {
        let of = leave_out(&graph, &chosen[..graph.node_count()]).unwrap();
        for (before, after) in graph.arcs().zip(of.graph.arcs()) {
            prop_assert!((0..=before.count.max(0)).contains(&after.count));
        }
        for id in graph.arc_ids() {
            prop_assert!((0..=graph.arc_cost(id)[0]).contains(&of.graph.arc_cost(id)[0]));
        }
    }

    /// Rounding loses nothing.
    #[test]
    fn the_focus_has_all_of_its_cost(truth in truths(), chosen in 1usize..5) {
        let graph = truth.graph();
        let chosen = n(chosen % truth.functions);
        let is_chosen: Vec<bool> = graph.nodes().map(|node| node == chosen).collect();
        if Cycles::new(&graph).cycle_of(chosen).is_none() && graph.arc_between(chosen, chosen).is_none() {
            let of = focus(&graph, &is_chosen).unwrap();
            prop_assert_eq!(of.graph.self_and_callees(chosen), graph.self_and_callees(chosen));
            if Cycles::new(&graph).is_empty() {
                prop_assert_eq!(of.graph.total(), graph.self_and_callees(chosen));
            }
        }
    }

    /// Also in a recursion: it is at most what the calls of the function cost.
    #[test]
    fn the_focus_has_at_least_what_arises_there(truth in truths(), chosen in 0usize..6) {
        let graph = truth.graph();
        let chosen = n(chosen % truth.functions);
        let is_chosen: Vec<bool> = graph.nodes().map(|node| node == chosen).collect();
        let of = focus(&graph, &is_chosen).unwrap();
        let arising = naive_focus(&truth, &is_chosen).iter().map(|(own, _)| own).sum::<Cost>();
        let total = of.graph.total()[0];
        prop_assert!(total >= arising && (of.is_total_estimate || total == arising), "{total} of {arising}");
        let calls = graph.incoming(chosen).map(|id| graph.arc_cost(id)[0]).sum::<Cost>();
        let is_called = truth.invocations.iter().all(|&(caller, node, _)| caller.is_some() || node != chosen.index());
        prop_assert!(!is_called || total <= calls.max(graph.self_cost(chosen)[0]), "{total} of {calls}");
    }

    #[test]
    fn the_total_of_a_focus_is_exact_or_an_estimate(
        truth in prop_oneof![truths(), truths_without_recursion()],
        chosen in prop::collection::vec(any::<bool>(), 7),
    ) {
        let is_chosen = &chosen[..truth.functions];
        let graph = truth.graph();
        let of = focus(&graph, is_chosen).unwrap();
        let arising = naive_focus(&truth, is_chosen).iter().map(|(own, _)| own).sum::<Cost>();
        let total = of.graph.total()[0];
        prop_assert!(of.is_total_estimate || total == arising, "{total} of {arising}");
        // What begins with a chosen function is all of it.
        prop_assert!(!is_chosen[0] || total == graph.total()[0], "{total}");
        for id in graph.arc_ids().filter(|&id| is_chosen[graph.callee(id).index()]) {
            prop_assert_eq!(of.graph.arc(id).count, graph.arc(id).count);
            prop_assert_eq!(of.graph.arc_cost(id), graph.arc_cost(id));
        }
    }

    #[test]
    fn no_cost_grows_in_focus(graph in graphs(7, 14), chosen in prop::collection::vec(any::<bool>(), 7)) {
        let of = focus(&graph, &chosen[..graph.node_count()]).unwrap();
        for node in graph.nodes() {
            prop_assert!(of.graph.self_cost(node)[0] <= graph.self_cost(node)[0]);
            prop_assert!(!chosen[node.index()] || of.graph.self_cost(node) == graph.self_cost(node));
        }
        for id in graph.arc_ids() {
            prop_assert!((0..=graph.arc_cost(id)[0]).contains(&of.graph.arc_cost(id)[0]));
        }
    }
}
