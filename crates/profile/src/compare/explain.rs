//! The causes of a changed total. Their effects add up to the change of all self costs; nothing is counted twice.
//!
//! First, cost that moved between a function and its callers by inlining is moved back ([`super::inlining`]). The change of
//! each function's self cost is then split in two. One part follows from what the function was asked to do: its
//! [activity](super::activity), which belongs to the arcs that are called more or less often than their callers explain. The
//! rest is the function's own: a call costs more or less. New and vanished functions count as a whole, with the functions
//! that only they call. Where both parts are large and cancel out, neither is shown.

use std::cmp::Reverse;

use gristmill_format::Cost;

use super::activity::activities;
use super::factors::{Activities, Activity, Factor, as_real, split};
use super::flow::{Flow, FlowArc, Key, medians};
use super::id::MoveId;
use super::inlining::{Move, MoveKind, fold_inlining};
use super::parts::{Gathered, rounded, to_cost};
use super::per_call::{self, CallsFrom, PerCallProof};
use super::ratio::{add_up, scaled};
use super::{Change, Comparison, JoinedId, Presence};
use crate::ordered::OrderedMap;

/// A cause of changed costs. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// Cost moved between a function and its callers.
    Moved {
        /// The direction.
        kind: MoveKind,
        /// The function.
        function: JoinedId,
        /// Its callers, with the change of their self cost by it.
        callers: Vec<(JoinedId, Cost)>,
        /// The self cost that moved; never negative.
        moved: Cost,
    },
    /// A function is called more or less often than before, also in proportion to its caller.
    Calls {
        /// The caller that it comes from.
        caller: JoinedId,
        /// The function.
        callee: JoinedId,
        /// The recorded count of calls. `None` if calls moved to or from the caller as if by inlining, and with the recorded ones
        /// alone it changed in the other direction, or is on one side only.
        count: Option<Change>,
    },
    /// The average cost of a function's calls changed.
    PerCall {
        /// The function.
        function: JoinedId,
        /// The part of it that recorded calls prove.
        proof: PerCallProof,
    },
    /// The self cost of a function changed, and neither calls nor the cost of a call explain it.
    SelfCost {
        /// The function.
        function: JoinedId,
    },
    /// A function is new.
    New {
        /// The function.
        function: JoinedId,
        /// The caller whose calls of it cost most, of those that the effect is of.
        caller: Option<JoinedId>,
        /// The count of the others.
        others: usize,
    },
    /// A function vanished.
    Vanished {
        /// The function.
        function: JoinedId,
        /// The caller whose calls of it cost most, of those that the effect is of.
        caller: Option<JoinedId>,
        /// The count of the others.
        others: usize,
    },
    /// A new or vanished function, whose caller lost or gained about as much self cost.
    Split {
        /// The function that is new or vanished.
        function: JoinedId,
        /// Its only caller.
        caller: JoinedId,
        /// The change of the caller's self cost.
        of_caller: Cost,
    },
    /// Two functions of which each costs what the other did.
    Swapped {
        /// One function.
        function: JoinedId,
        /// The other function.
        other: JoinedId,
    },
}

/// A cause with its effect. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The cause.
    pub cause: Cause,
    /// The change of the total by it.
    pub effect: Cost,
    /// The functions whose self cost it changed, each with the change, the greatest first.
    pub functions: Vec<(JoinedId, Cost)>,
    /// `true` if all of it is within the spread of a side's runs.
    pub is_noise: bool,
}

impl Explanation {
    /// Returns the number that causes are ordered by: the effect. That of a swap is about 0, however much was swapped.
    fn rank(&self) -> Cost {
        match self.cause {
            Cause::Swapped { .. } => self.size(),
            _ => self.effect.abs(),
        }
    }

    /// Returns the self cost that it accounts for: its effect, or the cost that moved.
    pub fn size(&self) -> Cost {
        match &self.cause {
            Cause::Moved { moved, .. } => self.effect.abs().max(*moved),
            Cause::Split { of_caller, .. } => self.effect.abs().max(of_caller.abs()),
            Cause::Swapped { .. } => self.functions.iter().map(|(_, part)| part.abs()).max().unwrap_or(0),
            _ => self.effect.abs(),
        }
    }
}

/// All causes of the change of one event type. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanations {
    /// The causes, the greatest effect first; noise comes last.
    pub causes: Vec<Explanation>,
}

impl Comparison<'_> {
    /// Finds the causes of the change of an event type. The effects add up to the change of the total, less
    /// [`Comparison::remainder`].
    pub fn explain(&self, column: usize) -> Explanations {
        // The count of sampled calls is unknown.
        let is_counted = self.has_calls() && !self.is_sampled();
        let mut flow = Flow::new(self, column);
        let moves = if is_counted { fold_inlining(self, column, &mut flow) } else { Vec::new() };
        let activities =
            if is_counted { activities(self, &flow) } else { Activities::new(flow.selves.len()) };
        let split = Split { comparison: self, flow: &flow, moves: &moves, is_counted, column };
        let mut gathered = split.gather(&activities);
        let callers = split.callers(&gathered, &activities);
        drop(activities);
        split.join_halves(&mut gathered);
        let mut causes: Vec<Explanation> =
            gathered.into_iter().map(|(key, parts)| split.explanation(key, parts, &callers)).collect();
        causes.sort_by_cached_key(|cause| {
            let name = self.mention(cause.functions[0].0).name;
            (cause.is_noise, Reverse((cause.rank(), cause.size())), name)
        });
        Explanations { causes }
    }
}

/// The changes of one column, to be split by cause.
struct Split<'s, 'p> {
    comparison: &'s Comparison<'p>,
    flow: &'s Flow,
    moves: &'s [Move],
    is_counted: bool,
    column: usize,
}

impl Split<'_, '_> {
    /// Splits the change of each function's self cost.
    fn gather(&self, activities: &Activities) -> Gathered {
        let mut gathered = Gathered::default();
        // By function: the moves into or out of it, each with the cost.
        let mut taken: OrderedMap<JoinedId, Vec<(usize, Cost)>> = OrderedMap::default();
        let mut move_of: OrderedMap<JoinedId, (usize, (Cost, Cost))> = OrderedMap::default();
        for (index, moving) in self.moves.iter().enumerate() {
            let sign = if moving.kind == MoveKind::Inlined { 1 } else { -1 };
            let parts = gathered.or_default(Key::Move(MoveId::new(index)));
            parts.push((moving.function, -sign * moving.moved()));
            move_of.insert(moving.function, (index, self.part_of_others(moving)));
            for &(caller, cost) in &moving.callers {
                parts.push((caller, sign * cost));
                taken.or_default(caller).push((index, cost));
            }
        }
        for function in self.comparison.functions() {
            let mut add = |key: Key, mut part: Cost| {
                // What is left of an inlined function is gone because of that, except for callers that it was not inlined into.
                if let Key::New(inlined) | Key::Vanished(inlined) = key
                    && let Some(&(index, (others, all))) = move_of.get(inlined)
                {
                    let of_others = scaled(part, others, all).unwrap_or(0);
                    if part != of_others {
                        let key = Key::Move(MoveId::new(index));
                        gathered.or_default(key).push((function, part - of_others));
                    }
                    part = of_others;
                }
                if part != 0 {
                    gathered.or_default(key).push((function, part));
                }
            };
            let [before, after] = self.flow.selves[function.index()];
            let change = after - before;
            let activity = activities.get(function);
            let explained = self.explained(activity, function, [before, after]);
            let is_apart = explained.is_some();
            let explained = explained.unwrap_or_default();
            for (key, part) in &explained {
                add(*key, *part);
            }
            let mut own = change - explained.iter().map(|(_, part)| part).sum::<Cost>();
            if let Some(taken) = taken.get(function) {
                for (index, part) in saved_by_moves(self.moves, taken, own) {
                    add(Key::Move(MoveId::new(index)), part);
                    own -= part;
                }
            }
            let own_from = activity.settled.and_then(|settled| settled.own_from);
            let key = match (self.own_key(function, is_apart), &explained[..]) {
                // If calls of each caller cost as before, their counts explain all of it.
                (Key::PerCall(_), &[(of_calls @ Key::Calls(_), _)])
                    if own != 0 && self.is_by_counts(function, own) =>
                {
                    of_calls
                }
                // Recorded calls tell whose calls have it, but not if it is in their self cost.
                (Key::PerCall(_) | Key::SelfCost(_), _) if own_from.is_some() => {
                    own_from.map_or(Key::PerCall(function), Key::CallsFrom)
                }
                (key, _) => key,
            };
            add(key, own);
        }
        self.take_from_contrary_calls(&mut gathered);
        gathered.retain(|_, parts| !parts.is_empty());
        for parts in gathered.values_mut() {
            parts.sort_unstable_by_key(|(function, _)| *function);
            add_up(parts);
            parts.shrink_to_fit();
        }
        gathered
    }

    /// Takes the changes of functions from calls that go the other way, for themselves: more calls are not why something costs less.
    fn take_from_contrary_calls(&self, gathered: &mut Gathered) {
        let is_contrary = |&(key, parts): &(Key, &Vec<(JoinedId, Cost)>)| {
            let Key::Calls(arc) = key else { return false };
            let FlowArc { caller, calls: [before, after], costs, .. } = self.flow.arcs[arc.index()];
            let effect = as_real(parts.iter().map(|(_, part)| part).sum::<Cost>());
            let [before, after] = [before, after].map(as_real);
            let [called_before, called_after] = self.flow.called[caller.index()].map(as_real);
            // Those of a caller that is called more often can be fewer for each of its calls. Of one that nothing calls, this is 0.
            let beyond = after * called_before - before * called_after;
            before > 0.0
                && after > 0.0
                && costs.iter().all(|&cost| cost >= 0)
                && (after - before) * effect < 0.0
                && beyond * effect <= 0.0
        };
        let contrary: Vec<Key> = gathered.iter().filter(is_contrary).map(|(key, _)| key).collect();
        for key in contrary {
            let parts = gathered.remove(key).unwrap_or_default();
            for (function, part) in parts {
                gathered.or_default(self.own_key(function, true)).push((function, part));
            }
        }
    }

    /// Returns the part of an inlined function that callers call to which nothing of it moved, as a fraction.
    fn part_of_others(&self, moving: &Move) -> (Cost, Cost) {
        let mut into: Vec<JoinedId> = moving.callers.iter().map(|&(caller, _)| caller).collect();
        into.sort_unstable();
        let (mut others, mut all) = (0, 0);
        for arc in self.flow.incoming(moving.function) {
            let caller = self.flow.arcs[arc].caller;
            if caller != moving.function {
                let (part, _) = self.flow.share(arc, moving.kind.side());
                all += part;
                others += if into.binary_search(&caller).is_err() { part } else { 0 };
            }
        }
        (others, all)
    }

    /// Returns `true` if arcs prove that only the counts of a function's calls changed.
    fn is_by_counts(&self, function: JoinedId, own: Cost) -> bool {
        let proof = per_call::proof(self.comparison, self.flow, function, own, self.column);
        matches!(proof, PerCallProof::Counts(_))
    }

    /// Returns the parts of a function's change that its activity explains, by cause; `None` if they contradict the change.
    fn explained(
        &self,
        activity: &Activity,
        function: JoinedId,
        [before, after]: [Cost; 2],
    ) -> Option<Vec<(Key, Cost)>> {
        let change = after - before;
        if let Some(settled) = activity.settled {
            let explained = change - to_cost(settled.own);
            let parts = split(&activity.factors[0], as_real(before), as_real(explained));
            return Some(rounded(parts.collect(), explained));
        }
        if !self.is_counted || change == 0 {
            return Some(Vec::new());
        }
        if activity.is_whole {
            return Some(shares(&activity.factors[0], change));
        }
        let expected = |factor: &Factor| as_real(before) * (factor.ratio - 1.0);
        let apart = |factor: &Factor| (as_real(change) - expected(factor)).abs();
        let [by_cost, by_calls] = &activity.factors;
        // A function that calls nothing has only self cost, and recorded calls have it.
        let is_leaf = || self.flow.outgoing(function).all(|arc| !self.flow.arcs[arc].is_used());
        let is_by_calls = apart(by_calls) < apart(by_cost) && (by_cost.parts.is_empty() || !is_leaf());
        let factor = if is_by_calls { by_calls } else { by_cost };
        let explained = to_cost(expected(factor));
        if factor.parts.is_empty() {
            return Some(Vec::new());
        }
        if cancel_out(explained, change - explained) || !self.are_recorded(&factor.parts) {
            return None;
        }
        // The rest of a division is no cause.
        let is_all = (change - explained).abs() <= before.abs() / 1_000_000;
        let parts: Vec<(Key, f64)> =
            factor.parts.iter().map(|&(key, part)| (key, part * as_real(before))).collect();
        Some(rounded(parts, if is_all { change } else { explained }))
    }

    /// Returns `false` if parts nearly cancel out, and some do not belong to calls that are recorded: calls that follow from
    /// inlining, and those of new and vanished functions, which may be the same under another name.
    fn are_recorded(&self, parts: &[(Key, f64)]) -> bool {
        let sum = |sign: f64| parts.iter().map(|(_, part)| (part * sign).max(0.0)).sum::<f64>();
        let (more, less) = (sum(1.0), sum(-1.0));
        let is_recorded = |key: &Key| match key {
            Key::Calls(arc) => self.flow.arcs[arc.index()].is_recorded,
            _ => false,
        };
        more.min(less) <= (more - less).abs() || parts.iter().all(|(key, _)| is_recorded(key))
    }

    /// Returns the key of a function's own change. `is_apart` is `true` if what calls explain does not cancel it out.
    fn own_key(&self, function: JoinedId, is_apart: bool) -> Key {
        let [before, after] = self.flow.called[function.index()];
        match self.comparison.presence(function) {
            Presence::New => Key::New(function),
            Presence::Vanished => Key::Vanished(function),
            Presence::Both if self.is_counted && is_apart && before > 0 && after > 0 => {
                Key::PerCall(function)
            }
            Presence::Both => Key::SelfCost(function),
        }
    }

    /// Joins causes that are halves of one change: a new function that took over from its caller, and two functions that
    /// swapped their costs.
    fn join_halves(&self, gathered: &mut Gathered) {
        if !self.is_counted {
            return;
        }
        let sum = |parts: &[(JoinedId, Cost)]| parts.iter().map(|(_, part)| part).sum::<Cost>();
        let lone: Vec<(Key, JoinedId)> = gathered
            .keys()
            .filter_map(|key| match key {
                Key::New(function) | Key::Vanished(function) => Some((key, function)),
                _ => None,
            })
            .collect();
        for (key, function) in lone {
            let Some(caller) = self.only_caller(function) else { continue };
            let own = [Key::PerCall(caller), Key::SelfCost(caller)]
                .into_iter()
                .find_map(|own| gathered.get(own).map(|parts| (own, sum(parts))));
            let effect = sum(&gathered[key]);
            // What other causes have of either is not half of this change.
            let is_whole = |function: JoinedId, part: Cost| {
                let [before, after] = self.flow.selves[function.index()];
                part == after - before
            };
            let is_half = |part: Cost| {
                is_opposite(part, effect)
                    && is_whole(caller, part)
                    && gathered[key].iter().any(|&(other, part)| other == function && is_whole(other, part))
            };
            if let Some((own, of_caller)) = own.filter(|(_, part)| is_half(*part)) {
                let mut parts = gathered.remove(key).unwrap_or_default();
                gathered.remove(own);
                parts.push((caller, of_caller));
                gathered.insert(Key::Split(function), parts);
            }
        }
        let mut own: Vec<(JoinedId, Key, Cost)> = gathered
            .iter()
            .filter_map(|(key, parts)| match key {
                Key::PerCall(function) | Key::SelfCost(function) => Some((function, key, sum(parts))),
                _ => None,
            })
            .collect();
        own.sort_by_key(|&(function, _, part)| (part.abs(), function));
        for pair in own.windows(2) {
            let [(a, key_a, _), (b, key_b, _)] = *pair else { continue };
            let (of_a, of_b) = (self.flow.selves[a.index()], self.flow.selves[b.index()]);
            let calls = |function: JoinedId| self.flow.called[function.index()];
            let is_swapped =
                |first: [Cost; 2], second: [Cost; 2]| first[0] == second[1] && first[1] == second[0];
            // Calls that went from one function to the other swap the costs as well, and are a cause of their own.
            let is_by_calls = |costs: [Cost; 2], calls: [Cost; 2]| {
                let [before, after] = [costs[0].saturating_mul(calls[1]), costs[1].saturating_mul(calls[0])];
                calls[0] != calls[1] && (after - before).saturating_mul(10).abs() <= before.abs()
            };
            if is_swapped(of_a, of_b)
                && is_swapped(calls(a), calls(b))
                && !(is_by_calls(of_a, calls(a)) && is_by_calls(of_b, calls(b)))
                && gathered.contains(key_a)
                && gathered.contains(key_b)
            {
                let mut parts = gathered.remove(key_a).unwrap_or_default();
                parts.extend(gathered.remove(key_b).unwrap_or_default());
                gathered.insert(Key::Swapped(a.min(b)), parts);
            }
        }
    }

    /// Returns the caller of a function, if it has only one that is on both sides.
    fn only_caller(&self, function: JoinedId) -> Option<JoinedId> {
        let mut callers = self
            .flow
            .incoming(function)
            .map(|arc| &self.flow.arcs[arc])
            .filter(|arc| arc.calls != [0, 0] && arc.caller != function);
        let caller = callers.next()?.caller;
        (callers.next().is_none() && self.comparison.presence(caller) == Presence::Both).then_some(caller)
    }

    fn explanation(
        &self,
        key: Key,
        mut functions: Vec<(JoinedId, Cost)>,
        callers: &OrderedMap<JoinedId, (JoinedId, usize)>,
    ) -> Explanation {
        let column = self.column;
        let caller_of = |function: JoinedId| match callers.get(function) {
            Some(&(caller, others)) => (Some(caller), others),
            None => (None, 0),
        };
        functions.sort_by_key(|&(function, part)| (Reverse(part.abs()), function));
        let effect = functions.iter().map(|(_, part)| part).sum();
        let part_of = |function: JoinedId| {
            functions.iter().find(|(other, _)| *other == function).map_or(0, |(_, part)| *part)
        };
        let cause = match key {
            Key::Move(index) => {
                let moving = &self.moves[index.index()];
                let Move { kind, function, .. } = *moving;
                let callers = moving.callers.iter().map(|&(caller, _)| (caller, part_of(caller))).collect();
                Cause::Moved { kind, function, callers, moved: moving.moved() }
            }
            Key::Calls(arc) => {
                let arc = arc.index();
                let FlowArc { caller, callee, .. } = self.flow.arcs[arc];
                Cause::Calls { caller, callee, count: self.flow.count(self.comparison, arc) }
            }
            Key::PerCall(function) => {
                let proof = per_call::proof(self.comparison, self.flow, function, effect, column);
                Cause::PerCall { function, proof }
            }
            Key::CallsFrom(arc) => {
                let arc = arc.index();
                let FlowArc { caller, callee, .. } = self.flow.arcs[arc];
                let (calls, cost) = (self.comparison.arc(arc).count, self.comparison.arc_cost(arc, column));
                let others = per_call::others_than(self.flow, arc, effect);
                Cause::PerCall {
                    function: callee,
                    proof: PerCallProof::From(CallsFrom { caller, calls, cost }, others),
                }
            }
            Key::SelfCost(function) => Cause::SelfCost { function },
            Key::New(function) => {
                let (caller, others) = caller_of(function);
                Cause::New { function, caller, others }
            }
            Key::Vanished(function) => {
                let (caller, others) = caller_of(function);
                Cause::Vanished { function, caller, others }
            }
            Key::Split(function) => match self.only_caller(function) {
                Some(caller) => Cause::Split { function, caller, of_caller: part_of(caller) },
                None => Cause::SelfCost { function },
            },
            Key::Swapped(function) => {
                let other = functions.iter().map(|(other, _)| *other).find(|&other| other != function);
                Cause::Swapped { function, other: other.unwrap_or(function) }
            }
        };
        let is_noise =
            functions.iter().all(|&(function, _)| self.comparison.self_cost(function, column).is_noise());
        Explanation { cause, effect, functions, is_noise }
    }

    /// Returns the callers of new and vanished functions: of each, the one with the most expensive recorded calls and the count
    /// of the others. Calls that follow from another cause are not among them: the part of a function that vanished with its
    /// caller is in the effect of the caller, and what was inlined into a caller is in that of the inlining.
    fn callers(
        &self,
        gathered: &Gathered,
        activities: &Activities,
    ) -> OrderedMap<JoinedId, (JoinedId, usize)> {
        let sum = |change: Change| medians(change).iter().sum::<Cost>();
        let callers = gathered.keys().filter_map(|key| {
            let (Key::New(function) | Key::Vanished(function)) = key else { return None };
            let arcs = self.comparison.incoming(function).map(|arc| (arc, self.comparison.arc(arc)));
            let cost = |arc: usize| sum(self.comparison.arc_cost(arc, self.column));
            let mut callers: Vec<(bool, Cost, Cost, Reverse<JoinedId>)> = arcs
                .filter(|&(index, arc)| {
                    arc.caller != function && (medians(arc.count) != [0, 0] || cost(index) != 0)
                })
                .map(|(index, arc)| {
                    let is_left = self.flow.arcs[index].is_used();
                    let is_cause = is_left && !activities.get(arc.caller).is_whole;
                    (is_cause, cost(index), sum(arc.count), Reverse(arc.caller))
                })
                .collect();
            callers.sort_unstable();
            let &(is_cause, .., Reverse(first)) = callers.last()?;
            let all = callers.iter().filter(|(other, ..)| *other == is_cause).count();
            Some((function, (first, all - 1)))
        });
        callers.collect()
    }
}

/// Splits the own change of a caller among the functions that moved into or out of it. Inlining saves at most the cost of
/// what was inlined; what it adds is small.
fn saved_by_moves(moves: &[Move], taken: &[(usize, Cost)], own: Cost) -> Vec<(usize, Cost)> {
    /// The part of the moved cost that can be added, one in this many.
    const ONE_IN: Cost = 4;
    let limits: Vec<(usize, Cost)> = taken
        .iter()
        .map(|&(index, cost)| {
            let saves = (moves[index].kind == MoveKind::Inlined) == (own < 0);
            (index, if saves { cost } else { cost / ONE_IN })
        })
        .collect();
    let all: Cost = limits.iter().map(|(_, limit)| limit).sum();
    if all == 0 {
        return Vec::new();
    }
    if own > all * 2 {
        // Hardly any of it can be due to inlining.
        return Vec::new();
    }
    let part = own.clamp(-all, all);
    limits.into_iter().map(|(index, limit)| (index, scaled(part, limit, all).unwrap_or(0))).collect()
}

/// Distributes a cost by the parts of a factor that has no base, without loss.
fn shares(factor: &Factor, cost: Cost) -> Vec<(Key, Cost)> {
    let sum: f64 = factor.parts.iter().map(|(_, part)| part).sum();
    if sum == 0.0 {
        return Vec::new();
    }
    rounded(factor.parts.iter().map(|&(key, part)| (key, as_real(cost) * (part / sum))).collect(), cost)
}

/// Returns `true` if two parts of a change nearly cancel out. If one call in the base did the work of a million in the new
/// profile, neither the count of calls nor the cost per call explains the change.
fn cancel_out(a: Cost, b: Cost) -> bool {
    /// Parts that exceed their sum by this factor cancel out.
    const MAX_FACTOR: Cost = 4;
    a.signum() * b.signum() < 0 && a.abs().min(b.abs()) > (a + b).abs().saturating_mul(MAX_FACTOR)
}

/// Returns `true` if a change goes against another, and is at least half of it but not much more.
fn is_opposite(change: Cost, other: Cost) -> bool {
    change.signum() * other.signum() < 0
        && change.abs() * 2 >= other.abs()
        && change.abs() <= other.abs().saturating_add(other.abs() / 4)
}
