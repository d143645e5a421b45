//! Columns of costs as callgrind_annotate prints them.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use gristmill_format::Cost;
use gristmill_output::{Align, Padded, printable};
use gristmill_profile::source_lines::PartialRow;

use super::{Options, SelectedEvent};

/// The width of ` (12.34%)`.
pub(super) const PERCENT_WIDTH: usize = 9;

/// The columns of a table.
#[derive(Debug, Clone)]
pub(super) struct Columns<'a> {
    pub(super) events: &'a [SelectedEvent],
    /// The costs that percentages are of.
    pub(super) totals: PartialRow<'a>,
    pub(super) show_percentages: bool,
    /// `true` if a cost above the total is shown as the total.
    pub(super) is_capped: bool,
    /// By event type: set once a share is above 100%.
    shares: &'a [AtomicBool],
    /// The names of the event types, as they are shown.
    names: Vec<Cow<'a, str>>,
    widths: Vec<usize>,
}

impl<'a> Columns<'a> {
    /// Creates columns as wide as the names of their event types.
    pub(super) fn new(options: &'a Options, totals: PartialRow<'a>, shares: &'a [AtomicBool]) -> Self {
        let Options { show: events, show_percentages, .. } = options;
        let shown = |event: &'a SelectedEvent| match options.spells_controls {
            true => printable(event.name.as_bytes()),
            false => Cow::Borrowed(event.name.as_str()),
        };
        let names: Vec<_> = events.iter().map(shown).collect();
        // The original counts bytes.
        let widths = names.iter().map(|name| name.len()).collect();
        let show_percentages = *show_percentages;
        Columns { events, totals, show_percentages, is_capped: false, shares, names, widths }
    }

    /// Widens the columns for rows; a cost that was not given needs no width. Only the largest and the smallest number
    /// of each column are measured.
    pub(super) fn widen<'r>(&mut self, rows: impl Iterator<Item = PartialRow<'r>>) {
        let mut extremes: Vec<Option<(Cost, Cost)>> = vec![None; self.events.len()];
        for row in rows {
            for (event, extremes) in self.events.iter().zip(&mut extremes) {
                if let Some(cost) = event.of(row) {
                    let (least, most) = extremes.get_or_insert((cost, cost));
                    *least = cost.min(*least);
                    *most = cost.max(*most);
                }
            }
        }
        for (extremes, width) in extremes.into_iter().zip(&mut self.widths) {
            let percent = if self.show_percentages { PERCENT_WIDTH } else { 0 };
            if let Some((least, most)) = extremes {
                // Of two negative numbers the smaller one is longer, of two positive ones the larger one.
                *width = (*width).max(width_of(least).max(width_of(most)) + percent);
            }
        }
    }

    /// Writes the names of the event types.
    pub(super) fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, &width) in self.names.iter().zip(&self.widths) {
            write!(out, "{} ", Padded::new(name, width, Align::Left))?;
        }
        Ok(())
    }

    /// Writes the costs of a row.
    pub(super) fn write_row(&self, row: PartialRow<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut cells = String::with_capacity(64);
        let mut cell = String::with_capacity(32);
        for ((event, &width), is_above_whole) in self.events.iter().zip(&self.widths).zip(self.shares) {
            let cost = event.of(row);
            cell.clear();
            match cost {
                Some(cost) => push_with_commas(&mut cell, cost),
                None => cell.push('.'),
            }
            if self.show_percentages {
                match cost {
                    Some(cost) if cost != 0 => {
                        let total = event.of(self.totals);
                        let total = if self.is_capped { total.map(|total| total.max(cost)) } else { total };
                        if total.is_some_and(|total| 0 < total && total < cost) {
                            is_above_whole.store(true, Ordering::Relaxed);
                        }
                        push_percent(&mut cell, cost, total);
                    }
                    _ => cell.push_str("         "),
                }
            }
            cells.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.len())));
            cells.push_str(&cell);
            cells.push(' ');
        }
        out.write_all(cells.as_bytes())
    }
}

/// The width of a number in bytes. The original reserves space for commas in negative numbers, but writes none.
fn width_of(cost: Cost) -> usize {
    let digits = cost.unsigned_abs().checked_ilog10().map_or(1, |last| last as usize + 1);
    let length = digits + usize::from(cost < 0);
    length + (length - 1) / 3
}

/// A number with commas; a negative number without.
pub(super) fn with_commas(cost: Cost) -> String {
    let mut text = String::new();
    push_with_commas(&mut text, cost);
    text
}

fn push_with_commas(text: &mut String, cost: Cost) {
    // Nearly all numbers fit, and formatting half the width is faster.
    let digits = u64::try_from(cost).map_or_else(|_| cost.to_string(), |cost| cost.to_string());
    if cost < 0 {
        return text.push_str(&digits);
    }
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
}

fn push_percent(cell: &mut String, cost: Cost, total: Option<Cost>) {
    let percent = match total {
        Some(total) if total != 0 => quotient(100, cost, total),
        _ => 0.0,
    };
    write_percent(cell, percent);
}

/// Appends a percentage in parentheses.
pub(super) fn write_percent(cell: &mut String, percent: f64) {
    use std::fmt::Write as _;

    // Writing to a String does not fail.
    let _ = if -9.995 < percent && percent < 99.995 {
        write!(cell, " ({percent:5.2}%)")
    } else {
        write!(cell, " ({percent:5.1}%)")
    };
}

/// Computes `factor * part / whole` as Perl does: the product is exact if it fits into 64 bits, the quotient is a
/// double.
pub(super) fn quotient(factor: Cost, part: Cost, whole: Cost) -> f64 {
    let product = part.saturating_mul(factor);
    let is_exact = Cost::from(i64::MIN) <= product && product <= Cost::from(u64::MAX);
    let product = if is_exact { to_double(product) } else { to_double(part) * to_double(factor) };
    product / to_double(whole)
}

#[expect(clippy::cast_precision_loss, reason = "percentages need no more")]
pub(super) fn to_double(cost: Cost) -> f64 {
    cost as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_commas() {
        for (cost, text, width) in [
            (0, "0", 1),
            (999, "999", 3),
            (1000, "1,000", 5),
            (1_234_567, "1,234,567", 9),
            (-12, "-12", 3),
            (-123, "-123", 5),
            (-1_234_453, "-1234453", 10),
        ] {
            assert_eq!(with_commas(cost), text);
            assert_eq!(width_of(cost), width, "{cost}");
        }
    }

    #[test]
    fn percentages_are_rounded_as_doubles_are() {
        for (cost, total, text) in [
            (1, 3, " (33.33%)"),
            (2, 3, " (66.67%)"),
            (1, 1, " (100.0%)"),
            (99_995, 100_000, " (100.0%)"),
            (99_994, 100_000, " (99.99%)"),
            (-5, 100, " (-5.00%)"),
            (-10, 100, " (-10.0%)"),
            (4, 3, " (133.3%)"),
            (5, 0, " ( 0.00%)"),
        ] {
            let mut cell = String::new();
            push_percent(&mut cell, cost, Some(total));
            assert_eq!(cell, text, "{cost} of {total}");
        }
    }
}
