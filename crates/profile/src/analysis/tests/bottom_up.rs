//! Bottom-up trees: exact ones against a twin that adds up stacks, estimates by hand and by what they must keep.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{f, graph, graphs, truths, truths_without_recursion};
use crate::analysis::{CallGraph, CallTree, Cycles, TreeBasis, TreeNodeId, Unit};

/// The items from a node up to the function that it is below: the function, its caller, and so on.
fn path<T: Copy>(tree: &CallTree<T>, id: TreeNodeId, number: impl Fn(T) -> usize) -> Vec<usize> {
    let mut path: Vec<usize> = tree.path_up(id).filter_map(|id| tree.node(id).item).map(number).collect();
    path.reverse();
    path
}

/// By function and its callers: the self cost of the function that comes through them, and the part of it that comes from
/// no other caller. Without what costs nothing.
fn twin(stacks: &BTreeMap<Vec<usize>, Cost>) -> BTreeMap<Vec<usize>, (Cost, Cost)> {
    let mut costs: BTreeMap<Vec<usize>, (Cost, Cost)> = BTreeMap::new();
    for (stack, &cost) in stacks.iter().filter(|(_, cost)| **cost != 0) {
        let callers: Vec<usize> = stack.iter().rev().copied().collect();
        for length in 1..=callers.len() {
            let (all, last) = costs.entry(callers[..length].to_vec()).or_default();
            *all += cost;
            *last += if length == callers.len() { cost } else { 0 };
        }
    }
    costs
}

fn number(unit: Unit) -> usize {
    match unit {
        Unit::Node(node) => node.index(),
        Unit::Cycle(cycle) => 100 + cycle.number(),
    }
}

fn estimate(graph: &CallGraph) -> CallTree<Unit> {
    CallTree::estimate_bottom_up(graph, &Cycles::new(graph), usize::MAX)
}

/// By path: the cost, the part that comes from no caller, and `true` for a guess.
fn shown(tree: &CallTree<Unit>) -> BTreeMap<Vec<usize>, (Cost, Cost, bool)> {
    let node = |id| (tree.inclusive(id)[0], tree.self_cost(id)[0], tree.node(id).is_guessed);
    tree.ids().skip(1).map(|id| (path(tree, id, number), node(id))).collect()
}

/// Nothing is lost: a node has what it and the nodes below it have, the root has the total, and functions have their self
/// costs.
fn check<T: Copy>(tree: &CallTree<T>, total: &[Cost], max_nodes: usize) {
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), total);
    assert!(tree.len() <= max_nodes.max(1));
    for id in tree.ids() {
        assert!(tree.node(id).hidden > 0 || tree.hidden_cost(id).iter().all(|&cost| cost == 0));
        assert!(tree.hidden_cost(id).iter().all(|&cost| cost >= 0));
        let weights = tree.children(id).map(|child| tree.inclusive(child)[0]);
        assert!(weights.rev().is_sorted(), "the most expensive first");
    }
}

#[test]
fn an_estimate_by_hand() {
    // main (0) calls a (1) and b (2), which call leaf (3) with 30 and 10 of its 40, and shared (4) with 20 and 60 of its
    // own 48 and the 32 of last (5), which it calls.
    let graph = graph(
        &[1, 2, 3, 40, 48, 32],
        &[
            (0, 1, 1, 52),
            (0, 2, 1, 73),
            (1, 3, 3, 30),
            (2, 3, 1, 10),
            (1, 4, 2, 20),
            (2, 4, 6, 60),
            (4, 5, 8, 32),
        ],
    );
    let tree = estimate(&graph);
    check(&tree, &[126], usize::MAX);
    let expected = [
        (vec![0], (1, 1, false)),
        (vec![1], (2, 0, false)),
        (vec![1, 0], (2, 2, false)),
        (vec![2], (3, 0, false)),
        (vec![2, 0], (3, 3, false)),
        // It calls nothing: its arcs state its self cost.
        (vec![3], (40, 0, false)),
        (vec![3, 1], (30, 0, false)),
        (vec![3, 1, 0], (30, 30, false)),
        (vec![3, 2], (10, 0, false)),
        (vec![3, 2, 0], (10, 10, false)),
        // 48 as 20 to 60. That both calls spend a like part of their cost here is a guess.
        (vec![4], (48, 0, false)),
        (vec![4, 1], (12, 0, true)),
        (vec![4, 1, 0], (12, 12, true)),
        (vec![4, 2], (36, 0, true)),
        (vec![4, 2, 0], (36, 36, true)),
        // All of it comes through `shared`. Behind that, it is divided.
        (vec![5], (32, 0, false)),
        (vec![5, 4], (32, 0, false)),
        (vec![5, 4, 1], (8, 0, true)),
        (vec![5, 4, 1, 0], (8, 8, true)),
        (vec![5, 4, 2], (24, 0, true)),
        (vec![5, 4, 2, 0], (24, 24, true)),
    ];
    assert_eq!(shown(&tree), BTreeMap::from(expected));
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![80] });
    // The calls of each function, and of those by each caller.
    let counts: BTreeMap<_, _> =
        tree.ids().skip(1).map(|id| (path(&tree, id, number), tree.node(id).count)).collect();
    assert_eq!([&[4][..], &[4, 1], &[4, 2], &[4, 2, 0]].map(|path| counts[path]), [8, 2, 6, 1]);
}

#[test]
fn a_member_has_its_cycle_as_caller() {
    // main (0) and other (1) call a (2) for 90 and 30; a and b (3) call each other.
    let graph = graph(&[1, 2, 72, 48], &[(0, 2, 1, 90), (1, 2, 1, 30), (2, 3, 5, 80), (3, 2, 4, 60)]);
    let tree = estimate(&graph);
    check(&tree, &[123], usize::MAX);
    let expected = [
        (vec![0], (1, 1, false)),
        (vec![1], (2, 2, false)),
        (vec![2], (72, 0, false)),
        (vec![2, 101], (72, 0, false)),
        (vec![2, 101, 0], (54, 54, true)),
        (vec![2, 101, 1], (18, 18, true)),
        (vec![3], (48, 0, false)),
        (vec![3, 101], (48, 0, false)),
        (vec![3, 101, 0], (36, 36, true)),
        (vec![3, 101, 1], (12, 12, true)),
    ];
    assert_eq!(shown(&tree), BTreeMap::from(expected));
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![120] });
}

#[test]
fn the_start_of_a_thread_comes_from_no_caller() {
    // The caller of the thread (1) states 50 of the 8000 that it and its callee (2) cost.
    let graph = graph(&[1000, 10, 7990], &[(0, 1, 1, 50), (1, 2, 1, 7990)]);
    let tree = estimate(&graph);
    let of_work = shown(&tree).into_iter().filter(|(path, _)| path[0] == 2).collect::<Vec<_>>();
    assert_eq!(
        of_work,
        [(vec![2], (7990, 0, false)), (vec![2, 1], (7990, 7940, false)), (vec![2, 1, 0], (50, 50, true)),]
    );
}

#[test]
fn of_nothing() {
    let tree = estimate(&graph(&[], &[]));
    assert_eq!((tree.len(), tree.inclusive(TreeNodeId::ROOT)), (1, &[0][..]));
    // A function without self cost is left out.
    let tree = estimate(&graph(&[0, 5], &[(0, 1, 1, 5)]));
    assert_eq!(shown(&tree), BTreeMap::from([(vec![1], (5, 0, false)), (vec![1, 0], (5, 5, false))]));
}

proptest! {
    #[test]
    fn exact_trees_have_a_twin(truth in truths(), max_nodes in 1usize..60) {
        let tree = truth.exact_tree().unwrap().finish();
        let total = tree.inclusive(TreeNodeId::ROOT);
        let whole = tree.bottom_up(usize::MAX);
        check(&whole, total, usize::MAX);
        let shown: BTreeMap<_, _> = whole
            .ids()
            .skip(1)
            .filter(|&id| whole.inclusive(id)[0] != 0)
            .map(|id| (path(&whole, id, |function| function.index()), (whole.inclusive(id)[0], whole.self_cost(id)[0])))
            .collect();
        prop_assert_eq!(&shown, &twin(&truth.stacks()));

        // With a limit, it has the most expensive of the same nodes.
        let limited = tree.bottom_up(max_nodes);
        check(&limited, total, max_nodes);
        prop_assert_eq!(limited.len(), max_nodes.min(whole.len()));
        for id in limited.ids().skip(1).filter(|&id| limited.inclusive(id)[0] != 0) {
            let path = path(&limited, id, |function| function.index());
            prop_assert_eq!(shown[&path], (limited.inclusive(id)[0], limited.self_cost(id)[0]));
        }
        // A function has all of its calls.
        for id in whole.children(TreeNodeId::ROOT) {
            let calls = truth.invocations.iter().filter(|(_, function, _)| Some(f(*function)) == whole.node(id).item);
            prop_assert_eq!(whole.node(id).count, calls.count() as Cost);
        }
    }

    #[test]
    fn estimates_lose_nothing(graph in graphs(6, 10), max_nodes in 1usize..60) {
        let cycles = Cycles::new(&graph);
        let tree = CallTree::estimate_bottom_up(&graph, &cycles, max_nodes);
        check(&tree, &graph.total(), max_nodes);
        let whole = CallTree::estimate_bottom_up(&graph, &cycles, 10_000);
        check(&whole, &graph.total(), 10_000);
        let functions = whole.children(TreeNodeId::ROOT).map(|id| whole.inclusive(id)[0]);
        prop_assert_eq!(vec![functions.sum::<Cost>()], graph.total());
        for id in whole.children(TreeNodeId::ROOT) {
            let Some(Unit::Node(node)) = whole.node(id).item else { panic!("a function") };
            prop_assert_eq!(whole.inclusive(id), graph.self_cost(node));
        }
        // What is marked is what is stated to be a guess, unless calls state other costs than what they called.
        let TreeBasis::Estimate { guessed } = whole.basis() else { panic!("an estimate") };
        prop_assert!((0..=graph.total()[0]).contains(&guessed[0]));
    }

    #[test]
    fn what_is_no_guess_is_true(truth in truths_without_recursion()) {
        let tree = estimate(&truth.graph());
        let twin = twin(&truth.stacks());
        let mut guessed = 0;
        for id in tree.ids().skip(1) {
            let path = path(&tree, id, number);
            let node = tree.node(id);
            let (all, last) = twin.get(&path).copied().unwrap_or_default();
            prop_assert!(node.is_guessed || tree.inclusive(id)[0] == all, "{path:?}: {all}");
            prop_assert!(node.is_self_guessed || tree.self_cost(id)[0] == last, "{path:?}: {last}");
            guessed += if node.is_self_guessed { tree.self_cost(id)[0] } else { 0 };
        }
        prop_assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![guessed] });
    }
}
