//! Costs of one benchmark: totals, and each function by a name that is the same in every build.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_profile::analysis::{CallGraph, Cycles, Inclusive, NodeId, Partition, group_costs};
use gristmill_profile::compare::{JoinRules, normal_function};
use gristmill_profile::event::is_memory;
use gristmill_profile::merge::partly_recorded;
use gristmill_profile::{CostTable, EventId, FunctionId, Profile, Selection};
use regex::Regex;

use crate::bound::CostBound;
use crate::config::{Benchmark, Budget, BudgetScope, matches_name};
use crate::own_code::is_own;
use crate::settings::{environment, settings};

/// A function by its name and source file, without what differs from build to build. See the example of [`Measurement`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionName {
    /// Its name.
    pub name: String,
    /// Its source file, relative to the root of the repository if it is below that.
    pub file: String,
}

/// Costs of a function. See the example of [`Measurement`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionCost {
    /// Self costs, by event type.
    pub costs: Vec<Cost>,
    /// Inclusive costs, by event type. Ignored functions count here.
    pub inclusive: Vec<Cost>,
    /// `true` if the inclusive costs may be less: several functions have the name, and calls leave them and come back from one that
    /// others call as well.
    pub is_inclusive_doubtful: bool,
    /// Number of calls.
    pub calls: Cost,
    /// `true` if it is of the user's own code: not of a library of the system or the runtime of a language.
    pub is_own: bool,
    /// Functions that it calls.
    pub callees: BTreeSet<Arc<FunctionName>>,
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
    /// By the name of a budget of inclusive costs: its functions, and those that they call, also over others.
    pub reached: BTreeMap<String, BTreeSet<FunctionName>>,
    /// By the name of a budget whose costs are upper bounds: how far they may be from the real ones.
    pub bounds: BTreeMap<String, CostBound>,
    /// Patterns of ignored functions and of budgets that match a function of the profile.
    pub matched: BTreeSet<String>,
    /// Event types that some part with costs lacks: their totals are not those of the whole recording.
    pub partial_events: BTreeSet<String>,
    /// Settings of the configuration, which must be the same for costs to be comparable.
    pub settings: BTreeMap<String, Vec<String>>,
    /// Tool, command, caches and string functions, which must be the same, too.
    pub environment: BTreeMap<String, String>,
}

/// Returns the event types that some part with costs does not have, or some of the files that were added up.
fn partial_events(profile: &Profile) -> BTreeSet<String> {
    let parts = || profile.parts().filter(|part| part.totals().iter().any(|&cost| cost != 0));
    let lacks = |event: &EventId| parts().any(|part| !part.event_types().contains(event));
    let partial = profile.events().filter(lacks).map(|event| profile.event(event).name.to_vec());
    let of_files = parts().flat_map(|part| partly_recorded(&part));
    partial.chain(of_files).map(|name| String::from_utf8_lossy(&name).into_owned()).collect()
}

impl Measurement {
    /// Sums up a profile. Paths below the root of the repository become relative to it.
    pub fn new(profile: &Profile, benchmark: &Benchmark, root: &[u8]) -> Measurement {
        let events: Vec<String> = profile
            .events()
            .map(|event| String::from_utf8_lossy(profile.event(event).name).into_owned())
            .collect();
        let directories = [root.to_vec()];
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
            settings: settings(benchmark),
            environment: environment(profile, benchmark, root),
            events,
            ..Measurement::default()
        };
        measurement.partial_events = partial_events(profile);
        let lines = first_lines(profile);
        measurement.matched = matched_patterns(benchmark, &names);
        let is_ignored = |name: &FunctionName| {
            benchmark.ignore.iter().any(|pattern| matches_name(&pattern.regex, &name.name))
        };
        // Functions that one name stands for are one.
        let groups = Partition::from_keys(&names);
        let mut sizes = vec![0_usize; groups.group_count()];
        graph.nodes().for_each(|node| sizes[groups.group_of(node).index()] += 1);
        // Between groups there are cycles that the functions do not have, as where one closure calls what another one calls.
        let of_groups = group_costs(&graph, &groups);
        let of_functions = Inclusive::new(&graph, Cycles::new(&graph));
        for (id, name) in profile.functions().zip(&names).filter(|(_, name)| !is_ignored(name)) {
            let node = graph.node_of(id);
            let costs = graph.self_cost(node);
            add(&mut measurement.totals, costs);
            let function = measurement.functions.entry(name.clone()).or_default();
            function.costs.resize(width, 0);
            add(&mut function.costs, costs);
            let group = groups.group_of(node).index();
            if sizes[group] == 1 {
                function.inclusive = of_functions.cost(node).to_vec();
            } else {
                function.inclusive = of_groups.inclusive.row(group).to_vec();
                function.is_inclusive_doubtful = of_groups.is_upper_bound[group]
                    || (0..of_groups.may_be_negative.len())
                        .any(|column| of_groups.is_estimate(group, column));
            }
            function.line = function.line.into_iter().chain(lines[node.index()]).min();
            let function_of_file = profile.function(id);
            let (object, file) =
                (profile.object(function_of_file.object), profile.file(function_of_file.file));
            function.is_own |= is_own(object, file, &name.name, root);
        }
        measurement.add_calls(&graph, &groups, &names);
        measurement
            .functions
            .retain(|_, function| function.calls != 0 || function.costs.iter().any(|&cost| cost != 0));
        for budget in &benchmark.budgets {
            if let BudgetScope::Functions { name, pattern, is_inclusive } = &budget.scope
                && measurement.matched.contains(pattern.as_str())
                && !measurement.budgets.contains_key(name)
            {
                let (costs, bound) = scope_costs(&graph, &names, pattern, *is_inclusive, width);
                measurement.budgets.insert(name.clone(), costs);
                if *is_inclusive {
                    measurement.reached.insert(name.clone(), reached_from(&graph, &names, pattern));
                }
                measurement.bounds.extend(bound.map(|bound| (name.clone(), bound)));
            }
        }
        measurement
    }

    /// Adds the calls between functions that one name stands for each. Many can call one with a long name, so names are
    /// compared once for each function.
    fn add_calls(&mut self, graph: &CallGraph, groups: &Partition, names: &[FunctionName]) {
        let mut counts: BTreeMap<NodeId, Cost> = BTreeMap::new();
        let mut calls: Vec<(NodeId, NodeId)> = Vec::new();
        for arc in graph.arcs() {
            let [caller, callee] = [arc.caller, arc.callee].map(|node| groups.group_of(node));
            *counts.entry(callee).or_default() += arc.count;
            if caller != callee {
                calls.push((caller, callee));
            }
        }
        calls.sort_unstable();
        calls.dedup();
        let mut shared: BTreeMap<NodeId, Arc<FunctionName>> = BTreeMap::new();
        for (node, name) in graph.nodes().zip(names) {
            shared.entry(groups.group_of(node)).or_insert_with(|| Arc::new(name.clone()));
        }
        for (&group, name) in &shared {
            // An ignored function is in no row.
            let Some(function) = self.functions.get_mut(&**name) else { continue };
            function.calls += counts.get(&group).copied().unwrap_or_default();
            let from = calls.partition_point(|&(caller, _)| caller < group);
            let of_group = calls[from..].iter().take_while(|&&(caller, _)| caller == group);
            function.callees = of_group.filter_map(|(_, callee)| shared.get(callee).cloned()).collect();
        }
    }

    /// Returns the reason why no budget could be judged by this measurement, as a sentence.
    ///
    /// ```
    /// # use std::path::Path;
    /// # use gristmill_gate::{Config, Measurement};
    /// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
    /// let config = Config::parse(Path::new("gristmill.toml"), text)?;
    /// let empty = Measurement { events: vec!["Ir".to_owned()], totals: vec![0], ..Measurement::default() };
    /// assert!(empty.defect(&config.benchmarks[0]).unwrap().contains("no costs"));
    /// # Ok::<(), gristmill_gate::FileError>(())
    /// ```
    pub fn defect(&self, benchmark: &Benchmark) -> Option<String> {
        for (column, event) in self.events.iter().enumerate() {
            if !benchmark.budgets.iter().any(|budget| budget.event == *event) {
                continue;
            }
            let (total, is_memory) = (self.totals[column], is_memory(event));
            if total < 0 && !is_memory {
                return Some(format!(
                    "the total of {event} is {total}: this is a difference, or the clock went backwards while it was recorded"
                ));
            }
            let mut rows = self.functions.iter().filter(|_| !is_memory);
            if let Some((name, _)) = rows.find(|(_, function)| function.costs[column] < 0) {
                return Some(format!(
                    "`{}` has a cost of {event} below 0: this is a difference, or the clock went backwards while it was recorded",
                    name.name
                ));
            }
        }
        let is_unmatched = |pattern: &str| !self.matched.contains(pattern);
        let own = benchmark.ignore.iter().filter(|pattern| !pattern.is_common);
        if let Some(pattern) = own.map(|pattern| pattern.regex.as_str()).find(|pattern| is_unmatched(pattern))
        {
            return Some(format!(
                "`ignore` has the pattern `{pattern}`, which matches no function of the profile"
            ));
        }
        if self.totals.iter().all(|&total| total == 0) {
            let ignored = if benchmark.ignore.is_empty() { "" } else { " of functions that are not ignored" };
            return Some(format!("the profile has no costs{ignored}"));
        }
        None
    }

    /// Returns the reason why a budget cannot be judged by this measurement, as a sentence.
    ///
    /// ```
    /// # use std::path::Path;
    /// # use gristmill_gate::{Config, Measurement};
    /// let text = "[gate]\nevents = [\"Irr\"]\n[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
    /// let config = Config::parse(Path::new("gristmill.toml"), text)?;
    /// let run = Measurement { events: vec!["Ir".to_owned()], totals: vec![7], ..Measurement::default() };
    /// let defect = run.budget_defect(&config.benchmarks[0].budgets[0]).unwrap();
    /// assert_eq!(defect, "the profile has no event type `Irr`; it has Ir");
    /// # Ok::<(), gristmill_gate::FileError>(())
    /// ```
    pub fn budget_defect(&self, budget: &Budget) -> Option<String> {
        if self.column(&budget.event).is_none() {
            let events = self.events.join(", ");
            return Some(format!("the profile has no event type `{}`; it has {events}", budget.event));
        }
        if self.partial_events.contains(&budget.event) {
            let event = &budget.event;
            return Some(format!("some parts of the profile have costs, but no event type `{event}`"));
        }
        match &budget.scope {
            BudgetScope::Functions { pattern, .. } if !self.matched.contains(pattern.as_str()) => {
                Some(format!("the pattern `{pattern}` matches no function of the profile"))
            }
            _ => None,
        }
    }

    /// Returns the index of the run of median cost: of its total, for the first event type that can fail the benchmark. Of an even
    /// count it is the lower of the two in the middle. A run is taken as it is, so that its functions add up to its totals.
    ///
    /// ```
    /// # use std::path::Path;
    /// # use gristmill_gate::{Config, Measurement};
    /// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
    /// let config = Config::parse(Path::new("gristmill.toml"), text)?;
    /// let run = |total| Measurement { events: vec!["Ir".to_owned()], totals: vec![total], ..Measurement::default() };
    /// assert_eq!(Measurement::median(&[run(9), run(3), run(5)], &config.benchmarks[0]), Some(2));
    /// # Ok::<(), gristmill_gate::FileError>(())
    /// ```
    pub fn median(runs: &[Measurement], benchmark: &Benchmark) -> Option<usize> {
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|&index| runs[index].deciding_cost(benchmark));
        order.get(runs.len().saturating_sub(1) / 2).copied()
    }

    /// Returns the cost that decides which run is [`median`](Self::median): the total of the first event type that can fail the
    /// benchmark.
    ///
    /// ```
    /// # use std::path::Path;
    /// # use gristmill_gate::{Config, Measurement};
    /// let text = "[gate]\nevents = [\"Dr\"]\n[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
    /// let config = Config::parse(Path::new("gristmill.toml"), text)?;
    /// let events = vec!["Ir".to_owned(), "Dr".to_owned()];
    /// let run = Measurement { events, totals: vec![7, 3], ..Measurement::default() };
    /// assert_eq!(run.deciding_cost(&config.benchmarks[0]), 3);
    /// # Ok::<(), gristmill_gate::FileError>(())
    /// ```
    pub fn deciding_cost(&self, benchmark: &Benchmark) -> Cost {
        let budget =
            benchmark.budgets.iter().find(|budget| !budget.is_advisory).or(benchmark.budgets.first());
        let column = budget.and_then(|budget| self.column(&budget.event)).unwrap_or(0);
        self.totals.get(column).copied().unwrap_or(0)
    }

    /// Returns the column of an event type.
    pub fn column(&self, event: &str) -> Option<usize> {
        self.events.iter().position(|other| other == event)
    }
}

/// Returns the patterns of a benchmark that match a function.
fn matched_patterns(benchmark: &Benchmark, names: &[FunctionName]) -> BTreeSet<String> {
    let ignore = benchmark.ignore.iter().map(|pattern| &pattern.regex);
    let budgets = benchmark.budgets.iter().filter_map(|budget| match &budget.scope {
        BudgetScope::Functions { pattern, .. } => Some(pattern),
        BudgetScope::Total => None,
    });
    let matches = |pattern: &&Regex| names.iter().any(|name| matches_name(pattern, &name.name));
    ignore.chain(budgets).filter(matches).map(|pattern| pattern.as_str().to_owned()).collect()
}

/// Returns the costs of the functions that match a pattern, and how far they may be from the real ones.
fn scope_costs(
    graph: &CallGraph,
    names: &[FunctionName],
    pattern: &Regex,
    is_inclusive: bool,
    width: usize,
) -> (Vec<Cost>, Option<CostBound>) {
    let is_match = names.iter().map(|name| usize::from(matches_name(pattern, &name.name)));
    // They are one group, so that calls between them count once.
    let groups = group_costs(graph, &Partition::new(2, is_match));
    let row = |costs: &CostTable| costs.row(1).iter().copied().take(width).collect::<Vec<Cost>>();
    if !is_inclusive {
        return (row(&groups.self_costs), None);
    }
    let width = width.min(graph.width());
    let is_estimate: Vec<bool> = (0..width).map(|column| groups.is_estimate(1, column)).collect();
    let is_upper_bound: Vec<bool> =
        is_estimate.iter().map(|is_estimate| groups.is_upper_bound[1] && !is_estimate).collect();
    let is_doubtful = is_estimate.contains(&true) || is_upper_bound.contains(&true);
    let bound = is_doubtful.then(|| CostBound {
        at_least: row(&groups.self_costs),
        is_estimate,
        is_upper_bound,
        leads_back: groups.leads_back[1].map(|node| names[node.index()].name.clone()),
    });
    (row(&groups.inclusive), bound)
}

/// Returns the functions that match a pattern, and those that they call, also over others.
fn reached_from(graph: &CallGraph, names: &[FunctionName], pattern: &Regex) -> BTreeSet<FunctionName> {
    let is_match = |node: &NodeId| matches_name(pattern, &names[node.index()].name);
    let mut to_visit: Vec<NodeId> = graph.nodes().filter(is_match).collect();
    let mut is_reached = vec![false; graph.node_count()];
    to_visit.iter().for_each(|node| is_reached[node.index()] = true);
    while let Some(node) = to_visit.pop() {
        for arc in graph.outgoing(node) {
            let callee = graph.callee(arc);
            if !std::mem::replace(&mut is_reached[callee.index()], true) {
                to_visit.push(callee);
            }
        }
    }
    names.iter().zip(is_reached).filter(|(_, is_reached)| *is_reached).map(|(name, _)| name.clone()).collect()
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
