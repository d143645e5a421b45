//! The call trees of all runs, joined by path.
//!
//! Each run has a tree of its own, made as `gristmill tree` makes it: what happened if the file has it, and else an estimate
//! from the call graph. A path of the joined tree is a sequence of joined functions. A change is only as certain as the
//! numbers of both sides are, so a node is marked if the tree of a run marks it, or if it is not what the arc of this run
//! states. A tree of the differences of costs would divide differences among callers, which no file proves.
//!
//! A cycle of functions that call each other is one node. Cycles are those of all runs together, so that both sides have
//! the same ones.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::Hash;

use gristmill_format::Cost;

use super::lines::RecordedRow;
use super::names::normal_name;
use super::{Change, Comparison, JoinedId, Side};
use crate::analysis::{
    CallArc, CallGraph, CallTree, CallerNameId, Cycles, ExactTree, RecordedCallers, TreeLimits, TreeNode,
    TreeNodeId, Unit,
};
use crate::cost::CostTable;
use crate::csr::Csr;
use crate::interner::Interner;
use crate::ordered::{OrderedKey, OrderedMap};

/// The item of a node of a [`ComparedTree`], which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ComparedItem {
    /// A function.
    Function(JoinedId),
    /// A cycle: an index in [`ComparedTree::cycles`].
    Cycle(usize),
    /// A name, in trees of recorded callers: an index in [`ComparedTree::names`]. Such a name need not be a function.
    Name(usize),
}

/// The origin of a [`ComparedTree`], which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedBasis {
    /// The files of all runs have each call.
    Exact,
    /// The names of all runs contain callers.
    Callers,
    /// The tree of a run is an estimate.
    Estimate,
}

/// The limits of a [`ComparedTree`], which has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedTreeLimits {
    /// Leaves out nodes if neither they nor a node below them changed by this share of the greatest change of a node, in
    /// hundred-thousandths.
    pub min_share: u32,
    /// The greatest count of nodes. There is always a root.
    pub max_nodes: usize,
    /// The most levels below the root.
    pub max_depth: usize,
}

/// The part of the call trees that a [`ComparedTree`] has. The default is all of them, from the start of the program.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, ComparedTreeLimits, ComparedTreeView, Comparison};
///
/// let base = Profile::from_bytes(b"events: Ir\nfn=main\n5 100\ncfn=grind\ncalls=2 9\n6 40\nfn=grind\n9 40\n");
/// let new = Profile::from_bytes(b"events: Ir\nfn=main\n5 100\ncfn=grind\ncalls=3 9\n6 60\nfn=grind\n9 60\n");
/// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
/// let grind = comparison.functions().find(|&function| comparison.mention(function).name == b"grind");
/// let view = ComparedTreeView { from: grind, is_inverted: true, by_size: true };
/// let limits = ComparedTreeLimits { min_share: 0, max_nodes: 10, max_depth: 10 };
/// let tree = comparison.call_tree_of(&[0], limits, view);
/// // `grind`, and above it `main`.
/// let costs: Vec<_> = tree.nodes.iter().map(|node| (node.inclusive[0].base.median, node.inclusive[0].delta())).collect();
/// assert_eq!(costs, [(40, 20), (40, 20)]);
/// # Ok::<(), gristmill_profile::compare::CompareError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ComparedTreeView {
    /// The function that the trees begin with instead of the program.
    pub from: Option<JoinedId>,
    /// `true` for callers below what they call. Without a function, for all functions by self cost.
    pub is_inverted: bool,
    /// `true` if the nodes of the greatest cost on a side are selected first, not those of the greatest change.
    pub by_size: bool,
}

/// A node of a [`ComparedTree`], which has an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedTreeNode {
    /// The item; `None` for the program as a whole.
    pub item: Option<ComparedItem>,
    /// The index of the node above, which comes before this one; `None` for the root.
    pub parent: Option<usize>,
    /// The depth: 0 for the root.
    pub depth: usize,
    /// The count of calls by the node above.
    pub count: Change,
    /// `true` if the count of a side is an estimate.
    pub is_count_guessed: bool,
    /// Self cost by column.
    pub self_costs: Vec<Change>,
    /// The cost of the node with everything below it, by column.
    pub inclusive: Vec<Change>,
    /// The count of nodes right below that are left out, at least.
    pub hidden: usize,
    /// `true` if the inclusive cost of a side is an estimate, or not what the calls state.
    pub is_guessed: bool,
    /// `true` if the self cost of a side is an estimate.
    pub is_self_guessed: bool,
}

/// The call trees of both sides, joined by path. Made by [`Comparison::call_tree`].
///
/// Nodes are in the order in which a tree is printed; siblings are in the order of the size of the change of the first column.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, ComparedTreeLimits, Comparison};
///
/// let base = Profile::from_bytes(b"events: Ir\nfn=main\n5 100\ncfn=grind\ncalls=2 9\n6 40\nfn=grind\n9 40\n");
/// let new = Profile::from_bytes(b"events: Ir\nfn=main\n5 100\ncfn=grind\ncalls=3 9\n6 60\nfn=grind\n9 60\n");
/// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
/// let limits = ComparedTreeLimits { min_share: 0, max_nodes: 10, max_depth: 10 };
/// let tree = comparison.call_tree(&[0], limits);
/// let changes: Vec<_> = tree.nodes.iter().map(|node| node.inclusive[0].delta()).collect();
/// // The program, `main`, `grind`.
/// assert_eq!(changes, [20, 20, 20]);
/// assert_eq!(tree.nodes[2].count.delta(), 1);
/// # Ok::<(), gristmill_profile::compare::CompareError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedTree {
    /// The nodes that are selected. The first one is the root.
    pub nodes: Vec<ComparedTreeNode>,
    /// The origin.
    pub basis: ComparedBasis,
    /// The members of each cycle.
    pub cycles: Vec<Vec<JoinedId>>,
    /// Names as recorded, for trees of recorded callers.
    pub names: Vec<Vec<u8>>,
    /// `true` if nodes were left out by their count.
    pub is_limited: bool,
}

/// The limit of nodes of the tree of a run. What it leaves out is unknown in the joined tree, and is left out there.
const MAX_NODES_OF_RUN: usize = 50_000;

/// Bytes of a node of the tree of a run besides its costs, with those of nodes that may still come below.
const NODE_BYTES: usize = 300;
/// Costs of a node for each event type: its own, the inclusive ones, and one of them again when the tree is put in order.
const COSTS_PER_NODE: usize = 3;
/// Bytes of a node of a run in the joined tree besides its costs: two for each column.
const ROW_BYTES: usize = 170;

impl Comparison<'_> {
    /// Makes the call tree of each run by itself, and joins them by path.
    pub fn call_tree(&self, columns: &[usize], limits: ComparedTreeLimits) -> ComparedTree {
        self.call_tree_of(columns, limits, ComparedTreeView::default())
    }

    /// Does the same for a part of the trees, or for inverted trees.
    pub fn call_tree_of(
        &self,
        columns: &[usize],
        limits: ComparedTreeLimits,
        view: ComparedTreeView,
    ) -> ComparedTree {
        let cycles = Cycles::with_ranks(&self.measured.links);
        let mut joining = Joining::new(self.runs.len(), columns.len());
        let max_nodes = self.max_nodes_of_run(columns.len());
        let exact: Vec<Option<CallTree<JoinedId>>> =
            (0..self.runs.len()).map(|run| self.exact_tree(run, columns)).collect();
        // Recorded callers are names, of which nobody knows which function they are: from a function on, there is an estimate.
        let has_callers = exact.iter().all(Option::is_none) && view.from.is_none();
        let callers = if has_callers { self.caller_trees(columns) } else { None };
        let mut names = Vec::new();
        let basis = if exact.iter().all(Option::is_some) {
            for (run, tree) in exact.into_iter().flatten().enumerate() {
                if let Some(tree) = part_of(tree, view, max_nodes, |function| Some(function) == view.from) {
                    joining.add(run, &tree, false, ComparedItem::Function);
                }
            }
            ComparedBasis::Exact
        } else if let Some((trees, all_names)) = callers {
            for (run, (tree, name_of)) in trees.into_iter().enumerate() {
                if let Some(tree) = part_of(tree, view, max_nodes, |_| false) {
                    joining.add(run, &tree, false, |name| ComparedItem::Name(name_of[name.index()]));
                }
            }
            names = all_names;
            ComparedBasis::Callers
        } else {
            let unit = |unit| match unit {
                Unit::Node(node) => ComparedItem::Function(JoinedId::from_node(node)),
                Unit::Cycle(cycle) => ComparedItem::Cycle(cycle.index()),
            };
            for (run, tree) in exact.into_iter().enumerate() {
                match tree {
                    Some(tree) => {
                        let is_from = |function| Some(function) == view.from;
                        if let Some(tree) = part_of(tree, view, max_nodes, is_from) {
                            joining.add(run, &tree, true, |function| unit(cycles.unit(function.node())));
                        }
                    }
                    None => {
                        let tree = self.estimated_tree(run, columns, &cycles, view, max_nodes);
                        joining.add(run, &tree, true, unit);
                    }
                }
            }
            ComparedBasis::Estimate
        };
        let sides: Vec<Side> = self.runs.iter().map(|run| run.side).collect();
        let members = |cycle| cycles.members(cycle).iter().map(|&node| JoinedId::from_node(node)).collect();
        let (mut nodes, is_limited) = joining.select(&sides, limits, view.by_size);
        if let (Some(from), Some(root)) = (view.from, nodes.first_mut()) {
            root.item = Some(match cycles.unit(from.node()) {
                Unit::Cycle(cycle) if basis == ComparedBasis::Estimate => ComparedItem::Cycle(cycle.index()),
                _ => ComparedItem::Function(from),
            });
        }
        ComparedTree { nodes, basis, cycles: cycles.ids().map(members).collect(), names, is_limited }
    }

    /// Returns how many nodes the estimate of a run may have, so that all of them fit into memory.
    fn max_nodes_of_run(&self, columns: usize) -> usize {
        let rows = self.runs.len() * (ROW_BYTES + 2 * columns * size_of::<Cost>());
        let node_bytes = NODE_BYTES + COSTS_PER_NODE * self.columns.width() * size_of::<Cost>() + rows;
        (self.bytes_left() / node_bytes).min(MAX_NODES_OF_RUN)
    }

    /// Returns the exact tree of a run, if its blocks are invocations, and their costs fit into memory.
    fn exact_tree(&self, run: usize, wanted: &[usize]) -> Option<CallTree<JoinedId>> {
        let profile = self.runs[run].profile;
        let tree = ExactTree::from_profile(profile, &self.selection).ok()?;
        if tree.call_count() == 0 {
            return None;
        }
        let tree = tree.finish().folded(|function| self.identity.joined(run, function));
        self.with_columns(run, tree, wanted)
    }

    /// Returns the trees of all runs if the names of all contain callers, with the names that their items stand for.
    #[expect(clippy::type_complexity, reason = "used once")]
    fn caller_trees(
        &self,
        wanted: &[usize],
    ) -> Option<(Vec<(CallTree<CallerNameId>, Vec<usize>)>, Vec<Vec<u8>>)> {
        if self.joining.fold_callers {
            return None;
        }
        let (mut trees, mut names) = (Vec::new(), Vec::new());
        let mut bytes_left = self.memory_budget().bytes();
        let mut interner = Interner::default();
        for run in 0..self.runs.len() {
            let profile = self.runs[run].profile;
            let folds = self.joining.fold_recursion;
            let recorded = RecordedCallers::within(profile, &self.selection, folds, bytes_left)?;
            bytes_left = bytes_left.saturating_sub(recorded.bytes());
            let mut name_of = Vec::with_capacity(recorded.names.len());
            for name in recorded.names {
                let normal = normal_name(&name.name, self.joining.rules, &[]).text;
                let (index, is_first) = interner.intern(normal);
                if is_first {
                    names.push(name.name);
                }
                name_of.push(index);
            }
            trees.push((self.with_columns(run, recorded.tree, wanted)?, name_of));
        }
        Some((trees, names))
    }

    /// Replaces the event types of a profile by columns of the comparison.
    fn with_columns<T>(&self, run: usize, tree: CallTree<T>, wanted: &[usize]) -> Option<CallTree<T>> {
        let mut costs = RecordedRow::new(self, run);
        let map = |row: &[Cost]| -> Result<Vec<Cost>, std::convert::Infallible> {
            let row = row.iter().copied().enumerate();
            Ok(costs.with(row, |costs| wanted.iter().map(|&column| costs.get(column)).collect()))
        };
        tree.with_costs(wanted.len(), map).ok()
    }

    /// Returns the estimate of a run. Nodes that are not what their arcs state are marked.
    fn estimated_tree(
        &self,
        run: usize,
        wanted: &[usize],
        cycles: &Cycles,
        view: ComparedTreeView,
        max_nodes: usize,
    ) -> CallTree<Unit> {
        let wanted: &[usize] = &self.columns.compared_slots(wanted);
        let graph = self.graph(run);
        let limits = TreeLimits { min_cost: 0, max_nodes, keeps_lone: false };
        match view.from.map(JoinedId::node) {
            Some(from) if view.is_inverted => {
                return CallTree::estimate_inverted(&graph, cycles, from, max_nodes).with_columns(wanted);
            }
            Some(from) => return CallTree::estimate(&graph, cycles, Some(from), limits).with_columns(wanted),
            None if view.is_inverted => {
                return CallTree::estimate_bottom_up(&graph, cycles, max_nodes).with_columns(wanted);
            }
            None => {}
        }
        let tree = CallTree::estimate(&graph, cycles, None, limits).with_columns(wanted);
        let stated = stated_costs(&graph, cycles, &tree, wanted);
        tree.marked(|tree, id| {
            let node = tree.node(id);
            let Some(arc) = node.parent.and_then(|above| tree.node(above).item).zip(node.item) else {
                return false;
            };
            stated.get(arc).is_some_and(|arc| arc.stated != arc.in_tree)
        })
    }
}

/// Takes a part of a known tree. `None` if its function is in none of the stacks.
fn part_of<T: Copy + Ord + Hash + OrderedKey>(
    tree: CallTree<T>,
    view: ComparedTreeView,
    max_nodes: usize,
    is_from: impl Fn(T) -> bool,
) -> Option<CallTree<T>> {
    let is_start = |id| tree.node(id).item.is_some_and(&is_from);
    match (view.from, view.is_inverted) {
        (None, false) => Some(tree),
        (None, true) => Some(tree.bottom_up(max_nodes)),
        (Some(_), false) => tree.below(is_start),
        (Some(_), true) => tree.inverted(is_start, max_nodes),
    }
}

/// The costs of the calls from one unit to another.
#[derive(Debug)]
struct ArcCosts {
    /// Over all nodes of a tree.
    in_tree: Vec<Cost>,
    /// As recorded.
    stated: Vec<Cost>,
}

/// Compares the arcs of a tree with those of its graph. Arcs below a node that leaves some out are omitted: their sum is
/// not known.
fn stated_costs(
    graph: &CallGraph,
    cycles: &Cycles,
    tree: &CallTree<Unit>,
    wanted: &[usize],
) -> OrderedMap<(Unit, Unit), ArcCosts> {
    let zeros = || vec![0; wanted.len()];
    let mut arcs: OrderedMap<(Unit, Unit), ArcCosts> = OrderedMap::default();
    for id in tree.ids() {
        let node = tree.node(id);
        if let Some(arc) = node.parent.and_then(|above| tree.node(above).item).zip(node.item) {
            let costs = arcs.or_insert_with(arc, || ArcCosts { in_tree: zeros(), stated: zeros() });
            costs.in_tree.iter_mut().zip(tree.inclusive(id)).for_each(|(sum, cost)| *sum += cost);
        }
    }
    for (id, CallArc { caller, callee, .. }) in graph.arc_ids().zip(graph.arcs()) {
        if let Some(costs) = arcs.get_mut((cycles.unit(caller), cycles.unit(callee))) {
            let row = graph.arc_cost(id);
            costs.stated.iter_mut().zip(wanted).for_each(|(sum, &column)| *sum += row[column]);
        }
    }
    let hides = |&id: &TreeNodeId| tree.node(id).hidden > 0;
    let hiding: OrderedMap<Unit, ()> =
        tree.ids().filter(hides).filter_map(|id| Some((tree.node(id).item?, ()))).collect();
    arcs.retain(|(caller, _), _| !hiding.contains(caller));
    arcs
}

/// The index of no row.
const NO_ROW: u32 = u32::MAX;

/// The part of a run in a joined tree.
#[derive(Debug)]
struct RunRows {
    /// By joined node: the row of the run, or [`NO_ROW`].
    row_of: Vec<u32>,
    self_costs: CostTable,
    inclusive: CostTable,
    counts: CostTable,
    hidden: Vec<usize>,
    is_count_guessed: Vec<bool>,
    is_guessed: Vec<bool>,
    is_self_guessed: Vec<bool>,
}

impl RunRows {
    fn row(&self, node: usize) -> Option<usize> {
        let row = self.row_of.get(node).copied().unwrap_or(NO_ROW);
        (row != NO_ROW).then_some(row as usize)
    }

    /// Returns the row of a joined node; adds it if there is none.
    fn row_or_new(&mut self, node: usize) -> usize {
        if self.row_of.len() <= node {
            self.row_of.resize(node + 1, NO_ROW);
        }
        if self.row_of[node] == NO_ROW {
            self.row_of[node] = crate::id::narrow(self.hidden.len());
            self.self_costs.push_zeros();
            self.inclusive.push_zeros();
            self.counts.push_zeros();
            self.hidden.push(0);
            self.is_count_guessed.push(false);
            self.is_guessed.push(false);
            self.is_self_guessed.push(false);
        }
        self.row_of[node] as usize
    }
}

/// A tree of all paths of all runs, under construction. A node comes after the one above it.
#[derive(Debug)]
struct Joining {
    /// By node: the item, and the node above.
    nodes: Vec<(Option<ComparedItem>, usize)>,
    known: HashMap<(usize, ComparedItem), usize>,
    runs: Vec<RunRows>,
}

impl Joining {
    fn new(runs: usize, width: usize) -> Self {
        let rows = || RunRows {
            row_of: Vec::new(),
            self_costs: CostTable::new(width, 0),
            inclusive: CostTable::new(width, 0),
            counts: CostTable::new(1, 0),
            hidden: Vec::new(),
            is_count_guessed: Vec::new(),
            is_guessed: Vec::new(),
            is_self_guessed: Vec::new(),
        };
        Joining {
            nodes: vec![(None, 0)],
            known: HashMap::new(),
            runs: std::iter::repeat_with(rows).take(runs).collect(),
        }
    }

    /// Adds the tree of a run. With `folds_inner`, a node of the same item as the one above is part of that one.
    fn add<T: Copy + Ord + Hash>(
        &mut self,
        run: usize,
        tree: &CallTree<T>,
        folds_inner: bool,
        item_of: impl Fn(T) -> ComparedItem,
    ) {
        let mut target = vec![0; tree.len()];
        for id in tree.ids() {
            let TreeNode { item, parent, count, is_count_guessed, hidden, is_guessed, is_self_guessed } =
                *tree.node(id);
            let mut is_inner = false;
            if let Some((above, item)) = parent.map(|parent| target[parent.index()]).zip(item.map(&item_of)) {
                is_inner = folds_inner && self.nodes[above].0 == Some(item);
                let next = self.nodes.len();
                target[id.index()] = match is_inner {
                    true => above,
                    false => *self.known.entry((above, item)).or_insert(next),
                };
                if target[id.index()] == next {
                    self.nodes.push((Some(item), above));
                }
            }
            let rows = &mut self.runs[run];
            let row = rows.row_or_new(target[id.index()]);
            rows.self_costs.add(row, tree.self_cost(id));
            rows.hidden[row] += hidden;
            rows.is_guessed[row] |= is_guessed;
            rows.is_self_guessed[row] |= is_self_guessed;
            if !is_inner {
                rows.inclusive.add(row, tree.inclusive(id));
                rows.counts.add(row, &[count]);
                rows.is_count_guessed[row] |= is_count_guessed;
            }
        }
    }

    /// Returns, by node, `true` if the tree of a run may have it among the nodes that it leaves out.
    fn unknown(&self) -> Vec<bool> {
        let mut is_unknown = vec![false; self.nodes.len()];
        for node in 1..self.nodes.len() {
            let above = self.nodes[node].1;
            is_unknown[node] = is_unknown[above]
                || self.runs.iter().any(|run| {
                    run.row(node).is_none() && run.row(above).is_some_and(|row| run.hidden[row] > 0)
                });
        }
        is_unknown
    }

    fn change(
        &self,
        sides: &[Side],
        node: usize,
        column: usize,
        table: fn(&RunRows) -> &CostTable,
    ) -> Change {
        let rows = self.runs.iter().zip(sides);
        let rows = rows.map(|(run, &side)| (side, run.row(node).map(|row| table(run).row(row))));
        Change::from_rows(rows, column)
    }

    fn node(&self, sides: &[Side], node: usize) -> ComparedTreeNode {
        let width = self.runs.first().map_or(0, |run| run.inclusive.width());
        let changes = |table: fn(&RunRows) -> &CostTable| {
            (0..width).map(|column| self.change(sides, node, column, table)).collect()
        };
        let is_any = |flags: fn(&RunRows) -> &Vec<bool>| {
            self.runs.iter().any(|run| run.row(node).is_some_and(|row| flags(run)[row]))
        };
        ComparedTreeNode {
            item: self.nodes[node].0,
            parent: None,
            depth: 0,
            count: self.change(sides, node, 0, |run| &run.counts),
            self_costs: changes(|run| &run.self_costs),
            inclusive: changes(|run| &run.inclusive),
            hidden: 0,
            is_count_guessed: is_any(|run| &run.is_count_guessed),
            is_guessed: is_any(|run| &run.is_guessed),
            is_self_guessed: is_any(|run| &run.is_self_guessed),
        }
    }

    /// Selects the nodes whose change, or that of a node below, is greatest; or those that cost most on a side.
    fn select(
        mut self,
        sides: &[Side],
        limits: ComparedTreeLimits,
        by_size: bool,
    ) -> (Vec<ComparedTreeNode>, bool) {
        self.known = HashMap::new();
        let size = |node| {
            let change = self.change(sides, node, 0, |run| &run.inclusive);
            match by_size {
                false => change.delta().unsigned_abs(),
                true => change.base.median.unsigned_abs().max(change.new.median.unsigned_abs()),
            }
        };
        let own: Vec<u128> = (0..self.nodes.len()).map(size).collect();
        // The greatest change of a node and of all below.
        let mut greatest = own.clone();
        for node in (1..self.nodes.len()).rev() {
            let above = self.nodes[node].1;
            greatest[above] = greatest[above].max(greatest[node]);
        }
        // If nothing changed, no share leaves out what did not change.
        let min_change = greatest[0].saturating_mul(limits.min_share.into()).div_ceil(100_000);
        let min_change = min_change.max(limits.min_share.min(1).into());
        let is_unknown = self.unknown();
        let above = self.nodes.iter().enumerate().map(|(node, &(_, above))| (node > 0).then_some(above));
        let children = Csr::new(self.nodes.len(), above);
        let below = |node| children.get(node).iter().map(|&child| child as usize);
        let mut is_selected = vec![false; self.nodes.len()];
        let mut frontier = BinaryHeap::from([(greatest[0], own[0], Reverse(0), 0)]);
        let mut count = 0;
        while count < limits.max_nodes.max(1)
            && let Some((_, _, Reverse(node), depth)) = frontier.pop()
        {
            is_selected[node] = true;
            count += 1;
            let fits = |&child: &usize| {
                depth < limits.max_depth && !is_unknown[child] && greatest[child] >= min_change
            };
            let fitting = below(node).filter(fits);
            frontier.extend(fitting.map(|child| (greatest[child], own[child], Reverse(child), depth + 1)));
        }
        let is_limited = !frontier.is_empty();
        drop(frontier);
        let mut selected: Vec<ComparedTreeNode> = Vec::with_capacity(count);
        let mut stack: Vec<(usize, Option<usize>)> = vec![(0, None)];
        while let Some((node, parent)) = stack.pop() {
            let mut shown: Vec<usize> = below(node).filter(|&child| is_selected[child]).collect();
            shown.sort_by_key(|&child| {
                (Reverse(own[child]), Reverse(greatest[child]), self.nodes[child].0, child)
            });
            let of_runs = self.runs.iter().filter_map(|run| run.row(node).map(|row| run.hidden[row])).max();
            let depth = parent.map_or(0, |parent: usize| selected[parent].depth + 1);
            let hidden = (children.get(node).len() - shown.len()).max(of_runs.unwrap_or(0));
            selected.push(ComparedTreeNode { parent, depth, hidden, ..self.node(sides, node) });
            let place = selected.len() - 1;
            stack.extend(shown.into_iter().rev().map(|child| (child, Some(place))));
        }
        (selected, is_limited)
    }
}
