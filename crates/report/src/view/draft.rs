//! The graph of a view without what is cut, hidden or left out, before its inclusive costs.

use std::cmp::Reverse;

use gristmill_output::{grouped, percent, printable};
use gristmill_profile::analysis::{
    ArcId, Attributed, CallGraph, CutArcs, Cycles, Estimates, FoldedProfile, Inclusive, NodeId, bypass,
    focus_after, hide_after, leave_out,
};
use gristmill_profile::symbol::shorten;
use gristmill_profile::{MemoryBudget, Profile, Selection};
use regex::Regex;

use super::error::ViewError;
use super::options::{Cut, ViewOptions};
use super::subjects::{SubjectId, Subjects};
use crate::amount::estimate_mark;
use crate::columns::Columns;
use crate::pattern::matches_name;

/// The most costs that a note states.
const MAX_COSTS: usize = 9;

/// The columns of a name in a note.
const NAME_COLUMNS: usize = 40;

/// Costs that were given to other functions, because functions are hidden, focused on or left out.
#[derive(Debug)]
pub(super) struct Attribution {
    pub(super) is_hidden: Vec<bool>,
    pub(super) is_self_estimate: Vec<bool>,
    pub(super) is_inclusive_estimate: Vec<bool>,
    /// By arc of the graph.
    pub(super) is_arc_estimate: Vec<bool>,
    pub(super) is_count_estimate: Vec<bool>,
    pub(super) is_total_estimate: bool,
    pub(super) hide: Option<Regex>,
    pub(super) focus: Option<Regex>,
    pub(super) drop: Option<Regex>,
    pub(super) notes: Vec<String>,
}

pub(super) fn without(graph: CallGraph, cut: &CutArcs) -> CallGraph {
    if cut.is_empty() { graph } else { graph.without(|_, arc| cut.contains(arc)) }
}

/// A view before its graph is made.
pub(super) struct Draft<'d> {
    pub(super) profile: &'d Profile,
    pub(super) options: &'d ViewOptions,
    pub(super) subjects: &'d Subjects,
    pub(super) columns: &'d Columns,
}

impl Draft<'_> {
    /// The folded graph of some parts, before cuts.
    pub(super) fn graph(&self, selection: &Selection) -> Result<CallGraph, ViewError> {
        let graph = self.columns.call_graph(self.profile, selection)?;
        Ok(match self.subjects.partition() {
            None => graph,
            Some(partition) => graph.folded(partition),
        })
    }

    pub(super) fn cycles(&self, graph: &CallGraph) -> Cycles {
        if self.options.cycles { Cycles::new(graph) } else { Cycles::none(graph) }
    }

    /// `true` if the function of a node matches a pattern.
    fn matches(&self, pattern: &Regex, graph: &CallGraph, node: NodeId) -> bool {
        let name = self.subjects.get(self.profile, graph, SubjectId(node)).name();
        matches_name(pattern, name)
    }

    fn matching(&self, pattern: &Option<Regex>, graph: &CallGraph) -> Vec<bool> {
        let Some(pattern) = pattern else { return vec![false; graph.node_count()] };
        graph.nodes().map(|node| self.matches(pattern, graph, node)).collect()
    }

    /// Takes functions out of the graph with everything below them, if that is asked for. Returns the marks of estimates, and a
    /// sentence.
    pub(super) fn leave_out(&self, graph: &mut CallGraph) -> Result<Option<(Attributed, String)>, ViewError> {
        if self.options.drop.is_none() {
            return Ok(None);
        }
        let is_dropped = self.matching(&self.options.drop, graph);
        let names = self.named(graph, &is_dropped);
        let total = graph.total()[0];
        let rest = leave_out(graph, &is_dropped).ok_or(ViewError::NegativeCosts)?;
        let mark = estimate_mark(rest.is_total_estimate);
        let gone = percent(total.saturating_sub(rest.graph.total()[0]), total);
        *graph = rest.graph.clone();
        Ok(Some((
            rest,
            format!("left out of all totals: {names}, and callees, with {mark}{gone} of the cost"),
        )))
    }

    /// Gives costs to other functions, if some are hidden, focused on or left out.
    pub(super) fn attribute(
        &self,
        graph: &mut CallGraph,
        dropped: Option<(Attributed, String)>,
    ) -> Result<Option<Attribution>, ViewError> {
        let ViewOptions { hide: hidden, focus: focused, drop, .. } = self.options;
        if hidden.is_none() && focused.is_none() && drop.is_none() {
            return Ok(None);
        }
        let is_hidden = self.matching(hidden, graph);
        let mut notes = Vec::new();
        // Each step knows what the steps before have made an estimate.
        let mut estimates = Estimates::none(graph);
        if let Some((rest, note)) = dropped {
            estimates = rest.split().1;
            notes.push(note);
        }
        if focused.is_some() {
            let is_chosen = self.matching(focused, graph);
            let total = graph.total()[0];
            let names = self.named(graph, &is_chosen);
            let focused = focus_after(graph, &is_chosen, &estimates).ok_or(ViewError::NegativeCosts)?;
            let mark = estimate_mark(estimates.is_total || focused.is_total_estimate);
            let share = percent(focused.graph.total()[0], total);
            (*graph, estimates) = focused.split();
            notes.push(format!(
                "focus on {names}, and callees: {mark}{share} of the cost; other cost is left out"
            ));
        }
        if self.options.bypasses_hidden && (focused.is_some() || drop.is_some()) {
            // A call that is estimated to cost nothing may still be one of several that share a cost. Calls within a cycle have costs that
            // contain each other, so that it has to stay one.
            let cycles = self.cycles(graph);
            let is_left = |id: ArcId| {
                estimates.is_arc[id.index()]
                    || graph.arc(id).count != 0
                    || cycles.is_inner(&graph.arc(id))
                    || graph.arc_cost(id).iter().any(|&cost| cost != 0)
            };
            let of_left = |marks: &[bool]| -> Vec<bool> {
                graph.arc_ids().filter(|&id| is_left(id)).map(|id| marks[id.index()]).collect()
            };
            let (is_arc, is_count) = (of_left(&estimates.is_arc), of_left(&estimates.is_count));
            *graph = graph.without(|id, _| !is_left(id));
            (estimates.is_arc, estimates.is_count) = (is_arc, is_count);
        }
        if hidden.is_some() {
            let names = self.named(graph, &is_hidden);
            let mut hiding = hide_after(graph, &is_hidden, estimates);
            if self.options.bypasses_hidden {
                hiding = bypass(hiding, &is_hidden).ok_or(ViewError::TooManyCalls)?;
            }
            let without_caller = std::mem::take(&mut hiding.without_caller);
            (*graph, estimates) = hiding.split();
            let costs = self.columns.events().iter().zip(&without_caller).filter(|&(_, &cost)| cost != 0);
            let costs: Vec<String> = costs
                .map(|(event, &cost)| {
                    format!("{} {}", event.unit.show(cost), printable(event.name.as_bytes()))
                })
                .collect();
            let left = match &costs[..] {
                [] => String::new(),
                costs if costs.len() <= MAX_COSTS => {
                    format!("; nothing calls those that have {}", costs.join(", "))
                }
                costs => format!(
                    "; nothing calls those that have {} and costs of {} more event types",
                    costs[..MAX_COSTS].join(", "),
                    costs.len() - MAX_COSTS
                ),
            };
            notes.push(format!("hidden, with their self cost counted for the callers: {names}{left}"));
        }
        let marks = [&estimates.is_self, &estimates.is_inclusive, &estimates.is_count, &estimates.is_arc];
        let marks = &marks[..if self.options.bypasses_hidden { 4 } else { 3 }];
        if marks.iter().any(|marks| marks.contains(&true)) {
            notes.push("~ estimate: several callers share a cost in proportion to their calls".to_owned());
        }
        Ok(Some(Attribution {
            is_hidden,
            is_self_estimate: estimates.is_self,
            is_inclusive_estimate: estimates.is_inclusive,
            is_arc_estimate: estimates.is_arc,
            is_count_estimate: estimates.is_count,
            is_total_estimate: estimates.is_total,
            hide: hidden.clone(),
            focus: focused.clone(),
            drop: drop.clone(),
            notes,
        }))
    }

    /// Names the chosen functions with the highest self cost, and counts the others.
    fn named(&self, graph: &CallGraph, is_chosen: &[bool]) -> String {
        const MAX_NAMED: usize = 4;
        let mut chosen: Vec<NodeId> = graph.nodes().filter(|node| is_chosen[node.index()]).collect();
        chosen.sort_by_key(|&node| (Reverse(graph.self_cost(node)[0]), node));
        let name = |&node: &NodeId| {
            let name = self.subjects.get(self.profile, graph, SubjectId(node)).name();
            printable(shorten(name, NAME_COLUMNS).as_bytes()).into_owned()
        };
        let mut names: Vec<String> = chosen.iter().take(MAX_NAMED).map(name).collect();
        match chosen.len().saturating_sub(MAX_NAMED) {
            0 => {}
            more => names.push(format!("{} more", grouped(more))),
        }
        match names.pop() {
            None => "no function".to_owned(),
            Some(last) if names.is_empty() => last,
            Some(last) => format!("{} and {last}", names.join(", ")),
        }
    }

    pub(super) fn arcs_to_cut(&self, graph: &CallGraph) -> CutArcs {
        let ViewOptions { cuts, cut_below, .. } = self.options;
        if cuts.is_empty() && *cut_below == 0 {
            return CutArcs::default();
        }
        let mut is_cut = if *cut_below > 0 {
            graph.weak_arcs(*cut_below, 1000, |costs| costs[0].saturating_abs())
        } else {
            vec![false; graph.arcs().len()]
        };
        let matches = |pattern: &Regex, node: NodeId| self.matches(pattern, graph, node);
        for Cut { caller, callee } in cuts {
            for (is_cut, arc) in is_cut.iter_mut().zip(graph.arcs()) {
                *is_cut |= matches(caller, arc.caller) && matches(callee, arc.callee);
            }
        }
        graph.arcs().zip(is_cut).filter(|(_, is_cut)| *is_cut).map(|(arc, _)| arc).collect()
    }

    /// Inclusive costs by the rule of KCachegrind, which sums them part by part. Its cycles are those of all parts, selected
    /// or not.
    pub(super) fn kcachegrind(&self, graph: &CallGraph, cut: &CutArcs) -> Result<Inclusive, ViewError> {
        let ViewOptions { selection, .. } = self.options;
        // A row at a time is looked at with all event types.
        self.profile.refuse_wide_rows(self.profile.event_count()).map_err(ViewError::TooManyCosts)?;
        // It has as many tables again.
        let bytes = self.profile.view_bytes(self.columns.table_width()).saturating_mul(2);
        MemoryBudget::new([self.profile]).check_bytes(bytes).map_err(ViewError::TooManyCosts)?;
        let cycles = if selection.is_all() {
            self.cycles(graph)
        } else {
            let all = self.graph(&Selection::default())?;
            // An arc that is cut in the selection holds no cycle together, even if it is expensive elsewhere.
            let cut_of_all = self.arcs_to_cut(&all);
            self.cycles(&without(without(all, cut), &cut_of_all))
        };
        let folded = FoldedProfile::new(self.profile, self.subjects.partition(), cut);
        folded.kcachegrind(selection, graph, cycles, |recorded| {
            self.columns.shown(recorded).ok_or(ViewError::Overflow)
        })
    }
}
