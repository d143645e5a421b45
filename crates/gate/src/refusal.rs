//! Reasons why the gate as a whole cannot decide: what the configuration names and nothing has.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::baseline::Baseline;
use crate::config::{Benchmark, BudgetScope, Config};
use crate::measurement::Measurement;

/// A reason why the gate cannot decide that is about no single benchmark. See the example of [`refusals`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Refusal {
    /// The reason, as a sentence.
    pub message: String,
    /// Line of the configuration that it is about.
    #[serde(skip)]
    pub line: usize,
}

/// Returns the reasons: benchmarks of the baseline that the configuration no longer has, and patterns for all benchmarks that
/// match in none. Patterns are judged only if all benchmarks were measured.
///
/// ```
/// use std::path::Path;
///
/// use gristmill_gate::{Baseline, BenchmarkBaseline, Config, refusals};
///
/// let text = "[[benchmark]]\nname = \"parse\"\nprofile = \"parse.out\"\n";
/// let config = Config::parse(Path::new("gristmill.toml"), text)?;
/// let mut baseline = Baseline::default();
/// baseline.benchmarks.insert("print".to_owned(), BenchmarkBaseline::default());
/// let reasons = refusals(&config, &baseline, &[]);
/// assert!(reasons[0].message.contains("`print` is in the baseline, but not in the configuration"));
/// # Ok::<(), gristmill_gate::FileError>(())
/// ```
pub fn refusals(
    config: &Config,
    baseline: &Baseline,
    measured: &[(&Benchmark, &Measurement)],
) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let known: BTreeSet<&str> = config.benchmarks.iter().map(|benchmark| benchmark.name.as_str()).collect();
    for name in baseline.benchmarks.keys().filter(|name| !known.contains(name.as_str())) {
        let message = format!(
            "benchmark `{name}` is in the baseline, but not in the configuration: restore it, or accept that it is gone \
             with `gristmill gate bless`"
        );
        refusals.push(Refusal { message, line: 1 });
    }
    if measured.len() < config.benchmarks.len() {
        return refusals;
    }
    let matched: BTreeSet<&str> =
        measured.iter().flat_map(|(_, measurement)| &measurement.matched).map(String::as_str).collect();
    let ignored = config.benchmarks.iter().flat_map(|benchmark| &benchmark.ignore);
    let ignored = ignored
        .filter(|pattern| pattern.is_common)
        .map(|pattern| ("ignore", pattern.regex.as_str(), pattern.line));
    let budgets = config.benchmarks.iter().flat_map(|benchmark| &benchmark.budgets);
    let budgets = budgets.filter(|budget| budget.is_common).filter_map(|budget| match &budget.scope {
        BudgetScope::Functions { pattern, .. } => Some(("budget", pattern.as_str(), budget.line)),
        BudgetScope::Total => None,
    });
    let unmatched: BTreeSet<(usize, &str, &str)> = ignored
        .chain(budgets)
        .filter(|(_, pattern, _)| !matched.contains(pattern))
        .map(|(kind, pattern, line)| (line, kind, pattern))
        .collect();
    refusals.extend(unmatched.into_iter().map(|(line, kind, pattern)| {
        let subject = if kind == "ignore" { "`ignore` has the" } else { "a budget has the" };
        let message = format!("{subject} pattern `{pattern}`, which matches no function of any benchmark");
        Refusal { message, line }
    }));
    refusals
}
