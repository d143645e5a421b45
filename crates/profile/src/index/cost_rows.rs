//! Rows of costs, one after the other, in as few bytes as they need.
//!
//! A sum of 128 bits for each event type of each arc would take more room than the file that it comes from. Here a small
//! number takes a byte, and zeros at the end of a row take none, as in the file.

use std::ops::Range;

use gristmill_format::Cost;

/// Adds a row at the end: how many bytes follow, then the numbers.
pub(crate) fn push_row(bytes: &mut Vec<u8>, values: &[Cost]) {
    if let [first, second] = *values
        && let Some((row, length)) = short_row(first, second)
    {
        push_some(bytes, &row, length);
        return;
    }
    let count = values.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1);
    let begin = bytes.len();
    // Nearly all rows are so short that their length takes a byte.
    push_short_number(bytes, 0);
    for &value in &values[..count] {
        push_cost(bytes, value);
    }
    let length = bytes.len() - begin - 1;
    match u8::try_from(length) {
        Ok(length) if length < 0x80 => bytes[begin] = length << 1 | 1,
        _ => {
            let mut header = Vec::new();
            push_number(&mut header, length as u128);
            bytes.splice(begin..=begin, header);
        }
    }
}

/// A row of two small numbers, such as nearly all are where there is one event type, and how many of the bytes are of it.
#[inline]
fn short_row(first: Cost, second: Cost) -> Option<([u8; 16], usize)> {
    const LIMIT: u64 = 1 << 27;
    let [first, second] = [u64::try_from(first).ok()?, u64::try_from(second).ok()?];
    if first >= LIMIT || second >= LIMIT {
        return None;
    }
    let (second, second_length) = if second == 0 { (0, 0) } else { short_number(second << 1) };
    let (first, first_length) = if first == 0 && second == 0 { (0, 0) } else { short_number(first << 1) };
    let length = first_length + second_length;
    let numbers = first | second << (8 * first_length);
    let row = u128::from(numbers) << 8 | u128::from(length << 1 | 1);
    Some((row.to_le_bytes(), 1 + length as usize))
}

/// Adds a row that stands in other bytes.
#[inline]
pub(crate) fn push_other_row(bytes: &mut Vec<u8>, others: &[u8], row: Range<usize>) {
    match others.get(row.start..).and_then(<[u8]>::first_chunk::<16>) {
        Some(some) if row.len() <= some.len() => push_some(bytes, some, row.len()),
        _ => bytes.extend_from_slice(others.get(row).unwrap_or_default()),
    }
}

/// Adds so many of these bytes: all of them at once and then some taken away is faster than a copy of any length.
#[inline]
fn push_some<const N: usize>(bytes: &mut Vec<u8>, some: &[u8; N], length: usize) {
    let end = bytes.len() + length;
    bytes.extend_from_slice(some);
    bytes.truncate(end);
}

/// Reads the row that begins here and adds it to the values; returns where the next one begins.
///
/// A row that has more numbers than there are values loses them; none is ever read into fewer than it was made of.
pub(crate) fn add_row(bytes: &[u8], at: usize, values: &mut [Cost]) -> usize {
    let (mut at, end) = row_range(bytes, at);
    for sum in values {
        if at >= end {
            break;
        }
        let value;
        (value, at) = number(bytes, at);
        *sum += unzigzag(value);
    }
    end
}

/// The same for as many values as the row needs.
pub(crate) fn add_whole_row(bytes: &[u8], at: usize, values: &mut Vec<Cost>) {
    let (mut at, end) = row_range(bytes, at);
    let mut place = 0;
    while at < end {
        let value;
        (value, at) = number(bytes, at);
        if place == values.len() {
            values.push(0);
        }
        values[place] += unzigzag(value);
        place += 1;
    }
}

/// Where the row ends that begins here.
#[inline]
pub(crate) fn row_end(bytes: &[u8], at: usize) -> usize {
    row_range(bytes, at).1
}

/// Where the numbers of a row begin and end.
#[inline]
fn row_range(bytes: &[u8], at: usize) -> (usize, usize) {
    if let Some(&length) = bytes.get(at)
        && length & 1 != 0
    {
        return (at + 1, at + 1 + usize::from(length >> 1));
    }
    let (length, at) = number(bytes, at);
    (at, at + usize::try_from(length).unwrap_or_default())
}

/// So that a small number below zero is a small number as well.
#[inline]
#[expect(clippy::cast_sign_loss, reason = "all bits are kept")]
pub(crate) fn zigzag(value: Cost) -> u128 {
    (value << 1 ^ value >> 127) as u128
}

#[inline]
#[expect(clippy::cast_possible_wrap, reason = "all bits are kept")]
pub(crate) fn unzigzag(value: u128) -> Cost {
    (value >> 1) as Cost ^ -((value & 1) as Cost)
}

/// Seven bits in a byte, lowest first. As many zeros as bytes follow the first stand below the lowest bit that is set in
/// it, so that neither writing nor reading goes from byte to byte. What has more than 56 bits follows a byte of zeros.
#[inline]
pub(crate) fn push_number(bytes: &mut Vec<u8>, value: u128) {
    match u64::try_from(value) {
        Ok(value) if value < 1 << 56 => push_short_number(bytes, value),
        _ => push_long_number(bytes, value),
    }
}

/// One of 56 bits.
#[inline]
fn push_short_number(bytes: &mut Vec<u8>, value: u64) {
    let (word, count) = short_number(value);
    push_some(bytes, &word.to_le_bytes(), count as usize);
}

/// The bytes of one of 56 bits, the first one lowest, and how many they are.
#[inline]
fn short_number(value: u64) -> (u64, u32) {
    let count = (64 - (value | 1).leading_zeros()).div_ceil(7);
    (value << count | 1 << (count - 1), count)
}

/// The same as the number that [`zigzag`] makes of it.
#[inline]
fn push_cost(bytes: &mut Vec<u8>, value: Cost) {
    match u64::try_from(value) {
        // Nearly all, and half as wide goes faster.
        Ok(value) if value < 1 << 55 => push_short_number(bytes, value << 1),
        _ => push_number(bytes, zigzag(value)),
    }
}

#[cold]
fn push_long_number(bytes: &mut Vec<u8>, value: u128) {
    bytes.push(0);
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// The number that begins here, and where it ends.
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

/// A long number, or one near the end.
#[cold]
fn other_number(bytes: &[u8], at: usize) -> (u128, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
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

    proptest! {
        #[test]
        fn numbers_come_back(numbers: Vec<(u128, u32)>) {
            let numbers: Vec<u128> = numbers.iter().map(|(number, shift)| number >> (shift % 128)).collect();
            let mut bytes = Vec::new();
            let mut ends = Vec::new();
            for &number in &numbers {
                push_number(&mut bytes, number);
                ends.push(bytes.len());
            }
            let mut at = 0;
            for (&expected, &end) in numbers.iter().zip(&ends) {
                // With and without something behind it.
                prop_assert_eq!(number(&bytes, at), (expected, end));
                prop_assert_eq!(number(&bytes[..end], at), (expected, end));
                at = end;
            }
        }
    }

    #[test]
    fn small_numbers_take_a_byte() {
        let mut bytes = Vec::new();
        push_row(&mut bytes, &[63, -64, 0, 0]);
        assert_eq!(bytes, [5, 253, 255]);
    }
}
