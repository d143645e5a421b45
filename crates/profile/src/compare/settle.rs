//! Settled functions: recorded calls prove that only what their callers ask of them changed.
//!
//! Activities divide the change of a function by factors, as if its calls were alike. If some callers make expensive calls and
//! others cheap ones, what the function does itself and what it calls differ from that: its self cost rises by less than the
//! factor, the count of a call that it makes by more. Such differences look like causes, but they add up to nothing, as the
//! calls of each caller cost what they did. Then the function is settled: its whole change, and the change of what it calls, is
//! that of its callers. Each cause keeps the effect that recorded calls give it.

use std::cell::Cell;

use gristmill_format::Cost;

use super::factors::{Activities, Factor, Settled, as_real, expected};
use super::flow::{Flow, FlowArc, Key};
use super::id::FlowArcId;
use super::{Comparison, JoinedId, Presence};
use crate::ordered::OrderedMap;

/// The part of a cost by which it may be off, and that is too little to be a cause: one in this many.
const LITTLE: f64 = 50.0;
/// The part of two amounts by which they may differ: one in this many.
const NEAR: f64 = 10.0;
/// The same, if callees have causes of their own: without them, two changes could cancel out.
const EXACT: f64 = 100.0;
/// The limit of functions that are looked at below calls that changed in opposite directions.
const MAX_BELOW: usize = 4_000_000;

/// The part of the change of a function, and of what it calls, that causes leave over.
#[derive(Debug, Clone, Copy)]
struct Rest {
    /// The part that nothing explains.
    own: f64,
    /// The part that looks changed in single costs and counts, although much of it can cancel out.
    mixed: f64,
    /// The cost in the base.
    base: f64,
    /// The part that the causes explain, without signs.
    size: f64,
}

/// The cost of the calls that a function makes. It decides how much of a change is left over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CostOfCalls {
    /// The recorded cost.
    Recorded,
    /// That of each call in the base, as callees have causes of their own.
    AsBefore,
}

impl Rest {
    fn is_little(&self) -> bool {
        self.is_below(NEAR)
    }

    /// Returns `true` if it is less than one part in this many of what looks changed.
    fn is_below(&self, one_in: f64) -> bool {
        self.own.abs() * one_in <= self.mixed || self.is_rounding()
    }

    fn is_rounding(&self) -> bool {
        self.own.abs() * 1e6 <= self.size
    }
}

/// Finds settled functions.
pub(super) struct Settling<'s, 'p> {
    pub(super) comparison: &'s Comparison<'p>,
    pub(super) flow: &'s Flow,
    /// The functions that were looked at below others.
    pub(super) looked_at: Cell<usize>,
}

impl Settling<'_, '_> {
    /// Returns what is known of a function, and the factor of its change, if it is settled. `parts` are those that the counts
    /// of its calls bring.
    pub(super) fn settled(
        &self,
        activities: &Activities,
        function: JoinedId,
        parts: &[(Key, f64)],
    ) -> Option<(Settled, Factor)> {
        let arcs: Vec<usize> =
            self.flow.incoming(function).filter(|&arc| self.flow.arcs[arc].is_used()).collect();
        let is_exact = |&arc: &usize| {
            let FlowArc { caller, is_recorded, is_noise, .. } = self.flow.arcs[arc];
            is_recorded && !is_noise && caller != function && !self.flow.arcs[arc].is_counted_once()
        };
        if !arcs.iter().all(is_exact) {
            return None;
        }
        let mut range = [f64::INFINITY, 0.0];
        for &arc in &arcs {
            let [least, most] = self.factors(activities, arc);
            range = [range[0].min(least), range[1].max(most)];
        }
        let found = |mut parts: Vec<(Key, f64)>, rest: Rest, range: [f64; 2]| {
            // The rest of a division is no cause.
            let own = if rest.is_rounding() { 0.0 } else { rest.own };
            let of_arc = |arc: usize| self.excess(activities, arc) * own.signum();
            let most = arcs.iter().copied().max_by(|&a, &b| of_arc(a).total_cmp(&of_arc(b)).then(b.cmp(&a)));
            let own_from = most.filter(|&arc| of_arc(arc) > 0.0).map(FlowArcId::new);
            parts.iter_mut().for_each(|(_, part)| *part /= rest.base);
            let ratio = 1.0 + parts.iter().map(|(_, part)| part).sum::<f64>();
            let settled = Settled { own, own_from, range, is_by_count: false };
            (settled, Factor { ratio, parts: parts.into() })
        };
        let plain = self.rest(function, parts, range, CostOfCalls::Recorded);
        if let Some(rest) = plain.filter(Rest::is_little) {
            return Some(found(parts.to_vec(), rest, range));
        }
        let by_count = self.rest(function, parts, range, CostOfCalls::AsBefore);
        if let Some(rest) = by_count.filter(|rest| rest.is_below(EXACT)) {
            let (settled, factor) = found(parts.to_vec(), rest, range);
            return Some((Settled { own_from: None, is_by_count: true, ..settled }, factor));
        }
        let changed = self.changed(activities, &arcs)?;
        // Other causes can explain changes in one direction, and those that show below the function.
        let is_apart = plain.is_some_and(|rest| rest.mixed > rest.own.abs() * (1.0 + 1.0 / NEAR));
        if changed.is_empty() || !is_apart && !self.is_opposite(function, &changed) {
            return None;
        }
        for (arc, _) in &changed {
            let [before, after] = self.flow.arcs[*arc].costs.map(as_real);
            range = [range[0].min(after / before), range[1].max(after / before)];
        }
        let from = changed.iter().map(|&(arc, part)| (Key::CallsFrom(FlowArcId::new(arc)), part));
        let parts: Vec<(Key, f64)> = parts.iter().copied().chain(from).collect();
        let rest = self.rest(function, &parts, range, CostOfCalls::Recorded).filter(Rest::is_little)?;
        Some(found(parts, rest, range))
    }

    /// Returns what the calls of an arc cost beyond their count, and beyond the causes of its caller.
    fn excess(&self, activities: &Activities, arc: usize) -> f64 {
        let FlowArc { caller, calls, costs, .. } = self.flow.arcs[arc];
        let follows = activities.get(caller).settled.is_some_and(|settled| !settled.is_by_count);
        if follows || calls.iter().any(|&calls| calls <= 0) {
            return 0.0;
        }
        as_real(costs[1]) - expected(&self.flow.arcs[arc], false)[1]
    }

    /// Returns the factors by which the calls of an arc can have changed: those of its caller if that is settled, or that of
    /// their count.
    fn factors(&self, activities: &Activities, arc: usize) -> [f64; 2] {
        let FlowArc { caller, calls, .. } = self.flow.arcs[arc];
        if let Some(settled) = activities.get(caller).settled {
            return settled.range;
        }
        let [before, after] = calls.map(as_real);
        // Calls that are new can be of any kind.
        let factor = if before > 0.0 { after / before } else { f64::INFINITY };
        [factor.min(f64::MAX), factor]
    }

    /// Returns what causes leave over of a function's change; `None` if the causes cannot be all of the rest.
    fn rest(
        &self,
        function: JoinedId,
        parts: &[(Key, f64)],
        [least, most]: [f64; 2],
        cost_of_calls: CostOfCalls,
    ) -> Option<Rest> {
        let of_sign = |sign: f64| parts.iter().map(|(_, part)| (part * sign).max(0.0)).sum::<f64>();
        let [more, less] = [1.0, -1.0].map(of_sign);
        let explained = more - less;
        let is_of_calls = |key: &Key| match key {
            Key::Calls(arc) => self.flow.arcs[arc.index()].is_recorded,
            key => matches!(key, Key::CallsFrom(_)),
        };
        // New and vanished functions may be the same under another name.
        if more + less == 0.0
            || more.min(less) > explained.abs() && !parts.iter().all(|(key, _)| is_of_calls(key))
        {
            return None;
        }
        let outgoing: Vec<&FlowArc> = self.flow.outgoing(function).map(|arc| &self.flow.arcs[arc]).collect();
        let is_once =
            |arc: &&FlowArc| arc.is_used() && self.comparison.presence(arc.callee) != Presence::Both;
        if outgoing.iter().any(is_once) {
            return None;
        }
        let own = self.flow.selves[function.index()];
        let all =
            [0, 1].map(|side| as_real(own[side] + outgoing.iter().map(|arc| arc.costs[side]).sum::<Cost>()));
        let incoming = || self.flow.incoming(function).map(|arc| self.flow.arcs[arc].costs);
        let called = [0, 1].map(|side| as_real(incoming().map(|costs| costs[side]).sum::<Cost>()));
        let is_near = |a: f64, b: f64| (a - b).abs() * 1000.0 <= a.abs();
        let [base, new] = all;
        if base <= 0.0 || !is_near(base, called[0]) || !is_near(new, called[1]) {
            return None;
        }
        let costs_of = |arc: &FlowArc| match cost_of_calls {
            CostOfCalls::Recorded => arc.costs.map(as_real),
            CostOfCalls::AsBefore => expected(arc, false),
        };
        let by_callees: f64 = outgoing.iter().map(|arc| as_real(arc.costs[1]) - costs_of(arc)[1]).sum();
        let rest = new - by_callees - base - explained;
        let factor = 1.0 + explained / base;
        let apart = |[before, after]: [f64; 2]| (after - before * factor).abs();
        let of_arc = |arc: &&FlowArc| {
            let ([calls, calls_now], [before, after]) = (arc.calls.map(as_real), costs_of(arc));
            if calls <= 0.0 || calls_now <= 0.0 {
                return apart([before, after]);
            }
            let by_count = before * (calls_now / calls);
            apart([before, by_count]) + (after - by_count).abs()
        };
        let mixed = apart(own.map(as_real)) + outgoing.iter().map(of_arc).sum::<f64>();
        let can_follow = |[before, after]: [f64; 2]| {
            let tolerance = before.max(after) / LITTLE + rest.abs() + 1.0;
            let greatest = if most.is_finite() { before * most } else { f64::INFINITY };
            (before * least - tolerance..=greatest + tolerance).contains(&after)
        };
        let all_follow = can_follow(own.map(as_real)) && outgoing.iter().all(|arc| can_follow(costs_of(arc)));
        all_follow.then_some(Rest { own: rest, mixed, base, size: more + less })
    }

    /// Returns the arcs to a function whose calls are as many as before and changed in cost, with the change; `None` if the
    /// cost of other calls changed, too.
    fn changed(&self, activities: &Activities, arcs: &[usize]) -> Option<Vec<(usize, f64)>> {
        let mut found: Vec<(usize, f64)> = Vec::new();
        for &arc in arcs {
            let FlowArc { calls, costs, .. } = self.flow.arcs[arc];
            let [base, new] = costs.map(as_real);
            let change = self.excess(activities, arc);
            if change.abs() * LITTLE <= base.max(new) || base <= 0.0 {
                continue;
            }
            // Calls that are many more or fewer can be of another kind.
            if as_real((calls[1] - calls[0]).abs()) * LITTLE > as_real(calls[0]) {
                return None;
            }
            found.push((arc, change));
        }
        let most = found.iter().map(|(_, part)| part.abs()).fold(0.0, f64::max);
        found.retain(|(_, part)| part.abs() * LITTLE >= most);
        Some(found)
    }

    /// Returns `true` if calls changed in opposite directions, and nothing below their function shows that.
    fn is_opposite(&self, function: JoinedId, changed: &[(usize, f64)]) -> bool {
        let of_sign = |sign: f64| changed.iter().map(|(_, part)| (part * sign).max(0.0)).sum::<f64>();
        let [more, less] = [1.0, -1.0].map(of_sign);
        if more.min(less) * NEAR < more.max(less) {
            return false;
        }
        let shown = self.changes_below(function).map(|changes| changes.map(|change| as_real(change) * 2.0));
        shown.is_some_and(|[shown_more, shown_less]| shown_more < more || shown_less < less)
    }

    /// Returns by how much the self costs of a function and of everything below it rose and fell; `None` if there are too many.
    fn changes_below(&self, function: JoinedId) -> Option<[Cost; 2]> {
        let mut seen = OrderedMap::from_iter([(function, ())]);
        let mut open = vec![function];
        let mut changes = [0, 0];
        while let Some(function) = open.pop() {
            let [before, after] = self.flow.selves[function.index()];
            changes[usize::from(after < before)] += (after - before).abs();
            for arc in self.flow.outgoing(function) {
                self.looked_at.set(self.looked_at.get() + 1);
                if self.looked_at.get() > MAX_BELOW {
                    return None;
                }
                let FlowArc { callee, .. } = self.flow.arcs[arc];
                if self.flow.arcs[arc].is_used() && seen.insert(callee, ()).is_none() {
                    open.push(callee);
                }
            }
        }
        Some(changes)
    }
}
