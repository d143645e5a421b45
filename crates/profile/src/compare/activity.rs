//! Activity: by which factor a function has more or less to do than in the base, and because of which causes.
//!
//! A function's activity follows from its incoming arcs. Each arc that has *r* times its calls brings *r* times its recorded
//! inclusive cost; the factor of the function is the mean of all *r*, weighted by these costs. An arc either passes on what
//! its caller has more to do, or it is a cause itself: the caller calls more often than its own factor explains. So each
//! factor is a sum of parts, one for each cause, and parts are passed on from callers to callees.
//!
//! Weights by inclusive cost are right if calls from some callers do more than others; weights by count are right if all
//! calls of a function do the same by themselves, and differ in what they call. Both factors are kept, and the one that
//! comes closer to what was recorded is used. In a recursion only the second is: inclusive costs there contain each other.
//!
//! A caller whose calls are as many as before and cost as much is a control: it proves that the function itself did not
//! change. What such a function calls more often than its factor explains is passed on all the same, as further calls can be
//! of another kind.

use std::cell::Cell;
use std::rc::Rc;

use super::factors::{Activities, Activity, Factor, Settled, as_real, expected, split};
use super::flow::{Flow, FlowArc, Key};
use super::id::FlowArcId;
use super::ratio::add_up;
use super::settle::Settling;
use super::{Comparison, JoinedId, Presence};

/// An arc follows its caller if their ratios differ by no more than this part.
const TOLERANCE: f64 = 0.02;
/// Causes of a function that are kept apart; the smallest are added to the largest.
const MAX_PARTS: usize = 48;
/// Causes that are kept apart however many functions there are.
const MIN_PARTS: usize = 4;
/// The part of the memory budget that the parts of all functions may take, one in this many.
const BUDGET_SHARE: usize = 4;
/// A caller whose factor exceeds that of an arc by more than this does not explain it: each of its calls does much less.
const MAX_EXCESS: f64 = 5.0;
/// Parts of both signs may exceed their sum by this factor.
const MAX_GROWTH: f64 = 25.0;
/// The part of a function's cost that controls must have: one in this many.
const MIN_CONTROL: f64 = 20.0;
/// Rounds for calls that lead back into a recursion.
const ROUNDS: usize = 3;

/// Calculates the activities of all functions.
pub(super) fn activities(comparison: &Comparison<'_>, flow: &Flow) -> Activities {
    let order = callers_first(comparison, flow);
    let mut position = vec![0; order.len()];
    for (place, function) in order.iter().enumerate() {
        position[function.index()] = place;
    }
    let mut search = Search {
        comparison,
        flow,
        position,
        max_parts: max_parts(comparison),
        settling: Settling { comparison, flow, looked_at: Cell::new(0) },
        activities: Activities::new(order.len()),
        no_parts: Rc::default(),
        round: 0,
    };
    for round in 0..ROUNDS {
        search.round = round;
        let mut leads_back = false;
        for &function in &order {
            let (activity, has_back_arc) = search.activity(function);
            search.activities.set(function, activity);
            leads_back |= has_back_arc;
        }
        if !leads_back {
            break;
        }
    }
    search.activities
}

/// Returns how many causes of each function fit into memory.
fn max_parts(comparison: &Comparison<'_>) -> usize {
    let of_each = 2 * size_of::<(Key, f64)>() * comparison.functions().len().max(1);
    (comparison.memory_budget().bytes() / BUDGET_SHARE / of_each).clamp(MIN_PARTS, MAX_PARTS)
}

/// The changes that calls from outside of a recursion bring.
#[derive(Debug, Default)]
struct Outside {
    ratio: f64,
    parts: Vec<(Key, f64)>,
    /// The sum of the parts.
    sum: f64,
    /// The factor by which calls that lead back pass each part on. There can be as many of these calls as functions.
    passed_on: Cell<f64>,
}

impl Outside {
    fn size(&self) -> f64 {
        self.parts.iter().map(|(_, part)| part.abs()).sum()
    }
}

struct Search<'s, 'p> {
    comparison: &'s Comparison<'p>,
    flow: &'s Flow,
    /// By function: its place in the order.
    position: Vec<usize>,
    /// The limit of causes of each function.
    max_parts: usize,
    settling: Settling<'s, 'p>,
    activities: Activities,
    /// Shared by all functions without causes.
    no_parts: Rc<[(Key, f64)]>,
    round: usize,
}

impl Search<'_, '_> {
    /// Returns the activity of a function, and `true` if a changed arc leads back to it.
    fn activity(&self, function: JoinedId) -> (Activity, bool) {
        let is_as_before = |arc: usize| {
            let arc = &self.flow.arcs[arc];
            arc.is_equal() && (!arc.is_used() || self.activities.get(arc.caller).settled.is_none())
        };
        if self.flow.incoming(function).all(is_as_before) {
            let equal = Factor { ratio: 1.0, parts: self.no_parts.clone() };
            return (Activity { factors: [equal.clone(), equal], ..Activity::default() }, false);
        }
        let mut has_back_arc = false;
        let none = Factor { ratio: 0.0, parts: self.no_parts.clone() };
        let mut activity = Activity { factors: [none.clone(), none], ..Activity::default() };
        let of_one_side = self.comparison.presence(function) != Presence::Both;
        // Inclusive costs of a recursion contain each other.
        let is_recursive = self.flow.is_recursive(function);
        let without_calls = self.flow.cost_without_calls(function).filter(|_| !is_recursive);
        activity.is_root = without_calls.is_some();
        let of_root = without_calls.map_or(0.0, as_real);
        for by_calls in [is_recursive, true] {
            let mut base = if by_calls { 0.0 } else { of_root };
            let mut parts: Vec<(Key, f64)> = Vec::new();
            // Calls from outside first: a recursion that follows them has no cause of its own.
            let mut outside = Outside::default();
            for wants_back in [false, true] {
                for arc in self.flow.incoming(function) {
                    let leads_back = self.leads_back(arc);
                    if leads_back != wants_back {
                        continue;
                    }
                    if let Some((settled, factor)) = self.settled_caller(arc) {
                        let FlowArc { calls, costs, .. } = self.flow.arcs[arc];
                        let [before, after] = match (by_calls, settled.is_by_count) {
                            (true, _) => calls.map(as_real),
                            (false, true) => expected(&self.flow.arcs[arc], false),
                            (false, false) => costs.map(as_real),
                        };
                        base += before;
                        parts.extend(split(factor, before, after - before));
                        continue;
                    }
                    let [before, after] = expected(&self.flow.arcs[arc], by_calls);
                    base += before;
                    if before != after {
                        has_back_arc |= leads_back;
                        self.attribute(arc, after - before, &outside, &mut parts);
                    }
                }
                if !wants_back && base > 0.0 {
                    if parts.len() > self.max_parts {
                        parts = reduced(parts, self.max_parts);
                    }
                    let sum: f64 = parts.iter().map(|(_, part)| part).sum();
                    outside =
                        Outside { ratio: 1.0 + sum / base, parts: parts.clone(), sum, ..Outside::default() };
                }
            }
            let passed_on = outside.passed_on.get();
            if passed_on != 0.0 {
                parts.extend(outside.parts.iter().map(|&(key, part)| (key, part * passed_on)));
            }
            let mut parts = reduced(parts, self.max_parts);
            if !by_calls
                && !of_one_side
                && without_calls.is_none()
                && let Some((settled, factor)) = self.settling.settled(&self.activities, function, &parts)
            {
                activity.factors = [factor.clone(), factor];
                activity.settled = Some(settled);
                return (activity, has_back_arc);
            }
            let sum: f64 = parts.iter().map(|(_, part)| part).sum();
            let size: f64 = parts.iter().map(|(_, part)| part.abs()).sum();
            let mut ratio = 1.0;
            let is_whole = of_one_side || base <= 0.0;
            let whole = if is_whole { sum } else { base };
            // Shares of what nearly cancels out would be meaningless.
            if whole == 0.0 || is_whole && size > MAX_GROWTH * whole.abs() {
                parts.clear();
            } else {
                parts.iter_mut().for_each(|(_, part)| *part /= whole);
                if !is_whole {
                    ratio = (base + sum) / base;
                }
            }
            activity.is_whole |= is_whole && !parts.is_empty();
            // Most functions have none, and there are millions.
            let parts = if parts.is_empty() { self.no_parts.clone() } else { parts.into() };
            activity.factors[usize::from(by_calls)] = Factor { ratio, parts };
        }
        if is_recursive {
            activity.factors[0] = activity.factors[1].clone();
        }
        // One factor is enough. By calls, if there is no recorded inclusive cost.
        if activity.is_whole {
            let [by_cost, by_calls] = &mut activity.factors;
            if by_cost.parts.is_empty() {
                *by_cost = by_calls.clone();
            }
            *by_calls = by_cost.clone();
        }
        activity.is_unchanged = !of_one_side && self.is_unchanged(function);
        (activity, has_back_arc)
    }

    /// Returns `true` if callers prove that a function does as before.
    fn is_unchanged(&self, function: JoinedId) -> bool {
        let (mut control, mut all) = (0.0, 0.0);
        let (mut changed, mut follow) = (0, 0);
        for arc in self.flow.incoming(function) {
            let FlowArc { caller, calls, costs, is_noise, .. } = self.flow.arcs[arc];
            if caller == function || calls == [0, 0] {
                continue;
            }
            all += as_real(costs[0]);
            if calls[0] == calls[1] && (costs[1] - costs[0]).abs() * 1000 <= costs[0] {
                control += as_real(costs[0]);
            } else if !is_noise {
                changed += 1;
                let activity = self.activities.get(caller);
                follow += usize::from(activity.is_unchanged && calls[0] != calls[1]);
            }
        }
        changed > 0 && (control > 0.0 && control * MIN_CONTROL >= all || follow == changed)
    }

    /// Returns the facts about an arc's caller and its factor, if it is settled.
    fn settled_caller(&self, arc: usize) -> Option<(Settled, &Factor)> {
        let activity = self.activities.get(self.flow.arcs[arc].caller);
        activity.settled.map(|settled| (settled, &activity.factors[0]))
    }

    /// Returns `true` if an arc leads back into a recursion.
    fn leads_back(&self, arc: usize) -> bool {
        let FlowArc { caller, callee, .. } = self.flow.arcs[arc];
        self.position[caller.index()] >= self.position[callee.index()]
    }

    /// Adds the change that an arc brings to the parts of its callee.
    fn attribute(&self, arc: usize, mut change: f64, outside: &Outside, parts: &mut Vec<(Key, f64)>) {
        let FlowArc { caller, callee, calls, .. } = self.flow.arcs[arc];
        let leads_back = self.leads_back(arc);
        let own = match self.comparison.presence(callee) {
            Presence::New => Key::New(callee),
            Presence::Vanished => Key::Vanished(callee),
            Presence::Both => Key::Calls(FlowArcId::new(arc)),
        };
        let presence = self.comparison.presence(callee);
        if leads_back && presence != Presence::Both && self.comparison.presence(caller) == presence {
            // Such a recursion is there because of the calls from outside.
            return;
        }
        if leads_back && calls[0] > 0 && outside.sum != 0.0 {
            let (more, passed) = (as_real(calls[1]) / as_real(calls[0]) - 1.0, outside.ratio - 1.0);
            let follows = (more - passed).abs() <= TOLERANCE * (1.0 + more.max(passed));
            let part = if follows { 1.0 } else { (passed / more).clamp(0.0, 1.0) };
            if part > 0.0 && outside.size() * part <= MAX_GROWTH * outside.sum.abs() {
                outside.passed_on.set(outside.passed_on.get() + change * part / outside.sum);
                change *= 1.0 - part;
            }
        }
        if change == 0.0 {
            return;
        }
        if caller == callee || leads_back && self.round == 0 {
            parts.push((own, change));
            return;
        }
        let (inherited, factor) = self.inherited(arc);
        // Parts that nearly cancel out would be multiplied with each arc.
        let limit = if leads_back { 2.0 } else { MAX_GROWTH };
        let factor = factor.filter(|factor| factor.size() * inherited <= limit * factor.sum().abs());
        let sum = factor.map_or(0.0, Factor::sum);
        if let Some(factor) = factor.filter(|_| inherited > 0.0 && sum != 0.0) {
            let scale = change * inherited / sum;
            parts.extend(factor.parts.iter().map(|&(key, part)| (key, part * scale)));
        }
        let own_part = if sum == 0.0 { 1.0 } else { 1.0 - inherited };
        if own_part > 0.0 {
            parts.push((own, change * own_part));
        }
    }

    /// Returns the part of an arc's change that its caller's activity explains, and the factor of the caller that does.
    fn inherited(&self, arc: usize) -> (f64, Option<&Factor>) {
        let FlowArc { caller, calls, .. } = self.flow.arcs[arc];
        let activity = self.activities.get(caller);
        if activity.is_whole {
            return (1.0, Some(&activity.factors[0]));
        }
        let is_towards =
            |factor: &Factor| (factor.ratio - 1.0) * (as_real(calls[1]) - as_real(calls[0])) > 0.0;
        if activity.is_unchanged
            && let Some(factor) = activity.factors.iter().find(|factor| is_towards(factor))
        {
            return (1.0, Some(factor));
        }
        if calls[0] <= 0 || self.flow.arcs[arc].is_counted_once() {
            return (0.0, None);
        }
        let ratio = as_real(calls[1]) / as_real(calls[0]);
        let apart = |factor: &Factor| (ratio - factor.ratio).abs();
        let [by_cost, by_calls] = &activity.factors;
        let follows = |factor: &Factor| apart(factor) <= TOLERANCE * ratio.max(factor.ratio);
        // All calls being alike, an arc follows their count; otherwise only costs tell how much of it does.
        let can_be_by_calls = !activity.is_root && (follows(by_calls) || by_cost.parts.is_empty());
        let is_by_calls = can_be_by_calls && apart(by_calls) < apart(by_cost);
        let factor = if is_by_calls { by_calls } else { by_cost };
        let (more, passed) = (ratio - 1.0, factor.ratio - 1.0);
        if passed == 0.0 || more.signum() != passed.signum() || passed.abs() > MAX_EXCESS * more.abs() {
            return (0.0, None);
        }
        let is_whole = follows(factor) && apart(factor) < passed.abs();
        let part = if is_whole { 1.0 } else { (passed / more).min(1.0) };
        (part, Some(factor))
    }
}

/// Adds up the parts of each cause, and the smallest causes to the largest.
fn reduced(mut parts: Vec<(Key, f64)>, max_parts: usize) -> Vec<(Key, f64)> {
    parts.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    add_up(&mut parts);
    let largest = parts.iter().map(|(_, part)| part.abs()).fold(0.0, f64::max);
    let is_tiny = |part: f64| part.abs() < largest * 1e-6;
    if parts.len() <= max_parts && !parts.iter().any(|(_, part)| is_tiny(*part)) {
        return parts;
    }
    parts.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    let kept = parts.iter().take(max_parts).take_while(|(_, part)| !is_tiny(*part)).count();
    let rest: f64 = parts.drain(kept..).map(|(_, part)| part).sum();
    if let Some(first) = parts.first_mut() {
        first.1 += rest;
    }
    parts
}

/// Orders functions so that callers come before callees, except where calls lead back into a recursion.
fn callers_first(comparison: &Comparison<'_>, flow: &Flow) -> Vec<JoinedId> {
    let mut starts: Vec<JoinedId> = comparison.functions().collect();
    // Functions without callers first, then those that others call least.
    starts.sort_by_key(|&function| {
        let [base, new] = flow.called[function.index()];
        (base.max(new) > 0, function)
    });
    let mut is_seen = vec![false; starts.len()];
    let mut order = Vec::with_capacity(starts.len());
    // Each with the arcs of it that are still to follow.
    let mut open: Vec<(JoinedId, usize)> = Vec::new();
    for start in starts {
        if is_seen[start.index()] {
            continue;
        }
        is_seen[start.index()] = true;
        open.push((start, 0));
        while let Some((function, next)) = open.last_mut() {
            let Some(arc) = flow.nth_outgoing(*function, *next) else {
                order.push(*function);
                open.pop();
                continue;
            };
            *next += 1;
            let FlowArc { callee, calls, .. } = flow.arcs[arc];
            if calls != [0, 0] && !is_seen[callee.index()] {
                is_seen[callee.index()] = true;
                open.push((callee, 0));
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_parts_have_the_sum_of_all() {
        let parts: Vec<(Key, f64)> =
            (0..100).map(|arc| (Key::Calls(FlowArcId::new(arc % 50)), 1.0)).collect();
        for max_parts in [MIN_PARTS, MAX_PARTS, 50] {
            let few = reduced(parts.clone(), max_parts);
            assert_eq!(few.len(), max_parts);
            assert!((few.iter().map(|(_, part)| part).sum::<f64>() - 100.0).abs() < 1e-9);
        }
        // There are millions.
        assert_eq!(size_of::<(Key, f64)>(), 16);
    }
}
