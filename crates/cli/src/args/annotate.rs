//! The options of `gristmill annotate`: those of callgrind_annotate and of cg_annotate in their own spelling, and more.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{SelectionArgs, SourceArgs};

#[derive(Debug, Default, Args)]
pub(crate) struct AnnotateArgs {
    /// Profile to read, or several; what is no profile is a source file to annotate. Without any, the first
    /// callgrind.out* or cachegrind.out* here
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Lay the report out as callgrind_annotate or cg_annotate does; without it, as fits who wrote the profile
    #[arg(long, value_name = "STYLE")]
    pub(crate) style: Option<AnnotateStyle>,

    /// Write text, JSON or a page of HTML
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: AnnotateFormat,

    /// File to write; without it standard output
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite the file if it exists
    #[arg(long, requires = "output")]
    pub(crate) force: bool,

    /// Show these event types, recorded or derived, in this order; without it all recorded ones
    #[arg(
        long,
        short,
        visible_alias = "event",
        visible_short_alias = 'e',
        value_name = "EVENT",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub(crate) show: Vec<String>,

    /// Order by these event types; each may have a threshold of its own, as in Ir:90,Dr:50
    #[arg(long, value_name = "EVENT[:PERCENT]", help_heading = "Output")]
    pub(crate) sort: Option<String>,

    /// Callgrind: show functions up to this share of the total (99). Cachegrind: functions with at least this share (0.1)
    #[arg(long, value_name = "PERCENT", help_heading = "Output")]
    pub(crate) threshold: Option<String>,

    /// Show percentages beside the costs
    #[arg(
        long,
        value_name = "yes|no",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes",
        overrides_with = "no_show_percs",
        help_heading = "Output"
    )]
    pub(crate) show_percs: Option<YesNo>,

    /// Show no percentages
    #[arg(long, overrides_with = "show_percs", help_heading = "Output")]
    pub(crate) no_show_percs: bool,

    /// Annotate the source files of all functions shown, or none
    #[arg(long, value_name = "yes|no", help_heading = "Output")]
    pub(crate) auto: Option<YesNo>,

    /// As --auto=yes
    #[arg(long, overrides_with_all = ["no_annotate", "auto"], help_heading = "Output")]
    pub(crate) annotate: bool,

    /// As --auto=no
    #[arg(long, overrides_with_all = ["annotate", "auto"], help_heading = "Output")]
    pub(crate) no_annotate: bool,

    /// Show so many lines before and after those with costs
    #[arg(long, value_name = "N", default_value = "8", help_heading = "Output")]
    pub(crate) context: u64,

    /// Callgrind: show what functions cost with all that they called
    #[arg(long, value_name = "yes|no", help_heading = "Output")]
    pub(crate) inclusive: Option<YesNo>,

    /// Callgrind: show callers and callees of each function
    #[arg(long, value_name = "WHICH", default_value = "none", help_heading = "Output")]
    pub(crate) tree: AnnotateTree,

    /// Callgrind: show jumps, with targets and how often they were taken
    #[arg(long, help_heading = "Output")]
    pub(crate) jumps: bool,

    /// Take only functions whose name matches
    #[arg(long, value_name = "REGEX", help_heading = "Output")]
    pub(crate) function: Option<String>,

    /// Annotate only source files whose path matches
    #[arg(long, value_name = "REGEX", help_heading = "Output")]
    pub(crate) file: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    /// Cachegrind: show how the second of two profiles differs from the first
    #[arg(long, help_heading = "Comparison")]
    pub(crate) diff: bool,

    /// Cachegrind: change file names with a substitution such as s/old/new/
    #[arg(long, value_name = "s/OLD/NEW/", help_heading = "Comparison")]
    pub(crate) mod_filename: Option<String>,

    /// Cachegrind: change function names with a substitution such as s/old/new/
    #[arg(long, value_name = "s/OLD/NEW/", help_heading = "Comparison")]
    pub(crate) mod_funcname: Option<String>,

    /// Define an event type of your own, such as 'Cost = Ir + 10 Bm'; may be repeated
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "Selection")]
    pub(crate) derive: Vec<String>,

    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateStyle {
    /// As callgrind_annotate
    Callgrind,
    /// As cg_annotate of Valgrind 3.21 and later
    Cachegrind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateFormat {
    #[default]
    Text,
    Json,
    Html,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateTree {
    #[default]
    None,
    Caller,
    Calling,
    Both,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum YesNo {
    Yes,
    No,
}

impl YesNo {
    pub(crate) fn is_yes(self) -> bool {
        self == YesNo::Yes
    }
}
