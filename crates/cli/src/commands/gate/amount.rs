//! How much more something may cost, as people write it.

use std::fmt;
use std::str::FromStr;

/// Shares are reckoned in millionths, so that they are exact.
const WHOLE: i128 = 1_000_000;

/// Part of a whole, such as `0.1%`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    millionths: i128,
}

impl Share {
    /// This share of a cost, rounded down.
    pub(super) fn of(self, cost: i128) -> i128 {
        cost.saturating_abs().saturating_mul(self.millionths) / WHOLE
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match percent(text) {
            Some(millionths) if millionths <= WHOLE => Ok(Share { millionths }),
            _ => Err("a share is a number of percent up to 100, such as 0.1%".to_owned()),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_percent(self.millionths, f)
    }
}

/// How much a cost may grow: a number, or part of what it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Increase {
    Cost(i128),
    /// In millionths.
    Part(i128),
}

impl Increase {
    /// How much that is, from this cost on.
    pub(super) fn from(self, base: i128) -> i128 {
        match self {
            Increase::Cost(cost) => cost,
            Increase::Part(millionths) => base.saturating_abs().saturating_mul(millionths) / WHOLE,
        }
    }
}

impl FromStr for Increase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cost = || -> Option<i128> {
            let digits: String = text.trim().chars().filter(|&letter| letter != '_').collect();
            let fits =
                !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
            if fits { digits.parse().ok() } else { None }
        };
        let increase = percent(text).map(Increase::Part).or_else(|| cost().map(Increase::Cost));
        increase.ok_or_else(|| "an increase is a number such as 5000, or of percent such as 1.5%".to_owned())
    }
}

impl fmt::Display for Increase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Increase::Cost(cost) => f.write_str(&crate::terminal::grouped(cost)),
            Increase::Part(millionths) => write_percent(*millionths, f),
        }
    }
}

/// A number of percent in millionths; up to four digits after the point.
fn percent(text: &str) -> Option<i128> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() > 6 || fraction.len() > 4 {
        return None;
    }
    format!("{whole}{fraction:0<4}").parse().ok()
}

fn write_percent(millionths: i128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, rest) = (millionths / 10_000, millionths % 10_000);
    if rest == 0 {
        return write!(f, "{whole} %");
    }
    let digits = format!("{rest:04}");
    write!(f, "{whole}.{} %", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases() {
        for (text, from, shown) in [
            ("1%", 10, "1 %"),
            ("0.25 %", 2, "0.25 %"),
            ("150%", 1500, "150 %"),
            ("0%", 0, "0 %"),
            ("5_000", 5000, "5,000"),
            ("0", 0, "0"),
        ] {
            let increase: Increase = text.parse().unwrap();
            assert_eq!((increase.from(1000), increase.to_string().as_str()), (from, shown), "{text}");
        }
        for text in ["", "%", "-1", "-1%", "1.5", "1e3", "1.00001%", "1 pint", "9999999%"] {
            assert!(text.parse::<Increase>().is_err(), "{text}");
        }
        assert!("100.1%".parse::<Share>().is_err());
        assert_eq!("0.1%".parse::<Share>().unwrap().of(123_456), 123);
    }
}
