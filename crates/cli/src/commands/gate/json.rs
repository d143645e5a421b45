//! The verdict for programs; `docs/schema/gate.schema.json` describes it.

use std::io::{self, Write};

use serde::Serialize;

use super::judge::{Check, Responsible, Verdict};
use super::report::Report;

#[derive(Serialize)]
struct Document<'r> {
    outcome: &'static str,
    benchmarks: Vec<Benchmark<'r>>,
}

#[derive(Serialize)]
struct Benchmark<'r> {
    name: &'r str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<&'r str>,
    notes: &'r [String],
    budgets: Vec<Budget<'r>>,
}

#[derive(Serialize)]
struct Budget<'r> {
    event: &'r str,
    subject: &'r str,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<i128>,
    cost: i128,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<i128>,
    allowed: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'r str>,
    functions: Vec<Function<'r>>,
    /// How many more functions changed.
    more_functions: usize,
    reasons: Vec<Why<'r>>,
}

#[derive(Serialize)]
struct Why<'r> {
    effect: i128,
    text: &'r str,
}

#[derive(Serialize)]
struct Function<'r> {
    /// None for all that are too small to be listed in the baseline.
    name: Option<&'r str>,
    file: Option<&'r str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base: Option<i128>,
    cost: i128,
    delta: i128,
    #[serde(skip_serializing_if = "Option::is_none")]
    calls: Option<[i128; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'r str>,
}

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let benchmarks = report.verdicts.iter().map(|verdict| benchmark(report, verdict)).collect();
    let document = Document { outcome: report.outcome().as_str(), benchmarks };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

fn benchmark<'r>(report: &Report, verdict: &'r Verdict) -> Benchmark<'r> {
    Benchmark {
        name: &verdict.name,
        outcome: verdict.outcome.as_str(),
        failure: verdict.failure.as_deref(),
        notes: &verdict.notes,
        budgets: verdict.checks.iter().map(|check| budget(report, check)).collect(),
    }
}

fn budget<'r>(report: &Report, check: &'r Check) -> Budget<'r> {
    let (rows, more_functions) = report.told(check);
    Budget {
        event: &check.event,
        subject: &check.subject,
        outcome: check.outcome.as_str(),
        base: check.base,
        cost: check.cost,
        limit: check.limit,
        allowed: &check.allowed,
        note: check.note.as_deref(),
        functions: rows.iter().map(function).collect(),
        more_functions,
        reasons: check
            .reasons
            .iter()
            .map(|reason| Why { effect: reason.effect, text: &reason.text })
            .collect(),
    }
}

fn function(row: &Responsible) -> Function<'_> {
    Function {
        name: row.function.as_ref().map(|name| name.name.as_str()),
        file: row.function.as_ref().map(|name| name.file.as_str()),
        line: row.line,
        base: row.base,
        cost: row.cost,
        delta: row.delta(),
        calls: row.calls.map(|(before, after)| [before, after]),
        note: row.note,
    }
}
