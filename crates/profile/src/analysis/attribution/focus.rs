//! Costs as far as some functions have them.

use gristmill_format::Cost;

use super::{Attributed, Estimates, OwnPart, Units, has_cost, shares};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId};
use crate::analysis::proportion::{apportion, nearest_proportion};
use crate::cost::{CostTable, add};

/// Keeps only the costs that arise while a chosen node is on the stack: of the node itself, of what it calls, and of its callers as
/// far as they call it. Of a cycle with a chosen node, all members count as far as the calls of that node cost something, as an
/// estimate. `None` if a cost is below 0, which has no shares.
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
    focus_after(graph, is_chosen, &Estimates::none(graph))
}

/// The same for a graph in which some costs are estimates already. What is made of these is an estimate, too.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, Estimates, focus_after};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, load, read] = [10, 20, 70].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee, cost) in [(main, load, 90), (load, read, 70)] {
///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[cost]);
/// }
/// let graph = builder.build();
/// let estimates = Estimates { is_arc: vec![false, true], ..Estimates::none(&graph) };
/// let of = focus_after(&graph, &[false, false, true], &estimates).expect("no cost below 0");
/// assert_eq!(of.is_inclusive_estimate, [true, true, false]);
/// ```
pub fn focus_after(graph: &CallGraph, is_chosen: &[bool], estimates: &Estimates) -> Option<Attributed> {
    focus_with_runs(graph, is_chosen, estimates).map(|(of, _)| of)
}

/// The same, and by node the part of its runs that are below chosen nodes.
pub(super) fn focus_with_runs(
    graph: &CallGraph,
    is_chosen: &[bool],
    estimates: &Estimates,
) -> Option<(Attributed, Vec<Runs>)> {
    let has_negative = |table: &CostTable| table.rows().flatten().any(|&cost| cost < 0);
    if has_negative(graph.self_costs()) || has_negative(graph.arc_costs()) {
        return None;
    }
    let mut focus = Focus::new(graph, estimates);
    focus.look_below(is_chosen);
    let (self_costs, mut arc_costs) = focus.hand_down(is_chosen);
    let (is_self_estimate, is_inclusive_estimate) = focus.node_estimates(is_chosen);
    // All calls of chosen nodes, and by them, count.
    let is_whole = |id| is_chosen[graph.caller(id).index()] || is_chosen[graph.callee(id).index()];
    let is_arc_estimate = |id: ArcId| match is_whole(id) {
        true => estimates.is_arc[id.index()],
        false => focus.is_arc_estimate(id),
    };
    let is_count_estimate = |id: ArcId| match is_whole(id) {
        true => estimates.is_count[id.index()],
        false => estimates.is_count[id.index()] || focus.is_count_estimate(id),
    };
    let is_count_estimate = graph.arc_ids().map(is_count_estimate).collect();
    let is_arc_estimate = graph.arc_ids().map(is_arc_estimate).collect();
    let count = |id: ArcId| {
        if is_whole(id) {
            arc_costs.row_mut(id.index()).copy_from_slice(graph.arc_cost(id));
            return graph.arc(id).count;
        }
        focus.add_way_to_chosen(id, &mut arc_costs);
        focus.count(id, arc_costs.row(id.index()))
    };
    let counts = graph.arc_ids().map(count).collect();
    let runs = graph.nodes().map(|node| focus.runs[focus.units.of(node)]).collect();
    let of = Attributed {
        graph: graph.with_tables(self_costs, arc_costs, counts),
        is_self_estimate,
        is_inclusive_estimate,
        is_arc_estimate,
        is_count_estimate,
        without_caller: vec![0; graph.width()],
        own_part: vec![OwnPart::Unknown; graph.node_count()],
        is_total_estimate: focus.is_total_estimate,
    };
    Some((of, runs))
}

/// A graph with what is known of each component. Tables and lists are by component.
struct Focus<'g> {
    graph: &'g CallGraph,
    /// The costs of the graph that are estimates themselves.
    known: &'g Estimates,
    units: Units,
    /// By node: the calls of it that may have cost something.
    call_counts: Vec<u32>,
    /// Self costs and what was called outside of the component.
    whole: CostTable,
    /// The cost that chosen nodes below have, or what counts of a unit with chosen nodes.
    below: CostTable,
    /// The cost that arises below chosen nodes, or the same.
    above: CostTable,
    is_whole_estimate: Vec<bool>,
    is_below_estimate: Vec<bool>,
    is_above_estimate: Vec<bool>,
    has_chosen: Vec<bool>,
    /// `true` if all members are chosen: each call of them and by them counts.
    is_chosen: Vec<bool>,
    /// `true` if calls lead to chosen nodes, whether or not they cost something.
    leads_to_chosen: Vec<bool>,
    /// Found from the callers downwards.
    runs: Vec<Runs>,
    /// The calls of units in the focus, and all of them.
    run_counts: Vec<[Cost; 2]>,
    is_total_estimate: bool,
}

/// The part of a unit's runs that are below chosen nodes, as far as the callers tell. What a call costs tells more, if it is
/// something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Runs {
    None,
    Some,
    All,
}

impl<'g> Focus<'g> {
    fn new(graph: &'g CallGraph, known: &'g Estimates) -> Self {
        let units = Units::cycles(graph);
        let table = CostTable::new(graph.width(), units.count);
        let none = vec![false; units.count];
        let mut focus = Focus {
            graph,
            call_counts: vec![0; graph.node_count()],
            known,
            whole: table.clone(),
            below: table.clone(),
            above: table,
            is_whole_estimate: none.clone(),
            is_below_estimate: none.clone(),
            is_above_estimate: none.clone(),
            has_chosen: none.clone(),
            leads_to_chosen: none.clone(),
            runs: vec![Runs::None; units.count],
            run_counts: vec![[0, 1]; units.count],
            is_chosen: none,
            is_total_estimate: false,
            units,
        };
        for id in graph.arc_ids() {
            focus.call_counts[graph.callee(id).index()] += u32::from(!focus.is_nothing(id));
        }
        focus
    }

    /// `true` if a part of a unit's cost is neither nothing nor all.
    fn is_part(&self, parts: &CostTable, unit: usize) -> bool {
        let pairs = parts.row(unit).iter().zip(self.whole.row(unit));
        pairs.into_iter().any(|(&part, &whole)| part > 0 && part < whole)
    }

    /// `true` if a call cost nothing, and that is no estimate.
    fn is_nothing(&self, id: ArcId) -> bool {
        !has_cost(self.graph.arc_cost(id)) && !self.known.is_arc[id.index()]
    }

    /// `true` if something of a unit arises below chosen nodes, and nobody knows whether that is all of it.
    fn is_unknown_part(&self, unit: usize) -> bool {
        self.is_whole_estimate[unit] && !self.is_chosen[unit] && has_cost(self.above.row(unit))
    }

    /// `true` if this arc has all calls of a unit that cost something, and no part of that begins without a call.
    fn is_only_call(&self, id: ArcId) -> bool {
        let callee = self.graph.callee(id);
        let unit = self.units.of(callee);
        let others = self.call_counts[callee.index()] - u32::from(!self.is_nothing(id));
        let mut costs = self.graph.arc_cost(id).iter().zip(self.whole.row(unit));
        !self.units.is_cycle(unit) && others == 0 && costs.all(|(&call, &whole)| call == 0 || call >= whole)
    }

    /// `true` if a call may lead to chosen nodes, and what it costs, or its part of what they cost, is made of estimates.
    fn is_way_of_estimates(&self, id: ArcId) -> bool {
        let callee = self.units.of(self.graph.callee(id));
        let leads_there =
            self.is_chosen[callee] || has_cost(self.below.row(callee)) || self.is_below_estimate[callee];
        let is_unknown = self.is_whole_estimate[callee] && !self.is_chosen[callee] && !self.is_only_call(id);
        leads_there && !self.is_nothing(id) && (self.known.is_arc[id.index()] || is_unknown)
    }

    /// From the callees upwards: what units cost, and what of that chosen nodes have.
    fn look_below(&mut self, is_chosen: &[bool]) {
        let graph = self.graph;
        let units: Vec<Vec<NodeId>> = self.units.ascending().map(<[NodeId]>::to_vec).collect();
        for members in &units {
            let unit = self.units.of(members[0]);
            self.has_chosen[unit] = members.iter().any(|member| is_chosen[member.index()]);
            self.leads_to_chosen[unit] |= self.has_chosen[unit];
            for member in members {
                self.whole.add(unit, graph.self_cost(*member));
                self.is_whole_estimate[unit] |= self.known.is_self[member.index()];
            }
            for id in self.units.leaving(graph, members) {
                let callee = self.units.of(graph.callee(id));
                self.leads_to_chosen[unit] |= self.leads_to_chosen[callee];
                self.whole.add(unit, graph.arc_cost(id));
                self.is_whole_estimate[unit] |= self.known.is_arc[id.index()];
                if is_chosen[graph.callee(id).index()] {
                    // In a cycle, too, its calls count with all of their cost.
                    self.below.add(unit, graph.arc_cost(id));
                    self.is_below_estimate[unit] |= self.known.is_arc[id.index()];
                    continue;
                }
                let part = shares(graph.arc_cost(id), self.below.row(callee), self.whole.row(callee));
                self.below.add(unit, &part);
                let is_divided =
                    self.is_part(&self.below, callee) && part.as_slice() != self.below.row(callee);
                self.is_below_estimate[unit] |=
                    !self.is_nothing(id) && (self.is_below_estimate[callee] || is_divided);
                self.is_below_estimate[unit] |= self.is_way_of_estimates(id);
            }
            if self.has_chosen[unit] {
                let is_all = members.iter().all(|member| is_chosen[member.index()]);
                self.is_chosen[unit] = is_all;
                self.is_below_estimate[unit] = !is_all;
                self.is_above_estimate[unit] = !is_all;
                self.is_total_estimate |= !is_all || self.is_whole_estimate[unit];
                let most = if is_all { self.whole.row(unit).to_vec() } else { self.most(members, is_chosen) };
                // Also what other chosen nodes have that the unit leads to.
                let below = self.below.row_mut(unit).iter_mut().zip(self.whole.row(unit)).zip(&most);
                below.for_each(|((below, &whole), &most)| *below = (*below).max(most).min(whole));
            }
        }
    }

    /// Returns the part of a unit's runs that are below chosen nodes. Those of its callers are known.
    fn runs_of(&self, members: &[NodeId]) -> Runs {
        let (graph, unit) = (self.graph, self.units.of(members[0]));
        if self.is_chosen[unit] {
            return Runs::All;
        }
        let entries = members.iter().flat_map(|&member| graph.incoming(member));
        let mut stated = vec![0; graph.width()];
        let mut of_calls = None;
        for id in entries.filter(|&id| !self.units.is_inner(graph, id)) {
            add(&mut stated, graph.arc_cost(id));
            let runs = self.runs[self.units.of(graph.caller(id))];
            of_calls = Some(of_calls.map_or(runs, |known| if known == runs { runs } else { Runs::Some }));
        }
        let begins_alone = stated.iter().zip(self.whole.row(unit)).any(|(stated, whole)| stated < whole);
        match of_calls.unwrap_or(Runs::None) {
            Runs::All if begins_alone => Runs::Some,
            Runs::None if self.has_chosen[unit] => Runs::Some,
            runs => runs,
        }
    }

    /// Returns the calls of a unit in the focus, and all of them, as far as the runs of its callers tell.
    fn run_counts_of(&self, members: &[NodeId]) -> [Cost; 2] {
        let unit = self.units.of(members[0]);
        let [above, whole] = [self.above.row(unit), self.whole.row(unit)];
        let of_costs =
            whole.iter().position(|&cost| cost > 0).map_or([1, 1], |event| [above[event], whole[event]]);
        if self.has_chosen[unit] {
            return of_costs;
        }
        let mut counts = [0, 0];
        for &member in members {
            for id in self.graph.incoming(member).filter(|&id| !self.units.is_inner(self.graph, id)) {
                let count = self.graph.arc(id).count.max(0);
                let [part, all] = self.run_counts[self.units.of(self.graph.caller(id))];
                add(&mut counts, &[nearest_proportion(count, part, all), count]);
            }
        }
        if counts[1] > 0 { counts } else { of_costs }
    }

    /// Returns the count of the calls of an arc in the focus, which has these costs there.
    fn count(&self, id: ArcId, costs: &[Cost]) -> Cost {
        let arc = self.graph.arc(id);
        let [caller, callee] = [arc.caller, arc.callee].map(|node| self.units.of(node));
        let count = arc.count.max(0);
        match self.runs[caller] {
            Runs::All => arc.count,
            // Of the calls on the way to a chosen function nobody knows which of them lead there.
            _ if self.leads_to_chosen[callee] => arc.count,
            Runs::None => 0,
            Runs::Some => {
                // Costs tell more than runs, but not if most calls have none.
                let mut pairs = costs.iter().zip(self.graph.arc_cost(id));
                match pairs.find(|&(_, &all)| all > 0 && all >= count) {
                    Some((&part, &all)) => nearest_proportion(count, part, all),
                    None => {
                        let [part, all] = self.run_counts[caller];
                        nearest_proportion(count, part, all)
                    }
                }
            }
        }
    }

    /// `true` if nobody knows how many of the calls of an arc are in the focus: they are divided, or may lead to a chosen function.
    fn is_count_estimate(&self, id: ArcId) -> bool {
        let arc = self.graph.arc(id);
        let [caller, callee] = [arc.caller, arc.callee].map(|node| self.units.of(node));
        let is_known = match self.runs[caller] {
            Runs::All => true,
            Runs::None => {
                let has_cost = !self.is_nothing(id) && has_cost(self.below.row(callee));
                has_cost || !self.leads_to_chosen[callee]
            }
            Runs::Some => false,
        };
        arc.count != 0 && (!is_known || self.is_arc_estimate(id))
    }

    /// Returns the most that a cycle costs with chosen members on the stack: what the calls of them cost. If parts of it begin without
    /// a call, or calls state less than a self cost, that is all.
    fn most(&self, members: &[NodeId], is_chosen: &[bool]) -> Vec<Cost> {
        let [mut own, mut stated, mut entering] = [0, 1, 2].map(|_| vec![0; self.graph.width()]);
        for &member in members {
            let is_chosen = is_chosen[member.index()];
            if is_chosen {
                add(&mut own, self.graph.self_cost(member));
            }
            for id in self.graph.incoming(member) {
                if is_chosen {
                    add(&mut stated, self.graph.arc_cost(id));
                }
                if !self.units.is_inner(self.graph, id) {
                    add(&mut entering, self.graph.arc_cost(id));
                }
            }
        }
        let whole = self.whole.row(self.units.of(members[0])).iter();
        let most = whole.enumerate().map(|(event, &whole)| {
            let is_limit = entering[event] >= whole && stated[event] >= own[event];
            if is_limit { stated[event] } else { whole }
        });
        most.collect()
    }

    /// From the callers downwards: hands what arises below chosen nodes to the callees. Returns self costs and the costs of
    /// arcs between units.
    fn hand_down(&mut self, is_chosen: &[bool]) -> (CostTable, CostTable) {
        let graph = self.graph;
        let mut self_costs = CostTable::new(graph.width(), graph.node_count());
        let mut arc_costs = CostTable::new(graph.width(), graph.arcs().len());
        let units: Vec<Vec<NodeId>> = self.units.ascending().map(<[NodeId]>::to_vec).collect();
        for members in units.iter().rev() {
            let unit = self.units.of(members[0]);
            if self.has_chosen[unit] {
                // Calls of chosen nodes count as a whole, of which that by chosen nodes above is a part.
                for &member in members.iter().filter(|member| is_chosen[member.index()]) {
                    for id in graph.incoming(member).filter(|&id| !self.units.is_inner(graph, id)) {
                        let rest = graph.arc_cost(id).iter().zip(arc_costs.row(id.index()));
                        let rest: Vec<Cost> = rest.map(|(cost, part)| cost - part).collect();
                        self.above.add(unit, &rest);
                    }
                }
                // Also what chosen nodes of a cycle call of each other.
                let row = self.above.row_mut(unit);
                row.iter_mut()
                    .zip(self.below.row(unit))
                    .for_each(|(cost, &below)| *cost = (*cost).max(below));
            }
            // Calls may state more than the callee has.
            let row = self.above.row_mut(unit);
            row.iter_mut().zip(self.whole.row(unit)).for_each(|(cost, &whole)| *cost = (*cost).min(whole));
            self.runs[unit] = self.runs_of(members);
            self.run_counts[unit] = self.run_counts_of(members);
            let arcs = self.units.leaving(graph, members);
            for event in 0..graph.width() {
                let mut amount = self.above.row(unit)[event];
                // Chosen nodes count with all of their self cost.
                for member in members.iter().filter(|member| is_chosen[member.index()]) {
                    let own = graph.self_cost(*member)[event];
                    self_costs.row_mut(member.index())[event] = own;
                    amount -= own;
                }
                let of_members = members.iter().map(|&member| match is_chosen[member.index()] {
                    true => 0,
                    false => graph.self_cost(member)[event],
                });
                let of_arcs = arcs.iter().map(|&id| graph.arc_cost(id)[event]);
                let weights = of_members.chain(of_arcs);
                // Divided together, so that nothing is lost by rounding.
                apportion(amount, weights, |nth, share| match nth.checked_sub(members.len()) {
                    None => self_costs.row_mut(members[nth].index())[event] += share,
                    Some(nth) => arc_costs.row_mut(arcs[nth].index())[event] = share,
                });
            }
            for id in arcs {
                let callee = self.units.of(graph.callee(id));
                self.above.add(callee, arc_costs.row(id.index()));
                let is_of_estimate = self.known.is_arc[id.index()]
                    && (self.has_chosen[unit] || has_cost(self.above.row(unit)));
                let is_divided = self.is_above_estimate[unit]
                    || self.is_part(&self.above, unit)
                    || self.is_unknown_part(unit)
                    || is_of_estimate;
                let is_estimate = !self.is_nothing(id) && is_divided;
                self.is_above_estimate[callee] |= is_estimate && !self.has_chosen[callee];
                // Of what leads from chosen nodes to others over this unit, not all is known.
                self.is_total_estimate |= is_estimate && self.has_chosen[callee] && !self.has_chosen[unit];
            }
        }
        (self_costs, arc_costs)
    }

    /// Tells of which nodes the self cost is an estimate, and of which the inclusive cost.
    fn node_estimates(&self, is_chosen: &[bool]) -> (Vec<bool>, Vec<bool>) {
        let graph = self.graph;
        let mut has_outer_cost = vec![false; self.units.count];
        for members in self.units.ascending() {
            let mut arcs = self.units.leaving(graph, members).into_iter();
            has_outer_cost[self.units.of(members[0])] = arcs.any(|id| !self.is_nothing(id));
        }
        let estimates = graph.nodes().map(|node| {
            let unit = self.units.of(node);
            // Of a function that calls nothing, all of the cost of a call is its own.
            let is_leaf = !has_outer_cost[unit] && !self.units.is_cycle(unit);
            let is_divided = (self.is_part(&self.above, unit) || self.is_unknown_part(unit)) && !is_leaf;
            let is_known_estimate = self.known.is_self[node.index()];
            // Without cycles, what members call of each other counts, too.
            let calls_members = !self.has_chosen[unit]
                && has_cost(self.below.row(unit))
                && graph.outgoing(node).any(|id| self.units.is_inner(graph, id) && !self.is_nothing(id));
            let is_counted = self.is_chosen[unit] || has_cost(self.above.row(unit));
            let is_own_divided = !is_chosen[node.index()] && (self.is_above_estimate[unit] || is_divided);
            let is_self_estimate = (has_cost(graph.self_cost(node)) || is_known_estimate)
                && (is_own_divided || is_known_estimate && is_counted);
            let is_inclusive_estimate = self.is_above_estimate[unit]
                || self.is_below_estimate[unit]
                || calls_members && self.units.is_cycle(unit)
                || is_divided && (self.units.is_cycle(unit) || has_cost(self.below.row(unit)))
                || self.is_chosen[unit]
                    && (self.known.is_inclusive[node.index()] || self.is_whole_estimate[unit]);
            (is_self_estimate, is_inclusive_estimate)
        });
        estimates.unzip()
    }

    /// `true` if the cost of an arc is an estimate. It is exact if all or nothing of it counts: the caller counts with everything it
    /// calls, or only for its ways to chosen nodes; then the callee counts as a whole or not at all, or has no other caller.
    fn is_arc_estimate(&self, id: ArcId) -> bool {
        let arc = self.graph.arc(id);
        let [caller, callee] = [arc.caller, arc.callee].map(|node| self.units.of(node));
        if self.is_nothing(id) {
            return false;
        }
        let is_divided = self.is_above_estimate[caller]
            || self.is_part(&self.above, caller)
            || self.is_unknown_part(caller)
            || self.known.is_arc[id.index()] && has_cost(self.above.row(caller));
        if caller == callee {
            return is_divided || !has_cost(self.above.row(caller)) && has_cost(self.below.row(caller));
        }
        if is_divided || self.is_way_of_estimates(id) {
            return true;
        }
        if has_cost(self.above.row(caller)) {
            return false;
        }
        self.is_below_estimate[callee] || self.is_part(&self.below, callee) && !self.is_only_call(id)
    }

    /// Adds the cost of the way to chosen nodes to that of an arc.
    fn add_way_to_chosen(&self, id: ArcId, arc_costs: &mut CostTable) {
        let (graph, arc) = (self.graph, self.graph.arc(id));
        let [caller, callee] = [arc.caller, arc.callee].map(|node| self.units.of(node));
        let costs = graph.arc_cost(id);
        if caller == callee {
            arc_costs.add(id.index(), &shares(costs, self.above.row(caller), self.whole.row(caller)));
        }
        if caller != callee || !has_cost(self.above.row(caller)) {
            let of_caller = arc_costs.row(id.index());
            let rest: Vec<Cost> = costs.iter().zip(of_caller).map(|(cost, part)| cost - part).collect();
            let through = shares(&rest, self.below.row(callee), self.whole.row(callee));
            arc_costs.add(id.index(), &through);
        }
    }
}
