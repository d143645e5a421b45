//! Numbers as text. The formatting of the standard library takes several times as long.

use gristmill_format::Cost;

/// Appends a decimal number.
pub(crate) fn push_decimal(bytes: &mut Vec<u8>, number: Cost) {
    let mut digits = [0u8; 40];
    let mut start = digits.len();
    let mut rest = number.unsigned_abs();
    // Nearly all fit into 64 bits, whose division is much faster.
    while rest > u128::from(u64::MAX) {
        start -= 1;
        digits[start] = digit(rest % 10);
        rest /= 10;
    }
    #[expect(clippy::cast_possible_truncation, reason = "it was compared")]
    let mut rest = rest as u64;
    loop {
        start -= 1;
        digits[start] = digit((rest % 10).into());
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        bytes.push(b'-');
    }
    bytes.extend_from_slice(&digits[start..]);
}

#[expect(clippy::cast_possible_truncation, reason = "a digit")]
fn digit(rest: u128) -> u8 {
    b'0' + rest as u8
}

/// Appends a hexadecimal number with its prefix.
pub(crate) fn push_hex(bytes: &mut Vec<u8>, number: u64) {
    bytes.extend_from_slice(b"0x");
    let digit_count = (64 - number.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digit_count).rev() {
        let digit = digit(u128::from(number >> (4 * place) & 0xf));
        bytes.push(if digit > b'9' { digit - b'9' - 1 + b'a' } else { digit });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spelled_as_the_standard_library_does() {
        for number in
            [0, 9, 10, -1, i64::MIN.into(), u64::MAX.into(), Cost::from(u64::MAX) + 1, Cost::MIN, Cost::MAX]
        {
            let mut bytes = Vec::new();
            push_decimal(&mut bytes, number);
            assert_eq!(String::from_utf8(bytes).unwrap(), number.to_string());
        }
        for number in [0, 1, 15, 16, 0x0040_1136, u64::MAX] {
            let mut bytes = Vec::new();
            push_hex(&mut bytes, number);
            assert_eq!(String::from_utf8(bytes).unwrap(), format!("{number:#x}"));
        }
    }
}
