//! What was wrong with the files of a profile.

use std::fmt;

use gristmill_format::{Error, ErrorKind, Foreign, Location};

/// How many findings a profile keeps; all are counted.
pub const KEPT_FINDINGS: usize = 1000;

/// Something in a file that could not be taken as it stands.
///
/// What the checks of `gristmill_format` find beyond that is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The input it is in: its index.
    pub input: usize,
    /// The line it is about.
    pub location: Location,
    /// The column in that line, in bytes, from 1.
    pub column: u64,
    /// How many bytes are meant.
    pub length: u64,
    /// What is wrong.
    pub kind: ErrorKind,
    /// Whether the line counts all the same.
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

    /// Whether a line does not count, or counts with a number that was guessed.
    pub fn is_loss(&self) -> bool {
        !self.is_repaired
            || matches!(self.kind, ErrorKind::BadCost | ErrorKind::CostTooLarge | ErrorKind::BadCount)
    }

    /// Where it is in its input. Those of numbers are found apart from the others.
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

/// The first findings, the first by which something was lost, and how many there were.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Findings {
    pub(crate) kept: Vec<Finding>,
    /// It may be beyond those that are kept.
    pub(crate) first_loss: Option<Finding>,
    pub(crate) total: u64,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        self.total += 1;
        if finding.is_loss() && self.first_loss.is_none_or(|first| finding.sort_key() < first.sort_key()) {
            self.first_loss = Some(finding);
        }
        if self.kept.len() < KEPT_FINDINGS {
            self.kept.push(finding);
        }
    }
}
