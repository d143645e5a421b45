//! Rounding that keeps sums: the method of the largest remainder.

use std::ops::Range;

use gristmill_format::Cost;

use super::Merger;
use super::line_key::LineKind;
use super::options::{Combine, MergeFormat};
use super::ratio::Ratio;

/// Rounds fractions with a common denominator down or up, so that their sum is `sum`: those with the largest remainders go
/// up, the first of equal ones before the others. `sum` is the exact sum of the fractions, rounded down or up.
///
/// Each number so differs from its fraction by less than one.
pub(super) fn rounded_to_sum(numerators: &[Cost], denominator: Cost, sum: Cost) -> Vec<Cost> {
    let mut rounded: Vec<Cost> = numerators.iter().map(|&value| value.div_euclid(denominator)).collect();
    let floor = rounded.iter().fold(0, |sum: Cost, &value| sum.saturating_add(value));
    let Ok(missing) = usize::try_from(sum.saturating_sub(floor)) else { return rounded };
    if missing == 0 {
        return rounded;
    }
    let mut by_remainder: Vec<(Cost, usize)> = numerators
        .iter()
        .enumerate()
        .map(|(index, &value)| (-value.rem_euclid(denominator), index))
        .filter(|&(remainder, _)| remainder != 0)
        .collect();
    if missing < by_remainder.len() {
        by_remainder.select_nth_unstable(missing);
        by_remainder.truncate(missing);
    }
    for (_, index) in by_remainder {
        rounded[index] += 1;
    }
    rounded
}

/// The exact form of the numbers of lines: fractions, and the totals that they have to add up to.
///
/// There is a slot for the self costs of each column, then one for counts of calls, then one for the inclusive costs of each column.
pub(super) struct Rounding {
    pub(super) slots: Vec<Slot>,
    pub(super) jumps: Slot,
    columns: usize,
    pub(super) is_exact: bool,
    /// The rounded totals of functions by slot, in the order of the output; none if all numbers are exact.
    pub(super) of_functions: Vec<Vec<Cost>>,
}

/// A kind of number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    /// Its index in the row of a line.
    pub(super) index: usize,
    pub(super) factor: Cost,
    pub(super) denominator: Cost,
}

impl Slot {
    /// Returns the number of a line, given its combined row, multiplied by the denominator.
    pub(super) fn numerator(&self, row: &[Cost]) -> Cost {
        let combined = row.get(self.index).copied().unwrap_or(0);
        // The writer refuses what no file can hold.
        combined.checked_mul(self.factor).unwrap_or(Cost::MAX)
    }
}

impl Rounding {
    pub(super) fn new(merger: &Merger, format: &MergeFormat) -> Self {
        let (factor, denominator) = format.scale.map_or((1, 1), Ratio::parts);
        let slot = |index, column: Option<usize>, is_of_calls: bool| {
            let headers = &merger.headers;
            let runs = match (column, is_of_calls) {
                (Some(column), false) => headers.runs_with[column],
                (Some(column), true) => headers.call_runs_with[column],
                (None, true) => headers.call_runs,
                (None, false) => headers.runs,
            };
            let divisor = match format.combine {
                Combine::Sum => 1,
                Combine::Mean => Cost::from(runs.max(1)),
                Combine::Median => 2,
            };
            let denominator = denominator * divisor;
            Slot { index, factor, denominator }
        };
        let columns = merger.headers.events.len();
        let mut slots: Vec<Slot> = (0..columns).map(|column| slot(column + 1, Some(column), false)).collect();
        slots.push(slot(0, None, true));
        slots.extend((0..columns).map(|column| slot(column + 1, Some(column), true)));
        let is_exact = slots.iter().all(|slot| slot.denominator == 1);
        Rounding { slots, jumps: slot(0, None, false), columns, is_exact, of_functions: Vec::new() }
    }

    /// The slots of lines of a kind. Jumps have none.
    pub(super) fn slots_of(&self, kind: LineKind) -> Range<usize> {
        match kind {
            LineKind::SelfCost => 0..self.columns,
            LineKind::Calls => self.columns..self.slots.len(),
            LineKind::Jump | LineKind::ConditionalJump => 0..0,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ratio::rounded_quotient;
    use super::*;

    #[test]
    fn the_largest_remainders_go_up() {
        // 2.25, 0.75, 0.5, 0.5 and -1.5 make 2.5, which is 3.
        assert_eq!(rounded_to_sum(&[9, 3, 2, 2, -6], 4, 3), [2, 1, 1, 1, -2]);
        assert_eq!(rounded_to_sum(&[1; 10], 10, 1), [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(rounded_to_sum(&[], 4, 0), []);
    }

    proptest! {
        #[test]
        fn sums_are_kept_and_no_number_is_off_by_one(
            numerators in prop::collection::vec(-1000..1000_i128, 0..30),
            denominator in 1..50_i128,
        ) {
            let sum = rounded_quotient(numerators.iter().sum(), denominator);
            let rounded = rounded_to_sum(&numerators, denominator, sum);
            prop_assert_eq!(rounded.iter().sum::<Cost>(), sum);
            for (value, numerator) in rounded.iter().zip(&numerators) {
                prop_assert!((value * denominator - numerator).abs() < denominator);
            }
        }
    }
}
