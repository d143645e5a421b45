//! Reasons why a profile cannot be laid out.

use std::fmt;

use gristmill_profile::OverBudget;

/// A reason why a profile cannot be laid out.
///
/// ```
/// use gristmill_compat::LayoutError;
/// use gristmill_compat::callgrind_annotate::SelectedEvent;
/// use gristmill_profile::Profile;
///
/// let profile = Profile::from_bytes(b"events: Ir\nfn=main\n16 400\n");
/// let error = SelectedEvent::named(&profile, &["Dr".to_owned()], &[]).unwrap_err();
/// assert!(matches!(error, LayoutError::UnknownEvent { name, .. } if name == "Dr"));
/// ```
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
    TooManyCosts(OverBudget),
    /// The names of all functions, with their paths, would take much more memory than the profile.
    LongNames(OverBudget),
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LayoutError::UnknownEvent { name, .. } => write!(f, "there is no event type `{name}`"),
            LayoutError::NothingSelected => f.write_str("no part of the profile is selected"),
            LayoutError::Overflow => f.write_str("a derived cost is out of range"),
            LayoutError::TooManyCosts(over) => write!(f, "the costs of all event types and functions {over}"),
            LayoutError::LongNames(over) => write!(f, "the names and paths of all functions {over}"),
        }
    }
}

impl std::error::Error for LayoutError {}
