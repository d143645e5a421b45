//! The parts of causes: what a cause has of the change of each function.

use std::cmp::Reverse;

use gristmill_format::Cost;

use super::JoinedId;
use super::flow::Key;
use crate::ordered::OrderedMap;

/// The parts of each cause: functions with the change of their self cost.
pub(super) type Gathered = OrderedMap<Key, Vec<(JoinedId, Cost)>>;

/// Rounds parts so that they add up to a cost.
pub(super) fn rounded(parts: Vec<(Key, f64)>, cost: Cost) -> Vec<(Key, Cost)> {
    let mut parts: Vec<(Key, Cost)> = parts.into_iter().map(|(key, part)| (key, to_cost(part))).collect();
    let rest = cost - parts.iter().map(|(_, part)| part).sum::<Cost>();
    if let Some((_, largest)) = parts.iter_mut().max_by_key(|(key, part)| (part.abs(), Reverse(*key))) {
        *largest += rest;
    }
    parts
}

/// Rounds a real number to a cost.
#[expect(clippy::cast_possible_truncation, reason = "a conversion from floating point saturates")]
pub(super) fn to_cost(real: f64) -> Cost {
    real.round() as Cost
}
