//! Groups of functions with their costs, whose rows are made when they are shown.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use gristmill_format::Cost;
use gristmill_output::json::{Costs, EventNames};
use gristmill_output::lossy;
use gristmill_profile::analysis::{CycleId, GroupCosts, Partition, group_costs};
use gristmill_profile::threads::map_on_threads;

use super::group_numbers::GroupNumbers;
use super::list_order::{KeyCosts, ListOrder, ranks};
use super::name_index::{NameIndex, name_of, ranges};
use super::ordered::{Item, RowOrder};
use super::{FunctionRow, FunctionsOptions, SortBy, function_order};
use crate::call_count::CallCount;
use crate::grouping::Grouping;
use crate::view::{SubjectId, View};

/// Groups of functions, in the order in which they were made.
#[derive(Debug)]
pub(super) enum Groups {
    Named(Box<NamedGroups>),
    Units(Units),
}

/// Groups with a name and the costs of all of their functions.
#[derive(Debug)]
pub(super) struct NamedGroups {
    names: Vec<String>,
    costs: GroupCosts,
    self_estimates: HashSet<u32>,
    inclusive_estimates: HashSet<u32>,
    call_estimates: HashSet<u32>,
}

/// Functions outside of cycles, and cycles.
#[derive(Debug)]
pub(super) struct Units {
    alone: Vec<SubjectId>,
    /// After the functions, each with its name.
    cycles: Vec<(CycleId, String)>,
}

/// One of the units.
enum Unit<'u> {
    Function(SubjectId),
    Cycle(CycleId, &'u str),
}

/// Groups, and those of them that are shown.
pub(super) struct Taken {
    pub(super) groups: Groups,
    /// By index, in their order.
    pub(super) shown: Vec<u32>,
    /// The count of groups without any filter.
    pub(super) all: usize,
}

impl NamedGroups {
    /// Adds up the costs of groups from the group of each function.
    pub(super) fn new(view: &View, names: Vec<String>, group_of: Vec<u32>) -> Self {
        let groups_of = |is_estimate: fn(&View, SubjectId) -> bool| -> HashSet<u32> {
            if !view.has_attribution() {
                return HashSet::new();
            }
            let estimates = view.subject_ids().zip(&group_of).filter(|(id, _)| is_estimate(view, *id));
            estimates.map(|(_, &group)| group).collect()
        };
        let self_estimates = groups_of(View::is_self_estimate);
        let inclusive_estimates = groups_of(View::is_inclusive_estimate);
        let call_estimates = groups_of(|view, id| view.calls(id).is_guessed());
        let groups = group_of.iter().map(|&group| group as usize);
        let costs = group_costs(view.full_graph(), &Partition::new(names.len(), groups));
        NamedGroups { names, costs, self_estimates, inclusive_estimates, call_estimates }
    }

    fn key_costs(&self, index: usize) -> KeyCosts {
        let GroupCosts { inclusive, self_costs, call_counts, .. } = &self.costs;
        KeyCosts {
            inclusive: inclusive.row(index)[0],
            self_cost: self_costs.row(index)[0],
            calls: call_counts[index],
        }
    }

    /// Makes the row of a group.
    pub(super) fn row(&self, view: &View, event_types: &EventNames, group: u32) -> FunctionRow {
        let NamedGroups { names, costs, self_estimates, inclusive_estimates, call_estimates } = self;
        let width = view.events().len();
        let index = group as usize;
        let is_estimate = (0..width).any(|column| costs.is_estimate(index, column));
        FunctionRow {
            self_costs: Costs::new(event_types, &costs.self_costs.row(index)[..width]),
            inclusive: Costs::new(event_types, &costs.inclusive.row(index)[..width]),
            is_upper_bound: costs.is_upper_bound[index] && !is_estimate,
            is_self_estimate: self_estimates.contains(&group),
            is_inclusive_estimate: inclusive_estimates.contains(&group) || is_estimate,
            calls: CallCount::new(costs.call_counts[index], costs.has_inlined_calls[index])
                .guessed(call_estimates.contains(&group)),
            ..FunctionRow::of_group(event_types, names[index].clone())
        }
    }
}

impl Units {
    fn unit(&self, index: u32) -> Unit<'_> {
        let index = index as usize;
        match self.alone.get(index) {
            Some(&id) => Unit::Function(id),
            None => {
                let (cycle, name) = &self.cycles[index - self.alone.len()];
                Unit::Cycle(*cycle, name)
            }
        }
    }

    fn row(&self, view: &View, event_types: &EventNames, index: u32) -> FunctionRow {
        let (cycle, name) = match self.unit(index) {
            Unit::Function(id) => return FunctionRow::new(view, event_types, id),
            Unit::Cycle(cycle, name) => (cycle, name),
        };
        let inclusive = view.inclusive();
        let has_estimate = |is_estimate: fn(&View, SubjectId) -> bool| {
            let mut members = inclusive.cycles().members(cycle).iter();
            view.has_attribution() && members.any(|&member| is_estimate(view, view.subject_at(member)))
        };
        FunctionRow {
            self_costs: Costs::new(event_types, inclusive.cycle_self_cost(cycle)),
            inclusive: Costs::new(event_types, inclusive.cycle_cost(cycle)),
            is_self_estimate: has_estimate(View::is_self_estimate),
            is_inclusive_estimate: has_estimate(View::is_inclusive_estimate),
            calls: view.cycle_calls(cycle),
            cycle: Some(cycle.number()),
            ..FunctionRow::of_group(event_types, name.to_owned())
        }
    }
}

impl Groups {
    /// Makes the row of a group.
    pub(super) fn row(&self, view: &View, event_types: &EventNames, group: u32) -> FunctionRow {
        match self {
            Groups::Named(groups) => groups.row(view, event_types, group),
            Groups::Units(units) => units.row(view, event_types, group),
        }
    }

    /// Returns the numbers that these groups have in another view of the functions. One that is not there has none.
    pub(super) fn numbers_in(&self, numbers: &[u32], other: &Groups) -> Vec<Option<u32>> {
        match (self, other) {
            (Groups::Named(own), Groups::Named(other)) => {
                // The first group is that of functions that are not taken.
                let by_name: HashMap<&str, u32> =
                    other.names.iter().map(String::as_str).zip(0..).skip(1).collect();
                let name = |number: u32| own.names[number as usize].as_str();
                numbers.iter().map(|&number| by_name.get(name(number)).copied()).collect()
            }
            // Functions and cycles do not depend on costs.
            _ => numbers.iter().copied().map(Some).collect(),
        }
    }

    /// Returns the self costs of a group, by column.
    pub(super) fn self_costs<'g>(&'g self, view: &'g View, group: u32) -> &'g [Cost] {
        match self {
            Groups::Named(groups) => &groups.costs.self_costs.row(group as usize)[..view.events().len()],
            Groups::Units(units) => match units.unit(group) {
                Unit::Function(id) => view.self_cost(id),
                Unit::Cycle(cycle, _) => view.inclusive().cycle_self_cost(cycle),
            },
        }
    }

    fn key_costs(&self, view: &View, group: u32) -> KeyCosts {
        match self {
            Groups::Named(groups) => groups.key_costs(group as usize),
            Groups::Units(units) => match units.unit(group) {
                Unit::Function(id) => function_order::costs(view, id),
                Unit::Cycle(cycle, _) => KeyCosts {
                    inclusive: view.inclusive().cycle_cost(cycle)[0],
                    self_cost: view.inclusive().cycle_self_cost(cycle)[0],
                    calls: view.inclusive().cycle_call_count(cycle),
                },
            },
        }
    }

    fn name<'g>(&'g self, view: &'g View, names: Option<&'g NameIndex>, group: u32) -> &'g str {
        match self {
            Groups::Named(groups) => &groups.names[group as usize],
            Groups::Units(units) => match units.unit(group) {
                Unit::Function(id) => name_of(view, names, id),
                Unit::Cycle(_, name) => name,
            },
        }
    }
}

/// The order of groups by a key, then by names and objects, then as they were made.
pub(super) struct GroupOrder<'g> {
    pub(super) view: &'g View,
    pub(super) groups: &'g Groups,
    pub(super) order: ListOrder,
    pub(super) names: Option<&'g NameIndex>,
}

impl GroupOrder<'_> {
    /// Makes items of groups, on all cores.
    pub(super) fn items(&self, shown: &[u32]) -> Vec<Item<u32>> {
        let GroupOrder { view, groups, order, names } = *self;
        let profile = view.profile();
        // Groups have no paths: cycles come before all that have some.
        let mut paths: Vec<String> = match (groups, order) {
            (Groups::Units(_), ListOrder::Object) => {
                profile.objects().map(|id| lossy(profile.object(id))).collect()
            }
            (Groups::Units(_), ListOrder::File) => {
                profile.files().map(|id| lossy(profile.file(id))).collect()
            }
            _ => Vec::new(),
        };
        paths.push(String::new());
        let ranks = ranks(&paths);
        let of_path = |group: u32| match groups {
            Groups::Units(units) => match units.unit(group) {
                Unit::Function(id) if order == ListOrder::File => ranks[view.paths(id).0.index()],
                Unit::Function(id) => ranks[view.paths(id).1.index()],
                Unit::Cycle(..) => ranks[ranks.len() - 1],
            },
            Groups::Named(_) => 0,
        };
        let first_key = |group: u32| match order {
            ListOrder::By(SortBy::Name) => first_bytes(groups.name(view, names, group)),
            ListOrder::Object | ListOrder::File => of_path(group),
            order => order.first_key(groups.key_costs(view, group)),
        };
        let items = |range: Range<usize>| -> Vec<Item<u32>> {
            shown[range].iter().map(|&group| (first_key(group), group)).collect()
        };
        map_on_threads(ranges(shown.len()), items).concat()
    }

    /// Returns the object of a group. Only functions have one.
    fn object(&self, group: u32) -> String {
        match self.groups {
            Groups::Units(units) => match units.unit(group) {
                Unit::Function(id) => lossy(self.view.profile().object(self.view.paths(id).1)),
                Unit::Cycle(..) => String::new(),
            },
            Groups::Named(_) => String::new(),
        }
    }
}

impl RowOrder for GroupOrder<'_> {
    type Id = u32;

    fn compare_keys(&self, a: u32, b: u32) -> Ordering {
        let costs = |group| self.groups.key_costs(self.view, group);
        self.order.compare_costs(costs(a), costs(b))
    }

    fn compare_names(&self, a: u32, b: u32) -> Ordering {
        let name = |group| self.groups.name(self.view, self.names, group);
        name(a).cmp(name(b)).then_with(|| self.object(a).cmp(&self.object(b))).then_with(|| a.cmp(&b))
    }
}

/// Returns a number that is in the order of texts as far as their first bytes are.
fn first_bytes(text: &str) -> u32 {
    let mut bytes = [0; 4];
    bytes.iter_mut().zip(text.bytes()).for_each(|(to, byte)| *to = byte);
    u32::from_be_bytes(bytes)
}

/// Takes functions outside of cycles, and cycles.
pub(super) fn units(view: &View, options: &FunctionsOptions, names: Option<&NameIndex>) -> Taken {
    let cycles = view.inclusive().cycles();
    let takes_all = options.takes_all(view);
    let is_taken = |id: SubjectId| takes_all || options.takes(view, id);
    let has_name = |id: SubjectId| options.filter.is_none() || options.takes_name(name_of(view, names, id));
    let matches = |id: SubjectId| is_taken(id) && has_name(id);
    let ids = view.subject_ids();
    let alone: Vec<SubjectId> = ids.filter(|&id| cycles.cycle_of(id.node()).is_none()).collect();
    let with_name = |cycle: CycleId| {
        let members = cycles.members(cycle);
        let first = members.first().map_or("", |&member| name_of(view, names, view.subject_at(member)));
        (cycle, format!("cycle {} of {} functions: {first} …", cycle.number(), members.len()))
    };
    let units = Units { alone, cycles: cycles.ids().map(with_name).collect() };
    let all = units.alone.len() + units.cycles.len();
    let is_shown = |group: &u32| match units.unit(*group) {
        Unit::Function(id) => matches(id),
        Unit::Cycle(cycle, name) => {
            let mut members = cycles.members(cycle).iter().map(|&member| view.subject_at(member));
            // By its own name, which few people know, or by that of a member.
            (options.takes_name(name) && members.clone().any(is_taken)) || members.any(matches)
        }
    };
    let shown = (0u32..).take(all).filter(is_shown).collect();
    Taken { shown, all, groups: Groups::Units(units) }
}

/// Takes groups of functions. Functions that are not taken form a group that is not shown.
pub(super) fn groups(
    view: &View,
    options: &FunctionsOptions,
    grouping: Grouping,
    names: Option<&NameIndex>,
) -> Taken {
    let takes_all = options.takes_all(view);
    let GroupNumbers { names: all_names, mut group_of } = GroupNumbers::new(view, grouping, names);
    let all = all_names.len();
    // The first group is that of functions that are not taken; the others are in the order of their first functions that are.
    let mut names = vec![String::new()];
    let mut number_of: Vec<u32> = vec![0; all];
    for (id, group) in view.subject_ids().zip(&mut group_of) {
        let number = &mut number_of[*group as usize];
        *group = match takes_all || options.takes(view, id) {
            false => 0,
            true if *number == 0 => {
                *number = u32::try_from(names.len()).unwrap_or(u32::MAX);
                names.push(all_names[*group as usize].clone());
                *number
            }
            true => *number,
        };
    }
    let groups = NamedGroups::new(view, names, group_of);
    let is_shown = |group: &u32| options.takes_name(&groups.names[*group as usize]);
    let shown = (0u32..).take(groups.names.len()).skip(1).filter(is_shown).collect();
    Taken { shown, all, groups: Groups::Named(Box::new(groups)) }
}
