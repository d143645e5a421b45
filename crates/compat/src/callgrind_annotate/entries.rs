//! The entries of the list of functions, with their self costs.
//!
//! The layout of callgrind_annotate identifies a function by file and name. Self costs are listed by the file of the
//! lines, so inlined code has an entry of its own: `header.h:function`. For inclusive costs a function is one entry,
//! with its own file.

use std::ops::{Index, IndexMut};

use gristmill_format::Cost;
use gristmill_profile::hash::Map;
use gristmill_profile::source_lines::{KeyedCalls, PartialCosts, PartialRow};
use gristmill_profile::{FunctionId, Profile, Selection};

use super::files::{DisplayFile, DisplayFiles};
use super::partial_sums::PartialSums;

/// An entry, numbered by [`Entries`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EntryId(usize);

impl EntryId {
    /// The index of the entry's costs.
    pub(super) fn index(self) -> usize {
        self.0
    }
}

/// A value for each entry.
#[derive(Debug)]
pub(super) struct PerEntry<T>(Vec<T>);

impl<T> Index<EntryId> for PerEntry<T> {
    type Output = T;

    fn index(&self, entry: EntryId) -> &T {
        &self.0[entry.0]
    }
}

impl<T> IndexMut<EntryId> for PerEntry<T> {
    fn index_mut(&mut self, entry: EntryId) -> &mut T {
        &mut self.0[entry.0]
    }
}

/// All entries.
#[derive(Debug)]
pub(super) struct Entries<'p> {
    pub(super) keys: PerEntry<EntryKey<'p>>,
    costs: PartialCosts,
    /// `true` for an entry with lines of its own; others are only called.
    pub(super) has_lines: PerEntry<bool>,
    by_key: Map<(DisplayFile, NameKey), EntryId>,
    /// The entries of whole functions, by function, as far as they were asked for.
    of_function: Vec<Option<EntryId>>,
}

/// The identity of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct EntryKey<'p> {
    pub(super) file: DisplayFile,
    pub(super) name: &'p [u8],
}

/// A name by its address and length: the profile has each name once.
pub(super) type NameKey = (usize, usize);

pub(super) fn name_key(name: &[u8]) -> NameKey {
    (name.as_ptr().addr(), name.len())
}

/// The calls from one entry to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EntryArc {
    pub(super) caller: EntryId,
    pub(super) callee: EntryId,
    pub(super) count: Cost,
}

impl<'p> Entries<'p> {
    /// Creates the entries of the selected parts, whose sums are `sums`: by function and file of the lines, or by whole
    /// function.
    pub(super) fn new(
        profile: &'p Profile,
        selection: &Selection,
        sums: &PartialSums<'_>,
        files: &DisplayFiles,
        whole: bool,
    ) -> Self {
        let mut entries = Entries {
            keys: PerEntry(Vec::new()),
            costs: PartialCosts::new(profile.event_count()),
            has_lines: PerEntry(Vec::new()),
            by_key: Map::default(),
            of_function: vec![None; profile.function_count()],
        };
        // A function that only calls others has no costs, but it is an entry.
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
            entries.costs.add_row(id.0, row);
        });
        entries
    }

    /// The entry of a whole function, which is created if necessary.
    fn whole(&mut self, profile: &'p Profile, files: &DisplayFiles, function: FunctionId) -> EntryId {
        if let Some(id) = self.of_function[function.index()] {
            return id;
        }
        let known = profile.function(function);
        let id = self.id(files.of(known.file), known.name);
        self.of_function[function.index()] = Some(id);
        id
    }

    fn id(&mut self, file: DisplayFile, name: &'p [u8]) -> EntryId {
        *self.by_key.entry((file, name_key(name))).or_insert_with(|| {
            self.keys.0.push(EntryKey { file, name });
            self.has_lines.0.push(false);
            EntryId(self.costs.push_empty())
        })
    }

    /// The entry of a whole function, if there is one.
    pub(super) fn of_function(&self, function: FunctionId) -> Option<EntryId> {
        self.of_function[function.index()]
    }

    /// The count of entries.
    pub(super) fn len(&self) -> usize {
        self.keys.0.len()
    }

    /// Iterates over the entries.
    pub(super) fn ids(&self) -> impl Iterator<Item = EntryId> + use<> {
        (0..self.len()).map(EntryId)
    }

    /// The self cost of an entry.
    pub(super) fn costs(&self, entry: EntryId) -> PartialRow<'_> {
        self.costs.row(entry.0)
    }

    /// The self costs of all entries, by index.
    pub(super) fn all_costs(&self) -> &PartialCosts {
        &self.costs
    }

    /// Creates a value for each entry.
    pub(super) fn per_entry<T: Clone>(&self, value: T) -> PerEntry<T> {
        PerEntry(vec![value; self.len()])
    }

    /// All calls of the selected parts between entries, sorted by caller and callee, with a row of costs each.
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
