//! The report: the verdicts of a run, and what all printers need of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use gristmill_format::Cost;
use gristmill_output::{grouped, printable};
use gristmill_profile::symbol::{Label, PlaceForm, fit_labels, shorten};
use schemars::JsonSchema;
use serde::Serialize;

use crate::bound::bounded;
use crate::changes::FunctionChange;
use crate::config::Config;
use crate::nearest::OwnFunction;
use crate::refusal::Refusal;
use crate::verdict::{BenchmarkVerdict, BudgetVerdict, Outcome};

/// The columns of a name in a message and in Markdown, whose place of display is not known.
pub(crate) const NAME_COLUMNS: usize = 60;
/// The limit of a whole name beside the pointer: hosts refuse comments of some ten thousand characters.
pub(crate) const WHOLE_COLUMNS: usize = 400;
/// Functions named in the message of an exceeded budget.
const MESSAGE_FUNCTIONS: usize = 3;

/// The verdicts of a run, ready to be written in any form.
///
/// ```
/// use std::path::Path;
///
/// use gristmill_gate::{BenchmarkVerdict, Config, GateReport, Outcome};
///
/// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
/// let config = Config::parse(Path::new("gristmill.toml"), text)?;
/// let verdict = BenchmarkVerdict::failed(&config.benchmarks[0], "parse.out: no such file".to_owned().into());
/// let report = GateReport::new(&config, vec![verdict], Vec::new(), 10, |path| path.is_file());
/// assert_eq!(report.outcome, Outcome::Unknown);
/// assert_eq!(report.summary(), "1 benchmark: 1 not determined");
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GateReport {
    /// The worst outcome.
    pub outcome: Outcome,
    /// Reasons why the gate cannot decide that are about no single benchmark.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Refusal>,
    /// The verdict on each benchmark.
    pub benchmarks: Vec<BenchmarkVerdict>,
    /// Remarks beside lines of the configuration or of source files, in the order of the verdicts.
    #[serde(skip)]
    pub annotations: Vec<Annotation>,
}

/// A remark beside a line: a budget that is not kept, or a benchmark that failed. See the example of [`GateReport`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Annotation {
    /// Name of the benchmark, or `gate` for a [`Refusal`].
    pub benchmark: String,
    /// Index of the budget in its benchmark, or `None` if the benchmark could not be measured.
    pub budget: Option<usize>,
    /// The outcome; never [`Outcome::Within`].
    pub outcome: Outcome,
    /// The file, relative to the root of the repository: the source file of the function most responsible if it exists, or else
    /// the configuration.
    pub path: PathBuf,
    /// The line.
    pub line: u64,
    /// The message.
    pub message: String,
}

impl GateReport {
    /// Makes a report that lists up to `limit` functions for each budget, or all if it is 0. `exists` tells whether a source
    /// file is there to be annotated.
    pub fn new(
        config: &Config,
        benchmarks: Vec<BenchmarkVerdict>,
        refusals: Vec<Refusal>,
        limit: usize,
        exists: impl Fn(&Path) -> bool,
    ) -> GateReport {
        let outcome = match refusals.is_empty() {
            true => benchmarks.iter().map(|verdict| verdict.outcome).max().unwrap_or(Outcome::Unknown),
            false => Outcome::Unknown,
        };
        let refused = refusals.iter().map(|refusal| Annotation {
            benchmark: "gate".to_owned(),
            budget: None,
            outcome: Outcome::Unknown,
            path: config.shown_path(&config.path),
            line: refusal.line as u64,
            message: refusal.message.clone(),
        });
        let annotations = benchmarks.iter().flat_map(|verdict| annotations(config, verdict, &exists));
        let annotations = refused.chain(annotations).collect();
        let mut report = GateReport { outcome, refusals, benchmarks, annotations };
        let budgets = report.benchmarks.iter_mut().flat_map(|verdict| &mut verdict.budgets);
        for budget in budgets.filter(|budget| limit > 0 && budget.functions.len() > limit) {
            budget.more_functions = budget.functions.len() - limit;
            budget.functions.truncate(limit);
        }
        report
    }

    /// Returns the report in one sentence.
    pub fn summary(&self) -> String {
        let count = |outcome| self.benchmarks.iter().filter(|verdict| verdict.outcome == outcome).count();
        let benchmarks = match self.benchmarks.len() {
            1 => "1 benchmark".to_owned(),
            count => format!("{count} benchmarks"),
        };
        let parts: Vec<String> = [
            (count(Outcome::Over), "over budget"),
            (count(Outcome::Unknown), "not determined"),
            (count(Outcome::Advice), "worth a look"),
        ]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, outcome)| format!("{count} {outcome}"))
        .collect();
        if !self.refusals.is_empty() {
            let also = if parts.is_empty() { String::new() } else { format!("; {}", parts.join(", ")) };
            format!("{benchmarks}: the gate cannot decide{also}")
        } else if parts.is_empty() {
            format!("{benchmarks}, all within budget")
        } else {
            format!("{benchmarks}: {}", parts.join(", "))
        }
    }
}

fn annotations(
    config: &Config,
    verdict: &BenchmarkVerdict,
    exists: &impl Fn(&Path) -> bool,
) -> Vec<Annotation> {
    let failure = verdict.failure.iter().map(|failure| Annotation {
        benchmark: verdict.name.clone(),
        budget: None,
        outcome: Outcome::Unknown,
        path: config.shown_path(&config.path),
        line: verdict.line as u64,
        message: std::iter::once(format!("{}: {failure}", verdict.name))
            .chain(verdict.failure_output.iter().cloned())
            .collect::<Vec<_>>()
            .join("\n"),
    });
    let kept = |budget: &BudgetVerdict| budget.outcome == Outcome::Within;
    let budgets = verdict.budgets.iter().enumerate().filter(|(_, budget)| !kept(budget));
    let budgets = budgets.map(|(index, budget)| {
        let (path, line) = location(config, budget, exists);
        Annotation {
            benchmark: verdict.name.clone(),
            budget: Some(index),
            outcome: budget.outcome,
            path,
            line,
            message: message(&verdict.name, budget),
        }
    });
    failure.chain(budgets).collect()
}

/// Returns the line to annotate: of the user's own function that the change lies in, or else of the function most responsible
/// whose source file exists, or else of the budget.
fn location(config: &Config, budget: &BudgetVerdict, exists: &impl Fn(&Path) -> bool) -> (PathBuf, u64) {
    let own = budget.own_function.iter().filter(|own| own.delta > 0);
    let own = own.filter_map(|own| Some((Path::new(&own.file), own.line?)));
    let worse = budget.functions.iter().filter(|row| row.delta > 0);
    let lines = own.chain(worse.filter_map(|row| Some((Path::new(row.file.as_deref()?), row.line?))));
    let mut lines = lines.filter(|(file, _)| file.is_relative());
    let source = lines.find(|(file, _)| exists(&config.root.join(file)));
    let source = source.map(|(file, line)| (file.to_owned(), line));
    source.unwrap_or_else(|| (config.shown_path(&config.path), budget.line as u64))
}

/// Returns an exceeded budget as a sentence: the change, what is allowed, and why.
fn message(benchmark: &str, budget: &BudgetVerdict) -> String {
    let mut text = format!("{benchmark}: {}", change(budget));
    // Writing to a String does not fail.
    let _ = match (budget.outcome, budget.limit) {
        (Outcome::Over | Outcome::Advice, Some(_)) => write!(text, "; allowed: {}", budget.allowed),
        _ => write!(text, "; not determined"),
    };
    if let Some(note) = &budget.note {
        let _ = write!(text, "; {note}");
    }
    if let Some(own) = &budget.own_function {
        let _ = write!(text, "; in {}", own_function(own, NAME_COLUMNS));
    }
    let largest: Vec<String> = budget
        .functions
        .iter()
        .take(MESSAGE_FUNCTIONS)
        .zip(row_names(&budget.functions, NAME_COLUMNS))
        .map(|(row, name)| format!("{name} {}", signed(row.delta)))
        .collect();
    if !largest.is_empty() {
        let _ = write!(text, "; largest changes: {}", largest.join(", "));
    }
    if let Some(reason) = budget.reasons.first() {
        let _ = write!(text, "; {}", reason.text);
    }
    text
}

/// Returns a change as text: `Ir 1,000 → 1,200, +200 (+20.00%)`.
pub(crate) fn change(budget: &BudgetVerdict) -> String {
    let title = budget.title();
    let now = bounded(budget.cost, budget.cost_is_upper_bound);
    let base = budget.base.map(|base| bounded(base, budget.base_is_upper_bound));
    match base {
        None => format!("{title} {now}"),
        Some(base) if base == now => format!("{title} {now}, unchanged"),
        Some(base) => {
            let difference = budget_difference(budget).map(|difference| format!(", {difference}"));
            format!("{title} {base} → {now}{}", difference.unwrap_or_default())
        }
    }
}

/// Returns the difference from the baseline as text. There is none if one of the costs is an upper bound.
pub(crate) fn budget_difference(budget: &BudgetVerdict) -> Option<String> {
    let is_exact = !budget.base_is_upper_bound && !budget.cost_is_upper_bound;
    budget.base.filter(|_| is_exact).map(|base| difference(base, budget.cost))
}

/// Returns a difference as text: `+200 (+20.00%)`.
///
/// ```
/// assert_eq!(gristmill_gate::difference(1000, 1200), "+200 (+20.00%)");
/// assert_eq!(gristmill_gate::difference(0, 1200), "+1,200");
/// ```
pub fn difference(base: Cost, cost: Cost) -> String {
    match percent_change(base, cost) {
        Some(percent) => format!("{} ({percent})", signed(cost - base)),
        None => signed(cost - base),
    }
}

pub(crate) fn signed(cost: Cost) -> String {
    if cost > 0 { format!("+{}", grouped(cost)) } else { grouped(cost) }
}

/// Returns a change as a percentage of the base, or `None` if the base is 0.
///
/// ```
/// assert_eq!(gristmill_gate::percent_change(1000, 1200).unwrap(), "+20.00%");
/// ```
pub fn percent_change(base: Cost, cost: Cost) -> Option<String> {
    let hundredths = (cost - base).checked_mul(10_000)?.checked_div(base.abs())?;
    let sign = match hundredths {
        0 if cost != base => return Some(if cost > base { "+0.00%" } else { "-0.00%" }.to_owned()),
        0 => "",
        1.. => "+",
        _ => "-",
    };
    let hundredths = hundredths.unsigned_abs();
    Some(format!("{sign}{}.{:02}%", hundredths / 100, hundredths % 100))
}

/// Returns the function of the user's own code that a change lies in, as text:
/// `parse::lex +200 (+20.00%) inclusive, calls 3 → 4`.
pub(crate) fn own_function(own: &OwnFunction, name_columns: usize) -> String {
    let change = own.base.map_or_else(|| signed(own.delta), |base| difference(base, own.cost));
    let calls = match own.calls {
        Some([before, after]) if before != after => {
            format!(", calls {} → {}", grouped(before.0), grouped(after.0))
        }
        Some(_) => String::new(),
        None => ", new, or too small before to be listed".to_owned(),
    };
    format!("{} {change} inclusive{calls}", shorten(&printable(own.name.as_bytes()), name_columns))
}

/// Returns the names of rows, harmless and shortened. Their files are beside them.
pub(crate) fn row_names(rows: &[FunctionChange], columns: usize) -> Vec<String> {
    let names = rows.iter().map(|row| printable(row_name(row).as_bytes()));
    let names: Vec<_> = names.collect();
    let labels: Vec<Label<'_>> = names
        .iter()
        .enumerate()
        .map(|(id, name)| Label {
            name,
            file: "",
            object: "",
            place: PlaceForm::None,
            columns,
            left_out: "",
            id,
        })
        .collect();
    fit_labels(&labels).into_iter().map(|fitted| fitted.name).collect()
}

/// Returns the name of a row in full.
pub(crate) fn row_name(row: &FunctionChange) -> &str {
    row.name.as_deref().unwrap_or("functions too small to be listed")
}

/// Returns the remark on a row: its note, or the change of its number of calls.
pub(crate) fn row_note(row: &FunctionChange) -> String {
    match (row.note, row.calls) {
        (Some(note), _) => note.to_owned(),
        (None, Some([before, after])) if before != after => {
            format!("calls {} → {}", grouped(before.0), grouped(after.0))
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages() {
        for (base, cost, shown) in [
            (1000, 1200, Some("+20.00%")),
            (3, 2, Some("-33.33%")),
            (1_000_000, 1_000_001, Some("+0.00%")),
            (1_000_000, 999_999, Some("-0.00%")),
            (5, 5, Some("0.00%")),
            (-10, -5, Some("+50.00%")),
            (0, 5, None),
        ] {
            assert_eq!(percent_change(base, cost).as_deref(), shown, "{base} {cost}");
        }
    }
}
