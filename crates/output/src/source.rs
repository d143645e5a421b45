//! Where source text comes from. Nothing here opens a file; the program does.

mod highlight;
mod paint;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

pub use self::highlight::{Class, Highlighter, Span};
pub use self::paint::SourcePainter;

/// Finds the source files that a profile names.
pub trait Sources {
    /// The text of a file, by its path as the profile has it.
    ///
    /// # Errors
    ///
    /// When there is none, or when it cannot be told which one is meant.
    fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError>;
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceText {
    /// Where it was found.
    pub found_at: String,
    /// What is in it.
    pub text: Vec<u8>,
    /// When it was changed, if that is known.
    pub changed: Option<SystemTime>,
    /// It was changed after the profile was written, so its lines may be others.
    pub is_newer: bool,
}

impl SourceText {
    /// Its lines, without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        lines_of(&self.text)
    }

    /// How many lines it has.
    pub fn line_count(&self) -> u64 {
        let ends = self.text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        ends + u64::from(self.text.last().is_some_and(|&last| last != b'\n'))
    }
}

/// The lines of a text, without their ends.
pub fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    // An empty file has no lines, while an empty piece is one.
    let whole = text.strip_suffix(b"\n").or((!text.is_empty()).then_some(text));
    let lines = whole.into_iter().flat_map(|text| text.split(|&byte| byte == b'\n'));
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// A line without its end.
pub fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Why there is no text of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceError {
    /// It is nowhere.
    Missing,
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
    /// These files end in the same way, and nothing tells which of them is meant.
    Ambiguous(Vec<String>),
    /// It is nowhere; only the names of these files are the same, not where they stand.
    NamedAlike(Vec<String>),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceError::Missing => f.write_str("not found"),
            SourceError::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            SourceError::Ambiguous(found) => write!(f, "may be any of {}", found.join(", ")),
            SourceError::NamedAlike(found) => {
                write!(f, "not found; of the same name only: {}", found.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_source() {
        for (text, lines) in [
            ("", &[][..]),
            ("a", &["a"]),
            ("a\n", &["a"]),
            ("\n", &[""]),
            ("a\r\n\nb", &["a", "", "b"]),
            ("a\n\n", &["a", ""]),
        ] {
            let source = SourceText { text: text.into(), ..SourceText::default() };
            assert_eq!(source.lines().map(String::from_utf8_lossy).collect::<Vec<_>>(), lines, "{text:?}");
            assert_eq!(source.line_count(), lines.len() as u64, "{text:?}");
        }
    }
}
