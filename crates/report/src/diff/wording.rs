//! Differences of environments and renames as sentences.

use std::collections::HashSet;

use gristmill_output::printable;
use gristmill_profile::compare::{Comparison, Resemblance, Unlike, UnlikeKind};

use super::{safe, shown_name};
use crate::names::short;

/// Returns the reasons to consider a function renamed. A comparison of several event types says which one its costs are of: it need not
/// be one that is shown.
pub(super) fn resemblance(comparison: &Comparison<'_>, why: &Resemblance) -> String {
    let mut reasons = Vec::new();
    if !why.is_elsewhere {
        reasons.push(if why.same_file { "same file" } else { "same object" }.to_owned());
    }
    let (base, new) = why.self_costs;
    let is_within = |percent: u128| {
        let largest = base.unsigned_abs().max(new.unsigned_abs());
        base.abs_diff(new).saturating_mul(100) <= largest.saturating_mul(percent)
    };
    let likeness = match () {
        () if base == new => Some("same"),
        () if is_within(10) => Some("nearly the same"),
        () if is_within(50) => Some("similar"),
        () => None,
    };
    let cost = match comparison.events() {
        events @ [_, _, ..] => printable(&events[comparison.leading_event()].name).into_owned(),
        _ => "cost".to_owned(),
    };
    reasons.extend(likeness.map(|likeness| format!("{likeness} {cost}")));
    if why.calls.0 == why.calls.1 && why.calls.0 > 0 {
        reasons.push("same calls".to_owned());
    }
    if why.common_callers > 0 {
        let all = match () {
            () if why.common_callers == why.callers => "same callers",
            () if 2 * why.common_callers >= why.callers => "mostly the same callers",
            () => "some of the same callers",
        };
        reasons.push(all.to_owned());
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
                let other: HashSet<&String> = other.iter().collect();
                of.iter().filter(|name| !other.contains(name)).cloned().collect()
            };
            let (base, new) = (only(&unlike.base, &unlike.new), only(&unlike.new, &unlike.base));
            let is_cache =
                |names: &[String]| names.iter().any(|name| matches!(&**name, "I1mr" | "D1mr" | "Dr"));
            let by_cache = |names: &[String]| match is_cache(names) {
                true => ", which was recorded with --cache-sim=yes".to_owned(),
                false => String::new(),
            };
            return match (base.is_empty(), new.is_empty()) {
                (false, true) => format!("event types only in the base{}: {}", by_cache(&base), list(&base)),
                (true, false) => {
                    format!("event types only in the new profile{}: {}", by_cache(&new), list(&new))
                }
                _ => format!(
                    "the event types differ: {} only in the base, {} only in the new profile",
                    list(&base),
                    list(&new)
                ),
            };
        }
        UnlikeKind::SeparateCallers => {
            let side = if unlike.base.is_empty() { "new profile" } else { "base" };
            return format!(
                "functions were separated by their callers only in the {side} (--separate-callers): they are folded, as by \
                 --fold-callers"
            );
        }
        UnlikeKind::Symbols(object) => {
            let side = if base == "names" { "new profile" } else { "base" };
            let object = safe(crate::path::base(object));
            return format!(
                "the functions of {object} have names on one side only: it was stripped in the {side}, so its functions \
                 cannot be joined; record a program with symbols, or compare objects (--group object)"
            );
        }
        UnlikeKind::Functions => {
            return format!(
                "hardly any function is on both sides: {base} in the base, {new} in the new profile"
            );
        }
        UnlikeKind::Part => {
            let count = |said: &str| said.rsplit(' ').next().and_then(|all| all.parse::<usize>().ok());
            let (all, whole, part) = match count(&base) > count(&new) {
                true => (&base, "base", "new profile"),
                false => (&new, "new profile", "base"),
            };
            return format!(
                "hardly any function of the {whole} is in the {part}, {all}: if only a part of the program was recorded there \
                 (--toggle-collect, --collect-atstart=no), costs of the rest did not vanish"
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

/// The columns of a renamed function's name.
pub(super) const MAX_RENAMED_NAME: usize = 60;

/// A function that may have been renamed: a profile cannot prove it.
#[derive(Debug, Clone)]
pub(super) struct Rename {
    base: String,
    new: String,
    /// The reasons to consider it renamed.
    why: String,
}

impl Rename {
    /// Returns a sentence with names of about this many columns.
    pub(super) fn text(&self, columns: usize) -> String {
        let [base, new] = [&self.base, &self.new].map(|name| short(name, columns));
        format!("{base} may now be {new} ({})", self.why)
    }
}

/// Lists the functions that have another name.
pub(super) fn renames(comparison: &Comparison<'_>) -> Vec<Rename> {
    let rename = |function| {
        let why = resemblance(comparison, comparison.renamed(function)?);
        let [base, new] = [comparison.in_base(function)?, comparison.in_new(function)?].map(shown_name);
        (base != new).then_some(Rename { base, new, why })
    };
    comparison.functions().filter_map(rename).collect()
}
