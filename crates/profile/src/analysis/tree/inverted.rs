//! Inverted trees: the callers of a function, their callers, and so on, each with its share of the function's cost.
//!
//! From a tree of known stacks this is exact. From a call graph it is an estimate: the cost of a function is divided among
//! its callers as their arcs say, and the share of each caller among its own callers in the same way, as if all its calls
//! were alike.

use std::collections::BTreeMap;
use std::hash::Hash;

use gristmill_format::Cost;

use crate::analysis::cycle::{Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId, TreeNodeId};
use crate::analysis::tree::estimate::divide;
use crate::analysis::tree::growing::{Frontier, GrowingTree};
use crate::analysis::tree::{CallTree, TreeBasis, TreeNode};
use crate::cost::add;

/// A tree node still to be made.
struct Bud<T, P> {
    item: Option<T>,
    parent: Option<TreeNodeId>,
    count: Cost,
    costs: Vec<Cost>,
    is_guessed: bool,
    /// The origin of its callers.
    origin: P,
}

/// The callers of a bud.
struct Callers<T, P> {
    buds: Vec<Bud<T, P>>,
    /// Cost of the bud that comes from no caller.
    rest: Vec<Cost>,
    /// Effort of finding them.
    work: usize,
}

/// Grows a tree, the most expensive nodes first. `callers` finds the callers of a bud.
fn grow<T: Copy, P>(
    first: Bud<T, P>,
    max_nodes: usize,
    mut work: usize,
    mut callers: impl FnMut(&Bud<T, P>) -> Callers<T, P>,
) -> GrowingTree<T> {
    let weight = |bud: &Bud<T, P>| bud.costs.first().map_or(0, |cost| cost.unsigned_abs());
    let mut tree = GrowingTree::new(first.costs.len());
    let mut frontier = Frontier::new();
    frontier.push(weight(&first), first);
    while let Some(bud) = frontier.pop() {
        if let Some(parent) = bud.parent
            && (tree.nodes.len() >= max_nodes || work == 0)
        {
            tree.node_mut(parent).hidden += 1;
            continue;
        }
        let Callers { buds, rest, work: done } = callers(&bud);
        work = work.saturating_sub(done);
        let Bud { item, parent, count, costs, is_guessed, .. } = bud;
        let id = tree.push(TreeNode { item, parent, count, hidden: 0, is_guessed }, &rest, &costs);
        for caller in buds {
            frontier.push(weight(&caller), Bud { parent: Some(id), ..caller });
        }
    }
    tree
}

/// A node of the original tree, and the start that it was reached from.
type Origin = (TreeNodeId, TreeNodeId);

impl<T: Copy + Ord + Hash> CallTree<T> {
    /// Returns the inverted tree of some nodes, all of which become its root. `None` if there is no such node.
    ///
    /// The self cost of a node is the cost that comes from no caller above it. See the example of [`CallTree`] for trees.
    pub fn inverted(&self, is_start: impl Fn(TreeNodeId) -> bool, max_nodes: usize) -> Option<CallTree<T>> {
        // In a recursion the outermost call has all of the cost.
        let mut is_within = vec![false; self.len()];
        let mut starts: Vec<Origin> = Vec::new();
        for id in self.ids() {
            let is_below = self.node(id).parent.is_some_and(|parent| is_within[parent.index()]);
            is_within[id.index()] = is_below;
            if !is_below && is_start(id) {
                is_within[id.index()] = true;
                starts.push((id, id));
            }
        }
        let first = Bud {
            item: self.node(starts.first()?.0).item,
            parent: None,
            count: starts.iter().map(|&(id, _)| self.node(id).count).sum(),
            costs: self.sum_of_starts(&starts),
            is_guessed: false,
            origin: starts,
        };
        // Each level looks at all stacks again. The limit keeps the most expensive ones and hides the rest.
        let work = self.len().saturating_mul(4).saturating_add(max_nodes.saturating_mul(64));
        let tree = grow(first, max_nodes, work, |bud| self.callers_of(&bud.origin));
        Some(tree.finish(self.basis.clone()))
    }

    fn callers_of(&self, origins: &[Origin]) -> Callers<T, Vec<Origin>> {
        let mut by_caller: BTreeMap<Option<T>, Vec<Origin>> = BTreeMap::new();
        let mut rest = Vec::new();
        for &(id, start) in origins {
            // The root is the program, which calls nothing.
            match self.node(id).parent.filter(|&parent| self.node(parent).parent.is_some()) {
                Some(parent) => {
                    by_caller.entry(self.node(parent).item).or_default().push((parent, start));
                }
                None => rest.push((id, start)),
            }
        }
        let bud = |(item, callers): (Option<T>, Vec<Origin>)| Bud {
            item,
            parent: None,
            count: self.calls_between(&callers, origins),
            costs: self.sum_of_starts(&callers),
            is_guessed: false,
            origin: callers,
        };
        Callers {
            rest: self.sum_of_starts(&rest),
            work: origins.len(),
            buds: by_caller.into_iter().map(bud).collect(),
        }
    }

    fn sum_of_starts(&self, origins: &[Origin]) -> Vec<Cost> {
        let mut costs = vec![0; self.inclusive.width()];
        origins.iter().for_each(|&(_, start)| add(&mut costs, self.inclusive(start)));
        costs
    }

    /// Returns the count of calls from some nodes to nodes right below them: each of these counts once.
    fn calls_between(&self, callers: &[Origin], below: &[Origin]) -> Cost {
        let mut nodes: Vec<TreeNodeId> = below.iter().map(|&(id, _)| id).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut callers: Vec<TreeNodeId> = callers.iter().map(|&(id, _)| id).collect();
        callers.sort_unstable();
        let is_called = |id: TreeNodeId| {
            self.node(id).parent.is_some_and(|parent| callers.binary_search(&parent).is_ok())
        };
        nodes.into_iter().filter(|&id| is_called(id)).map(|id| self.node(id).count).sum()
    }
}

impl CallTree<Unit> {
    /// Estimates the inverted tree of a node from a call graph.
    ///
    /// # Panics
    ///
    /// If `cycles` are not those of the graph.
    pub fn estimate_inverted(
        graph: &CallGraph,
        cycles: &Cycles,
        from: NodeId,
        max_nodes: usize,
    ) -> CallTree<Unit> {
        let condensation = cycles.condensation(graph);
        let (from, units, graph) = (condensation.node_of(from), &condensation.units, &condensation.graph);
        let costs = graph.self_and_callees(from);
        let guessed = guessed(graph, from, &costs);
        let item = |node: NodeId| Some(units[node.index()]);
        let work = graph.arcs().len().saturating_add(max_nodes.saturating_mul(16));
        let first = Bud {
            item: item(from),
            parent: None,
            count: graph.call_count(from),
            costs,
            is_guessed: false,
            origin: from,
        };
        let tree = grow(first, max_nodes, work, |bud| {
            let shares = shares(graph, bud.origin, &bud.costs);
            // The callers of the function itself are known; which of their own calls led to it is not.
            let is_guessed = bud.is_guessed || bud.parent.is_some() && shares.len() > 1;
            let caller = |(arc, costs): (ArcId, Vec<Cost>)| {
                let arc = graph.arc(arc);
                let (item, origin) = (item(arc.caller), arc.caller);
                Bud { item, parent: None, count: arc.count, costs, is_guessed, origin }
            };
            Callers {
                rest: if shares.is_empty() { bud.costs.clone() } else { vec![0; graph.width()] },
                work: shares.len(),
                buds: shares.into_iter().map(caller).collect(),
            }
        });
        tree.finish(TreeBasis::Estimate { guessed })
    }
}

/// Returns the cost of a node that comes by callers which can be reached in several ways.
fn guessed(graph: &CallGraph, from: NodeId, costs: &[Cost]) -> Vec<Cost> {
    // Callers come before callees, so theirs is known before.
    let mut is_certain = vec![false; graph.node_count()];
    for node in graph.nodes() {
        let mut callers = graph.incoming(node);
        is_certain[node.index()] =
            callers.len() < 2 && callers.all(|arc| is_certain[graph.arc(arc).caller.index()]);
    }
    let mut guessed = vec![0; graph.width()];
    for (arc, costs) in shares(graph, from, costs) {
        if !is_certain[graph.arc(arc).caller.index()] {
            add(&mut guessed, &costs);
        }
    }
    guessed
}

/// Divides the costs of a node among the arcs that enter it.
fn shares(graph: &CallGraph, node: NodeId, costs: &[Cost]) -> Vec<(ArcId, Vec<Cost>)> {
    let callers: Vec<ArcId> = graph.incoming(node).collect();
    let mut shares: Vec<(ArcId, Vec<Cost>)> = callers.iter().map(|&arc| (arc, Vec::new())).collect();
    for (event, &cost) in costs.iter().enumerate() {
        let mut columns = shares.iter_mut();
        divide(graph, &callers, event, cost.saturating_abs(), |_, share| {
            if let Some((_, costs)) = columns.next() {
                costs.push(if cost < 0 { -share } else { share });
            }
        });
    }
    shares
}
