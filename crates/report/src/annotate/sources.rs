//! Where source text comes from. Nothing here opens a file; the program does.

use std::fmt;
use std::rc::Rc;

/// Finds the source files that a profile names.
pub trait Sources {
    /// The text of a file, by its path as the profile has it.
    ///
    /// # Errors
    ///
    /// When there is none, or when it cannot be told which one is meant.
    fn get(&self, path: &[u8]) -> Result<Rc<Source>, SourceFault>;
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it was found.
    pub found_at: String,
    /// What is in it.
    pub text: Vec<u8>,
    /// It was changed after the profile was written, so its lines may be others.
    pub is_newer: bool,
}

impl Source {
    /// Its lines, without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let text = self.text.strip_suffix(b"\n").unwrap_or(&self.text);
        // An empty file has no lines, while an empty piece is one.
        let pieces = (!self.text.is_empty()).then(|| text.split(|&byte| byte == b'\n'));
        pieces.into_iter().flatten().map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// How many lines it has.
    pub fn line_count(&self) -> u64 {
        let ends = self.text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        ends + u64::from(self.text.last().is_some_and(|&last| last != b'\n'))
    }
}

/// Why there is no text of a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceFault {
    /// It is nowhere.
    Missing,
    /// It is there and cannot be read, for this reason.
    Unreadable(String),
    /// These files end in the same way, and nothing tells which of them is meant.
    Ambiguous(Vec<String>),
    /// It is nowhere; only the names of these files are the same, not where they stand.
    NamedAlike(Vec<String>),
}

impl fmt::Display for SourceFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceFault::Missing => f.write_str("not found"),
            SourceFault::Unreadable(reason) => write!(f, "cannot be read: {reason}"),
            SourceFault::Ambiguous(found) => write!(f, "may be any of {}", found.join(", ")),
            SourceFault::NamedAlike(found) => {
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
            let source = Source { found_at: String::new(), text: text.into(), is_newer: false };
            assert_eq!(source.lines().map(String::from_utf8_lossy).collect::<Vec<_>>(), lines, "{text:?}");
            assert_eq!(source.line_count(), lines.len() as u64, "{text:?}");
        }
    }
}
