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

pub use self::bypass::bypass;
pub use self::focus::{focus, focus_after};
pub use self::leave_out::leave_out;

mod bypass;
mod focus;
mod leave_out;

/// A graph with costs that were given to other functions. See the example of [`hide`].
#[derive(Debug, Clone)]
pub struct Attributed {
    /// The graph with the new costs.
    pub graph: CallGraph,
    /// By node: `true` if its self cost is an estimate.
    pub is_self_estimate: Vec<bool>,
    /// By node: `true` if its inclusive cost is an estimate.
    pub is_inclusive_estimate: Vec<bool>,
    /// By arc: `true` if its cost is an estimate.
    pub is_arc_estimate: Vec<bool>,
    /// By arc: `true` if the count of its calls is an estimate.
    pub is_count_estimate: Vec<bool>,
    /// The cost of hidden functions that nothing calls. It stays with them.
    pub without_caller: Vec<Cost>,
    /// By node: what is known of its cost beyond that of its calls, if it is hidden.
    pub own_part: Vec<OwnPart>,
    /// `true` if the sum of all self costs is an estimate.
    pub is_total_estimate: bool,
}

impl Attributed {
    /// Returns the graph, and what is an estimate in it, for the next step.
    pub fn split(self) -> (CallGraph, Estimates) {
        let estimates = Estimates {
            is_self: self.is_self_estimate,
            is_inclusive: self.is_inclusive_estimate,
            is_arc: self.is_arc_estimate,
            is_count: self.is_count_estimate,
            is_total: self.is_total_estimate,
        };
        (self.graph, estimates)
    }
}

/// The certainty of what a hidden node costs beyond its calls. See the example of [`hide`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OwnPart {
    /// It has stayed with the node.
    Known,
    /// Other members of its cycle may have it.
    Estimate,
    /// Nothing: the costs are estimates, and what is beyond may be a matter of rounding.
    Unknown,
}

/// Tells which costs of a graph are estimates already, because something was left out or focused on before. A cost that is made
/// from them is an estimate, too. See the example of [`hide`].
#[derive(Debug, Clone)]
pub struct Estimates {
    /// By node: `true` if its self cost is an estimate.
    pub is_self: Vec<bool>,
    /// By node: `true` if its inclusive cost is an estimate.
    pub is_inclusive: Vec<bool>,
    /// By arc: `true` if its cost is an estimate, also one of nothing.
    pub is_arc: Vec<bool>,
    /// By arc: `true` if the count of its calls is an estimate.
    pub is_count: Vec<bool>,
    /// `true` if the sum of all self costs is an estimate.
    pub is_total: bool,
}

impl Estimates {
    /// For a graph with the costs of a profile, none of which is an estimate.
    pub fn none(graph: &CallGraph) -> Self {
        let of_nodes = vec![false; graph.node_count()];
        Estimates {
            is_self: of_nodes.clone(),
            is_inclusive: of_nodes,
            is_arc: vec![false; graph.arcs().len()],
            is_count: vec![false; graph.arcs().len()],
            is_total: false,
        }
    }
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
            graph.arc_ids().map(|id| connects(id).then(|| graph.callee(id).index())).collect();
        let found = components(graph.first_out(), |arc| arcs[arc]);
        let mut nodes: Vec<NodeId> = graph.nodes().collect();
        nodes.sort_by_key(|node| found.component_of[node.index()]);
        let mut sizes = vec![0; found.count];
        found.component_of.iter().for_each(|&unit| sizes[unit as usize] += 1);
        Units { of_node: found.component_of, nodes, count: found.count, sizes }
    }

    /// Finds the cycles of the graph, and the nodes that are in none.
    fn cycles(graph: &CallGraph) -> Self {
        Units::new(graph, |_| true)
    }

    fn of(&self, node: NodeId) -> usize {
        self.of_node[node.index()] as usize
    }

    /// The arcs that leave a component.
    fn leaving(&self, graph: &CallGraph, members: &[NodeId]) -> Vec<ArcId> {
        let arcs = members.iter().flat_map(|&member| graph.outgoing(member));
        arcs.filter(|&id| !self.is_inner(graph, id)).collect()
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
/// callers share it in proportion to the cost of their calls. What a hidden node costs beyond all of these calls has no caller,
/// and stays with it. Inclusive costs stay, unless a call states less than the hidden callee gives for it.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, OwnPart, hide};
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
/// assert_eq!(hidden.own_part[2], OwnPart::Known);
/// assert_eq!(hidden.graph.self_and_callees(main), [100]);
/// ```
pub fn hide(graph: &CallGraph, is_hidden: &[bool]) -> Attributed {
    hide_after(graph, is_hidden, Estimates::none(graph))
}

/// The same for a graph in which some costs are estimates already. What the callers get of these is an estimate, too.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Estimates, hide_after};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, read] = [10, 70].map(|cost| builder.add_node(&[cost]));
/// builder.add_arc(CallArc { caller: main, callee: read, count: 1 }, &[90]);
/// let graph = builder.build();
/// let estimates = Estimates { is_self: vec![false, true], ..Estimates::none(&graph) };
/// assert_eq!(hide_after(&graph, &[false, true], estimates).is_self_estimate, [true, false]);
/// ```
pub fn hide_after(graph: &CallGraph, is_hidden: &[bool], estimates: Estimates) -> Attributed {
    let hidden = |node: NodeId| is_hidden[node.index()];
    let both_hidden = |id: ArcId| hidden(graph.caller(id)) && hidden(graph.callee(id));
    let units = Units::new(graph, both_hidden);
    let cycles = Units::cycles(graph);
    let mut self_costs = graph.self_costs().clone();
    let mut arc_costs = graph.arc_costs().clone();
    let mut without_caller = vec![0; graph.width()];
    let mut own_part = vec![OwnPart::Unknown; graph.node_count()];
    // A difference of profiles has such costs, and then a call may have one, too.
    let has_negative = negative_events(graph);
    let of_cycles = UnitCosts::new(graph, &cycles, &has_negative, &estimates);
    let Estimates {
        is_self: mut is_self_estimate,
        is_inclusive,
        is_arc: mut is_arc_estimate,
        is_count,
        is_total,
    } = estimates;
    let mut is_inclusive_estimate = is_inclusive;
    // By component: `true` if all that its calls cost is its own, or that of hidden functions.
    let mut is_whole = vec![true; units.count];
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
        let mut callers = entries.iter().map(|&id| graph.caller(id));
        let first = callers.next();
        // Costs of several calls that add up to nothing need not be nothing, if some are below 0.
        let is_shared = callers.any(|caller| Some(caller) != first)
            && (has_cost(&amounts) || has_negative.contains(&true));
        let is_inherited = members.iter().any(|member| is_self_estimate[member.index()]);
        // What stays with the component. Of what a cycle costs beyond its calls, nobody knows how much a part of it has.
        let cycle = cycles.of(members[0]);
        let beyond = of_cycles.beyond.row(cycle);
        let is_known = cycles.sizes[cycle] as usize == members.len() && !of_cycles.is_estimate[cycle];
        own_part[members[0].index()] = match (is_known, of_cycles.is_estimate[cycle]) {
            (true, _) => OwnPart::Known,
            (false, true) => OwnPart::Unknown,
            (false, false) => OwnPart::Estimate,
        };
        let rest = match is_known {
            true => shares(&amounts, beyond, of_cycles.inclusive.row(cycle)),
            false => vec![0; graph.width()],
        };
        add(&mut without_caller, &rest);
        // If every callee is hidden, each caller has what its calls cost.
        let mut stated = if is_known { beyond.to_vec() } else { vec![0; graph.width()] };
        entries.iter().for_each(|&id| add(&mut stated, graph.arc_cost(id)));
        let unit = units.of(members[0]);
        is_whole[unit] = amounts == stated
            && units.leaving(graph, members).into_iter().all(|id| {
                let is_nothing = !has_cost(graph.arc_cost(id))
                    && !is_arc_estimate[id.index()]
                    && !has_negative.contains(&true);
                is_nothing || hidden(graph.callee(id)) && is_whole[units.of(graph.callee(id))]
            });
        let is_whole = is_whole[unit];
        let is_doubtful = has_cost(beyond) || of_cycles.is_doubtful[cycle];
        let is_estimated = (is_shared || is_inherited || is_doubtful) && !is_whole;
        for (event, (&amount, &rest)) in amounts.iter().zip(&rest).enumerate() {
            let amount = amount - rest;
            let cost = |id: &ArcId| graph.arc_cost(*id)[event].max(0);
            let count = |id: &ArcId| graph.arc(*id).count.max(0);
            let (has_costs, has_counts) =
                (entries.iter().any(|id| cost(id) > 0), entries.iter().any(|id| count(id) > 0));
            let weight = |id: &ArcId| match (has_costs, has_counts) {
                (true, _) => cost(id),
                (false, true) => count(id),
                (false, false) => 1,
            };
            let mut give = |nth: usize, share: Cost| {
                let id = entries[nth];
                let caller = graph.caller(id).index();
                self_costs.row_mut(caller)[event] += share;
                let rest = &mut arc_costs.row_mut(id.index())[event];
                *rest -= share;
                if *rest < 0 && !has_negative[event] {
                    // The call states less than the callee's self cost. The caller has that cost all the same.
                    *rest = 0;
                    is_inclusive_estimate[caller] = true;
                }
            };
            if is_whole {
                // Costs below 0 have no shares, but here none are needed.
                entries.iter().enumerate().for_each(|(nth, &id)| give(nth, graph.arc_cost(id)[event]));
            } else {
                apportion(amount.saturating_abs(), entries.iter().map(weight), |nth, share| {
                    give(nth, share * amount.signum());
                });
            }
        }
        for member in members {
            self_costs.row_mut(member.index()).fill(0);
            is_self_estimate[member.index()] = false;
        }
        self_costs.row_mut(members[0].index()).copy_from_slice(&rest);
        for id in entries {
            let is_of_estimate = is_whole && is_arc_estimate[id.index()];
            is_self_estimate[graph.caller(id).index()] |= is_estimated || is_of_estimate;
            is_arc_estimate[id.index()] |= is_estimated;
        }
    }
    // In a cycle it is made of self costs alone, and no longer of what calls state.
    for node in graph.nodes() {
        is_inclusive_estimate[node.index()] |=
            is_self_estimate[node.index()] && cycles.is_cycle(cycles.of(node));
    }
    let counts = graph.arcs().map(|arc| arc.count).collect();
    Attributed {
        graph: graph.with_tables(self_costs, arc_costs, counts),
        is_self_estimate,
        is_inclusive_estimate,
        is_arc_estimate,
        is_count_estimate: is_count,
        without_caller,
        own_part,
        is_total_estimate: is_total,
    }
}

/// The costs of cycles, and of the nodes that are in none, against the calls of them. Tables and lists are by these units.
struct UnitCosts {
    inclusive: CostTable,
    /// The cost beyond all calls of it.
    beyond: CostTable,
    /// `true` if it or a call from or to it has a cost that is an estimate.
    is_estimate: Vec<bool>,
    /// `true` if its costs of an event type are not those of its calls, and it is not known how much is beyond them.
    is_doubtful: Vec<bool>,
}

impl UnitCosts {
    fn new(graph: &CallGraph, cycles: &Units, has_negative: &[bool], estimates: &Estimates) -> Self {
        let mut inclusive = CostTable::new(graph.width(), cycles.count);
        let mut is_estimate = vec![false; cycles.count];
        for node in graph.nodes() {
            inclusive.add(cycles.of(node), graph.self_cost(node));
            is_estimate[cycles.of(node)] |=
                estimates.is_self[node.index()] || estimates.is_inclusive[node.index()];
        }
        let mut stated = CostTable::new(graph.width(), cycles.count);
        // By event type: `true` if calls state its costs, and none is below 0.
        let mut is_known = vec![false; graph.width()];
        for id in graph.arc_ids() {
            let [caller, callee] = [graph.caller(id), graph.callee(id)].map(|node| cycles.of(node));
            let costs = graph.arc_cost(id);
            if caller != callee {
                inclusive.add(caller, costs);
                stated.add(callee, costs);
            }
            is_estimate[caller] |= estimates.is_arc[id.index()];
            is_estimate[callee] |= estimates.is_arc[id.index()];
            for (event, &cost) in costs.iter().enumerate() {
                is_known[event] |= cost != 0 && !has_negative[event];
            }
        }
        let mut beyond = inclusive.clone();
        let mut is_doubtful = vec![false; cycles.count];
        for (unit, is_doubtful) in is_doubtful.iter_mut().enumerate() {
            for (event, cost) in beyond.row_mut(unit).iter_mut().enumerate() {
                *cost -= stated.row(unit)[event];
                *is_doubtful |= *cost != 0 && !is_known[event];
                *cost = if is_known[event] { (*cost).max(0) } else { 0 };
            }
        }
        UnitCosts { inclusive, beyond, is_estimate, is_doubtful }
    }
}

/// Tells by event type whether a self cost or a call is below 0.
fn negative_events(graph: &CallGraph) -> Vec<bool> {
    let rows = || graph.self_costs().rows().chain(graph.arc_costs().rows());
    (0..graph.width()).map(|event| rows().any(|costs| costs[event] < 0)).collect()
}

fn has_cost(costs: &[Cost]) -> bool {
    costs.iter().any(|&cost| cost != 0)
}

/// The shares of costs that parts of wholes are.
fn shares(costs: &[Cost], parts: &[Cost], wholes: &[Cost]) -> Vec<Cost> {
    let share = |((&cost, &part), &whole): ((&Cost, &Cost), &Cost)| match whole {
        // What frees more memory than it takes has a cost below 0, and nothing beyond its calls.
        ..=0 => 0,
        whole => proportion(cost, part.min(whole), whole),
    };
    costs.iter().zip(parts).zip(wholes).map(share).collect()
}
