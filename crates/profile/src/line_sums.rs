//! Sums of costs by file, function and line, under names that the caller gives.
//!
//! A [`Profile`](crate::Profile) has its costs under the names of its files. Merging and comparing add up costs under other
//! names.

use gristmill_format::Cost;

use crate::hash::Map;
use crate::id::define_ids;
use crate::index::sum_builder::{GroupList, SumBuilder, rename_keys};
use crate::index::sum_table::{SumOffset, SumTable};
use crate::owned_names::OwnedNames;
use crate::tuning::Tuning;

/// A builder of sums by file, function and line.
///
/// ```
/// use gristmill_profile::LineSums;
///
/// let mut sums = LineSums::new(1);
/// sums.begin(b"mill.c", b"main");
/// sums.add(5, &[10]);
/// sums.add(3, &[20]);
/// sums.begin(b"mill.c", b"main");
/// sums.add(5, &[-4]);
///
/// let mut lines = Vec::new();
/// sums.finish().each(|line| lines.push((line.line, line.costs[0])));
/// assert_eq!(lines, [(5, 6), (3, 20)]);
/// ```
#[derive(Debug)]
pub struct LineSums {
    width: usize,
    names: SummedNames,
    pairs: Vec<Pair>,
    pair_ids: Map<PairNames, PairId>,
    lines: Vec<LineOfPair>,
    /// Lines by pair and line number, for pairs whose lines are looked up.
    line_ids: Map<(PairId, u64), LineId>,
    sums: SumBuilder<1>,
    current: Option<PairId>,
    /// The latest line of the current pair.
    last: Option<LineId>,
    /// The lines since the pair was named: members of a group, and their number.
    group: GroupList<1>,
    group_count: u16,
    /// Buffer of a row: a count, which is 0 here, and the costs.
    row: Vec<Cost>,
}

define_ids! {
    /// A file of sums by line. See [`SummedNames`].
    pub SummedFileId;
    /// A function of sums by line. See [`SummedNames`].
    pub SummedFunctionId;
    /// A pair of a file and a function.
    pub(crate) PairId;
    /// A line of a pair.
    pub(crate) LineId;
}

/// The names of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PairNames {
    file: SummedFileId,
    function: SummedFunctionId,
}

/// The names of files and functions of [`LineSums`], each once.
///
/// ```
/// use gristmill_profile::LineSums;
///
/// let mut sums = LineSums::new(1);
/// let (file, main) = (sums.file(b"mill.c"), sums.function(b"main"));
/// sums.begin_at(file, main);
/// sums.add(5, &[10]);
/// let names = sums.finish().into_names();
/// assert_eq!((names.file(file), names.function(main)), (&b"mill.c"[..], &b"main"[..]));
/// ```
#[derive(Debug, Default)]
pub struct SummedNames {
    files: OwnedNames,
    functions: OwnedNames,
}

impl SummedNames {
    /// Returns the path of a file.
    pub fn file(&self, id: SummedFileId) -> &[u8] {
        self.files.name(id.to_u32())
    }

    /// Returns the name of a function.
    pub fn function(&self, id: SummedFunctionId) -> &[u8] {
        self.functions.name(id.to_u32())
    }
}

/// A file and a function, with a linked list of lines.
#[derive(Debug)]
struct Pair {
    names: PairNames,
    /// First and last line, in the order in which they came.
    ends: Option<(LineId, LineId)>,
    /// Greatest line number. A line beyond it is new.
    max_line: u64,
    /// `true` if its lines are in the hash table.
    is_looked_up: bool,
}

#[derive(Debug)]
struct LineOfPair {
    line: u64,
    next: Option<LineId>,
}

/// Lines of a pair that are searched before its lines are looked up in a hash table.
const MAX_SEARCHED: usize = 8;

/// Sums by file, function and line. See the example of [`LineSums`].
#[derive(Debug)]
pub struct SummedLines {
    width: usize,
    names: SummedNames,
    pairs: Vec<PairNames>,
    lines: Vec<LineOfPair>,
    sums: SumTable,
    end: SumOffset,
}

/// The sum of a line. See the example of [`LineSums`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummedLine<'n, 'c> {
    /// Path of the source file.
    pub file: &'n [u8],
    /// The id of the source file.
    pub file_id: SummedFileId,
    /// Name of the function.
    pub function: &'n [u8],
    /// The id of the function's name.
    pub function_id: SummedFunctionId,
    /// Line number.
    pub line: u64,
    /// Sums, one for each event type.
    pub costs: &'c [Cost],
}

impl LineSums {
    /// Creates an empty builder for this many event types.
    pub fn new(width: usize) -> Self {
        LineSums {
            width,
            names: SummedNames::default(),
            pairs: Vec::new(),
            pair_ids: Map::default(),
            lines: Vec::new(),
            line_ids: Map::default(),
            sums: SumBuilder::new(Tuning::default()),
            current: None,
            last: None,
            group: GroupList::default(),
            group_count: 0,
            row: Vec::new(),
        }
    }

    /// Returns the id of a path, for [`LineSums::begin_at`].
    pub fn file(&mut self, path: &[u8]) -> SummedFileId {
        SummedFileId::from_u32(self.names.files.intern(path))
    }

    /// Returns the id of a function's name, for [`LineSums::begin_at`].
    pub fn function(&mut self, name: &[u8]) -> SummedFunctionId {
        SummedFunctionId::from_u32(self.names.functions.intern(name))
    }

    /// Sets the file and function of the following lines.
    pub fn begin(&mut self, file: &[u8], function: &[u8]) {
        let (file, function) = (self.file(file), self.function(function));
        self.begin_at(file, function);
    }

    /// Does the same as [`LineSums::begin`]. A long path takes no time.
    pub fn begin_at(&mut self, file: SummedFileId, function: SummedFunctionId) {
        self.end_group();
        let names = PairNames { file, function };
        let pairs = &mut self.pairs;
        self.current = Some(*self.pair_ids.entry(names).or_insert_with(|| {
            pairs.push(Pair { names, ends: None, max_line: 0, is_looked_up: false });
            PairId::new(pairs.len() - 1)
        }));
        self.last = None;
    }

    /// Adds the costs of a line.
    pub fn add(&mut self, line: u64, costs: &[Cost]) {
        let pair = match self.current {
            Some(pair) => pair,
            None => {
                self.begin(b"", b"");
                PairId::FIRST
            }
        };
        let line = self.line(pair, line);
        self.last = Some(line);
        self.row.clear();
        self.row.push(0);
        self.row.extend_from_slice(costs);
        self.group.push_member(line.to_u32(), &self.row);
        self.group_count += 1;
        if self.group_count == u16::MAX {
            self.end_group();
        }
    }

    /// Returns the id of a line of the current pair.
    ///
    /// Files list lines in much the same order, so the next line is most often the one that came next before, or one
    /// beyond all others. Looking up each of them took half of the time of merging.
    fn line(&mut self, pair: PairId, line: u64) -> LineId {
        let Pair { ends, max_line, .. } = self.pairs[pair.index()];
        if let Some((first, _)) = ends
            && line <= max_line
        {
            let mut near = Some(self.last.unwrap_or(first));
            for _ in 0..MAX_SEARCHED {
                let Some(id) = near else { break };
                let found = &self.lines[id.index()];
                if found.line == line {
                    return id;
                }
                near = found.next;
            }
            if let Some(known) = self.look_up(pair, line) {
                return known;
            }
        }
        let id = LineId::new(self.lines.len());
        self.lines.push(LineOfPair { line, next: None });
        if let Some((_, last)) = ends {
            self.lines[last.index()].next = Some(id);
        }
        let known = &mut self.pairs[pair.index()];
        known.ends = Some((ends.map_or(id, |(first, _)| first), id));
        known.max_line = max_line.max(line);
        if known.is_looked_up {
            self.line_ids.insert((pair, line), id);
        }
        id
    }

    fn look_up(&mut self, pair: PairId, line: u64) -> Option<LineId> {
        let known = &mut self.pairs[pair.index()];
        if !known.is_looked_up {
            known.is_looked_up = true;
            let mut next = known.ends.map(|(first, _)| first);
            while let Some(id) = next {
                let found = &self.lines[id.index()];
                self.line_ids.insert((pair, found.line), id);
                next = found.next;
            }
        }
        self.line_ids.get(&(pair, line)).copied()
    }

    fn end_group(&mut self) {
        if let Some(pair) = self.current
            && self.group_count > 0
        {
            self.group.end_group(pair.to_u32(), [std::mem::take(&mut self.group_count)]);
            self.sums.add(&self.group, [()], |pair| pair, |(), line| line);
            self.group.clear();
        }
    }

    /// Returns the sums. Files are in the order in which they were first named, and so are the functions of a file.
    pub fn finish(self) -> SummedLines {
        self.finish_in_order(|_| ())
    }

    /// Returns the sums. Files are sorted by name, and so are the functions of a file.
    pub fn finish_by_name(self) -> SummedLines {
        self.finish_in_order(|(file, function)| (file.to_vec(), function.to_vec()))
    }

    fn finish_in_order<K: Ord>(mut self, key: impl Fn((&[u8], &[u8])) -> K) -> SummedLines {
        self.end_group();
        // The functions of a file belong together, though another file may have come between them.
        let mut order: Vec<PairId> = (0..self.pairs.len()).map(PairId::new).collect();
        order.sort_by_cached_key(|&pair| {
            let PairNames { file, function } = self.pairs[pair.index()].names;
            (key((self.names.file(file), self.names.function(function))), file, pair)
        });
        let mut ranks = vec![0; order.len()];
        (0..).zip(&order).for_each(|(rank, &pair)| ranks[pair.index()] = rank);
        let mut sums = SumTable::default();
        let start = sums.end();
        self.sums.seal(1, [&mut sums]);
        if !order.is_sorted() {
            let rank = |(), (pair, line)| (ranks[pair as usize], line);
            rename_keys([&mut sums], [()], &mut [[start]], Tuning::default(), rank);
        }
        SummedLines {
            width: self.width,
            names: self.names,
            pairs: order.into_iter().map(|pair| self.pairs[pair.index()].names).collect(),
            lines: self.lines,
            end: sums.end(),
            sums,
        }
    }
}

impl SummedLines {
    /// Passes on the sums, file by file and function by function. Lines are in the order in which they first came.
    pub fn each<'n>(&'n self, mut take: impl FnMut(SummedLine<'n, '_>)) {
        self.sums.for_each(SumOffset::default()..self.end, self.width, |(pair, line), _, costs| {
            let PairNames { file, function } = self.pairs[pair as usize];
            take(SummedLine {
                file: self.names.file(file),
                file_id: file,
                function: self.names.function(function),
                function_id: function,
                line: self.lines[line as usize].line,
                costs,
            });
        });
    }

    /// Returns the names, without the sums.
    pub fn into_names(self) -> SummedNames {
        self.names
    }

    /// Returns how many lines there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns `true` if there are no lines.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Entry = (String, String, u64, Vec<Cost>);

    fn read(sums: LineSums) -> Vec<Entry> {
        let mut lines = Vec::new();
        let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
        sums.finish().each(|line| {
            lines.push((text(line.file), text(line.function), line.line, line.costs.to_vec()));
        });
        lines
    }

    #[test]
    fn functions_of_a_file_come_together() {
        let mut sums = LineSums::new(1);
        for (file, function, line, cost) in
            [("a", "f", 2, 1), ("b", "f", 9, 2), ("a", "g", 1, 4), ("a", "f", 1, 8), ("b", "f", 9, 16)]
        {
            sums.begin(file.as_bytes(), function.as_bytes());
            sums.add(line, &[cost]);
        }
        let entry =
            |file: &str, function: &str, line, cost| (file.to_owned(), function.to_owned(), line, vec![cost]);
        assert_eq!(
            read(sums),
            [entry("a", "f", 2, 1), entry("a", "f", 1, 8), entry("a", "g", 1, 4), entry("b", "f", 9, 18)]
        );
    }

    #[test]
    fn names_can_be_sorted() {
        let mut sums = LineSums::new(1);
        for (file, function) in [("b", "f"), ("a", "g"), ("b", "e"), ("a", "f"), ("", "")] {
            sums.begin(file.as_bytes(), function.as_bytes());
            sums.add(3, &[1]);
        }
        let mut names = Vec::new();
        sums.finish_by_name().each(|line| names.push([line.file, line.function].concat()));
        assert_eq!(names, [&b""[..], b"af", b"ag", b"be", b"bf"]);
    }

    #[test]
    fn costs_before_any_name_are_kept() {
        let mut sums = LineSums::new(2);
        sums.add(u64::MAX, &[1, 2]);
        assert_eq!(read(sums), [(String::new(), String::new(), u64::MAX, vec![1, 2])]);
        assert!(read(LineSums::new(2)).is_empty());
    }

    proptest! {
        /// The reference is a list that is searched from its start.
        #[test]
        fn sums_agree_with_a_plain_list(
            entries in prop::collection::vec(
                ("[ab]", "[fg]", prop_oneof![0u64..4, 0u64..40], prop::collection::vec(-9i128..1 << 70, 2)), 0..200,
            ),
        ) {
            let mut sums = LineSums::new(2);
            let mut plain: Vec<Entry> = Vec::new();
            let mut last = None;
            for (file, function, line, costs) in &entries {
                if last.replace((file, function)) != Some((file, function)) {
                    sums.begin(file.as_bytes(), function.as_bytes());
                }
                sums.add(*line, costs);
                let same = plain.iter_mut().find(|entry| {
                    (&entry.0, &entry.1, entry.2) == (file, function, *line)
                });
                match same {
                    Some(entry) => entry.3.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost),
                    None => plain.push((file.clone(), function.clone(), *line, costs.clone())),
                }
            }
            let first = |plain: &[Entry], entry: &Entry| {
                let file = plain.iter().position(|other| other.0 == entry.0);
                let function = plain.iter().position(|other| (&other.0, &other.1) == (&entry.0, &entry.1));
                (file, function)
            };
            let mut expected = plain.clone();
            expected.sort_by_key(|entry| first(&plain, entry));
            prop_assert_eq!(read(sums), expected);
        }
    }
}
