//! Inlining: code of a function that moved into its callers, or back.
//!
//! It is claimed only where lines prove it: the caller calls the function less often than its own calls explain, and
//! lines of the function, which had no cost in the caller, have some now ([`super::inlining_proof`]). A function that an inlined function called is
//! searched for in the caller, too; also if the inlined function left no line behind because it only passes a value on.
//! Nothing is claimed of such a function. What both sides ran as one binary, and what an interpreter ran, inlines nothing.

use std::cmp::Reverse;

use gristmill_format::{Cost, ProducerKind};

use super::flow::{Flow, FlowArc};
use super::inlining_proof::LineProof;
use super::ratio::scaled;
use super::{Comparison, JoinedId, Side};
use crate::hash::Map;

/// The direction of moved cost. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MoveKind {
    /// From a function into its callers.
    Inlined,
    /// From callers into a function of its own.
    Outlined,
}

impl MoveKind {
    /// The side on which the function is called.
    pub(super) fn side(self) -> Side {
        match self {
            MoveKind::Inlined => Side::Base,
            MoveKind::Outlined => Side::New,
        }
    }
}

/// A function whose cost moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Move {
    pub(super) kind: MoveKind,
    pub(super) function: JoinedId,
    /// The callers, each with the self cost that the function had for them.
    pub(super) callers: Vec<(JoinedId, Cost)>,
}

impl Move {
    /// Returns the self cost that moved.
    pub(super) fn moved(&self) -> Cost {
        self.callers.iter().map(|(_, cost)| cost).sum()
    }
}

/// Functions inlined into each other that are followed.
const ROUNDS: usize = 10;
/// The limit of calls that are looked at behind calls that are gone: of a function with thousands of callers and callees, all
/// pairs would be.
const MAX_PASSED: usize = 4_000_000;
/// A part of the total that is ignored: one in this many.
const ONE_IN: Cost = 200_000;
/// Percentage of calls that must be missing.
const MIN_LOST: Cost = 10;
/// Finds inlining of both kinds, and takes it back in the flow.
pub(super) fn fold_inlining(comparison: &Comparison<'_>, column: usize, flow: &mut Flow) -> Vec<Move> {
    if !comparison.runs.iter().all(|run| run.profile.producers().all(is_compiled)) || comparison.is_one_binary
    {
        return Vec::new();
    }
    let lines = LineProof::new(comparison, column);
    let mut search = Search { comparison, column, lines, passed: 0 };
    let mut moves = Vec::new();
    for kind in [MoveKind::Inlined, MoveKind::Outlined] {
        moves.extend(search.fold(kind, flow));
    }
    moves
}

/// Returns `true` if a producer records machine code.
fn is_compiled(kind: ProducerKind) -> bool {
    matches!(
        kind,
        ProducerKind::Callgrind
            | ProducerKind::Cachegrind
            | ProducerKind::Klee
            | ProducerKind::Named
            | ProducerKind::Unknown
    )
}

struct Search<'s, 'p> {
    comparison: &'s Comparison<'p>,
    column: usize,
    lines: LineProof<'s, 'p>,
    /// The calls that were looked at behind others.
    passed: usize,
}

impl Search<'_, '_> {
    fn fold(&mut self, kind: MoveKind, flow: &mut Flow) -> Vec<Move> {
        let side = kind.side();
        let total = self.comparison.total(self.column);
        let least = (total.base.median.abs().max(total.new.median.abs()) / ONE_IN).max(1);
        let mut moves: Vec<Move> = Vec::new();
        let mut place_of: Map<JoinedId, usize> = Map::default();
        // By function: the part of its self cost that was folded into it.
        let mut inherited: Vec<Cost> = vec![0; flow.selves.len()];
        for _ in 0..ROUNDS {
            let candidates = self.candidates(flow, side, least);
            let ends = |arc: usize| (flow.arcs[arc].caller, flow.arcs[arc].callee);
            let mut proven: Vec<(usize, Cost, Cost)> = candidates
                .iter()
                .filter_map(|&(arc, cost)| {
                    let proof = self.lines.prove(flow, ends(arc), side, cost)?;
                    Some((arc, cost, proof.fit))
                })
                .collect();
            // Functions that have the same lines for a proof: it is that of the one whose lines cost most nearly the same.
            proven.sort_by_key(|&(_, _, fit)| Reverse(fit));
            let mut kept = Vec::with_capacity(proven.len());
            for (arc, cost, _) in proven {
                if let Some(proof) = self.lines.prove(flow, ends(arc), side, cost) {
                    self.lines.keep(ends(arc), side, proof);
                    kept.push((arc, cost));
                }
            }
            kept.sort_by_key(|&(arc, cost)| (Reverse(cost), arc));
            if kept.is_empty() {
                let mut passed = candidates;
                passed.retain(|&(arc, _)| self.is_passed_through(flow, arc, kind, least));
                if passed.is_empty() {
                    break;
                }
                for (arc, _) in passed {
                    fold_arc(flow, arc, side, &mut inherited);
                }
                continue;
            }
            for (arc, _) in kept {
                // Folding another arc can have changed this one.
                let Some(moved) = fold_arc(flow, arc, side, &mut inherited) else { continue };
                let FlowArc { caller, callee, .. } = flow.arcs[arc];
                let place = *place_of.entry(callee).or_insert(moves.len());
                if place == moves.len() {
                    moves.push(Move { kind, function: callee, callers: Vec::new() });
                }
                let callers = &mut moves[place].callers;
                match callers.iter_mut().find(|(known, _)| *known == caller) {
                    Some((_, cost)) => *cost += moved,
                    None => callers.push((caller, moved)),
                }
            }
        }
        for found in &mut moves {
            found.callers.sort_by_key(|&(caller, cost)| (Reverse(cost), caller));
        }
        moves
    }

    /// Lists the arcs that lost calls, with the self cost of these calls, the greatest first. The inclusive cost of these
    /// calls is considerable: a cheap function can pass on calls of an expensive one.
    fn candidates(&self, flow: &Flow, side: Side, least: Cost) -> Vec<(usize, Cost)> {
        let other = side.other();
        let mut candidates: Vec<(usize, Cost)> = Vec::new();
        for (arc, FlowArc { caller, callee, .. }) in flow.arcs.iter().enumerate() {
            let own = flow.selves[callee.index()][side.index()];
            // The caller must be there, with code of its own.
            if caller == callee || own <= 0 || flow.selves[caller.index()][other.index()] <= 0 {
                continue;
            }
            if let Some((lost, count)) = lost_calls(flow, arc, side) {
                let cost = scaled(self_cost(flow, arc, side), lost, count).unwrap_or(0);
                let inclusive = scaled(flow.arcs[arc].costs[side.index()], lost, count).unwrap_or(0);
                if cost > 0 && cost.max(inclusive) >= least {
                    candidates.push((arc, cost));
                }
            }
        }
        candidates.sort_by_key(|&(arc, cost)| (Reverse(cost), arc));
        candidates
    }

    /// Returns `true` if lines prove that a caller has the code of a function that the function of an arc calls, and with it
    /// that the call of the arc is gone.
    fn is_passed_through(&mut self, flow: &Flow, arc: usize, kind: MoveKind, least: Cost) -> bool {
        let side = kind.side();
        let FlowArc { caller, callee, .. } = flow.arcs[arc];
        let Some((lost, _)) = lost_calls(flow, arc, side) else { return false };
        let all = flow.called[callee.index()][side.index()];
        let left = MAX_PASSED.saturating_sub(self.passed);
        flow.outgoing(callee).take(left).any(|further| {
            self.passed += 1;
            let target = flow.arcs[further].callee;
            let cost = scaled(self_cost(flow, further, side), lost.min(all), all).unwrap_or(0);
            target != caller
                && target != callee
                && flow.arcs[further].calls[side.index()] > 0
                && cost >= least
                && self.lines.prove(flow, (caller, target), side, cost).is_some()
        })
    }
}

/// Returns the part of a function's self cost that the calls of an arc have.
fn self_cost(flow: &Flow, arc: usize, side: Side) -> Cost {
    let own = flow.selves[flow.arcs[arc].callee.index()][side.index()];
    let (share, all) = flow.share(arc, side);
    scaled(own, share, all).unwrap_or(0)
}

/// Returns the count of calls that an arc lost beyond what its caller explains, and the count that it had.
fn lost_calls(flow: &Flow, arc: usize, side: Side) -> Option<(Cost, Cost)> {
    let count = flow.arcs[arc].calls[side.index()];
    let expected = flow.expected_calls(arc, side)?.min(count);
    let left = flow.arcs[arc].calls[side.other().index()];
    if flow.arcs[arc].is_noise || expected <= 0 {
        return None;
    }
    let lost = expected - left;
    (lost > 0 && lost * 100 >= expected * MIN_LOST).then_some((lost, count))
}

/// Folds the lost calls of an arc. Returns the cost of the callee's own code that moved: not what was folded into it before.
fn fold_arc(flow: &mut Flow, arc: usize, side: Side, inherited: &mut [Cost]) -> Option<Cost> {
    let calls = folded_calls(flow, arc, side)?;
    let FlowArc { caller, callee, .. } = flow.arcs[arc];
    let before = flow.selves[callee.index()][side.index()];
    let moved = flow.fold(arc, side, calls);
    let passed_on = scaled(inherited[callee.index()], moved, before).unwrap_or(0);
    inherited[callee.index()] -= passed_on;
    inherited[caller.index()] += moved;
    Some(moved - passed_on)
}

/// Returns two counts of calls of an arc: those that are folded, and those that it had. Those that are left are counted as if the caller were
/// called as often on the other side as on this one.
fn folded_calls(flow: &Flow, arc: usize, side: Side) -> Option<(Cost, Cost)> {
    let (lost, count) = lost_calls(flow, arc, side)?;
    let FlowArc { caller, calls, .. } = flow.arcs[arc];
    let before = flow.calls_to(caller, side);
    let left = scaled(calls[side.other().index()], before, flow.calls_to(caller, side.other()));
    Some((left.filter(|_| before > 0).map_or(lost, |left| count - left), count))
}
