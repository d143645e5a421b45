//! Call graphs of both sides: the functions and calls of either, with their changes.

use std::cmp::Reverse;
use std::collections::VecDeque;

use gristmill_format::Cost;
use gristmill_output::json::ByEvent;
use gristmill_profile::compare::{Change, Comparison, JoinedId};
use gristmill_profile::ordered::OrderedMap;
use gristmill_report::diff::{Delta, DiffHead};

use crate::call_graph::Limits;
use crate::changed_answer::{ChangeRow, ChangedArc, ChangedGraph, ChangedNode};
use crate::graph_layout::layout;
use crate::graph_picture::{Clusters, MAX_NODES, arcs, connected, drawing};
use crate::question::Group;

/// A comparison with the column that decides.
struct Graph<'c, 'p> {
    comparison: &'c Comparison<'p>,
    column: usize,
}

impl Graph<'_, '_> {
    fn inclusive(&self, function: JoinedId) -> Change {
        self.comparison.inclusive(function, self.column)
    }

    fn arc_cost(&self, arc: usize) -> Change {
        self.comparison.arc_cost(arc, self.column)
    }

    fn callees(&self, function: JoinedId) -> impl Iterator<Item = JoinedId> + '_ {
        self.comparison.outgoing(function).map(|arc| self.comparison.arc(arc).callee)
    }

    fn callers(&self, function: JoinedId) -> impl Iterator<Item = JoinedId> + '_ {
        self.comparison.incoming(function).map(|arc| self.comparison.arc(arc).caller)
    }

    /// Returns a function and those within a count of calls from it.
    fn near(&self, middle: JoinedId, depth: usize, is_up: bool) -> OrderedMap<JoinedId, ()> {
        let mut near = OrderedMap::from_iter([(middle, ())]);
        let mut open = VecDeque::from([(middle, 0)]);
        while let Some((function, distance)) = open.pop_front() {
            if distance >= depth {
                continue;
            }
            let next: Vec<JoinedId> =
                if is_up { self.callers(function).collect() } else { self.callees(function).collect() };
            for other in next {
                if near.insert(other, ()).is_none() {
                    open.push_back((other, distance + 1));
                }
            }
        }
        near
    }
}

/// Returns the cost of the larger side.
fn larger(change: Change) -> Cost {
    change.base.median.saturating_abs().max(change.new.median.saturating_abs())
}

/// Makes the call graph of both sides around a function, or of the functions that changed most.
pub(crate) fn changed_graph(
    comparison: &Comparison<'_>,
    columns: &[usize],
    around: Option<JoinedId>,
    limits: &Limits,
    group_name: impl Fn(JoinedId) -> String,
) -> ChangedGraph {
    let graph = Graph { comparison, column: columns[0] };
    let head = DiffHead::new(comparison, columns);
    let whole = larger(match around {
        Some(middle) => graph.inclusive(middle),
        None => comparison.total(columns[0]),
    });
    let is_large =
        |cost: Cost| cost != 0 && cost.saturating_mul(1000) >= whole.saturating_mul(limits.min_share.into());
    let mut shown: Vec<JoinedId> = match around {
        Some(middle) => {
            let [callers, callees] = [(limits.callers, true), (limits.callees, false)]
                .map(|(depth, is_up)| graph.near(middle, depth, is_up));
            let near: OrderedMap<JoinedId, ()> = callers.into_iter().chain(callees.into_iter()).collect();
            near.keys().collect()
        }
        None => comparison.functions().collect(),
    };
    shown.retain(|&function| around == Some(function) || is_large(larger(graph.inclusive(function))));
    let rank = |&function: &JoinedId| {
        let change = graph.inclusive(function);
        (around != Some(function), Reverse((change.delta().abs(), larger(change))), function)
    };
    shown.sort_by_cached_key(rank);
    let all_nodes = shown.len();
    shown.truncate(limits.nodes.clamp(1, MAX_NODES));
    if let Some(middle) = around {
        let neighbours = |function| graph.callers(function).chain(graph.callees(function));
        let reached = connected(middle, shown.iter().copied(), neighbours);
        shown.retain(|&function| reached[function]);
    }
    let index_of: OrderedMap<JoinedId, usize> =
        shown.iter().enumerate().map(|(index, &function)| (function, index)).collect();
    let calls_of = |function: JoinedId| {
        let is_shown = |other: JoinedId| index_of.contains(other);
        let incoming = comparison.incoming(function).filter(|&arc| is_shown(comparison.arc(arc).caller));
        let outgoing = comparison.outgoing(function).filter(|&arc| is_shown(comparison.arc(arc).callee));
        [incoming.collect(), outgoing.collect()]
    };
    let size = |arc: usize| larger(graph.arc_cost(arc));
    let arcs = arcs(shown.iter().copied(), calls_of, size, is_large);
    let mut nodes: Vec<ChangedNode> = shown
        .iter()
        .map(|&function| ChangedNode {
            row: ChangeRow::new(comparison, &head, columns, function),
            is_center: around == Some(function),
            x: 0.0,
            y: 0.0,
            width: 0.0,
            height: 0.0,
            hidden_callers: graph.callers(function).filter(|other| !index_of.contains(*other)).count(),
            hidden_callees: graph.callees(function).filter(|other| !index_of.contains(*other)).count(),
        })
        .collect();
    let has_groups = !matches!(limits.cluster, Group::Function | Group::Cycle);
    let groups: Vec<_> = shown.iter().map(|&function| has_groups.then(|| group_name(function))).collect();
    let clusters = Clusters::new(&groups);
    let ends = |arc: usize| {
        let arc = comparison.arc(arc);
        (index_of[arc.caller], index_of[arc.callee])
    };
    let drawn = arcs.iter().map(|&arc| {
        let (from, to) = ends(arc);
        (from, to, size(arc))
    });
    let drawing = drawing(nodes.iter().map(|node| &*node.row.name), drawn, &clusters);
    let placed = layout(&drawing);
    for (node, place) in nodes.iter_mut().zip(&placed.nodes) {
        (node.x, node.y, node.width, node.height) = (place.x, place.y, place.width, place.height);
    }
    let drawn_arcs = arcs.iter().zip(placed.arcs).map(|(&arc, path)| {
        let (caller, callee) = ends(arc);
        let deltas = columns.iter().map(|&column| Delta(comparison.arc_cost(arc, column)));
        ChangedArc {
            caller,
            callee,
            calls: Delta(comparison.arc(arc).count),
            cost: ByEvent::new(&head.event_types, deltas.collect::<Vec<_>>()),
            points: path.points,
            label: path.label,
        }
    });
    ChangedGraph {
        around: around.and_then(|middle| index_of.get(middle).copied()),
        width: placed.size.width,
        height: placed.size.height,
        arcs: drawn_arcs.collect(),
        nodes,
        clusters: clusters.placed(&placed.clusters),
        all_nodes,
        head,
    }
}
