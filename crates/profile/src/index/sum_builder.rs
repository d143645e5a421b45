//! The sums of a part that is still being read, before they go into the tables of the profile.

use std::mem::replace;

use gristmill_format::Cost;

use crate::csr::begins;
use crate::index::cost_rows::{add_whole_row, push_number, push_other_row, push_row, row_end};
use crate::index::sum_table::{Groups, SumPlace, SumTable};
use crate::prefetch::{AHEAD, glance};
use crate::threads::{WORTH_A_THREAD, on_threads};

/// Lists of what is to be added up, for several tables that have their first numbers in common.
///
/// Most keys of a large file come once, so nothing is looked up. Now and then, and at the end, the list is sorted, and
/// what belongs together is added up. What is sorted are groups of sums with the same first number, such as those of a
/// block: there are far fewer of these.
#[derive(Debug, Default)]
pub(crate) struct OpenSums<const TABLES: usize> {
    list: GroupList<TABLES>,
    /// How many members there are.
    count: usize,
    /// With so many members all are added up.
    limit: usize,
}

/// Groups of sums with the same first number, one after the other.
#[derive(Debug, Default)]
pub(crate) struct GroupList<const TABLES: usize> {
    groups: Vec<Group<TABLES>>,
    /// The members of one group after the other, each its second number and a row.
    members: Vec<u8>,
    /// Where the members of the next group begin.
    next: usize,
}

/// Sums with the same first number: those for the first table, then those for the next.
#[derive(Debug, Clone, Copy)]
struct Group<const TABLES: usize> {
    first: u32,
    counts: [u16; TABLES],
    /// Where its members begin.
    at: usize,
}

impl<const TABLES: usize> GroupList<TABLES> {
    /// Adds a member of the next group: the second number, then a row.
    #[inline]
    pub(crate) fn push_member(&mut self, second: u32, row: &[Cost]) {
        self.members.extend_from_slice(&second.to_le_bytes());
        push_row(&mut self.members, row);
    }

    /// The members since the last group make one, so many of each table.
    pub(crate) fn end_group(&mut self, first: u32, counts: [u16; TABLES]) {
        self.groups.push(Group { first, counts, at: self.next });
        self.next = self.members.len();
    }

    pub(crate) fn clear(&mut self) {
        self.groups.clear();
        self.members.clear();
        self.next = 0;
    }
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

/// So many runs for each thread, so that all have something to do until the end. Measured on a plain file of 500 MB with two
/// threads: with 4 it takes a fifth longer to seal its sums, with one two thirds longer.
const RUNS_EACH: usize = if cfg!(test) { 2 } else { 16 };

impl<const TABLES: usize> OpenSums<TABLES> {
    /// Adds groups whose numbers are others here; which second number, depends on the table.
    pub(crate) fn add(
        &mut self,
        added: &GroupList<TABLES>,
        first: impl Fn(u32) -> u32,
        second: impl Fn(usize, u32) -> u32,
    ) {
        let OpenSums { list: GroupList { groups, members, .. }, count, .. } = self;
        let begin = members.len();
        members.extend_from_slice(&added.members);
        groups.extend(added.groups.iter().map(|group| {
            let new = Group { first: first(group.first), at: begin + group.at, ..*group };
            let mut at = new.at;
            for (table, &of_table) in group.counts.iter().enumerate() {
                *count += usize::from(of_table);
                for _ in 0..of_table {
                    let (other, row) = second_number(members, at);
                    if let Some(place) = members.get_mut(at..row) {
                        place.copy_from_slice(&second(table, other).to_le_bytes());
                    }
                    at = row_end(members, row);
                }
            }
            new
        }));
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
        let groups = &self.list.groups;
        let last = groups.iter().map(|group| group.first).max().unwrap_or_default();
        let mut is_seen = vec![false; last as usize + 1];
        let may_come_together = |group: &Group<TABLES>| {
            let is_again = replace(&mut is_seen[group.first as usize], true);
            let different = if is_again { 0 } else { DIFFERENT };
            group.counts.iter().map(|&count| usize::from(count).saturating_sub(different)).sum::<usize>()
        };
        groups.iter().map(may_come_together).sum::<usize>() >= self.count / 2
    }

    #[cold]
    fn add_up(&mut self) {
        let mut tables = [(); TABLES].map(|()| SumTable::default());
        let before = self.count;
        self.runs(1).iter().for_each(|run| self.add_up_into(tables.each_mut(), run));
        *self = OpenSums::default();
        for (nth, table) in tables.iter().enumerate() {
            self.take_all(nth, table.groups_between(SumPlace::default(), table.end()), |key| key);
        }
        // Where hardly any came together there will be no more to gain soon.
        let different = self.count;
        let times = if different > before / 4 * 3 { 4 } else { 2 };
        self.limit = times * different + PATIENCE;
    }

    /// Takes sums out of one of the tables, under other keys.
    fn take_all<'t>(
        &mut self,
        table: usize,
        stretches: impl Iterator<Item = Groups<'t>>,
        mut change: impl FnMut((u32, u32)) -> (u32, u32),
    ) {
        let GroupList { groups, members, next } = &mut self.list;
        for mut sums in stretches {
            while let Some((first, count)) = sums.next_group() {
                let mut second = 0;
                for _ in 0..count {
                    second += sums.next_number();
                    let (first, second) = change((first, second));
                    members.extend_from_slice(&second.to_le_bytes());
                    let end = row_end(sums.bytes, sums.at);
                    push_other_row(members, sums.bytes, sums.at..end);
                    sums.at = end;
                    // The last group goes on, unless it has sums of a later table.
                    match groups.last_mut().filter(|group| group.first == first) {
                        Some(Group { counts, .. })
                            if counts[table] < u16::MAX
                                && counts[table + 1..].iter().all(|&count| count == 0) =>
                        {
                            counts[table] += 1;
                        }
                        _ => {
                            let mut counts = [0; TABLES];
                            counts[table] = 1;
                            groups.push(Group { first, counts, at: *next });
                        }
                    }
                    *next = members.len();
                    self.count += 1;
                }
            }
        }
    }

    /// Puts the sums at the ends of the tables, sorted by key, with so many threads, and begins anew.
    pub(crate) fn seal(&mut self, threads: usize, mut tables: [&mut SumTable; TABLES]) {
        // A large part may be followed by a million small ones, so nothing is kept.
        let open = std::mem::take(self);
        let most = if threads > 1 { RUNS_EACH * threads } else { 1 };
        let runs = open.runs((open.count / WORTH_A_THREAD).clamp(1, most));
        let mut others: Vec<_> =
            runs.iter().skip(1).map(|_| [(); TABLES].map(|()| SumTable::default())).collect();
        let ends = std::iter::once(tables.each_mut().map(|table| &mut **table))
            .chain(others.iter_mut().map(|others| others.each_mut()));
        on_threads(threads, runs.iter().zip(ends).collect(), |(run, ends)| open.add_up_into(ends, run));
        for (run, others) in runs.iter().skip(1).zip(others) {
            for ((table, other), before) in tables.iter_mut().zip(others).zip(run.before) {
                table.append(other, before);
            }
        }
    }

    /// Shares out the groups by their numbers, to so many runs.
    fn runs(&self, count: usize) -> Vec<Run<TABLES>> {
        let groups = &self.list.groups;
        let numbers = || groups.iter().map(|group| group.first);
        let least = numbers().min().unwrap_or_default();
        let range = numbers().max().unwrap_or_default() - least;
        let shift = (0..u32::BITS).find(|shift| ((range >> shift) as usize) < count).unwrap_or_default();
        let mut runs: Vec<_> =
            (0..count).map(|_| Run { groups: Vec::new(), before: [0; TABLES], last: [0; TABLES] }).collect();
        for (nth, group) in (0..).zip(groups) {
            let run = &mut runs[((group.first - least) >> shift) as usize];
            run.groups.push(nth);
            for (last, count) in run.last.iter_mut().zip(group.counts) {
                if count > 0 {
                    *last = group.first.max(*last);
                }
            }
        }
        let mut before = [0; TABLES];
        for run in &mut runs {
            run.before = before;
            before.iter_mut().zip(run.last).for_each(|(before, last)| *before = last.max(*before));
        }
        runs
    }

    /// Adds up groups, and writes them as the tables have them.
    fn add_up_into(&self, mut tables: [&mut SumTable; TABLES], run: &Run<TABLES>) {
        let order = self.in_order(&run.groups);
        let GroupList { groups, members, .. } = &self.list;
        let first = |&nth: &u32| groups.get(nth as usize).map_or(0, |group| group.first);
        let mut before = run.before;
        let mut open = [(); TABLES].map(|()| OpenGroup::default());
        let (mut at, mut glanced) = (0, 0);
        for same_first in order.chunk_by(|a, b| first(a) == first(b)) {
            if at >= glanced {
                glanced = at + AHEAD;
                self.glance_at(order.get(at..).unwrap_or_default());
            }
            at += same_first.len();
            for group in same_first.iter().filter_map(|&nth| groups.get(nth as usize)) {
                let mut at = group.at;
                for (open, count) in open.iter_mut().zip(group.counts) {
                    for _ in 0..count {
                        at = open.add(members, at);
                    }
                }
            }
            let first = first(&same_first[0]);
            for ((open, table), before) in open.iter_mut().zip(&mut tables).zip(&mut before) {
                if !open.rows.is_empty() {
                    open.write(members, table, *before, first);
                    *before = first;
                }
            }
        }
    }

    /// Has the first groups of an order at hand.
    fn glance_at(&self, order: &[u32]) {
        let GroupList { groups, members, .. } = &self.list;
        let groups = order.iter().take(AHEAD).filter_map(|&nth| groups.get(nth as usize));
        glance(groups.clone().map(|group| group.at));
        glance(groups.filter_map(|group| members.get(group.at).copied()));
    }

    /// Some of the groups by their numbers, those of one as they came.
    fn in_order(&self, some: &[u32]) -> Vec<u32> {
        let first = |nth: u32| self.list.groups.get(nth as usize).map_or(0, |group| group.first);
        let numbers = || some.iter().map(|&nth| first(nth));
        let least = numbers().min().unwrap_or_default();
        let most = numbers().max().unwrap_or_default();
        let mut order = some.to_vec();
        if (most - least) as usize > 4 * some.len() {
            order.sort_by_key(|&nth| first(nth));
            return order;
        }
        // Most numbers come, so there is a place for each.
        let place_of = |first: u32| (first - least) as usize;
        let mut next = begins(place_of(most) + 1, numbers().map(place_of));
        for &nth in some {
            let place = &mut next[place_of(first(nth))];
            order[*place as usize] = nth;
            *place += 1;
        }
        order
    }
}

/// All groups of some numbers that follow each other.
#[derive(Debug)]
struct Run<const TABLES: usize> {
    groups: Vec<u32>,
    /// For each table the number of the last group with sums of it, of those in the runs before and of those in this one.
    before: [u32; TABLES],
    last: [u32; TABLES],
}

/// The members for one table of all groups with the same first number.
#[derive(Debug, Default)]
struct OpenGroup {
    /// For each its second number in the high half, and in the low one which row is its own.
    seconds: Vec<u64>,
    /// Where each row begins and ends.
    rows: Vec<(usize, usize)>,
    sum: Vec<Cost>,
}

impl OpenGroup {
    /// Takes the member that begins here, and returns where the next one does.
    #[inline]
    fn add(&mut self, members: &[u8], at: usize) -> usize {
        let (second, row) = second_number(members, at);
        let end = row_end(members, row);
        self.seconds.push(u64::from(second) << 32 | self.rows.len() as u64);
        self.rows.push((row, end));
        end
    }

    /// Writes a group to a table, behind one of another number, and begins anew.
    fn write(&mut self, members: &[u8], table: &mut SumTable, before: u32, first: u32) {
        let OpenGroup { seconds, rows, sum } = self;
        let mut repeated = 0;
        if !seconds.is_sorted_by(|&a, &b| high(a) < high(b)) {
            seconds.sort_unstable();
            repeated = seconds.windows(2).filter(|pair| high(pair[0]) == high(pair[1])).count();
        }
        let count = u32::try_from(seconds.len() - repeated).unwrap_or(u32::MAX);
        let bytes = table.begin_group(before, first, count);
        let row = |member: u64| rows.get(low(member) as usize).copied().unwrap_or_default();
        let mut second_before = 0;
        let mut rest = &seconds[..];
        while let [member, after @ ..] = rest {
            let second = high(*member);
            let is_same = |other: &&u64| high(**other) == second;
            let more = if repeated == 0 { 0 } else { after.iter().take_while(is_same).count() };
            rest = &after[more..];
            let (begin, end) = row(*member);
            push_number(bytes, (second - second_before).into());
            second_before = second;
            if more == 0 {
                push_other_row(bytes, members, begin..end);
                continue;
            }
            sum.clear();
            add_whole_row(members, begin, sum);
            for &other in &after[..more] {
                add_whole_row(members, row(other).0, sum);
            }
            push_row(bytes, sum);
        }
        seconds.clear();
        rows.clear();
    }
}

fn high(halves: u64) -> u32 {
    (halves >> 32) as u32
}

#[expect(clippy::cast_possible_truncation, reason = "only the low half is asked for")]
fn low(halves: u64) -> u32 {
    halves as u32
}

/// The same sums with other keys; those whose keys become the same are added up. `starts` says where each part begins.
pub(crate) fn rename<const TABLES: usize>(
    mut tables: [&mut SumTable; TABLES],
    starts: &mut [[SumPlace; TABLES]],
    mut change: impl FnMut(usize, (u32, u32)) -> (u32, u32),
) {
    let old = tables.each_mut().map(|table| std::mem::take(*table));
    let mut open = OpenSums::default();
    for part in 0..starts.len() {
        let from = starts[part];
        let next = starts.get(part + 1).copied();
        starts[part] = tables.each_ref().map(|table| table.end());
        for (nth, old) in old.iter().enumerate() {
            let to = next.map_or(old.end(), |next| next[nth]);
            open.take_all(nth, old.groups_between(from[nth], to), |key| change(nth, key));
        }
        open.seal(1, tables.each_mut().map(|table| &mut **table));
    }
    tables.into_iter().for_each(SumTable::release);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Plain = BTreeMap<(u32, u32), Vec<Cost>>;

    /// What second numbers are changed by.
    const SHIFTS: [u32; 2] = [1, 2];

    fn add(sums: &mut Plain, key: (u32, u32), values: &[Cost]) {
        let sum = sums.entry(key).or_insert_with(|| vec![0; values.len()]);
        sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }

    /// What the tables say of each part, and how its stretches were counted.
    fn read(tables: &[SumTable; 2], starts: &[[SumPlace; 2]]) -> Vec<[Plain; 2]> {
        (0..starts.len())
            .map(|part| {
                [0, 1].map(|nth| {
                    let table = &tables[nth];
                    let from = starts[part][nth];
                    let to = starts.get(part + 1).map_or(table.end(), |next| next[nth]);
                    let mut sums = Vec::new();
                    table.each(from, to, 2, |key, count, costs| {
                        sums.push((key, vec![count, costs[0], costs[1]]))
                    });
                    assert_eq!(from.count_to(to), sums.len());
                    assert!(sums.is_sorted_by(|a, b| a.0 < b.0));
                    let mut of_stretches = Vec::new();
                    for stretch in table.stretches(from, to) {
                        let before = of_stretches.len();
                        table.each_of(&stretch, 2, |key, count, costs| {
                            of_stretches.push((key, vec![count, costs[0], costs[1]]));
                        });
                        assert_eq!(stretch.count(), of_stretches.len() - before);
                    }
                    assert_eq!(of_stretches, sums);
                    sums.into_iter().collect()
                })
            })
            .collect()
    }

    proptest! {
        #[test]
        fn sums_agree_with_a_plain_map(
            // For each part, groups: a number, and members of both tables.
            parts in prop::collection::vec(
                prop::collection::vec(
                    (0u32..9, prop::collection::vec((0usize..2, 0u32..4, prop::collection::vec(-300i128..1 << 70, 3)), 0..6)),
                    0..20,
                ),
                1..4,
            ),
            threads in 1usize..4,
        ) {
            let mut tables = [SumTable::default(), SumTable::default()];
            let mut alone = tables.clone();
            let mut starts = Vec::new();
            let mut plain = Vec::new();
            for part in &parts {
                starts.push(tables.each_ref().map(SumTable::end));
                let mut sums = [Plain::new(), Plain::new()];
                let mut open = [OpenSums::default(), OpenSums::default()];
                for (first, members) in part {
                    let mut list = GroupList::default();
                    let mut counts = [0; 2];
                    for nth in [0, 1] {
                        for (_, second, values) in members.iter().filter(|(table, ..)| *table == nth) {
                            list.push_member(second + SHIFTS[nth], values);
                            add(&mut sums[nth], (*first, *second), values);
                            counts[nth] += 1;
                        }
                    }
                    list.end_group(first + 3, counts);
                    for open in &mut open {
                        open.add(&list, |first| first - 3, |table, second| second - SHIFTS[table]);
                    }
                }
                let [mut open, mut other] = open;
                open.seal(threads, tables.each_mut());
                other.seal(1, alone.each_mut());
                plain.push(sums);
            }
            prop_assert_eq!(&read(&tables, &starts), &plain);
            prop_assert!(tables == alone);

            let change = |table: usize, (first, second): (u32, u32)| (first / 2, second / SHIFTS[table]);
            rename(tables.each_mut(), &mut starts, change);
            for (sums, read) in plain.iter().zip(read(&tables, &starts)) {
                let renamed = [0, 1].map(|nth| {
                    let mut renamed = Plain::new();
                    sums[nth].iter().for_each(|(key, values)| add(&mut renamed, change(nth, *key), values));
                    renamed
                });
                prop_assert_eq!(read, renamed);
            }
        }
    }

    #[test]
    fn a_group_may_have_more_members_than_are_counted_together() {
        let mut tables = [SumTable::default(), SumTable::default()];
        let mut open = OpenSums::default();
        for second in 0..100_000u32 {
            let mut list = GroupList::default();
            list.push_member(second / 2, &[1, 2, 3]);
            list.push_member(second, &[4, 5, 6]);
            list.end_group(5, [1, 1]);
            open.add(&list, |first| first, |_, second| second);
        }
        open.seal(3, tables.each_mut());
        let [selves, arcs] = &read(&tables, &[[SumPlace::default(); 2]])[0];
        assert_eq!((selves.len(), arcs.len()), (50_000, 100_000));
        assert!(selves.values().all(|sum| *sum == [2, 4, 6]) && arcs.values().all(|sum| *sum == [4, 5, 6]));
        rename(tables.each_mut(), &mut [[SumPlace::default(); 2]], |_, (_, second)| (6, second / 50_000));
        let [selves, arcs] = &read(&tables, &[[SumPlace::default(); 2]])[0];
        assert_eq!(selves[&(6, 0)], [100_000, 200_000, 300_000]);
        assert_eq!((arcs.len(), &arcs[&(6, 1)]), (2, &vec![200_000, 250_000, 300_000]));
    }
}
