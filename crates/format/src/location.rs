//! Locations in an input (or output) file.

use std::fmt;

/// A place in a file: the line that something is about.
///
/// The column is not part of it: what a column is counted from is known only once the line is looked at, so
/// [`Error::column`](crate::Error::column) and lint findings carry one, records do not.
///
/// See the example of [`Lint::run`](crate::Lint::run).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Location {
    /// Offset of the first byte of the line, from 0.
    pub byte: u64,
    /// Number of the line, from 1.
    pub line: u64,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} (byte {})", self.line, self.byte)
    }
}
