//! Measuring: joins functions, sums each run over them, and puts the runs side by side.

use std::collections::{HashMap, HashSet};

use gristmill_format::ProducerKind;

use super::columns::{Columns, Slot};
use super::in_place::{InPlace, Place};
use super::join::Identity;
use super::one_binary::{has_other_arguments, has_same_objects, programs};
use super::raw::Run;
use super::sample::ChangeTable;
use super::{
    Change, CompareError, CompareOptions, ComparedArc, ComparedEvent, Comparison, JoinRule, JoinedId, Side,
    renames,
};
use crate::analysis::{ArcId, CallArc, CallGraph, Cycles, Inclusive, NodeId, Partition};
use crate::budget::MemoryBudget;
use crate::cost::CostTable;
use crate::formula::{CostOverflow, Derivation, Derived, derive};
use crate::id::EventId;
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
        let check = |events: usize, recorded: usize, compared: usize| {
            let bytes = runs.iter().map(|run| run.profile.comparison_bytes(events, recorded, compared));
            budget.check_bytes(bytes.fold(0, usize::saturating_add)).map_err(CompareError::TooManyCosts)
        };
        check(0, 0, 0)?;
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
        let recorded = events.len();
        check(recorded + derived.len(), recorded, 0)?;
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
        let columns = Columns::new(&options.events, &events, &derived, &faults)?;
        check(events.len(), recorded, columns.width())?;

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
        let width = columns.width() + 1;
        let cells = width.saturating_mul(TABLES_OF_RUN).saturating_add(columns.others().len());
        let rows = runs.len().saturating_mul(identity.functions.len());
        let cells = cells.saturating_mul(rows);
        budget.check_cells(cells).map_err(CompareError::TooManyCosts)?;
        let mut graphs = Vec::new();
        for (run, Run { profile, .. }) in runs.iter().enumerate() {
            let graph = joined_graph(profile, selection, &events, &columns, &identity, run);
            graphs.push(graph.map_err(|_| CompareError::Overflow)?);
        }

        let mut renames = Vec::new();
        if joining.rules.has(JoinRule::Rename) {
            let leading = columns.compared_slot(ComparedEvent::leading(&events));
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
            measured: Measured::new(
                &runs,
                graphs,
                other_self_costs(&runs, selection, &events, &columns, &identity),
            ),
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
            columns,
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
        let Run { profile, .. } = self.runs[run];
        let graph = joined_graph(profile, &self.selection, &self.events, &self.columns, &self.identity, run);
        #[expect(clippy::expect_used, reason = "derived costs out of range were refused")]
        graph.expect("in range")
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
    self_costs: ChangeTable,
    /// Self costs of the recorded event types that are not compared.
    other_self_costs: ChangeTable,
    pub(super) inclusive: ChangeTable,
    pub(super) calls: ChangeTable,
    /// One row.
    totals: ChangeTable,
    /// One row, of the recorded event types that are not compared.
    other_totals: ChangeTable,
    /// The arcs of all runs, without costs.
    pub(super) links: CallGraph,
    /// The counts of calls, in the order of the arcs of `links`.
    counts: ChangeTable,
    pub(super) arc_costs: ChangeTable,
}

impl Measured {
    /// Collects them from the graphs of all runs, which have the same functions and columns.
    fn new(runs: &[Run<'_>], graphs: Vec<CallGraph>, other_self_costs: Vec<CostTable>) -> Self {
        let links = CallGraph::from_links(graphs[0].node_count(), &arc_pairs(&graphs));
        let mut tables: [Vec<CostTable>; 6] = Default::default();
        for graph in graphs {
            tables.iter_mut().zip(tables_of(graph, &links)).for_each(|(tables, table)| tables.push(table));
        }
        let [self_costs, inclusive, calls, totals, counts, arc_costs] =
            tables.map(|tables| ChangeTable::new(runs, tables));
        let other_totals = other_self_costs.iter().map(|costs| CostTable::from_row(costs.total())).collect();
        let other_totals = ChangeTable::new(runs, other_totals);
        let other_self_costs = ChangeTable::new(runs, other_self_costs);
        Measured {
            self_costs,
            other_self_costs,
            inclusive,
            calls,
            totals,
            other_totals,
            links,
            counts,
            arc_costs,
        }
    }

    /// Returns the self cost of a function.
    pub(super) fn self_cost(&self, function: usize, slot: Slot) -> Change {
        of_slot(slot, function, &self.self_costs, &self.other_self_costs)
    }

    /// Returns the total of an event type.
    pub(super) fn total(&self, slot: Slot) -> Change {
        of_slot(slot, 0, &self.totals, &self.other_totals)
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
    let totals = CostTable::from_row(graph.total());
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

/// Returns the change in the table of a slot.
fn of_slot(slot: Slot, row: usize, compared: &ChangeTable, others: &ChangeTable) -> Change {
    match slot {
        Slot::Compared(column) => compared.get(row, column),
        Slot::Other(column) => others.get(row, column),
    }
}

/// Returns the event types of a profile that are among these columns, each with its index there.
fn events_among(profile: &Profile, events: &[ComparedEvent], wanted: &[usize]) -> (Vec<EventId>, Vec<usize>) {
    let places: HashMap<usize, usize> = wanted.iter().copied().zip(0..).collect();
    let columns = columns_of(profile, events);
    profile.events().zip(columns).filter_map(|(event, column)| Some((event, *places.get(&column)?))).unzip()
}

/// Makes the call graph of a run over joined functions and the columns that are compared.
fn joined_graph(
    profile: &Profile,
    selection: &Selection,
    events: &[ComparedEvent],
    columns: &Columns,
    identity: &Identity<'_>,
    run: usize,
) -> Result<CallGraph, CostOverflow> {
    let wanted = columns.compared_recorded();
    let (of_profile, places) = events_among(profile, events, wanted);
    let mut graph = profile.call_graph_of(selection, &of_profile);
    if !places.iter().copied().eq(0..wanted.len()) {
        graph = graph.with_costs(wanted.len(), |row, out| {
            places.iter().zip(row).for_each(|(&column, cost)| out[column] += cost);
        });
        for (column, &event) in wanted.iter().enumerate() {
            graph.note_event(column, &events[event].name);
        }
    }
    let groups = profile.functions().map(|function| identity.joined(run, function).index());
    graph.folded(&Partition::new(identity.functions.len(), groups)).with_derived(columns.derived())
}

/// Returns the self costs of each run over joined functions, for the recorded event types that are not compared.
fn other_self_costs(
    runs: &[Run<'_>],
    selection: &Selection,
    events: &[ComparedEvent],
    columns: &Columns,
    identity: &Identity<'_>,
) -> Vec<CostTable> {
    let of_run = |(run, Run { profile, .. }): (usize, &Run<'_>)| {
        let (of_profile, places) = events_among(profile, events, columns.others());
        let mut joined = CostTable::new(columns.others().len(), identity.functions.len());
        if of_profile.is_empty() {
            return joined;
        }
        let own = profile.self_costs_of(selection, &of_profile);
        for (function, row) in profile.functions().zip(own.rows()) {
            let sums = joined.row_mut(identity.joined(run, function).index());
            places.iter().zip(row).for_each(|(&column, cost)| sums[column] += cost);
        }
        joined
    };
    runs.iter().enumerate().map(of_run).collect()
}

/// Returns the pairs of caller and callee of all runs, each once, sorted.
fn arc_pairs(graphs: &[CallGraph]) -> Vec<(NodeId, NodeId)> {
    let pair = |arc: CallArc| (arc.caller, arc.callee);
    let mut pairs: Vec<(NodeId, NodeId)> = graphs.iter().flat_map(|graph| graph.arcs().map(pair)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
