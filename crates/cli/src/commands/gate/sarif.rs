//! The verdict as SARIF 2.1.0: a result for each budget that was not kept, at the function most responsible.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::judge::Outcome;
use super::report::{Report, message};
use gristmill_output::sarif::{
    Artifact, Configuration, Driver, Location, PhysicalLocation, Region, SCHEMA, Text, uri,
};

#[derive(Serialize)]
struct Document<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool,
    column_kind: &'static str,
    results: Vec<Finding<'r>>,
    invocations: [Invocation; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    /// Whether every benchmark could be told.
    execution_successful: bool,
    tool_execution_notifications: [&'static str; 0],
}

#[derive(Serialize)]
struct Tool {
    driver: Driver<Rule>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Rule {
    id: &'static str,
    short_description: Text<'static>,
    full_description: Text<'static>,
    help: Text<'static>,
    default_configuration: Configuration,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding<'r> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Text<'r>,
    locations: [Location<'r>; 1],
}

/// Name, level, what it means, and what to do.
const RULES: [(&str, &str, &str, &str); 3] = [
    (
        "over-budget",
        "error",
        "a benchmark costs more than its budget allows",
        "Make the named functions cheaper, or accept the cost with `gristmill gate bless`.",
    ),
    (
        "advised-budget",
        "note",
        "a benchmark costs more than a budget that only advises",
        "Have a look at the named functions. The gate lets this pass.",
    ),
    (
        "could-not-tell",
        "error",
        "a benchmark could not be measured or compared",
        "The message says why. A first baseline is written by `gristmill gate bless`.",
    ),
];

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let config = uri(&report.config);
    // Index of the rule, text, URI and line.
    let mut told: Vec<(usize, String, String, u64)> = Vec::new();
    for verdict in &report.verdicts {
        if let Some(failure) = &verdict.failure {
            told.push((2, format!("{}: {failure}", verdict.name), config.clone(), verdict.line as u64));
        }
        for check in &verdict.checks {
            let rule = match check.outcome {
                Outcome::Within => continue,
                Outcome::Over => 0,
                Outcome::Advice => 1,
                Outcome::Unknown => 2,
            };
            let (path, line) = report.place(check);
            told.push((rule, message(verdict, check), uri(&path), line));
        }
    }
    let results = told.iter().map(|(rule, message, uri, line)| Finding {
        rule_id: RULES.get(*rule).map_or("", |rule| rule.0),
        rule_index: *rule,
        level: RULES.get(*rule).map_or("none", |rule| rule.1),
        message: Text { text: message },
        locations: [Location {
            physical_location: PhysicalLocation {
                artifact_location: Artifact { uri: uri.strip_prefix("./").unwrap_or(uri) },
                region: Region { start_line: (*line).max(1), start_column: None, end_column: None },
            },
        }],
    });
    let rules = RULES.iter().map(|&(id, level, summary, help)| Rule {
        id,
        short_description: Text { text: summary },
        full_description: Text { text: help },
        help: Text { text: help },
        default_configuration: Configuration { level },
    });
    let document = Document {
        schema: SCHEMA,
        version: "2.1.0",
        runs: [Run {
            tool: Tool { driver: Driver::new(rules) },
            column_kind: "unicodeCodePoints",
            results: results.collect(),
            invocations: [Invocation {
                execution_successful: report.outcome() != Outcome::Unknown,
                tool_execution_notifications: [],
            }],
        }],
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

/// A path without a `./` before it, as annotations want it.
pub(super) fn shown_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.strip_prefix("./").unwrap_or(&text).to_owned()
}
