//! Rows that stand for several functions: cycles, and functions of one object, file, directory or class.

use std::collections::{HashMap, HashSet};

use gristmill_output::lossy;
use gristmill_profile::analysis::{Partition, group_costs};

use super::name_index::NameIndex;
use super::{FunctionRow, FunctionsOptions, Rows, Selected, SortBy, sort_key};
use crate::call_count::CallCount;
use crate::grouping::{Grouping, class_of};
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
    /// Adds the rates that the same rows have in the view of the rates.
    pub(super) fn add_rates(&mut self, rates: &Rates, same: Matching, sort: SortBy) {
        for (row, same) in self.rows.iter_mut().zip(same.rows) {
            row.rates = rates.of(sort.cost(&same.self_costs, &same.inclusive));
        }
    }

    /// Orders the rows and applies the limit.
    pub(super) fn sorted(self, options: &FunctionsOptions) -> Selected {
        let (matching, all) = (self.rows.len(), self.all);
        let mut rows = self.sorted_rows(options.sort);
        rows.truncate(options.limit.unwrap_or(usize::MAX));
        Selected { rows: Rows::Groups(rows), matching, all }
    }

    /// Returns all rows in order.
    pub(super) fn sorted_rows(self, by: SortBy) -> Vec<FunctionRow> {
        let mut rows = self.rows;
        sort(&mut rows, by);
        rows
    }
}

/// Orders rows by a key, then by name and object, then as they were made.
pub(super) fn sort(rows: &mut [FunctionRow], by: SortBy) {
    rows.sort_by(|a, b| {
        let key = |row: &FunctionRow| sort_key(by, row.inclusive[0], row.self_costs[0], row.calls.recorded());
        key(a).cmp(&key(b)).then_with(|| (&a.name, &a.object).cmp(&(&b.name, &b.object)))
    });
}

/// Takes functions outside of cycles, and cycles.
pub(super) fn units(view: &View, head: &Head, options: &FunctionsOptions) -> Matching {
    let inclusive = view.inclusive();
    let cycles = inclusive.cycles();
    let is_taken = |id: SubjectId| options.takes(view, id);
    let matches = |id: SubjectId| is_taken(id) && options.takes_name(view.subject(id).name());
    let ids = view.subject_ids();
    let alone: Vec<SubjectId> = ids.filter(|&id| cycles.cycle_of(id.node()).is_none()).collect();
    let all = alone.len() + cycles.ids().len();
    let mut rows: Vec<FunctionRow> = alone
        .into_iter()
        .filter(|&id| matches(id))
        .map(|id| FunctionRow::new(view, &head.event_types, id))
        .collect();
    for cycle in cycles.ids() {
        let members: Vec<SubjectId> =
            cycles.members(cycle).iter().map(|&member| view.subject_at(member)).collect();
        let first = members.first().map_or("", |&id| view.subject(id).name());
        let name = format!("cycle {} of {} functions: {first} …", cycle.number(), members.len());
        // By its own name, which few people know, or by that of a member.
        let is_named = options.takes_name(&name) && members.iter().any(|&id| is_taken(id));
        if !is_named && !members.iter().any(|&id| matches(id)) {
            continue;
        }
        rows.push(FunctionRow {
            id: None,
            name,
            file: String::new(),
            object: String::new(),
            self_costs: head.costs(inclusive.cycle_self_cost(cycle)),
            inclusive: head.costs(inclusive.cycle_cost(cycle)),
            is_upper_bound: false,
            is_self_estimate: members.iter().any(|&id| view.is_self_estimate(id)),
            is_inclusive_estimate: members.iter().any(|&id| view.is_inclusive_estimate(id)),
            calls: view.cycle_calls(cycle),
            cycle: Some(cycle.number()),
            rates: Vec::new(),
            within: Vec::new(),
            within_hidden: 0,
            hash: None,
        });
    }
    Matching { rows, all }
}

/// Takes threads or parts. Nothing calls them, so all of their cost is their own.
pub(super) fn shares(shares: Vec<ShareRow>, options: &FunctionsOptions) -> Matching {
    let all = shares.len();
    let rows = shares.into_iter().filter(|share| options.takes_name(&share.name));
    let rows = rows.map(|ShareRow { name, self_costs }| FunctionRow {
        id: None,
        name,
        file: String::new(),
        object: String::new(),
        inclusive: self_costs.clone(),
        self_costs,
        is_upper_bound: false,
        is_self_estimate: false,
        is_inclusive_estimate: false,
        calls: CallCount::new(0, false),
        cycle: None,
        rates: Vec::new(),
        within: Vec::new(),
        within_hidden: 0,
        hash: None,
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
        let mut known: HashMap<(usize, String), usize> = HashMap::new();
        let pair_of = view.subject_ids().map(|id| {
            let Some(group) = group_of(id) else { return 0 };
            let pair = (group, group_name(view, id, then));
            *known.entry(pair.clone()).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        });
        let pair_of: Vec<usize> = pair_of.collect();
        let rows = group_rows(view, head, pairs.iter().map(|(_, name)| name.clone()).collect(), pair_of);
        pairs.iter().zip(rows).skip(1).for_each(|(&(group, _), row)| add(group, row));
    }
    for ((row, mut within), count) in rows.iter_mut().zip(within).zip(counts) {
        within.sort_by(order);
        // A line that says "1 more" would take as much space as that one.
        within.truncate(if count == limit + 1 { count } else { limit });
        row.within_hidden = count - within.len();
        row.within = within;
    }
}

/// Returns the name of the group that a function is in. See the example of [`FunctionList`](super::FunctionList).
pub fn group_name(view: &View, id: SubjectId, grouping: Grouping) -> String {
    let (profile, subject) = (view.profile(), view.subject(id));
    grouping.group(
        || subject.name().to_owned(),
        || lossy(profile.file(subject.file)),
        || lossy(profile.object(subject.object)),
    )
}

/// Makes the rows of groups from the group of each function.
fn group_rows(
    view: &View,
    head: &Head,
    names: Vec<String>,
    group_of: Vec<usize>,
) -> impl Iterator<Item = FunctionRow> {
    let groups_of = |is_estimate: fn(&View, SubjectId) -> bool| -> HashSet<usize> {
        if !view.has_attribution() {
            return HashSet::new();
        }
        let estimates = view.subject_ids().zip(&group_of).filter(|(id, _)| is_estimate(view, *id));
        estimates.map(|(_, &group)| group).collect()
    };
    let self_estimates = groups_of(View::is_self_estimate);
    let inclusive_estimates = groups_of(View::is_inclusive_estimate);
    let costs = group_costs(view.full_graph(), &Partition::new(names.len(), group_of));
    let width = view.events().len();
    names.into_iter().enumerate().map(move |(group, name)| FunctionRow {
        id: None,
        name,
        file: String::new(),
        object: String::new(),
        self_costs: head.costs(&costs.self_costs.row(group)[..width]),
        inclusive: head.costs(&costs.inclusive.row(group)[..width]),
        is_upper_bound: costs.is_upper_bound[group],
        is_self_estimate: self_estimates.contains(&group),
        is_inclusive_estimate: inclusive_estimates.contains(&group),
        calls: CallCount::new(costs.call_counts[group], costs.has_inlined_calls[group]),
        cycle: None,
        rates: Vec::new(),
        within: Vec::new(),
        within_hidden: 0,
        hash: None,
    })
}

/// Groups of functions, with numbers in the order of their first functions.
pub(super) struct GroupNames<'v> {
    view: &'v View,
    grouping: Grouping,
    index: Option<&'v NameIndex>,
    pub(super) names: Vec<String>,
    known: HashMap<String, usize>,
    /// By file or object, if nothing else decides: there are fewer of them than functions.
    of_path: HashMap<usize, usize>,
}

impl<'v> GroupNames<'v> {
    pub(super) fn new(view: &'v View, grouping: Grouping, index: Option<&'v NameIndex>) -> Self {
        let (names, known, of_path) = (Vec::new(), HashMap::new(), HashMap::new());
        GroupNames { view, grouping, index, names, known, of_path }
    }

    /// Returns the number of a function's group.
    pub(super) fn group_of(&mut self, id: SubjectId) -> usize {
        let subject = self.view.subject(id);
        let path = match self.grouping {
            Grouping::Object => Some(subject.object.index()),
            Grouping::File | Grouping::Directory | Grouping::Package => Some(subject.file.index()),
            _ => None,
        };
        if let Some(group) = path.and_then(|path| self.of_path.get(&path)) {
            return *group;
        }
        let name = match (self.grouping, self.index) {
            // The name is borrowed, and most classes are known.
            (Grouping::Class, Some(index)) => {
                let class = class_of(index.name(id));
                if let Some(group) = self.known.get(class) {
                    return *group;
                }
                class.to_owned()
            }
            _ => group_name(self.view, id, self.grouping),
        };
        let next = self.names.len();
        let group = *self.known.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.of_path.extend(path.map(|path| (path, group)));
        group
    }
}

/// Takes groups of functions. Functions that are not taken form a group that is not shown.
pub(super) fn groups(
    view: &View,
    head: &Head,
    options: &FunctionsOptions,
    grouping: Grouping,
    index: Option<&NameIndex>,
) -> Matching {
    let takes_all = options.object.is_none() && options.file.is_none() && !view.has_attribution();
    let mut groups = GroupNames::new(view, grouping, index);
    let group_of: Vec<usize> = view.subject_ids().map(|id| groups.group_of(id)).collect();
    let all = groups.names.len();
    // The first group is that of functions that are not taken; the others are in the order of their first functions that are.
    let mut names = vec![String::new()];
    let mut number_of: Vec<usize> = vec![0; all];
    let mut taken_of = |(id, group): (SubjectId, usize)| {
        if !takes_all && !options.takes(view, id) {
            return 0;
        }
        if number_of[group] == 0 {
            number_of[group] = names.len();
            names.push(groups.names[group].clone());
        }
        number_of[group]
    };
    let group_of: Vec<usize> = view.subject_ids().zip(group_of).map(&mut taken_of).collect();
    let rows = group_rows(view, head, names, group_of).skip(1).filter(|row| options.takes_name(&row.name));
    Matching { rows: rows.collect(), all }
}
