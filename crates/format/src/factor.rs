//! Factors in the formulas of derived event types: `10 Bm`, `10Bm`, `0x10 * Bm`.

use crate::scan::{number, trim_start};

/// The beginning of a term of a formula: its factor, and the rest.
///
/// ```
/// use gristmill_format::raw::Factor;
///
/// let factor = Factor::split(b" 0x10 * Bm + Ir");
/// assert_eq!((factor.value, factor.rest), (Some(16), &b"Bm + Ir"[..]));
/// // The digits end where no digit follows.
/// assert_eq!(Factor::split(b"10Bm").rest, b"Bm");
/// assert_eq!(Factor::split(b"Bm").value, Some(1));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Factor<'a> {
    /// The factor; 1 if the term has none, `None` if it is above 2^63 − 1. With this limit, a cost of 64 bits times a factor
    /// fits into a [`Cost`](crate::Cost).
    pub value: Option<i64>,
    /// The text after the factor, the `*` and blanks: the name of an event type and all that follows.
    pub rest: &'a [u8],
}

impl<'a> Factor<'a> {
    /// Splits a term, or a text that begins with one. A number is decimal, or `0x` with hexadecimal digits; `*` may follow
    /// it. A sign before the term is the caller's.
    pub fn split(term: &'a [u8]) -> Self {
        let term = trim_start(term);
        let count = |text: &[u8], is_digit: fn(&u8) -> bool| {
            text.iter().position(|byte| !is_digit(byte)).unwrap_or(text.len())
        };
        let hexadecimal = term.strip_prefix(b"0x").map_or(0, |digits| count(digits, u8::is_ascii_hexdigit));
        let length = match hexadecimal {
            0 => count(term, u8::is_ascii_digit),
            digits => 2 + digits,
        };
        if length == 0 {
            return Factor { value: Some(1), rest: term };
        }
        let (digits, rest) = term.split_at(length);
        let rest = trim_start(rest);
        let value = number(digits).ok().and_then(|value| i64::try_from(value).ok());
        Factor { value, rest: rest.strip_prefix(b"*").map_or(rest, trim_start) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_decimal_or_hexadecimal() {
        for (term, value, rest) in [
            ("Bm", Some(1), "Bm"),
            (" 10 Bm ", Some(10), "Bm "),
            ("10*Bm", Some(10), "Bm"),
            ("007\t* Bm", Some(7), "Bm"),
            ("0x10 Bm", Some(16), "Bm"),
            ("0x1F*Ir", Some(31), "Ir"),
            ("0x7fffffffffffffff Ir", Some(i64::MAX), "Ir"),
            ("0x8000000000000000 Ir", None, "Ir"),
            ("18446744073709551616 Ir", None, "Ir"),
            // As many digits as there are.
            ("0x1Dr", Some(0x1d), "r"),
            // The published grammar has no other prefix: this is 0 times a name.
            ("0X10", Some(0), "X10"),
            ("0xyz", Some(0), "xyz"),
            ("* Ir", Some(1), "* Ir"),
            ("2 3 Ir", Some(2), "3 Ir"),
            ("2 * * Ir", Some(2), "* Ir"),
            ("", Some(1), ""),
        ] {
            assert_eq!(Factor::split(term.as_bytes()), Factor { value, rest: rest.as_bytes() }, "{term}");
        }
    }
}
