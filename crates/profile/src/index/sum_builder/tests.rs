use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

type Plain = BTreeMap<(u32, u32), Vec<Cost>>;

/// Added to the second ids of each table.
const SHIFTS: [u32; 2] = [1, 2];

fn add(sums: &mut Plain, key: (u32, u32), values: &[Cost]) {
    let sum = sums.entry(key).or_insert_with(|| vec![0; values.len()]);
    sum.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// Reads the tables part by part, and checks how their runs are counted.
fn read(tables: &[SumTable; 2], starts: &[[SumOffset; 2]]) -> Vec<[Plain; 2]> {
    (0..starts.len())
        .map(|part| {
            [0, 1].map(|nth| {
                let table = &tables[nth];
                let from = starts[part][nth];
                let to = starts.get(part + 1).map_or(table.end(), |next| next[nth]);
                let mut sums = Vec::new();
                table.for_each(from..to, 2, |key, count, costs| {
                    sums.push((key, vec![count, costs[0], costs[1]]))
                });
                assert_eq!(from.count_to(to), sums.len());
                assert!(sums.is_sorted_by(|a, b| a.0 < b.0));
                let mut of_runs = Vec::new();
                for run in table.runs(from..to) {
                    let before = of_runs.len();
                    table.for_each_of(&run, 2, |key, count, costs| {
                        of_runs.push((key, vec![count, costs[0], costs[1]]));
                    });
                    assert_eq!(run.count(), of_runs.len() - before);
                }
                assert_eq!(of_runs, sums);
                sums.into_iter().collect()
            })
        })
        .collect()
}

proptest! {
    #[test]
    fn sums_agree_with_a_plain_map(
        // For each part, groups: a first id, and members of both tables.
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
            let mut open = [SumBuilder::new(Tuning::tiny()), SumBuilder::new(Tuning::tiny())];
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
                    open.add(&list, [0, 1], |first| first - 3, |table, second| second - SHIFTS[table]);
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
        rename_keys(tables.each_mut(), [0, 1], &mut starts, Tuning::tiny(), change);
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
fn a_group_may_have_more_members_than_16_bits_count() {
    let mut tables = [SumTable::default(), SumTable::default()];
    let mut open = SumBuilder::new(Tuning::tiny());
    for second in 0..100_000u32 {
        let mut list = GroupList::default();
        list.push_member(second / 2, &[1, 2, 3]);
        list.push_member(second, &[4, 5, 6]);
        list.end_group(5, [1, 1]);
        open.add(&list, [0, 1], |first| first, |_, second| second);
    }
    open.seal(3, tables.each_mut());
    let [selves, arcs] = &read(&tables, &[[SumOffset::default(); 2]])[0];
    assert_eq!((selves.len(), arcs.len()), (50_000, 100_000));
    assert!(selves.values().all(|sum| *sum == [2, 4, 6]) && arcs.values().all(|sum| *sum == [4, 5, 6]));
    rename_keys(
        tables.each_mut(),
        [0, 1],
        &mut [[SumOffset::default(); 2]],
        Tuning::tiny(),
        |_, (_, second)| (6, second / 50_000),
    );
    let [selves, arcs] = &read(&tables, &[[SumOffset::default(); 2]])[0];
    assert_eq!(selves[&(6, 0)], [100_000, 200_000, 300_000]);
    assert_eq!((arcs.len(), &arcs[&(6, 1)]), (2, &vec![200_000, 250_000, 300_000]));
}
