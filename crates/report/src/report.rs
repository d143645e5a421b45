//! The formats of reports.

use gristmill_output::Look;
use std::io::{self, Write};

/// The printers of a report. See the example of [`Functions`](crate::Functions).
#[expect(clippy::missing_errors_doc, reason = "all errors are those of the output")]
pub trait Report {
    /// Writes text.
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()>;
    /// Writes JSON, which fits the schema of the report.
    fn write_json(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes Markdown.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()>;
}
