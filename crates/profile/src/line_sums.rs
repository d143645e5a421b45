//! Costs added up by file, function and line, under names that the caller gives.
//!
//! A [`Profile`](crate::Profile) keeps its costs under the names of its files, and only one of each function. Whoever
//! merges or compares files, or calls things by other names, adds up anew.

use gristmill_format::Cost;

use crate::hash::Map;
use crate::index::sum_builder::{GroupList, SumBuilder, rename_keys};
use crate::index::sum_table::{SumOffset, SumTable};
use crate::owned_names::OwnedNames;
use crate::tuning::Tuning;

/// Costs that are being added up.
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
    files: OwnedNames,
    functions: OwnedNames,
    pairs: Vec<Pair>,
    pair_numbers: Map<(u32, u32), u32>,
    lines: Vec<LineOfPair>,
    /// Pair and line, for pairs whose lines are looked up.
    line_numbers: Map<(u32, u64), u32>,
    sums: SumBuilder<1>,
    current: u32,
    /// The line of the current pair that came last.
    last: u32,
    /// What was added since the pair was named: members of a group, and how many there are.
    waiting: GroupList<1>,
    waiting_count: u16,
    /// How often, as tables of sums have it, and the costs.
    row: Vec<Cost>,
}

/// A file and a function.
#[derive(Debug)]
struct Pair {
    names: (u32, u32),
    /// Its lines, in the order in which they came, are a chain from this one.
    first: u32,
    end: u32,
    /// A line beyond it is new.
    greatest: u64,
    is_looked_up: bool,
}

#[derive(Debug)]
struct LineOfPair {
    line: u64,
    next: u32,
}

/// No line.
const NONE: u32 = u32::MAX;

/// So many lines of a pair are looked at before its lines are looked up.
const NEAR: usize = 8;

/// Costs that were added up.
#[derive(Debug)]
pub struct SummedLines {
    width: usize,
    files: OwnedNames,
    functions: OwnedNames,
    pairs: Vec<(u32, u32)>,
    lines: Vec<LineOfPair>,
    sums: SumTable,
    end: SumOffset,
}

/// The sum of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SummedLine<'a> {
    /// The source file.
    pub file: &'a [u8],
    /// The function.
    pub function: &'a [u8],
    /// The line.
    pub line: u64,
    /// The sums, one for each event type.
    pub costs: &'a [Cost],
}

impl LineSums {
    /// Nothing yet, for so many event types.
    pub fn new(width: usize) -> Self {
        LineSums {
            width,
            files: OwnedNames::default(),
            functions: OwnedNames::default(),
            pairs: Vec::new(),
            pair_numbers: Map::default(),
            lines: Vec::new(),
            line_numbers: Map::default(),
            sums: SumBuilder::new(Tuning::default()),
            current: 0,
            last: NONE,
            waiting: GroupList::default(),
            waiting_count: 0,
            row: Vec::new(),
        }
    }

    /// What follows is of this function.
    pub fn begin(&mut self, file: &[u8], function: &[u8]) {
        self.settle();
        let names = (self.files.intern(file), self.functions.intern(function));
        self.current = *self.pair_numbers.entry(names).or_insert_with(|| {
            self.pairs.push(Pair { names, first: NONE, end: NONE, greatest: 0, is_looked_up: false });
            narrow(self.pairs.len() - 1)
        });
        self.last = NONE;
    }

    /// Adds the costs of a line.
    pub fn add(&mut self, line: u64, costs: &[Cost]) {
        if self.pairs.is_empty() {
            self.begin(b"", b"");
        }
        self.last = self.number(line);
        self.row.clear();
        self.row.push(0);
        self.row.extend_from_slice(costs);
        self.waiting.push_member(self.last, &self.row);
        self.waiting_count += 1;
        if self.waiting_count == u16::MAX {
            self.settle();
        }
    }

    /// The number of a line of the current pair.
    ///
    /// Files list lines in much the same order, so the next line is most often the one that came next before, or one
    /// beyond all. Looking up each of them took half of the time that merging took.
    fn number(&mut self, line: u64) -> u32 {
        let pair = &self.pairs[self.current as usize];
        if pair.first != NONE && line <= pair.greatest {
            let mut near = if self.last == NONE { pair.first } else { self.last };
            for _ in 0..NEAR {
                let Some(found) = self.lines.get(near as usize) else { break };
                if found.line == line {
                    return near;
                }
                near = found.next;
            }
            if let Some(number) = self.look_up(line) {
                return number;
            }
        }
        let number = narrow(self.lines.len());
        self.lines.push(LineOfPair { line, next: NONE });
        let pair = &mut self.pairs[self.current as usize];
        match self.lines.get_mut(pair.end as usize) {
            Some(end) => end.next = number,
            None => pair.first = number,
        }
        pair.end = number;
        pair.greatest = pair.greatest.max(line);
        if pair.is_looked_up {
            self.line_numbers.insert((self.current, line), number);
        }
        number
    }

    fn look_up(&mut self, line: u64) -> Option<u32> {
        let pair = &mut self.pairs[self.current as usize];
        if !pair.is_looked_up {
            pair.is_looked_up = true;
            let mut next = pair.first;
            while let Some(found) = self.lines.get(next as usize) {
                self.line_numbers.insert((self.current, found.line), next);
                next = found.next;
            }
        }
        self.line_numbers.get(&(self.current, line)).copied()
    }

    fn settle(&mut self) {
        if self.waiting_count > 0 {
            self.waiting.end_group(self.current, [std::mem::take(&mut self.waiting_count)]);
            self.sums.add(&self.waiting, [()], |pair| pair, |(), line| line);
            self.waiting.clear();
        }
    }

    /// No more will be added. Files come in the order in which they were first named, and so do the functions of a file.
    pub fn finish(self) -> SummedLines {
        self.finish_in_order(|_| ())
    }

    /// No more will be added. Files come in the order of their names, and so do the functions of a file.
    pub fn finish_by_name(self) -> SummedLines {
        self.finish_in_order(|(file, function)| (file.to_vec(), function.to_vec()))
    }

    fn finish_in_order<K: Ord>(mut self, key: impl Fn((&[u8], &[u8])) -> K) -> SummedLines {
        self.settle();
        // Functions of a file belong together, though another file may have come between them.
        let mut order: Vec<u32> = (0..narrow(self.pairs.len())).collect();
        order.sort_by_cached_key(|&pair| {
            let (file, function) = self.pairs[pair as usize].names;
            (key((self.files.name(file), self.functions.name(function))), file, pair)
        });
        let mut ranks = vec![0; order.len()];
        (0..).zip(&order).for_each(|(rank, &pair)| ranks[pair as usize] = rank);
        let mut sums = SumTable::default();
        let start = sums.end();
        self.sums.seal(1, [&mut sums]);
        if !order.is_sorted() {
            let rank = |(), (pair, line)| (ranks[pair as usize], line);
            rename_keys([&mut sums], [()], &mut [[start]], Tuning::default(), rank);
        }
        SummedLines {
            width: self.width,
            files: self.files,
            functions: self.functions,
            pairs: order.into_iter().map(|pair| self.pairs[pair as usize].names).collect(),
            lines: self.lines,
            end: sums.end(),
            sums,
        }
    }
}

impl SummedLines {
    /// Hands out the sums: file by file and function by function, all in the order in which they first came.
    pub fn each(&self, mut take: impl FnMut(SummedLine<'_>)) {
        self.sums.for_each(SumOffset::default()..self.end, self.width, |(pair, line), _, costs| {
            let (file, function) = self.pairs[pair as usize];
            take(SummedLine {
                file: self.files.name(file),
                function: self.functions.name(function),
                line: self.lines[line as usize].line,
                costs,
            });
        });
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}

fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
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
    fn names_can_be_put_in_order() {
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
        /// The naive twin is a list that is searched from its beginning.
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
