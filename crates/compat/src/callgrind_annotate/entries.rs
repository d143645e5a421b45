//! What is listed as one function, and what it costs.
//!
//! The layout of callgrind_annotate knows a function by file and name. Self costs are listed by the file of the lines, so
//! that inlined code has an entry of its own: `header.h:function`. For inclusive costs a function is whole, and the file
//! is its own.

use gristmill_format::Cost;
use gristmill_profile::hash::Map;
use gristmill_profile::source_lines::{KeyedCalls, PartialCosts};
use gristmill_profile::{FunctionId, Profile, Selection};

use super::files::{DisplayFile, DisplayFiles};
use super::partial_sums::PartialSums;

/// A number for what is listed as one function.
pub(super) type EntryId = usize;

/// Everything that is listed as a function.
#[derive(Debug)]
pub(super) struct Entries<'p> {
    pub(super) keys: Vec<EntryKey<'p>>,
    pub(super) costs: PartialCosts,
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
    /// The self costs of the selected parts, whose `sums` these are, by function and file of the lines or by whole
    /// function.
    pub(super) fn of(
        profile: &'p Profile,
        selection: &Selection,
        sums: &PartialSums<'_>,
        files: &DisplayFiles,
        whole: bool,
    ) -> Self {
        let mut entries = Entries {
            keys: Vec::new(),
            costs: PartialCosts::new(profile.event_count()),
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
        sums.each_self_cost(|function, file, row| {
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
            self.costs.push_empty()
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
        sums: &PartialSums<'_>,
        files: &DisplayFiles,
    ) -> (Vec<EntryArc>, PartialCosts) {
        let of_function: Vec<EntryId> =
            profile.functions().map(|function| self.whole(profile, files, function)).collect();
        let mut calls = KeyedCalls::new(profile.event_count());
        sums.each_arc(|caller, callee, count, row| {
            let arc = [caller, callee].map(|function| of_function[function.index()]);
            calls.add_row(arc, count, row);
        });
        let mut arcs = Vec::new();
        let mut costs = PartialCosts::new(profile.event_count());
        for ([caller, callee], count, row) in calls.sorted() {
            arcs.push(EntryArc { caller, callee, count });
            costs.push(row);
        }
        (arcs, costs)
    }
}
