//! Cost that moved from a function into its callers, or the other way: the compiler inlined it, or no longer does.
//!
//! Told from the call graph: calls of a function became fewer by half or more, what it cost by itself went down, and by
//! about as much what its callers cost by themselves went up. Where its lines are in another file than theirs,
//! costs in that file must have come up in the callers, too; a profile knows the file of each line.

use std::collections::HashMap;

use gristmill_format::Cost;

use super::ratio::scaled;
use super::{Change, Comparison, LinePlace, Presence};
use crate::id::FunctionId;

/// Which way cost moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MoveKind {
    /// From a function into its callers.
    Inlined,
    /// From callers into a function of its own.
    Outlined,
}

/// A function whose cost moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) kind: MoveKind,
    pub(super) function: FunctionId,
    /// The callers, and how much of their own cost came from it or went to it: above 0 where it was inlined, below where
    /// it was outlined.
    pub(super) callers: Vec<(FunctionId, Cost)>,
}

/// What is known of each function in the column that counts.
struct Numbers {
    column: usize,
    /// How its self cost changed.
    delta: Vec<Cost>,
    /// The same without what more or fewer calls explain.
    own_delta: Vec<Cost>,
    calls: Vec<(Cost, Cost)>,
    /// Self cost by function and joined file, where it changed: base, new.
    by_file: HashMap<(u32, u32), (Cost, Cost)>,
}

/// Finds moves of both kinds, by function.
pub(super) fn moves(comparison: &Comparison<'_>, column: usize) -> Vec<Move> {
    let delta: Vec<Cost> =
        comparison.functions().map(|function| comparison.self_cost(function, column).delta()).collect();
    let own_delta = comparison.functions().map(|function| {
        let change = comparison.self_cost(function, column);
        let calls = comparison.calls(function);
        change.delta() - scaled(change.base.median, calls.delta(), calls.base.median).unwrap_or(0)
    });
    let own_delta: Vec<Cost> = own_delta.collect();
    let calls = comparison.functions().map(|function| {
        let calls = comparison.calls(function);
        (calls.base.median, calls.new.median)
    });
    let numbers =
        Numbers { column, delta, own_delta, calls: calls.collect(), by_file: by_file(comparison, column) };
    let mut moves = found(comparison, &numbers, MoveKind::Inlined);
    let mirrored = Numbers {
        column,
        delta: numbers.delta.iter().map(|cost| -cost).collect(),
        own_delta: mirrored_own_delta(comparison, column),
        calls: numbers.calls.iter().map(|&(base, new)| (new, base)).collect(),
        by_file: numbers.by_file,
    };
    moves.extend(found(comparison, &mirrored, MoveKind::Outlined));
    moves
}

/// As if base and new changed places.
fn mirrored_own_delta(comparison: &Comparison<'_>, column: usize) -> Vec<Cost> {
    let own = |function| {
        let change = comparison.self_cost(function, column);
        let calls = comparison.calls(function);
        -change.delta() - scaled(change.new.median, -calls.delta(), calls.new.median).unwrap_or(0)
    };
    comparison.functions().map(own).collect()
}

fn found(comparison: &Comparison<'_>, numbers: &Numbers, kind: MoveKind) -> Vec<Move> {
    let count = |arc: usize| {
        let count = comparison.arcs()[arc].count;
        match kind {
            MoveKind::Inlined => (count.base.median, count.new.median),
            MoveKind::Outlined => (count.new.median, count.base.median),
        }
    };
    let is_halved = |(before, after): (Cost, Cost)| before > 0 && after.saturating_mul(2) <= before;
    let is_gone = |function: FunctionId| {
        numbers.delta[function.index()] < 0 && is_halved(numbers.calls[function.index()])
    };
    // Who may have taken how much of what.
    let mut wishes: Vec<(FunctionId, FunctionId, Cost)> = Vec::new();
    for function in comparison.functions().filter(|&function| is_gone(function)) {
        let lost = -numbers.delta[function.index()];
        let takers = takers(comparison, numbers, function, kind, &count, &is_halved, &is_gone);
        let calls: Cost = takers.iter().map(|(_, calls)| calls).sum();
        for (taker, count) in takers {
            wishes.push((taker, function, scaled(lost, count, calls).unwrap_or(0)));
        }
    }
    // A caller gives no more than it grew by.
    wishes.sort_unstable();
    let mut granted: Vec<(FunctionId, FunctionId, Cost)> = Vec::new();
    for of_taker in wishes.chunk_by(|a, b| a.0 == b.0) {
        let wished: Cost = of_taker.iter().map(|(_, _, cost)| cost).sum();
        for &(taker, function, cost) in of_taker {
            let grown = numbers.own_delta[taker.index()].max(0);
            let share = if wished <= grown { cost } else { scaled(cost, grown, wished).unwrap_or(0) };
            if share > 0 {
                granted.push((function, taker, share));
            }
        }
    }
    granted.sort_unstable();
    let mut moves: Vec<Move> = Vec::new();
    for of_function in granted.chunk_by(|a, b| a.0 == b.0) {
        let Some(&(function, ..)) = of_function.first() else { continue };
        let taken: Cost = of_function.iter().map(|(_, _, share)| share).sum();
        // Inlined code may well get cheaper, but where next to nothing of it came up elsewhere it is gone.
        if taken.saturating_mul(4) < -numbers.delta[function.index()] {
            continue;
        }
        let sign = if kind == MoveKind::Inlined { 1 } else { -1 };
        let callers = of_function.iter().map(|&(_, taker, share)| (taker, sign * share)).collect();
        moves.push(Move { kind, function, callers });
    }
    let others = by_lines(comparison, numbers, kind, &moves, &|function| is_gone(function), &|arc| {
        is_halved(count(arc))
    });
    moves.extend(others);
    moves
}

/// Functions that are gone from callers which cost no more for it, as inlined code may become so much cheaper that a loop
/// around it does, too. Lines tell: those of the function have come up in the caller.
fn by_lines(
    comparison: &Comparison<'_>,
    numbers: &Numbers,
    kind: MoveKind,
    known: &[Move],
    is_gone: &dyn Fn(FunctionId) -> bool,
    is_lost: &dyn Fn(usize) -> bool,
) -> Vec<Move> {
    /// All lines of a function are read again for this; those that matter are few.
    const MOST: usize = 16;
    const MOST_CALLERS: usize = 4;
    /// Less of the total than one in so many explains nothing.
    const ONE_IN: Cost = 10_000;
    let total = comparison.total(numbers.column);
    let least = total.base.median.abs().max(total.new.median.abs()) / ONE_IN;
    let mut gone: Vec<FunctionId> = comparison
        .functions()
        .filter(|&function| -numbers.delta[function.index()] > least && is_gone(function))
        .filter(|&function| known.iter().all(|known| known.function != function))
        .collect();
    gone.sort_by_key(|function| (numbers.delta[function.index()], *function));
    gone.truncate(MOST);
    let mut moves = Vec::new();
    for function in gone {
        let sides = |change: Change| match kind {
            MoveKind::Inlined => (change.base.median, change.new.median),
            MoveKind::Outlined => (change.new.median, change.base.median),
        };
        let lines = comparison.lines(function).into_iter().filter(|line| line.place.line > 0);
        let lines: Vec<LinePlace> =
            lines.filter(|line| sides(line.costs[numbers.column]).0 > 0).map(|line| line.place).collect();
        let mut callers: Vec<(FunctionId, Cost)> = Vec::new();
        let lost = comparison.incoming(function).iter().filter(|&&arc| is_lost(arc));
        for &arc in lost.take(MOST_CALLERS) {
            let caller = comparison.arcs()[arc].caller;
            if caller == function || comparison.presence(caller) != Presence::Both {
                continue;
            }
            let come =
                comparison.lines(caller).into_iter().filter(|line| lines.binary_search(&line.place).is_ok());
            let share = come.map(|line| match sides(line.costs[numbers.column]) {
                (0, after) => after,
                _ => 0,
            });
            let share: Cost = share.sum();
            if share > 0 {
                callers.push((caller, if kind == MoveKind::Inlined { share } else { -share }));
            }
        }
        let taken: Cost = callers.iter().map(|(_, share)| share.abs()).sum();
        // A line or two may be shared by chance.
        if taken.saturating_mul(10) >= -numbers.delta[function.index()] {
            moves.push(Move { kind, function, callers });
        }
    }
    moves
}

/// The callers that grew where calls of a function went, with the calls that each lost. Through callers that are gone
/// themselves the next ones are found: what was inlined may have been inlined once more.
fn takers(
    comparison: &Comparison<'_>,
    numbers: &Numbers,
    function: FunctionId,
    kind: MoveKind,
    count: &dyn Fn(usize) -> (Cost, Cost),
    is_halved: &dyn Fn((Cost, Cost)) -> bool,
    is_gone: &dyn Fn(FunctionId) -> bool,
) -> Vec<(FunctionId, Cost)> {
    /// So many functions inlined into each other are followed.
    const MOST: usize = 64;
    /// So many calls of those are looked at.
    const MOST_ARCS: usize = 1024;
    let mut takers: Vec<(FunctionId, Cost)> = Vec::new();
    let mut seen = vec![function];
    let mut next = 0;
    while let Some(&gone) = seen.get(next) {
        next += 1;
        let incoming = comparison.incoming(gone);
        let incoming = if gone == function { incoming } else { &incoming[..incoming.len().min(MOST_ARCS)] };
        for &arc in incoming.iter().filter(|&&arc| is_halved(count(arc))) {
            let caller = comparison.arcs()[arc].caller;
            if caller == gone {
                continue;
            }
            if numbers.own_delta[caller.index()] > 0 {
                if has_its_lines(comparison, numbers, function, caller, kind) {
                    let (before, after) = count(arc);
                    takers.push((caller, before - after));
                }
            } else if is_gone(caller) && seen.len() < MOST && !seen.contains(&caller) {
                seen.push(caller);
            }
        }
    }
    takers.sort_unstable();
    takers.dedup_by(|taker, first| {
        let same = taker.0 == first.0;
        if same {
            first.1 += taker.1;
        }
        same
    });
    takers
}

/// Whether cost came up in the caller in the file of the function, where that tells anything.
fn has_its_lines(
    comparison: &Comparison<'_>,
    numbers: &Numbers,
    function: FunctionId,
    caller: FunctionId,
    kind: MoveKind,
) -> bool {
    let file = comparison.identity.functions[function.index()].file;
    if !comparison.identity.functions[function.index()].has_file
        || comparison.identity.functions[caller.index()].file == file
    {
        return true;
    }
    let in_file = |of: FunctionId| {
        let number = u32::try_from(of.index()).unwrap_or(u32::MAX);
        let (base, new) = numbers.by_file.get(&(number, file)).copied().unwrap_or((0, 0));
        if kind == MoveKind::Inlined { new - base } else { base - new }
    };
    // What lost its cost in files of others says nothing about its own.
    let lost = -in_file(function);
    lost.saturating_mul(2) < -numbers.delta[function.index()] || in_file(caller) > 0
}

/// Self cost by function and file, where it changed.
fn by_file(comparison: &Comparison<'_>, column: usize) -> HashMap<(u32, u32), (Cost, Cost)> {
    let mut costs: HashMap<(u32, u32), (Cost, Cost)> = HashMap::new();
    for is_new in [false, true] {
        // One run of each side is enough to see where lines went.
        let Some(run) = comparison.runs.iter().position(|(_, new)| *new == is_new) else { continue };
        let profile = comparison.runs[run].0;
        let columns = super::measuring::columns_of(profile, &comparison.events);
        let identity = &comparison.identity;
        for part in profile.selected(&comparison.selection) {
            let events = part.event_types();
            let weights: Vec<Cost> =
                events.iter().map(|event| comparison.weight(columns[event.index()], column)).collect();
            profile.each_self_cost(&part, |function, file, of_event| {
                let cost: Cost =
                    weights.iter().zip(of_event).map(|(weight, cost)| weight.saturating_mul(*cost)).sum();
                let key = (identity.function_of[run][function.index()], identity.file_of[run][file.index()]);
                let (base, new) = costs.entry(key).or_default();
                *(if is_new { new } else { base }) += cost;
            });
        }
    }
    costs.retain(|_, (base, new)| base != new);
    costs
}
