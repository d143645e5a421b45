//! A graph without the calls of hidden functions: their callers call what they called.

use std::collections::HashSet;

use gristmill_format::Cost;

use super::{Attributed, OwnPart, Units, has_cost, negative_events, shares};
use crate::analysis::arcs::CallArc;
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId};
use crate::analysis::proportion::apportion;
use crate::cost::add;
use crate::ordered::{OrderedKey, OrderedMap};

/// The most arcs that take the place of others. Each hidden function can have as many callers as callees.
const MAX_ARCS: usize = 2_000_000;

/// A new arc.
#[derive(Debug, Clone)]
struct Draft {
    count: Cost,
    costs: Vec<Cost>,
    is_estimate: bool,
    is_count_estimate: bool,
}

impl Draft {
    fn merge(&mut self, other: &Draft) {
        self.count += other.count;
        add(&mut self.costs, &other.costs);
        self.is_estimate |= other.is_estimate;
        self.is_count_estimate |= other.is_count_estimate;
    }
}

/// Takes hidden functions out of a graph in which [`hide`](super::hide) gave their self cost to their callers: these call what
/// the hidden functions called. What several callers share is divided in proportion to the cost of their calls, an estimate.
/// `None` if that takes too many arcs.
///
/// Where the costs of calls do not fit together, an arc to the hidden function keeps what is left.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, bypass, hide};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, call, read] = [10, 20, 70].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee, cost) in [(main, call, 90), (call, read, 70)] {
///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[cost]);
/// }
/// let is_hidden = [false, true, false];
/// let of = bypass(hide(&builder.build(), &is_hidden), &is_hidden).expect("few arcs");
/// assert_eq!(of.graph.self_cost(main), [30]);
/// let arcs: Vec<_> = of.graph.arc_ids().map(|arc| (of.graph.callee(arc), of.graph.arc_cost(arc)[0])).collect();
/// assert_eq!((arcs, of.is_arc_estimate), (vec![(read, 70)], vec![false]));
/// ```
pub fn bypass(mut of: Attributed, is_hidden: &[bool]) -> Option<Attributed> {
    let mut is_inclusive_estimate = std::mem::take(&mut of.is_inclusive_estimate);
    let graph = &of.graph;
    let hidden = |node: NodeId| is_hidden[node.index()];
    let units = Units::new(graph, |id| hidden(graph.caller(id)) && hidden(graph.callee(id)));
    let draft = |id: ArcId| Draft {
        count: graph.arc(id).count,
        costs: graph.arc_cost(id).to_vec(),
        is_estimate: of.is_arc_estimate[id.index()],
        is_count_estimate: of.is_count_estimate[id.index()],
    };
    // By hidden component: what it calls that is not hidden.
    let mut leaving: OrderedMap<usize, OrderedMap<NodeId, Draft>> = OrderedMap::default();
    // By caller and callee, without those of hidden functions.
    let mut arcs: OrderedMap<(NodeId, NodeId), Draft> = OrderedMap::default();
    for id in graph.arc_ids() {
        let CallArc { caller, callee, .. } = graph.arc(id);
        match (hidden(caller), hidden(callee)) {
            (false, false) => {
                arcs.insert((caller, callee), draft(id));
            }
            (true, false) => put(leaving.or_default(units.of(caller)), callee, draft(id)),
            _ => {}
        }
    }
    // Costs of several calls that add up to nothing need not be nothing, if some are below 0.
    let has_negative = negative_events(graph).contains(&true);
    let mut made = 0;
    for members in units.ascending().filter(|members| hidden(members[0])) {
        let entries: Vec<ArcId> = members
            .iter()
            .flat_map(|&member| graph.incoming(member))
            .filter(|&id| !units.is_inner(graph, id))
            .collect();
        let callees = leaving.remove(units.of(members[0])).unwrap_or_default();
        made += entries.len().saturating_mul(callees.len() + 1);
        if made > MAX_ARCS {
            return None;
        }
        let callers: HashSet<NodeId> = entries.iter().map(|&id| graph.caller(id)).collect();
        let mut left: Vec<Vec<Cost>> = entries.iter().map(|&id| graph.arc_cost(id).to_vec()).collect();
        // What callees cost beyond all calls of the component belongs to the part of it that nothing calls.
        let mut beyond = vec![0; graph.width()];
        callees.values().for_each(|called| add(&mut beyond, &called.costs));
        for id in &entries {
            beyond.iter_mut().zip(graph.arc_cost(*id)).for_each(|(beyond, call)| *beyond -= call);
        }
        let is_excess = |beyond: &Cost| *beyond > 0 || has_negative && *beyond != 0;
        let own_part = of.own_part[members[0].index()];
        let is_doubtful = (own_part != OwnPart::Known || has_negative) && beyond.iter().any(is_excess);
        let mut own_parts = vec![vec![0; graph.width()]; callees.len()];
        for (event, &beyond) in beyond.iter().enumerate() {
            if beyond > 0 && !has_negative && own_part != OwnPart::Unknown {
                let costs: Vec<Cost> = callees.values().map(|called| called.costs[event]).collect();
                apportion(beyond, costs.iter().copied(), |nth, share| own_parts[nth][event] = share);
            }
        }
        // Of several callees, nobody knows which has how much of that.
        let has_own_part = own_parts.iter().any(|own| has_cost(own));
        // What began without a call made some of the calls, and nobody knows how many.
        let begins_alone = has_own_part
            || own_part != OwnPart::Known
            || members.iter().any(|&member| has_cost(graph.self_cost(member)));
        let is_own_divided =
            has_own_part && (callees.len() > 1 || entries.iter().any(|id| of.is_arc_estimate[id.index()]));
        for ((callee, called), own) in callees.iter().zip(own_parts) {
            let mut called = called.clone();
            called.is_estimate |= is_doubtful || is_own_divided;
            called.is_count_estimate |= begins_alone && called.count != 0 && !entries.is_empty();
            if has_cost(&own) {
                let count = shares(&[called.count.max(0)], &own[..1], &called.costs[..1])[0];
                called.costs.iter_mut().zip(&own).for_each(|(cost, own)| *cost -= own);
                called.count -= count;
                put(&mut arcs, (members[0], callee), Draft { count, costs: own, ..called });
            }
            let called = &called;
            for (nth, share) in divided(graph, &entries, &mut left, called).into_iter().enumerate() {
                let CallArc { caller, .. } = graph.arc(entries[nth]);
                let is_of_one = callees.len() == 1 && of.is_arc_estimate[entries[nth].index()];
                let is_estimate = match () {
                    // Also an estimate of nothing: the calls can have a cost.
                    () if called.is_estimate || callers.len() == 1 => called.is_estimate,
                    () if callees.len() == 1 => is_of_one,
                    () => has_negative || has_cost(&called.costs),
                };
                // Several callers share the calls, and their costs do not tell how.
                let is_count_estimate = called.is_count_estimate || callers.len() > 1 && called.count != 0;
                let share = Draft { is_estimate, is_count_estimate, ..share };
                if hidden(caller) {
                    put(leaving.or_default(units.of(caller)), callee, share);
                } else {
                    put(&mut arcs, (caller, callee), share);
                }
            }
        }
        for (&id, mut left) in entries.iter().zip(left) {
            let CallArc { caller, callee, .. } = graph.arc(id);
            for cost in left.iter_mut().filter(|cost| **cost < 0 && !has_negative) {
                // Estimates may give callees more than the call has.
                *cost = 0;
                is_inclusive_estimate[caller.index()] = true;
            }
            if !has_cost(&left) {
                continue;
            }
            if !hidden(caller) {
                arcs.insert(
                    (caller, callee),
                    Draft { count: 0, costs: left, is_estimate: true, is_count_estimate: false },
                );
            }
        }
    }
    let is_arc_estimate = arcs.values().map(|arc| arc.is_estimate).collect();
    let is_count_estimate = arcs.values().map(|arc| arc.is_count_estimate).collect();
    let graph = graph.with_arcs(
        arcs.iter()
            .map(|((caller, callee), arc)| (CallArc { caller, callee, count: arc.count }, &arc.costs[..])),
    );
    Some(Attributed { graph, is_arc_estimate, is_count_estimate, is_inclusive_estimate, ..of })
}

/// Adds calls to those that are known.
fn put<K: OrderedKey>(to: &mut OrderedMap<K, Draft>, key: K, draft: Draft) {
    match to.get_mut(key) {
        Some(known) => known.merge(&draft),
        None => drop(to.insert(key, draft)),
    }
}

/// Divides calls of a hidden component among its entries, and takes the shares from what these have left.
fn divided(graph: &CallGraph, entries: &[ArcId], left: &mut [Vec<Cost>], called: &Draft) -> Vec<Draft> {
    let nothing =
        Draft { count: 0, costs: vec![0; graph.width()], is_estimate: false, is_count_estimate: false };
    let mut shares = vec![nothing; entries.len()];
    let count = |id: &ArcId| graph.arc(*id).count.max(0);
    let has_counts = entries.iter().any(|id| count(id) > 0);
    for (event, &cost) in called.costs.iter().enumerate() {
        if left.iter().map(|left| left[event]).sum::<Cost>() == cost {
            // Nothing is divided: each has what it has left, also below 0.
            for (share, left) in shares.iter_mut().zip(left.iter_mut()) {
                share.costs[event] = std::mem::take(&mut left[event]);
            }
            continue;
        }
        let weights: Vec<Cost> = if left.iter().any(|left| left[event] > 0) {
            left.iter().map(|left| left[event].max(0)).collect()
        } else {
            entries.iter().map(|id| if has_counts { count(id) } else { 1 }).collect()
        };
        apportion(cost.saturating_abs(), weights.iter().copied(), |nth, share| {
            shares[nth].costs[event] = share * cost.signum();
            left[nth][event] -= share * cost.signum();
        });
    }
    // Costs tell more than counts, but not if most calls have none.
    let mut events = 0..graph.width();
    let telling = events.find(|&event| called.costs[event] > 0 && called.costs[event] >= called.count);
    let weights: Vec<Cost> = match telling {
        Some(event) => shares.iter().map(|share| share.costs[event].max(0)).collect(),
        None => entries.iter().map(|id| if has_counts { count(id) } else { 1 }).collect(),
    };
    apportion(called.count.max(0), weights.iter().copied(), |nth, share| shares[nth].count = share);
    shares
}
