//! Event types that changed while none of those that are shown did, or much more than these.

use std::collections::HashSet;

use gristmill_format::Cost;
use gristmill_profile::compare::Comparison;

use super::amounts::from_to;
use super::column::event_column;
use super::safe;

/// A change is much greater if it is this many times another, in proportion to its base.
const MUCH_GREATER: f64 = 5.0;
/// Percentage of its base that such a change has at least.
const MIN_PERCENT: Cost = 50;
/// The cost that counts, by that of the event type that is shown: one in this many.
const ONE_IN: Cost = 1000;

/// Returns a sentence about event types that changed, if no function changed in those that are shown, or about the one that
/// changed much more.
pub(super) fn unshown(comparison: &Comparison<'_>, shown: &[usize]) -> Option<String> {
    let has_changed = |column: usize| {
        comparison.functions().any(|function| !comparison.self_cost(function, column).is_none())
    };
    let events = comparison.events();
    let is_shown: HashSet<usize> = shown.iter().copied().collect();
    let is_unshown = |column: &usize| {
        let event = &events[*column];
        event.is_common() && event.definition.is_none() && !is_shown.contains(column)
    };
    if shown.iter().any(|&column| has_changed(column)) {
        return greatest(comparison, shown, (0..events.len()).filter(is_unshown));
    }
    let changed = (0..events.len()).filter(is_unshown).filter(|&column| has_changed(column));
    let (names, changes): (Vec<String>, Vec<String>) =
        changed.map(|column| (event_column(comparison, column).name, change(comparison, column))).unzip();
    if names.is_empty() {
        return None;
    }
    let events = if names.len() == 1 { "another event type" } else { "other event types" };
    Some(format!("{events} changed: {}; {} shows the functions", changes.join(", "), option(&names)))
}

/// Returns a sentence about the event type whose total changed most, if it did so much more than those that are shown.
fn greatest(
    comparison: &Comparison<'_>,
    shown: &[usize],
    others: impl Iterator<Item = usize>,
) -> Option<String> {
    let part = |column: usize| {
        let total = comparison.total(column);
        total.delta().abs() as f64 / total.base.median.abs().max(1) as f64
    };
    let sum = |column: usize| comparison.total(column).base.median.max(comparison.total(column).new.median);
    let most = shown.iter().map(|&column| part(column)).fold(0.0, f64::max);
    let least = shown.iter().map(|&column| sum(column)).max().unwrap_or(0) / ONE_IN;
    let is_great = |&column: &usize| {
        let total = comparison.total(column);
        total.base.median > 0
            && !total.is_noise()
            && sum(column) >= least
            && total.delta().abs().saturating_mul(100) >= total.base.median.saturating_mul(MIN_PERCENT)
            && part(column) >= most * MUCH_GREATER
    };
    let column = others.filter(is_great).max_by(|a, b| part(*a).total_cmp(&part(*b)).then(b.cmp(a)))?;
    let name = event_column(comparison, column).name;
    Some(format!(
        "another event type changed much more: {}; {} shows the functions",
        change(comparison, column),
        option(&[name])
    ))
}

/// Returns the change of a total with its name: `Dr 20 → 25 (+25.00%)`.
fn change(comparison: &Comparison<'_>, column: usize) -> String {
    let (event, total) = (event_column(comparison, column), comparison.total(column));
    let name = safe(&event.name);
    match total.is_none() {
        true => format!("{name} {} on both sides, of other functions", event.unit.show(total.new.median)),
        false => {
            let noise = if total.is_noise() { " (noise)" } else { "" };
            format!("{name} {}{noise}", from_to(total, event.unit))
        }
    }
}

/// Returns the option that shows event types, as a shell takes it.
fn option(names: &[String]) -> String {
    let names = safe(&names.join(","));
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b",._+-:#".contains(&byte);
    match names.bytes().all(is_plain) {
        true => format!("-e {names}"),
        false => format!("-e '{}'", names.replace('\'', r"'\''")),
    }
}
