//! The report as SARIF 2.1.0: a result for each budget that is not kept, at the function most responsible.

use std::io::{self, Write};

use gristmill_output::json;
use gristmill_output::sarif::{
    Artifact, Configuration, Driver, Location, PhysicalLocation, Region, SCHEMA, Text, uri,
};
use serde::Serialize;

use crate::report::GateReport;
use crate::verdict::Outcome;

/// A kind of result.
struct Rule {
    id: &'static str,
    level: &'static str,
    summary: &'static str,
    help: &'static str,
}

const RULES: [Rule; 3] = [
    Rule {
        id: "over-budget",
        level: "error",
        summary: "a benchmark costs more than its budget allows",
        help: "Make the named functions cheaper, or accept the cost with `gristmill gate bless`.",
    },
    Rule {
        id: "advised-budget",
        level: "note",
        summary: "an advisory budget is exceeded or not determined",
        help: "Look at the named functions. An advisory budget does not fail the gate.",
    },
    Rule {
        id: "could-not-tell",
        level: "error",
        summary: "a benchmark could not be measured or compared",
        help: "The message gives the reason. `gristmill gate bless` writes the first baseline.",
    },
];

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
    /// `true` if every benchmark was measured and compared.
    execution_successful: bool,
    tool_execution_notifications: [&'static str; 0],
}

#[derive(Serialize)]
struct Tool {
    driver: Driver<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
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

impl GateReport {
    /// Writes the report as SARIF. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_sarif(&self, out: &mut dyn Write) -> io::Result<()> {
        let uris: Vec<String> = self.annotations.iter().map(|annotation| uri(&annotation.path)).collect();
        let results = self.annotations.iter().zip(&uris).map(|(annotation, uri)| {
            let rule_index = match annotation.outcome {
                Outcome::Within | Outcome::Over => 0,
                Outcome::Advice => 1,
                Outcome::Unknown => 2,
            };
            let Rule { id, level, .. } = RULES[rule_index];
            let uri = uri.strip_prefix("./").unwrap_or(uri);
            let region = Region { start_line: annotation.line.max(1), start_column: None, end_column: None };
            Finding {
                rule_id: id,
                rule_index,
                level,
                message: Text { text: &annotation.message },
                locations: [Location {
                    physical_location: PhysicalLocation { artifact_location: Artifact { uri }, region },
                }],
            }
        });
        let rules = RULES.iter().map(|rule| Descriptor {
            id: rule.id,
            short_description: Text { text: rule.summary },
            full_description: Text { text: rule.help },
            help: Text { text: rule.help },
            default_configuration: Configuration { level: rule.level },
        });
        let document = Document {
            schema: SCHEMA,
            version: "2.1.0",
            runs: [Run {
                tool: Tool { driver: Driver::new(rules) },
                column_kind: "unicodeCodePoints",
                results: results.collect(),
                invocations: [Invocation {
                    execution_successful: self.outcome != Outcome::Unknown,
                    tool_execution_notifications: [],
                }],
            }],
        };
        json::write_pretty(&document, out)?;
        writeln!(out)
    }
}
