//! The selection of parts.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A selection of parts: by default all of them.
///
/// Each list that is not empty narrows the selection to the parts whose header has a number in one of its ranges.
///
/// ```
/// use gristmill_profile::Selection;
///
/// let selection = Selection { threads: vec![1..=2, 7..=7], ..Selection::default() };
/// assert!(!selection.is_all());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Numbers on `part:` lines.
    pub parts: Vec<RangeInclusive<u64>>,
    /// Threads on `thread:` lines.
    pub threads: Vec<RangeInclusive<u64>>,
    /// Processes on `pid:` lines.
    pub pids: Vec<RangeInclusive<u64>>,
}

impl Selection {
    /// Returns `true` if every part is selected, also one without any numbers.
    pub fn is_all(&self) -> bool {
        self.parts.is_empty() && self.threads.is_empty() && self.pids.is_empty()
    }

    /// Returns `true` if a part with these numbers is selected.
    pub fn includes(&self, part: Option<u64>, thread: Option<u64>, pid: Option<u64>) -> bool {
        let fits = |list: &[RangeInclusive<u64>], number: Option<u64>| {
            list.is_empty() || number.is_some_and(|number| list.iter().any(|range| range.contains(&number)))
        };
        fits(&self.parts, part) && fits(&self.threads, thread) && fits(&self.pids, pid)
    }
}

/// A number, or a range of numbers such as `4-6`, as a user writes it.
///
/// ```
/// use gristmill_profile::NumberRange;
///
/// assert_eq!("4-6".parse(), Ok(NumberRange(4..=6)));
/// assert_eq!("6-4".parse::<NumberRange>().unwrap_err().to_string(), "a range begins with its smaller number: 4-6");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberRange(pub RangeInclusive<u64>);

/// The reason why a text is no [`NumberRange`], which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberRangeError {
    /// It is neither a number nor two of them.
    NoNumber,
    /// The first number is the greater one.
    Reversed(u64, u64),
}

impl FromStr for NumberRange {
    type Err = NumberRangeError;

    fn from_str(text: &str) -> Result<Self, NumberRangeError> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            text.parse::<u64>().ok().filter(|_| is_number)
        };
        let (first, last) = number(first).zip(number(last)).ok_or(NumberRangeError::NoNumber)?;
        if first > last {
            return Err(NumberRangeError::Reversed(first, last));
        }
        Ok(NumberRange(first..=last))
    }
}

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.start(), self.0.end()) {
            (first, last) if first == last => write!(f, "{first}"),
            (first, last) => write!(f, "{first}-{last}"),
        }
    }
}

impl fmt::Display for NumberRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumberRangeError::NoNumber => f.write_str("expected a number or a range, such as 4 or 4-6"),
            NumberRangeError::Reversed(first, last) => {
                write!(f, "a range begins with its smaller number: {last}-{first}")
            }
        }
    }
}

impl std::error::Error for NumberRangeError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_numbers_or_two_of_them() {
        for (text, range) in [("4", 4..=4), ("4-6", 4..=6), ("0-0", 0..=0)] {
            let parsed: NumberRange = text.parse().unwrap();
            assert_eq!(parsed.0, range);
            assert_eq!(parsed.to_string().parse(), Ok(parsed), "{text}");
        }
        for text in ["", "-", "4-", "-4", "6-4", "4-5-6", "+4", "x", "18446744073709551616"] {
            assert!(text.parse::<NumberRange>().is_err(), "{text}");
        }
    }
}
