//! Reasons to doubt the lines of a source file.

use std::fmt;
use std::sync::Arc;

use gristmill_output::grouped;
use gristmill_output::source::{SourceError, SourceText};

/// A reason to doubt the lines of a source file.
///
/// ```
/// use gristmill_report::annotate::SourceRemark;
///
/// let remark = SourceRemark::Shorter { lines: 7, last: 9 };
/// assert_eq!(remark.to_string(), "has 7 lines, and the profile has costs up to line 9");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SourceRemark {
    /// The text cannot be had.
    Unavailable(SourceError),
    /// The file was changed after the profile was written.
    Newer,
    /// The file ends before the last line that has costs.
    Shorter {
        /// The count of lines of the file.
        lines: u64,
        /// The last line that has costs.
        last: u64,
    },
    /// The file is not UTF-8.
    NotUtf8 {
        /// The first line that is not UTF-8.
        line: u64,
    },
}

impl SourceRemark {
    /// The kind as a word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            SourceRemark::Unavailable(SourceError::Missing | SourceError::NamedAlike(_)) => "missing",
            SourceRemark::Unavailable(SourceError::Unreadable(_)) => "unreadable",
            SourceRemark::Unavailable(SourceError::Ambiguous(_)) => "ambiguous",
            SourceRemark::Newer => "newer",
            SourceRemark::Shorter { .. } => "shorter",
            SourceRemark::NotUtf8 { .. } => "not-utf8",
        }
    }
}

impl fmt::Display for SourceRemark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceRemark::Unavailable(error) => error.fmt(f),
            SourceRemark::Newer => {
                f.write_str("was changed after the profile was written, so lines may not fit")
            }
            SourceRemark::Shorter { lines, last } => {
                let plural = if *lines == 1 { "" } else { "s" };
                let [lines, last] = [lines, last].map(|&number| grouped(number));
                write!(f, "has {lines} line{plural}, and the profile has costs up to line {last}")
            }
            SourceRemark::NotUtf8 { line } => {
                write!(f, "is not UTF-8, as line {} shows", grouped(line))
            }
        }
    }
}

/// Collects the remarks on a source file whose `last` line with costs is this one.
pub(super) fn remarks(
    path: &[u8],
    source: &Result<Arc<SourceText>, SourceError>,
    last: u64,
) -> Vec<SourceRemark> {
    let source = match source {
        Ok(source) => source,
        // A file that the profile does not know cannot be missing.
        Err(SourceError::Missing) if is_unknown(path) => return Vec::new(),
        Err(error) => return vec![SourceRemark::Unavailable(error.clone())],
    };
    let mut remarks = Vec::new();
    if source.is_newer {
        remarks.push(SourceRemark::Newer);
    }
    let lines = source.line_count();
    if last > lines {
        remarks.push(SourceRemark::Shorter { lines, last });
    }
    if let Err(error) = std::str::from_utf8(&source.text) {
        let before = &source.text[..error.valid_up_to()];
        let ends = before.iter().filter(|&&byte| byte == b'\n').count();
        remarks.push(SourceRemark::NotUtf8 { line: ends as u64 + 1 });
    }
    remarks
}

/// `true` if a path stands for an unknown file.
pub(crate) fn is_unknown(path: &[u8]) -> bool {
    path.is_empty() || path.starts_with(b"???") || path.ends_with(b"???")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &[u8], is_newer: bool, last: u64) -> Vec<String> {
        let source = SourceText { text: text.to_vec(), is_newer, ..SourceText::default() };
        remarks(b"a.c", &Ok(Arc::new(source)), last).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn remarks_are_sentences() {
        assert_eq!(shown(b"a\nb\n", false, 2), [""; 0]);
        assert_eq!(shown(b"a\nb", false, 3), ["has 2 lines, and the profile has costs up to line 3"]);
        assert_eq!(
            shown(b"a\nb\n\xff", true, 1),
            [
                "was changed after the profile was written, so lines may not fit",
                "is not UTF-8, as line 3 shows"
            ]
        );
        assert_eq!(remarks(b"???", &Err(SourceError::Missing), 7), []);
        assert_eq!(remarks(b"a.c", &Err(SourceError::Missing), 7)[0].to_string(), "not found");
    }
}
