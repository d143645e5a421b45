//! The options of `gristmill lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::FILE_HELP;

#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    #[arg(
        value_name = "FILE",
        required_unless_present_any = ["explain", "rules"],
        help = FILE_HELP,
        value_hint = ValueHint::FilePath
    )]
    pub(crate) files: Vec<PathBuf>,

    /// Show every finding, not only the first three of each rule
    #[arg(long)]
    pub(crate) all: bool,

    /// Also report where the profile first leaves the published grammar
    #[arg(long, conflicts_with = "practice")]
    pub(crate) strict: bool,

    /// Also report where the profile first leaves what Valgrind's tools write
    #[arg(long)]
    pub(crate) practice: bool,

    /// Write the findings as text, JSON, SARIF or GitHub annotations
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: LintFormat,

    /// Exit with status 1 when a finding is at least this severe
    #[arg(long, value_name = "SEVERITY", default_value = "error")]
    pub(crate) fail_on: FailOn,

    /// Explain one rule and read no file
    #[arg(long, value_name = "RULE", conflicts_with_all = ["files", "rules"])]
    pub(crate) explain: Option<String>,

    /// List all rules and read no file
    #[arg(long, conflicts_with = "files")]
    pub(crate) rules: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFormat {
    Text,
    Json,
    Sarif,
    Github,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    Error,
    Warning,
    Note,
}
