//! Trees: exact ones against what happened, estimates by what they must keep.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::fs;
use std::hash::Hash;
use std::path::Path;

use gristmill_format::{Cost, CostRole, Line, Reader};
use proptest::prelude::*;

use super::sample::{f, graph, graphs, n, truths, truths_without_recursion};
use crate::analysis::{
    CallArc, CallGraph, CallTree, Cycles, ExactTree, Invocation, NotInvocations, RecordedCallers, TreeBasis,
    TreeLimits, TreeNodeId, Unit,
};
use crate::{CostTable, FunctionId, Profile, Selection};

const NO_LIMITS: TreeLimits = TreeLimits::NONE;

fn estimate(graph: &CallGraph) -> CallTree<Unit> {
    CallTree::estimate(graph, &Cycles::new(graph), None, NO_LIMITS)
}

/// The number of an item in the stacks of a test.
trait Numbered: Copy + Ord + Hash {
    fn number(self) -> usize;
}

impl Numbered for Unit {
    fn number(self) -> usize {
        match self {
            Unit::Node(node) => node.index(),
            Unit::Cycle(cycle) => 1000 + cycle.number(),
        }
    }
}

impl Numbered for FunctionId {
    fn number(self) -> usize {
        self.index()
    }
}

fn stack<T: Numbered>(tree: &CallTree<T>, id: TreeNodeId) -> Vec<usize> {
    let mut stack: Vec<usize> =
        tree.path_up(id).filter_map(|id| tree.node(id).item).map(Numbered::number).collect();
    stack.reverse();
    stack
}

/// Stacks of functions with their self costs; several nodes with the same stack would show as a wrong sum.
fn stacks<T: Numbered>(tree: &CallTree<T>) -> BTreeMap<Vec<usize>, Cost> {
    let mut stacks = BTreeMap::new();
    for id in tree.ids().skip(1) {
        let before = stacks.insert(stack(tree, id), tree.self_cost(id)[0]);
        assert_eq!(before, None, "two nodes with one stack");
    }
    stacks
}

/// The nodes as they are printed: each before those below it.
fn preorder<T: Copy + Ord + Hash>(tree: &CallTree<T>) -> Vec<TreeNodeId> {
    let mut open = vec![TreeNodeId::ROOT];
    let mut order = Vec::new();
    while let Some(id) = open.pop() {
        order.push(id);
        open.extend(tree.children(id).rev());
    }
    order
}

/// Checks what holds for every tree.
fn check<T: Copy + Ord + Hash + Debug>(tree: &CallTree<T>) {
    for id in tree.ids() {
        let node = tree.node(id);
        assert!(node.parent.is_none_or(
            |parent| parent < id && tree.children(parent).filter(|&child| child == id).count() == 1
        ));
        assert!(tree.children(id).all(|child| tree.node(child).parent == Some(id)));
        let cost = |child: TreeNodeId| tree.inclusive(child).first().map_or(0, |cost| cost.unsigned_abs());
        assert!(tree.children(id).is_sorted_by(|&a, &b| {
            (cost(b), tree.node(a).item) <= (cost(a), tree.node(b).item) || cost(a) > cost(b)
        }));
        if node.hidden == 0 {
            assert!(tree.hidden_cost(id).iter().all(|&cost| cost == 0), "{id:?} of {tree:?}");
        }
    }
    assert_eq!(preorder(tree).len(), tree.len());
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
    // Both callers of `shared` state what their calls cost. How much of that is its own is a guess.
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![40] });
    let counts: Vec<_> = preorder(&tree).into_iter().map(|id| tree.node(id).count).collect();
    assert_eq!(counts, [0, 0, 1, 6, 6, 1, 2, 2]);
    let guessed: Vec<_> = preorder(&tree).into_iter().map(|id| tree.node(id).is_guessed).collect();
    assert_eq!(guessed, [false, false, false, false, true, false, false, true]);
    let guessed: Vec<_> = preorder(&tree).into_iter().map(|id| tree.node(id).is_self_guessed).collect();
    assert_eq!(guessed, [false, false, false, true, true, false, true, true]);
}

#[test]
fn from_one_function() {
    let graph =
        graph(&[1, 2, 3, 36, 4], &[(0, 1, 1, 32), (0, 2, 1, 13), (1, 3, 6, 30), (2, 3, 2, 10), (3, 4, 8, 4)]);
    let cycles = Cycles::new(&graph);
    let tree = CallTree::estimate(&graph, &cycles, Some(n(1)), NO_LIMITS);
    check(&tree);
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), [32]);
    assert_eq!(tree.node(TreeNodeId::ROOT).item, Some(Unit::Node(n(1))));
    // 27 and 3 came by way of `shared`, which others call, too.
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![30] });
    let tree = CallTree::estimate(&graph, &cycles, Some(n(3)), NO_LIMITS);
    assert_eq!((tree.inclusive(TreeNodeId::ROOT), tree.node(TreeNodeId::new(1)).count), (&[40][..], 8));
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![0] });
}

#[test]
fn a_cycle_is_one_node() {
    let graph = graph(&[1, 20, 30, 400], &[(0, 1, 1, 450), (1, 2, 3, 440), (2, 1, 2, 300), (2, 3, 3, 400)]);
    let tree = estimate(&graph);
    check(&tree);
    assert_eq!(stacks(&tree), BTreeMap::from([(vec![0], 1), (vec![0, 1001], 50), (vec![0, 1001, 3], 400)]));
    assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![0] });
    // Without one arc, its members are distinct.
    let cut = graph.without(|_, arc| (arc.caller, arc.callee) == (n(2), n(1)));
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
fn limits_keep_the_most_expensive() {
    let graph = graph(&[1, 2, 3, 4, 5], &[(0, 1, 1, 2), (0, 2, 1, 3), (0, 3, 1, 4), (0, 4, 1, 5)]);
    let cycles = Cycles::new(&graph);
    let whole = estimate(&graph);
    for (limits, shown, hidden, hidden_cost) in [
        (TreeLimits { min_cost: 4, ..NO_LIMITS }, 4, 2, 5),
        (TreeLimits { max_nodes: 3, ..NO_LIMITS }, 3, 3, 9),
        (TreeLimits::from_share(15, 250, 10), 4, 2, 5),
    ] {
        let grown = CallTree::estimate(&graph, &cycles, None, limits);
        let selected = whole.selected(limits, usize::MAX, |_| "");
        for tree in [grown, selected] {
            check(&tree);
            assert_eq!(tree.len(), shown);
            assert_eq!(tree.inclusive(TreeNodeId::ROOT), [15]);
            assert_eq!(
                (tree.node(TreeNodeId::new(1)).hidden, tree.hidden_cost(TreeNodeId::new(1))),
                (hidden, vec![hidden_cost])
            );
        }
    }
    assert_eq!(TreeLimits::from_share(10_000, 5, 1).min_cost, 50);
    assert_eq!(TreeLimits::from_share(Cost::MIN, 1000, 1).min_cost, Cost::MIN.unsigned_abs());
    assert_eq!(TreeLimits::from_share(3, 0, 1).min_cost, 0);
}

fn recorded_callers(profile: &Profile) -> RecordedCallers {
    RecordedCallers::from_profile(profile, &Selection::default(), false).unwrap()
}

/// Self costs by name, the callers after the function as in a recorded name.
fn names(callers: &RecordedCallers) -> BTreeMap<Vec<u8>, Cost> {
    let tree = &callers.tree;
    let name = |id| {
        let names = tree.path_up(id).filter_map(|id| tree.node(id).item);
        names.map(|name| &callers.names[name.index()].name[..]).collect::<Vec<_>>().join(&b'\'')
    };
    tree.ids().skip(1).map(|id| (name(id), tree.self_cost(id)[0])).collect()
}

#[test]
fn names_that_contain_callers() {
    let lines = "fn=f'a'main\n1 10\nfn=f'b'main\n1 20\nfn=main\n1 1\nfl=x.c\nfn=b'other\n1 0\n";
    let profile = Profile::from_bytes(format!("events: Ir\n{lines}"));
    let callers = recorded_callers(&profile);
    check(&callers.tree);
    let expected = [("main", 1), ("a'main", 0), ("f'a'main", 10), ("b'main", 0), ("f'b'main", 20)];
    let expected = expected.map(|(name, cost)| (name.as_bytes().to_vec(), cost));
    assert_eq!(names(&callers), BTreeMap::from(expected));
    assert_eq!(callers.tree.basis(), &TreeBasis::Callers);
    assert_eq!(callers.tree.inclusive(TreeNodeId::ROOT), [31]);
    // Of `b` there is a function with callers; `a` is a caller only.
    let example = |name: &[u8]| callers.names.iter().find(|caller| caller.name == name).unwrap().function;
    assert_eq!(example(b"b").map(|id| profile.file(profile.function(id).file)), Some(&b"x.c"[..]));
    assert_eq!(example(b"a"), None);
}

#[test]
fn callers_of_a_recording() {
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
    let callers = recorded_callers(&Profile::from_bytes(bytes));
    check(&callers.tree);
    assert_eq!(callers.tree.inclusive(TreeNodeId::ROOT)[0], costs.values().sum::<Cost>());
    // Put together again, the stacks are the names.
    let mut found = names(&callers);
    found.retain(|_, cost| *cost != 0);
    costs.retain(|_, cost| *cost != 0);
    assert_eq!(found, costs);
}

#[test]
fn names_fold() {
    // `f` and `f'2` below `main`, with `g` below both.
    let graph = graph(&[1, 10, 20, 3], &[(0, 1, 1, 33), (1, 2, 1, 21), (2, 3, 1, 1), (1, 3, 2, 2)]);
    let contexts = estimate(&graph);
    let fold = |item| if item == Unit::Node(n(2)) { Unit::Node(n(3)) } else { item };
    let tree = contexts.folded(fold);
    check(&tree);
    assert_eq!(
        stacks(&tree),
        BTreeMap::from([(vec![0], 1), (vec![0, 1], 10), (vec![0, 1, 3], 22), (vec![0, 1, 3, 3], 1)])
    );
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), [34]);
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
fn a_block_that_costs_more_than_its_calls_is_no_invocation() {
    let tree = |creator: &str, count: Cost, own: Cost| {
        let text = format!(
            "creator: {creator}\nevents: Ir\nfn=f\n1 {own}\nfn=g\n3 5\ncfn=f\ncalls={count} 1\n4 120\n"
        );
        ExactTree::from_profile(&Profile::from_bytes(text.into_bytes()), &Selection::default()).is_ok()
    };
    // Xdebug has other sums where memory was freed. It never writes several calls in one block.
    assert_eq!((tree("xdebug 3.1.6", 1, 200), tree("xdebug 3.1.6", 10, 200)), (true, false));
    assert_eq!((tree("callgrind-3.19.0", 1, 200), tree("any", 10, 200)), (false, false));
    assert_eq!((tree("callgrind-3.19.0", 10, 120), tree("any", 1, 119)), (true, true));
}

/// `fiber` runs `step`, is suspended while `main` runs `helper` and another `step`, and goes on: 4 is the function that resumes.
#[test]
fn a_fiber_has_its_own_stack() {
    let push = |tree: &mut ExactTree, function: usize, own: Cost, calls: &[(usize, Cost)]| {
        let (callees, costs): (Vec<_>, Vec<Cost>) =
            calls.iter().map(|&(callee, cost)| ((f(callee), 1), cost)).unzip();
        tree.push(Invocation {
            function: f(function),
            self_costs: &[own],
            calls: &callees,
            call_costs: &costs,
        })
    };
    let blocks = |second_step: Cost| {
        let mut tree = ExactTree::new(1);
        // The step of the fiber, that of `main`, the helper, and the second step of the fiber.
        push(&mut tree, 1, 30, &[]).unwrap();
        push(&mut tree, 1, second_step, &[]).unwrap();
        push(&mut tree, 2, 50, &[]).unwrap();
        push(&mut tree, 1, 60, &[]).unwrap();
        push(&mut tree, 3, 7, &[(1, 30), (1, 60)]).map(|()| tree)
    };
    let mut tree = blocks(40).unwrap();
    push(&mut tree, 4, 2, &[]).unwrap();
    push(&mut tree, 0, 1, &[(1, 40), (2, 50), (4, 2)]).unwrap();
    let tree = tree.finish();
    check(&tree);
    let expected =
        [(vec![0], 1), (vec![0, 1], 40), (vec![0, 2], 50), (vec![0, 4], 2), (vec![3], 7), (vec![3, 1], 90)];
    assert_eq!(stacks(&tree), BTreeMap::from(expected));
    // With the same cost twice, nothing proves which step is whose.
    assert_eq!(blocks(30).unwrap_err(), NotInvocations { block: 4, callee: f(1) });
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
    assert_eq!((tree.block_count(), tree.call_count(), tree.unequal_call_count()), (4, 1, 1));
    let tree = tree.finish();
    check(&tree);
    assert_eq!(stacks(&tree), BTreeMap::from([(vec![0], 1), (vec![0, 1], 7), (vec![1], 11)]));
    assert_eq!(tree.inclusive(TreeNodeId::ROOT), [19]);
}

/// Costs of several event types, also below 0, in a graph without cycles: arcs lead to greater numbers only.
fn signed_graphs() -> impl Strategy<Value = CallGraph> {
    let arc = (0usize..6, 1usize..6, 0i128..3, [-9i128..30, 0i128..4]);
    let arcs = prop::collection::vec(arc, 0..10);
    (prop::collection::vec([-20i128..30, 0i128..4], 7), arcs).prop_map(|(rows, arcs)| {
        let mut graph = CallGraph::builder(2);
        let nodes: Vec<_> = rows.iter().map(|row| graph.add_node(row)).collect();
        for (caller, step, count, row) in arcs {
            let (caller, callee) = (nodes[caller], nodes[(caller + step).min(6)]);
            graph.add_arc(CallArc { caller, callee, count }, &row);
        }
        graph.build()
    })
}

proptest! {
    #[test]
    fn exact_trees_are_what_happened(truth in truths()) {
        let tree = truth.exact_tree().unwrap();
        prop_assert_eq!((tree.block_count(), tree.unequal_call_count()), (truth.invocations.len(), 0));
        let tree = tree.finish();
        check(&tree);
        prop_assert_eq!(stacks(&tree), truth.stacks());
        prop_assert_eq!(tree.inclusive(TreeNodeId::ROOT), truth.graph().total());
        prop_assert_eq!(tree.basis(), &TreeBasis::Exact);
        let count: Cost = tree.ids().map(|id| tree.node(id).count).sum();
        prop_assert_eq!(count, truth.invocations.len() as Cost);
    }

    #[test]
    fn estimates_keep_every_self_cost(graph in signed_graphs()) {
        let tree = estimate(&graph);
        check(&tree);
        let mut sums = CostTable::new(2, graph.node_count());
        for id in tree.ids().skip(1) {
            let Some(Unit::Node(node)) = tree.node(id).item else { panic!("no cycles here") };
            sums.add(node.index(), tree.self_cost(id));
        }
        prop_assert_eq!(&sums, graph.self_costs());
        prop_assert_eq!(tree.inclusive(TreeNodeId::ROOT), graph.total());
    }

    #[test]
    fn estimates_of_any_graph(graph in graphs(7, 14), min_cost in 0u128..20, max_nodes in 1usize..30) {
        let cycles = Cycles::new(&graph);
        let tree = CallTree::estimate(&graph, &cycles, None, TreeLimits { min_cost, max_nodes, keeps_lone: false });
        check(&tree);
        prop_assert!(tree.len() <= max_nodes);
        prop_assert_eq!(tree.inclusive(TreeNodeId::ROOT), graph.total());
        prop_assert!(tree.ids().skip(1).all(|id| tree.inclusive(id)[0].unsigned_abs() >= min_cost));
        let TreeBasis::Estimate { guessed } = tree.basis() else { panic!("an estimate") };
        prop_assert!(guessed[0] >= 0 && guessed[0] <= graph.total()[0]);
        for from in graph.nodes() {
            check(&CallTree::estimate(&graph, &cycles, Some(from), TreeLimits { min_cost, max_nodes, keeps_lone: false }));
        }
    }

    #[test]
    fn where_nothing_is_guessed_the_estimate_is_exact(truth in truths()) {
        let graph = truth.graph();
        let cycles = Cycles::new(&graph);
        let tree = estimate(&graph);
        let loops = graph.arcs().any(|arc| arc.is_loop());
        if cycles.is_empty() && !loops && tree.basis() == &(TreeBasis::Estimate { guessed: vec![0] }) {
            let without_cost = |stacks: BTreeMap<Vec<usize>, Cost>| -> BTreeMap<Vec<usize>, Cost> {
                stacks.into_iter().filter(|(_, cost)| *cost != 0).collect()
            };
            prop_assert_eq!(without_cost(stacks(&tree)), without_cost(truth.stacks()));
        }
        // Estimated or not, the functions right below the root are exact.
        prop_assert_eq!(tree.inclusive(TreeNodeId::new(1)), graph.total());
    }

    #[test]
    fn a_node_that_is_no_guess_has_the_cost_of_its_stack(truth in truths_without_recursion()) {
        let tree = estimate(&truth.graph());
        let of_stack = truth.stacks();
        let mut counts: BTreeMap<Vec<usize>, Cost> = BTreeMap::new();
        let mut invoked: Vec<Vec<usize>> = Vec::new();
        for &(caller, function, _) in &truth.invocations {
            let above = caller.map_or(&[][..], |caller| &invoked[caller]);
            let stack = [above, &[function]].concat();
            *counts.entry(stack.clone()).or_default() += 1;
            invoked.push(stack);
        }
        let mut guessed = 0;
        for id in tree.ids().skip(1) {
            let node = tree.node(id);
            let mut stack: Vec<usize> = tree
                .path_up(id)
                .filter_map(|id| match tree.node(id).item {
                    Some(Unit::Node(node)) => Some(node.index()),
                    _ => None,
                })
                .collect();
            stack.reverse();
            let own = of_stack.get(&stack).copied().unwrap_or(0);
            let inclusive: Cost =
                of_stack.iter().filter(|(other, _)| other.starts_with(&stack)).map(|(_, cost)| cost).sum();
            prop_assert!(node.is_guessed || tree.inclusive(id)[0] == inclusive, "{stack:?}: {inclusive}");
            prop_assert!(node.is_self_guessed || tree.self_cost(id)[0] == own, "{stack:?}: {own}");
            // Nothing called the root.
            let called = counts.get(&stack).copied().unwrap_or(0) - Cost::from(stack.len() == 1);
            prop_assert!(node.is_count_guessed || node.count == called, "{stack:?}: {called} calls");
            guessed += if node.is_self_guessed { tree.self_cost(id)[0] } else { 0 };
        }
        // The share that is stated is that of the marks.
        prop_assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![guessed] });
    }

    #[test]
    fn selecting_is_growing_less(graph in graphs(6, 10), min_cost in 0u128..20) {
        let cycles = Cycles::new(&graph);
        let limits = TreeLimits { min_cost, ..NO_LIMITS };
        let whole = estimate(&graph);
        let selected = whole.selected(limits, usize::MAX, |_| "");
        check(&selected);
        prop_assert!(preorder(&selected).is_sorted());
        let grown = CallTree::estimate(&graph, &cycles, None, limits);
        prop_assert_eq!(selected.len(), grown.len());
        prop_assert_eq!(stacks(&whole.selected(NO_LIMITS, usize::MAX, |_| "")), stacks(&whole));
        prop_assert_eq!(whole.folded(|item| item), whole);
    }

    #[test]
    fn below_a_function_is_what_it_and_its_callees_cost(truth in truths()) {
        let tree = truth.exact_tree().unwrap().finish();
        for function in (0..truth.functions).map(f) {
            let Some(below) = tree.below(|id| tree.node(id).item == Some(function)) else { continue };
            prop_assert_eq!(below.inclusive(TreeNodeId::ROOT), [truth.cost_within(&[n(function.index())])]);
            let inverted = tree.inverted(|id| tree.node(id).item == Some(function), usize::MAX).unwrap();
            prop_assert_eq!(inverted.inclusive(TreeNodeId::ROOT), below.inclusive(TreeNodeId::ROOT));
            // Each stack of callers has the cost that comes from its outermost one.
            let total: Cost = inverted.ids().map(|id| inverted.self_cost(id)[0]).sum();
            prop_assert_eq!([total], below.inclusive(TreeNodeId::ROOT));
        }
    }

    #[test]
    fn inverted_estimates_lose_nothing(graph in graphs(6, 10), max_nodes in 1usize..30) {
        let cycles = Cycles::new(&graph);
        for from in graph.nodes() {
            let tree = CallTree::estimate_inverted(&graph, &cycles, from, max_nodes);
            prop_assert!(tree.len() <= max_nodes);
            let hidden: Cost = tree.ids().map(|id| tree.hidden_cost(id)[0]).sum();
            let shown: Cost = tree.ids().map(|id| tree.self_cost(id)[0]).sum();
            prop_assert_eq!([hidden + shown], tree.inclusive(TreeNodeId::ROOT));
        }
    }
}

#[test]
fn of_nothing() {
    let graph = graph(&[], &[]);
    let cycles = Cycles::new(&graph);
    assert!(cycles.is_empty());
    let tree = CallTree::estimate(&graph, &cycles, None, NO_LIMITS);
    check(&tree);
    assert_eq!((tree.len(), tree.inclusive(TreeNodeId::ROOT)), (1, &[0][..]));
    assert_eq!(ExactTree::new(2).finish().inclusive(TreeNodeId::ROOT), [0, 0]);
    // Functions without event types are there all the same.
    let mut graph = CallGraph::builder(0);
    let [caller, other, callee] = [(); 3].map(|()| graph.add_node(&[]));
    graph.add_arc(CallArc { caller, callee, count: 1 }, &[]);
    let graph = graph.build();
    let tree = CallTree::estimate(&graph, &Cycles::new(&graph), None, NO_LIMITS);
    check(&tree);
    assert_eq!(tree.len(), 4);
    assert_eq!(crate::analysis::Inclusive::new(&graph, Cycles::new(&graph)).cost(other), [0; 0]);
}
