//! The call tree: functions by the stack of calls that leads to them.
//!
//! `gristmill_profile::analysis::tree` makes and inverts trees, and selects their most expensive nodes. This report makes
//! rows of the nodes. `tree/source` decides which tree a view has; `tree/text` prints it, `tree/lines` decides which nodes
//! share a line, `tree/names` fits their names.

mod guides;
mod lines;
mod names;
mod paths;
mod source;
mod text;

use std::collections::HashMap;

use gristmill_format::Cost;
use gristmill_output::json::Costs;
use gristmill_profile::MemoryBudget;
use gristmill_profile::analysis::{CallTree, TreeBasis, TreeLimits, TreeNode, TreeNodeId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::call_count::CallCount;
use crate::head::Head;
use crate::view::{LeftOut, SubjectId, View};
use source::{Entries, Item, Source};

pub(crate) use guides::{Guides, MIN_NAME_COLUMNS};
pub(crate) use names::left_out;
pub(crate) use paths::path;
pub(crate) use text::{MARKDOWN_COLUMNS, MIN_TREE_COLUMNS, TreeTable};

/// Options of a [`Tree`], which has an example.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeOptions {
    /// The function that the tree begins with instead of the program.
    pub from: Option<SubjectId>,
    /// `true` for the callers of that function instead of its callees; without a function, for all functions by self cost
    /// with their callers below.
    pub inverted: bool,
    /// Leaves out nodes below this share of the root, in thousandths.
    pub min_share: u32,
    /// The most levels below the root.
    pub max_depth: Option<usize>,
    /// The most nodes.
    pub limit: Option<usize>,
    /// The most members that an entry of a cycle names; all without it.
    pub max_members: Option<usize>,
    /// `true` for no more nodes than their text has memory for.
    pub is_for_people: bool,
    /// `true` to print each node of a chain on a line of its own. Only text and Markdown join chains.
    pub splits_chains: bool,
}

/// The upper limit of nodes, also if more are asked for: an estimate of a small file may have any count.
const MAX_NODES: usize = 1_000_000;

/// Bytes of a node with its line of text, measured with one event type. Each one more adds a cost and a column.
const BYTES_OF_NODE: usize = 1800;
const BYTES_OF_COST: usize = 100;
/// Bytes of a node with its line of text, beside those of the view; measured.
const BYTES_OF_LINE: usize = 1300;

/// A function, a cycle or the program, which nodes stand for. See the example of [`Tree`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Entry {
    /// The kind of the entry.
    pub kind: EntryKind,
    /// The id of the function; null for the program, for a cycle, and for every entry of a tree of recorded callers. It
    /// stays the same as long as the files of the profile and the options that fold functions do.
    pub id: Option<usize>,
    /// The demangled name.
    pub name: String,
    /// The source file; empty if it is not known.
    pub file: String,
    /// The program or library; empty if it is not known.
    pub object: String,
    /// The number of the cycle, for a cycle.
    pub cycle: Option<usize>,
    /// The names of the cycle's members, for a cycle. A viewer gets the first ones.
    pub members: Vec<String>,
    /// The end of the recorded name that `name` leaves out.
    #[serde(skip)]
    left_out: LeftOut,
}

/// The kind of an [`Entry`]. See the example of [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    /// The program as a whole, above all functions that nothing calls.
    Program,
    /// A function.
    Function,
    /// A cycle, as a single node.
    Cycle,
}

/// A node of a [`Tree`], which has an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Node {
    /// The index in `functions` of what the node stands for.
    #[serde(rename = "function")]
    pub entry: usize,
    /// The index in `nodes` of the node above, which comes before this one; null for the root.
    pub parent: Option<usize>,
    /// The depth: 0 for the root, 1 for the nodes right below it, and so on.
    pub depth: usize,
    /// The calls made by the node above; in an inverted tree, the calls made to it. 0 if calls were not counted. A guess if several
    /// stacks lead to the node above.
    #[serde(flatten)]
    pub calls: CallCount,
    /// Self cost. In an inverted tree, the cost that comes from no caller.
    #[serde(rename = "self")]
    pub self_costs: Costs,
    /// The cost of the node and of all nodes below, hidden ones included.
    pub inclusive: Costs,
    /// The count of nodes right below that are left out.
    pub hidden: usize,
    /// `true` if some of the cost is placed here by a guess, or if the profile states another cost for the calls.
    #[serde(rename = "guessed")]
    pub is_guessed: bool,
    /// `true` if the division of the cost among self cost and callees is a guess.
    #[serde(rename = "self_guessed")]
    pub is_self_guessed: bool,
    /// `true` if the cost is the inclusive cost of the function, and that is an upper limit: its calls add up to more than
    /// the total, or, with --no-cycles, calls of a recursion count what they have in common more than once.
    #[serde(rename = "inclusive_is_upper_bound", skip_serializing_if = "std::ops::Not::not")]
    pub is_upper_bound: bool,
    /// The count of nodes right below that are shown.
    #[serde(skip)]
    pub children: usize,
    /// The cost of the nodes right below that are left out.
    #[serde(skip)]
    pub hidden_costs: Vec<Cost>,
}

/// The origin of a [`Tree`], which has an example, and its certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Basis {
    /// The profile has each call.
    Exact,
    /// The names contain callers: each stack occurred, but begins where the name ends.
    Callers,
    /// Made from the call graph: the calls of a function with several callers are assumed to be alike. A function that
    /// costs more than its callers state is a root, too, as the start of a thread is.
    Estimate,
}

/// The call tree of a profile.
///
/// Nodes are in the order in which a tree is printed: each before those below it, siblings by the cost of the first event
/// type. A node has the index of the one above it, so that a tree of any depth can be read without recursion.
///
/// ```
/// use gristmill_profile::Profile;
/// use gristmill_report::{Report, Tree, TreeOptions, View, ViewOptions};
///
/// let text = "events: Ir\nfn=main\n1 10\ncfn=read\ncalls=1 2\n1 5\nfn=read\n2 5\n";
/// let view = View::new(Profile::from_bytes(text.as_bytes().to_vec()), &ViewOptions::default())?;
/// let tree = Tree::new(&view, &TreeOptions::default());
/// let row = |node: &gristmill_report::Node| (node.depth, tree.entries[node.entry].name.clone(), node.inclusive[0]);
/// let rows: Vec<_> = tree.nodes.iter().map(row).collect();
/// assert_eq!(rows[1..], [(1, "main".to_owned(), 15), (2, "read".to_owned(), 5)]);
///
/// let mut json = Vec::new();
/// tree.write_json(&mut json)?;
/// assert!(json.starts_with(b"{\"schema\":1,"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tree {
    /// The head of the report.
    #[serde(flatten)]
    pub head: Head,
    /// The origin of the tree.
    pub basis: Basis,
    /// The cost of the root that is placed by a guess; null if the tree is not an estimate.
    pub guessed: Option<Costs>,
    /// The function that the tree begins with; null for the program.
    pub from: Option<String>,
    /// `true` if callers are below what they call. Without a function that the tree begins with, each function is right below
    /// the program, with its self cost; nodes below have the part of it that comes through them.
    pub inverted: bool,
    /// The functions of the nodes, in the order of their first node.
    #[serde(rename = "functions")]
    pub entries: Vec<Entry>,
    /// The nodes that are shown. The first one is the root.
    pub nodes: Vec<Node>,
    /// The count of calls in all selected parts, also outside this tree, whose stated cost is not the sum of what they
    /// called.
    #[serde(skip)]
    unequal_calls: usize,
    #[serde(skip)]
    has_calls: bool,
    #[serde(skip)]
    upper_limit_note: &'static str,
    #[serde(skip)]
    min_share: u32,
    #[serde(skip)]
    max_depth: Option<usize>,
    #[serde(skip)]
    is_limited: bool,
    #[serde(skip)]
    splits_chains: bool,
    /// `true` if a node has a count of calls.
    #[serde(skip)]
    has_counts: bool,
    /// By node: the only node that is left out below it, where it is known. A line with its name is as long as one that
    /// counts it.
    #[serde(skip)]
    lone: HashMap<usize, Node>,
    /// The entries of lone nodes, if no other node does. They are numbered after `entries`.
    #[serde(skip)]
    lone_entries: Vec<Entry>,
}

impl Tree {
    /// Makes the tree of a view.
    pub fn new(view: &View, options: &TreeOptions) -> Self {
        // The program itself does not count.
        let columns = view.graph().width();
        let node_bytes = BYTES_OF_NODE + BYTES_OF_COST * columns;
        let affordable = MemoryBudget::new([&**view.profile()]).bytes() / node_bytes;
        let affordable = if options.is_for_people {
            view.profile().rows_of_text(columns, BYTES_OF_LINE + BYTES_OF_COST * columns)
        } else {
            affordable
        };
        // A tree in which each call is once is no larger than the profile, which leaves out costs of 0.
        let affordable = affordable.max(view.graph().arcs().len() / columns.max(1) + 1);
        let max_nodes = options.limit.unwrap_or(MAX_NODES).clamp(1, affordable.clamp(1, MAX_NODES));
        let max_nodes = max_nodes + usize::from(options.from.is_none());
        let Source { tree, unequal_calls, entries: source } = Source::new(view, options, max_nodes);
        let limits =
            TreeLimits::from_share(tree.inclusive(TreeNodeId::ROOT)[0], options.min_share, max_nodes);
        let max_depth = options.max_depth.unwrap_or(usize::MAX);
        let (selected, lone) = tree.selected_and_lone(limits, max_depth, |item| source.name(item));
        let head = Head::new(view);
        let is_inverted = options.inverted;
        let (entries, entry_of) = (Vec::new(), HashMap::new());
        let mut rows = Rows { source: &source, head: &head, is_inverted, entries, entry_of };
        let nodes = rows.of_tree(&selected);
        let count = rows.entries.len();
        let lone =
            lone.into_iter().map(|(above, id)| (above.index(), rows.row(&tree, id, None, 0))).collect();
        let mut entries = rows.entries;
        let lone_entries = entries.split_off(count);
        let (basis, guessed) = match tree.basis() {
            TreeBasis::Exact => (Basis::Exact, None),
            TreeBasis::Callers => (Basis::Callers, None),
            TreeBasis::Estimate { guessed } => (Basis::Estimate, Some(head.costs(guessed))),
        };
        Tree {
            head,
            basis,
            guessed,
            from: options.from.map(|from| view.subject(from).name().to_owned()),
            inverted: options.inverted,
            entries,
            is_limited: nodes.len() >= max_nodes,
            has_counts: nodes.iter().any(|node| node.calls.exact() != Some(0)),
            nodes,
            unequal_calls,
            has_calls: view.graph().arcs().len() > 0,
            upper_limit_note: view.upper_limit_note(),
            min_share: options.min_share,
            max_depth: options.max_depth,
            splits_chains: options.splits_chains,
            lone,
            lone_entries,
        }
    }

    /// Returns the same tree with the name of another function that it begins with: all members of a cycle have the same.
    #[must_use]
    pub fn renamed(self, from: String) -> Tree {
        Tree { from: Some(from), ..self }
    }

    /// Returns what a node stands for.
    fn entry(&self, node: &Node) -> &Entry {
        match node.entry.checked_sub(self.entries.len()) {
            Some(lone) => &self.lone_entries[lone],
            None => &self.entries[node.entry],
        }
    }
}

/// Makes rows of nodes, and lists what they stand for.
struct Rows<'r> {
    source: &'r Entries<'r>,
    head: &'r Head,
    is_inverted: bool,
    entries: Vec<Entry>,
    entry_of: HashMap<Option<Item>, usize>,
}

impl Rows<'_> {
    fn of_tree(&mut self, tree: &CallTree<Item>) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::with_capacity(tree.len());
        for id in tree.ids() {
            let parent = tree.node(id).parent.map(TreeNodeId::index);
            let depth = parent.map_or(0, |parent| nodes[parent].depth + 1);
            nodes.push(self.row(tree, id, parent, depth));
        }
        nodes
    }

    fn row(&mut self, tree: &CallTree<Item>, id: TreeNodeId, parent: Option<usize>, depth: usize) -> Node {
        let TreeNode { item, count, is_count_guessed, hidden, is_guessed, is_self_guessed, .. } =
            *tree.node(id);
        let above = tree.node(id).parent.and_then(|above| tree.node(above).item);
        let is_inlined = self.source.is_inlined(above, item, self.is_inverted);
        Node {
            entry: *self.entry_of.entry(item).or_insert_with(|| {
                self.entries.push(self.source.entry(item));
                self.entries.len() - 1
            }),
            parent,
            depth,
            calls: CallCount::new(count, is_inlined).guessed(is_count_guessed),
            self_costs: self.head.costs(tree.self_cost(id)),
            inclusive: self.head.costs(tree.inclusive(id)),
            hidden,
            is_guessed,
            is_self_guessed,
            is_upper_bound: self.source.is_upper_bound(tree, id),
            children: tree.children(id).len(),
            hidden_costs: tree.hidden_cost(id),
        }
    }
}
