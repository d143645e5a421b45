//! The report as text for a terminal.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{Cell, Column, Look, Table, grouped, wrap};
use gristmill_profile::symbol::shorten;
use unicode_width::UnicodeWidthStr as _;

use super::amounts::{signed, signed_percent};
use super::notes::{self, remarks};
use super::{CauseRow, Diff, DiffRow, OtherCauses, safe};
use crate::grouping::Grouping;
use crate::path::{UNKNOWN, base};

/// The smallest width of the names of functions.
const MIN_NAME: usize = 20;
/// The limit of renamed functions.
const MAX_RENAMES: usize = 5;

pub(super) fn write(diff: &Diff, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", look.bold(&diff.head.title()))?;
    for event in 0..diff.head.events.len() {
        writeln!(out, "{}", diff.head.verdict(event))?;
    }
    for warning in diff.head.warnings() {
        wrap::write(out, &format!("warning: {warning}"), look.width, 9)?;
    }
    writeln!(out, "{}", diff.summary())?;
    diff.write_causes(look, out)?;
    diff.write_rows(look, out)?;
    diff.write_renames(look, out)?;
    diff.write_joins(look, out)
}

impl Diff {
    /// Returns the counts of changed, new, vanished and renamed functions as a sentence.
    pub(super) fn summary(&self) -> String {
        let noun = match self.grouping {
            Grouping::Function | Grouping::Cycle => "functions",
            Grouping::Object => "objects",
            Grouping::File => "files",
            Grouping::Directory => "directories",
            Grouping::Class => "classes",
        };
        let changed = self.rows.len() + self.rest.rows;
        let mut text = match changed {
            changed if self.is_filtered => {
                format!("{} matching {noun} changed, of {}", grouped(changed), grouped(self.all))
            }
            0 => format!("none of {} {noun} changed", grouped(self.all)),
            changed => format!("{} of {} {noun} changed", grouped(changed), grouped(self.all)),
        };
        if self.grouping == Grouping::Function && !self.is_filtered {
            for (of_kind, what) in
                [(self.new, "new"), (self.vanished, "vanished"), (self.renames.len(), "renamed")]
            {
                if of_kind > 0 {
                    text.push_str(&format!(", {} {what}", grouped(of_kind)));
                }
            }
        }
        text
    }

    fn write_causes(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let Some(event) = self.head.events.first() else { return Ok(()) };
        if self.causes.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", look.bold(&format!("Causes of the change of {}", safe(&event.name))))?;
        let whole = self.head.totals[0].base.median;
        let mut lines: Vec<(Cost, String)> =
            self.causes.iter().map(|cause| (cause.effect, cause_text(cause, 40))).collect();
        lines.extend(smaller(self.other_causes));
        if self.remainder[0] != 0 {
            lines.push((
                self.remainder[0],
                "medians of functions do not add up to the median of the total".to_owned(),
            ));
        }
        let amounts: Vec<(String, String)> = lines
            .iter()
            .map(|(effect, _)| (signed(*effect, event.unit), format!("{}%", signed_percent(*effect, whole))))
            .collect();
        let widest = |of: &dyn Fn(&(String, String)) -> usize| amounts.iter().map(of).max().unwrap_or(0);
        let (first, second) = (widest(&|(effect, _)| effect.width()), widest(&|(_, share)| share.width()));
        for ((_, sentence), (effect, share)) in lines.iter().zip(&amounts) {
            let line = format!("{}  {}  {sentence}", right(effect, first), right(share, second));
            wrap::write(out, &line, look.width, first + second + 4)?;
        }
        Ok(())
    }

    fn write_rows(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let changed = self.rows.len() + self.rest.rows;
        if changed == 0 {
            return Ok(());
        }
        writeln!(out)?;
        let mut table = self.table();
        let room = look.width.saturating_sub(table.width_before_last());
        if room < MIN_NAME {
            return self.write_stacked(look, out);
        }
        for (cells, row) in table.rows.iter_mut().zip(&self.rows) {
            if let Some(last) = cells.last_mut() {
                *last = Cell::new(named(row, room));
            }
        }
        for (nth, line) in lines_of(&table, look)?.iter().enumerate() {
            if nth == 0 {
                writeln!(out, "{}", look.dim(line))?;
            } else {
                writeln!(out, "{line}")?;
            }
            if let Some(row) = nth.checked_sub(1).and_then(|nth| self.rows.get(nth)) {
                self.write_remarks(row, look, out)?;
            }
        }
        Ok(())
    }

    /// Writes each name on a line of its own, with a line for each event type below.
    fn write_stacked(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = vec![Column::text("  "), Column::number("Self"), Column::number("%")];
        if self.head.has_calls {
            columns.extend([Column::number("Inclusive"), Column::number("%")]);
        }
        let name = |event: usize| Cell::new(format!("  {}", safe(&self.head.events[event].name)));
        let mut rows = Vec::new();
        for row in &self.rows {
            for event in 0..self.head.events.len() {
                let mut cells = vec![name(event)];
                cells.extend(self.pair(event, row.self_costs[event].delta()));
                if self.head.has_calls {
                    cells.extend(self.pair(event, row.inclusive[event].delta()));
                }
                rows.push(cells);
            }
        }
        let residue = self.residue();
        for (amounts, _) in &residue {
            for (event, amount) in amounts.iter().enumerate() {
                let mut cells = vec![name(event)];
                cells.extend(self.pair(event, *amount));
                cells.resize(columns.len(), Cell::new(""));
                rows.push(cells);
            }
        }
        // One table for all, so that columns have the same width.
        let lines = lines_of(&Table { columns, rows }, look)?;
        let mut lines = lines.iter();
        if let Some(titles) = lines.next() {
            writeln!(out, "{}", look.dim(titles))?;
        }
        for row in &self.rows {
            writeln!(out, "{}", look.bold(&named(row, look.width)))?;
            lines.by_ref().take(self.head.events.len()).try_for_each(|line| writeln!(out, "{line}"))?;
            self.write_remarks(row, look, out)?;
        }
        for (_, what) in residue {
            writeln!(out, "{what}")?;
            lines.by_ref().take(self.head.events.len()).try_for_each(|line| writeln!(out, "{line}"))?;
        }
        Ok(())
    }

    fn write_remarks(&self, row: &DiffRow, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let remarks = remarks(&self.head, row).join("; ");
        if remarks.is_empty() {
            return Ok(());
        }
        wrap::write_dim(out, &format!("    {remarks}"), look, 4)
    }

    /// Returns the rows, then what is not shown, so that the changes of self costs add up to that of the total.
    pub(super) fn table(&self) -> Table {
        let several = self.head.events.len() > 1;
        let mut columns = Vec::new();
        for event in &self.head.events {
            let name = safe(&event.name);
            let title = |what: &str| if several { format!("{what} {name}") } else { what.to_owned() };
            columns.extend([Column::number(title("Self")), Column::number("%")]);
            if self.head.has_calls {
                columns.extend([Column::number(title("Inclusive")), Column::number("%")]);
            }
        }
        columns.push(Column::text(self.grouping.title()));
        let mut rows: Vec<Vec<Cell>> = self.rows.iter().map(|row| self.cells(row)).collect();
        for (amounts, what) in self.residue() {
            let mut cells = Vec::new();
            for (event, amount) in amounts.into_iter().enumerate() {
                cells.extend(self.pair(event, amount));
                if self.head.has_calls {
                    cells.extend([Cell::new(""), Cell::new("")]);
                }
            }
            cells.push(Cell::new(what));
            rows.push(cells);
        }
        Table { columns, rows }
    }

    /// Returns the costs of what is not shown, each with its description.
    pub(super) fn residue(&self) -> Vec<(Vec<Cost>, String)> {
        let mut residue = Vec::new();
        if self.rest.rows > 0 {
            residue.push((self.rest.self_costs.to_vec(), format!("… {} more", grouped(self.rest.rows))));
        }
        if self.remainder.iter().any(|&remainder| remainder != 0) {
            residue.push((self.remainder.to_vec(), "(medians do not add up)".to_owned()));
        }
        residue
    }

    fn pair(&self, event: usize, amount: Cost) -> [Cell; 2] {
        let unit = self.head.events[event].unit;
        let percent = signed_percent(amount, self.head.totals[event].base.median);
        [Cell::number(amount, signed(amount, unit)), Cell::new(percent)]
    }

    fn cells(&self, row: &DiffRow) -> Vec<Cell> {
        let mut cells = Vec::new();
        for event in 0..self.head.events.len() {
            cells.extend(self.pair(event, row.self_costs[event].delta()));
            if self.head.has_calls {
                cells.extend(self.pair(event, row.inclusive[event].delta()));
            }
        }
        cells.push(Cell::new(named(row, usize::MAX)));
        cells
    }

    fn write_renames(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        if self.renames.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", look.bold("Renamed"))?;
        for rename in self.renames.iter().take(MAX_RENAMES) {
            wrap::write(out, rename, look.width, 2)?;
        }
        if self.renames.len() > MAX_RENAMES {
            writeln!(out, "… {} more", grouped(self.renames.len() - MAX_RENAMES))?;
        }
        Ok(())
    }

    fn write_joins(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let joins = notes::joins(&self.head);
        if joins.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", look.bold("Joined functions by rule (--no-rule RULE separates them)"))?;
        for join in joins {
            wrap::write_dim(out, &join, look, 2)?;
        }
        Ok(())
    }
}

/// Returns the effect and the count of causes that are not shown.
pub(super) fn smaller(others: OtherCauses) -> Option<(Cost, String)> {
    (others.count > 0).then(|| (others.effect, format!("{} smaller causes", grouped(others.count))))
}

/// Returns a cause as a sentence. Names are shortened to about this many characters.
pub(super) fn cause_text(cause: &CauseRow, name_width: usize) -> String {
    let noise = if cause.is_noise { " (noise)" } else { "" };
    format!("{}{noise}", cause.sentence.shortened(name_width))
}

/// Returns the lines of a table, titles first.
fn lines_of(table: &Table, look: &Look) -> io::Result<Vec<String>> {
    let mut text = Vec::new();
    table.write_text(&Look { has_color: false, ..*look }, &mut text)?;
    Ok(String::from_utf8_lossy(&text).lines().map(str::to_owned).collect())
}

fn right(text: &str, width: usize) -> String {
    format!("{}{text}", " ".repeat(width.saturating_sub(text.width())))
}

/// Returns the name of a row, with its source file if there is space.
pub(super) fn named(row: &DiffRow, width: usize) -> String {
    let name = safe(&row.name);
    let name = shorten(&name, width);
    let place = Some(safe(base(&row.file))).filter(|place| !place.is_empty() && place != UNKNOWN);
    match place.filter(|place| place.width() + 3 <= width.saturating_sub(name.width())) {
        Some(place) => format!("{name} ({place})"),
        None => name.into_owned(),
    }
}
