//! Rows that stand for several functions: cycles, and functions of one object, file, directory or class.

use std::collections::HashMap;
use std::sync::Arc;

use super::group_numbers::group_name;
use super::group_rows::{self, GroupOrder, Groups, NamedGroups, Taken};
use super::list_order::ListOrder;
use super::ordered::Ordered;
use super::{FunctionRow, FunctionsOptions, Rows, Selected, sort_key};
use crate::grouping::Grouping;
use crate::head::Head;
use crate::rates::Rates;
use crate::shares::{ShareRow, part_shares, thread_shares};
use crate::view::{SubjectId, View};

/// Takes the groups of a view that match.
fn taken(view: &View, options: &FunctionsOptions) -> Taken {
    match options.grouping {
        Grouping::Function | Grouping::Cycle => group_rows::units(view, options, None),
        grouping => group_rows::groups(view, options, grouping, None),
    }
}

/// Takes groups of functions, in order, up to the limit.
pub(super) fn sorted_groups(view: &View, options: &FunctionsOptions) -> Selected {
    let Taken { groups, shown, all } = taken(view, options);
    let order = GroupOrder { view, groups: &groups, order: ListOrder::By(options.sort), names: None };
    let limit = options.limit.unwrap_or(usize::MAX).min(shown.len());
    let numbers = Ordered::new(order.items(&shown)).page(&order, 0..limit);
    Selected { rows: Rows::Groups(Arc::new(groups), numbers), matching: shown.len(), all }
}

/// Takes threads or parts, in order, up to the limit. Nothing calls them, so all of their cost is their own.
pub(super) fn sorted_shares(view: &View, head: &Head, options: &FunctionsOptions) -> Selected {
    let shares = of_parts(view, head, options.grouping);
    let all = shares.len();
    // They are the same in all views of the parts, in the same order; several can have one name.
    let same = options.rates.as_ref().map(|rates| {
        let view = rates.view();
        (rates, of_parts(view, &Head::new(view), options.grouping))
    });
    let rates_of = |nth: usize| match &same {
        Some((rates, shares)) => rates.of(&shares[nth].self_costs),
        None => Vec::new(),
    };
    let rows = shares.into_iter().enumerate().filter(|(_, share)| options.takes_name(&share.name));
    let rows = rows.map(|(nth, ShareRow { name, self_costs })| FunctionRow {
        inclusive: self_costs.clone(),
        self_costs,
        rates: rates_of(nth),
        ..FunctionRow::of_group(&head.event_types, name)
    });
    let mut rows: Vec<FunctionRow> = rows.collect();
    let matching = rows.len();
    let key = |row: &FunctionRow| sort_key(options.sort, row.inclusive[0], row.self_costs[0], 0);
    rows.sort_by(|a, b| key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name)));
    rows.truncate(options.limit.unwrap_or(usize::MAX));
    Selected { rows: Rows::Made(rows), matching, all }
}

fn of_parts(view: &View, head: &Head, grouping: Grouping) -> Vec<ShareRow> {
    if grouping == Grouping::Thread { thread_shares(view, head) } else { part_shares(view, head) }
}

/// Makes the rows of groups, with their rates if these are wanted.
pub(super) fn made(rows: Rows, view: &View, head: &Head, options: &FunctionsOptions) -> Rows {
    // Functions get their rates when they are written, and have nothing within them.
    let Rows::Groups(groups, numbers) = &rows else { return rows };
    let made = numbers.iter().map(|&number| groups.row(view, &head.event_types, number));
    let mut made: Vec<FunctionRow> = made.collect();
    if let Some(rates) = &options.rates {
        add_rates(&mut made, groups, numbers, rates, options);
    }
    Rows::Made(made)
}

/// Adds the rates that the same groups have in the view of the rates.
fn add_rates(
    rows: &mut [FunctionRow],
    groups: &Groups,
    numbers: &[u32],
    rates: &Rates,
    options: &FunctionsOptions,
) {
    let view = rates.view();
    let event_types = Head::new(view).event_types;
    let same = taken(view, options).groups;
    let none = vec![0; view.totals().len()];
    for (row, number) in rows.iter_mut().zip(groups.numbers_in(numbers, &same)) {
        row.rates = match number.map(|number| same.row(view, &event_types, number)) {
            Some(same) => rates.of(options.sort.cost(&same.self_costs, &same.inclusive)),
            None => rates.of(&none),
        };
    }
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
            add(group, groups.row(view, &head.event_types, pair));
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
