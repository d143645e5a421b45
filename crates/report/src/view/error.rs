//! Errors of a view.

use std::fmt;

/// The reason why a profile cannot be viewed as asked. See the example of [`View`](crate::View).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewError {
    /// The profile has no such event type.
    UnknownEvent {
        /// The name that was asked for.
        name: String,
        /// The names of all event types, recorded and derived.
        known: Vec<String>,
    },
    /// No part matches the selection.
    NothingSelected,
    /// A derived cost is out of range.
    Overflow,
    /// The costs of all event types and functions would take much more memory than the profile.
    TooManyColumns,
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::UnknownEvent { name, .. } => write!(f, "there is no event type `{name}`"),
            ViewError::NothingSelected => f.write_str("no part of the profile is selected"),
            ViewError::Overflow => f.write_str("a derived cost is out of range"),
            ViewError::TooManyColumns => {
                f.write_str("the profile has too many event types and functions for a table of costs")
            }
        }
    }
}

impl std::error::Error for ViewError {}
