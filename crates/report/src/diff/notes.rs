//! Signed numbers and percentages, and remarks on rows.

use gristmill_format::Cost;
use gristmill_output::{CostUnit, grouped};
use gristmill_profile::compare::{Change, Comparison, JoinRule, Presence, Unlike, UnlikeKind};
use gristmill_profile::symbol::shorten;

use super::{DiffHead, DiffRow, JoinRow, RenameRow, safe, shown_name};

/// Returns a change with its sign: `+1,234`, `-5.2 ms`, `0`.
pub(super) fn signed(cost: Cost, unit: CostUnit) -> String {
    let shown = unit.show(cost);
    if cost > 0 { format!("+{shown}") } else { shown }
}

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

/// Returns a change in percent of the base: `+30.00%`. The text is empty if the base is 0.
pub(super) fn own_percent(change: Change) -> String {
    match signed_percent(change.delta(), change.base.median) {
        percent if percent.is_empty() => percent,
        percent => format!("{percent}%"),
    }
}

/// Returns a change as `10 → 13 (+30.00%)`.
pub(super) fn from_to(change: Change, unit: CostUnit) -> String {
    let (base, new) = (unit.show(change.base.median), unit.show(change.new.median));
    match own_percent(change) {
        percent if percent.is_empty() => format!("{base} → {new}"),
        percent => format!("{base} → {new} ({percent})"),
    }
}

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
        percent if percent == "+0.00" || percent == "-0.00" || percent == "0.00" => "unchanged".to_owned(),
        percent => format!("{percent}%"),
    })
}

/// Returns the ranges of both sides, unless the runs of each side are equal.
fn spread(change: Change, unit: CostUnit) -> Option<String> {
    if change.base.spread() == 0 && change.new.spread() == 0 {
        return None;
    }
    let side = |name: &str, sample: gristmill_profile::compare::Sample| {
        format!("{name} {} to {}", unit.show(sample.min), unit.show(sample.max))
    };
    Some(format!("{}, {}", side("base", change.base), side("new", change.new)))
}

/// Returns the unit and the self cost of a row's first event type.
fn first_cost(head: &DiffHead, row: &DiffRow) -> (CostUnit, Change) {
    (head.events[0].unit, *row.self_costs[0])
}

/// Lists the remarks on a row.
pub(super) fn remarks(head: &DiffHead, row: &DiffRow) -> Vec<String> {
    let (unit, own) = first_cost(head, row);
    let has_both = row.presence == Presence::Both && !own.is_none();
    let mut remarks = Vec::from_iter(has_both.then(|| from_to(own, unit)));
    remarks.extend(remarks_beside_cost(head, row));
    remarks
}

/// Lists the remarks on a row, except the change of its self cost.
pub(super) fn remarks_beside_cost(head: &DiffHead, row: &DiffRow) -> Vec<String> {
    let mut remarks = Vec::new();
    let (unit, own) = first_cost(head, row);
    match row.presence {
        Presence::New => remarks.push("new".to_owned()),
        Presence::Vanished => remarks.push("vanished".to_owned()),
        Presence::Both => {}
    }
    if own.is_noise() {
        remarks.push("noise: within the spread of the runs".to_owned());
    }
    remarks.extend(spread(own, unit));
    if let Some(RenameRow { text, .. }) = &row.renamed {
        let from = row.base_name.as_deref().map(safe).unwrap_or_default();
        remarks.push(format!("renamed from {} ({text})", shorten(&from, MAX_RENAMED_NAME)));
    }
    if row.is_upper_bound {
        remarks.push("inclusive cost is an upper bound: calls leave the group and return".to_owned());
    }
    let calls = *row.calls;
    // A sampling profiler does not count calls.
    if !calls.is_none() && !head.is_sampled {
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

/// Returns the reasons to consider a function renamed.
pub(super) fn resemblance(why: &gristmill_profile::compare::Resemblance) -> String {
    let mut reasons = Vec::new();
    reasons.push(if why.same_file { "same file" } else { "same object" }.to_owned());
    let (base, new) = why.self_costs;
    reasons.push(if base == new { "same cost".to_owned() } else { "nearly the same cost".to_owned() });
    if why.calls.0 == why.calls.1 && why.calls.0 > 0 {
        reasons.push("same calls".to_owned());
    }
    if why.common_callers > 0 {
        let all = if why.common_callers == why.callers { "same" } else { "mostly the same" };
        reasons.push(format!("{all} callers"));
    }
    if why.similar_name {
        reasons.push("similar name".to_owned());
    }
    reasons.join(", ")
}

/// Returns a difference of environments as a sentence.
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
                (false, true) => format!("event types only in the base: {}", list(&base)),
                (true, false) => format!("event types only in the new profile: {}", list(&new)),
                _ => format!(
                    "the event types differ: {} only in the base, {} only in the new profile",
                    list(&base),
                    list(&new)
                ),
            };
        }
        UnlikeKind::Functions => {
            return format!(
                "hardly any function is on both sides: {base} in the base, {new} in the new profile"
            );
        }
        UnlikeKind::Producer => "the tools differ".to_owned(),
        UnlikeKind::Version => "the versions of the tool differ".to_owned(),
        UnlikeKind::Command => "the commands differ".to_owned(),
        UnlikeKind::Positions => "the positions differ".to_owned(),
        UnlikeKind::Description(kind) => format!("{} differs", safe(kind)),
        _ => "the environment differs".to_owned(),
    };
    format!("{what}: {base} in the base, {new} in the new profile")
}

/// Lists the joins, except renames, which have a list of their own.
pub(super) fn joins(head: &DiffHead) -> Vec<String> {
    let joins = head.joined.iter().filter(|join| join.rule != JoinRule::Rename.name());
    joins.map(JoinRow::text).collect()
}

/// The limit of the characters of a renamed function's name.
const MAX_RENAMED_NAME: usize = 60;

/// Lists the renamed functions, each with a sentence.
pub(super) fn renames(comparison: &Comparison<'_>) -> Vec<String> {
    let sentence = |function| {
        let why = comparison.renamed(function)?;
        let (base, new) = (comparison.in_base(function)?, comparison.in_new(function)?);
        let [base, new] = [base, new].map(|mention| {
            let name = safe(&shown_name(mention));
            shorten(&name, MAX_RENAMED_NAME).into_owned()
        });
        Some(format!("{base} is now {new} ({})", resemblance(why)))
    };
    comparison.functions().filter_map(sentence).collect()
}
