//! The tables of the report on one function, each with sentences above and below.

use gristmill_format::Cost;
use gristmill_output::{Cell, Column, Look, Table, grouped, percent, percent_number, printable};
use unicode_width::UnicodeWidthStr as _;

use super::{CallSum, CycleSummary, List, Neighbour, Show};
use crate::amount::estimate_mark;
use crate::call_count::CallCount;
use crate::named_function::NamedFunction;
use crate::names::{NameRow, fitted, short, whole};

/// The least width of a name. If several event types leave less, only the first is shown.
const MIN_NAME_WIDTH: usize = 30;
/// The width of a name beside the costs of one event type, whatever the width of the screen.
const MIN_LONE_NAME_WIDTH: usize = 14;

/// The format of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Markdown,
}

/// The text of the last column of a row.
pub(super) enum Label<'r> {
    Text(String),
    /// A function with a mark before its name.
    Function(&'static str, &'r NamedFunction),
    /// A callee, and the count of calls.
    Call(&'r NamedFunction, String),
    /// A function farther away, and the name of the one that leads to it.
    Via(&'r NamedFunction, String),
}

/// A part of the text: a title, a table, and sentences below.
pub(super) struct Section {
    pub(super) title: String,
    pub(super) table: Table,
    pub(super) below: Vec<String>,
}

impl Show {
    /// The tables below the head, each with sentences.
    pub(super) fn sections(&self, look: &Look, form: Form) -> Vec<Section> {
        let mut sections = Vec::new();
        sections.extend(self.cycle.as_ref().map(|cycle| self.cycle_section(cycle, look)));
        for (title, list, sum) in
            [("Callers", &self.callers, &self.callers_sum), ("Callees", &self.callees, &self.callees_sum)]
        {
            if list.all > 0 {
                sections.push(self.neighbours(title, list, sum, look));
            }
        }
        for (title, list) in
            [("Indirect callers", &self.far_callers), ("Indirect callees", &self.far_callees)]
        {
            if list.all > 0 {
                sections.push(self.far(title, list, look));
            }
        }
        if self.lines.all > 0 {
            sections.push(self.line_section(look, form));
        }
        if self.parts.all > 0 {
            sections.push(self.by_part(look));
        }
        sections
    }

    /// The count of event types that are shown: all, or only the first one if names would not fit.
    pub(super) fn events(&self, columns_each: usize, width: usize, before: usize) -> usize {
        let all = self.head.events.len();
        let widest = |nth: usize| {
            let event = &self.head.events[nth];
            let title = event.name.width() + 10;
            columns_each * (event.unit.show(self.inclusive[nth]).width().max(title) + 9)
        };
        let needed: usize = (0..all).map(widest).sum();
        if all == 1 || needed + before + MIN_NAME_WIDTH <= width { all } else { 1 }
    }

    /// A cost and its share of the function's inclusive cost.
    pub(super) fn cost_cells(&self, nth: usize, cost: Cost, whole: Cost) -> [Cell; 2] {
        let unit = self.head.events[nth].unit;
        [Cell::number(cost, unit.show(cost)), Cell::new(percent_number(cost, whole))]
    }

    /// The title of a column of costs, with the event type if there are several.
    fn cost_title(&self, nth: usize, what: &str) -> String {
        match &self.head.events[..] {
            [_] => what.to_owned(),
            events => format!("{what} {}", printable(events[nth].name.as_bytes())),
        }
    }

    /// The columns of costs for each event type, each with a column for its share.
    pub(super) fn cost_columns(&self, events: usize, titles: &[&str]) -> Vec<Column> {
        let titled = |nth: usize| titles.iter().map(move |what| self.cost_title(nth, what));
        let titles = (0..events).flat_map(titled);
        titles.flat_map(|title| [Column::number(title), Column::number("%")]).collect()
    }

    /// Fills the last column with names that fit the width.
    pub(super) fn with_names(&self, mut table: Table, look: &Look, labels: Vec<Label<'_>>) -> Table {
        let room = look.width.saturating_sub(table.width_before_last()).max(MIN_LONE_NAME_WIDTH);
        let left = |taken: usize| look.name_columns(room.saturating_sub(taken));
        let rows = labels.iter().filter_map(|label| match label {
            Label::Text(_) => None,
            Label::Function(mark, function) => {
                let taken = mark.width() + self.cycle_of(function).width();
                let row = NameRow::new(function.id.index(), &function.name, left(taken))
                    .leaving_out(left_out(function));
                Some(row.at(&function.file, &function.object))
            }
            Label::Call(function, times) => {
                let row = NameRow::new(function.id.index(), &function.name, left(times.width() + 6))
                    .leaving_out(left_out(function));
                Some(row.distinguished_by(&function.file, &function.object))
            }
            Label::Via(function, via) => {
                let row = NameRow::new(function.id.index(), &function.name, left(via.width() + 4))
                    .leaving_out(left_out(function));
                Some(row.distinguished_by(&function.file, &function.object))
            }
        });
        let mut names = fitted(rows).into_iter();
        for (cells, label) in table.rows.iter_mut().zip(labels) {
            // There is a name for each label but texts.
            let (text, function, name) = match label {
                Label::Text(text) => (text, None, String::new()),
                Label::Function(mark, function) => {
                    let mut name = names.next().unwrap_or_default();
                    let shown = name.name.clone();
                    name.name.push_str(&self.cycle_of(function));
                    (format!("{mark}{name}"), Some(function), shown)
                }
                Label::Call(function, times) => {
                    let name = names.next().unwrap_or_default();
                    (format!("  -> {name} {times}"), Some(function), name.name)
                }
                Label::Via(function, via) => {
                    let name = names.next().unwrap_or_default();
                    (format!("{name} by {via}"), Some(function), name.name)
                }
            };
            let whole = function.map(|function| whole(&function.name)).filter(|whole| *whole != name);
            if let Some(last) = cells.last_mut() {
                *last = Cell { whole, ..Cell::new(text) };
            }
        }
        table
    }

    /// The mark of a function's cycle. The shown function's own cycle has a section.
    fn cycle_of(&self, function: &NamedFunction) -> String {
        let cycle = function.cycle.filter(|cycle| Some(*cycle) != self.function.cycle);
        cycle.map_or_else(String::new, |cycle| format!(" [cycle {cycle}]"))
    }

    fn neighbours(&self, title: &str, list: &List<Neighbour>, sum: &CallSum, look: &Look) -> Section {
        let events = self.events(1, look.width, 12);
        let mut columns = vec![Column::number("Calls")];
        columns.extend(self.cost_columns(events, &["Cost"]));
        columns.push(Column::text("Function"));
        // The inclusive cost of a member is only its part of the cycle, but its callers called all of the cycle.
        let whole = self.cycle.as_ref().map_or(&self.inclusive, |cycle| &cycle.inclusive);
        let row = |count: &CallCount, costs: &[Cost], is_inner: bool, is_estimate: bool| {
            let sign = estimate_mark(is_estimate);
            let mut cells = vec![count.cell()];
            for (nth, (&cost, &whole)) in costs.iter().zip(whole).enumerate().take(events) {
                let [mut amount, share] = self.cost_cells(nth, cost, if is_inner { 0 } else { whole });
                amount.shown.insert_str(0, sign);
                cells.extend([amount, share]);
            }
            cells.push(Cell::new(""));
            cells
        };
        let mut rows: Vec<Vec<Cell>> = list
            .rows
            .iter()
            .map(|near| row(&near.calls, &near.cost, near.is_inner, near.is_estimate))
            .collect();
        let mut names: Vec<Label<'_>> = Vec::new();
        for near in &list.rows {
            let mark = match () {
                () if near.function.id == self.function.id => "itself: ",
                () if near.is_inner => "in the cycle: ",
                () => "",
            };
            names.push(Label::Function(mark, &near.function));
        }
        // If all calls are inside of the recursion, the sum would read as if there were none.
        let is_empty = sum.calls.exact() == Some(0) && sum.cost.iter().all(|&cost| cost == 0);
        if list.all > 1 && !is_empty {
            rows.push(row(&sum.calls, &sum.cost, false, sum.is_estimate));
            let what = if list.rows.len() < list.all {
                format!("sum of all {}", grouped(list.all))
            } else {
                "sum".to_owned()
            };
            names.push(Label::Text(if self.is_recursive {
                format!("{what}, without recursion")
            } else {
                what
            }));
        }
        let shares = if self.cycle.is_some() { " (shares of the cycle)" } else { "" };
        Section {
            title: format!("{title}: {}{shares}", counted(list)),
            table: self.with_names(Table { columns, rows }, look, names),
            below: more(list),
        }
    }

    fn far(&self, title: &str, list: &List<Neighbour>, look: &Look) -> Section {
        let events = self.events(1, look.width, 10);
        let mut columns = vec![Column::number("Distance")];
        for nth in 0..events {
            columns.extend([Column::number(self.cost_title(nth, "Inclusive")), Column::number("% of all")]);
        }
        columns.push(Column::text("Function"));
        let rows = list.rows.iter().map(|far| {
            let mut cells = vec![Cell::new(far.distance.to_string())];
            for (nth, &cost) in far.cost.iter().enumerate().take(events) {
                let [mut amount, share] = self.cost_cells(nth, cost, self.head.totals[nth]);
                if far.is_upper_bound {
                    amount.shown.insert(0, '≤');
                } else if far.is_estimate {
                    amount.shown.insert(0, '~');
                }
                cells.extend([amount, share]);
            }
            cells.push(Cell::new(""));
            cells
        });
        let table = Table { columns, rows: rows.collect() };
        // Two names share the line.
        let room = look.width.saturating_sub(table.width_before_last()).max(MIN_LONE_NAME_WIDTH);
        let names = list.rows.iter().map(|far| {
            let via = short(far.via.as_deref().unwrap_or_default(), look.name_columns(room / 2));
            Label::Via(&far.function, via)
        });
        let names = names.collect();
        Section {
            title: format!("{title}: {}", counted(list)),
            table: self.with_names(table, look, names),
            below: more(list),
        }
    }

    fn cycle_section(&self, cycle: &CycleSummary, look: &Look) -> Section {
        let events = self.events(2, look.width, 4);
        let mut columns = self.cost_columns(events, &["Inclusive", "Self"]);
        columns.push(Column::text("Member"));
        let cells = |inclusive: &[Cost], own: &[Cost], are_estimates: [bool; 2]| {
            let mut cells = Vec::new();
            for nth in 0..events {
                for (cost, is_estimate) in [inclusive[nth], own[nth]].into_iter().zip(are_estimates) {
                    let [mut amount, share] = self.cost_cells(nth, cost, cycle.inclusive[nth]);
                    amount.shown.insert_str(0, estimate_mark(is_estimate));
                    cells.extend([amount, share]);
                }
            }
            cells.push(Cell::new(""));
            cells
        };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut names = Vec::new();
        for member in &cycle.members.rows {
            let are_estimates = [member.is_inclusive_estimate, member.is_self_estimate];
            rows.push(cells(&member.inclusive, &member.self_costs, are_estimates));
            names.push(Label::Function("", &member.function));
        }
        rows.push(cells(&cycle.inclusive, &cycle.self_costs, [cycle.is_estimate; 2]));
        names.push(Label::Text(format!("all {} members", grouped(cycle.members.all))));

        let third = look.name_columns(look.width / 3);
        let mut below = more(&cycle.members);
        let unit = self.head.events[0].unit;
        for entry in &cycle.entries.rows {
            below.push(format!(
                "entered by {} -> {} ×{} {}{}",
                short(&entry.caller.name, third),
                short(&entry.callee.name, third),
                entry.calls.text(),
                estimate_mark(entry.is_estimate),
                unit.show(entry.cost[0])
            ));
        }
        if cycle.entries.rows.len() < cycle.entries.all {
            let hidden = cycle.entries.all - cycle.entries.rows.len();
            below.push(format!("… and by {} more", grouped(hidden)));
        }
        below.push(match &cycle.breaker {
            None => "no single arc breaks it".to_owned(),
            Some(breaker) => {
                let ends = [&breaker.caller, &breaker.callee].map(|end| short(&end.name, third));
                let arc = ends.join(" -> ");
                let all = grouped(cycle.members.all);
                match (breaker.members_left, breaker.is_best) {
                    (0, _) => format!("cutting {arc} breaks it (--cut)"),
                    (left, true) => {
                        format!(
                            "cutting {arc} leaves the fewest functions in cycles: {} of {all} (--cut)",
                            grouped(left)
                        )
                    }
                    (left, false) => {
                        format!("cutting {arc} leaves {} of {all} functions in cycles (--cut)", grouped(left))
                    }
                }
            }
        });
        let total = percent(cycle.inclusive[0], self.head.totals[0]);
        let [sign, guess] = [cycle.is_estimate, cycle.calls.is_guessed()].map(estimate_mark);
        let share = if total.is_empty() { String::new() } else { format!(" ({sign}{total})") };
        Section {
            title: format!(
                "Cycle {}: {} functions, {sign}{}{share}, called {} from outside",
                cycle.number,
                grouped(cycle.members.all),
                unit.show(cycle.inclusive[0]),
                match (cycle.calls.exact(), cycle.calls.recorded()) {
                    (Some(1), _) if !cycle.calls.is_guessed() => "once".to_owned(),
                    (Some(_), _) => format!("{} times", cycle.calls.text()),
                    (None, 0) => "inline".to_owned(),
                    (None, calls) => format!("{guess}{} times, and inline,", grouped(calls)),
                }
            ),
            table: self.with_names(Table { columns, rows }, look, names),
            below,
        }
    }

    fn by_part(&self, look: &Look) -> Section {
        let events = self.events(2, look.width, 12);
        let mut columns = self.cost_columns(events, &["Inclusive", "Self"]);
        columns.push(Column::number("Calls"));
        columns.push(Column::text("Part"));
        let rows = self.parts.rows.iter().map(|part| {
            let mut cells = Vec::new();
            for nth in 0..events {
                let [mut amount, share] = self.cost_cells(nth, part.inclusive[nth], self.inclusive[nth]);
                if self.is_upper_bound {
                    amount.shown.insert(0, '≤');
                }
                cells.extend([amount, share]);
                cells.extend(self.cost_cells(nth, part.self_costs[nth], self.inclusive[nth]));
            }
            cells.push(part.calls.cell());
            cells.push(Cell::new(""));
            cells
        });
        let names =
            self.parts.rows.iter().map(|part| Label::Text(printable(part.name.as_bytes()).into_owned()));
        let (rows, names) = (rows.collect(), names.collect());
        Section {
            title: format!("By part: {}", counted(&self.parts)),
            table: self.with_names(Table { columns, rows }, look, names),
            below: more(&self.parts),
        }
    }
}

fn left_out(function: &NamedFunction) -> &str {
    function.left_out.as_deref().unwrap_or_default()
}

/// The count of rows: `12`, or `10 of 12` if some are not shown.
pub(super) fn counted<T>(list: &List<T>) -> String {
    match list.rows.len() {
        shown if shown < list.all => format!("{} of {}", grouped(shown), grouped(list.all)),
        all => grouped(all),
    }
}

pub(super) fn more<T>(list: &List<T>) -> Vec<String> {
    let hidden = list.all - list.rows.len();
    if hidden == 0 { Vec::new() } else { vec![format!("… and {} more", grouped(hidden))] }
}
