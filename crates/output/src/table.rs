//! Tables, written as aligned text, CSV or Markdown.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use crate::look::Look;
use crate::{csv, markdown};

/// The side on which a column is flush. See the example of [the crate](crate).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Left, for text.
    Left,
    /// Right, for numbers.
    Right,
}

/// A column of a table. See the example of [the crate](crate).
#[derive(Debug, Clone)]
pub struct Column {
    /// Its title.
    pub title: String,
    /// The side on which it is flush.
    pub align: Align,
}

impl Column {
    /// A column of numbers.
    pub fn number(title: impl Into<String>) -> Self {
        Column { title: title.into(), align: Align::Right }
    }

    /// A column of text.
    pub fn text(title: impl Into<String>) -> Self {
        Column { title: title.into(), align: Align::Left }
    }
}

/// A cell of a table: text for people and, if that differs, for programs. See the example of [the crate](crate).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The text for people.
    pub shown: String,
    /// The text for programs, if it differs.
    pub exact: Option<String>,
    /// The whole text, if it was shortened: documents show it beside the pointer.
    pub whole: Option<String>,
}

impl Cell {
    /// A cell with the same text for everyone.
    pub fn new(text: impl Into<String>) -> Self {
        Cell { shown: text.into(), exact: None, whole: None }
    }

    /// A cell with a number: exact for programs, easy to read for people.
    pub fn number(exact: impl ToString, shown: impl Into<String>) -> Self {
        Cell { shown: shown.into(), exact: Some(exact.to_string()), whole: None }
    }

    /// A cell with a text that may have been shortened.
    pub fn shortened(shown: impl Into<String>, whole: impl Into<String>) -> Self {
        let (shown, whole) = (shown.into(), whole.into());
        Cell { whole: (whole != shown).then_some(whole), shown, exact: None }
    }

    fn markdown(&self) -> String {
        match &self.whole {
            Some(whole) => markdown::titled(&self.shown, whole),
            None => markdown::escaped(&self.shown),
        }
    }

    fn exact(&self) -> &str {
        self.exact.as_deref().unwrap_or(&self.shown)
    }
}

/// A table: rows of cells under titles. See the example of [the crate](crate).
#[derive(Debug, Clone)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

const GAP: &str = "  ";

impl Table {
    /// Writes aligned text. The last column is not filled up.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        let titles = self.columns.iter().map(|column| column.title.as_str());
        writeln!(out, "{}", look.dim(&self.line(titles, &widths)))?;
        for row in &self.rows {
            writeln!(out, "{}", self.line(row.iter().map(|cell| cell.shown.as_str()), &widths))?;
        }
        Ok(())
    }

    /// Returns the width of all columns but the last, with the gaps.
    pub fn width_before_last(&self) -> usize {
        let widths = self.widths();
        widths.split_last().map_or(0, |(_, before)| before.iter().map(|width| width + GAP.len()).sum())
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.title.width()).collect();
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.shown.width());
            }
        }
        widths
    }

    fn line<'c>(&self, cells: impl Iterator<Item = &'c str>, widths: &[usize]) -> String {
        let mut line = String::new();
        for (nth, ((cell, column), &width)) in cells.zip(&self.columns).zip(widths).enumerate() {
            if nth > 0 {
                line.push_str(GAP);
            }
            let fill = " ".repeat(width.saturating_sub(cell.width()));
            match column.align {
                Align::Right => line.extend([fill.as_str(), cell]),
                Align::Left => line.extend([cell, fill.as_str()]),
            }
        }
        line.truncate(line.trim_end().len());
        line
    }

    /// Writes comma-separated values with exact numbers, quoted where needed.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        csv::write_line(self.columns.iter().map(|column| column.title.as_str()), out)?;
        self.rows.iter().try_for_each(|row| csv::write_line(row.iter().map(Cell::exact), out))
    }

    /// Writes a table in Markdown.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let titles: Vec<String> =
            self.columns.iter().map(|column| markdown::escaped(&column.title)).collect();
        writeln!(out, "| {} |", titles.join(" | "))?;
        let rules = self.columns.iter().map(|column| match column.align {
            Align::Left => "---",
            Align::Right => "---:",
        });
        writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::markdown).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table {
            columns: vec![Column::number("Self"), Column::text("Function")],
            rows: vec![
                vec![Cell::number(1234, "1,234"), Cell::new("a|b")],
                vec![Cell::number(5, "5"), Cell::new("f(int, \"x\")")],
            ],
        }
    }

    fn printed(print: impl Fn(&Table, &mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        print(&table(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn text_is_aligned() {
        let look = Look::plain(80);
        let text = printed(|table, out| table.write_text(&look, out));
        assert_eq!(text, " Self  Function\n1,234  a|b\n    5  f(int, \"x\")\n");
    }

    #[test]
    fn values_are_exact_and_quoted() {
        let text = printed(|table, out| table.write_csv(out));
        assert_eq!(text, "Self,Function\n1234,a|b\n5,\"f(int, \"\"x\"\")\"\n");
    }

    #[test]
    fn markdown_is_escaped() {
        let text = printed(|table, out| table.write_markdown(out));
        assert_eq!(text, "| Self | Function |\n| ---: | --- |\n| 1,234 | a\\|b |\n| 5 | f(int, \"x\") |\n");
    }
}
