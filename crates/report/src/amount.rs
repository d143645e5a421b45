//! Numbers for people.

use gristmill_format::Cost;

pub use gristmill_profile::event::grouped;

/// A number of things, its digits in groups.
pub(crate) fn number(of_things: usize) -> String {
    grouped(Cost::try_from(of_things).unwrap_or(Cost::MAX))
}

/// Adds costs to sums, column by column.
pub(crate) fn add(sums: &mut [Cost], costs: &[Cost]) {
    sums.iter_mut().zip(costs).for_each(|(sum, cost)| *sum += cost);
}

/// The share of a whole in tenths of a percent, rounded half away from zero; none of nothing.
fn per_mille(part: Cost, whole: Cost) -> Option<Cost> {
    if whole == 0 {
        return None;
    }
    // Costs are sums of 64-bit numbers: there is room for the factor.
    let scaled = part.checked_mul(2000)?;
    let doubled = scaled / whole;
    Some((doubled + doubled.signum()) / 2)
}

/// `12.3`: the share of a whole in percent. Empty where there is no whole.
pub fn percent(part: Cost, whole: Cost) -> String {
    let Some(tenths) = per_mille(part, whole) else { return String::new() };
    let sign = if tenths < 0 { "-" } else { "" };
    let tenths = tenths.unsigned_abs();
    format!("{sign}{}.{}", tenths / 10, tenths % 10)
}

/// A bar as long as the share, in eighths of a character.
pub(crate) fn bar(part: Cost, whole: Cost, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = per_mille(part, whole).unwrap_or(0).clamp(0, 1000);
    #[expect(clippy::cast_sign_loss, reason = "0 to 1000")]
    let eighths = (share as usize * width * 8 + 500) / 1000;
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(EIGHTHS[eighths % 8]);
    bar
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
            assert_eq!(percent(part, whole), shown, "{part} of {whole}");
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
}
