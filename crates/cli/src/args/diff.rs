//! `gristmill diff`: its options.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum, ValueHint};

use super::{ProgramArgs, SelectionArgs, SortKey, SourceArgs, at_least};

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    // An argument that conflicts with a present option is not required.
    /// Profile before the change; `-` is standard input
    #[arg(
        value_name = "BASE",
        required = true,
        conflicts_with_all = ["base", "new", "list_rules"],
        value_hint = ValueHint::FilePath
    )]
    base_file: Option<PathBuf>,

    /// Profile after the change
    #[arg(
        value_name = "NEW",
        required = true,
        conflicts_with_all = ["base", "new", "list_rules"],
        value_hint = ValueHint::FilePath
    )]
    new_file: Option<PathBuf>,

    /// Runs before the change, together with --new
    ///
    /// With several, numbers are medians, and a change within the spread of runs is noise.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        value_hint = ValueHint::FilePath,
        help_heading = "Several runs"
    )]
    base: Vec<PathBuf>,

    /// Runs after the change
    #[arg(
        long,
        value_name = "FILE",
        num_args = 1..,
        value_hint = ValueHint::FilePath,
        help_heading = "Several runs"
    )]
    new: Vec<PathBuf>,

    /// Show one function: callers, callees, source lines
    #[arg(long, value_name = "FUNCTION", conflicts_with_all = ["group", "filter"])]
    pub(crate) function: Option<String>,

    /// Give self costs to inlined functions
    ///
    /// Reads the debug information of the programs. Exact with addresses (--dump-instr=yes), else partly an estimate.
    #[arg(long)]
    pub(crate) inlined: bool,

    /// Show the call trees of both sides, joined by path
    ///
    /// They show where the change is, from the start of the program down.
    #[arg(long, conflicts_with_all = ["function", "group", "filter", "sort"])]
    pub(crate) tree: bool,

    /// Maximum number of levels below the root
    ///
    /// With --tree.
    #[arg(long, value_parser = at_least::<0, usize>, value_name = "N", requires = "tree", hide_short_help = true)]
    pub(crate) depth: Option<usize>,

    /// Sort key: self, inclusive, calls or name; costs and calls by their change
    #[arg(long, hide_possible_values = true, value_name = "KEY", default_value = "self")]
    pub(crate) sort: SortKey,

    /// Maximum number of rows, and of causes; 0 for all
    ///
    /// [default: in text 20 rows and 10 causes, in Markdown 60 and 10, in HTML 200 and 10, in JSON and CSV all]
    ///
    /// With --tree, the maximum number of its nodes [default: 100, in JSON and CSV 10000].
    #[arg(long, value_parser = at_least::<0, usize>, short = 'n', value_name = "ROWS")]
    pub(crate) limit: Option<usize>,

    /// Hide what is below this share of the base's total [default: 0.01, in JSON and CSV 0]
    ///
    /// With --tree, it is a share of the greatest change of a node [default: 1, in JSON and CSV 0]. A node is hidden if neither
    /// it nor a node below it changed as much.
    #[arg(long, value_name = "PERCENT", value_parser = hundred_thousandths)]
    pub(crate) min: Option<u32>,

    /// Show only rows with a matching name
    ///
    /// Case counts only if the pattern has a capital letter.
    #[arg(long, short, value_name = "REGEX")]
    pub(crate) filter: Option<String>,

    /// Show one row per group of functions: by object, file, dir, class, crate or package
    #[arg(long, hide_possible_values = true, value_name = "WHAT")]
    pub(crate) group: Option<DiffGroup>,

    /// Fail instead of warning if tools, commands or environments of the profiles differ
    #[arg(long, hide_short_help = true)]
    pub(crate) strict_environment: bool,

    /// Output format
    ///
    /// [default: by the extension of the output file, else text]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<DiffFormat>,

    /// Output file [default: standard output]
    ///
    /// With the extension .callgrind, .out or .kcg, the difference is written as a profile with signed costs.
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long, requires = "output", hide_short_help = true)]
    pub(crate) force: bool,

    /// Event types to show, recorded or derived, in this order
    ///
    /// [default: the first that both sides have, in JSON and CSV all of them, and those of --derive]
    #[arg(long, short, value_name = "EVENT", value_delimiter = ',', help_heading = "Selection")]
    pub(crate) event: Vec<String>,

    /// Define an event type, such as 'Cost = Ir + 10 Bm'; repeatable
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "Selection", hide_short_help = true)]
    pub(crate) derive: Vec<String>,

    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// Fold all levels of a recursion (f'2, f'3) into one function
    #[arg(long, help_heading = "Joining functions")]
    pub(crate) fold_recursion: bool,

    /// Fold functions that differ only in their recorded callers (f'caller) into one
    #[arg(long, help_heading = "Joining functions")]
    pub(crate) fold_callers: bool,

    /// Remove this directory from the start of paths; repeatable
    #[arg(
        long,
        value_name = "DIR",
        value_hint = ValueHint::DirPath,
        help_heading = "Joining functions"
    )]
    pub(crate) strip_prefix: Vec<PathBuf>,

    /// Join functions as if FROM at the start of paths were TO; repeatable
    #[arg(long, value_name = "FROM=TO", help_heading = "Joining functions")]
    pub(crate) map: Vec<String>,

    /// Join functions of different builds by these rules only, such as checkout-directory; repeatable, or separated by
    /// commas
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        conflicts_with = "no_rule",
        help_heading = "Joining functions"
    )]
    pub(crate) rule: Vec<String>,

    /// Join rules to turn off, such as rename, or 'all'; repeatable, or separated by commas
    #[arg(long, value_name = "RULE", value_delimiter = ',', help_heading = "Joining functions")]
    pub(crate) no_rule: Vec<String>,

    /// List what each rule joined, and all renamed functions
    #[arg(long, help_heading = "Joining functions")]
    pub(crate) show_joined: bool,

    /// List all rules, without reading a file
    #[arg(long, conflicts_with_all = ["base", "new"], help_heading = "Joining functions")]
    pub(crate) list_rules: bool,

    #[command(flatten)]
    pub(crate) source: SourceArgs,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffFormat {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// Comma-separated values for spreadsheets
    Csv,
    /// Markdown for a comment on a pull request
    Markdown,
    /// An HTML page
    Html,
    /// The difference as a profile with signed costs
    Callgrind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DiffGroup {
    Object,
    File,
    Dir,
    Class,
    Crate,
    Package,
}

impl DiffArgs {
    /// Returns the format: the one that is asked for, or that of the output file's extension.
    pub(crate) fn format(&self) -> DiffFormat {
        self.format.unwrap_or_else(|| self.output.as_deref().map_or(DiffFormat::Text, format_of))
    }

    /// Returns the paths of the base.
    pub(crate) fn base_runs(&self) -> &[PathBuf] {
        self.base_file.as_ref().map_or(&self.base, std::slice::from_ref)
    }

    /// Returns the paths of the new side.
    pub(crate) fn new_runs(&self) -> &[PathBuf] {
        self.new_file.as_ref().map_or(&self.new, std::slice::from_ref)
    }

    /// Returns the paths of all profiles.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        [self.base_runs(), self.new_runs()].concat()
    }
}

/// Returns the format of a file of this name.
fn format_of(path: &Path) -> DiffFormat {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        _ if name.starts_with("callgrind.out") => DiffFormat::Callgrind,
        Some("callgrind" | "out" | "kcg") => DiffFormat::Callgrind,
        Some("json") => DiffFormat::Json,
        Some("csv") => DiffFormat::Csv,
        Some("md" | "markdown") => DiffFormat::Markdown,
        Some("html" | "htm") => DiffFormat::Html,
        _ => DiffFormat::Text,
    }
}

/// Parses a share in percent, with at most three decimals, into hundred-thousandths.
fn hundred_thousandths(text: &str) -> Result<u32, String> {
    const DECIMALS: usize = 3;
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    let padded = format!("{decimals:0<DECIMALS$}");
    let parsed = whole.parse::<u32>().ok().zip(padded.parse::<u32>().ok());
    match parsed.map(|(whole, decimals)| whole.saturating_mul(1000).saturating_add(decimals)) {
        Some(share) if share <= 100_000 && padded.len() == DECIMALS && !decimals.is_empty() => Ok(share),
        _ => Err("a share is a number from 0 to 100 with at most three decimals, such as 0.05".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_three_decimals() {
        for (text, share) in [("0", 0), ("0.01", 10), ("2.5%", 2500), ("100", 100_000), ("0.125", 125)] {
            assert_eq!(hundred_thousandths(text), Ok(share), "{text}");
        }
        for text in ["", "-1", "101", "0.0001", "1.", "x"] {
            assert!(hundred_thousandths(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_of_files_tell_what_is_in_them() {
        for (name, format) in [
            ("d.callgrind", DiffFormat::Callgrind),
            ("out/callgrind.out.diff", DiffFormat::Callgrind),
            ("comment.MD", DiffFormat::Markdown),
            ("page.html", DiffFormat::Html),
            ("report", DiffFormat::Text),
        ] {
            assert_eq!(format_of(Path::new(name)), format, "{name}");
        }
    }
}
