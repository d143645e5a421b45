//! The costs of a function by part.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gristmill_output::json::Costs;
use gristmill_profile::analysis::NodeCosts;
use schemars::JsonSchema;
use serde::Serialize;

use super::{List, first};
use crate::call_count::CallCount;
use crate::head::Head;
use crate::shares::part_name;
use crate::view::{SubjectId, View, ViewError};

/// The costs of a function in one part. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PartRow {
    /// The name of the part: its number, and its thread, process and file if there are several of them.
    pub name: String,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// Inclusive cost.
    pub inclusive: Costs,
    /// The count of calls.
    #[serde(flatten)]
    pub calls: CallCount,
}

/// Takes the costs of a function by part, in the order of the files. If there are too many parts, the most expensive ones
/// are shown.
pub(super) fn parts(
    view: &View,
    head: &Head,
    function: SubjectId,
    limit: Option<usize>,
) -> Result<List<PartRow>, ViewError> {
    let profile = view.profile();
    let selected: Vec<_> = profile.selected(view.selection()).collect();
    if selected.len() < 2 {
        return Ok(List::new(Vec::new(), limit));
    }
    let several =
        |number: &dyn Fn(usize) -> Option<u64>| (1..selected.len()).any(|part| number(part) != number(0));
    let (threads, pids) = (several(&|part| selected[part].thread()), several(&|part| selected[part].pid()));
    let inputs = selected.iter().any(|part| part.input() != selected[0].input());
    let row = |nth: usize, costs: &NodeCosts| {
        let part = &selected[nth];
        let mut name = part_name(nth, part, threads);
        if let Some(pid) = part.pid().filter(|_| pids) {
            name.push_str(&format!(", pid {pid}"));
        }
        if let Some(input) = profile.inputs().get(part.input()).filter(|_| inputs) {
            name.push_str(&format!(" of {}", input.name));
        }
        PartRow {
            name,
            self_costs: head.costs(&costs.self_costs),
            inclusive: head.costs(&costs.inclusive),
            calls: CallCount::new(costs.call_count, view.calls(function).has_inlined()),
        }
    };
    let mut rows = Vec::new();
    let mut all = 0;
    // A file can have a million parts, of which few are shown.
    let mut most_expensive = BinaryHeap::new();
    for (nth, part) in selected.iter().enumerate() {
        let Some(costs) = view.costs_in_part(function, part)? else { continue };
        all += 1;
        match limit {
            None => rows.push(row(nth, &costs)),
            Some(limit) => {
                most_expensive.push(Reverse((first(&costs.inclusive), Reverse(nth))));
                if most_expensive.len() > limit {
                    most_expensive.pop();
                }
            }
        }
    }
    let mut shown: Vec<usize> = most_expensive.into_iter().map(|Reverse((_, Reverse(nth)))| nth).collect();
    shown.sort_unstable();
    for nth in shown {
        if let Some(costs) = view.costs_in_part(function, &selected[nth])? {
            rows.push(row(nth, &costs));
        }
    }
    Ok(List { all, rows })
}
