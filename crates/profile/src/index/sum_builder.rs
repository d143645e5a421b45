//! The sums of the part that is being loaded, before they are sealed.
//!
//! A sum has a key of two ids: function and file for self costs, caller and callee for calls. Most keys of a large file
//! come only once, so looking up each of them in a hash table would cost more than it saves. Instead, the builder appends
//! what comes, and sorts it when the part ends. It sorts earlier only where adding up the equal keys of the waiting sums saves
//! memory:
//!
//! ```text
//! blocks of a part        appended as groups            sorted by key, equal keys added      sealed in tables
//!
//! fn=main                 main | a.c 10 | → grind 50    main  | a.c 17 | → grind 50          self costs:
//! 16 10                                                                                      main,  a.c: 17
//! calls grind 50          grind | b.c 20 |              grind | b.c 50                       grind, b.c: 50
//! fn=grind                grind | b.c 30 |                                                   arcs:
//! 50 20                   main | a.c 7 |                                                     main → grind: 50
//! …
//! ```
//!
//! A *group* is a list of members with the same first id, usually all that one block comes to: those of the first table
//! (self costs) before those of the next (arcs). What is sorted are groups, not members: there are far fewer of them, and
//! the members of a group are found with one cache miss. The members lie one after the other in one buffer:
//!
//! ```text
//! groups:   first id, number of members of each table, offset │ …                            16 bytes each
//! members:  second id | row │ second id | row │ …         4 bytes and a row of costs each
//!           └─ self costs ─┘ └─── arcs ─────┘
//! ```
//!
//! When a part ends, [`SumBuilder::seal`] divides the groups into runs by their first ids. Each thread takes one run
//! after the other: it sorts the groups, by counting sort unless their ids are sparse, adds up members with equal keys, and
//! writes them in the layout of a [`SumTable`].

#[cfg(test)]
mod tests;

use std::mem::replace;
use std::ops::Range;

use gristmill_format::Cost;

use super::cost_rows::{add_whole_row, push_other_row, push_row, row_end};
use super::sum_table::{GroupCursor, SumOffset, SumTable};
use super::varint::push_number;
use crate::csr::group_starts;
use crate::id::narrow;
use crate::prefetch::{PREFETCH_COUNT, prefetch};
use crate::threads::on_threads;
use crate::tuning::Tuning;

/// The unsorted sums of a part, for several tables whose keys begin with the same kind of id.
#[derive(Debug)]
pub(crate) struct SumBuilder<const TABLES: usize> {
    list: GroupList<TABLES>,
    member_count: usize,
    /// Equal keys are added up before the part ends only when there are at least this many members and at least
    /// `Tuning::max_pending_sums`. Adding up keeps memory in proportion to the different keys.
    member_limit: usize,
    /// A cost that was added is below 0 or large; see [`push_row`].
    has_unusual_costs: bool,
    tuning: Tuning,
}

/// Groups in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct GroupList<const TABLES: usize> {
    groups: Vec<Group<TABLES>>,
    /// The members of all groups: of each its second id, then its row.
    members: Vec<u8>,
    /// Offset of the members of the next group.
    next: usize,
    /// A cost that was appended as a row is below 0 or large; see [`push_row`].
    has_unusual_costs: bool,
}

/// Members with the same first id: those of the first table, then those of the next.
#[derive(Debug, Clone, Copy)]
struct Group<const TABLES: usize> {
    first: u32,
    /// Number of members of each table.
    counts: [u16; TABLES],
    /// Offset of its members.
    start: usize,
}

impl<const TABLES: usize> GroupList<TABLES> {
    /// Appends a member to the next group.
    #[inline]
    pub(crate) fn push_member(&mut self, second: u32, row: &[Cost]) {
        push_second(&mut self.members, second);
        self.has_unusual_costs |= push_row(&mut self.members, row);
    }

    /// Appends a member to the next group, with a row from other bytes.
    #[inline]
    fn push_member_of(&mut self, second: u32, bytes: &[u8], row: Range<usize>) {
        push_second(&mut self.members, second);
        push_other_row(&mut self.members, bytes, row);
    }

    /// Makes a group of the members that were appended since the last one: this many of each table.
    pub(crate) fn end_group(&mut self, first: u32, counts: [u16; TABLES]) {
        self.groups.push(Group { first, counts, start: self.next });
        self.next = self.members.len();
    }

    /// Makes a group of the one member that was appended, or adds it to the last group if that can take it.
    fn end_single(&mut self, first: u32, table: usize) {
        match self.groups.last_mut() {
            Some(Group { first: last, counts, .. })
                if *last == first
                    && counts[table] < u16::MAX
                    && counts[table + 1..].iter().all(|&count| count == 0) =>
            {
                counts[table] += 1;
                self.next = self.members.len();
            }
            _ => {
                let mut counts = [0; TABLES];
                counts[table] = 1;
                self.end_group(first, counts);
            }
        }
    }

    /// Removes all groups and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.groups.clear();
        self.members.clear();
        self.next = 0;
        self.has_unusual_costs = false;
    }
}

const SECOND_BYTES: usize = size_of::<u32>();

#[inline]
fn push_second(members: &mut Vec<u8>, second: u32) {
    members.extend_from_slice(&second.to_le_bytes());
}

/// Returns the second id of the member at an offset, and the offset of its row.
#[inline]
fn second_at(members: &[u8], at: usize) -> (u32, usize) {
    #[expect(clippy::expect_used, reason = "members are written by `push_second`")]
    let bytes = members[at..].first_chunk::<SECOND_BYTES>().expect("the second id of a member");
    (u32::from_le_bytes(*bytes), at + SECOND_BYTES)
}

/// The number of last rows of a block that are searched for a key before it gets a new row. So this many consecutive
/// members of a group nearly always have different keys.
pub(crate) const LOOK_BACK: usize = 8;

impl<const TABLES: usize> SumBuilder<TABLES> {
    /// Creates an empty builder.
    pub(crate) fn new(tuning: Tuning) -> Self {
        SumBuilder {
            list: GroupList::default(),
            member_count: 0,
            member_limit: 0,
            has_unusual_costs: false,
            tuning,
        }
    }

    /// Returns an empty builder that goes on with what is known of all sums.
    fn emptied(&self) -> Self {
        SumBuilder { has_unusual_costs: self.has_unusual_costs, ..SumBuilder::new(self.tuning) }
    }

    /// `true` if a sum that was added is below 0 or at least [`LARGE_COST`](super::varint::LARGE_COST), in any part.
    pub(crate) fn has_unusual_costs(&self) -> bool {
        self.has_unusual_costs
    }

    /// Appends groups and renames their ids. `tables` tells `second` which table an id is for.
    pub(crate) fn add<T: Copy>(
        &mut self,
        added: &GroupList<TABLES>,
        tables: [T; TABLES],
        first: impl Fn(u32) -> u32,
        second: impl Fn(T, u32) -> u32,
    ) {
        self.has_unusual_costs |= added.has_unusual_costs;
        let SumBuilder { list: GroupList { groups, members, next, .. }, member_count, .. } = self;
        let start = members.len();
        members.extend_from_slice(&added.members);
        *next = members.len();
        groups.extend(added.groups.iter().map(|group| {
            let new = Group { first: first(group.first), start: start + group.start, ..*group };
            let mut at = new.start;
            for (table, count) in tables.into_iter().zip(group.counts) {
                *member_count += usize::from(count);
                for _ in 0..count {
                    let (old, row) = second_at(members, at);
                    members[at..row].copy_from_slice(&second(table, old).to_le_bytes());
                    at = row_end(members, row);
                }
            }
            new
        }));
        if self.member_count >= self.member_limit.max(self.tuning.max_pending_sums) {
            if self.may_shrink() {
                self.add_up();
            } else {
                self.member_limit = 2 * self.member_count;
            }
        }
    }

    /// Returns `true` if half of the members or more may have the key of another: all members of a group whose first id came
    /// before, and in other groups those of each table after the first [`LOOK_BACK`]. This takes a small part of the time of
    /// adding up.
    #[cold]
    fn may_shrink(&self) -> bool {
        let groups = &self.list.groups;
        let last = groups.iter().map(|group| group.first).max().unwrap_or(0);
        let mut is_seen = vec![false; last as usize + 1];
        let may_be_equal = |group: &Group<TABLES>| {
            let is_again = replace(&mut is_seen[group.first as usize], true);
            let distinct = if is_again { 0 } else { LOOK_BACK };
            group.counts.iter().map(|&count| usize::from(count).saturating_sub(distinct)).sum::<usize>()
        };
        groups.iter().map(may_be_equal).sum::<usize>() >= self.member_count / 2
    }

    /// Adds up the members with equal keys.
    #[cold]
    fn add_up(&mut self) {
        let mut tables = [(); TABLES].map(|()| SumTable::default());
        let before = self.member_count;
        self.runs(1).iter().for_each(|run| self.add_up_run(tables.each_mut(), run));
        *self = self.emptied();
        for (nth, table) in tables.iter().enumerate() {
            self.take_all(nth, table.groups_of(SumOffset::default()..table.end()), |key| key);
        }
        // If hardly any keys were equal, there is little to gain from trying again soon.
        let distinct = self.member_count;
        let times = if distinct > before / 4 * 3 { 4 } else { 2 };
        self.member_limit = times * distinct + self.tuning.max_pending_sums;
    }

    /// Appends sums of a table under other keys.
    fn take_all<'t>(
        &mut self,
        table: usize,
        runs: impl Iterator<Item = GroupCursor<'t>>,
        mut rename: impl FnMut((u32, u32)) -> (u32, u32),
    ) {
        for mut sums in runs {
            while let Some((first, count)) = sums.next_group() {
                let mut second = 0;
                for _ in 0..count {
                    second += sums.next_number();
                    let (first, second) = rename((first, second));
                    let end = row_end(sums.bytes, sums.byte);
                    self.list.push_member_of(second, sums.bytes, sums.byte..end);
                    self.list.end_single(first, table);
                    sums.byte = end;
                    self.member_count += 1;
                }
            }
        }
    }

    /// Writes the sums to the ends of the tables, sorted by key, with this many threads, and removes them from the builder.
    pub(crate) fn seal(&mut self, threads: usize, mut tables: [&mut SumTable; TABLES]) {
        // No memory is kept: a large part may be followed by a million small ones.
        let emptied = self.emptied();
        let full = replace(self, emptied);
        let Tuning { runs_per_thread, items_per_thread, .. } = self.tuning;
        let max_runs = if threads > 1 { runs_per_thread * threads } else { 1 };
        let runs = full.runs((full.member_count / items_per_thread).clamp(1, max_runs));
        let mut others: Vec<_> =
            runs.iter().skip(1).map(|_| [(); TABLES].map(|()| SumTable::default())).collect();
        // The first run goes right into the tables.
        let ends = std::iter::once(tables.each_mut().map(|table| &mut **table))
            .chain(others.iter_mut().map(|others| others.each_mut()));
        on_threads(threads, runs.iter().zip(ends).collect(), |(run, ends)| full.add_up_run(ends, run));
        for (run, others) in runs.iter().skip(1).zip(others) {
            for ((table, other), before) in tables.iter_mut().zip(others).zip(run.before) {
                table.append(other, before);
            }
        }
    }

    /// Divides the groups by their first ids into this many runs.
    fn runs(&self, count: usize) -> Vec<GroupRun<TABLES>> {
        let groups = &self.list.groups;
        let ids = || groups.iter().map(|group| group.first);
        let min = ids().min().unwrap_or(0);
        let range = ids().max().unwrap_or(0) - min;
        let shift = (0..u32::BITS).find(|shift| ((range >> shift) as usize) < count).unwrap_or(u32::BITS - 1);
        let mut runs: Vec<_> = (0..count)
            .map(|_| GroupRun { groups: Vec::new(), before: [0; TABLES], last: [0; TABLES] })
            .collect();
        for (nth, group) in (0..).zip(groups) {
            let run = &mut runs[((group.first - min) >> shift) as usize];
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

    /// Adds up the groups of a run, and writes them to tables.
    fn add_up_run(&self, mut tables: [&mut SumTable; TABLES], run: &GroupRun<TABLES>) {
        let order = self.sorted(&run.groups);
        let GroupList { groups, members, .. } = &self.list;
        let first = |&nth: &u32| groups[nth as usize].first;
        let mut before = run.before;
        let mut mergers = [(); TABLES].map(|()| GroupMerger::default());
        let (mut at, mut prefetched) = (0, 0);
        for same_first in order.chunk_by(|a, b| first(a) == first(b)) {
            if at >= prefetched {
                prefetched = at + PREFETCH_COUNT;
                self.prefetch(&order[at..]);
            }
            at += same_first.len();
            for &nth in same_first {
                let group = &groups[nth as usize];
                let mut at = group.start;
                for (merger, count) in mergers.iter_mut().zip(group.counts) {
                    for _ in 0..count {
                        at = merger.add(members, at);
                    }
                }
            }
            let first = first(&same_first[0]);
            for ((merger, table), before) in mergers.iter_mut().zip(&mut tables).zip(&mut before) {
                if !merger.rows.is_empty() {
                    merger.write(members, table, *before, first, self.tuning.checkpoint_bytes);
                    *before = first;
                }
            }
        }
    }

    /// Prefetches the next groups of an order.
    fn prefetch(&self, order: &[u32]) {
        let GroupList { groups, members, .. } = &self.list;
        let groups = order.iter().take(PREFETCH_COUNT).map(|&nth| &groups[nth as usize]);
        prefetch(groups.clone().map(|group| group.start));
        // A group may have no members.
        prefetch(groups.filter_map(|group| members.get(group.start).copied()));
    }

    /// Sorts groups by first id, and keeps the order of those with the same.
    fn sorted(&self, some: &[u32]) -> Vec<u32> {
        let first = |nth: u32| self.list.groups[nth as usize].first;
        let ids = || some.iter().map(|&nth| first(nth));
        let min = ids().min().unwrap_or(0);
        let max = ids().max().unwrap_or(0);
        let mut order = some.to_vec();
        if (max - min) as usize > 4 * some.len() {
            order.sort_by_key(|&nth| first(nth));
            return order;
        }
        // Counting sort: the ids span at most four times as many values as there are groups.
        let key_of = |first: u32| (first - min) as usize;
        let mut next = group_starts(key_of(max) + 1, ids().map(key_of));
        for &nth in some {
            let index = &mut next[key_of(first(nth))];
            order[*index as usize] = nth;
            *index += 1;
        }
        order
    }
}

/// All groups whose first ids are in one range.
#[derive(Debug)]
struct GroupRun<const TABLES: usize> {
    /// Indices of its groups, in the order in which they came.
    groups: Vec<u32>,
    /// For each table, the greatest first id with a member of it in the runs before, and in this run.
    before: [u32; TABLES],
    last: [u32; TABLES],
}

/// The members of one table of all groups with the same first id, while equal keys are added up.
#[derive(Debug, Default)]
struct GroupMerger {
    /// For each member its second id in the high half, and the index of its row in the low half.
    seconds: Vec<u64>,
    /// Start and end of each row.
    rows: Vec<(usize, usize)>,
    sum: Vec<Cost>,
}

impl GroupMerger {
    /// Takes the member at an offset, and returns the offset of the next.
    #[inline]
    fn add(&mut self, members: &[u8], at: usize) -> usize {
        let (second, row) = second_at(members, at);
        let end = row_end(members, row);
        self.seconds.push(u64::from(second) << 32 | self.rows.len() as u64);
        self.rows.push((row, end));
        end
    }

    /// Writes the members to a table behind a group with another first id, and removes them.
    fn write(
        &mut self,
        members: &[u8],
        table: &mut SumTable,
        first_before: u32,
        first: u32,
        checkpoint_bytes: usize,
    ) {
        let GroupMerger { seconds, rows, sum } = self;
        let mut repeated = 0;
        if !seconds.is_sorted_by(|&a, &b| high(a) < high(b)) {
            seconds.sort_unstable();
            repeated = seconds.windows(2).filter(|pair| high(pair[0]) == high(pair[1])).count();
        }
        let count = narrow(seconds.len() - repeated);
        let bytes = table.begin_group(first_before, first, count, checkpoint_bytes);
        let row = |member: u64| rows[low(member) as usize];
        let mut second_before = 0;
        let mut rest = &seconds[..];
        while let [member, after @ ..] = rest {
            let second = high(*member);
            let is_same = |other: &&u64| high(**other) == second;
            let more = if repeated == 0 { 0 } else { after.iter().take_while(is_same).count() };
            rest = &after[more..];
            let (start, end) = row(*member);
            push_number(bytes, (second - second_before).into());
            second_before = second;
            if more == 0 {
                push_other_row(bytes, members, start..end);
                continue;
            }
            sum.clear();
            add_whole_row(members, start, sum);
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

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
fn low(halves: u64) -> u32 {
    halves as u32
}

/// Renames the keys of sealed tables, and adds up sums whose keys become equal.
///
/// `starts` has the start of each part in each table, and is updated. `kinds` tells `new_key` which table a key is of.
pub(crate) fn rename_keys<T: Copy, const TABLES: usize>(
    mut tables: [&mut SumTable; TABLES],
    kinds: [T; TABLES],
    starts: &mut [[SumOffset; TABLES]],
    tuning: Tuning,
    mut new_key: impl FnMut(T, (u32, u32)) -> (u32, u32),
) {
    let old = tables.each_mut().map(|table| std::mem::take(*table));
    let mut builder = SumBuilder::new(tuning);
    for part in 0..starts.len() {
        let from = starts[part];
        let next = starts.get(part + 1).copied();
        starts[part] = tables.each_ref().map(|table| table.end());
        for (nth, (old, kind)) in old.iter().zip(kinds).enumerate() {
            let to = next.map_or(old.end(), |next| next[nth]);
            builder.take_all(nth, old.groups_of(from[nth]..to), |key| new_key(kind, key));
        }
        builder.seal(1, tables.each_mut().map(|table| &mut **table));
    }
    tables.into_iter().for_each(SumTable::release);
}
