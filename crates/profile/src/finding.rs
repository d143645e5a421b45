//! What was wrong with the files of a profile.

use gristmill_format::{Error, ErrorKind, Location};

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
    pub(crate) fn of(error: &Error) -> Self {
        Finding {
            input: 0,
            location: error.location(),
            column: error.column(),
            length: error.length(),
            kind: error.kind(),
            is_repaired: error.is_repaired(),
        }
    }
}

/// The first findings, and how many there were.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Findings {
    pub(crate) kept: Vec<Finding>,
    pub(crate) total: u64,
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        self.total += 1;
        if self.kept.len() < KEPT_FINDINGS {
            self.kept.push(finding);
        }
    }
}
