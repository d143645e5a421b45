//! Units of costs, and costs as people read them.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use gristmill_format::Cost;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::number::{grouped, three_digits};

/// The unit of a cost. See the example of [`CostUnit::parse`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostUnit {
    /// One event, or something unknown.
    Count,
    /// A time, in picoseconds.
    Picoseconds(u64),
    /// A size, in bytes.
    Bytes(u64),
}

/// Words that are units anywhere in a name.
const CLEAR: [(&str, CostUnit); 13] = [
    ("picoseconds", CostUnit::Picoseconds(1)),
    ("nanoseconds", CostUnit::Picoseconds(1_000)),
    ("ns", CostUnit::Picoseconds(1_000)),
    ("nsec", CostUnit::Picoseconds(1_000)),
    ("microseconds", CostUnit::Picoseconds(1_000_000)),
    ("us", CostUnit::Picoseconds(1_000_000)),
    ("µs", CostUnit::Picoseconds(1_000_000)),
    ("usec", CostUnit::Picoseconds(1_000_000)),
    ("milliseconds", CostUnit::Picoseconds(1_000_000_000)),
    ("ms", CostUnit::Picoseconds(1_000_000_000)),
    ("msec", CostUnit::Picoseconds(1_000_000_000)),
    ("seconds", CostUnit::Picoseconds(1_000_000_000_000)),
    ("bytes", CostUnit::Bytes(1)),
];

/// Words that are units in parentheses only. Tools that write `kB` and `MB` there count in powers of two.
const IN_PARENTHESES: [(&str, CostUnit); 16] = [
    ("ps", CostUnit::Picoseconds(1)),
    ("s", CostUnit::Picoseconds(1_000_000_000_000)),
    ("sec", CostUnit::Picoseconds(1_000_000_000_000)),
    ("min", CostUnit::Picoseconds(60_000_000_000_000)),
    ("byte", CostUnit::Bytes(1)),
    ("b", CostUnit::Bytes(1)),
    ("kb", CostUnit::Bytes(1 << 10)),
    ("kib", CostUnit::Bytes(1 << 10)),
    ("mb", CostUnit::Bytes(1 << 20)),
    ("mib", CostUnit::Bytes(1 << 20)),
    ("gb", CostUnit::Bytes(1 << 30)),
    ("gib", CostUnit::Bytes(1 << 30)),
    ("tb", CostUnit::Bytes(1 << 40)),
    ("tib", CostUnit::Bytes(1 << 40)),
    ("pb", CostUnit::Bytes(1 << 50)),
    ("pib", CostUnit::Bytes(1 << 50)),
];

impl CostUnit {
    /// Parses the unit in the name of an event type, or else in its long name.
    ///
    /// ```
    /// use gristmill_output::CostUnit;
    ///
    /// assert_eq!(CostUnit::parse(b"Time_(10ns)", None), CostUnit::Picoseconds(10_000));
    /// assert_eq!(CostUnit::parse(b"sysTime", Some(b"sysTime (elapsed ms)")), CostUnit::Picoseconds(1_000_000_000));
    /// assert_eq!(CostUnit::parse(b"Ir", None), CostUnit::Count);
    /// ```
    pub fn parse(name: &[u8], long_name: Option<&[u8]>) -> CostUnit {
        let texts = [Some(name), long_name];
        let texts = texts.into_iter().flatten().map(String::from_utf8_lossy);
        texts.into_iter().find_map(|text| unit_in(&text)).unwrap_or(CostUnit::Count)
    }

    /// Writes a cost with about three digits and its unit: `12.3 ms`, `4.5 MiB`. A count keeps all digits: `1,234,567`.
    pub fn show(self, cost: Cost) -> String {
        const TIME: [(&str, u128); 5] =
            [("ps", 1), ("ns", 1_000), ("µs", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
        const MEMORY: [(&str, u128); 6] = [
            ("B", 1),
            ("KiB", 1 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("TiB", 1 << 40),
            ("PiB", 1 << 50),
        ];
        let (scale, each): (&[_], _) = match self {
            CostUnit::Count => return grouped(cost),
            CostUnit::Picoseconds(each) => (&TIME, each),
            CostUnit::Bytes(each) => (&MEMORY, each),
        };
        if cost == 0 {
            // Zero is zero in any unit; the unit of the file is shown.
            let unit = scale.iter().rev().find(|(_, one)| *one <= u128::from(each));
            return format!("0 {}", unit.map_or("", |(unit, _)| unit));
        }
        let Some(amount) = cost.unsigned_abs().checked_mul(u128::from(each)) else {
            return format!("{} × {}", grouped(cost), self);
        };
        let sign = if cost < 0 { "-" } else { "" };
        let fits = scale.iter().rposition(|(_, one)| amount >= *one).unwrap_or(0);
        let (mut number, mut unit) = (three_digits(amount, scale[fits].1), scale[fits].0);
        if let Some(&(next, one)) = scale.get(fits + 1)
            && number.replace(',', "").parse::<u128>().is_ok_and(|number| number * scale[fits].1 >= one)
        {
            // It was rounded up to one of the next unit.
            (number, unit) = ("1".to_owned(), next);
        }
        format!("{sign}{number} {unit}")
    }
}

impl fmt::Display for CostUnit {
    /// Writes one unit: `10 ns`, `1 B`; nothing for a count.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostUnit::Count => Ok(()),
            _ => f.write_str(&self.show(1)),
        }
    }
}

impl Serialize for CostUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            CostUnit::Count => serializer.serialize_none(),
            _ => serializer.collect_str(self),
        }
    }
}

impl JsonSchema for CostUnit {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "CostUnit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "null"] })
    }
}

/// The unit in a name or long name: in its last parentheses, or else a word of its own.
fn unit_in(text: &str) -> Option<CostUnit> {
    // The sign for micro has two code points that look alike.
    let text = text.to_lowercase().replace('\u{3bc}', "µ");
    if let Some((before, inside)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        let words: Vec<&str> = words(inside).collect();
        let found = words.iter().enumerate().rev().find_map(|(index, word)| {
            let (number, word) =
                word.split_at(word.len() - word.trim_start_matches(|c: char| c.is_ascii_digit()).len());
            let before = index.checked_sub(1).and_then(|index| words.get(index));
            let times = if number.is_empty() { before.copied().unwrap_or("1") } else { number };
            Some(
                CLEAR
                    .iter()
                    .chain(&IN_PARENTHESES)
                    .find(|(name, _)| *name == word)?
                    .1
                    .times(times.parse().unwrap_or(1)),
            )
        });
        return found.or_else(|| clear_unit(before));
    }
    clear_unit(&text)
}

fn clear_unit(text: &str) -> Option<CostUnit> {
    let is_rate = text.contains('/');
    words(text)
        .find_map(|word| CLEAR.iter().find(|(name, _)| *name == word))
        .map(|found| found.1)
        .filter(|_| !is_rate)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != 'µ').filter(|word| !word.is_empty())
}

impl CostUnit {
    fn times(self, number: u64) -> CostUnit {
        let number = number.max(1);
        match self {
            CostUnit::Count => CostUnit::Count,
            CostUnit::Picoseconds(each) => CostUnit::Picoseconds(each.saturating_mul(number)),
            CostUnit::Bytes(each) => CostUnit::Bytes(each.saturating_mul(number)),
        }
    }
}
