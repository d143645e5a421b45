//! Exact factors, and rounding.

use std::fmt;
use std::str::FromStr;

use gristmill_format::Cost;

/// A factor that costs are multiplied by, exactly: `3`, `0.25` or `1/3`.
///
/// ```
/// use gristmill_profile::merge::Ratio;
///
/// let third: Ratio = "1/3".parse().unwrap();
/// assert_eq!([4, 5, -5].map(|cost| third.apply(cost)), [Some(1), Some(2), Some(-2)]);
/// assert_eq!("0.25".parse::<Ratio>().unwrap().to_string(), "1/4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    numerator: Cost,
    denominator: Cost,
}

/// An error: the text is not a factor. See the example of [`Ratio`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RatioError;

impl fmt::Display for RatioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a factor is a number such as 0.25, or a fraction such as 1/3")
    }
}

impl std::error::Error for RatioError {}

/// The limit of digits of a factor: the product with a sum of 64-bit costs fits into 128 bits.
const MAX_DIGITS: usize = 12;

impl Ratio {
    /// Returns the numerator and the denominator, which is above 0.
    pub(super) fn parts(self) -> (Cost, Cost) {
        (self.numerator, self.denominator)
    }

    /// `true` if it is above 0.
    pub fn is_positive(self) -> bool {
        self.numerator > 0
    }

    /// Multiplies a cost and rounds to the nearest integer, halves away from 0. Returns `None` above 128 bits.
    pub fn apply(self, cost: Cost) -> Option<Cost> {
        cost.checked_mul(self.numerator).map(|product| rounded_quotient(product, self.denominator))
    }
}

/// Divides and rounds to the nearest integer, halves away from 0, so that the sign makes no difference.
pub(super) fn rounded_quotient(numerator: Cost, denominator: Cost) -> Cost {
    let (quotient, rest) = (numerator / denominator, numerator % denominator);
    if rest.unsigned_abs() >= denominator.unsigned_abs() - rest.unsigned_abs() && rest != 0 {
        quotient + numerator.signum() * denominator.signum()
    } else {
        quotient
    }
}

impl FromStr for Ratio {
    type Err = RatioError;

    fn from_str(text: &str) -> Result<Self, RatioError> {
        let digits = |text: &str| -> Result<Cost, RatioError> {
            let fits = !text.is_empty()
                && text.len() <= MAX_DIGITS
                && text.bytes().all(|byte| byte.is_ascii_digit());
            if fits { text.parse().map_err(|_| RatioError) } else { Err(RatioError) }
        };
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (numerator, denominator) = if let Some((numerator, denominator)) = text.split_once('/') {
            (digits(numerator)?, digits(denominator)?)
        } else if let Some((whole, fraction)) = text.split_once('.') {
            let places = u32::try_from(fraction.len()).map_err(|_| RatioError)?;
            (digits(&format!("{whole}{fraction}"))?, 10_i128.checked_pow(places).ok_or(RatioError)?)
        } else {
            (digits(text)?, 1)
        };
        if denominator == 0 {
            return Err(RatioError);
        }
        let divisor = greatest_common_divisor(numerator, denominator);
        Ok(Ratio { numerator: sign * numerator / divisor, denominator: denominator / divisor })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.denominator {
            1 => write!(f, "{}", self.numerator),
            denominator => write!(f, "{}/{denominator}", self.numerator),
        }
    }
}

fn greatest_common_divisor(a: Cost, b: Cost) -> Cost {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_are_exact() {
        for (text, shown) in [("3", "3"), ("0.50", "1/2"), ("-2/6", "-1/3"), ("1.5", "3/2"), ("0", "0")] {
            assert_eq!(text.parse::<Ratio>().unwrap().to_string(), shown);
        }
        for text in ["", ".", "1/0", "x", "1e3", "1/", "--1", "+1", "1234567890123", "1/-2"] {
            assert_eq!(text.parse::<Ratio>(), Err(RatioError), "{text}");
        }
        let max = "999999999999".parse::<Ratio>().unwrap();
        assert!(max.apply(Cost::from(u64::MAX)).is_some());
        assert_eq!(max.apply(Cost::MAX), None);
    }

    #[test]
    fn halves_go_away_from_zero() {
        let half = "0.5".parse::<Ratio>().unwrap();
        let rounded = [-3, -2, -1, 0, 1, 2, 3].map(|cost| half.apply(cost).unwrap());
        assert_eq!(rounded, [-2, -1, -1, 0, 1, 1, 2]);
        assert_eq!([4, 5, 7].map(|cost| rounded_quotient(cost, 3)), [1, 2, 2]);
    }
}
