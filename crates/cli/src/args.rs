//! The command line: one definition that feeds parsing, `--help`, the shell completions and the manual pages.
//!
//! Nothing here opens a file or prints; it only says what was asked for. `Cli` is that answer.

mod annotate;
mod diff;
mod gate;
mod merge;
mod source;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};
use gristmill_report::SortBy;

pub(crate) use self::annotate::{AnnotateArgs, AnnotateFormat, AnnotateStyle, AnnotateTree, YesNo};
pub(crate) use self::diff::{DiffArgs, DiffFormat, DiffGroup};
pub(crate) use self::gate::{
    GateArgs, GateBlessArgs, GateCommand, GateFormat, GateInitArgs, GateNoiseArgs, GateRunArgs,
};
pub(crate) use self::merge::MergeArgs;
pub(crate) use self::source::SourceArgs;
use crate::size::{self, Size};

/// What every FILE argument accepts. Said once, shown by every command.
const FILE_HELP: &str = "Profile to read; - is standard input. Files packed with gzip, zstd, xz or bzip2 are recognised \
                         by their content, whatever their name";

/// Larger profiles are refused unless the user says how large they may be.
const MAX_SIZE: Size = Size::from_bytes(16 << 30);

#[derive(Debug, Parser)]
#[command(
    name = "gristmill",
    version,
    about = "Read, check, annotate, compare, merge and rewrite profiles in the Callgrind format",
    long_about = "Gristmill reads profiles in the Callgrind format, as Callgrind, Cachegrind and many other tools write \
                  them: says what is in them and what it costs, annotates sources, compares and merges profiles, holds \
                  benchmarks to budgets, checks profiles against the format and writes them anew.",
    after_help = "Exit status:\n  0  done, nothing to complain about\n  1  the check found something\n  2  something could \
                  not be done\n\nExamples:\n  gristmill info callgrind.out.4711\n  gristmill lint --all profile.gz\n  \
                  gristmill rewrite --names plain callgrind.out.4711 -o readable.out",
    // Help is read in terminals of all widths, but long lines are hard on the eye.
    max_term_width = 80,
    // `gristmill help info` is `gristmill info --help`: one way is enough, and completions stay short.
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,

    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Args)]
#[command(next_display_order = 100)]
pub(crate) struct GlobalArgs {
    /// Use colour: when writing to a terminal (unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "General options"
    )]
    pub(crate) color: ColorChoice,

    /// Refuse profiles larger than this once expanded, such as 200M or 64GiB
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        default_value_t = MAX_SIZE,
        value_parser = size::parse,
        help_heading = "General options"
    )]
    pub(crate) max_size: Size,
}

impl GlobalArgs {
    /// Without colour, and otherwise as if nothing were said: for the programs whose place this one takes.
    pub(crate) fn plain() -> Self {
        GlobalArgs { color: ColorChoice::Never, max_size: MAX_SIZE }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Say what is in a profile: who wrote it, which costs, how much
    #[command(
        after_help = "Examples:\n  gristmill info callgrind.out.4711\n  gristmill info --format json *.out\n  xz -dc \
                      old.xz | gristmill info -\n\nExit status: 2 when a file cannot be read or is no profile, \
                      otherwise 0, also for an empty file."
    )]
    Info(InfoArgs),

    /// List functions with what they cost, by themselves and with all that they called
    #[command(
        after_help = "Examples:\n  gristmill functions callgrind.out.4711\n  gristmill functions --event Ir,CEst --sort \
                      self --limit 20 *.out\n  gristmill functions --group object --format markdown callgrind.out.4711\n  \
                      gristmill functions --cut 'signal_handler -> .*' --format json callgrind.out.4711\n\nExit status: 2 \
                      when a profile cannot be read or what was asked for is not in it, otherwise 0."
    )]
    Functions(FunctionsArgs),

    /// Show one function in the round: its costs, callers, callees, cycle, lines and parts
    #[command(
        after_help = "Examples:\n  gristmill show main callgrind.out.4711\n  gristmill show --depth 3 --lines 20 parse *.out\n  \
                      gristmill show --fold-recursion --format markdown '^fib$' callgrind.out.4711\n\nExit status: 2 when a \
                      profile cannot be read, or when no function or more than one is meant, otherwise 0."
    )]
    Show(ShowArgs),

    /// Draw the call tree; its first line says whether it is exact or an estimate
    #[command(
        after_help = "Examples:\n  gristmill tree cachegrind.out.4711\n  gristmill tree --from parse --min 0.5 --depth 6 \
                      *.out\n  gristmill tree --from malloc --inverted callgrind.out.4711\n\nExit status: 2 when a profile \
                      cannot be read or what was asked for is not in it, otherwise 0."
    )]
    Tree(TreeArgs),

    /// Show source lines with what they cost, as callgrind_annotate and cg_annotate do
    #[command(
        after_help = "Examples:\n  gristmill annotate callgrind.out.4711\n  gristmill annotate --inclusive=yes --tree=both callgrind.out.4711\n  \
                      gristmill annotate --source-map /build/=$PWD/ --format html -o costs.html \
                      callgrind.out.4711\n  gristmill annotate --diff cachegrind.out.1 \
                      cachegrind.out.2\n\nExit status: 2 when a profile cannot be read or what was asked for is not in \
                      it, otherwise 0; sources that are missing are only told of."
    )]
    Annotate(AnnotateArgs),

    /// Compare two profiles: what changed, function by function, and why
    #[command(
        after_help = "Examples:\n  gristmill diff callgrind.out.before callgrind.out.after\n  gristmill diff --format markdown \
                      before.out after.out > comment.md\n  gristmill diff --base b1.out b2.out b3.out --new n1.out n2.out \
                      n3.out\n  gristmill diff before.out after.out -o difference.callgrind\n  gristmill diff --function parse \
                      before.out after.out\n\nExit status: 2 when a profile cannot be read, or when the two have nothing to \
                      compare, otherwise 0, whatever changed."
    )]
    Diff(DiffArgs),

    /// Add up profiles: by function, line and call, in any number and order
    #[command(
        after_help = "Examples:\n  gristmill merge callgrind.out.* -o all.out\n  gristmill merge --mean run-*.out -o mean.out\n  \
                      gristmill merge --keep-parts callgrind.out.4711-* -o threads.out\n\nMerging in any order and grouping \
                      gives the same bytes. Event types that not all files have are kept, and the result says in how many \
                      they were.\n\nExit status: 2 when a file cannot be read to its end or the result cannot be written, \
                      otherwise 0."
    )]
    Merge(MergeArgs),

    /// Hold benchmarks to budgets, and name the functions that went over them
    Gate(GateArgs),

    /// Check profiles against the format; say what is wrong and where
    #[command(
        after_help = "Examples:\n  gristmill lint callgrind.out.4711\n  gristmill lint --fail-on warning --format sarif \
                      profiles/*.out\n  gristmill lint --rules\n\nExit status: 1 when a finding is at least as severe as \
                      --fail-on says, otherwise 0; 2 when a file cannot be read."
    )]
    Lint(LintArgs),

    /// Write profiles anew: repaired, smaller or easier to read
    #[command(
        after_help = "Examples:\n  gristmill rewrite --repair cut-off.out -o whole.out\n  gristmill rewrite --names plain \
                      --positions absolute in.out | less\n  gristmill rewrite --strip-prefix \"$PWD\" *.out -o \
                      public/\n\nExit status: 2 when a profile was refused or could not be read or written, otherwise 0."
    )]
    Rewrite(RewriteArgs),

    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  eval \"$(gristmill completions bash)\"\n  gristmill completions fish > ~/.config/fish/completions/gristmill.fish"
    )]
    Completions(CompletionsArgs),

    /// Print the manual page, or write the pages of all commands
    #[command(after_help = "Examples:\n  gristmill man | man -l -\n  gristmill man ~/.local/share/man/man1")]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Write the answer as text for people or as JSON for programs
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: InfoFormat,
}

/// Which of the parts to look at.
#[derive(Debug, Default, Args)]
pub(crate) struct SelectionArgs {
    /// Also load the other files of the same recording: its dumps and threads, as their headers tell
    #[arg(long, help_heading = "What to look at")]
    pub(crate) set: bool,

    /// Take only the parts with these numbers (part:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) part: Vec<u64>,

    /// Take only these threads (thread:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) thread: Vec<u64>,

    /// Take only these processes (pid:)
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) pid: Vec<u64>,
}

/// What every report on a profile accepts.
#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,

    /// Show these event types, recorded or derived, in this order; without it the first of the profile, and in JSON and
    /// CSV all of them
    #[arg(long, short, value_name = "EVENT", value_delimiter = ',', help_heading = "What to look at")]
    pub(crate) event: Vec<String>,

    /// Define an event type of your own, such as 'Cost = Ir + 10 Bm'; may be repeated
    #[arg(long, value_name = "NAME=FORMULA", help_heading = "What to look at")]
    pub(crate) derive: Vec<String>,

    /// How inclusive costs are reckoned: by Gristmill's own rule, or as another tool shows them
    #[arg(long, value_name = "RULE", default_value = "own", help_heading = "How to reckon")]
    pub(crate) inclusive: InclusiveRule,

    /// Take functions that call each other in a circle one by one, not as a cycle
    #[arg(long, help_heading = "How to reckon")]
    pub(crate) no_cycles: bool,

    /// Take all levels of a recursion (f'2, f'3) as one function
    #[arg(long, help_heading = "How to reckon")]
    pub(crate) fold_recursion: bool,

    /// Take functions that differ only in their recorded callers (f'caller) as one
    #[arg(long, help_heading = "How to reckon")]
    pub(crate) fold_callers: bool,

    /// Leave out calls from functions that match the first pattern to those that match the second; may be repeated
    #[arg(long, value_name = "A -> B", help_heading = "How to reckon")]
    pub(crate) cut: Vec<String>,

    /// Leave out calls that cost less than this share of the dearest calls to the same function
    #[arg(long, value_name = "PERCENT", value_parser = per_mille, default_value = "0", help_heading = "How to reckon")]
    pub(crate) cut_below: u32,
}

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

#[derive(Debug, Args)]
pub(crate) struct RewriteArgs {
    #[arg(value_name = "IN", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) inputs: Vec<PathBuf>,

    /// File to write; - or nothing is standard output. With several inputs, an existing directory in which each keeps
    /// its file name
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::AnyPath)]
    pub(crate) output: Option<PathBuf>,

    /// How to write names: each once and then by its number, or always in full. Without it, as in the input
    #[arg(long, value_name = "STYLE")]
    pub(crate) names: Option<NameStyle>,

    /// How to write positions: relative to the line before, or in full. Without it, as in the input
    #[arg(long, value_name = "STYLE")]
    pub(crate) positions: Option<PositionStyle>,

    /// Leave this out; may be repeated or separated by commas
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) drop: Vec<Dropped>,

    /// Remove this directory from the start of file and object names; may be repeated
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) strip_prefix: Vec<PathBuf>,

    /// Mend what is broken, and say what was changed. Without it, a profile that cannot be carried over as it is gets
    /// refused
    #[arg(long)]
    pub(crate) repair: bool,

    /// Overwrite files that exist
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to write for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Existing directory to write one page per command into; without it the main page goes to standard output
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    Auto,
    Always,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum InfoFormat {
    Text,
    Json,
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
pub(crate) enum InclusiveRule {
    /// Self cost plus what was called; cycles as one, nothing above the total
    Own,
    /// What KCachegrind shows
    Kcachegrind,
    /// What callgrind_annotate shows
    Annotate,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NameStyle {
    Compressed,
    Plain,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PositionStyle {
    Compressed,
    Absolute,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Dropped {
    /// Jumps between lines (jump= and jcnd=)
    Jumps,
    /// Addresses of instructions and basic blocks, where there are source lines. Each cost stays a line of its own,
    /// also where several then say the same position
    Instr,
    /// Comment lines
    Comments,
}

/// Parses a command line, the program's name first. The error knows how to print itself and its exit code.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let cli = Cli::try_parse_from(words)?;
    let compared;
    let files: &[PathBuf] = match &cli.command {
        Command::Info(args) => &args.files,
        Command::Functions(args) => &args.files,
        Command::Show(args) => &args.files,
        Command::Tree(args) => &args.files,
        Command::Annotate(args) => &args.files,
        Command::Diff(args) => {
            compared = args.inputs();
            &compared
        }
        Command::Merge(args) => &args.files,
        Command::Lint(args) => &args.files,
        Command::Rewrite(args) => &args.inputs,
        Command::Gate(_) | Command::Completions(_) | Command::Man(_) => &[],
    };
    // It is empty the second time, and an empty profile would be reported for no reason that anyone could see.
    if files.iter().filter(|file| is_dash(file)).count() > 1 {
        return Err(
            definition().error(ErrorKind::ArgumentConflict, "standard input (-) can be read only once")
        );
    }
    Ok(cli)
}

/// The definition itself, for completions and manual pages.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

/// A share in percent, with one decimal at most, as thousandths.
fn per_mille(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim();
    let (whole, tenth) = number.split_once('.').unwrap_or((number, "0"));
    let parsed = whole.parse::<u32>().ok().zip(tenth.parse::<u32>().ok().filter(|_| tenth.len() == 1));
    match parsed.map(|(whole, tenth)| whole.saturating_mul(10).saturating_add(tenth)) {
        Some(share) if share <= 1000 => Ok(share),
        _ => Err("a share is a number from 0 to 100, such as 2.5".to_owned()),
    }
}

/// `-` stands for standard input or output. A file of that name is `./-`.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_words(words: &[&str]) -> Result<Cli, clap::Error> {
        parse(std::iter::once("gristmill").chain(words.iter().copied()).map(OsString::from))
    }

    #[test]
    fn definition_is_consistent() {
        definition().debug_assert();
    }

    #[test]
    fn help_fits_80_columns() {
        let mut root = definition();
        root.build();
        let names: Vec<String> = root.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
        let mut pages = vec![root.render_help().to_string(), root.render_long_help().to_string()];
        for name in names {
            let sub = root.find_subcommand_mut(&name).unwrap();
            pages.push(sub.render_help().to_string());
            pages.push(sub.render_long_help().to_string());
        }
        for line in pages.iter().flat_map(|page| page.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn every_argument_has_help() {
        let mut root = definition();
        root.build();
        for command in std::iter::once(&root).chain(root.get_subcommands()) {
            assert!(command.get_about().is_some(), "{}", command.get_name());
            for arg in command.get_arguments() {
                assert!(arg.get_help().is_some(), "{} {}", command.get_name(), arg.get_id());
            }
        }
    }

    #[test]
    fn global_options_stand_anywhere() {
        let before = parse_words(&["--color", "never", "--max-size", "1K", "info", "a"]).unwrap();
        let after = parse_words(&["info", "a", "--max-size=1K", "--color=never"]).unwrap();
        for cli in [before, after] {
            assert_eq!(cli.global.color, ColorChoice::Never);
            assert_eq!(cli.global.max_size.bytes(), 1024);
        }
    }

    #[test]
    fn defaults() {
        let cli = parse_words(&["info", "a"]).unwrap();
        assert_eq!(cli.global.color, ColorChoice::Auto);
        assert_eq!(cli.global.max_size.bytes(), 16 << 30);
    }

    #[test]
    fn lint_wants_files_unless_it_only_explains() {
        assert!(parse_words(&["lint"]).is_err());
        assert!(parse_words(&["lint", "--rules"]).is_ok());
        assert!(parse_words(&["lint", "--explain", "some-rule"]).is_ok());
        assert!(parse_words(&["lint", "--explain", "some-rule", "a"]).is_err());
        assert!(parse_words(&["lint", "--strict", "--practice", "a"]).is_err());
    }

    #[test]
    fn drop_repeats_and_splits() {
        let cli = parse_words(&["rewrite", "a", "--drop", "jumps,instr", "--drop=comments"]).unwrap();
        let Command::Rewrite(args) = cli.command else {
            panic!("rewrite expected");
        };
        assert_eq!(args.drop, [Dropped::Jumps, Dropped::Instr, Dropped::Comments]);
        assert_eq!(args.inputs, [PathBuf::from("a")]);
    }

    #[test]
    fn shares_are_percent() {
        for (text, share) in [("0", 0), ("2.5", 25), ("100%", 1000)] {
            assert_eq!(per_mille(text), Ok(share), "{text}");
        }
        for text in ["", "-1", "101", "2.55", "x"] {
            assert!(per_mille(text).is_err(), "{text}");
        }
    }

    #[test]
    fn standard_input_only_once() {
        let error = parse_words(&["info", "-", "a", "-"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("only once"));
    }
}
