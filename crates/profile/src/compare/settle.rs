//! Recorded calls settle what estimates leave open: effects of calls that are known exactly, and opposite changes of callers.
//!
//! Activities divide the change of a function among its callers by factors, as if the calls of all were alike. What that
//! leaves over looks like another cost per call. Where the recorded cost of each caller's calls tells the effects, they are
//! used, and the rest is that of the callers whose calls changed in cost.

use std::collections::BTreeSet;

use gristmill_format::Cost;

use super::activity::{Activities, as_real, expected};
use super::flow::{Flow, FlowArc, Key};
use super::id::FlowArcId;
use super::parts::{Gathered, rounded, to_cost};
use super::per_call::{self, PerCallProof};
use super::{Comparison, JoinedId};

/// An estimated effect may be off by this part: one in this many.
const NEAR: Cost = 10;
/// The part of a whole that is too little to be a cause: one in this many.
const LITTLE: f64 = 50.0;
/// The part by which the counts of calls of one kind may differ: one in this many.
const FEW_CALLS: Cost = 50;
/// The part by which two sums may differ: one in this many.
const ACCIDENT: f64 = 20.0;

/// Settles the changes of all functions whose own change is a cause.
pub(super) fn settle(
    (comparison, column): (&Comparison<'_>, usize),
    flow: &Flow,
    activities: &Activities,
    gathered: &mut Gathered,
) {
    let own = |key: &Key| match *key {
        Key::PerCall(function) | Key::SelfCost(function) => Some((*key, function)),
        _ => None,
    };
    let changed: BTreeSet<(Key, JoinedId)> = gathered.keys().filter_map(own).collect();
    for (key, function) in changed {
        let arcs: Vec<usize> = flow.incoming(function).filter(|&arc| flow.arcs[arc].is_used()).collect();
        let is_exact = |&arc: &usize| {
            let FlowArc { caller, is_recorded, is_noise, .. } = flow.arcs[arc];
            is_recorded && !is_noise && caller != function && !flow.arcs[arc].is_counted_once()
        };
        if arcs.iter().all(is_exact)
            && !flow.is_recursive(function)
            && flow.cost_without_calls(function).is_none()
        {
            settle_counts((comparison, column), flow, activities, gathered, (key, function), &arcs);
            split_by_callers(flow, gathered, (key, function), &arcs);
        }
    }
}

/// Gives calls whose count changed the effect that their recorded cost has, if the rest of the function's own change is then
/// what the recorded calls leave over.
fn settle_counts(
    (comparison, column): (&Comparison<'_>, usize),
    flow: &Flow,
    activities: &Activities,
    gathered: &mut Gathered,
    (own_key, function): (Key, JoinedId),
    arcs: &[usize],
) {
    let mut shifts: Vec<(Key, Cost)> = Vec::new();
    // What the counts of calls leave over, with and without signs, and what they explain.
    let (mut excess, mut size, mut explained) = (0.0, 0.0, 0.0);
    for &arc in arcs {
        let FlowArc { caller, calls, costs, .. } = flow.arcs[arc];
        let [before, after] = expected(&flow.arcs[arc], false);
        let of_arc = as_real(costs[1]) - after;
        excess += of_arc;
        size += of_arc.abs();
        explained += (after - before).abs();
        if calls[0] == calls[1] {
            continue;
        }
        let key = Key::Calls(FlowArcId::new(arc));
        // What follows from the caller's own calls is in causes of these.
        let Some(parts) = gathered.get(&key).filter(|_| activities.get(caller).is_as_before()) else {
            return;
        };
        let recorded = to_cost(after - before);
        let shift = recorded - sum(parts);
        if shift.abs() > recorded.abs() / NEAR {
            return;
        }
        shifts.push((key, shift));
    }
    let shifted: Cost = shifts.iter().map(|(_, shift)| shift).sum();
    let own = gathered.get(&own_key).map_or(0, |parts| sum(parts));
    let (rest, little) = (own - shifted, explained / 1000.0);
    let apart = |own: Cost| (as_real(own) - excess).abs();
    let is_known = apart(rest) <= (size / ACCIDENT).max(little);
    // A rest is that of known calls: it can be in what the function calls, so its self cost says nothing.
    let is_of_calls = || {
        let proof = per_call::proof(comparison, flow, function, rest, column);
        matches!(proof, PerCallProof::From(..))
    };
    if !is_known || apart(rest) >= apart(own) || as_real(rest).abs() > little && !is_of_calls() {
        return;
    }
    for (key, shift) in shifts {
        add(gathered, key, function, shift);
    }
    add(gathered, own_key, function, -shifted);
}

/// Splits a function's own change by callers if their calls changed in opposite directions.
fn split_by_callers(
    flow: &Flow,
    gathered: &mut Gathered,
    (own_key, function): (Key, JoinedId),
    arcs: &[usize],
) {
    let own = gathered.get(&own_key).map_or(0, |parts| sum(parts));
    let mut excess: Vec<(Key, f64)> = Vec::new();
    for &arc in arcs {
        let FlowArc { calls, costs, .. } = flow.arcs[arc];
        if calls.iter().any(|&calls| calls <= 0) {
            continue;
        }
        let [base, new] = costs.map(as_real);
        let of_arc = new - expected(&flow.arcs[arc], false)[1];
        let is_considerable = of_arc.abs() * LITTLE > base.max(new);
        // Calls that are many more or fewer can be of another kind.
        if is_considerable && (calls[1] - calls[0]).abs() * FEW_CALLS > calls[0] {
            return;
        }
        excess.push((Key::CallsFrom(FlowArcId::new(arc)), of_arc));
    }
    let of_sign = |sign: f64| excess.iter().map(|(_, part)| (part * sign).max(0.0)).sum::<f64>();
    let (more, less) = (of_sign(1.0), of_sign(-1.0));
    // Costs of calls have those of callees, which must not have changed.
    let is_own = (more - less - as_real(own)).abs() * ACCIDENT <= more.max(less);
    if own == 0 || !is_own || more.min(less) * as_real(NEAR) < more.max(less) {
        return;
    }
    excess.retain(|(_, part)| part.abs() * LITTLE >= more.max(less));
    if excess.is_empty() {
        return;
    }
    for (key, part) in rounded(excess, own) {
        add(gathered, key, function, part);
    }
    add(gathered, own_key, function, -own);
}

fn sum(parts: &[(JoinedId, Cost)]) -> Cost {
    parts.iter().map(|(_, part)| part).sum()
}

/// Adds a part of a function to a cause. Parts and causes of 0 are none.
fn add(gathered: &mut Gathered, key: Key, function: JoinedId, part: Cost) {
    let parts = gathered.entry(key).or_default();
    match parts.binary_search_by_key(&function, |(function, _)| *function) {
        Ok(index) => parts[index].1 += part,
        Err(index) => parts.insert(index, (function, part)),
    }
    parts.retain(|(_, part)| *part != 0);
    if parts.is_empty() {
        gathered.remove(&key);
    }
}
