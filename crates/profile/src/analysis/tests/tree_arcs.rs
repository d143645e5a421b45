//! Estimated trees against the costs that the file states for each arc.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::corpus::{File, files};
use super::sample::{graph, graphs, n};
use crate::analysis::{CallGraph, CallTree, Cycles, TreeBasis, TreeLimits, TreeNodeId, Unit};
use crate::{Profile, Selection};

const NO_LIMITS: TreeLimits = TreeLimits::NONE;

/// Sums of costs between two units; those from no unit belong to roots.
type ArcCosts = BTreeMap<(Option<Unit>, Unit), Vec<Cost>>;

fn add(sums: &mut ArcCosts, arc: (Option<Unit>, Unit), costs: &[Cost]) {
    let sum = sums.entry(arc).or_insert_with(|| vec![0; costs.len()]);
    sum.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}

/// The costs that a graph states. A root has what its callers do not state.
fn recorded(graph: &CallGraph, cycles: &Cycles) -> ArcCosts {
    let mut sums = ArcCosts::new();
    for node in graph.nodes() {
        add(&mut sums, (None, cycles.unit(node)), graph.self_cost(node));
    }
    for (id, arc) in graph.arc_ids().zip(graph.arcs()) {
        let [caller, callee] = [arc.caller, arc.callee].map(|node| cycles.unit(node));
        if caller != callee {
            let cost = graph.arc_cost(id);
            add(&mut sums, (Some(caller), callee), cost);
            add(&mut sums, (None, caller), cost);
            add(&mut sums, (None, callee), &cost.iter().map(|cost| -cost).collect::<Vec<_>>());
        }
    }
    sums
}

/// Returns the arcs whose unmarked nodes have another cost than the file states, by more than rounding. Unmarked
/// nodes may have less if marked nodes of the arc, or nodes that are left out, have the rest.
fn unmarked_differences(graph: &CallGraph, cycles: &Cycles, tree: &CallTree<Unit>) -> Vec<String> {
    let recorded = recorded(graph, cycles);
    let (mut unmarked, mut marked, mut has_hidden) = (ArcCosts::new(), ArcCosts::new(), false);
    for id in tree.ids() {
        let node = tree.node(id);
        has_hidden |= node.hidden > 0;
        if let (Some(parent), Some(unit)) = (node.parent, node.item) {
            let sums = if node.is_guessed { &mut marked } else { &mut unmarked };
            add(sums, (tree.node(parent).item, unit), tree.inclusive(id));
        }
    }
    let total = graph.total();
    let mut differences = Vec::new();
    for (arc, sum) in &unmarked {
        for (event, &cost) in sum.iter().enumerate() {
            let marked = marked.get(arc).map_or(0, |sum| sum[event]);
            let recorded = recorded[arc][event];
            let is_notable = |difference: Cost| (difference.abs() - 1) * 100 > recorded.abs();
            let (excess, lack) = (cost - recorded, recorded - cost - marked);
            if excess > 0 && is_notable(excess) || lack > 0 && is_notable(lack) && !has_hidden {
                differences
                    .push(format!("{arc:?}: {cost} of {recorded}, marked {marked} ({})", total[event]));
            }
        }
    }
    differences
}

/// Returns the nodes of an inverted tree that have more than the file states for the arc from them.
fn unmarked_excess(graph: &CallGraph, cycles: &Cycles, tree: &CallTree<Unit>) -> Vec<String> {
    let recorded = recorded(graph, cycles);
    let mut excess = Vec::new();
    for id in tree.ids().filter(|&id| !tree.node(id).is_guessed) {
        let Some(below) = tree.node(id).parent.and_then(|parent| tree.node(parent).item) else { continue };
        let stated = &recorded[&(tree.node(id).item, below)];
        for (event, &cost) in tree.inclusive(id).iter().enumerate() {
            if (cost - stated[event] - 1) * 100 > stated[event].abs() && cost > stated[event] {
                excess.push(format!("{:?} of {below:?}: {cost} of {}", tree.node(id).item, stated[event]));
            }
        }
    }
    excess
}

fn shown(tree: &CallTree<Unit>) -> Vec<(Vec<usize>, Cost, Cost, bool)> {
    let unit = |id| match tree.node(id).item {
        Some(Unit::Node(node)) => Some(node.index()),
        _ => None,
    };
    tree.ids()
        .skip(1)
        .map(|id| {
            let mut stack: Vec<usize> = tree.path_up(id).filter_map(unit).collect();
            stack.reverse();
            (stack, tree.inclusive(id)[0], tree.node(id).count, tree.node(id).is_guessed)
        })
        .collect()
}

/// `main` (0) calls `clone` (1), which starts the thread (2); that calls `work` (3).
fn thread() -> CallGraph {
    graph(&[1000, 4, 10, 8000], &[(0, 1, 2, 54), (1, 2, 2, 50), (2, 3, 6, 8000)])
}

#[test]
fn a_thread_is_a_root() {
    let graph = thread();
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    assert_eq!(
        shown(&tree),
        [
            (vec![2], 7960, 0, false),
            (vec![0], 1054, 0, false),
            (vec![2, 3], 7951, 6, false),
            (vec![0, 1], 54, 2, false),
            (vec![0, 1, 2], 50, 2, false),
            (vec![0, 1, 2, 3], 49, 0, true),
        ]
    );
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), graph.total());
    let TreeBasis::Estimate { guessed } = tree.basis() else { panic!("an estimate") };
    assert!((49..=51).contains(&guessed[0]), "{guessed:?}");
}

/// `main` (0) starts many threads, each of which costs more than it states, by less than one hundredth of the total.
#[test]
fn small_threads_add_up() {
    const THREADS: usize = 120;
    let self_costs: Vec<Cost> = [100].into_iter().chain([200; THREADS]).collect();
    let arcs: Vec<_> = (1..=THREADS).map(|thread| (0, thread, 1, 1)).collect();
    let graph = graph(&self_costs, &arcs);
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    let roots: Vec<_> = shown(&tree).into_iter().filter(|(stack, ..)| stack.len() == 1).collect();
    assert_eq!(roots.len(), 1 + THREADS);
    assert!(roots.contains(&(vec![0], 220, 0, false)), "{roots:?}");
    assert!(roots.contains(&(vec![THREADS], 199, 0, false)), "{roots:?}");
}

#[test]
fn rounding_makes_no_root() {
    // Each of ten functions costs 1 more or less than its caller states; the total is 1110.
    let self_costs: Vec<Cost> = [100].into_iter().chain([101; 10]).collect();
    let roots = |stated: fn(usize) -> Cost| {
        let arcs: Vec<_> = (1..=10).map(|callee| (0, callee, 1, stated(callee))).collect();
        let graph = graph(&self_costs, &arcs);
        let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
        shown(&tree).into_iter().filter(|(stack, ..)| stack.len() == 1).collect::<Vec<_>>()
    };
    assert_eq!(roots(|callee| 100 + 2 * (callee as Cost % 2)), [(vec![0], 1110, 0, false)]);
    // No caller states more than its callee costs, so nothing is rounded.
    assert_eq!(roots(|_| 100)[0], (vec![0], 1100, 0, false));
    assert_eq!(roots(|_| 100).len(), 11);
}

/// A handler of a signal is a function that `main` calls as well, and costs less than one hundredth of the total.
#[test]
fn what_no_caller_states_is_a_root_however_little_it_is() {
    let graph = graph(&[100_000, 600], &[(0, 1, 1, 10)]);
    let cycles = Cycles::new(&graph);
    let tree = CallTree::estimate(&graph, &cycles, None, NO_LIMITS);
    let expected = [(vec![0], 100_010, 0, false), (vec![1], 590, 0, true), (vec![0, 1], 10, 1, false)];
    assert_eq!(shown(&tree), expected);
    assert_eq!(shown(&CallTree::estimate_inverted(&graph, &cycles, n(1), 9)), [(vec![1, 0], 10, 1, false)]);
}

/// `main` (0) states 30 of what the start of a thread (1) costs. That calls `run` (2), which calls two functions; another one (5) costs so little
/// that `main` can have called it.
#[test]
fn what_only_a_thread_calls_is_certain() {
    let self_costs = [1000, 10, 100, 60_000, 40_000, 25];
    let arcs = [(0, 1, 3, 30), (1, 2, 3, 100_125), (2, 3, 3, 60_000), (2, 4, 3, 40_000), (2, 5, 3, 25)];
    let graph = graph(&self_costs, &arcs);
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    let marks: Vec<_> = shown(&tree)
        .into_iter()
        .filter(|(stack, ..)| stack[0] == 1)
        .map(|(stack, cost, _, is_guessed)| (*stack.last().unwrap(), cost, is_guessed))
        .collect();
    let certain = [(1, 100_105, false), (2, 100_096, false), (3, 59_983, false), (4, 39_989, false)];
    assert_eq!(marks, [&certain[..], &[(5, 25, true)]].concat());
}

/// With simulated caches, Callgrind writes that the call of `_Exit` costs 6, but it costs 4.
#[test]
fn one_call_that_costs_less_is_no_rounding() {
    const OTHERS: usize = 40;
    let self_costs: Vec<Cost> = [100_000, 600, 4].into_iter().chain([7; OTHERS]).collect();
    let others = (3..3 + OTHERS).map(|other| (0, other, 1, 7));
    let arcs: Vec<_> = [(0, 1, 1, 10), (0, 2, 1, 6)].into_iter().chain(others).collect();
    let graph = graph(&self_costs, &arcs);
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    let shown = shown(&tree);
    let roots: Vec<_> = shown.iter().filter(|(stack, ..)| stack.len() == 1).collect();
    assert_eq!(roots, [&(vec![0], 100_294, 0, false), &(vec![1], 590, 0, true)]);
    assert!(shown.contains(&(vec![0, 2], 4, 1, true)) && shown.contains(&(vec![0, 1], 10, 1, false)));
}

#[test]
fn callers_of_a_thread_have_what_they_state() {
    let graph = thread();
    let cycles = Cycles::new(&graph);
    let tree = CallTree::estimate_inverted(&graph, &cycles, n(2), usize::MAX);
    assert_eq!(shown(&tree), [(vec![2, 1], 50, 2, false), (vec![2, 1, 0], 50, 2, false)]);
    // The rest comes from no caller.
    assert_eq!(tree.self_cost(TreeNodeId::ROOT), [7960]);
    // From `main` there is no more of the thread than `main` states.
    let tree = CallTree::estimate(&graph, &cycles, Some(n(0)), NO_LIMITS);
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), [1054]);
}

#[test]
fn calls_that_state_another_cost_are_marked() {
    // The call costs 500 by its caller, and the callee has 100.
    let graph = graph(&[400, 100], &[(0, 1, 1, 500)]);
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    assert_eq!(shown(&tree), [(vec![0], 500, 0, true), (vec![0, 1], 100, 1, true)]);
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![500] });
    // Rounding is no contradiction.
    let graph = self::graph(&[400, 100], &[(0, 1, 1, 101)]);
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    assert_eq!(shown(&tree), [(vec![0], 500, 0, false), (vec![0, 1], 100, 1, false)]);
    // A file that states no costs of calls at all.
    let graph = self::graph(&[400, 100], &[(0, 1, 1, 0)]);
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    assert_eq!(shown(&tree), [(vec![0], 500, 0, true), (vec![0, 1], 100, 1, true)]);
}

#[test]
fn a_certain_part_of_an_arc_beside_a_guess() {
    // The caller (1) states 1 of 5 for the chain 2, 0. The other 4 come from no caller: a guess.
    let graph = graph(&[9, 0, 0], &[(1, 2, 1, 1), (2, 0, 1, 5)]);
    let cycles = Cycles::new(&graph);
    let tree = CallTree::estimate(&graph, &cycles, None, NO_LIMITS);
    let chains: Vec<_> =
        shown(&tree).into_iter().map(|(stack, cost, _, guess)| (stack, cost, guess)).collect();
    assert_eq!(
        chains,
        [
            (vec![0], 4, true),
            (vec![2], 4, true),
            (vec![1], 1, false),
            (vec![2, 0], 4, true),
            (vec![1, 2], 1, false),
            (vec![1, 2, 0], 1, false),
        ]
    );
    assert_eq!(unmarked_differences(&graph, &cycles, &tree), [""; 0]);
}

#[test]
fn unmarked_nodes_have_the_recorded_costs() {
    let limits = TreeLimits { min_cost: 1, max_nodes: 3000, keeps_lone: false };
    for File { path, bytes, .. } in files() {
        let profile = Profile::from_bytes(bytes);
        let graph = profile.call_graph(&Selection::default());
        if graph.width() == 0 {
            continue;
        }
        let cycles = Cycles::new(&graph);
        let tree = CallTree::estimate(&graph, &cycles, None, limits);
        assert_eq!(unmarked_differences(&graph, &cycles, &tree), [""; 0], "{path}");
        let mut costliest: Vec<_> = graph.nodes().collect();
        costliest.sort_by_key(|&node| std::cmp::Reverse(graph.self_cost(node)[0]));
        for &node in costliest.iter().take(5) {
            let tree = CallTree::estimate_inverted(&graph, &cycles, node, 500);
            assert_eq!(unmarked_excess(&graph, &cycles, &tree), [""; 0], "{path}");
        }
    }
}

proptest! {
    #[test]
    fn unmarked_nodes_of_any_graph(graph in graphs(7, 14)) {
        let cycles = Cycles::new(&graph);
        let tree = CallTree::estimate(&graph, &cycles, None, NO_LIMITS);
        prop_assert_eq!(unmarked_differences(&graph, &cycles, &tree), [""; 0]);
        for from in graph.nodes() {
            let tree = CallTree::estimate_inverted(&graph, &cycles, from, 200);
            prop_assert_eq!(unmarked_excess(&graph, &cycles, &tree), [""; 0]);
        }
    }
}
