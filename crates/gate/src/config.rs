//! The configuration, `gristmill.toml`: benchmarks and their budgets.

mod file;
mod parse;

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use gristmill_format::Cost;
use gristmill_output::printable;
use gristmill_profile::symbol::matches_function;
use regex::Regex;

use crate::amount::{Increase, Share};
use crate::error::{FileError, line_at};

/// The I1, D1 and LL caches of a simulation unless others are given, as the options of Callgrind have them: the same on every machine.
pub const FIXED_CACHES: [&str; 3] = ["32768,8,64", "32768,8,64", "8388608,16,64"];

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
    /// Root of the repository. All paths in messages and reports are relative to this. Parsing sets it to the directory.
    pub root: PathBuf,
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
    /// Seconds that a setup command may take.
    pub setup_timeout_seconds: u64,
    /// `true` if recordings choose the variants of the C library's string functions.
    pub pins_string_functions: bool,
    /// The benchmarks, as they stand in the file; at least one.
    pub benchmarks: Vec<Benchmark>,
}

/// A benchmark. See the example of [`Config`].
#[derive(Debug, Clone)]
pub struct Benchmark {
    /// Its name, which may be used as a file name.
    pub name: String,
    /// Name of its table in the configuration, which differs from its own if one table stands for many benchmarks.
    pub entry: String,
    /// Line of the configuration on which it begins.
    pub line: usize,
    /// Source of its profile.
    pub source: ProfileSource,
    /// Commands to run before its profile is recorded or read.
    pub setup: Vec<Vec<String>>,
    /// `true` if its profile may be older than the program and the source files that it names.
    pub allows_old: bool,
    /// `true` if costs go to the inlined functions that they came from.
    pub inlined: bool,
    /// Functions whose costs are not counted.
    pub ignore: Vec<FunctionPattern>,
    /// Its budgets: its own, those of all benchmarks, then the default ones.
    pub budgets: Vec<Budget>,
}

/// Source of the profile of a benchmark. See the example of [`Config`].
#[derive(Debug, Clone)]
pub enum ProfileSource {
    /// Files that another program writes, as patterns relative to the directory of the configuration. All are added up.
    Files(Vec<String>),
    /// A folder with results of gungraun or iai-callgrind, relative to the directory of the configuration. Each benchmark
    /// below it is one of the gate.
    Gungraun(String),
    /// A command to record.
    Recording(Recording),
}

/// `true` if a pattern matches a function of this name, by the rule of [`matches_function`].
pub(crate) fn matches_name(pattern: &Regex, name: &str) -> bool {
    matches_function(name, pattern.as_str(), |name| pattern.is_match(name))
}

/// A pattern of the names of functions. See the example of [`Config`].
#[derive(Debug, Clone)]
pub struct FunctionPattern {
    /// The pattern.
    pub regex: Regex,
    /// `true` if it stands for all benchmarks, so that it need not match in each.
    pub is_common: bool,
    /// Line of the configuration on which it stands.
    pub line: usize,
}

/// A command to record, and its surroundings. See the example of [`Config`].
#[derive(Debug, Clone)]
pub struct Recording {
    /// The command, with its arguments; at least one word.
    pub command: Vec<String>,
    /// Options for Valgrind.
    pub options: Vec<String>,
    /// Environment variables to set.
    pub environment: BTreeMap<String, String>,
    /// Environment variables to pass on.
    pub keep_environment: Vec<String>,
    /// Number of recordings; that of median cost is used. At least 1.
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
    /// `true` if it stands for all benchmarks, so that its functions need not be in each.
    pub is_common: bool,
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

    /// `true` if both are about the same functions and the same kind of cost.
    pub(crate) fn is_same(&self, other: &BudgetScope) -> bool {
        let key = |scope: &BudgetScope| match scope {
            BudgetScope::Total => None,
            BudgetScope::Functions { pattern, is_inclusive, .. } => {
                Some((pattern.as_str().to_owned(), *is_inclusive))
            }
        };
        key(self) == key(other)
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
        let config = parse::parse(path, text);
        config.map_err(|fault| FileError {
            path: path.to_owned(),
            line: line_at(text, fault.span.start),
            message: fault.message,
        })
    }

    /// Returns a path as messages show it: relative to the root of the repository if it is below that.
    ///
    /// ```
    /// # use std::path::Path;
    /// # use gristmill_gate::Config;
    /// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
    /// let config = Config::parse(Path::new("/work/gristmill.toml"), text)?;
    /// assert_eq!(config.shown_path(Path::new("/work/src/./main.rs")), Path::new("src/main.rs"));
    /// # Ok::<(), gristmill_gate::FileError>(())
    /// ```
    pub fn shown_path(&self, path: &Path) -> PathBuf {
        // The components of a path are without `.` inside.
        path.strip_prefix(&self.root).unwrap_or(path).components().collect()
    }

    /// Returns the benchmarks with these names, or all benchmarks if there are no names. The name of a table stands for all
    /// of its benchmarks.
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
        let has_name =
            |benchmark: &Benchmark, name: &String| benchmark.name == *name || benchmark.entry == *name;
        let is_known = |name: &String| self.benchmarks.iter().any(|benchmark| has_name(benchmark, name));
        if let Some(unknown) = names.iter().find(|name| !is_known(name)) {
            return Err(UnknownBenchmark {
                name: unknown.clone(),
                known: self.benchmarks.iter().map(|benchmark| benchmark.name.clone()).collect(),
            });
        }
        let is_selected =
            |benchmark: &&Benchmark| names.is_empty() || names.iter().any(|name| has_name(benchmark, name));
        Ok(self.benchmarks.iter().filter(is_selected).collect())
    }
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
            ("[[benchmark]]\nname = \"a\"\n".to_owned(), 2, "needs one of: a `command`"),
            (format!("{benchmark}\n{benchmark}"), 6, "two benchmarks `a`"),
            (format!("{benchmark}[[benchmark.budget]]\nfunction = \"f\"\n"), 4, "a `max`, an `increase`"),
            (format!("{benchmark}[[benchmark.budget]]\nfunction = \"(\"\nmax = 1\n"), 5, "unclosed group"),
            (format!("{benchmark}[[budget]]\nincrease = \"1 pint\"\n"), 5, "`1 pint`"),
            (format!("[gate]\nshare = \"200%\"\n{benchmark}"), 2, "`200%`"),
            (format!("[gate]\ncaches = [\"1,1,1\"]\n{benchmark}"), 2, "three entries"),
            ("[gate\n".to_owned(), 1, ""),
            // What would make budgets ineffective.
            (format!("[gate]\nevents = []\n{benchmark}"), 4, "has no budget"),
            (format!("[gate]\nadvise = [\"Ir\"]\n{benchmark}"), 2, "`Ir` is in `events`"),
            (format!("[gate]\nevents = [\"\"]\n{benchmark}"), 2, "no name"),
            (format!("[gate]\ntimeout = 0\n{benchmark}"), 2, "at least 1 second"),
            (format!("[gate]\nincrease = \"NaN%\"\n{benchmark}"), 2, "`NaN%`"),
            (format!("[gate]\nincrease = -1\n{benchmark}"), 2, "`-1`"),
            (format!("[gate]\nincrease = 1.5\n{benchmark}"), 2, "a number such as 5000 or a percentage"),
            (format!("[gate]\nincrease = \"-1%\"\n{benchmark}"), 2, "`-1%`"),
            (format!("[gate]\nincrease = \"inf%\"\n{benchmark}"), 2, "`inf%`"),
            (format!("[gate]\nignore = [\"\"]\n{benchmark}"), 2, "empty pattern"),
            (format!("{benchmark}[[budget]]\nmax = -5\n"), 5, "`max` is -5"),
            (format!("{benchmark}[[budget]]\nmax = nan\n"), 5, "invalid type"),
            (format!("{benchmark}[[budget]]\nname = \"total\"\nfunction = \"f\"\nmax = 5\n"), 4, "`total`"),
            (
                format!(
                    "{benchmark}[[budget]]\nname = \"x\"\nfunction = \"f\"\nmax = 5\n\
                     [[budget]]\nname = \"x\"\nfunction = \"g\"\nmax = 5\n"
                ),
                8,
                "two budgets `x` of different functions",
            ),
            (format!("{benchmark}options = [\"--tool=none\"]\n"), 4, "`--tool=none`"),
            (format!("{benchmark}options = [\"true\"]\n"), 4, "`true`"),
            (format!("{benchmark}options = [\"-q\", \"--xml=yes\"]\n"), 4, "messages of Valgrind tell"),
            (format!("{benchmark}options = [\"--callgrind:quiet\"]\n"), 4, "without `callgrind:`"),
            (format!("{benchmark}runs = 0\n"), 3, "at least 1"),
            (format!("{benchmark}environment = {{ \"A=B\" = \"1\" }}\n"), 3, "no valid name"),
            (format!("{benchmark}keep_environment = [\"VALGRIND_OPTS\"]\n"), 3, "into `options`"),
            ("[[benchmark]]\nname = \"a\"\ncommand = \" \"\n".to_owned(), 3, "at least one word"),
            ("[[benchmark]]\nname = \"..\"\ncommand = \"a\"\n".to_owned(), 2, "a name must not be"),
            ("[[benchmark]]\nname = \"a\"\nprofile = []\n".to_owned(), 2, "names no file"),
            (
                "[[benchmark]]\nname = \"a\"\nprofile = \"x\"\nruns = 3\n".to_owned(),
                2,
                "`runs` has no effect",
            ),
            ("[[benchmark]]\nname = \"a\"\nprofile = \"x\"\ncommand = \"y\"\n".to_owned(), 2, "one of"),
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
        assert_eq!((empty.timeout.into_inner(), &empty.valgrind), (config.timeout_seconds, &config.valgrind));
        assert_eq!(GateTable::default().share.get_ref(), "0.1%");
    }

    #[test]
    fn budgets_default_to_those_of_the_gate() {
        let text = "[gate]\nadvise = [\"Dr\"]\n[[benchmark]]\nname = \"a\"\nprofile = \"x\"\n\
                    [[budget]]\nfunction = \"^f$\"\nincrease = 5000\n[[budget]]\nevent = \"Dr\"\nmax = 3\n";
        let config = Config::parse(Path::new("x/gristmill.toml"), text).unwrap();
        assert_eq!(config.baseline, Path::new("x/gristmill-baseline.toml"));
        assert_eq!(config.benchmarks[0].budgets[0].increase, Some("5_000".parse().unwrap()));
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
