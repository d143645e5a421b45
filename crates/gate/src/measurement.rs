//! Costs of one benchmark: totals, and each function by a name that is the same in every build.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;
use gristmill_profile::analysis::{CallGraph, Partition, group_costs};
use gristmill_profile::compare::{JoinRules, normal_function};
use gristmill_profile::merge::creators;
use gristmill_profile::{FunctionId, Profile, Selection};
use regex::Regex;

use crate::config::{Benchmark, BudgetScope};

/// A function by its name and source file, without what differs from build to build. See the example of [`Measurement`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionName {
    /// Its name.
    pub name: String,
    /// Its source file, relative to the directory of the configuration if it is below that.
    pub file: String,
}

/// Costs of a function. See the example of [`Measurement`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionCost {
    /// Self costs, by event type.
    pub costs: Vec<Cost>,
    /// Number of calls.
    pub calls: Cost,
    /// First line of its own source file with a cost.
    pub line: Option<u64>,
}

/// Costs of one benchmark, as the gate compares them.
///
/// ```
/// use std::path::Path;
///
/// use gristmill_gate::{Config, Measurement};
/// use gristmill_profile::{Input, Profile};
///
/// let text = b"events: Ir\nfl=/src/mill.c\nfn=main\n3 100\nfn=_dl_start\n1 7\n";
/// let profile = Profile::load(vec![Input { name: String::new(), bytes: text.to_vec().into() }]);
/// let config = "[gate]\nignore = [\"^_dl_\"]\n[[benchmark]]\nname = \"mill\"\nprofile = \"mill.out\"\n";
/// let config = Config::parse(Path::new("gristmill.toml"), config)?;
/// let measurement = Measurement::new(&profile, &config.benchmarks[0], b"/src");
/// assert_eq!(measurement.totals, [100]);
/// let (name, _) = measurement.functions.first_key_value().unwrap();
/// assert_eq!((name.name.as_str(), name.file.as_str()), ("main", "mill.c"));
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Measurement {
    /// The event types.
    pub events: Vec<String>,
    /// Costs of all functions that are not ignored, by event type.
    pub totals: Vec<Cost>,
    /// Functions that are not ignored.
    pub functions: BTreeMap<FunctionName, FunctionCost>,
    /// Costs of the functions of each budget: by the name of the budget, then by event type.
    pub budgets: BTreeMap<String, Vec<Cost>>,
    /// Tool and caches, which must be the same for costs to be comparable, and string functions.
    pub environment: BTreeMap<String, String>,
}

/// Descriptions of the simulated machine.
const CACHES: [&str; 3] = ["I1 cache", "D1 cache", "LL cache"];
const TOOL: &str = "tool";
/// Key of the variants of the string functions; see [`string_functions`].
pub(crate) const STRINGS: &str = "string functions";

impl Measurement {
    /// Sums up a profile. Paths below the source directory become relative to it.
    pub fn new(profile: &Profile, benchmark: &Benchmark, source_directory: &[u8]) -> Measurement {
        let events: Vec<String> = profile
            .events()
            .map(|event| String::from_utf8_lossy(profile.event(event).name).into_owned())
            .collect();
        let directories = [source_directory.to_vec()];
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
        let mut measurement = Measurement {
            totals: vec![0; width],
            environment: environment(profile),
            events,
            ..Measurement::default()
        };
        let lines = first_lines(profile);
        let is_ignored =
            |name: &FunctionName| benchmark.ignore.iter().any(|pattern| pattern.is_match(&name.name));
        for (index, name) in names.iter().enumerate().filter(|(_, name)| !is_ignored(name)) {
            let costs = graph.self_costs().row(index);
            add(&mut measurement.totals, costs);
            let function = measurement.functions.entry(name.clone()).or_default();
            function.costs.resize(width, 0);
            add(&mut function.costs, costs);
            function.line = function.line.into_iter().chain(lines[index]).min();
        }
        for arc in graph.arcs() {
            // An ignored function is in no row.
            if let Some(function) = measurement.functions.get_mut(&names[arc.callee.index()]) {
                function.calls += arc.count;
            }
        }
        measurement
            .functions
            .retain(|_, function| function.calls != 0 || function.costs.iter().any(|&cost| cost != 0));
        for budget in &benchmark.budgets {
            if let BudgetScope::Functions { name, pattern, is_inclusive } = &budget.scope
                && !measurement.budgets.contains_key(name)
            {
                let costs = scope_costs(&graph, &names, pattern, *is_inclusive, width);
                measurement.budgets.insert(name.clone(), costs);
            }
        }
        measurement
    }

    /// Returns the column of an event type.
    pub fn column(&self, event: &str) -> Option<usize> {
        self.events.iter().position(|other| other == event)
    }
}

/// Returns the costs of the functions that match a pattern.
fn scope_costs(
    graph: &CallGraph,
    names: &[FunctionName],
    pattern: &Regex,
    is_inclusive: bool,
    width: usize,
) -> Vec<Cost> {
    let is_match = names.iter().map(|name| usize::from(pattern.is_match(&name.name)));
    // They are one group, so that calls between them count once.
    let groups = group_costs(graph, &Partition::new(2, is_match));
    let costs = if is_inclusive { &groups.inclusive } else { &groups.self_costs };
    costs.row(1).iter().copied().take(width).collect()
}

fn add(sums: &mut [Cost], costs: &[Cost]) {
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}

/// Returns the first line of each function in its own file.
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
                        Some((last, lowest)) if *last == function => *lowest = (*lowest).min(number),
                        _ => found.push((function, number)),
                    }
                }
            });
        for (function, number) in found.into_iter().flatten() {
            let line = &mut lines[function.index()];
            *line = Some(line.map_or(number, |line| line.min(number)));
        }
    }
    lines
}

/// Returns tool, caches and string functions of a profile.
fn environment(profile: &Profile) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.trim_ascii()).into_owned();
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for part in profile.parts() {
        for creator in creators(&part) {
            values.entry(TOOL.to_owned()).or_default().insert(text(creator));
        }
        for (kind, value) in part.descriptions().map(|(kind, value)| (text(kind), text(value))) {
            if CACHES.contains(&kind.as_str()) && !value.is_empty() {
                values.entry(kind).or_default().insert(value);
            }
        }
    }
    let strings = string_functions(profile);
    if !strings.is_empty() {
        values.insert(STRINGS.to_owned(), strings);
    }
    values
        .into_iter()
        .map(|(kind, values)| (kind, values.into_iter().collect::<Vec<_>>().join(" | ")))
        .collect()
}

/// Returns the variants of `memcpy` and similar functions that ran. The C library selects them by the processor, and each has a
/// different cost.
fn string_functions(profile: &Profile) -> BTreeSet<String> {
    let variant = |name: &[u8]| -> Option<String> {
        let name = std::str::from_utf8(name).ok()?.strip_prefix("__")?;
        let is_string = ["mem", "str", "stp", "wcs", "wmem"].iter().any(|prefix| name.starts_with(prefix));
        let (_, variant) = name.split_once('_').filter(|_| is_string)?;
        let known = ["sse", "ssse", "avx", "evex", "erms", "neon", "sve", "mops", "power", "z13"];
        known.iter().any(|prefix| variant.starts_with(prefix)).then(|| variant.to_owned())
    };
    profile.functions().filter_map(|id| variant(profile.function(id).name)).collect()
}
