//! Sizes on the command line: `16GiB`, `200M`, `4096`.

use std::fmt;

/// A number of bytes, as a person states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Size(u64);

impl Size {
    pub(crate) const fn from_bytes(bytes: u64) -> Self {
        Self(bytes)
    }

    pub(crate) const fn bytes(self) -> u64 {
        self.0
    }
}

/// Exact where the number allows it (`16GiB`), so that the option can be shown the way it was given.
impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, shift) in [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)] {
            if self.0 != 0 && self.0.is_multiple_of(1_u64 << shift) {
                return write!(f, "{}{unit}", self.0 >> shift);
            }
        }
        write!(f, "{} bytes", self.0)
    }
}

/// Units as `ls` and `dd` read them: `K`, `KiB` are 1024 bytes, `KB` is 1000; in any case.
pub(crate) fn parse(text: &str) -> Result<Size, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim_start().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "ki" | "kib" => 1 << 10,
        "m" | "mi" | "mib" => 1 << 20,
        "g" | "gi" | "gib" => 1 << 30,
        "t" | "ti" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err("a size is a whole number with a unit, such as 200M or 64GiB".to_owned()),
    };
    if number.is_empty() {
        return Err("a size begins with a whole number, such as 200M or 64GiB".to_owned());
    }
    // Only digits are left, so the one way to fail is that there are too many.
    let bytes = number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor));
    match bytes {
        Some(0) => Err("nothing fits into 0 bytes".to_owned()),
        Some(bytes) => Ok(Size(bytes)),
        None => Err("larger than any file can be".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("1", 1),
            ("4096b", 4096),
            ("64k", 65_536),
            ("64KiB", 65_536),
            ("64KB", 64_000),
            ("200M", 200 << 20),
            ("16GiB", 16 << 30),
            ("2 GB", 2_000_000_000),
            ("1t", 1 << 40),
        ] {
            assert_eq!(parse(text), Ok(Size(bytes)), "{text}");
        }
    }

    #[test]
    fn not_sizes() {
        for text in ["", "M", "-1", "1.5G", "12Q", "0", "99999999999999999999", "99999999T", "1 2"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shown_as_given() {
        for (text, shown) in [("16GiB", "16GiB"), ("1024k", "1MiB"), ("1000", "1000 bytes"), ("3M", "3MiB")] {
            assert_eq!(parse(text).unwrap().to_string(), shown);
        }
    }
}
