//! The call graph of the selected parts of a profile.

use std::ops::Range;

use gristmill_format::Cost;

use crate::analysis::CallGraph;
use crate::analysis::arcs::{ArcColumns, ArcColumnsMut};
use crate::cost::CostTable;
use crate::id::{EventId, PartId};
use crate::index::sum_table::SumRun;
use crate::part::Part;
use crate::profile::Profile;
use crate::selection::Selection;
use crate::threads::{cores, on_threads};
use crate::tuning::Tuning;

impl Profile {
    /// Returns the call graph of the selected parts, with a column for each event type, or one column of zeros if the profile
    /// has none. [The crate](crate) has an example.
    pub fn call_graph(&self, selection: &Selection) -> CallGraph {
        self.call_graph_of(selection, &self.events().collect::<Vec<_>>())
    }

    /// Returns the call graph of the selected parts with a column for each of these event types, or one column of zeros for
    /// none of them. Other event types take neither time nor memory.
    pub fn call_graph_of(&self, selection: &Selection, events: &[EventId]) -> CallGraph {
        let width = events.len().max(1);
        let wanted = places_of(events);
        let runs = self.arc_runs(selection);
        let counts: Vec<usize> = runs.iter().map(|run| run.count).collect();
        let arc_count = counts.iter().sum();

        let mut self_costs = CostTable::new(width, self.function_count());
        let mut arcs = ArcColumns::zeros(width, arc_count);
        let mut tasks = vec![GraphTask::SelfCosts(&mut self_costs)];
        tasks.extend(
            arcs.slices_mut(&counts).into_iter().zip(runs).map(|(arcs, run)| GraphTask::Arcs(arcs, run)),
        );
        let is_large = self.function_count() + arc_count >= self.tuning.items_per_thread;
        on_threads(if is_large { cores() } else { 1 }, tasks, |task| match task {
            GraphTask::SelfCosts(self_costs) => self.add_self_costs(selection, &wanted, self_costs),
            GraphTask::Arcs(mut arcs, run) => {
                let mut place = 0;
                self.with_columns(run.parts, selection, &wanted, |part, columns| {
                    let take = |ends: (u32, u32), count, costs: &[_]| {
                        columns.add(costs, arcs.set(place, ends, count));
                        place += 1;
                    };
                    match &run.sums {
                        Some(sums) => self.index.arcs.for_each_of(sums, columns.width, take),
                        None => self.index.arcs.for_each(self.index.arc_range(part), columns.width, take),
                    }
                });
            }
        });
        let mut graph = CallGraph::from_functions(self_costs, arcs);
        if self.has_inlined_calls() {
            for part in self.selected(selection) {
                graph.mark_inlined(self.index.inlined.of_part(part.id()).iter().copied());
            }
        }
        for (column, &event) in events.iter().enumerate() {
            graph.note_event(column, self.event(event).name);
        }
        graph
    }

    /// Returns the self cost of each function in the selected parts, with a column for each of these event types.
    pub(crate) fn self_costs_of(&self, selection: &Selection, events: &[EventId]) -> CostTable {
        let mut self_costs = CostTable::new(events.len(), self.function_count());
        self.add_self_costs(selection, &places_of(events), &mut self_costs);
        self_costs
    }

    fn add_self_costs(&self, selection: &Selection, wanted: &[(EventId, usize)], self_costs: &mut CostTable) {
        self.with_columns(0..self.part_count(), selection, wanted, |part, columns| {
            let range = self.index.self_cost_range(part);
            self.index.self_costs.for_each(range, columns.width, |(function, _), _, costs| {
                columns.add(costs, self_costs.row_mut(function as usize));
            });
        });
    }

    /// Divides the arcs of the selected parts into runs that are worth a task each.
    fn arc_runs(&self, selection: &Selection) -> Vec<ArcRun> {
        let Tuning { arcs_per_task, .. } = self.tuning;
        let mut runs: Vec<ArcRun> = Vec::new();
        for id in self.selected(selection).map(|part| part.id()) {
            let parts = id.index()..id.index() + 1;
            let range = self.index.arc_range(id);
            let whole = range.start.count_to(range.end);
            if whole >= arcs_per_task {
                let sums = self.index.arcs.runs(range);
                runs.extend(sums.map(|sums| ArcRun {
                    parts: parts.clone(),
                    sums: Some(sums),
                    count: sums.count(),
                }));
                continue;
            }
            match runs.last_mut() {
                Some(last) if last.sums.is_none() && last.count < arcs_per_task => {
                    last.parts.end = parts.end;
                    last.count += whole;
                }
                _ => runs.push(ArcRun { parts, sums: None, count: whole }),
            }
        }
        runs
    }

    /// Passes on the selected ones of these parts, each with its columns.
    fn with_columns(
        &self,
        parts: Range<usize>,
        selection: &Selection,
        wanted: &[(EventId, usize)],
        mut take: impl FnMut(PartId, &PartColumns),
    ) {
        let mut known: Option<(&[EventId], PartColumns)> = None;
        for part in parts.map(|index| Part::new(self, PartId::new(index))) {
            if !selection.includes(part.number(), part.thread(), part.pid()) {
                continue;
            }
            let events = part.event_types();
            // Nearly always the event types of the part before.
            let (_, columns) = match known.take().filter(|(known, _)| *known == events) {
                Some(same) => known.insert(same),
                None => known.insert((events, PartColumns::new(events, wanted))),
            };
            take(part.id(), columns);
        }
    }
}

/// Returns event types, sorted, each with its column.
fn places_of(events: &[EventId]) -> Vec<(EventId, usize)> {
    let mut places: Vec<(EventId, usize)> = events.iter().copied().zip(0..).collect();
    places.sort_unstable();
    places
}

/// A task of building a call graph.
enum GraphTask<'g> {
    SelfCosts(&'g mut CostTable),
    Arcs(ArcColumnsMut<'g>, ArcRun),
}

/// Consecutive arcs: of whole parts, or a run of those of one part.
struct ArcRun {
    parts: Range<usize>,
    sums: Option<SumRun>,
    count: usize,
}

/// The columns of a part, and those of rows that have only some event types.
struct PartColumns {
    /// Number of its columns that are read, from the first on.
    width: usize,
    /// A column of the part, and the one of the rows that it is added to.
    pairs: Vec<(usize, usize)>,
}

impl PartColumns {
    /// Creates it from the event types of a part, and those of the rows: sorted, each with its column.
    fn new(part: &[EventId], wanted: &[(EventId, usize)]) -> Self {
        let mut pairs = Vec::new();
        for (from, event) in part.iter().enumerate() {
            let first = wanted.partition_point(|(other, _)| other < event);
            let same = wanted[first..].iter().take_while(|(other, _)| other == event);
            pairs.extend(same.map(|&(_, to)| (from, to)));
        }
        PartColumns { width: pairs.last().map_or(0, |&(from, _)| from + 1), pairs }
    }

    #[inline]
    fn add(&self, costs: &[Cost], row: &mut [Cost]) {
        self.pairs.iter().for_each(|&(from, to)| row[to] += costs[from]);
    }
}
