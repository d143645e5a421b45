//! The cycle that a function is in.

use std::collections::HashMap;
use std::sync::Arc;

use gristmill_output::json::Costs;
use schemars::JsonSchema;
use serde::Serialize;

use super::{List, first, sort_by_cost};
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

/// Summarises the cycle that a function is in.
pub(super) fn summary(
    view: &View,
    head: &Head,
    function: SubjectId,
    limit: Option<usize>,
) -> Option<CycleSummary> {
    let (graph, inclusive) = (view.graph(), view.inclusive());
    let cycles = inclusive.cycles();
    let cycle = cycles.cycle_of(function.node())?;
    let members = cycles.members(cycle).iter();
    let mut members: Vec<SubjectId> = members.map(|&member| view.subject_at(member)).collect();
    sort_by_cost(view, &mut members, |&member| (0, first(view.inclusive_cost(member)), member));
    let mut entries = cycles.entries(graph, cycle);
    sort_by_cost(view, &mut entries, |&arc| {
        (0, first(graph.arc_cost(arc)), view.subject_at(graph.arc(arc).caller))
    });
    // A hostile cycle has thousands of calls into a member with a long name.
    let mut known: HashMap<SubjectId, Arc<NamedFunction>> = HashMap::new();
    let mut shared =
        |id: SubjectId| known.entry(id).or_insert_with(|| Arc::new(NamedFunction::new(view, id))).clone();
    let named = |id: SubjectId| NamedFunction::new(view, id);
    Some(CycleSummary {
        number: cycle.number(),
        self_costs: head.costs(inclusive.cycle_self_cost(cycle)),
        inclusive: head.costs(inclusive.cycle_cost(cycle)),
        calls: view.cycle_calls(cycle),
        members: List::from_shown(members, limit, |member| CycleMember {
            function: shared(member),
            self_costs: head.costs(view.self_cost(member)),
            inclusive: head.costs(view.inclusive_cost(member)),
        }),
        entries: List::from_shown(entries, limit, |entry| {
            let arc = graph.arc(entry).map(|node| view.subject_at(node));
            CycleEntry {
                caller: shared(arc.caller),
                callee: shared(arc.callee),
                calls: CallCount::new(arc.count, graph.is_inlined(entry)),
                cost: head.costs(graph.arc_cost(entry)),
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
    })
}
