//! `cargo xtask ui-types`: the types of questions and answers in TypeScript, for the page of the viewer.
//!
//! They are made of the schema in `docs/schema`, which a test of the program holds to the types of the library.

mod typescript;

use std::path::PathBuf;

use serde_json::Value;

use crate::failure::{Context as _, Failure};
use crate::workspace;

/// The schema of the request and of all answers.
const SCHEMA: &str = "docs/schema/view.schema.json";
/// The file of the page.
const TYPES: &str = "ui/src/answers.ts";

/// Names of the page for types whose names are long, or mean something only beside their reports.
const PAGE_NAMES: [(&str, &str); 13] = [
    ("AssemblyAnswer", "Assembly"),
    ("CallCount", "Calls"),
    ("CallRow", "ChangedCall"),
    ("CauseRow", "Cause"),
    ("ChangeByEvent", "Changes"),
    ("CycleSummary", "Cycle"),
    ("Entry", "TreeEntry"),
    ("ExactInteger", "Exact"),
    ("FunctionDiff", "DiffFunction"),
    ("LineRow", "ChangedLine"),
    ("NamedFunction", "Named"),
    ("Node", "TreeNode"),
    ("ShareRow", "Share"),
];

#[derive(Debug, Default, clap::Args)]
pub(crate) struct Options {
    /// Write nothing, and fail if the file differs.
    #[arg(long)]
    check: bool,
}

impl Options {
    /// Only checks.
    pub(crate) fn check() -> Self {
        Options { check: true }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let at = |path: &str| -> PathBuf { workspace::root().join(path) };
    let schema = std::fs::read(at(SCHEMA)).context(|| format!("cannot read {SCHEMA}"))?;
    let schema: Value = serde_json::from_slice(&schema).context(|| format!("{SCHEMA} is not JSON"))?;
    let types = typescript::types(&schema, &PAGE_NAMES)?;
    let text = format!(
        "// The questions of the page and their answers.\n//\n// Generated from {SCHEMA} by `cargo xtask ui-types`. Do not \
         change it by hand.\n\n{types}"
    );
    if !options.check {
        std::fs::write(at(TYPES), text).context(|| format!("cannot write {TYPES}"))?;
        println!("ui-types: {TYPES} is written");
        return Ok(());
    }
    if std::fs::read_to_string(at(TYPES)).unwrap_or_default() != text {
        return Err(Failure::new(format!(
            "{TYPES} is not made of {SCHEMA}; run cargo xtask ui-types, and build the page again"
        )));
    }
    println!("ui-types: {TYPES} is made of {SCHEMA}");
    Ok(())
}
