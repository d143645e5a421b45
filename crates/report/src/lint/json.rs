//! Findings for programs, as `docs/schema/lint.schema.json` describes them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use gristmill_format::Finding;
use gristmill_output::json::{Stream, StreamState};
use schemars::JsonSchema;
use serde::Serialize;

use super::LintPrinter;
use super::findings::{FindingCounts, LintedFile};

/// Bytes of a line that are written; a line may have megabytes.
const MAX_TEXT_BYTES: usize = 4096;

/// The findings of each file, in the order in which they were made. See the example of [`lint`](crate::lint).
#[derive(Debug, JsonSchema)]
pub struct LintDocument<'a> {
    /// The files that could be read, in the order of the command line.
    pub files: Vec<FileFindings<'a>>,
    /// The files that could not be read. If there is one, the exit status is 2.
    pub unread: Vec<UnreadFile>,
}

/// The findings of one file. See the example of [`lint`](crate::lint).
#[derive(Debug, JsonSchema)]
pub struct FileFindings<'a> {
    /// Path as given on the command line; `-` is standard input.
    pub path: Cow<'a, str>,
    /// The findings that are shown.
    pub findings: Vec<FindingRow<'a>>,
    /// The count of findings of each severity, with those that are not shown.
    pub counts: FindingCounts,
    /// The length of `findings`.
    pub shown: u64,
    /// The count of findings of each rule that are not shown; `--all` shows them.
    pub omitted: BTreeMap<&'static str, u64>,
}

/// A file that could not be read. See the example of [`lint`](crate::lint).
#[derive(Debug, Serialize, JsonSchema)]
pub struct UnreadFile {
    /// Path as given on the command line.
    pub path: String,
    /// Reason why it could not be read.
    pub message: String,
}

/// A finding. See the example of [`lint`](crate::lint).
#[derive(Debug, Serialize, JsonSchema)]
pub struct FindingRow<'a> {
    /// Name of the rule; `gristmill lint --list-rules` lists them.
    pub rule: &'static str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// Line number, from 1.
    pub line: u64,
    /// First marked byte of the line, from 1.
    pub column: u64,
    /// Count of marked bytes; 0 for a location between two bytes.
    pub length: u64,
    /// Offset of the first marked byte in the expanded file.
    pub byte: u64,
    /// The problem at this location.
    pub message: Cow<'a, str>,
    /// The line without its end, at most its first 4096 bytes. Invalid UTF-8 is replaced by U+FFFD.
    pub text: Cow<'a, str>,
    /// `true` if the line is longer than `text`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl<'a> FindingRow<'a> {
    /// Makes a row of a finding.
    pub fn new(finding: Finding<'a>) -> Self {
        let text = &finding.text[..finding.text.len().min(MAX_TEXT_BYTES)];
        FindingRow {
            rule: finding.rule.name,
            severity: finding.rule.severity.as_str(),
            line: finding.location.line,
            column: finding.column,
            length: finding.length,
            byte: finding.location.byte.saturating_add(finding.column - 1),
            cut: text.len() < finding.text.len(),
            message: finding.message,
            text: String::from_utf8_lossy(text),
        }
    }
}

/// A printer of JSON, as a [`LintDocument`]. See the example of [`lint`](crate::lint).
#[derive(Debug, Default)]
pub struct JsonPrinter {
    /// The document, once it is begun.
    document: Option<StreamState>,
    unread: Vec<UnreadFile>,
}

impl JsonPrinter {
    fn document<'w>(&mut self, out: &'w mut dyn Write) -> io::Result<Stream<'w>> {
        if let Some(state) = self.document.take() {
            return Ok(Stream::resume(out, state));
        }
        let mut document = Stream::new(out)?;
        document.begin_list("files")?;
        Ok(document)
    }
}

impl LintPrinter for JsonPrinter {
    fn write_file(&mut self, file: &LintedFile<'_>, out: &mut dyn Write) -> io::Result<FindingCounts> {
        let mut document = self.document(out)?;
        document.begin_row()?;
        document.member("path", &file.file.path.to_string_lossy())?;
        document.begin_list("findings")?;
        let mut counts = FindingCounts::default();
        let mut by_rule: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut shown = 0_u64;
        let mut result = Ok(());
        file.run(|finding| {
            counts.add(finding.rule.severity);
            let count = by_rule.entry(finding.rule.name).or_default();
            *count += 1;
            if result.is_ok() && file.limit.is_none_or(|limit| *count <= limit) {
                result = document.row(&FindingRow::new(finding));
                shown += 1;
            }
        });
        result?;
        document.end_list()?;
        let omitted = |count: u64| file.limit.map_or(0, |limit| count.saturating_sub(limit));
        let omitted: BTreeMap<&str, u64> = by_rule
            .into_iter()
            .map(|(rule, count)| (rule, omitted(count)))
            .filter(|(_, omitted)| *omitted > 0)
            .collect();
        document.member("counts", &counts)?;
        document.member("shown", &shown)?;
        document.member("omitted", &omitted)?;
        document.end_row()?;
        self.document = Some(document.suspend());
        Ok(counts)
    }

    fn write_unread(&mut self, path: &Path, message: &str, _: &mut dyn Write) -> io::Result<()> {
        let (path, message) = (path.to_string_lossy().into_owned(), message.to_owned());
        self.unread.push(UnreadFile { path, message });
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut document = self.document(out)?;
        document.end_list()?;
        document.member("unread", &self.unread)?;
        document.end()
    }
}
