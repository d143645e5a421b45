//! Findings as SARIF 2.1.0, which code review tools read. They are written while they are made.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use gristmill_format::{Finding, RULES, Rule};
use gristmill_output::grouped;
use gristmill_output::json;
use gristmill_output::sarif::{
    Artifact, Configuration, Driver, Location, PhysicalLocation, Region, SCHEMA, Text, uri,
};
use serde::Serialize;

use super::LintPrinter;
use super::findings::{ColumnCounter, FindingCounts, LintedFile, rule_index};

/// A printer of SARIF. See the example of [`lint`](crate::lint).
#[derive(Debug, Default)]
pub struct SarifPrinter {
    has_begun: bool,
    has_results: bool,
    has_failed: bool,
    notifications: Vec<Notification>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text<'static>,
    full_description: Text<'static>,
    help: Text<'static>,
    default_configuration: Configuration,
    properties: Properties,
}

#[derive(Debug, Serialize)]
struct Properties {
    clause: &'static str,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'f> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text<'f>,
    locations: [Location<'f>; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'n> {
    execution_successful: bool,
    tool_execution_notifications: &'n [Notification],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Notification {
    level: &'static str,
    message: OwnedText,
    #[serde(skip_serializing_if = "Option::is_none")]
    associated_rule: Option<Reference>,
}

#[derive(Debug, Serialize)]
struct OwnedText {
    text: String,
}

#[derive(Debug, Serialize)]
struct Reference {
    id: &'static str,
    index: usize,
}

impl SarifPrinter {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        let driver = Driver::new(RULES.iter().map(|rule| descriptor(rule)));
        write!(
            out,
            "{{\"$schema\":\"{SCHEMA}\",\"version\":\"2.1.0\",\"runs\":[{{\n\
             \"tool\":{{\"driver\":"
        )?;
        json::write_value(&driver, out)?;
        // SARIF counts columns in characters, not in bytes.
        write!(out, "}},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":[")
    }
}

impl LintPrinter for SarifPrinter {
    fn write_file(&mut self, file: &LintedFile<'_>, out: &mut dyn Write) -> io::Result<FindingCounts> {
        self.begin(out)?;
        let uri = uri(file.file.path);
        let mut counts = FindingCounts::default();
        let mut by_rule: BTreeMap<usize, u64> = BTreeMap::new();
        let mut written = Ok(());
        let mut columns = ColumnCounter::default();
        file.run(|finding| {
            counts.add(finding.rule.severity);
            let index = rule_index(finding.rule);
            let count = by_rule.entry(index).or_default();
            *count += 1;
            if written.is_ok() && file.limit.is_none_or(|limit| *count <= limit) {
                let separator = if std::mem::replace(&mut self.has_results, true) { ",\n" } else { "\n" };
                written = write!(out, "{separator}")
                    .and_then(|()| json::write_value(&result(&finding, index, &uri, &mut columns), out));
            }
        });
        written?;
        for (index, count) in by_rule {
            let omitted = file.limit.map_or(0, |limit| count.saturating_sub(limit));
            if omitted > 0 {
                let rule = RULES[index];
                let (omitted, name) = (grouped(omitted), &file.file.name);
                self.notifications.push(Notification {
                    level: "note",
                    message: OwnedText { text: format!("{name}: {omitted} more findings of {}", rule.name) },
                    associated_rule: Some(Reference { id: rule.name, index }),
                });
            }
        }
        Ok(counts)
    }

    fn write_unread(&mut self, _: &Path, message: &str, _: &mut dyn Write) -> io::Result<()> {
        self.has_failed = true;
        self.notifications.push(Notification {
            level: "error",
            message: OwnedText { text: message.to_owned() },
            associated_rule: None,
        });
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.begin(out)?;
        let invocation = Invocation {
            execution_successful: !self.has_failed,
            tool_execution_notifications: &self.notifications,
        };
        write!(out, "\n],\n\"invocations\":[")?;
        json::write_value(&invocation, out)?;
        writeln!(out, "]}}]}}")
    }
}

fn descriptor(rule: &'static Rule) -> Descriptor {
    Descriptor {
        id: rule.name,
        short_description: Text { text: rule.summary },
        full_description: Text { text: rule.help },
        help: Text { text: rule.help },
        default_configuration: Configuration { level: rule.severity.as_str() },
        properties: Properties { clause: rule.clause },
    }
}

fn result<'f, 'a>(
    finding: &'f Finding<'a>,
    rule_index: usize,
    uri: &'f str,
    columns: &mut ColumnCounter<'a>,
) -> SarifResult<'f> {
    let start = finding.column - 1;
    let end = start.saturating_add(finding.length);
    // A finding about the whole file has no columns.
    let mut column = |at| (!finding.text.is_empty()).then(|| columns.column(finding.text, at));
    SarifResult {
        rule_id: finding.rule.name,
        rule_index,
        level: finding.rule.severity.as_str(),
        message: Text { text: &finding.message },
        locations: [Location {
            physical_location: PhysicalLocation {
                artifact_location: Artifact { uri },
                region: Region {
                    start_line: finding.location.line,
                    start_column: column(start),
                    end_column: column(end),
                },
            },
        }],
    }
}
