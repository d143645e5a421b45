//! The answer for programs. Its shape is promised by `docs/schema/functions.schema.json`.

use std::io::{self, Write};

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::{Functions, Row};
use crate::json::{CostsByName, write_rows, write_view};
use crate::view::View;

/// Writes one object, a function on each line.
pub(super) fn write(report: &Functions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let view = report.view;
    write_view(view, &report.head, out)?;
    write!(out, ",\"matching\":{},\"functions\":[", report.matching)?;
    write_rows(report.rows.iter().map(|row| Function(view, row)), out)?;
    out.write_all(b"\n]}\n")
}

struct Function<'r>(&'r View, &'r Row);

impl Serialize for Function<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Function(view, row) = self;
        let mut function = serializer.serialize_struct("Function", 8)?;
        function.serialize_field("name", &row.name)?;
        function.serialize_field("file", &row.file)?;
        function.serialize_field("object", &row.object)?;
        function.serialize_field("self", &CostsByName(view, &row.self_costs))?;
        function.serialize_field("inclusive", &CostsByName(view, &row.inclusive))?;
        if row.is_upper_bound {
            function.serialize_field("inclusive_is_upper_bound", &true)?;
        }
        function.serialize_field("calls", &row.calls)?;
        function.serialize_field("cycle", &row.cycle)?;
        function.end()
    }
}
