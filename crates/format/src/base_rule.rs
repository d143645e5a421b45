//! The lines that later ones depend on: the base of relative positions, and the file behind a call.

use crate::record::CostRole;

/// The rule that says which cost lines relative positions count from, and which ones a file holds for.
///
/// Files of Callgrind count from the last *self* cost line, as its writer does, and return to its file after a call. All
/// others count from the last cost line of any kind, and a file holds until the next. See the chapter on
/// [practice](crate::practice#the-lines-that-callgrind-remembers).
///
/// ```
/// use gristmill_format::CostRole;
/// use gristmill_format::raw::BaseRule;
///
/// assert!(BaseRule::default().is_moved_by(CostRole::Call));
/// assert!(!BaseRule::from_creator(b"callgrind-3.19.0").is_moved_by(CostRole::Call));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BaseRule {
    /// The last cost line of any kind, and the position line of a jump.
    #[default]
    AllCosts,
    /// The last line of self cost.
    SelfCosts,
}

impl BaseRule {
    /// The rule of a file with this `creator:`.
    pub fn from_creator(creator: &[u8]) -> Self {
        if creator.starts_with(b"callgrind-") { BaseRule::SelfCosts } else { BaseRule::AllCosts }
    }

    /// `true` if relative positions after a line of this role count from it, and its file holds for later lines.
    #[inline(always)]
    pub fn is_moved_by(self, role: CostRole) -> bool {
        role == CostRole::SelfCost || self == BaseRule::AllCosts
    }
}
