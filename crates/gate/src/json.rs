//! The report for programs, as `docs/schema/gate.schema.json` describes it.

use std::io::{self, Write};

use gristmill_output::json;

use crate::report::GateReport;

impl GateReport {
    /// Writes the report as JSON. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }
}
