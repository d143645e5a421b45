//! The cycle that a function is in.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use gristmill_output::json::Costs;
use gristmill_profile::analysis::{CycleId, Sides};
use schemars::JsonSchema;
use serde::Serialize;

use super::{List, first, sort_first_by_cost};
use crate::call_count::CallCount;
use crate::head::Head;
use crate::named_function::NamedFunction;
use crate::view::{SubjectId, View};

/// The cycle that a function is in. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CycleSummary {
    /// The number of the cycle, from 1.
    pub number: usize,
    /// Self cost of all members.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// Inclusive cost of the cycle.
    pub inclusive: Costs,
    /// `true` if these costs are estimates: functions are hidden or focused on, and several callers share a cost.
    #[serde(rename = "estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
    /// The count of calls from outside.
    #[serde(flatten)]
    pub calls: CallCount,
    /// The members of the cycle.
    pub members: List<CycleMember>,
    /// Calls into the cycle.
    pub entries: List<CycleEntry>,
    /// The calls whose removal breaks most of the cycle; null if no arc does.
    pub breaker: Option<CycleBreaker>,
}

/// A member of a cycle. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CycleMember {
    /// The member.
    #[serde(flatten)]
    pub function: Arc<NamedFunction>,
    /// Self cost.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// Inclusive cost.
    pub inclusive: Costs,
    /// `true` if the self cost is an estimate.
    #[serde(rename = "self_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_self_estimate: bool,
    /// `true` if the inclusive cost is an estimate.
    #[serde(rename = "inclusive_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_inclusive_estimate: bool,
}

/// Calls from outside to a member of a cycle. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CycleEntry {
    /// The caller, outside of the cycle.
    pub caller: Arc<NamedFunction>,
    /// The member that is called.
    pub callee: Arc<NamedFunction>,
    /// The count of calls.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Inclusive cost of the calls.
    pub cost: Costs,
    /// `true` if the cost is an estimate.
    #[serde(rename = "cost_estimated", skip_serializing_if = "std::ops::Not::not")]
    pub is_estimate: bool,
}

/// The calls whose removal breaks most of a cycle. See the example of [`Show`](super::Show).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CycleBreaker {
    /// The caller.
    pub caller: NamedFunction,
    /// The callee.
    pub callee: NamedFunction,
    /// The count of functions that are then still in cycles.
    pub members_left: usize,
    /// `true` if all other arcs were tried.
    pub is_best: bool,
}

/// The limit of the search for the best breaker: arcs that are looked at.
const MAX_BREAKER_WORK: usize = 20_000_000;

/// Members of a cycle that takes so long to summarise that it is kept. There are few such cycles in a profile.
const MANY_MEMBERS: usize = 2_000;
/// Summaries of cycles that are kept.
const MAX_SUMMARIES: usize = 8;
/// The least limit of a summary that is kept: it serves each question that asks for fewer rows.
const KEPT_ROWS: usize = 100;

/// A large cycle whose summary was made: a viewer asks for the functions of a cycle one after the other.
struct KnownCycle {
    summary: CycleSummary,
    sides: Sides,
}

/// Summarises the cycle that a function is in, and returns the costs of the function, or of its cycle, from both sides.
pub(super) fn summary(
    view: &View,
    head: &Head,
    function: SubjectId,
    limit: Option<usize>,
) -> (Option<CycleSummary>, Sides) {
    let (graph, inclusive) = (view.graph(), view.inclusive());
    let cycles = inclusive.cycles();
    let sides = || inclusive.sides(graph, cycles.unit(function.node()));
    let Some(cycle) = cycles.cycle_of(function.node()) else { return (None, sides()) };
    let Some(limit) = limit.filter(|_| cycles.members(cycle).len() >= MANY_MEMBERS) else {
        return (Some(summary_of(view, head, cycle, limit)), sides());
    };
    // A list of finished summaries is valid even after a panic.
    let mut known = view.known_cycles().lock().unwrap_or_else(PoisonError::into_inner);
    if !known.iter().any(|(of, kept, _)| *of == cycle && *kept >= limit) {
        // With the lock: who asks for the same cycle meanwhile waits.
        known.retain(|(of, ..)| *of != cycle);
        if known.len() >= MAX_SUMMARIES {
            known.remove(0);
        }
        let kept = limit.max(KEPT_ROWS);
        let summary = summary_of(view, head, cycle, Some(kept));
        known.push((cycle, kept, Box::new(KnownCycle { summary, sides: sides() })));
    }
    let found = known.iter().find(|(of, ..)| *of == cycle);
    match found.and_then(|(_, _, known)| known.downcast_ref::<KnownCycle>()) {
        Some(known) => (Some(known.summary.with_limit(limit)), known.sides.clone()),
        None => (Some(summary_of(view, head, cycle, Some(limit))), sides()),
    }
}

impl CycleSummary {
    /// Returns the same summary with fewer rows.
    fn with_limit(&self, limit: usize) -> CycleSummary {
        CycleSummary {
            members: self.members.first(limit),
            entries: self.entries.first(limit),
            ..self.clone()
        }
    }
}

fn summary_of(view: &View, head: &Head, cycle: CycleId, limit: Option<usize>) -> CycleSummary {
    let (graph, inclusive) = (view.graph(), view.inclusive());
    let cycles = inclusive.cycles();
    let members = cycles.members(cycle).iter();
    let mut members: Vec<SubjectId> = members.map(|&member| view.subject_at(member)).collect();
    sort_first_by_cost(view, &mut members, limit, |&member| (0, first(view.inclusive_cost(member)), member));
    let is_estimate =
        members.iter().any(|&member| view.is_self_estimate(member) || view.is_inclusive_estimate(member));
    let mut entries = cycles.entries(graph, cycle);
    sort_first_by_cost(view, &mut entries, limit, |&arc| {
        (0, first(graph.arc_cost(arc)), view.subject_at(graph.caller(arc)))
    });
    // A hostile cycle has thousands of calls into a member with a long name.
    let mut known: HashMap<SubjectId, Arc<NamedFunction>> = HashMap::new();
    let mut shared =
        |id: SubjectId| known.entry(id).or_insert_with(|| Arc::new(NamedFunction::new(view, id))).clone();
    let named = |id: SubjectId| NamedFunction::new(view, id);
    CycleSummary {
        number: cycle.number(),
        self_costs: head.costs(inclusive.cycle_self_cost(cycle)),
        inclusive: head.costs(inclusive.cycle_cost(cycle)),
        is_estimate,
        calls: view.cycle_calls(cycle),
        members: List::from_shown(members, limit, |member| CycleMember {
            function: shared(member),
            self_costs: head.costs(view.self_cost(member)),
            inclusive: head.costs(view.inclusive_cost(member)),
            is_self_estimate: view.is_self_estimate(member),
            is_inclusive_estimate: view.is_inclusive_estimate(member),
        }),
        entries: List::from_shown(entries, limit, |entry| {
            let arc = graph.arc(entry).map(|node| view.subject_at(node));
            CycleEntry {
                caller: shared(arc.caller),
                callee: shared(arc.callee),
                calls: view.calls_of(entry),
                cost: head.costs(graph.arc_cost(entry)),
                is_estimate: view.is_call_estimate(entry),
            }
        }),
        breaker: cycles.breaker(graph, cycle, 0, MAX_BREAKER_WORK).map(|breaker| {
            let arc = graph.arc(breaker.arc).map(|node| view.subject_at(node));
            CycleBreaker {
                caller: named(arc.caller),
                callee: named(arc.callee),
                members_left: breaker.members_left,
                is_best: breaker.is_best,
            }
        }),
    }
}
