//! Cost that moved from a function into its callers, or the other way: the compiler inlined it, or no longer does.
//!
//! Told from the call graph: calls of a function became fewer by half or more, what it cost by itself went down, and by
//! about as much what its callers cost by themselves went up. Where its lines are in another file than theirs,
//! costs in that file must have come up in the callers, too; a profile knows the file of each line.

use std::collections::HashMap;

use gristmill_format::Cost;

use super::ratio::{by_calls, scaled};
use super::{Change, ComparedLine, Comparison, JoinedId, JoinedPathId, LinePlace, Presence, Side};

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
    pub(super) function: JoinedId,
    /// The callers, and how much of their own cost came from it or went to it: above 0 where it was inlined, below where
    /// it was outlined.
    pub(super) callers: Vec<(JoinedId, Cost)>,
}

impl MoveKind {
    /// A number before and after, as if all moves were inlining: where code was outlined, base and new change places.
    fn sides(self, change: Change) -> (Cost, Cost) {
        let (base, new) = (change.base.median, change.new.median);
        match self {
            MoveKind::Inlined => (base, new),
            MoveKind::Outlined => (new, base),
        }
    }

    /// What a growth of the new side counts then.
    fn sign(self) -> Cost {
        match self {
            MoveKind::Inlined => 1,
            MoveKind::Outlined => -1,
        }
    }
}

/// Self cost by function and joined file, where it changed: base, new.
type ByFile = HashMap<(JoinedId, JoinedPathId), (Cost, Cost)>;

/// Finds moves of both kinds, by function.
pub(super) fn moves(comparison: &Comparison<'_>, column: usize) -> Vec<Move> {
    let by_file = by_file(comparison, column);
    let kinds = [MoveKind::Inlined, MoveKind::Outlined].into_iter();
    kinds.flat_map(|kind| Search::new(comparison, column, kind, &by_file).moves()).collect()
}

/// A search for moves of one kind, with what is known of each function in the column that counts.
struct Search<'s, 'p> {
    comparison: &'s Comparison<'p>,
    column: usize,
    kind: MoveKind,
    /// How its self cost changed.
    delta: Vec<Cost>,
    /// The same without what more or fewer calls explain.
    own_delta: Vec<Cost>,
    /// Before and after.
    calls: Vec<(Cost, Cost)>,
    by_file: &'s ByFile,
}

impl<'s, 'p> Search<'s, 'p> {
    fn new(comparison: &'s Comparison<'p>, column: usize, kind: MoveKind, by_file: &'s ByFile) -> Self {
        let (mut delta, mut own_delta, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for function in comparison.functions() {
            let (before, after) = kind.sides(comparison.self_cost(function, column));
            let of_function = kind.sides(comparison.calls(function));
            delta.push(after - before);
            own_delta.push(after - before - by_calls(before, of_function));
            calls.push(of_function);
        }
        Search { comparison, column, kind, delta, own_delta, calls, by_file }
    }

    /// Whether a function lost cost and half of its calls, or more.
    fn is_gone(&self, function: JoinedId) -> bool {
        self.delta[function.index()] < 0 && is_halved(self.calls[function.index()])
    }

    /// How many calls there are over an arc, before and after.
    fn count(&self, arc: usize) -> (Cost, Cost) {
        self.kind.sides(self.comparison.arcs()[arc].count)
    }

    fn moves(&self) -> Vec<Move> {
        // Who may have taken how much of what.
        let mut wishes: Vec<(JoinedId, JoinedId, Cost)> = Vec::new();
        for function in self.comparison.functions().filter(|&function| self.is_gone(function)) {
            let lost = -self.delta[function.index()];
            let takers = self.takers(function);
            let calls: Cost = takers.iter().map(|(_, calls)| calls).sum();
            for (taker, count) in takers {
                wishes.push((taker, function, scaled(lost, count, calls).unwrap_or(0)));
            }
        }
        // A caller gives no more than it grew by.
        wishes.sort_unstable();
        let mut granted: Vec<(JoinedId, JoinedId, Cost)> = Vec::new();
        for of_taker in wishes.chunk_by(|a, b| a.0 == b.0) {
            let wished: Cost = of_taker.iter().map(|(_, _, cost)| cost).sum();
            for &(taker, function, cost) in of_taker {
                let grown = self.own_delta[taker.index()].max(0);
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
            if taken.saturating_mul(4) < -self.delta[function.index()] {
                continue;
            }
            let shares = of_function.iter().map(|&(_, taker, share)| (taker, share));
            moves.push(self.found(function, shares.collect()));
        }
        let others = self.by_lines(&moves);
        moves.extend(others);
        moves
    }

    /// A move of which it is known what each caller took.
    fn found(&self, function: JoinedId, mut callers: Vec<(JoinedId, Cost)>) -> Move {
        callers.iter_mut().for_each(|(_, share)| *share *= self.kind.sign());
        Move { kind: self.kind, function, callers }
    }

    /// Functions that are gone from callers which cost no more for it, as inlined code may become so much cheaper that a
    /// loop around it does, too. Lines tell: those of the function have come up in the caller. The moves that are known
    /// are in the order of functions.
    fn by_lines(&self, known: &[Move]) -> Vec<Move> {
        /// All lines of a function are read again for this; those that matter are few.
        const MOST: usize = 16;
        const MOST_CALLERS: usize = 4;
        /// Less of the total than one in so many explains nothing.
        const ONE_IN: Cost = 10_000;
        let comparison = self.comparison;
        let total = comparison.total(self.column);
        let least = total.base.median.abs().max(total.new.median.abs()) / ONE_IN;
        let is_known =
            |function: JoinedId| known.binary_search_by_key(&function, |known| known.function).is_ok();
        let mut gone: Vec<JoinedId> = comparison
            .functions()
            .filter(|&function| -self.delta[function.index()] > least && self.is_gone(function))
            .filter(|&function| !is_known(function))
            .collect();
        gone.sort_by_key(|function| (self.delta[function.index()], *function));
        gone.truncate(MOST);
        let mut moves = Vec::new();
        for function in gone {
            let sides = |line: &ComparedLine| self.kind.sides(line.costs[self.column]);
            let lines = comparison.lines(function).into_iter();
            let lines: Vec<LinePlace> = lines
                .filter(|line| line.place.line > 0 && sides(line).0 > 0)
                .map(|line| line.place)
                .collect();
            let mut callers: Vec<(JoinedId, Cost)> = Vec::new();
            let lost = comparison.incoming(function).filter(|&arc| is_halved(self.count(arc)));
            for arc in lost.take(MOST_CALLERS) {
                let caller = comparison.arcs()[arc].caller;
                if caller == function || comparison.presence(caller) != Presence::Both {
                    continue;
                }
                let come = comparison.lines(caller).into_iter();
                let come = come.filter(|line| lines.binary_search(&line.place).is_ok());
                let share: Cost = come
                    .map(|line| match sides(&line) {
                        (0, after) => after,
                        _ => 0,
                    })
                    .sum();
                if share > 0 {
                    callers.push((caller, share));
                }
            }
            let taken: Cost = callers.iter().map(|(_, share)| share).sum();
            // A line or two may be shared by chance.
            if taken.saturating_mul(10) >= -self.delta[function.index()] {
                moves.push(self.found(function, callers));
            }
        }
        moves
    }

    /// The callers that grew where calls of a function went, with the calls that each lost. Through callers that are gone
    /// themselves the next ones are found: what was inlined may have been inlined once more.
    fn takers(&self, function: JoinedId) -> Vec<(JoinedId, Cost)> {
        /// So many functions inlined into each other are followed.
        const MOST: usize = 64;
        /// So many calls of those are looked at.
        const MOST_ARCS: usize = 1024;
        let mut takers: Vec<(JoinedId, Cost)> = Vec::new();
        let mut seen = vec![function];
        let mut next = 0;
        while let Some(&gone) = seen.get(next) {
            next += 1;
            let most = if gone == function { usize::MAX } else { MOST_ARCS };
            let incoming = self.comparison.incoming(gone).take(most);
            for arc in incoming.filter(|&arc| is_halved(self.count(arc))) {
                let caller = self.comparison.arcs()[arc].caller;
                if caller == gone {
                    continue;
                }
                if self.own_delta[caller.index()] > 0 {
                    if self.has_its_lines(function, caller) {
                        let (before, after) = self.count(arc);
                        takers.push((caller, before - after));
                    }
                } else if self.is_gone(caller) && seen.len() < MOST && !seen.contains(&caller) {
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
    fn has_its_lines(&self, function: JoinedId, caller: JoinedId) -> bool {
        let functions = &self.comparison.identity.functions;
        let file = functions[function.index()].file;
        if !functions[function.index()].has_file || functions[caller.index()].file == file {
            return true;
        }
        let in_file = |function: JoinedId| {
            let (base, new) = self.by_file.get(&(function, file)).copied().unwrap_or((0, 0));
            self.kind.sign() * (new - base)
        };
        // What lost its cost in files of others says nothing about its own.
        let lost = -in_file(function);
        lost.saturating_mul(2) < -self.delta[function.index()] || in_file(caller) > 0
    }
}

fn is_halved((before, after): (Cost, Cost)) -> bool {
    before > 0 && after.saturating_mul(2) <= before
}

fn by_file(comparison: &Comparison<'_>, column: usize) -> ByFile {
    let mut costs = ByFile::new();
    for side in Side::ALL {
        // One run of each side is enough to see where lines went.
        let Some(run) = comparison.runs.iter().position(|run| run.side == side) else { continue };
        let profile = comparison.runs[run].profile;
        let columns = super::measure::columns_of(profile, &comparison.events);
        let identity = &comparison.identity;
        for part in profile.selected(&comparison.selection) {
            let events = part.event_types();
            let weights: Vec<Cost> =
                events.iter().map(|event| comparison.weight(columns[event.index()], column)).collect();
            profile.each_self_cost(&part, |function, file, of_event| {
                let cost: Cost =
                    weights.iter().zip(of_event).map(|(weight, cost)| weight.saturating_mul(*cost)).sum();
                let key = (identity.joined(run, function), identity.paths.file(run, file));
                let (base, new) = costs.entry(key).or_default();
                *(match side {
                    Side::Base => base,
                    Side::New => new,
                }) += cost;
            });
        }
    }
    costs.retain(|_, (base, new)| base != new);
    costs
}
