//! Measuring: joins functions, sums each run over them, and puts the runs side by side.

use std::collections::{HashMap, HashSet};

use gristmill_format::ProducerKind;

use super::in_place::{InPlace, Place};
use super::join::Identity;
use super::one_binary::{has_other_arguments, has_same_objects, programs};
use super::raw::Run;
use super::sample::ChangeTable;
use super::{
    CompareError, CompareOptions, ComparedArc, ComparedEvent, Comparison, JoinRule, JoinedId, Side, renames,
};
use crate::analysis::{ArcId, CallArc, CallGraph, Cycles, Inclusive, NodeId, Partition};
use crate::budget::MemoryBudget;
use crate::cost::CostTable;
use crate::formula::{Derivation, Derived, derive};
use crate::interner::Interner;
use crate::profile::Profile;
use crate::selection::Selection;

/// Self and inclusive costs of a run, and their copy side by side with those of the other runs.
const TABLES_OF_RUN: usize = 3;

/// The rules that join functions of other code: in a program that ran twice, each function has one name and one place.
const JOINING_OTHER_CODE: [JoinRule; 4] =
    [JoinRule::GenericArguments, JoinRule::ClosureNumber, JoinRule::OtherFile, JoinRule::Rename];

impl<'p> Comparison<'p> {
    /// Compares the runs of two sides.
    ///
    /// # Errors
    ///
    /// If a side has no run, if no part of a run is selected, or if no event type is on both sides.
    pub fn new(
        base: &[&'p Profile],
        new: &[&'p Profile],
        options: &CompareOptions,
    ) -> Result<Self, CompareError> {
        if base.is_empty() || new.is_empty() {
            return Err(CompareError::NothingToCompare);
        }
        let run = |side: Side| move |&profile| Run { profile, side };
        let runs: Vec<Run<'p>> =
            base.iter().map(run(Side::Base)).chain(new.iter().map(run(Side::New))).collect();
        let selection = &options.selection;
        if !selection.is_all() && runs.iter().any(|run| run.profile.selected(selection).next().is_none()) {
            return Err(CompareError::NothingSelected);
        }
        let budget = MemoryBudget::new(runs.iter().map(|run| run.profile));
        let check = |columns: usize| {
            let bytes = runs.iter().map(|run| run.profile.view_bytes(columns)).fold(0, usize::saturating_add);
            budget.check_bytes(bytes).map_err(CompareError::TooManyCosts)
        };
        check(0)?;
        let mut events = events_of(&runs);
        if !events.iter().any(ComparedEvent::is_common) {
            let names = |has: fn(&&ComparedEvent) -> bool| {
                let name = |event: &ComparedEvent| String::from_utf8_lossy(&event.name).into_owned();
                events.iter().filter(has).map(name).collect()
            };
            return Err(CompareError::NoCommonEvent(
                names(|event| event.in_base),
                names(|event| event.in_new),
            ));
        }
        let names: Vec<&[u8]> = events.iter().map(|event| &event.name[..]).collect();
        let Derivation { mut derived, faults } = derive(&names, &options.definitions);
        // As in other reports, a conventional event type that is another one by itself is left out.
        let is_copy = |derived: &Derived| matches!(derived.factors[..], [(_, 1)]);
        derived.retain(|derived| !derived.definition.by.is_convention() || !is_copy(derived));
        runs.iter().try_for_each(|run| run.profile.refuse_long_names()).map_err(CompareError::LongNames)?;
        runs.iter()
            .try_for_each(|run| run.profile.refuse_wide_rows(run.profile.event_count()))
            .map_err(CompareError::TooManyCosts)?;
        check(events.len() + derived.len())?;

        let mut joining = options.joining.clone();
        let mut identity = Identity::new(&runs, &joining);
        let has_other_arguments = has_other_arguments(&runs, selection);
        let is_one_binary = has_other_arguments && has_same_objects(&runs);
        if has_other_arguments
            && match InPlace::new(&runs, &identity, selection).is_code_unmoved(&JOINING_OTHER_CODE) {
                Some(is_unmoved) => is_unmoved,
                None => is_one_binary,
            }
        {
            JOINING_OTHER_CODE.into_iter().for_each(|rule| joining.rules = joining.rules.without(rule));
            identity = Identity::new(&runs, &joining);
        }
        join_overloads(&mut identity, &runs, selection);
        // Each run has a row for each function of all runs, also for those that only others have.
        let cells = [runs.len(), identity.functions.len(), events.len() + derived.len() + 1, TABLES_OF_RUN];
        let cells = cells.into_iter().fold(1, usize::saturating_mul);
        budget.check_cells(cells).map_err(CompareError::TooManyCosts)?;
        let mut graphs = Vec::new();
        for (run, Run { profile, .. }) in runs.iter().enumerate() {
            let graph = joined_graph(profile, selection, &events, &identity, run);
            graphs.push(graph.with_derived(&derived).map_err(|_| CompareError::Overflow)?);
        }
        for derived in &derived {
            let on_both = derived.factors.iter().map(|&(event, _)| &events[event]);
            let (in_base, in_new) =
                on_both.fold((true, true), |(base, new), event| (base && event.in_base, new && event.in_new));
            events.push(ComparedEvent {
                name: derived.definition.name.clone(),
                repetition: 0,
                in_base,
                in_new,
                long_name: derived.definition.long_name.clone(),
                definition: Some(derived.definition.clone()),
            });
        }

        let mut renames = Vec::new();
        if joining.rules.has(JoinRule::Rename) {
            let leading = ComparedEvent::leading(&events);
            let mut in_place = InPlace::new(&runs, &identity, selection);
            let found = renames::renames(&identity.functions, &graphs, &runs, leading, &mut in_place);
            if !found.is_empty() {
                let pairs: Vec<(JoinedId, JoinedId)> =
                    found.iter().map(|rename| (rename.base, rename.new)).collect();
                let new_ids = identity.join(&pairs, JoinRule::Rename);
                let count = identity.functions.len();
                let partition = Partition::new(count, new_ids.iter().map(|id| id.index()));
                graphs = graphs.iter().map(|graph| graph.folded(&partition)).collect();
                renames =
                    found.into_iter().map(|rename| (new_ids[rename.base.index()], rename.why)).collect();
                renames.sort_by_key(|(function, _)| *function);
            }
        }
        let mut comparison = Comparison {
            measured: Measured::new(&runs, graphs),
            is_sampled: runs.iter().any(|run| run.profile.producers().any(ProducerKind::is_sampled)),
            programs: programs(&runs, selection),
            runs,
            selection: selection.clone(),
            joining,
            is_one_binary,
            identity,
            events,
            derived,
            faults,
            renames,
            nameless_objects: Vec::new(),
            source_places: super::SourcePlaces::default(),
            of_other_callers: Vec::new(),
            of_one_file: Vec::new(),
            other_closures: Vec::new(),
            unclear_closures: Vec::new(),
        };
        // They were found in the first runs, and are shown beside medians of all.
        let mut renames = std::mem::take(&mut comparison.renames);
        for (function, why) in &mut renames {
            let cost = comparison.self_cost(*function, comparison.leading_event());
            why.self_costs = (cost.base.median, cost.new.median);
        }
        comparison.renames = renames;
        comparison.nameless_objects = comparison.find_nameless_objects();
        comparison.find_doubts();
        Ok(comparison)
    }

    /// Makes the call graph of a run again. It is as large as the tables of the comparison, and few reports need it.
    pub(super) fn graph(&self, run: usize) -> CallGraph {
        let recorded = &self.events[..self.events.len() - self.derived.len()];
        let graph = joined_graph(self.runs[run].profile, &self.selection, recorded, &self.identity, run);
        #[expect(clippy::expect_used, reason = "derived costs out of range were refused")]
        graph.with_derived(&self.derived).expect("in range")
    }
}

/// Joins functions of one name whose parameters differ, unless lines tell that they are two overloads.
fn join_overloads(identity: &mut Identity<'_>, runs: &[Run<'_>], selection: &Selection) {
    let mut pairs = std::mem::take(&mut identity.overloads);
    if !pairs.is_empty() {
        let mut in_place = InPlace::new(runs, identity, selection);
        pairs.retain(|&(base, new)| in_place.compare(base, new) != Place::Other);
        identity.join(&pairs, JoinRule::GenericArguments);
    }
}

/// The costs and counts of functions and arcs on both sides.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) self_costs: ChangeTable,
    pub(super) inclusive: ChangeTable,
    pub(super) calls: ChangeTable,
    /// One row.
    pub(super) totals: ChangeTable,
    /// The arcs of all runs, without costs.
    pub(super) links: CallGraph,
    /// The counts of calls, in the order of the arcs of `links`.
    counts: ChangeTable,
    pub(super) arc_costs: ChangeTable,
}

impl Measured {
    /// Collects them from the graphs of all runs, which have the same functions and columns.
    fn new(runs: &[Run<'_>], graphs: Vec<CallGraph>) -> Self {
        let links = CallGraph::from_links(graphs[0].node_count(), &arc_pairs(&graphs));
        let mut tables: [Vec<CostTable>; 6] = Default::default();
        for graph in graphs {
            tables.iter_mut().zip(tables_of(graph, &links)).for_each(|(tables, table)| tables.push(table));
        }
        let [self_costs, inclusive, calls, totals, counts, arc_costs] =
            tables.map(|tables| ChangeTable::new(runs, tables));
        Measured { self_costs, inclusive, calls, totals, links, counts, arc_costs }
    }

    /// Returns an arc.
    pub(super) fn arc(&self, index: usize) -> ComparedArc {
        let CallArc { caller, callee, .. } = self.links.arc(ArcId::new(index));
        ComparedArc {
            caller: JoinedId::from_node(caller),
            callee: JoinedId::from_node(callee),
            count: self.counts.get(index, 0),
        }
    }
}

/// Returns self costs, inclusive costs and calls of functions, the totals, and the counts and costs of the arcs of `links`,
/// which has all arcs of the graph.
fn tables_of(graph: CallGraph, links: &CallGraph) -> [CostTable; 6] {
    let width = graph.width();
    let mut totals = CostTable::new(width, 1);
    totals.add(0, &graph.total());
    let (inclusive, calls) = Inclusive::new(&graph, Cycles::new(&graph)).into_costs();
    let mut missing = None;
    if graph.arcs().len() != links.arcs().len() {
        let count = links.arcs().len();
        let (mut counts, mut costs) = (CostTable::new(1, count), CostTable::new(width, count));
        for (index, CallArc { caller, callee, .. }) in links.arcs().enumerate() {
            if let Some(arc) = graph.arc_between(caller, callee) {
                counts.add(index, &[graph.arc(arc).count]);
                costs.add(index, graph.arc_cost(arc));
            }
        }
        missing = Some((counts, costs));
    }
    let (self_costs, counts, arc_costs) = graph.into_costs();
    let (counts, arc_costs) = missing.unwrap_or((CostTable::from_column(counts), arc_costs));
    [self_costs, inclusive, CostTable::from_column(calls), totals, counts, arc_costs]
}

/// Collects the event types of all runs, each once; those of the first run come first.
fn events_of(runs: &[Run<'_>]) -> Vec<ComparedEvent> {
    let mut events: Vec<ComparedEvent> = Vec::new();
    let mut interner = Interner::default();
    let long_names = long_names(runs);
    for &Run { profile, side } in runs {
        for event in profile.events().map(|event| profile.event(event)) {
            let (index, is_first) = interner.intern((event.name, event.repetition));
            if is_first {
                events.push(ComparedEvent {
                    name: event.name.to_vec(),
                    repetition: event.repetition,
                    in_base: false,
                    in_new: false,
                    long_name: long_names.get(event.name).map(|&name| name.to_vec()),
                    definition: None,
                });
            }
            match side {
                Side::Base => events[index].in_base = true,
                Side::New => events[index].in_new = true,
            }
        }
    }
    events
}

/// Returns the long names of recorded event types, by name.
fn long_names<'p>(runs: &[Run<'p>]) -> HashMap<&'p [u8], &'p [u8]> {
    let mut long_names = HashMap::new();
    for run in [Side::New, Side::Base].iter().flat_map(|side| runs.iter().filter(|run| run.side == *side)) {
        let mut seen = HashSet::new();
        for event in run.profile.event_definitions().filter(|event| event.formula.is_none()) {
            if seen.insert(event.name)
                && let Some(long_name) = event.long_name
            {
                long_names.entry(event.name).or_insert(long_name);
            }
        }
    }
    long_names
}

/// Returns the column of each event type of a profile.
pub(super) fn columns_of(profile: &Profile, events: &[ComparedEvent]) -> Vec<usize> {
    let known: HashMap<(&[u8], usize), usize> = events
        .iter()
        .enumerate()
        .map(|(column, event)| ((&event.name[..], event.repetition), column))
        .collect();
    let column = |event| {
        let event = profile.event(event);
        known[&(event.name, event.repetition)]
    };
    profile.events().map(column).collect()
}

/// Makes the call graph of a run over joined functions and the columns of the comparison.
fn joined_graph(
    profile: &Profile,
    selection: &Selection,
    events: &[ComparedEvent],
    identity: &Identity<'_>,
    run: usize,
) -> CallGraph {
    let mut graph = profile.call_graph(selection);
    let columns = columns_of(profile, events);
    if !columns.iter().copied().eq(0..events.len()) {
        graph = graph.with_costs(events.len(), |row, out| {
            columns.iter().zip(row).for_each(|(&column, cost)| out[column] += cost);
        });
        for (column, event) in events.iter().enumerate() {
            graph.note_event(column, &event.name);
        }
    }
    let groups = profile.functions().map(|function| identity.joined(run, function).index());
    graph.folded(&Partition::new(identity.functions.len(), groups))
}

/// Returns the pairs of caller and callee of all runs, each once, sorted.
fn arc_pairs(graphs: &[CallGraph]) -> Vec<(NodeId, NodeId)> {
    let pair = |arc: CallArc| (arc.caller, arc.callee);
    let mut pairs: Vec<(NodeId, NodeId)> = graphs.iter().flat_map(|graph| graph.arcs().map(pair)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
