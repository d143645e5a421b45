//! The proof of a changed cost per call: what the recorded costs of single arcs say about it.
//!
//! The average cost of a call changes for two reasons. A call does more or less than before; or calls are as before, and
//! there are more of the expensive ones or of the cheap ones. An arc states the inclusive cost of all calls from one caller.
//! If each arc has the cost per call that it had, the counts of the arcs are the reason. If each changed, the calls are.
//!
//! Calls from one caller need not be alike, so an arc alone proves nothing unless its count is as before.

use gristmill_format::Cost;

use super::factors::{as_real, expected};
use super::flow::{Flow, FlowArc, medians};
use super::{Change, Comparison, JoinedId};

/// The calls of a function from one caller. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallsFrom {
    /// The caller.
    pub caller: JoinedId,
    /// The count of calls.
    pub calls: Change,
    /// Their inclusive cost.
    pub cost: Change,
}

impl CallsFrom {
    /// Returns `true` if an effect is what the calls cost beyond their count, and not a part of it.
    ///
    /// See the example of [`Comparison`].
    pub fn is_whole(&self, effect: Cost) -> bool {
        let [cost, calls] = [self.cost, self.calls].map(medians);
        is_near(beyond(cost, calls.map(|calls| calls.max(1))), effect)
    }
}

/// The part of a changed cost per call that recorded arcs prove. See the example of [`Comparison`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PerCallProof {
    /// The calls of each caller changed: a call costs more or less.
    All {
        /// `true` if counts changed, and the effect is what all calls cost beyond their counts, for callers of both sides only.
        is_of_all: bool,
    },
    /// Only the calls of some callers changed: the one whose calls changed most, and the count of the others.
    From(CallsFrom, usize),
    /// The calls of each caller cost as before, and their counts changed: the caller whose count changed the cost most.
    Counts(CallsFrom),
    /// Nothing: only the average is known.
    Average,
}

/// A part is nearly all of a whole, or nothing of it, up to one part in this many.
const FEW: f64 = 10.0;
/// The part by which a cost per call that is as before may differ.
const TOLERANCE: f64 = 0.02;
/// One part in this many of an effect can be by accident.
const ACCIDENT: f64 = 4.0;

/// The factor by which the count of a caller's calls may change if the calls of several callers prove something together.
const MAX_RATIO: f64 = 1.5;

/// The limit of pairs of a caller and a callee that are looked at.
const MAX_PAIRS: usize = 1_000_000;

/// An arc on both sides, with what it costs beyond its count of calls.
struct Excess {
    arc: usize,
    excess: f64,
    /// The greater cost of both sides.
    weight: f64,
}

/// Finds what arcs prove about the part of a function's change that the counts of its calls do not explain.
pub(super) fn proof(
    comparison: &Comparison<'_>,
    flow: &Flow,
    function: JoinedId,
    effect: Cost,
    column: usize,
) -> PerCallProof {
    let from = |arc: usize| {
        let recorded = comparison.arc(arc);
        CallsFrom { caller: recorded.caller, calls: recorded.count, cost: comparison.arc_cost(arc, column) }
    };
    // Inclusive costs of a recursion contain each other.
    if flow.is_recursive(function) {
        return PerCallProof::Average;
    }
    if let Some(arc) = only_from(flow, function, effect) {
        return PerCallProof::From(from(arc), 0);
    }
    // Those of folded arcs are not recorded, also where none is left: a part of the self cost moved with them.
    let is_recorded = |arc: usize| flow.arcs[arc].is_recorded && flow.arcs[arc].caller != function;
    if !flow.incoming(function).all(is_recorded) {
        return PerCallProof::Average;
    }
    let arcs: Vec<usize> = flow.incoming(function).filter(|&arc| flow.arcs[arc].calls != [0, 0]).collect();
    let is_on_both = |arc: &&usize| flow.arcs[**arc].calls.iter().all(|&calls| calls > 0);
    let both: Vec<Excess> = arcs
        .iter()
        .filter(is_on_both)
        .map(|&arc| {
            let of_arc = &flow.arcs[arc];
            let [base, new] = of_arc.costs.map(as_real);
            Excess { arc, excess: excess(of_arc), weight: base.max(new) }
        })
        .collect();
    let sum = |of: &dyn Fn(&Excess) -> f64| both.iter().map(of).sum::<f64>();
    let of_arc = |arc: &Excess| &flow.arcs[arc.arc];
    let is_of_all = || {
        flow.incoming(function).count() == both.len()
            && both.iter().map(of_arc).any(|arc| arc.calls[0] != arc.calls[1])
            && is_near(sum(&|arc| beyond(of_arc(arc).costs, of_arc(arc).calls)), effect)
    };
    let effect = as_real(effect);
    let towards = sum(&|arc| (arc.excess * effect.signum()).max(0.0));
    let against = sum(&|arc| (-arc.excess * effect.signum()).max(0.0));
    if (towards + against) * ACCIDENT <= effect.abs() {
        // Calls of new callers prove nothing about those before.
        let counts = counts(flow, function, &arcs, &both).filter(|_| !both.is_empty());
        return counts.map_or(PerCallProof::Average, |arc| PerCallProof::Counts(from(arc)));
    }
    // Callees can change the cost of calls, too.
    if towards < effect.abs() * (1.0 - 1.0 / ACCIDENT) || against * FEW > towards {
        return PerCallProof::Average;
    }
    // What its callees cost is in its calls, but not its own; and what it calls by another factor than its callers call it can
    // be in calls of another kind.
    let is_alike = are_alike(flow, &both);
    let [least, most] = match is_alike {
        true => {
            let [called, calls_now] = flow.called[function.index()].map(as_real);
            [calls_now / called; 2]
        }
        false => range_of_ratios(flow, &both),
    };
    let (mut of_callees, mut unlike) = (0.0, 0.0);
    for arc in flow.outgoing(function).map(|arc| &flow.arcs[arc]) {
        of_callees += excess(arc);
        let [before, after] = expected(arc, false);
        unlike += (after - before * least).abs().max((after - before * most).abs());
    }
    let own = sum(&|arc| arc.excess) - of_callees;
    if own * effect.signum() - unlike < effect.abs() * (1.0 - 1.0 / ACCIDENT) {
        return PerCallProof::Average;
    }
    let whole = sum(&|arc| arc.weight);
    // Calls that changed by the same amount did, however little of their cost it is.
    let tolerance = if is_alike { 0.0 } else { TOLERANCE };
    let is_changed = |arc: &Excess| arc.excess * effect.signum() > tolerance * arc.weight;
    let changed: Vec<&Excess> =
        both.iter().filter(|arc| is_changed(arc) && !may_be_unlike(flow, arc.arc)).collect();
    let part: f64 = changed.iter().map(|arc| arc.weight).sum();
    let proved: f64 = changed.iter().map(|arc| arc.excess.abs()).sum();
    let one_sided: f64 = arcs
        .iter()
        .filter(|arc| !is_on_both(arc))
        .map(|&arc| flow.arcs[arc].costs.iter().map(|&cost| as_real(cost)).fold(0.0, f64::max))
        .sum();
    if one_sided * FEW <= whole {
        let is_like =
            |arc: &Excess| is_alike || (1.0 / MAX_RATIO..=MAX_RATIO).contains(&ratio(&flow.arcs[arc.arc]));
        let several = both.iter().filter(|arc| is_changed(arc) && is_like(arc));
        let of_several: f64 = several.clone().map(|arc| arc.weight).sum();
        // Several callers of which each has unlike calls, all changed in the same direction, are no accident.
        if (whole - part) * FEW <= whole || several.count() > 1 && (whole - of_several) * FEW <= whole {
            return PerCallProof::All { is_of_all: is_of_all() };
        }
    }
    let first =
        changed.iter().max_by(|a, b| a.excess.abs().total_cmp(&b.excess.abs()).then(b.arc.cmp(&a.arc)));
    match first {
        Some(first) if proved >= effect.abs() * (1.0 - 1.0 / ACCIDENT) => {
            PerCallProof::From(from(first.arc), changed.len() - 1)
        }
        _ => PerCallProof::Average,
    }
}

/// Returns the count of the other callers whose calls have a part of an effect on a function that those of an arc do not have.
pub(super) fn others_than(flow: &Flow, arc: usize, effect: Cost) -> usize {
    let effect = as_real(effect);
    if effect.abs() <= excess(&flow.arcs[arc]).abs() * (1.0 + TOLERANCE) {
        return 0;
    }
    let incoming = flow.incoming(flow.arcs[arc].callee).filter(|&other| other != arc);
    let is_one = |&other: &usize| excess(&flow.arcs[other]) * effect.signum() > effect.abs() * TOLERANCE;
    incoming.filter(is_one).count()
}

/// Returns what the calls of an arc cost beyond their count; nothing of those that one side does not have.
fn excess(arc: &FlowArc) -> f64 {
    let is_on_both = arc.calls.iter().all(|&calls| calls > 0);
    if is_on_both { as_real(arc.costs[1]) - expected(arc, false)[1] } else { 0.0 }
}

/// Returns what calls cost beyond their count.
fn beyond(costs: [Cost; 2], calls: [Cost; 2]) -> f64 {
    let [[cost_before, cost_after], [before, after]] = [costs, calls].map(|pair| pair.map(as_real));
    cost_after - cost_before * (after / before)
}

/// Returns `true` if an effect is this much, except for rounding.
fn is_near(excess: f64, effect: Cost) -> bool {
    /// The part by which they may differ: one in this many.
    const NEAR: f64 = 50.0;
    (excess - as_real(effect)).abs() <= excess.abs() / NEAR + 1.0
}

/// Returns the factor by which the count of an arc's calls changed.
fn ratio(arc: &FlowArc) -> f64 {
    as_real(arc.calls[1]) / as_real(arc.calls[0])
}

/// Returns `true` if a call of each of several callers costs more or less by the same amount, or by the same factor: then calls are
/// alike.
fn are_alike(flow: &Flow, both: &[Excess]) -> bool {
    let is_same = |of: &dyn Fn(&Excess) -> f64| {
        let [least, most] = range(both.iter().map(of));
        most - least <= TOLERANCE * least.abs().min(most.abs())
    };
    let amount = |arc: &Excess| arc.excess / as_real(flow.arcs[arc.arc].calls[1]);
    let factor = |arc: &Excess| {
        let [_, after] = expected(&flow.arcs[arc.arc], false);
        as_real(flow.arcs[arc.arc].costs[1]) / after
    };
    both.len() > 1 && (is_same(&amount) || is_same(&factor))
}

/// Returns the least and the greatest factor of arcs on both sides.
fn range_of_ratios(flow: &Flow, both: &[Excess]) -> [f64; 2] {
    range(both.iter().map(|arc| ratio(&flow.arcs[arc.arc])))
}

/// Returns the least and the greatest of some numbers.
fn range(numbers: impl Iterator<Item = f64>) -> [f64; 2] {
    numbers.fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], one| [least.min(one), most.max(one)])
}

/// Returns `true` if the calls of an arc changed in count, so that they may be of another kind.
fn may_be_unlike(flow: &Flow, arc: usize) -> bool {
    let [base, new] = flow.arcs[arc].calls.map(as_real);
    (new - base).abs() > TOLERANCE * base
}

/// Returns the arc whose count of calls changed the cost of a function most, if the counts of all arcs can explain the
/// change of its self cost. Calls from each caller cost as before.
fn counts(flow: &Flow, function: JoinedId, arcs: &[usize], both: &[Excess]) -> Option<usize> {
    let [before, after] = flow.selves[function.index()].map(as_real);
    // Whether there are more of the expensive or of the cheap calls: arcs changed by different factors.
    let [least, most] = range_of_ratios(flow, both);
    if arcs.len() == both.len() && most - least <= TOLERANCE * most {
        return None;
    }
    // What the function called before and does itself now does not show in the cost of its calls.
    let outgoing: Vec<usize> = flow.outgoing(function).collect();
    if arcs.len().saturating_mul(outgoing.len()) > MAX_PAIRS {
        return None;
    }
    let parts = Parts::new(flow, arcs);
    let tolerance = (after - before).abs() / ACCIDENT;
    let follows = |&arc: &usize| {
        let [before, after] = flow.arcs[arc].costs.map(as_real);
        parts.can_follow(before, after, tolerance)
    };
    if !parts.can_follow(before, after, tolerance) || !outgoing.iter().all(follows) {
        return None;
    }
    let change = |&arc: &usize| {
        let FlowArc { calls, costs, .. } = &flow.arcs[arc];
        let [calls, costs] = [calls, costs].map(|pair| pair.map(as_real));
        let of_call = if calls[0] > 0.0 { costs[0] / calls[0] } else { costs[1] / calls[1] };
        of_call * (calls[1] - calls[0])
    };
    let changes: Vec<(f64, usize)> = arcs.iter().map(|arc| (change(arc), *arc)).collect();
    let most = |a: &&(f64, usize), b: &&(f64, usize)| a.0.abs().total_cmp(&b.0.abs()).then(b.1.cmp(&a.1));
    changes.iter().max_by(most).map(|&(_, arc)| arc)
}

/// The costs of calls that a part of a function's cost, its own or that of one callee, is a part of.
struct Parts {
    /// By arc with calls in the base: the factor of its count of calls, and its cost. Sorted by factor.
    factors: Vec<(f64, f64)>,
    /// The cost of calls that only the new side has.
    new: f64,
}

impl Parts {
    fn new(flow: &Flow, arcs: &[usize]) -> Self {
        let (mut factors, mut new) = (Vec::new(), 0.0);
        for &arc in arcs {
            let FlowArc { calls, costs, .. } = &flow.arcs[arc];
            match calls[0] > 0 {
                true => factors.push((as_real(calls[1]) / as_real(calls[0]), as_real(costs[0]))),
                false => new += as_real(costs[1]),
            }
        }
        factors.sort_by(|a, b| a.0.total_cmp(&b.0));
        Parts { factors, new }
    }

    /// Returns `true` if a part of the cost can change so by the counts of calls alone: if each caller's calls have some of
    /// it, no more than they cost, and change with their count.
    fn can_follow(&self, before: f64, after: f64, tolerance: f64) -> bool {
        let filled = |factors: &mut dyn Iterator<Item = &(f64, f64)>| {
            let (mut left, mut sum) = (before, 0.0);
            for (factor, cost) in factors {
                let part = left.min(*cost).max(0.0);
                left -= part;
                sum += part * factor;
            }
            (sum, left)
        };
        let (least, left) = filled(&mut self.factors.iter());
        let (most, _) = filled(&mut self.factors.iter().rev());
        left <= tolerance && (least - tolerance..=most + self.new + tolerance).contains(&after)
    }
}

/// Returns the arc from the only caller whose calls changed in cost, if it explains the change.
fn only_from(flow: &Flow, function: JoinedId, effect: Cost) -> Option<usize> {
    let mut excesses: Vec<(f64, usize)> = Vec::new();
    for arc in flow.incoming(function) {
        let of_arc = &flow.arcs[arc];
        if of_arc.calls != [0, 0] {
            let own = if of_arc.caller == function { 0.0 } else { excess(of_arc) };
            excesses.push((own, arc));
        }
    }
    if excesses.len() < 2 {
        return None;
    }
    excesses.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()).then(a.1.cmp(&b.1)));
    let (first, arc) = excesses[0];
    let others: f64 = excesses[1..].iter().map(|(part, _)| part.abs()).sum();
    if !flow.arcs[arc].is_recorded {
        return None;
    }
    // What its callees cost more is their cause.
    let apart = (first - as_real(effect)).abs();
    // Calls that are many more or fewer can be of another kind.
    let is_control = |arc: usize| {
        let [base, new] = flow.arcs[arc].calls;
        base <= 2 * new && new <= 2 * base
    };
    let of_call = |excess: f64, arc: usize| excess.abs() / as_real(flow.arcs[arc].calls[1].max(1));
    let part = |excess: f64, arc: usize| excess.abs() / as_real(flow.arcs[arc].costs[0]).abs().max(1.0);
    // Calls of others can have changed by the same amount or factor, however little of their cost that is.
    let is_unchanged = |&(excess, other): &(f64, usize)| {
        part(excess, other) <= TOLERANCE
            && part(excess, other) * FEW <= part(first, arc)
            && of_call(excess, other) * FEW <= of_call(first, arc)
    };
    let mut controls = excesses[1..].iter().filter(|&&(_, arc)| is_control(arc));
    let is_it = controls.all(is_unchanged)
        && others * FEW <= first.abs()
        && apart * ACCIDENT <= as_real(effect.abs());
    is_it.then_some(arc)
}
