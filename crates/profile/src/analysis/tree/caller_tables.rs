//! The costs of nodes, and the part of them that callers state.

use crate::analysis::graph::CallGraph;
use crate::analysis::tree::recorded::RecordedArcs;
use crate::cost::CostTable;

/// The costs of the nodes of a graph, and which of them the callers do not state.
#[derive(Debug)]
pub(super) struct CallerTables {
    /// By node: the cost that its callers do not state.
    pub(super) surplus: CostTable,
    pub(super) inclusive: CostTable,
    /// By node: `true` if a single stack leads to it.
    pub(super) has_one_stack: Vec<bool>,
}

impl CallerTables {
    pub(super) fn new(graph: &CallGraph, recorded: RecordedArcs<'_>) -> Self {
        let [mut surplus, mut inclusive] = [(); 2].map(|()| CostTable::new(graph.width(), 0));
        // Callers come before callees, so theirs is known before.
        let mut has_one_stack = vec![false; graph.node_count()];
        let mut beyond = vec![0; graph.width()];
        for node in graph.nodes() {
            let costs = graph.self_and_callees(node);
            for (event, (beyond, &cost)) in beyond.iter_mut().zip(&costs).enumerate() {
                *beyond = recorded.surplus(node, event, cost);
            }
            surplus.push(&beyond);
            inclusive.push(&costs);
            let mut callers = graph.incoming(node);
            has_one_stack[node.index()] = callers.len() + usize::from(beyond.iter().any(|&cost| cost != 0))
                < 2
                && callers.all(|arc| has_one_stack[graph.caller(arc).index()]);
        }
        CallerTables { surplus, inclusive, has_one_stack }
    }
}
