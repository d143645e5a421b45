//! The growth of time and memory on hostile profiles: each shape is doubled several times, for each command.
//!
//! Time is that of all processors together: it does not grow while other programs are busy. An exponent of 1 is linear growth. Growth above [`MAX_EXPONENT`] fails, and so does more memory than `docs/limits.md`
//! promises, or more time. A refusal is no failure.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::growth_inputs::{Subject, subjects};
use super::process::{self, Run};
use super::{HostileOptions, budgets, table};
use crate::failure::Failure;

/// Sorting gives 1.1, and measurements vary.
const MAX_EXPONENT: f64 = 1.2;

/// Seconds that a command may take for each MB of its input, and for less than one.
pub(super) const MAX_SECONDS_PER_MB: f64 = 5.0;

/// Times and sizes below these, beyond those of a small profile, tell nothing about growth: a list doubles its capacity, and in
/// small inputs a single list decides.
const FLOOR: Amounts = Amounts { seconds: 0.08, bytes: 48e6 };

/// The least amounts of the smaller input: less is a measurement error.
const LEAST: Amounts = Amounts { seconds: 0.03, bytes: 4e6 };

/// A shape is not doubled any more after a run that takes longer.
const LONG: Duration = Duration::from_secs(5);

/// Runs before growth counts as too much.
const ROUNDS: u32 = 3;

/// The further doublings of a short input that seems to grow too fast: time grows faster than the input where that outgrows the caches of
/// the processor. They end with a run that takes this long, or one that no longer grows too fast.
const FURTHER_DOUBLINGS: u32 = 3;
const TELLING: Duration = Duration::from_millis(1500);

/// Time and memory beyond those of a small profile.
#[derive(Debug, Clone, Copy)]
struct Amounts {
    seconds: f64,
    bytes: f64,
}

/// Shapes for which some tasks take more than the table of commands says, as docs/limits.md lists them: the shape, the start of the
/// names of the tasks, and bytes for each byte.
const EXCEEDING: [(&str, &str, u64); 10] = [
    (ANY_SHAPE, "functions-line", 48),
    ("callers-in-callers", "diff-all", 40),
    ("callers-in-callers", "diff-tree-all", 26),
    ("callers-in-callers", "export-share-base", 20),
    ("same-levels-in-files", "merge-median", 11),
    ("lines", "diff-function", 11),
    ("last-lines", "diff-function", 11),
    ("closure-of-files", "diff-function", 28),
    ("events-by-functions", "diff-inlined", 20),
    ("objects", "diff-inlined", 20),
];

/// Stands for all shapes.
const ANY_SHAPE: &str = "*";

impl Amounts {
    /// Returns what a run took beyond one on a small profile.
    fn beyond(run: Run, constant: Run) -> Self {
        Amounts {
            seconds: run.processors.saturating_sub(constant.processors).as_secs_f64(),
            bytes: table::ratio(run.peak.saturating_sub(constant.peak), 1),
        }
    }
}

/// A command with its options. Those that take a function or two profiles have these put in.
struct Task {
    name: &'static str,
    words: &'static [&'static str],
}

/// Stands for the first profile, or for all files of a subject that has many.
const FILE: &str = "{file}";
/// Stands for another profile of the same shape.
const OTHER: &str = "{other}";
/// Stands for the pattern of a function.
const FUNCTION: &str = "{function}";

const TASKS: &[Task] = &[
    Task { name: "functions", words: &["functions", FILE] },
    Task { name: "overview", words: &["overview", FILE] },
    Task { name: "functions-all", words: &["functions", "-n", "0", FILE] },
    Task { name: "overview-all", words: &["overview", "-n", "0", FILE] },
    Task { name: "functions-json", words: &["functions", "--format", "json", FILE] },
    Task { name: "functions-csv", words: &["functions", "--format", "csv", FILE] },
    Task { name: "functions-inlined", words: &["functions", "--inlined", FILE] },
    Task { name: "functions-cycle", words: &["functions", "--group", "cycle", FILE] },
    Task {
        name: "functions-class-json",
        words: &["functions", "--group", "class", "--format", "json", FILE],
    },
    Task { name: "functions-line", words: &["functions", "--group", "line", FILE] },
    Task { name: "functions-line-all", words: &["functions", "--group", "line", "-n", "0", FILE] },
    Task { name: "functions-part", words: &["functions", "--group", "part", FILE] },
    Task { name: "functions-part-sum", words: &["functions", "--group", "part", "-e", "Sum", FILE] },
    Task {
        name: "functions-thread-json",
        words: &["functions", "--group", "thread", "--format", "json", FILE],
    },
    Task { name: "overview-json", words: &["overview", "--format", "json", FILE] },
    Task { name: "overview-csv", words: &["overview", "--format", "csv", FILE] },
    Task { name: "set", words: &["functions", "--set", FILE] },
    Task { name: "show", words: &["show", FUNCTION, FILE] },
    Task { name: "show-json", words: &["show", "--format", "json", FUNCTION, FILE] },
    Task { name: "tree", words: &["tree", FILE] },
    Task { name: "tree-all", words: &["tree", "--min", "0", "-n", "20000", FILE] },
    Task { name: "tree-sum", words: &["tree", "-e", "Sum", FILE] },
    Task { name: "tree-json", words: &["tree", "--format", "json", FILE] },
    Task { name: "tree-inverted", words: &["tree", "--inverted", FILE] },
    Task {
        name: "tree-inverted-json",
        words: &["tree", "--inverted", "--min", "0", "--format", "json", FILE],
    },
    Task { name: "annotate", words: &["annotate", FILE] },
    Task { name: "annotate-tree", words: &["annotate", "--tree=both", "--inclusive=yes", FILE] },
    Task { name: "annotate-cachegrind", words: &["annotate", "--style", "cachegrind", FILE] },
    Task { name: "annotate-json", words: &["annotate", "--format", "json", FILE] },
    Task { name: "annotate-html", words: &["annotate", "--format", "html", FILE] },
    Task { name: "view-summary", words: &["view", "--answer", r#"{"question":{"kind":"summary"}}"#, FILE] },
    Task {
        name: "view-functions",
        words: &[
            "view",
            "--answer",
            r#"{"question":{"kind":"functions","group":"file","sort":"per_call","start":0,"count":100}}"#,
            FILE,
        ],
    },
    Task {
        name: "view-flame",
        words: &[
            "view",
            "--answer",
            r#"{"question":{"kind":"flame","order":"name","resolution":2000}}"#,
            FILE,
        ],
    },
    Task {
        name: "view-graph",
        words: &[
            "view",
            "--answer",
            r#"{"question":{"kind":"graph","callers":3,"callees":6,"nodes":100,"min_share":0,"cluster":"object"}}"#,
            FILE,
        ],
    },
    Task {
        name: "view-graph-around",
        words: &[
            "view",
            "--answer",
            r#"{"question":{"kind":"graph","around":0,"callers":3,"callees":6,"nodes":100,"min_share":0,"cluster":"file"}}"#,
            FILE,
        ],
    },
    Task {
        name: "view-treemap",
        words: &["view", "--answer", r#"{"question":{"kind":"treemap","width":1200,"height":800}}"#, FILE],
    },
    Task {
        name: "view-treemap-callers",
        words: &[
            "view",
            "--answer",
            r#"{"question":{"kind":"treemap","from":0,"callers":true,"width":1200,"height":800}}"#,
            FILE,
        ],
    },
    Task {
        name: "view-function",
        words: &[
            "view",
            "--answer",
            r#"{"question":{"kind":"function","function":0,"depth":1000,"limit":100000}}"#,
            FILE,
        ],
    },
    Task {
        name: "view-changes-tree",
        words: &[
            "view",
            FILE,
            "--answer",
            r#"{"question":{"kind":"changes_tree","min_share":0,"limit":20000}}"#,
            "--base",
            OTHER,
        ],
    },
    Task {
        name: "view-source",
        words: &["view", "--answer", r#"{"question":{"kind":"source","function":0}}"#, FILE],
    },
    Task {
        name: "view-changes",
        words: &[
            "view",
            FILE,
            "--answer",
            r#"{"question":{"kind":"changes","group":"function","sort":"self_change","limit":100}}"#,
            "--base",
            OTHER,
        ],
    },
    Task { name: "export-share", words: &["view", "--export", "-", "--export-share", "99%", FILE] },
    Task {
        name: "export-share-base",
        words: &["view", FILE, "--export", "-", "--export-share", "99%", "--base", OTHER],
    },
    Task { name: "diff", words: &["diff", OTHER, FILE] },
    Task { name: "diff-inlined", words: &["diff", "--inlined", OTHER, FILE] },
    Task { name: "diff-sum", words: &["diff", "-e", "Sum", OTHER, FILE] },
    Task { name: "diff-all", words: &["diff", "-n", "0", "--min", "0", OTHER, FILE] },
    Task { name: "diff-json", words: &["diff", "--format", "json", OTHER, FILE] },
    Task {
        name: "diff-all-markdown",
        words: &["diff", "-n", "0", "--min", "0", "--format", "markdown", OTHER, FILE],
    },
    Task { name: "diff-tree", words: &["diff", "--tree", OTHER, FILE] },
    Task { name: "diff-tree-all", words: &["diff", "--tree", "-n", "0", "--min", "0", OTHER, FILE] },
    Task { name: "diff-callgrind", words: &["diff", "--format", "callgrind", OTHER, FILE] },
    Task { name: "diff-function", words: &["diff", "--function", FUNCTION, OTHER, FILE] },
    Task { name: "lint", words: &["lint", FILE] },
    Task { name: "info", words: &["info", FILE] },
    Task { name: "info-programs", words: &["info", "--programs", FILE] },
    // Most shapes look cut off.
    Task { name: "merge", words: &["merge", "--allow-damaged", OTHER, FILE] },
    Task { name: "merge-median", words: &["merge", "--allow-damaged", "--median", OTHER, FILE] },
    Task { name: "merge-parts", words: &["merge", "--allow-damaged", "--keep-parts", OTHER, FILE] },
    Task { name: "rewrite", words: &["rewrite", FILE] },
    Task { name: "repair", words: &["rewrite", "--repair", FILE] },
];

pub(super) fn run(options: &HostileOptions) -> Result<(), Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => process::gristmill()?,
    };
    let is_wanted =
        |wanted: &Option<String>, name: &str| wanted.as_deref().is_none_or(|wanted| wanted == name);
    let mut rows = vec![["", "bytes", "seconds", "exponent", "MB", "exponent"].map(str::to_owned).to_vec()];
    let head = rows.len();
    for subject in subjects().iter().filter(|subject| is_wanted(&options.shape, subject.name)) {
        for task in
            TASKS.iter().filter(|task| is_wanted(&options.command, task.name) && subject.has(task.name))
        {
            let growth = Growth::measure(&program, subject, task, options)?;
            if growth.is_too_much() || options.all {
                rows.push(growth.row(subject, task));
            }
        }
    }
    let count = rows.len() - head;
    table::print(&rows);
    if count == 0 || options.all {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{count} combinations take too much, or grow with an exponent above {MAX_EXPONENT}"
    )))
}

/// Two measurements of a task whose inputs are two doublings apart.
struct Growth {
    bytes: u64,
    /// The memory that the last run may take.
    allowed: u64,
    /// The memory that it took beyond the run on a small profile, which has the program itself and its libraries.
    peak: u64,
    /// The doublings before the two runs.
    first: usize,
    last: usize,
    before: Amounts,
    after: Amounts,
}

impl Growth {
    fn measure(
        program: &Path,
        subject: &Subject,
        task: &Task,
        options: &HostileOptions,
    ) -> Result<Self, Failure> {
        let once = |size: u64| -> Result<(u64, Run), Failure> {
            let files = subject.files(size)?;
            let run = process::measure_silent(command(program, task, &files.paths, &files.other))?;
            Ok((files.bytes, run))
        };
        let constant = once(1)?.1;
        let mut runs = Vec::new();
        for doubling in 0..=options.doublings {
            runs.push(once(options.start << doubling)?);
            if runs.last().is_some_and(|(_, run)| run.processors > LONG) {
                break;
            }
        }
        let mut growth = Growth::of(&runs, constant, subject, task);
        for further in 1..=FURTHER_DOUBLINGS {
            growth.repeat(constant, |nth| Ok(once(options.start << nth)?.1))?;
            let is_telling = runs.last().is_some_and(|(_, run)| run.processors > TELLING);
            if !growth.grows_too_fast() || is_telling {
                break;
            }
            runs.push(once(options.start << (options.doublings + further))?);
            // What exceeds the limits is known for the usual sizes.
            growth = Growth {
                allowed: growth.allowed,
                peak: growth.peak,
                ..Growth::of(&runs, constant, subject, task)
            };
        }
        Ok(growth)
    }

    /// Takes the last run and the one two doublings before.
    fn of(runs: &[(u64, Run)], constant: Run, subject: &Subject, task: &Task) -> Self {
        let last = runs.len() - 1;
        let first = last.saturating_sub(2);
        let (bytes, run) = runs[last];
        Growth {
            bytes,
            allowed: allowed_bytes(subject, task, bytes),
            peak: run.peak.saturating_sub(constant.peak),
            first,
            last,
            before: Amounts::beyond(runs[first].1, constant),
            after: Amounts::beyond(run, constant),
        }
    }

    /// Measures again, and takes the least. Caches and the speed of processors are shared with other programs.
    fn repeat(
        &mut self,
        constant: Run,
        measure: impl Fn(usize) -> Result<Run, Failure>,
    ) -> Result<(), Failure> {
        for _ in 1..ROUNDS {
            if !self.is_too_much() || self.after.seconds > LONG.as_secs_f64() {
                break;
            }
            for (nth, amounts) in [(self.first, &mut self.before), (self.last, &mut self.after)] {
                let again = Amounts::beyond(measure(nth)?, constant);
                amounts.seconds = amounts.seconds.min(again.seconds);
                amounts.bytes = amounts.bytes.min(again.bytes);
            }
        }
        Ok(())
    }

    /// The exponents of time and memory, unless they are too small to tell.
    fn exponents(&self) -> [Option<f64>; 2] {
        let doublings = i32::try_from(self.last - self.first).unwrap_or(0);
        let exponent = |of: fn(&Amounts) -> f64| {
            let ratio = of(&self.after) / of(&self.before).max(of(&LEAST));
            (doublings > 0 && of(&self.after) > of(&FLOOR)).then(|| ratio.log2() / f64::from(doublings))
        };
        [exponent(|amounts| amounts.seconds), exponent(|amounts| amounts.bytes)]
    }

    fn grows_too_fast(&self) -> bool {
        self.exponents().iter().flatten().any(|&exponent| exponent > MAX_EXPONENT)
    }

    fn is_too_much(&self) -> bool {
        let seconds = MAX_SECONDS_PER_MB * (table::ratio(self.bytes, 1_000_000)).max(1.0);
        self.grows_too_fast() || self.peak > self.allowed || self.after.seconds > seconds
    }

    fn row(&self, subject: &Subject, task: &Task) -> Vec<String> {
        let [time, memory] =
            self.exponents().map(|exponent| exponent.map_or("-".to_owned(), |it| format!("{it:.2}")));
        vec![
            format!("{} {}", task.name, subject.name),
            self.bytes.to_string(),
            format!("{:.2}", self.after.seconds),
            time,
            format!("{:.0}", self.after.bytes / 1e6),
            memory,
        ]
    }
}

/// Returns the memory that a task may take. The other profile is smaller than the first.
fn allowed_bytes(subject: &Subject, task: &Task, input_bytes: u64) -> u64 {
    let inputs = if task.words.contains(&OTHER) { 2 } else { 1 };
    let all_bytes = usize::try_from(inputs * input_bytes).unwrap_or(usize::MAX / 64);
    let of_command = budgets::allowed(task.words[0], all_bytes).map_or(0, |bytes| bytes as u64);
    let constant = budgets::allowed(task.words[0], 0).map_or(0, |bytes| bytes as u64);
    let exceeding = EXCEEDING
        .iter()
        .filter(|(shape, start, _)| [subject.name, ANY_SHAPE].contains(shape) && task.name.starts_with(start))
        .map(|(_, _, multiple)| constant + multiple * inputs * input_bytes);
    exceeding.fold(of_command, u64::max)
}

fn command(program: &Path, task: &Task, files: &[PathBuf], other: &Path) -> Command {
    let mut command = Command::new(program);
    for &word in task.words {
        match word {
            FILE => command.args(files),
            OTHER => command.arg(other),
            FUNCTION => command.arg("."),
            word => command.arg(word),
        };
    }
    command
}
