//! Numbers with signs, and what is said of them in words.

use gristmill_format::Cost;
use gristmill_output::{CostUnit, grouped};
use gristmill_profile::compare::{Change, Comparison, JoinRule, Presence, Unlike, UnlikeKind};
use gristmill_profile::symbol::shorten;

use super::{Diff, DiffRow, safe, shown_name};

/// A change with its sign: `+1,234`, `-5.2 ms`, `0`.
pub(crate) fn signed(cost: Cost, unit: CostUnit) -> String {
    let shown = unit.show(cost);
    if cost > 0 { format!("+{shown}") } else { shown }
}

/// A share of a whole in percent with its sign and two decimals: `+3.77`. Empty where there is no whole.
pub(crate) fn signed_percent(part: Cost, whole: Cost) -> String {
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

/// By how much something changed, in percent of itself: `+30.00%`; nothing where there was none before.
pub(crate) fn own_percent(change: Change) -> String {
    match signed_percent(change.delta(), change.base.median) {
        percent if percent.is_empty() => percent,
        percent => format!("{percent}%"),
    }
}

/// `10 → 13 (+30.00%)`
pub(crate) fn from_to(change: Change, unit: CostUnit) -> String {
    let (base, new) = (unit.show(change.base.median), unit.show(change.new.median));
    match own_percent(change) {
        percent if percent.is_empty() => format!("{base} → {new}"),
        percent => format!("{base} → {new} ({percent})"),
    }
}

/// How the cost of a call changed, in percent; none where one side has no calls.
pub(crate) fn per_call(cost: Change, calls: Change) -> Option<String> {
    let (base, new) = (calls.base.median, calls.new.median);
    if base <= 0 || new <= 0 || cost.base.median <= 0 {
        return None;
    }
    // As fractions, so that nothing is rounded before the end.
    let before = cost.base.median.checked_mul(new)?;
    let after = cost.new.median.checked_mul(base)?;
    Some(match signed_percent(after.checked_sub(before)?, before) {
        percent if percent == "+0.00" || percent == "-0.00" || percent == "0.00" => "unchanged".to_owned(),
        percent => format!("{percent}%"),
    })
}

/// How far runs are apart: `±1.2%` of the median, or nothing for one run.
fn spread(change: Change, unit: CostUnit) -> Option<String> {
    if change.base.spread() == 0 && change.new.spread() == 0 {
        return None;
    }
    let side = |name: &str, sample: gristmill_profile::compare::Sample| {
        format!("{name} {} to {}", unit.show(sample.min), unit.show(sample.max))
    };
    Some(format!("{}, {}", side("base", change.base), side("new", change.new)))
}

/// The first event type of a row: its unit, and the change of the self cost.
fn first_cost(diff: &Diff<'_, '_>, row: &DiffRow) -> (CostUnit, Change) {
    let unit = diff.events.first().map_or(CostUnit::Count, |event| event.unit);
    (unit, row.self_costs.first().copied().unwrap_or_default())
}

/// What is to be said of a row, one remark each.
pub(crate) fn remarks(diff: &Diff<'_, '_>, row: &DiffRow) -> Vec<String> {
    let (unit, own) = first_cost(diff, row);
    let is_told = row.presence == Presence::Both && !own.is_none();
    let mut remarks = Vec::from_iter(is_told.then(|| from_to(own, unit)));
    remarks.extend(remarks_beside_cost(diff, row));
    remarks
}

/// The same but for how its self cost changed.
pub(crate) fn remarks_beside_cost(diff: &Diff<'_, '_>, row: &DiffRow) -> Vec<String> {
    let mut remarks = Vec::new();
    let (unit, own) = first_cost(diff, row);
    match row.presence {
        Presence::New => remarks.push("new".to_owned()),
        Presence::Vanished => remarks.push("vanished".to_owned()),
        Presence::Both => {}
    }
    if own.is_noise() {
        remarks.push("noise: within the spread of the runs".to_owned());
    }
    remarks.extend(spread(own, unit));
    if let Some(why) = row.function.and_then(|function| diff.comparison.renamed(function)) {
        let from = row.base_name.as_deref().map(safe).unwrap_or_default();
        let from = shorten(&from, RENAMED_NAME);
        remarks.push(format!("renamed from {from} ({})", resemblance(why)));
    }
    if row.is_upper_bound {
        remarks.push("inclusive at most: calls leave the group and come back".to_owned());
    }
    let calls = row.calls;
    // In samples nobody counted calls.
    if !calls.is_none() && !diff.is_sampled {
        remarks.push(match row.presence {
            Presence::New => times(calls.new.median),
            Presence::Vanished => format!("{} before", times(calls.base.median)),
            Presence::Both => format!("calls {}", from_to(calls, CostUnit::Count)),
        });
        if let Some(each) = per_call(own, calls).filter(|_| row.presence == Presence::Both) {
            remarks.push(format!("per call {each}"));
        }
    }
    remarks
}

fn times(calls: Cost) -> String {
    if calls == 1 { "1 call".to_owned() } else { format!("{} calls", grouped(calls)) }
}

/// Why two functions are taken for one.
pub(crate) fn resemblance(why: &gristmill_profile::compare::Resemblance) -> String {
    let mut reasons = Vec::new();
    reasons.push(if why.same_file { "same file" } else { "same object" }.to_owned());
    let (base, new) = why.self_costs;
    reasons.push(if base == new { "same cost".to_owned() } else { "nearly the same cost".to_owned() });
    if why.calls.0 == why.calls.1 && why.calls.0 > 0 {
        reasons.push("as many calls".to_owned());
    }
    if why.common_callers > 0 {
        let all = if why.common_callers == why.callers { "the same" } else { "mostly the same" };
        reasons.push(format!("{all} callers"));
    }
    if why.similar_name {
        reasons.push("similar name".to_owned());
    }
    reasons.join(", ")
}

/// What differs besides the program: one sentence each.
pub fn warning(unlike: &Unlike) -> String {
    let list = |answers: &[String]| match answers {
        [] => "nothing".to_owned(),
        answers => answers.iter().map(|answer| safe(answer)).collect::<Vec<_>>().join(", "),
    };
    let (base, new) = (list(&unlike.base), list(&unlike.new));
    let what = match &unlike.kind {
        UnlikeKind::Events => {
            let only = |of: &[String], other: &[String]| -> Vec<String> {
                of.iter().filter(|name| !other.contains(name)).cloned().collect()
            };
            let (base, new) = (only(&unlike.base, &unlike.new), only(&unlike.new, &unlike.base));
            return match (base.is_empty(), new.is_empty()) {
                (false, true) => format!("event types of the base only: {}", list(&base)),
                (true, false) => format!("event types of the new profile only: {}", list(&new)),
                _ => format!(
                    "other event types: {} in the base only, {} in the new profile only",
                    list(&base),
                    list(&new)
                ),
            };
        }
        UnlikeKind::Functions => {
            return format!(
                "next to no function is on both sides: {base} in the base, {new} in the new profile"
            );
        }
        UnlikeKind::Producer => "recorded by other tools".to_owned(),
        UnlikeKind::Version => "recorded by other versions of the tool".to_owned(),
        UnlikeKind::Command => "other commands".to_owned(),
        UnlikeKind::Positions => "other positions".to_owned(),
        UnlikeKind::Description(kind) => format!("other {}", safe(kind)),
        _ => "other environment".to_owned(),
    };
    format!("{what}: {base} in the base, {new} in the new profile")
}

/// What was joined, by rule: `checkout-directory 8 (/a/mill/ = /b/mill/)`.
pub(crate) fn joins(diff: &Diff<'_, '_>) -> Vec<String> {
    let comparison: &Comparison<'_> = diff.comparison;
    let shown = |path: &[u8]| match path {
        b"" => "./".to_owned(),
        path => gristmill_output::printable(path).into_owned(),
    };
    let example = |function| match (comparison.in_base(function), comparison.in_new(function)) {
        (Some(base), Some(new)) if base.name != new.name => {
            let [base, new] =
                [base, new].map(|mention| gristmill_output::printable(mention.name).into_owned());
            Some(format!("{base} = {new}"))
        }
        (Some(base), Some(new)) if base.file != new.file => {
            Some(format!("{} = {}", shown(base.file), shown(new.file)))
        }
        (Some(base), Some(new)) => Some(format!("{} = {}", shown(base.object), shown(new.object))),
        _ => None,
    };
    // What was renamed is told by itself.
    let joins = diff.joins.iter().filter(|join| join.rule != JoinRule::Rename);
    let of_rule = joins.map(|join| {
        let example = match (join.rule, comparison.checkouts().first()) {
            (JoinRule::CheckoutDirectory, Some(checkout)) => {
                Some(format!("{} = {}", shown(&checkout.base), shown(&checkout.new)))
            }
            _ => example(join.example),
        };
        let example = example.map_or(String::new(), |example| format!(": {example}"));
        format!("{} {}{example}", join.rule, grouped(join.functions))
    });
    of_rule.collect()
}

/// So long may each name of a renamed function be.
const RENAMED_NAME: usize = 60;

/// One line for each renamed function.
pub(crate) fn renames(diff: &Diff<'_, '_>) -> Vec<String> {
    let of = |&function: &_| {
        let (base, new) = (diff.comparison.in_base(function)?, diff.comparison.in_new(function)?);
        let why = diff.comparison.renamed(function)?;
        let [base, new] = [base, new].map(|mention| {
            let name = safe(&shown_name(mention));
            shorten(&name, RENAMED_NAME).into_owned()
        });
        Some(format!("{base} is now {new} ({})", resemblance(why)))
    };
    diff.renamed.iter().filter_map(of).collect()
}
