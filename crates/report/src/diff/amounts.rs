//! Signed numbers, percentages and changes as text.

use gristmill_format::Cost;
use gristmill_output::{CostUnit, Tone, grouped};
use gristmill_profile::compare::{Change, Sample};

pub(super) use crate::amount::signed;

/// Returns a share in percent with its sign and two decimals: `+3.77`. The text is empty if there is no whole.
pub(super) fn signed_percent(part: Cost, whole: Cost) -> String {
    let whole = whole.abs();
    if whole == 0 {
        return String::new();
    }
    let Some(scaled) = part.checked_mul(20_000) else { return String::new() };
    let doubled = scaled / whole;
    let hundredths = (doubled + doubled.signum()) / 2;
    let sign = match part.signum() {
        1 => "+",
        -1 => "-",
        _ => "",
    };
    let hundredths = hundredths.unsigned_abs();
    format!("{sign}{}.{:02}", grouped(hundredths / 100), hundredths % 100)
}

/// Returns hundred-thousandths in percent: `0.01`.
pub(super) fn percent_of_share(share: u32) -> String {
    let percent = format!("{}.{:03}", share / 1000, share % 1000);
    percent.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns a change in percent of the base: `+30.00%`. The text is empty if the base is 0.
pub(super) fn own_percent(change: Change) -> String {
    match signed_percent(change.delta(), change.base.median) {
        percent if percent.is_empty() => percent,
        percent => format!("{percent}%"),
    }
}

/// Returns the tone of a change. Noise has none.
pub(super) fn tone(change: Change) -> Tone {
    if change.is_noise() { Tone::Plain } else { Tone::from_change(change.delta()) }
}

/// Returns a change as `10 → 13 (+30.00%)`.
pub(super) fn from_to(change: Change, unit: CostUnit) -> String {
    let (base, new) = (unit.show(change.base.median), unit.show(change.new.median));
    match own_percent(change) {
        percent if percent.is_empty() => format!("{base} → {new}"),
        percent => format!("{base} → {new} ({percent})"),
    }
}

/// A change in percent that rounds to 0.
pub(super) const UNCHANGED: &str = "unchanged";

/// Returns the change of the cost per call in percent, or `None` if a side has no calls.
pub(super) fn per_call(cost: Change, calls: Change) -> Option<String> {
    let (base, new) = (calls.base.median, calls.new.median);
    if base <= 0 || new <= 0 || cost.base.median <= 0 {
        return None;
    }
    // As fractions, rounded only at the end.
    let before = cost.base.median.checked_mul(new)?;
    let after = cost.new.median.checked_mul(base)?;
    Some(match signed_percent(after.checked_sub(before)?, before) {
        percent if percent == "+0.00" || percent == "-0.00" || percent == "0.00" => UNCHANGED.to_owned(),
        percent => format!("{percent}%"),
    })
}

/// Returns the ranges of both sides, unless the runs of each side are equal.
pub(super) fn spread(change: Change, unit: CostUnit) -> Option<String> {
    if change.base.spread() == 0 && change.new.spread() == 0 {
        return None;
    }
    let side =
        |name: &str, sample: Sample| format!("{name} {} to {}", unit.show(sample.min), unit.show(sample.max));
    Some(format!("{}, {}", side("base", change.base), side("new", change.new)))
}
