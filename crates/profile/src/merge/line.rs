//! The lines of a function, summed up: sorted, each place once, in as few bytes as they need.

use std::cmp::Ordering;
use std::ops::Range;

use gristmill_format::Cost;

use crate::index::cost_rows::{number, push_number, unzigzag, zigzag};

/// Where something is, by the numbers that names have in the merger; 0 where a profile does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Spot {
    pub(super) file: u32,
    pub(super) address: u64,
    pub(super) line: u64,
    pub(super) basic_block: u64,
}

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) enum Kind {
    #[default]
    SelfCost,
    Calls,
    Jump,
    ConditionalJump,
}

/// What makes two lines of a function the same line: their numbers are then added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct LineKey {
    pub(super) place: Spot,
    pub(super) kind: Kind,
    /// Who is called. For a jump the function that it leads to plus one, 0 where that is the same.
    pub(super) function: u32,
    /// Where calls and jumps lead; of a call the file is that of the callee, and 0 here.
    pub(super) target: Spot,
    /// Which run it is of, where runs are kept apart; else 0.
    pub(super) run: u32,
}

impl LineKey {
    fn push(&self, bytes: &mut Vec<u8>) {
        let mut push = |value: u64| push_number(bytes, u128::from(value));
        push(self.kind as u64);
        push(self.run.into());
        let mut push_spot = |spot: &Spot| {
            push(spot.file.into());
            push(spot.address);
            push(spot.line);
            push(spot.basic_block);
        };
        push_spot(&self.place);
        if self.kind != Kind::SelfCost {
            push_spot(&self.target);
            push(self.function.into());
        }
    }

    fn read(bytes: &[u8], at: &mut usize) -> LineKey {
        let mut next = || {
            let (value, after) = number(bytes, *at);
            *at = after;
            u64::try_from(value).unwrap_or_default()
        };
        let narrow = |value| u32::try_from(value).unwrap_or_default();
        let kind = match next() {
            1 => Kind::Calls,
            2 => Kind::Jump,
            3 => Kind::ConditionalJump,
            _ => Kind::SelfCost,
        };
        let run = narrow(next());
        let mut spot = || Spot { file: narrow(next()), address: next(), line: next(), basic_block: next() };
        let place = spot();
        if kind == Kind::SelfCost {
            return LineKey { place, run, ..LineKey::default() };
        }
        let target = spot();
        LineKey { place, kind, function: narrow(next()), target, run }
    }
}

/// The lines of one function.
#[derive(Debug, Clone, Default)]
pub(super) struct Lines {
    bytes: Vec<u8>,
    count: usize,
}

impl Lines {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    pub(super) fn iter(&self) -> LineIter<'_> {
        LineIter { bytes: &self.bytes, at: 0 }
    }

    /// The places at which the lines of each file begin and end; those of a file stand together.
    pub(super) fn files(&self) -> Vec<(u32, Range<usize>)> {
        let mut files: Vec<(u32, Range<usize>)> = Vec::new();
        let mut lines = self.iter();
        let mut start = 0;
        while let Some(line) = lines.next() {
            match files.last_mut() {
                Some((file, range)) if *file == line.key.place.file => range.end = lines.at,
                _ => files.push((line.key.place.file, start..lines.at)),
            }
            start = lines.at;
        }
        files
    }

    /// The lines between two such places.
    pub(super) fn within(&self, range: Range<usize>) -> LineIter<'_> {
        LineIter { bytes: self.bytes.get(..range.end).unwrap_or_default(), at: range.start }
    }

    fn push(&mut self, key: &LineKey, row: &[Cost]) {
        key.push(&mut self.bytes);
        push_sparse(&mut self.bytes, row);
        self.count += 1;
    }
}

/// A line as it is kept: its key, and its numbers still packed.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptLine<'l> {
    pub(super) key: LineKey,
    row: &'l [u8],
}

impl KeptLine<'_> {
    /// Adds its numbers to a row, which becomes as long as it need be.
    pub(super) fn add_to(&self, row: &mut Vec<Cost>) {
        add_sparse(self.row, row);
    }
}

/// Hands out lines in the order of their keys.
#[derive(Debug)]
pub(super) struct LineIter<'l> {
    bytes: &'l [u8],
    at: usize,
}

impl<'l> Iterator for LineIter<'l> {
    type Item = KeptLine<'l>;

    fn next(&mut self) -> Option<KeptLine<'l>> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let key = LineKey::read(self.bytes, &mut self.at);
        let start = self.at;
        self.at += sparse_len(&self.bytes[start..]);
        Some(KeptLine { key, row: &self.bytes[start..self.at] })
    }
}

/// Lines that come in any order, until they are put to those that are kept.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    keys: Vec<(LineKey, usize)>,
    rows: Vec<u8>,
}

/// So many lines at least come together before they are sorted in.
const FEWEST: usize = 1 << 14;

impl Gathered {
    /// Takes a line. The row is a count and costs; for jumps how often they were taken and reached.
    fn push(&mut self, key: LineKey, row: &[Cost]) {
        self.keys.push((key, self.rows.len()));
        push_sparse(&mut self.rows, row);
    }

    /// Takes a line that is to be put to those, and all that came before if they are many, so that memory is in
    /// proportion to what is kept and not to what is read. The more there is to go over, the more comes together before,
    /// so that the work stays in proportion as well.
    pub(super) fn add_to(&mut self, kept: &mut Lines, key: LineKey, row: &[Cost]) {
        self.push(key, row);
        if self.keys.len() >= FEWEST + kept.len() / 2 {
            self.flush_into(kept);
        }
    }

    /// Adds all lines to those that are kept.
    pub(super) fn flush_into(&mut self, kept: &mut Lines) {
        if self.keys.is_empty() {
            return;
        }
        self.keys.sort_unstable();
        let mut merged = Lines { bytes: Vec::with_capacity(kept.bytes.len() + self.rows.len()), count: 0 };
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
            let mut place = LineKey::default();
            if order != Ordering::Greater
                && let Some(line) = old.next()
            {
                place = line.key;
                line.add_to(&mut row);
            }
            if order != Ordering::Less {
                place = new.peek().map_or(place, |(key, _)| *key);
                while let Some((_, at)) = new.next_if(|(key, _)| *key == place) {
                    add_sparse(&self.rows[*at..], &mut row);
                }
            }
            merged.push(&place, &row);
        }
        merged.bytes.shrink_to_fit();
        *kept = merged;
        self.keys.clear();
        self.rows.clear();
    }
}

/// How long the row is, then its numbers; for zeros a 0 and how many there are. Profiles of many event types may have
/// rows of which most are zeros.
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

/// Reads the row that begins here: calls `take` with the place and the value of each number that is not 0. Returns where
/// the row ends.
fn read_sparse(bytes: &[u8], mut take: impl FnMut(usize, Cost)) -> usize {
    let size = |value| usize::try_from(value).unwrap_or(usize::MAX);
    let (len, mut at) = number(bytes, 0);
    let len = size(len);
    let mut place: usize = 0;
    while place < len && at < bytes.len() {
        let value;
        (value, at) = number(bytes, at);
        if value == 0 {
            let zeros;
            (zeros, at) = number(bytes, at);
            place = place.saturating_add(size(zeros));
        } else {
            take(place, unzigzag(value));
            place += 1;
        }
    }
    at
}

fn add_sparse(bytes: &[u8], row: &mut Vec<Cost>) {
    read_sparse(bytes, |place, value| {
        if row.len() <= place {
            row.resize(place + 1, 0);
        }
        row[place] += value;
    });
}

fn sparse_len(bytes: &[u8]) -> usize {
    read_sparse(bytes, |_, _| ())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn key(numbers: [u8; 4]) -> LineKey {
        let [line, kind, function, run] = numbers;
        let kind = [Kind::SelfCost, Kind::Calls, Kind::Jump, Kind::ConditionalJump][usize::from(kind % 4)];
        let place = Spot { line: line.into(), address: u64::MAX, ..Spot::default() };
        let leads = kind != Kind::SelfCost;
        let target = if leads { Spot { file: 7, ..place } } else { Spot::default() };
        LineKey { place, kind, function: if leads { function.into() } else { 0 }, target, run: run.into() }
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
            let mut lines = Lines::default();
            let mut gathered = Gathered::default();
            for (numbers, row) in pieces.iter().flatten() {
                let sums = expected.entry(key(*numbers)).or_default();
                sums.resize(sums.len().max(row.len()), 0);
                sums.iter_mut().zip(row).for_each(|(sum, &value)| *sum += Cost::from(value));
            }
            for piece in &pieces {
                for (numbers, row) in piece {
                    let row: Vec<Cost> = row.iter().map(|&value| value.into()).collect();
                    gathered.push(key(*numbers), &row);
                }
                gathered.flush_into(&mut lines);
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
