//! The place of a function in its source file, among the functions that both sides have.
//!
//! A function that was renamed is where it was. Another function that is called in its place stands elsewhere in the file.

use std::collections::HashMap;

use super::id::{JoinedId, JoinedPathId, Side};
use super::join::Identity;
use super::join_rule::JoinRule;
use super::raw::{Run, first_run};
use crate::decode::{self, BlockLine, BlockReader};
use crate::ordered::OrderedMap;
use crate::profile::Profile;
use crate::selection::Selection;
use crate::{FunctionId, PartId};

/// The limit of functions of a file that are looked at, and of all functions.
const MAX_OF_FILE: usize = 1500;
const MAX_READ: usize = 8000;
/// The parts of a run that are read. The first ones have the places of most functions.
const MAX_PARTS: usize = 100;
/// The functions that tell whether the code is the same on both sides: at least, and at most.
const MIN_COMMON: usize = 2;
const MAX_COMMON: usize = 500;
/// Of these, one in this many may be entered at another line: the profile has lines of what is inlined there.
const MAX_MOVED: usize = 20;
/// The functions above and below that tell by how many lines the file moved.
const NEIGHBOURS: usize = 2;

/// The first and the last line of a function in its own file.
type Extent = (u64, u64);

/// The place of a function compared with that of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// It is the same, as far as lines tell.
    Same,
    /// It is another one in the same file.
    Other,
    /// There are no lines, or the files differ.
    Unknown,
}

/// The first run of a side.
struct FirstRun {
    run: usize,
    /// The parts that are read.
    parts: Vec<PartId>,
    /// The functions by joined function.
    members: Vec<Vec<FunctionId>>,
}

/// Finds out where functions are in their files.
pub(super) struct InPlace<'c, 'p> {
    runs: &'c [Run<'p>],
    identity: &'c Identity<'p>,
    selection: &'c Selection,
    /// By side.
    first_runs: Option<[FirstRun; 2]>,
    /// By file: the functions that both sides have.
    common: Option<OrderedMap<JoinedPathId, Vec<JoinedId>>>,
    /// By file: where these are entered in base and new, sorted. `None` if there are too many.
    entries: HashMap<JoinedPathId, Option<Vec<(u64, u64)>>>,
    extents: HashMap<(JoinedId, Side), Option<Extent>>,
}

impl<'c, 'p> InPlace<'c, 'p> {
    pub(super) fn new(runs: &'c [Run<'p>], identity: &'c Identity<'p>, selection: &'c Selection) -> Self {
        InPlace {
            runs,
            identity,
            selection,
            first_runs: None,
            common: None,
            entries: HashMap::new(),
            extents: HashMap::new(),
        }
    }

    /// Compares the place of a function of the new side with that of one of the base.
    pub(super) fn compare(&mut self, base: JoinedId, new: JoinedId) -> Place {
        let functions = &self.identity.functions;
        let file = functions[base.index()].file;
        if file != functions[new.index()].file || !functions[base.index()].has_file {
            return Place::Unknown;
        }
        let extents = (self.extent(base, Side::Base), self.extent(new, Side::New));
        let (Some(before), Some(after)) = extents else { return Place::Unknown };
        let own = (before.0, after.0);
        let Some(moved) = self.moved(file, own, base == new) else { return Place::Unknown };
        // Between the neighbours, lines were added or removed above of it, or below.
        let is_there = |&by: &i128| {
            let [first, last] = [before.0, before.1].map(|line| i128::from(line) + by);
            first <= i128::from(after.1) && i128::from(after.0) <= last
        };
        if moved.iter().any(is_there) { Place::Same } else { Place::Other }
    }

    /// Returns `true` if no function is at another line than in the base. Those that are joined by some rules do not count. `None` if
    /// few functions have lines.
    pub(super) fn is_code_unmoved(&mut self, except: &[JoinRule]) -> Option<bool> {
        let (mut count, mut moved) = (0, 0);
        let identity = self.identity;
        let is_joined = |function: &JoinedId| {
            let rules = identity.functions[function.index()].rules;
            except.iter().any(|&rule| rules.has(rule))
        };
        let common = self.common().values().flatten().copied();
        let common: Vec<JoinedId> = common.filter(|function| !is_joined(function)).collect();
        // Of all files.
        let step = common.len().div_ceil(MAX_COMMON).max(1);
        for (base, new) in common.into_iter().step_by(step).filter_map(|function| self.entry_lines(function))
        {
            count += 1;
            moved += usize::from(base != new);
        }
        (count >= MIN_COMMON).then_some(moved * MAX_MOVED <= count)
    }

    /// Returns by how many lines the functions around a function moved, which is entered at these lines of base and new, and may
    /// be among those that both sides have. `None` if there are too many to look at.
    fn moved(&mut self, file: JoinedPathId, own: (u64, u64), is_among: bool) -> Option<Vec<i128>> {
        if !self.entries.contains_key(&file) {
            let entries = self.find_entries(file);
            self.entries.insert(file, entries);
        }
        let entries = self.entries[&file].as_ref()?;
        let is_other = |entry: &&(u64, u64)| !is_among || **entry != own;
        let below = entries.partition_point(|&(base, _)| base <= own.0);
        let above = entries[..below].iter().rev().filter(is_other).take(NEIGHBOURS);
        let around = above.chain(entries[below..].iter().filter(is_other).take(NEIGHBOURS));
        let moved: Vec<i128> = around.map(|&(base, new)| i128::from(new) - i128::from(base)).collect();
        Some(if moved.is_empty() { vec![0] } else { moved })
    }

    /// Returns the lines of base and new at which the functions of a file are entered that both sides have, sorted.
    fn find_entries(&mut self, file: JoinedPathId) -> Option<Vec<(u64, u64)>> {
        let common = self.common().get(file).cloned().unwrap_or_default();
        if common.len() > MAX_OF_FILE {
            return None;
        }
        let mut entries: Vec<(u64, u64)> =
            common.into_iter().filter_map(|function| self.entry_lines(function)).collect();
        entries.sort_unstable();
        Some(entries)
    }

    /// Returns the lines of base and new at which a function is entered.
    fn entry_lines(&mut self, function: JoinedId) -> Option<(u64, u64)> {
        Some((self.extent(function, Side::Base)?.0, self.extent(function, Side::New)?.0))
    }

    fn common(&mut self) -> &OrderedMap<JoinedPathId, Vec<JoinedId>> {
        let functions = &self.identity.functions;
        self.common.get_or_insert_with(|| {
            let mut common: OrderedMap<JoinedPathId, Vec<JoinedId>> = OrderedMap::default();
            for (index, function) in functions.iter().enumerate() {
                if function.has_file && function.sides.iter().all(Option::is_some) {
                    common.or_default(function.file).push(JoinedId::new(index));
                }
            }
            common
        })
    }

    /// Returns the first run of a side, and what a function is there.
    pub(super) fn members(&mut self, function: JoinedId, side: Side) -> (usize, &[FunctionId]) {
        let FirstRun { run, members, .. } = self.first_run(side);
        (*run, &members[function.index()])
    }

    fn first_run(&mut self, side: Side) -> &FirstRun {
        let (runs, identity, selection) = (self.runs, self.identity, self.selection);
        let first_runs = self.first_runs.get_or_insert_with(|| {
            Side::ALL.map(|side| {
                let run = first_run(runs, side).unwrap_or(0);
                let profile = runs[run].profile;
                let parts = profile.selected(selection).take(MAX_PARTS).map(|part| part.id());
                FirstRun { run, parts: parts.collect(), members: identity.members(run, profile) }
            })
        });
        &first_runs[side.index()]
    }

    /// Returns the lines of a function in its own file in the first run of a side. `None` if they are unknown.
    fn extent(&mut self, function: JoinedId, side: Side) -> Option<Extent> {
        if let Some(&extent) = self.extents.get(&(function, side)) {
            return extent;
        }
        if self.extents.len() >= MAX_READ {
            return None;
        }
        let (runs, identity) = (self.runs, self.identity);
        let FirstRun { run, parts, members } = self.first_run(side);
        let file = identity.functions[function.index()].file;
        let is_own = |place: &decode::Place| identity.paths.file(*run, place.file) == file;
        let lines = members[function.index()].iter();
        let lines = lines.map(|&member| own_lines(runs[*run].profile, parts, member, is_own));
        let extent = lines.flatten().reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        self.extents.insert((function, side), extent);
        extent
    }
}

/// Returns the line at which a function is entered, and the last one, of those in its own file. What is above of the entry is of
/// functions that are inlined into it, unless one of them has the entry.
fn own_lines(
    profile: &Profile,
    parts: &[PartId],
    function: FunctionId,
    is_own: impl Fn(&decode::Place) -> bool,
) -> Option<Extent> {
    let (mut entry, mut is_entry) = (None, true);
    let (mut first, mut last) = (u64::MAX, 0);
    for &part in parts {
        let range = profile.index.block_range(part);
        for &block in profile.index.blocks_by_function.get(function, &range, &profile.index.blocks) {
            let mut reader = BlockReader::new(profile, part, block as usize);
            while let Some(line) = reader.next_line() {
                let BlockLine::SelfCost { place, .. } = line else { continue };
                let is_first = std::mem::take(&mut is_entry);
                let Some(line) = place.line.filter(|&line| line > 0 && is_own(&place)) else { continue };
                if is_first {
                    entry = Some(line);
                }
                (first, last) = (first.min(line), last.max(line));
            }
        }
    }
    (last > 0).then(|| (entry.unwrap_or(first), last))
}
