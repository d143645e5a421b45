//! The forms that every report can be written in.

use gristmill_output::Look;
use std::io::{self, Write};

/// A report, with its answer for people and for programs. All that can go wrong is the place it is written to.
#[expect(clippy::missing_errors_doc, reason = "said once for all of them")]
pub trait Report {
    /// Writes text.
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()>;
    /// Writes JSON, in the shape that the report's schema promises.
    fn write_json(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes Markdown.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()>;
}
