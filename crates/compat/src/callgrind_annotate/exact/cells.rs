//! Columns of costs.

use std::borrow::Cow;
use std::io::{self, Write};

use super::number::Number;
use super::reader::Counts;
use super::tables::Total;
use crate::callgrind_annotate::cells::{PERCENT_WIDTH, write_percent};

/// The costs of a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row<'r> {
    Numbers(&'r Counts),
    /// Totals, which are shown as the file writes them.
    Stated(&'r [Total]),
}

impl<'r> Row<'r> {
    pub(super) const EMPTY: Row<'static> = Row::Numbers(&[]);

    /// A cost and its text; `None` if it is not given.
    fn get(self, column: usize) -> Option<(Number, Cow<'r, [u8]>)> {
        match self {
            Row::Numbers(counts) => {
                let number = counts.get(column).copied().flatten()?;
                Some((number, Cow::Owned(number.text().into_bytes())))
            }
            Row::Stated(totals) => {
                let total = totals.get(column)?;
                Some((total.number, Cow::Borrowed(&total.text[..])))
            }
        }
    }
}

/// The columns of a table.
#[derive(Debug, Clone)]
pub(super) struct Columns<'a> {
    /// The names of the event types, as they are shown.
    names: Vec<Vec<u8>>,
    columns: &'a [usize],
    /// The costs that percentages are of.
    totals: &'a Counts,
    show_percentages: bool,
    /// `true` if a cost above the total is shown as the total.
    pub(super) is_capped: bool,
    widths: Vec<usize>,
}

impl<'a> Columns<'a> {
    pub(super) fn new(
        names: Vec<Vec<u8>>,
        columns: &'a [usize],
        totals: &'a Counts,
        show_percentages: bool,
    ) -> Self {
        let widths = names.iter().map(Vec::len).collect();
        Columns { names, columns, totals, show_percentages, is_capped: false, widths }
    }

    /// Widens the columns for a row. The original reserves space for commas where it writes none, too.
    pub(super) fn widen(&mut self, row: Row<'_>) {
        for (&column, width) in self.columns.iter().zip(&mut self.widths) {
            if let Some((_, text)) = row.get(column) {
                let commas = text.len().saturating_sub(1) / 3;
                let percent = if self.show_percentages { PERCENT_WIDTH } else { 0 };
                *width = (*width).max(text.len() + commas + percent);
            }
        }
    }

    /// Writes the names of the event types.
    pub(super) fn write_head(&self, out: &mut dyn Write) -> io::Result<()> {
        for (name, &width) in self.names.iter().zip(&self.widths) {
            out.write_all(name)?;
            write!(out, "{:1$} ", "", width.saturating_sub(name.len()))?;
        }
        Ok(())
    }

    /// Writes the costs of a row.
    pub(super) fn write_row(&self, row: Row<'_>, out: &mut dyn Write) -> io::Result<()> {
        let mut cells = Vec::with_capacity(64);
        for (&column, &width) in self.columns.iter().zip(&self.widths) {
            let cost = row.get(column);
            let mut cell = cost.as_ref().map_or_else(|| b".".to_vec(), |(_, text)| with_commas(text));
            if self.show_percentages {
                match cost {
                    Some((cost, _)) if !cost.is_zero() => {
                        cell.extend_from_slice(self.percent(column, cost).as_bytes());
                    }
                    _ => cell.resize(cell.len() + PERCENT_WIDTH, b' '),
                }
            }
            cells.resize(cells.len() + width.saturating_sub(cell.len()), b' ');
            cells.append(&mut cell);
            cells.push(b' ');
        }
        out.write_all(&cells)
    }

    fn percent(&self, column: usize, cost: Number) -> String {
        let total = self.totals.get(column).copied().flatten();
        let total = if self.is_capped { total.map(|total| total.max(cost)) } else { total };
        let percent = match total {
            Some(total) if !total.is_zero() => cost.percent_of(total),
            _ => 0.0,
        };
        let mut text = String::new();
        write_percent(&mut text, percent);
        text
    }
}

/// A number with commas. One that begins with a sign has none.
pub(super) fn with_commas(text: &[u8]) -> Vec<u8> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut commas = Vec::with_capacity(text.len() + digits / 3);
    for (index, &byte) in text.iter().enumerate() {
        if index > 0 && index < digits && (digits - index).is_multiple_of(3) {
            commas.push(b',');
        }
        commas.push(byte);
    }
    commas
}
