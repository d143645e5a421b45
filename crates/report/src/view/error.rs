//! Errors of a view.

use std::fmt;

use gristmill_profile::OverBudget;
use gristmill_profile::formula::DerivationFault;

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
        /// The reason why it could not be derived, if it has a definition.
        fault: Option<DerivationFault>,
    },
    /// No part matches the selection.
    NothingSelected,
    /// A derived cost is out of range.
    Overflow,
    /// A cost is below 0, so that functions to focus on have no share of it.
    NegativeCosts,
    /// The calls that take the place of those of hidden functions are too many.
    TooManyCalls,
    /// The costs of all event types and functions would take much more memory than the profile.
    TooManyCosts(OverBudget),
    /// The names of all functions, with their paths, would take much more memory than the profile.
    LongNames(OverBudget),
}

impl fmt::Display for ViewError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ViewError::UnknownEvent { fault: Some(fault), .. } => fault.fmt(f),
            ViewError::UnknownEvent { name, .. } => write!(f, "there is no event type `{name}`"),
            ViewError::NothingSelected => f.write_str("no part of the profile is selected"),
            ViewError::Overflow => f.write_str("a derived cost is out of range"),
            ViewError::NegativeCosts => {
                f.write_str("costs below 0 have no shares, so there is nothing to focus on")
            }
            ViewError::TooManyCalls => f.write_str(
                "hidden functions with very many callers and callees have too many calls to replace",
            ),
            ViewError::TooManyCosts(over) => write!(f, "the costs of all event types and functions {over}"),
            ViewError::LongNames(over) => write!(f, "the names and paths of all functions {over}"),
        }
    }
}

impl std::error::Error for ViewError {}
