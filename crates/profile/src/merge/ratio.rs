//! Exact factors, and how numbers are rounded.

use std::fmt;
use std::str::FromStr;

use gristmill_format::Cost;

/// A factor that costs are multiplied by, exactly: `3`, `0.25` or `1/3`.
///
/// ```
/// use gristmill_profile::merge::Ratio;
///
/// let third: Ratio = "1/3".parse().unwrap();
/// assert_eq!([4, 5, -5].map(|cost| third.of(cost)), [Some(1), Some(2), Some(-2)]);
/// assert_eq!("0.25".parse::<Ratio>().unwrap().to_string(), "1/4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ratio {
    over: Cost,
    under: Cost,
}

/// A text that is no factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoRatio;

impl fmt::Display for NoRatio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a factor is a number such as 0.25, or a fraction such as 1/3")
    }
}

impl std::error::Error for NoRatio {}

/// Digits of a factor at most: no product of a sum of 64-bit costs leaves 128 bits then.
const MOST_DIGITS: usize = 12;

impl Ratio {
    /// One by so many.
    pub(super) fn one_by(count: u64) -> Self {
        Ratio { over: 1, under: Cost::from(count.max(1)) }
    }

    /// The product, rounded to the nearest integer, halves away from 0; None if 128 bits do not hold it.
    pub fn of(self, cost: Cost) -> Option<Cost> {
        cost.checked_mul(self.over).map(|product| rounded_quotient(product, self.under))
    }
}

/// Halves go away from 0, so that the sign of a cost makes no difference.
pub(super) fn rounded_quotient(over: Cost, under: Cost) -> Cost {
    let (quotient, rest) = (over / under, over % under);
    if rest.unsigned_abs() >= under.unsigned_abs() - rest.unsigned_abs() && rest != 0 {
        quotient + over.signum() * under.signum()
    } else {
        quotient
    }
}

impl FromStr for Ratio {
    type Err = NoRatio;

    fn from_str(text: &str) -> Result<Self, NoRatio> {
        let digits = |text: &str| -> Result<Cost, NoRatio> {
            let fits = !text.is_empty()
                && text.len() <= MOST_DIGITS
                && text.bytes().all(|byte| byte.is_ascii_digit());
            if fits { text.parse().map_err(|_| NoRatio) } else { Err(NoRatio) }
        };
        let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
        let (over, under) = if let Some((over, under)) = text.split_once('/') {
            (digits(over)?, digits(under)?)
        } else if let Some((whole, fraction)) = text.split_once('.') {
            let places = u32::try_from(fraction.len()).map_err(|_| NoRatio)?;
            (digits(&format!("{whole}{fraction}"))?, 10_i128.checked_pow(places).ok_or(NoRatio)?)
        } else {
            (digits(text)?, 1)
        };
        if under == 0 {
            return Err(NoRatio);
        }
        let divisor = greatest_common_divisor(over, under);
        Ok(Ratio { over: sign * over / divisor, under: under / divisor })
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.under {
            1 => write!(f, "{}", self.over),
            under => write!(f, "{}/{under}", self.over),
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
            assert_eq!(text.parse::<Ratio>(), Err(NoRatio), "{text}");
        }
        let most = "999999999999".parse::<Ratio>().unwrap();
        assert!(most.of(Cost::from(u64::MAX)).is_some());
        assert_eq!(most.of(Cost::MAX), None);
    }

    #[test]
    fn halves_go_away_from_zero() {
        let half = "0.5".parse::<Ratio>().unwrap();
        let rounded = [-3, -2, -1, 0, 1, 2, 3].map(|cost| half.of(cost).unwrap());
        assert_eq!(rounded, [-2, -1, -1, 0, 1, 1, 2]);
        assert_eq!([4, 5, 7].map(|cost| rounded_quotient(cost, 3)), [1, 2, 2]);
    }
}
