//! What a profile comes to for the gate: totals, and each function by a name that is the same in every build.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use gristmill_profile::analysis::{CallGraph, group_costs};
use gristmill_profile::compare::{JoinRules, normal_function};
use gristmill_profile::merge::creators;
use gristmill_profile::{FunctionId, Profile, Selection};
use regex::Regex;

use super::config::{Benchmark, Subject};

/// Source file and name, without what differs from build to build.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FunctionName {
    pub(super) name: String,
    pub(super) file: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FunctionCost {
    /// By event type.
    pub(super) costs: Vec<i128>,
    pub(super) calls: i128,
    /// The first line of its own file that it spends anything at.
    pub(super) line: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Measured {
    pub(super) events: Vec<String>,
    /// The sum of all functions that are not ignored, by event type.
    pub(super) totals: Vec<i128>,
    /// What was ignored.
    pub(super) ignored: Vec<i128>,
    pub(super) functions: BTreeMap<FunctionName, FunctionCost>,
    /// What the functions of each budget cost: all event types, by the name of the budget.
    pub(super) subjects: BTreeMap<String, Vec<i128>>,
    /// What has to be the same for numbers to be comparable.
    pub(super) environment: BTreeMap<String, String>,
}

/// Kinds of descriptions that are about the machine that was simulated.
const CACHES: [&str; 3] = ["I1 cache", "D1 cache", "LL cache"];
pub(super) const TOOL: &str = "tool";
/// Which of the processor's own string functions ran; see `string_functions`.
pub(super) const STRINGS: &str = "string functions";

impl Measured {
    /// Takes a profile together. Paths below the directory begin there.
    pub(super) fn of(profile: &Profile, benchmark: &Benchmark, directory: &Path) -> Measured {
        let events: Vec<String> = profile
            .events()
            .map(|event| String::from_utf8_lossy(profile.event(event).name).into_owned())
            .collect();
        let directories = [prefix(directory)];
        let names: Vec<FunctionName> = profile
            .functions()
            .map(|id| {
                let function = profile.function(id);
                let file = profile.file(function.file);
                let (file, name) = normal_function(file, function.name, &directories, JoinRules::all());
                FunctionName { name, file }
            })
            .collect();
        let graph = profile.call_graph(&Selection::default());
        let width = events.len();
        let mut measured = Measured {
            totals: vec![0; width],
            ignored: vec![0; width],
            functions: BTreeMap::new(),
            subjects: BTreeMap::new(),
            environment: environment(profile),
            events,
        };
        let is_ignored: Vec<bool> = names
            .iter()
            .map(|name| benchmark.ignore.iter().any(|pattern| pattern.is_match(&name.name)))
            .collect();
        let lines = first_lines(profile);
        for (index, name) in names.iter().enumerate() {
            let costs = graph.self_costs().row(index);
            let sums = if is_ignored[index] { &mut measured.ignored } else { &mut measured.totals };
            add(sums, costs);
            if is_ignored[index] {
                continue;
            }
            let function = measured.functions.entry(name.clone()).or_default();
            function.costs.resize(width, 0);
            add(&mut function.costs, costs);
            function.line = function.line.into_iter().chain(lines.get(index).copied().flatten()).min();
        }
        for arc in graph.arcs() {
            if let Some(function) =
                names.get(arc.callee.index()).and_then(|name| measured.functions.get_mut(name))
            {
                function.calls += arc.count;
            }
        }
        measured
            .functions
            .retain(|_, function| function.calls != 0 || function.costs.iter().any(|&cost| cost != 0));
        for budget in &benchmark.budgets {
            if let Subject::Functions { name, pattern, inclusive } = &budget.subject
                && !measured.subjects.contains_key(name)
            {
                let row = subject_costs(&graph, &names, pattern, *inclusive, width);
                measured.subjects.insert(name.clone(), row);
            }
        }
        measured
    }

    /// The column of an event type.
    pub(super) fn column(&self, event: &str) -> Option<usize> {
        self.events.iter().position(|other| other == event)
    }
}

/// What the paths of a profile begin with that are below a directory.
pub(super) fn prefix(directory: &Path) -> Vec<u8> {
    let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    directory.as_os_str().as_encoded_bytes().to_vec()
}

/// What the functions cost that a budget is about.
fn subject_costs(
    graph: &CallGraph,
    names: &[FunctionName],
    pattern: &Regex,
    inclusive: bool,
    width: usize,
) -> Vec<i128> {
    let fits = |id: FunctionId| names.get(id.index()).is_some_and(|name| pattern.is_match(&name.name));
    // Those that match are one group, so that what one of them spends in another counts once.
    let groups = group_costs(graph, 2, |id| usize::from(fits(id)));
    let costs = if inclusive { &groups.inclusive } else { &groups.self_costs };
    costs.row(1).iter().copied().take(width).collect()
}

fn add(sums: &mut [i128], costs: &[i128]) {
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}

/// The first line of each function in its own file, by index.
fn first_lines(profile: &Profile) -> Vec<Option<u64>> {
    let mut lines: Vec<Option<u64>> = vec![None; profile.function_count()];
    for part in profile.parts() {
        let found =
            profile.fold_lines(&part, Vec::new, |found: &mut Vec<(FunctionId, u64)>, function, line| {
                if let gristmill_profile::BlockLine::SelfCost { place, .. } = line
                    && let Some(number) = place.line.filter(|&number| number > 0)
                    && place.file == profile.function(function).file
                {
                    match found.last_mut() {
                        Some((last, least)) if *last == function => *least = (*least).min(number),
                        _ => found.push((function, number)),
                    }
                }
            });
        for (function, number) in found.into_iter().flatten() {
            if let Some(line) = lines.get_mut(function.index()) {
                *line = line.map_or(Some(number), |line| Some(line.min(number)));
            }
        }
    }
    lines
}

fn environment(profile: &Profile) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
    let mut answers: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for part in profile.parts() {
        for creator in creators(&part) {
            answers.entry(TOOL.to_owned()).or_default().insert(text(creator));
        }
        for (kind, value) in part.descriptions().map(|(kind, value)| (text(kind), text(value))) {
            if CACHES.contains(&kind.as_str()) && !value.is_empty() {
                answers.entry(kind).or_default().insert(value);
            }
        }
    }
    let strings = string_functions(profile);
    if !strings.is_empty() {
        answers.insert(STRINGS.to_owned(), strings);
    }
    answers
        .into_iter()
        .map(|(kind, values)| (kind, values.into_iter().collect::<Vec<_>>().join(" | ")))
        .collect()
}

/// Which variants of `memcpy` and the like ran: the C library chooses them by the processor, and each costs differently.
fn string_functions(profile: &Profile) -> BTreeSet<String> {
    let variant = |name: &[u8]| -> Option<String> {
        let name = std::str::from_utf8(name).ok()?.strip_prefix("__")?;
        let is_string = ["mem", "str", "stp", "wcs", "wmem"].iter().any(|start| name.starts_with(start));
        let (_, variant) = name.split_once('_').filter(|_| is_string)?;
        let known = ["sse", "ssse", "avx", "evex", "erms", "neon", "sve", "mops", "power", "z13"];
        known.iter().any(|start| variant.starts_with(start)).then(|| variant.to_owned())
    };
    profile.functions().filter_map(|id| variant(profile.function(id).name)).collect()
}
