//! A word that a shell offers.

use gristmill_output::printable;

/// A word that can stand at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// The whole word, without quotes.
    pub(super) value: String,
    /// Its description, one line or empty.
    pub(super) about: String,
    /// `true` if the word goes on, as that of a directory does.
    pub(super) is_open: bool,
}

impl Candidate {
    pub(super) fn new(value: &str, about: &str) -> Self {
        let about = about.lines().next().unwrap_or_default().replace('\t', " ");
        Candidate { value: value.to_owned(), about, is_open: false }
    }
}

/// `true` for a name that a shell can show: a name with control characters could move its cursor, and cannot be typed.
pub(super) fn is_shown(name: &str) -> bool {
    printable(name.as_bytes()) == name
}
