//! Inverted trees: the callers of a function, their callers, and so on, each with its share of the function's cost.
//!
//! From a tree of known stacks this is exact. From a call graph it is an estimate: the cost of a function is divided among
//! its callers as their arcs say, and the share of each caller among its own callers in the same way, as if all its calls
//! were alike.

use std::cmp::Reverse;
use std::hash::Hash;

use gristmill_format::Cost;

use crate::analysis::cycle::{Cycles, Unit};
use crate::analysis::graph::CallGraph;
use crate::analysis::ids::{ArcId, NodeId, TreeNodeId};
use crate::analysis::proportion::proportion;
use crate::analysis::tree::caller_tables::CallerTables;
use crate::analysis::tree::estimate::Estimator;
use crate::analysis::tree::flow::divide;
use crate::analysis::tree::growing::{Frontier, GrowingTree, MANY};
use crate::analysis::tree::recorded::RecordedArcs;
use crate::analysis::tree::{CallTree, TreeBasis, TreeNode};
use crate::cost::{CostTable, add};
use crate::ordered::{OrderedKey, OrderedMap};

/// A tree node still to be made.
pub(super) struct Bud<T, P> {
    pub(super) item: Option<T>,
    pub(super) parent: Option<TreeNodeId>,
    pub(super) count: Cost,
    pub(super) costs: Vec<Cost>,
    pub(super) is_guessed: bool,
    /// The origin of its callers.
    pub(super) origin: P,
}

/// The callers of a bud.
pub(super) struct Callers<T, P> {
    pub(super) buds: Vec<Bud<T, P>>,
    /// The count of callers that are left out because they are too cheap.
    pub(super) hidden: usize,
    /// Cost of the bud that comes from no caller.
    pub(super) rest: Vec<Cost>,
    pub(super) is_rest_guessed: bool,
    /// Effort of finding them.
    pub(super) work: usize,
}

/// Grows a tree, the most expensive nodes first. `callers` finds the callers of a bud.
pub(super) fn grow<T: Copy, P>(
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
            break;
        }
        let Callers { buds, hidden, rest, is_rest_guessed: is_self_guessed, work: done } = callers(&bud);
        work = work.saturating_sub(done);
        let Bud { item, parent, count, costs, is_guessed, .. } = bud;
        // All calls of the caller are counted, whatever led to them.
        let is_count_guessed = false;
        let node = TreeNode { item, parent, count, is_count_guessed, hidden, is_guessed, is_self_guessed };
        let id = tree.push(node, &rest, &costs);
        for caller in buds {
            frontier.push(weight(&caller), Bud { parent: Some(id), ..caller });
        }
        // No more of them than there may be nodes can become one.
        for Bud { parent, .. } in frontier.prune(max_nodes.max(1)) {
            parent.into_iter().for_each(|parent| tree.node_mut(parent).hidden += 1);
        }
    }
    for Bud { parent, .. } in frontier.drain() {
        parent.into_iter().for_each(|parent| tree.node_mut(parent).hidden += 1);
    }
    tree
}

/// A node of the original tree, and the start that it was reached from.
pub(super) type Origin = (TreeNodeId, TreeNodeId);

impl<T: Copy + Ord + Hash + OrderedKey> CallTree<T> {
    /// Returns the inverted tree of some nodes, all of which become its root. `None` if there is no such node.
    ///
    /// The self cost of a node is the cost that comes from no caller. See the example of [`CallTree`] for trees.
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
            costs: sum_of_starts(&self.inclusive, &starts),
            is_guessed: false,
            origin: starts,
        };
        // Each level looks at all stacks again. The limit keeps the most expensive ones and hides the rest.
        let work = self.len().saturating_mul(4).saturating_add(max_nodes.saturating_mul(64));
        let tree = grow(first, max_nodes, work, |bud| self.callers_of(&bud.origin, &self.inclusive));
        Some(tree.finish(self.basis.clone()))
    }

    /// Finds the callers of nodes. Each has the costs of the starts that it leads to.
    pub(super) fn callers_of(&self, origins: &[Origin], costs: &CostTable) -> Callers<T, Vec<Origin>> {
        // The root is the program, which calls nothing.
        let caller_of = |id| self.node(id).parent.filter(|&parent| self.node(parent).parent.is_some());
        // Origins of one node with several starts are one call.
        let mut nodes: Vec<TreeNodeId> = origins.iter().map(|&(id, _)| id).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut by_caller: OrderedMap<Option<T>, (Cost, Vec<Origin>)> = OrderedMap::default();
        for id in nodes {
            if let Some(caller) = caller_of(id) {
                by_caller.or_default(self.node(caller).item).0 += self.node(id).count;
            }
        }
        let mut rest = Vec::new();
        for &(id, start) in origins {
            match caller_of(id) {
                Some(caller) => {
                    by_caller.or_default(self.node(caller).item).1.push((caller, start));
                }
                None => rest.push((id, start)),
            }
        }
        let bud = |(item, (count, callers)): (Option<T>, (Cost, Vec<Origin>))| Bud {
            item,
            parent: None,
            count,
            costs: sum_of_starts(costs, &callers),
            is_guessed: false,
            origin: callers,
        };
        Callers {
            rest: sum_of_starts(costs, &rest),
            is_rest_guessed: false,
            hidden: 0,
            work: origins.len(),
            buds: by_caller.into_iter().map(bud).collect(),
        }
    }
}

pub(super) fn sum_of_starts(costs: &CostTable, origins: &[Origin]) -> Vec<Cost> {
    let mut sum = vec![0; costs.width()];
    origins.iter().for_each(|&(_, start)| add(&mut sum, costs.row(start.index())));
    sum
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
        Estimator::new(graph, cycles).inverted(from, max_nodes)
    }
}

impl Estimator {
    /// Estimates the inverted tree of a node.
    ///
    /// # Panics
    ///
    /// If the graph does not have the node.
    pub fn inverted(&self, from: NodeId, max_nodes: usize) -> CallTree<Unit> {
        let known = self.known();
        let (from, graph, units) =
            (self.condensation.node_of(from), known.graph, &self.condensation.units[..]);
        let costs = graph.self_and_callees(from);
        let mut guessed = known.guessed(from, &costs);
        graph.kinds().derive(&mut guessed);
        let work = graph.arcs().len().saturating_add(max_nodes.saturating_mul(16));
        let first = Bud {
            item: Some(units[from.index()]),
            parent: None,
            count: graph.call_count(from),
            costs,
            is_guessed: false,
            origin: from,
        };
        // The callers of the function itself are known; which of their own calls led to it is not.
        let mut tree = grow(first, max_nodes, work, |bud| {
            let is_first = bud.parent.is_none();
            let asked =
                Asked { costs: &bud.costs, is_guessed: bud.is_guessed, is_stated: is_first, max_nodes };
            known.callers(units, bud.origin, &asked, |caller| caller)
        });
        tree.derive(graph.kinds());
        tree.finish(TreeBasis::Estimate { guessed })
    }

    /// Returns the graph with what its arcs state.
    pub(super) fn known(&self) -> Known<'_> {
        let graph = &self.condensation.graph;
        let recorded = RecordedArcs::new(graph, &self.limits);
        let tables = self.callers.get_or_init(|| CallerTables::new(graph, recorded));
        Known { graph, recorded, tables }
    }
}

/// A call graph without cycles, and what its arcs state.
#[derive(Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) graph: &'a CallGraph,
    recorded: RecordedArcs<'a>,
    tables: &'a CallerTables,
}

/// The origins of a node's cost.
struct Shares {
    /// The part that comes from no caller.
    rest: Vec<Cost>,
    /// The arcs that enter the node, and the part of each.
    arcs: Vec<ArcId>,
    costs: CostTable,
}

/// Costs of a node whose callers are asked for.
pub(super) struct Asked<'b> {
    pub(super) costs: &'b [Cost],
    pub(super) is_guessed: bool,
    /// `true` if the arcs state these costs: then the part of each caller is no guess.
    pub(super) is_stated: bool,
    /// The count of callers that may become nodes.
    pub(super) max_nodes: usize,
}

impl Known<'_> {
    /// Returns the whole cost of a node.
    pub(super) fn inclusive(&self, node: NodeId) -> &[Cost] {
        self.tables.inclusive.row(node.index())
    }

    /// `true` if a single stack leads to a node.
    pub(super) fn has_one_stack(&self, node: NodeId) -> bool {
        self.tables.has_one_stack[node.index()]
    }

    /// Returns the cost of a node that comes by callers which can be reached in several ways, or that the arcs do not
    /// state.
    pub(super) fn guessed(&self, from: NodeId, costs: &[Cost]) -> Vec<Cost> {
        let mut guessed = vec![0; self.graph.width()];
        let Shares { arcs, costs, .. } = self.shares(from, costs);
        for (&arc, costs) in arcs.iter().zip(costs.rows()) {
            if !self.has_one_stack(self.graph.caller(arc)) || self.recorded.contradicts(arc, costs) {
                add(&mut guessed, costs);
            }
        }
        guessed
    }

    /// Finds the callers of costs of a node. Of more than may become nodes, only the most expensive ones are made.
    pub(super) fn callers<P>(
        &self,
        units: &[Unit],
        node: NodeId,
        asked: &Asked<'_>,
        origin: impl Fn(NodeId) -> P,
    ) -> Callers<Unit, P> {
        let &Asked { costs, is_guessed, is_stated, max_nodes } = asked;
        let Shares { rest, arcs, costs } = self.shares(node, costs);
        // What comes from no caller can be all of a cost of which its share would be 0.
        let has_surplus = self.tables.surplus.row(node.index()).iter().any(|&cost| cost != 0);
        let way_count = arcs.len() + usize::from(has_surplus);
        let is_guessed = is_guessed || !is_stated && way_count > 1;
        let caller = |nth: usize| {
            let (id, costs) = (arcs[nth], costs.row(nth));
            let arc = self.graph.arc(id);
            let contradicts =
                self.recorded.is_exceeded(id, costs) || is_stated && self.recorded.contradicts(id, costs);
            Bud {
                item: Some(units[arc.caller.index()]),
                parent: None,
                count: arc.count,
                costs: costs.to_vec(),
                is_guessed: is_guessed || contradicts,
                origin: origin(arc.caller),
            }
        };
        let weight = |nth: usize| costs.row(nth).first().map_or(0, |cost| cost.unsigned_abs());
        let buds: Vec<Bud<Unit, P>> = if arcs.len() > max_nodes.saturating_mul(2).saturating_add(MANY) {
            let mut first: Vec<_> = (0..arcs.len()).map(|nth| (Reverse(weight(nth)), nth)).collect();
            first.select_nth_unstable(max_nodes);
            let mut is_first = vec![false; arcs.len()];
            first[..max_nodes].iter().for_each(|&(_, nth)| is_first[nth] = true);
            (0..arcs.len()).filter(|&nth| is_first[nth]).map(caller).collect()
        } else {
            (0..arcs.len()).map(caller).collect()
        };
        Callers { hidden: arcs.len() - buds.len(), buds, rest, is_rest_guessed: is_guessed, work: arcs.len() }
    }

    /// Divides costs of a node among the arcs that enter it, in proportion to what these state. All costs of a node that
    /// nothing calls are the rest.
    fn shares(&self, node: NodeId, costs: &[Cost]) -> Shares {
        let arcs: Vec<ArcId> = self.graph.incoming(node).collect();
        let mut shares = CostTable::new(self.graph.width(), arcs.len());
        if arcs.is_empty() {
            return Shares { rest: costs.to_vec(), arcs, costs: shares };
        }
        let mut rest = vec![0; self.graph.width()];
        for (event, &cost) in costs.iter().enumerate() {
            let (beyond, whole) = (
                self.tables.surplus.row(node.index())[event],
                self.tables.inclusive.row(node.index())[event],
            );
            // Only costs from 0 up have a surplus.
            rest[event] = if beyond > 0 { proportion(cost, beyond, whole) } else { 0 };
            let amount = cost.saturating_abs() - rest[event];
            divide(self.graph, &arcs, event, amount, |nth, share| {
                shares.row_mut(nth)[event] = if cost < 0 { -share } else { share };
            });
        }
        Shares { rest, arcs, costs: shares }
    }
}
