//! Measuring: joins functions, sums each run over them, and puts the runs side by side.

use std::collections::HashMap;

use gristmill_format::ProducerKind;

use super::join::Identity;
use super::raw::Run;
use super::sample::ChangeTable;
use super::{
    CompareError, CompareOptions, ComparedArc, ComparedEvent, Comparison, JoinRule, JoinedId, Side, renames,
};
use crate::analysis::{CallArc, CallGraph, Cycles, Inclusive, NodeId, Partition};
use crate::cost::{CostTable, MAX_CELLS};
use crate::formula::derive;
use crate::interner::Interner;
use crate::profile::Profile;
use crate::selection::Selection;

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
        let derivation = derive(&names, &options.definitions);
        let functions: usize = runs.iter().map(|run| run.profile.function_count()).sum();
        if functions.saturating_mul(events.len() + derivation.derived.len()) > MAX_CELLS {
            return Err(CompareError::TooManyColumns);
        }

        let mut identity = Identity::new(&runs, &options.joining);
        let mut graphs = Vec::new();
        for (run, Run { profile, .. }) in runs.iter().enumerate() {
            let columns = columns_of(profile, &events);
            let graph = joined_graph(profile, selection, (&columns, events.len()), &identity, run);
            graphs.push(graph.with_derived(&derivation.derived).map_err(|_| CompareError::Overflow)?);
        }
        for derived in &derivation.derived {
            let on_both = derived.factors.iter().map(|&(event, _)| &events[event]);
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
        if options.joining.rules.has(JoinRule::Rename) {
            #[expect(clippy::expect_used, reason = "sides without a common event type were refused")]
            let leading = events.iter().position(ComparedEvent::is_common).expect("a common event type");
            let found = renames::renames(&identity.functions, &graphs, &runs, leading);
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
        Ok(Comparison {
            measured: Measured::new(&runs, &graphs),
            is_sampled: runs.iter().any(|run| run.profile.producers().any(ProducerKind::is_sampled)),
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
    /// In the order of the arcs of `links`.
    pub(super) arcs: Vec<ComparedArc>,
    pub(super) arc_costs: ChangeTable,
}

impl Measured {
    /// Collects them from the graphs of all runs, which have the same functions and columns.
    fn new(runs: &[Run<'_>], graphs: &[CallGraph]) -> Self {
        let pairs = arc_pairs(graphs);
        let mut links = CallGraph::builder(0);
        for _ in graphs[0].nodes() {
            links.add_node(&[]);
        }
        for &(caller, callee) in &pairs {
            links.add_arc(CallArc { caller, callee, count: 0 }, &[]);
        }
        let links = links.build();
        let mut tables: [Vec<CostTable>; 6] = Default::default();
        for graph in graphs {
            tables.iter_mut().zip(tables_of(graph, &pairs)).for_each(|(tables, table)| tables.push(table));
        }
        let [self_costs, inclusive, calls, totals, counts, arc_costs] =
            tables.map(|tables| ChangeTable::new(runs, tables));
        let arcs = pairs
            .into_iter()
            .enumerate()
            .map(|(arc, (caller, callee))| ComparedArc {
                caller: JoinedId::from_node(caller),
                callee: JoinedId::from_node(callee),
                count: counts.get(arc, 0),
            })
            .collect();
        Measured { self_costs, inclusive, calls, totals, links, arcs, arc_costs }
    }
}

/// Returns self costs, inclusive costs and calls of functions, the totals, and the counts and costs of these arcs.
fn tables_of(graph: &CallGraph, pairs: &[(NodeId, NodeId)]) -> [CostTable; 6] {
    let width = graph.width();
    let all = Inclusive::new(graph, Cycles::new(graph));
    let (mut inclusive, mut calls) = (CostTable::new(width, 0), CostTable::new(1, 0));
    for node in graph.nodes() {
        inclusive.push(all.cost(node));
        calls.push(&[all.call_count(node)]);
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

/// Collects the event types of all runs, each once; those of the first run come first.
fn events_of(runs: &[Run<'_>]) -> Vec<ComparedEvent> {
    let mut events: Vec<ComparedEvent> = Vec::new();
    let mut interner = Interner::default();
    for &Run { profile, side } in runs {
        for event in profile.events().map(|event| profile.event(event)) {
            let (index, is_first) = interner.intern((event.name, event.repetition));
            if is_first {
                events.push(ComparedEvent {
                    name: event.name.to_vec(),
                    repetition: event.repetition,
                    in_base: false,
                    in_new: false,
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
    (columns, width): (&[usize], usize),
    identity: &Identity<'_>,
    run: usize,
) -> CallGraph {
    let graph = profile.call_graph(selection);
    let graph = graph.with_costs(width, |row, out| {
        columns.iter().zip(row).for_each(|(&column, cost)| out[column] += cost);
    });
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
