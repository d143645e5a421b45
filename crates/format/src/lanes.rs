//! Eight bytes looked at together: where a line ends, and what number some digits are.
//!
//! Lines are short and what they hold is irregular, so a loop that goes from byte to byte spends most of its time on
//! branches that were guessed wrong. Here nothing depends on how many digits a number has.

/// How many bytes of a text [`eight`] takes.
pub(crate) const REACH: usize = 8;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const ZEROS: u64 = b'0' as u64 * ONES;
/// Added to a digit's value, sets the high bit of all that is no digit.
const ABOVE_NINE: u64 = (0x80 - 10) * ONES;

/// Eight bytes, the first one lowest. None near the end of the text.
#[inline(always)]
pub(crate) fn eight(text: &[u8], at: usize) -> Option<u64> {
    text.get(at..)?.first_chunk().copied().map(u64::from_le_bytes)
}

/// The number that these eight bytes begin with, and how many digits it has. Without any it is 0; None when all eight
/// bytes are digits.
#[inline(always)]
pub(crate) fn leading_number(eight: u64) -> Option<(u64, usize)> {
    const PAIR: u64 = 0x0000_00ff_0000_00ff;
    let digits = eight ^ ZEROS;
    // The high bit of each byte that is no digit. A byte may disturb those above it, but only when it is none itself.
    let others = (digits.wrapping_add(ABOVE_NINE) | digits) & HIGH;
    if others == 0 {
        return None;
    }
    let end = others.trailing_zeros();
    // Moved up, so that zeros stand before the number, and nothing after it.
    let digits = digits << (63 - end) << 8;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let odd = (pairs & PAIR).wrapping_mul(100 + (1_000_000 << 32));
    let even = (pairs >> 16 & PAIR).wrapping_mul(1 + (10_000 << 32));
    Some((odd.wrapping_add(even) >> 32, (end / 8) as usize))
}

/// The same for a number that is most often of three digits at most: half as many steps for those.
#[inline(always)]
pub(crate) fn leading_short_number(eight: u64) -> Option<(u64, usize)> {
    let [digits, above_nine, high] = [eight ^ ZEROS, ABOVE_NINE, HIGH].map(first_four);
    let others = (digits.wrapping_add(above_nine) | digits) & high;
    if others == 0 {
        return leading_number(eight);
    }
    let end = others.trailing_zeros();
    let digits = digits << (31 - end) << 8;
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff;
    let value = pairs.wrapping_mul(100 << 16 | 1) >> 16;
    Some((u64::from(value), (end / 8) as usize))
}

#[expect(clippy::cast_possible_truncation, reason = "the others are not asked for")]
const fn first_four(eight: u64) -> u32 {
    eight as u32
}

/// Where the first of these bytes is among eight.
#[inline(always)]
pub(crate) fn find(eight: u64, byte: u8) -> Option<usize> {
    let differs = eight ^ (ONES * byte as u64);
    // As above: exact for the first one.
    let found = differs.wrapping_sub(ONES) & !differs & HIGH;
    (found != 0).then_some(found.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn naive_number(bytes: &[u8; 8]) -> Option<(u64, usize)> {
        let count = bytes.iter().position(|byte| !byte.is_ascii_digit())?;
        Some((bytes[..count].iter().fold(0, |value, byte| value * 10 + u64::from(byte - b'0')), count))
    }

    proptest! {
        #[test]
        fn numbers_agree_with_a_loop(digits in "[0-9]{0,8}", mut bytes: [u8; 8]) {
            prop_assert_eq!(leading_number(u64::from_le_bytes(bytes)), naive_number(&bytes));
            prop_assert_eq!(leading_short_number(u64::from_le_bytes(bytes)), naive_number(&bytes));
            bytes[..digits.len()].copy_from_slice(digits.as_bytes());
            prop_assert_eq!(leading_number(u64::from_le_bytes(bytes)), naive_number(&bytes));
            prop_assert_eq!(leading_short_number(u64::from_le_bytes(bytes)), naive_number(&bytes));
        }

        #[test]
        fn bytes_are_found_as_by_a_loop(bytes: [u8; 8], near in prop::collection::vec(9u8..12, 8)) {
            for bytes in [bytes, near.try_into().unwrap()] {
                for byte in [b'\n', bytes[5], 0, 0xff] {
                    let expected = bytes.iter().position(|&other| other == byte);
                    prop_assert_eq!(find(u64::from_le_bytes(bytes), byte), expected);
                }
            }
        }
    }
}
