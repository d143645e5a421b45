//! Findings for programs, as docs/schema/lint.schema.json describes them: written while they are found.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use gristmill_format::Finding;
use serde::Serialize;

use super::Printer;
use super::findings::{Counts, Subject};

/// A line may have megabytes; of each, this many bytes are written.
const LONGEST_TEXT: usize = 4096;

#[derive(Default)]
pub(super) struct Json {
    files: u64,
    unread: Vec<Unread>,
}

#[derive(Serialize)]
struct Unread {
    path: String,
    message: String,
}

#[derive(Serialize)]
struct JsonFinding<'f> {
    rule: &'static str,
    severity: &'static str,
    line: u64,
    column: u64,
    length: u64,
    /// Of the marked place, in the expanded file.
    byte: u64,
    message: &'f str,
    text: &'f str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
}

impl Printer for Json {
    fn file(&mut self, out: &mut dyn Write, subject: &Subject<'_>) -> io::Result<Counts> {
        let separator = if self.files == 0 { "{\"files\":[\n" } else { ",\n" };
        self.files += 1;
        write!(out, "{separator}{{\"path\":")?;
        serde_json::to_writer(&mut *out, &subject.input.path.to_string_lossy())?;
        write!(out, ",\"findings\":[")?;
        let mut counts = Counts::default();
        let mut by_rule: BTreeMap<&'static str, u64> = BTreeMap::new();
        let mut shown = 0_u64;
        let mut result = Ok(());
        subject.run(|finding| {
            counts.add(finding.rule.severity);
            let count = by_rule.entry(finding.rule.name).or_default();
            *count += 1;
            if result.is_ok() && subject.limit.is_none_or(|limit| *count <= limit) {
                result = write_finding(out, &finding, if shown == 0 { "\n" } else { ",\n" });
                shown += 1;
            }
        });
        result?;
        let omitted: BTreeMap<&str, u64> = by_rule
            .into_iter()
            .map(|(rule, count)| (rule, subject.limit.map_or(0, |limit| count.saturating_sub(limit))))
            .filter(|(_, omitted)| *omitted > 0)
            .collect();
        write!(out, "{}],\"counts\":", if shown == 0 { "" } else { "\n" })?;
        serde_json::to_writer(&mut *out, &counts)?;
        write!(out, ",\"shown\":{shown},\"omitted\":")?;
        serde_json::to_writer(&mut *out, &omitted)?;
        write!(out, "}}")?;
        Ok(counts)
    }

    fn unread(&mut self, _: &mut dyn Write, path: &Path, message: &str) -> io::Result<()> {
        self.unread.push(Unread { path: path.to_string_lossy().into_owned(), message: message.to_owned() });
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{}\n],\"unread\":", if self.files == 0 { "{\"files\":[" } else { "" })?;
        serde_json::to_writer(&mut *out, &self.unread)?;
        writeln!(out, "}}")
    }
}

fn write_finding(out: &mut dyn Write, finding: &Finding<'_>, separator: &str) -> io::Result<()> {
    let text = &finding.text[..finding.text.len().min(LONGEST_TEXT)];
    let finding = JsonFinding {
        rule: finding.rule.name,
        severity: finding.rule.severity.as_str(),
        line: finding.location.line,
        column: finding.column,
        length: finding.length,
        byte: finding.location.byte.saturating_add(finding.column - 1),
        message: &finding.message,
        text: &String::from_utf8_lossy(text),
        cut: text.len() < finding.text.len(),
    };
    write!(out, "{separator}")?;
    Ok(serde_json::to_writer(&mut *out, &finding)?)
}
