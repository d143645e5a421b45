//! A source file with the costs of its lines.

use std::collections::BTreeSet;
use std::sync::Arc;

use gristmill_format::Cost;
use gristmill_output::source::{SourceText, Sources, lines_of};
use gristmill_profile::PackedCosts;

use crate::ranges::Ranges;

/// The costs of the lines of a file.
#[derive(Debug)]
pub(super) struct LineCosts {
    /// The lines, each once, with their rows of costs.
    rows: Vec<(u64, usize)>,
    costs: PackedCosts,
}

impl LineCosts {
    /// Creates costs without lines.
    pub(super) fn new(width: usize) -> Self {
        LineCosts { rows: Vec::new(), costs: PackedCosts::new(width) }
    }

    /// Adds a line that was not added before.
    pub(super) fn push(&mut self, line: u64, costs: &[Cost]) {
        self.rows.push((line, self.costs.len()));
        self.costs.push(costs);
    }

    /// Sorts the lines.
    pub(super) fn sort(&mut self) {
        self.rows.sort_unstable();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The lines.
    pub(super) fn lines(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().map(|&(line, _)| line)
    }

    /// Passes on the lines after `beyond`, or all lines, with their costs.
    pub(super) fn each_beyond(&self, beyond: Option<u64>, mut take: impl FnMut(u64, &[Cost])) {
        let mut buffer = Vec::new();
        let start = self.rows.partition_point(|&(line, _)| beyond.is_some_and(|beyond| line <= beyond));
        for &(line, row) in &self.rows[start..] {
            self.costs.row(row, &mut buffer);
            take(line, &buffer);
        }
    }

    /// Reads the costs of a line, if it has any, into `buffer`.
    pub(super) fn of<'r>(&self, line: u64, buffer: &'r mut Vec<Cost>) -> Option<&'r [Cost]> {
        let found = self.rows.binary_search_by_key(&line, |&(line, _)| line).ok()?;
        self.costs.row(self.rows[found].1, buffer);
        Some(buffer)
    }
}

/// The text of a file that may have several original names.
#[derive(Debug)]
pub(super) enum Original {
    /// The sources, one for each name, all with the same text. There is at least one.
    Found(Vec<Arc<SourceText>>),
    /// One of the files cannot be read.
    Unreadable,
    /// The files differ.
    Different,
}

impl Original {
    pub(super) fn find(names: &BTreeSet<Vec<u8>>, sources: &dyn Sources) -> Self {
        let found: Result<Vec<Arc<SourceText>>, _> = names.iter().map(|name| sources.get(name)).collect();
        match found {
            Ok(found) if found.windows(2).any(|two| two[0].text != two[1].text) => Original::Different,
            Ok(found) if !found.is_empty() => Original::Found(found),
            _ => Original::Unreadable,
        }
    }
}

/// A piece of an annotated file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'t> {
    /// A line with its number.
    Line(u64, &'t [u8]),
    /// A mark for omitted lines: those before or after this line.
    Gap(u64),
    /// An omitted line before a shown one.
    Passed(&'t [u8]),
}

/// Passes on the lines around those with costs, and marks for omitted ones. Returns the count of lines of the file.
///
/// Two ranges of lines that touch stay two.
pub(super) fn each_piece<'t>(
    text: &'t [u8],
    lines: impl Iterator<Item = u64>,
    context: u64,
    mut take: impl FnMut(Piece<'t>),
) -> u64 {
    let mut text = lines_of(text).zip(1u64..).peekable();
    let mut reached = 0;
    for (start, end) in Ranges::new(lines.filter(|&line| line > 0), context) {
        if start > 1 {
            take(Piece::Gap(start));
        }
        while let Some((line, number)) = text.next_if(|&(_, number)| number <= end) {
            reached = number;
            take(if number < start { Piece::Passed(line) } else { Piece::Line(number, line) });
        }
        if reached < end {
            break;
        }
        take(Piece::Gap(end));
    }
    text.last().map_or(reached, |(_, number)| number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str, lines: &[u64], context: u64) -> (Vec<String>, u64) {
        let mut shown = Vec::new();
        let count = each_piece(text.as_bytes(), lines.iter().copied(), context, |piece| {
            shown.extend(match piece {
                Piece::Line(number, text) => Some(format!("{number} {}", String::from_utf8_lossy(text))),
                Piece::Gap(line) => Some(format!("gap {line}")),
                Piece::Passed(_) => None,
            });
        });
        (shown, count)
    }

    #[test]
    fn lines_around_costs_are_shown() {
        let text = "a\nb\r\nc\nd\n\nf\n";
        let check = |lines: &[u64], context, expected: &[&str]| {
            let (shown, count) = pieces(text, lines, context);
            assert_eq!(shown, expected, "{lines:?} with {context}");
            assert_eq!(count, 6);
        };
        check(&[], 8, &[]);
        check(&[0], 8, &[]);
        check(&[2], 8, &["1 a", "2 b", "3 c", "4 d", "5 ", "6 f"]);
        check(&[1], 0, &["1 a", "gap 1"]);
        check(&[6], 0, &["gap 6", "6 f", "gap 6"]);
        check(&[2, 3], 0, &["gap 2", "2 b", "gap 2", "gap 3", "3 c", "gap 3"]);
        check(&[2, 5], 1, &["1 a", "2 b", "3 c", "gap 3", "gap 4", "4 d", "5 ", "6 f", "gap 6"]);
        check(&[2, 4], 1, &["1 a", "2 b", "3 c", "4 d", "5 ", "gap 5"]);
        // Beyond the end there is nothing to show or omit.
        check(&[9, 20], 0, &["gap 9"]);
        check(&[u64::MAX], 8, &["gap 18446744073709551607"]);
    }

    #[test]
    fn lines_end_as_they_may() {
        assert_eq!(pieces("", &[1], 0), (vec![], 0));
        assert_eq!(pieces("\n", &[1], 1), (vec!["1 ".to_owned()], 1));
        assert_eq!(pieces("a", &[1], 1), (vec!["1 a".to_owned()], 1));
    }
}
