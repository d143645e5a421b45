//! Causes as sentences.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use gristmill_output::{CostUnit, grouped};
use gristmill_profile::compare::{
    Cause, Change, Comparison, Explanation, JoinedId, MoveKind, PerCallProof, Presence,
};

use super::amounts::{UNCHANGED, from_to, per_call, signed, signed_percent};
use super::column::event_column;
use super::condition::doubted;
use super::shown_name;
use crate::names::{NameRow, fitted};

/// A sentence with names that can be shortened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Sentence(Vec<Piece>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Name(SentenceName),
}

impl Piece {
    fn name(&self) -> Option<&SentenceName> {
        match self {
            Piece::Name(name) => Some(name),
            Piece::Text(_) => None,
        }
    }
}

/// A function in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SentenceName {
    pub(super) id: JoinedId,
    pub(super) name: String,
}

/// The short names of the functions of several sentences. Different names do not read the same.
#[derive(Debug)]
pub(super) struct SentenceNames(HashMap<JoinedId, String>);

impl SentenceNames {
    /// Shortens names to about this many columns.
    pub(super) fn new<'s>(names: impl IntoIterator<Item = &'s SentenceName>, columns: usize) -> Self {
        let mut known: HashMap<JoinedId, String> = HashMap::new();
        let mut rows: Vec<&SentenceName> = Vec::new();
        for name in names {
            known.entry(name.id).or_insert_with(|| {
                rows.push(name);
                String::new()
            });
        }
        let labels = rows.iter().map(|row| NameRow::new(row.id.index(), &row.name, columns));
        for (fitted, row) in fitted(labels).into_iter().zip(&rows) {
            known.insert(row.id, fitted.to_string());
        }
        SentenceNames(known)
    }

    /// Adds the files of functions that others of the comparison share their names with.
    pub(super) fn with_files(mut self, files: &BTreeMap<JoinedId, String>) -> Self {
        for (function, file) in files {
            if let Some(name) = self.0.get_mut(function) {
                name.push_str(&format!(" ({file})"));
            }
        }
        self
    }

    pub(super) fn get(&self, function: JoinedId) -> &str {
        self.0.get(&function).map_or("", String::as_str)
    }
}

impl Sentence {
    /// Returns the functions that are named.
    pub(super) fn names(&self) -> impl Iterator<Item = &SentenceName> {
        self.0.iter().filter_map(Piece::name)
    }

    /// Returns the text with names of about this many columns.
    pub(super) fn shortened(&self, columns: usize) -> String {
        self.with_names(&SentenceNames::new(self.names(), columns))
    }

    /// Returns the text with these names.
    pub(super) fn with_names(&self, names: &SentenceNames) -> String {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Name(name) => text.push_str(names.get(name.id)),
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

/// Returns a cause as a sentence, with the condition under which it is true.
pub(super) fn sentence_of(comparison: &Comparison<'_>, explanation: &Explanation, column: usize) -> Sentence {
    let Sentence(mut pieces) = statement(comparison, explanation, column);
    let mut doubts: Vec<(&SentenceName, String)> = Vec::new();
    let named = pieces.iter().filter_map(Piece::name);
    for name in named {
        if doubts.iter().all(|(known, _)| known.id != name.id)
            && let Some(other) = doubted(comparison, name.id)
        {
            doubts.push((name, other));
        }
    }
    let condition = match &doubts[..] {
        [] => vec![],
        [(name, other)] => vec![
            Piece::Text(", if ".to_owned()),
            Piece::Name((*name).clone()),
            Piece::Text(format!(" is {other}")),
        ],
        _ => vec![Piece::Text(", if the functions of other names or places are the same".to_owned())],
    };
    pieces.extend(condition);
    Sentence(pieces)
}

/// Returns a cause as a sentence that takes all joined functions for one.
fn statement(comparison: &Comparison<'_>, explanation: &Explanation, column: usize) -> Sentence {
    let unit = event_column(comparison, column).unit;
    let name = |function: JoinedId| {
        Piece::Name(SentenceName { id: function, name: shown_name(comparison.mention(function)) })
    };
    let text = |text: &str| Piece::Text(text.to_owned());
    // Those that are called more or less often because of this.
    let below = |function: JoinedId| {
        let others = explanation.functions.iter().filter(|(other, _)| *other != function);
        let others: Vec<JoinedId> = others.map(|(other, _)| *other).collect();
        match others[..] {
            [] => vec![],
            [other] => vec![text(", including "), name(other), text(" below it")],
            _ => vec![Piece::Text(format!(", including {} functions below it", grouped(others.len())))],
        }
    };
    let more = if explanation.effect > 0 { "more" } else { "less" };
    let others = |count: usize| match count {
        0 => String::new(),
        1 => " and 1 more caller".to_owned(),
        count => format!(" and {} more callers", grouped(count)),
    };
    let is_towards = |change: Change| change.delta().signum() == explanation.effect.signum();
    let by_itself = |function: JoinedId| {
        let own = comparison.self_cost(function, column);
        let calls = comparison.calls(function);
        let change = from_to(own, unit);
        let is_called = calls.base.median > 0 && calls.new.median > 0 && !comparison.is_sampled();
        match is_towards(own) {
            true if is_called && !calls.is_none() => by_calls(own, calls, unit),
            true if own.delta() != explanation.effect => {
                format!(" costs {more} by itself, besides what other causes explain: {change}")
            }
            true => format!(" costs {more} by itself: {change}"),
            false if own.is_none() => {
                let cause = if calls.is_none() { "other causes" } else { "its calls" };
                let unchanged = unit.show(own.new.median);
                format!(" costs as much by itself as before, {more} than {cause} explain: {unchanged}")
            }
            false if calls.is_none() && own.delta() > 0 => {
                format!(" costs more by itself, but less than other causes explain: {change}")
            }
            false if calls.is_none() => {
                format!(" costs less by itself, but more than other causes explain: {change}")
            }
            false if own.delta() > 0 => {
                format!(" costs more by itself, but less than its calls explain: {change}")
            }
            false => format!(" costs less by itself, but more than its calls explain: {change}"),
        }
    };
    Sentence(match &explanation.cause {
        Cause::Moved { kind, function, callers, moved } => {
            let mut sorted = callers.clone();
            sorted.sort_by_key(|&(caller, share)| (std::cmp::Reverse(share.abs()), caller));
            let first = sorted.first().map_or_else(|| text(""), |(caller, _)| name(*caller));
            // Two names are as long as a count.
            let second = match &sorted[..] {
                [_, (second, _)] => vec![text(" and "), name(*second)],
                _ => vec![Piece::Text(others(sorted.len().saturating_sub(1)))],
            };
            // Only lines tell, and they can be those of other code: of a function that both inlined, or of another program.
            let is_there = comparison.presence(*function) == Presence::Both;
            let (before, verb, so, when) = match kind {
                MoveKind::Inlined if is_there => ("lines of ", " are in ", " now, as if inlined", "before"),
                MoveKind::Inlined => {
                    ("", " vanished, and its lines are in ", " now, as if inlined", "before")
                }
                MoveKind::Outlined if is_there => {
                    ("lines of ", " were in ", " before, as if no longer inlined", "now")
                }
                MoveKind::Outlined => {
                    ("", " is new, and its lines were in ", " before, as if inlined", "now")
                }
            };
            let moved = format!("{so}: self cost {} {when}", unit.show(*moved));
            let mut pieces = vec![text(before), name(*function), text(verb), first];
            pieces.extend(second);
            pieces.push(Piece::Text(moved));
            pieces
        }
        Cause::Calls { caller, callee, count } => {
            let cost = {
                let mut arcs = comparison.outgoing(*caller);
                let arc = arcs.find(|&arc| comparison.arc(arc).callee == *callee);
                arc.map(|arc| comparison.arc_cost(arc, column))
            };
            let callee_name = if caller == callee { text("itself") } else { name(*callee) };
            let Some(count) = count else {
                let change = format!(" {more} often, besides calls that moved as if by inlining");
                let mut pieces = vec![name(*caller), text(" calls "), callee_name, Piece::Text(change)];
                pieces.extend(below(*callee));
                return Sentence(pieces);
            };
            if let Some(cost) = cost.filter(|cost| is_uncounted(*count, *cost)) {
                let verb = match is_towards(cost) {
                    true if cost.delta() == explanation.effect => format!(" cost {more}"),
                    true => format!(" cost {more}, in part by other causes"),
                    false => " changed".to_owned(),
                };
                let mut pieces = vec![
                    text("calls of "),
                    name(*callee),
                    text(" from "),
                    name(*caller),
                    Piece::Text(format!(", not all of them counted,{verb}: {}", from_to(cost, unit))),
                ];
                pieces.extend(below(*callee));
                return Sentence(pieces);
            }
            let (verb, often) = match (count.base.max, count.new.max) {
                (0, _) => (" now calls ", ""),
                (_, 0) => (" no longer calls ", ""),
                _ if count.delta() > 0 => (" calls ", " more often"),
                _ => (" calls ", " less often"),
            };
            let mut pieces = vec![name(*caller), text(verb), callee_name];
            pieces.push(Piece::Text(format!("{often}: {}", from_to(*count, CostUnit::Count))));
            let calls = comparison.calls(*caller);
            let is_both = |change: Change| change.base.median > 0 && change.new.median > 0;
            if caller != callee
                && is_both(*count)
                && is_both(calls)
                && calls.delta().signum() == count.delta().signum()
            {
                let change = from_to(calls, CostUnit::Count);
                let own_often = if calls.delta() > 0 { "more" } else { "less" };
                match beyond(*count, calls) {
                    // The effect is of the part beyond.
                    Some(Ordering::Greater) if !is_whole(*count, calls, cost, explanation.effect) => {
                        pieces.push(Piece::Text(format!(", beyond what its own calls explain: {change}")));
                    }
                    Some(Ordering::Equal) => {
                        pieces.push(Piece::Text(format!(", in proportion to its own calls: {change}")));
                    }
                    // It calls more often because it is called more often, but less often per call.
                    _ => {
                        pieces.extend([text("; "), name(*caller)]);
                        pieces.push(Piece::Text(format!(" is called {own_often} often: {change}")));
                    }
                }
            }
            pieces.extend(below(*callee));
            pieces
        }
        Cause::PerCall { function, proof: PerCallProof::From(from, more_callers) } => {
            let each = each(from.cost, from.calls, unit);
            // What other causes have of it.
            let in_part = match more_callers {
                0 if !from.is_whole(explanation.effect) => ", in part by other causes",
                _ => "",
            };
            // Other causes of the same calls can be larger, and go the other way.
            let than = if is_each_towards(from.cost, from.calls, explanation.effect) {
                in_part
            } else {
                " than other causes explain"
            };
            // Calls that are more or fewer can be of another kind.
            let (on_average, calls) = match from_to(from.calls, CostUnit::Count) {
                _ if from.calls.is_none() => {
                    let count = CostUnit::Count.show(from.calls.new.median);
                    ("", format!("{count} {}", if from.calls.new.median == 1 { "call" } else { "calls" }))
                }
                calls => (" on average", format!("calls {calls}")),
            };
            let change = format!("{} cost {more}{on_average}{than}: {each}, {calls}", others(*more_callers));
            let mut pieces = vec![text("calls of "), name(*function), text(" from "), name(from.caller)];
            pieces.push(Piece::Text(change));
            pieces.extend(below(*function));
            pieces
        }
        Cause::PerCall { function, proof } => {
            let (own, calls) = (comparison.self_cost(*function, column), comparison.calls(*function));
            let is_each = !calls.is_none() && is_each_towards(own, calls, explanation.effect);
            let average = per_call(own, calls).map(not_unchanged);
            let even = match proof {
                PerCallProof::All { is_of_all: true } => at_equal_mix(own, explanation.effect),
                _ => None,
            };
            let change = match even {
                // The table has the average.
                Some(each) if Some(&each) == average.as_ref() => {
                    Some(format!(" costs {more} per call: {each}"))
                }
                Some(each) => {
                    Some(format!(" costs {more} per call: {each}, if callers had called it as often as now"))
                }
                None => average
                    .filter(|_| is_each)
                    .map(|each| format!(" costs {more} per call on average: {each}")),
            };
            let PerCallProof::Counts(from) = proof else {
                let beyond = || {
                    let has_more = is_towards(own) && !calls.is_none();
                    let change = from_to(own, unit);
                    has_more.then(|| {
                        format!(" costs {more} by itself, besides what other causes explain: {change}")
                    })
                };
                let change = change.or_else(beyond).unwrap_or_else(|| by_itself(*function));
                return Sentence(vec![name(*function), Piece::Text(change)]);
            };
            // If the average did not change in the direction of the effect, it says nothing.
            let change = change
                .unwrap_or_else(|| format!(" costs {more} as its callers call it in other proportions"));
            let count = from_to(from.calls, CostUnit::Count);
            let (whose, often) = match (from.calls.base.max, from.calls.new.max) {
                (0, _) => ("the other callers", format!(" now calls it: {count}")),
                (_, 0) => ("the other callers", format!(" no longer calls it: {count}")),
                _ if from.calls.delta() > 0 => ("each caller", format!(" calls it more often: {count}")),
                _ => ("each caller", format!(" calls it less often: {count}")),
            };
            vec![
                name(*function),
                Piece::Text(format!("{change}; calls of {whose} cost as before, ")),
                name(from.caller),
                Piece::Text(often),
            ]
        }
        Cause::SelfCost { function } => vec![name(*function), Piece::Text(by_itself(*function))],
        Cause::New { function, caller, others: more }
        | Cause::Vanished { function, caller, others: more } => {
            let (verb, when) = match explanation.cause {
                Cause::New { .. } => (" is new", ""),
                _ => (" vanished", " before"),
            };
            let mut pieces = vec![name(*function), text(verb)];
            if let Some(caller) = caller {
                pieces.extend([text(", called by "), name(*caller), Piece::Text(others(*more) + when)]);
            }
            pieces.extend(below(*function));
            pieces
        }
        Cause::Split { function, caller, of_caller } => {
            let (verb, so) = match comparison.presence(*function) {
                Presence::New => (" is new, called by ", ""),
                _ => (" vanished, called by ", " before"),
            };
            // Both numbers, as nothing proves that one replaces the other.
            let own = signed(explanation.effect - of_caller, unit);
            let of_caller = signed(*of_caller, unit);
            vec![
                name(*function),
                text(verb),
                name(*caller),
                Piece::Text(format!("{so}: {own}, and {of_caller} of self cost in ")),
                name(*caller),
            ]
        }
        Cause::Swapped { function, other } => {
            let own = |function: JoinedId| {
                Piece::Text(format!(" {}", from_to(comparison.self_cost(function, column), unit)))
            };
            vec![
                name(*function),
                text(" and "),
                name(*other),
                text(" changed by the same amount: "),
                name(*function),
                own(*function),
                text(", "),
                name(*other),
                own(*other),
            ]
        }
    })
}

/// Returns the change of the cost per call: `40 → 38 each (-5.00%)`.
fn each(cost: Change, calls: Change, unit: CostUnit) -> String {
    let percent = not_unchanged(per_call(cost, calls).unwrap_or_default());
    let [base, new] = [(cost.base, calls.base), (cost.new, calls.new)]
        .map(|(cost, calls)| unit.show(cost.median / calls.median.max(1)));
    // Rounded down, both can be the same. Of nothing there is no share.
    match (base == new, percent.is_empty()) {
        (true, true) => format!("{base} each"),
        (true, false) => format!("{base} each, {percent}"),
        (false, true) => format!("{base} → {new} each"),
        (false, false) => format!("{base} → {new} each ({percent})"),
    }
}

/// Returns the change of a self cost with that of the calls.
fn by_calls(own: Change, calls: Change, unit: CostUnit) -> String {
    let count = from_to(calls, CostUnit::Count);
    let often = if calls.delta() > 0 { "more" } else { "less" };
    let each = per_call(own, calls);
    if each.as_deref() == Some(UNCHANGED) {
        return format!(" is called {often} often: {count}");
    }
    let more = if own.delta() > 0 { "more" } else { "less" };
    let each = each.map_or(String::new(), |each| format!("; per call {each}"));
    format!(" costs {more}: {}; called {often} often: {count}{each}", from_to(own, unit))
}

/// Returns the change of the cost per call if each caller called as often as now before, too: the effect by the rest of the
/// cost.
fn at_equal_mix(own: Change, effect: gristmill_format::Cost) -> Option<String> {
    let expected = own.new.median.checked_sub(effect).filter(|&expected| expected > 0)?;
    let percent = match signed_percent(effect, expected) {
        percent if percent.is_empty() => return None,
        percent if matches!(percent.as_str(), "+0.00" | "-0.00" | "0.00") => UNCHANGED.to_owned(),
        percent => format!("{percent}%"),
    };
    Some(not_unchanged(percent))
}

/// Returns `true` if calls have costs on a side that does not count them, as those of inlined functions.
pub(super) fn is_uncounted(count: Change, cost: Change) -> bool {
    count.base.max == 0 && cost.base.max != 0 || count.new.max == 0 && cost.new.max != 0
}

/// Compares the factor of a count with that of a caller's calls, in the direction of both; `None` if it cannot be calculated.
fn beyond(count: Change, calls: Change) -> Option<Ordering> {
    let of_count = count.new.median.checked_mul(calls.base.median)?;
    let of_calls = calls.new.median.checked_mul(count.base.median)?;
    Some(if count.delta() > 0 { of_count.cmp(&of_calls) } else { of_calls.cmp(&of_count) })
}

/// Returns `true` if an effect is nearer to the whole change of an arc's count than to its part beyond the calls of the caller.
fn is_whole(count: Change, calls: Change, cost: Option<Change>, effect: gristmill_format::Cost) -> bool {
    let ratio = |change: Change| change.new.median as f64 / change.base.median as f64;
    let base = cost.map_or(0.0, |cost| cost.base.median as f64);
    let apart = |ratio: f64| (effect as f64 - base * ratio).abs();
    apart(ratio(count) - 1.0) < apart(ratio(count) - ratio(calls))
}

/// Returns the change of a cost that did change, however little.
fn not_unchanged(percent: String) -> String {
    if percent == UNCHANGED { "by less than 0.01%".to_owned() } else { percent }
}

/// Returns `true` if the cost per call changed in the direction of an effect.
fn is_each_towards(cost: Change, calls: Change, effect: gristmill_format::Cost) -> bool {
    let before = cost.base.median.checked_mul(calls.new.median);
    let after = cost.new.median.checked_mul(calls.base.median);
    let change = before.zip(after).and_then(|(before, after)| after.checked_sub(before));
    change.is_some_and(|change| change.signum() == effect.signum())
}
