//! One row for the functions that start the program.

use std::borrow::Cow;

use gristmill_output::printable;
use gristmill_profile::symbol::own_name;
use unicode_width::UnicodeWidthStr as _;

use super::{FunctionRow, Functions};
use crate::amount::add;
use crate::start_up::is_entry;

/// The least count of functions to share a row.
const MIN_FUNCTIONS: usize = 2;
/// A self cost below one in this many of the total reads `0.0%`.
const MIN_SELF_SHARE: i128 = 2000;

/// The first functions by inclusive cost, if they only start the program.
pub(super) struct StartUpRow {
    pub(super) count: usize,
    /// The row of the first one, with the self costs of all.
    pub(super) row: FunctionRow,
    /// Their own names, without those that are addresses.
    pub(super) names: Vec<String>,
}

impl Functions<'_> {
    /// Returns the row for the first functions, if they share one.
    pub(super) fn start_up_row(&self) -> Option<StartUpRow> {
        if !self.folds_start_up {
            return None;
        }
        let total = self.head.totals[0];
        let is_passed = |row: &Cow<'_, FunctionRow>| {
            is_entry(&row.name) && row.self_costs[0].abs().saturating_mul(MIN_SELF_SHARE) < total
        };
        let mut rows = self.rows().take_while(is_passed);
        let mut row = rows.next()?.into_owned();
        let mut self_costs = row.self_costs.to_vec();
        let mut names = vec![own_name(&row.name).to_owned()];
        for other in rows {
            add(&mut self_costs, &other.self_costs);
            row.is_self_estimate |= other.is_self_estimate;
            names.push(own_name(&other.name).to_owned());
        }
        row.self_costs = self.head.costs(&self_costs);
        let count = names.len();
        names.retain(|name| !name.starts_with("0x"));
        names.dedup();
        (count >= MIN_FUNCTIONS).then_some(StartUpRow { count, row, names })
    }
}

impl StartUpRow {
    /// `5 that start the program: (below main), __libc_start_main, main`. If there is no space for all names, the first are
    /// left out: the last say the most.
    pub(super) fn name(count: usize, names: &[String], room: usize) -> String {
        let title = format!("{count} that start the program");
        let from = |first: usize| {
            let left = if first == 0 { "" } else { "…, " };
            let text = format!("{title}: {left}{}", names[first..].join(", "));
            let text = printable(text.as_bytes()).into_owned();
            (text.width() <= room).then_some(text)
        };
        let short = || if title.width() <= room { title.clone() } else { format!("{count} at start-up") };
        (0..names.len()).find_map(from).unwrap_or_else(short)
    }
}
