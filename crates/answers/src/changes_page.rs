//! Pages of what changed since a base, by side.

use std::cmp::Reverse;

use gristmill_format::Cost;
use gristmill_output::json::ByEvent;
use gristmill_output::lossy;
use gristmill_profile::compare::{Change, Comparison, JoinedId, Presence};
use gristmill_report::diff::{Delta, Diff, DiffHead, DiffOptions, DiffRow, shown_name};
use gristmill_report::{Grouping, matches_name};
use regex::Regex;

use crate::changed_answer::{ChangeRow, ChangesPage, SideCounts};
use crate::changed_tree::delta;
use crate::question::{ChangeSort, ChangedSide, Group};

/// The most rows that can be paged through.
const MAX_LISTED: usize = 100_000;
/// The most rows of a page.
const MAX_PAGE_ROWS: usize = 10_000;

/// The properties that decide the rows and their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangesKey {
    pub(crate) group: Group,
    pub(crate) sort: ChangeSort,
    pub(crate) side: ChangedSide,
    pub(crate) filter: String,
}

/// Rows that changed, in order.
#[derive(Debug)]
pub(crate) struct ChangeList {
    head: DiffHead,
    counts: SideCounts,
    all: usize,
    self_costs: ByEvent<Delta>,
    rows: Vec<ChangeRow>,
}

impl ChangeList {
    /// Lists the functions that changed in a shown column.
    pub(crate) fn of_functions(
        comparison: &Comparison<'_>,
        columns: &[usize],
        key: &ChangesKey,
        filter: Option<&Regex>,
    ) -> Self {
        let head = DiffHead::new(comparison, columns);
        let is_changed = |&function: &JoinedId| {
            let changed = |&column: &usize| {
                !comparison.self_cost(function, column).is_none()
                    || !comparison.inclusive(function, column).is_none()
            };
            columns.iter().any(changed) || !comparison.calls(function).is_none()
        };
        let fits = |&function: &JoinedId| {
            let names = [comparison.in_new(function), comparison.in_base(function)];
            filter.is_none_or(|filter| {
                let is_match = |mention| matches_name(filter, &shown_name(mention));
                names.into_iter().flatten().any(is_match)
            })
        };
        let column = columns[0];
        let leading = |function: JoinedId| match key.sort {
            ChangeSort::InclusiveChange => comparison.inclusive(function, column),
            ChangeSort::SelfChange | ChangeSort::Name => comparison.self_cost(function, column),
        };
        let second = |function: JoinedId| match key.sort {
            ChangeSort::InclusiveChange => comparison.self_cost(function, column),
            ChangeSort::SelfChange | ChangeSort::Name => comparison.inclusive(function, column),
        };
        let mut counts = SideCounts::default();
        let mut chosen: Vec<JoinedId> = Vec::new();
        for function in comparison.functions().filter(is_changed).filter(fits) {
            let presence = comparison.presence(function);
            counts.add(leading(function).delta(), presence);
            if key.side.has(leading(function).delta(), presence) {
                chosen.push(function);
            }
        }
        let all = chosen.len();
        let mut sums = vec![[0, 0]; columns.len()];
        for &function in &chosen {
            for (sum, &column) in sums.iter_mut().zip(columns) {
                add(sum, comparison.self_cost(function, column));
            }
        }
        let size = |function: JoinedId| (leading(function).delta().abs(), second(function).delta().abs());
        chosen.sort_by_cached_key(|&function| (Reverse(size(function)), function));
        chosen.truncate(MAX_LISTED);
        let mut rows: Vec<ChangeRow> =
            chosen.into_iter().map(|function| ChangeRow::new(comparison, &head, columns, function)).collect();
        sort(&mut rows, key.sort);
        ChangeList { self_costs: sum(&head, sums), head, counts, all, rows }
    }

    /// Lists the groups that changed.
    pub(crate) fn of_groups(
        comparison: &Comparison<'_>,
        columns: Vec<usize>,
        grouping: Grouping,
        key: &ChangesKey,
        filter: Option<Regex>,
    ) -> Self {
        let options = DiffOptions {
            columns,
            grouping,
            sort: gristmill_report::SortBy::SelfCost,
            limit: None,
            min: 0,
            filter,
            causes: Some(0),
            show_joined: false,
        };
        let Diff { head, rows, .. } = Diff::new(comparison, &options);
        let leading = |row: &DiffRow| match key.sort {
            ChangeSort::InclusiveChange => row.inclusive[0].delta(),
            ChangeSort::SelfChange | ChangeSort::Name => row.self_costs[0].delta(),
        };
        let mut counts = SideCounts::default();
        rows.iter().for_each(|row| counts.add(leading(row), row.presence));
        let chosen = rows.into_iter().filter(|row| key.side.has(leading(row), row.presence));
        let mut rows: Vec<ChangeRow> = chosen.map(ChangeRow::of_group).collect();
        let mut sums = vec![[0, 0]; options.columns.len()];
        for row in &rows {
            sums.iter_mut().zip(row.self_costs.iter()).for_each(|(sum, change)| add(sum, **change));
        }
        sort(&mut rows, key.sort);
        let all = rows.len();
        rows.truncate(MAX_LISTED);
        ChangeList { self_costs: sum(&head, sums), head, counts, all, rows }
    }

    /// Returns a page of the list.
    pub(crate) fn page(&self, start: usize, count: usize) -> ChangesPage {
        let count = count.min(MAX_PAGE_ROWS);
        ChangesPage {
            head: self.head.clone(),
            counts: self.counts,
            all: self.all,
            listed: self.rows.len(),
            self_costs: self.self_costs.clone(),
            start,
            rows: self.rows.iter().skip(start).take(count).cloned().collect(),
        }
    }
}

fn add(sum: &mut [Cost; 2], change: Change) {
    sum[0] = sum[0].saturating_add(change.base.median);
    sum[1] = sum[1].saturating_add(change.new.median);
}

fn sum(head: &DiffHead, sums: Vec<[Cost; 2]>) -> ByEvent<Delta> {
    ByEvent::new(&head.event_types, sums.into_iter().map(delta).collect::<Vec<_>>())
}

/// Sorts rows by the greatest change first, up or down; equal ones by name.
fn sort(rows: &mut [ChangeRow], by: ChangeSort) {
    let size = |row: &ChangeRow| {
        let [own, inclusive] = [row.self_costs[0].delta().abs(), row.inclusive[0].delta().abs()];
        match by {
            ChangeSort::SelfChange => (own, inclusive),
            ChangeSort::InclusiveChange => (inclusive, own),
            ChangeSort::Name => (0, 0),
        }
    };
    fn identity(row: &ChangeRow) -> (&str, &str, &str, Option<usize>) {
        (&row.name, &row.file, &row.object, row.id)
    }
    rows.sort_by(|a, b| size(b).cmp(&size(a)).then_with(|| identity(a).cmp(&identity(b))));
}

impl ChangedSide {
    /// `true` if a row with this change is on the side.
    fn has(self, change: Cost, presence: Presence) -> bool {
        match self {
            ChangedSide::All => true,
            ChangedSide::Worse => change > 0,
            ChangedSide::Better => change < 0,
            ChangedSide::New => presence == Presence::New,
            ChangedSide::Gone => presence == Presence::Vanished,
        }
    }
}

impl SideCounts {
    fn add(&mut self, change: Cost, presence: Presence) {
        self.all += 1;
        self.worse += usize::from(change > 0);
        self.better += usize::from(change < 0);
        self.new += usize::from(presence == Presence::New);
        self.gone += usize::from(presence == Presence::Vanished);
    }
}

impl ChangeRow {
    /// Makes the row of a function.
    pub(crate) fn new(
        comparison: &Comparison<'_>,
        head: &DiffHead,
        columns: &[usize],
        function: JoinedId,
    ) -> Self {
        let mention = comparison.mention(function);
        let name = shown_name(mention);
        let deltas = |change: &dyn Fn(usize) -> Change| {
            let deltas = columns.iter().map(|&column| Delta(change(column)));
            ByEvent::new(&head.event_types, deltas.collect::<Vec<_>>())
        };
        ChangeRow {
            id: Some(function.index()),
            base_name: comparison.in_base(function).map(shown_name).filter(|base| *base != name),
            name,
            file: lossy(mention.file),
            object: lossy(mention.object),
            on: comparison.presence(function).into(),
            self_costs: deltas(&|column| comparison.self_cost(function, column)),
            inclusive: deltas(&|column| comparison.inclusive(function, column)),
            inclusive_is_doubtful: false,
            calls: Delta(comparison.calls(function)),
        }
    }

    fn of_group(row: DiffRow) -> Self {
        ChangeRow {
            id: None,
            name: row.name,
            base_name: None,
            file: String::new(),
            object: String::new(),
            on: row.presence.into(),
            self_costs: row.self_costs,
            inclusive: row.inclusive,
            inclusive_is_doubtful: row.is_upper_bound,
            calls: row.calls,
        }
    }
}
