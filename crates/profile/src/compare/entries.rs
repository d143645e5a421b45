//! Entries: the source lines where functions begin, as the targets of calls state them.
//!
//! A source file that was edited has its functions at other lines. Functions that are called on both sides tell by how many
//! lines the file moved above and below of any other line.

use std::collections::HashMap;

use super::raw::first_run;
use super::{Comparison, JoinedId, JoinedPathId, Side, SourceLine};
use crate::decode::BlockLine;

/// A function that is entered on both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) function: JoinedId,
    /// The line of its entry in base and new.
    pub(super) entry: [u64; 2],
}

impl Anchor {
    /// Returns the count of lines by which it moved from a side to the other.
    pub(super) fn shift(&self, from: Side) -> i128 {
        i128::from(self.entry[from.other().index()]) - i128::from(self.entry[from.index()])
    }
}

/// The anchors around a line: the last at or above it, and the first below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Neighbours {
    pub(super) above: Option<Anchor>,
    pub(super) below: Option<Anchor>,
}

/// The entries of one source file.
#[derive(Debug, Default)]
struct FileEntries {
    /// By side: the lines of all entries, sorted.
    lines: [Vec<u64>; 2],
    /// By side: the anchors, sorted by their line there.
    anchors: [Vec<Anchor>; 2],
}

/// The entries of all functions in the first run of each side.
#[derive(Debug)]
pub(super) struct Entries {
    files: HashMap<JoinedPathId, FileEntries>,
    /// The anchors by function.
    anchors: HashMap<JoinedId, Anchor>,
}

impl Entries {
    pub(super) fn new(comparison: &Comparison<'_>) -> Self {
        let count = comparison.functions().len();
        let mut entries = vec![[None::<u64>; 2]; count];
        for side in Side::ALL {
            let Some(run) = first_run(&comparison.runs, side) else { continue };
            let profile = comparison.runs[run].profile;
            let see = |seen: &mut HashMap<JoinedId, u64>, _, line: BlockLine<'_>| {
                let BlockLine::Calls { callee, target, .. } = line else { return };
                let function = comparison.identity.joined(run, callee);
                let SourceLine { file, line } = comparison.line_place(run, &target);
                // Code of another file can be inlined where a function begins.
                if line > 0 && file == comparison.file(function) {
                    seen.entry(function).and_modify(|known| *known = line.min(*known)).or_insert(line);
                }
            };
            for part in profile.selected(&comparison.selection) {
                for (function, line) in profile.fold_lines(&part, HashMap::new, see).into_iter().flatten() {
                    let entry = &mut entries[function.index()][side.index()];
                    *entry = Some(entry.map_or(line, |known| known.min(line)));
                }
            }
        }
        let mut files: HashMap<JoinedPathId, FileEntries> = HashMap::new();
        let mut anchors_by_function = HashMap::new();
        for function in comparison.functions() {
            let entry = entries[function.index()];
            if entry == [None, None] {
                continue;
            }
            let file = files.entry(comparison.file(function)).or_default();
            for (lines, line) in file.lines.iter_mut().zip(entry) {
                lines.extend(line);
            }
            if let [Some(base), Some(new)] = entry {
                let anchor = Anchor { function, entry: [base, new] };
                file.anchors.iter_mut().for_each(|anchors| anchors.push(anchor));
                anchors_by_function.insert(function, anchor);
            }
        }
        files.values_mut().for_each(|file| {
            file.lines.iter_mut().for_each(|lines| lines.sort_unstable());
            for (side, anchors) in file.anchors.iter_mut().enumerate() {
                anchors.sort_unstable_by_key(|anchor| (anchor.entry[side], anchor.function));
            }
        });
        Entries { files, anchors: anchors_by_function }
    }

    /// Returns the anchors around a line of a side.
    pub(super) fn around(&self, file: JoinedPathId, side: Side, line: u64) -> Neighbours {
        let Some(file) = self.files.get(&file) else { return Neighbours { above: None, below: None } };
        let anchors = &file.anchors[side.index()];
        let below = anchors.partition_point(|anchor| anchor.entry[side.index()] <= line);
        Neighbours {
            above: below.checked_sub(1).map(|above| anchors[above]),
            below: anchors.get(below).copied(),
        }
    }

    /// Returns the line of the first entry below a line.
    pub(super) fn next(&self, file: JoinedPathId, side: Side, line: u64) -> Option<u64> {
        let lines = &self.files.get(&file)?.lines[side.index()];
        lines.get(lines.partition_point(|&entry| entry <= line)).copied()
    }

    /// Returns a function as an anchor in its file, if it is one.
    pub(super) fn anchor(&self, function: JoinedId) -> Option<Anchor> {
        self.anchors.get(&function).copied()
    }
}
