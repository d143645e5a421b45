//! Bottom-up trees: all functions by self cost, and below each its callers, with the part of that cost that comes through
//! them.
//!
//! From a tree of known stacks this is exact. From a call graph it is an estimate, as an inverted tree is: the arcs state the
//! inclusive cost of their calls, so they tell which part of a self cost comes from each caller only where the function calls
//! nothing, or has a single caller.

use std::cmp::Reverse;
use std::hash::Hash;

use gristmill_format::Cost;

use crate::analysis::cycle::{Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{NodeId, TreeNodeId};
use crate::analysis::tree::estimate::Estimator;
use crate::analysis::tree::inverted::{Asked, Bud, Callers, Origin, grow, sum_of_starts};
use crate::analysis::tree::{CallTree, TreeBasis};
use crate::cost::add;
use crate::ordered::OrderedKey;

/// Takes out the most expensive of some functions, the most expensive first. Returns the count of the others as well.
///
/// `weight` is that of a function's cost. Functions without any cost have none, and are in neither.
fn most_expensive<F: Copy + Ord>(
    functions: impl Iterator<Item = F>,
    weight: impl Fn(F) -> Option<u128>,
    count: usize,
) -> (Vec<F>, usize) {
    let mut weighed: Vec<(Reverse<u128>, F)> =
        functions.filter_map(|function| Some((Reverse(weight(function)?), function))).collect();
    let hidden = weighed.len().saturating_sub(count);
    if hidden > 0 {
        weighed.select_nth_unstable(count);
        weighed.truncate(count);
    }
    weighed.sort_unstable();
    (weighed.into_iter().map(|(_, function)| function).collect(), hidden)
}

/// Returns the weight of costs. None if there are none.
fn weight(costs: &[Cost]) -> Option<u128> {
    let weight = costs.first().map_or(0, |cost| cost.unsigned_abs());
    costs.iter().any(|&cost| cost != 0).then_some(weight)
}

impl<T: Copy + Ord + Hash + OrderedKey> CallTree<T> {
    /// Returns the bottom-up tree of this one: its root has the whole cost, the nodes below it are functions with the self
    /// costs of all of their nodes, and below each are its callers.
    ///
    /// The self cost of a node is the cost that comes from no caller.
    ///
    /// ```
    /// use gristmill_profile::analysis::{RecordedCallers, TreeNodeId};
    /// use gristmill_profile::{Profile, Selection};
    ///
    /// let text = b"events: Ir\nfn=read'main\n1 5\nfn=read'parse'main\n1 7\nfn=parse'main\n1 2\n";
    /// let profile = Profile::from_bytes(text.to_vec());
    /// let callers = RecordedCallers::from_profile(&profile, &Selection::default(), false).expect("names have callers");
    /// let tree = callers.tree.bottom_up(100);
    /// assert_eq!(tree.inclusive(TreeNodeId::ROOT), [14]);
    /// let costs: Vec<_> = tree.children(TreeNodeId::ROOT).map(|function| tree.inclusive(function)[0]).collect();
    /// assert_eq!(costs, [12, 2]);
    /// ```
    pub fn bottom_up(&self, max_nodes: usize) -> CallTree<T> {
        let mut nodes: Vec<TreeNodeId> = self.ids().skip(1).collect();
        nodes.sort_unstable_by_key(|&id| (self.node(id).item, id));
        let mut ends = Vec::new();
        for group in nodes.chunk_by(|&one, &other| self.node(one).item == self.node(other).item) {
            ends.push(ends.last().copied().unwrap_or(0) + group.len());
        }
        let nodes_of =
            |group: usize| &nodes[group.checked_sub(1).map_or(0, |before| ends[before])..ends[group]];
        let self_costs = |group: usize| {
            let mut sum = vec![0; self.self_costs.width()];
            nodes_of(group).iter().for_each(|&id| add(&mut sum, self.self_cost(id)));
            sum
        };
        let (groups, hidden) = most_expensive(0..ends.len(), |group| weight(&self_costs(group)), max_nodes);
        let mut functions = Some(groups);
        let first = Bud {
            item: self.node(TreeNodeId::ROOT).item,
            parent: None,
            count: 0,
            costs: self.inclusive(TreeNodeId::ROOT).to_vec(),
            is_guessed: false,
            origin: Vec::new(),
        };
        // Each level of callers looks at the stacks again.
        let work = self.len().saturating_mul(16).saturating_add(max_nodes.saturating_mul(64));
        let tree = grow(first, max_nodes, work, |bud| match functions.take() {
            None => self.callers_of(&bud.origin, &self.self_costs),
            Some(groups) => {
                let function = |group: usize| {
                    let origin: Vec<Origin> = nodes_of(group).iter().map(|&id| (id, id)).collect();
                    Bud {
                        item: self.node(origin[0].0).item,
                        parent: None,
                        count: origin.iter().map(|&(id, _)| self.node(id).count).sum(),
                        costs: sum_of_starts(&self.self_costs, &origin),
                        is_guessed: false,
                        origin,
                    }
                };
                Callers {
                    buds: groups.into_iter().map(function).collect(),
                    hidden,
                    rest: self.self_cost(TreeNodeId::ROOT).to_vec(),
                    is_rest_guessed: false,
                    work: 0,
                }
            }
        });
        tree.finish(self.basis.clone())
    }
}

/// The origin of the callers of a node.
#[derive(Clone, Copy)]
enum Place {
    Program,
    /// A function that is in no cycle.
    Function(NodeId),
    /// A member of this cycle.
    Member(NodeId),
    Caller(NodeId),
}

impl CallTree<Unit> {
    /// Estimates the bottom-up tree of a call graph: its root has the whole cost, the nodes below it are functions with
    /// their self costs, and below each are its callers. A member of a cycle has the cycle as its caller.
    ///
    /// ```
    /// use gristmill_profile::analysis::{CallArc, CallGraph, CallTree, Cycles, TreeBasis, TreeNodeId};
    ///
    /// // `main` calls `read` and `parse`, which also calls `read`.
    /// let mut builder = CallGraph::builder(1);
    /// let [main, parse, read] = [1, 10, 40].map(|cost| builder.add_node(&[cost]));
    /// for (caller, callee, cost) in [(main, parse, 40), (main, read, 10), (parse, read, 30)] {
    ///     builder.add_arc(CallArc { caller, callee, count: 1 }, &[cost]);
    /// }
    /// let graph = builder.build();
    ///
    /// let tree = CallTree::estimate_bottom_up(&graph, &Cycles::new(&graph), 100);
    /// let costs = |id| tree.children(id).map(|child| tree.inclusive(child)[0]).collect::<Vec<_>>();
    /// assert_eq!(costs(TreeNodeId::ROOT), [40, 10, 1]);
    /// let read = tree.children(TreeNodeId::ROOT).next().expect("the most expensive function");
    /// assert_eq!(costs(read), [30, 10]);
    /// assert_eq!(tree.basis(), &TreeBasis::Estimate { guessed: vec![0] });
    /// ```
    ///
    /// # Panics
    ///
    /// If `cycles` are not those of the graph.
    pub fn estimate_bottom_up(graph: &CallGraph, cycles: &Cycles, max_nodes: usize) -> CallTree<Unit> {
        Estimator::new(graph, cycles).bottom_up(graph, cycles, max_nodes)
    }
}

impl Estimator {
    /// Estimates the bottom-up tree of the graph that the estimator was made of.
    ///
    /// # Panics
    ///
    /// If it is another graph, or if `cycles` are not those of the graph.
    pub fn bottom_up(&self, graph: &CallGraph, cycles: &Cycles, max_nodes: usize) -> CallTree<Unit> {
        let known = self.known();
        let (condensed, units) = (&self.condensation.graph, &self.condensation.units[..]);
        // The arcs to a function that calls nothing state its self cost.
        let is_stated = |unit: NodeId| known.inclusive(unit) == condensed.self_cost(unit);
        let place = |node: NodeId| {
            let unit = self.condensation.node_of(node);
            if cycles.cycle_of(node).is_some() { Place::Member(unit) } else { Place::Function(unit) }
        };
        let guessed = self.guessed_bottom_up.get_or_init(|| {
            let mut guessed = vec![0; graph.width()];
            for node in graph.nodes() {
                let costs = graph.self_cost(node);
                match place(node) {
                    Place::Function(unit) if is_stated(unit) => {
                        add(&mut guessed, &known.guessed(unit, costs))
                    }
                    Place::Function(unit) | Place::Member(unit) if !known.has_one_stack(unit) => {
                        add(&mut guessed, costs);
                    }
                    _ => {}
                }
            }
            graph.kinds().derive(&mut guessed);
            guessed
        });

        let (functions, hidden) =
            most_expensive(graph.nodes(), |node| weight(graph.self_cost(node)), max_nodes);
        let function = |&node: &NodeId| Bud {
            item: Some(Unit::Node(node)),
            parent: None,
            count: graph.call_count(node),
            costs: graph.self_cost(node).to_vec(),
            is_guessed: false,
            origin: place(node),
        };
        let work = graph.arcs().len().saturating_mul(2).saturating_add(max_nodes.saturating_mul(16));
        let first = Bud {
            item: None,
            parent: None,
            count: 0,
            costs: graph.total(),
            is_guessed: false,
            origin: Place::Program,
        };
        let mut tree = grow(first, max_nodes, work, |bud| {
            let callers = |unit, is_stated| {
                let asked = Asked { costs: &bud.costs, is_guessed: bud.is_guessed, is_stated, max_nodes };
                known.callers(units, unit, &asked, Place::Caller)
            };
            match bud.origin {
                Place::Program => Callers {
                    buds: functions.iter().map(function).collect(),
                    hidden,
                    rest: vec![0; graph.width()],
                    is_rest_guessed: false,
                    work: 0,
                },
                Place::Member(unit) => Callers {
                    buds: vec![Bud {
                        item: Some(units[unit.index()]),
                        parent: None,
                        count: 0,
                        costs: bud.costs.clone(),
                        is_guessed: false,
                        origin: Place::Caller(unit),
                    }],
                    hidden: 0,
                    rest: vec![0; graph.width()],
                    is_rest_guessed: false,
                    work: 1,
                },
                Place::Function(unit) => callers(unit, is_stated(unit)),
                Place::Caller(unit) => callers(unit, false),
            }
        });
        tree.derive(graph.kinds());
        tree.finish(TreeBasis::Estimate { guessed: guessed.clone() })
    }
}
