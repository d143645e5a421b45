//! The flat profile: functions, or groups of them, each with its costs.

mod json;
mod text;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use gristmill_format::Cost;
use gristmill_output::lossy;
use gristmill_profile::analysis::{Partition, group_costs};
use regex::Regex;

use crate::grouping::Grouping;
use crate::head::Head;
use crate::view::{Subject, SubjectId, View};

/// By what the rows are ordered, the greatest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SortBy {
    /// Inclusive cost of the first event type.
    #[default]
    Inclusive,
    /// Self cost of the first event type.
    SelfCost,
    /// Calls.
    Calls,
    /// Name, from a to z.
    Name,
}

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct FunctionsOptions {
    /// What the rows are about.
    pub grouping: Grouping,
    /// By what they are ordered.
    pub sort: SortBy,
    /// Shows so many rows at most.
    pub limit: Option<usize>,
    /// Shows only rows whose name fits.
    pub filter: Option<Regex>,
    /// Takes only functions whose object's path fits.
    pub object: Option<Regex>,
    /// Takes only functions whose source file's path fits.
    pub file: Option<Regex>,
    /// Takes shares of the inclusive cost of this one, not of the total.
    pub relative_to: Option<SubjectId>,
    /// Also shows costs by call.
    pub per_call: bool,
}

impl FunctionsOptions {
    fn takes_name(&self, name: &str) -> bool {
        self.filter.as_ref().is_none_or(|filter| filter.is_match(name))
    }
}

/// A function or a group of them. Costs are by column of the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its source file; empty for a group that has none of its own.
    pub file: String,
    /// Its object; empty for a group that has none of its own.
    pub object: String,
    /// What it cost by itself.
    pub self_costs: Vec<Cost>,
    /// What it cost with all that it called.
    pub inclusive: Vec<Cost>,
    /// How often it was called.
    pub calls: Cost,
    /// The cycle that it is in or stands for, by number.
    pub cycle: Option<usize>,
    /// The inclusive cost may be less than is said: calls leave the group and come back.
    pub is_upper_bound: bool,
}

/// The flat profile.
#[derive(Debug)]
pub struct Functions<'v> {
    view: &'v View,
    /// What stands above it.
    pub head: Head,
    /// The rows that are shown, in order.
    pub rows: Vec<Row>,
    /// How many rows there were before the limit.
    pub matching: usize,
    /// How many there are without any filter.
    pub all: usize,
    grouping: Grouping,
    per_call: bool,
    /// What shares are taken of, by column of the view.
    whole: Vec<Cost>,
    relative_to: Option<String>,
}

impl<'v> Functions<'v> {
    /// Takes the rows from a view.
    pub fn new(view: &'v View, options: &FunctionsOptions) -> Self {
        let (rows, matching, all) = match options.grouping {
            Grouping::Function => functions(view, options),
            grouping => {
                let (mut rows, all) = if grouping == Grouping::Cycle {
                    units(view, options)
                } else {
                    groups(view, options, grouping)
                };
                let matching = rows.len();
                rows.sort_by(|a, b| {
                    let key = |row: &Row| key(options.sort, row.inclusive[0], row.self_costs[0], row.calls);
                    key(a).cmp(&key(b)).then_with(|| (&a.name, &a.object).cmp(&(&b.name, &b.object)))
                });
                rows.truncate(options.limit.unwrap_or(usize::MAX));
                (rows, matching, all)
            }
        };
        Functions {
            head: Head::of(view),
            rows,
            matching,
            all,
            grouping: options.grouping,
            per_call: options.per_call,
            whole: match options.relative_to {
                Some(subject) => view.inclusive_cost(subject).to_vec(),
                None => view.totals().to_vec(),
            },
            relative_to: options.relative_to.map(|subject| view.subject(subject).name().to_owned()),
            view,
        }
    }

    /// Whether there are calls; without any, inclusive costs say nothing.
    fn has_calls(&self) -> bool {
        self.view.graph().arcs().len() > 0
    }
}

/// What rows are ordered by, before their names.
fn key(by: SortBy, inclusive: Cost, own: Cost, calls: Cost) -> Reverse<(Cost, Cost)> {
    Reverse(match by {
        SortBy::Inclusive => (inclusive, own),
        SortBy::SelfCost => (own, inclusive),
        SortBy::Calls => (calls, inclusive),
        SortBy::Name => (0, 0),
    })
}

fn is_taken(view: &View, options: &FunctionsOptions, subject: Subject<'_>) -> bool {
    let profile = view.profile();
    let fits = |pattern: &Regex, name: &[u8]| pattern.is_match(&String::from_utf8_lossy(name));
    options.object.as_ref().is_none_or(|pattern| fits(pattern, profile.object(subject.object)))
        && options.file.as_ref().is_none_or(|pattern| fits(pattern, profile.file(subject.file)))
}

fn row(view: &View, id: SubjectId) -> Row {
    let subject = view.subject(id);
    Row {
        name: subject.name().to_owned(),
        file: lossy(view.profile().file(subject.file)),
        object: lossy(view.profile().object(subject.object)),
        self_costs: view.self_cost(id).to_vec(),
        inclusive: view.inclusive_cost(id).to_vec(),
        calls: view.call_count(id),
        cycle: view.inclusive().cycles().cycle_of(id.node()).map(|cycle| cycle.number()),
        is_upper_bound: false,
    }
}

/// A function with what it is ordered by.
type Ranked = (Reverse<(Cost, Cost)>, SubjectId);

/// The rows that are shown, how many there would be without a limit, and how many without any filter. Of a large profile
/// few rows are shown, so only these are kept on the way, and made at last.
fn functions(view: &View, options: &FunctionsOptions) -> (Vec<Row>, usize, usize) {
    let all_match = options.filter.is_none() && options.object.is_none() && options.file.is_none();
    let matches =
        |subject: Subject<'_>| is_taken(view, options, subject) && options.takes_name(subject.name());
    let profile = view.profile();
    let by_name = |a: SubjectId, b: SubjectId| {
        let [a, b] = [a, b].map(|id| view.subject(id));
        let places = |subject: Subject<'_>| (profile.file(subject.file), profile.object(subject.object));
        a.name().cmp(b.name()).then_with(|| places(a).cmp(&places(b)))
    };
    let order =
        |a: &Ranked, b: &Ranked| a.0.cmp(&b.0).then_with(|| by_name(a.1, b.1)).then_with(|| a.1.cmp(&b.1));
    let limit = options.limit.unwrap_or(usize::MAX);
    let mut first: Vec<Ranked> = Vec::new();
    let mut matching = 0;
    for id in view.subject_ids() {
        // Looking them up takes longer than ordering them.
        if !all_match && !matches(view.subject(id)) {
            continue;
        }
        matching += 1;
        let (all, own) = (view.inclusive_cost(id)[0], view.self_cost(id)[0]);
        first.push((key(options.sort, all, own, view.call_count(id)), id));
        // More than twice as many, so that each of them is looked at but a few times.
        if first.len() > limit.saturating_mul(2).saturating_add(1000) {
            first.select_nth_unstable_by(limit, order);
            first.truncate(limit);
        }
    }
    first.sort_unstable_by(order);
    first.truncate(limit);
    (first.into_iter().map(|(_, id)| row(view, id)).collect(), matching, view.subjects().len())
}

/// Functions outside of cycles, and cycles; and how many there are of both without any filter.
fn units(view: &View, options: &FunctionsOptions) -> (Vec<Row>, usize) {
    let inclusive = view.inclusive();
    let cycles = inclusive.cycles();
    let taken = |id: SubjectId| is_taken(view, options, view.subject(id));
    let ids = view.subject_ids();
    let matches = |id: SubjectId| taken(id) && options.takes_name(view.subject(id).name());
    let alone: Vec<SubjectId> = ids.filter(|&id| cycles.cycle_of(id.node()).is_none()).collect();
    let all = alone.len() + cycles.ids().len();
    let mut rows: Vec<Row> = alone.into_iter().filter(|&id| matches(id)).map(|id| row(view, id)).collect();
    for cycle in cycles.ids() {
        let members: Vec<SubjectId> =
            cycles.members(cycle).iter().map(|&member| view.subject_at(member)).collect();
        let first = members.first().map_or("", |&id| view.subject(id).name());
        let name = format!("cycle {} of {} functions: {first} …", cycle.number(), members.len());
        // By its own name, which not many know, or by that of a member.
        let is_named = options.takes_name(&name) && members.iter().any(|&id| taken(id));
        if !is_named && !members.iter().any(|&id| matches(id)) {
            continue;
        }
        rows.push(Row {
            name,
            file: String::new(),
            object: String::new(),
            self_costs: inclusive.cycle_self_cost(cycle).to_vec(),
            inclusive: inclusive.cycle_cost(cycle).to_vec(),
            calls: inclusive.cycle_call_count(cycle),
            cycle: Some(cycle.number()),
            is_upper_bound: false,
        });
    }
    (rows, all)
}

/// Groups of functions by something that they have in common, and how many there are without any filter. Functions that are
/// not taken form a group that is not shown.
fn groups(view: &View, options: &FunctionsOptions, grouping: Grouping) -> (Vec<Row>, usize) {
    let profile = view.profile();
    let mut names = vec![String::new()];
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut others: HashSet<String> = HashSet::new();
    let mut group_of = Vec::new();
    for (_, subject) in view.subjects() {
        let name = grouping.group(
            || subject.name().to_owned(),
            || lossy(profile.file(subject.file)),
            || lossy(profile.object(subject.object)),
        );
        if !is_taken(view, options, subject) {
            others.insert(name);
            group_of.push(0);
            continue;
        }
        let next = names.len();
        let group = *known.entry(name.clone()).or_insert(next);
        if group == next {
            names.push(name);
        }
        group_of.push(group);
    }
    let costs = group_costs(view.graph(), &Partition::new(names.len(), group_of));
    let all = known.len() + others.iter().filter(|name| !known.contains_key(*name)).count();
    let rows = names.into_iter().enumerate().skip(1).filter(|(_, name)| options.takes_name(name));
    let rows = rows.map(|(group, name)| Row {
        name,
        file: String::new(),
        object: String::new(),
        self_costs: costs.self_costs.row(group).to_vec(),
        inclusive: costs.inclusive.row(group).to_vec(),
        calls: costs.call_counts[group],
        cycle: None,
        is_upper_bound: costs.is_upper_bound[group],
    });
    (rows.collect(), all)
}
