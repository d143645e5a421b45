//! Source files: their text, the tokens of their lines, and the colours of both on a terminal. Nothing here opens a
//! file.

mod highlight;
mod paint;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

pub use self::highlight::{Class, Highlighter, Span};
pub use self::paint::SourcePainter;

/// A finder of the source files that a profile names.
///
/// ```
/// use std::sync::Arc;
///
/// use gristmill_output::source::{SourceError, SourceText, Sources};
///
/// struct Mill;
///
/// impl Sources for Mill {
///     fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError> {
///         let text = SourceText { text: b"int main(void) {\n}\n".to_vec(), ..SourceText::default() };
///         if path == b"mill.c" { Ok(Arc::new(text)) } else { Err(SourceError::Missing) }
///     }
/// }
///
/// assert_eq!(Mill.get(b"mill.c").unwrap().lines().count(), 2);
/// assert_eq!(Mill.get(b"stone.c").unwrap_err().to_string(), "not found");
/// ```
pub trait Sources {
    /// Finds a file by its path in the profile.
    ///
    /// # Errors
    ///
    /// If there is no such file, it cannot be read, or several files may be meant.
    fn get(&self, path: &[u8]) -> Result<Arc<SourceText>, SourceError>;

    /// A directory as a file without lines; `None` if the path is none. Only callgrind_annotate takes one for a source file.
    fn directory(&self, _path: &[u8]) -> Option<SourceText> {
        None
    }
}

/// The text of a source file. See the example of [`Sources`].
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceText {
    /// The path at which the file was found, safe to show.
    pub found_at: String,
    /// The text.
    pub text: Vec<u8>,
    /// The time when the file was changed, if it is known.
    pub changed: Option<SystemTime>,
    /// `true` if the file was changed after the profile was written, so its lines may not fit.
    pub is_newer: bool,
}

impl SourceText {
    /// The lines without their ends.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        lines_of(&self.text)
    }

    /// The count of lines.
    pub fn line_count(&self) -> u64 {
        let ends = self.text.iter().filter(|&&byte| byte == b'\n').count() as u64;
        ends + u64::from(self.text.last().is_some_and(|&last| last != b'\n'))
    }
}

/// The lines of a text without their ends.
pub fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    // An empty text has no lines, but `split` would find one.
    let whole = text.strip_suffix(b"\n").or((!text.is_empty()).then_some(text));
    let lines = whole.into_iter().flat_map(|text| text.split(|&byte| byte == b'\n'));
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
}

/// A line without its end.
pub fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The reason why the text of a source file cannot be had. See the example of [`Sources`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceError {
    /// There is no such file.
    Missing,
    /// The file cannot be read, for this reason.
    Unreadable(String),
    /// Any of these files may be meant: their paths end the same.
    Ambiguous(Vec<String>),
    /// There is no such file; only the names of these files are the same, not their directories.
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
