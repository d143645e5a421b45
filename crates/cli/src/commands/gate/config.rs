//! `gristmill.toml`: which benchmarks there are, and what they may cost.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use toml::Spanned;

use super::amount::{Increase, Share};
use crate::error::CliError;
use crate::terminal::printable_path;

/// The file as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    #[serde(default)]
    gate: WrittenGate,
    #[serde(default)]
    benchmark: Vec<Spanned<WrittenBenchmark>>,
    /// Budgets that hold for all benchmarks.
    #[serde(default)]
    budget: Vec<Spanned<WrittenBudget>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct WrittenGate {
    baseline: PathBuf,
    events: Vec<String>,
    advise: Vec<String>,
    increase: Spanned<String>,
    share: Spanned<String>,
    ignore: Vec<Spanned<String>>,
    valgrind: String,
    caches: Vec<Spanned<String>>,
    timeout: u64,
}

impl Default for WrittenGate {
    fn default() -> Self {
        let spanned = |text: &str| Spanned::new(0..0, text.to_owned());
        WrittenGate {
            baseline: PathBuf::from("gristmill-baseline.toml"),
            events: vec!["Ir".to_owned()],
            advise: Vec::new(),
            increase: spanned("1%"),
            share: spanned("0.1%"),
            ignore: Vec::new(),
            valgrind: "valgrind".to_owned(),
            caches: ["32768,8,64", "32768,8,64", "8388608,16,64"].map(spanned).into(),
            timeout: 600,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBenchmark {
    name: Spanned<String>,
    command: Option<Spanned<Words>>,
    profile: Option<OneOrMany>,
    #[serde(default)]
    setup: Vec<Spanned<Words>>,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    #[serde(default)]
    keep_environment: Vec<String>,
    #[serde(default)]
    ignore: Vec<Spanned<String>>,
    #[serde(default = "one")]
    runs: Spanned<u32>,
    #[serde(default)]
    budget: Vec<Spanned<WrittenBudget>>,
}

fn one() -> Spanned<u32> {
    Spanned::new(0..0, 1)
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    /// Divided at blanks; no shell looks at it.
    Line(String),
    List(Vec<String>),
}

impl Words {
    fn into_list(self) -> Vec<String> {
        match self {
            Words::Line(line) => line.split_whitespace().map(str::to_owned).collect(),
            Words::List(words) => words,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(PathBuf),
    Many(Vec<PathBuf>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenBudget {
    event: Option<String>,
    max: Option<i64>,
    increase: Option<Spanned<String>>,
    function: Option<Spanned<String>>,
    #[serde(default)]
    inclusive: bool,
    name: Option<String>,
    #[serde(default)]
    advise: bool,
}

/// What is to be done, read and checked.
#[derive(Debug)]
pub(super) struct Config {
    /// The file itself.
    pub(super) path: PathBuf,
    /// Where it lies: all paths in it begin there.
    pub(super) directory: PathBuf,
    pub(super) baseline: PathBuf,
    /// Functions that cost less than this of the total are summed up in the baseline.
    pub(super) share: Share,
    pub(super) valgrind: String,
    /// I1, D1 and LL: size, associativity and line size.
    pub(super) caches: [String; 3],
    /// Seconds that a recording may take.
    pub(super) timeout: u64,
    pub(super) benchmarks: Vec<Benchmark>,
}

#[derive(Debug)]
pub(super) struct Benchmark {
    pub(super) name: String,
    /// The line of the file that it begins at.
    pub(super) line: usize,
    pub(super) source: Source,
    /// Functions whose cost counts for nothing.
    pub(super) ignore: Vec<Regex>,
    pub(super) budgets: Vec<Budget>,
}

/// Where a profile comes from.
#[derive(Debug)]
pub(super) enum Source {
    /// It is there already; several files are added up.
    Files(Vec<PathBuf>),
    Recording(Recording),
}

#[derive(Debug)]
pub(super) struct Recording {
    pub(super) command: Vec<String>,
    /// What to run before, each time.
    pub(super) setup: Vec<Vec<String>>,
    /// Options of Valgrind.
    pub(super) options: Vec<String>,
    pub(super) environment: BTreeMap<String, String>,
    /// Variables that are passed on.
    pub(super) keep_environment: Vec<String>,
    /// How often; the median counts.
    pub(super) runs: u32,
}

/// What may be spent of an event type.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    pub(super) event: String,
    /// In all, or by the functions that match.
    pub(super) subject: Subject,
    /// At most so much.
    pub(super) max: Option<i128>,
    /// At most so much more than the baseline.
    pub(super) increase: Option<Increase>,
    /// Going over it is told and changes no exit status.
    pub(super) advises: bool,
    /// The line of the file that it stands at.
    pub(super) line: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Subject {
    Total,
    Functions { name: String, pattern: Regex, inclusive: bool },
}

impl Subject {
    /// What it is called in reports and in the baseline.
    pub(super) fn name(&self) -> &str {
        match self {
            Subject::Total => "total",
            Subject::Functions { name, .. } => name,
        }
    }
}

/// An error in the file, with its place.
#[derive(Debug)]
struct Fault {
    at: Range<usize>,
    message: String,
}

impl Fault {
    fn at<T>(place: &Spanned<T>, message: impl Into<String>) -> Self {
        Fault { at: place.span(), message: message.into() }
    }
}

pub(super) fn read(path: &Path) -> Result<Config, CliError> {
    let text = std::fs::read_to_string(path).map_err(|error| CliError::Usage {
        message: match error.kind() {
            ErrorKind::NotFound => format!("{}: no such file", printable_path(path)),
            _ => format!("{}: {}", printable_path(path), crate::input::reason(&error)),
        },
        hint: Some("gristmill gate init writes a first one".to_owned()),
    })?;
    parse(path, &text).map_err(|fault| CliError::Usage {
        message: format!("{}:{}: {}", printable_path(path), line_of(&text, fault.at.start), fault.message),
        hint: None,
    })
}

/// The line of a text that this place is in.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

fn parse(path: &Path, text: &str) -> Result<Config, Fault> {
    let written: Written = toml::from_str(text).map_err(|error| Fault {
        at: error.span().unwrap_or(0..0),
        message: error.message().replace('\n', " "),
    })?;
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let gate = written.gate;
    let increase = amount::<Increase>(&gate.increase)?;
    let share = amount::<Share>(&gate.share)?;
    let ignore = patterns(&gate.ignore)?;
    let caches =
        <[String; 3]>::try_from(gate.caches.iter().map(|cache| cache.get_ref().clone()).collect::<Vec<_>>());
    let caches = caches.map_err(|_| Fault {
        at: gate.caches.first().map_or(0..0, Spanned::span),
        message: "`caches` has three entries: I1, D1 and LL, each as size,associativity,line size".to_owned(),
    })?;
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    for entry in written.benchmark {
        let line = line_of(text, entry.span().start);
        let written_benchmark = entry.into_inner();
        let name = written_benchmark.name.get_ref().clone();
        if name.is_empty() || name.contains(['/', '\\']) || name.contains(char::is_control) {
            return Err(Fault::at(&written_benchmark.name, "a name is not empty and has neither / nor \\"));
        }
        if benchmarks.iter().any(|other| other.name == name) {
            return Err(Fault::at(
                &written_benchmark.name,
                format!("there are two benchmarks called `{name}`"),
            ));
        }
        let mut budgets = Vec::new();
        for budget in written_benchmark.budget.iter().chain(&written.budget) {
            budgets.push(budget_of(budget, &gate.events, text)?);
        }
        let default = |event: &String, advises| Budget {
            event: event.clone(),
            subject: Subject::Total,
            max: None,
            increase: Some(increase),
            advises,
            line,
        };
        for (events, advises) in [(&gate.events, false), (&gate.advise, true)] {
            for event in events {
                // What is said of the total of an event type stands in place of the default.
                if !budgets
                    .iter()
                    .any(|budget| budget.event == *event && matches!(budget.subject, Subject::Total))
                {
                    budgets.push(default(event, advises));
                }
            }
        }
        for budget in budgets.iter_mut().filter(|budget| gate.advise.contains(&budget.event)) {
            budget.advises = true;
        }
        let mut ignore = ignore.clone();
        ignore.extend(patterns(&written_benchmark.ignore)?);
        let source = source(written_benchmark, &directory)?;
        benchmarks.push(Benchmark { name, line, source, ignore, budgets });
    }
    if benchmarks.is_empty() {
        return Err(Fault { at: 0..0, message: "there is no [[benchmark]]".to_owned() });
    }
    Ok(Config {
        path: path.to_owned(),
        baseline: directory.join(gate.baseline),
        directory,
        share,
        valgrind: gate.valgrind,
        caches,
        timeout: gate.timeout,
        benchmarks,
    })
}

fn source(written: WrittenBenchmark, directory: &Path) -> Result<Source, Fault> {
    match (written.command, written.profile) {
        (Some(command), None) => {
            let at = command.span();
            let command = command.into_inner().into_list();
            let setup: Vec<Vec<String>> =
                written.setup.into_iter().map(|words| words.into_inner().into_list()).collect();
            if command.is_empty() || setup.iter().any(Vec::is_empty) {
                return Err(Fault { at, message: "a command has at least one word".to_owned() });
            }
            if *written.runs.get_ref() == 0 {
                return Err(Fault::at(&written.runs, "there is at least one run"));
            }
            Ok(Source::Recording(Recording {
                command,
                setup,
                options: written.options,
                environment: written.environment,
                keep_environment: written.keep_environment,
                runs: written.runs.into_inner(),
            }))
        }
        (None, Some(profile)) => {
            let files = match profile {
                OneOrMany::One(file) => vec![file],
                OneOrMany::Many(files) => files,
            };
            if files.is_empty() {
                return Err(Fault::at(&written.name, "`profile` names no file"));
            }
            Ok(Source::Files(files.into_iter().map(|file| directory.join(file)).collect()))
        }
        _ => Err(Fault::at(
            &written.name,
            "a benchmark has either a `command` to record or a `profile` to read",
        )),
    }
}

fn budget_of(written: &Spanned<WrittenBudget>, events: &[String], text: &str) -> Result<Budget, Fault> {
    let budget = written.get_ref();
    if budget.max.is_none() && budget.increase.is_none() {
        return Err(Fault::at(written, "a budget has a `max`, an `increase`, or both"));
    }
    let event = budget.event.as_ref().or(events.first());
    let event =
        event.ok_or_else(|| Fault::at(written, "a budget without an `event` needs one in `events`"))?;
    let subject = match &budget.function {
        Some(pattern) => Subject::Functions {
            name: budget.name.clone().unwrap_or_else(|| pattern.get_ref().clone()),
            pattern: regex(pattern)?,
            inclusive: budget.inclusive,
        },
        None if budget.inclusive => {
            return Err(Fault::at(written, "`inclusive` is about functions, and there is no `function`"));
        }
        None => Subject::Total,
    };
    Ok(Budget {
        event: event.clone(),
        subject,
        max: budget.max.map(i128::from),
        increase: budget.increase.as_ref().map(amount).transpose()?,
        advises: budget.advise,
        line: line_of(text, written.span().start),
    })
}

fn amount<T: std::str::FromStr<Err = String>>(text: &Spanned<String>) -> Result<T, Fault> {
    text.get_ref().parse().map_err(|error| Fault::at(text, format!("`{}`: {error}", text.get_ref())))
}

fn patterns(written: &[Spanned<String>]) -> Result<Vec<Regex>, Fault> {
    written.iter().map(regex).collect()
}

fn regex(pattern: &Spanned<String>) -> Result<Regex, Fault> {
    Regex::new(pattern.get_ref()).map_err(|error| Fault::at(pattern, error.to_string().replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_their_line() {
        let benchmark = "[[benchmark]]\nname = \"a\"\ncommand = \"a\"\n";
        for (text, line, said) in [
            (String::new(), 1, "there is no [[benchmark]]"),
            ("[[benchmark]]\nname = 3\n".to_owned(), 2, "invalid type: integer"),
            ("[[benchmark]]\nname = \"a\"\nprofil = \"x\"\n".to_owned(), 3, "unknown field `profil`"),
            ("[[benchmark]]\nname = \"a\"\n".to_owned(), 2, "either a `command`"),
            (format!("{benchmark}\n{benchmark}"), 6, "two benchmarks called `a`"),
            (format!("{benchmark}[[benchmark.budget]]\nfunction = \"f\"\n"), 4, "a `max`, an `increase`"),
            (format!("{benchmark}[[benchmark.budget]]\nfunction = \"(\"\nmax = 1\n"), 5, "unclosed group"),
            (format!("{benchmark}[[budget]]\nincrease = \"1 pint\"\n"), 5, "`1 pint`"),
            (format!("[gate]\nshare = \"200%\"\n{benchmark}"), 2, "`200%`"),
            (format!("[gate]\ncaches = [\"1,1,1\"]\n{benchmark}"), 2, "three entries"),
            ("[gate\n".to_owned(), 1, ""),
        ] {
            let fault = parse(Path::new("gristmill.toml"), &text).unwrap_err();
            assert_eq!(line_of(&text, fault.at.start), line, "{text}: {}", fault.message);
            assert!(fault.message.contains(said), "{text}: {}", fault.message);
        }
    }

    /// The parts of the documentation that are in TOML.
    fn documented() -> impl Iterator<Item = &'static str> {
        let text = include_str!("../../../../../docs/gate.md");
        text.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap())
    }

    #[test]
    fn what_the_documentation_shows_is_read() {
        let config = parse(Path::new("gristmill.toml"), documented().next().unwrap()).unwrap();
        assert_eq!(config.benchmarks.len(), 2);
        assert_eq!(config.benchmarks[0].budgets.len(), 3);
        let written: WrittenGate = toml::from_str("").unwrap();
        let default = WrittenGate::default();
        assert_eq!((written.timeout, &written.valgrind), (config.timeout, &config.valgrind));
        assert_eq!(default.share.get_ref(), "0.1%");
        let baseline = documented().nth(1).unwrap();
        let baseline = format!("version = 1\n{baseline}");
        toml::from_str::<super::super::baseline::Baseline>(&baseline).unwrap();
    }

    #[test]
    fn budgets_fall_back_on_the_defaults() {
        let text = "[gate]\nadvise = [\"Dr\"]\n[[benchmark]]\nname = \"a\"\nprofile = \"x\"\n\
                    [[budget]]\nfunction = \"^f$\"\nincrease = \"5\"\n[[budget]]\nevent = \"Dr\"\nmax = 3\n";
        let config = parse(Path::new("x/gristmill.toml"), text).unwrap();
        assert_eq!(config.baseline, Path::new("x/gristmill-baseline.toml"));
        let budgets: Vec<_> = config.benchmarks[0]
            .budgets
            .iter()
            .map(|budget| {
                (budget.event.as_str(), budget.subject.name(), budget.max, budget.advises, budget.line)
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
