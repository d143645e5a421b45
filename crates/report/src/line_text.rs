//! The text of a source line.

use std::fmt;
use std::sync::Arc;

use gristmill_output::source::SourceText;
use gristmill_output::{lossy, printable};
use serde::{Serialize, Serializer};
use unicode_width::UnicodeWidthChar as _;

/// The most columns of a source line that people see. One of a generated file can be as long as the file.
const MAX_COLUMNS: usize = 400;

/// The bytes of a source line that are looked at for them. A character takes at most 4 bytes.
const MAX_BYTES: usize = 4 * MAX_COLUMNS;

/// The text of a source line, without its end. It shares the text of the file. See the example of [`Show::with_sources`](crate::Show::with_sources).
#[derive(Clone)]
pub struct LineText {
    source: Arc<SourceText>,
    /// The byte offsets of the line. A source file has at most 64 MiB, and there is one of these for each line.
    from: u32,
    to: u32,
}

impl LineText {
    /// The line at these byte offsets. `None` if it is too far from the start of the file.
    pub(crate) fn new(source: &Arc<SourceText>, from: usize, to: usize) -> Option<Self> {
        let (from, to) = (u32::try_from(from).ok()?, u32::try_from(to).ok()?);
        Some(LineText { source: Arc::clone(source), from, to })
    }

    /// Returns the line as the file has it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.source.text[self.from as usize..self.to as usize]
    }

    /// Returns the line without blanks around it, safe to show and cut to columns of a terminal.
    pub(crate) fn fitted(&self, columns: usize) -> String {
        let line = self.as_bytes().trim_ascii();
        let is_long = line.len() > MAX_BYTES;
        let mut end = line.len().min(MAX_BYTES);
        while is_long && end > 0 && line[end] & 0xc0 == 0x80 {
            end -= 1;
        }
        // A tab between two words would be an escape.
        let line: Vec<u8> = line[..end].iter().map(|&byte| if byte == b'\t' { b' ' } else { byte }).collect();
        let columns = columns.min(MAX_COLUMNS);
        let text = printable(&line);
        let mut width = 0;
        let mut fitting = 0;
        for (at, character) in text.char_indices() {
            width += character.width().unwrap_or(0);
            if width <= columns.saturating_sub(1) {
                fitting = at + character.len_utf8();
            }
        }
        if width <= columns && !is_long { text.into_owned() } else { format!("{}…", &text[..fitting]) }
    }
}

impl fmt::Debug for LineText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        lossy(self.as_bytes()).fmt(f)
    }
}

impl PartialEq for LineText {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for LineText {}

impl Serialize for LineText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&String::from_utf8_lossy(self.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(line: &[u8], columns: usize) -> String {
        let source = SourceText { text: line.to_vec(), ..SourceText::default() };
        LineText::new(&Arc::new(source), 0, line.len()).unwrap().fitted(columns)
    }

    #[test]
    fn lines_fit() {
        for (line, columns, shown) in [
            (&b"\t  x = 1;  "[..], 80, "x = 1;"),
            (b"x = 1;", 6, "x = 1;"),
            (b"x = 1;", 5, "x = …"),
            (b"a\tb\x1b[2J", 80, "a b\\x1b[2J"),
            ("ö\u{202e}日本語".as_bytes(), 80, "ö\\u{202e}日本語"),
            ("日本語".as_bytes(), 5, "日本…"),
            ("日本語".as_bytes(), 4, "日…"),
            (b"  ", 80, ""),
            (b"\xff", 80, "\\xff"),
            (b"##[error]x", 80, "\\x23#[error]x"),
        ] {
            assert_eq!(fitted(line, columns), shown, "{line:?}");
        }
    }

    /// A line is cut between characters, also where nothing of it has a width.
    #[test]
    fn long_lines_are_cut() {
        for character in ["x", "ö", "日", "🦀", "\u{301}"] {
            for before in 0..4 {
                let line = format!("{}{}", "a".repeat(before), character.repeat(10_000));
                let shown = fitted(line.as_bytes(), usize::MAX);
                let rest = shown.strip_prefix(&"a".repeat(before)).unwrap().strip_suffix('…').unwrap();
                assert!(shown.len() <= MAX_BYTES + 3, "{character}");
                assert!(rest.len() > 300 && rest.replace(character, "").is_empty(), "{character}: {rest}");
            }
        }
    }
}
