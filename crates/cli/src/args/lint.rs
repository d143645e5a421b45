//! The options of `gristmill lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::FOUND_FILE_HELP;

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    #[arg(
        value_name = "FILE",
        help = FOUND_FILE_HELP,
        value_hint = ValueHint::FilePath
    )]
    pub(crate) files: Vec<PathBuf>,

    /// Show all findings instead of the first three of each rule
    #[arg(long)]
    pub(crate) all: bool,

    /// Also report the first deviation from the published grammar
    #[arg(long, conflicts_with = "practice")]
    pub(crate) strict: bool,

    /// Also report the first deviation from the grammar of Valgrind's tools
    #[arg(long)]
    pub(crate) practice: bool,

    /// Also report notes about what the producer does in all its files
    #[arg(long)]
    pub(crate) habits: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: LintFormat,

    /// Exit with status 1 if a finding has at least this severity
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,

    /// Explain a rule, without reading a file
    #[arg(long, value_name = "RULE", conflicts_with_all = ["files", "list_rules"])]
    pub(crate) explain: Option<String>,

    /// List all rules, without reading a file
    #[arg(long, alias = "rules", conflicts_with = "files")]
    pub(crate) list_rules: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    /// Text for a terminal
    Text,
    /// JSON, as docs/schema describes it
    Json,
    /// SARIF 2.1.0, for code review tools
    Sarif,
    /// Workflow commands, which GitHub shows beside the lines
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Error,
    Warning,
    Note,
}
