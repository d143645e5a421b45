//! Call graphs: which functions and calls are shown, and where they are drawn.

use std::cmp::Reverse;

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_profile::CostTable;
use gristmill_profile::analysis::{ArcId, Direction, NodeId, reach};
use gristmill_profile::ordered::OrderedMap;
use gristmill_report::{Basis, FunctionRow, Head, SubjectId, View, group_name};

use crate::answer::{Graph, GraphArc, GraphNode};
use crate::call_tree::{KeptTree, add};
use crate::functions::grouping;
use crate::graph_layout::layout;
use crate::graph_picture::{Clusters, MAX_NODES, arcs, connected, drawing};
use crate::question::Group;

/// The limits of a call graph.
pub(crate) struct Limits {
    pub(crate) callers: usize,
    pub(crate) callees: usize,
    pub(crate) nodes: usize,
    /// In thousandths of the function in the middle, or of the program.
    pub(crate) min_share: u32,
    pub(crate) cluster: Group,
}

/// The trees of the callers and callees of a function in the middle.
pub(crate) struct Around<'t> {
    pub(crate) subject: SubjectId,
    pub(crate) callers: &'t KeptTree,
    pub(crate) callees: &'t KeptTree,
}

/// A function that is shown, with its cost with respect to that in the middle.
struct Candidate {
    id: SubjectId,
    costs: Vec<Cost>,
    is_estimate: bool,
}

/// The functions that may be shown, with their costs. There can be millions.
struct Candidates {
    ids: Vec<SubjectId>,
    costs: CostTable,
    is_estimate: Vec<bool>,
    /// By function: its index in the lists.
    index_of: Vec<Option<u32>>,
}

impl Candidates {
    fn new(view: &View) -> Self {
        Candidates {
            ids: Vec::new(),
            costs: CostTable::new(view.events().len(), 0),
            is_estimate: Vec::new(),
            index_of: vec![None; view.graph().node_count()],
        }
    }

    fn contains(&self, id: SubjectId) -> bool {
        self.index_of[id.index()].is_some()
    }

    /// Adds costs of a function.
    fn add(&mut self, id: SubjectId, costs: &[Cost], is_estimate: bool) {
        let index = match self.index_of[id.index()] {
            Some(index) => index as usize,
            None => {
                self.index_of[id.index()] = u32::try_from(self.ids.len()).ok();
                self.ids.push(id);
                self.costs.push(&vec![0; self.costs.width()]);
                self.is_estimate.push(false);
                self.ids.len() - 1
            }
        };
        add(self.costs.row_mut(index), costs);
        self.is_estimate[index] |= is_estimate;
    }

    /// Returns the most expensive ones that are large enough, and the count of all of these.
    fn most_expensive(&self, count: usize, is_large: impl Fn(Cost) -> bool) -> (Vec<Candidate>, usize) {
        let cost = |index: usize| self.costs.row(index)[0];
        let large = (0..self.ids.len()).filter(|&index| is_large(cost(index)));
        let mut first: Vec<_> = large.map(|index| (Reverse(cost(index)), self.ids[index], index)).collect();
        let all = first.len();
        if count < all {
            first.select_nth_unstable(count);
            first.truncate(count);
        }
        first.sort_unstable();
        let candidate = |(_, id, index): (Reverse<Cost>, SubjectId, usize)| Candidate {
            id,
            costs: self.costs.row(index).to_vec(),
            is_estimate: self.is_estimate[index],
        };
        (first.into_iter().map(candidate).collect(), all)
    }
}

/// Makes the call graph around a function, or of the functions of the highest inclusive cost.
pub(crate) fn graph(view: &View, head: &Head, around: Option<&Around<'_>>, limits: &Limits) -> Graph {
    let whole = match around {
        Some(around) => view.inclusive_cost(around.subject)[0],
        None => view.totals()[0],
    };
    let is_large = |cost: Cost| {
        cost != 0
            && cost.saturating_abs().saturating_mul(1000)
                >= whole.saturating_abs().saturating_mul(limits.min_share.into())
    };
    let max_nodes = limits.nodes.clamp(1, MAX_NODES);
    let (mut candidates, all_nodes) = match around {
        Some(around) => {
            let middle = Candidate {
                id: around.subject,
                costs: view.inclusive_cost(around.subject).to_vec(),
                is_estimate: view.is_inclusive_estimate(around.subject),
            };
            let (more, count) = neighbourhood(view, around, limits).most_expensive(max_nodes - 1, is_large);
            ([middle].into_iter().chain(more).collect::<Vec<_>>(), count + 1)
        }
        None => everything(view, max_nodes, is_large),
    };
    let is_middle = |id: SubjectId| around.is_some_and(|around| around.subject == id);
    let calls = view.graph();
    if let Some(around) = around {
        let neighbours = |id: SubjectId| {
            let callers = calls.incoming(id.node()).map(|arc| calls.arc(arc).caller);
            let callees = calls.outgoing(id.node()).map(|arc| calls.arc(arc).callee);
            callers.chain(callees).map(|node| view.subject_at(node))
        };
        let reached = connected(around.subject, candidates.iter().map(|it| it.id), neighbours);
        candidates.retain(|it| reached[it.id]);
    }
    let index_of: OrderedMap<SubjectId, usize> =
        candidates.iter().enumerate().map(|(index, it)| (it.id, index)).collect();
    let is_shown = |node: NodeId| index_of.contains(view.subject_at(node));
    let calls_of = |id: SubjectId| {
        let incoming = calls.incoming(id.node()).filter(|&arc| is_shown(calls.arc(arc).caller));
        let outgoing = calls.outgoing(id.node()).filter(|&arc| is_shown(calls.arc(arc).callee));
        [incoming.collect(), outgoing.collect()]
    };
    let cost_of = |arc: ArcId| calls.arc_cost(arc)[0];
    let arcs = arcs(candidates.iter().map(|it| it.id), calls_of, cost_of, is_large);
    let mut nodes: Vec<GraphNode> =
        candidates.iter().map(|it| node(view, head, it, is_middle(it.id), &index_of)).collect();
    let groups: Vec<_> = candidates.iter().map(|it| group_of(view, it.id, limits.cluster)).collect();
    let clusters = Clusters::new(&groups);
    let drawn_arcs = arcs.iter().map(|&arc| {
        let ends = calls.arc(arc);
        (index_of[view.subject_at(ends.caller)], index_of[view.subject_at(ends.callee)], cost_of(arc))
    });
    let drawing = drawing(nodes.iter().map(|node| &*node.row.name), drawn_arcs, &clusters);
    let placed = layout(&drawing);
    for (node, place) in nodes.iter_mut().zip(&placed.nodes) {
        (node.x, node.y, node.width, node.height) = (place.x, place.y, place.width, place.height);
    }
    let arcs = arcs.iter().zip(&drawing.arcs).zip(placed.arcs).map(|((&arc, drawn), path)| {
        let ends = calls.arc(arc);
        let (caller, callee) = (view.subject_at(ends.caller), view.subject_at(ends.callee));
        GraphArc {
            caller: drawn.from,
            callee: drawn.to,
            calls: view.calls_of(arc),
            cost: Costs::new(&head.event_types, view.graph().arc_cost(arc)),
            cost_is_estimate: view.is_call_estimate(arc),
            is_inner: view.is_inner(caller, callee),
            points: path.points,
            label: path.label,
        }
    });
    Graph {
        head: head.clone(),
        around: around.and_then(|around| u32::try_from(around.subject.index()).ok()),
        width: placed.size.width,
        height: placed.size.height,
        arcs: arcs.collect(),
        nodes,
        clusters: clusters.placed(&placed.clusters),
        all_nodes,
    }
}

/// Returns the functions of the highest inclusive cost that are large enough, and the count of all of these.
fn everything(view: &View, count: usize, is_large: impl Fn(Cost) -> bool) -> (Vec<Candidate>, usize) {
    let cost = |id: SubjectId| view.inclusive_cost(id)[0];
    let large = view.subject_ids().filter(|&id| is_large(cost(id)) && view.is_shown(id));
    let mut first: Vec<(Reverse<Cost>, SubjectId)> = large.map(|id| (Reverse(cost(id)), id)).collect();
    let all = first.len();
    if count < all {
        first.select_nth_unstable(count);
        first.truncate(count);
    }
    first.sort_unstable();
    let candidate = |(_, id): (Reverse<Cost>, SubjectId)| Candidate {
        id,
        costs: view.inclusive_cost(id).to_vec(),
        is_estimate: view.is_inclusive_estimate(id),
    };
    (first.into_iter().map(candidate).collect(), all)
}

/// Returns what is near enough to a function, with its costs as caller or callee.
fn neighbourhood(view: &View, around: &Around<'_>, limits: &Limits) -> Candidates {
    let graph = view.graph();
    let middle = around.subject;
    let mut candidates = Candidates::new(view);
    let sides = [
        (Direction::Callers, limits.callers, around.callers),
        (Direction::Callees, limits.callees, around.callees),
    ];
    for (direction, depth, tree) in sides {
        let reached = reach(graph, middle.node(), direction, depth.min(graph.node_count()));
        let near: Vec<NodeId> = reached.iter().map(|it| it.node).collect();
        let mut is_near = vec![false; graph.node_count()];
        near.iter().for_each(|node| is_near[node.index()] = true);
        for (id, cost) in tree.costs_of() {
            let subject = view.subject_at(graph.node(id));
            if !is_near[id] || subject == middle {
                continue;
            }
            let (caller, callee) = match direction {
                Direction::Callers => (subject, middle),
                Direction::Callees => (middle, subject),
            };
            // Direct calls by themselves are recorded. The tree of a function has more only if there is another way.
            let direct = graph.arc_between(caller.node(), callee.node());
            let is_recorded =
                direct.is_some_and(|arc| graph.arc_cost(arc) == cost && !view.is_call_estimate(arc));
            candidates.add(subject, cost, tree.tree.basis == Basis::Estimate && !is_recorded);
        }
        add_cycle_members(view, middle, &near, tree, &mut candidates);
        if tree.tree.basis == Basis::Callers {
            // Names of recorded callers need not be functions.
            add_bounds(view, middle, direction, &near, &mut candidates);
        }
    }
    candidates
}

/// Adds the recorded cost of direct calls, and of farther functions what they cost at most.
fn add_bounds(
    view: &View,
    middle: SubjectId,
    direction: Direction,
    near: &[NodeId],
    candidates: &mut Candidates,
) {
    let graph = view.graph();
    for subject in near.iter().map(|&node| view.subject_at(node)) {
        if candidates.contains(subject) || subject == middle {
            continue;
        }
        let direct = match direction {
            Direction::Callers => graph.arc_between(subject.node(), middle.node()),
            Direction::Callees => graph.arc_between(middle.node(), subject.node()),
        };
        match direct {
            Some(arc) => candidates.add(subject, graph.arc_cost(arc), view.is_call_estimate(arc)),
            None => {
                let both = view.inclusive_cost(subject).iter().zip(view.inclusive_cost(middle));
                candidates.add(subject, &both.map(|(a, b)| *a.min(b)).collect::<Vec<_>>(), true);
            }
        }
    }
}

/// Adds the members of cycles, which a tree takes as one: each has the cost of its cycle.
fn add_cycle_members(
    view: &View,
    middle: SubjectId,
    near: &[NodeId],
    tree: &KeptTree,
    candidates: &mut Candidates,
) {
    let cycles = view.inclusive().cycles();
    let cost_of: OrderedMap<usize, &[Cost]> = tree.cycle_costs().collect();
    for &node in near {
        let subject = view.subject_at(node);
        let Some(cycle) = cycles.cycle_of(node) else { continue };
        if candidates.contains(subject) || subject == middle {
            continue;
        }
        let of_cycle = cost_of.get(cycle.number()).copied();
        candidates.add(subject, of_cycle.unwrap_or_else(|| view.inclusive_cost(subject)), true);
    }
}

fn node(
    view: &View,
    head: &Head,
    candidate: &Candidate,
    is_center: bool,
    index_of: &OrderedMap<SubjectId, usize>,
) -> GraphNode {
    let graph = view.graph();
    let node = candidate.id.node();
    let hidden = |arcs: &mut dyn Iterator<Item = (ArcId, NodeId)>| {
        let mut costs = vec![0; view.events().len()];
        let (mut count, mut is_estimate) = (0, false);
        for (arc, other) in arcs {
            if !index_of.contains(view.subject_at(other)) {
                count += 1;
                add(&mut costs, graph.arc_cost(arc));
                is_estimate |= view.is_call_estimate(arc);
            }
        }
        (count, Costs::new(&head.event_types, costs), is_estimate)
    };
    let (hidden_callers, hidden_callers_cost, hidden_callers_is_estimate) =
        hidden(&mut graph.incoming(node).map(|arc| (arc, graph.caller(arc))));
    let (hidden_callees, hidden_callees_cost, hidden_callees_is_estimate) =
        hidden(&mut graph.outgoing(node).map(|arc| (arc, graph.callee(arc))));
    GraphNode {
        row: FunctionRow::of_function(view, head, candidate.id),
        is_center,
        cost: Costs::new(&head.event_types, &candidate.costs[..]),
        cost_is_estimate: candidate.is_estimate,
        x: 0.0,
        y: 0.0,
        width: 0.0,
        height: 0.0,
        hidden_callers,
        hidden_callers_cost,
        hidden_callers_is_estimate,
        hidden_callees,
        hidden_callees_cost,
        hidden_callees_is_estimate,
    }
}

/// Returns the name of the group that a function is in.
fn group_of(view: &View, id: SubjectId, group: Group) -> Option<String> {
    match group {
        Group::Function => None,
        Group::Cycle => {
            let cycle = view.inclusive().cycles().cycle_of(id.node())?;
            Some(format!("cycle {}", cycle.number()))
        }
        group => Some(group_name(view, id, grouping(group))),
    }
}
