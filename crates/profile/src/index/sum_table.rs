//! The sealed sums of costs of a profile, by part and by a pair of ids.
//!
//! # Layout
//!
//! A table holds the sums of one part after the other. The sums of a part are sorted by key, a pair of ids, and those
//! with the same first id are a group. Ids are stored as differences from the one before, so most take a byte. All numbers
//! are [varints](super::varint), and a [row](super::cost_rows) is a count of calls and the costs:
//!
//! ```text
//! group:  first id, as a difference | number of sums | sum | sum | …
//! sum:    second id, as a difference | row
//!
//! 7 calls 8 (3 times, cost 50) and 9 (once, cost 20), 8 calls 9 (once, cost 4):
//!         7 | 2 | 8 | [3, 50] | 1 | [1, 20]
//!         1 | 1 | 9 | [1, 4]
//! ```
//!
//! Several threads may write the sums of one part, each into a segment of its own. A part can be read from its start and
//! from each checkpoint, so several threads can read one part as well.

use std::iter::once;
use std::ops::Range;

use gristmill_format::Cost;

use super::cost_rows::{add_row, add_whole_row, row_end};
use super::varint::{number, push_number};

/// The sums of all parts by a pair of ids, sealed: nothing is added to a part that is in the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct SumTable {
    segments: Vec<Segment>,
    sum_count: usize,
    /// In order. Every segment but the first begins with one.
    checkpoints: Vec<Checkpoint>,
}

/// Consecutive bytes of the table. The first run of a part continues the last segment; each other run with sums has its own.
#[derive(Debug, Clone, Default)]
struct Segment {
    /// Offset of its first byte in the table.
    start: usize,
    bytes: Vec<u8>,
}

/// Equal if the sums are; segments and checkpoints depend on the number of threads.
impl PartialEq for SumTable {
    fn eq(&self, other: &Self) -> bool {
        let [these, others] =
            [self, other].map(|table| table.segments.iter().flat_map(|segment| &segment.bytes));
        self.end() == other.end() && these.eq(others)
    }
}

/// An offset between two groups of a table.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct SumOffset {
    byte: usize,
    /// Sums before it.
    sum_count: usize,
}

impl SumOffset {
    /// Returns how many sums are between this offset and a later one.
    pub(crate) fn count_to(self, end: SumOffset) -> usize {
        end.sum_count - self.sum_count
    }
}

/// An offset where the groups of a part can be read without those before.
#[derive(Debug, Clone, Copy)]
struct Checkpoint {
    offset: SumOffset,
    /// First id of the group before it in the same part; 0 at the start of the part.
    first_before: u32,
}

/// Consecutive groups of one part in one segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SumRun {
    start: Checkpoint,
    end: SumOffset,
}

impl SumRun {
    /// Returns how many sums it has.
    pub(crate) fn count(&self) -> usize {
        self.start.offset.count_to(self.end)
    }
}

impl SumTable {
    /// Returns the offset where the next sums will be.
    pub(crate) fn end(&self) -> SumOffset {
        let byte = self.segments.last().map_or(0, |last| last.start + last.bytes.len());
        SumOffset { byte, sum_count: self.sum_count }
    }

    /// Starts a group of this many sums behind one with another first id of the same part, and returns the bytes that the
    /// sums must be appended to.
    pub(crate) fn begin_group(
        &mut self,
        first_before: u32,
        first: u32,
        sum_count: u32,
        checkpoint_bytes: usize,
    ) -> &mut Vec<u8> {
        let last = self.checkpoints.last().map_or(0, |checkpoint| checkpoint.offset.byte);
        let end = self.end();
        if end.byte - last >= checkpoint_bytes {
            self.checkpoints.push(Checkpoint { offset: end, first_before });
        }
        self.sum_count += sum_count as usize;
        if self.segments.is_empty() {
            self.segments.push(Segment::default());
        }
        let segment = self.segments.len() - 1;
        let bytes = &mut self.segments[segment].bytes;
        push_number(bytes, (first - first_before).into());
        push_number(bytes, sum_count.into());
        bytes
    }

    /// Appends what another thread wrote. Its first group follows one with this first id, of the same part.
    pub(crate) fn append(&mut self, other: SumTable, first_before: u32) {
        let end = self.end();
        let begin = Checkpoint { offset: SumOffset::default(), first_before };
        for Segment { start, bytes } in other.segments {
            self.segments.push(Segment { start: end.byte + start, bytes });
        }
        self.checkpoints.extend(once(begin).chain(other.checkpoints).map(|checkpoint| {
            let SumOffset { byte, sum_count } = checkpoint.offset;
            let offset = SumOffset { byte: end.byte + byte, sum_count: end.sum_count + sum_count };
            Checkpoint { offset, ..checkpoint }
        }));
        self.sum_count += other.sum_count;
    }

    /// Divides the sums of a part into runs that several threads can share.
    pub(crate) fn runs(&self, range: Range<SumOffset>) -> impl Iterator<Item = SumRun> {
        let Range { start, end } = range;
        // A checkpoint at the very start or end adds nothing. A part without sums starts where it ends.
        let from = self.checkpoints.partition_point(|checkpoint| checkpoint.offset.byte <= start.byte);
        let to = self.checkpoints.partition_point(|checkpoint| checkpoint.offset.byte < end.byte).max(from);
        let inner = &self.checkpoints[from..to];
        let starts = once(Checkpoint { offset: start, first_before: 0 }).chain(inner.iter().copied());
        let ends = inner.iter().map(|checkpoint| checkpoint.offset).chain([end]);
        starts.zip(ends).map(|(start, end)| SumRun { start, end })
    }

    /// Passes on the sums of a part: key, count of calls, and this many costs.
    pub(crate) fn for_each(
        &self,
        range: Range<SumOffset>,
        width: usize,
        mut take: impl FnMut((u32, u32), Cost, &[Cost]),
    ) {
        self.runs(range).for_each(|run| self.for_each_of(&run, width, &mut take));
    }

    /// Passes on the sums of a run.
    pub(crate) fn for_each_of(
        &self,
        run: &SumRun,
        width: usize,
        mut take: impl FnMut((u32, u32), Cost, &[Cost]),
    ) {
        let mut values = vec![0; width + 1];
        let mut groups = self.groups(run);
        while let Some((first, count)) = groups.next_group() {
            let mut second = 0;
            for _ in 0..count {
                second += groups.next_number();
                values.fill(0);
                groups.byte = add_row(groups.bytes, groups.byte, &mut values);
                take((first, second), values[0], &values[1..]);
            }
        }
    }

    /// Passes on the sums up to the last one that is not 0, without counts: a row of very many event types has mostly few.
    pub(crate) fn for_each_short(&self, range: Range<SumOffset>, mut take: impl FnMut((u32, u32), &[Cost])) {
        let mut values = Vec::new();
        for run in self.runs(range) {
            let mut groups = self.groups(&run);
            while let Some((first, count)) = groups.next_group() {
                let mut second = 0;
                for _ in 0..count {
                    second += groups.next_number();
                    values.clear();
                    add_whole_row(groups.bytes, groups.byte, &mut values);
                    groups.byte = row_end(groups.bytes, groups.byte);
                    take((first, second), values.get(1..).unwrap_or_default());
                }
            }
        }
    }

    /// Returns the sums of all costs of a part, in this many columns.
    pub(crate) fn totals(&self, range: Range<SumOffset>, width: usize) -> Vec<Cost> {
        let mut totals = vec![0; width + 1];
        for mut groups in self.groups_of(range) {
            while let Some((_, count)) = groups.next_group() {
                for _ in 0..count {
                    groups.next_number();
                    groups.byte = add_row(groups.bytes, groups.byte, &mut totals);
                }
            }
        }
        // The first is the count of calls.
        totals.remove(0);
        totals
    }

    /// Returns cursors over the groups of a part.
    pub(crate) fn groups_of(&self, range: Range<SumOffset>) -> impl Iterator<Item = GroupCursor<'_>> {
        self.runs(range).map(|run| self.groups(&run))
    }

    fn groups(&self, run: &SumRun) -> GroupCursor<'_> {
        let from = run.start.offset.byte;
        let segment = self.segments.partition_point(|segment| segment.start <= from);
        // A table without sums has no segment.
        let segment = segment.checked_sub(1).map(|last| &self.segments[last]);
        let (start, bytes) = segment.map_or((from, &[][..]), |segment| (segment.start, &segment.bytes));
        GroupCursor {
            bytes: &bytes[..run.end.byte - start],
            byte: from - start,
            first: run.start.first_before,
        }
    }

    /// Frees memory that was reserved for more sums.
    pub(crate) fn release(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.bytes.shrink_to_fit());
        self.segments.shrink_to_fit();
        self.checkpoints.shrink_to_fit();
    }
}

/// A cursor over the groups of a run.
#[derive(Debug)]
pub(crate) struct GroupCursor<'s> {
    pub(crate) bytes: &'s [u8],
    /// Offset of the next group, or within a group of the next second id or row.
    pub(crate) byte: usize,
    first: u32,
}

impl GroupCursor<'_> {
    /// Returns the first id of the next group, and how many sums it has.
    #[inline]
    pub(crate) fn next_group(&mut self) -> Option<(u32, u32)> {
        if self.byte >= self.bytes.len() {
            return None;
        }
        self.first += self.next_number();
        Some((self.first, self.next_number()))
    }

    /// Returns the next number that is neither count of calls nor cost.
    #[inline]
    pub(crate) fn next_number(&mut self) -> u32 {
        let value;
        (value, self.byte) = number(self.bytes, self.byte);
        debug_assert!(u32::try_from(value).is_ok(), "written from 32 bits");
        #[expect(clippy::cast_possible_truncation, reason = "written from 32 bits")]
        let value = value as u32;
        value
    }
}
