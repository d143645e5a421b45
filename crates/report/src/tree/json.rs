//! The answer for programs. Its shape is promised by `docs/schema/tree.schema.json`.

use std::io::{self, Write};

use gristmill_profile::analysis::TreeBasis;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::{Entry, EntryKind, Node, Tree};
use crate::json::{CostsByName, write_rows, write_view};
use crate::view::View;

/// Writes one object, a node on each line. Nodes say which node is above them, so that a tree of any depth can be written
/// and read.
pub(super) fn write(report: &Tree<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = report.view;
    write_view(&report.head, out)?;
    let (basis, guessed) = match &report.basis {
        TreeBasis::Exact => ("exact", None),
        TreeBasis::Callers => ("callers", None),
        TreeBasis::Estimate { guessed } => ("estimate", Some(CostsByName(view, guessed))),
    };
    write!(out, ",\n\"basis\":\"{basis}\",\"guessed\":")?;
    serde_json::to_writer(&mut *out, &guessed)?;
    write!(out, ",\n\"from\":")?;
    serde_json::to_writer(&mut *out, &report.from)?;
    write!(out, ",\"inverted\":{},\n\"functions\":[", report.inverted)?;
    write_rows(report.entries.iter().map(Listed), out)?;
    write!(out, "\n],\n\"nodes\":[")?;
    write_rows(report.nodes.iter().map(|node| Placed { view, node }), out)?;
    out.write_all(b"\n]}\n")
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
    view: &'r View,
    node: &'r Node,
}

impl Serialize for Placed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Placed { view, node } = self;
        let mut placed = serializer.serialize_struct("Node", 8)?;
        placed.serialize_field("function", &node.entry)?;
        placed.serialize_field("parent", &node.parent)?;
        placed.serialize_field("depth", &node.depth)?;
        placed.serialize_field("calls", &node.count)?;
        placed.serialize_field("self", &CostsByName(view, &node.self_costs))?;
        placed.serialize_field("inclusive", &CostsByName(view, &node.inclusive))?;
        placed.serialize_field("hidden", &node.hidden)?;
        placed.serialize_field("guessed", &node.is_guessed)?;
        placed.end()
    }
}
