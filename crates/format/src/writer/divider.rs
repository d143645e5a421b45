//! Line ends in the output.

use crate::line_end::LineEnd;

/// The byte that divides the lines of the output. Readers take carriage returns alone for line ends only in a file without
/// line feeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Divider {
    Feed,
    Return,
}

impl Divider {
    /// The divider and the end of a line, given the divider so far (`None` before the first line end) and the wanted end.
    pub(super) fn choose(
        divider: Option<Divider>,
        is_unended: bool,
        wanted: LineEnd,
    ) -> (Option<Divider>, LineEnd) {
        let divider = match (divider, wanted) {
            (None, _) if is_unended => Some(Divider::Feed),
            (None, LineEnd::Lf | LineEnd::CrLf) => Some(Divider::Feed),
            (None, LineEnd::Cr) => Some(Divider::Return),
            (divider, _) => divider,
        };
        let line_end = match (divider, wanted) {
            (Some(Divider::Return), LineEnd::Lf | LineEnd::CrLf) => LineEnd::Cr,
            _ => wanted,
        };
        (divider, line_end)
    }
}
