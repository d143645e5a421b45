//! Call trees that are kept between questions, with what flame graphs, treemaps and call graphs need of them.

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_report::{EntryKind, Head, Node, SubjectId, Tree, TreeOptions, View};

use crate::answer::FlameFunction;

/// The most members that are named of a cycle, which can have a million.
pub(crate) const MAX_MEMBERS: usize = 100;
/// The most nodes of a kept tree: as many as a picture has frames.
const MAX_NODES: usize = 20_000;

/// The properties that decide a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TreeKey {
    pub(crate) from: Option<SubjectId>,
    pub(crate) inverted: bool,
}

/// A call tree of the most expensive nodes.
#[derive(Debug)]
pub(crate) struct KeptTree {
    pub(crate) tree: Tree,
    /// By node: the first of `children`.
    first_child: Vec<usize>,
    /// The children of all nodes, those of one node together, the most expensive first.
    children: Vec<usize>,
    /// By entry: the sum of inclusive costs over all of its nodes that are not below another node of it.
    outermost: Vec<Vec<Cost>>,
}

impl KeptTree {
    pub(crate) fn new(view: &View, key: TreeKey) -> Self {
        let options = TreeOptions {
            from: key.from,
            inverted: key.inverted,
            min_share: 0,
            max_depth: None,
            limit: Some(MAX_NODES),
            max_members: Some(MAX_MEMBERS),
            splits_chains: true,
        };
        let tree = Tree::new(view, &options);
        let mut first_child = vec![0; tree.nodes.len() + 1];
        for node in &tree.nodes {
            if let Some(parent) = node.parent {
                first_child[parent + 1] += 1;
            }
        }
        for nth in 1..first_child.len() {
            first_child[nth] += first_child[nth - 1];
        }
        let mut next = first_child.clone();
        let mut children = vec![0; tree.nodes.len().saturating_sub(1)];
        for (id, node) in tree.nodes.iter().enumerate() {
            if let Some(parent) = node.parent {
                children[next[parent]] = id;
                next[parent] += 1;
            }
        }
        let outermost = outermost(&tree);
        KeptTree { tree, first_child, children, outermost }
    }

    pub(crate) fn node(&self, id: usize) -> &Node {
        &self.tree.nodes[id]
    }

    /// Returns the children of a node, the most expensive first.
    pub(crate) fn children(&self, id: usize) -> &[usize] {
        &self.children[self.first_child[id]..self.first_child[id + 1]]
    }

    /// Returns the node that names of functions below the root lead to, as far as they do. Of several children with that
    /// name it is the most expensive one.
    pub(crate) fn find(&self, names: &[String]) -> usize {
        let mut at = 0;
        for name in names {
            let of_name = |&id: &usize| self.tree.entries[self.node(id).entry].name == *name;
            match self.children(at).iter().copied().find(of_name) {
                Some(child) => at = child,
                None => break,
            }
        }
        at
    }

    /// Returns the functions in the tree with their costs, without what is counted already in an outer node of the same
    /// function.
    pub(crate) fn costs_of(&self) -> impl Iterator<Item = (usize, &[Cost])> {
        self.tree
            .entries
            .iter()
            .zip(&self.outermost)
            .filter_map(|(entry, costs)| Some((entry.id?, &costs[..])))
    }

    /// Does the same for cycles, by their numbers.
    pub(crate) fn cycle_costs(&self) -> impl Iterator<Item = (usize, &[Cost])> {
        self.tree
            .entries
            .iter()
            .zip(&self.outermost)
            .filter_map(|(entry, costs)| Some((entry.cycle?, &costs[..])))
    }
}

/// The things that drawn nodes stand for, in the order of their first use.
pub(crate) struct Drawn<'t> {
    kept: &'t KeptTree,
    head: &'t Head,
    index_of: Vec<Option<usize>>,
    pub(crate) functions: Vec<FlameFunction>,
}

impl<'t> Drawn<'t> {
    pub(crate) fn new(kept: &'t KeptTree, head: &'t Head) -> Self {
        Drawn { kept, head, index_of: vec![None; kept.tree.entries.len()], functions: Vec::new() }
    }

    /// Returns the index of what a node stands for.
    pub(crate) fn index(&mut self, node: &Node) -> usize {
        if let Some(index) = self.index_of[node.entry] {
            return index;
        }
        let entry = &self.kept.tree.entries[node.entry];
        self.functions.push(FlameFunction {
            id: entry.id.and_then(|id| u32::try_from(id).ok()).filter(|_| entry.kind == EntryKind::Function),
            name: entry.name.clone(),
            file: entry.file.clone(),
            object: entry.object.clone(),
            all: Costs::new(&self.head.event_types, &self.kept.outermost[node.entry][..]),
        });
        let index = self.functions.len() - 1;
        self.index_of[node.entry] = Some(index);
        index
    }
}

/// Returns the sum of the inclusive costs of each entry, without nodes below another one of the same entry.
fn outermost(tree: &Tree) -> Vec<Vec<Cost>> {
    let width = tree.head.totals.len();
    let mut sums = vec![vec![0; width]; tree.entries.len()];
    // By entry: the count of its nodes on the way from the root.
    let mut open = vec![0_usize; tree.entries.len()];
    let mut way: Vec<usize> = Vec::new();
    for node in &tree.nodes {
        while way.len() > node.depth {
            if let Some(entry) = way.pop() {
                open[entry] -= 1;
            }
        }
        if open[node.entry] == 0 {
            add(&mut sums[node.entry], &node.inclusive);
        }
        open[node.entry] += 1;
        way.push(node.entry);
    }
    sums
}

/// Adds costs, which end at the limits of their type.
pub(crate) fn add(sum: &mut [Cost], costs: &[Cost]) {
    sum.iter_mut().zip(costs).for_each(|(sum, cost)| *sum = sum.saturating_add(*cost));
}
