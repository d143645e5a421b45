//! Call trees of both sides that are kept between questions, with what pictures need of them.

use std::cmp::Reverse;

use gristmill_format::Cost;
use gristmill_output::json::ByEvent;
use gristmill_profile::compare::{Change, ComparedTreeView, Comparison, Sample};
use gristmill_report::diff::{Delta, DiffTree, DiffTreeNode, DiffTreeOptions};

use crate::changed_answer::ChangedFunction;
use crate::picture_tree::{Children, PictureTree};

/// The most nodes of a kept tree. A picture has a few thousand.
const MAX_NODES: usize = 100_000;

/// The call tree of both sides: the nodes that cost most on a side.
#[derive(Debug)]
pub(crate) struct ChangedTree {
    pub(crate) tree: DiffTree,
    children: Children,
    /// By node: the cost of the larger side, and at least that of the nodes below it: their larger sides can be different ones.
    size: Vec<Cost>,
}

impl ChangedTree {
    pub(crate) fn new(comparison: &Comparison<'_>, columns: Vec<usize>, view: ComparedTreeView) -> Self {
        let options = DiffTreeOptions { columns, min: 0, max_depth: None, limit: Some(MAX_NODES) };
        ChangedTree::from_tree(DiffTree::with_view(comparison, &options, view))
    }

    fn from_tree(tree: DiffTree) -> Self {
        let count = tree.nodes.len();
        let mut size: Vec<Cost> = tree.nodes.iter().map(|node| larger(&node.inclusive)).collect();
        let mut below = vec![0; count];
        for (id, node) in tree.nodes.iter().enumerate().rev() {
            size[id] = size[id].max(below[id]);
            if let Some(parent) = node.parent {
                below[parent] = size[id].saturating_add(below[parent]);
            }
        }
        let mut children = Children::new(tree.nodes.iter().map(|node| node.parent));
        children.sort_by_key(|id| (Reverse(size[id]), id));
        ChangedTree { tree, children, size }
    }

    pub(crate) fn node(&self, id: usize) -> &DiffTreeNode {
        &self.tree.nodes[id]
    }

    /// Returns the sum of changes, by event type.
    pub(crate) fn sum<'c>(&self, changes: impl Iterator<Item = &'c ByEvent<Delta>>) -> ByEvent<Delta> {
        let names = &self.tree.head.event_types;
        let mut sums: Vec<[Cost; 2]> = vec![[0; 2]; self.tree.nodes[0].inclusive.len()];
        for of_node in changes {
            for (sum, change) in sums.iter_mut().zip(of_node.iter()) {
                sum[0] = sum[0].saturating_add(change.base.median);
                sum[1] = sum[1].saturating_add(change.new.median);
            }
        }
        ByEvent::new(names, sums.into_iter().map(delta).collect::<Vec<_>>())
    }

    /// Returns what a node costs less its self cost and its children: the cost of those that are left out.
    pub(crate) fn hidden_cost(&self, id: usize) -> ByEvent<Delta> {
        let node = self.node(id);
        let shown = self.sum(self.children(id).iter().map(|&child| &self.node(child).inclusive));
        let rest = node.inclusive.iter().zip(node.self_costs.iter()).zip(shown.iter());
        let rest = rest.map(|((all, own), shown)| {
            let left = |all: Sample, own: Sample, shown: Sample| {
                all.median.saturating_sub(own.median).saturating_sub(shown.median).max(0)
            };
            delta([left(all.base, own.base, shown.base), left(all.new, own.new, shown.new)])
        });
        ByEvent::new(&self.tree.head.event_types, rest.collect::<Vec<_>>())
    }
}

impl PictureTree for ChangedTree {
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
        self.size[id]
    }
}

/// Makes a change of the costs of both sides.
pub(crate) fn delta([base, new]: [Cost; 2]) -> Delta {
    Delta(Change { base: Sample::from_cost(base), new: Sample::from_cost(new) })
}

/// Returns the cost of the larger side, of the first event type.
pub(crate) fn larger(changes: &ByEvent<Delta>) -> Cost {
    changes.first().map_or(0, |change| change.base.median.max(change.new.median).max(0))
}

/// The things that drawn nodes stand for, in the order of their first use.
pub(crate) struct ChangedDrawn<'t> {
    kept: &'t ChangedTree,
    index_of: Vec<Option<usize>>,
    pub(crate) functions: Vec<ChangedFunction>,
}

impl<'t> ChangedDrawn<'t> {
    pub(crate) fn new(kept: &'t ChangedTree) -> Self {
        ChangedDrawn { kept, index_of: vec![None; kept.tree.entries.len()], functions: Vec::new() }
    }

    /// Returns the index of what a node stands for.
    pub(crate) fn index(&mut self, id: usize) -> usize {
        let at = self.kept.node(id).entry;
        if let Some(index) = self.index_of[at] {
            return index;
        }
        let entry = &self.kept.tree.entries[at];
        self.functions.push(ChangedFunction {
            id: entry.id.map(|id| id.index()),
            name: entry.name.clone(),
            base_name: entry.base_name.clone(),
            file: entry.file.clone(),
            object: entry.object.clone(),
        });
        let index = self.functions.len() - 1;
        self.index_of[at] = Some(index);
        index
    }
}
