//! From profiles to what is known of both sides: joins functions, sums up each run, and puts the runs beside each other.

use std::collections::HashMap;

use gristmill_format::ProducerKind;

use super::environment::producers;
use super::normalising::Identity;
use super::sample::{ChangeTable, SampleTable};
use super::{CompareError, CompareOptions, ComparedArc, ComparedEvent, Comparison, Rule, renames};
use crate::analysis::{Arc, CallGraph, Cycles, Inclusive};
use crate::cost::{CostTable, MOST_CELLS};
use crate::formula::derive;
use crate::id::FunctionId;
use crate::profile::Profile;
use crate::selection::Selection;

impl<'p> Comparison<'p> {
    /// Compares the runs of two sides.
    ///
    /// # Errors
    ///
    /// When a side has no run, when nothing of one is selected, or when they have no event type in common.
    pub fn new(
        base: &[&'p Profile],
        new: &[&'p Profile],
        options: &CompareOptions,
    ) -> Result<Self, CompareError> {
        if base.is_empty() || new.is_empty() {
            return Err(CompareError::NothingToCompare);
        }
        let sides =
            base.iter().map(|profile| (*profile, false)).chain(new.iter().map(|profile| (*profile, true)));
        let runs: Vec<(&'p Profile, bool)> = sides.collect();
        let selection = &options.selection;
        if !selection.is_all() && runs.iter().any(|(profile, _)| profile.selected(selection).next().is_none())
        {
            return Err(CompareError::NothingSelected);
        }
        let mut events = events_of(&runs);
        if !events.iter().any(ComparedEvent::is_common) {
            let names = |is_new: bool| {
                let has = |event: &&ComparedEvent| if is_new { event.in_new } else { event.in_base };
                let name = |event: &ComparedEvent| String::from_utf8_lossy(&event.name).into_owned();
                events.iter().filter(has).map(name).collect()
            };
            return Err(CompareError::NoCommonEvent(names(false), names(true)));
        }
        let names: Vec<&[u8]> = events.iter().map(|event| &event.name[..]).collect();
        let derivation = derive(&names, &options.definitions);
        let functions: usize = runs.iter().map(|(profile, _)| profile.function_count()).sum();
        if functions.saturating_mul(events.len() + derivation.derived.len()) > MOST_CELLS {
            return Err(CompareError::TooManyColumns);
        }

        let mut identity = Identity::of(&runs, &options.normalising);
        let mut graphs = Vec::new();
        for (run, (profile, _)) in runs.iter().enumerate() {
            let columns = columns_of(profile, &events);
            let graph = joined_graph(profile, selection, (&columns, events.len()), &identity, run);
            graphs.push(graph.with_derived(&derivation.derived).map_err(|_| CompareError::Overflow)?);
        }
        let recorded = events.len();
        for derived in &derivation.derived {
            let on_both = derived.factors.iter().map(|&(event, _)| &events[event.min(recorded - 1)]);
            let (in_base, in_new) =
                on_both.fold((true, true), |(base, new), event| (base && event.in_base, new && event.in_new));
            events.push(ComparedEvent {
                name: derived.definition.name.clone(),
                repetition: 0,
                in_base,
                in_new,
                definition: Some(derived.definition.clone()),
            });
        }

        let mut renames = Vec::new();
        if options.normalising.rules.has(Rule::Rename) {
            let leading = events.iter().position(ComparedEvent::is_common).unwrap_or(0);
            let found = renames::renames(&identity.functions, &graphs, &runs, leading);
            if !found.is_empty() {
                let pairs: Vec<(u32, u32)> = found.iter().map(|rename| (rename.base, rename.new)).collect();
                let places = identity.join(&pairs, Rule::Rename);
                let number = |function: u32| FunctionId::new(places[function as usize] as usize);
                let count = identity.functions.len();
                graphs = graphs
                    .iter()
                    .map(|graph| {
                        graph.folded(count, |function| FunctionId::new(places[function.index()] as usize))
                    })
                    .collect();
                renames = found.into_iter().map(|rename| (number(rename.base), rename.why)).collect();
                renames.sort_by_key(|(function, _)| *function);
            }
        }
        Ok(Comparison {
            measured: Measured::of(&runs, &graphs),
            is_sampled: runs.iter().any(|(profile, _)| producers(profile).any(ProducerKind::is_sampled)),
            runs,
            selection: selection.clone(),
            identity,
            events,
            derived: derivation.derived,
            faults: derivation.faults,
            graphs,
            renames,
        })
    }
}

/// All numbers of functions and arcs, on both sides.
#[derive(Debug)]
pub(super) struct Measured {
    pub(super) self_costs: ChangeTable,
    pub(super) inclusive: ChangeTable,
    pub(super) calls: ChangeTable,
    /// One row.
    pub(super) totals: ChangeTable,
    /// Who calls whom in any run, without costs.
    pub(super) links: CallGraph,
    /// In the order of those of `links`.
    pub(super) arcs: Vec<ComparedArc>,
    pub(super) arc_costs: ChangeTable,
}

impl Measured {
    /// Of all runs, each with its graph; there is one at least, and all are over the same functions and columns.
    fn of(runs: &[(&Profile, bool)], graphs: &[CallGraph]) -> Self {
        let pairs = arc_pairs(graphs);
        let functions = graphs.first().map_or(0, CallGraph::functions);
        let links = pairs.iter().map(|&(caller, callee)| Arc { caller, callee, count: 0 });
        let links = CallGraph::new(CostTable::new(0, functions), links, CostTable::new(0, pairs.len()));
        let mut tables: [Vec<CostTable>; 6] = Default::default();
        for graph in graphs {
            tables.iter_mut().zip(tables_of(graph, &pairs)).for_each(|(tables, table)| tables.push(table));
        }
        let [self_costs, inclusive, calls, totals, counts, arc_costs] =
            tables.map(|tables| by_side(runs, tables));
        let arcs = pairs
            .into_iter()
            .enumerate()
            .map(|(place, (caller, callee))| ComparedArc { caller, callee, count: counts.get(place, 0) })
            .collect();
        Measured { self_costs, inclusive, calls, totals, links, arcs, arc_costs }
    }
}

/// Self costs, inclusive costs and calls of functions, the totals, and the counts and costs of these arcs.
fn tables_of(graph: &CallGraph, pairs: &[(FunctionId, FunctionId)]) -> [CostTable; 6] {
    let width = graph.width();
    let all = Inclusive::own(graph, Cycles::of(graph));
    let (mut inclusive, mut calls) = (CostTable::new(width, 0), CostTable::new(1, 0));
    for function in graph.function_ids() {
        inclusive.push(all.of(function));
        calls.push(&[all.called(function)]);
    }
    let mut totals = CostTable::new(width, 0);
    totals.push(&graph.total());
    let (mut counts, mut arc_costs) = (CostTable::new(1, 0), CostTable::new(width, 0));
    let zeros = vec![0; width];
    for &(caller, callee) in pairs {
        let arc = graph.arc_between(caller, callee);
        counts.push(&[arc.map_or(0, |arc| graph.arc(arc).count)]);
        arc_costs.push(arc.map_or(&zeros[..], |arc| graph.arc_cost(arc)));
    }
    [graph.self_costs().clone(), inclusive, calls, totals, counts, arc_costs]
}

/// Tables of all runs, those of the base first, as changes.
pub(super) fn by_side(runs: &[(&Profile, bool)], tables: Vec<CostTable>) -> ChangeTable {
    let (mut base, mut new) = (Vec::new(), Vec::new());
    for (table, (_, is_new)) in tables.into_iter().zip(runs) {
        if *is_new { new.push(table) } else { base.push(table) }
    }
    ChangeTable { base: SampleTable::of(base), new: SampleTable::of(new) }
}

/// The event types of all runs, each once; those of the first run come first.
fn events_of(runs: &[(&Profile, bool)]) -> Vec<ComparedEvent> {
    let mut events: Vec<ComparedEvent> = Vec::new();
    let mut known: HashMap<(&[u8], usize), usize> = HashMap::new();
    for &(profile, is_new) in runs {
        for event in profile.events().map(|event| profile.event(event)) {
            let next = events.len();
            let place = *known.entry((event.name, event.repetition)).or_insert(next);
            if place == next {
                events.push(ComparedEvent {
                    name: event.name.to_vec(),
                    repetition: event.repetition,
                    in_base: false,
                    in_new: false,
                    definition: None,
                });
            }
            let event = &mut events[place];
            if is_new { event.in_new = true } else { event.in_base = true }
        }
    }
    events
}

/// The column of each event type of a profile.
pub(super) fn columns_of(profile: &Profile, events: &[ComparedEvent]) -> Vec<usize> {
    let known: HashMap<(&[u8], usize), usize> = events
        .iter()
        .enumerate()
        .map(|(column, event)| ((&event.name[..], event.repetition), column))
        .collect();
    let column = |event| {
        let event = profile.event(event);
        known.get(&(event.name, event.repetition)).copied().unwrap_or(0)
    };
    profile.events().map(column).collect()
}

/// The call graph of a run over joined functions and the columns of the comparison.
fn joined_graph(
    profile: &Profile,
    selection: &Selection,
    (columns, width): (&[usize], usize),
    identity: &Identity<'_>,
    run: usize,
) -> CallGraph {
    let graph = profile.call_graph(selection);
    let graph = graph.with_costs(width, |row, out| {
        columns.iter().zip(row).for_each(|(&column, cost)| out[column] += cost);
    });
    let function_of = &identity.function_of[run];
    graph.folded(identity.functions.len(), |function| FunctionId::new(function_of[function.index()] as usize))
}

/// Callers and callees of all runs, each pair once, sorted.
fn arc_pairs(graphs: &[CallGraph]) -> Vec<(FunctionId, FunctionId)> {
    let pair = |arc: Arc| (arc.caller, arc.callee);
    let mut pairs: Vec<(FunctionId, FunctionId)> =
        graphs.iter().flat_map(|graph| graph.arcs().map(pair)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}
