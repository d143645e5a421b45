//! The configuration, `gristmill.toml`: benchmarks and their budgets.

mod file;

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use gristmill_format::Cost;
use gristmill_output::printable;
use regex::Regex;
use toml::Spanned;

use self::file::{BenchmarkTable, BudgetTable, ConfigFile, OneOrMany};
use crate::amount::{Increase, Share};
use crate::error::{FileError, line_at};

/// A configuration, checked.
///
/// ```
/// use std::path::Path;
///
/// use gristmill_gate::Config;
///
/// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
/// let config = Config::parse(Path::new("gristmill.toml"), text)?;
/// assert_eq!(config.benchmarks[0].name, "parse");
/// // Without a budget, `Ir` may grow by 1%.
/// assert_eq!(config.benchmarks[0].budgets[0].increase.unwrap().to_string(), "1%");
///
/// let error = Config::parse(Path::new("gristmill.toml"), "[gate]\nshare = \"a lot\"\n").unwrap_err();
/// assert_eq!(error.line, 2);
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
#[derive(Debug)]
pub struct Config {
    /// Path of the file itself.
    pub path: PathBuf,
    /// Directory of the file. All paths in it are relative to this.
    pub directory: PathBuf,
    /// Path of the baseline.
    pub baseline: PathBuf,
    /// Functions below this share of the total are not listed one by one in the baseline.
    pub share: Share,
    /// The Valgrind to record with.
    pub valgrind: String,
    /// I1, D1 and LL caches: size, associativity and line size.
    pub caches: [String; 3],
    /// Seconds that a recording may take.
    pub timeout_seconds: u64,
    /// The benchmarks, as they stand in the file; at least one.
    pub benchmarks: Vec<Benchmark>,
}

/// A benchmark. See the example of [`Config`].
#[derive(Debug)]
pub struct Benchmark {
    /// Its name, which may be used as a file name.
    pub name: String,
    /// Line of the configuration on which it begins.
    pub line: usize,
    /// Source of its profile.
    pub source: ProfileSource,
    /// Functions whose costs are not counted.
    pub ignore: Vec<Regex>,
    /// Its budgets: its own, those of all benchmarks, then the default ones.
    pub budgets: Vec<Budget>,
}

/// Source of the profile of a benchmark. See the example of [`Config`].
#[derive(Debug)]
pub enum ProfileSource {
    /// Files that exist already; several are added up.
    Files(Vec<PathBuf>),
    /// A command to record.
    Recording(Recording),
}

/// A command to record, and its surroundings. See the example of [`Config`].
#[derive(Debug)]
pub struct Recording {
    /// The command, with its arguments; at least one word.
    pub command: Vec<String>,
    /// Commands to run before each recording.
    pub setup: Vec<Vec<String>>,
    /// Options for Valgrind.
    pub options: Vec<String>,
    /// Environment variables to set.
    pub environment: BTreeMap<String, String>,
    /// Environment variables to pass on.
    pub keep_environment: Vec<String>,
    /// Number of recordings; the median of each cost is used. At least 1.
    pub runs: u32,
}

/// A limit on the cost of one event type. See the example of [`Config`].
#[derive(Debug, Clone)]
pub struct Budget {
    /// The event type.
    pub event: String,
    /// The functions whose cost is limited.
    pub scope: BudgetScope,
    /// Highest cost allowed.
    pub max: Option<Cost>,
    /// Increase over the baseline that is allowed.
    pub increase: Option<Increase>,
    /// `true` if exceeding the budget is reported, but does not fail the gate.
    pub is_advisory: bool,
    /// Line of the configuration on which it stands.
    pub line: usize,
}

/// The functions that a budget is about. See the example of [`Config`].
#[derive(Debug, Clone)]
pub enum BudgetScope {
    /// All functions that are not ignored.
    Total,
    /// The functions that match a pattern.
    Functions {
        /// Name of the group of functions in reports and in the baseline.
        name: String,
        /// Pattern of their names.
        pattern: Regex,
        /// `true` if their inclusive cost is limited, not their self cost.
        is_inclusive: bool,
    },
}

impl BudgetScope {
    /// Returns the name used in reports and in the baseline.
    pub fn name(&self) -> &str {
        match self {
            BudgetScope::Total => "total",
            BudgetScope::Functions { name, .. } => name,
        }
    }
}

/// A benchmark that was asked for and is not in the configuration. See the example of [`Config::select`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownBenchmark {
    /// The name that was asked for.
    pub name: String,
    /// The names of all benchmarks.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownBenchmark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no benchmark `{}`", printable(self.name.as_bytes()))
    }
}

impl std::error::Error for UnknownBenchmark {}

impl Config {
    /// Parses a configuration. The path says where relative paths in it begin; nothing is opened.
    ///
    /// # Errors
    ///
    /// If the text is not TOML, or not a configuration.
    pub fn parse(path: &Path, text: &str) -> Result<Config, FileError> {
        let config = parse(path, text);
        config.map_err(|fault| FileError {
            path: path.to_owned(),
            line: line_at(text, fault.span.start),
            message: fault.message,
        })
    }

    /// Returns the benchmarks with these names, or all benchmarks if there are no names.
    ///
    /// ```
    /// # use std::path::Path;
    /// # use gristmill_gate::Config;
    /// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
    /// let config = Config::parse(Path::new("gristmill.toml"), text)?;
    /// assert_eq!(config.select(&[]).unwrap().len(), 1);
    /// let error = config.select(&["print".to_owned()]).unwrap_err();
    /// assert_eq!(error.to_string(), "there is no benchmark `print`");
    /// # Ok::<(), gristmill_gate::FileError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is no benchmark with one of the names.
    pub fn select(&self, names: &[String]) -> Result<Vec<&Benchmark>, UnknownBenchmark> {
        let is_known = |name: &String| self.benchmarks.iter().any(|benchmark| benchmark.name == *name);
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            return Err(UnknownBenchmark {
                name: unknown.clone(),
                known: self.benchmarks.iter().map(|benchmark| benchmark.name.clone()).collect(),
            });
        }
        let is_selected = |benchmark: &&Benchmark| names.is_empty() || names.contains(&benchmark.name);
        Ok(self.benchmarks.iter().filter(is_selected).collect())
    }
}

/// An error with its byte range.
#[derive(Debug)]
struct Fault {
    span: Range<usize>,
    message: String,
}

impl Fault {
    fn new<T>(value: &Spanned<T>, message: impl Into<String>) -> Self {
        Fault { span: value.span(), message: message.into() }
    }
}

fn parse(path: &Path, text: &str) -> Result<Config, Fault> {
    let file: ConfigFile = toml::from_str(text).map_err(|error| Fault {
        span: error.span().unwrap_or(0..0),
        message: error.message().replace('\n', " "),
    })?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let gate = file.gate;
    let increase = amount::<Increase>(&gate.increase)?;
    let share = amount::<Share>(&gate.share)?;
    let ignore = patterns(&gate.ignore)?;
    let caches =
        <[String; 3]>::try_from(gate.caches.iter().map(|cache| cache.get_ref().clone()).collect::<Vec<_>>());
    let caches = caches.map_err(|_| Fault {
        span: gate.caches.first().map_or(0..0, Spanned::span),
        message: "`caches` needs three entries: I1, D1 and LL, each as size,associativity,line size"
            .to_owned(),
    })?;
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    for entry in file.benchmark {
        let line = line_at(text, entry.span().start);
        let table = entry.into_inner();
        let name = table.name.get_ref().clone();
        if name.is_empty() || name.contains(['/', '\\']) || name.contains(char::is_control) {
            return Err(Fault::new(&table.name, "a name must not be empty or contain `/` or `\\`"));
        }
        if benchmarks.iter().any(|other| other.name == name) {
            return Err(Fault::new(&table.name, format!("there are two benchmarks `{name}`")));
        }
        let mut budgets = Vec::new();
        for budget in table.budget.iter().chain(&file.budget) {
            budgets.push(parse_budget(budget, &gate.events, text)?);
        }
        let default = |event: &String, is_advisory| Budget {
            event: event.clone(),
            scope: BudgetScope::Total,
            max: None,
            increase: Some(increase),
            is_advisory,
            line,
        };
        for (events, is_advisory) in [(&gate.events, false), (&gate.advise, true)] {
            for event in events {
                // A budget for the total of an event type replaces the default one.
                let replaces =
                    |budget: &Budget| budget.event == *event && matches!(budget.scope, BudgetScope::Total);
                if !budgets.iter().any(replaces) {
                    budgets.push(default(event, is_advisory));
                }
            }
        }
        for budget in budgets.iter_mut().filter(|budget| gate.advise.contains(&budget.event)) {
            budget.is_advisory = true;
        }
        let mut ignore = ignore.clone();
        ignore.extend(patterns(&table.ignore)?);
        let source = profile_source(table, &directory)?;
        benchmarks.push(Benchmark { name, line, source, ignore, budgets });
    }
    if benchmarks.is_empty() {
        return Err(Fault { span: 0..0, message: "there is no [[benchmark]]".to_owned() });
    }
    Ok(Config {
        path: path.to_owned(),
        baseline: directory.join(gate.baseline),
        directory,
        share,
        valgrind: gate.valgrind,
        caches,
        timeout_seconds: gate.timeout,
        benchmarks,
    })
}

fn profile_source(table: BenchmarkTable, directory: &Path) -> Result<ProfileSource, Fault> {
    match (table.command, table.profile) {
        (Some(command), None) => {
            let span = command.span();
            let command = command.into_inner().into_words();
            let setup: Vec<Vec<String>> =
                table.setup.into_iter().map(|command| command.into_inner().into_words()).collect();
            if command.is_empty() || setup.iter().any(Vec::is_empty) {
                return Err(Fault { span, message: "a command needs at least one word".to_owned() });
            }
            if *table.runs.get_ref() == 0 {
                return Err(Fault::new(&table.runs, "`runs` must be at least 1"));
            }
            Ok(ProfileSource::Recording(Recording {
                command,
                setup,
                options: table.options,
                environment: table.environment,
                keep_environment: table.keep_environment,
                runs: table.runs.into_inner(),
            }))
        }
        (None, Some(profile)) => {
            let files = match profile {
                OneOrMany::One(file) => vec![file],
                OneOrMany::Many(files) => files,
            };
            if files.is_empty() {
                return Err(Fault::new(&table.name, "`profile` names no file"));
            }
            Ok(ProfileSource::Files(files.into_iter().map(|file| directory.join(file)).collect()))
        }
        _ => Err(Fault::new(
            &table.name,
            "a benchmark needs either a `command` to record or a `profile` to read",
        )),
    }
}

fn parse_budget(table: &Spanned<BudgetTable>, events: &[String], text: &str) -> Result<Budget, Fault> {
    let budget = table.get_ref();
    if budget.max.is_none() && budget.increase.is_none() {
        return Err(Fault::new(table, "a budget needs a `max`, an `increase`, or both"));
    }
    let event = budget.event.as_ref().or(events.first());
    let event = event.ok_or_else(|| {
        Fault::new(table, "a budget without an `event` needs `events` in [gate] to have an entry")
    })?;
    let scope = match &budget.function {
        Some(pattern) => BudgetScope::Functions {
            name: budget.name.clone().unwrap_or_else(|| pattern.get_ref().clone()),
            pattern: regex(pattern)?,
            is_inclusive: budget.inclusive,
        },
        None if budget.inclusive => {
            return Err(Fault::new(table, "`inclusive` needs a `function`"));
        }
        None => BudgetScope::Total,
    };
    Ok(Budget {
        event: event.clone(),
        scope,
        max: budget.max.map(Cost::from),
        increase: budget.increase.as_ref().map(amount).transpose()?,
        is_advisory: budget.advise,
        line: line_at(text, table.span().start),
    })
}

fn amount<T: std::str::FromStr<Err = String>>(text: &Spanned<String>) -> Result<T, Fault> {
    text.get_ref().parse().map_err(|error| Fault::new(text, format!("`{}`: {error}", text.get_ref())))
}

fn patterns(patterns: &[Spanned<String>]) -> Result<Vec<Regex>, Fault> {
    patterns.iter().map(regex).collect()
}

fn regex(pattern: &Spanned<String>) -> Result<Regex, Fault> {
    Regex::new(pattern.get_ref()).map_err(|error| Fault::new(pattern, error.to_string().replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use super::file::GateTable;
    use super::*;

    #[test]
    fn errors_name_their_line() {
        let benchmark = "[[benchmark]]\nname = \"a\"\ncommand = \"a\"\n";
        for (text, line, message) in [
            (String::new(), 1, "there is no [[benchmark]]"),
            ("[[benchmark]]\nname = 3\n".to_owned(), 2, "invalid type: integer"),
            ("[[benchmark]]\nname = \"a\"\nprofil = \"x\"\n".to_owned(), 3, "unknown field `profil`"),
            ("[[benchmark]]\nname = \"a\"\n".to_owned(), 2, "either a `command`"),
            (format!("{benchmark}\n{benchmark}"), 6, "two benchmarks `a`"),
            (format!("{benchmark}[[benchmark.budget]]\nfunction = \"f\"\n"), 4, "a `max`, an `increase`"),
            (format!("{benchmark}[[benchmark.budget]]\nfunction = \"(\"\nmax = 1\n"), 5, "unclosed group"),
            (format!("{benchmark}[[budget]]\nincrease = \"1 pint\"\n"), 5, "`1 pint`"),
            (format!("[gate]\nshare = \"200%\"\n{benchmark}"), 2, "`200%`"),
            (format!("[gate]\ncaches = [\"1,1,1\"]\n{benchmark}"), 2, "three entries"),
            ("[gate\n".to_owned(), 1, ""),
        ] {
            let error = Config::parse(Path::new("gristmill.toml"), &text).unwrap_err();
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.message.contains(message), "{text}: {error}");
        }
    }

    /// The TOML blocks of the documentation.
    fn documented() -> impl Iterator<Item = &'static str> {
        let text = include_str!("../../../docs/gate.md");
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap())
    }

    #[test]
    fn documented_files_parse() {
        let config = Config::parse(Path::new("gristmill.toml"), documented().next().unwrap()).unwrap();
        assert_eq!(config.benchmarks.len(), 2);
        assert_eq!(config.benchmarks[0].budgets.len(), 3);
        let empty: GateTable = toml::from_str("").unwrap();
        assert_eq!((empty.timeout, &empty.valgrind), (config.timeout_seconds, &config.valgrind));
        assert_eq!(GateTable::default().share.get_ref(), "0.1%");
    }

    #[test]
    fn budgets_default_to_those_of_the_gate() {
        let text = "[gate]\nadvise = [\"Dr\"]\n[[benchmark]]\nname = \"a\"\nprofile = \"x\"\n\
                    [[budget]]\nfunction = \"^f$\"\nincrease = \"5\"\n[[budget]]\nevent = \"Dr\"\nmax = 3\n";
        let config = Config::parse(Path::new("x/gristmill.toml"), text).unwrap();
        assert_eq!(config.baseline, Path::new("x/gristmill-baseline.toml"));
        let budgets: Vec<_> = config.benchmarks[0]
            .budgets
            .iter()
            .map(|budget| {
                (budget.event.as_str(), budget.scope.name(), budget.max, budget.is_advisory, budget.line)
            })
            .collect();
        assert_eq!(
            budgets,
            [
                ("Ir", "^f$", None, false, 6),
                ("Dr", "total", Some(3), true, 9),
                ("Ir", "total", None, false, 3)
            ]
        );
    }
}
