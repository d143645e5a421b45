//! The call tree of a difference: the trees of both sides, joined by path, with the changes of each node.
//!
//! `gristmill_profile::compare::Comparison::call_tree` makes the tree. This report makes rows of its nodes; `tree/text` prints
//! them.

mod text;

use std::collections::HashMap;

use gristmill_output::json::{ByEvent, EventNames};
use gristmill_output::lossy;
use gristmill_profile::compare::{
    Change, ComparedBasis, ComparedItem, ComparedTree, ComparedTreeLimits, ComparedTreeNode,
    ComparedTreeView, Comparison, JoinedId,
};
use gristmill_profile::symbol::Symbol;
use schemars::JsonSchema;
use serde::Serialize;

use super::rows::option_index;
use super::{Delta, DiffHead, shown_name};
use crate::tree::{Basis, EntryKind};

/// The options of a [`DiffTree`], which has an example.
#[derive(Debug, Clone)]
pub struct DiffTreeOptions {
    /// The columns of the comparison to show; the first one decides which nodes are shown, and their order.
    pub columns: Vec<usize>,
    /// Leaves out nodes whose change, and that of all nodes below, is under this share of the greatest change of a node, in
    /// hundred-thousandths. [`MIN_TREE_CHANGE`] suits people.
    pub min: u32,
    /// The most levels below the root.
    pub max_depth: Option<usize>,
    /// The most nodes.
    pub limit: Option<usize>,
}

/// The upper limit of nodes, also if more are asked for.
const MAX_NODES: usize = 1_000_000;

/// Bytes of a node without its line of text, and of its changes in a column; measured.
const BYTES_OF_NODE: usize = 450;
const BYTES_OF_COLUMN: usize = 240;
/// Bytes of the line of text about a node, and of its cells for a column; measured.
const BYTES_OF_LINE: usize = 500;
const BYTES_OF_CELLS: usize = 500;
/// The smallest change of a node that people see, in hundred-thousandths of the greatest: 1%.
pub const MIN_TREE_CHANGE: u32 = 1000;

/// A function, a cycle or the program, which nodes stand for. See the example of [`DiffTree`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "DiffTreeEntry")]
pub struct DiffTreeEntry {
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The id of the function, the same in every report on these profiles; null for the program, for a cycle, and in a tree
    /// of recorded callers.
    #[serde(serialize_with = "option_index")]
    #[schemars(with = "Option<usize>")]
    pub id: Option<JoinedId>,
    /// The name, as the new profile has it, or else the base.
    pub name: String,
    /// The name in the base, if it is a different one.
    pub base_name: Option<String>,
    /// The source file; empty if it is not known.
    pub file: String,
    /// The program or library; empty if it is not known.
    pub object: String,
    /// The names of the cycle's members, for a cycle.
    pub members: Vec<String>,
}

/// A node of a [`DiffTree`], which has an example.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiffTreeNode {
    /// The index in `functions` of what the node stands for.
    #[serde(rename = "function")]
    pub entry: usize,
    /// The index in `nodes` of the node above, which comes before this one; null for the root.
    pub parent: Option<usize>,
    /// The depth: 0 for the root, 1 for the nodes right below it, and so on.
    pub depth: usize,
    /// The count of calls made by the node above. 0 if calls were not counted.
    pub calls: Delta,
    /// `true` if the count of calls is an estimate on a side.
    #[serde(rename = "calls_guessed", skip_serializing_if = "std::ops::Not::not")]
    pub is_count_guessed: bool,
    /// Self cost by event type.
    #[serde(rename = "self")]
    pub self_costs: ByEvent<Delta>,
    /// The cost of the node and of all nodes below by event type, hidden ones included.
    pub inclusive: ByEvent<Delta>,
    /// The count of nodes right below that are left out, at least.
    pub hidden: usize,
    /// `true` if the inclusive cost of a side is an estimate, or if its profile states another cost for the calls.
    #[serde(rename = "guessed")]
    pub is_guessed: bool,
    /// `true` if the division of the cost among self cost and callees is an estimate on a side.
    #[serde(rename = "self_guessed")]
    pub is_self_guessed: bool,
}

/// The call trees of both sides, joined by path.
///
/// The tree of each side is made by itself. A node is a path of joined functions from the start of the program, with its
/// costs on both sides. It is marked if the number of a side is an estimate. Siblings are in the order of the size of their
/// change.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_profile::compare::{CompareOptions, Comparison};
/// use gristmill_report::Report;
/// use gristmill_report::diff::{DiffTree, DiffTreeOptions};
///
/// let base = Profile::from_bytes(b"events: Ir\nfn=main\n5 100\ncfn=grind\ncalls=2 9\n6 40\nfn=grind\n9 40\n");
/// let new = Profile::from_bytes(b"events: Ir\nfn=main\n5 100\ncfn=grind\ncalls=3 9\n6 60\nfn=grind\n9 60\n");
/// let comparison = Comparison::new(&[&base], &[&new], &CompareOptions::default())?;
/// let options = DiffTreeOptions { columns: vec![0], min: 0, max_depth: None, limit: None };
/// let tree = DiffTree::new(&comparison, &options);
/// let grind = &tree.nodes[2];
/// assert_eq!(tree.entries[grind.entry].name, "grind");
/// assert_eq!((grind.inclusive[0].base.median, grind.inclusive[0].new.median), (40, 60));
/// let mut json = Vec::new();
/// tree.write_json(&mut json)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DiffTree {
    /// The two sides.
    #[serde(flatten)]
    pub head: DiffHead,
    /// The origin of the trees; if it is not the same for all runs, that of the least certain one.
    pub basis: Basis,
    /// The functions of the nodes, in the order of their first node.
    #[serde(rename = "functions")]
    pub entries: Vec<DiffTreeEntry>,
    /// The nodes that are shown. The first one is the root.
    pub nodes: Vec<DiffTreeNode>,
    #[serde(skip)]
    min: u32,
    #[serde(skip)]
    max_depth: Option<usize>,
    #[serde(skip)]
    is_limited: bool,
}

impl DiffTree {
    /// Makes the tree of a comparison for people.
    ///
    /// # Panics
    ///
    /// If there is no column.
    pub fn new(comparison: &Comparison<'_>, options: &DiffTreeOptions) -> Self {
        let line_bytes = BYTES_OF_LINE + BYTES_OF_CELLS * options.columns.len();
        DiffTree::within(comparison, options, ComparedTreeView::default(), line_bytes)
    }

    /// Makes a part of the tree, or an inverted one. It has as many nodes as memory has space for without a text about them, so
    /// programs get more of them.
    ///
    /// # Panics
    ///
    /// If there is no column.
    pub fn with_view(comparison: &Comparison<'_>, options: &DiffTreeOptions, view: ComparedTreeView) -> Self {
        DiffTree::within(comparison, options, view, 0)
    }

    fn within(
        comparison: &Comparison<'_>,
        options: &DiffTreeOptions,
        view: ComparedTreeView,
        line_bytes: usize,
    ) -> Self {
        let head = DiffHead::new(comparison, &options.columns);
        let node_bytes = BYTES_OF_NODE + BYTES_OF_COLUMN * options.columns.len() + line_bytes;
        let affordable = comparison.bytes_left() / node_bytes;
        let limits = ComparedTreeLimits {
            min_share: options.min,
            // The program itself does not count.
            max_nodes: options.limit.unwrap_or(MAX_NODES).clamp(1, affordable.clamp(1, MAX_NODES)) + 1,
            max_depth: options.max_depth.unwrap_or(usize::MAX),
        };
        let mut tree = comparison.call_tree_of(&options.columns, limits, view);
        let nodes = std::mem::take(&mut tree.nodes);
        let mut rows = Rows {
            comparison,
            tree: &tree,
            names: &head.event_types,
            entries: Vec::new(),
            entry_of: HashMap::new(),
        };
        let nodes = nodes.into_iter().map(|node| rows.row(node)).collect();
        let entries = rows.entries;
        DiffTree {
            basis: match tree.basis {
                ComparedBasis::Exact => Basis::Exact,
                ComparedBasis::Callers => Basis::Callers,
                ComparedBasis::Estimate => Basis::Estimate,
            },
            entries,
            nodes,
            min: options.min,
            max_depth: options.max_depth,
            is_limited: tree.is_limited,
            head,
        }
    }
}

/// Makes rows of nodes, and lists what they stand for.
struct Rows<'r, 'p> {
    comparison: &'r Comparison<'p>,
    tree: &'r ComparedTree,
    names: &'r EventNames,
    entries: Vec<DiffTreeEntry>,
    entry_of: HashMap<Option<ComparedItem>, usize>,
}

impl Rows<'_, '_> {
    fn row(&mut self, node: ComparedTreeNode) -> DiffTreeNode {
        let entry = match self.entry_of.get(&node.item) {
            Some(&entry) => entry,
            None => {
                self.entries.push(self.entry(node.item));
                self.entry_of.insert(node.item, self.entries.len() - 1);
                self.entries.len() - 1
            }
        };
        let deltas = |changes: Vec<Change>| {
            ByEvent::new(self.names, changes.into_iter().map(Delta).collect::<Vec<_>>())
        };
        DiffTreeNode {
            entry,
            parent: node.parent,
            depth: node.depth,
            calls: Delta(node.count),
            is_count_guessed: node.is_count_guessed,
            self_costs: deltas(node.self_costs),
            inclusive: deltas(node.inclusive),
            hidden: node.hidden,
            is_guessed: node.is_guessed,
            is_self_guessed: node.is_self_guessed,
        }
    }

    fn entry(&self, item: Option<ComparedItem>) -> DiffTreeEntry {
        let entry = |kind, name| DiffTreeEntry {
            kind,
            id: None,
            name,
            base_name: None,
            file: String::new(),
            object: String::new(),
            members: Vec::new(),
        };
        let name = |function: JoinedId| shown_name(self.comparison.mention(function));
        match item {
            None => entry(EntryKind::Program, "(program)".to_owned()),
            Some(ComparedItem::Function(function)) => {
                let mention = self.comparison.mention(function);
                let base = self.comparison.in_base(function).map(shown_name);
                DiffTreeEntry {
                    id: Some(function),
                    base_name: base.filter(|base| *base != name(function)),
                    file: lossy(mention.file),
                    object: lossy(mention.object),
                    ..entry(EntryKind::Function, name(function))
                }
            }
            Some(ComparedItem::Cycle(cycle)) => {
                let members: Vec<String> =
                    self.tree.cycles[cycle].iter().map(|&function| name(function)).collect();
                let text = format!("cycle {} of {} functions: {} …", cycle + 1, members.len(), members[0]);
                DiffTreeEntry { members, ..entry(EntryKind::Cycle, text) }
            }
            Some(ComparedItem::Name(name)) => {
                entry(EntryKind::Function, Symbol::parse(&self.tree.names[name]).shown())
            }
        }
    }
}
