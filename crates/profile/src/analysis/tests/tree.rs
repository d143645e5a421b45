//! Trees: exact ones against what happened, estimates by what they must keep.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use gristmill_format::{Cost, CostRole, Line, Reader};
use proptest::prelude::*;

use super::sample::{f, graph, graphs, truths};
use crate::CostTable;
use crate::analysis::{
    Arc, CallGraph, CallTree, Cycles, ExactTree, Invocation, NotInvocations, TreeBasis, TreeItem, TreeLimits,
};
use crate::symbol::Chains;

const NO_LIMITS: TreeLimits = TreeLimits { least: 0, most_nodes: usize::MAX };

fn estimate(graph: &CallGraph) -> CallTree {
    CallTree::estimate(graph, &Cycles::of(graph), None, NO_LIMITS)
}

/// Stacks of functions with their self costs; several nodes with the same stack would show as a wrong sum.
fn stacks(tree: &CallTree) -> BTreeMap<Vec<usize>, Cost> {
    let name = |item: &TreeItem| match item {
        TreeItem::Program => None,
        TreeItem::Function(function) => Some(function.index()),
        TreeItem::Cycle(cycle) => Some(1000 + cycle.number()),
    };
    let mut stacks = BTreeMap::new();
    for node in 1..tree.len() {
        let stack: Vec<usize> = tree.stack(node).iter().filter_map(name).collect();
        assert_eq!(stacks.insert(stack, tree.self_cost(node)[0]), None, "two nodes with one stack");
    }
    stacks
}

/// What holds for every tree.
fn check(tree: &CallTree) {
    for (index, node) in tree.nodes().iter().enumerate() {
        assert!(
            node.parent.is_none_or(|parent| parent < index && tree.node(parent).children.contains(&index))
        );
        assert!(node.children.clone().all(|child| tree.node(child).parent == Some(index)));
        let cost = |child: usize| tree.inclusive(child).first().map_or(0, |cost| cost.unsigned_abs());
        assert!(node.children.clone().is_sorted_by(|&a, &b| {
            (cost(b), tree.node(a).item) <= (cost(a), tree.node(b).item) || cost(a) > cost(b)
        }));
        if node.hidden == 0 {
            assert!(tree.hidden_cost(index).iter().all(|&cost| cost == 0), "{index} of {tree:?}");
        }
    }
    let order: Vec<_> = tree.preorder().collect();
    assert_eq!(order.len(), tree.len());
    assert!(order.iter().all(|&(node, depth)| tree.stack(node).len() == depth + 1));
}

#[test]
fn a_shared_function_is_divided_as_its_arcs_say() {
    // main (1) calls a and b, which call shared with 30 and 10 of its 40.
    let graph =
        graph(&[1, 2, 3, 36, 4], &[(0, 1, 1, 32), (0, 2, 1, 13), (1, 3, 6, 30), (2, 3, 2, 10), (3, 4, 8, 4)]);
    let tree = estimate(&graph);
    check(&tree);
    assert_eq!(
        stacks(&tree),
        BTreeMap::from([
            (vec![0], 1),
            (vec![0, 1], 2),
            (vec![0, 1, 3], 27),
            (vec![0, 1, 3, 4], 3),
            (vec![0, 2], 3),
            (vec![0, 2, 3], 9),
            (vec![0, 2, 3, 4], 1),
        ])
    );
    // `shared` has two callers, and what it calls could be of either.
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![40] });
    let counts: Vec<_> = tree.preorder().map(|(node, _)| tree.node(node).count).collect();
    assert_eq!(counts, [0, 0, 1, 6, 6, 1, 2, 2]);
    let guessed: Vec<_> = tree.preorder().map(|(node, _)| tree.node(node).is_guessed).collect();
    assert_eq!(guessed, [false, false, false, true, true, false, true, true]);
    assert_eq!(tree.hottest(0, 2).iter().map(|&node| tree.self_cost(node)[0]).collect::<Vec<_>>(), [27, 9]);
}

#[test]
fn from_one_function() {
    let graph =
        graph(&[1, 2, 3, 36, 4], &[(0, 1, 1, 32), (0, 2, 1, 13), (1, 3, 6, 30), (2, 3, 2, 10), (3, 4, 8, 4)]);
    let cycles = Cycles::of(&graph);
    let tree = CallTree::estimate(&graph, &cycles, Some(f(1)), NO_LIMITS);
    check(&tree);
    assert_eq!(tree.inclusive(CallTree::ROOT), [32]);
    assert_eq!(tree.node(CallTree::ROOT).item, TreeItem::Function(f(1)));
    // 27 and 3 came by way of `shared`, which others call, too.
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![30] });
    let tree = CallTree::estimate(&graph, &cycles, Some(f(3)), NO_LIMITS);
    assert_eq!((tree.inclusive(0), tree.node(1).count), (&[40][..], 8));
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![0] });
}

#[test]
fn a_cycle_is_one_node() {
    let graph = graph(&[1, 20, 30, 400], &[(0, 1, 1, 450), (1, 2, 3, 440), (2, 1, 2, 300), (2, 3, 3, 400)]);
    let tree = estimate(&graph);
    check(&tree);
    assert_eq!(stacks(&tree), BTreeMap::from([(vec![0], 1), (vec![0, 1001], 50), (vec![0, 1001, 3], 400)]));
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![0] });
    // Cut, its members can be told apart.
    let cut = graph.without(|_, arc| (arc.caller, arc.callee) == (f(2), f(1)));
    let tree = estimate(&cut);
    assert_eq!(stacks(&tree).keys().max_by_key(|stack| stack.len()), Some(&vec![0, 1, 2, 3]));
}

#[test]
fn arcs_without_costs() {
    // By counts, and without these alike.
    let by_count = graph(&[0, 0, 40], &[(0, 2, 3, 0), (1, 2, 1, 0)]);
    assert_eq!(stacks(&estimate(&by_count))[&vec![0, 2]], 30);
    let alike = graph(&[0, 0, 40], &[(0, 2, 0, 0), (1, 2, 0, 0)]);
    assert_eq!(stacks(&estimate(&alike))[&vec![1, 2]], 20);
}

#[test]
fn limits_keep_the_dearest() {
    let graph = graph(&[1, 2, 3, 4, 5], &[(0, 1, 1, 2), (0, 2, 1, 3), (0, 3, 1, 4), (0, 4, 1, 5)]);
    let cycles = Cycles::of(&graph);
    let whole = estimate(&graph);
    for (limits, shown, hidden, hidden_cost) in [
        (TreeLimits { least: 4, ..NO_LIMITS }, 4, 2, 5),
        (TreeLimits { most_nodes: 3, ..NO_LIMITS }, 3, 3, 9),
        (TreeLimits::millionths(15, 250_000, 10), 4, 2, 5),
    ] {
        let grown = CallTree::estimate(&graph, &cycles, None, limits);
        let pruned = whole.pruned(0, limits);
        for tree in [grown, pruned] {
            check(&tree);
            assert_eq!(tree.len(), shown);
            assert_eq!(tree.inclusive(CallTree::ROOT), [15]);
            assert_eq!((tree.node(1).hidden, tree.hidden_cost(1)), (hidden, vec![hidden_cost]));
        }
    }
    assert_eq!(TreeLimits::millionths(10_000_000, 5, 1).least, 50);
    assert_eq!(TreeLimits::millionths(Cost::MIN, 1_000_000, 1).least, Cost::MIN.unsigned_abs());
    assert_eq!(TreeLimits::millionths(3, 0, 1).least, 0);
}

#[test]
fn names_that_tell_the_callers() {
    // 2 is `f'a'main`, 3 is `f'b'main`, 4 is `main`: functions 5, 6, 7 and 8 are f, a, b and main without callers.
    let costs = [(f(2), 10), (f(3), 20), (f(4), 1)];
    let rows: Vec<_> = costs.iter().map(|(function, cost)| (*function, [*cost])).collect();
    let tree = CallTree::of_chains(1, rows.iter().map(|(function, row)| (*function, &row[..])), |function| {
        match function.index() {
            2 => vec![f(8), f(6), f(5)],
            3 => vec![f(8), f(7), f(5)],
            _ => vec![f(8)],
        }
    });
    check(&tree);
    let expected = [(vec![8], 1), (vec![8, 6], 0), (vec![8, 6, 5], 10), (vec![8, 7], 0), (vec![8, 7, 5], 20)];
    assert_eq!(stacks(&tree), BTreeMap::from(expected));
    assert_eq!((tree.basis(), tree.inclusive(CallTree::ROOT)), (&TreeBasis::Callers, &[31][..]));
}

#[test]
fn chains_of_a_recording() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/callgrind/callgrind.out.callers-recs");
    let bytes = fs::read(path).unwrap();
    let mut costs: BTreeMap<Vec<u8>, Cost> = BTreeMap::new();
    let mut reader = Reader::new(&bytes);
    while let Some(record) = reader.next() {
        if let Line::Cost(line) = record.unwrap().line
            && line.role == CostRole::SelfCost
        {
            let name = reader.context().function().unwrap().bytes().to_vec();
            *costs.entry(name).or_default() += line.costs.iter().next().unwrap().unwrap();
        }
    }
    let chains = Chains::of(costs.keys().map(|name| &name[..]));
    assert!(chains.longest() > 1);
    let rows: Vec<[Cost; 1]> = costs.values().map(|cost| [*cost]).collect();
    let self_costs = rows.iter().enumerate().map(|(function, row)| (f(function), &row[..]));
    let tree = CallTree::of_chains(1, self_costs, |function| chains.of_function(function));
    check(&tree);
    assert_eq!(tree.inclusive(CallTree::ROOT), [costs.values().sum::<Cost>()]);
    // Put together again, the stacks are the names.
    let mut found = BTreeMap::new();
    for node in 1..tree.len() {
        let names = tree.stack(node).into_iter().rev().filter_map(|item| match item {
            TreeItem::Function(name) => Some(chains.name(name).to_vec()),
            _ => None,
        });
        found.insert(names.collect::<Vec<_>>().join(&b'\''), tree.self_cost(node)[0]);
    }
    found.retain(|_, cost| *cost != 0);
    costs.retain(|_, cost| *cost != 0);
    assert_eq!(found, costs);
}

#[test]
fn names_fold() {
    // `f` and `f'2` below `main`, with `g` below both.
    let graph = graph(&[1, 10, 20, 3], &[(0, 1, 1, 33), (1, 2, 1, 21), (2, 3, 1, 1), (1, 3, 2, 2)]);
    let contexts = estimate(&graph);
    let fold = |item| match item {
        TreeItem::Function(function) if function == f(2) => TreeItem::Function(f(3)),
        other => other,
    };
    let tree = contexts.renamed(fold);
    check(&tree);
    assert_eq!(
        stacks(&tree),
        BTreeMap::from([(vec![0], 1), (vec![0, 1], 10), (vec![0, 1, 3], 22), (vec![0, 1, 3, 3], 1)])
    );
    assert_eq!(tree.inclusive(CallTree::ROOT), [34]);
}

#[test]
fn blocks_that_are_no_invocations() {
    let mut tree = ExactTree::new(1);
    let block = |function, calls: &'static [(usize, Cost)]| {
        (f(function), calls.iter().map(|&(callee, count)| (f(callee), count)).collect::<Vec<_>>())
    };
    // A function that two others call has one block only.
    for (function, calls) in [block(2, &[]), block(1, &[(2, 1)])] {
        let block = Invocation { function, self_costs: &[5], calls: &calls, call_costs: &[5] };
        assert_eq!(tree.push(block), Ok(()));
    }
    let (function, calls) = block(0, &[(2, 1), (1, 1)]);
    let block = Invocation { function, self_costs: &[1], calls: &calls, call_costs: &[5, 10] };
    assert_eq!(tree.push(block), Err(NotInvocations { block: 2, callee: f(2) }));
}

#[test]
fn a_killed_run_and_a_second_part() {
    let mut tree = ExactTree::new(1);
    let leaf = |function, cost: &'static [Cost]| Invocation {
        function,
        self_costs: cost,
        calls: &[],
        call_costs: &[],
    };
    tree.push(leaf(f(1), &[5])).unwrap();
    tree.push(leaf(f(1), &[6])).unwrap();
    tree.end_part();
    tree.push(leaf(f(1), &[7])).unwrap();
    let caller = Invocation { function: f(0), self_costs: &[1], calls: &[(f(1), 1)], call_costs: &[8] };
    tree.push(caller).unwrap();
    assert_eq!((tree.blocks(), tree.calls(), tree.unequal_calls()), (4, 1, 1));
    let tree = tree.finish();
    check(&tree);
    assert_eq!(stacks(&tree), BTreeMap::from([(vec![0], 1), (vec![0, 1], 7), (vec![1], 11)]));
    assert_eq!(tree.inclusive(CallTree::ROOT), [19]);
}

/// Costs of several event types, also below 0, in a graph without cycles: arcs lead to greater numbers only.
fn signed_graphs() -> impl Strategy<Value = CallGraph> {
    let arc = (0usize..6, 1usize..6, 0i128..3, [-9i128..30, 0i128..4]);
    let arcs = prop::collection::vec(arc, 0..10);
    (prop::collection::vec([-20i128..30, 0i128..4], 7), arcs).prop_map(|(rows, arcs)| {
        let mut self_costs = CostTable::new(2, 0);
        rows.iter().for_each(|row| self_costs.push(row));
        let mut arc_costs = CostTable::new(2, 0);
        arcs.iter().for_each(|(.., row)| arc_costs.push(row));
        let arc = |&(caller, step, count, _): &(usize, usize, Cost, [Cost; 2])| Arc {
            caller: f(caller),
            callee: f((caller + step).min(6)),
            count,
        };
        CallGraph::new(self_costs, arcs.iter().map(arc), arc_costs)
    })
}

proptest! {
    #[test]
    fn exact_trees_are_what_happened(truth in truths()) {
        let tree = truth.exact_tree().unwrap();
        prop_assert_eq!((tree.blocks(), tree.unequal_calls()), (truth.invocations.len(), 0));
        let tree = tree.finish();
        check(&tree);
        prop_assert_eq!(stacks(&tree), truth.stacks());
        prop_assert_eq!(tree.inclusive(CallTree::ROOT), truth.graph().total());
        prop_assert_eq!(tree.basis(), &TreeBasis::Exact);
        let count: Cost = tree.nodes().iter().map(|node| node.count).sum();
        prop_assert_eq!(count, truth.invocations.len() as Cost);
    }

    #[test]
    fn estimates_keep_every_self_cost(graph in signed_graphs()) {
        let tree = estimate(&graph);
        check(&tree);
        let mut sums = CostTable::new(2, graph.functions());
        for node in 1..tree.len() {
            let TreeItem::Function(function) = tree.node(node).item else { panic!("no cycles here") };
            sums.add(function.index(), tree.self_cost(node));
        }
        prop_assert_eq!(&sums, graph.self_costs());
        prop_assert_eq!(tree.inclusive(CallTree::ROOT), graph.total());
    }

    #[test]
    fn estimates_of_any_graph(graph in graphs(7, 14), least in 0u128..20, most_nodes in 1usize..30) {
        let cycles = Cycles::of(&graph);
        let tree = CallTree::estimate(&graph, &cycles, None, TreeLimits { least, most_nodes });
        check(&tree);
        prop_assert!(tree.len() <= most_nodes);
        prop_assert_eq!(tree.inclusive(CallTree::ROOT), graph.total());
        prop_assert!((1..tree.len()).all(|node| tree.inclusive(node)[0].unsigned_abs() >= least));
        let TreeBasis::Estimate { guessed } = tree.basis() else { panic!("an estimate") };
        prop_assert!(guessed[0] >= 0 && guessed[0] <= graph.total()[0]);
        for from in graph.function_ids() {
            check(&CallTree::estimate(&graph, &cycles, Some(from), TreeLimits { least, most_nodes }));
        }
    }

    #[test]
    fn where_nothing_is_guessed_the_estimate_is_exact(truth in truths()) {
        let graph = truth.graph();
        let cycles = Cycles::of(&graph);
        let tree = estimate(&graph);
        let loops = graph.arcs().any(|arc| arc.is_loop());
        if cycles.is_empty() && !loops && tree.basis() == &(TreeBasis::Estimate { guessed: vec![0] }) {
            let without_cost = |stacks: BTreeMap<Vec<usize>, Cost>| -> BTreeMap<Vec<usize>, Cost> {
                stacks.into_iter().filter(|(_, cost)| *cost != 0).collect()
            };
            prop_assert_eq!(without_cost(stacks(&tree)), without_cost(truth.stacks()));
        }
        // Whatever is guessed, the functions right below the root are not.
        prop_assert_eq!(tree.inclusive(1), graph.total());
    }

    #[test]
    fn pruning_is_growing_less(graph in graphs(6, 10), least in 0u128..20) {
        let cycles = Cycles::of(&graph);
        let limits = TreeLimits { least, ..NO_LIMITS };
        let pruned = estimate(&graph).pruned(0, limits);
        check(&pruned);
        let grown = CallTree::estimate(&graph, &cycles, None, limits);
        prop_assert_eq!(pruned.len(), grown.len());
        prop_assert_eq!(estimate(&graph).pruned(0, NO_LIMITS), estimate(&graph));
        prop_assert_eq!(estimate(&graph).renamed(|item| item), estimate(&graph));
    }
}

#[test]
fn of_nothing() {
    let graph = graph(&[], &[]);
    let cycles = Cycles::of(&graph);
    assert!(cycles.is_empty());
    let tree = CallTree::estimate(&graph, &cycles, None, NO_LIMITS);
    check(&tree);
    assert_eq!((tree.len(), tree.inclusive(CallTree::ROOT)), (1, &[0][..]));
    assert_eq!(ExactTree::new(2).finish().inclusive(CallTree::ROOT), [0, 0]);
    // Functions without event types are there all the same.
    let mut self_costs = CostTable::new(0, 0);
    (0..3).for_each(|_| self_costs.push(&[]));
    let mut arc_costs = CostTable::new(0, 0);
    arc_costs.push(&[]);
    let graph = CallGraph::new(self_costs, vec![Arc { caller: f(0), callee: f(2), count: 1 }], arc_costs);
    let tree = CallTree::estimate(&graph, &Cycles::of(&graph), None, NO_LIMITS);
    check(&tree);
    assert_eq!(tree.len(), 4);
    assert_eq!(crate::analysis::Inclusive::own(&graph, Cycles::of(&graph)).of(f(1)), [0; 0]);
}
