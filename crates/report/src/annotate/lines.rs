//! What each line of the source files costs: the ground of every layout.

use std::ops::Range;

use gristmill_format::Cost;
use gristmill_profile::hash::Map;
use gristmill_profile::{BlockLine, EventId, FileId, FunctionId, Profile, Selection};

use super::given::GivenCosts;
use super::keyed::{KeyedCalls, KeyedCosts, range_of};

/// What the lines of one source file cost, whatever functions they are part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileLines {
    /// The lines that have costs, ascending, each once. Line 0 stands for those that are not known.
    pub(super) lines: Vec<u64>,
    /// Self costs: a row for each of the lines.
    pub(super) costs: GivenCosts,
    /// The calls that are made on lines, by line, then caller, then callee, each three of them once.
    pub(super) calls: Vec<CallRow>,
    /// Inclusive costs: a row for each of the calls.
    pub(super) call_costs: GivenCosts,
    /// The jumps that start on lines, by line, then target.
    pub(super) jumps: Vec<JumpRow>,
}

/// The calls from a line to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CallRow {
    /// The line they are made on; it need not have costs of its own.
    pub(super) line: u64,
    /// The function that the line is part of.
    pub(super) caller: FunctionId,
    /// The function that is called.
    pub(super) callee: FunctionId,
    /// How often. May be 0 where the calls were counted in another part.
    pub(super) count: Cost,
}

/// The jumps from a line to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct JumpRow {
    /// The line they start on; it need not have costs of its own.
    pub(super) line: u64,
    /// The source file that they lead to.
    pub(super) target_file: FileId,
    /// The line that they lead to; 0 if it is not known.
    pub(super) target_line: u64,
    /// How often they were taken.
    pub(super) taken: Cost,
    /// For conditional jumps, how often they were reached.
    pub(super) executed: Option<Cost>,
}

impl FileLines {
    /// Reads all lines of the selected parts, on all cores, and sums up what stands on those of some source files.
    ///
    /// `place` says which of `count` results a file goes to; several may go to the same, and those with None are left
    /// out.
    pub(super) fn read(
        profile: &Profile,
        selection: &Selection,
        count: usize,
        place: impl Fn(FileId) -> Option<usize>,
    ) -> Vec<FileLines> {
        Self::read_some(profile, selection, count, place, |_| true)
    }

    /// The same for the lines of some functions.
    pub(super) fn read_some(
        profile: &Profile,
        selection: &Selection,
        count: usize,
        place: impl Fn(FileId) -> Option<usize>,
        is_wanted: impl Fn(FunctionId) -> bool + Sync,
    ) -> Vec<FileLines> {
        let width = profile.event_count();
        let places: Vec<Option<usize>> = (0..profile.file_count())
            .map(|file| place(FileId::new(file)).filter(|&place| place < count))
            .collect();
        let mut sums = Sums::new(width);
        for part in profile.selected(selection) {
            let events = part.event_types();
            let read = profile.fold_lines(
                &part,
                || Sums::new(width),
                |sums: &mut Sums, function, line| {
                    if is_wanted(function) {
                        sums.take(&places, events, function, line);
                    }
                },
            );
            read.into_iter().for_each(|more| sums.merge(more));
        }
        sums.finish(count)
    }

    /// The calls that are made on a line: where they are in `calls`, and in `call_costs`.
    pub(super) fn calls_on(&self, line: u64) -> Range<usize> {
        range_of(&self.calls, &line, |call| call.line)
    }

    /// The jumps that start on a line.
    pub(super) fn jumps_on(&self, line: u64) -> &[JumpRow] {
        &self.jumps[range_of(&self.jumps, &line, |jump| jump.line)]
    }
}

/// Place of the file, and line.
type LineKey = (usize, u64);
/// The same, caller and callee.
type CallKey = (usize, u64, FunctionId, FunctionId);
/// The same, target file, target line, and whether it is conditional.
type JumpKey = (usize, u64, FileId, u64, bool);

/// Sums while lines are read.
#[derive(Debug)]
struct Sums {
    selves: KeyedCosts<LineKey>,
    calls: KeyedCalls<CallKey>,
    jumps: Map<JumpKey, (Cost, Cost)>,
}

impl Sums {
    fn new(width: usize) -> Self {
        Sums { selves: KeyedCosts::new(width), calls: KeyedCalls::new(width), jumps: Map::default() }
    }

    fn take(
        &mut self,
        places: &[Option<usize>],
        events: &[EventId],
        function: FunctionId,
        line: BlockLine<'_>,
    ) {
        let (BlockLine::SelfCost { place, .. }
        | BlockLine::Calls { place, .. }
        | BlockLine::Jump { place, .. }) = line;
        let Some(Some(file)) = places.get(place.file.index()).copied() else { return };
        let number = place.line.unwrap_or_default();
        match line {
            BlockLine::SelfCost { costs, .. } => {
                self.selves.add_line((file, number), &costs, events);
            }
            BlockLine::Calls { callee, count, costs, .. } => {
                self.calls.add_line((file, number, function, callee), count, &costs, events);
            }
            BlockLine::Jump { taken, executed, target, .. } => {
                let target_line = target.line.unwrap_or_default();
                let key = (file, number, target.file, target_line, executed.is_some());
                let sum = self.jumps.entry(key).or_default();
                sum.0 += taken;
                sum.1 += executed.unwrap_or_default();
            }
        }
    }

    fn merge(&mut self, more: Sums) {
        self.selves.merge(&more.selves);
        self.calls.merge(&more.calls);
        // Sums, so their order changes nothing.
        more.jumps.into_iter().for_each(|(key, (taken, executed))| {
            let sum = self.jumps.entry(key).or_default();
            sum.0 += taken;
            sum.1 += executed;
        });
    }

    fn finish(self, count: usize) -> Vec<FileLines> {
        let width = self.selves.width();
        let mut files: Vec<FileLines> = (0..count)
            .map(|_| FileLines {
                lines: Vec::new(),
                costs: GivenCosts::new(width),
                calls: Vec::new(),
                call_costs: GivenCosts::new(width),
                jumps: Vec::new(),
            })
            .collect();
        for ((place, line), row) in self.selves.sorted() {
            let file = &mut files[place];
            file.lines.push(line);
            file.costs.push(self.selves.row(row));
        }
        for ((place, line, caller, callee), row) in self.calls.costs.sorted() {
            let file = &mut files[place];
            file.calls.push(CallRow { line, caller, callee, count: self.calls.counts[row] });
            file.call_costs.push(self.calls.costs.row(row));
        }
        let mut jumps: Vec<(JumpKey, (Cost, Cost))> = self.jumps.into_iter().collect();
        jumps.sort_unstable();
        for ((place, line, target_file, target_line, is_conditional), (taken, executed)) in jumps {
            let executed = is_conditional.then_some(executed);
            files[place].jumps.push(JumpRow { line, target_file, target_line, taken, executed });
        }
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::given::GivenRow;

    impl FileLines {
        /// The self costs of a line.
        fn line(&self, line: u64) -> Option<GivenRow<'_>> {
            self.lines.binary_search(&line).ok().map(|row| self.costs.row(row))
        }
    }

    fn lines_of(file: &[u8], name: &[u8]) -> (Profile, FileLines) {
        let profile = Profile::of(file);
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
