//! Functions whose cost changed.

use std::collections::BTreeMap;

use gristmill_format::Cost;
use gristmill_output::json::{self, ExactInteger};
use schemars::JsonSchema;
use serde::Serialize;

use crate::baseline::BenchmarkBaseline;
use crate::config::{BudgetScope, matches_name};
use crate::measurement::{FunctionName, Measurement};

/// A function whose cost changed. See the example of [`BenchmarkVerdict`](crate::BenchmarkVerdict).
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

/// Returns the functions whose cost changed. Those that are too small to be listed in the baseline are one row.
pub(crate) fn function_changes(
    scope: &BudgetScope,
    measurement: &Measurement,
    column: usize,
    baseline: &BenchmarkBaseline,
    baseline_column: usize,
) -> Vec<FunctionChange> {
    let listed_from = baseline.listed_from[baseline_column];
    let mut listed: BTreeMap<FunctionName, (Cost, Cost)> = BTreeMap::new();
    for function in &baseline.functions {
        let name = function.function();
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
    rows.retain(|row| row.delta != 0);
    match scope {
        BudgetScope::Functions { pattern, is_inclusive: false, .. } => {
            rows.retain(|row| row.name.as_ref().is_some_and(|name| matches_name(pattern, name)));
        }
        // Of a function that vanished, the baseline does not tell who called it.
        BudgetScope::Functions { name, .. } => {
            let reached = measurement.reached.get(name);
            let is_reached = |function| reached.is_some_and(|reached| reached.contains(&function));
            rows.retain(|row| row.function().is_some_and(is_reached));
        }
        BudgetScope::Total => {}
    }
    rows.sort_by(|a, b| {
        let by_name = || (&a.name, &a.file).cmp(&(&b.name, &b.file));
        b.delta.abs().cmp(&a.delta.abs()).then_with(by_name)
    });
    small.delta = small.cost - (baseline.total[baseline_column] - listed_total);
    if matches!(scope, BudgetScope::Total) && small.delta != 0 {
        rows.push(small);
    }
    rows
}

impl FunctionChange {
    /// Returns the function, if it is one.
    fn function(&self) -> Option<FunctionName> {
        Some(FunctionName { name: self.name.clone()?, file: self.file.clone()? })
    }

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
