//! Verdicts: which budgets are exceeded, and which functions are responsible.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_format::Cost;
use gristmill_output::grouped;
use gristmill_output::json::{self, ExactInteger};
use schemars::JsonSchema;
use serde::Serialize;

use crate::baseline::{BenchmarkBaseline, BudgetBaseline};
use crate::config::{Benchmark, Budget, BudgetScope};
use crate::measurement::{FunctionName, Measurement, STRINGS};

/// The outcome of a budget, of a benchmark, or of all: the worst counts. See the example of [`BenchmarkVerdict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Within every budget.
    Within,
    /// Over an advisory budget, and over no other.
    Advice,
    /// Over a budget.
    Over,
    /// Not determined: a benchmark could not be measured or compared.
    Unknown,
}

/// The verdict on one benchmark.
///
/// ```
/// use std::path::Path;
///
/// use gristmill_gate::{BenchmarkBaseline, BenchmarkVerdict, Config, Measurement, Outcome};
///
/// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
/// let config = Config::parse(Path::new("gristmill.toml"), text)?;
/// let run = |total| Measurement { events: vec!["Ir".to_owned()], totals: vec![total], ..Measurement::default() };
///
/// let baseline = BenchmarkBaseline::new(&run(1000), config.share, None);
/// let verdict = BenchmarkVerdict::new(&config.benchmarks[0], &run(1011), Some(&baseline), false);
/// assert_eq!(verdict.outcome, Outcome::Over);
/// assert_eq!(verdict.budgets[0].limit, Some(1010));
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BenchmarkVerdict {
    /// Name of the benchmark.
    pub name: String,
    /// Line of the configuration on which the benchmark begins.
    #[serde(skip)]
    pub line: usize,
    /// The worst outcome of its budgets.
    pub outcome: Outcome,
    /// Reason why the benchmark could not be measured or compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Remarks on the whole benchmark.
    pub notes: Vec<String>,
    /// The verdict on each budget.
    pub budgets: Vec<BudgetVerdict>,
}

/// The verdict on one budget. See the example of [`BenchmarkVerdict`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BudgetVerdict {
    /// The event type.
    pub event: String,
    /// `total`, or the name of the functions that the budget is about.
    pub subject: String,
    /// `true` if the budget is about all functions.
    #[serde(skip)]
    pub is_total: bool,
    /// The outcome.
    pub outcome: Outcome,
    /// Cost in the baseline.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub base: Option<Cost>,
    /// Cost now.
    #[serde(serialize_with = "json::exact")]
    #[schemars(with = "ExactInteger")]
    pub cost: Cost,
    /// Highest cost allowed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub limit: Option<Cost>,
    /// The allowed increase and maximum, as text.
    pub allowed: String,
    /// Reason why the outcome is unknown, or a remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Line of the configuration on which the budget stands.
    #[serde(skip)]
    pub line: usize,
    /// Functions whose cost changed, the greatest change first. Together they are the change of the total.
    pub functions: Vec<FunctionChange>,
    /// Number of further functions whose cost changed, which are not in `functions`.
    pub more_functions: usize,
    /// Reasons of the change, if there is a profile of the base: the greatest effect first.
    pub reasons: Vec<Reason>,
}

/// A reason why a cost changed. See the example of [`BenchmarkVerdict`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Reason {
    /// Change of the total by this reason.
    #[serde(serialize_with = "json::exact")]
    #[schemars(with = "ExactInteger")]
    pub effect: Cost,
    /// The reason as a sentence.
    pub text: String,
}

/// A function whose cost changed. See the example of [`BenchmarkVerdict`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FunctionChange {
    /// Its name, or `null` for all functions that are too small to be listed in the baseline.
    pub name: Option<String>,
    /// Its source file.
    pub file: Option<String>,
    /// Its first line with a cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Self cost in the baseline.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub base: Option<Cost>,
    /// Self cost now.
    #[serde(serialize_with = "json::exact")]
    #[schemars(with = "ExactInteger")]
    pub cost: Cost,
    /// The change.
    #[serde(serialize_with = "json::exact")]
    #[schemars(with = "ExactInteger")]
    pub delta: Cost,
    /// Number of calls in the baseline and now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<[ExactInteger; 2]>,
    /// A remark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

impl BenchmarkVerdict {
    /// Compares a measurement with the budgets and the baseline. Differences of tool or caches make the outcome unknown,
    /// unless `allow_unlike` is set.
    pub fn new(
        benchmark: &Benchmark,
        measurement: &Measurement,
        baseline: Option<&BenchmarkBaseline>,
        allow_unlike: bool,
    ) -> BenchmarkVerdict {
        let mut notes = Vec::new();
        if let Some(baseline) = baseline {
            let (prevents, remarks): (Vec<_>, Vec<_>) =
                differences(measurement, baseline).into_iter().partition(|difference| difference.prevents);
            notes.extend(remarks.into_iter().map(|difference| difference.text));
            if !prevents.is_empty() {
                let texts: Vec<String> = prevents.into_iter().map(|difference| difference.text).collect();
                let text = texts.join("; ");
                if !allow_unlike {
                    let hint =
                        "accept it with `gristmill gate bless`, or compare anyway with `--allow-unlike`";
                    return Self::failed(
                        benchmark,
                        format!("not comparable with the baseline: {text} ({hint})"),
                    );
                }
                notes.push(text);
            }
        }
        let budgets: Vec<BudgetVerdict> = benchmark
            .budgets
            .iter()
            .map(|budget| BudgetVerdict::new(budget, measurement, baseline))
            .collect();
        BenchmarkVerdict {
            name: benchmark.name.clone(),
            line: benchmark.line,
            outcome: budgets.iter().map(|budget| budget.outcome).max().unwrap_or(Outcome::Within),
            failure: None,
            notes,
            budgets,
        }
    }

    /// Makes the verdict on a benchmark that could not be measured.
    pub fn failed(benchmark: &Benchmark, failure: String) -> BenchmarkVerdict {
        BenchmarkVerdict {
            name: benchmark.name.clone(),
            line: benchmark.line,
            outcome: Outcome::Unknown,
            failure: Some(failure),
            notes: Vec::new(),
            budgets: Vec::new(),
        }
    }
}

/// A difference between the environments of two measurements.
struct Difference {
    /// `true` if costs cannot be compared.
    prevents: bool,
    text: String,
}

/// Returns the differences between now and the time of the baseline.
fn differences(measurement: &Measurement, baseline: &BenchmarkBaseline) -> Vec<Difference> {
    let kinds: BTreeSet<&String> =
        measurement.environment.keys().chain(baseline.environment.keys()).collect();
    let mut differences = Vec::new();
    for kind in kinds {
        let (now, then) = (measurement.environment.get(kind), baseline.environment.get(kind));
        if now != then {
            let [now, then] = [now, then].map(|value| value.map_or("none", String::as_str));
            let text = format!("{kind}: {then} in the baseline, {now} now");
            differences.push(Difference { prevents: kind != STRINGS, text });
        }
    }
    differences
}

/// The values that the baseline has for a budget.
struct Accepted {
    column: usize,
    cost: Option<Cost>,
    noise: Option<Cost>,
}

impl Accepted {
    fn new(budget: &Budget, baseline: &BenchmarkBaseline) -> Option<Accepted> {
        let column = baseline.column(&budget.event)?;
        let named = |budgets: &[BudgetBaseline]| {
            budgets.iter().find(|other| other.name == budget.scope.name()).map(|other| other.cost[column])
        };
        let noise = baseline.noise.as_ref();
        Some(match budget.scope {
            BudgetScope::Total => Accepted {
                column,
                cost: Some(baseline.total[column]),
                noise: noise.map(|noise| noise.spread[column]),
            },
            BudgetScope::Functions { .. } => Accepted {
                column,
                cost: named(&baseline.budgets),
                noise: noise.and_then(|noise| named(&noise.budgets)),
            },
        })
    }
}

impl BudgetVerdict {
    /// Compares a measurement with a budget, and with the baseline if there is one.
    fn new(budget: &Budget, measurement: &Measurement, baseline: Option<&BenchmarkBaseline>) -> Self {
        let mut verdict = BudgetVerdict {
            event: budget.event.clone(),
            subject: budget.scope.name().to_owned(),
            is_total: matches!(budget.scope, BudgetScope::Total),
            // An advisory budget cannot make the verdict worse than advice.
            outcome: if budget.is_advisory { Outcome::Advice } else { Outcome::Unknown },
            base: None,
            cost: 0,
            limit: None,
            allowed: allowed(budget),
            note: None,
            line: budget.line,
            functions: Vec::new(),
            more_functions: 0,
            reasons: Vec::new(),
        };
        let Some(column) = measurement.column(&budget.event) else {
            let events = measurement.events.join(", ");
            verdict.note = Some(format!("the profile has no event type {}; it has {events}", budget.event));
            return verdict;
        };
        verdict.cost = match &budget.scope {
            BudgetScope::Total => measurement.totals[column],
            BudgetScope::Functions { name, .. } => {
                measurement.budgets.get(name).map_or(0, |costs| costs[column])
            }
        };
        let accepted = baseline.and_then(|baseline| Some((baseline, Accepted::new(budget, baseline)?)));
        verdict.base = accepted.as_ref().and_then(|(_, accepted)| accepted.cost);
        let noise = accepted.as_ref().and_then(|(_, accepted)| accepted.noise).unwrap_or(0);
        let mut limit = budget.max;
        if let Some(increase) = budget.increase {
            let Some(base) = verdict.base else {
                verdict.note = Some("not in the baseline; `gristmill gate bless` adds it".to_owned());
                return verdict;
            };
            let increase = increase.amount(base);
            let highest = base + increase.max(noise);
            limit = Some(budget.max.map_or(highest, |max| highest.min(max)));
            if noise > increase {
                let noise = grouped(noise);
                verdict.note = Some(format!("runs without a change differ by {noise}, which is allowed too"));
            }
            if base - verdict.cost > increase.max(noise) {
                verdict.note = Some("improved; `gristmill gate bless` makes this the baseline".to_owned());
            }
        }
        verdict.limit = limit;
        let is_over = limit.is_some_and(|limit| verdict.cost > limit);
        verdict.outcome = match (is_over, budget.is_advisory) {
            (false, _) => Outcome::Within,
            (true, true) => Outcome::Advice,
            (true, false) => Outcome::Over,
        };
        if let Some((baseline, accepted)) = accepted
            && verdict.base != Some(verdict.cost)
        {
            verdict.functions =
                function_changes(&budget.scope, measurement, column, baseline, accepted.column);
        }
        verdict
    }

    /// Returns the event type, with the subject if that is not the total.
    pub fn title(&self) -> String {
        if self.is_total { self.event.clone() } else { format!("{} of {}", self.event, self.subject) }
    }
}

/// Returns what a budget allows, as text.
fn allowed(budget: &Budget) -> String {
    let increase = budget.increase.map(|increase| format!("+{increase}"));
    let max = budget.max.map(|max| format!("at most {}", grouped(max)));
    increase.into_iter().chain(max).collect::<Vec<_>>().join(", ")
}

/// Returns the functions whose cost changed. Those that are too small to be listed in the baseline are one row.
fn function_changes(
    scope: &BudgetScope,
    measurement: &Measurement,
    column: usize,
    baseline: &BenchmarkBaseline,
    baseline_column: usize,
) -> Vec<FunctionChange> {
    let listed_from = baseline.listed_from[baseline_column];
    let mut listed: BTreeMap<FunctionName, (Cost, Cost)> = BTreeMap::new();
    for function in &baseline.functions {
        let name = FunctionName { name: function.name.clone(), file: function.file.clone() };
        let (cost, calls) = listed.entry(name).or_default();
        *cost += function.costs[baseline_column];
        *calls += function.calls;
    }
    let listed_total: Cost = listed.values().map(|(cost, _)| cost).sum();
    let mut small = FunctionChange {
        name: None,
        file: None,
        line: None,
        base: Some(baseline.total[baseline_column] - listed_total),
        cost: 0,
        delta: 0,
        calls: None,
        note: None,
    };
    let mut rows = Vec::new();
    for (name, function) in &measurement.functions {
        let cost = function.costs[column];
        let row = match listed.remove(name) {
            Some((base, calls)) => FunctionChange {
                base: Some(base),
                calls: Some([ExactInteger(calls), ExactInteger(function.calls)]),
                note: None,
                ..FunctionChange::new(name, cost, cost - base)
            },
            None if cost.abs() >= listed_from && cost != 0 => FunctionChange {
                note: Some("new, or too small before to be listed"),
                ..FunctionChange::new(name, cost, cost)
            },
            None => {
                small.cost += cost;
                continue;
            }
        };
        rows.push(FunctionChange { line: function.line, ..row });
    }
    rows.extend(listed.into_iter().map(|(name, (base, calls))| FunctionChange {
        base: Some(base),
        calls: Some([ExactInteger(calls), ExactInteger(0)]),
        note: Some("vanished"),
        ..FunctionChange::new(&name, 0, -base)
    }));
    // An inclusive cost changes with that of any function.
    let pattern = match scope {
        BudgetScope::Functions { pattern, is_inclusive: false, .. } => Some(pattern),
        _ => None,
    };
    let is_in_scope = |row: &FunctionChange| match (pattern, &row.name) {
        (Some(pattern), Some(name)) => pattern.is_match(name),
        _ => true,
    };
    rows.retain(|row| row.delta != 0 && is_in_scope(row));
    rows.sort_by(|a, b| {
        let by_name = || (&a.name, &a.file).cmp(&(&b.name, &b.file));
        b.delta.abs().cmp(&a.delta.abs()).then_with(by_name)
    });
    small.delta = small.cost - (baseline.total[baseline_column] - listed_total);
    if pattern.is_none() && small.delta != 0 {
        rows.push(small);
    }
    rows
}

impl FunctionChange {
    fn new(name: &FunctionName, cost: Cost, delta: Cost) -> Self {
        FunctionChange {
            name: Some(name.name.clone()),
            file: Some(name.file.clone()),
            line: None,
            base: None,
            cost,
            delta,
            calls: None,
            note: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::{FunctionBaseline, Noise};
    use crate::measurement::FunctionCost;

    fn measurement(functions: &[(&str, Cost)]) -> Measurement {
        let cost = |cost| FunctionCost { costs: vec![cost], calls: 1, line: Some(3) };
        let name = |name: &str| FunctionName { name: name.to_owned(), file: "f.c".to_owned() };
        Measurement {
            events: vec!["Ir".to_owned()],
            totals: vec![functions.iter().map(|(_, cost)| cost).sum()],
            functions: functions.iter().map(|&(function, spent)| (name(function), cost(spent))).collect(),
            ..Measurement::default()
        }
    }

    fn baseline(total: Cost, functions: &[(&str, Cost)]) -> BenchmarkBaseline {
        BenchmarkBaseline {
            events: vec!["Ir".to_owned()],
            total: vec![total],
            listed_from: vec![10],
            functions: functions
                .iter()
                .map(|&(name, cost)| FunctionBaseline {
                    name: name.to_owned(),
                    file: "f.c".to_owned(),
                    calls: 1,
                    costs: vec![cost],
                })
                .collect(),
            ..BenchmarkBaseline::default()
        }
    }

    fn budget(increase: &str) -> Budget {
        Budget {
            event: "Ir".to_owned(),
            scope: BudgetScope::Total,
            max: None,
            increase: Some(increase.parse().unwrap()),
            is_advisory: false,
            line: 1,
        }
    }

    #[test]
    fn rows_add_up_to_the_change() {
        // 7 of the base are in functions that are too small to be listed.
        let baseline = baseline(507, &[("main", 100), ("gone", 150), ("same", 250)]);
        let measurement =
            measurement(&[("main", 160), ("same", 250), ("new", 40), ("tiny", 9), ("small", 3)]);
        let verdict = BudgetVerdict::new(&budget("1%"), &measurement, Some(&baseline));
        let rows: Vec<_> = verdict.functions.iter().map(|row| (row.name.as_deref(), row.delta)).collect();
        assert_eq!(rows, [(Some("gone"), -150), (Some("main"), 60), (Some("new"), 40), (None, 5)]);
        let sum: Cost = rows.iter().map(|(_, delta)| delta).sum();
        assert_eq!(sum, verdict.cost - verdict.base.unwrap());
    }

    #[test]
    fn noise_extends_a_budget() {
        let mut baseline = baseline(1000, &[]);
        for (cost, increase, noise, expected) in [
            (1010, "1%", 0, Outcome::Within),
            (1011, "1%", 0, Outcome::Over),
            (1011, "11", 0, Outcome::Within),
            (1020, "1%", 20, Outcome::Within),
            (1021, "1%", 20, Outcome::Over),
            (1030, "5%", 20, Outcome::Within),
            (1, "0", 0, Outcome::Within),
        ] {
            baseline.noise = Some(Noise { runs: 2, spread: vec![noise], budgets: Vec::new() });
            let verdict =
                BudgetVerdict::new(&budget(increase), &measurement(&[("f", cost)]), Some(&baseline));
            assert_eq!(verdict.outcome, expected, "{cost} {increase} {noise}");
        }
        let measurement = measurement(&[("f", 2000)]);
        let outcome = |budget, baseline| BudgetVerdict::new(&budget, &measurement, baseline).outcome;
        let advisory = Budget { is_advisory: true, ..budget("0") };
        assert_eq!(outcome(advisory, Some(&baseline)), Outcome::Advice);
        assert_eq!(outcome(budget("0"), None), Outcome::Unknown);
        let max = Budget { max: Some(1999), increase: None, ..budget("0") };
        assert_eq!(outcome(max, None), Outcome::Over);
        let other = Budget { event: "Dr".to_owned(), ..budget("0") };
        assert_eq!(outcome(other, Some(&baseline)), Outcome::Unknown);
    }
}
