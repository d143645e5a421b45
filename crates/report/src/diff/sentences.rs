//! Causes as sentences.

use gristmill_output::{CostUnit, grouped};
use gristmill_profile::compare::{Cause, Comparison, Explanation, JoinedId, MoveKind, Presence};
use gristmill_profile::symbol::shorten;

use super::amounts::{from_to, per_call};
use super::head::event_column;
use super::{safe, shown_name};

/// A sentence with names that can be shortened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sentence(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Name(String),
}

impl Sentence {
    /// Returns the text with names of about this many characters.
    pub(super) fn shortened(&self, name_width: usize) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Name(name) => text.push_str(&shorten(name, name_width)),
            }
        }
        text
    }
}

/// Returns a cause as a sentence, without its effect on the total. Names are shortened to about this many characters.
pub fn sentence(
    comparison: &Comparison<'_>,
    explanation: &Explanation,
    column: usize,
    name_width: usize,
) -> String {
    sentence_of(comparison, explanation, column).shortened(name_width)
}

/// Returns a cause as a sentence.
pub(super) fn sentence_of(comparison: &Comparison<'_>, explanation: &Explanation, column: usize) -> Sentence {
    let unit = event_column(comparison, column).unit;
    let name = |function: JoinedId| Piece::Name(safe(&shown_name(comparison.mention(function))));
    let text = |text: &str| Piece::Text(text.to_owned());
    let followers = |function: JoinedId| {
        let others = explanation.functions.iter().filter(|(other, _)| *other != function);
        Piece::Text(match others.count() {
            0 => String::new(),
            1 => ", and 1 function that follows".to_owned(),
            count => format!(", and {} functions that follow", grouped(count)),
        })
    };
    let more = if explanation.effect > 0 { "more" } else { "less" };
    let by_itself = |function: JoinedId| {
        let own = comparison.self_cost(function, column);
        format!(" costs {more} by itself: {}", from_to(own, unit))
    };
    Sentence(match &explanation.cause {
        Cause::Moved { kind, function, callers, moved } => {
            let mut sorted = callers.clone();
            sorted.sort_by_key(|&(caller, share)| (std::cmp::Reverse(share.abs()), caller));
            let first = sorted.first().map_or_else(|| text(""), |(caller, _)| name(*caller));
            let others = match sorted.len() {
                0 | 1 => String::new(),
                2 => " and 1 more caller".to_owned(),
                callers => format!(" and {} more callers", grouped(callers - 1)),
            };
            let verb = match (kind, comparison.presence(*function)) {
                (MoveKind::Inlined, Presence::Both) => " was mostly inlined into ",
                (MoveKind::Inlined, _) => " was inlined into ",
                (MoveKind::Outlined, _) => " is no longer inlined into ",
            };
            let moved = format!("{others}: {} moved", unit.show(*moved));
            vec![name(*function), text(verb), first, Piece::Text(moved)]
        }
        Cause::Calls { caller, callee, count } => {
            let more = if count.delta() > 0 { "more" } else { "less" };
            let often = format!(" {more} often: {}", from_to(*count, CostUnit::Count));
            vec![name(*caller), text(" calls "), name(*callee), Piece::Text(often), followers(*callee)]
        }
        Cause::PerCall { function } => {
            let (own, calls) = (comparison.self_cost(*function, column), comparison.calls(*function));
            let change = match per_call(own, calls).filter(|_| !calls.is_none()) {
                Some(each) => format!(" costs {more} per call: {each}"),
                None => by_itself(*function),
            };
            vec![name(*function), Piece::Text(change)]
        }
        Cause::SelfCost { function } => vec![name(*function), Piece::Text(by_itself(*function))],
        Cause::New { function, caller } => match caller {
            Some(caller) => {
                vec![name(*function), text(" is new, called by "), name(*caller), followers(*function)]
            }
            None => vec![name(*function), text(" is new"), followers(*function)],
        },
        Cause::Vanished { function, caller } => match caller {
            Some(caller) => vec![
                name(*function),
                text(" vanished, which "),
                name(*caller),
                text(" called"),
                followers(*function),
            ],
            None => vec![name(*function), text(" vanished"), followers(*function)],
        },
    })
}
