//! The printers of the flat profile.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{Cell, Column, Look, Table, bar, grouped, json, percent, percent_number, printable};
use gristmill_profile::symbol::shorten;

use super::{FunctionRow, Functions, Grouping};
use crate::columns::EventColumn;
use crate::path::{UNKNOWN, base};
use crate::report::Report;

/// The least width of a name. If a table leaves less, each event type gets a line of its own.
const MIN_NAME_WIDTH: usize = 20;
/// The width from which on files are shown with their whole path.
const MIN_WIDTH_FOR_PATHS: usize = 60;
/// The width of a bar for the whole.
const BAR_WIDTH: usize = 10;
/// The width from which on bars are shown.
const MIN_WIDTH_FOR_BARS: usize = 100;

impl Report for Functions {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        writeln!(out, "{}", self.summary())?;
        writeln!(out)?;
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut table = self.table(look.is_terminal && look.width >= MIN_WIDTH_FOR_BARS);
        let room = look.width.saturating_sub(table.width_before_last());
        if room < MIN_NAME_WIDTH {
            return self.write_stacked(look, out);
        }
        for (cells, row) in table.rows.iter_mut().zip(&self.rows) {
            if let Some(last) = cells.last_mut() {
                *last = Cell::new(named(row, room));
            }
        }
        table.write_text(look, out)?;
        self.write_rest(look, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes a table in Markdown.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_markdown(out)?;
        writeln!(out, "{}\n", self.summary())?;
        self.table(false).write_markdown(out)
    }

    /// Writes comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = Vec::new();
        for EventColumn { name, .. } in &self.head.events {
            columns.push(Column::number(format!("inclusive {name}")));
            columns.push(Column::number(format!("self {name}")));
        }
        columns.push(Column::number("calls"));
        columns.extend(["cycle", "name", "file", "object"].map(Column::text));
        let is_of_groups = !matches!(self.grouping, Grouping::Function | Grouping::Cycle);
        columns.extend(is_of_groups.then(|| Column::text("inclusive is upper bound")));
        let rows = self.rows.iter().map(|row| {
            let mut cells = Vec::new();
            for (inclusive, own) in row.inclusive.iter().zip(&row.self_costs) {
                cells.extend([inclusive, own].map(|cost| Cell::new(cost.to_string())));
            }
            cells.push(Cell::new(row.calls.to_string()));
            cells.push(Cell::new(row.cycle.map_or_else(String::new, |cycle| cycle.to_string())));
            cells.extend([&row.name, &row.file, &row.object].map(|text| Cell::new(text.as_str())));
            cells.extend(is_of_groups.then(|| Cell::new(if row.is_upper_bound { "yes" } else { "no" })));
            cells
        });
        Table { columns, rows: rows.collect() }.write_csv(out)
    }
}

impl Functions {
    /// The sentence that says how much is shown.
    fn summary(&self) -> String {
        let (singular, plural) = match self.grouping {
            Grouping::Function => ("function", "functions"),
            Grouping::Object => ("object", "objects"),
            Grouping::File => ("file", "files"),
            Grouping::Directory => ("directory", "directories"),
            Grouping::Class => ("class", "classes"),
            Grouping::Cycle => ("function or cycle", "functions and cycles"),
        };
        let noun = if self.all == 1 { singular } else { plural };
        let shown: Cost = self.rows.iter().map(|row| row.self_costs[0]).sum();
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

    /// The table: costs of one event type, or of several side by side, and the full name in the last column.
    fn table(&self, with_bars: bool) -> Table {
        let several = self.head.events.len() > 1;
        let calls = self.has_calls;
        let mut columns = Vec::new();
        for event in &self.head.events {
            let event = printable(event.name.as_bytes()).into_owned();
            let title = |what: &str| if several { format!("{what} {event}") } else { what.to_owned() };
            if calls {
                columns.extend([Column::number(title("Inclusive")), Column::number("%")]);
            }
            columns.extend([Column::number(title("Self")), Column::number("%")]);
            if self.per_call {
                columns.extend([Column::number("Incl/call"), Column::number("Self/call")]);
            }
        }
        if with_bars {
            columns.push(Column::text(""));
        }
        if calls {
            columns.push(Column::number("Calls"));
        }
        columns.push(Column::text(self.grouping.title()));
        let rows = self.rows.iter().map(|row| self.cells(row, with_bars)).collect();
        Table { columns, rows }
    }

    fn cells(&self, row: &FunctionRow, with_bars: bool) -> Vec<Cell> {
        let calls = self.has_calls;
        let mut cells = Vec::new();
        for (column, &EventColumn { unit, .. }) in self.head.events.iter().enumerate() {
            let cost = |cost: Cost| Cell::number(cost, unit.show(cost));
            let share = |cost: Cost| Cell::new(percent_number(cost, self.whole[column]));
            let (inclusive, own) = (row.inclusive[column], row.self_costs[column]);
            if calls {
                cells.push(Cell::number(inclusive, format!("{}{}", row.bound(), unit.show(inclusive))));
                cells.push(share(inclusive));
            }
            cells.extend([cost(own), share(own)]);
            if self.per_call {
                cells.extend([inclusive, own].map(|all| match rounded(all, row.calls) {
                    Some(each) => cost(each),
                    None => Cell::new(""),
                }));
            }
        }
        if with_bars {
            let cost = if calls { row.inclusive[0] } else { row.self_costs[0] };
            let bar = bar(cost, self.whole[0], BAR_WIDTH);
            cells.push(Cell::new(format!("{bar}{}", " ".repeat(BAR_WIDTH - bar.chars().count()))));
        }
        if calls {
            cells.push(Cell::number(row.calls, grouped(row.calls)));
        }
        cells.push(Cell::new(named(row, usize::MAX)));
        cells
    }

    /// Writes each function on a line of its own, and below it a line for each event type. Costs per call have a line of
    /// their own as well: two more columns would be too wide again.
    fn write_stacked(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let calls = self.has_calls;
        let mut columns = vec![Column::text("  ")];
        if calls {
            columns.extend([Column::number("Inclusive"), Column::number("%")]);
        }
        columns.extend([Column::number("Self"), Column::number("%")]);
        let mut rows = Vec::new();
        // The count of lines of each function.
        let mut heights = Vec::new();
        for row in &self.rows {
            let first = rows.len();
            for column in 0..self.head.events.len() {
                let EventCells { name, inclusive, own } = self.event_cells(row, column);
                let mut cells = vec![Cell::new(format!("  {name}"))];
                if calls {
                    cells.extend(inclusive);
                }
                cells.extend(own);
                rows.push(cells);
                rows.extend(self.call_cells(row, column));
            }
            heights.push(rows.len() - first);
        }
        // One table for all, so that their columns are aligned.
        let mut text = Vec::new();
        Table { columns, rows }.write_text(look, &mut text)?;
        let text = String::from_utf8_lossy(&text);
        let mut lines = text.lines();
        if let Some(titles) = lines.next() {
            writeln!(out, "{titles}")?;
        }
        for (row, height) in self.rows.iter().zip(heights) {
            let times = match calls {
                true => format!("{}× ", grouped(row.calls)),
                false => String::new(),
            };
            writeln!(
                out,
                "{}",
                look.bold(&format!("{times}{}", named(row, look.width.saturating_sub(times.len()))))
            )?;
            for line in lines.by_ref().take(height) {
                writeln!(out, "{line}")?;
            }
        }
        self.write_rest(look, out)
    }

    fn event_cells(&self, row: &FunctionRow, column: usize) -> EventCells {
        let event = &self.head.events[column];
        let pair = |cost: Cost, bound: &str| {
            let shown = format!("{bound}{}", event.unit.show(cost));
            [Cell::number(cost, shown), Cell::new(percent_number(cost, self.whole[column]))]
        };
        EventCells {
            name: printable(event.name.as_bytes()).into_owned(),
            inclusive: pair(row.inclusive[column], row.bound()),
            own: pair(row.self_costs[column], ""),
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
        for all in self.has_calls.then_some(inclusive).into_iter().chain([own]) {
            let each = rounded(all, row.calls)?;
            cells.extend([Cell::number(each, unit.show(each)), Cell::new("")]);
        }
        Some(cells)
    }

    fn write_rest(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let hidden = self.matching - self.rows.len();
        if hidden > 0 {
            writeln!(out, "{}", look.dim(&format!("… and {} more (--limit 0 shows all)", grouped(hidden))))?;
        }
        if self.rows.iter().any(|row| row.is_upper_bound) {
            let note = "≤ at most: calls leave the group and come back, which is counted each time";
            writeln!(out, "{}", look.dim(note))?;
        }
        Ok(())
    }
}

impl FunctionRow {
    /// The sign before an inclusive cost.
    fn bound(&self) -> &'static str {
        if self.is_upper_bound { "≤" } else { "" }
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

/// The name of a row and, if the width allows, its file or object.
fn named(row: &FunctionRow, width: usize) -> String {
    use unicode_width::UnicodeWidthStr as _;

    let cycle = match row.cycle {
        Some(number) if !row.name.starts_with("cycle ") => format!(" [cycle {number}]"),
        _ => String::new(),
    };
    let name = printable(row.name.as_bytes());
    let name = format!("{}{cycle}", shorten(&name, width.saturating_sub(cycle.width())));
    let is_known = |text: &&str| !text.is_empty() && *text != UNKNOWN;
    let file = Some(row.file.as_str()).filter(is_known);
    let object = Some(row.object.as_str()).filter(is_known);
    let definition = match (file, object) {
        (Some(file), Some(object)) if width >= MIN_WIDTH_FOR_PATHS => {
            Some(format!("{file} in {}", base(object)))
        }
        (Some(file), _) if width >= MIN_WIDTH_FOR_PATHS => Some(file.to_owned()),
        (Some(file), _) => Some(base(file).to_owned()),
        (None, object) => object.map(|object| base(object).to_owned()),
    };
    let definition = definition.map(|path| printable(path.as_bytes()).into_owned());
    match definition.filter(|path| path.width() + 3 <= width.saturating_sub(name.width())) {
        Some(path) => format!("{name} ({path})"),
        None => name,
    }
}
