//! The answer for programs. Its shape is promised by `docs/schema/functions.schema.json`.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::{Functions, Row};
use crate::json::{ShownCosts, write_view};
use crate::shown::shown_of;
use crate::view::View;

impl Functions<'_, '_> {
    /// Writes the report as JSON: one object, a function on each line.
    ///
    /// # Errors
    ///
    /// Those of the place it is written to.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let view = self.view;
        write_view(view, &self.head, out)?;
        write!(out, ",\"matching\":{},\"functions\":[", self.matching)?;
        for (nth, row) in self.rows.iter().enumerate() {
            out.write_all(if nth == 0 { b"\n" } else { b",\n" })?;
            serde_json::to_writer(&mut *out, &Function(view, row))?;
        }
        out.write_all(b"\n]}\n")
    }
}

struct Function<'r>(&'r View<'r>, &'r Row);

impl Serialize for Function<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Function(view, row) = self;
        let mut function = serializer.serialize_struct("Function", 7)?;
        function.serialize_field("name", &row.name)?;
        function.serialize_field("file", &row.file)?;
        function.serialize_field("object", &row.object)?;
        function.serialize_field("self", &ShownCosts(view, &shown_of(view, &row.self_costs)))?;
        function.serialize_field("inclusive", &ShownCosts(view, &shown_of(view, &row.inclusive)))?;
        function.serialize_field("calls", &row.calls)?;
        function.serialize_field("cycle", &row.cycle)?;
        function.end()
    }
}
