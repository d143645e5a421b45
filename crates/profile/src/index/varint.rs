//! Varints: integers of variable length.
//!
//! A number of up to 56 bits takes one byte for each 7 bits. Its first byte tells the length: below its lowest set bit, there is
//! one zero bit for each byte that follows, so neither writing nor reading goes from byte to byte. A number of more than 56
//! bits is a zero byte and 16 bytes.
//!
//! ```text
//!   5 =       0b101    0b0000101_1               1 byte: the lowest bit is set, no byte follows
//! 300 = 0b100101100    0b101100_10 0b00000100    2 bytes: one zero bit, one byte follows
//! ```

use gristmill_format::Cost;

/// Appends the first bytes of an array. To append all of them and remove some is faster than a copy of variable length.
#[inline]
pub(super) fn push_some<const N: usize>(bytes: &mut Vec<u8>, array: &[u8; N], length: usize) {
    let end = bytes.len() + length;
    bytes.extend_from_slice(array);
    bytes.truncate(end);
}

/// Maps a signed cost to an unsigned number, so that small negative costs take few bytes as well: 0, -1, 1, -2 become 0, 1, 2, 3.
#[inline]
#[expect(clippy::cast_sign_loss, reason = "all bits are kept")]
pub(crate) fn zigzag(value: Cost) -> u128 {
    (value << 1 ^ value >> 127) as u128
}

/// Reverses [`zigzag`].
#[inline]
#[expect(clippy::cast_possible_wrap, reason = "all bits are kept")]
pub(crate) fn unzigzag(value: u128) -> Cost {
    (value >> 1) as Cost ^ -((value & 1) as Cost)
}

/// The smallest cost that does not fit in a number of up to 56 bits.
pub(crate) const LARGE_COST: u64 = 1 << 55;

/// Appends a number.
#[inline]
pub(crate) fn push_number(bytes: &mut Vec<u8>, value: u128) {
    match u64::try_from(value) {
        Ok(value) if value < 1 << 56 => push_short_number(bytes, value),
        _ => push_long_number(bytes, value),
    }
}

/// Appends a number of up to 56 bits.
#[inline]
pub(super) fn push_short_number(bytes: &mut Vec<u8>, value: u64) {
    let (word, count) = short_number(value);
    push_some(bytes, &word.to_le_bytes(), count as usize);
}

/// Returns the bytes of a number of up to 56 bits, the first one lowest, and their count.
#[inline]
pub(super) fn short_number(value: u64) -> (u64, u32) {
    let count = (64 - (value | 1).leading_zeros()).div_ceil(7);
    (value << count | 1 << (count - 1), count)
}

/// Appends a cost, mapped by [`zigzag`]. Returns `true` if it is below 0 or [large](LARGE_COST).
#[inline]
pub(super) fn push_cost(bytes: &mut Vec<u8>, value: Cost) -> bool {
    match u64::try_from(value) {
        // Nearly all costs; arithmetic on half the bits is faster.
        Ok(value) if value < LARGE_COST => {
            push_short_number(bytes, value << 1);
            false
        }
        _ => {
            push_number(bytes, zigzag(value));
            true
        }
    }
}

#[cold]
fn push_long_number(bytes: &mut Vec<u8>, value: u128) {
    bytes.push(0);
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// Returns the number that starts at an offset, and the offset of its end.
#[inline]
pub(crate) fn number(bytes: &[u8], at: usize) -> (u128, usize) {
    if let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let word = u64::from_le_bytes(*word);
        let count = word.trailing_zeros() + 1;
        if count <= 8 {
            return (u128::from(word << (64 - 8 * count) >> (64 - 7 * count)), at + count as usize);
        }
    }
    other_number(bytes, at)
}

/// Does the same for a long number, or one near the end of the bytes.
#[cold]
fn other_number(bytes: &[u8], at: usize) -> (u128, usize) {
    let rest = &bytes[at..];
    debug_assert!(!rest.is_empty(), "a number starts here");
    if let [0, rest @ ..] = rest
        && let Some(value) = rest.first_chunk()
    {
        return (u128::from_le_bytes(*value), at + 17);
    }
    let mut word = [0; 8];
    let known = rest.len().min(word.len());
    word[..known].copy_from_slice(&rest[..known]);
    let word = u64::from_le_bytes(word);
    let count = (word.trailing_zeros() + 1).min(8);
    (u128::from(word << (64 - 8 * count) >> (64 - 7 * count)), at + count as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn varints_come_back(numbers: Vec<(u128, u32)>) {
            let numbers: Vec<u128> = numbers.iter().map(|(number, shift)| number >> (shift % 128)).collect();
            let mut bytes = Vec::new();
            let mut ends = Vec::new();
            for &number in &numbers {
                push_number(&mut bytes, number);
                ends.push(bytes.len());
            }
            let mut at = 0;
            for (&expected, &end) in numbers.iter().zip(&ends) {
                // With and without bytes behind it.
                prop_assert_eq!(number(&bytes, at), (expected, end));
                prop_assert_eq!(number(&bytes[..end], at), (expected, end));
                at = end;
            }
        }
    }
}
