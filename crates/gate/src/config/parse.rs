//! The configuration from its text: checks, and defaults.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use gristmill_format::Cost;
use regex::Regex;
use toml::Spanned;

use super::file::{BenchmarkTable, BudgetTable, ConfigFile, GateTable, OneOrMany};
use super::{Benchmark, Budget, BudgetScope, Config, FunctionPattern, ProfileSource, Recording};
use crate::amount::{Increase, Share};
use crate::error::line_at;
use crate::options::{is_quiet_option, refused_option};

/// The variable with options of Valgrind, which recordings do not read.
const VALGRIND_OPTIONS: &str = "VALGRIND_OPTS";

/// Reason against keys of a recording beside a profile that another program writes.
const ONLY_RECORDINGS: &str = "only a benchmark with a `command` is recorded";

/// An error with its byte range.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) span: Range<usize>,
    pub(super) message: String,
}

impl Fault {
    fn new<T>(value: &Spanned<T>, message: impl Into<String>) -> Self {
        Fault { span: value.span(), message: message.into() }
    }
}

pub(super) fn parse(path: &Path, text: &str) -> Result<Config, Fault> {
    let file: ConfigFile = toml::from_str(text).map_err(|error| Fault {
        span: error.span().unwrap_or(0..0),
        message: error.message().replace('\n', " "),
    })?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let gate = file.gate;
    check_gate(&gate)?;
    let defaults = Defaults { increase: amount(&gate.increase)?, gate: &gate, common: &file.budget, text };
    let share = amount::<Share>(&gate.share)?;
    let caches: Vec<String> = gate.caches.iter().map(|cache| cache.get_ref().clone()).collect();
    let caches = <[String; 3]>::try_from(caches).map_err(|_| Fault {
        span: gate.caches.first().map_or(0..0, Spanned::span),
        message: "`caches` needs three entries: I1, D1 and LL, each as size,associativity,line size"
            .to_owned(),
    })?;
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    for entry in file.benchmark {
        let line = line_at(text, entry.span().start);
        let table = entry.into_inner();
        let name = table.name.get_ref().clone();
        let is_allowed =
            !name.trim().is_empty() && !name.contains(['/', '\\']) && name != "." && name != "..";
        if !is_allowed || name.contains(char::is_control) {
            return Err(Fault::new(&table.name, "a name must not be empty or contain `/` or `\\`"));
        }
        if benchmarks.iter().any(|other| other.name == name) {
            return Err(Fault::new(&table.name, format!("there are two benchmarks `{name}`")));
        }
        let budgets = defaults.budgets(&table, line)?;
        let mut ignore = patterns(&gate.ignore, true, text)?;
        ignore.extend(patterns(&table.ignore, false, text)?);
        let setup: Vec<Vec<String>> =
            table.setup.iter().map(|command| command.get_ref().clone().into_words()).collect();
        if let Some(empty) = setup.iter().position(Vec::is_empty) {
            return Err(Fault::new(&table.setup[empty], "a command needs at least one word"));
        }
        let (allows_old, inlined) = (table.allow_old, table.inlined);
        let source = profile_source(table)?;
        let entry = name.clone();
        benchmarks.push(Benchmark { name, entry, line, source, setup, allows_old, inlined, ignore, budgets });
    }
    if benchmarks.is_empty() {
        return Err(Fault { span: 0..0, message: "there is no [[benchmark]]".to_owned() });
    }
    Ok(Config {
        path: path.to_owned(),
        baseline: directory.join(&gate.baseline),
        root: directory.clone(),
        directory,
        share,
        valgrind: gate.valgrind,
        caches,
        timeout_seconds: gate.timeout.into_inner(),
        setup_timeout_seconds: gate.setup_timeout.into_inner(),
        pins_string_functions: gate.pin_string_functions,
        benchmarks,
    })
}

/// Checks the table `[gate]` for what would make budgets ineffective.
fn check_gate(gate: &GateTable) -> Result<(), Fault> {
    for event in gate.events.iter().chain(&gate.advise) {
        if event.get_ref().trim().is_empty() {
            return Err(Fault::new(event, "an event type has no name"));
        }
    }
    // `events` may be the default, which stands on no line.
    let is_counted = |event: &&Spanned<String>| contains(&gate.events, event.get_ref());
    if let Some(event) = gate.advise.iter().find(is_counted) {
        let name = event.get_ref();
        return Err(Fault::new(
            event,
            format!("`{name}` is in `events`, which fail the gate, and in `advise`, which do not"),
        ));
    }
    for timeout in [&gate.timeout, &gate.setup_timeout] {
        if *timeout.get_ref() == 0 {
            return Err(Fault::new(timeout, "a time limit must be at least 1 second"));
        }
    }
    Ok(())
}

fn contains(events: &[Spanned<String>], name: &str) -> bool {
    events.iter().any(|event| event.get_ref() == name)
}

/// The sources of budgets beside a benchmark: those of all benchmarks, and the default.
struct Defaults<'f> {
    increase: Increase,
    gate: &'f GateTable,
    common: &'f [Spanned<BudgetTable>],
    text: &'f str,
}

impl Defaults<'_> {
    /// Returns the budgets of a benchmark: its own, those of all benchmarks, then the default ones.
    fn budgets(&self, table: &BenchmarkTable, line: usize) -> Result<Vec<Budget>, Fault> {
        let mut budgets: Vec<Budget> = Vec::new();
        let own = table.budget.iter().map(|budget| (budget, false));
        for (table, is_common) in own.chain(self.common.iter().map(|budget| (budget, true))) {
            let budget = self.budget(table, is_common)?;
            let is_twin = |other: &&Budget| other.scope.name() == budget.scope.name();
            if budgets.iter().filter(is_twin).any(|other| !other.scope.is_same(&budget.scope)) {
                let name = budget.scope.name();
                return Err(Fault::new(
                    table,
                    format!("there are two budgets `{name}` of different functions"),
                ));
            }
            budgets.push(budget);
        }
        let gate = self.gate;
        for (events, is_advisory) in [(&gate.events, false), (&gate.advise, true)] {
            for event in events.iter().map(Spanned::get_ref) {
                // A budget for the total of an event type replaces the default one.
                let replaces =
                    |budget: &Budget| budget.event == *event && matches!(budget.scope, BudgetScope::Total);
                if !budgets.iter().any(replaces) {
                    budgets.push(Budget {
                        event: event.clone(),
                        scope: BudgetScope::Total,
                        max: None,
                        increase: Some(self.increase),
                        is_advisory,
                        is_common: false,
                        line,
                    });
                }
            }
        }
        for budget in budgets.iter_mut().filter(|budget| contains(&gate.advise, &budget.event)) {
            budget.is_advisory = true;
        }
        if budgets.is_empty() {
            return Err(Fault::new(
                &table.name,
                "the benchmark has no budget: `events` of [gate] is empty, and there is no [[benchmark.budget]]",
            ));
        }
        Ok(budgets)
    }

    fn budget(&self, table: &Spanned<BudgetTable>, is_common: bool) -> Result<Budget, Fault> {
        let budget = table.get_ref();
        if budget.max.is_none() && budget.increase.is_none() {
            return Err(Fault::new(table, "a budget needs a `max`, an `increase`, or both"));
        }
        if let Some(max) = budget.max.as_ref().filter(|max| *max.get_ref() < 0) {
            return Err(Fault::new(max, format!("`max` is {}, and no cost is below 0", max.get_ref())));
        }
        let event = budget.event.as_ref().or(self.gate.events.first()).ok_or_else(|| {
            Fault::new(table, "a budget without an `event` needs `events` in [gate] to have an entry")
        })?;
        if event.get_ref().trim().is_empty() {
            return Err(Fault::new(event, "an event type has no name"));
        }
        let scope = match &budget.function {
            Some(pattern) => {
                let name = budget.name.clone().unwrap_or_else(|| pattern.get_ref().clone());
                if name == BudgetScope::Total.name() {
                    return Err(Fault::new(table, "the name `total` is that of all functions together"));
                }
                BudgetScope::Functions { name, pattern: regex(pattern)?, is_inclusive: budget.inclusive }
            }
            None if budget.inclusive => {
                return Err(Fault::new(table, "`inclusive` needs a `function`"));
            }
            None => BudgetScope::Total,
        };
        Ok(Budget {
            event: event.get_ref().clone(),
            scope,
            max: budget.max.as_ref().map(|max| Cost::from(*max.get_ref())),
            increase: budget.increase.as_ref().map(amount).transpose()?,
            is_advisory: budget.advise,
            is_common,
            line: line_at(self.text, table.span().start),
        })
    }
}

fn profile_source(table: BenchmarkTable) -> Result<ProfileSource, Fault> {
    match (table.command, table.profile, table.gungraun) {
        (Some(command), None, None) => {
            let span = command.span();
            let command = command.into_inner().into_words();
            // The first word is empty in `command = ""` and in `command = [""]`.
            if command.first().is_none_or(String::is_empty) {
                return Err(Fault { span, message: "a command needs at least one word".to_owned() });
            }
            for option in &table.options {
                let text = option.get_ref();
                let refused = match text.starts_with('-') {
                    true => refused_option(text).filter(|_| !is_quiet_option(text)),
                    false => Some("it does not begin with `-`"),
                };
                if let Some(reason) = refused {
                    let message = format!("`{text}` cannot be among the options of a recording: {reason}");
                    return Err(Fault::new(option, message));
                }
            }
            let is_variable = |name: &String| {
                !name.is_empty() && !name.contains(['=', '\0']) && !name.contains(char::is_control)
            };
            if !table.environment.keys().chain(&table.keep_environment).all(is_variable) {
                return Err(Fault {
                    span,
                    message: "a variable of the environment has no valid name".to_owned(),
                });
            }
            if table.environment.keys().chain(&table.keep_environment).any(|name| name == VALGRIND_OPTIONS) {
                let message = format!("`{VALGRIND_OPTIONS}` is not read: write the options into `options`");
                return Err(Fault { span, message });
            }
            let runs = table.runs.map_or(1, Spanned::into_inner);
            if runs == 0 {
                return Err(Fault { span, message: "`runs` must be at least 1".to_owned() });
            }
            Ok(ProfileSource::Recording(Recording {
                command,
                options: table.options.into_iter().map(Spanned::into_inner).collect(),
                environment: table.environment,
                keep_environment: table.keep_environment,
                runs,
            }))
        }
        (None, profile, gungraun) if profile.is_some() != gungraun.is_some() => {
            let given = [
                ("options", !table.options.is_empty()),
                ("environment", !table.environment.is_empty()),
                ("keep_environment", !table.keep_environment.is_empty()),
                ("runs", table.runs.is_some()),
            ];
            if let Some((key, _)) = given.iter().find(|(_, is_given)| *is_given) {
                return Err(Fault::new(
                    &table.name,
                    format!("`{key}` has no effect here: {ONLY_RECORDINGS}"),
                ));
            }
            let files = match (profile, gungraun) {
                (_, Some(folder)) if folder.trim().is_empty() => Vec::new(),
                (_, Some(folder)) => return Ok(ProfileSource::Gungraun(folder)),
                (Some(OneOrMany::One(file)), None) => vec![file],
                (Some(OneOrMany::Many(files)), None) => files,
                (None, None) => Vec::new(),
            };
            if files.is_empty() || files.iter().any(|file| file.trim().is_empty()) {
                return Err(Fault::new(&table.name, "`profile` names no file"));
            }
            Ok(ProfileSource::Files(files))
        }
        _ => Err(Fault::new(
            &table.name,
            "a benchmark needs one of: a `command` to record, a `profile` to read, a folder of `gungraun`",
        )),
    }
}

fn amount<T: FromStr<Err = String>>(text: &Spanned<impl AsRef<str>>) -> Result<T, Fault> {
    let words = text.get_ref().as_ref();
    words.parse().map_err(|error| Fault { span: text.span(), message: format!("`{words}`: {error}") })
}

fn patterns(
    patterns: &[Spanned<String>],
    is_common: bool,
    text: &str,
) -> Result<Vec<FunctionPattern>, Fault> {
    let pattern = |pattern: &Spanned<String>| {
        let line = line_at(text, pattern.span().start);
        Ok(FunctionPattern { regex: regex(pattern)?, is_common, line })
    };
    patterns.iter().map(pattern).collect()
}

fn regex(pattern: &Spanned<String>) -> Result<Regex, Fault> {
    if pattern.get_ref().is_empty() {
        return Err(Fault::new(pattern, "an empty pattern matches every function"));
    }
    Regex::new(pattern.get_ref()).map_err(|error| Fault::new(pattern, error.to_string().replace('\n', " ")))
}
