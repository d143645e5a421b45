//! The listed functions: their choice, order, callers and callees.

use std::cmp::Ordering;
use std::cmp::Reverse;

use gristmill_format::Cost;
use gristmill_profile::analysis::{CallArc, CallGraph, Cycles, NodeId};
use gristmill_profile::source_lines::{PartialCosts, PartialRow, range_of};
use gristmill_profile::{Profile, Selection};

use super::cells::{quotient, to_double};
use super::entries::{Entries, EntryArc, EntryId};
use super::files::DisplayFiles;
use super::partial_sums::PartialSums;
use super::{Options, SelectedEvent};

/// The entries with their costs, calls and totals.
#[derive(Debug)]
pub(super) struct List<'p> {
    pub(super) entries: Entries<'p>,
    /// The totals, which percentages are relative to.
    pub(super) totals: PartialCosts,
    /// `true` if part of the totals is computed, not claimed by the files.
    pub(super) is_calculated: bool,
    /// The inclusive costs, if they are shown instead of self costs.
    inclusive: Option<PartialCosts>,
    /// The arcs, sorted by caller. Empty unless they are needed.
    pub(super) arcs: Vec<EntryArc>,
    pub(super) arc_costs: PartialCosts,
    /// Indexes of arcs, sorted by callee.
    incoming: Vec<usize>,
}

impl<'p> List<'p> {
    pub(super) fn new(profile: &'p Profile, options: &Options, files: &DisplayFiles) -> Self {
        let sums = PartialSums::new(profile, &options.selection);
        let mut entries = Entries::new(profile, &options.selection, &sums, files, options.inclusive);
        let (mut arcs, mut arc_costs) = (Vec::new(), PartialCosts::new(profile.event_count()));
        if options.needs_calls() {
            (arcs, arc_costs) = entries.arcs(profile, &sums, files);
        }
        let mut incoming: Vec<usize> = (0..arcs.len()).collect();
        incoming.sort_unstable_by_key(|&at| (arcs[at].callee, at));
        let (totals, is_calculated) = totals(profile, &options.selection, &entries);
        let inclusive =
            options.inclusive.then(|| inclusive(&entries, &arcs, &arc_costs, &incoming, totals.row(0)));
        List { entries, totals, is_calculated, inclusive, arcs, arc_costs, incoming }
    }

    /// The shown costs of an entry.
    pub(super) fn costs(&self, entry: EntryId) -> PartialRow<'_> {
        self.inclusive.as_ref().unwrap_or(self.entries.all_costs()).row(entry.index())
    }

    /// The indexes of the calls that an entry makes.
    pub(super) fn outgoing(&self, entry: EntryId) -> impl Iterator<Item = usize> + use<> {
        range_of(&self.arcs, &entry, |arc| arc.caller)
    }

    /// The indexes of the calls of an entry.
    pub(super) fn incoming(&self, entry: EntryId) -> impl Iterator<Item = usize> {
        let range = range_of(&self.incoming, &entry, |&at| self.arcs[at].callee);
        self.incoming[range].iter().copied()
    }

    /// Lists entries, the most expensive first, until the thresholds are reached.
    pub(super) fn listed(&self, options: &Options, files: &DisplayFiles) -> Vec<EntryId> {
        let is_called = |entry: EntryId| options.inclusive && self.incoming(entry).next().is_some();
        let is_listed = |&entry: &EntryId| {
            (self.entries.has_lines[entry] || is_called(entry))
                && options.is_wanted(self.entries.keys[entry].name)
        };
        let leading = |entry: EntryId| options.sort.first().map_or(0, |event| key(event, self.costs(entry)));
        let mut order: Vec<(Reverse<Cost>, EntryId)> =
            self.entries.ids().filter(is_listed).map(|entry| (Reverse(leading(entry)), entry)).collect();
        order.sort_unstable();
        let mut cut = Cut::new(options, self.totals.row(0));
        let mut listed = Vec::new();
        // Most entries are never listed, so only the listed ones are sorted completely.
        for same in order.chunk_by_mut(|a, b| a.0 == b.0) {
            if cut.is_reached() {
                break;
            }
            same.sort_unstable_by(|&(_, a), &(_, b)| {
                by_costs(&options.sort, self.costs(a), self.costs(b)).then_with(|| self.by_label(files, a, b))
            });
            let goes_on = |&&(_, entry): &&(Reverse<Cost>, EntryId)| cut.goes_on(self.costs(entry));
            listed.extend(same.iter().take_while(goes_on).map(|&(_, entry)| entry));
        }
        listed
    }

    /// Compares entries by `file:function`.
    pub(super) fn by_label(&self, files: &DisplayFiles, a: EntryId, b: EntryId) -> Ordering {
        let [a, b] = [a, b].map(|entry| &self.entries.keys[entry]);
        if a.file == b.file {
            return a.name.cmp(b.name);
        }
        // One of two different names may be a prefix of the other.
        let [file, other] = [a, b].map(|key| files.name(key.file));
        let shorter = file.len().min(other.len());
        file[..shorter].cmp(&other[..shorter]).then_with(|| {
            let label = |file: &[u8], name: &[u8]| [&file[shorter..], b":", name].concat();
            label(file, a.name).cmp(&label(other, b.name))
        })
    }
}

/// The sort key of a row. A cost that was not given comes after zero.
fn key(event: &SelectedEvent, row: PartialRow<'_>) -> Cost {
    event.of(row).unwrap_or(-1)
}

/// Compares by one event type after the other, the most expensive first.
pub(super) fn by_costs(sort: &[SelectedEvent], a: PartialRow<'_>, b: PartialRow<'_>) -> Ordering {
    let mut orders = sort.iter().map(|event| key(event, b).cmp(&key(event, a)));
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

/// The end of the list.
#[derive(Debug)]
struct Cut<'o> {
    options: &'o Options,
    totals: Vec<Cost>,
    /// The totals, raised to the reached costs.
    wholes: Vec<Cost>,
    reached: Vec<Cost>,
}

impl<'o> Cut<'o> {
    fn new(options: &'o Options, totals: PartialRow<'_>) -> Self {
        let totals: Vec<Cost> =
            options.sort.iter().map(|event| event.of(totals).unwrap_or_default()).collect();
        Cut { options, wholes: totals.clone(), totals, reached: vec![0; options.sort.len()] }
    }

    /// `true` if nothing more is listed.
    fn is_reached(&mut self) -> bool {
        if !self.options.is_cut {
            return false;
        }
        // The listed costs are never more than the whole: with negative costs, or a claimed total that is too small,
        // the whole is raised.
        for (&reached, whole) in self.reached.iter().zip(&mut self.wholes) {
            *whole = reached.max(*whole);
        }
        let mut shares = self.reached.iter().zip(&self.wholes).zip(&self.options.thresholds);
        let is_reached = |((&reached, &whole), threshold): ((&Cost, &Cost), &super::Threshold)| {
            // Without a whole, the reached cost is zero or less.
            let percent = if whole == 0 { to_double(reached) } else { quotient(100, reached, whole) };
            percent >= threshold.percent
        };
        shares.all(is_reached)
    }

    /// Returns `true` if an entry is still listed, and counts its cost.
    fn goes_on(&mut self, row: PartialRow<'_>) -> bool {
        if self.is_reached() {
            return false;
        }
        for ((event, reached), total) in self.options.sort.iter().zip(&mut self.reached).zip(&self.totals) {
            let Some(cost) = event.of(row) else { continue };
            // Inclusive costs do not add up. As in the original, the rest counts as reached.
            *reached = if self.options.inclusive { total - cost } else { *reached + cost };
        }
        true
    }
}

/// Computes inclusive costs: the sum of the calls of a function, or self cost and calls of a function that is not
/// called.
///
/// In a recursion these sums exceed the total by far. There, a function has its self cost and that of its calls out of
/// the recursion, as in all other reports, but never more than the total.
fn inclusive(
    entries: &Entries<'_>,
    arcs: &[EntryArc],
    arc_costs: &PartialCosts,
    incoming: &[usize],
    totals: PartialRow<'_>,
) -> PartialCosts {
    let width = arc_costs.width();
    let mut costs = PartialCosts::with_rows(width, entries.len());
    let mut is_called = entries.per_entry(false);
    for &at in incoming {
        is_called[arcs[at].callee] = true;
        costs.add_row(arcs[at].callee.index(), arc_costs.row(at));
    }
    for entry in entries.ids().filter(|&entry| !is_called[entry]) {
        costs.add_row(entry.index(), entries.costs(entry));
    }
    for (at, arc) in arcs.iter().enumerate().filter(|(_, arc)| !is_called[arc.caller]) {
        costs.add_row(arc.caller.index(), arc_costs.row(at));
    }

    let graph = graph_of(entries, arcs);
    let cycles = Cycles::new(&graph);
    let is_inner = |arc: &EntryArc| cycles.is_inner(&arc_of(&graph, arc));
    let mut recurs = entries.per_entry(false);
    for arc in arcs.iter().filter(|arc| is_inner(arc)) {
        (recurs[arc.caller], recurs[arc.callee]) = (true, true);
    }
    let mut outer = PartialCosts::with_rows(width, entries.len());
    for entry in entries.ids().filter(|&entry| recurs[entry]) {
        outer.add_row(entry.index(), entries.costs(entry));
    }
    for (at, arc) in arcs.iter().enumerate().filter(|(_, arc)| recurs[arc.caller] && !is_inner(arc)) {
        outer.add_row(arc.caller.index(), arc_costs.row(at));
    }
    let mut sums = PartialCosts::with_rows(width, 1);
    entries.ids().for_each(|entry| sums.add_row(0, entries.costs(entry)));
    // Without self costs, the claimed total is the better limit.
    let limit = |event: usize| {
        let limit = sums.row(0).get(event).max(totals.get(event));
        limit.filter(|&limit| limit >= 0).unwrap_or(Cost::MAX)
    };
    for entry in entries.ids().filter(|&entry| recurs[entry]).map(EntryId::index) {
        for event in 0..width {
            let limit = limit(event);
            let cost = outer.row(entry).get(event).map(|cost| cost.min(limit));
            // A zero that a call gave counts as given.
            let called = costs.row(entry).get(event);
            if let Some(cost) = cost.filter(|&cost| cost != 0).or(called.map(|_| cost.unwrap_or_default())) {
                costs.add(entry, event, cost - called.unwrap_or_default());
            }
        }
    }
    costs
}

/// The call graph of the entries. It has no costs: cycles do not depend on them.
fn graph_of(entries: &Entries<'_>, arcs: &[EntryArc]) -> CallGraph {
    let mut graph = CallGraph::builder(0);
    let nodes: Vec<NodeId> = entries.ids().map(|_| graph.add_node(&[])).collect();
    for arc in arcs {
        let arc = CallArc {
            caller: nodes[arc.caller.index()],
            callee: nodes[arc.callee.index()],
            count: arc.count,
        };
        graph.add_arc(arc, &[]);
    }
    graph.build()
}

fn arc_of(graph: &CallGraph, arc: &EntryArc) -> CallArc {
    CallArc {
        caller: graph.node(arc.caller.index()),
        callee: graph.node(arc.callee.index()),
        count: arc.count,
    }
}

/// Sums up the totals: of each part the claimed total, or else the computed one. Returns `true` if a total was
/// computed.
fn totals(profile: &Profile, selection: &Selection, entries: &Entries<'_>) -> (PartialCosts, bool) {
    let mut totals = PartialCosts::with_rows(profile.event_count(), 1);
    // Callgrind writes a total below 0 without its sign.
    let is_wrapped = |sum: Cost| sum >= 1 << 63;
    let claims = |sums: &&[Cost]| sums.iter().any(|&sum| sum > 0) && !sums.iter().any(|&sum| is_wrapped(sum));
    let (mut is_claimed, mut is_calculated) = (false, false);
    for part in profile.selected(selection) {
        match part.claimed_summary().filter(claims).or_else(|| part.claimed_totals().filter(claims)) {
            Some(sums) => {
                is_claimed = true;
                for (event, &sum) in part.event_types().iter().zip(sums) {
                    totals.add(0, event.index(), sum);
                }
            }
            None => {
                for (event, sum) in part.event_types().iter().zip(part.totals()) {
                    // A part without costs does not count as computed.
                    is_calculated |= sum != 0;
                    totals.add(0, event.index(), sum);
                }
            }
        }
    }
    if !is_claimed {
        // A cost that no line gives is not part of the total.
        totals.clear_row(0);
        entries.ids().for_each(|entry| totals.add_row(0, entries.costs(entry)));
    }
    (totals, is_calculated || !is_claimed)
}
