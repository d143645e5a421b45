//! Which lines of a source file are shown.

use std::iter::Peekable;

/// Runs of lines around those with costs, by first and last. Two that touch each other stay two.
#[derive(Debug)]
pub(super) struct Ranges<I: Iterator<Item = u64>> {
    lines: Peekable<I>,
    context: u64,
}

impl<I: Iterator<Item = u64>> Ranges<I> {
    /// So many lines before and after each of `lines`, which are ascending, none of them 0.
    pub(super) fn new(lines: I, context: u64) -> Self {
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
