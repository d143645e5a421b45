//! The call tree: what called what called what, exact where the files tell, and otherwise an estimate that says so.

mod json;
mod source;
mod text;

use std::collections::HashMap;

use gristmill_format::Cost;
use gristmill_profile::analysis::{CallTree, TreeBasis, TreeLimits, TreeNode, TreeNodeId};

use crate::head::Head;
use crate::view::{SubjectId, View};
use source::{Entries, Item, Source};
pub(crate) use text::fitted;

/// What to show.
#[derive(Debug, Clone, Default)]
pub struct TreeOptions {
    /// The function to begin with, and not the program.
    pub from: Option<SubjectId>,
    /// Shows what called that function, and not what it called.
    pub inverted: bool,
    /// Leaves out what costs less than this share of the root, in thousandths.
    pub least: u32,
    /// Shows so many levels below the root.
    pub depth: Option<usize>,
    /// Shows so many nodes at most.
    pub limit: Option<usize>,
}

/// However much is asked for: an estimate of a small file may have any number of nodes.
const MAX_NODES: usize = 1_000_000;

/// What a node stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its name. It may hold anything; see [`printable`](gristmill_output::printable).
    pub name: String,
    /// Its source file; empty where there is none or it is not known.
    pub file: String,
    /// Its object; empty where there is none or it is not known.
    pub object: String,
    /// The names of a cycle's members.
    pub members: Vec<String>,
}

/// The kinds of what a node stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// The program as a whole, above all functions that nothing calls.
    Program,
    /// A function.
    Function,
    /// A cycle, by number: its members are not told apart.
    Cycle(usize),
}

/// A node of the tree. Costs are by shown column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it stands for: its place in [`Tree::entries`].
    pub entry: usize,
    /// The node above, which comes before this one; none for the root.
    pub parent: Option<usize>,
    /// How far below the root it is.
    pub depth: usize,
    /// How often it was called by the node above. In an inverted tree, how often it called that one.
    pub count: Cost,
    /// What it cost by itself. In an inverted tree, what of the cost comes from nowhere above.
    pub self_costs: Vec<Cost>,
    /// What it cost with all below.
    pub inclusive: Vec<Cost>,
    /// How many nodes are shown right below.
    pub children: usize,
    /// How many were left out right below.
    pub hidden: usize,
    /// What these cost.
    pub hidden_costs: Vec<Cost>,
    /// Its cost, or a part of it, is here by a guess.
    pub is_guessed: bool,
}

/// The call tree.
#[derive(Debug)]
pub struct Tree<'v> {
    view: &'v View,
    /// What stands above it.
    pub head: Head,
    /// What it is based on; costs are by shown column.
    pub basis: TreeBasis,
    /// The nodes that are shown: each before those below it, and these by cost. The first one is the root.
    pub nodes: Vec<Node>,
    /// What the nodes stand for, in the order in which they first come.
    pub entries: Vec<Entry>,
    /// The function that the tree begins with, if it is not the program.
    pub from: Option<String>,
    unequal_calls: usize,
    inverted: bool,
    least: u32,
    depth: Option<usize>,
    is_limited: bool,
}

impl<'v> Tree<'v> {
    /// Makes the tree of a view.
    pub fn new(view: &'v View, options: &TreeOptions) -> Self {
        // The program itself is no node that anyone asked for.
        let max_nodes = options.limit.unwrap_or(MAX_NODES).clamp(1, MAX_NODES);
        let max_nodes = max_nodes + usize::from(options.from.is_none());
        let Source { tree, unequal_calls, entries: source } = Source::new(view, options, max_nodes);
        let limits = TreeLimits::from_share(tree.inclusive(TreeNodeId::ROOT)[0], options.least, max_nodes);
        let tree = tree.selected(limits, options.depth.unwrap_or(usize::MAX), |item| source.name(item));
        let (nodes, entries) = rows(&tree, &source);
        Tree {
            head: Head::new(view),
            basis: tree.basis().clone(),
            unequal_calls,
            is_limited: nodes.len() >= max_nodes,
            nodes,
            entries,
            from: options.from.map(|from| view.subject(from).name().to_owned()),
            inverted: options.inverted,
            least: options.least,
            depth: options.depth,
            view,
        }
    }

    /// What a node stands for.
    fn entry(&self, node: &Node) -> &Entry {
        &self.entries[node.entry]
    }
}

/// Makes rows of the nodes of a tree, and lists what they stand for.
fn rows(tree: &CallTree<Item>, source: &Entries<'_>) -> (Vec<Node>, Vec<Entry>) {
    let mut nodes: Vec<Node> = Vec::with_capacity(tree.len());
    let mut entries = Vec::new();
    let mut entry_of: HashMap<Option<Item>, usize> = HashMap::new();
    for id in tree.ids() {
        let TreeNode { item, parent, count, hidden, is_guessed } = *tree.node(id);
        let parent = parent.map(TreeNodeId::index);
        nodes.push(Node {
            entry: *entry_of.entry(item).or_insert_with(|| {
                entries.push(source.entry(item));
                entries.len() - 1
            }),
            parent,
            depth: parent.map_or(0, |parent| nodes[parent].depth + 1),
            count,
            self_costs: tree.self_cost(id).to_vec(),
            inclusive: tree.inclusive(id).to_vec(),
            children: tree.children(id).len(),
            hidden,
            hidden_costs: tree.hidden_cost(id),
            is_guessed,
        });
    }
    (nodes, entries)
}
