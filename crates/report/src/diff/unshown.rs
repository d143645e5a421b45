//! Event types that changed while none of those that are shown did.

use gristmill_profile::compare::Comparison;

use super::amounts::from_to;
use super::column::event_column;
use super::safe;

/// Returns a sentence about event types that changed, if no function changed in those that are shown.
pub(super) fn unshown(comparison: &Comparison<'_>, shown: &[usize]) -> Option<String> {
    let has_changed = |column: usize| {
        comparison.functions().any(|function| !comparison.self_cost(function, column).is_none())
    };
    if shown.iter().any(|&column| has_changed(column)) {
        return None;
    }
    let events = comparison.events();
    let is_unshown = |column: &usize| {
        let event = &events[*column];
        event.is_common() && event.definition.is_none() && !shown.contains(column)
    };
    let changed = (0..events.len()).filter(is_unshown).filter(|&column| has_changed(column));
    let (names, changes): (Vec<String>, Vec<String>) =
        changed.map(|column| (event_column(comparison, column).name, change(comparison, column))).unzip();
    if names.is_empty() {
        return None;
    }
    let events = if names.len() == 1 { "another event type" } else { "other event types" };
    Some(format!("{events} changed: {}; {} shows the functions", changes.join(", "), option(&names)))
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
