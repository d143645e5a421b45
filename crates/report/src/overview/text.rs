//! The printers of the first screen.

mod sections;

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::wrap::{columns, hang};
use gristmill_output::{
    Cell, Column, Look, Table, bar, csv, grouped, json, markdown, percent_number, printable,
};

use self::sections::{Line, NAME_IN_SENTENCES, Section};
use super::Overview;
use crate::amount::estimate_mark;
use crate::columns::EventColumn;
use crate::names::{DOCUMENT_COLUMNS, name_in_sentences};
use crate::report::Report;

/// The width of a bar for the whole.
const BAR_WIDTH: usize = 10;
/// The width from which on bars are shown.
const MIN_WIDTH_FOR_BARS: usize = 100;
/// The least width of a name. If the costs of all event types leave less, only those of the first are shown.
const MIN_NAME_WIDTH: usize = 30;
/// The least width of a name beside counts of calls.
const MIN_NAME_WIDTH_BESIDE_CALLS: usize = 40;
const GAP: &str = "  ";

impl Report for Overview {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.write_head(look, out)?;
        let sections = self.sections(name_in_sentences(look));
        let layout = Layout::new(self, &sections, look);
        for section in &sections {
            layout.write(section, look, out)?;
        }
        self.write_next(look, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes one table with exact numbers; its first column says which list a row is of.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut titles = vec!["list".to_owned()];
        titles.extend(self.head.events.iter().map(|event| format!("cost {}", event.name)));
        titles.extend(["calls", "name", "file", "object"].map(str::to_owned));
        csv::write_line(titles.iter().map(String::as_str), out)?;
        for (list, line) in self.all_lines() {
            let mut cells: Vec<String> = line.costs.iter().map(Cost::to_string).collect();
            cells.push(line.calls.map_or_else(String::new, |calls| calls.for_programs()));
            cells.extend([line.name, line.file, line.object]);
            csv::write_line([list].into_iter().chain(cells.iter().map(String::as_str)), out)?;
        }
        Ok(())
    }

    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let lines: Vec<String> = self.head_lines().into_iter().map(|(line, _)| line).collect();
        markdown::write_lines(&lines, out)?;
        for section in self.sections(NAME_IN_SENTENCES) {
            let mut columns = Vec::new();
            for title in self.cost_titles(&section) {
                columns.extend([Column::number(title), Column::number("%")]);
            }
            columns.extend(self.shows_calls().then(|| Column::number("Calls")));
            columns.push(Column::text(section.title.clone()));
            let row = |(line, name): (&Line, Cell)| {
                let mut cells: Vec<Cell> = self.cost_cells(line).into_iter().map(Cell::new).collect();
                cells.extend(self.shows_calls().then(|| Cell::new(line.shown_calls())));
                cells.push(name);
                cells
            };
            let rows = section.lines.iter().zip(section.names(DOCUMENT_COLUMNS)).map(row).collect();
            writeln!(out)?;
            Table { columns, rows }.write_markdown(out)?;
            if let Some(remark) = &section.remark {
                writeln!(out)?;
                markdown::write_lines(std::slice::from_ref(remark), out)?;
            }
        }
        Ok(())
    }
}

impl Overview {
    /// The lines above the lists, each with `true` if it is a warning.
    fn head_lines(&self) -> Vec<(String, bool)> {
        let head = &self.head;
        let mut lines = Vec::new();
        // One line is enough here: `info` has them all.
        if let Some(warning) = head.warnings().next() {
            let more = match head.damage.len() - 1 {
                0 => String::new(),
                more => format!("; gristmill info shows {} more", grouped(more)),
            };
            lines.push((format!("{warning}{more}"), true));
        }
        let mut rest = head.lines().into_iter();
        lines.extend(rest.next().map(|title| (title, false)));
        let totals = head.totals.iter().zip(&head.events);
        lines.extend(totals.map(|(&total, event)| (event.total_in_words(total), false)));
        lines.extend(rest.skip(head.events.len()).map(|line| (line, false)));
        lines
    }

    fn write_head(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let mut is_first = true;
        for (line, is_warning) in self.head_lines() {
            if is_warning {
                // A program that reads the output looks for the whole line.
                for line in hang("", &line, 2, look.name_columns(look.width)).split('\n') {
                    writeln!(out, "{}", look.painter().yellow(line))?;
                }
            } else if std::mem::take(&mut is_first) {
                for line in hang("", &line, 2, look.width).split('\n') {
                    writeln!(out, "{}", look.bold(line))?;
                }
            } else {
                writeln!(out, "{}", hang("", &line, 2, look.width))?;
            }
        }
        Ok(())
    }

    fn write_next(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        if self.next.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", look.bold("Next"))?;
        let longest = self.next.iter().map(|step| columns(&step.command)).max().unwrap_or(0);
        let longest_about = self.next.iter().map(|step| columns(&step.about)).max().unwrap_or(0);
        let is_beside = 2 + longest + 4 + longest_about <= look.width;
        for step in &self.next {
            // A remark of the shell, so that the whole line can be copied.
            let about = format!("# {}", step.about);
            if is_beside {
                let fill = " ".repeat(longest - columns(&step.command));
                writeln!(out, "  {}{fill}  {}", step.command, look.dim(about))?;
            } else {
                writeln!(out, "  {}\n  {}", look.dim(about), step.command)?;
            }
        }
        Ok(())
    }

    fn shows_calls(&self) -> bool {
        self.has_calls && self.has_counts
    }

    fn cost_titles(&self, section: &Section) -> Vec<String> {
        let several = self.head.events.len() > 1;
        let title = |event: &EventColumn| match several {
            true => format!("{} {}", section.cost_title, printable(event.name.as_bytes())),
            false => section.cost_title.to_owned(),
        };
        self.head.events.iter().map(title).collect()
    }

    /// The costs of a line and their shares.
    fn cost_cells(&self, line: &Line) -> Vec<String> {
        let mut cells = Vec::new();
        for ((&cost, &total), event) in line.costs.iter().zip(&*self.head.totals).zip(&self.head.events) {
            let sign = estimate_mark(line.is_estimate);
            cells.push(format!("{sign}{}", event.unit.show(cost)));
            cells.push(percent_number(cost, total));
        }
        cells
    }
}

/// The widths of the columns, which all lists share.
struct Layout<'o> {
    overview: &'o Overview,
    /// The event types that are shown.
    events: usize,
    widths: Vec<usize>,
    has_bars: bool,
    /// The width of the counts of calls; 0 if they are not shown.
    calls: usize,
    /// The width of names.
    room: usize,
}

impl<'o> Layout<'o> {
    fn new(overview: &'o Overview, sections: &[Section], look: &Look) -> Self {
        let mut widths = vec![0; overview.head.events.len() * 2];
        for section in sections {
            let mut widen = |column: usize, text: &str| widths[column] = widths[column].max(columns(text));
            for (nth, title) in overview.cost_titles(section).iter().enumerate() {
                widen(nth * 2, title);
                widen(nth * 2 + 1, "%");
            }
            for line in &section.lines {
                overview.cost_cells(line).iter().enumerate().for_each(|(column, cell)| widen(column, cell));
            }
        }
        let has_bars = look.is_terminal && look.width >= MIN_WIDTH_FOR_BARS;
        let bars = if has_bars { BAR_WIDTH + GAP.len() } else { 0 };
        let room = |widths: &[usize]| {
            let used = widths.iter().map(|width| width + GAP.len()).sum::<usize>() + bars;
            look.width.saturating_sub(used)
        };
        let mut events = overview.head.events.len();
        while events > 1 && room(&widths[..events * 2]) < MIN_NAME_WIDTH {
            events -= 1;
        }
        widths.truncate(events * 2);
        let mut room = room(&widths);
        let lines = sections.iter().flat_map(|section| &section.lines);
        let mut calls = lines.map(|line| line.shown_calls().len()).max().unwrap_or(0).max("Calls".len());
        if !overview.shows_calls() || room < MIN_NAME_WIDTH_BESIDE_CALLS + calls + GAP.len() {
            calls = 0;
        } else {
            room -= calls + GAP.len();
        }
        Layout { overview, events, widths, has_bars, calls, room }
    }

    fn write(&self, section: &Section, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let mut titles = Vec::new();
        for title in self.overview.cost_titles(section).into_iter().take(self.events) {
            titles.extend([title, "%".to_owned()]);
        }
        let has_calls = section.lines.iter().any(|line| line.calls.is_some());
        let calls = if has_calls { "Calls" } else { "" };
        let title = self.before_name(&titles, "", calls);
        writeln!(out, "\n{}{}", look.dim(title), look.bold(&section.title))?;
        for (line, name) in section.lines.iter().zip(section.names(look.name_columns(self.room))) {
            let cells = self.overview.cost_cells(line);
            let total = self.overview.head.totals[0];
            let bar = line.costs.first().map_or_else(String::new, |&cost| bar(cost, total, BAR_WIDTH));
            let before =
                self.before_name(&cells[..cells.len().min(self.events * 2)], &bar, &line.shown_calls());
            writeln!(out, "{}", format!("{before}{}", name.shown).trim_end())?;
        }
        if let Some(remark) = &section.remark {
            let indent = look.width.saturating_sub(self.room);
            let remark = hang(&" ".repeat(indent), remark, indent, look.width);
            remark.split('\n').try_for_each(|line| writeln!(out, "{}", look.dim(line)))?;
        }
        Ok(())
    }

    /// The part of a line before its name.
    fn before_name(&self, cells: &[String], bar: &str, calls: &str) -> String {
        let right = |text: &str, width: usize| {
            format!("{}{text}{GAP}", " ".repeat(width.saturating_sub(columns(text))))
        };
        let empty = String::new();
        let mut line = String::new();
        for (column, &width) in self.widths.iter().enumerate() {
            line.push_str(&right(cells.get(column).unwrap_or(&empty), width));
        }
        if self.has_bars {
            line.push_str(&format!("{bar}{}{GAP}", " ".repeat(BAR_WIDTH.saturating_sub(columns(bar)))));
        }
        if self.calls > 0 {
            line.push_str(&right(calls, self.calls));
        }
        line
    }
}
