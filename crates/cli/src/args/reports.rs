//! The options of `gristmill overview`, `functions`, `show` and `tree`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use gristmill_report::SortBy;

use super::profile::{ProfileArgs, per_mille};
use super::program::ProgramArgs;
use super::source::SourceArgs;
use super::{FOUND_FILE_HELP, at_least};

#[derive(Debug, Args)]
pub(crate) struct OverviewArgs {
    #[arg(value_name = "FILE", help = FOUND_FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Maximum number of functions, 0 for all [default: 10]
    #[arg(long, value_parser = at_least::<0, usize>, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

#[derive(Debug, Args)]
pub(crate) struct FunctionsArgs {
    #[arg(value_name = "FILE", help = FOUND_FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Sort key
    #[arg(long, value_name = "KEY", default_value = "self")]
    pub(crate) sort: SortKey,

    /// Maximum number of rows, 0 for all [default: 30, in JSON and CSV all]
    #[arg(long, value_parser = at_least::<0, usize>, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Show only rows with a matching name
    ///
    /// Case counts only if the pattern has a capital letter.
    #[arg(long, short, value_name = "REGEX")]
    pub(crate) filter: Option<String>,

    #[command(flatten)]
    pub(crate) attribution: AttributionArgs,

    /// Use only object files whose path matches
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) object: Option<String>,

    /// Use only source files whose path matches
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) file: Option<String>,

    /// Show one row per source line, or group of functions: by object file, source file, directory, class, crate
    /// of Rust, package of PHP or Python, or cycle; or per thread or part
    #[arg(long, value_name = "WHAT")]
    pub(crate) group: Option<GroupBy>,

    /// Below each group, show its most expensive functions, or groups of another kind
    #[arg(long, value_name = "WHAT", requires = "group", hide_short_help = true)]
    pub(crate) then: Option<ThenBy>,

    /// Show percentages of the inclusive cost of this function instead of the total
    #[arg(long, value_name = "FUNCTION", hide_short_help = true)]
    pub(crate) relative_to: Option<String>,

    /// With --sort inclusive, show each of the functions that start the program in a row of its own
    #[arg(long, hide_short_help = true)]
    pub(crate) no_fold_start_up: bool,

    /// Also show the average cost per call
    #[arg(long)]
    pub(crate) per_call: bool,

    /// Also show miss rates of the caches and of branch prediction
    ///
    /// They are rates of the cost that rows are sorted by: of self cost, or with --sort inclusive of inclusive cost. The profile
    /// needs the simulation: `valgrind --tool=callgrind --cache-sim=yes --branch-sim=yes`.
    #[arg(long, hide_short_help = true)]
    pub(crate) rates: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

/// Options that give costs to other functions.
#[derive(Debug, Args)]
pub(crate) struct AttributionArgs {
    /// Count only cost with a function that matches on the stack: of it, of what it calls, and of its callers
    ///
    /// A function that others call as well has the share of these calls, an estimate that is marked `~`.
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) focus: Option<String>,

    /// Leave out functions that match with what they call: their cost leaves the total
    ///
    /// What others call as well loses the share of these calls, an estimate that is marked `~`.
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) exclude: Option<String>,

    /// Hide functions that match, and give their self cost to their callers
    ///
    /// Several callers share it in proportion to the cost of their calls, an estimate that is marked `~`.
    #[arg(long, value_name = "REGEX", hide_short_help = true)]
    pub(crate) hide: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Function: its name, FILE:NAME, part of its name, or a pattern; of several that match the most expensive one
    #[arg(value_name = "FUNCTION")]
    pub(crate) function: String,

    #[arg(value_name = "FILE", help = FOUND_FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Maximum number of levels of callers and callees
    #[arg(long, value_name = "N", default_value = "1", value_parser = at_least::<1, u32>)]
    pub(crate) depth: u32,

    /// Maximum number of most expensive lines, 0 for all [default: 10, in JSON all]
    #[arg(long, value_parser = at_least::<0, usize>, value_name = "N")]
    pub(crate) lines: Option<usize>,

    /// Maximum number of rows of every other list, 0 for all [default: 10, in JSON and CSV all]
    #[arg(long, value_parser = at_least::<0, usize>, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    #[command(flatten)]
    pub(crate) attribution: AttributionArgs,

    /// Output format. CSV has only the callers and callees
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

#[derive(Debug, Args)]
pub(crate) struct TreeArgs {
    #[arg(value_name = "FILE", help = FOUND_FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Root of the tree: the name of a function, FILE:NAME, part of its name, or a pattern; of several that
    /// match the most expensive one
    #[arg(long, value_name = "FUNCTION")]
    pub(crate) from: Option<String>,

    /// Show callers below what they call: of the root, or without --from of all functions, by self cost
    ///
    /// Without --from, the tree is bottom-up: functions with their self costs, and below each the part of it that comes through
    /// each caller.
    #[arg(long)]
    pub(crate) inverted: bool,

    #[command(flatten)]
    pub(crate) attribution: AttributionArgs,

    /// Hide what is below this share of the root: combine such nodes
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, default_value = "1")]
    pub(crate) min: u32,

    /// Print each node of a chain on a line of its own
    ///
    /// A chain is a node with a single callee that has nearly all of its cost, and so on: `main → run → parse`. Its line has
    /// the cost of the first node. JSON and CSV always have all nodes.
    #[arg(long)]
    pub(crate) no_chains: bool,

    /// Maximum number of levels below the root
    #[arg(long, value_parser = at_least::<0, usize>, value_name = "N")]
    pub(crate) depth: Option<usize>,

    /// Maximum number of nodes, 0 for as many as fit (docs/limits.md) [default: 100, in JSON and CSV 10000]
    #[arg(long, value_parser = at_least::<0, usize>, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: ReportFormat,

    #[command(flatten)]
    pub(crate) profile: ProfileArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
    Csv,
    Markdown,
}

impl ReportFormat {
    /// Returns the limit: the given one, where 0 means none, or else the default for people or for programs.
    pub(crate) fn limit(self, given: Option<usize>, people: usize, programs: Option<usize>) -> Option<usize> {
        match (given, self) {
            (Some(0), _) => None,
            (Some(given), _) => Some(given),
            (None, ReportFormat::Text | ReportFormat::Markdown) => Some(people),
            (None, ReportFormat::Json | ReportFormat::Csv) => programs,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SortKey {
    #[value(name = "self")]
    SelfCost,
    Inclusive,
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
pub(crate) enum ThenBy {
    Function,
    Object,
    File,
    Dir,
    Class,
    Crate,
    Package,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GroupBy {
    Line,
    Object,
    File,
    Dir,
    Class,
    Crate,
    Package,
    Cycle,
    Thread,
    Part,
}
