//! Texts and tables that fit into lines.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_output::{Align, Painter};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Blanks before every line of a table.
pub(super) const INDENT: usize = 2;

/// Lines of a long text; a command line may be as long as a file.
const MAX_LINES: usize = 3;

/// Cuts a text to a number of columns.
pub(super) fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut used = 1;
    let mut kept = String::new();
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(character);
    }
    kept.push('…');
    Cow::Owned(kept)
}

/// Breaks a text into a few lines of at most `width` columns, at blanks if possible, and cuts the rest.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(10);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let mut rest = word;
        let begins_line = lines.last().is_some_and(String::is_empty);
        if !begins_line {
            if used + 1 + word.width() <= width {
                push(&mut lines, " ");
                used += 1;
            } else {
                lines.push(String::new());
                used = 0;
            }
        }
        // A word that is too long for a line is broken anywhere.
        while rest.width() > width {
            let mut end = 0;
            let mut columns = 0;
            for (index, character) in rest.char_indices() {
                columns += character.width().unwrap_or(0);
                if columns > width {
                    break;
                }
                end = index + character.len_utf8();
            }
            push(&mut lines, &rest[..end]);
            lines.push(String::new());
            rest = &rest[end..];
            if lines.len() > MAX_LINES {
                break;
            }
        }
        push(&mut lines, rest);
        used += rest.width();
        if lines.len() > MAX_LINES {
            break;
        }
    }
    if lines.len() > MAX_LINES {
        lines.truncate(MAX_LINES);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), width).into_owned();
        }
    }
    lines
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

/// A table whose columns of text give way where the lines are too narrow.
#[derive(Default)]
pub(super) struct Table {
    pub(super) columns: Vec<Column>,
}

/// A column with its cells.
pub(super) struct Column {
    pub(super) title: String,
    /// The cells; those missing at the end are empty.
    pub(super) cells: Vec<String>,
    pub(super) align: Align,
}

impl Column {
    pub(super) fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).max().unwrap_or(0).max(self.title.width())
    }
}

/// Blanks between two columns.
pub(super) const GAP: usize = 2;

impl Table {
    /// Returns the widths of the columns. Numbers get what they need; texts share the rest, the widest are cut first.
    fn widths(&self, width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(Column::width).collect();
        let available = width.saturating_sub(INDENT + GAP * self.columns.len().saturating_sub(1));
        loop {
            let used: usize = widths.iter().sum();
            let texts = self
                .columns
                .iter()
                .zip(&widths)
                .enumerate()
                .filter(|(_, (column, _))| column.align == Align::Left);
            let Some((widest, &columns)) =
                texts.map(|(index, (_, width))| (index, width)).max_by_key(|(_, width)| **width)
            else {
                return widths;
            };
            if used <= available || columns <= 8 {
                return widths;
            }
            widths[widest] =
                columns.saturating_sub(used - available).max(8).max(self.second(widest, &widths));
            if widths[widest] == columns {
                widths[widest] -= 1;
            }
        }
    }

    /// Returns the width of the second widest column of text: no text is cut further while another is wider.
    fn second(&self, widest: usize, widths: &[usize]) -> usize {
        let texts = self.columns.iter().zip(widths).enumerate();
        texts
            .filter(|(index, (column, _))| *index != widest && column.align == Align::Left)
            .map(|(_, (_, &width))| width)
            .max()
            .unwrap_or(0)
    }

    /// Writes the table.
    pub(super) fn write(&self, width: usize, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths(width);
        let rows = self.columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
        let titles = self.columns.iter().map(|column| column.title.as_str());
        writeln!(out, "{:INDENT$}{}", "", paint.dim(self.row(titles, &widths)))?;
        for row in 0..rows {
            let cells = self.columns.iter().map(|column| column.cells.get(row).map_or("", String::as_str));
            writeln!(out, "{:INDENT$}{}", "", self.row(cells, &widths))?;
        }
        Ok(())
    }

    fn row<'t>(&self, cells: impl Iterator<Item = &'t str>, widths: &[usize]) -> String {
        let mut row = String::new();
        for ((cell, column), &width) in cells.zip(&self.columns).zip(widths) {
            if !row.is_empty() {
                row.push_str("  ");
            }
            let cell = cut(cell, width);
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            match column.align {
                Align::Left => row.extend([&*cell, &blanks]),
                Align::Right => row.extend([&*blanks, &*cell]),
            }
        }
        row.truncate(row.trim_end().len());
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_broken_and_cut() {
        assert_eq!(wrapped("a b c", 80), ["a b c"]);
        assert_eq!(wrapped("one two three four", 10), ["one two", "three four"]);
        assert_eq!(wrapped("abcdefghijklmnop q", 10), ["abcdefghij", "klmnop q"]);
        assert_eq!(wrapped(&"x".repeat(100), 10), ["xxxxxxxxxx", "xxxxxxxxxx", "xxxxxxxxx…"]);
        assert_eq!(wrapped("one two three four five six seven", 10), ["one two", "three four", "five six …"]);
    }

    #[test]
    fn texts_are_cut_at_columns() {
        assert_eq!(cut("main", 4), "main");
        assert_eq!(cut("mains", 4), "mai…");
        assert_eq!(cut("日本語", 5), "日本…");
    }
}
