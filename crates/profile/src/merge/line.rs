//! Merged lines of a function: sorted by key, each key once, packed as varints.

use std::cmp::Ordering;
use std::ops::Range;

use gristmill_format::Cost;

use super::id::FileName;
use super::line_key::LineKey;

use crate::index::varint::{number, push_number, unzigzag, zigzag};

/// The lines of one function.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedLines {
    bytes: Vec<u8>,
    count: usize,
}

impl PackedLines {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn iter(&self) -> LineIter<'_> {
        LineIter { bytes: &self.bytes, at: 0 }
    }

    /// Returns the byte range of each file's lines; the lines of a file are adjacent.
    pub(super) fn files(&self) -> Vec<(FileName, Range<usize>)> {
        let mut files: Vec<(FileName, Range<usize>)> = Vec::new();
        let mut lines = self.iter();
        let mut start = 0;
        while let Some(line) = lines.next() {
            match files.last_mut() {
                Some((file, range)) if *file == line.key.position.file => range.end = lines.at,
                _ => files.push((line.key.position.file, start..lines.at)),
            }
            start = lines.at;
        }
        files
    }

    /// Goes through the lines of such a range.
    pub(super) fn within(&self, range: Range<usize>) -> LineIter<'_> {
        LineIter { bytes: &self.bytes[..range.end], at: range.start }
    }

    /// Sums the lines under other keys.
    pub(super) fn relabeled(&self, change: impl Fn(&mut LineKey)) -> PackedLines {
        let mut relabeled = PackedLines::default();
        let mut buffer = LineBuffer::default();
        let mut row = Vec::new();
        for line in self.iter() {
            let mut key = line.key;
            change(&mut key);
            row.clear();
            line.add_to(&mut row);
            buffer.add(&mut relabeled, key, &row);
        }
        buffer.flush_into(&mut relabeled);
        relabeled
    }

    /// Returns the lines of all lists in one. It reads and writes each line once, however many lists there are.
    pub(super) fn merged(lists: &[PackedLines]) -> PackedLines {
        let bytes = lists.iter().map(|list| list.bytes.len()).sum();
        let mut merged = PackedLines { bytes: Vec::with_capacity(bytes), count: 0 };
        let mut row = Vec::new();
        for same in sorted(lists).chunk_by(|one, other| one.key == other.key) {
            match same {
                [only] => merged.push_packed(only),
                _ => {
                    row.clear();
                    same.iter().for_each(|line| line.add_to(&mut row));
                    merged.push(&same[0].key, &row);
                }
            }
        }
        merged
    }

    /// Returns the lines of all lists in one, with a row for the lines that differ in their run only. `combine` makes it.
    pub(super) fn combined(
        lists: &[PackedLines],
        mut combine: impl FnMut(&[PackedLine<'_>], &mut Vec<Cost>),
    ) -> PackedLines {
        let mut combined = PackedLines::default();
        let mut row = Vec::new();
        for same in sorted(lists).chunk_by(|one, other| one.key.without_run() == other.key.without_run()) {
            row.clear();
            combine(same, &mut row);
            combined.push(&same[0].key.without_run(), &row);
        }
        combined
    }

    fn push_packed(&mut self, line: &PackedLine<'_>) {
        line.key.push(&mut self.bytes);
        self.bytes.extend_from_slice(line.row);
        self.count += 1;
    }

    fn push(&mut self, key: &LineKey, row: &[Cost]) {
        key.push(&mut self.bytes);
        push_sparse(&mut self.bytes, row);
        self.count += 1;
    }
}

/// The lines of sorted lists, in the order of their keys.
fn sorted(lists: &[PackedLines]) -> Vec<PackedLine<'_>> {
    let mut lines: Vec<PackedLine<'_>> = lists.iter().flat_map(PackedLines::iter).collect();
    // Makes use of the order of each list.
    lines.sort_by_key(|line| line.key);
    lines
}

/// A line with its numbers still packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct PackedLine<'l> {
    pub(super) key: LineKey,
    row: &'l [u8],
}

impl PackedLine<'_> {
    /// Adds its numbers to a row, which grows as needed.
    pub(super) fn add_to(&self, row: &mut Vec<Cost>) {
        add_sparse(self.row, row);
    }

    /// Passes the index and value of each number that is not 0.
    pub(super) fn each_number(&self, take: impl FnMut(usize, Cost)) {
        read_sparse(self.row, take);
    }
}

/// An iterator over lines in the order of their keys.
#[derive(Debug)]
pub(super) struct LineIter<'l> {
    bytes: &'l [u8],
    at: usize,
}

impl<'l> Iterator for LineIter<'l> {
    type Item = PackedLine<'l>;

    fn next(&mut self) -> Option<PackedLine<'l>> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let key = LineKey::read(self.bytes, &mut self.at);
        let start = self.at;
        self.at += sparse_len(&self.bytes[start..]);
        Some(PackedLine { key, row: &self.bytes[start..self.at] })
    }
}

/// Lines in any order that wait to be merged into sorted ones.
#[derive(Debug, Default)]
pub(super) struct LineBuffer {
    keys: Vec<(LineKey, usize)>,
    rows: Vec<u8>,
}

/// The buffer is merged when it has this count of lines, or more for a long list.
const MIN_BUFFERED_LINES: usize = 1 << 14;

impl LineBuffer {
    /// Adds a line. Its row is a count and costs; for jumps, the counts of times taken and reached.
    fn push(&mut self, key: LineKey, row: &[Cost]) {
        self.keys.push((key, self.rows.len()));
        push_sparse(&mut self.rows, row);
    }

    /// Adds a line, and merges the buffer into the sorted lines if it is full: memory is proportional to the result, not to
    /// the input. The longer the sorted lines, the larger the buffer: the work is proportional to the input.
    pub(super) fn add(&mut self, kept: &mut PackedLines, key: LineKey, row: &[Cost]) {
        self.push(key, row);
        if self.keys.len() >= MIN_BUFFERED_LINES + kept.len() / 2 {
            self.flush_into(kept);
        }
    }

    /// Merges the buffer into the sorted lines.
    pub(super) fn flush_into(&mut self, kept: &mut PackedLines) {
        if self.keys.is_empty() {
            return;
        }
        self.keys.sort_unstable();
        let mut merged =
            PackedLines { bytes: Vec::with_capacity(kept.bytes.len() + self.rows.len()), count: 0 };
        let mut old = kept.iter().peekable();
        let mut new = self.keys.iter().peekable();
        let mut row = Vec::new();
        loop {
            let order = match (old.peek(), new.peek()) {
                (None, None) => break,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(old), Some((key, _))) => old.key.cmp(key),
            };
            row.clear();
            let mut key = LineKey::default();
            if order != Ordering::Greater
                && let Some(line) = old.next()
            {
                key = line.key;
                line.add_to(&mut row);
            }
            if order != Ordering::Less {
                key = new.peek().map_or(key, |(new, _)| *new);
                while let Some((_, at)) = new.next_if(|(new, _)| *new == key) {
                    add_sparse(&self.rows[*at..], &mut row);
                }
            }
            merged.push(&key, &row);
        }
        merged.bytes.shrink_to_fit();
        *kept = merged;
        self.keys.clear();
        self.rows.clear();
    }
}

/// Packs a row: its length, then its numbers; a run of zeros is a 0 and its length. Rows of profiles with many event types
/// can consist mostly of zeros.
fn push_sparse(bytes: &mut Vec<u8>, row: &[Cost]) {
    let len = row.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1);
    push_number(bytes, len as u128);
    let mut rest = &row[..len];
    while let [value, after @ ..] = rest {
        if *value == 0 {
            let zeros = rest.iter().take_while(|&&value| value == 0).count();
            push_number(bytes, 0);
            push_number(bytes, zeros as u128);
            rest = &rest[zeros..];
        } else {
            push_number(bytes, zigzag(*value));
            rest = after;
        }
    }
}

/// Reads a packed row: calls `take` with the index and the value of each number that is not 0. Returns the row's end.
fn read_sparse(bytes: &[u8], mut take: impl FnMut(usize, Cost)) -> usize {
    // It was packed from a length.
    let size = |value: u128| value as usize;
    let (len, mut at) = number(bytes, 0);
    let len = size(len);
    let mut index = 0;
    while index < len {
        let value;
        (value, at) = number(bytes, at);
        if value == 0 {
            let zeros;
            (zeros, at) = number(bytes, at);
            index += size(zeros);
        } else {
            take(index, unzigzag(value));
            index += 1;
        }
    }
    at
}

fn add_sparse(bytes: &[u8], row: &mut Vec<Cost>) {
    read_sparse(bytes, |index, value| {
        if row.len() <= index {
            row.resize(index + 1, 0);
        }
        row[index] += value;
    });
}

fn sparse_len(bytes: &[u8]) -> usize {
    read_sparse(bytes, |_, _| ())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::id::MergedFunction;
    use super::super::line_key::{LineKind, LinePosition};
    use super::*;

    fn key(numbers: [u8; 4]) -> LineKey {
        let [line, kind, function, run] = numbers;
        let kind = [LineKind::SelfCost, LineKind::Calls, LineKind::Jump, LineKind::ConditionalJump]
            [usize::from(kind % 4)];
        let position = LinePosition { line: line.into(), address: u64::MAX, ..LinePosition::default() };
        let leads = kind != LineKind::SelfCost;
        let file = FileName::from_u32(7);
        let target = if leads { LinePosition { file, ..position } } else { LinePosition::default() };
        let function = (leads && function > 0).then(|| MergedFunction::from_u32(function.into()));
        LineKey { position, kind, function, target, run: run.into() }
    }

    proptest! {
        #[test]
        fn sums_are_those_of_a_map(
            pieces in prop::collection::vec(
                prop::collection::vec((prop::array::uniform4(0..4u8), prop::collection::vec(any::<i64>(), 0..5)), 0..30),
                0..5,
            ),
        ) {
            let mut expected: BTreeMap<LineKey, Vec<Cost>> = BTreeMap::new();
            let mut lines = PackedLines::default();
            let mut buffer = LineBuffer::default();
            for (numbers, row) in pieces.iter().flatten() {
                let sums = expected.entry(key(*numbers)).or_default();
                sums.resize(sums.len().max(row.len()), 0);
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += Cost::from(value));
            }
            for piece in &pieces {
                for (numbers, row) in piece {
                    let row: Vec<Cost> = row.iter().map(|&value| value.into()).collect();
                    buffer.push(key(*numbers), &row);
                }
                buffer.flush_into(&mut lines);
            }
            let found: Vec<(LineKey, Vec<Cost>)> = lines
                .iter()
                .map(|line| {
                    let mut row = Vec::new();
                    line.add_to(&mut row);
                    (line.key, row)
                })
                .collect();
            for row in expected.values_mut() {
                row.truncate(row.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1));
            }
            prop_assert_eq!(lines.len(), expected.len());
            prop_assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
