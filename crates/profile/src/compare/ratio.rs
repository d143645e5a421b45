//! Shares of costs without overflow, and sums by key.

use std::ops::AddAssign;

use gristmill_format::Cost;

/// Returns `cost · part / whole`, rounded towards zero, or `None` if `whole` is 0.
pub(super) fn scaled(cost: Cost, part: Cost, whole: Cost) -> Option<Cost> {
    if whole == 0 {
        return None;
    }
    match cost.checked_mul(part) {
        Some(product) => Some(product / whole),
        // Only sums of many maximal costs get here; their shares need not be exact.
        None => (cost / whole).checked_mul(part).or(Some(0)),
    }
}

/// Adds up the values of equal keys in a list that is sorted by key.
pub(super) fn add_up<K: PartialEq, V: AddAssign + Copy>(sorted: &mut Vec<(K, V)>) {
    sorted.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            first.1 += next.1;
        }
        is_same
    });
}
