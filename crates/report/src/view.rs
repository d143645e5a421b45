//! Views: a profile with its selection, event types, folding, cuts and inclusive rule.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

use gristmill_format::Cost;
use gristmill_profile::analysis::{
    ArcId, Attributed, CallArc, CallGraph, CutArcs, CycleId, Cycles, Estimator, FoldedProfile, Inclusive,
    InclusiveRule, NodeCosts, NodeId,
};
use gristmill_profile::formula::DerivationFault;
use gristmill_profile::{CostRow, FileId, FunctionId, MemoryBudget, ObjectId, Part, Profile, Selection};

use crate::amount::add_part;
use crate::call_count::CallCount;
use crate::columns::{Columns, EventColumn};
use crate::pattern::matches_name;

use self::draft::{Attribution, Draft, without};
pub use self::error::ViewError;
pub use self::options::{Cut, CutError, ViewOptions};
pub(crate) use self::subjects::LeftOut;
use self::subjects::Subjects;
pub use self::subjects::{Subject, SubjectId};
pub use gristmill_profile::event_choice::EventSelection;

mod draft;
pub(crate) mod error;
pub(crate) mod options;
mod subjects;
#[cfg(test)]
mod tests;

/// A view of a profile: its subjects with their costs, and the calls between them.
///
/// A view owns its profile and can be shared between threads. What it computes is kept: the graph and inclusive costs when it
/// is made, names and callers when they are first asked for.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{Cut, EventSelection, View, ViewError, ViewOptions};
///
/// let text = "events: Ir\nfn=main\n1 10\ncfn=read\ncalls=1 2\n1 5\nfn=read\n2 5\n";
/// let profile = std::sync::Arc::new(Profile::from_bytes(text.as_bytes().to_vec()));
///
/// let view = View::new(profile.clone(), &ViewOptions::default())?;
/// let costs: Vec<_> =
///     view.subjects().map(|(id, subject)| (subject.name().to_owned(), view.inclusive_cost(id)[0])).collect();
/// assert_eq!(costs, [("main".to_owned(), 15), ("read".to_owned(), 5)]);
///
/// let cuts = Cut::parse_all(&["main -> read"]).expect("two patterns");
/// let view = View::new(profile.clone(), &ViewOptions { cuts, ..ViewOptions::default() })?;
/// assert_eq!(view.cut_arc_count(), 1);
///
/// let events = EventSelection::Named(vec!["Time".to_owned()]);
/// let options = ViewOptions { events, ..ViewOptions::default() };
/// assert!(matches!(View::new(profile, &options), Err(ViewError::UnknownEvent { .. })));
/// # Ok::<(), ViewError>(())
/// ```
#[derive(Debug)]
pub struct View {
    profile: Arc<Profile>,
    selection: Selection,
    columns: Columns,
    subjects: Subjects,
    graph: CallGraph,
    /// The graph with more event types, if derived ones need more than are shown.
    full_graph: Option<CallGraph>,
    cut: CutArcs,
    inclusive: Inclusive,
    /// The cycles of the graph, if `inclusive` does not have them.
    cycles: OnceLock<Cycles>,
    has_cycles: bool,
    totals: Vec<Cost>,
    attribution: Option<Attribution>,
    /// Set if neither blocks nor names of the profile are stacks, which takes a look at all of them.
    has_no_stacks: OnceLock<()>,
    /// The graph as it is prepared for estimates of its call trees.
    estimator: OnceLock<Estimator>,
    known_cycles: KnownCycles,
}

/// Summaries of large cycles that a report made, by cycle and limit of rows. A view does not know the reports that are made of it.
pub(crate) type KnownCycles = Mutex<Vec<(CycleId, usize, Box<dyn Any + Send + Sync>)>>;

impl View {
    /// Makes a view of a profile.
    ///
    /// # Errors
    ///
    /// If nothing is selected, if an event type does not exist, or if costs are out of range.
    pub fn new(profile: impl Into<Arc<Profile>>, options: &ViewOptions) -> Result<Self, ViewError> {
        let profile: Arc<Profile> = profile.into();
        profile.refuse_many_events().map_err(ViewError::TooManyCosts)?;
        let columns = Columns::new(&profile, &options.derive, &options.events)?;
        check(&profile, &options.selection, columns.table_width())?;
        let subjects = Subjects::new(&profile, options);
        let draft = Draft { profile: &profile, options, subjects: &subjects, columns: &columns };
        let graph = draft.graph(&options.selection)?;
        let cut = draft.arcs_to_cut(&graph);
        let mut graph = without(graph, &cut);
        let shown: Vec<usize> = (0..columns.events().len()).collect();
        let dropped = draft.leave_out(&mut graph)?;
        let mut totals = graph.total();
        totals.truncate(shown.len());
        let attribution = draft.attribute(&mut graph, dropped)?;
        let full_graph = (graph.width() > shown.len()).then(|| graph.clone());
        if full_graph.is_some() {
            graph = graph.with_columns(&shown);
        }
        let whole = full_graph.as_ref().unwrap_or(&graph);
        let mut inclusive = match options.rule {
            InclusiveRule::Gristmill if !options.cycles => Inclusive::without_cycles(whole),
            InclusiveRule::Gristmill => Inclusive::with_cycles(whole, || draft.cycles(whole)),
            InclusiveRule::CallgrindAnnotate => Inclusive::callgrind_annotate(&graph),
            InclusiveRule::KCachegrind => draft.kcachegrind(&graph, &cut)?,
        };
        if full_graph.is_some() && options.rule == InclusiveRule::Gristmill {
            inclusive = inclusive.with_columns(&shown);
        }
        Ok(View {
            has_cycles: options.rule == InclusiveRule::Gristmill && options.cycles,
            totals,
            attribution,
            selection: options.selection.clone(),
            profile,
            columns,
            subjects,
            graph,
            full_graph,
            cut,
            inclusive,
            cycles: OnceLock::new(),
            has_no_stacks: OnceLock::new(),
            estimator: OnceLock::new(),
            known_cycles: KnownCycles::default(),
        })
    }

    /// Returns the profile.
    pub fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Returns the selection of parts.
    pub fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the event types that are shown: the columns of all costs. There is always one, and the first decides the
    /// order.
    pub fn events(&self) -> &[EventColumn] {
        self.columns.events()
    }

    /// Returns the names of event types that exist and are not shown.
    pub fn other_events(&self) -> &[String] {
        self.columns.others()
    }

    /// Makes a row of shown costs from a row with a cost for each event type of the profile.
    ///
    /// # Errors
    ///
    /// If a derived cost is out of range.
    pub(crate) fn shown_costs(&self, recorded: &[Cost]) -> Result<Vec<Cost>, ViewError> {
        self.columns.shown(recorded).ok_or(ViewError::Overflow)
    }

    /// Makes the costs of the columns from few of very many recorded ones.
    ///
    /// # Errors
    ///
    /// If a derived cost is out of range.
    pub(crate) fn shown_costs_of(&self, recorded: &CostRow) -> Result<Vec<Cost>, ViewError> {
        self.columns.shown_of(recorded).ok_or(ViewError::Overflow)
    }

    /// Makes the cost of the first column, 0 if it is derived and out of range.
    pub(crate) fn first_shown_cost(&self, recorded: &CostRow) -> Cost {
        self.columns.first_shown(recorded).unwrap_or(0)
    }

    /// Returns the call graph after folding and cutting. Its nodes are the subjects.
    pub fn graph(&self) -> &CallGraph {
        &self.graph
    }

    /// Returns the same graph with the event types that the derived ones need, after those that are shown. Costs that are not
    /// sums, such as limited or estimated ones, follow the formulas only if they are calculated from this graph.
    pub(crate) fn full_graph(&self) -> &CallGraph {
        self.full_graph.as_ref().unwrap_or(&self.graph)
    }

    /// Returns the inclusive costs, by the rule of the view.
    pub fn inclusive(&self) -> &Inclusive {
        &self.inclusive
    }

    /// Returns the cycles of the graph, whether or not the view takes them as one.
    pub fn cycles(&self) -> &Cycles {
        if self.has_cycles {
            return self.inclusive.cycles();
        }
        self.cycles.get_or_init(|| Cycles::new(&self.graph))
    }

    /// Returns the sum of all self costs, by column.
    pub fn totals(&self) -> &[Cost] {
        &self.totals
    }

    /// Iterates over the subjects.
    pub fn subjects(&self) -> impl DoubleEndedIterator<Item = (SubjectId, Subject<'_>)> + ExactSizeIterator {
        self.subject_ids().map(|id| (id, self.subject(id)))
    }

    /// Iterates over the ids of the subjects.
    pub fn subject_ids(&self) -> impl DoubleEndedIterator<Item = SubjectId> + ExactSizeIterator + use<> {
        self.graph.nodes().map(SubjectId)
    }

    /// Returns a subject.
    pub fn subject(&self, id: SubjectId) -> Subject<'_> {
        self.subjects.get(&self.profile, &self.graph, id)
    }

    /// Returns the source file and the object of a subject, which takes less time than its name.
    pub fn paths(&self, id: SubjectId) -> (FileId, ObjectId) {
        self.subjects.paths(&self.profile, &self.graph, id)
    }

    /// Returns the subject of a node of the graph.
    pub fn subject_at(&self, node: NodeId) -> SubjectId {
        SubjectId(node)
    }

    /// Returns the subject that a function of the profile was folded into.
    pub fn subject_of(&self, function: FunctionId) -> SubjectId {
        self.subjects.subject_of(function, &self.graph)
    }

    /// Returns the functions of the profile that a subject stands for.
    pub fn functions_of(&self, subject: SubjectId) -> Vec<FunctionId> {
        self.subjects.functions_of(subject, &self.profile, &self.graph)
    }

    /// Returns the self cost of a subject.
    pub fn self_cost(&self, subject: SubjectId) -> &[Cost] {
        self.graph.self_cost(subject.node())
    }

    /// Returns the inclusive cost of a subject, by the rule of the view.
    pub fn inclusive_cost(&self, subject: SubjectId) -> &[Cost] {
        self.inclusive.cost(subject.node())
    }

    /// `true` if the inclusive cost of a subject may be less than stated: some of it may be counted more than once, or its calls
    /// are recorded with more than the total. An estimate is no limit.
    pub fn is_upper_limit(&self, subject: SubjectId) -> bool {
        self.inclusive.is_upper_limit(subject.node()) && !self.is_inclusive_estimate(subject)
    }

    /// Returns the reason why the inclusive costs of some subjects are only [limits](Self::is_upper_limit).
    pub(crate) fn upper_limit_note(&self) -> &'static str {
        match self.has_cycles {
            true => "≤ at most the total: the costs of its calls add up to more",
            false => {
                "≤ at most: calls of a recursion count what they have in common more than once, or calls add up to more than the total"
            }
        }
    }

    /// Returns the count of recorded calls of a subject, its calls to itself included.
    pub fn call_count(&self, subject: SubjectId) -> Cost {
        self.inclusive.call_count(subject.node())
    }

    /// Returns the calls of a subject, its calls to itself included.
    pub fn calls(&self, subject: SubjectId) -> CallCount {
        let node = subject.node();
        let is_guessed =
            self.has_attribution() && self.graph.incoming(node).any(|arc| self.is_count_estimate(arc));
        CallCount::new(self.call_count(subject), self.graph.has_inlined_calls(node)).guessed(is_guessed)
    }

    /// Returns the calls of an arc.
    pub fn calls_of(&self, arc: ArcId) -> CallCount {
        let count = CallCount::new(self.graph.arc(arc).count, self.graph.is_inlined(arc));
        count.guessed(self.is_count_estimate(arc))
    }

    /// Returns the calls of a cycle from outside.
    pub(crate) fn cycle_calls(&self, cycle: CycleId) -> CallCount {
        let inclusive = &self.inclusive;
        // A cycle may have millions of entries.
        let entries = || inclusive.cycles().entries(&self.graph, cycle).into_iter();
        let has_inlined = self.profile.has_inlined_calls() && entries().any(|arc| self.graph.is_inlined(arc));
        let is_guessed = self.has_attribution() && entries().any(|arc| self.is_count_estimate(arc));
        CallCount::new(inclusive.cycle_call_count(cycle), has_inlined).guessed(is_guessed)
    }

    /// Returns the costs of a subject in one part, by column. `None` if the part has nothing of it.
    ///
    /// # Errors
    ///
    /// If a derived cost is out of range.
    pub fn costs_in_part(&self, subject: SubjectId, part: &Part<'_>) -> Result<Option<NodeCosts>, ViewError> {
        let folded = FoldedProfile::new(&self.profile, self.subjects.partition(), &self.cut);
        let Some(costs) = folded.node_in_part(part, subject.node(), &self.inclusive) else { return Ok(None) };
        Ok(Some(NodeCosts {
            self_costs: self.shown_costs(&costs.self_costs)?,
            inclusive: self.shown_costs(&costs.inclusive)?,
            call_count: costs.call_count,
        }))
    }

    /// Returns the costs of a part, selected or not, by column.
    ///
    /// # Errors
    ///
    /// If a derived cost is out of range.
    pub fn costs_of_part(&self, part: &Part<'_>) -> Result<Vec<Cost>, ViewError> {
        let mut recorded = CostRow::new(self.profile.event_count());
        add_part(&mut recorded, part);
        self.shown_costs_of(&recorded)
    }

    /// `true` if calls from one subject to another are cut.
    pub(crate) fn is_cut(&self, caller: SubjectId, callee: SubjectId) -> bool {
        self.cut.contains(&arc(caller, callee))
    }

    /// `true` if calls from one subject to another stay inside a cycle that the view takes as one, or are of a subject to
    /// itself.
    pub fn is_inner(&self, caller: SubjectId, callee: SubjectId) -> bool {
        self.inclusive.cycles().is_inner(&arc(caller, callee))
    }

    /// `true` if a function is not hidden, and has costs in the focus.
    pub fn is_shown(&self, subject: SubjectId) -> bool {
        self.attribution.as_ref().is_none_or(|of| {
            !of.is_hidden[subject.node().index()]
                && (self.inclusive_cost(subject).iter().chain(self.self_cost(subject)).any(|&cost| cost != 0))
        })
    }

    /// `true` if the self cost of a function is an estimate, because functions are hidden or focused on.
    pub fn is_self_estimate(&self, subject: SubjectId) -> bool {
        self.attribution.as_ref().is_some_and(|of| of.is_self_estimate[subject.node().index()])
    }

    /// `true` if the inclusive cost of a function is an estimate, because functions are focused on, or as levels of a recursion have costs
    /// below 0 in common.
    pub fn is_inclusive_estimate(&self, subject: SubjectId) -> bool {
        let node = subject.node();
        let is_attributed = self.attribution.as_ref().is_some_and(|of| {
            // The limit of some is the total.
            of.is_inclusive_estimate[node.index()]
                || of.is_total_estimate && self.inclusive.is_upper_limit(node)
        });
        is_attributed || self.inclusive.is_estimate(node)
    }

    /// `true` if the count of calls is an estimate for the same reason.
    fn is_count_estimate(&self, arc: ArcId) -> bool {
        self.attribution.as_ref().is_some_and(|of| of.is_count_estimate[arc.index()])
    }

    /// `true` if the cost of calls is an estimate for the same reason.
    pub fn is_call_estimate(&self, arc: ArcId) -> bool {
        self.attribution.as_ref().is_some_and(|of| of.is_arc_estimate[arc.index()])
    }

    /// `true` if functions of this name are hidden.
    pub fn hides(&self, name: &str) -> bool {
        let pattern = self.attribution.as_ref().and_then(|of| of.hide.as_ref());
        pattern.is_some_and(|pattern| matches_name(pattern, name))
    }

    /// `true` if functions of this name are focused on. Without any focus all are.
    pub(crate) fn focuses_on(&self, name: &str) -> bool {
        let pattern = self.attribution.as_ref().and_then(|of| of.focus.as_ref());
        pattern.is_none_or(|pattern| matches_name(pattern, name))
    }

    /// `true` if functions of this name are left out.
    pub(crate) fn drops(&self, name: &str) -> bool {
        let pattern = self.attribution.as_ref().and_then(|of| of.drop.as_ref());
        pattern.is_some_and(|pattern| matches_name(pattern, name))
    }

    /// The full graph with the marks of its estimates, if functions are hidden or focused on.
    pub(crate) fn attributed(&self) -> Option<Attributed> {
        let of = self.attribution.as_ref()?;
        Some(Attributed {
            graph: self.full_graph().clone(),
            is_self_estimate: of.is_self_estimate.clone(),
            is_inclusive_estimate: of.is_inclusive_estimate.clone(),
            is_arc_estimate: of.is_arc_estimate.clone(),
            is_count_estimate: of.is_count_estimate.clone(),
            without_caller: Vec::new(),
            own_part: Vec::new(),
            is_total_estimate: of.is_total_estimate,
        })
    }

    /// Returns the full graph as it is prepared for estimates of its call trees, which takes longer than a tree.
    pub(crate) fn estimator(&self) -> &Estimator {
        self.estimator.get_or_init(|| Estimator::new(self.full_graph(), self.cycles()))
    }

    /// Returns the first of the functions that a call tree begins with if it begins with this one: a tree that is an estimate takes
    /// a cycle as one. It is the function itself unless the profile is known to have no stacks of calls.
    pub fn tree_start(&self, from: SubjectId) -> SubjectId {
        if !self.takes_cycles_as_one() {
            return from;
        }
        let cycle = self.cycles().cycle_of(from.node());
        cycle.and_then(|cycle| self.cycles().members(cycle).first()).map_or(from, |&first| SubjectId(first))
    }

    /// `true` if call trees are known to be estimates, which take a cycle as one.
    pub fn takes_cycles_as_one(&self) -> bool {
        !self.may_have_stacks() || self.cut_arc_count() > 0
    }

    /// Returns the summaries of cycles that were made.
    pub(crate) fn known_cycles(&self) -> &KnownCycles {
        &self.known_cycles
    }

    /// `false` if the profile is known to have no stacks of calls.
    pub(crate) fn may_have_stacks(&self) -> bool {
        self.has_no_stacks.get().is_none()
    }

    /// Remembers that the profile has no stacks of calls.
    pub(crate) fn remember_no_stacks(&self) {
        self.has_no_stacks.get_or_init(|| ());
    }

    /// `true` if functions are hidden or focused on.
    pub(crate) fn has_attribution(&self) -> bool {
        self.attribution.is_some()
    }

    /// Sentences on functions that are hidden or focused on.
    pub(crate) fn attribution_notes(&self) -> &[String] {
        self.attribution.as_ref().map_or(&[], |of| &of.notes)
    }

    /// Returns the count of arcs that were cut.
    pub fn cut_arc_count(&self) -> usize {
        self.cut.len()
    }

    /// Returns the faults of derived event types.
    pub fn faults(&self) -> &[DerivationFault] {
        self.columns.faults()
    }
}

/// Refuses an empty selection, and tables and names that would take much more memory than the profile.
pub(crate) fn check(profile: &Profile, selection: &Selection, columns: usize) -> Result<(), ViewError> {
    if profile.selected(selection).next().is_none() && !selection.is_all() {
        return Err(ViewError::NothingSelected);
    }
    profile.refuse_long_names().map_err(ViewError::LongNames)?;
    profile.refuse_wide_rows(columns).map_err(ViewError::TooManyCosts)?;
    MemoryBudget::new([profile]).check_bytes(profile.view_bytes(columns)).map_err(ViewError::TooManyCosts)
}

/// An arc that stands for its ends.
fn arc(caller: SubjectId, callee: SubjectId) -> CallArc {
    CallArc { caller: caller.node(), callee: callee.node(), count: 0 }
}
