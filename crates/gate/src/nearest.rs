//! The function of the user's own code that a change lies in.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use gristmill_format::Cost;
use gristmill_output::json::{self, ExactInteger};
use schemars::JsonSchema;
use serde::Serialize;

use crate::baseline::BenchmarkBaseline;
use crate::measurement::{FunctionName, Measurement};

/// A function of the user's own code that a change lies in, with its inclusive costs. See the example of
/// [`BenchmarkVerdict`](crate::BenchmarkVerdict).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OwnFunction {
    /// Its name.
    pub name: String,
    /// Its source file.
    pub file: String,
    /// Its first line with a cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// Inclusive cost in the baseline; absent if it is new, or was too small to be listed.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "json::exact_option")]
    #[schemars(with = "Option<ExactInteger>")]
    pub base: Option<Cost>,
    /// Inclusive cost now.
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
}

/// A function of the user's own code, and the change of its inclusive cost.
struct Candidate<'m> {
    name: &'m FunctionName,
    base: Option<Cost>,
    calls: Option<Cost>,
    cost: Cost,
}

/// Returns the function of the user's own code that a change of the total lies in: the deepest one whose inclusive cost
/// changed by about as much, that is by half of it to one and a half times of it. The baseline has the inclusive costs of own
/// functions above its share; one that is not listed there cost less.
pub(crate) fn nearest(
    measurement: &Measurement,
    column: usize,
    baseline: &BenchmarkBaseline,
    baseline_column: usize,
) -> Option<OwnFunction> {
    let total = measurement.totals[column] - baseline.total[baseline_column];
    if total == 0 {
        return None;
    }
    let mut listed = HashMap::new();
    for row in &baseline.functions {
        listed.entry((row.name.as_str(), row.file.as_str())).or_insert(row);
    }
    let mut candidates: Vec<Candidate<'_>> = Vec::new();
    for (name, function) in measurement.functions.iter().filter(|(_, function)| function.is_own) {
        let row = listed.get(&(name.name.as_str(), name.file.as_str()));
        let base = match row.map(|row| row.inclusive.as_ref().unwrap_or(&row.costs)) {
            _ if function.is_inclusive_doubtful => continue,
            Some(costs) if costs.is_empty() => continue,
            costs => costs.map(|costs| costs[baseline_column]),
        };
        let cost = function.inclusive[column];
        let delta = cost - base.unwrap_or(0);
        // Twice the change is between once and three times the total.
        if delta.signum() == total.signum()
            && 2 * delta.abs() >= total.abs()
            && 2 * delta.abs() <= 3 * total.abs()
        {
            candidates.push(Candidate { name, base, calls: row.map(|row| row.calls), cost });
        }
    }
    let names: BTreeSet<&FunctionName> = candidates.iter().map(|candidate| candidate.name).collect();
    // The deepest calls no other candidate; of several, the one that explains most.
    let mut steps = MAX_STEPS;
    let mut is_deepest = |candidate: &&Candidate<'_>| {
        !reaches_other(measurement, candidate.name, &names, &mut steps).unwrap_or(true)
    };
    let change = |candidate: &Candidate<'_>| (candidate.cost - candidate.base.unwrap_or(0)).abs();
    // Functions that call each other in a cycle are all above one another: then the one of least cost.
    let deepest: Vec<&Candidate<'_>> = candidates.iter().filter(&mut is_deepest).collect();
    let chosen = deepest
        .into_iter()
        .max_by_key(|candidate| (change(candidate), Reverse(candidate.name)))
        .or_else(|| candidates.iter().min_by_key(|candidate| (candidate.cost, candidate.name)))?;
    let function = &measurement.functions[chosen.name];
    Some(OwnFunction {
        name: chosen.name.name.clone(),
        file: chosen.name.file.clone(),
        line: function.line,
        base: chosen.base,
        cost: chosen.cost,
        delta: chosen.cost - chosen.base.unwrap_or(0),
        calls: chosen.calls.map(|calls| [ExactInteger(calls), ExactInteger(function.calls)]),
    })
}

/// The calls that are followed to find the deepest function. A hostile profile has thousands of functions of about the same
/// cost that all lead to thousands of others.
const MAX_STEPS: usize = 5_000_000;

/// Returns `true` if a function calls another one of these, directly or through others; `None` if that takes too many steps.
fn reaches_other(
    measurement: &Measurement,
    from: &FunctionName,
    names: &BTreeSet<&FunctionName>,
    steps: &mut usize,
) -> Option<bool> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(name) = open.pop() {
        if name != from && names.contains(name) {
            return Some(true);
        }
        let callees = measurement.functions.get(name).into_iter().flat_map(|function| &function.callees);
        for callee in callees {
            *steps = steps.checked_sub(1)?;
            if reached.insert(&**callee) {
                open.push(callee);
            }
        }
    }
    Some(false)
}
