//! Rows of costs, one after the other, in as few bytes as they need.
//!
//! A sum of 128 bits for each event type of each arc would take more room than the file that it comes from. Here a
//! small
//! number takes a byte, and zeros at the end of a row take none, as in the file.

use gristmill_format::Cost;

/// Adds a row at the end: how many numbers it has, then the numbers.
pub(crate) fn push_row(bytes: &mut Vec<u8>, values: &[Cost]) {
    let count = values.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1);
    push_number(bytes, count as u128);
    for &value in &values[..count] {
        push_number(bytes, zigzag(value));
    }
}

/// Reads the row that begins here and adds it to the values; returns where the next one begins.
///
/// A row that has more numbers than there are values loses them; none is ever read into fewer than it was made of.
pub(crate) fn add_row(bytes: &[u8], at: usize, values: &mut [Cost]) -> usize {
    let (count, mut at) = number(bytes, at);
    let mut values = values.iter_mut();
    for _ in 0..count {
        let value;
        (value, at) = number(bytes, at);
        if let Some(sum) = values.next() {
            *sum += unzigzag(value);
        }
    }
    at
}

/// How many numbers the row has that begins here.
pub(crate) fn row_count(bytes: &[u8]) -> usize {
    usize::try_from(number(bytes, 0).0).unwrap_or(usize::MAX)
}

/// How many bytes the row takes that begins here.
pub(crate) fn row_len(bytes: &[u8]) -> usize {
    let (count, mut at) = number(bytes, 0);
    for _ in 0..count {
        at = number(bytes, at).1;
    }
    at
}

/// So that a small number below zero is a small number as well.
#[expect(clippy::cast_sign_loss, reason = "all bits are kept")]
fn zigzag(value: Cost) -> u128 {
    (value << 1 ^ value >> 127) as u128
}

#[expect(clippy::cast_possible_wrap, reason = "all bits are kept")]
fn unzigzag(value: u128) -> Cost {
    (value >> 1) as Cost ^ -((value & 1) as Cost)
}

/// Seven bits in a byte, lowest first; the eighth says that more follow.
#[expect(clippy::cast_possible_truncation, reason = "seven bits, or no more than fit")]
fn push_number(bytes: &mut Vec<u8>, mut value: u128) {
    while value > u128::from(u64::MAX) {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    // Nearly all are no larger than that, and half as wide goes faster.
    let mut value = value as u64;
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[inline]
fn number(bytes: &[u8], at: usize) -> (u128, usize) {
    match bytes.get(at) {
        Some(&byte) if byte < 0x80 => (u128::from(byte), at + 1),
        _ => long_number(bytes, at),
    }
}

fn long_number(bytes: &[u8], mut at: usize) -> (u128, usize) {
    let mut value = 0;
    let mut shift = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        value |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
        shift += 7;
    }
    (value, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_come_back(rows: Vec<Vec<i128>>, small: Vec<Vec<i8>>) {
            let mut rows = rows;
            rows.extend(small.iter().map(|row| row.iter().map(|&value| i128::from(value)).collect()));
            let mut bytes = Vec::new();
            rows.iter().for_each(|row| push_row(&mut bytes, row));
            let mut at = 0;
            for row in &rows {
                let mut values = vec![0; row.len()];
                at = add_row(&bytes, at, &mut values);
                prop_assert_eq!(&values, row);
            }
            prop_assert_eq!(at, bytes.len());
        }
    }

    #[test]
    fn small_numbers_take_a_byte() {
        let mut bytes = Vec::new();
        push_row(&mut bytes, &[63, -64, 0, 0]);
        assert_eq!(bytes, [2, 126, 127]);
    }
}
