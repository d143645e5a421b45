//! Numbers of lines as keys of tables.

use super::names::TextId;

/// The number of a line. A number in another than its usual spelling, such as `0x10` or `007`, is a line of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LineKey {
    /// The number, by which lines are sorted.
    pub(super) value: i64,
    /// The spelling, if it is not the usual one.
    pub(super) text: Option<TextId>,
}

impl LineKey {
    pub(super) fn from_number(value: i64) -> LineKey {
        LineKey { value, text: None }
    }
}
