//! Shares of costs, exact where 128 bits would not do.

use gristmill_format::Cost;

/// The whole number of `part * amount / whole`, rounded down. All are 0 or more, and `whole` is more.
pub(crate) fn proportion(amount: Cost, part: Cost, whole: Cost) -> Cost {
    debug_assert!(amount >= 0 && part >= 0 && whole > 0);
    match amount.checked_mul(part) {
        Some(product) => product / whole,
        None => {
            let (high, low) = widening_mul(amount.unsigned_abs(), part.unsigned_abs());
            let quotient = div_wide(high, low, whole.unsigned_abs());
            // Below the larger of two costs, unless the part is more than the whole by far.
            Cost::try_from(quotient).unwrap_or(Cost::MAX)
        }
    }
}

/// The whole number nearest to `part * amount / whole`: a count of 2, of which nearly all belongs to the part, is 2. All are 0 or more,
/// and `whole` is more.
pub(crate) fn nearest_proportion(amount: Cost, part: Cost, whole: Cost) -> Cost {
    match amount.checked_mul(2) {
        Some(twice) => proportion(twice, part, whole).saturating_add(1) / 2,
        None => proportion(amount, part, whole),
    }
}

/// The two halves of a product of 256 bits.
fn widening_mul(a: u128, b: u128) -> (u128, u128) {
    const HALF: u128 = u64::MAX as u128;
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & HALF, b >> 64, b & HALF);
    let low = a_low * b_low;
    let middle = a_high * b_low + (low >> 64);
    let other = a_low * b_high + (middle & HALF);
    (a_high * b_high + (middle >> 64) + (other >> 64), (other << 64) | (low & HALF))
}

/// Divides 256 bits bit by bit. It is for sums that hardly a profile has.
fn div_wide(high: u128, low: u128, divisor: u128) -> u128 {
    if high >= divisor {
        return u128::MAX;
    }
    let (mut rest, mut quotient) = (high, 0);
    for bit in (0..128).rev() {
        let carry = rest >> 127;
        rest = (rest << 1) | ((low >> bit) & 1);
        quotient <<= 1;
        if carry == 1 || rest >= divisor {
            rest = rest.wrapping_sub(divisor);
            quotient |= 1;
        }
    }
    quotient
}

/// Divides an amount among several in proportion to their weights, without losing any of it.
///
/// Weights and the amount are 0 or more. Without any weight nothing is given out.
pub(crate) fn apportion(
    amount: Cost,
    weights: impl Iterator<Item = Cost> + Clone,
    mut give: impl FnMut(usize, Cost),
) {
    let whole: Cost = weights.clone().sum();
    if whole == 0 {
        return;
    }
    let (mut reached, mut given) = (0, 0);
    for (index, weight) in weights.enumerate() {
        reached += weight;
        // Rounding where the shares meet, not the shares themselves, makes them add up.
        let up_to = if amount == whole { reached } else { proportion(amount, reached, whole) };
        give(index, up_to - given);
        given = up_to;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_rounded_to_the_nearest() {
        let counts = [(2, 999, 1000), (2, 1, 1000), (5, 1, 10), (5, 9, 100), (7, 7, 7), (0, 1, 2)];
        assert_eq!(
            counts.map(|(amount, part, whole)| nearest_proportion(amount, part, whole)),
            [2, 0, 1, 0, 7, 0]
        );
        assert_eq!(nearest_proportion(Cost::MAX, 1, 1), Cost::MAX);
    }

    #[test]
    fn wide_products_divide_exactly() {
        let large: Cost = 1 << 120;
        assert_eq!(proportion(large, 3, 3), large);
        assert_eq!(proportion(large + 5, large + 7, large + 7), large + 5);
        assert_eq!(proportion(large, large, 2 * large), large / 2);
        assert_eq!(proportion(Cost::MAX, Cost::MAX, Cost::MAX), Cost::MAX);
        assert_eq!(proportion(Cost::MAX, Cost::MAX - 1, Cost::MAX), Cost::MAX - 1);
        assert_eq!(proportion(7, 3, 4), 5);
        // 10^38 * 30 / 7, by hand.
        assert_eq!(proportion(10i128.pow(38), 30, 70), 42_857_142_857_142_857_142_857_142_857_142_857_142);
    }

    #[test]
    fn shares_add_up() {
        for (amount, weights) in
            [(10, vec![1, 1, 1]), (1, vec![5, 0, 5]), (0, vec![1, 2]), (7, vec![0, 3, 0])]
        {
            let mut shares = vec![0; weights.len()];
            apportion(amount, weights.iter().copied(), |index, share| shares[index] += share);
            assert_eq!(shares.iter().sum::<Cost>(), amount);
            for (share, weight) in shares.iter().zip(&weights) {
                let exact = amount * weight;
                let whole: Cost = weights.iter().sum();
                assert!((share * whole - exact).abs() < whole, "{amount} {weights:?} {shares:?}");
            }
        }
    }
}
