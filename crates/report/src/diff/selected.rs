//! The rows of a difference that are shown, and the sum of the others.

use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;
use gristmill_output::json::{ByEvent, Costs};
use gristmill_output::lossy;
use gristmill_profile::compare::{Change, Comparison, JoinedId, Presence, PresenceCounts};

use super::{Delta, DiffHead, DiffOptions, DiffRow, Rest, fits, group_name, keyed, shown_name, sort};
use crate::functions::SortBy;
use crate::grouping::Grouping;

/// The rows to show, without an order, and the others.
pub(super) struct Rows {
    pub(super) rows: Vec<DiffRow>,
    pub(super) rest: Rest,
    /// The count of all functions or groups.
    pub(super) all: usize,
    /// The presence of the functions that changed; nothing is counted for groups.
    pub(super) changed: PresenceCounts,
    /// The changes of the totals less those of all functions or groups: medians do not add up.
    pub(super) remainders: Vec<Cost>,
}

/// Finds the functions to show among those that changed in a shown column, and the sums of the others.
pub(super) fn functions(
    comparison: &Comparison<'_>,
    options: &DiffOptions,
    head: &DiffHead,
) -> (Vec<JoinedId>, Rows) {
    let whole = head.totals[0].base.median;
    let column = options.leading();
    let is_changed = |function: &JoinedId| {
        let changed = |column: &usize| {
            !comparison.self_cost(*function, *column).is_none()
                || !comparison.inclusive(*function, *column).is_none()
        };
        options.columns.iter().any(changed) || !comparison.calls(*function).is_none()
    };
    let is_wanted = |function: &JoinedId| {
        options.filter.as_ref().is_none_or(|filter| fits(comparison, filter, *function))
    };
    let is_large = |function: &JoinedId| {
        let change = match options.sort {
            SortBy::Inclusive => comparison.inclusive(*function, column),
            _ => comparison.self_cost(*function, column),
        };
        options.is_large(change.delta(), whole)
    };
    let changed: Vec<JoinedId> = comparison.functions().filter(is_changed).filter(is_wanted).collect();
    let large: Vec<JoinedId> = changed.iter().copied().filter(is_large).collect();
    let shown = first_functions(comparison, options, large);
    let is_shown: HashSet<JoinedId> = shown.iter().copied().collect();
    let mut sums = vec![0; options.columns.len()];
    let mut same_self_cost = 0;
    for function in changed.iter().filter(|function| !is_shown.contains(function)) {
        let own = options.columns.iter().map(|&column| comparison.self_cost(*function, column));
        same_self_cost += usize::from(own.clone().all(|own| own.is_none()));
        sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own.delta());
    }
    let rest = Rest {
        rows: changed.len() - shown.len(),
        self_costs: Costs::new(&head.event_types, sums),
        same_self_cost,
    };
    let mut counts = PresenceCounts::default();
    changed.iter().for_each(|&function| counts.add(comparison.presence(function)));
    let remainders = options.columns.iter().map(|&column| comparison.remainder(column)).collect();
    let all = comparison.functions().len();
    (shown, Rows { rest, rows: Vec::new(), all, changed: counts, remainders })
}

/// Returns those of the functions that come first in the order of rows, as many as may be shown.
fn first_functions(
    comparison: &Comparison<'_>,
    options: &DiffOptions,
    functions: Vec<JoinedId>,
) -> Vec<JoinedId> {
    let Some(limit) = options.limit.filter(|&limit| limit < functions.len()) else { return functions };
    let Some(last) = limit.checked_sub(1) else { return Vec::new() };
    let mut keyed = keyed(comparison, options, functions);
    let (_, &mut (least, _), _) = keyed.select_nth_unstable(last);
    let mut first: Vec<JoinedId> =
        keyed.iter().filter(|(key, _)| *key < least).map(|&(_, function)| function).collect();
    // All others have the same change, so that their names decide. There can be many.
    let wanted = limit - first.len();
    let mut equal: Vec<([String; 3], JoinedId)> = Vec::new();
    let keep_first = |equal: &mut Vec<([String; 3], JoinedId)>| {
        equal.sort_unstable();
        equal.truncate(wanted);
    };
    for &(_, function) in keyed.iter().filter(|(key, _)| *key == least) {
        let mention = comparison.mention(function);
        equal.push(([shown_name(mention), lossy(mention.file), lossy(mention.object)], function));
        if equal.len() >= 2 * wanted + 16 {
            keep_first(&mut equal);
        }
    }
    keep_first(&mut equal);
    first.extend(equal.into_iter().map(|(_, function)| function));
    first
}

/// Makes rows of the groups of functions to show among those that changed.
pub(super) fn groups(
    comparison: &Comparison<'_>,
    options: &DiffOptions,
    grouping: Grouping,
    head: &DiffHead,
) -> Rows {
    let mut names: Vec<String> = Vec::new();
    let mut sides: Vec<[bool; 2]> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut group_of = Vec::new();
    for function in comparison.functions() {
        let name = group_name(comparison, grouping, function);
        let next = names.len();
        let group = *known.entry(name.clone()).or_insert(next);
        if group == next {
            names.push(name);
            sides.push([false; 2]);
        }
        sides[group][0] |= comparison.in_base(function).is_some();
        sides[group][1] |= comparison.in_new(function).is_some();
        group_of.push(group);
    }
    let costs = comparison.grouped(names.len(), |function| group_of[function.index()]);
    let all = names.len();
    // The median of a group is not the sum of those of its functions.
    let remainder = |&column: &usize| {
        let sum: Cost = (0..all).map(|group| costs.self_cost(group, column).delta()).sum();
        comparison.total(column).delta() - sum
    };
    let remainders = options.columns.iter().map(remainder).collect();
    let deltas = |change: &dyn Fn(usize) -> Change| {
        let deltas = options.columns.iter().map(|&column| Delta(change(column)));
        ByEvent::new(&head.event_types, deltas.collect::<Vec<_>>())
    };
    let rows = names.into_iter().zip(sides).enumerate().map(|(group, (name, sides))| DiffRow {
        id: None,
        name,
        base_name: None,
        file: String::new(),
        object: String::new(),
        presence: match sides {
            [true, false] => Presence::Vanished,
            [false, true] => Presence::New,
            _ => Presence::Both,
        },
        self_costs: deltas(&|column| costs.self_cost(group, column)),
        inclusive: deltas(&|column| costs.inclusive(group, column)),
        is_upper_bound: costs.is_doubtful(group),
        calls: Delta(costs.calls(group)),
        callers: Vec::new(),
        joined_by: Vec::new(),
        renamed: None,
        doubted: None,
    });
    let is_changed = |row: &DiffRow| {
        row.self_costs.iter().chain(&*row.inclusive).chain([&row.calls]).any(|change| !change.is_none())
    };
    let mut rows: Vec<DiffRow> = rows.filter(is_changed).collect();
    if let Some(filter) = &options.filter {
        rows.retain(|row| filter.is_match(&row.name));
    }
    sort(&mut rows, options.sort);
    let whole = head.totals[0].base.median;
    let is_large = |row: &DiffRow| {
        let change = match options.sort {
            SortBy::Inclusive => row.inclusive[0],
            _ => row.self_costs[0],
        };
        options.is_large(change.delta(), whole)
    };
    let (mut shown, mut rest, mut same_self_cost) = (0, 0, 0);
    let mut sums = vec![0; options.columns.len()];
    rows.retain(|row| {
        let is_shown = shown < options.limit.unwrap_or(usize::MAX) && is_large(row);
        if is_shown {
            shown += 1;
        } else {
            rest += 1;
            same_self_cost += usize::from(row.self_costs.iter().all(|own| own.is_none()));
            sums.iter_mut().zip(&*row.self_costs).for_each(|(sum, cost)| *sum += cost.delta());
        }
        is_shown
    });
    let rest = Rest { rows: rest, self_costs: Costs::new(&head.event_types, sums), same_self_cost };
    Rows { rows, rest, all, changed: PresenceCounts::default(), remainders }
}
