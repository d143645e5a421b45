//! The lines of a source file that are shown.

use std::iter::Peekable;

/// Ranges of lines around those with costs, as first and last line. Two ranges that touch stay two.
#[derive(Debug)]
pub(crate) struct Ranges<I: Iterator<Item = u64>> {
    lines: Peekable<I>,
    context: u64,
}

impl<I: Iterator<Item = u64>> Ranges<I> {
    /// Shows `context` lines before and after each of `lines`, which are ascending and not 0.
    pub(crate) fn new(lines: I, context: u64) -> Self {
        Ranges { lines: lines.peekable(), context }
    }
}

impl<I: Iterator<Item = u64>> Iterator for Ranges<I> {
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        let first = self.lines.next()?;
        let mut end = first.saturating_add(self.context);
        while let Some(line) = self.lines.next_if(|line| line.saturating_sub(self.context) <= end) {
            end = line.saturating_add(self.context);
        }
        Some((first.saturating_sub(self.context).max(1), end))
    }
}
