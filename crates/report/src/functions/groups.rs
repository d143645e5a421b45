//! Rows that stand for several functions: cycles, and functions of one object, file, directory or class.

use std::collections::HashMap;

use super::group_numbers::group_name;
use super::group_rows::{NamedGroups, Taken};
use super::{FunctionRow, FunctionsOptions, Rows, Selected, SortBy, sort_key};
use crate::grouping::Grouping;
use crate::head::Head;
use crate::rates::Rates;
use crate::shares::ShareRow;
use crate::view::{SubjectId, View};

/// All rows that match.
pub(super) struct Matching {
    rows: Vec<FunctionRow>,
    /// The count of rows without any filter.
    all: usize,
}

impl Matching {
    /// Makes the rows of groups.
    pub(super) fn new(view: &View, head: &Head, taken: &Taken) -> Self {
        let Taken { groups, shown, all } = taken;
        Matching { rows: shown.iter().map(|&group| groups.row(view, head, group)).collect(), all: *all }
    }

    /// Adds the rates that the same rows have in the view of the rates.
    pub(super) fn add_rates(&mut self, rates: &Rates, same: Matching, sort: SortBy) {
        for (row, same) in self.rows.iter_mut().zip(same.rows) {
            row.rates = rates.of(sort.cost(&same.self_costs, &same.inclusive));
        }
    }

    /// Orders the rows and applies the limit.
    pub(super) fn sorted(self, options: &FunctionsOptions) -> Selected {
        let Matching { mut rows, all } = self;
        let matching = rows.len();
        sort(&mut rows, options.sort);
        rows.truncate(options.limit.unwrap_or(usize::MAX));
        Selected { rows: Rows::Groups(rows), matching, all }
    }
}

/// Orders rows by a key, then by name and object, then as they were made.
fn sort(rows: &mut [FunctionRow], by: SortBy) {
    rows.sort_by(|a, b| {
        let key = |row: &FunctionRow| sort_key(by, row.inclusive[0], row.self_costs[0], row.calls.recorded());
        key(a).cmp(&key(b)).then_with(|| (&a.name, &a.object).cmp(&(&b.name, &b.object)))
    });
}

/// Takes threads or parts. Nothing calls them, so all of their cost is their own.
pub(super) fn shares(shares: Vec<ShareRow>, head: &Head, options: &FunctionsOptions) -> Matching {
    let all = shares.len();
    let rows = shares.into_iter().filter(|share| options.takes_name(&share.name));
    let rows = rows.map(|ShareRow { name, self_costs }| FunctionRow {
        inclusive: self_costs.clone(),
        self_costs,
        ..FunctionRow::of_group(head, name)
    });
    Matching { rows: rows.collect(), all }
}

/// Adds to each group the most expensive functions, or groups of another kind, within it.
pub(super) fn fill(
    rows: &mut [FunctionRow],
    view: &View,
    head: &Head,
    options: &FunctionsOptions,
    (then, limit): (Grouping, usize),
) {
    let group_by_name: HashMap<String, usize> =
        rows.iter().enumerate().map(|(group, row)| (row.name.clone(), group)).collect();
    let group_of = |id: SubjectId| {
        let name = group_name(view, id, options.grouping);
        if options.takes(view, id) { group_by_name.get(&name).copied() } else { None }
    };
    let mut within: Vec<Vec<FunctionRow>> = vec![Vec::new(); rows.len()];
    let mut counts = vec![0; rows.len()];
    let order = |a: &FunctionRow, b: &FunctionRow| {
        let key = |row: &FunctionRow| {
            sort_key(options.sort, row.inclusive[0], row.self_costs[0], row.calls.recorded())
        };
        key(a).cmp(&key(b)).then_with(|| (&a.name, &a.file, &a.object).cmp(&(&b.name, &b.file, &b.object)))
    };
    let mut add = |group: usize, row: FunctionRow| {
        let rows = &mut within[group];
        counts[group] += 1;
        rows.push(row);
        // More than the limit, so that each is looked at only a few times.
        if rows.len() > 2 * limit + 100 {
            rows.sort_by(order);
            rows.truncate(limit + 1);
        }
    };
    if then == Grouping::Function {
        for id in view.subject_ids() {
            if let Some(group) = group_of(id) {
                let mut row = FunctionRow::new(view, &head.event_types, id);
                row.rates = options.rates_of(id);
                add(group, row);
            }
        }
    } else {
        // Functions that are in none of the groups.
        let mut pairs = vec![(usize::MAX, String::new())];
        let mut known: HashMap<(usize, String), u32> = HashMap::new();
        let pair_of = view.subject_ids().map(|id| {
            let Some(group) = group_of(id) else { return 0 };
            let pair = (group, group_name(view, id, then));
            *known.entry(pair.clone()).or_insert_with(|| {
                pairs.push(pair);
                u32::try_from(pairs.len() - 1).unwrap_or(u32::MAX)
            })
        });
        let pair_of: Vec<u32> = pair_of.collect();
        let names = pairs.iter().map(|(_, name)| name.clone()).collect();
        let groups = NamedGroups::new(view, names, pair_of);
        for (pair, &(group, _)) in (0u32..).zip(&pairs).skip(1) {
            add(group, groups.row(view, head, pair));
        }
    }
    for ((row, mut within), count) in rows.iter_mut().zip(within).zip(counts) {
        within.sort_by(order);
        // A line that says "1 more" would take as much space as that one.
        within.truncate(if count == limit + 1 { count } else { limit });
        row.within_hidden = count - within.len();
        row.within = within;
    }
}
