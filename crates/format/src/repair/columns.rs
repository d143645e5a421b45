//! Position columns in the order that the published grammar has.

use crate::position::{Columns, PositionKind, Positions};
use crate::record::Words;

/// The columns of the input that make the columns of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    given: Columns,
    drop_addresses: bool,
}

const ORDER: [(PositionKind, &[u8]); 3] =
    [(PositionKind::Instr, b"instr"), (PositionKind::Bb, b"bb"), (PositionKind::Line, b"line")];

impl Layout {
    pub(super) fn new(given: Columns, drop_addresses: bool) -> Self {
        Layout { given, drop_addresses: drop_addresses && given.index(PositionKind::Line).is_some() }
    }

    pub(super) fn given(&self) -> Columns {
        self.given
    }

    /// Kinds, words and places in the input, in the order of the output.
    fn columns(&self) -> impl Iterator<Item = (&'static [u8], Option<usize>)> {
        let Layout { given, drop_addresses } = *self;
        let known = given.kinds().iter().any(|&kind| kind != PositionKind::Unknown);
        ORDER.into_iter().filter_map(move |(kind, word)| {
            if drop_addresses && kind != PositionKind::Line {
                return None;
            }
            match given.index(kind) {
                Some(index) => Some((word, Some(index))),
                // There must be a column; line 0 is the unknown one.
                None if !known && kind == PositionKind::Line => Some((word, None)),
                None => None,
            }
        })
    }

    /// The words of the `positions:` line.
    pub(super) fn words(&self) -> Vec<&'static [u8]> {
        self.columns().map(|(word, _)| word).collect()
    }

    /// `true` if the `positions:` line is as the grammar has it.
    pub(super) fn is_usual(words: &Words<'_>) -> bool {
        let layout = Layout::new(Columns::new(words.iter().map(PositionKind::parse)), false);
        words.iter().eq(layout.words())
    }

    /// The positions in the columns of the output, those that are missing as 0.
    pub(super) fn positions(&self, given: &Positions) -> Positions {
        let mut positions = Positions::default();
        for (_, index) in self.columns() {
            positions.push(index.and_then(|index| given.as_slice().get(index)).copied().unwrap_or(0));
        }
        positions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_into_order() {
        let layout = |words: &[&[u8]], drop| {
            Layout::new(Columns::new(words.iter().map(|word| PositionKind::parse(word))), drop)
        };
        let given = Positions::new(&[1, 2, 3]);
        for (words, drop, expected, positions) in [
            (&[&b"line"[..], b"addr"][..], false, &[&b"instr"[..], b"line"][..], &[2, 1][..]),
            (&[b"line", b"x", b"bb"], false, &[b"bb", b"line"], &[3, 1]),
            (&[b"line", b"x", b"bb"], true, &[b"line"], &[1]),
            (&[b"instr"], true, &[b"instr"], &[1]),
            (&[b"x"], false, &[b"line"], &[0]),
            (&[b"line", b"line"], false, &[b"line"], &[1]),
        ] {
            let layout = layout(words, drop);
            assert_eq!(layout.words(), expected);
            assert_eq!(layout.positions(&given).as_slice(), positions);
        }
    }
}
