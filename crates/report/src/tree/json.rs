//! The answer for programs. Its shape is promised by `docs/schema/tree.schema.json`.

use std::io::{self, Write};

use gristmill_profile::analysis::TreeBasis;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::{Entry, EntryKind, Node, Tree};
use crate::json::{ShownCosts, write_view};
use crate::view::View;

impl Tree<'_, '_> {
    /// Writes the report as JSON: one object, a node on each line. Nodes say which node is above them, so that a tree of
    /// any depth can be written and read.
    ///
    /// # Errors
    ///
    /// Those of the place it is written to.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let view = self.view;
        write_view(view, &self.head, out)?;
        let (basis, guessed) = match &self.basis {
            TreeBasis::Exact => ("exact", None),
            TreeBasis::Callers => ("callers", None),
            TreeBasis::Estimate { guessed } => ("estimate", Some(ShownCosts(view, guessed))),
        };
        write!(out, ",\n\"basis\":\"{basis}\",\"guessed\":")?;
        serde_json::to_writer(&mut *out, &guessed)?;
        write!(out, ",\n\"from\":")?;
        serde_json::to_writer(&mut *out, &self.from)?;
        write!(out, ",\"inverted\":{},\n\"functions\":[", self.inverted)?;

        // Only what is in the tree, in the order in which it comes there.
        let mut number = vec![None; self.entries.len()];
        let mut used = Vec::new();
        for node in &self.nodes {
            number[node.entry].get_or_insert_with(|| {
                used.push(&self.entries[node.entry]);
                used.len() - 1
            });
        }
        for (nth, entry) in used.into_iter().enumerate() {
            out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, &Listed(entry))?;
        }
        write!(out, "\n],\n\"nodes\":[")?;
        for (nth, node) in self.nodes.iter().enumerate() {
            out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
            let function = number[node.entry].unwrap_or(0);
            serde_json::to_writer(&mut *out, &Placed { view, node, function })?;
        }
        out.write_all(b"\n]}\n")
    }
}

struct Listed<'r>(&'r Entry);

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Entry { kind, name, file, object, members } = self.0;
        let (kind, cycle) = match kind {
            EntryKind::Program => ("program", None),
            EntryKind::Function => ("function", None),
            EntryKind::Cycle(number) => ("cycle", Some(number)),
        };
        let mut entry = serializer.serialize_struct("Entry", 6)?;
        entry.serialize_field("kind", kind)?;
        entry.serialize_field("name", name)?;
        entry.serialize_field("file", file)?;
        entry.serialize_field("object", object)?;
        entry.serialize_field("cycle", &cycle)?;
        entry.serialize_field("members", members)?;
        entry.end()
    }
}

struct Placed<'r> {
    view: &'r View<'r>,
    node: &'r Node,
    function: usize,
}

impl Serialize for Placed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Placed { view, node, function } = self;
        let mut placed = serializer.serialize_struct("Node", 8)?;
        placed.serialize_field("function", function)?;
        placed.serialize_field("parent", &node.parent)?;
        placed.serialize_field("depth", &node.depth)?;
        placed.serialize_field("calls", &node.count)?;
        placed.serialize_field("self", &ShownCosts(view, &node.self_costs))?;
        placed.serialize_field("inclusive", &ShownCosts(view, &node.inclusive))?;
        placed.serialize_field("hidden", &node.hidden)?;
        placed.serialize_field("guessed", &node.is_guessed)?;
        placed.end()
    }
}
