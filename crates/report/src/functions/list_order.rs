//! The orders of lists of functions.

use std::cmp::Ordering;

use gristmill_format::Cost;

use super::{SortBy, sort_key};

/// The order of a [`FunctionList`](super::FunctionList), which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListOrder {
    /// That of the report.
    By(SortBy),
    /// Inclusive cost by call, the greatest first. Rows without calls come last.
    PerCall,
    /// Object, then name.
    Object,
    /// Source file, then name.
    File,
}

/// Compares costs by call. Without calls there is no such cost, which is less than any other.
pub(super) fn per_call((cost_a, calls_a): (Cost, Cost), (cost_b, calls_b): (Cost, Cost)) -> Ordering {
    let key = |cost: Cost, calls: Cost| (calls > 0).then(|| cost.unsigned_abs() / calls.unsigned_abs());
    let rest = |cost: Cost, calls: Cost| cost.unsigned_abs() as f64 / calls as f64;
    let by_whole = key(cost_a, calls_a).cmp(&key(cost_b, calls_b));
    if by_whole.is_eq() && calls_a > 0 {
        return rest(cost_a, calls_a).total_cmp(&rest(cost_b, calls_b));
    }
    by_whole.then_with(|| cost_a.unsigned_abs().cmp(&cost_b.unsigned_abs()))
}

/// The costs of a row by which it is ordered.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyCosts {
    pub(super) inclusive: Cost,
    pub(super) self_cost: Cost,
    pub(super) calls: Cost,
}

impl ListOrder {
    /// Returns a number that is less for costs that come before, and equal in an order that costs do not decide.
    pub(super) fn first_key(self, costs: KeyCosts) -> u32 {
        let KeyCosts { inclusive, self_cost, calls } = costs;
        match self {
            ListOrder::By(SortBy::Inclusive) => !approximate(inclusive.unsigned_abs()),
            ListOrder::By(SortBy::SelfCost) => !approximate(self_cost.unsigned_abs()),
            ListOrder::By(SortBy::Calls) => !approximate(calls.unsigned_abs()),
            ListOrder::PerCall => {
                // One bit for the rows that have calls, which come first.
                let key = match calls > 0 {
                    true => (1 << 31) | approximate(inclusive.unsigned_abs() / calls.unsigned_abs()) >> 1,
                    false => approximate(inclusive.unsigned_abs()) >> 1,
                };
                !key
            }
            ListOrder::By(SortBy::Name) | ListOrder::Object | ListOrder::File => 0,
        }
    }

    /// Compares costs, which are equal in an order that they do not decide.
    pub(super) fn compare_costs(self, a: KeyCosts, b: KeyCosts) -> Ordering {
        let key = |sort, costs: KeyCosts| sort_key(sort, costs.inclusive, costs.self_cost, costs.calls);
        match self {
            ListOrder::By(SortBy::Name) | ListOrder::Object | ListOrder::File => Ordering::Equal,
            ListOrder::By(sort) => key(sort, a).cmp(&key(sort, b)),
            ListOrder::PerCall => per_call((b.inclusive, b.calls), (a.inclusive, a.calls)),
        }
    }
}

/// Returns the place of each text in the order of texts. Equal ones have the same.
pub(super) fn ranks<T: Ord>(texts: &[T]) -> Vec<u32> {
    let mut sorted: Vec<&T> = texts.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let rank = |text: &T| u32::try_from(sorted.partition_point(|other| *other < text)).unwrap_or(u32::MAX);
    texts.iter().map(rank).collect()
}

/// Returns a number that is not less for greater ones: the bits of a floating-point number.
fn approximate(number: u128) -> u32 {
    const MANTISSA: u32 = 24;
    let Some(exponent) = number.checked_ilog2().filter(|&exponent| exponent >= MANTISSA) else {
        return u32::try_from(number).unwrap_or(u32::MAX);
    };
    let mantissa = u32::try_from(number >> (exponent - MANTISSA)).unwrap_or(u32::MAX) & ((1 << MANTISSA) - 1);
    ((exponent - MANTISSA + 1) << MANTISSA) | mantissa
}
