//! Costs of members of cycles.

use std::ops::Range;

use gristmill_format::Cost;

use crate::analysis::cycle::Cycles;
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{CycleId, NodeId};
use crate::analysis::node_set::NodeSet;
use crate::cost::{CostTable, add};
use crate::threads::{ITEMS_PER_THREAD, cores, map_on_threads};

/// Sums over members of cycles, of which one cycle may have several.
pub(super) struct MemberSums {
    /// Counts of calls from outside of the cycle.
    pub(super) counts: Vec<(CycleId, Cost)>,
    pub(super) self_costs: CostTable,
    pub(super) costs: CostTable,
}

/// Sets the costs of members of cycles to their self costs and those of their arcs that leave the cycle, on all cores. Returns
/// sums over members.
pub(super) fn costs_of_members(
    graph: &CallGraph,
    cycles: &Cycles,
    call_counts: &[Cost],
    costs: &mut CostTable,
) -> Vec<MemberSums> {
    let width = graph.width();
    if cycles.is_empty() {
        return Vec::new();
    }
    // Nearly all calls of members are inside of the largest cycle, if it is large.
    let largest = cycles.ids().max_by_key(|&cycle| cycles.members(cycle).len());
    let mut is_in_largest = NodeSet::none(graph.node_count());
    largest
        .into_iter()
        .flat_map(|cycle| cycles.members(cycle))
        .for_each(|it| is_in_largest.insert(it.index()));
    let each = graph.node_count().div_ceil(cores()).max(ITEMS_PER_THREAD);
    let mut rest = costs.values_mut();
    let tasks = (0..graph.node_count()).step_by(each).map(|start| {
        let nodes = start..(start + each).min(graph.node_count());
        (nodes.clone(), rest.split_off_mut(..nodes.len() * width).unwrap_or_default())
    });
    map_on_threads(tasks.collect(), |(nodes, values): (Range<usize>, &mut [Cost])| {
        let empty = CostTable::new(width, 0);
        let mut sums = MemberSums { counts: Vec::new(), self_costs: empty.clone(), costs: empty };
        for (nth, node) in nodes.map(|index| graph.node(index)).enumerate() {
            let costs = &mut values[nth * width..][..width];
            let Some(cycle) = cycles.cycle_of(node) else { continue };
            let is_inside = |callee: NodeId| match Some(cycle) == largest {
                true => is_in_largest.contains(callee.index()),
                false => cycles.cycle_of(callee) == Some(cycle),
            };
            costs.copy_from_slice(graph.self_cost(node));
            let mut count = call_counts[node.index()];
            for id in graph.outgoing(node) {
                if is_inside(graph.callee(id)) {
                    count -= graph.arc(id).count;
                } else {
                    add(costs, graph.arc_cost(id));
                }
            }
            // Neighbours are often members of one cycle.
            match sums.counts.last_mut() {
                Some((last, sum)) if *last == cycle => {
                    *sum += count;
                    let row = sums.costs.len() - 1;
                    sums.self_costs.add(row, graph.self_cost(node));
                    sums.costs.add(row, costs);
                }
                _ => {
                    sums.counts.push((cycle, count));
                    sums.self_costs.push(graph.self_cost(node));
                    sums.costs.push(costs);
                }
            }
        }
        sums
    })
}
