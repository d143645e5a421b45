//! Findings of loading: lines that cannot be read as they are.

use std::fmt;

use gristmill_format::{Error, ErrorKind, Foreign, Header, Line, Location, Reader, Record, Severity};

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

    /// Returns `true` if its severity is that of an error: numbers are wrong or missing.
    pub fn is_error(&self) -> bool {
        self.kind.severity() == Severity::Error
    }

    /// Returns the key that findings are sorted by: where they are in their input.
    pub(crate) fn sort_key(&self) -> (u64, u64) {
        (self.location.byte, self.column)
    }
}

/// An input without a profile in it. Found by [`Profile::unusable_input`](crate::Profile::unusable_input).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnusableInput<'p> {
    /// Index of the input.
    pub input: usize,
    /// The name of the input.
    pub name: &'p str,
    /// The reason.
    pub reason: NoProfile,
}

/// The reason why an input is no profile. See the example of
/// [`Profile::unusable_input`](crate::Profile::unusable_input).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoProfile {
    /// It is another kind of file.
    Foreign(Foreign),
    /// It has no bytes.
    Empty,
    /// It has no `events:` line, so its numbers, if there are any, have no meaning.
    NoEvents {
        /// `true` if it begins like a profile.
        has_header: bool,
    },
}

impl NoProfile {
    /// Returns the reason why a file is no profile, if it is none. Reads no further than the first `events:` line.
    pub fn of_bytes(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return Some(NoProfile::Empty);
        }
        let mut has_header = false;
        for item in Reader::new(bytes) {
            match item {
                Ok(Record { line: Line::Header(Header::Events(events)), .. }) if !events.is_empty() => {
                    return None;
                }
                Ok(Record { line: Line::Header(header), .. }) => {
                    has_header |= matches!(header, Header::Creator(_) | Header::Command(_) | Header::Part(_));
                }
                Ok(_) => {}
                Err(error) => {
                    if let ErrorKind::NotAProfile(kind) = error.kind() {
                        return Some(NoProfile::Foreign(kind));
                    }
                }
            }
        }
        Some(NoProfile::NoEvents { has_header })
    }
}

impl fmt::Display for UnusableInput<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.reason)
    }
}

impl std::error::Error for UnusableInput<'_> {}

impl fmt::Display for NoProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            NoProfile::Foreign(kind) => ErrorKind::NotAProfile(kind).fmt(f),
            NoProfile::Empty => f.write_str("the file is empty"),
            NoProfile::NoEvents { has_header: true } => {
                f.write_str("the file ends before its `events:` line: it is cut off, or nothing was recorded")
            }
            NoProfile::NoEvents { has_header: false } => {
                f.write_str("this is not a Callgrind profile: it has no `events:` line")
            }
        }
    }
}

/// The first findings, the errors, and the number of all findings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Findings {
    pub(crate) kept: Vec<Finding>,
    pub(crate) errors: InputErrors,
    pub(crate) total: u64,
}

/// The findings of an input, or of a chunk of one, that are [errors](Finding::is_error). The first ones may be beyond those
/// that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct InputErrors {
    /// The count, without names that are not defined.
    pub(crate) count: u64,
    pub(crate) first: Option<Finding>,
    pub(crate) undefined_names: u64,
    pub(crate) first_undefined: Option<Finding>,
    /// The count of other findings that leave a doubt.
    pub(crate) doubts: u64,
}

impl InputErrors {
    pub(crate) fn count(&mut self, finding: &Finding) {
        if !finding.is_error() {
            let is_doubt = !finding.is_repaired || matches!(finding.kind, ErrorKind::RedefinedName(..));
            self.doubts += u64::from(is_doubt);
            return;
        }
        let is_undefined = matches!(finding.kind, ErrorKind::UndefinedName(..));
        let (count, first) = match is_undefined {
            true => (&mut self.undefined_names, &mut self.first_undefined),
            false => (&mut self.count, &mut self.first),
        };
        *count += 1;
        if first.is_none_or(|first| finding.sort_key() < first.sort_key()) {
            *first = Some(*finding);
        }
    }

    /// Adds those of another chunk of the same input.
    pub(crate) fn add(&mut self, other: &InputErrors) {
        self.count += other.count;
        self.undefined_names += other.undefined_names;
        self.doubts += other.doubts;
        self.first = self.first.or(other.first);
        self.first_undefined = self.first_undefined.or(other.first_undefined);
    }
}

impl Findings {
    pub(crate) fn push(&mut self, finding: Finding) {
        self.total += 1;
        self.errors.count(&finding);
        if self.kept.len() < MAX_FINDINGS {
            self.kept.push(finding);
        }
    }
}
