//! Verdicts: which budgets are exceeded, and which functions are responsible.

use gristmill_format::Cost;
use gristmill_output::grouped;
use gristmill_output::json::{self, ExactInteger};
use gristmill_profile::event::is_memory;
use schemars::JsonSchema;
use serde::Serialize;

use crate::baseline::{BenchmarkBaseline, BudgetBaseline};
use crate::changes::{FunctionChange, function_changes};
use crate::config::{Benchmark, Budget, BudgetScope};
use crate::lost::{Columns, lost_functions};
use crate::measurement::Measurement;
use crate::nearest::{OwnFunction, nearest};
use crate::settings::{Conditions, differences};

/// The outcome of a budget, of a benchmark, or of all: the worst counts. See the example of [`BenchmarkVerdict`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Within every budget.
    Within,
    /// Worth a look: an advisory budget is exceeded or not determined, and no other.
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
/// let baseline = BenchmarkBaseline::new(&run(1000), &config.benchmarks[0], config.share, None);
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
    /// Last lines that the command wrote to standard error, if it failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failure_output: Vec<String>,
    /// Remarks on the whole benchmark.
    pub notes: Vec<String>,
    /// The verdict on each budget.
    pub budgets: Vec<BudgetVerdict>,
}

/// Reason why a benchmark could not be measured. See the example of [`GateReport`](crate::GateReport).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failure {
    /// The reason, as a sentence.
    pub message: String,
    /// Last lines that the command wrote to standard error.
    pub output: Vec<String>,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure { message, output: Vec::new() }
    }
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
    /// `true` if the cost in the baseline is an upper bound. Missing if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub base_is_upper_bound: bool,
    /// Cost now.
    #[serde(serialize_with = "json::exact")]
    #[schemars(with = "ExactInteger")]
    pub cost: Cost,
    /// `true` if the cost is an upper bound: calls come back to the functions from one that others call, too. Missing if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub cost_is_upper_bound: bool,
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
    /// The function of the user's own code that the change of a total lies in: the deepest one whose inclusive cost changed by
    /// about as much.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_function: Option<OwnFunction>,
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

impl BenchmarkVerdict {
    /// Compares a measurement with the budgets and the baseline. Differences of settings, tool or caches make the outcome unknown,
    /// unless `allow_unlike` is set.
    pub fn new(
        benchmark: &Benchmark,
        measurement: &Measurement,
        baseline: Option<&BenchmarkBaseline>,
        allow_unlike: bool,
    ) -> BenchmarkVerdict {
        if let Some(defect) = measurement.defect(benchmark) {
            return Self::failed(benchmark, defect.into());
        }
        let mut notes = Vec::new();
        if let Some(baseline) = baseline {
            let then = Conditions { settings: &baseline.settings, environment: &baseline.environment };
            let now = Conditions { settings: &measurement.settings, environment: &measurement.environment };
            let prevents = differences(then, now);
            if !prevents.is_empty() {
                let text = prevents.join("; ");
                if !allow_unlike {
                    let hint =
                        "accept it with `gristmill gate bless`, or compare anyway with `--allow-unlike`";
                    let message = format!("not comparable with the baseline: {text} ({hint})");
                    return Self::failed(benchmark, message.into());
                }
                notes.push(text);
            }
        }
        let is_in_baseline = |budget: &Budget| {
            let mut budgets = baseline.into_iter().flat_map(|baseline| &baseline.budgets);
            budgets.any(|other| other.name == budget.scope.name())
        };
        // A budget for all benchmarks does not apply where it never had functions.
        let applies = |budget: &&Budget| match &budget.scope {
            BudgetScope::Functions { pattern, .. } if budget.is_common => {
                measurement.matched.contains(pattern.as_str()) || is_in_baseline(budget)
            }
            _ => true,
        };
        let budgets: Vec<BudgetVerdict> = benchmark
            .budgets
            .iter()
            .filter(applies)
            .map(|budget| BudgetVerdict::new(budget, measurement, baseline))
            .collect();
        BenchmarkVerdict {
            name: benchmark.name.clone(),
            line: benchmark.line,
            outcome: budgets.iter().map(|budget| budget.outcome).max().unwrap_or(Outcome::Unknown),
            failure: None,
            failure_output: Vec::new(),
            notes,
            budgets,
        }
    }

    /// Makes the verdict on a benchmark that could not be measured.
    pub fn failed(benchmark: &Benchmark, failure: Failure) -> BenchmarkVerdict {
        BenchmarkVerdict {
            name: benchmark.name.clone(),
            line: benchmark.line,
            outcome: Outcome::Unknown,
            failure: Some(failure.message),
            failure_output: failure.output,
            notes: Vec::new(),
            budgets: Vec::new(),
        }
    }
}

/// The values that the baseline has for a budget.
struct Accepted {
    column: usize,
    cost: Option<Cost>,
    is_upper_bound: bool,
    noise: Option<Cost>,
}

impl Accepted {
    fn new(budget: &Budget, baseline: &BenchmarkBaseline) -> Option<Accepted> {
        let column = baseline.column(&budget.event)?;
        let is_its = |other: &&BudgetBaseline| other.name == budget.scope.name();
        let noise = baseline.noise.as_ref();
        Some(match budget.scope {
            BudgetScope::Total => Accepted {
                column,
                cost: Some(baseline.total[column]),
                is_upper_bound: false,
                noise: noise.map(|noise| noise.spread[column]),
            },
            BudgetScope::Functions { .. } => {
                let its = baseline.budgets.iter().find(is_its);
                let its_noise = noise.and_then(|noise| noise.budgets.iter().find(is_its));
                Accepted {
                    column,
                    cost: its.map(|its| its.cost[column]),
                    is_upper_bound: its.is_some_and(|its| its.upper_bound),
                    noise: its_noise.map(|noise| noise.cost[column]),
                }
            }
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
            outcome: Outcome::Unknown,
            base: None,
            base_is_upper_bound: false,
            cost: 0,
            cost_is_upper_bound: false,
            limit: None,
            allowed: allowed(budget),
            note: None,
            line: budget.line,
            own_function: None,
            functions: Vec::new(),
            more_functions: 0,
            reasons: Vec::new(),
        };
        let Some(column) = measurement.column(&budget.event) else {
            verdict.note = measurement.budget_defect(budget);
            return verdict;
        };
        if let Some(defect) = measurement.budget_defect(budget) {
            verdict.note = Some(defect);
            return verdict;
        }
        if let Some(baseline) = baseline
            && let Some(other) = other_functions(budget, baseline)
        {
            verdict.note =
                Some(format!("{other} in the baseline; `gristmill gate bless` accepts the new ones"));
            return verdict;
        }
        verdict.cost = match &budget.scope {
            BudgetScope::Total => measurement.totals[column],
            BudgetScope::Functions { name, .. } => {
                measurement.budgets.get(name).map_or(0, |costs| costs[column])
            }
        };
        let bound = measurement.bounds.get(budget.scope.name());
        let bound = bound.filter(|_| matches!(budget.scope, BudgetScope::Functions { .. }));
        if let Some(bound) = bound.filter(|bound| bound.is_estimate[column]) {
            if budget.is_advisory {
                verdict.outcome = Outcome::Advice;
            }
            verdict.note = Some(bound.reason_of_estimate());
            return verdict;
        }
        let bound = bound.filter(|bound| bound.is_upper_bound[column]);
        verdict.cost_is_upper_bound = bound.is_some();
        let accepted = baseline.and_then(|baseline| Some((baseline, Accepted::new(budget, baseline)?)));
        verdict.base = accepted.as_ref().and_then(|(_, accepted)| accepted.cost);
        verdict.base_is_upper_bound = accepted.as_ref().is_some_and(|(_, accepted)| accepted.is_upper_bound);
        if verdict.base_is_upper_bound && is_memory(&budget.event) && budget.increase.is_some() {
            if budget.is_advisory {
                verdict.outcome = Outcome::Advice;
            }
            verdict.note = Some(
                "the cost in the baseline is an estimate; `gristmill gate bless` makes this the baseline"
                    .to_owned(),
            );
            return verdict;
        }
        let noise = accepted.as_ref().and_then(|(_, accepted)| accepted.noise).unwrap_or(0);
        let mut limit = budget.max;
        if let Some(increase) = budget.increase {
            let Some(base) = verdict.base else {
                // What is new cannot be worse than advice.
                if budget.is_advisory {
                    verdict.outcome = Outcome::Advice;
                }
                verdict.note = Some("not in the baseline; `gristmill gate bless` adds it".to_owned());
                return verdict;
            };
            if !budget.is_advisory
                && let Some(doubt) = doubt(budget, base, verdict.cost, noise)
            {
                verdict.note = Some(doubt.to_owned());
                return verdict;
            }
            let increase = increase.amount(base);
            let lost = accepted.as_ref().and_then(|(baseline, accepted)| {
                let columns = Columns { measurement: column, baseline: accepted.column };
                lost_functions(budget, measurement, baseline, columns, base, increase.max(noise))
            });
            if !budget.is_advisory && lost.is_some() {
                verdict.note = lost;
                return verdict;
            }
            let highest = base + increase.max(noise);
            limit = Some(budget.max.map_or(highest, |max| highest.min(max)));
            if noise > increase {
                let noise = grouped(noise);
                verdict.note = Some(format!("runs without a change differ by {noise}, which is allowed too"));
            }
            if verdict.base_is_upper_bound && bound.is_none() {
                verdict.note = Some(
                    "the baseline is an upper bound; `gristmill gate bless` makes this the baseline"
                        .to_owned(),
                );
            } else if !verdict.base_is_upper_bound && base - verdict.cost > increase.max(noise) {
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
        if let Some(bound) = bound
            && let Some(limit) = limit.filter(|_| is_over)
            && bound.at_least[column] <= limit
        {
            // Only the bound is above the limit.
            if !budget.is_advisory {
                verdict.outcome = Outcome::Unknown;
            }
            verdict.note = Some(bound.reason(column, verdict.cost));
        }
        if let Some((baseline, accepted)) = accepted
            && verdict.base != Some(verdict.cost)
        {
            verdict.functions =
                function_changes(&budget.scope, measurement, column, baseline, accepted.column);
            if verdict.is_total {
                verdict.own_function = nearest(measurement, column, baseline, accepted.column);
            }
        }
        verdict
    }

    /// Returns the event type, with the subject if that is not the total.
    pub fn title(&self) -> String {
        if self.is_total { self.event.clone() } else { format!("{} of {}", self.event, self.subject) }
    }
}

/// Returns the reason why a cost says nothing, although it can be compared.
fn doubt(budget: &Budget, base: Cost, cost: Cost, noise: Cost) -> Option<&'static str> {
    if noise.saturating_mul(2) > base.saturating_abs() {
        Some(
            "runs without a change differ by more than half of the cost, so no budget can be held; make the runs alike",
        )
    } else if base > 0 && cost.saturating_mul(10) < base {
        Some(match budget.scope {
            BudgetScope::Total => {
                "less than a tenth of the baseline: the benchmark may not do its work any more; `gristmill gate bless` accepts it"
            }
            BudgetScope::Functions { .. } => {
                "less than a tenth of the baseline: the functions may be inlined, renamed or left out; `gristmill gate bless` accepts it"
            }
        })
    } else {
        None
    }
}

/// Returns the pattern that the baseline has for a budget, if that is another one.
fn other_functions(budget: &Budget, baseline: &BenchmarkBaseline) -> Option<String> {
    let BudgetScope::Functions { name, pattern, is_inclusive } = &budget.scope else { return None };
    let accepted = baseline.budgets.iter().find(|other| other.name == *name)?;
    let kind = |is_inclusive| if is_inclusive { "inclusive cost" } else { "self cost" };
    let is_same =
        accepted.function.as_deref() == Some(pattern.as_str()) && accepted.inclusive == *is_inclusive;
    let other = accepted.function.as_deref().unwrap_or("no pattern");
    (!is_same).then(|| format!("`{name}` is the {} of `{other}`", kind(accepted.inclusive)))
}

/// Returns what a budget allows, as text.
fn allowed(budget: &Budget) -> String {
    let increase = budget.increase.map(|increase| format!("+{increase}"));
    let max = budget.max.map(|max| format!("at most {}", grouped(max)));
    increase.into_iter().chain(max).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::baseline::{FunctionBaseline, Noise};
    use crate::measurement::{FunctionCost, FunctionName};

    fn measurement(functions: &[(&str, Cost)]) -> Measurement {
        let cost = |cost| FunctionCost {
            costs: vec![cost],
            inclusive: vec![cost],
            calls: 1,
            line: Some(3),
            ..FunctionCost::default()
        };
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
                    inclusive: None,
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
            is_common: false,
            line: 1,
        }
    }

    /// A budget of 1% for the self cost of functions.
    pub(crate) fn budget_of(name: &str, pattern: &str) -> Budget {
        let pattern = pattern.parse().unwrap();
        let scope = BudgetScope::Functions { name: name.to_owned(), pattern, is_inclusive: false };
        Budget { scope, ..budget("1%") }
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
    fn functions_that_nearly_vanish_are_in_doubt() {
        let budget = budget_of("mill", "^mill$");
        assert_eq!(doubt(&budget, 1000, 100, 0), None);
        assert!(doubt(&budget, 1000, 99, 0).is_some_and(|doubt| doubt.contains("inlined, renamed")));
        assert_eq!(doubt(&budget, 0, 0, 0), None);
    }

    #[test]
    fn functions_that_leave_a_budget_are_in_doubt() {
        let budget = budget_of("lexer", "^lex_");
        let accepted = BudgetBaseline {
            name: "lexer".to_owned(),
            function: Some("^lex_".to_owned()),
            upper_bound: false,
            inclusive: false,
            cost: vec![500],
        };
        let baseline = BenchmarkBaseline {
            budgets: vec![accepted],
            ..baseline(1000, &[("lex_word", 240), ("lex_num", 260), ("main", 500)])
        };
        let verdict = |functions: &[(&str, Cost)], lexer: Cost| {
            let mut measurement = measurement(functions);
            measurement.matched.insert("^lex_".to_owned());
            measurement.budgets.insert("lexer".to_owned(), vec![lexer]);
            BudgetVerdict::new(&budget, &measurement, Some(&baseline))
        };
        // `lex_num` was inlined into `main` and costs a quarter more there.
        let inlined = verdict(&[("lex_word", 240), ("main", 825)], 240);
        assert_eq!(inlined.outcome, Outcome::Unknown);
        assert!(
            inlined
                .note
                .is_some_and(|note| note.starts_with("`lex_num` with 260 Ir of the baseline is gone"))
        );
        let faster = verdict(&[("lex_word", 240), ("lex_num", 100), ("main", 500)], 340);
        assert_eq!(faster.outcome, Outcome::Within);
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
            (100, "0", 0, Outcome::Within),
            // A tenth, and runs that differ by more than half.
            (99, "0", 0, Outcome::Unknown),
            (1000, "1%", 500, Outcome::Within),
            (1000, "1%", 501, Outcome::Unknown),
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
