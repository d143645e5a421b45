//! Costs without those that some functions have.

use gristmill_format::Cost;

use super::focus::{Runs, focus_with_runs};
use super::{Attributed, Estimates, OwnPart, has_cost};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::ArcId;
use crate::cost::CostTable;

/// Takes out the costs that arise while a chosen node is on the stack: of the node itself, of what it calls, and of its callers as
/// far as they call it. What is left is the graph less its [`focus`](super::focus()) on the same nodes, and an estimate where that is
/// one. `None` if a cost is below 0, which has no shares.
///
/// ```
/// use gristmill_profile::analysis::{CallArc, CallGraph, leave_out};
///
/// let mut builder = CallGraph::builder(1);
/// let [main, load, save, write] = [10, 20, 30, 40].map(|cost| builder.add_node(&[cost]));
/// for (caller, callee, cost) in [(main, load, 30), (main, save, 60), (load, write, 10), (save, write, 30)] {
///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[cost]);
/// }
/// let rest = leave_out(&builder.build(), &[false, false, true, false]).expect("no cost below 0");
/// let costs = |node| (rest.graph.self_cost(node)[0], rest.graph.self_and_callees(node)[0]);
/// assert_eq!([main, load, save, write].map(costs), [(10, 40), (20, 30), (0, 0), (10, 10)]);
/// ```
pub fn leave_out(graph: &CallGraph, is_chosen: &[bool]) -> Option<Attributed> {
    let (focused, runs) = focus_with_runs(graph, is_chosen, &Estimates::none(graph))?;
    let rest = |all: &[Cost], part: &[Cost]| -> Vec<Cost> {
        all.iter().zip(part).map(|(all, part)| all.saturating_sub(*part).max(0)).collect()
    };
    let mut self_costs = CostTable::new(graph.width(), 0);
    for node in graph.nodes() {
        self_costs.push(&rest(graph.self_cost(node), focused.graph.self_cost(node)));
    }
    let mut arc_costs = CostTable::new(graph.width(), 0);
    for arc in graph.arc_ids() {
        arc_costs.push(&rest(graph.arc_cost(arc), focused.graph.arc_cost(arc)));
    }
    let is_gone = |id: ArcId| is_chosen[graph.caller(id).index()] || is_chosen[graph.callee(id).index()];
    let runs_of_caller = |id: ArcId| runs[graph.caller(id).index()];
    let count = |id: ArcId| {
        let (all, within) = (graph.arc(id).count, focused.graph.arc(id).count);
        match runs_of_caller(id) {
            _ if is_gone(id) => 0,
            Runs::All => 0,
            Runs::None => all,
            Runs::Some if has_cost(graph.arc_cost(id)) && !has_cost(arc_costs.row(id.index())) => 0,
            // Nobody knows which of them led to a chosen node.
            Runs::Some if within >= all => all,
            Runs::Some => all - within,
        }
    };
    let counts = graph.arc_ids().map(count).collect();
    let is_count_estimate =
        |id: ArcId| !is_gone(id) && graph.arc(id).count != 0 && runs_of_caller(id) == Runs::Some;
    let is_count_estimate = graph.arc_ids().map(is_count_estimate).collect();
    Some(Attributed {
        // What is nothing by an estimate is an estimate, too.
        is_self_estimate: focused.is_self_estimate,
        is_inclusive_estimate: focused.is_inclusive_estimate,
        is_arc_estimate: focused.is_arc_estimate,
        is_count_estimate,
        graph: graph.with_tables(self_costs, arc_costs, counts),
        without_caller: vec![0; graph.width()],
        own_part: vec![OwnPart::Unknown; graph.node_count()],
        is_total_estimate: focused.is_total_estimate,
    })
}
