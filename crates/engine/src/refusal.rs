//! Reasons not to run a program.

use std::fmt;

/// A reason not to run a program, found before it has done anything.
///
/// ```
/// let refusal = gristmill_engine::check("/etc/passwd".as_ref()).unwrap_err();
/// assert!(!refusal.to_string().is_empty());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reason: String,
}

impl Refusal {
    pub(crate) fn new(reason: impl Into<String>) -> Refusal {
        Refusal { reason: reason.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for Refusal {}
