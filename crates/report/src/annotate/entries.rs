//! What is listed as one function, and what it costs.
//!
//! The layout of callgrind_annotate knows a function by file and name. Self costs are listed by the file of the lines, so
//! that inlined code has an entry of its own: `header.h:function`. For inclusive costs a function is whole, and the file
//! is its own.

use gristmill_format::Cost;
use gristmill_profile::hash::Map;
use gristmill_profile::{BlockLine, FileId, FunctionId, Profile, Selection};

use super::files::{DisplayFile, DisplayFiles};
use super::{GivenCosts, GivenRow};

/// A number for what is listed as one function.
pub(super) type EntryId = usize;

/// Everything that is listed as a function.
#[derive(Debug)]
pub(super) struct Entries<'p> {
    pub(super) keys: Vec<EntryKey<'p>>,
    pub(super) costs: GivenCosts,
    /// Its own lines give it costs; others are only called.
    pub(super) has_lines: Vec<bool>,
    ids: Map<(DisplayFile, NameKey), EntryId>,
    /// Of functions as a whole, once it was asked for.
    of_function: Vec<Option<EntryId>>,
}

/// What an entry is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EntryKey<'p> {
    pub(super) file: DisplayFile,
    pub(super) name: &'p [u8],
}

/// A name by where it stands: the profile has each name once.
pub(super) type NameKey = (usize, usize);

pub(super) fn name_key(name: &[u8]) -> NameKey {
    (name.as_ptr().addr(), name.len())
}

/// Calls from one entry to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryArc {
    pub(super) caller: EntryId,
    pub(super) callee: EntryId,
    pub(super) count: Cost,
}

impl<'p> Entries<'p> {
    /// The self costs of the selected parts, by function and file of the lines or by whole function.
    pub(super) fn of(profile: &'p Profile, selection: &Selection, files: &DisplayFiles, whole: bool) -> Self {
        let mut entries = Entries {
            keys: Vec::new(),
            costs: GivenCosts::new(profile.event_count()),
            has_lines: Vec::new(),
            ids: Map::default(),
            of_function: vec![None; profile.function_count()],
        };
        // A function that only calls others has no costs, and is there all the same.
        let has_lines = |entries: &mut Self, function: FunctionId| {
            let id = entries.whole(profile, files, function);
            entries.has_lines[id] = true;
        };
        if selection.is_all() {
            let defined = profile.functions().filter(|&function| profile.function(function).is_defined);
            defined.for_each(|function| has_lines(&mut entries, function));
        } else {
            for part in profile.selected(selection) {
                profile.each_arc(&part, |arc, _| has_lines(&mut entries, arc.caller));
            }
        }
        each_self_cost(profile, selection, |function, file, row| {
            let known = profile.function(function);
            let id = if whole || known.file == file {
                entries.whole(profile, files, function)
            } else {
                entries.id(files.of(file), known.name)
            };
            entries.has_lines[id] = true;
            entries.costs.add_row(id, row);
        });
        entries
    }

    /// The entry of a function as a whole, which is made if there is none.
    fn whole(&mut self, profile: &'p Profile, files: &DisplayFiles, function: FunctionId) -> EntryId {
        if let Some(Some(id)) = self.of_function.get(function.index()).copied() {
            return id;
        }
        let known = profile.function(function);
        let id = self.id(files.of(known.file), known.name);
        if let Some(of_function) = self.of_function.get_mut(function.index()) {
            *of_function = Some(id);
        }
        id
    }

    fn id(&mut self, file: DisplayFile, name: &'p [u8]) -> EntryId {
        *self.ids.entry((file, name_key(name))).or_insert_with(|| {
            self.keys.push(EntryKey { file, name });
            self.has_lines.push(false);
            self.costs.begin_row()
        })
    }

    /// The entry of a function as a whole, if there is one.
    pub(super) fn of_function(&self, function: FunctionId) -> Option<EntryId> {
        self.of_function.get(function.index()).copied().flatten()
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// All calls of the selected parts, from entry to entry: sorted by caller, then callee, with a row of costs each.
    pub(super) fn arcs(
        &mut self,
        profile: &'p Profile,
        selection: &Selection,
        files: &DisplayFiles,
    ) -> (Vec<EntryArc>, GivenCosts) {
        let of_function: Vec<EntryId> =
            profile.functions().map(|function| self.whole(profile, files, function)).collect();
        let mut arcs = Vec::new();
        let mut costs = GivenCosts::new(profile.event_count());
        each_arc(profile, selection, |caller, callee, count, row| {
            let [caller, callee] = [caller, callee].map(|function| of_function[function.index()]);
            arcs.push(EntryArc { caller, callee, count });
            let at = costs.begin_row();
            costs.add_row(at, row);
        });
        let mut order: Vec<usize> = (0..arcs.len()).collect();
        order.sort_unstable_by_key(|&at| (arcs[at].caller, arcs[at].callee, at));
        let mut merged: Vec<EntryArc> = Vec::new();
        let mut sums = GivenCosts::new(profile.event_count());
        for at in order {
            let arc = arcs[at];
            match merged.last_mut() {
                Some(last) if (last.caller, last.callee) == (arc.caller, arc.callee) => {
                    last.count += arc.count;
                    sums.add_row(merged.len() - 1, costs.row(at));
                }
                _ => {
                    merged.push(arc);
                    sums.push(costs.row(at));
                }
            }
        }
        (merged, sums)
    }
}

/// Hands out self costs by function and file of the lines, with what was given of them.
fn each_self_cost(
    profile: &Profile,
    selection: &Selection,
    mut take: impl FnMut(FunctionId, FileId, GivenRow<'_>),
) {
    let mut row = GivenCosts::new(profile.event_count());
    row.begin_row();
    for part in profile.selected(selection) {
        let events = part.event_types();
        let mut tells = profile.leaves_off_zeros(&part);
        profile.each_self_cost(&part, |_, _, costs| tells &= costs.iter().any(|&cost| cost != 0));
        if tells {
            profile.each_self_cost(&part, |function, file, costs| {
                row.clear_row(0);
                given(costs).for_each(|(column, cost)| row.add(0, events[column].index(), cost));
                take(function, file, row.row(0));
            });
            continue;
        }
        let mut sums = Sums::new(profile.event_count());
        for more in profile.fold_lines(
            &part,
            || Sums::new(profile.event_count()),
            |sums, function, line| {
                if let BlockLine::SelfCost { place, costs } = line {
                    let row = sums.row((function.index(), place.file.index()));
                    sums.costs.add_line(row, &costs, events);
                }
            },
        ) {
            sums.merge(&more);
        }
        for (row, &(function, file)) in sums.keys.iter().enumerate() {
            take(FunctionId::new(function), FileId::new(file), sums.costs.row(row));
        }
    }
}

/// Hands out arcs, with what was given of their costs.
fn each_arc(
    profile: &Profile,
    selection: &Selection,
    mut take: impl FnMut(FunctionId, FunctionId, Cost, GivenRow<'_>),
) {
    let mut row = GivenCosts::new(profile.event_count());
    row.begin_row();
    for part in profile.selected(selection) {
        let events = part.event_types();
        let mut tells = profile.leaves_off_zeros(&part);
        profile.each_arc(&part, |_, costs| tells &= costs.iter().any(|&cost| cost != 0));
        if tells {
            profile.each_arc(&part, |arc, costs| {
                row.clear_row(0);
                given(costs).for_each(|(column, cost)| row.add(0, events[column].index(), cost));
                take(arc.caller, arc.callee, arc.count, row.row(0));
            });
            continue;
        }
        let mut sums = Sums::new(profile.event_count());
        for more in profile.fold_lines(
            &part,
            || Sums::new(profile.event_count()),
            |sums, function, line| {
                if let BlockLine::Calls { callee, count, costs, .. } = line {
                    let row = sums.row((function.index(), callee.index()));
                    sums.counts[row] += count;
                    sums.costs.add_line(row, &costs, events);
                }
            },
        ) {
            sums.merge(&more);
        }
        for (row, &(caller, callee)) in sums.keys.iter().enumerate() {
            take(FunctionId::new(caller), FunctionId::new(callee), sums.counts[row], sums.costs.row(row));
        }
    }
}

/// The costs of a sum whose lines leave off zeros at their end: all up to the last one that is not zero.
fn given(costs: &[Cost]) -> impl Iterator<Item = (usize, Cost)> {
    let count = costs.iter().rposition(|&cost| cost != 0).map_or(0, |last| last + 1);
    costs.iter().copied().take(count).enumerate()
}

/// Sums by a pair of numbers.
#[derive(Debug)]
struct Sums {
    rows: Map<(usize, usize), usize>,
    keys: Vec<(usize, usize)>,
    counts: Vec<Cost>,
    costs: GivenCosts,
}

impl Sums {
    fn new(width: usize) -> Self {
        Sums { rows: Map::default(), keys: Vec::new(), counts: Vec::new(), costs: GivenCosts::new(width) }
    }

    fn row(&mut self, key: (usize, usize)) -> usize {
        *self.rows.entry(key).or_insert_with(|| {
            self.keys.push(key);
            self.counts.push(0);
            self.costs.begin_row()
        })
    }

    fn merge(&mut self, more: &Sums) {
        for (from, &key) in more.keys.iter().enumerate() {
            let row = self.row(key);
            self.counts[row] += more.counts[from];
            self.costs.add_row(row, more.costs.row(from));
        }
    }
}
