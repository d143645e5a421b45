//! From profiles to what is known of both sides: joins functions, sums up each run, and puts the runs beside each other.

use std::collections::HashMap;

use gristmill_format::Cost;

use super::normalising::Identity;
use super::sample::{ChangeTable, SampleTable};
use super::{
    CompareError, CompareOptions, ComparedArc, ComparedEvent, Comparison, Resemblance, Rule, renames,
};
use crate::analysis::{Arc, CallGraph, Cycles, Inclusive};
use crate::cost::CostTable;
use crate::formula::{DerivationFault, Derived, derive};
use crate::id::FunctionId;
use crate::profile::Profile;
use crate::selection::Selection;

/// See the view of reports, which has the same limit for the same reason.
const MOST_CELLS: usize = 1 << 27;

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
        Ok(Comparison::measured(
            runs,
            selection.clone(),
            identity,
            events,
            derivation.derived,
            derivation.faults,
            graphs,
            renames,
        ))
    }

    #[expect(clippy::too_many_arguments, reason = "they become the fields")]
    fn measured(
        runs: Vec<(&'p Profile, bool)>,
        selection: Selection,
        identity: Identity<'p>,
        events: Vec<ComparedEvent>,
        derived: Vec<Derived>,
        faults: Vec<DerivationFault>,
        graphs: Vec<CallGraph>,
        renames: Vec<(FunctionId, Resemblance)>,
    ) -> Self {
        let inclusive: Vec<Inclusive> =
            graphs.iter().map(|graph| Inclusive::own(graph, Cycles::of(graph))).collect();
        let by_side = |tables: Vec<CostTable>| by_side(&runs, tables);
        let self_costs = by_side(graphs.iter().map(|graph| graph.self_costs().clone()).collect());
        let table = |rows: &mut dyn Iterator<Item = Vec<Cost>>, width: usize| {
            let mut table = CostTable::new(width, 0);
            rows.for_each(|row| table.push(&row));
            table
        };
        let width = events.len();
        let inclusive_costs = by_side(
            inclusive
                .iter()
                .zip(&graphs)
                .map(|(inclusive, graph)| {
                    table(&mut graph.function_ids().map(|id| inclusive.of(id).to_vec()), width)
                })
                .collect(),
        );
        let calls = by_side(
            inclusive
                .iter()
                .zip(&graphs)
                .map(|(inclusive, graph)| {
                    table(&mut graph.function_ids().map(|id| vec![inclusive.called(id)]), 1)
                })
                .collect(),
        );
        drop(inclusive);
        let totals =
            by_side(graphs.iter().map(|graph| table(&mut std::iter::once(graph.total()), width)).collect());

        let pairs = arc_pairs(&graphs);
        let count = |graph: &CallGraph, (caller, callee)| {
            graph.arc_between(caller, callee).map(|arc| (graph.arcs()[arc].count, arc))
        };
        let (mut count_tables, mut cost_tables) = (Vec::new(), Vec::new());
        for graph in &graphs {
            let (mut counts, mut costs) = (CostTable::new(1, 0), CostTable::new(width, 0));
            let zeros = vec![0; width];
            for &pair in &pairs {
                let found = count(graph, pair);
                counts.push(&[found.map_or(0, |(count, _)| count)]);
                costs.push(found.map_or(&zeros[..], |(_, arc)| graph.arc_cost(arc)));
            }
            count_tables.push(counts);
            cost_tables.push(costs);
        }
        let (counts, arc_costs) = (by_side(count_tables), by_side(cost_tables));
        let arcs: Vec<ComparedArc> = pairs
            .iter()
            .enumerate()
            .map(|(place, &(caller, callee))| ComparedArc { caller, callee, count: counts.get(place, 0) })
            .collect();
        let functions = identity.functions.len();
        let first_out = starts(functions, arcs.iter().map(|arc| arc.caller));
        let first_in = starts(functions, arcs.iter().map(|arc| arc.callee));
        let mut incoming: Vec<usize> = (0..arcs.len()).collect();
        incoming.sort_by_key(|&arc| (arcs[arc].callee, arc));
        Comparison {
            runs,
            selection,
            identity,
            events,
            derived,
            faults,
            graphs,
            self_costs,
            inclusive: inclusive_costs,
            calls,
            totals,
            arcs,
            arc_costs,
            first_out,
            incoming,
            first_in,
            renames,
        }
    }
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
    let pair = |arc: &Arc| (arc.caller, arc.callee);
    let mut pairs: Vec<(FunctionId, FunctionId)> =
        graphs.iter().flat_map(|graph| graph.arcs().iter().map(pair)).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// Where the items of each function begin when they stand one function after the other.
fn starts(functions: usize, of: impl Iterator<Item = FunctionId>) -> Vec<usize> {
    let mut starts = vec![0; functions + 1];
    of.for_each(|function| starts[function.index() + 1] += 1);
    (0..functions).for_each(|index| starts[index + 1] += starts[index]);
    starts
}
