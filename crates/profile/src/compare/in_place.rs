//! The place of a function in its source file, among the functions that both sides have.
//!
//! A function that was renamed is where it was. Another function that is called in its place stands elsewhere in the file.

use std::collections::HashMap;

use super::id::{JoinedId, JoinedPathId, Side};
use super::join::Identity;
use super::raw::Run;
use crate::FunctionId;
use crate::selection::Selection;

/// The limit of functions of a file that are looked at, and of all functions.
const MAX_OF_FILE: usize = 300;
const MAX_READ: usize = 4000;
/// The functions above and below that tell by how many lines the file moved.
const NEIGHBOURS: usize = 2;

/// The first and the last line of a function in its own file.
type Extent = (u64, u64);

/// Finds out where functions are in their files.
pub(super) struct InPlace<'c, 'p> {
    runs: &'c [Run<'p>],
    identity: &'c Identity<'p>,
    selection: &'c Selection,
    /// By side: the first run, and its functions by joined function.
    members: Option<[(usize, Vec<Vec<FunctionId>>); 2]>,
    /// By file: the functions that both sides have.
    common: Option<HashMap<JoinedPathId, Vec<JoinedId>>>,
    extents: HashMap<(JoinedId, Side), Option<Extent>>,
}

impl<'c, 'p> InPlace<'c, 'p> {
    pub(super) fn new(runs: &'c [Run<'p>], identity: &'c Identity<'p>, selection: &'c Selection) -> Self {
        InPlace { runs, identity, selection, members: None, common: None, extents: HashMap::new() }
    }

    /// Returns `false` if lines tell that a function of the new side is not where one of the base was, in the same file.
    pub(super) fn may_be(&mut self, base: JoinedId, new: JoinedId) -> bool {
        let file = self.identity.functions[base.index()].file;
        if file != self.identity.functions[new.index()].file {
            return true;
        }
        let extents = (self.extent(base, Side::Base), self.extent(new, Side::New));
        let (Some(before), Some(after)) = extents else { return true };
        let moved = self.moved(file, before.0);
        // Between the neighbours, lines were added or removed above of it, or below.
        let is_there = |&by: &i128| {
            let [first, last] = [before.0, before.1].map(|line| i128::from(line) + by);
            first <= i128::from(after.1) && i128::from(after.0) <= last
        };
        moved.is_empty() || moved.iter().any(is_there)
    }

    /// Returns by how many lines the functions around a line of the base moved.
    fn moved(&mut self, file: JoinedPathId, line: u64) -> Vec<i128> {
        let common = self.common().get(&file).filter(|common| common.len() <= MAX_OF_FILE);
        let common = common.cloned().unwrap_or_default();
        let mut entries: Vec<(u64, u64)> = Vec::new();
        for function in common {
            let extents = Side::ALL.map(|side| self.extent(function, side));
            if let [Some((base, _)), Some((new, _))] = extents {
                entries.push((base, new));
            }
        }
        entries.sort_unstable();
        let below = entries.partition_point(|&(base, _)| base <= line);
        let around = below.saturating_sub(NEIGHBOURS)..entries.len().min(below + NEIGHBOURS);
        entries[around].iter().map(|&(base, new)| i128::from(new) - i128::from(base)).collect()
    }

    fn common(&mut self) -> &HashMap<JoinedPathId, Vec<JoinedId>> {
        let functions = &self.identity.functions;
        self.common.get_or_insert_with(|| {
            let mut common: HashMap<JoinedPathId, Vec<JoinedId>> = HashMap::new();
            for (index, function) in functions.iter().enumerate() {
                if function.has_file && function.sides.iter().all(Option::is_some) {
                    common.entry(function.file).or_default().push(JoinedId::new(index));
                }
            }
            common
        })
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
        let members = self.members.get_or_insert_with(|| {
            Side::ALL.map(|side| {
                let run = runs.iter().position(|run| run.side == side).unwrap_or(0);
                (run, identity.members(run, runs[run].profile))
            })
        });
        let (run, members) = &members[side.index()];
        let file = identity.functions[function.index()].file;
        let mut extent: Option<Extent> = None;
        for &member in &members[function.index()] {
            for place in runs[*run].profile.lines(member, self.selection).places {
                let Some(line) = place.line.filter(|&line| line > 0) else { continue };
                if identity.paths.file(*run, place.file) == file {
                    let (first, last) = extent.unwrap_or((line, line));
                    extent = Some((first.min(line), last.max(line)));
                }
            }
        }
        self.extents.insert((function, side), extent);
        extent
    }
}
