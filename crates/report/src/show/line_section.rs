//! The table of the hottest lines.

use std::collections::{HashMap, HashSet};

use gristmill_output::{Cell, Column, Look, Table, grouped, printable};
use gristmill_profile::symbol::normal_path;
use unicode_width::UnicodeWidthStr as _;

use super::sections::{Form, Label, Section, counted, more};
use super::{HotLine, Show};
use crate::names::short;
use crate::path::{UNKNOWN, base};

/// The least columns of source text. If numbers and positions leave less, there is none.
const MIN_TEXT_COLUMNS: usize = 16;

/// The columns of source text that directories give way to.
const GOOD_TEXT_COLUMNS: usize = 60;

/// The columns of source text in Markdown, whose place of display is not known.
const MARKDOWN_TEXT_COLUMNS: usize = 80;

/// The width from which positions have the directories of their file.
const MIN_WIDTH_OF_PATHS: usize = 100;
/// The width from which on a call within a recursion has a remark. Its cost has no share in any case.
const MIN_WIDTH_OF_REMARKS: usize = 72;

impl Show {
    pub(super) fn line_section(&self, look: &Look, form: Form) -> Section {
        let has_calls = self.callees.all > 0;
        let titles: &[&str] = if has_calls { &["With calls", "Self"] } else { &["Self"] };
        let events = self.events(titles.len(), look.width, 4);
        let mut columns = self.cost_columns(events, titles);
        columns.push(Column::text("Line"));
        let mut table = Table { columns, rows: Vec::new() };
        for line in &self.lines.rows {
            let mut cells = Vec::new();
            for nth in 0..events {
                if has_calls {
                    cells.extend(self.cost_cells(nth, line.inclusive[nth], self.inclusive[nth]));
                }
                cells.extend(self.cost_cells(nth, line.self_costs[nth], self.inclusive[nth]));
            }
            cells.push(Cell::new(""));
            table.rows.push(cells);
            for call in &line.calls {
                let mut cells: Vec<Cell> = Vec::new();
                for nth in 0..events {
                    let whole = if call.is_inner { 0 } else { self.inclusive[nth] };
                    cells.extend(self.cost_cells(nth, call.cost[nth], whole));
                    cells.extend([Cell::new(""), Cell::new("")]);
                }
                cells.push(Cell::new(""));
                table.rows.push(cells);
            }
        }
        let room = look.width.saturating_sub(table.width_before_last());
        let mut positions = self.positions(look, form, room);
        if form == Form::Text && self.has_sources() {
            let widest = positions.iter().map(|position| position.width()).max().unwrap_or(0).max(4);
            let columns = look.name_columns(room.saturating_sub(widest + 2));
            if columns >= MIN_TEXT_COLUMNS {
                if let Some(title) = table.columns.last_mut() {
                    title.title = format!("Line{}  Source", " ".repeat(widest - 4));
                }
                for (position, line) in positions.iter_mut().zip(&self.lines.rows) {
                    let Some(text) = &line.text else { continue };
                    position.push_str(&" ".repeat(widest + 2 - position.width()));
                    position.push_str(&text.fitted(columns));
                }
            }
        }
        let mut names = Vec::new();
        for (line, position) in self.lines.rows.iter().zip(positions) {
            names.push(Label::Text(position));
            for call in &line.calls {
                let has_remark = call.is_inner && look.width >= MIN_WIDTH_OF_REMARKS;
                let inner = if has_remark { " (recursive)" } else { "" };
                let times = match call.calls.recorded() {
                    0 if call.calls.has_inlined() => call.calls.text(),
                    _ => format!("×{}", call.calls.text()),
                };
                names.push(Label::Call(&call.function, format!("{times}{inner}")));
            }
        }
        let mut table = self.with_names(table, look, names);
        if form == Form::Markdown && self.has_sources() {
            self.add_source_column(&mut table);
        }
        Section {
            title: format!("Hottest lines: {}", counted(&self.lines)),
            table,
            below: self.below_lines(look, form),
        }
    }

    /// Adds a column with the source text of lines, which rows of calls do not have.
    fn add_source_column(&self, table: &mut Table) {
        table.columns.push(Column::text("Source"));
        let mut rows = table.rows.iter_mut();
        for line in &self.lines.rows {
            let text = line.text.as_ref().map(|text| text.fitted(MARKDOWN_TEXT_COLUMNS));
            let cells = [Cell::code(text.unwrap_or_default())].into_iter();
            let of_calls = line.calls.iter().map(|_| Cell::new(""));
            for (cell, row) in cells.chain(of_calls).zip(rows.by_ref()) {
                row.push(cell);
            }
        }
    }

    /// The sentences below the table.
    fn below_lines(&self, look: &Look, form: Form) -> Vec<String> {
        let mut below = more(&self.lines);
        // Documents have no options.
        if let (Some(path), false, true, Form::Text) =
            (self.sources.missing.first(), self.has_sources(), look.is_terminal, form)
        {
            let path = String::from_utf8_lossy(path);
            let path = short(base(&path), look.name_columns(look.width / 3));
            below.push(format!("no source text: {path} was not found (--search DIR)"));
        }
        if let Some(read) = self.lines_of {
            below.push(format!(
                "lines of the {} most expensive of {} functions",
                grouped(read),
                grouped(self.folded)
            ));
        }
        let jumps = self.jumps;
        if jumps.jumps > 0 {
            below.push(format!(
                "{} {}, {} of them conditional, taken {} {}",
                grouped(jumps.jumps),
                if jumps.jumps == 1 { "jump" } else { "jumps" },
                grouped(jumps.conditional),
                grouped(jumps.taken),
                if jumps.taken == 1 { "time" } else { "times" },
            ));
        }
        below
    }

    /// The position of each line: `mill.c:12`, with the addresses where there are any.
    fn positions(&self, look: &Look, form: Form, room: usize) -> Vec<String> {
        // Rows share the paths of their files, which can be long.
        let mut paths: Vec<String> = Vec::new();
        let mut path_of: HashMap<*const u8, usize> = HashMap::new();
        for line in &self.lines.rows {
            path_of.entry(line.file.as_ptr()).or_insert_with(|| {
                paths.push(normal_path(&printable(&line.file)).into_owned());
                paths.len() - 1
            });
        }
        let path = |line: &HotLine| paths[path_of[&line.file.as_ptr()]].as_str();
        let rows = || self.lines.rows.iter();
        // On a narrow screen, or beside long lines, only the last component of a path is shown.
        let widest = || rows().map(|line| position(path(line), line).width()).max().unwrap_or(0);
        let is_narrow = look.width < MIN_WIDTH_OF_PATHS
            || form == Form::Text && self.has_sources() && widest() + 2 + GOOD_TEXT_COLUMNS > room;
        if look.has_full_names || !is_narrow {
            return rows().map(|line| position(path(line), line)).collect();
        }
        // Files of the same name keep their directories.
        let mut first: HashMap<&str, &str> = HashMap::new();
        let mut is_ambiguous: HashSet<&str> = HashSet::new();
        for path in &paths {
            if *first.entry(base(path)).or_insert(path) != path {
                is_ambiguous.insert(base(path));
            }
        }
        let shown = |path| if is_ambiguous.contains(base(path)) { path } else { base(path) };
        rows().map(|line| position(shown(path(line)), line)).collect()
    }
}

fn position(file: &str, line: &HotLine) -> String {
    let addresses = match line.addresses.as_deref() {
        Some([from, to]) if from == to => format!(" 0x{:x}", from.0),
        Some([from, to]) => format!(" 0x{:x}–0x{:x}", from.0, to.0),
        None => String::new(),
    };
    let file = if file.is_empty() { UNKNOWN } else { file };
    match line.line {
        Some(number) => format!("{file}:{number}{addresses}"),
        None if addresses.is_empty() => format!("{file}:?"),
        None => format!("{file}{addresses}"),
    }
}
