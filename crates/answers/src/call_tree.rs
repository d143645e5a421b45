//! Call trees that are kept between questions, with what flame graphs, treemaps and call graphs need of them.

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_report::{EntryKind, Head, Node, SubjectId, Tree, TreeOptions, View};

use crate::answer::FlameFunction;
use crate::picture_tree::{Children, PictureTree};

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
    children: Children,
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
            is_for_people: false,
            splits_chains: true,
        };
        let tree = Tree::new(view, &options);
        let children = Children::new(tree.nodes.iter().map(|node| node.parent));
        let outermost = outermost(&tree);
        KeptTree { tree, children, outermost }
    }

    pub(crate) fn node(&self, id: usize) -> &Node {
        &self.tree.nodes[id]
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

impl PictureTree for KeptTree {
    fn parent(&self, id: usize) -> Option<usize> {
        self.node(id).parent
    }

    fn depth(&self, id: usize) -> usize {
        self.node(id).depth
    }

    fn children(&self, id: usize) -> &[usize] {
        self.children.of(id)
    }

    fn name(&self, id: usize) -> &str {
        &self.tree.entries[self.node(id).entry].name
    }

    fn size(&self, id: usize) -> Cost {
        self.node(id).inclusive[0]
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
