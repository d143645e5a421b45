//! Sums of costs by part and by a pair of things, as a finished profile keeps them.

use std::mem::replace;

use gristmill_format::Cost;

use crate::ahead::{AHEAD, glance};
use crate::rows::{add_row, add_whole_row, number, push_number, push_other_row, push_row, row_end};
use crate::threads::{WORTH_A_THREAD, on_threads};

/// The sums of all parts, one part after the other.
///
/// All sums with the same first number stand together: that number, as a difference from the one before, and how many there
/// are; then of each the second number, likewise, and its row.
#[derive(Debug, Clone, Default)]
pub(crate) struct SumTable {
    bytes: Vec<u8>,
    /// How many sums there are.
    count: usize,
    /// Places between groups from which on a part can be read without what is before, in order.
    marks: Vec<Mark>,
}

impl PartialEq for SumTable {
    fn eq(&self, other: &Self) -> bool {
        // Where marks are depends on how many threads there were.
        self.bytes == other.bytes
    }
}

/// Where the sums of a part begin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct SumPlace {
    at: usize,
    /// How many sums stand before.
    count: usize,
}

#[derive(Debug, Clone, Copy)]
struct Mark {
    place: SumPlace,
    /// The first number of the group before it, of the same part.
    first: u32,
}

/// Sums that follow each other, all of one part.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    from: Mark,
    to: SumPlace,
}

impl Stretch {
    /// All sums of a part.
    pub(crate) fn new(from: SumPlace, to: SumPlace) -> Self {
        Stretch { from: Mark { place: from, first: 0 }, to }
    }

    /// How many sums there are.
    pub(crate) fn count(&self) -> usize {
        self.to.count - self.from.place.count
    }
}

/// After so many bytes there is a mark.
const MARK_EVERY: usize = if cfg!(test) { 20 } else { 1 << 18 };

impl SumTable {
    /// Where the next sums will be.
    pub(crate) fn end(&self) -> SumPlace {
        SumPlace { at: self.bytes.len(), count: self.count }
    }

    /// Marks that a group begins here, if it is time again.
    fn mark(&mut self, first_before: u32) {
        let last = self.marks.last().map_or(0, |mark| mark.place.at);
        if self.bytes.len() - last >= MARK_EVERY {
            self.marks.push(Mark { place: self.end(), first: first_before });
        }
    }

    /// Puts other sums at the end.
    fn append(&mut self, other: SumTable) {
        let SumPlace { at, count } = self.end();
        self.marks.extend(other.marks.iter().map(|mark| Mark {
            place: SumPlace { at: at + mark.place.at, count: count + mark.place.count },
            ..*mark
        }));
        self.bytes.extend_from_slice(&other.bytes);
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
        take: impl FnMut((u32, u32), Cost, &[Cost]),
    ) {
        self.each_of(&Stretch::new(from, to), width, take);
    }

    /// Hands out the sums of a stretch.
    pub(crate) fn each_of(
        &self,
        stretch: &Stretch,
        width: usize,
        mut take: impl FnMut((u32, u32), Cost, &[Cost]),
    ) {
        let bytes = self.bytes.get(..stretch.to.at).unwrap_or_default();
        let mut values = vec![0; width + 1];
        let mut groups = Groups { bytes, at: stretch.from.place.at, first: stretch.from.first };
        while let Some((first, count)) = groups.next_group() {
            let mut second = 0;
            for _ in 0..count {
                second += groups.next_number();
                values.fill(0);
                groups.at = add_row(bytes, groups.at, &mut values);
                take((first, second), values[0], &values[1..]);
            }
        }
    }

    /// The same sums with other keys; those whose keys become the same are added up.
    pub(crate) fn rename(
        &mut self,
        starts: &mut [SumPlace],
        mut change: impl FnMut((u32, u32)) -> (u32, u32),
    ) {
        let old = std::mem::take(self);
        let mut open = OpenSums::default();
        for part in 0..starts.len() {
            let from = starts[part].at;
            let end = starts.get(part + 1).map_or(old.bytes.len(), |next| next.at);
            starts[part] = self.end();
            open.take_all(old.bytes.get(..end).unwrap_or_default(), from, &mut change);
            open.seal(self);
        }
        self.release();
    }

    pub(crate) fn release(&mut self) {
        self.bytes.shrink_to_fit();
        self.marks.shrink_to_fit();
    }
}

/// Goes over the sums of a part.
#[derive(Debug)]
struct Groups<'s> {
    bytes: &'s [u8],
    at: usize,
    first: u32,
}

impl Groups<'_> {
    /// The first number of the next group, and how many sums there are.
    #[inline]
    fn next_group(&mut self) -> Option<(u32, u32)> {
        if self.at >= self.bytes.len() {
            return None;
        }
        self.first += self.next_number();
        Some((self.first, self.next_number()))
    }

    #[inline]
    fn next_number(&mut self) -> u32 {
        let value;
        (value, self.at) = number(self.bytes, self.at);
        u32::try_from(value).unwrap_or_default()
    }
}

/// The sums of a part that is still being read: a list of what is to be added up.
///
/// Most keys of a large file come once, so nothing is looked up. Now and then, and at the end, the list is sorted, and
/// what belongs together is added up. What is sorted are groups of sums with the same first number, such as those of a
/// block: there are far fewer of these.
#[derive(Debug, Default)]
pub(crate) struct OpenSums {
    groups: Vec<Group>,
    /// The members of one group after the other.
    members: Vec<u8>,
    /// How many members there are.
    count: usize,
    /// With so many members all are added up.
    limit: usize,
}

/// Sums with the same first number.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    first: u32,
    count: u32,
    /// Where its members begin.
    at: usize,
}

/// Adds a member of a group: the second number, then a row.
#[inline]
pub(crate) fn push_member(members: &mut Vec<u8>, second: u32, row: &[Cost]) {
    members.extend_from_slice(&second.to_le_bytes());
    push_row(members, row);
}

/// The second number of the member that begins here, and where its row begins.
#[inline]
fn second_number(members: &[u8], at: usize) -> (u32, usize) {
    let number = members.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
    (u32::from_le_bytes(number), at + size_of::<u32>())
}

/// So many members that follow each other in a group are nearly always all different.
pub(crate) const DIFFERENT: usize = 8;

/// So many members more than there are different ones may wait to be added up.
const PATIENCE: usize = if cfg!(test) { 8 } else { 1 << 20 };

impl OpenSums {
    /// Adds groups, each its number, how many members it has and where in these they begin. The members have other second
    /// numbers here.
    pub(crate) fn add(
        &mut self,
        groups: impl Iterator<Item = (u32, u32, usize)>,
        members: &[u8],
        second: impl Fn(u32) -> u32,
    ) {
        let begin = self.members.len();
        for (first, count, at) in groups {
            self.groups.push(Group { first, count, at: begin + at });
            self.count += count as usize;
        }
        self.members.extend_from_slice(members);
        let mut at = begin;
        while at < self.members.len() {
            let (other, row) = second_number(&self.members, at);
            if let Some(place) = self.members.get_mut(at..row) {
                place.copy_from_slice(&second(other).to_le_bytes());
            }
            at = row_end(&self.members, row);
        }
        if self.count >= self.limit.max(PATIENCE) {
            if self.may_shrink() {
                self.add_up();
            } else {
                self.limit = 2 * self.count;
            }
        }
    }

    /// Whether half of the members or more may come together with others: those of numbers that come again, and those that
    /// are far from each other in a group. Looked at beforehand, as it takes a small part of the time of adding up.
    #[cold]
    fn may_shrink(&self) -> bool {
        let last = self.groups.iter().map(|group| group.first).max().unwrap_or_default();
        let mut is_seen = vec![false; last as usize + 1];
        let may_come_together = |group: &Group| {
            let count = group.count as usize;
            if replace(&mut is_seen[group.first as usize], true) {
                count
            } else {
                count.saturating_sub(DIFFERENT)
            }
        };
        self.groups.iter().map(may_come_together).sum::<usize>() >= self.count / 2
    }

    #[cold]
    fn add_up(&mut self) {
        let mut table = SumTable::default();
        let before = self.count;
        self.add_up_into(&mut table, &self.order(), 0);
        *self = OpenSums::default();
        self.take_all(&table.bytes, 0, |key| key);
        // Where hardly any came together there will be no more to gain soon.
        let different = self.count;
        let times = if different > before / 4 * 3 { 4 } else { 2 };
        self.limit = times * different + PATIENCE;
    }

    /// Takes sums out of a table, under other keys.
    fn take_all(&mut self, bytes: &[u8], from: usize, mut change: impl FnMut((u32, u32)) -> (u32, u32)) {
        let mut groups = Groups { bytes, at: from, first: 0 };
        while let Some((first, count)) = groups.next_group() {
            let mut second = 0;
            for _ in 0..count {
                second += groups.next_number();
                let (first, key) = change((first, second));
                let at = self.members.len();
                self.members.extend_from_slice(&key.to_le_bytes());
                let end = row_end(bytes, groups.at);
                push_other_row(&mut self.members, bytes, groups.at..end);
                groups.at = end;
                match self.groups.last_mut() {
                    Some(group) if group.first == first => group.count += 1,
                    _ => self.groups.push(Group { first, count: 1, at }),
                }
                self.count += 1;
            }
        }
    }

    /// Puts the sums at the end of a table, sorted by key, and begins anew.
    pub(crate) fn seal(&mut self, table: &mut SumTable) {
        seal_all(1, [(self, table)]);
    }

    /// Cuts groups in their order into so many runs, none of them between groups of one number. With each comes the number
    /// before it.
    fn runs<'o>(&self, order: &'o [u32], count: usize) -> Vec<(&'o [u32], u32)> {
        let first = |&nth: &u32| self.groups.get(nth as usize).map_or(0, |group| group.first);
        let size = order.len().div_ceil(count).max(1);
        let mut runs = Vec::new();
        let mut before = 0;
        let mut rest = order;
        while !rest.is_empty() {
            let cut = size.min(rest.len());
            let last = first(&rest[cut - 1]);
            let cut = cut + rest[cut..].iter().take_while(|&nth| first(nth) == last).count();
            runs.push((&rest[..cut], before));
            before = last;
            rest = &rest[cut..];
        }
        runs
    }

    /// Adds up groups in this order, which come after one of that number, and writes them as a table has them.
    fn add_up_into(&self, table: &mut SumTable, order: &[u32], mut first_before: u32) {
        let group = |&nth: &u32| self.groups.get(nth as usize).copied().unwrap_or_default();
        // Key, and where its row begins and ends.
        let mut members: Vec<(u32, usize, usize)> = Vec::new();
        let mut sum: Vec<Cost> = Vec::new();
        let (mut at, mut glanced) = (0, 0);
        for same_first in order.chunk_by(|a, b| group(a).first == group(b).first) {
            if at >= glanced {
                glanced = at + AHEAD;
                self.glance_at(order.get(at..).unwrap_or_default());
            }
            at += same_first.len();
            members.clear();
            for group in same_first.iter().map(group) {
                let mut at = group.at;
                for _ in 0..group.count {
                    let (key, row) = second_number(&self.members, at);
                    at = row_end(&self.members, row);
                    members.push((key, row, at));
                }
            }
            let mut repeated = 0;
            if !members.is_sorted_by(|a, b| a.0 < b.0) {
                members.sort_unstable_by_key(|&(key, ..)| key);
                repeated = members.iter().zip(members.iter().skip(1)).filter(|(a, b)| a.0 == b.0).count();
            }
            let first = group(&same_first[0]).first;
            table.mark(first_before);
            table.count += members.len() - repeated;
            let bytes = &mut table.bytes;
            push_number(bytes, (first - first_before).into());
            push_number(bytes, (members.len() - repeated) as u128);
            first_before = first;
            let mut key_before = 0;
            let mut rest = &members[..];
            while let [(key, at, end), after @ ..] = rest {
                push_number(bytes, (key - key_before).into());
                key_before = *key;
                let more =
                    if repeated == 0 { 0 } else { after.iter().take_while(|other| other.0 == *key).count() };
                rest = &after[more..];
                if more == 0 {
                    push_other_row(bytes, &self.members, *at..*end);
                    continue;
                }
                sum.clear();
                add_whole_row(&self.members, *at, &mut sum);
                after[..more].iter().for_each(|&(_, at, _)| add_whole_row(&self.members, at, &mut sum));
                push_row(bytes, &sum);
            }
        }
    }

    /// Has the first groups of an order at hand.
    fn glance_at(&self, order: &[u32]) {
        let groups = order.iter().take(AHEAD).filter_map(|&nth| self.groups.get(nth as usize));
        glance(groups.clone().map(|group| group.at));
        glance(groups.filter_map(|group| self.members.get(group.at).copied()));
    }

    /// The groups by their numbers, those of one as they came.
    fn order(&self) -> Vec<u32> {
        let numbers = || self.groups.iter().map(|group| group.first);
        let least = numbers().min().unwrap_or_default();
        let most = numbers().max().unwrap_or_default();
        let count = u32::try_from(self.groups.len()).unwrap_or(u32::MAX);
        if (most - least) as usize > 4 * self.groups.len() {
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|&nth| self.groups.get(nth as usize).map(|group| group.first));
            return order;
        }
        // Most numbers come, so there is a place for each: first counted, then filled.
        let mut places = vec![0u32; (most - least) as usize + 2];
        numbers().for_each(|first| places[(first - least) as usize + 1] += 1);
        let mut begin = 0;
        for place in &mut places {
            begin += *place;
            *place = begin;
        }
        let mut order = vec![0; self.groups.len()];
        for (nth, first) in (0..count).zip(numbers()) {
            let place = &mut places[(first - least) as usize];
            order[*place as usize] = nth;
            *place += 1;
        }
        order
    }
}

/// Sums on their way into a table.
struct Sealing<'t> {
    open: OpenSums,
    order: Vec<u32>,
    table: &'t mut SumTable,
    /// What comes at the end of the table, of other threads.
    others: Vec<SumTable>,
}

/// Puts sums at the ends of their tables, sorted by key, with so many threads, and begins anew with each.
pub(crate) fn seal_all<const N: usize>(threads: usize, sums: [(&mut OpenSums, &mut SumTable); N]) {
    // A large part may be followed by a million small ones, so nothing is kept.
    let mut all = sums.map(|(open, table)| {
        let open = std::mem::take(open);
        Sealing { open, order: Vec::new(), table, others: Vec::new() }
    });
    let count: usize = all.iter().map(|sealing| sealing.open.count).sum();
    let threads = if count < WORTH_A_THREAD { 1 } else { threads };
    on_threads(threads, all.iter_mut().collect(), |sealing| sealing.order = sealing.open.order());
    let mut tasks = Vec::new();
    for Sealing { open, order, table, others } in &mut all {
        let runs = open.runs(order, threads);
        others.resize_with(runs.len().saturating_sub(1), SumTable::default);
        let tables = std::iter::once(&mut **table).chain(others);
        tasks.extend(runs.into_iter().zip(tables).map(|(run, table)| (&*open, run, table)));
    }
    on_threads(threads, tasks, |(open, (run, before), table)| open.add_up_into(table, run, before));
    on_threads(threads, all.into_iter().collect(), |Sealing { table, others, .. }| {
        others.into_iter().for_each(|other| table.append(other));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn sums_agree_with_a_plain_map(
            parts in prop::collection::vec(
                prop::collection::vec(((0u32..4, 0u32..4), prop::collection::vec(-300i128..1 << 70, 3)), 0..60),
                1..4,
            ),
            threads in 1usize..4,
        ) {
            let mut table = SumTable::default();
            let mut open = OpenSums::default();
            let mut starts = Vec::new();
            let mut plain: Vec<BTreeMap<(u32, u32), Vec<i128>>> = Vec::new();
            for part in &parts {
                starts.push(table.end());
                let mut sums = BTreeMap::new();
                for (key, values) in part {
                    let mut member = Vec::new();
                    push_member(&mut member, key.1 + 7, values);
                    open.add([(key.0, 1, 0)].into_iter(), &member, |second| second - 7);
                    let sum = sums.entry(*key).or_insert_with(|| vec![0; 3]);
                    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                }
                seal_all(threads, [(&mut open, &mut table)]);
                plain.push(sums);
            }
            let read = |table: &SumTable, starts: &[SumPlace]| {
                (0..parts.len())
                    .map(|part| {
                        let to = starts.get(part + 1).copied().unwrap_or(table.end());
                        let mut sums = Vec::new();
                        table.each(starts[part], to, 2, |key, count, costs| {
                            sums.push((key, vec![count, costs[0], costs[1]]));
                        });
                        sums
                    })
                    .collect::<Vec<_>>()
            };
            let expected: Vec<Vec<_>> = plain.iter().map(|sums| sums.clone().into_iter().collect()).collect();
            prop_assert_eq!(&read(&table, &starts), &expected);
            for part in 0..parts.len() {
                let to = starts.get(part + 1).copied().unwrap_or(table.end());
                let mut sums = Vec::new();
                for stretch in table.stretches(starts[part], to) {
                    let before = sums.len();
                    table.each_of(&stretch, 2, |key, count, costs| sums.push((key, vec![count, costs[0], costs[1]])));
                    prop_assert_eq!(stretch.count(), sums.len() - before);
                }
                prop_assert_eq!(&sums, &expected[part]);
            }

            table.rename(&mut starts, |(a, b)| (a / 2, b));
            for (sums, read) in plain.iter().zip(read(&table, &starts)) {
                let mut renamed: BTreeMap<(u32, u32), Vec<i128>> = BTreeMap::new();
                for (&(a, b), values) in sums {
                    let sum = renamed.entry((a / 2, b)).or_insert_with(|| vec![0; 3]);
                    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                }
                prop_assert_eq!(read, renamed.into_iter().collect::<Vec<_>>());
            }
        }
    }
}
