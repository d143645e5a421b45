//! Comma-separated values.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::printable;

/// Writes a line of comma-separated values, quoted where needed. Control characters become escapes. A text that a program for
/// spreadsheets would take for a formula, such as `-[View draw]`, gets an apostrophe before it.
///
/// # Errors
///
/// Those of the output.
///
/// ```
/// let mut out = Vec::new();
/// gristmill_output::csv::write_line(["f(int, char)", "12"].into_iter(), &mut out)?;
/// assert_eq!(out, b"\"f(int, char)\",12\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_line<'c>(cells: impl Iterator<Item = &'c str>, out: &mut dyn Write) -> io::Result<()> {
    for (nth, cell) in cells.enumerate() {
        if nth > 0 {
            out.write_all(b",")?;
        }
        match is_simple(cell.as_bytes()) {
            true => out.write_all(cell.as_bytes())?,
            false => out.write_all(quoted(cell).as_bytes())?,
        }
    }
    out.write_all(b"\n")
}

/// `true` for a cell that is written as it is. Nearly all are: it looks at each byte once.
fn is_simple(cell: &[u8]) -> bool {
    let is_plain = |byte: u8| {
        matches!(byte, b' '..=b'~') & (byte != b'"') & (byte != b',') & (byte != b'#') & (byte != b';')
    };
    !matches!(cell.first(), Some(b'=' | b'@' | b'+' | b'-' | b':' | b' '))
        && cell.iter().fold(true, |is_simple, &byte| is_simple & is_plain(byte))
}

fn quoted(cell: &str) -> Cow<'_, str> {
    let mut shown = printable(cell.as_bytes());
    // Where a decimal is written with a comma, programs begin a new cell at a semicolon.
    for (begin, text) in [(";=", ";'="), (";+", ";'+"), (";-", ";'-"), (";@", ";'@")] {
        if shown.contains(begin) {
            shown = Cow::Owned(shown.replace(begin, text));
        }
    }
    let apostrophe = if is_formula(cell) { "'" } else { "" };
    if shown.contains(['"', ',']) {
        Cow::Owned(format!("\"{apostrophe}{}\"", shown.replace('"', "\"\"")))
    } else if apostrophe.is_empty() {
        shown
    } else {
        Cow::Owned(format!("{apostrophe}{shown}"))
    }
}

/// Returns `true` for a cell that begins as a formula does, and is no number.
fn is_formula(cell: &str) -> bool {
    let mut characters = cell.chars();
    match characters.next() {
        Some('=' | '@' | '\t' | '\r' | '＝' | '＋' | '－' | '＠') => true,
        Some('+' | '-') => {
            let is_number = |it: char| it.is_ascii_digit() || matches!(it, '.' | ',' | '%');
            !cell[1..].starts_with(is_number) || !characters.all(is_number)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text() {
        for (cell, written) in [
            ("main", "main"),
            ("-12", "-12"),
            ("+1.5%", "+1.5%"),
            ("", ""),
            ("-", "'-"),
            ("-2+3", "'-2+3"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("=HYPERLINK(\"http://x\",1)", "\"'=HYPERLINK(\"\"http://x\"\",1)\""),
            ("@SUM(1)", "'@SUM(1)"),
            ("-[View draw]", "'-[View draw]"),
            ("\t=1", "'\\t=1"),
            ("::error::a", "\\x3a:error::a"),
            ("f##[error]", "f\\x23#[error]"),
            ("f#1", "f#1"),
            ("a,b", "\"a,b\""),
            ("a;b", "a;b"),
            ("a;=b;-1", "a;'=b;'-1"),
            ("größe \"x\"", "\"größe \"\"x\"\"\""),
            ("a\x1b\n\u{202e}b", "a\\x1b\\n\\u{202e}b"),
        ] {
            assert_eq!(quoted(cell), written);
            let mut line = Vec::new();
            write_line([cell, "1"].into_iter(), &mut line).unwrap();
            assert_eq!(String::from_utf8(line).unwrap(), format!("{written},1\n"));
        }
    }
}
