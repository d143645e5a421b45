//! The report as a comment on a pull request: totals, causes, ten rows, and the rest folded.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{Cell, Column, Table, grouped, markdown};

use super::amounts::{signed, signed_percent};
use super::notes::{self, remarks};
use super::text::{cause_text, smaller};
use super::wording::MAX_RENAMED_NAME;
use super::{Diff, DiffHead, safe};
use crate::names::{DOCUMENT_COLUMNS, WHOLE_COLUMNS};

/// The count of rows that are not folded.
const OPEN_ROWS: usize = 10;
/// The columns of a name in a sentence.
const MAX_NAME_IN_SENTENCES: usize = 60;

/// Writes the report.
pub(super) fn write(diff: &Diff, out: &mut dyn Write) -> io::Result<()> {
    diff.head.write_markdown(out)?;
    diff.write_markdown_causes(out)?;
    writeln!(out, "{}\n", markdown::escaped(&diff.summary()))?;
    diff.write_markdown_rows(out)?;
    diff.write_markdown_details(out)
}

impl DiffHead {
    /// Writes the totals and the warnings.
    pub(super) fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        for (event, column) in self.events.iter().enumerate() {
            let (total, name) = (*self.totals[event], markdown::escaped(&safe(&column.name)));
            let amounts = [total.base.median, total.new.median].map(|cost| column.unit.show(cost));
            if total.is_none() {
                writeln!(out, "**{name} unchanged**: {}\n", amounts[1])?;
                continue;
            }
            let share = signed_percent(total.delta(), total.base.median);
            let noise = if total.is_noise() { " (noise: within the spread of the runs)" } else { "" };
            let delta = signed(total.delta(), column.unit);
            writeln!(out, "**{name} {share}%**{noise}: {} → {}, {delta}\n", amounts[0], amounts[1])?;
        }
        if let Some(unshown) = &self.unshown {
            writeln!(out, "{}\n", markdown::escaped(unshown))?;
        }
        for warning in self.warnings() {
            writeln!(out, "> ⚠ {}\n", markdown::escaped(warning))?;
        }
        Ok(())
    }
}

impl Diff {
    fn write_markdown_causes(&self, out: &mut dyn Write) -> io::Result<()> {
        let (event, whole) = (&self.head.events[0], self.head.totals[0].base.median);
        let [short, full] =
            [MAX_NAME_IN_SENTENCES, WHOLE_COLUMNS].map(|columns| self.sentence_names(columns));
        let steps = self.path_steps(&short);
        if !steps.is_empty() {
            writeln!(out, "Path of the greatest change (% of the change):\n")?;
            for (step, whole) in steps.into_iter().zip(self.path_steps(&full)) {
                let change = signed(step.change, event.unit);
                writeln!(out, "- `{change}` ({}%) {}", step.share, shortened(&step.text, &whole.text))?;
            }
            writeln!(out)?;
        }
        let lines = self
            .causes
            .iter()
            .map(|cause| (cause.effect, shortened(&cause_text(cause, &short), &cause_text(cause, &full))));
        let hidden = smaller(self.other_causes).map(|(effect, text)| (effect, markdown::escaped(&text)));
        let lines: Vec<(Cost, String)> = lines.chain(hidden).collect();
        if !lines.is_empty() {
            let name = markdown::escaped(&safe(&event.name));
            writeln!(out, "Causes of the change of {name}, which add up to it (% of the base):\n")?;
        }
        for (effect, text) in &lines {
            let share = signed_percent(*effect, whole);
            writeln!(out, "- `{}` ({share}%) {text}", signed(*effect, event.unit))?;
        }
        if !lines.is_empty() {
            writeln!(out)?;
        }
        Ok(())
    }

    fn write_markdown_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        let Table { columns, mut rows } = self.table();
        if rows.is_empty() {
            return Ok(());
        }
        let [names, wholes] = [DOCUMENT_COLUMNS, WHOLE_COLUMNS].map(|columns| self.names(columns));
        let with_remarks = |nth: usize, mut cells: Vec<Cell>| {
            let row = self.rows.get(nth);
            if let (Some(name), Some(cell)) = (names.get(nth), cells.last_mut()) {
                *cell = Cell::shortened(name, &wholes[nth]);
            }
            cells.push(Cell::new(
                row.map_or(String::new(), |row| remarks(&self.head, row, MAX_RENAMED_NAME).join("; ")),
            ));
            cells
        };
        let mut columns = columns;
        columns.push(Column::text("Remarks"));
        rows = rows.into_iter().enumerate().map(|(nth, cells)| with_remarks(nth, cells)).collect();
        // The rows of what is not shown come last.
        let folded = if self.rows.len() > OPEN_ROWS { rows.split_off(OPEN_ROWS) } else { Vec::new() };
        Table { columns: columns.clone(), rows }.write_markdown(out)?;
        if !folded.is_empty() {
            writeln!(out, "\n<details><summary>{} more</summary>\n", grouped(folded.len()))?;
            Table { columns, rows: folded }.write_markdown(out)?;
            writeln!(out, "\n</details>")?;
        }
        Ok(())
    }

    fn write_markdown_details(&self, out: &mut dyn Write) -> io::Result<()> {
        let renames: Vec<String> = self.renames.iter().map(|rename| rename.text(MAX_RENAMED_NAME)).collect();
        for (what, lines) in [("Perhaps renamed", renames), ("Joined", notes::joins(&self.head))] {
            if lines.is_empty() {
                continue;
            }
            writeln!(out, "\n<details><summary>{what}</summary>\n")?;
            for line in lines {
                writeln!(out, "- {}", markdown::escaped(&line))?;
            }
            writeln!(out, "\n</details>")?;
        }
        writeln!(out, "\n<sub>{}</sub>", markdown::escaped(&self.head.title()))
    }
}

/// Returns a sentence with short names, and with whole names beside the pointer.
fn shortened(short: &str, whole: &str) -> String {
    if short == whole { markdown::escaped(short) } else { markdown::titled(short, whole) }
}
