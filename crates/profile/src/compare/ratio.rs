//! Shares of costs without overflow.

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

/// Returns the change of a cost by the count of calls before and after, at the cost per call before.
pub(super) fn by_calls(before: Cost, calls: (Cost, Cost)) -> Cost {
    scaled(before, calls.1 - calls.0, calls.0).unwrap_or(0)
}

/// Returns `true` if `a / b` and `c / d` differ by at most one part in `one_in`. All are counts, so none is negative.
pub(super) fn is_same_ratio((a, b): (Cost, Cost), (c, d): (Cost, Cost), one_in: Cost) -> bool {
    let cross = a.checked_mul(d).zip(c.checked_mul(b));
    let Some((left, right)) = cross else { return false };
    (left - right).abs().checked_mul(one_in).is_some_and(|apart| apart <= left.abs().max(right.abs()))
}
