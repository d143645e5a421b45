//! Costs as they would be without some functions, or as far as some functions have them.
//!
//! Both make a graph of the same nodes and arcs with other costs, in which self cost plus outgoing arcs is again the inclusive
//! cost. A profile has the cost of each function and of each call, not of each path, so what a function costs for one of
//! several callers is an estimate: the share of that caller's calls. With one caller, or if all callers are treated alike, it
//! is exact.

use gristmill_format::Cost;

use super::component::components;
use super::graph::CallGraph;
use super::ids::{ArcId, NodeId};
use super::proportion::{apportion, proportion};
use crate::cost::{CostTable, add};

/// A graph with costs that were given to other functions. See the example of [`hide`].
#[derive(Debug, Clone)]
pub struct Attributed {
    /// The graph with the new costs.
    pub graph: CallGraph,
    /// By node: `true` if its self cost is an estimate.
    pub is_self_estimate: Vec<bool>,
    /// By node: `true` if its inclusive cost is an estimate.
    pub is_inclusive_estimate: Vec<bool>,
    /// The cost of hidden functions that nothing calls. It stays with them.
    pub without_caller: Vec<Cost>,
}

/// The nodes of a graph by component, callees before their callers.
struct Units {
    of_node: Vec<u32>,
    /// Sorted by component.
    nodes: Vec<NodeId>,
    count: usize,
    /// By component.
    sizes: Vec<u32>,
}

impl Units {
    /// Finds the components of the graph, as far as its arcs connect them.
    fn new(graph: &CallGraph, connects: impl Fn(ArcId) -> bool) -> Self {
        let arcs: Vec<Option<usize>> =
            graph.arc_ids().map(|id| connects(id).then(|| graph.arc(id).callee.index())).collect();
        let found = components(graph.first_out(), |arc| arcs[arc]);
        let mut nodes: Vec<NodeId> = graph.nodes().collect();
        nodes.sort_by_key(|node| found.component_of[node.index()]);
        let mut sizes = vec![0; found.count];
        found.component_of.iter().for_each(|&unit| sizes[unit as usize] += 1);
        Units { of_node: found.component_of, nodes, count: found.count, sizes }
    }

    fn of(&self, node: NodeId) -> usize {
        self.of_node[node.index()] as usize
    }

    /// Iterates over the members of each component, callees first.
    fn ascending(&self) -> impl DoubleEndedIterator<Item = &[NodeId]> {
        self.nodes.chunk_by(|&one, &next| self.of(one) == self.of(next))
    }

    /// `true` if the component has several members.
    fn is_cycle(&self, unit: usize) -> bool {
        self.sizes[unit] > 1
    }

    fn is_inner(&self, graph: &CallGraph, id: ArcId) -> bool {
        let arc = graph.arc(id);
        self.of(arc.caller) == self.of(arc.callee)
    }
}

/// Gives the self cost of hidden nodes to their callers, and theirs to the callers of those if they are hidden, too. Several
/// callers share it in proportion to the cost of their calls. Inclusive costs stay, unless a call states less than the hidden
/// callee gives for it.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, hide};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, load, read] = [10, 20, 70].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee, cost) in [(main, load, 80), (load, read, 60), (main, read, 10)] {
///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[cost]);
/// }
/// let hidden = hide(&builder.build(), &[false, false, true]);
/// assert_eq!([main, load, read].map(|node| hidden.graph.self_cost(node)[0]), [20, 80, 0]);
/// // All that `read` costs is its own, so that it costs its callers what the calls cost.
/// assert!(!hidden.is_self_estimate.contains(&true));
/// assert_eq!(hidden.graph.self_and_callees(main), [100]);
/// ```
pub fn hide(graph: &CallGraph, is_hidden: &[bool]) -> Attributed {
    let hidden = |node: NodeId| is_hidden[node.index()];
    let both_hidden = |id: ArcId| hidden(graph.arc(id).caller) && hidden(graph.arc(id).callee);
    let units = Units::new(graph, both_hidden);
    let mut self_costs = graph.self_costs().clone();
    let mut arc_costs = graph.arc_costs().clone();
    let mut is_self_estimate = vec![false; graph.node_count()];
    let mut is_inclusive_estimate = vec![false; graph.node_count()];
    let mut without_caller = vec![0; graph.width()];
    // A difference of profiles has such costs, and then a call may have one, too.
    let has_negative: Vec<bool> = (0..graph.width())
        .map(|event| graph.self_costs().rows().chain(graph.arc_costs().rows()).any(|costs| costs[event] < 0))
        .collect();
    for members in units.ascending().filter(|members| hidden(members[0])) {
        let entries: Vec<ArcId> = members
            .iter()
            .flat_map(|&member| graph.incoming(member))
            .filter(|&id| !units.is_inner(graph, id))
            .collect();
        let mut amounts = vec![0; graph.width()];
        for member in members {
            add(&mut amounts, self_costs.row(member.index()));
        }
        if entries.is_empty() {
            add(&mut without_caller, &amounts);
            continue;
        }
        let mut callers = entries.iter().map(|&id| graph.arc(id).caller);
        let first = callers.next();
        let is_shared = callers.any(|caller| Some(caller) != first) && has_cost(&amounts);
        let is_inherited = members.iter().any(|member| is_self_estimate[member.index()]);
        // If every callee is hidden, each caller has what its calls cost.
        let mut calls = vec![0; graph.width()];
        entries.iter().for_each(|&id| add(&mut calls, graph.arc_cost(id)));
        let is_estimated = (is_shared || is_inherited) && amounts != calls;
        for (event, &amount) in amounts.iter().enumerate() {
            let cost = |id: &ArcId| graph.arc_cost(*id)[event].max(0);
            let count = |id: &ArcId| graph.arc(*id).count.max(0);
            let (has_costs, has_counts) =
                (entries.iter().any(|id| cost(id) > 0), entries.iter().any(|id| count(id) > 0));
            let weight = |id: &ArcId| match (has_costs, has_counts) {
                (true, _) => cost(id),
                (false, true) => count(id),
                (false, false) => 1,
            };
            apportion(amount.saturating_abs(), entries.iter().map(weight), |nth, share| {
                let share = share * amount.signum();
                let id = entries[nth];
                let caller = graph.arc(id).caller.index();
                self_costs.row_mut(caller)[event] += share;
                let rest = &mut arc_costs.row_mut(id.index())[event];
                *rest -= share;
                if *rest < 0 && !has_negative[event] {
                    // The call states less than the callee's own cost. The caller has that cost all the same.
                    *rest = 0;
                    is_inclusive_estimate[caller] = true;
                }
            });
        }
        for member in members {
            self_costs.row_mut(member.index()).fill(0);
            is_self_estimate[member.index()] = false;
        }
        for id in entries {
            is_self_estimate[graph.arc(id).caller.index()] |= is_estimated;
        }
    }
    let counts = graph.arcs().map(|arc| arc.count).collect();
    Attributed {
        graph: graph.with_tables(self_costs, arc_costs, counts),
        is_self_estimate,
        is_inclusive_estimate,
        without_caller,
    }
}

/// Keeps only the costs that arise while a chosen node is on the stack: of the node itself, of what it calls, and of its callers as
/// far as they call it. Of a cycle with a chosen node all members count, as an estimate. `None` if a cost is below 0, which has no
/// shares.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, focus};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, load, save, write] = [10, 20, 30, 40].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee, cost) in [(main, load, 30), (main, save, 60), (load, write, 10), (save, write, 30)] {
///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[cost]);
/// }
/// let focused = focus(&builder.build(), &[false, false, true, false]).expect("no cost below 0");
/// let costs = |node| (focused.graph.self_cost(node)[0], focused.graph.self_and_callees(node)[0]);
/// assert_eq!([main, load, save, write].map(costs), [(0, 60), (0, 0), (30, 60), (30, 30)]);
/// // Nothing is called by `write`, so that it costs `save` what the calls cost.
/// assert!(!focused.is_self_estimate.contains(&true));
/// ```
pub fn focus(graph: &CallGraph, is_chosen: &[bool]) -> Option<Attributed> {
    let has_negative = |table: &CostTable| table.rows().flatten().any(|&cost| cost < 0);
    if has_negative(graph.self_costs()) || has_negative(graph.arc_costs()) {
        return None;
    }
    let units = Units::new(graph, |_| true);
    let width = graph.width();
    let mut whole = CostTable::new(width, units.count);
    // The cost that chosen nodes below have, or the whole of a chosen unit; and the cost that arises below chosen nodes.
    let mut below = CostTable::new(width, units.count);
    let mut above = CostTable::new(width, units.count);
    let mut is_below_estimate = vec![false; units.count];
    let mut is_above_estimate = vec![false; units.count];
    let mut has_chosen = vec![false; units.count];
    let outer = |members: &[NodeId]| {
        let arcs = members.iter().flat_map(|&member| graph.outgoing(member));
        arcs.filter(|&id| !units.is_inner(graph, id)).collect::<Vec<_>>()
    };
    let is_part = |parts: &CostTable, whole: &CostTable, unit: usize| {
        parts.row(unit).iter().zip(whole.row(unit)).any(|(&part, &whole)| part > 0 && part < whole)
    };
    for members in units.ascending() {
        let unit = units.of(members[0]);
        has_chosen[unit] = members.iter().any(|member| is_chosen[member.index()]);
        for member in members {
            whole.add(unit, graph.self_cost(*member));
        }
        for id in outer(members) {
            let callee = units.of(graph.arc(id).callee);
            whole.add(unit, graph.arc_cost(id));
            let part = shares(graph.arc_cost(id), below.row(callee), whole.row(callee));
            below.add(unit, &part);
            let is_divided = is_part(&below, &whole, callee) && part.as_slice() != below.row(callee);
            is_below_estimate[unit] |=
                has_cost(graph.arc_cost(id)) && (is_below_estimate[callee] || is_divided);
        }
        if has_chosen[unit] {
            let is_all = members.iter().all(|member| is_chosen[member.index()]);
            is_below_estimate[unit] = !is_all;
            is_above_estimate[unit] = !is_all;
            below.row_mut(unit).copy_from_slice(whole.row(unit));
        }
    }
    let mut self_costs = CostTable::new(width, graph.node_count());
    let mut arc_costs = CostTable::new(width, graph.arcs().len());
    for members in units.ascending().rev() {
        let unit = units.of(members[0]);
        if has_chosen[unit] {
            above.row_mut(unit).copy_from_slice(whole.row(unit));
        }
        // Calls may state more than the callee has.
        let row = above.row_mut(unit);
        row.iter_mut().zip(whole.row(unit)).for_each(|(cost, &whole)| *cost = (*cost).min(whole));
        let arcs = outer(members);
        for event in 0..width {
            let of_members = members.iter().map(|&member| graph.self_cost(member)[event]);
            let of_arcs = arcs.iter().map(|&id| graph.arc_cost(id)[event]);
            let weights = of_members.chain(of_arcs);
            // Divided together, so that nothing is lost by rounding.
            apportion(above.row(unit)[event], weights, |nth, share| match nth.checked_sub(members.len()) {
                None => self_costs.row_mut(members[nth].index())[event] = share,
                Some(nth) => arc_costs.row_mut(arcs[nth].index())[event] = share,
            });
        }
        for id in arcs {
            let callee = units.of(graph.arc(id).callee);
            above.add(callee, arc_costs.row(id.index()));
            is_above_estimate[callee] |= has_cost(graph.arc_cost(id))
                && !has_chosen[callee]
                && (is_above_estimate[unit] || is_part(&above, &whole, unit));
        }
    }
    let has_outer_cost: Vec<bool> = units
        .ascending()
        .map(|members| outer(members).iter().any(|&id| has_cost(graph.arc_cost(id))))
        .collect();
    let mut is_self_estimate = Vec::with_capacity(graph.node_count());
    let mut is_inclusive_estimate = Vec::with_capacity(graph.node_count());
    for node in graph.nodes() {
        let unit = units.of(node);
        // Of a function that calls nothing, all of the cost of a call is its own.
        let is_leaf = !has_outer_cost[unit] && !units.is_cycle(unit);
        let is_divided = is_part(&above, &whole, unit) && !is_leaf;
        is_self_estimate.push(has_cost(graph.self_cost(node)) && (is_above_estimate[unit] || is_divided));
        is_inclusive_estimate.push(
            is_above_estimate[unit]
                || is_below_estimate[unit]
                || is_divided && (units.is_cycle(unit) || has_cost(below.row(unit))),
        );
    }
    let mut counts = Vec::with_capacity(graph.arcs().len());
    for id in graph.arc_ids() {
        let [caller, callee] = [graph.arc(id).caller, graph.arc(id).callee].map(|node| units.of(node));
        let costs = graph.arc_cost(id);
        let mut is_way_to_chosen = false;
        if caller == callee {
            arc_costs.add(id.index(), &shares(costs, above.row(caller), whole.row(caller)));
        } else {
            let of_caller = arc_costs.row(id.index());
            let rest: Vec<Cost> = costs.iter().zip(of_caller).map(|(cost, part)| cost - part).collect();
            let through = shares(&rest, below.row(callee), whole.row(callee));
            is_way_to_chosen = has_cost(&through);
            arc_costs.add(id.index(), &through);
        }
        let (part, all) = match costs[0] {
            0 => (above.row(caller)[0], whole.row(caller)[0]),
            cost => (arc_costs.row(id.index())[0], cost),
        };
        let count = graph.arc(id).count;
        // Of the calls on the way to a chosen function nobody knows which of them lead there.
        let is_whole = part == all || is_way_to_chosen;
        counts.push(if is_whole { count } else { proportion(count.max(0), part, all) });
    }
    let graph = graph.with_tables(self_costs, arc_costs, counts);
    Some(Attributed { graph, is_self_estimate, is_inclusive_estimate, without_caller: vec![0; width] })
}

fn has_cost(costs: &[Cost]) -> bool {
    costs.iter().any(|&cost| cost != 0)
}

/// The shares of costs that parts of wholes are.
fn shares(costs: &[Cost], parts: &[Cost], wholes: &[Cost]) -> Vec<Cost> {
    let share = |((&cost, &part), &whole): ((&Cost, &Cost), &Cost)| match whole {
        0 => 0,
        whole => proportion(cost, part.min(whole), whole),
    };
    costs.iter().zip(parts).zip(wholes).map(share).collect()
}
