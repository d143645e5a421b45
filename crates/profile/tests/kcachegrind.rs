//! The numbers of `--inclusive kcachegrind` are those of an independent model of KCachegrind, for every file of the corpus.
//!
//! With `GRISTMILL_CORPUS=FOLDER` the files there are judged as well.

// Without this, clippy takes what is not marked as a test for code that may not panic.
#![cfg(test)]

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;

use gristmill_profile::analysis::{CallGraph, CutArcs, Cycles, FoldedProfile, Inclusive, NodeId};
use gristmill_profile::{FunctionId, Input, Loader, Part, Profile, Selection};
use proptest::prelude::*;

#[path = "kcachegrind/cases.rs"]
mod cases;
// Not all of it is used here.
#[allow(dead_code)]
#[path = "../../format/tests/support/files.rs"]
mod files;
#[path = "kcachegrind/model.rs"]
mod model;
#[path = "kcachegrind/read.rs"]
mod read;
#[path = "../../format/tests/support/words.rs"]
mod words;

use files::{File, files_outside, one_in};
use model::{Cycle, Model, Row};
use read::{Function, Id};
use words::text;

/// The library's numbers for the parts that are selected.
fn inclusive(profile: &Profile, selection: &Selection, cycles: Cycles) -> Inclusive {
    let graph = profile.call_graph(selection);
    let cut = CutArcs::default();
    let folded = FoldedProfile::new(profile, None, &cut);
    let result: Result<Inclusive, Infallible> =
        folded.kcachegrind(selection, &graph, cycles, |row| Ok(row.to_vec()));
    result.unwrap_or_else(|never| match never {})
}

/// The answers about one file that are compared.
struct Case<'a> {
    path: &'a str,
    profile: &'a Profile,
    model: &'a Model,
    /// The function of the library for each of the model's.
    ids: BTreeMap<Id, FunctionId>,
    /// The graph of all parts. Its nodes are those of the graphs of some parts.
    graph: CallGraph,
}

impl<'a> Case<'a> {
    fn new(path: &'a str, profile: &'a Profile, model: &'a Model) -> Self {
        let found: BTreeMap<Function, FunctionId> = profile
            .functions()
            .map(|id| {
                let function = profile.function(id);
                let [object, file, name] =
                    [profile.object(function.object), profile.file(function.file), function.name].map(text);
                (Function { object, file, name }, id)
            })
            .collect();
        assert_eq!(found.len(), profile.function_count(), "{path}: a function is there twice");
        let functions: BTreeSet<&Function> = model.functions.values().collect();
        let missing: Vec<_> = functions.iter().filter(|function| !found.contains_key(function)).collect();
        let more: Vec<_> = found.keys().filter(|function| !functions.contains(function)).collect();
        assert!(missing.is_empty() && more.is_empty(), "{path}: missing {missing:?}, too many {more:?}");

        let events: Vec<String> = profile
            .events()
            .map(|event| profile.event(event))
            .map(|event| match event.repetition {
                0 => text(event.name),
                more => format!("{}#{}", text(event.name), more + 1),
            })
            .collect();
        assert_eq!(events, model.events, "{path}: event types");
        let numbers = |part: Part<'_>| (part.pid(), part.number(), part.thread());
        let expected: Vec<_> = model.parts.iter().map(|part| (part.pid, part.number, part.thread)).collect();
        assert_eq!(profile.parts().map(numbers).collect::<Vec<_>>(), expected, "{path}: parts");

        let ids = model.functions.iter().map(|(&id, function)| (id, found[function])).collect();
        Case { path, profile, model, ids, graph: profile.call_graph(&Selection::default()) }
    }

    /// The node of a function of the model.
    fn node(&self, id: &Id) -> NodeId {
        self.graph.node_of(self.ids[id])
    }

    /// Compares all numbers, for the parts that are selected.
    fn judge(&self, selection: &Selection, cycles: &[Cycle]) {
        let Case { path, profile, model, .. } = self;
        let active: Vec<usize> = (0..model.parts.len())
            .filter(|&part| {
                let part = &model.parts[part];
                let fits = |list: &[std::ops::RangeInclusive<u64>], number: Option<u64>| {
                    list.is_empty() || number.is_some_and(|n| list.contains(&(n..=n)))
                };
                fits(&selection.parts, part.number)
                    && fits(&selection.threads, part.thread)
                    && fits(&selection.pids, part.pid)
            })
            .collect();
        let found = if cycles.is_empty() {
            Cycles::none(&profile.call_graph(selection))
        } else {
            Cycles::new(&profile.call_graph(&Selection::default()))
        };
        let members: BTreeSet<BTreeSet<NodeId>> =
            found.ids().map(|cycle| found.members(cycle).iter().copied().collect()).collect();
        let expected =
            cycles.iter().map(|cycle| cycle.iter().map(|member| self.node(member)).collect()).collect();
        assert_eq!(members, expected, "{path}: members of cycles");

        let inclusive = inclusive(profile, selection, found);
        let graph = profile.call_graph(selection);
        let (rows, of_cycles) = model.rows(&active, cycles);
        let place = format!("{path}, {selection:?}, {} cycles", cycles.len());
        for (id, row) in &rows {
            let node = self.node(id);
            let name = &model.functions[id];
            let place = || format!("{place}: {} ({} {})", name.name, name.file, name.object);
            self.same(&place, row, graph.self_cost(node), inclusive.cost(node), inclusive.call_count(node));
        }
        for (cycle, row) in cycles.iter().zip(&of_cycles) {
            let first = cycle.iter().next().expect("a member");
            let id = inclusive.cycles().cycle_of(self.node(first)).expect("a cycle");
            let place = || format!("{place}: the cycle of {}", model.functions[first].name);
            let (self_cost, costs) = (inclusive.cycle_self_cost(id), inclusive.cycle_cost(id));
            self.same(&place, row, self_cost, costs, inclusive.cycle_call_count(id));
        }
        let mut total = vec![0; model.events.len()];
        rows.values().for_each(|row| read::add(&mut total, &row.self_cost));
        assert_eq!(profile.totals(selection), total, "{place}: totals");
    }

    fn same(
        &self,
        place: &dyn Fn() -> String,
        row: &Row,
        self_cost: &[i128],
        inclusive: &[i128],
        called: i128,
    ) {
        for (event, name) in self.model.events.iter().enumerate() {
            let own = self_cost[event];
            assert!(
                own == row.self_cost[event],
                "{}: self {name}: {own}, not {}",
                place(),
                row.self_cost[event]
            );
            let own = inclusive[event];
            assert!(
                own == row.inclusive[event],
                "{}: inclusive {name}: {own}, not {}",
                place(),
                row.inclusive[event]
            );
        }
        assert!(called == row.called, "{}: called {called} times, not {}", place(), row.called);
    }

    /// With cycles and without, all parts together and each by itself.
    fn judge_all(&self) {
        let mut selections = vec![Selection::default()];
        if self.model.parts.len() > 1 {
            for part in &self.model.parts {
                let list = |number: Option<u64>| Vec::from_iter(number.map(|number| number..=number));
                let [parts, threads, pids] = [part.number, part.thread, part.pid].map(list);
                let selection = Selection { parts, threads, pids };
                if !selections.contains(&selection) {
                    selections.push(selection);
                }
            }
        }
        let cycles = self.model.cycles();
        for selection in &selections {
            self.judge(selection, &[]);
            if !cycles.is_empty() {
                self.judge(selection, &cycles);
            }
        }
    }
}

/// Holds the numbers of a profile of some files against each other, unless there is something in them that the model does
/// not understand.
fn judge(path: &str, files: &[&[u8]]) -> Result<(), String> {
    let input = |bytes: &&[u8]| Input { name: String::new(), bytes: bytes.to_vec().into() };
    let profile = Profile::load(files.iter().map(input).collect());
    // Costs below 0 that lost their sign are restored in the profile's copy of a file.
    let loaded: Vec<&[u8]> = profile.inputs().iter().map(|input| &input.bytes[..]).collect();
    let model = Model::of(&loaded);
    if let Some(what) = model.odd.first() {
        return Err(what.clone());
    }
    Case::new(path, &profile, &model).judge_all();
    Ok(())
}

/// Files of another corpus that no reader understands the same way: a template for numbers, a report, and one with costs
/// that are relative to those above.
const NO_PROFILES: [&str; 3] =
    ["test_cachegrind.out.bug00631", "hratcliffe__WIPPS/callgrind.out", "subposition-compression.log"];

#[test]
fn every_valid_file_shows_what_kcachegrind_shows() {
    let mut judged = 0;
    for File { path, bytes, .. } in files_outside(&["src", "expected"]) {
        match judge(&path, &[&bytes]) {
            Ok(()) => judged += 1,
            // Damaged on purpose; those that can be understood are judged, too.
            Err(_) if path.starts_with("malformed/") => {}
            Err(what) => assert!(NO_PROFILES.iter().any(|name| path.ends_with(name)), "{path}: {what}"),
        }
    }
    println!("{judged} files judged");
    assert_ne!(judged, 0);
}

/// Large enough to be read in pieces, by several threads at once.
#[test]
fn a_file_of_many_parts_adds_up() {
    // A chunk has a megabyte at least.
    let enough = (5 << 20) / one_in(2);
    let files = files_outside(&["src", "expected", "malformed"]);
    let of_callgrind = |file: &&File| file.path.starts_with("callgrind/") && !file.bytes.is_empty();
    // Files of one kind are neighbours, so that speculation succeeds for some chunks.
    let mut kinds: BTreeMap<Vec<String>, Vec<u8>> = BTreeMap::new();
    for File { bytes, .. } in files.iter().filter(of_callgrind) {
        let kind = Model::of(&[bytes]).events;
        kinds.entry(kind).or_default().extend_from_slice(bytes);
    }
    let rounds = enough / kinds.values().map(Vec::len).sum::<usize>() + 1;
    let many: Vec<u8> = kinds.into_values().flat_map(|files| files.repeat(rounds)).collect();
    assert!(many.len() > enough);

    let model = Model::of(&[&many]);
    assert_eq!(model.odd, [""; 0]);
    let cycles = model.cycles();
    assert!(!cycles.is_empty());
    for threads in [1, 3] {
        let input = Input { name: String::new(), bytes: many.clone().into() };
        let profile = Loader::new().threads(threads).load(vec![input]);
        let case = Case::new("many parts", &profile, &model);
        case.judge(&Selection::default(), &[]);
        case.judge(&Selection::default(), &cycles);
    }
}

/// A line or a few of a profile, of names so few that they meet again and again.
fn lines() -> impl Strategy<Value = String> {
    fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
        prop::sample::select(words)
    }
    const OBJECTS: [&str; 4] = ["a", "b", "(1) a", "(1)"];
    const FILES: [&str; 6] = ["x", "y", "d/x", "(1) x", "(1)", ""];
    const FUNCTIONS: [&str; 6] = ["f", "g", "h", "(1) f", "(2) g", "(1)"];
    let callee = (
        prop::option::weighted(0.4, one_of(&OBJECTS)),
        prop::option::weighted(0.4, one_of(&FILES)),
        one_of(&FUNCTIONS),
        0..3u8,
        0..100u8,
    );
    prop_oneof![
        1 => one_of(&OBJECTS).prop_map(|name| format!("ob={name}\n")),
        2 => one_of(&FILES).prop_map(|name| format!("fl={name}\n")),
        1 => (one_of(&["fi", "fe"]), one_of(&FILES)).prop_map(|(key, name)| format!("{key}={name}\n")),
        6 => one_of(&FUNCTIONS).prop_map(|name| format!("fn={name}\n")),
        4 => (0..20u8, 0..100u8).prop_map(|(line, cost)| format!("{line} {cost} 1\n")),
        6 => callee.prop_map(|(object, file, name, count, cost)| {
            let object = object.map(|object| format!("cob={object}\n")).unwrap_or_default();
            let file = file.map(|file| format!("cfi={file}\n")).unwrap_or_default();
            format!("{object}{file}cfn={name}\ncalls={count} 1\n1 {cost} 2\n")
        }),
        1 => Just("jfi=(1) y\njcnd=1/2 3\n4\n".to_owned()),
        1 => prop_oneof![
            Just("\npart: 2\nevents: Dr Ir\n".to_owned()),
            Just("totals: 5\nthread: 7\nevents: Ir Bc\n".to_owned()),
            Just("==== NEW PROFILING FILE ====\nevents: Ir Dr\n".to_owned()),
        ],
    ]
}

#[test]
fn a_recording_in_several_files_adds_up() {
    let files = files_outside(&["src", "expected", "malformed"]);
    let mut recordings: BTreeMap<&str, Vec<&[u8]>> = BTreeMap::new();
    for File { path, bytes, .. } in &files {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        if NO_PROFILES.iter().all(|name| !path.ends_with(name)) && folder.starts_with("callgrind") {
            recordings.entry(folder).or_default().push(bytes);
        }
    }
    // All files of a folder: the more different, the better.
    for (folder, files) in recordings {
        assert_eq!(judge(folder, &files), Ok(()));
    }
}

proptest! {
    #[test]
    fn every_file_shows_what_kcachegrind_shows(
        body in prop::collection::vec(lines(), 1..30),
        next in prop::collection::vec(lines(), 0..6),
    ) {
        let [file, next] = [body, next].map(|body| format!("events: Ir Dr\n{}", body.concat()));
        let files = [file.as_bytes(), next.as_bytes()];
        prop_assert_eq!(judge(&file, &files[..1]), Ok(()));
        prop_assert_eq!(judge(&format!("{file}and\n{next}"), &files), Ok(()));
    }
}
