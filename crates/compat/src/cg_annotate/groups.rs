//! Files with their functions, or functions with their files, the most expensive first.

use std::cmp::Ordering;

use gristmill_format::Cost;
use gristmill_profile::hash::Map;
use gristmill_profile::{SummedFileId, SummedFunctionId, SummedLine, SummedNames};

use super::{Options, add};

/// The name of a file or a function. It can be long, and be in many rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum RowName {
    File(SummedFileId),
    Function(SummedFunctionId),
}

impl RowName {
    pub(super) fn text(self, names: &SummedNames) -> &[u8] {
        match self {
            RowName::File(id) => names.file(id),
            RowName::Function(id) => names.function(id),
        }
    }
}

/// A file with its functions, or a function with its files.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: RowName,
    /// The costs of all members, listed or not.
    pub(super) costs: Vec<Cost>,
    /// The costs of this group and the groups before it.
    pub(super) cumulative: Vec<Cost>,
    /// The listed members.
    pub(super) members: Vec<Member>,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: RowName,
    pub(super) costs: Vec<Cost>,
}

impl Group {
    /// The only member, if it has all costs of the group.
    pub(super) fn sole_member(&self) -> Option<&Member> {
        match &self.members[..] {
            [member] if member.costs == self.costs => Some(member),
            _ => None,
        }
    }
}

/// Groups while costs are summed up: the members to list are chosen first, then their costs are added.
#[derive(Debug)]
pub(super) struct Groups<'o> {
    options: &'o Options,
    /// `true` if the groups are functions and their members are files.
    of_functions: bool,
    /// The lowest cost of a listed member.
    least: f64,
    /// The groups with a listed member.
    groups: Map<RowName, Shown>,
}

#[derive(Debug, Default)]
struct Shown {
    /// The count of listed members.
    count: usize,
    /// The costs of all members.
    costs: Vec<Cost>,
    members: Vec<Member>,
}

impl<'o> Groups<'o> {
    /// Groups functions by file.
    pub(super) fn of_files(options: &'o Options, total: &[Cost]) -> Self {
        let least = (leading(&options.sort, total) as f64 * options.threshold / 100.0).abs();
        Groups { options, of_functions: false, least, groups: Map::default() }
    }

    /// Groups files by function.
    pub(super) fn of_functions(options: &'o Options, total: &[Cost]) -> Self {
        Groups { of_functions: true, ..Groups::of_files(options, total) }
    }

    fn is_shown(&self, function: &[u8], costs: &[Cost]) -> bool {
        leading(&self.options.sort, costs).abs() as f64 >= self.least
            && self.options.functions.as_ref().is_none_or(|pattern| pattern.is_match(function))
    }

    /// The names of the group and of the member.
    fn names(&self, sum: &SummedLine<'_, '_>) -> (RowName, RowName) {
        let (file, function) = (RowName::File(sum.file_id), RowName::Function(sum.function_id));
        if self.of_functions { (function, file) } else { (file, function) }
    }

    /// Counts the cost of a function in a file if it will be listed.
    pub(super) fn consider(&mut self, sum: &SummedLine<'_, '_>) {
        if self.is_shown(sum.function, sum.costs) {
            let (group, _) = self.names(sum);
            self.groups.entry(group).or_default().count += 1;
        }
    }

    /// The count of rows of costs.
    pub(super) fn shown_rows(&self) -> usize {
        self.groups.values().map(|shown| shown.count + 2).sum()
    }

    /// Adds the cost of a function in a file.
    pub(super) fn add(&mut self, sum: &SummedLine<'_, '_>) {
        let is_shown = self.is_shown(sum.function, sum.costs);
        let (group, member) = self.names(sum);
        if let Some(shown) = self.groups.get_mut(&group) {
            shown.costs.resize(sum.costs.len(), 0);
            add(&mut shown.costs, sum.costs);
            if is_shown {
                shown.members.push(Member { name: member, costs: sum.costs.to_vec() });
            }
        }
    }

    /// Sorts the groups.
    pub(super) fn finish(self, names: &SummedNames) -> Vec<Group> {
        let sort = &self.options.sort;
        let group =
            |(name, Shown { costs, members, .. })| Group { name, costs, cumulative: Vec::new(), members };
        let mut groups: Vec<Group> = self.groups.into_iter().map(group).collect();
        let text = |name: RowName| name.text(names);
        groups.sort_by(|a, b| most_expensive_first(sort, (&a.costs, text(a.name)), (&b.costs, text(b.name))));
        let mut sum: Vec<Cost> = Vec::new();
        for group in &mut groups {
            group.members.sort_by(|a, b| {
                most_expensive_first(sort, (&a.costs, text(a.name)), (&b.costs, text(b.name)))
            });
            sum.resize(group.costs.len(), 0);
            add(&mut sum, &group.costs);
            group.cumulative.clone_from(&sum);
        }
        groups
    }
}

/// The cost that the threshold is about.
fn leading(sort: &[usize], costs: &[Cost]) -> Cost {
    sort.first().and_then(|&column| costs.get(column)).copied().unwrap_or_default()
}

/// Compares by magnitude. Of equal costs, the name that sorts last is first.
fn most_expensive_first(sort: &[usize], a: (&[Cost], &[u8]), b: (&[Cost], &[u8])) -> Ordering {
    let size = |costs: &[Cost], column: usize| costs.get(column).map(|cost| cost.unsigned_abs());
    let by_costs = sort
        .iter()
        .map(|&column| size(b.0, column).cmp(&size(a.0, column)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal);
    by_costs.then_with(|| b.1.cmp(a.1))
}
