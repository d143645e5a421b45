//! The joined tree of two runs against what happened in both.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use gristmill_format::Cost;
use proptest::prelude::*;

use super::sample::{Truth, truths, truths_without_recursion};
use crate::Profile;
use crate::compare::{
    CompareOptions, ComparedBasis, ComparedItem, ComparedTree, ComparedTreeLimits, Comparison, JoinOptions,
    JoinRules, Side,
};

const NO_LIMITS: ComparedTreeLimits =
    ComparedTreeLimits { min_share: 0, max_nodes: usize::MAX, max_depth: usize::MAX };

/// Writes the profile of a run: functions with arcs, as Callgrind does.
fn profile(truth: &Truth) -> Profile {
    let graph = truth.graph();
    let mut text = "events: Ir\n".to_owned();
    for node in graph.nodes() {
        let is_called = graph.incoming(node).len() > 0;
        if !is_called && node.index() > 0 {
            continue;
        }
        // Two blocks: no file of invocations looks like this.
        write!(text, "fl=mill.c\nfn=f{0}\n1 0\nfn=f{0}\n1 {1}\n", node.index(), graph.self_cost(node)[0])
            .unwrap();
        for arc in graph.outgoing(node) {
            let (call, cost) = (graph.arc(arc), graph.arc_cost(arc)[0]);
            writeln!(text, "cfn=f{}\ncalls={} 1\n1 {cost}", call.callee.index(), call.count).unwrap();
        }
    }
    Profile::from_bytes(text.into_bytes())
}

fn compared(base: &Profile, new: &Profile, check: impl Fn(&Comparison<'_>, ComparedTree)) {
    let joining = JoinOptions { rules: JoinRules::NONE, ..JoinOptions::default() };
    let options = CompareOptions { joining, ..CompareOptions::default() };
    let comparison = Comparison::new(&[base], &[new], &options).expect("comparable");
    let tree = comparison.call_tree(&[0], NO_LIMITS);
    check(&comparison, tree);
}

/// The item of each function of the truth.
fn items(comparison: &Comparison<'_>, tree: &ComparedTree, count: usize) -> Vec<Option<ComparedItem>> {
    let mut items = vec![None; count];
    for function in comparison.functions() {
        let name = String::from_utf8_lossy(comparison.mention(function).name).into_owned();
        let number: usize = name[1..].parse().expect("a number");
        let cycle = tree.cycles.iter().position(|members| members.contains(&function));
        items[number] = Some(cycle.map_or(ComparedItem::Function(function), ComparedItem::Cycle));
    }
    items
}

type Costs = BTreeMap<Vec<ComparedItem>, (Cost, Cost)>;

/// Self and inclusive costs by path. Calls within a cycle, and of a function by itself, do not lengthen a path.
fn happened(truth: &Truth, items: &[Option<ComparedItem>]) -> Costs {
    let mut paths: Vec<Vec<ComparedItem>> = Vec::new();
    let mut costs = Costs::new();
    for &(caller, function, cost) in &truth.invocations {
        let mut path = caller.map_or(Vec::new(), |caller| paths[caller].clone());
        let item = items[function].expect("a function of the profile");
        if path.last() != Some(&item) {
            path.push(item);
        }
        costs.entry(path.clone()).or_default().0 += cost;
        for end in 0..=path.len() {
            costs.entry(path[..end].to_vec()).or_default().1 += cost;
        }
        paths.push(path);
    }
    costs
}

fn path(tree: &ComparedTree, node: usize) -> Vec<ComparedItem> {
    let nodes = std::iter::successors(Some(node), |&node| tree.nodes[node].parent);
    let mut path: Vec<ComparedItem> = nodes.filter_map(|node| tree.nodes[node].item).collect();
    path.reverse();
    path
}

/// Checks each node that is not marked, and each arc that has a single node.
fn check(base: &Truth, new: &Truth) {
    compared(&profile(base), &profile(new), |comparison, tree| {
        let items = items(comparison, &tree, base.functions.max(new.functions));
        let happened = [base, new].map(|truth| happened(truth, &items));
        let mut arcs: BTreeMap<(ComparedItem, ComparedItem), Vec<usize>> = BTreeMap::new();
        for (place, node) in tree.nodes.iter().enumerate() {
            let path = path(&tree, place);
            let truth = |side: Side| happened[side.index()].get(&path).copied().unwrap_or_default();
            let [base, new] = Side::ALL.map(truth);
            let inclusive = node.inclusive[0];
            if !node.is_guessed {
                assert_eq!(
                    (inclusive.base.median, inclusive.new.median),
                    (base.1, new.1),
                    "{path:?}: {tree:#?}"
                );
            }
            let own = node.self_costs[0];
            if !node.is_self_guessed && !node.is_guessed {
                assert_eq!((own.base.median, own.new.median), (base.0, new.0), "{path:?}: {tree:#?}");
            }
            assert_eq!(node.hidden, 0);
            if let Some(arc) = node.parent.and_then(|above| tree.nodes[above].item).zip(node.item) {
                arcs.entry(arc).or_default().push(place);
            }
        }
        // Every path that happened is there.
        for path in happened.iter().flat_map(BTreeMap::keys) {
            assert!((0..tree.nodes.len()).any(|node| self::path(&tree, node) == *path), "{path:?}");
        }
        for ((caller, callee), nodes) in arcs {
            let [node] = nodes[..] else { continue };
            let [base, new] = [0, 1].map(|side: usize| {
                let of_arc = happened[side].iter().filter(|(path, _)| path.ends_with(&[caller, callee]));
                of_arc.map(|(_, costs)| costs.1).sum::<Cost>()
            });
            let inclusive = tree.nodes[node].inclusive[0];
            assert_eq!(
                (inclusive.base.median, inclusive.new.median),
                (base, new),
                "{caller:?} {callee:?}: {tree:#?}"
            );
        }
    });
}

#[test]
fn a_shared_callee_has_what_its_arcs_state() {
    // `main` calls `a` and `b`, which call `work`. In the new run, `a` calls it more often and `b` less. The difference of all
    // costs of `work` is 0: a tree of the differences would have nothing to divide.
    let text = |a: i64, b: i64| {
        format!(
            "events: Ir\nfn=main\n1 5\ncfn=a\ncalls=1 1\n2 {}\ncfn=b\ncalls=1 1\n3 {}\nfn=a\n4 1\ncfn=work\ncalls={a} 1\n5 {}\n\
             fn=b\n6 2\ncfn=work\ncalls={b} 1\n7 {}\nfn=work\n8 {}\n",
            1 + 10 * a,
            2 + 10 * b,
            10 * a,
            10 * b,
            10 * (a + b)
        )
    };
    let [base, new] = [text(10, 30), text(30, 10)].map(|text| Profile::from_bytes(text.into_bytes()));
    compared(&base, &new, |comparison, tree| {
        assert_eq!(tree.basis, ComparedBasis::Estimate);
        let name = |item: ComparedItem| match item {
            ComparedItem::Function(function) => {
                String::from_utf8_lossy(comparison.mention(function).name).into_owned()
            }
            _ => panic!("a function"),
        };
        let row = |place: usize| {
            let node = &tree.nodes[place];
            let names: Vec<String> = path(&tree, place).into_iter().map(name).collect();
            (names.join("/"), node.inclusive[0].delta(), node.count.delta(), node.is_guessed)
        };
        let rows: Vec<_> = (0..tree.nodes.len()).map(row).collect();
        let expected = [
            ("", 0, 0),
            ("main", 0, 0),
            ("main/a", 200, 0),
            ("main/a/work", 200, 20),
            ("main/b", -200, 0),
            ("main/b/work", -200, -20),
        ];
        assert_eq!(rows, expected.map(|(path, cost, calls)| (path.to_owned(), cost, calls, false)));
    });
}

#[test]
fn what_the_tree_of_a_run_leaves_out_is_no_change() {
    let text = "events: Ir\nfn=main\n1 5\ncfn=a\ncalls=1 1\n2 7\nfn=a\n4 7\n";
    let profile = Profile::from_bytes(text.as_bytes());
    let comparison =
        Comparison::new(&[&profile], &[&profile], &CompareOptions::default()).expect("comparable");
    let limits = ComparedTreeLimits { max_nodes: 2, ..NO_LIMITS };
    let tree = comparison.call_tree(&[0], limits);
    assert_eq!((tree.nodes.len(), tree.is_limited, tree.nodes[1].hidden), (2, true, 1));
    let tree = comparison.call_tree(&[0], ComparedTreeLimits { max_depth: 1, ..NO_LIMITS });
    assert_eq!((tree.nodes.len(), tree.is_limited, tree.nodes[1].hidden), (2, false, 1));
    let tree = comparison.call_tree(&[0], ComparedTreeLimits { min_share: 1, ..NO_LIMITS });
    assert_eq!((tree.nodes.len(), tree.nodes[0].hidden), (1, 1));
}

proptest! {
    #[test]
    fn unmarked_changes_are_true(base in truths_without_recursion(), new in truths_without_recursion()) {
        check(&base, &new);
    }

    #[test]
    fn unmarked_changes_are_true_with_recursion(base in truths(), new in truths()) {
        check(&base, &new);
    }

    #[test]
    fn exact_trees_are_joined_as_they_happened(base in truths(), new in truths()) {
        let [old_text, text] = [&base, &new].map(invocations);
        let [old, recorded] = [&old_text, &text].map(|text| Profile::from_bytes(text.as_bytes()));
        // An estimate beside an exact tree.
        let other = profile(&new);
        for new_profile in [&recorded, &other] {
            compared(&old, new_profile, |comparison, tree| {
                let is_exact = tree.basis == ComparedBasis::Exact;
                let mut items = items(comparison, &tree, base.functions.max(new.functions));
                if is_exact {
                    for function in comparison.functions() {
                        let name = String::from_utf8_lossy(comparison.mention(function).name).into_owned();
                        items[name[1..].parse::<usize>().expect("a number")] = Some(ComparedItem::Function(function));
                    }
                }
                let happened = [&base, &new].map(|truth| match is_exact {
                    true => happened_exactly(truth, &items),
                    false => happened(truth, &items),
                });
                for place in (0..tree.nodes.len()).filter(|&place| !tree.nodes[place].is_guessed) {
                    let [base, new] = Side::ALL.map(|side| {
                        happened[side.index()].get(&path(&tree, place)).map_or(0, |costs| costs.1)
                    });
                    let inclusive = tree.nodes[place].inclusive[0];
                    assert_eq!((inclusive.base.median, inclusive.new.median), (base, new), "{tree:#?}");
                }
            });
        }
    }
}

/// The same with each invocation on a path.
fn happened_exactly(truth: &Truth, items: &[Option<ComparedItem>]) -> Costs {
    let mut paths: Vec<Vec<ComparedItem>> = Vec::new();
    let mut costs = Costs::new();
    for &(caller, function, cost) in &truth.invocations {
        let mut path = caller.map_or(Vec::new(), |caller| paths[caller].clone());
        path.push(items[function].expect("a function of the profile"));
        costs.entry(path.clone()).or_default().0 += cost;
        for end in 0..=path.len() {
            costs.entry(path[..end].to_vec()).or_default().1 += cost;
        }
        paths.push(path);
    }
    costs
}

/// Writes a block for each invocation, after those that it called.
fn invocations(truth: &Truth) -> String {
    let inclusive = truth.inclusive();
    let mut called: Vec<Vec<usize>> = vec![Vec::new(); truth.invocations.len()];
    for (index, &(caller, ..)) in truth.invocations.iter().enumerate() {
        if let Some(caller) = caller {
            called[caller].push(index);
        }
    }
    let mut text = "events: Ir\n".to_owned();
    let mut open = vec![(0, false)];
    while let Some((index, is_done)) = open.pop() {
        if !is_done {
            open.push((index, true));
            open.extend(called[index].iter().rev().map(|&callee| (callee, false)));
            continue;
        }
        let (_, function, cost) = truth.invocations[index];
        writeln!(text, "fl=mill.c\nfn=f{function}\n1 {cost}").unwrap();
        for &callee in &called[index] {
            writeln!(text, "cfn=f{}\ncalls=1 1\n1 {}", truth.invocations[callee].1, inclusive[callee])
                .unwrap();
        }
    }
    text
}
