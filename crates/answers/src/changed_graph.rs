//! Call graphs of both sides: the functions and calls of either, with their changes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gristmill_format::Cost;
use gristmill_output::json::ByEvent;
use gristmill_profile::compare::{Change, Comparison, JoinedId};
use gristmill_report::diff::{Delta, DiffHead};

use crate::answer::GraphCluster;
use crate::call_graph::{
    CLUSTER_TITLE, LABEL, Limits, MAX_ARCS_PER_NODE, MAX_NODES, box_size, text_width, weight,
};
use crate::changed_answer::{ChangeRow, ChangedArc, ChangedGraph, ChangedNode};
use crate::graph_layout::{Drawing, DrawingArc, DrawingNode, LayoutOptions, Rectangle, Size, layout};
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
    fn near(&self, middle: JoinedId, depth: usize, is_up: bool) -> BTreeSet<JoinedId> {
        let mut near = BTreeSet::from([middle]);
        let mut open = VecDeque::from([(middle, 0)]);
        while let Some((function, distance)) = open.pop_front() {
            if distance >= depth {
                continue;
            }
            let next: Vec<JoinedId> =
                if is_up { self.callers(function).collect() } else { self.callees(function).collect() };
            for other in next {
                if near.insert(other) {
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
            let mut near = graph.near(middle, limits.callers, true);
            near.extend(graph.near(middle, limits.callees, false));
            near.into_iter().collect()
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
        let reached = connected(&graph, middle, &shown);
        shown.retain(|function| reached.contains(function));
    }
    let index_of: BTreeMap<JoinedId, usize> =
        shown.iter().enumerate().map(|(index, &function)| (function, index)).collect();
    let arcs = arcs(&graph, &shown, &index_of, is_large);
    let mut nodes: Vec<ChangedNode> = shown
        .iter()
        .map(|&function| ChangedNode {
            row: ChangeRow::new(comparison, &head, columns, function),
            is_center: around == Some(function),
            x: 0.0,
            y: 0.0,
            width: 0.0,
            height: 0.0,
            hidden_callers: graph.callers(function).filter(|other| !index_of.contains_key(other)).count(),
            hidden_callees: graph.callees(function).filter(|other| !index_of.contains_key(other)).count(),
        })
        .collect();
    let (clusters, cluster_of) = clusters(&shown, limits.cluster, group_name);
    let ends = |arc: usize| {
        let arc = comparison.arc(arc);
        (index_of[&arc.caller], index_of[&arc.callee])
    };
    let drawing = Drawing {
        nodes: nodes
            .iter()
            .zip(cluster_of)
            .map(|(node, cluster)| DrawingNode { size: box_size(&node.row.name), cluster })
            .collect(),
        arcs: arcs
            .iter()
            .map(|&arc| {
                let (from, to) = ends(arc);
                DrawingArc { from, to, weight: weight(larger(graph.arc_cost(arc))), label: LABEL }
            })
            .collect(),
        clusters: clusters
            .iter()
            .map(|name| Size { width: text_width(name), height: CLUSTER_TITLE })
            .collect(),
        options: LayoutOptions::default(),
    };
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
    let bounds = |it: &Rectangle| [it.x, it.y, it.width, it.height];
    let clusters = clusters.into_iter().zip(&placed.clusters);
    ChangedGraph {
        around: around.and_then(|middle| index_of.get(&middle).copied()),
        width: placed.size.width,
        height: placed.size.height,
        arcs: drawn_arcs.collect(),
        nodes,
        clusters: clusters.map(|(name, place)| GraphCluster { name, bounds: bounds(place) }).collect(),
        all_nodes,
        head,
    }
}

/// Returns the functions that are connected with that in the middle by shown ones.
fn connected(graph: &Graph<'_, '_>, middle: JoinedId, shown: &[JoinedId]) -> BTreeSet<JoinedId> {
    let shown: BTreeSet<JoinedId> = shown.iter().copied().collect();
    let mut reached = BTreeSet::from([middle]);
    let mut open = VecDeque::from([middle]);
    while let Some(function) = open.pop_front() {
        for other in graph.callers(function).chain(graph.callees(function)) {
            if shown.contains(&other) && reached.insert(other) {
                open.push_back(other);
            }
        }
    }
    reached
}

/// Returns the calls to show: those that are large enough on a side, and the largest one to and from each function.
fn arcs(
    graph: &Graph<'_, '_>,
    shown: &[JoinedId],
    index_of: &BTreeMap<JoinedId, usize>,
    is_large: impl Fn(Cost) -> bool,
) -> Vec<usize> {
    let comparison = graph.comparison;
    let size = |arc: usize| larger(graph.arc_cost(arc));
    let mut chosen: BTreeSet<usize> = BTreeSet::new();
    let mut large: Vec<usize> = Vec::new();
    for &function in shown {
        let incoming =
            comparison.incoming(function).filter(|&arc| index_of.contains_key(&comparison.arc(arc).caller));
        let incoming: Vec<usize> = incoming.collect();
        large.extend(incoming.iter().copied().filter(|&arc| is_large(size(arc))));
        chosen.extend(incoming.into_iter().max_by_key(|&arc| (size(arc), Reverse(arc))));
        let outgoing =
            comparison.outgoing(function).filter(|&arc| index_of.contains_key(&comparison.arc(arc).callee));
        chosen.extend(outgoing.max_by_key(|&arc| (size(arc), Reverse(arc))));
    }
    large.sort_by_key(|&arc| (Reverse(size(arc)), arc));
    large.truncate(shown.len() * MAX_ARCS_PER_NODE);
    chosen.extend(large);
    chosen.into_iter().collect()
}

/// Returns the names of groups that have more than one function, and the group of each function.
fn clusters(
    shown: &[JoinedId],
    group: Group,
    group_name: impl Fn(JoinedId) -> String,
) -> (Vec<String>, Vec<Option<usize>>) {
    if matches!(group, Group::Function | Group::Cycle) {
        return (Vec::new(), vec![None; shown.len()]);
    }
    let names: Vec<String> = shown.iter().map(|&function| group_name(function)).collect();
    let mut members: BTreeMap<&str, usize> = BTreeMap::new();
    names.iter().for_each(|name| *members.entry(name).or_default() += 1);
    let clusters: Vec<&str> =
        members.into_iter().filter(|&(_, count)| count > 1).map(|(name, _)| name).collect();
    let cluster_of = names.iter().map(|name| clusters.binary_search(&name.as_str()).ok()).collect();
    (clusters.into_iter().map(str::to_owned).collect(), cluster_of)
}
