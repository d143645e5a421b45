//! Rows of costs in as few bytes as they need.
//!
//! A sum of 128 bits for each event type of each arc would take more memory than the file that it comes from. In a row, a
//! small cost takes a byte, and zeros at the end of a row take none, as in the file. All numbers are [varints](super::varint),
//! costs are mapped by [`zigzag`](super::varint::zigzag):
//!
//! ```text
//! row:  length of what follows | cost | cost | …
//!
//! 2 calls of cost 400, with no cost of a second event type:  [2, 400, 0]
//!       3 | 4 | 800        in 1 + 1 + 2 bytes; 4 and 800 are 2 and 400 as zigzag maps them
//! ```

use std::ops::Range;

use gristmill_format::Cost;

use super::varint::{number, push_cost, push_number, push_short_number, push_some, short_number, unzigzag};

/// Appends a row. Returns `true` if a value is below 0 or at least [`LARGE_COST`](super::varint::LARGE_COST).
pub(crate) fn push_row(bytes: &mut Vec<u8>, values: &[Cost]) -> bool {
    if let [first, second] = *values
        && let Some((row, length)) = short_row(first, second)
    {
        push_some(bytes, &row, length);
        return false;
    }
    let count = values.iter().rposition(|&value| value != 0).map_or(0, |last| last + 1);
    let begin = bytes.len();
    // The length of nearly all rows takes a byte.
    push_short_number(bytes, 0);
    let mut is_unusual = false;
    for &value in &values[..count] {
        is_unusual |= push_cost(bytes, value);
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
    is_unusual
}

/// Returns the bytes of a row of two small numbers, and their count. With one event type, nearly all rows are such.
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

/// Appends a row that is in other bytes.
#[inline]
pub(crate) fn push_other_row(bytes: &mut Vec<u8>, others: &[u8], row: Range<usize>) {
    match others.get(row.start..).and_then(<[u8]>::first_chunk::<16>) {
        Some(some) if row.len() <= some.len() => push_some(bytes, some, row.len()),
        _ => bytes.extend_from_slice(&others[row]),
    }
}

/// Adds the row at an offset to values, and returns the offset of its end.
///
/// Costs beyond the values are skipped, as for a caller that asks for the first event types only.
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

/// Does the same for a whole row: values are appended where it has more costs.
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

/// Returns the offset of the end of the row at an offset.
#[inline]
pub(crate) fn row_end(bytes: &[u8], at: usize) -> usize {
    row_range(bytes, at).1
}

/// Returns the offsets where the costs of a row start and end.
#[inline]
fn row_range(bytes: &[u8], at: usize) -> (usize, usize) {
    let length = bytes[at];
    if length & 1 != 0 {
        return (at + 1, at + 1 + usize::from(length >> 1));
    }
    let (length, at) = number(bytes, at);
    (at, at + length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn cost_rows_come_back(rows: Vec<Vec<i128>>, small: Vec<Vec<i8>>) {
            let mut rows = rows;
            rows.extend(small.iter().map(|row| row.iter().map(|&value| i128::from(value)).collect()));
            let mut bytes = Vec::new();
            rows.iter().for_each(|row| _ = push_row(&mut bytes, row));
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
    fn small_costs_take_a_byte() {
        let mut bytes = Vec::new();
        push_row(&mut bytes, &[63, -64, 0, 0]);
        assert_eq!(bytes, [5, 253, 255]);
    }
}
