//! Sums of costs by part and by a pair of things, as a finished profile keeps them.

use gristmill_format::Cost;

use crate::rows::{add_row, push_row, row_count, row_len};

/// The sums of all parts, one part after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct SumTable {
    keys: Vec<(u32, u32)>,
    rows: Vec<u8>,
}

/// Where the sums of a part begin.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct SumPlace {
    key: usize,
    row: usize,
}

impl SumTable {
    /// Where the next sums will be.
    pub(crate) fn end(&self) -> SumPlace {
        SumPlace { key: self.keys.len(), row: self.rows.len() }
    }

    /// Hands out the sums between two places: key, how often, costs. There are as many costs as it is told.
    pub(crate) fn each(
        &self,
        from: SumPlace,
        to: SumPlace,
        width: usize,
        mut take: impl FnMut((u32, u32), Cost, &[Cost]),
    ) {
        let mut values = vec![0; width + 1];
        let mut at = from.row;
        for &key in self.keys.get(from.key..to.key).unwrap_or_default() {
            values.fill(0);
            at = add_row(&self.rows, at, &mut values);
            take(key, values[0], &values[1..]);
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
            let from = starts[part];
            let end = starts.get(part + 1).map_or(old.keys.len(), |next| next.key);
            starts[part] = self.end();
            let rows = starts.get(part + 1).map_or(old.rows.len(), |next| next.row);
            let keys = old.keys.get(from.key..end).unwrap_or_default().iter().map(|&key| change(key));
            let (firsts, seconds): (Vec<u32>, Vec<u32>) = keys.unzip();
            let groups = firsts
                .chunk_by(|a, b| a == b)
                .map(|group| (group[0], u32::try_from(group.len()).unwrap_or(u32::MAX)));
            open.add(groups, seconds.into_iter(), old.rows.get(from.row..rows).unwrap_or_default());
            open.seal(self);
        }
        self.release();
    }

    pub(crate) fn release(&mut self) {
        self.keys.shrink_to_fit();
        self.rows.shrink_to_fit();
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
    /// The second numbers, of one group after the other.
    keys: Vec<u32>,
    rows: Vec<u8>,
    /// As many keys are left when all is added up.
    different: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    first: u32,
    count: u32,
    /// Where its keys begin, and its rows.
    key: usize,
    row: usize,
}

/// So many keys more than there are different ones may wait to be added up.
const PATIENCE: usize = if cfg!(test) { 8 } else { 1 << 20 };

impl OpenSums {
    /// Adds rows to sums. A group has its number and how many keys it has; keys and rows follow each other.
    pub(crate) fn add(
        &mut self,
        groups: impl Iterator<Item = (u32, u32)>,
        mut keys: impl Iterator<Item = u32>,
        rows: &[u8],
    ) {
        let first_row = self.rows.len();
        let mut row = 0;
        for (first, count) in groups {
            self.groups.push(Group { first, count, key: self.keys.len(), row: first_row + row });
            self.keys.extend(keys.by_ref().take(count as usize));
            for _ in 0..count {
                row += row_len(rows.get(row..).unwrap_or_default());
            }
        }
        self.rows.extend_from_slice(rows);
        if self.keys.len() >= 2 * self.different + PATIENCE {
            self.add_up();
        }
    }

    #[cold]
    fn add_up(&mut self) {
        let mut table = SumTable::default();
        self.move_to(&mut table);
        self.groups.clear();
        self.keys.clear();
        self.rows.clear();
        let SumTable { keys, rows } = table;
        self.different = keys.len();
        let mut row = 0;
        for group in keys.chunk_by(|a, b| a.0 == b.0) {
            let count = u32::try_from(group.len()).unwrap_or(u32::MAX);
            self.groups.push(Group { first: group[0].0, count, key: self.keys.len(), row });
            self.keys.extend(group.iter().map(|key| key.1));
            for _ in group {
                row += row_len(&rows[row..]);
            }
        }
        self.rows = rows;
    }

    /// Puts the sums at the end of a table, sorted by key, and begins anew.
    pub(crate) fn seal(&mut self, table: &mut SumTable) {
        self.move_to(table);
        // A large part may be followed by a million small ones.
        *self = OpenSums::default();
    }

    fn move_to(&mut self, table: &mut SumTable) {
        // By number, then as they came.
        self.groups.sort_unstable_by_key(|group| (group.first, group.key));
        table.keys.reserve(self.keys.len());
        table.rows.reserve(self.rows.len());
        let mut members: Vec<(u32, usize)> = Vec::new();
        let mut sum: Vec<Cost> = Vec::new();
        for groups in self.groups.chunk_by(|a, b| a.first == b.first) {
            members.clear();
            for group in groups {
                let mut at = group.row;
                for &key in self.keys.get(group.key..).unwrap_or_default().iter().take(group.count as usize) {
                    members.push((key, at));
                    at += row_len(&self.rows[at..]);
                }
            }
            members.sort_unstable();
            for same in members.chunk_by(|a, b| a.0 == b.0) {
                table.keys.push((groups[0].first, same[0].0));
                if let [(_, at)] = same {
                    let row = &self.rows[*at..];
                    table.rows.extend_from_slice(&row[..row_len(row)]);
                    continue;
                }
                sum.clear();
                for &(_, at) in same {
                    let row = &self.rows[at..];
                    let count = row_count(row);
                    if sum.len() < count {
                        sum.resize(count, 0);
                    }
                    add_row(row, 0, &mut sum);
                }
                push_row(&mut table.rows, &sum);
            }
        }
    }
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
        ) {
            let mut table = SumTable::default();
            let mut open = OpenSums::default();
            let mut starts = Vec::new();
            let mut plain: Vec<BTreeMap<(u32, u32), Vec<i128>>> = Vec::new();
            for part in &parts {
                starts.push(table.end());
                let mut sums = BTreeMap::new();
                for (key, values) in part {
                    let mut row = Vec::new();
                    push_row(&mut row, values);
                    open.add([(key.0, 1)].into_iter(), [key.1].into_iter(), &row);
                    let sum = sums.entry(*key).or_insert_with(|| vec![0; 3]);
                    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
                }
                open.seal(&mut table);
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
            prop_assert_eq!(read(&table, &starts), expected);

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
