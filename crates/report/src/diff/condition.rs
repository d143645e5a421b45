//! The condition under which both sides of a function are one.

use gristmill_output::lossy;
use gristmill_profile::compare::{Comparison, JoinDoubt, JoinedId};

use super::wording::MAX_RENAMED_NAME;
use super::{safe, shown_name};
use crate::names::short;

/// Returns what a joined function was in the base if both sides are one; `None` if there is no reason to doubt it.
pub(super) fn doubted(comparison: &Comparison<'_>, function: JoinedId) -> Option<String> {
    let base = comparison.in_base(function)?;
    let place = |path: &[u8], what: &str| match path {
        b"" | b"???" => format!("that of an unknown {what} in the base"),
        path => format!("that of {} in the base", safe(&lossy(path))),
    };
    Some(match comparison.doubt(function)? {
        JoinDoubt::File => place(base.file, "file"),
        JoinDoubt::Object => place(crate::path::base(&lossy(base.object)).as_bytes(), "object"),
        JoinDoubt::Callers => "that of the base, which has other callers".to_owned(),
        JoinDoubt::Lines => "that of the base, which has other lines".to_owned(),
        JoinDoubt::UnclearLines => "that of the base, which may have other lines".to_owned(),
        _ => {
            let [base, new] = [base, comparison.mention(function)]
                .map(|mention| short(&shown_name(mention), MAX_RENAMED_NAME));
            if base == new {
                "the instance with other arguments in the base".to_owned()
            } else {
                format!("{base} of the base")
            }
        }
    })
}

/// Counts the functions with a cost that may be two, other than renamed ones, which have a list of their own.
pub(super) fn doubtful_count(comparison: &Comparison<'_>, column: usize) -> usize {
    // What has one name and place took no rule, so no list has it.
    let is_listed = |function: JoinedId| match comparison.doubt(function) {
        Some(JoinDoubt::Callers) => !comparison.joined_by(function).is_empty(),
        doubt => doubt.is_some(),
    };
    let has_cost = |function: JoinedId| {
        let cost = comparison.self_cost(function, column);
        cost.base.max != 0 || cost.new.max != 0
    };
    comparison
        .functions()
        .filter(|&function| is_listed(function) && comparison.renamed(function).is_none())
        .filter(|&function| has_cost(function))
        .count()
}
