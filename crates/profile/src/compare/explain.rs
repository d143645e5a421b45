//! The causes of a changed total. Their effects add up to the change of all self costs; nothing is counted twice.
//!
//! The change of each function's self cost is split. First comes the cost that moved between it and its callers. Of the
//! rest, one part is due to the count of calls: the change of the count, times the cost per call in the base. That part
//! belongs to the origin of the calls: if the caller was called more often by the same ratio, its own callers are the next
//! to look at, until one calls more often than before. The remaining part is due to the cost per call. New and vanished
//! functions count as a whole, with the functions that only they call.

use std::collections::BTreeMap;

use gristmill_format::Cost;

use super::moves::{Move, MoveKind, moves};
use super::ratio::{by_calls, is_same_ratio};
use super::{Change, Comparison, JoinedId, Presence};

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
        /// The count of calls.
        count: Change,
    },
    /// A call of a function costs more or less than before.
    PerCall {
        /// The function.
        function: JoinedId,
    },
    /// The self cost of a function changed, and calls are not counted.
    SelfCost {
        /// The function.
        function: JoinedId,
    },
    /// A function is new.
    New {
        /// The function.
        function: JoinedId,
        /// The caller with most calls.
        caller: Option<JoinedId>,
    },
    /// A function vanished.
    Vanished {
        /// The function.
        function: JoinedId,
        /// The caller with most calls.
        caller: Option<JoinedId>,
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
    /// Returns the self cost that it accounts for: its effect, or the cost that moved.
    pub fn size(&self) -> Cost {
        match &self.cause {
            Cause::Moved { moved, .. } => self.effect.abs().max(*moved),
            _ => self.effect.abs(),
        }
    }
}

/// All causes of the change of one event type. See the example of [`Comparison`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanations {
    /// The causes, the largest first; noise comes last.
    pub causes: Vec<Explanation>,
}

/// The key of a cause: changes with the same key are its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Key {
    Move(usize),
    /// By the index of the arc.
    Calls(usize),
    PerCall(JoinedId),
    SelfCost(JoinedId),
    New(JoinedId),
    Vanished(JoinedId),
}

impl Comparison<'_> {
    /// Finds the causes of the change of an event type. The effects add up to the change of the total, less
    /// [`Comparison::remainder`].
    pub fn explain(&self, column: usize) -> Explanations {
        // The count of sampled calls is unknown.
        let is_counted = self.has_calls() && !self.is_sampled();
        let moves = if is_counted { moves(self, column) } else { Vec::new() };
        let callers = Callers::new(self);
        let mut rest: Vec<Cost> =
            self.functions().map(|function| self.self_cost(function, column).delta()).collect();
        let mut gathered: BTreeMap<Key, Vec<(JoinedId, Cost)>> = BTreeMap::new();
        for (place, Move { function, callers, .. }) in moves.iter().enumerate() {
            let parts = gathered.entry(Key::Move(place)).or_default();
            parts.push((*function, std::mem::take(&mut rest[function.index()])));
            for &(caller, share) in callers {
                rest[caller.index()] -= share;
                parts.push((caller, share));
            }
        }
        for function in self.functions().filter(|function| rest[function.index()] != 0) {
            let rest = rest[function.index()];
            let mut add = |key, part: Cost| {
                if part != 0 {
                    gathered.entry(key).or_default().push((function, part));
                }
            };
            match self.presence(function) {
                Presence::New => add(Key::New(callers.first_of_its_kind(function)), rest),
                Presence::Vanished => add(Key::Vanished(callers.first_of_its_kind(function)), rest),
                Presence::Both => {
                    let calls = self.calls(function);
                    let before = self.self_cost(function, column).base.median;
                    let part = by_calls(before, (calls.base.median, calls.new.median));
                    let are_apart = !cancel_out(part, rest - part);
                    let is_usable = is_counted && are_apart && !calls.is_noise();
                    let explained = match callers.origin(function).filter(|_| is_usable) {
                        Some(origin) => {
                            add(origin, part);
                            part
                        }
                        None => 0,
                    };
                    let was_called = calls.base.median > 0 || calls.new.median > 0;
                    let key = if is_counted && was_called && are_apart {
                        Key::PerCall(function)
                    } else {
                        Key::SelfCost(function)
                    };
                    add(key, rest - explained);
                }
            }
        }
        let mut causes: Vec<Explanation> = gathered
            .into_iter()
            .map(|(key, parts)| self.explanation(key, parts, &moves, &callers, column))
            .collect();
        causes.sort_by_cached_key(|cause| {
            let name = self.mention(cause.functions[0].0).name;
            (cause.is_noise, std::cmp::Reverse(cause.size()), name)
        });
        Explanations { causes }
    }

    fn explanation(
        &self,
        key: Key,
        mut functions: Vec<(JoinedId, Cost)>,
        moves: &[Move],
        callers: &Callers<'_, '_>,
        column: usize,
    ) -> Explanation {
        functions.sort_by_key(|&(function, part)| (std::cmp::Reverse(part.abs()), function));
        let effect = functions.iter().map(|(_, part)| part).sum();
        let dominant = |function| callers.dominant(function).map(|arc| self.arcs()[arc].caller);
        let cause = match key {
            Key::Move(place) => {
                let Move { kind, function, callers } = &moves[place];
                let moved = callers.iter().map(|(_, share)| share.abs()).sum();
                Cause::Moved { kind: *kind, function: *function, callers: callers.clone(), moved }
            }
            Key::Calls(arc) => {
                let arc = self.arcs()[arc];
                Cause::Calls { caller: arc.caller, callee: arc.callee, count: arc.count }
            }
            Key::PerCall(function) => Cause::PerCall { function },
            Key::SelfCost(function) => Cause::SelfCost { function },
            Key::New(function) => Cause::New { function, caller: dominant(function) },
            Key::Vanished(function) => Cause::Vanished { function, caller: dominant(function) },
        };
        let is_noise = functions.iter().all(|&(function, _)| self.self_cost(function, column).is_noise());
        Explanation { cause, effect, functions, is_noise }
    }
}

/// Returns `true` if two parts of a change nearly cancel out. If one call in the base did the work of a million in the new
/// profile, neither the count of calls nor the cost per call explains the change.
fn cancel_out(a: Cost, b: Cost) -> bool {
    /// Parts that exceed their sum by this factor cancel out.
    const MAX_FACTOR: Cost = 4;
    a.signum() * b.signum() < 0 && a.abs().min(b.abs()) > (a + b).abs().saturating_mul(MAX_FACTOR)
}

/// The origins of changes in call counts.
struct Callers<'c, 'p> {
    comparison: &'c Comparison<'p>,
    /// By function: the arc with most of the change of its calls.
    dominant: Vec<Option<usize>>,
}

impl<'c, 'p> Callers<'c, 'p> {
    fn new(comparison: &'c Comparison<'p>) -> Self {
        let dominant = comparison.functions().map(|function| dominant_caller(comparison, function)).collect();
        Callers { comparison, dominant }
    }

    fn dominant(&self, function: JoinedId) -> Option<usize> {
        self.dominant[function.index()]
    }

    /// Finds the origin of a change in the calls of a function.
    fn origin(&self, function: JoinedId) -> Option<Key> {
        /// A caller is not the origin if its calls per own call changed by less than one in this many.
        const ONE_IN: Cost = 50;
        let mut seen = vec![function];
        let mut at = function;
        if self.comparison.calls(function).is_none() {
            return None;
        }
        loop {
            let arc = self.dominant(at)?;
            let (caller, count) = (self.comparison.arcs()[arc].caller, self.comparison.arcs()[arc].count);
            match self.comparison.presence(caller) {
                Presence::New => return Some(Key::New(self.first_of_its_kind(caller))),
                Presence::Vanished => return Some(Key::Vanished(self.first_of_its_kind(caller))),
                Presence::Both => {}
            }
            let calls = self.comparison.calls(caller);
            let before = (count.base.median, calls.base.median);
            let after = (count.new.median, calls.new.median);
            let passes_on = !calls.is_none()
                && calls.base.median > 0
                && is_same_ratio(before, after, ONE_IN)
                && !seen.contains(&caller);
            if !passes_on || seen.len() > MAX_CALLERS {
                return Some(Key::Calls(arc));
            }
            seen.push(caller);
            at = caller;
        }
    }

    /// Follows functions of one side only up to the one that a function of both sides calls.
    fn first_of_its_kind(&self, function: JoinedId) -> JoinedId {
        let presence = self.comparison.presence(function);
        let mut seen = vec![function];
        let mut at = function;
        while let Some(caller) = self.dominant(at).map(|arc| self.comparison.arcs()[arc].caller)
            && self.comparison.presence(caller) == presence
            && !seen.contains(&caller)
            && seen.len() <= MAX_CALLERS
        {
            seen.push(caller);
            at = caller;
        }
        at
    }
}

/// Finds the arc with most of the change in a function's calls, except calls to itself.
fn dominant_caller(comparison: &Comparison<'_>, function: JoinedId) -> Option<usize> {
    let delta = comparison.calls(function).delta();
    let caller = |arc: usize| comparison.arcs()[arc].caller;
    let others = comparison.incoming(function).filter(|&arc| caller(arc) != function);
    others.max_by_key(|&arc| {
        let change = comparison.arcs()[arc].count;
        let towards = if delta < 0 { -change.delta() } else { change.delta() };
        (towards, change.new.median + change.base.median, std::cmp::Reverse(arc))
    })
}

/// The limit of callers that are followed upwards.
const MAX_CALLERS: usize = 64;
