//! The report of lint: the findings of files, written while they are made.
//!
//! A file can have millions of findings, so there is no list of them: a [`LintPrinter`] gets the file, and goes through the
//! findings once or twice.
//!
//! ```
//! use gristmill_format::Lint;
//! use gristmill_report::ReadFile;
//! use gristmill_report::lint::{JsonPrinter, LintPrinter, LintedFile};
//!
//! let file = ReadFile::plain("a.out".as_ref(), b"events: Ir\nfn=main\n1 x\n");
//! let mut out = Vec::new();
//! let mut printer = JsonPrinter::default();
//! let counts = printer.write_file(&LintedFile::new(&file, Lint::default(), None), &mut out)?;
//! printer.end(&mut out)?;
//! assert!(counts.error > 0);
//! assert!(String::from_utf8_lossy(&out).starts_with(r#"{"schema":1,"#));
//! # Ok::<(), std::io::Error>(())
//! ```

mod excerpt;
mod findings;
mod github;
mod json;
mod rules;
mod sarif;
mod text;

use std::io::{self, Write};
use std::path::Path;

pub use self::findings::{FindingCounts, LintedFile, RuleFindings};
pub use self::github::GithubPrinter;
pub use self::json::{FileFindings, FindingRow, JsonPrinter, LintDocument, UnreadFile};
pub use self::rules::{RuleList, RuleRow, similar_rules};
pub use self::sarif::SarifPrinter;
pub use self::text::TextPrinter;

/// Findings of a rule that are shown in one file, unless all are.
pub const DEFAULT_LIMIT: usize = 3;

/// A form of the report. See the example of [this module](self).
#[expect(clippy::missing_errors_doc, reason = "all errors are those of the output")]
pub trait LintPrinter {
    /// Checks a file and writes its findings.
    fn write_file(&mut self, file: &LintedFile<'_>, out: &mut dyn Write) -> io::Result<FindingCounts>;

    /// Writes that a file could not be read. The message names the file.
    fn write_unread(&mut self, path: &Path, message: &str, out: &mut dyn Write) -> io::Result<()>;

    /// Ends the report after the last file.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}
