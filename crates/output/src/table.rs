//! Tables, written as aligned text, CSV or Markdown.

use std::fmt;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use crate::look::{Look, Painter, Tone};
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
    /// `true` for a piece of a program, which documents set apart.
    pub is_code: bool,
    /// The colour of the text on a terminal.
    pub tone: Tone,
}

impl Cell {
    /// A cell with the same text for everyone.
    pub fn new(text: impl Into<String>) -> Self {
        Cell { shown: text.into(), exact: None, whole: None, is_code: false, tone: Tone::Plain }
    }

    /// A cell with a number: exact for programs, easy to read for people.
    pub fn number(exact: impl ToString, shown: impl Into<String>) -> Self {
        Cell { exact: Some(exact.to_string()), ..Cell::new(shown) }
    }

    /// A cell with a text that may have been shortened.
    pub fn shortened(shown: impl Into<String>, whole: impl Into<String>) -> Self {
        let (shown, whole) = (shown.into(), whole.into());
        Cell { whole: (whole != shown).then_some(whole), ..Cell::new(shown) }
    }

    /// The same cell in the colour of a tone.
    pub fn toned(self, tone: Tone) -> Self {
        Cell { tone, ..self }
    }

    /// A cell with a piece of a program.
    pub fn code(text: impl Into<String>) -> Self {
        Cell { is_code: true, ..Cell::new(text) }
    }

    fn markdown(&self) -> String {
        match &self.whole {
            _ if self.is_code => markdown::code_in_table(&self.shown),
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
        write_text(&self.columns, || self.rows.iter(), look, out)
    }

    /// Returns the width of all columns but the last, with the gaps.
    pub fn width_before_last(&self) -> usize {
        width_before_last(&widths(&self.columns, self.rows.iter()))
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
        write_markdown(&self.columns, self.rows.iter(), out)
    }
}

/// The columns of a table with their widths, for rows that are made one by one: first to measure them, then to write them.
///
/// ```
/// use gristmill_output::{Aligned, Cell, Column, Look};
///
/// let row = |line: u32| vec![Cell::new(line.to_string()), Cell::new("")];
/// let columns = vec![Column::number("Line"), Column::text("Text")];
/// let aligned = Aligned::new(columns, (8..=10).map(row));
/// assert_eq!(aligned.width_before_last(), 6);
/// let (look, mut out) = (Look::plain(80), Vec::new());
/// aligned.write_titles(&look, &mut out)?;
/// aligned.write_row_ending(&row(8), "a text of any length", &look, &mut out)?;
/// assert_eq!(String::from_utf8_lossy(&out), "Line  Text\n   8  a text of any length\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Aligned {
    columns: Vec<Column>,
    widths: Vec<usize>,
}

impl Aligned {
    /// Measures rows.
    pub fn new(columns: Vec<Column>, rows: impl Iterator<Item: AsRef<[Cell]>>) -> Self {
        let widths = widths(&columns, rows);
        Aligned { columns, widths }
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the width of all columns but the last, with the gaps.
    pub fn width_before_last(&self) -> usize {
        width_before_last(&self.widths)
    }

    /// Writes the titles of the columns.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_titles(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        write_titles(&self.columns, &self.widths, look, out)
    }

    /// Writes one of the rows that were measured.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_row(&self, row: &[Cell], look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let cells = row.iter().map(|cell| (cell.shown.as_str(), cell.tone));
        writeln!(out, "{}", line(&self.columns, cells, &self.widths, look.painter()))
    }

    /// Writes one of the rows with another text in its last column.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_row_ending(
        &self,
        row: &[Cell],
        end: &str,
        look: &Look,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let before = row.iter().take(self.columns.len().saturating_sub(1));
        let cells = before.map(|cell| (cell.shown.as_str(), cell.tone)).chain([(end, Tone::Plain)]);
        writeln!(out, "{}", line(&self.columns, cells, &self.widths, look.painter()))
    }
}

/// A table whose rows are made whenever they are written, so that one row is in memory at a time.
///
/// ```
/// use gristmill_output::{Cell, Column, LazyTable, Look};
///
/// let rows = || -> Box<dyn Iterator<Item = Vec<Cell>>> { Box::new((8..=10).map(|line| vec![Cell::new(line.to_string())])) };
/// let table = LazyTable { columns: vec![Column::number("Line")], rows: Box::new(rows) };
/// let mut out = Vec::new();
/// table.write_text(&Look::plain(80), &mut out)?;
/// assert_eq!(String::from_utf8_lossy(&out), "Line\n   8\n   9\n  10\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct LazyTable<'r> {
    /// The columns.
    pub columns: Vec<Column>,
    /// Makes the rows, the same ones each time, each with a cell for each column.
    pub rows: Box<dyn Fn() -> Box<dyn Iterator<Item = Vec<Cell>> + 'r> + 'r>,
}

impl fmt::Debug for LazyTable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyTable").field("columns", &self.columns).finish_non_exhaustive()
    }
}

impl LazyTable<'_> {
    /// Writes aligned text, as [`Table::write_text`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        write_text(&self.columns, &self.rows, look, out)
    }

    /// Writes a table in Markdown.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        write_markdown(&self.columns, (self.rows)(), out)
    }
}

/// Writes rows as aligned text. They are made twice: first to measure the columns.
fn write_text<I: Iterator<Item: AsRef<[Cell]>>>(
    columns: &[Column],
    rows: impl Fn() -> I,
    look: &Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let widths = widths(columns, rows());
    let painter = look.painter();
    write_titles(columns, &widths, look, out)?;
    for row in rows() {
        let cells = row.as_ref().iter().map(|cell| (cell.shown.as_str(), cell.tone));
        writeln!(out, "{}", line(columns, cells, &widths, painter))?;
    }
    Ok(())
}

fn write_titles(columns: &[Column], widths: &[usize], look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let titles = columns.iter().map(|column| (column.title.as_str(), Tone::Plain));
    writeln!(out, "{}", look.dim(&line(columns, titles, widths, look.painter())))
}

fn width_before_last(widths: &[usize]) -> usize {
    widths.split_last().map_or(0, |(_, before)| before.iter().map(|width| width + GAP.len()).sum())
}

fn widths(columns: &[Column], rows: impl Iterator<Item: AsRef<[Cell]>>) -> Vec<usize> {
    let mut widths: Vec<usize> = columns.iter().map(|column| column.title.width()).collect();
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row.as_ref()) {
            *width = (*width).max(cell.shown.width());
        }
    }
    widths
}

fn line<'c>(
    columns: &[Column],
    cells: impl Iterator<Item = (&'c str, Tone)>,
    widths: &[usize],
    painter: Painter,
) -> String {
    let mut line = String::new();
    for (nth, (((cell, tone), column), &width)) in cells.zip(columns).zip(widths).enumerate() {
        if nth > 0 {
            line.push_str(GAP);
        }
        let is_filled = column.align == Align::Right || nth + 1 < columns.len();
        // The last text may be long.
        let fill = if is_filled { " ".repeat(width.saturating_sub(cell.width())) } else { String::new() };
        let painted = (tone != Tone::Plain && painter.is_on() && !cell.is_empty())
            .then(|| painter.toned(tone, cell).to_string());
        let cell = painted.as_deref().unwrap_or(cell);
        match column.align {
            Align::Right => line.extend([fill.as_str(), cell]),
            Align::Left => line.extend([cell, fill.as_str()]),
        }
    }
    line.truncate(line.trim_end().len());
    line
}

fn write_markdown(
    columns: &[Column],
    rows: impl Iterator<Item: AsRef<[Cell]>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let titles: Vec<String> = columns.iter().map(|column| markdown::escaped(&column.title)).collect();
    writeln!(out, "| {} |", titles.join(" | "))?;
    let rules = columns.iter().map(|column| match column.align {
        Align::Left => "---",
        Align::Right => "---:",
    });
    writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
    for row in rows {
        let cells: Vec<String> = row.as_ref().iter().map(Cell::markdown).collect();
        writeln!(out, "| {} |", cells.join(" | "))?;
    }
    Ok(())
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
    fn ends_that_are_made_row_by_row_read_the_same() {
        let mut numbers = table();
        let ends: Vec<String> =
            numbers.rows.iter_mut().map(|row| std::mem::take(&mut row[1].shown)).collect();
        let text = |has_color| {
            let look = Look { has_color, ..Look::plain(80) };
            let (mut made, mut whole) = (Vec::new(), Vec::new());
            let aligned = Aligned::new(numbers.columns.clone(), numbers.rows.iter());
            aligned.write_titles(&look, &mut made).unwrap();
            for (row, end) in numbers.rows.iter().zip(&ends) {
                aligned.write_row_ending(row, end, &look, &mut made).unwrap();
            }
            table().write_text(&look, &mut whole).unwrap();
            (String::from_utf8(made).unwrap(), String::from_utf8(whole).unwrap())
        };
        for has_color in [false, true] {
            let (made, whole) = text(has_color);
            assert_eq!(made, whole);
        }
    }

    #[test]
    fn tones_take_no_columns() {
        let mut table = table();
        table.rows[1][0] = Cell::new("-5").toned(Tone::Less);
        table.rows[0][0] = Cell::new("+1,234").toned(Tone::More);
        let text = |has_color| {
            let mut out = Vec::new();
            table.write_text(&Look { has_color, ..Look::plain(80) }, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(false), "  Self  Function\n+1,234  a|b\n    -5  f(int, \"x\")\n");
        let painted = "\x1b[31m+1,234\x1b[0m  a|b\n    \x1b[32m-5\x1b[0m  f(int, \"x\")\n";
        assert!(text(true).ends_with(painted), "{:?}", text(true));
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
