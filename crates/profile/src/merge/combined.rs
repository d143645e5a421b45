//! Lines with the numbers of all runs combined: their sums, or twice their medians.

use std::borrow::Cow;

use gristmill_format::Cost;

use super::Merger;
use super::line::{PackedLine, PackedLines};
use super::line_key::{LineKey, LineKind};
use super::options::Combine;
use super::tiered_lines::TieredLines;

impl Merger {
    /// Returns the lines of each function, each line once. A mean is made of sums.
    pub(super) fn combined_lines(&self, combine: Combine) -> Vec<Cow<'_, PackedLines>> {
        self.lines.iter().map(|lines| self.combined(lines, combine)).collect()
    }

    fn combined<'l>(&self, lines: &'l TieredLines, combine: Combine) -> Cow<'l, PackedLines> {
        match lines.lists() {
            [only] if !self.keeps_runs => Cow::Borrowed(only),
            lists => Cow::Owned(match combine {
                Combine::Sum | Combine::Mean => PackedLines::combined(lists, add_all),
                Combine::Median => {
                    let mut values = Vec::new();
                    PackedLines::combined(lists, |same, row| self.twice_medians(same, &mut values, row))
                }
            }),
        }
    }

    /// Doubles the median of each number of a line. `values` is a buffer: the values of each number.
    fn twice_medians(&self, same: &[PackedLine<'_>], values: &mut Vec<Vec<Cost>>, row: &mut Vec<Cost>) {
        values.iter_mut().for_each(Vec::clear);
        for line in same {
            line.each_number(|index, value| {
                if values.len() <= index {
                    values.resize_with(index + 1, Vec::new);
                }
                values[index].push(value);
            });
        }
        let Some(PackedLine { key, .. }) = same.first() else { return };
        for (index, values) in values.iter_mut().enumerate() {
            // Where a run has no line, or a line has no number, it is 0.
            let runs = self.runs_with_number(key, index);
            values.resize(runs.max(values.len()), 0);
            row.push(twice_median(values));
        }
    }

    /// Returns the count of runs that have a number of a line, given its index in the row.
    fn runs_with_number(&self, key: &LineKey, index: usize) -> usize {
        let column = match key.kind {
            LineKind::SelfCost | LineKind::Calls => index.checked_sub(1),
            LineKind::Jump | LineKind::ConditionalJump => None,
        };
        self.runs_apart(column, key.kind == LineKind::Calls)
    }
}

fn add_all(same: &[PackedLine<'_>], row: &mut Vec<Cost>) {
    same.iter().for_each(|line| line.add_to(row));
}

/// Returns the double of the median: a whole number, also of an even count of values.
fn twice_median(values: &mut [Cost]) -> Cost {
    let (count, middle) = (values.len(), values.len() / 2);
    if count == 0 {
        return 0;
    }
    let (before, &mut upper, _) = values.select_nth_unstable(middle);
    match before.iter().max() {
        Some(&lower) if count.is_multiple_of(2) => lower + upper,
        _ => 2 * upper,
    }
}
