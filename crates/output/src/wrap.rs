//! Text in lines that fit a number of columns.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::log_command::without_commands;
use crate::look::Look;

/// Returns the columns that a text takes on a terminal.
///
/// ```
/// assert_eq!(gristmill_output::wrap::columns("日本"), 4);
/// ```
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Breaks a text at its spaces into lines of at most `width` columns. A longer word gets a line of its own.
///
/// ```
/// assert_eq!(gristmill_output::wrap::wrap("one two  three four", 9), ["one two", "three", "four"]);
/// ```
pub fn wrap(text: &str, width: usize) -> Vec<&str> {
    lines(text, width, width)
}

/// Writes `first` and then the text, broken into lines of at most `width` columns; all lines but the first begin with
/// `indent` blanks.
///
/// ```
/// assert_eq!(gristmill_output::wrap::hang("help: ", "one two three", 6, 14), "help: one two\n      three");
/// ```
pub fn hang(first: &str, text: &str, indent: usize, width: usize) -> String {
    let mut shown = String::with_capacity(first.len() + text.len() + 16);
    shown.push_str(first);
    let lines = lines(text, width.saturating_sub(columns(first)), width.saturating_sub(indent));
    for (nth, line) in lines.into_iter().enumerate() {
        if nth > 0 {
            shown.push('\n');
            shown.push_str(&" ".repeat(indent));
        }
        // What a service takes for a command at the start of a line may have been in the middle of the text.
        shown.push_str(&without_commands(Cow::Borrowed(line)));
    }
    shown
}

/// Writes a text in lines of at most `width` columns. The first line keeps the blanks that it begins with, all others
/// begin with `indent` blanks.
///
/// # Errors
///
/// Those of the output.
pub fn write(out: &mut dyn Write, text: &str, width: usize, indent: usize) -> io::Result<()> {
    writeln!(out, "{}", wrapped(text, width, indent))
}

/// Does the same as [`write()`], for text that matters less.
///
/// # Errors
///
/// Those of the output.
pub fn write_dim(out: &mut dyn Write, text: &str, look: &Look, indent: usize) -> io::Result<()> {
    let text = wrapped(text, look.width, indent);
    text.split('\n').try_for_each(|line| writeln!(out, "{}", look.dim(line)))
}

fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let (blanks, text) = text.split_at(text.len() - text.trim_start().len());
    hang(blanks, text, indent.min(width / 2), width)
}

/// The lines of a text. The first one has its own width.
fn lines(text: &str, first_width: usize, width: usize) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text.trim_matches(' ');
    while !rest.is_empty() {
        let width = if lines.is_empty() { first_width } else { width };
        let (mut end, mut used) = (0, 0);
        // A line can end before each space, and at the end of the text.
        for stop in rest.match_indices(' ').map(|(at, _)| at).chain([rest.len()]) {
            used += columns(&rest[end..stop]);
            if end > 0 && used > width {
                break;
            }
            end = stop;
        }
        lines.push(rest[..end].trim_end_matches(' '));
        rest = rest[end..].trim_start_matches(' ');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit() {
        assert_eq!(wrap("one two  three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrap("a verylongword b", 5), ["a", "verylongword", "b"]);
        assert_eq!(wrap("日本 日本", 5), ["日本", "日本"]);
        assert!(wrap("  ", 5).is_empty());
    }

    #[test]
    fn first_line_hangs_out() {
        assert_eq!(hang("help: ", "one two three", 6, 14), "help: one two\n      three");
        assert_eq!(hang("a:1:1: ", "one two three", 2, 12), "a:1:1: one\n  two three");
        assert_eq!(hang("averylongname: ", "one two", 2, 12), "averylongname: one\n  two");
        assert_eq!(hang("a", "", 2, 12), "a");
    }

    #[test]
    fn no_line_begins_with_a_command() {
        assert_eq!(hang("", "padding ::error file=a::b", 2, 12), "padding\n  \\x3a:error\n  file=a::b");
        assert_eq!(hang("", "padding ::errors::new", 2, 12), "padding\n  ::errors::new");
    }
}
