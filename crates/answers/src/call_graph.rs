//! Call graphs: which functions and calls are shown, and where they are drawn.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_profile::CostTable;
use gristmill_profile::analysis::{ArcId, Direction, NodeId, reach};
use gristmill_report::{Basis, CallCount, FunctionRow, Head, SubjectId, View, group_name};

use crate::answer::{Graph, GraphArc, GraphCluster, GraphNode};
use crate::call_tree::{KeptTree, add};
use crate::functions::grouping;
use crate::graph_layout::{Drawing, DrawingArc, DrawingNode, LayoutOptions, Rectangle, Size, layout};
use crate::question::Group;

/// The most functions of a picture: nobody can read more.
pub(crate) const MAX_NODES: usize = 400;
/// The most arcs of a picture for each of its functions.
pub(crate) const MAX_ARCS_PER_NODE: usize = 6;

/// The width of a character of a name.
const CHARACTER: f64 = 6.6;
/// The room beside a name.
const BESIDE_NAME: f64 = 20.0;
/// Limits of the width of a box.
const BOX_WIDTHS: (f64, f64) = (96.0, 260.0);
/// The height of a box: two lines.
const BOX_HEIGHT: f64 = 44.0;
/// The size of the label of an arc: two lines.
pub(crate) const LABEL: Size = Size { width: 84.0, height: 28.0 };
/// The height of the title of a cluster.
pub(crate) const CLUSTER_TITLE: f64 = 16.0;

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
    if let Some(around) = around {
        let reached = connected(view, around.subject, &candidates);
        candidates.retain(|it| reached.contains(&it.id));
    }
    let index_of: BTreeMap<SubjectId, usize> =
        candidates.iter().enumerate().map(|(index, it)| (it.id, index)).collect();
    let arcs = arcs(view, &candidates, &index_of, &is_large);
    let mut nodes: Vec<GraphNode> =
        candidates.iter().map(|it| node(view, head, it, is_middle(it.id), &index_of)).collect();
    let (clusters, cluster_of) = clusters(view, &candidates, limits.cluster);
    let drawing = Drawing {
        nodes: nodes
            .iter()
            .zip(&cluster_of)
            .map(|(node, &cluster)| DrawingNode { size: box_size(&node.row.name), cluster })
            .collect(),
        arcs: arcs
            .iter()
            .map(|&arc| {
                let ends = view.graph().arc(arc);
                DrawingArc {
                    from: index_of[&view.subject_at(ends.caller)],
                    to: index_of[&view.subject_at(ends.callee)],
                    weight: weight(view.graph().arc_cost(arc)[0]),
                    label: LABEL,
                }
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
    let arcs = arcs.iter().zip(&drawing.arcs).zip(placed.arcs).map(|((&arc, drawn), path)| {
        let ends = view.graph().arc(arc);
        let (caller, callee) = (view.subject_at(ends.caller), view.subject_at(ends.callee));
        GraphArc {
            caller: drawn.from,
            callee: drawn.to,
            calls: CallCount::new(ends.count, view.graph().is_inlined(arc)),
            cost: Costs::new(&head.event_types, view.graph().arc_cost(arc)),
            cost_is_estimate: view.is_call_estimate(arc),
            is_inner: view.is_inner(caller, callee),
            points: path.points,
            label: path.label,
        }
    });
    let bounds = |it: &Rectangle| [it.x, it.y, it.width, it.height];
    Graph {
        head: head.clone(),
        around: around.and_then(|around| u32::try_from(around.subject.index()).ok()),
        width: placed.size.width,
        height: placed.size.height,
        arcs: arcs.collect(),
        nodes,
        clusters: clusters
            .into_iter()
            .zip(&placed.clusters)
            .map(|(name, place)| GraphCluster { name, bounds: bounds(place) })
            .collect(),
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
    let cost_of: BTreeMap<usize, &[Cost]> = tree.cycle_costs().collect();
    for &node in near {
        let subject = view.subject_at(node);
        let Some(cycle) = cycles.cycle_of(node) else { continue };
        if candidates.contains(subject) || subject == middle {
            continue;
        }
        let of_cycle = cost_of.get(&cycle.number()).copied();
        candidates.add(subject, of_cycle.unwrap_or_else(|| view.inclusive_cost(subject)), true);
    }
}

/// Returns the functions that are connected with that in the middle by shown ones.
fn connected(view: &View, middle: SubjectId, candidates: &[Candidate]) -> BTreeSet<SubjectId> {
    let shown: BTreeSet<SubjectId> = candidates.iter().map(|it| it.id).collect();
    let graph = view.graph();
    let mut reached = BTreeSet::from([middle]);
    let mut open = VecDeque::from([middle]);
    while let Some(id) = open.pop_front() {
        let callers = graph.incoming(id.node()).map(|arc| graph.arc(arc).caller);
        let callees = graph.outgoing(id.node()).map(|arc| graph.arc(arc).callee);
        for other in callers.chain(callees).map(|node| view.subject_at(node)) {
            if shown.contains(&other) && reached.insert(other) {
                open.push_back(other);
            }
        }
    }
    reached
}

/// Returns the calls to show: those that are large enough, and the most expensive one to each function.
fn arcs(
    view: &View,
    candidates: &[Candidate],
    index_of: &BTreeMap<SubjectId, usize>,
    is_large: &impl Fn(Cost) -> bool,
) -> Vec<ArcId> {
    let graph = view.graph();
    let is_shown = |node: NodeId| index_of.contains_key(&view.subject_at(node));
    let mut shown: BTreeSet<ArcId> = BTreeSet::new();
    let mut large: Vec<ArcId> = Vec::new();
    for candidate in candidates {
        let incoming = graph.incoming(candidate.id.node()).filter(|&arc| is_shown(graph.arc(arc).caller));
        large.extend(incoming.clone().filter(|&arc| is_large(graph.arc_cost(arc)[0])));
        shown.extend(incoming.max_by_key(|&arc| (graph.arc_cost(arc)[0], Reverse(arc))));
        let outgoing = graph.outgoing(candidate.id.node()).filter(|&arc| is_shown(graph.arc(arc).callee));
        shown.extend(outgoing.max_by_key(|&arc| (graph.arc_cost(arc)[0], Reverse(arc))));
    }
    large.sort_by_key(|&arc| (Reverse(graph.arc_cost(arc)[0]), arc));
    large.truncate(candidates.len() * MAX_ARCS_PER_NODE);
    shown.extend(large);
    shown.into_iter().collect()
}

fn node(
    view: &View,
    head: &Head,
    candidate: &Candidate,
    is_center: bool,
    index_of: &BTreeMap<SubjectId, usize>,
) -> GraphNode {
    let graph = view.graph();
    let node = candidate.id.node();
    let hidden = |arcs: &mut dyn Iterator<Item = (ArcId, NodeId)>| {
        let mut costs = vec![0; view.events().len()];
        let mut count = 0;
        for (arc, other) in arcs {
            if !index_of.contains_key(&view.subject_at(other)) {
                count += 1;
                add(&mut costs, graph.arc_cost(arc));
            }
        }
        (count, Costs::new(&head.event_types, costs))
    };
    let (hidden_callers, hidden_callers_cost) =
        hidden(&mut graph.incoming(node).map(|arc| (arc, graph.arc(arc).caller)));
    let (hidden_callees, hidden_callees_cost) =
        hidden(&mut graph.outgoing(node).map(|arc| (arc, graph.arc(arc).callee)));
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
        hidden_callees,
        hidden_callees_cost,
    }
}

/// Returns the names of groups that have more than one function, and the group of each function.
fn clusters(view: &View, candidates: &[Candidate], group: Group) -> (Vec<String>, Vec<Option<usize>>) {
    let name = |id: SubjectId| match group {
        Group::Function => None,
        Group::Cycle => {
            let cycle = view.inclusive().cycles().cycle_of(id.node())?;
            Some(format!("cycle {}", cycle.number()))
        }
        group => Some(group_name(view, id, grouping(group))),
    };
    let names: Vec<Option<String>> = candidates.iter().map(|it| name(it.id)).collect();
    let mut members: BTreeMap<&str, usize> = BTreeMap::new();
    names.iter().flatten().for_each(|name| *members.entry(name).or_default() += 1);
    let clusters: Vec<&str> =
        members.into_iter().filter(|&(_, count)| count > 1).map(|(name, _)| name).collect();
    let cluster_of = names.iter().map(|name| clusters.binary_search(&name.as_deref()?).ok()).collect();
    (clusters.into_iter().map(str::to_owned).collect(), cluster_of)
}

pub(crate) fn box_size(name: &str) -> Size {
    let (least, most) = BOX_WIDTHS;
    Size { width: (text_width(name) + BESIDE_NAME).clamp(least, most), height: BOX_HEIGHT }
}

#[allow(clippy::cast_precision_loss, reason = "a width in a picture, of the first characters")]
pub(crate) fn text_width(text: &str) -> f64 {
    text.chars().take(64).count() as f64 * CHARACTER
}

#[allow(clippy::cast_precision_loss, reason = "only the order of magnitude counts")]
pub(crate) fn weight(cost: Cost) -> f64 {
    cost.unsigned_abs() as f64
}
