//! Reasons why a profile cannot be laid out.

use std::fmt;

/// A reason why a profile cannot be laid out as was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LayoutError {
    /// There is no event type of this name.
    UnknownEvent {
        /// The name.
        name: String,
        /// The names that are known.
        known: Vec<String>,
    },
    /// No part of the profile is selected.
    NothingSelected,
    /// A derived cost is out of range.
    Overflow,
    /// The costs would take much more memory than the profile.
    TooManyColumns,
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::UnknownEvent { name, .. } => write!(f, "there is no event type `{name}`"),
            LayoutError::NothingSelected => f.write_str("no part of the profile is selected"),
            LayoutError::Overflow => f.write_str("a derived cost is too large to be reckoned with"),
            LayoutError::TooManyColumns => {
                f.write_str("the profile has too many event types for as many functions")
            }
        }
    }
}

impl std::error::Error for LayoutError {}
