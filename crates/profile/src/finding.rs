//! Findings of loading: lines that cannot be read as they are.

use std::fmt;

use gristmill_format::{Error, ErrorKind, Foreign, Location};

/// Limit of the findings that a profile keeps; all are counted.
pub const MAX_FINDINGS: usize = 1000;

/// A line of a file that could not be read as it is. Lint finds more.
///
/// ```
/// use gristmill_profile::Profile;
///
/// let profile = Profile::from_bytes(b"events: Ir\nfn=f\n1 x\n");
/// assert_eq!((profile.findings()[0].location.line, profile.finding_count()), (3, 1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// Index of its input.
    pub input: usize,
    /// The line.
    pub location: Location,
    /// Column in the line, in bytes, from 1.
    pub column: u64,
    /// Number of bytes it is about.
    pub length: u64,
    /// Kind of the error.
    pub kind: ErrorKind,
    /// `true` if the line counts nevertheless.
    pub is_repaired: bool,
}

impl Finding {
    pub(crate) fn from_error(error: &Error) -> Self {
        Finding {
            input: 0,
            location: error.location(),
            column: error.column(),
            length: error.length(),
            kind: error.kind(),
            is_repaired: error.is_repaired(),
        }
    }

    /// Returns `true` if a line does not count, or counts with an estimated number.
    pub fn is_loss(&self) -> bool {
        !self.is_repaired
            || matches!(self.kind, ErrorKind::BadCost | ErrorKind::CostTooLarge | ErrorKind::BadCount)
    }

    /// Returns the key that findings are sorted by: where they are in their input.
    pub(crate) fn sort_key(&self) -> (u64, u64) {
        (self.location.byte, self.column)
    }
}

/// An input that is another kind of file than a profile. Found by
/// [`Profile::foreign_input`](crate::Profile::foreign_input).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForeignInput<'p> {
    /// The name of the input.
    pub name: &'p str,
    /// The kind of file.
    pub kind: Foreign,
}

impl fmt::Display for ForeignInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, ErrorKind::NotAProfile(self.kind))
    }
}

impl std::error::Error for ForeignInput<'_> {}

/// The first findings, the first loss, and the number of all findings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Findings {
    pub(crate) kept: Vec<Finding>,
    /// May be beyond the findings that are kept.
    pub(crate) first_loss: Option<Finding>,
    pub(crate) total: u64,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        self.total += 1;
        if finding.is_loss() && self.first_loss.is_none_or(|first| finding.sort_key() < first.sort_key()) {
            self.first_loss = Some(finding);
        }
        if self.kept.len() < MAX_FINDINGS {
            self.kept.push(finding);
        }
    }
}
