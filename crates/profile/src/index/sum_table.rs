//! Sums of costs by part and by a pair of things, as a finished profile keeps them.

use gristmill_format::Cost;

use crate::index::cost_rows::{add_row, number, push_number};

/// The sums of all parts, one part after the other.
///
/// All sums with the same first number stand together: that number, as a difference from the one before, and how many there
/// are; then of each the second number, likewise, and its row.
#[derive(Debug, Clone, Default)]
pub(crate) struct SumTable {
    /// The bytes, one segment after the other. Several only where several threads wrote the sums of a part.
    segments: Vec<Segment>,
    /// How many sums there are.
    count: usize,
    /// Places between groups from which on a part can be read without what is before, in order. Every segment but the first
    /// begins with one.
    marks: Vec<Mark>,
}

#[derive(Debug, Clone, Default)]
struct Segment {
    /// How many bytes are in the segments before.
    start: usize,
    bytes: Vec<u8>,
}

impl PartialEq for SumTable {
    fn eq(&self, other: &Self) -> bool {
        // Where marks and segments are depends on how many threads there were.
        let [these, others] =
            [self, other].map(|table| table.segments.iter().flat_map(|segment| &segment.bytes));
        self.end() == other.end() && these.eq(others)
    }
}

/// Where the sums of a part begin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct SumPlace {
    at: usize,
    /// How many sums stand before.
    count: usize,
}

impl SumPlace {
    /// How many sums there are up to another place.
    pub(crate) fn count_to(self, to: SumPlace) -> usize {
        to.count - self.count
    }
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    place: SumPlace,
    /// The first number of the group before it, of the same part.
    first: u32,
}

/// Sums that follow each other, all of one part and in one segment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    from: Mark,
    to: SumPlace,
}

impl Stretch {
    /// How many sums there are.
    pub(crate) fn count(&self) -> usize {
        self.from.place.count_to(self.to)
    }
}

/// After so many bytes there is a mark.
const MARK_EVERY: usize = if cfg!(test) { 20 } else { 1 << 18 };

impl SumTable {
    /// Where the next sums will be.
    pub(crate) fn end(&self) -> SumPlace {
        let at = self.segments.last().map_or(0, |last| last.start + last.bytes.len());
        SumPlace { at, count: self.count }
    }

    /// Begins a group of so many sums with the same first number, which come after those of another number of the same part.
    /// Returns where they are to be written.
    pub(crate) fn begin_group(&mut self, first_before: u32, first: u32, count: u32) -> &mut Vec<u8> {
        let last = self.marks.last().map_or(0, |mark| mark.place.at);
        let end = self.end();
        if end.at - last >= MARK_EVERY {
            self.marks.push(Mark { place: end, first: first_before });
        }
        self.count += count as usize;
        if self.segments.is_empty() {
            self.segments.push(Segment::default());
        }
        let segment = self.segments.len() - 1;
        let bytes = &mut self.segments[segment].bytes;
        push_number(bytes, (first - first_before).into());
        push_number(bytes, count.into());
        bytes
    }

    /// Puts what another thread wrote at the end. Its first group comes after those of this number, of the same part.
    pub(crate) fn append(&mut self, other: SumTable, first_before: u32) {
        let end = self.end();
        let place = |place: SumPlace| SumPlace { at: end.at + place.at, count: end.count + place.count };
        let begin = Mark { place: SumPlace::default(), first: first_before };
        let marks = std::iter::once(begin).chain(other.marks);
        for Segment { start, bytes } in other.segments {
            self.segments.push(Segment { start: end.at + start, bytes });
        }
        self.marks.extend(marks.map(|mark| Mark { place: place(mark.place), ..mark }));
        self.count += other.count;
    }

    /// The sums of a part, between two places, in stretches that are short enough to be shared by several threads.
    pub(crate) fn stretches(&self, from: SumPlace, to: SumPlace) -> impl Iterator<Item = Stretch> {
        // A mark at the very beginning or end says nothing new; where there are no sums, both are the same.
        let first = self.marks.partition_point(|mark| mark.place.at <= from.at);
        let end = self.marks.partition_point(|mark| mark.place.at < to.at).max(first);
        let marks = &self.marks[first..end];
        let begins = std::iter::once(Mark { place: from, first: 0 }).chain(marks.iter().copied());
        let ends = marks.iter().map(|mark| mark.place).chain([to]);
        begins.zip(ends).map(|(from, to)| Stretch { from, to })
    }

    /// Hands out the sums between two places: key, how often, costs. There are as many costs as it is told.
    pub(crate) fn each(
        &self,
        from: SumPlace,
        to: SumPlace,
        width: usize,
        mut take: impl FnMut((u32, u32), Cost, &[Cost]),
    ) {
        self.stretches(from, to).for_each(|stretch| self.each_of(&stretch, width, &mut take));
    }

    /// Hands out the sums of a stretch.
    pub(crate) fn each_of(
        &self,
        stretch: &Stretch,
        width: usize,
        mut take: impl FnMut((u32, u32), Cost, &[Cost]),
    ) {
        let mut values = vec![0; width + 1];
        let mut groups = self.groups(stretch);
        while let Some((first, count)) = groups.next_group() {
            let mut second = 0;
            for _ in 0..count {
                second += groups.next_number();
                values.fill(0);
                groups.at = add_row(groups.bytes, groups.at, &mut values);
                take((first, second), values[0], &values[1..]);
            }
        }
    }

    /// Goes over the sums between two places.
    pub(crate) fn groups_between(&self, from: SumPlace, to: SumPlace) -> impl Iterator<Item = Groups<'_>> {
        self.stretches(from, to).map(|stretch| self.groups(&stretch))
    }

    /// Goes over the sums of a stretch.
    fn groups(&self, stretch: &Stretch) -> Groups<'_> {
        let from = stretch.from.place.at;
        let segment = self.segments.partition_point(|segment| segment.start <= from);
        let segment = segment.checked_sub(1).and_then(|last| self.segments.get(last));
        let (start, bytes) = segment.map_or((from, &[][..]), |segment| (segment.start, &segment.bytes));
        let bytes = bytes.get(..stretch.to.at - start).unwrap_or(bytes);
        Groups { bytes, at: from - start, first: stretch.from.first }
    }

    pub(crate) fn release(&mut self) {
        self.segments.iter_mut().for_each(|segment| segment.bytes.shrink_to_fit());
        self.segments.shrink_to_fit();
        self.marks.shrink_to_fit();
    }
}

/// Goes over sums of a part.
#[derive(Debug)]
pub(crate) struct Groups<'s> {
    pub(crate) bytes: &'s [u8],
    /// Where the next group begins, or within one the next number or row.
    pub(crate) at: usize,
    first: u32,
}

impl Groups<'_> {
    /// The first number of the next group, and how many sums there are.
    #[inline]
    pub(crate) fn next_group(&mut self) -> Option<(u32, u32)> {
        if self.at >= self.bytes.len() {
            return None;
        }
        self.first += self.next_number();
        Some((self.first, self.next_number()))
    }

    #[inline]
    pub(crate) fn next_number(&mut self) -> u32 {
        let value;
        (value, self.at) = number(self.bytes, self.at);
        u32::try_from(value).unwrap_or_default()
    }
}
