//! A table of cells, and how it is printed: aligned text, CSV, Markdown.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

/// On which side a column is flush.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Numbers.
    Right,
}

/// A column of a table.
#[derive(Debug, Clone)]
pub struct Column {
    /// What stands above it.
    pub title: String,
    /// On which side it is flush.
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

/// What stands in a place of a table: for people, and for programs where that is not the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// For people.
    pub shown: String,
    /// For programs, if it differs.
    pub exact: Option<String>,
}

impl Cell {
    /// A cell that says the same to everyone.
    pub fn new(text: impl Into<String>) -> Self {
        Cell { shown: text.into(), exact: None }
    }

    /// A number, shown in a way that is good to read.
    pub fn number(exact: impl ToString, shown: impl Into<String>) -> Self {
        Cell { shown: shown.into(), exact: Some(exact.to_string()) }
    }

    fn exact(&self) -> &str {
        self.exact.as_deref().unwrap_or(&self.shown)
    }
}

/// How text looks: how wide it may be, and what is done to parts of it.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    /// Columns that a line may fill.
    pub width: usize,
    /// Whether a person watches: bars, and titles set apart.
    pub terminal: bool,
    /// Whether to use colours.
    pub color: bool,
}

impl Look {
    /// Text that matters less.
    pub fn dim(&self, text: &str) -> String {
        if self.color { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// Text that matters more.
    pub fn bold(&self, text: &str) -> String {
        if self.color { format!("\x1b[1m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Rows of cells under titles.
#[derive(Debug, Clone)]
pub struct Table {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for each column.
    pub rows: Vec<Vec<Cell>>,
}

const GAP: &str = "  ";

impl Table {
    /// Writes aligned text. The last column is given as it is and not filled up.
    ///
    /// # Errors
    ///
    /// Those of the place it is written to.
    pub fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths();
        let titles = self.columns.iter().map(|column| column.title.as_str());
        writeln!(out, "{}", look.dim(&self.line(titles, &widths)))?;
        for row in &self.rows {
            writeln!(out, "{}", self.line(row.iter().map(|cell| cell.shown.as_str()), &widths))?;
        }
        Ok(())
    }

    /// How wide all columns but the last are together, with the gaps.
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
    /// Those of the place it is written to.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        write_csv_line(self.columns.iter().map(|column| column.title.as_str()), out)?;
        self.rows.iter().try_for_each(|row| write_csv_line(row.iter().map(Cell::exact), out))
    }

    /// Writes a table in Markdown.
    ///
    /// # Errors
    ///
    /// Those of the place it is written to.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let titles: Vec<String> = self.columns.iter().map(|column| escaped(&column.title)).collect();
        writeln!(out, "| {} |", titles.join(" | "))?;
        let rules = self.columns.iter().map(|column| match column.align {
            Align::Left => "---",
            Align::Right => "---:",
        });
        writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|cell| escaped(&cell.shown)).collect();
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }
}

/// Writes a line of comma-separated values, quoted where needed.
pub(crate) fn write_csv_line<'c>(
    cells: impl Iterator<Item = &'c str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let cells: Vec<Cow<'_, str>> = cells.map(quoted).collect();
    writeln!(out, "{}", cells.join(","))
}

fn quoted(cell: &str) -> Cow<'_, str> {
    if cell.contains(['"', ',', '\n', '\r']) {
        Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(cell)
    }
}

/// Writes lines that stay lines of their own, and in which nothing is a tag.
pub(crate) fn write_markdown_lines(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    lines.iter().try_for_each(|line| writeln!(out, "{}  ", without_tags(line)))
}

/// Text in which nothing is a tag.
pub(crate) fn without_tags(text: &str) -> String {
    text.replace('<', "\\<")
}

/// Text in which nothing is markup.
pub(crate) fn escaped(cell: &str) -> String {
    let mut escaped = String::with_capacity(cell.len());
    for character in cell.chars() {
        if matches!(character, '|' | '\\' | '`' | '*' | '_' | '<' | '>' | '[' | ']' | '~' | '&') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
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
        let look = Look { width: 80, terminal: false, color: false };
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
