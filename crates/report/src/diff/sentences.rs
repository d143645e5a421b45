//! Causes as sentences.

use gristmill_output::{CostUnit, grouped};
use gristmill_profile::compare::{Cause, Comparison, Explanation, JoinedId, MoveKind, Presence};
use gristmill_profile::symbol::shorten;

use super::notes::{from_to, per_call};
use super::{event_column, safe, shown_name};

/// A cause as a sentence, without its effect on the total. Names are made to fit into about so many characters each.
pub fn sentence(
    comparison: &Comparison<'_>,
    explanation: &Explanation,
    column: usize,
    name_width: usize,
) -> String {
    let unit = event_column(comparison, column).unit;
    let name = |function: JoinedId| {
        let name = safe(&shown_name(comparison.mention(function)));
        shorten(&name, name_width).into_owned()
    };
    let others = |of: usize| match of {
        0 => String::new(),
        1 => ", and 1 function that follows".to_owned(),
        more => format!(", and {} functions that follow", grouped(more)),
    };
    let beside = |function: JoinedId| {
        others(explanation.functions.iter().filter(|(other, _)| *other != function).count())
    };
    match &explanation.cause {
        Cause::Moved { kind, function, callers, moved } => {
            let mut sorted = callers.clone();
            sorted.sort_by_key(|&(caller, share)| (std::cmp::Reverse(share.abs()), caller));
            let first = sorted.first().map_or(String::new(), |(caller, _)| name(*caller));
            let more = match sorted.len() {
                0 | 1 => String::new(),
                2 => " and 1 more caller".to_owned(),
                callers => format!(" and {} more callers", grouped(callers - 1)),
            };
            let moved = unit.show(*moved);
            match (kind, comparison.presence(*function)) {
                (MoveKind::Inlined, Presence::Both) => {
                    format!("{} was mostly inlined into {first}{more}: {moved} moved", name(*function))
                }
                (MoveKind::Inlined, _) => {
                    format!("{} was inlined into {first}{more}: {moved} moved", name(*function))
                }
                (MoveKind::Outlined, _) => {
                    format!("{} is no longer inlined into {first}{more}: {moved} moved", name(*function))
                }
            }
        }
        Cause::Calls { caller, callee, count } => {
            let more = if count.delta() > 0 { "more" } else { "less" };
            format!(
                "{} calls {} {more} often: {}{}",
                name(*caller),
                name(*callee),
                from_to(*count, CostUnit::Count),
                beside(*callee)
            )
        }
        Cause::PerCall { function } => {
            let (own, calls) = (comparison.self_cost(*function, column), comparison.calls(*function));
            let more = if explanation.effect > 0 { "more" } else { "less" };
            match per_call(own, calls).filter(|_| !calls.is_none()) {
                Some(each) => format!("{} costs {more} per call: {each}", name(*function)),
                None => format!("{} costs {more} by itself: {}", name(*function), from_to(own, unit)),
            }
        }
        Cause::SelfCost { function } => {
            let more = if explanation.effect > 0 { "more" } else { "less" };
            let own = comparison.self_cost(*function, column);
            format!("{} costs {more} by itself: {}", name(*function), from_to(own, unit))
        }
        Cause::New { function, caller } => {
            let caller = caller.map_or(String::new(), |caller| format!(", called by {}", name(caller)));
            format!("{} is new{caller}{}", name(*function), beside(*function))
        }
        Cause::Vanished { function, caller } => {
            let caller = caller.map_or(String::new(), |caller| format!(", which {} called", name(caller)));
            format!("{} vanished{caller}{}", name(*function), beside(*function))
        }
    }
}
