//! A word that a shell offers.

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
