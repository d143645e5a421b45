//! Numbers as people read them.

use std::fmt;

use gristmill_format::Cost;

/// Writes an integer with all its digits, in groups of three.
///
/// ```
/// use gristmill_output::grouped;
///
/// assert_eq!(grouped(-1_234_567), "-1,234,567");
/// assert_eq!(grouped("main".len()), "4");
/// ```
pub fn grouped(integer: impl fmt::Display) -> String {
    let digits = integer.to_string();
    match digits.strip_prefix('-') {
        Some(digits) => format!("-{}", group_digits(digits)),
        None => group_digits(&digits),
    }
}

fn group_digits(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Writes a large integer in words, with about three digits: `28.6 million`. Below a million, all digits are written.
///
/// ```
/// use gristmill_output::in_words;
///
/// assert_eq!(in_words(28_612_345), "28.6 million");
/// assert_eq!(in_words(-85_123), "-85,123");
/// ```
pub fn in_words(integer: Cost) -> String {
    const SCALE: [(&str, u128); 5] = [
        ("million", 1_000_000),
        ("billion", 1_000_000_000),
        ("trillion", 1_000_000_000_000),
        ("quadrillion", 1_000_000_000_000_000),
        ("quintillion", 1_000_000_000_000_000_000),
    ];
    let amount = integer.unsigned_abs();
    // What would be shown as 1,000 million is 1 billion.
    let is_reached = |one: u128| amount >= one - one / 2000;
    let Some(fits) = SCALE.iter().rposition(|&(_, one)| amount >= SCALE[0].1 && is_reached(one)) else {
        return grouped(integer);
    };
    let (word, one) = SCALE[fits];
    let sign = if integer < 0 { "-" } else { "" };
    format!("{sign}{} {word}", three_digits(amount, one))
}

/// `amount / one` with three digits, or with all digits before the point if these are more.
pub(crate) fn three_digits(amount: u128, one: u128) -> String {
    for (decimals, power) in [(2, 100), (1, 10)] {
        let Some(scaled) = amount.checked_mul(power) else { continue };
        let rounded = (scaled + one / 2) / one;
        if rounded < 1000 {
            let text = format!("{}.{:0decimals$}", rounded / power, rounded % power);
            return text.trim_end_matches('0').trim_end_matches('.').to_owned();
        }
    }
    group_digits(&(amount / one + u128::from(amount % one >= one.div_ceil(2) && one > 1)).to_string())
}

/// The share of a whole in tenths of a percent, rounded half away from zero; none of nothing. It has the sign of the part: a
/// whole below 0 is the sum of a difference.
fn per_mille(part: Cost, whole: Cost) -> Option<Cost> {
    let whole = whole.abs();
    if whole == 0 {
        return None;
    }
    // Costs are sums of 64-bit numbers, so the product does not overflow.
    let scaled = part.checked_mul(2000)?;
    let doubled = scaled / whole;
    Some((doubled + doubled.signum()) / 2)
}

/// Writes the share of a whole in percent: `70.5%`. The text is empty if there is no whole.
///
/// ```
/// use gristmill_output::percent;
///
/// assert_eq!(percent(60_012, 85_123), "70.5%");
/// assert_eq!(percent(1, 0), "");
/// ```
pub fn percent(part: Cost, whole: Cost) -> String {
    let mut text = percent_number(part, whole);
    if !text.is_empty() {
        text.push('%');
    }
    text
}

/// Writes the share of a whole in percent without the sign, for columns that have it in their titles: `70.5`.
///
/// ```
/// assert_eq!(gristmill_output::percent_number(-1, 3), "-33.3");
/// assert_eq!(gristmill_output::percent_number(-1, -3), "-33.3");
/// ```
pub fn percent_number(part: Cost, whole: Cost) -> String {
    let Some(tenths) = per_mille(part, whole) else { return String::new() };
    let sign = if tenths < 0 { "-" } else { "" };
    let tenths = tenths.unsigned_abs();
    format!("{sign}{}.{}", tenths / 10, tenths % 10)
}

/// Draws a bar as long as the share, in eighths of a character. `width` is the length of the whole.
///
/// ```
/// assert_eq!(gristmill_output::bar(5, 16, 4), "█▎");
/// ```
pub fn bar(part: Cost, whole: Cost, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = per_mille(part, whole).unwrap_or(0).clamp(0, 1000);
    #[expect(clippy::cast_sign_loss, reason = "0 to 1000")]
    let eighths = (share as usize * width * 8 + 500) / 1000;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(EIGHTHS[eighths % 8]);
    bar
}

/// Writes a size in bytes with one decimal.
///
/// ```
/// use gristmill_output::byte_size;
///
/// assert_eq!(byte_size(999), "999 bytes");
/// assert_eq!(byte_size(1536), "1.5 KiB");
/// ```
pub fn byte_size(bytes: u64) -> String {
    if bytes < 1024 {
        return match bytes {
            1 => "1 byte".to_owned(),
            _ => format!("{bytes} bytes"),
        };
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = "KiB";
    for larger in ["MiB", "GiB", "TiB", "PiB", "EiB"] {
        // What would be shown as 1024.0 is 1.0 of the next unit.
        if size < 1023.95 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    format!("{size:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded() {
        for (part, whole, shown) in [
            (1, 3, "33.3"),
            (2, 3, "66.7"),
            (1, 1000, "0.1"),
            (1, 2000, "0.1"),
            (1, 2001, "0.0"),
            (-1, 3, "-33.3"),
            (5, 0, ""),
            (0, 7, "0.0"),
            (7, 7, "100.0"),
        ] {
            assert_eq!(percent_number(part, whole), shown, "{part} of {whole}");
        }
    }

    #[test]
    fn bars_are_as_long_as_the_share() {
        assert_eq!(bar(1, 2, 4), "██");
        assert_eq!(bar(1, 16, 4), "▎");
        assert_eq!(bar(0, 16, 4), "");
        assert_eq!(bar(20, 16, 4), "████");
        assert_eq!(bar(-3, 16, 4), "");
    }

    #[test]
    fn large_integers_have_words() {
        for (integer, words) in [
            (0, "0"),
            (999_999, "999,999"),
            (1_000_000, "1 million"),
            (1_234_567, "1.23 million"),
            (999_400_000, "999 million"),
            (999_600_000, "1 billion"),
            (-12_345_678_901, "-12.3 billion"),
            (Cost::from(u64::MAX), "18.4 quintillion"),
            (Cost::from(u64::MAX) * 1000, "18,447 quintillion"),
        ] {
            assert_eq!(in_words(integer), words);
        }
    }

    #[test]
    fn sizes_in_bytes() {
        for (bytes, shown) in [
            (1, "1 byte"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            ((1 << 20) - 1, "1.0 MiB"),
            (16 << 30, "16.0 GiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(byte_size(bytes), shown);
        }
    }
}
