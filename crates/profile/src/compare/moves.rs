//! Moves: cost that moved from a function into its callers because it was inlined, or back.
//!
//! The call graph shows them: the calls of a function decreased by half or more, its self cost decreased, and the self
//! costs of its callers increased by about as much. If its lines are in another file than theirs, the cost of that file must
//! have increased in the callers, too; a profile knows the file of each line.

use std::collections::HashMap;

use gristmill_format::Cost;

use super::ratio::{by_calls, scaled};
use super::{Change, ComparedLine, Comparison, JoinedId, JoinedPathId, Presence, Side, SourceLine};

/// The direction of moved cost. See the example of [`Comparison`].
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
    /// The callers, each with the self cost that came from the function: positive if it was inlined, negative if it was
    /// outlined.
    pub(super) callers: Vec<(JoinedId, Cost)>,
}

impl MoveKind {
    /// Returns a number before and after, as if all moves were inlining: for outlined code, base and new are swapped.
    fn sides(self, change: Change) -> (Cost, Cost) {
        let (base, new) = (change.base.median, change.new.median);
        match self {
            MoveKind::Inlined => (base, new),
            MoveKind::Outlined => (new, base),
        }
    }

    /// Returns the sign of an increase on the new side.
    fn sign(self) -> Cost {
        match self {
            MoveKind::Inlined => 1,
            MoveKind::Outlined => -1,
        }
    }
}

/// Changed self costs by function and file: base, new.
type ByFile = HashMap<(JoinedId, JoinedPathId), (Cost, Cost)>;

/// Finds moves of both kinds, by function.
pub(super) fn moves(comparison: &Comparison<'_>, column: usize) -> Vec<Move> {
    let by_file = by_file(comparison, column);
    let kinds = [MoveKind::Inlined, MoveKind::Outlined].into_iter();
    kinds.flat_map(|kind| Search::new(comparison, column, kind, &by_file).moves()).collect()
}

/// A search for moves of one kind, in one column.
struct Search<'s, 'p> {
    comparison: &'s Comparison<'p>,
    column: usize,
    kind: MoveKind,
    /// By function: the change of its self cost.
    delta: Vec<Cost>,
    /// By function: the same without the part that the count of calls explains.
    own_delta: Vec<Cost>,
    /// By function: the count of calls before and after.
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

    /// Returns `true` if a function lost cost and at least half of its calls.
    fn is_gone(&self, function: JoinedId) -> bool {
        self.delta[function.index()] < 0 && is_halved(self.calls[function.index()])
    }

    /// Returns the count of calls of an arc, before and after.
    fn count(&self, arc: usize) -> (Cost, Cost) {
        self.kind.sides(self.comparison.arcs()[arc].count)
    }

    fn moves(&self) -> Vec<Move> {
        // Taker, function, and the cost that may have moved.
        let mut wishes: Vec<(JoinedId, JoinedId, Cost)> = Vec::new();
        for function in self.comparison.functions().filter(|&function| self.is_gone(function)) {
            let lost = -self.delta[function.index()];
            let takers = self.takers(function);
            let calls: Cost = takers.iter().map(|(_, calls)| calls).sum();
            for (taker, count) in takers {
                wishes.push((taker, function, scaled(lost, count, calls).unwrap_or(0)));
            }
        }
        // A caller takes at most the increase of its self cost.
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
            // Inlined code can become cheaper, but if hardly any of its cost moved, it was removed.
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

    /// Makes a move of the costs that each caller took.
    fn found(&self, function: JoinedId, mut callers: Vec<(JoinedId, Cost)>) -> Move {
        callers.iter_mut().for_each(|(_, share)| *share *= self.kind.sign());
        Move { kind: self.kind, function, callers }
    }

    /// Finds functions that were inlined into callers whose cost did not increase, as inlining can make a loop around the
    /// code cheaper, too. Their lines show it: those of the function appear in the caller. The known moves are sorted by
    /// function.
    fn by_lines(&self, known: &[Move]) -> Vec<Move> {
        /// All lines of a function are read again for this; few functions matter.
        const MAX_FUNCTIONS: usize = 16;
        const MAX_CALLERS: usize = 4;
        /// A smaller share of the total than one in this many is ignored.
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
        gone.truncate(MAX_FUNCTIONS);
        let mut moves = Vec::new();
        for function in gone {
            let sides = |line: &ComparedLine| self.kind.sides(line.costs[self.column]);
            let lines = comparison.lines(function).into_iter();
            let lines: Vec<SourceLine> = lines
                .filter(|line| line.place.line > 0 && sides(line).0 > 0)
                .map(|line| line.place)
                .collect();
            let mut callers: Vec<(JoinedId, Cost)> = Vec::new();
            let lost = comparison.incoming(function).filter(|&arc| is_halved(self.count(arc)));
            for arc in lost.take(MAX_CALLERS) {
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
            // A line or two can be shared accidentally.
            if taken.saturating_mul(10) >= -self.delta[function.index()] {
                moves.push(self.found(function, callers));
            }
        }
        moves
    }

    /// Finds the callers with increased cost and fewer calls of a function, with the calls that each lost. If a caller is
    /// gone itself, its own callers follow: inlined code can be inlined again.
    fn takers(&self, function: JoinedId) -> Vec<(JoinedId, Cost)> {
        /// The limit of functions inlined into each other.
        const MAX_FUNCTIONS: usize = 64;
        /// The limit of arcs of each.
        const MAX_ARCS: usize = 1024;
        let mut takers: Vec<(JoinedId, Cost)> = Vec::new();
        let mut seen = vec![function];
        let mut next = 0;
        while let Some(&gone) = seen.get(next) {
            next += 1;
            let most = if gone == function { usize::MAX } else { MAX_ARCS };
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
                } else if self.is_gone(caller) && seen.len() < MAX_FUNCTIONS && !seen.contains(&caller) {
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

    /// Returns `true` if the caller has more cost in the file of the function, or if files do not distinguish them.
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
        // If it lost its cost in other files, its own file proves nothing.
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
        // One run of each side is enough.
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
