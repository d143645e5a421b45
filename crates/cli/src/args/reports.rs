//! The options of `gristmill functions`, `show` and `tree`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use gristmill_report::SortBy;

use super::FILE_HELP;
use super::profile::{ProfileArgs, per_mille};

#[derive(Debug, Args)]
pub(crate) struct FunctionsArgs {
    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Order rows by this
    #[arg(long, value_name = "KEY", default_value = "inclusive")]
    pub(crate) sort: SortKey,

    /// Show so many rows, 0 for all; without it 30, and in JSON and CSV all
    #[arg(long, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Show only rows whose name matches
    #[arg(long, short, value_name = "REGEX")]
    pub(crate) filter: Option<String>,

    /// Take only functions whose object's path matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) object: Option<String>,

    /// Take only functions whose source file's path matches
    #[arg(long, value_name = "REGEX")]
    pub(crate) file: Option<String>,

    /// One row for each of these instead of each function
    #[arg(long, value_name = "WHAT")]
    pub(crate) group: Option<GroupBy>,

    /// Show shares of this function's inclusive cost, not of the total
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) relative_to: Option<String>,

    /// Also show what one call cost on average
    #[arg(long)]
    pub(crate) per_call: bool,

    /// Write the answer as text, JSON, CSV or Markdown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// The function: its name or FILE:NAME, a part of its name, or a pattern that fits no other
    #[arg(value_name = "FUNCTION")]
    pub(crate) function: String,

    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Also show callers and callees so many calls away
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) depth: u32,

    /// Show so many of the hottest lines, 0 for all; without it 10, and in JSON all
    #[arg(long, value_name = "N")]
    pub(crate) lines: Option<usize>,

    /// Show so many rows of every other list, 0 for all; without it 10, and in JSON and CSV all
    #[arg(long, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Write the answer as text, JSON or Markdown; as CSV callers and callees
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Begin with this function: its name or FILE:NAME, a part of its name, or a pattern that fits no other
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) from: Option<String>,

    /// Show what called that function instead, and what called those
    #[arg(long, requires = "from")]
    pub(crate) inverted: bool,

    /// Sum up what costs less than this share of the root
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, default_value = "1")]
    pub(crate) min: u32,

    /// Show so many levels below the root
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,

    /// Show so many nodes, the dearest, 0 for a million; without it 100, and in JSON and CSV 10000
    #[arg(long, short = 'n', value_name = "NODES")]
    pub(crate) limit: Option<usize>,

    /// Write the answer as text, JSON, CSV or Markdown
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
    Csv,
    Markdown,
}

impl ReportFormat {
    /// How much is shown: what is asked for, where 0 means all, or else as much as a person reads, or a program may want.
    pub(crate) fn limit(self, asked: Option<usize>, people: usize, programs: Option<usize>) -> Option<usize> {
        match (asked, self) {
            (Some(0), _) => None,
            (Some(asked), _) => Some(asked),
            (None, ReportFormat::Text | ReportFormat::Markdown) => Some(people),
            (None, ReportFormat::Json | ReportFormat::Csv) => programs,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    Inclusive,
    #[value(name = "self")]
    SelfCost,
    Calls,
    Name,
}

impl From<SortKey> for SortBy {
    fn from(key: SortKey) -> Self {
        match key {
            SortKey::Inclusive => SortBy::Inclusive,
            SortKey::SelfCost => SortBy::SelfCost,
            SortKey::Calls => SortBy::Calls,
            SortKey::Name => SortBy::Name,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupBy {
    Object,
    File,
    Dir,
    Class,
    Cycle,
}
