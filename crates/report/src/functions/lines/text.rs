//! The printers of the most expensive lines.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{
    Cell, Column, Look, Table, csv, grouped, json, lossy, percent, percent_number, printable, wrap,
};
use gristmill_profile::MemoryBudget;
use gristmill_profile::symbol::normal_path;
use unicode_width::UnicodeWidthStr as _;

use super::super::SortBy;
use super::{LineRow, ProgramLines};
use crate::names::{DOCUMENT_COLUMNS, NameRow, fitted, fitted_paths, short, whole};
use crate::path::{UNKNOWN, base};
use crate::report::Report;

/// The columns of line, function and source for which costs give way.
const GOOD_LINE_COLUMNS: usize = 60;
/// The least columns of line and function.
const MIN_LINE_COLUMNS: usize = 30;
/// The least columns of source text. If the others leave less, there is none.
const MIN_TEXT_COLUMNS: usize = 16;
/// The least columns of a name beside source text.
const MIN_NAME_COLUMNS: usize = 14;
/// The least columns of a path.
const MIN_PATH_COLUMNS: usize = 14;
/// The columns of source text in Markdown, whose place of display is not known.
const MARKDOWN_TEXT_COLUMNS: usize = 80;
/// The columns of the name of a file that are shown in any case.
const MAX_FILE_COLUMNS: usize = 100;
/// Bytes of a row while a table is made, and of its costs of one event type; measured.
const BYTES_OF_ROW: usize = 1500;
const BYTES_OF_CELLS: usize = 400;
/// The copies of a name and a path while a table is made.
const COPIES_OF_NAMES: usize = 6;
/// The count of event types from which on some may be left out.
const ONE_EVENT: usize = 1;

/// The costs that a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Detail {
    /// The count of event types.
    events: usize,
    with_calls: bool,
}

impl Report for ProgramLines<'_> {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        wrap::write(out, &self.summary(), look.width, 2)?;
        writeln!(out)?;
        if self.rows.keys.is_empty() {
            return Ok(());
        }
        let rows: Vec<LineRow> = self.rows().take(self.shown()).collect();
        let look = &self.fitting_look(&rows, look);
        let all = Detail { events: self.head.events.len(), with_calls: self.has_calls };
        let (detail, mut table) = self.fitting_table(look, &rows, all);
        let room = look.width.saturating_sub(table.width_before_last()).max(MIN_LINE_COLUMNS);
        let (title, texts) = self.positions(&rows, look.name_columns(room));
        if let Some(column) = table.columns.last_mut() {
            column.title = title;
        }
        for (cells, text) in table.rows.iter_mut().zip(texts) {
            if let Some(last) = cells.last_mut() {
                *last = Cell::new(text);
            }
        }
        table.write_text(look, out)?;
        let left_out = match () {
            () if detail.events < all.events => Some("costs of other event types"),
            () if detail.with_calls != all.with_calls => Some("costs with calls"),
            () => None,
        };
        if let Some(what) = left_out {
            wrap::write_dim(out, &format!("{what} need more columns (--width)"), look, 2)?;
        }
        if let Some(rest) = self.rest() {
            writeln!(out, "{}", look.dim(rest))?;
        }
        if let (Some(path), true, true) = (
            self.rows.sources.missing.first(),
            look.is_terminal,
            self.rows.sources.texts.iter().all(Option::is_none),
        ) {
            let path = String::from_utf8_lossy(path);
            let path = short(base(&path), look.name_columns(look.width / 3));
            let note = format!("no source text: {path} was not found (--search DIR)");
            wrap::write_dim(out, &note, look, 2)?;
        }
        Ok(())
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes a table in Markdown.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_markdown(out)?;
        writeln!(out, "{}\n", self.summary())?;
        let rows: Vec<LineRow> = self.rows().take(self.shown()).collect();
        let detail = Detail { events: self.head.events.len(), with_calls: self.has_calls };
        let mut table = self.table(&rows, detail);
        let has_text = rows.iter().any(|row| row.text.is_some());
        if let Some(column) = table.columns.last_mut() {
            *column = Column::text("Line");
        }
        table.columns.push(Column::text("Function"));
        if has_text {
            table.columns.push(Column::text("Source"));
        }
        let names = names(&rows, DOCUMENT_COLUMNS);
        let lines = lines(&rows, DOCUMENT_COLUMNS);
        for (((cells, row), name), line) in table.rows.iter_mut().zip(&rows).zip(names).zip(lines) {
            if let Some(last) = cells.last_mut() {
                *last = Cell::new(line);
            }
            let is_whole = name.contains(&*row.function.printable_name());
            let whole = whole(&row.function.name);
            cells.push(if is_whole { Cell::new(name) } else { Cell::shortened(name, whole) });
            if has_text {
                let text = row.text.as_ref().map(|text| text.fitted(MARKDOWN_TEXT_COLUMNS));
                cells.push(Cell::code(text.unwrap_or_default()));
            }
        }
        table.write_markdown(out)?;
        match self.rest().filter(|_| self.is_cut()) {
            Some(rest) => writeln!(out, "\n{rest}"),
            None => Ok(()),
        }
    }

    /// Writes comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let events = self.head.events.iter();
        let mut titles: Vec<String> = events
            .flat_map(|event| ["inclusive", "self"].map(|what| format!("{what} {}", event.name)))
            .collect();
        titles.extend(["file", "line", "address", "function", "object", "text"].map(str::to_owned));
        csv::write_line(titles.iter().map(String::as_str), out)?;
        for row in self.rows() {
            let costs =
                row.inclusive.iter().zip(&row.self_costs).flat_map(|(inclusive, own)| [inclusive, own]);
            let mut cells: Vec<String> = costs.map(Cost::to_string).collect();
            cells.push(lossy(&row.file));
            cells.push(row.line.map_or_else(String::new, |line| line.to_string()));
            cells.push(row.address.map_or_else(String::new, |address| format!("0x{:x}", address.0)));
            cells.push(row.function.name.clone());
            cells.push(lossy(&row.function.object));
            cells
                .push(row.text.as_ref().map_or_else(String::new, |text| lossy(text.as_bytes().trim_ascii())));
            csv::write_line(cells.iter().map(String::as_str), out)?;
        }
        Ok(())
    }
}

impl ProgramLines<'_> {
    /// The count of lines that a text shows: as many as it has memory for.
    fn shown(&self) -> usize {
        let events = self.head.events.len();
        let bytes = BYTES_OF_ROW.saturating_add(BYTES_OF_CELLS.saturating_mul(events));
        self.rows.keys.len().min(self.rows.view.profile().rows_of_text(events, bytes))
    }

    fn is_cut(&self) -> bool {
        self.shown() < self.rows.keys.len()
    }

    /// The line about lines that are not shown.
    fn rest(&self) -> Option<String> {
        let hidden = self.matching - self.shown();
        let how =
            if self.is_cut() { "no memory for them; --format csv has all" } else { "--limit 0 shows all" };
        (hidden > 0).then(|| format!("… and {} more ({how})", grouped(hidden)))
    }

    /// The sentence that says how much is shown.
    fn summary(&self) -> String {
        let shown = self.shown();
        let noun = match (self.matching, self.is_filtered) {
            (1, false) => "line",
            (_, false) => "lines",
            (1, true) => "matching line",
            (_, true) => "matching lines",
        };
        let mut text = if shown == self.matching {
            format!("{} {noun}", grouped(shown))
        } else {
            format!("{} of {} {noun}", grouped(shown), grouped(self.matching))
        };
        let cost: Cost = self.rows().take(shown).map(|row| row.self_costs[0]).sum();
        let share = percent(cost, self.head.totals[0]);
        // A share that is rounded to zero is left out.
        if !matches!(&share[..], "" | "0.0%") && (shown < self.matching || self.is_filtered) {
            text.push_str(&format!(" with {share} of the self cost"));
        }
        if let Some(name) = &self.relative_to {
            text.push_str(&format!("; shares of {}", printable(name.as_bytes())));
        }
        text
    }

    /// Returns the same look, without names in full if all rows would have much longer names than the profile.
    fn fitting_look(&self, rows: &[LineRow], look: &Look) -> Look {
        let length = |row: &LineRow| row.file.len() + row.function.name.len();
        let bytes = rows.iter().map(length).fold(0, usize::saturating_add);
        Look { has_full_names: look.has_full_names && self.has_memory_for(bytes), ..*look }
    }

    /// `true` if the rows of a table can have names of this many bytes together.
    fn has_memory_for(&self, bytes: usize) -> bool {
        let budget = MemoryBudget::new([&**self.rows.view.profile()]);
        budget.check_bytes(bytes.saturating_mul(COPIES_OF_NAMES)).is_ok()
    }

    /// `true` if self costs come first: the costs that rows are sorted by do.
    fn begins_with_self(&self) -> bool {
        self.sort != SortBy::Inclusive
    }

    /// Returns the table with the most costs beside which lines, functions and source text can be read.
    fn fitting_table(&self, look: &Look, rows: &[LineRow], all: Detail) -> (Detail, Table) {
        let whole = self.table(rows, all);
        let mut choice = (all, whole);
        let fewer = [
            Detail { with_calls: all.with_calls && !self.begins_with_self(), ..all },
            Detail { events: ONE_EVENT, with_calls: all.with_calls && !self.begins_with_self() },
        ];
        let needed = if self.rows.sources.texts.iter().any(Option::is_some) {
            GOOD_LINE_COLUMNS
        } else {
            MIN_LINE_COLUMNS
        };
        if look.has_full_names {
            return choice;
        }
        // No row is wider than that, so that longer names are not looked at.
        let (_, texts) = self.positions(rows, GOOD_LINE_COLUMNS);
        let needed = needed.min(texts.iter().map(|text| text.width()).max().unwrap_or(0));
        let room = |table: &Table| look.width.saturating_sub(table.width_before_last());
        for detail in fewer {
            if room(&choice.1) >= needed {
                break;
            }
            choice = (detail, self.table(rows, detail));
        }
        choice
    }

    /// The table with an empty last column.
    fn table(&self, rows: &[LineRow], detail: Detail) -> Table {
        let several = self.head.events.len() > 1;
        let mut columns = Vec::new();
        for event in self.head.events.iter().take(detail.events) {
            let event = printable(event.name.as_bytes());
            let title = |what: &str| if several { format!("{what} {event}") } else { what.to_owned() };
            let own = vec![Column::number(title("Self")), Column::number("%")];
            let with_calls = vec![Column::number(title("With calls")), Column::number("%")];
            columns.extend(self.ordered(own, if detail.with_calls { with_calls } else { Vec::new() }));
        }
        columns.push(Column::text(""));
        let cells = |row: &LineRow| {
            let mut cells = Vec::new();
            for (nth, event) in self.head.events.iter().enumerate().take(detail.events) {
                let pair = |cost: Cost| {
                    let share = percent_number(cost, self.whole[nth]);
                    vec![Cell::number(cost, event.unit.show(cost)), Cell::new(share)]
                };
                let with_calls = if detail.with_calls { pair(row.inclusive[nth]) } else { Vec::new() };
                cells.extend(self.ordered(pair(row.self_costs[nth]), with_calls));
            }
            cells.push(Cell::new(""));
            cells
        };
        Table { rows: rows.iter().map(cells).collect(), columns }
    }

    fn ordered<T>(&self, own: Vec<T>, with_calls: Vec<T>) -> Vec<T> {
        let (first, second) = if self.begins_with_self() { (own, with_calls) } else { (with_calls, own) };
        first.into_iter().chain(second).collect()
    }

    /// Returns the title of the last column, and for each row its line, function and source text, one below the other.
    fn positions(&self, rows: &[LineRow], room: usize) -> (String, Vec<String>) {
        let left = |taken: usize| if room == usize::MAX { room } else { room.saturating_sub(taken) };
        // One very long path would fill all rows with blanks.
        let widest = |texts: &[String], title: &str| {
            let widest = texts.iter().map(|text| text.width()).max().unwrap_or(0).max(title.len());
            let fits = self.has_memory_for(rows.len().saturating_mul(widest));
            if fits { widest } else { widest.min(MAX_FILE_COLUMNS) }
        };
        let path_columns = if room == usize::MAX { room } else { (room / 4).max(MIN_PATH_COLUMNS) };
        let lines = lines(rows, path_columns);
        let line_width = widest(&lines, "Line");
        let room = left(line_width + 2);
        let has_text = rows.iter().any(|row| row.text.is_some());
        let beside_text = left_for_name(room, has_text);
        let names = names(rows, beside_text);
        let name_width = widest(&names, "Function");
        let text_columns = if room == usize::MAX { room } else { room.saturating_sub(name_width + 2) };
        let has_text = has_text && text_columns >= MIN_TEXT_COLUMNS;
        let padded =
            |text: &str, width: usize| format!("{text}{}", " ".repeat(width.saturating_sub(text.width())));
        let joined = |line: &str, name: &str, text: Option<String>| match text {
            Some(text) if has_text => {
                format!("{}  {}  {text}", padded(line, line_width), padded(name, name_width))
            }
            _ => format!("{}  {name}", padded(line, line_width)),
        };
        let title = joined("Line", "Function", Some("Source".to_owned()));
        let texts = rows.iter().zip(&lines).zip(&names).map(|((row, line), name)| {
            joined(line, name, row.text.as_ref().map(|text| text.fitted(text_columns)))
        });
        (title, texts.collect())
    }
}

/// Returns the columns of a name: if there is space for source text beside it, that has three fifths.
fn left_for_name(room: usize, has_text: bool) -> usize {
    if room == usize::MAX || !has_text || room < MIN_NAME_COLUMNS + 2 + MIN_TEXT_COLUMNS {
        return room;
    }
    (room * 2 / 5).max(MIN_NAME_COLUMNS)
}

/// The position of each line: `mill.c:12`, or its address. Rows share the paths of their files, which can be long.
fn lines(rows: &[LineRow], path_columns: usize) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    let mut path_of: HashMap<*const u8, usize> = HashMap::new();
    for row in rows {
        path_of.entry(row.file.as_ptr()).or_insert_with(|| {
            paths.push(normal_path(&printable(&row.file)).into_owned());
            paths.len() - 1
        });
    }
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let paths = fitted_files(&paths, path_columns);
    let line = |row: &LineRow| {
        let path = paths[path_of[&row.file.as_ptr()]].as_str();
        let path = if path.is_empty() { UNKNOWN } else { path };
        match (row.line, row.address) {
            (Some(line), _) => format!("{path}:{line}"),
            (None, Some(address)) => format!("{path} 0x{:x}", address.0),
            (None, None) => format!("{path}:?"),
        }
    };
    rows.iter().map(line).collect()
}

/// Returns the paths if they fit, or else their last components; files of the same name keep some of their directories.
fn fitted_files(paths: &[&str], columns: usize) -> Vec<String> {
    if paths.iter().all(|path| path.width() <= columns) {
        return paths.iter().map(|&path| path.to_owned()).collect();
    }
    let mut first: HashMap<&str, &str> = HashMap::new();
    let mut is_ambiguous: HashSet<&str> = HashSet::new();
    for &path in paths {
        if *first.entry(base(path)).or_insert(path) != path {
            is_ambiguous.insert(base(path));
        }
    }
    let ambiguous: Vec<&str> =
        paths.iter().copied().filter(|path| is_ambiguous.contains(base(path))).collect();
    let mut shortened = fitted_paths(&ambiguous, columns).into_iter();
    paths
        .iter()
        .map(|path| {
            if is_ambiguous.contains(base(path)) { shortened.next() } else { None }
                .unwrap_or_else(|| fitted_paths(&[base(path)], columns.max(MAX_FILE_COLUMNS)).concat())
        })
        .collect()
}

/// The name of the function of each line.
fn names(rows: &[LineRow], columns: usize) -> Vec<String> {
    let labels = rows.iter().map(|row| {
        let function = &row.function;
        NameRow::new(function.id.index(), &function.name, columns)
            .leaving_out(function.left_out.as_deref().unwrap_or_default())
            .distinguished_by(&function.file, &function.object)
    });
    fitted(labels).iter().map(ToString::to_string).collect()
}
