//! Numbers as callgrind_annotate has them: 64 bits with or without a sign, and floating point beyond them.

use std::cmp::Ordering;

/// The count of whole numbers that a double has, from 0 on.
const WHOLE_DOUBLES: f64 = 9_007_199_254_740_992.0;

/// The significant digits that are printed.
const DIGITS: i32 = 15;

/// A number. A double that is a whole number below 2^53 is always `Whole`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Number {
    /// A whole number with a sign.
    Whole(i64),
    /// A whole number above those with a sign.
    Large(u64),
    /// Any other number.
    Double(f64),
}

impl Number {
    pub(super) const ZERO: Number = Number::Whole(0);

    /// Parses the number at the beginning of a word. There, 0 stands for text that is no number.
    pub(super) fn parse(word: &[u8]) -> Number {
        let (is_negative, digits) = match word {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, word),
        };
        let count = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let whole = count(digits);
        if (1..=18).contains(&whole) && whole == digits.len() {
            let value = digits.iter().fold(0, |value, &digit| value * 10 + i64::from(digit - b'0'));
            return Number::Whole(if is_negative { -value } else { value });
        }
        let starts_with = |name: &[u8]| digits.get(..3).is_some_and(|text| text.eq_ignore_ascii_case(name));
        if starts_with(b"inf") {
            return Number::Double(if is_negative { f64::NEG_INFINITY } else { f64::INFINITY });
        }
        if starts_with(b"nan") {
            return Number::Double(f64::NAN);
        }
        let mut end = whole;
        if digits.get(end) == Some(&b'.') {
            let fraction = count(&digits[end + 1..]);
            if whole + fraction == 0 {
                return Number::ZERO;
            }
            end += 1 + fraction;
        }
        if end > 0 && matches!(digits.get(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(digits.get(end + 1), Some(b'+' | b'-')));
            let exponent = count(digits.get(end + 1 + sign..).unwrap_or_default());
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        let text = String::from_utf8_lossy(&digits[..end]);
        if end == whole
            && let Ok(value) = text.parse::<u64>()
        {
            return Number::from_whole(if is_negative { -i128::from(value) } else { i128::from(value) });
        }
        let value: f64 = text.parse().unwrap_or(0.0);
        Number::from_double(if is_negative { -value } else { value })
    }

    /// A whole number, which is rounded if it has more than 64 bits.
    fn from_whole(value: i128) -> Number {
        if let Ok(value) = i64::try_from(value) {
            Number::Whole(value)
        } else if let Ok(value) = u64::try_from(value) {
            Number::Large(value)
        } else {
            #[expect(clippy::cast_precision_loss, reason = "numbers beyond 64 bits are rounded")]
            Number::from_double(value as f64)
        }
    }

    fn from_double(value: f64) -> Number {
        if value.fract() == 0.0 && value.abs() < WHOLE_DOUBLES {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number below 2^53")]
            Number::Whole(value as i64)
        } else {
            Number::Double(value)
        }
    }

    fn whole(self) -> Option<i128> {
        match self {
            Number::Whole(value) => Some(value.into()),
            Number::Large(value) => Some(value.into()),
            Number::Double(_) => None,
        }
    }

    /// The number as a double.
    #[expect(clippy::cast_precision_loss, reason = "as in the original")]
    pub(super) fn to_double(self) -> f64 {
        match self {
            Number::Whole(value) => value as f64,
            Number::Large(value) => value as f64,
            Number::Double(value) => value,
        }
    }

    fn combined(
        self,
        other: Number,
        whole: impl Fn(i128, i128) -> i128,
        double: impl Fn(f64, f64) -> f64,
    ) -> Number {
        match (self.whole(), other.whole()) {
            (Some(one), Some(other)) => Number::from_whole(whole(one, other)),
            _ => Number::from_double(double(self.to_double(), other.to_double())),
        }
    }

    pub(super) fn plus(self, other: Number) -> Number {
        if let (Number::Whole(one), Number::Whole(other)) = (self, other)
            && let Some(sum) = one.checked_add(other)
        {
            return Number::Whole(sum);
        }
        self.combined(other, |one, other| one + other, |one, other| one + other)
    }

    pub(super) fn minus(self, other: Number) -> Number {
        self.combined(other, |one, other| one - other, |one, other| one - other)
    }

    pub(super) fn is_zero(self) -> bool {
        self.to_double() == 0.0
    }

    pub(super) fn is_positive(self) -> bool {
        self.to_double() > 0.0
    }

    /// Compares two numbers: exactly if both are whole.
    pub(super) fn order(self, other: Number) -> Ordering {
        match (self.whole(), other.whole()) {
            (Some(one), Some(other)) => one.cmp(&other),
            _ => self.order_as_double(other),
        }
    }

    /// Compares two numbers as doubles. What is no number comes first or last.
    pub(super) fn order_as_double(self, other: Number) -> Ordering {
        self.to_double().total_cmp(&other.to_double())
    }

    /// The larger of two numbers.
    pub(super) fn max(self, other: Number) -> Number {
        if other.order(self).is_gt() { other } else { self }
    }

    /// The share of another number, in percent.
    pub(super) fn percent_of(self, whole: Number) -> f64 {
        self.combined(Number::Whole(100), |one, other| one * other, |one, other| one * other).to_double()
            / whole.to_double()
    }

    /// The number as it is printed.
    pub(super) fn text(self) -> String {
        match self {
            Number::Whole(value) => value.to_string(),
            Number::Large(value) => value.to_string(),
            Number::Double(value) => text_of_double(value),
        }
    }
}

/// A double with 15 significant digits, with an exponent if it is very small or large.
fn text_of_double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-Inf" } else { "Inf" }.to_owned();
    }
    let scientific = format!("{value:.14e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let without_zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..DIGITS).contains(&exponent) {
        let decimals = usize::try_from(DIGITS - 1 - exponent).unwrap_or(0);
        return without_zeros(&format!("{value:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(words: &[&str]) -> String {
        words.iter().fold(Number::ZERO, |sum, word| sum.plus(Number::parse(word.as_bytes()))).text()
    }

    #[test]
    fn numbers_are_those_of_perl() {
        // As `perl -e '$x += $_ for @ARGV; print $x'` prints them.
        for (words, text) in [
            (&["7"][..], "7"),
            (&["-5", "+3"], "-2"),
            (&["1e15"], "1000000000000000"),
            (&["18446744073709551615"], "18446744073709551615"),
            (&["18446744073709551615", "1"], "1.84467440737096e+19"),
            (&["18446744073709551615", "1", "-1e19"], "8.44674407370955e+18"),
            (&["9223372036854775807", "1"], "9223372036854775808"),
            (&["123456789012345678901234567890"], "1.23456789012346e+29"),
            (&["0.1", "0.2"], "0.3"),
            (&["1.5e", ".5", "+7."], "9"),
            (&["1e-5"], "1e-05"),
            (&["0.0001"], "0.0001"),
            (&["123456789.123456789"], "123456789.123457"),
            (&["999999999999999.9"], "1e+15"),
            (&["0x10"], "0"),
            (&["5#x"], "5"),
            (&["--5", ".", "..", "x"], "0"),
            (&["infx"], "Inf"),
            (&["-inf"], "-Inf"),
            (&["nan"], "NaN"),
        ] {
            assert_eq!(sum(words), text, "{words:?}");
        }
    }
}
