//! A condensed profile with fewer functions has the numbers of those that stay, whatever parts are selected.

#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use gristmill_format::Cost;
use gristmill_profile::analysis::{CallGraph, Cycles, Inclusive, KCachegrindSums, NodeId};
use gristmill_profile::condense::Condensing;
use gristmill_profile::{Profile, Selection};
use proptest::prelude::*;

/// A function by object, file and name.
type Key = (Vec<u8>, Vec<u8>, Vec<u8>);

fn key(profile: &Profile, graph: &CallGraph, node: NodeId) -> Key {
    let function = profile.function(graph.function_of(node));
    let [object, file] = [profile.object(function.object), profile.file(function.file)];
    (object.to_vec(), file.to_vec(), function.name.to_vec())
}

/// The numbers of a function, by each rule.
#[derive(Debug, PartialEq, Eq)]
struct Numbers {
    self_costs: Vec<Cost>,
    inclusive: Vec<Cost>,
    without_cycles: Vec<Cost>,
    kcachegrind: Vec<Cost>,
    callgrind_annotate: Vec<Cost>,
    calls: Cost,
    /// The cost of its cycle, with that of its calls by others.
    cycle: Option<(Vec<Cost>, Vec<Cost>, Cost)>,
    /// The functions of its cycle that stay.
    members: BTreeSet<Key>,
}

/// The numbers that have to be equal in both profiles.
#[derive(Debug, PartialEq, Eq)]
struct Whole {
    total: Vec<Cost>,
    functions: BTreeMap<Key, Numbers>,
    objects: BTreeMap<Vec<u8>, Vec<Cost>>,
    arcs: BTreeMap<(Key, Key), (Cost, Vec<Cost>)>,
}

fn whole(profile: &Profile, selection: &Selection, kept: &BTreeSet<Key>) -> Whole {
    let graph = profile.call_graph(selection);
    let inclusive = Inclusive::new(&graph, Cycles::new(&graph));
    let without_cycles = Inclusive::without_cycles(&graph);
    let annotate = Inclusive::callgrind_annotate(&graph);
    let kcachegrind = KCachegrindSums::from_graph(&graph, Cycles::new(&graph));
    let keys: Vec<Key> = graph.nodes().map(|node| key(profile, &graph, node)).collect();
    let numbers = |node: NodeId| {
        let cycle = inclusive.cycles().cycle_of(node);
        let members = cycle.map(|cycle| inclusive.cycles().members(cycle)).unwrap_or_default();
        Numbers {
            self_costs: graph.self_cost(node).to_vec(),
            inclusive: inclusive.cost(node).to_vec(),
            without_cycles: without_cycles.cost(node).to_vec(),
            kcachegrind: kcachegrind.cost(node).to_vec(),
            callgrind_annotate: annotate.cost(node).to_vec(),
            calls: graph.call_count(node),
            cycle: cycle.map(|cycle| {
                (
                    inclusive.cycle_cost(cycle).to_vec(),
                    inclusive.cycle_self_cost(cycle).to_vec(),
                    inclusive.cycle_call_count(cycle),
                )
            }),
            members: members
                .iter()
                .map(|member| keys[member.index()].clone())
                .filter(|key| kept.contains(key))
                .collect(),
        }
    };
    let mut objects: BTreeMap<Vec<u8>, Vec<Cost>> = BTreeMap::new();
    for node in graph.nodes() {
        let costs = graph.self_cost(node);
        let sums = objects.entry(keys[node.index()].0.clone()).or_insert_with(|| vec![0; costs.len()]);
        sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
    }
    objects.retain(|_, costs| costs.iter().any(|&cost| cost != 0));
    let stays = |node: &NodeId| kept.contains(&keys[node.index()]);
    let arcs = graph.arc_ids().map(|id| (graph.arc(id), graph.arc_cost(id)));
    Whole {
        total: graph.total(),
        functions: graph
            .nodes()
            .filter(stays)
            .map(|node| (keys[node.index()].clone(), numbers(node)))
            .collect(),
        objects,
        arcs: arcs
            .filter(|(arc, _)| stays(&arc.caller) && stays(&arc.callee))
            .map(|(arc, costs)| {
                let ends = [arc.caller, arc.callee].map(|node| keys[node.index()].clone());
                (ends.into(), (arc.count, costs.to_vec()))
            })
            .collect(),
    }
}

fn condensed(profile: &Profile, per_mille: u32) -> Profile {
    let condensing = Condensing::with_fewer_functions(profile, per_mille);
    let mut bytes = Vec::new();
    condensing.write(0, &mut bytes).unwrap();
    let condensed = Profile::from_bytes(bytes);
    let count = condensing.functions();
    assert_eq!(count.all, profile.function_count());
    // A function that nothing calls and that has no lines in any part is not written.
    assert!(condensed.function_count() <= count.kept + count.groups);
    condensed
}

/// Checks a condensed profile against the whole one, for each choice of parts.
fn check(profile: &Profile, per_mille: u32) -> Result<(), TestCaseError> {
    let condensed = condensed(profile, per_mille);
    let keys = |profile: &Profile| -> BTreeSet<Key> {
        let graph = profile.call_graph(&Selection::default());
        graph.nodes().map(|node| key(profile, &graph, node)).collect()
    };
    let kept: BTreeSet<Key> = keys(&condensed).intersection(&keys(profile)).cloned().collect();
    for choice in 0..1u64 << profile.part_count() {
        let chosen = (0..profile.part_count() as u64).filter(|part| choice >> part & 1 == 1);
        let selection =
            Selection { parts: chosen.map(|part| part + 1..=part + 1).collect(), ..Selection::default() };
        prop_assert_eq!(whole(&condensed, &selection, &kept), whole(profile, &selection, &kept));
        let graph = condensed.call_graph(&selection);
        let cycles = Cycles::new(&graph);
        for node in graph.nodes().filter(|&node| cycles.cycle_of(node).is_some()) {
            let key = key(&condensed, &graph, node);
            let name = String::from_utf8_lossy(&key.2).into_owned();
            prop_assert!(kept.contains(&key) || name.contains("functions of this cycle"), "{}", name);
        }
    }
    Ok(())
}

#[derive(Debug, Clone)]
struct RandomPart {
    self_costs: Vec<(usize, Cost)>,
    calls: Vec<(usize, usize, Cost, Cost)>,
}

fn random_part(functions: usize) -> impl Strategy<Value = RandomPart> {
    // Most cost nearly nothing.
    let cost = (0..12u32, 1..4).prop_map(|(power, cost)| Cost::from(cost) << power);
    let self_costs = prop::collection::vec((0..functions, cost.clone()), 0..functions);
    let calls = prop::collection::vec((0..functions, 0..functions, 1..4, cost), 0..2 * functions);
    (self_costs, calls).prop_map(|(self_costs, calls)| RandomPart {
        self_costs,
        calls: calls.into_iter().map(|(from, to, count, cost)| (from, to, Cost::from(count), cost)).collect(),
    })
}

fn text(parts: &[RandomPart], objects: usize) -> String {
    let mut text = "version: 1\n".to_owned();
    for (nth, part) in parts.iter().enumerate() {
        writeln!(text, "part: {}\nthread: {}\npositions: line\nevents: Ir Dr", nth + 1, nth + 1).unwrap();
        for &(function, cost) in &part.self_costs {
            let dr = cost / 3;
            writeln!(text, "ob=o{}\nfl=f{}\nfn=g{function}\n7 {cost} {dr}", function % objects, function % 3)
                .unwrap();
        }
        for &(from, to, count, cost) in &part.calls {
            writeln!(text, "ob=o{}\nfl=f{}\nfn=g{from}", from % objects, from % 3).unwrap();
            writeln!(text, "cob=o{}\ncfi=f{}\ncfn=g{to}\ncalls={count} 3\n5 {cost}", to % objects, to % 3)
                .unwrap();
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

    #[test]
    fn functions_that_stay_keep_all_numbers(
        parts in (4..24usize).prop_flat_map(|functions| prop::collection::vec(random_part(functions), 1..4)),
        objects in 1..3usize,
        per_mille in prop::sample::select(vec![999, 990, 900, 500, 100]),
    ) {
        check(&Profile::from_bytes(text(&parts, objects)), per_mille)?;
    }
}

#[test]
fn a_cycle_of_all_parts_is_none_of_one() {
    // `a` calls `x` in the first part, and `y` calls `a`. Only together with the second part they are a cycle.
    let parts = [
        RandomPart { self_costs: vec![(0, 5000), (3, 1), (4, 1)], calls: vec![(0, 3, 1, 8), (4, 0, 1, 9)] },
        RandomPart { self_costs: vec![(0, 1000)], calls: vec![(3, 4, 1, 2)] },
    ];
    let profile = Profile::from_bytes(text(&parts, 1));
    assert_eq!(Condensing::with_fewer_functions(&profile, 900).functions().groups, 0);
    check(&profile, 900).unwrap();
    // In one part, the others are one.
    let calls = parts.iter().flat_map(|part| part.calls.clone()).collect();
    let profile = Profile::from_bytes(text(&[RandomPart { calls, ..parts[0].clone() }], 1));
    assert_eq!(Condensing::with_fewer_functions(&profile, 900).functions().groups, 1);
    check(&profile, 900).unwrap();
}

#[test]
fn a_function_between_two_that_are_left_out_is_in_no_cycle() {
    // `a` calls `x`, `x` calls `b`, `b` calls `y`. With `x` and `y` in one group, it and `b` would be a cycle.
    let part = RandomPart {
        self_costs: vec![(0, 5000), (3, 1), (6, 4000), (9, 1), (12, 1), (15, 1)],
        calls: vec![(0, 3, 1, 5), (0, 12, 1, 5), (12, 3, 1, 3), (3, 6, 1, 4), (6, 9, 1, 2), (9, 15, 1, 1)],
    };
    let profile = Profile::from_bytes(text(&[part], 1));
    check(&profile, 900).unwrap();
    let condensed = condensed(&profile, 900);
    let names: Vec<_> =
        condensed.functions().map(|id| condensed.function(id).name.escape_ascii().to_string()).collect();
    assert_eq!(names, ["g0", "(2 functions left out)", "g6", "(2 functions left out, 2)"]);
}

#[test]
fn no_group_has_the_name_of_a_function() {
    let text = "events: Ir\nfl=(left out)\nfn=main\n1 9990\nfl=(left out)'\nfn=(2 functions left out that nothing calls)\n2 90\n\
                fl=a.c\nfn=f\n2 1\nfn=g\n3 1\n";
    let profile = Profile::from_bytes(text);
    let condensed = condensed(&profile, 900);
    let files: Vec<_> = condensed.files().map(|id| condensed.file(id).escape_ascii().to_string()).collect();
    assert_eq!(condensed.function_count(), 3, "{files:?}");
    assert!(files.contains(&r"(left out)\'\'".to_owned()), "{files:?}");
}
