//! Shares of costs without rounding errors that add up, and without overflow.

use gristmill_format::Cost;

/// `cost · part / whole`, rounded towards zero. None of no whole.
pub(super) fn scaled(cost: Cost, part: Cost, whole: Cost) -> Option<Cost> {
    if whole == 0 {
        return None;
    }
    match cost.checked_mul(part) {
        Some(product) => Some(product / whole),
        // Only sums of very many of the largest costs come here; a share of them need not be exact.
        None => (cost / whole).checked_mul(part).or(Some(0)),
    }
}

/// By how much a cost changes with the calls, of which there were so many before and after: at what each cost before.
pub(super) fn by_calls(before: Cost, calls: (Cost, Cost)) -> Cost {
    scaled(before, calls.1 - calls.0, calls.0).unwrap_or(0)
}

/// Whether `a / b` and `c / d` are the same but for one part in so many. Counts, so none is below 0.
pub(super) fn is_same_ratio((a, b): (Cost, Cost), (c, d): (Cost, Cost), one_in: Cost) -> bool {
    let cross = a.checked_mul(d).zip(c.checked_mul(b));
    let Some((left, right)) = cross else { return false };
    (left - right).abs().checked_mul(one_in).is_some_and(|apart| apart <= left.abs().max(right.abs()))
}
