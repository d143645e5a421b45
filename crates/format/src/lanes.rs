//! Several bytes looked at together: where a line ends, and what number some digits are.
//!
//! Lines are short and what they hold is irregular, so a loop that goes from byte to byte spends most of its time on
//! branches that were guessed wrong. Here nothing depends on how many digits a number has.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const ZEROS: u64 = b'0' as u64 * ONES;
/// Added to the value of a byte, sets the high bit if the byte is no digit.
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
    let digits = eight ^ ZEROS;
    // The high bit of each byte that is no digit. A byte may disturb those above it, but only when it is none itself.
    let others = (digits.wrapping_add(ABOVE_NINE) | digits) & HIGH;
    if others == 0 {
        return None;
    }
    let end = others.trailing_zeros();
    // Moved up, so that zeros precede the number and nothing follows it.
    Some((value_of(digits << (63 - end) << 8), (end / 8) as usize))
}

/// The number of eight digits, the first one lowest.
#[inline(always)]
fn value_of(digits: u64) -> u64 {
    const PAIR: u64 = 0x0000_00ff_0000_00ff;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let odd = (pairs & PAIR).wrapping_mul(100 + (1_000_000 << 32));
    let even = (pairs >> 16 & PAIR).wrapping_mul(1 + (10_000 << 32));
    odd.wrapping_add(even) >> 32
}

/// The number that the first `length` of these bytes are; None if not all of them are digits, or there are none.
///
/// Nearly all numbers of a profile have four digits at most, which are read with two thirds of the instructions.
#[inline(always)]
pub(crate) fn whole_number(eight: u64, length: usize) -> Option<u64> {
    if !(1..=4).contains(&length) {
        return whole_long_number(eight, length);
    }
    let [digits, above_nine, high] = [eight ^ ZEROS, ABOVE_NINE, HIGH].map(first_four);
    let digits = digits << (32 - 8 * length);
    if (digits.wrapping_add(above_nine) | digits) & high != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10 << 8 | 1) >> 8 & 0x00ff_00ff;
    Some(u64::from(pairs.wrapping_mul(100 << 16 | 1) >> 16))
}

/// The number that the first `length` of these bytes are, which are known to be digits: one to eight of them.
#[inline(always)]
pub(crate) fn number_of_digits(eight: u64, length: usize) -> u64 {
    value_of((eight ^ ZEROS) << (64 - 8 * length))
}

#[inline(never)]
fn whole_long_number(eight: u64, length: usize) -> Option<u64> {
    if !(1..=8).contains(&length) {
        return None;
    }
    let digits = (eight ^ ZEROS) << (64 - 8 * length);
    ((digits.wrapping_add(ABOVE_NINE) | digits) & HIGH == 0).then(|| value_of(digits))
}

#[expect(clippy::cast_possible_truncation, reason = "the others are not asked for")]
const fn first_four(eight: u64) -> u32 {
    eight as u32
}

/// As much of a text as is looked at together: in nearly all lines the whole line, or its positions and their signs.
pub(crate) type Window = [u8; 32];

/// Half a window: in most lines the whole line.
pub(crate) type HalfWindow = [u8; 16];

/// Bit n is set if byte n is no digit.
#[inline(always)]
pub(crate) fn find_others_than_digits(half: &HalfWindow) -> u32 {
    #[cfg(target_arch = "x86_64")]
    return sse2::find_others_than_digits(half);
    #[cfg(not(target_arch = "x86_64"))]
    return portable::find_others_than_digits(half);
}

/// Bit n is set if byte n is this one.
#[inline(always)]
pub(crate) fn find_all(window: &Window, byte: u8) -> u32 {
    #[cfg(target_arch = "x86_64")]
    return sse2::find_all(window, byte);
    #[cfg(not(target_arch = "x86_64"))]
    return portable::find_all(window, byte);
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "there is no safe way to these instructions; a test compares with a loop")]
mod sse2 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8, _mm_setzero_si128, _mm_subs_epu8,
        _mm_xor_si128,
    };

    use super::{HalfWindow, Window};

    #[inline(always)]
    pub(super) fn find_others_than_digits(half: &HalfWindow) -> u32 {
        // SAFETY: every x86_64 has SSE2; 16 bytes are read, and need no alignment.
        let digits = unsafe {
            let bytes = _mm_loadu_si128(half.as_ptr().cast());
            let values = _mm_xor_si128(bytes, _mm_set1_epi8(b'0'.cast_signed()));
            let above_nine = _mm_subs_epu8(values, _mm_set1_epi8(9));
            _mm_movemask_epi8(_mm_cmpeq_epi8(above_nine, _mm_setzero_si128())).cast_unsigned()
        };
        digits ^ 0xffff
    }

    #[inline(always)]
    pub(super) fn find_all(window: &Window, byte: u8) -> u32 {
        // SAFETY: every x86_64 has SSE2; each half reads 16 of the window's 32 bytes, and needs no alignment.
        let [low, high] = unsafe {
            let start = window.as_ptr();
            [start, start.add(16)].map(|half| {
                let bytes = _mm_loadu_si128(half.cast());
                _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed()))).cast_unsigned()
            })
        };
        low | high << 16
    }
}

#[cfg(any(test, not(target_arch = "x86_64")))]
mod portable {
    use super::{ABOVE_NINE, HIGH, HalfWindow, ONES, Window, ZEROS};

    #[inline(always)]
    pub(super) fn find_others_than_digits(half: &HalfWindow) -> u32 {
        half.as_chunks::<8>().0.iter().rev().fold(0, |found, &eight| {
            let values = u64::from_le_bytes(eight) ^ ZEROS;
            let others = ((values & !HIGH).wrapping_add(ABOVE_NINE) | values) & HIGH;
            found << 8 | gathered(others)
        })
    }

    /// The high bits of all bytes, side by side.
    #[inline(always)]
    fn gathered(high_bits: u64) -> u32 {
        ((high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u32
    }

    #[inline(always)]
    pub(super) fn find_all(window: &Window, byte: u8) -> u32 {
        window.as_chunks::<8>().0.iter().rev().fold(0, |found, &eight| {
            let differs = u64::from_le_bytes(eight) ^ (ONES * u64::from(byte));
            // The high bit of each byte that is 0, and of no other.
            let zeros = !((differs & !HIGH).wrapping_add(!HIGH) | differs) & HIGH;
            found << 8 | gathered(zeros)
        })
    }
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
            for length in 1..=8 {
                let naive = std::str::from_utf8(&bytes[..length]).ok().filter(|text| !text.starts_with('+'));
                let naive = naive.and_then(|text| text.parse().ok());
                prop_assert_eq!(whole_number(u64::from_le_bytes(bytes), length), naive);
                if let Some(naive) = naive {
                    prop_assert_eq!(number_of_digits(u64::from_le_bytes(bytes), length), naive);
                }
            }
            bytes[..digits.len()].copy_from_slice(digits.as_bytes());
            prop_assert_eq!(leading_number(u64::from_le_bytes(bytes)), naive_number(&bytes));
        }

        #[test]
        fn bytes_are_found_as_by_a_loop(bytes: [u8; 32], near in prop::collection::vec(9u8..12, 32), digits in "[/-:]{32}") {
            for window in [bytes, digits.into_bytes().try_into().unwrap(), near.try_into().unwrap()] {
                let half: HalfWindow = *window.first_chunk().unwrap();
                let others = (0..16).filter(|&nth| !half[nth].is_ascii_digit()).fold(0, |found, nth| found | 1 << nth);
                prop_assert_eq!(find_others_than_digits(&half), others);
                prop_assert_eq!(portable::find_others_than_digits(&half), others);
                for byte in [b'\n', bytes[5], 0, 0xff] {
                    let naive = (0..32).filter(|&nth| window[nth] == byte).fold(0, |found, nth| found | 1 << nth);
                    prop_assert_eq!(find_all(&window, byte), naive);
                    prop_assert_eq!(portable::find_all(&window, byte), naive);
                }
            }
        }
    }
}
