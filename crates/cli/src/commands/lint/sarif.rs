//! Findings as SARIF 2.1.0, which code review tools read. Written while they are found.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;

use gristmill_format::{Finding, RULES, Rule};
use serde::Serialize;

use super::Printer;
use super::findings::{Counts, Subject, character_column, index_of};
use crate::terminal::grouped;
use gristmill_output::sarif::{
    Artifact, Configuration, Driver, Location, PhysicalLocation, Region, SCHEMA, Text, uri,
};

#[derive(Default)]
pub(super) struct Sarif {
    has_begun: bool,
    has_results: bool,
    failed: bool,
    notifications: Vec<Notification>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text<'static>,
    full_description: Text<'static>,
    help: Text<'static>,
    default_configuration: Configuration,
    properties: Properties,
}

#[derive(Serialize)]
struct Properties {
    clause: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'f> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text<'f>,
    locations: [Location<'f>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation<'n> {
    execution_successful: bool,
    tool_execution_notifications: &'n [Notification],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Notification {
    level: &'static str,
    message: OwnedText,
    #[serde(skip_serializing_if = "Option::is_none")]
    associated_rule: Option<Reference>,
}

#[derive(Serialize)]
struct OwnedText {
    text: String,
}

#[derive(Serialize)]
struct Reference {
    id: &'static str,
    index: usize,
}

impl Sarif {
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
        serde_json::to_writer(&mut *out, &driver)?;
        // Columns are characters here, bytes everywhere else: SARIF knows no bytes.
        write!(out, "}},\n\"columnKind\":\"unicodeCodePoints\",\n\"results\":[")
    }
}

impl Printer for Sarif {
    fn file(&mut self, out: &mut dyn Write, subject: &Subject<'_>) -> io::Result<Counts> {
        self.begin(out)?;
        let uri = uri(&subject.input.path);
        let mut counts = Counts::default();
        let mut by_rule: BTreeMap<usize, u64> = BTreeMap::new();
        let mut written = Ok(());
        subject.run(|finding| {
            counts.add(finding.rule.severity);
            let index = index_of(finding.rule);
            let count = by_rule.entry(index).or_default();
            *count += 1;
            if written.is_ok() && subject.limit.is_none_or(|limit| *count <= limit) {
                let separator = if std::mem::replace(&mut self.has_results, true) { ",\n" } else { "\n" };
                written = write!(out, "{separator}")
                    .and_then(|()| Ok(serde_json::to_writer(&mut *out, &result(&finding, index, &uri))?));
            }
        });
        written?;
        for (index, count) in by_rule {
            let omitted = subject.limit.map_or(0, |limit| count.saturating_sub(limit));
            if let (1.., Some(rule)) = (omitted, RULES.get(index)) {
                let (omitted, name) = (grouped(omitted), subject.input.name());
                self.notifications.push(Notification {
                    level: "note",
                    message: OwnedText { text: format!("{name}: {omitted} more findings of {}", rule.name) },
                    associated_rule: Some(Reference { id: rule.name, index }),
                });
            }
        }
        Ok(counts)
    }

    fn unread(&mut self, _: &mut dyn Write, _: &Path, message: &str) -> io::Result<()> {
        self.failed = true;
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
            execution_successful: !self.failed,
            tool_execution_notifications: &self.notifications,
        };
        write!(out, "\n],\n\"invocations\":[")?;
        serde_json::to_writer(&mut *out, &invocation)?;
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

fn result<'f>(finding: &'f Finding<'_>, rule_index: usize, uri: &'f str) -> SarifResult<'f> {
    let start = finding.column - 1;
    let end = start.saturating_add(finding.length);
    // What is about the file as a whole has no line to count columns in.
    let column = |at| (!finding.text.is_empty()).then(|| character_column(finding.text, at));
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
