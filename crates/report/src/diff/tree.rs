//! The call tree of a difference: the head of the difference, and below it a tree with signed costs.

use std::io::{self, Write};

use gristmill_output::Look;
use gristmill_profile::compare::Comparison;

use super::DiffHead;
use crate::report::Report;
use crate::tree::Tree;

/// The call tree of a difference. See the example of [`Diff`](super::Diff) for the comparison.
///
/// JSON and CSV are those of the [`Tree`].
#[derive(Debug, Clone)]
pub struct DiffTree {
    head: DiffHead,
    tree: Tree,
}

impl DiffTree {
    /// Puts the head of a comparison with these columns above the tree of its difference.
    pub fn new(comparison: &Comparison<'_>, columns: &[usize], tree: Tree) -> Self {
        DiffTree { head: DiffHead::new(comparison, columns), tree: tree.signed() }
    }
}

impl Report for DiffTree {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        self.tree.write_text_below(look, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        self.tree.write_json(out)
    }

    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        self.tree.write_csv(out)
    }

    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_markdown(out)?;
        self.tree.write_markdown_below(out)
    }
}
