//! The factors by which functions have more or less to do, with the causes that they are made of.

use std::rc::Rc;

use gristmill_format::Cost;

use super::JoinedId;
use super::flow::{FlowArc, Key};
use super::id::FlowArcId;
use crate::id::narrow;

/// A factor and its parts.
#[derive(Debug, Clone, Default)]
pub(super) struct Factor {
    /// The new activity by that of the base. A function of one side only has no factor: then this is 1, and the parts are
    /// shares of its whole cost, which add up to 1.
    pub(super) ratio: f64,
    /// Causes with their parts, which add up to the factor less 1. Both factors of a function can share them.
    pub(super) parts: Rc<[(Key, f64)]>,
}

impl Factor {
    pub(super) fn sum(&self) -> f64 {
        self.parts.iter().map(|(_, part)| part).sum()
    }

    pub(super) fn size(&self) -> f64 {
        self.parts.iter().map(|(_, part)| part.abs()).sum()
    }
}

/// The factors of a function.
#[derive(Debug, Clone, Default)]
pub(super) struct Activity {
    /// Weighted by inclusive costs, weighted by calls.
    pub(super) factors: [Factor; 2],
    /// `true` if the function is on one side only, or was not called in the base.
    pub(super) is_whole: bool,
    /// `true` if calls by other callers prove that the function does as before: they are as many and cost as much. What
    /// it calls more often then follows from the callers that changed.
    pub(super) is_unchanged: bool,
    /// `true` if much of its cost is in no call of it, as that of the first function of a thread. What it calls more often
    /// then follows from its calls only as far as their cost goes.
    pub(super) is_root: bool,
    /// There if recorded calls prove that its whole change is that of its callers. Then both factors are the first.
    pub(super) settled: Option<Settled>,
}

impl Activity {
    /// Returns `true` if the function has as much to do as before.
    pub(super) fn is_as_before(&self) -> bool {
        !self.is_whole && self.factors.iter().all(|factor| factor.ratio == 1.0 && factor.parts.is_empty())
    }
}

/// The activities of all functions. Most functions do as before, so those that differ are kept apart.
#[derive(Debug)]
pub(super) struct Activities {
    /// By function: its activity among the different ones.
    index_of: Vec<u32>,
    different: Vec<Activity>,
}

impl Activities {
    /// The index of the activity of a function that was not looked at.
    const UNKNOWN: u32 = 0;
    /// The index of the activity of a function that does as before.
    const AS_BEFORE: u32 = 1;

    /// Creates those of functions that were not looked at.
    pub(super) fn new(function_count: usize) -> Self {
        let as_before = || Factor { ratio: 1.0, parts: Rc::default() };
        let as_before = Activity { factors: [as_before(), as_before()], ..Activity::default() };
        Activities {
            index_of: vec![Self::UNKNOWN; function_count],
            different: vec![Activity::default(), as_before],
        }
    }

    /// Returns the activity of a function.
    pub(super) fn get(&self, function: JoinedId) -> &Activity {
        &self.different[self.index_of[function.index()] as usize]
    }

    pub(super) fn set(&mut self, function: JoinedId, activity: Activity) {
        let index = &mut self.index_of[function.index()];
        if activity.is_as_before() && !activity.is_unchanged && !activity.is_root {
            *index = Self::AS_BEFORE;
        } else if *index > Self::AS_BEFORE {
            self.different[*index as usize] = activity;
        } else {
            *index = narrow(self.different.len());
            self.different.push(activity);
        }
    }
}

/// The facts about a settled function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settled {
    /// The part of the change of its self cost that its callers' causes do not explain.
    pub(super) own: f64,
    /// The calls that have most of it.
    pub(super) own_from: Option<FlowArcId>,
    /// The least and the greatest factor by which a caller asks more of it.
    pub(super) range: [f64; 2],
    /// `true` if calls that it makes cost more or less by causes of their callees: then only their counts follow from its callers.
    pub(super) is_by_count: bool,
}

/// Splits a part of a settled function's change, that of its self cost or of the calls that it makes, by the parts of its
/// factor. Over all parts of the function, each cause has the effect that it has of the whole.
pub(super) fn split(factor: &Factor, before: f64, change: f64) -> impl Iterator<Item = (Key, f64)> + '_ {
    let rest = change - before * factor.sum();
    let size = factor.size();
    factor.parts.iter().map(move |&(key, part)| (key, part * before + part.abs() / size * rest))
}

/// Returns what an arc brings in the base, and what it would bring now if each call did as before. Of a new arc, it is all; of
/// calls that are counted on one side only, it is what they cost there and here.
pub(super) fn expected(arc: &FlowArc, by_calls: bool) -> [f64; 2] {
    let [before, after] = arc.calls.map(as_real);
    if arc.is_counted_once() {
        return if by_calls { [0.0; 2] } else { arc.costs.map(as_real) };
    }
    if arc.is_noise {
        let amount = if by_calls { before } else { as_real(arc.costs[0]) };
        return [amount; 2];
    }
    if by_calls {
        return [before, after];
    }
    let cost = as_real(arc.costs[0]);
    if before > 0.0 { [cost, cost * after / before] } else { [cost, cost.max(as_real(arc.costs[1]))] }
}

/// Returns a cost as a real number. Shares need no more than 53 bits.
pub(super) fn as_real(cost: Cost) -> f64 {
    cost as f64
}
