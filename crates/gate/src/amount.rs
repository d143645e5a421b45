//! Amounts of a configuration: shares of a cost, and allowed increases.

use std::fmt;
use std::str::FromStr;

use gristmill_format::Cost;
use gristmill_output::grouped;

/// All of something, in the unit of shares: millionths, so that they are exact.
const WHOLE: Cost = 1_000_000;

/// A share of a cost, such as `0.1%`.
///
/// ```
/// let share: gristmill_gate::Share = "0.1%".parse()?;
/// assert_eq!(share.amount(123_456), 123);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    millionths: Cost,
}

impl Share {
    /// Returns this share of a cost, rounded down.
    pub fn amount(self, cost: Cost) -> Cost {
        cost.saturating_abs().saturating_mul(self.millionths) / WHOLE
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match parse_percent(text) {
            Some(millionths) if millionths <= WHOLE => Ok(Share { millionths }),
            _ => Err("a share is a percentage up to 100%, such as 0.1%".to_owned()),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_percent(self.millionths, f)
    }
}

/// An allowed increase of a cost: an amount, or a share of the baseline.
///
/// ```
/// use gristmill_gate::Increase;
///
/// let increase: Increase = "1.5%".parse()?;
/// assert_eq!(increase.amount(1000), 15);
/// assert_eq!("5_000".parse(), Ok(Increase::Cost(5000)));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Increase {
    /// An amount of the event type.
    Cost(Cost),
    /// A share of the baseline, in millionths.
    Millionths(Cost),
}

impl Increase {
    /// Returns the increase as an amount, given the baseline.
    pub fn amount(self, base: Cost) -> Cost {
        match self {
            Increase::Cost(cost) => cost,
            Increase::Millionths(millionths) => base.saturating_abs().saturating_mul(millionths) / WHOLE,
        }
    }
}

impl FromStr for Increase {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let cost = || -> Option<Cost> {
            let digits: String = text.trim().chars().filter(|&letter| letter != '_').collect();
            let fits =
                !digits.is_empty() && digits.len() <= 18 && digits.bytes().all(|byte| byte.is_ascii_digit());
            if fits { digits.parse().ok() } else { None }
        };
        let increase = parse_percent(text).map(Increase::Millionths).or_else(|| cost().map(Increase::Cost));
        increase.ok_or_else(|| "an increase is a number such as 5000 or a percentage such as 1.5%".to_owned())
    }
}

impl fmt::Display for Increase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Increase::Cost(cost) => f.write_str(&grouped(*cost)),
            Increase::Millionths(millionths) => write_percent(*millionths, f),
        }
    }
}

/// Parses a percentage with up to four decimals, into millionths.
fn parse_percent(text: &str) -> Option<Cost> {
    let number = text.trim().strip_suffix('%')?.trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || whole.len() > 6 || fraction.len() > 4 {
        return None;
    }
    format!("{whole}{fraction:0<4}").parse().ok()
}

fn write_percent(millionths: Cost, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (whole, rest) = (millionths / 10_000, millionths % 10_000);
    if rest == 0 {
        return write!(f, "{whole}%");
    }
    let digits = format!("{rest:04}");
    write!(f, "{whole}.{}%", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn increases() {
        for (text, amount, shown) in [
            ("1%", 10, "1%"),
            ("0.25 %", 2, "0.25%"),
            ("150%", 1500, "150%"),
            ("0%", 0, "0%"),
            ("5_000", 5000, "5,000"),
            ("0", 0, "0"),
        ] {
            let increase: Increase = text.parse().unwrap();
            assert_eq!((increase.amount(1000), increase.to_string().as_str()), (amount, shown), "{text}");
        }
        for text in ["", "%", "-1", "-1%", "1.5", "1e3", "1.00001%", "1 pint", "9999999%"] {
            assert!(text.parse::<Increase>().is_err(), "{text}");
        }
        assert!("100.1%".parse::<Share>().is_err());
        assert_eq!("0.1%".parse::<Share>().unwrap().amount(123_456), 123);
    }
}
