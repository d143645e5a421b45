//! Call trees that flame graphs and treemaps are made of, of a profile or of a comparison.

use gristmill_format::Cost;

/// A call tree with the size of its nodes.
pub(crate) trait PictureTree {
    /// The node above; none for the root.
    fn parent(&self, id: usize) -> Option<usize>;
    /// The distance from the root.
    fn depth(&self, id: usize) -> usize;
    /// The nodes below, the largest first.
    fn children(&self, id: usize) -> &[usize];
    /// The name of what a node stands for.
    fn name(&self, id: usize) -> &str;
    /// The cost that decides how large a node is drawn.
    fn size(&self, id: usize) -> Cost;

    /// Returns the node that names below the root lead to, as far as they do. Of several children with that name it is the
    /// largest one.
    fn find(&self, names: &[String]) -> usize {
        let mut at = 0;
        for name in names {
            match self.children(at).iter().copied().find(|&id| self.name(id) == name) {
                Some(child) => at = child,
                None => break,
            }
        }
        at
    }
}

/// The children of all nodes of a tree.
#[derive(Debug)]
pub(crate) struct Children {
    /// By node: the first of `ids`.
    first: Vec<usize>,
    /// Those of one node together.
    ids: Vec<usize>,
}

impl Children {
    /// Takes the parent of each node. Children are in the order of their nodes.
    pub(crate) fn new(parents: impl ExactSizeIterator<Item = Option<usize>> + Clone) -> Self {
        let mut first = vec![0; parents.len() + 1];
        for parent in parents.clone().flatten() {
            first[parent + 1] += 1;
        }
        for nth in 1..first.len() {
            first[nth] += first[nth - 1];
        }
        let mut next = first.clone();
        let mut ids = vec![0; parents.len().saturating_sub(1)];
        for (id, parent) in parents.enumerate() {
            if let Some(parent) = parent {
                ids[next[parent]] = id;
                next[parent] += 1;
            }
        }
        Children { first, ids }
    }

    /// Sorts the children of each node.
    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(usize) -> K) {
        for bounds in self.first.windows(2) {
            self.ids[bounds[0]..bounds[1]].sort_by_key(|&id| key(id));
        }
    }

    /// Returns the children of a node.
    pub(crate) fn of(&self, id: usize) -> &[usize] {
        &self.ids[self.first[id]..self.first[id + 1]]
    }
}
