//! Costs by source line: the base of every annotation.

mod keyed_costs;
mod partial_costs;

use std::ops::Range;

use gristmill_format::Cost;

pub use self::keyed_costs::{KeyedCalls, KeyedCosts, range_of};
pub use self::partial_costs::{PartialCosts, PartialRow};
use crate::decode::BlockLine;
use crate::hash::Map;
use crate::id::{EventId, FileId, FunctionId};
use crate::profile::Profile;
use crate::selection::Selection;

/// The costs, calls and jumps of the lines of a source file, whatever functions the lines are part of.
///
/// ```
/// use gristmill_profile::source_lines::FileLines;
/// use gristmill_profile::{Profile, Selection};
///
/// let profile = Profile::from_bytes(b"events: Ir Dr\nfl=mill.c\nfn=main\n16 400 3\n17 20\nfn=grind\n16 5 0\n");
/// let files = FileLines::read(&profile, &Selection::default(), 1, |file| (profile.file(file) == b"mill.c").then_some(0));
/// assert_eq!(files[0].lines, [16, 17]);
/// assert_eq!(files[0].costs.row(0).or_zero(), [405, 3]);
/// // No line gives a `Dr` of line 17.
/// assert_eq!(files[0].costs.row(1).get(1), None);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileLines {
    /// The lines that have self costs, ascending, each once. Line 0 stands for unknown lines.
    pub lines: Vec<u64>,
    /// The self costs: a row for each of the lines.
    pub costs: PartialCosts,
    /// The calls made on lines, sorted by line, caller and callee, each combination once.
    pub calls: Vec<LineCalls>,
    /// The inclusive costs: a row for each of the calls.
    pub call_costs: PartialCosts,
    /// The jumps that start on lines, sorted by line and target.
    pub jumps: Vec<LineJumps>,
}

/// The calls from a line to a function. See the example of [`FileLines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCalls {
    /// The line of the calls, which need not have self costs.
    pub line: u64,
    /// The function that the line is part of.
    pub caller: FunctionId,
    /// The function that is called.
    pub callee: FunctionId,
    /// The number of calls. May be 0 where the calls were counted in another part.
    pub count: Cost,
}

/// The jumps from a line to another. See the example of [`FileLines`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineJumps {
    /// The line where the jumps start, which need not have self costs.
    pub line: u64,
    /// The source file of the target.
    pub target_file: FileId,
    /// The line of the target; 0 if it is unknown.
    pub target_line: u64,
    /// The number of jumps taken.
    pub taken: Cost,
    /// The number of times a conditional jump was reached.
    pub executed: Option<Cost>,
}

impl FileLines {
    /// Reads all lines of the selected parts, on all cores, and sums up those of some source files.
    ///
    /// `target` returns which of the `count` results a file is added to. Several files may go to the same result, and a
    /// file with `None` is skipped.
    pub fn read(
        profile: &Profile,
        selection: &Selection,
        count: usize,
        target: impl Fn(FileId) -> Option<usize>,
    ) -> Vec<FileLines> {
        Self::read_some(profile, selection, count, target, |_| true)
    }

    /// Does the same as [`FileLines::read`] for the lines of some functions.
    pub fn read_some(
        profile: &Profile,
        selection: &Selection,
        count: usize,
        target: impl Fn(FileId) -> Option<usize>,
        is_wanted: impl Fn(FunctionId) -> bool + Sync,
    ) -> Vec<FileLines> {
        let width = profile.event_count();
        let targets: Vec<Option<usize>> =
            (0..profile.file_count()).map(|file| target(FileId::new(file))).collect();
        let mut sums = FileSums::new(width);
        for part in profile.selected(selection) {
            let events = part.event_types();
            let read = profile.fold_lines(
                &part,
                || FileSums::new(width),
                |sums: &mut FileSums, function, line| {
                    if is_wanted(function) {
                        sums.add(&targets, events, function, line);
                    }
                },
            );
            read.into_iter().for_each(|more| sums.merge(more));
        }
        sums.finish(count)
    }

    /// The calls made on a line: indexes into `calls` and rows of `call_costs`.
    pub fn calls_on(&self, line: u64) -> Range<usize> {
        range_of(&self.calls, &line, |call| call.line)
    }

    /// The jumps that start on a line.
    pub fn jumps_on(&self, line: u64) -> &[LineJumps] {
        &self.jumps[range_of(&self.jumps, &line, |jump| jump.line)]
    }
}

/// The result that a file is added to, and a line.
type LineKey = (usize, u64);
/// The same with caller and callee.
type CallKey = (usize, u64, FunctionId, FunctionId);
/// The same with target file, target line, and `true` for a conditional jump.
type JumpKey = (usize, u64, FileId, u64, bool);

/// Sums while lines are read.
#[derive(Debug)]
struct FileSums {
    self_costs: KeyedCosts<LineKey>,
    calls: KeyedCalls<CallKey>,
    /// The numbers of jumps taken and reached.
    jumps: Map<JumpKey, (Cost, Cost)>,
}

impl FileSums {
    fn new(width: usize) -> Self {
        FileSums { self_costs: KeyedCosts::new(width), calls: KeyedCalls::new(width), jumps: Map::default() }
    }

    fn add(
        &mut self,
        targets: &[Option<usize>],
        events: &[EventId],
        function: FunctionId,
        line: BlockLine<'_>,
    ) {
        let (BlockLine::SelfCost { place, .. }
        | BlockLine::Calls { place, .. }
        | BlockLine::Jump { place, .. }) = line;
        let Some(file) = targets[place.file.index()] else { return };
        let line_number = place.line.unwrap_or_default();
        match line {
            BlockLine::SelfCost { costs, .. } => {
                self.self_costs.add_line((file, line_number), &costs, events);
            }
            BlockLine::Calls { callee, count, costs, .. } => {
                self.calls.add_line((file, line_number, function, callee), count, &costs, events);
            }
            BlockLine::Jump { taken, executed, target, .. } => {
                let target_line = target.line.unwrap_or_default();
                let key = (file, line_number, target.file, target_line, executed.is_some());
                let sum = self.jumps.entry(key).or_default();
                sum.0 += taken;
                sum.1 += executed.unwrap_or_default();
            }
        }
    }

    fn merge(&mut self, more: FileSums) {
        self.self_costs.merge(&more.self_costs);
        self.calls.merge(&more.calls);
        // Addition commutes, so the hash order does not show.
        more.jumps.into_iter().for_each(|(key, (taken, executed))| {
            let sum = self.jumps.entry(key).or_default();
            sum.0 += taken;
            sum.1 += executed;
        });
    }

    fn finish(self, count: usize) -> Vec<FileLines> {
        let width = self.self_costs.width();
        let empty = FileLines {
            lines: Vec::new(),
            costs: PartialCosts::new(width),
            calls: Vec::new(),
            call_costs: PartialCosts::new(width),
            jumps: Vec::new(),
        };
        let mut files = vec![empty; count];
        for ((file, line), row) in self.self_costs.sorted() {
            files[file].lines.push(line);
            files[file].costs.push(self.self_costs.row(row));
        }
        for ((file, line, caller, callee), count, costs) in self.calls.sorted() {
            files[file].calls.push(LineCalls { line, caller, callee, count });
            files[file].call_costs.push(costs);
        }
        let mut jumps: Vec<(JumpKey, (Cost, Cost))> = self.jumps.into_iter().collect();
        jumps.sort_unstable();
        for ((file, line, target_file, target_line, is_conditional), (taken, executed)) in jumps {
            let executed = is_conditional.then_some(executed);
            files[file].jumps.push(LineJumps { line, target_file, target_line, taken, executed });
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl FileLines {
        /// The self costs of a line.
        fn line(&self, line: u64) -> Option<PartialRow<'_>> {
            self.lines.binary_search(&line).ok().map(|row| self.costs.row(row))
        }
    }

    fn lines_of(file: &[u8], name: &[u8]) -> (Profile, FileLines) {
        let profile = Profile::from_bytes(file);
        let wanted = |id: FileId| (profile.file(id) == name).then_some(0);
        let lines = FileLines::read(&profile, &Selection::default(), 1, wanted).remove(0);
        (profile, lines)
    }

    #[test]
    fn lines_of_all_functions_add_up() {
        let (profile, lines) = lines_of(
            b"events: Ir Dr Dw\nfl=a.c\nfn=f\n3 1\n2 5 0\n+1 2\nfi=b.h\n3 100\nfe=a.c\n0 7\nfl=b.h\nfn=g\n9 1 1 1\n\
              fi=a.c\n3 4 0 9\ncfn=f\ncalls=2 2\n8 30\n",
            b"a.c",
        );
        assert_eq!(lines.lines, [0, 2, 3]);
        assert_eq!(lines.line(0).unwrap().iter().collect::<Vec<_>>(), [Some(7), None, None]);
        assert_eq!(lines.line(2).unwrap().iter().collect::<Vec<_>>(), [Some(5), Some(0), None]);
        assert_eq!(lines.line(3).unwrap().iter().collect::<Vec<_>>(), [Some(7), Some(0), Some(9)]);
        assert_eq!(lines.line(8), None);
        assert_eq!(lines.calls.len(), 1);
        assert_eq!((lines.calls[0].line, lines.calls[0].count), (8, 2));
        assert_eq!(profile.function(lines.calls[0].caller).name, b"g");
        assert_eq!(lines.call_costs.row(0).or_zero(), [30, 0, 0]);
        assert_eq!(lines.calls_on(8), 0..1);
        assert!(lines.calls_on(7).is_empty());
    }

    #[test]
    fn event_types_go_by_name_over_parts() {
        let (_, lines) = lines_of(
            b"events: Ir Dr\nfl=a.c\nfn=f\n1 1 2\ntotals: 1 2\npart: 2\nevents: Dr Ir\nfl=a.c\nfn=f\n1 10 20\n2 5\n",
            b"a.c",
        );
        assert_eq!(lines.line(1).unwrap().or_zero(), [21, 12]);
        assert_eq!(lines.line(2).unwrap().iter().collect::<Vec<_>>(), [None, Some(5)]);
    }

    #[test]
    fn jumps_to_one_target_are_one() {
        let (_, lines) = lines_of(
            b"events: Ir\nfl=a.c\nfn=f\n1 1\njcnd=1/3 9\n1\njcnd=2/4 9\n1\njump=5 9\n1\n2 1\njump=1 4\n2\n",
            b"a.c",
        );
        let rows: Vec<_> =
            lines.jumps.iter().map(|jump| (jump.line, jump.target_line, jump.taken, jump.executed)).collect();
        assert_eq!(rows, [(1, 9, 5, None), (1, 9, 3, Some(7)), (2, 4, 1, None)]);
        assert_eq!(lines.jumps_on(2).len(), 1);
    }
}
