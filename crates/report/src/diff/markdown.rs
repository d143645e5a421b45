//! The report for a comment on a pull request: the verdict first, ten rows, the rest folded away.

use std::io::{self, Write};

use super::notes::{self, remarks, signed, signed_percent};
use super::text::{count, named};
use super::{Diff, safe, sentence};
use crate::table::{Cell, Column, Table, escaped};

/// So many rows stand open.
const OPEN: usize = 10;
/// Hosts refuse comments of more than some ten thousand characters, and templates have long names.
const NAME: usize = 100;
/// So many causes stand open.
const CAUSES: usize = 5;

impl Diff<'_, '_> {
    /// Writes Markdown, as hosts of pull requests show it.
    ///
    /// # Errors
    ///
    /// Those of the place it is written to.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        for (event, column) in self.events.iter().enumerate() {
            let (total, name) = (self.total(event), escaped(&safe(&column.name)));
            let amounts = [total.base.median, total.new.median].map(|cost| column.unit.show(cost));
            if total.is_none() {
                writeln!(out, "**{name} unchanged**: {}\n", amounts[1])?;
                continue;
            }
            let share = signed_percent(total.delta(), total.base.median);
            let noise = if total.is_noise() { " (noise: within the spread of the runs)" } else { "" };
            let delta = signed(total.delta(), column.unit);
            writeln!(out, "**{name} {share} %**{noise}: {} → {}, {delta}\n", amounts[0], amounts[1])?;
        }
        for unlike in &self.environment {
            writeln!(out, "> ⚠ {}\n", escaped(&notes::warning(unlike)))?;
        }
        let column = self.columns.first().copied().unwrap_or(0);
        if let Some(event) = self.events.first() {
            let whole = self.total(0).base.median;
            let line = |effect, text: &str| {
                format!(
                    "- `{}` ({} %) {}",
                    signed(effect, event.unit),
                    signed_percent(effect, whole),
                    escaped(text)
                )
            };
            for cause in self.causes.iter().take(CAUSES) {
                let noise = if cause.is_noise { " (noise)" } else { "" };
                let text = format!("{}{noise}", sentence(self.comparison, cause, column, 60));
                writeln!(out, "{}", line(cause.effect, &text))?;
            }
            let hidden = self.causes.len().saturating_sub(CAUSES) + self.other_causes.0;
            if hidden > 0 {
                let effect = self.causes.iter().skip(CAUSES).map(|cause| cause.effect).sum::<i128>();
                let text = format!("{} smaller causes", count(hidden));
                writeln!(out, "{}", line(effect + self.other_causes.1, &text))?;
            }
            if !self.causes.is_empty() || hidden > 0 {
                writeln!(out)?;
            }
        }
        writeln!(out, "{}\n", escaped(&self.summary()))?;
        self.write_markdown_rows(out)?;
        self.write_markdown_details(out)
    }

    fn write_markdown_rows(&self, out: &mut dyn Write) -> io::Result<()> {
        let Table { columns, mut rows } = self.table();
        if rows.is_empty() {
            return Ok(());
        }
        let with_remarks = |nth: usize, mut cells: Vec<Cell>| {
            let row = self.rows.get(nth);
            if let (Some(row), Some(name)) = (row, cells.last_mut()) {
                *name = Cell::new(named(row, NAME));
            }
            cells.push(Cell::new(row.map_or(String::new(), |row| remarks(self, row).join("; "))));
            cells
        };
        let mut columns = columns;
        columns.push(Column::text("Remarks"));
        rows = rows.into_iter().enumerate().map(|(nth, cells)| with_remarks(nth, cells)).collect();
        // What is left over belongs to the open rows only if all are open.
        let folded = if self.rows.len() > OPEN { rows.split_off(OPEN) } else { Vec::new() };
        Table { columns: columns.clone(), rows }.write_markdown(out)?;
        if !folded.is_empty() {
            writeln!(out, "\n<details><summary>{} more</summary>\n", count(folded.len()))?;
            Table { columns, rows: folded }.write_markdown(out)?;
            writeln!(out, "\n</details>")?;
        }
        Ok(())
    }

    fn write_markdown_details(&self, out: &mut dyn Write) -> io::Result<()> {
        for (what, lines) in [("Renamed", notes::renames(self)), ("Joined", notes::joins(self))] {
            if lines.is_empty() {
                continue;
            }
            writeln!(out, "\n<details><summary>{what}</summary>\n")?;
            for line in lines {
                writeln!(out, "- {}", escaped(&line))?;
            }
            writeln!(out, "\n</details>")?;
        }
        writeln!(out, "\n<sub>{}</sub>", escaped(&self.title()))
    }
}
