//! Findings as workflow commands, which GitHub shows beside the file. It shows only the first few of a run, so the most
//! severe come first.

use std::io::{self, Write};
use std::path::Path;

use gristmill_format::{Finding, Severity};
use gristmill_output::github::{data, property};
use gristmill_output::{grouped, printable, printable_path};

use super::findings::{ColumnCounter, FindingCounts, LintedFile};
use super::{DEFAULT_LIMIT, LintPrinter};
use crate::read_file::ReadFile;

/// Findings of a rule that are kept in order of their location if all are shown. The findings of a rule with more are in the
/// order in which they are made.
const MAX_SORTED: usize = 500;

/// A printer of annotations for GitHub. See the example of [`lint`](crate::lint).
#[derive(Debug, Default)]
pub struct GithubPrinter;

impl LintPrinter for GithubPrinter {
    fn write_file(&mut self, file: &LintedFile<'_>, out: &mut dyn Write) -> io::Result<FindingCounts> {
        let (groups, counts) = file.gather(if file.limit.is_some() { DEFAULT_LIMIT } else { MAX_SORTED });
        let mut columns = ColumnCounter::default();
        for group in &groups {
            let omitted = group.omitted();
            if omitted > 0 && file.limit.is_none() {
                let mut result = Ok(());
                file.run(|finding| {
                    if result.is_ok() && finding.rule == group.rule {
                        result = write_annotation(file.file, &finding, 0, &mut columns, out);
                    }
                });
                result?;
                continue;
            }
            for (index, finding) in group.first.iter().enumerate() {
                let omitted = if index + 1 == group.first.len() { omitted } else { 0 };
                write_annotation(file.file, finding, omitted, &mut columns, out)?;
            }
        }
        Ok(counts)
    }

    fn write_unread(&mut self, path: &Path, message: &str, out: &mut dyn Write) -> io::Result<()> {
        // Standard input has no name to show anything beside.
        let file = if path.as_os_str() == "-" { String::new() } else { file_property(path) };
        writeln!(out, "::error {file}title=gristmill::{}", data(message))
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// Writes a finding. `omitted` findings of the same rule are not written.
fn write_annotation<'a>(
    file: &ReadFile<'_>,
    finding: &Finding<'a>,
    omitted: u64,
    columns: &mut ColumnCounter<'a>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = match finding.rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let name = if file.is_standard_input { String::new() } else { file_property(file.path) };
    let message = printable(finding.message.as_bytes());
    write!(
        out,
        "::{command} {name}line={},col={},title={}::{}",
        finding.location.line,
        columns.column(finding.text, finding.column - 1),
        property(finding.rule.name),
        data(&message),
    )?;
    match omitted {
        0 => writeln!(out),
        omitted => writeln!(out, " (and {} more like this in the file)", grouped(omitted)),
    }
}

fn file_property(path: &Path) -> String {
    format!("file={},", property(&printable_path(path)))
}
