//! The options of `gristmill annotate`: those of callgrind_annotate and cg_annotate in their spelling, and more.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{ProgramArgs, SelectionArgs, SourceArgs, at_least};

#[derive(Debug, Default, Args)]
pub(crate) struct AnnotateArgs {
    /// Profiles to read, and source files to annotate [default: the newest recording here or in target/gungraun]
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Layout of the report [default: cachegrind for files of Cachegrind, else callgrind]
    #[arg(long, value_name = "STYLE", hide_short_help = true)]
    pub(crate) style: Option<AnnotateStyle>,

    /// Numbers of the layout of callgrind_annotate: corrected, or with the errors of the original
    #[arg(long, value_name = "NUMBERS", default_value = "corrected", hide_short_help = true)]
    pub(crate) compat: AnnotateCompat,

    /// Output format; HTML is a page to share
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: AnnotateFormat,

    /// Output file [default: standard output]
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long, requires = "output", hide_short_help = true)]
    pub(crate) force: bool,

    /// Event types to show, recorded or derived, in this order [default: all recorded ones and those of --derive]
    #[arg(
        long,
        short,
        visible_alias = "show",
        visible_short_alias = 's',
        value_name = "EVENT",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    pub(crate) event: Vec<String>,

    /// As in callgrind_annotate: event types to sort by; each can have its own threshold, as in Ir:90,Dr:50
    #[arg(long, value_name = "EVENT[:PERCENT]", help_heading = "Output")]
    pub(crate) sort: Option<String>,

    /// As in callgrind_annotate: list functions up to this share of the total (99); as in cg_annotate: those with at least
    /// this share (0.1)
    #[arg(long, value_name = "PERCENT", help_heading = "Output", hide_short_help = true)]
    pub(crate) threshold: Option<String>,

    /// Show percentages beside costs
    #[arg(
        long,
        value_name = "yes|no",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "yes",
        overrides_with = "no_show_percs",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub(crate) show_percs: Option<YesNo>,

    /// Show no percentages
    #[arg(long, overrides_with = "show_percs", help_heading = "Output", hide_short_help = true)]
    pub(crate) no_show_percs: bool,

    /// Annotate the source files of all listed functions, or none
    #[arg(long, value_name = "yes|no", help_heading = "Output", hide_short_help = true)]
    pub(crate) auto: Option<YesNo>,

    /// Same as --auto=yes
    #[arg(long, overrides_with_all = ["no_annotate", "auto"], help_heading = "Output", hide_short_help = true)]
    pub(crate) annotate: bool,

    /// Same as --auto=no
    #[arg(long, overrides_with_all = ["annotate", "auto"], help_heading = "Output", hide_short_help = true)]
    pub(crate) no_annotate: bool,

    /// Number of lines to show before and after those with costs [default: 8, with --asm 3]
    #[arg(long, value_parser = at_least::<0, u64>, value_name = "N", help_heading = "Output", hide_short_help = true)]
    pub(crate) context: Option<u64>,

    /// As in callgrind_annotate: show inclusive costs of functions
    ///
    /// In other commands, --inclusive chooses the rule for inclusive costs. This layout has its own.
    #[arg(long, value_name = "yes|no", help_heading = "Output")]
    pub(crate) inclusive: Option<YesNo>,

    /// As in callgrind_annotate: show callers and callees of each function
    ///
    /// `gristmill tree` draws the call tree.
    #[arg(long, value_name = "WHICH", default_value = "none", help_heading = "Output")]
    pub(crate) tree: AnnotateTree,

    /// Callgrind: show jumps with targets and counts
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub(crate) jumps: bool,

    /// Show machine code; =only without source lines
    ///
    /// Instructions have costs, calls and jumps. They follow their source lines and the names of inlined functions.
    #[arg(
        long,
        value_name = "LINES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "source",
        conflicts_with_all = ["style", "compat", "auto", "annotate", "no_annotate", "inclusive", "tree", "diff", "mod_filename", "mod_funcname"],
        hide_possible_values = true,
        help_heading = "Output"
    )]
    pub(crate) asm: Option<AsmLines>,

    /// Syntax of the instructions of x86
    #[arg(
        long,
        value_name = "SYNTAX",
        default_value = "att",
        help_heading = "Machine code",
        hide_short_help = true
    )]
    pub(crate) asm_syntax: AsmSyntax,

    /// Name inlined functions at the lines that they bring into others; in JSON and HTML, from the programs
    #[arg(long, conflicts_with = "asm", help_heading = "Machine code", hide_short_help = true)]
    pub(crate) name_inlined: bool,

    /// Maximum number of functions with --asm, 0 for all [default: 20, with --filter or as JSON or HTML all]
    #[arg(long, short = 'n', value_parser = at_least::<0, usize>, value_name = "ROWS", help_heading = "Machine code", hide_short_help = true)]
    pub(crate) limit: Option<usize>,

    /// Show only rows with a matching name
    ///
    /// Only lines of these functions are annotated. Case counts only if the pattern has a capital letter.
    #[arg(long, short, alias = "function", value_name = "REGEX", help_heading = "Output")]
    pub(crate) filter: Option<String>,

    /// Use only source files whose path matches
    #[arg(long, value_name = "REGEX", help_heading = "Output")]
    pub(crate) file: Option<String>,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,

    /// Cachegrind: show the difference of two profiles, the second minus the first
    #[arg(long, help_heading = "Comparison")]
    pub(crate) diff: bool,

    /// Cachegrind: change file names with a substitution such as s/old/new/
    #[arg(long, value_name = "s/OLD/NEW/", help_heading = "Comparison")]
    pub(crate) mod_filename: Option<String>,

    /// Cachegrind: change function names with a substitution such as s/old/new/
    #[arg(long, value_name = "s/OLD/NEW/", help_heading = "Comparison")]
    pub(crate) mod_funcname: Option<String>,

    /// Define an event type, such as 'Cost = Ir + 10 Bm'; repeatable
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "Selection", hide_short_help = true)]
    pub(crate) derive: Vec<String>,

    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
}

/// The lines between instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AsmLines {
    /// Source lines and the names of inlined functions
    Source,
    /// Nothing
    Only,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AsmSyntax {
    /// As objdump and GCC write them
    #[default]
    Att,
    /// As the manuals of Intel do
    Intel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateStyle {
    /// As callgrind_annotate
    Callgrind,
    /// As cg_annotate of Valgrind 3.21 and later
    Cachegrind,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateCompat {
    /// Right where callgrind_annotate is wrong
    #[default]
    Corrected,
    /// As callgrind_annotate prints them
    Exact,
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

impl AnnotateArgs {
    /// The count of source lines to show before and after those with costs.
    pub(crate) fn source_context(&self) -> u64 {
        self.context.unwrap_or(8)
    }
}
