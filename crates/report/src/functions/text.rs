//! The printers of the flat profile.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::wrap::{self, hang};
use gristmill_output::{
    Aligned, Cell, Column, LazyTable, Look, bar, csv, grouped, json, percent, percent_number, printable,
};
use gristmill_profile::symbol::Fitted;
use unicode_width::UnicodeWidthStr as _;

use super::start_up_row::StartUpRow;
use super::{FunctionRow, Functions, Grouping, SortBy};
use crate::amount::{NOTE_BELOW_0, estimate_mark};
use crate::columns::EventColumn;
use crate::names::{DOCUMENT_COLUMNS, NameRow, fitted, fitted_paths, whole};
use crate::rates::Rate;
use crate::report::Report;
use crate::view::View;

/// The least width of a name. If a table leaves less, each event type gets a line of its own.
const MIN_NAME_WIDTH: usize = 20;
/// Rows that are kept as cells while they are measured.
const MAX_KEPT_ROWS: usize = 20_000;
/// The mark of a row within another.
const WITHIN: &str = "  ";
/// The width of a bar for the whole.
const BAR_WIDTH: usize = 10;
/// The width from which on bars are shown.
const MIN_WIDTH_FOR_BARS: usize = 100;

impl Report for Functions<'_> {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        if let Some(cut) = self.cut() {
            return cut.write_text(look, out);
        }
        self.head.write_text(look, out)?;
        // Rates of the whole program would be taken for those of the focus.
        if !self.rates.is_empty() && !self.rows.view.has_attribution() {
            writeln!(out, "{}", hang("", &rate_list(&self.rates), 2, look.width))?;
        }
        wrap::write(out, &self.summary(), look.width, 2)?;
        writeln!(out)?;
        if self.rows.len() == 0 {
            return Ok(());
        }
        let with_bars = look.is_terminal && look.width >= MIN_WIDTH_FOR_BARS;
        let whole = Detail { bars: with_bars, calls: self.has_calls, both: true };
        let room = |aligned: &Aligned| look.width.saturating_sub(aligned.width_before_last());
        let mut fitting = self.details(whole).map(|detail| (detail, self.measured(detail)));
        let Some((detail, (mut aligned, kept))) =
            fitting.find(|(_, (aligned, _))| room(aligned) >= MIN_NAME_WIDTH)
        else {
            return self.write_stacked(look, out);
        };
        let room = room(&aligned);
        let mut names = self.flat_names(WITHIN, |_| look.name_columns(room));
        let start_up = self.start_up_row();
        let first = start_up.as_ref().map_or(0, |start_up| start_up.count);
        let count = aligned.columns().len();
        let cells = |(nth, row): (usize, FlatRow<'_>)| match kept.get(nth) {
            Some(cells) => Cow::Borrowed(&cells[..]),
            None => Cow::Owned(self.flat_cells(&row, detail, count)),
        };
        let rows = || self.flat_rows().enumerate().skip(first).map(cells);
        if let Some(StartUpRow { count, row, names: of_start_up }) = &start_up {
            let mut cells = self.cells(row, detail);
            if detail.calls {
                // They call each other, so that their calls have no sum.
                let calls = cells.len() - 2;
                cells[calls] = Cell::new("");
            }
            let first = std::iter::once(Cow::Owned(cells.clone()));
            aligned = Aligned::new(aligned.columns().to_vec(), first.chain(rows()));
            aligned.write_titles(look, out)?;
            let name = StartUpRow::name(*count, of_start_up, look.name_columns(room));
            aligned.write_row_ending(&cells, &name, look, out)?;
        } else {
            aligned.write_titles(look, out)?;
        }
        for (row, name) in rows().zip(&mut names[first..]) {
            aligned.write_row_ending(&row, &std::mem::take(name), look, out)?;
        }
        let other = if self.begins_with_self() { "inclusive costs" } else { "self costs" };
        let left_out = match (detail.both, detail.calls == whole.calls) {
            (true, true) => None,
            (true, false) => Some("counts of calls".to_owned()),
            (false, true) => Some(other.to_owned()),
            (false, false) => Some(format!("{other} and counts of calls")),
        };
        if let Some(left_out) = left_out {
            wrap::write_dim(out, &format!("{left_out} need more columns (--width)"), look, 2)?;
        }
        if start_up.is_some() {
            let note = "functions that start the program share a row (--no-fold-start-up shows each)";
            wrap::write_dim(out, note, look, 2)?;
        }
        self.write_rest(look, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes a table in Markdown.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        if let Some(cut) = self.cut() {
            return cut.write_markdown(out);
        }
        self.head.write_markdown(out)?;
        if !self.rates.is_empty() && !self.rows.view.has_attribution() {
            writeln!(out, "{}\n", rate_list(&self.rates))?;
        }
        writeln!(out, "{}\n", self.summary())?;
        let detail = Detail { bars: false, calls: self.has_calls, both: true };
        let names = self.flat_names("↳ ", |_| DOCUMENT_COLUMNS);
        let columns = self.columns(detail);
        let count = columns.len();
        let rows = || {
            let rows = self.flat_rows().zip(&names).map(|(row, name)| {
                let mut cells = self.flat_cells(&row, detail, count);
                let row = row.row();
                let is_whole = row.is_none_or(|row| name.contains(&*printable(row.name.as_bytes())));
                let whole = row.map_or_else(String::new, |row| whole(&row.name));
                if let Some(last) = cells.last_mut() {
                    *last = if is_whole { Cell::new(name) } else { Cell::shortened(name, whole) };
                }
                cells
            });
            Box::new(rows) as Box<dyn Iterator<Item = Vec<Cell>> + '_>
        };
        LazyTable { columns, rows: Box::new(rows) }.write_markdown(out)?;
        match self.rest().filter(|_| self.is_cut) {
            Some(rest) => writeln!(
                out,
                "
{rest}"
            ),
            None => Ok(()),
        }
    }

    /// Writes comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let events = self.head.events.iter();
        let mut titles: Vec<String> = events
            .flat_map(|EventColumn { name, .. }| [format!("inclusive {name}"), format!("self {name}")])
            .collect();
        titles.extend(["calls", "cycle", "name", "file", "object"].map(str::to_owned));
        titles.extend(
            self.rates
                .iter()
                .flat_map(|rate| [format!("{} misses", rate.name), format!("{} accesses", rate.name)]),
        );
        let has_bounds =
            !matches!(self.grouping, Grouping::Function | Grouping::Cycle) || self.rows.has_upper_bound();
        titles.extend(has_bounds.then(|| "inclusive is upper bound".to_owned()));
        let is_estimated = self.rows.view.has_attribution() || self.rows.has_unlimited();
        let estimates =
            ["self estimated", "inclusive estimated", "calls guessed"].into_iter().filter(|_| is_estimated);
        titles.extend(estimates.map(str::to_owned));
        titles.extend(self.then.map(|_| "within".to_owned()));
        csv::write_line(titles.iter().map(String::as_str), out)?;
        let mut group = String::new();
        for row in self.flat_rows() {
            if let FlatRow::Top(top) = &row {
                group.clone_from(&top.name);
            }
            let within = self.then.map(|_| if matches!(row, FlatRow::Top(_)) { "" } else { group.as_str() });
            let Some(row) = row.row() else { continue };
            let costs =
                row.inclusive.iter().zip(&row.self_costs).flat_map(|(inclusive, own)| [inclusive, own]);
            let mut numbers: Vec<String> = costs.map(Cost::to_string).collect();
            numbers.push(row.calls.for_programs());
            numbers.push(row.cycle.map_or_else(String::new, |cycle| cycle.to_string()));
            let texts = [&row.name, &row.file, &row.object].map(String::as_str);
            let rate = |nth: usize| match row.rates.get(nth) {
                Some(rate) => [rate.misses, rate.accesses].map(|cost| cost.to_string()),
                None => Default::default(),
            };
            let rates: Vec<String> = (0..self.rates.len()).flat_map(rate).collect();
            let texts = texts.into_iter().chain(rates.iter().map(String::as_str));
            let estimates = [row.is_self_estimate, row.is_inclusive_estimate, row.calls.is_guessed()];
            let estimates = estimates.map(|is| if is { "yes" } else { "no" });
            let estimates = estimates.into_iter().filter(|_| is_estimated);
            let bound = has_bounds.then_some(if row.is_upper_bound { "yes" } else { "no" });
            let numbers = numbers.iter().map(String::as_str);
            csv::write_line(numbers.chain(texts).chain(bound).chain(estimates).chain(within), out)?;
        }
        Ok(())
    }
}

impl Functions<'_> {
    /// The sentence that says how much is shown.
    fn summary(&self) -> String {
        let (singular, plural) = self.grouping.nouns();
        let noun = if self.all == 1 { singular } else { plural };
        let shown = self.rows.self_cost();
        let share = percent(shown, self.head.totals[0]);
        let mut text = if self.rows.len() == self.all {
            format!("{} {noun}", grouped(self.all))
        } else if self.matching == self.all {
            format!("{} of {} {noun}", grouped(self.rows.len()), grouped(self.all))
        } else {
            format!(
                "{} of {} matching, of {} {noun}",
                grouped(self.rows.len()),
                grouped(self.matching),
                grouped(self.all)
            )
        };
        // A share that is rounded to zero is left out.
        if !matches!(&share[..], "" | "0.0%") && self.rows.len() < self.all {
            text.push_str(&format!(" with {share} of the self cost"));
        }
        if let Some(name) = &self.relative_to {
            text.push_str(&format!("; shares of {}", printable(name.as_bytes())));
        }
        text
    }

    /// Goes through the rows in the order in which they are printed.
    fn flat_rows(&self) -> impl Iterator<Item = FlatRow<'_>> {
        self.rows().flat_map(|row| match row {
            Cow::Borrowed(row) if !row.within.is_empty() => {
                let mut rows = vec![FlatRow::Top(Cow::Borrowed(row))];
                rows.extend(row.within.iter().map(|row| FlatRow::Within(Cow::Borrowed(row))));
                let hidden = row.within_hidden;
                rows.extend((hidden > 0).then_some(FlatRow::Hidden(hidden)));
                rows
            }
            row => vec![FlatRow::Top(row)],
        })
    }

    /// The names of these rows. Those within a group begin with a mark.
    fn flat_names(&self, mark: &str, columns: impl Fn(&FunctionRow) -> usize) -> Vec<String> {
        let mut tops = names(self.rows.view, self.grouping, || self.rows(), &columns).into_iter();
        let Some(then) = self.then else { return tops.collect() };
        let within = || self.rows.made().iter().flat_map(|row| &row.within).map(Cow::Borrowed);
        let narrower = |row: &FunctionRow| match columns(row) {
            usize::MAX => usize::MAX,
            columns => columns.saturating_sub(mark.width()),
        };
        let mut within = names(self.rows.view, then, within, &narrower).into_iter();
        let name = |row: FlatRow<'_>| match row {
            FlatRow::Top(_) => tops.next().unwrap_or_default(),
            FlatRow::Within(_) => format!("{mark}{}", within.next().unwrap_or_default()),
            FlatRow::Hidden(count) => format!("{mark}… {} more", grouped(count)),
        };
        self.flat_rows().map(name).collect()
    }

    /// The columns that a table can have, the most first. A function on one line says more than what is left out: counts of calls, and of
    /// several event types the costs that rows are not sorted by.
    fn details(&self, whole: Detail) -> impl Iterator<Item = Detail> {
        let drops_calls = whole.calls && self.sort != SortBy::Calls;
        let drops_costs = self.has_calls
            && self.head.events.len() > 1
            && matches!(self.sort, SortBy::SelfCost | SortBy::Inclusive);
        let one = Detail { both: false, ..whole };
        let fewer = [
            drops_calls.then_some(Detail { calls: false, ..whole }),
            drops_costs.then_some(one),
            (drops_calls && drops_costs).then_some(Detail { calls: false, ..one }),
        ];
        [whole].into_iter().chain(fewer.into_iter().flatten())
    }

    /// Measures the table, and returns its rows as cells. Of many rows there are none: these are made again when they are written, as
    /// cells take many times the memory of a function.
    fn measured(&self, detail: Detail) -> (Aligned, Vec<Vec<Cell>>) {
        let columns = self.columns(detail);
        let count = columns.len();
        let rows = || self.flat_rows().map(|row| self.flat_cells(&row, detail, count));
        if self.flat_rows().nth(MAX_KEPT_ROWS).is_some() {
            return (Aligned::new(columns, rows()), Vec::new());
        }
        let rows: Vec<Vec<Cell>> = rows().collect();
        (Aligned::new(columns, rows.iter()), rows)
    }

    /// The columns: costs of one event type, or of several side by side, and the last one for names.
    fn columns(&self, detail: Detail) -> Vec<Column> {
        let several = self.head.events.len() > 1;
        let calls = self.has_calls;
        let mut columns = Vec::new();
        for event in &self.head.events {
            let event = printable(event.name.as_bytes()).into_owned();
            let title = |what: &str| if several { format!("{what} {event}") } else { what.to_owned() };
            let inclusive = calls.then(|| [Column::number(title("Inclusive")), Column::number("%")]);
            let own = [Column::number(title("Self")), Column::number("%")];
            columns.extend(self.chosen(own.into(), inclusive.into_iter().flatten().collect(), detail));
            if self.per_call {
                let own = vec![Column::number("Self/call")];
                columns.extend(self.chosen(own, vec![Column::number("Incl/call")], detail));
            }
        }
        columns.extend(self.rates.iter().map(|rate| Column::number(rate.name)));
        if detail.bars {
            columns.push(Column::text(""));
        }
        if detail.calls {
            columns.push(Column::number("Calls"));
        }
        columns.push(Column::text(self.grouping.title()));
        columns
    }

    /// The cells of a row, with an empty last one. The row for rows that are left out has only empty ones.
    fn flat_cells(&self, row: &FlatRow<'_>, detail: Detail, count: usize) -> Vec<Cell> {
        row.row().map_or_else(|| vec![Cell::new(""); count], |row| self.cells(row, detail))
    }

    fn cells(&self, row: &FunctionRow, detail: Detail) -> Vec<Cell> {
        let calls = self.has_calls;
        let mut cells = Vec::new();
        for (column, &EventColumn { unit, .. }) in self.head.events.iter().enumerate() {
            let cost = |cost: Cost| Cell::new(format!("{}{}", row.self_sign(), unit.show(cost)));
            let share = |cost: Cost| Cell::new(percent_number(cost, self.whole[column]));
            let (inclusive, own) = (row.inclusive[column], row.self_costs[column]);
            let bounded = Cell::new(format!("{}{}", row.bound(), unit.show(inclusive)));
            let of_callees = if calls { vec![bounded, share(inclusive)] } else { Vec::new() };
            cells.extend(self.chosen(vec![cost(own), share(own)], of_callees, detail));
            if self.per_call {
                let each = |all: Cost, sign: &str| {
                    let shown = |cost: Cost| Cell::new(format!("{sign}{}", unit.show(cost)));
                    let average = row.calls.exact().and_then(|calls| rounded(all, calls));
                    vec![average.map_or_else(|| Cell::new(""), shown)]
                };
                cells.extend(self.chosen(each(own, row.self_sign()), each(inclusive, row.bound()), detail));
            }
        }
        let rate = |nth: usize| Cell::new(row.rates.get(nth).map_or_else(String::new, Rate::percent));
        cells.extend((0..self.rates.len()).map(rate));
        if detail.bars {
            let cost = if calls && !self.begins_with_self() { row.inclusive[0] } else { row.self_costs[0] };
            let bar = bar(cost, self.whole[0], BAR_WIDTH);
            cells.push(Cell::new(format!("{bar}{}", " ".repeat(BAR_WIDTH - bar.chars().count()))));
        }
        if detail.calls {
            cells.push(row.calls.cell());
        }
        cells.push(Cell::new(""));
        cells
    }

    /// `true` if self costs come before inclusive costs: the costs that rows are sorted by come first.
    fn begins_with_self(&self) -> bool {
        self.sort == SortBy::SelfCost
    }

    fn ordered<T>(&self, own: Vec<T>, inclusive: Vec<T>) -> Vec<T> {
        let (first, second) = if self.begins_with_self() { (own, inclusive) } else { (inclusive, own) };
        first.into_iter().chain(second).collect()
    }

    /// The same, without the costs that rows are not sorted by if there is no space for them.
    fn chosen<T>(&self, own: Vec<T>, inclusive: Vec<T>, detail: Detail) -> Vec<T> {
        match (detail.both, self.begins_with_self()) {
            (true, _) => self.ordered(own, inclusive),
            (false, true) => own,
            (false, false) => inclusive,
        }
    }

    /// Writes each function on a line of its own, and below it a line for each event type. Costs per call have a line of
    /// their own as well: two more columns would be too wide again.
    fn write_stacked(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let calls = self.has_calls;
        let mut columns = vec![Column::text("  ")];
        let inclusive = calls.then(|| [Column::number("Inclusive"), Column::number("%")]);
        let own = [Column::number("Self"), Column::number("%")];
        columns.extend(self.ordered(own.into(), inclusive.into_iter().flatten().collect()));
        let lines = |row: &FunctionRow| {
            let mut rows = Vec::new();
            for column in 0..self.head.events.len() {
                let EventCells { name, inclusive, own } = self.event_cells(row, column);
                let mut cells = vec![Cell::new(format!("  {name}"))];
                let inclusive = if calls { inclusive.into() } else { Vec::new() };
                cells.extend(self.ordered(own.into(), inclusive));
                rows.push(cells);
                rows.extend(self.call_cells(row, column));
            }
            rows
        };
        // One table for all, so that their columns are aligned.
        let all_lines = self.flat_rows().flat_map(|row| row.row().map_or_else(Vec::new, lines));
        let aligned = Aligned::new(columns, all_lines);
        aligned.write_titles(look, out)?;
        let times = |row: &FunctionRow| match calls {
            true if row.calls.exact().is_none() => format!("{} ", row.calls.text()),
            true => format!("{}× ", row.calls.text()),
            false => String::new(),
        };
        let names =
            self.flat_names(WITHIN, |row| look.name_columns(look.width.saturating_sub(times(row).width())));
        for (row, name) in self.flat_rows().zip(names) {
            let Some(row) = row.row() else {
                writeln!(out, "{}", look.dim(&name))?;
                continue;
            };
            writeln!(out, "{}", look.bold(&format!("{}{name}", times(row))))?;
            for cells in lines(row) {
                aligned.write_row(&cells, look, out)?;
            }
            let rates = rate_list(&row.rates);
            if !rates.is_empty() {
                writeln!(out, "{}", hang("  ", &rates, 2, look.width))?;
            }
        }
        self.write_rest(look, out)
    }

    fn event_cells(&self, row: &FunctionRow, column: usize) -> EventCells {
        let event = &self.head.events[column];
        let pair = |cost: Cost, bound: &str| {
            let shown = format!("{bound}{}", event.unit.show(cost));
            [Cell::new(shown), Cell::new(percent_number(cost, self.whole[column]))]
        };
        EventCells {
            name: printable(event.name.as_bytes()).into_owned(),
            inclusive: pair(row.inclusive[column], row.bound()),
            own: pair(row.self_costs[column], row.self_sign()),
        }
    }

    /// The average cost of a call, in the columns of the cost of all calls. There is none if it is not asked for, or if
    /// there was no call.
    fn call_cells(&self, row: &FunctionRow, column: usize) -> Option<Vec<Cell>> {
        if !self.per_call {
            return None;
        }
        let unit = self.head.events[column].unit;
        let (inclusive, own) = (row.inclusive[column], row.self_costs[column]);
        let mut cells = vec![Cell::new("    a call")];
        for all in self.ordered(vec![own], Vec::from_iter(self.has_calls.then_some(inclusive))) {
            let each = rounded(all, row.calls.exact()?)?;
            cells.extend([unit.show(each), String::new()].map(Cell::new));
        }
        Some(cells)
    }

    /// The line for the rows that are left out.
    fn rest(&self) -> Option<String> {
        let hidden = self.matching - self.rows.len();
        let where_all =
            if self.is_cut { "no memory for them; --format csv has all" } else { "--limit 0 shows all" };
        (hidden > 0).then(|| format!("… and {} more ({where_all})", grouped(hidden)))
    }

    fn write_rest(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        if let Some(rest) = self.rest() {
            writeln!(out, "{}", look.dim(&rest))?;
        }
        if self.rows.has_upper_bound() {
            let note = match self.grouping {
                Grouping::Function | Grouping::Cycle => self.rows.view.upper_limit_note(),
                _ => {
                    "≤ at most: calls may come back to the group from functions that others call, too, and count each time"
                }
            };
            wrap::write_dim(out, note, look, 2)?;
        }
        if self.rows.has_unlimited() {
            wrap::write_dim(out, NOTE_BELOW_0, look, 2)?;
        }
        Ok(())
    }
}

/// The names of rows with their files and objects, in the columns that they may take. The rows are gone through twice.
fn names<'r, I: Iterator<Item = Cow<'r, FunctionRow>>>(
    view: &'r View,
    grouping: Grouping,
    rows: impl Fn() -> I,
    columns: &impl Fn(&FunctionRow) -> usize,
) -> Vec<String> {
    if matches!(grouping, Grouping::Object | Grouping::File | Grouping::Directory) {
        let paths: Vec<_> = rows().map(|row| printable(row.name.as_bytes()).into_owned()).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        return fitted_paths(&paths, rows().next().map_or(usize::MAX, |row| columns(&row)));
    }
    let mut cycles: Vec<Option<usize>> = Vec::new();
    let label = |(nth, row): (usize, Cow<'r, FunctionRow>)| {
        let cycle = row.cycle.filter(|_| !row.name.starts_with("cycle "));
        let columns = match columns(&row) {
            usize::MAX => usize::MAX,
            columns => columns.saturating_sub(end_of_name(cycle).width()),
        };
        cycles.push(cycle);
        name_row(view, nth, row, columns)
    };
    let fitted = fitted(rows().enumerate().map(label));
    let name = |(Fitted { mut name, place }, cycle): (Fitted, Option<usize>)| {
        name.push_str(&end_of_name(cycle));
        if let Some(place) = place {
            name.extend([" (", &place, ")"]);
        }
        name
    };
    fitted.into_iter().zip(cycles).map(name).collect()
}

/// The number of the cycle that a function is in, behind its name.
fn end_of_name(cycle: Option<usize>) -> String {
    cycle.map_or_else(String::new, |number| format!(" [cycle {number}]"))
}

/// Returns what a name is made of. The texts of a function are those of the view: rows with their costs take several times the
/// memory.
fn name_row<'r>(view: &'r View, nth: usize, row: Cow<'r, FunctionRow>, columns: usize) -> NameRow<'r> {
    match (row.id, row) {
        (Some(id), _) => {
            let subject = view.subject(id);
            let [file, object] = [view.profile().file(subject.file), view.profile().object(subject.object)];
            let name = NameRow::new(nth, subject.name(), columns).leaving_out(subject.left_out_text());
            name.at_lossy(String::from_utf8_lossy(file), String::from_utf8_lossy(object))
        }
        (None, Cow::Borrowed(row)) => {
            let name = NameRow::new(nth, &row.name, columns);
            name.leaving_out(row.left_out.as_deref().unwrap_or_default())
                .at(row.file.as_bytes(), row.object.as_bytes())
        }
        (None, Cow::Owned(row)) => {
            NameRow::of_owned(nth, row.name, columns).at_lossy(row.file.into(), row.object.into())
        }
    }
}

/// `I1 miss 0.3%, LL miss 0.1%`, without those that had no access.
fn rate_list(rates: &[Rate]) -> String {
    let shown =
        rates.iter().map(|rate| (rate.name, rate.percent())).filter(|(_, percent)| !percent.is_empty());
    shown.map(|(name, percent)| format!("{name} {percent}")).collect::<Vec<_>>().join(", ")
}

impl FunctionRow {
    /// The sign before an inclusive cost.
    fn bound(&self) -> &'static str {
        match (self.is_upper_bound, self.is_inclusive_estimate) {
            (true, _) => "≤",
            (false, true) => "~",
            (false, false) => "",
        }
    }

    /// The sign before a self cost.
    fn self_sign(&self) -> &'static str {
        estimate_mark(self.is_self_estimate)
    }
}

/// The columns of a table that may be left out.
#[derive(Debug, Clone, Copy)]
struct Detail {
    bars: bool,
    calls: bool,
    /// `true` for self costs and inclusive costs, `false` for those that rows are sorted by.
    both: bool,
}

/// A row as it is printed.
enum FlatRow<'r> {
    Top(Cow<'r, FunctionRow>),
    /// A row within the one before.
    Within(Cow<'r, FunctionRow>),
    /// The count of rows within a group that are left out.
    Hidden(usize),
}

impl FlatRow<'_> {
    fn row(&self) -> Option<&FunctionRow> {
        match self {
            FlatRow::Top(row) => Some(row),
            FlatRow::Within(row) => Some(row),
            FlatRow::Hidden(_) => None,
        }
    }
}

/// The cells of one event type.
struct EventCells {
    name: String,
    inclusive: [Cell; 2],
    own: [Cell; 2],
}

/// Divides a cost by a count of calls and rounds half away from zero. There is no result without calls.
fn rounded(cost: Cost, calls: Cost) -> Option<Cost> {
    if calls <= 0 {
        return None;
    }
    Some((cost + cost.signum() * (calls / 2)) / calls)
}
