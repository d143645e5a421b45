//! The command line: one definition that feeds parsing, `--help`, the shell completions and the manual pages.
//!
//! Nothing here opens a file or prints; `default_command` asks whether a word is the path of a file. [`parse`] turns words into [`Cli`].

mod annotate;
mod control;
mod default_command;
mod diff;
mod gate;
mod lint;
mod merge;
mod profile;
mod program;
mod record;
mod reports;
mod rewrite;
mod source;
#[cfg(test)]
mod tests;
mod view;
#[cfg(test)]
mod vocabulary;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, FromArgMatches as _, Parser, Subcommand, ValueEnum, ValueHint};

pub(crate) use self::annotate::{
    AnnotateArgs, AnnotateCompat, AnnotateFormat, AnnotateStyle, AnnotateTree, AsmLines, AsmSyntax, YesNo,
};
pub(crate) use self::control::{ControlArgs, Request};
pub(crate) use self::diff::{DiffArgs, DiffFormat, DiffGroup};
pub(crate) use self::gate::{
    GateArgs, GateBlessArgs, GateCommand, GateConfigArgs, GateFormat, GateInitArgs, GateNoiseArgs,
    GateRunArgs,
};
pub(crate) use self::lint::{FailOn, LintArgs, LintFormat};
pub(crate) use self::merge::MergeArgs;
pub(crate) use self::profile::{InclusiveRule, ProfileArgs, SelectionArgs};
pub(crate) use self::program::ProgramArgs;
pub(crate) use self::record::{Engine, Open, RecordArgs};
pub(crate) use self::reports::{
    AttributionArgs, FunctionsArgs, GroupBy, OverviewArgs, ReportFormat, ShowArgs, SortKey, ThenBy, TreeArgs,
};
pub(crate) use self::rewrite::{Dropped, NameStyle, PositionStyle, RewriteArgs};
pub(crate) use self::source::SourceArgs;
pub(crate) use self::view::ViewArgs;
use crate::size::{self, Size};

/// Help of every FILE argument.
const FILE_HELP: &str = "Profile, or - for standard input. Files compressed with gzip, zstd, xz or bzip2 are \
                         recognised by their content";

/// Help of the FILE arguments of a command that finds a profile by itself.
const FOUND_FILE_HELP: &str = "Profile, or - for standard input; compressed files are recognised by their content \
                               [default: the newest recording here or in target/gungraun]";

/// Size of the largest profile that is read by default.
const MAX_SIZE: Size = Size::from_bytes(16 << 30);

#[derive(Debug, Parser)]
#[command(
    name = "gristmill",
    version,
    about = "Read, check, annotate, compare, merge and rewrite profiles in the Callgrind format",
    long_about = "Gristmill reads profiles in the Callgrind format, as Callgrind, Cachegrind and many other tools write \
                  them: it shows their contents and costs, annotates sources, compares and merges profiles, holds \
                  benchmarks to budgets, checks profiles against the format and rewrites them. It also records programs.",
    after_help = "Exit status:\n  0  success\n  1  a check found something\n  2  \
                  failure\n\nExamples:\n  gristmill callgrind.out.4711\n  gristmill show main callgrind.out.4711\n  \
                  gristmill diff before.out after.out",
    override_usage = "gristmill [OPTIONS] [FILE]...\n       gristmill [OPTIONS] COMMAND ...",
    // Long lines are hard to read.
    max_term_width = 80,
    // Ours has no copy of each command, so that completions stay short.
    disable_help_subcommand = true,
    subcommand_required = true,
    subcommand_value_name = "COMMAND",
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
    /// Use colours: auto (in a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "General options"
    )]
    pub(crate) color: ColorChoice,

    /// Largest profile to read, by its uncompressed size, such as 200M or 64GiB
    #[arg(
        long,
        global = true,
        value_name = "SIZE",
        default_value_t = MAX_SIZE,
        value_parser = size::parse,
        help_heading = "General options"
    )]
    pub(crate) max_size: Size,

    /// Print long answers as they are, not through GRISTMILL_PAGER, PAGER or less
    #[arg(long, global = true, help_heading = "General options")]
    pub(crate) no_pager: bool,

    /// Columns that reports may fill [default: COLUMNS, or the width of the terminal]
    #[arg(
        long,
        global = true,
        value_name = "N",
        value_parser = columns,
        help_heading = "General options"
    )]
    pub(crate) width: Option<usize>,

    /// Do not shorten names and paths to fit the width; into a pipe or file they are never shortened
    #[arg(long, global = true, help_heading = "General options")]
    pub(crate) full_names: bool,
}

impl GlobalArgs {
    /// Defaults without colours, for programs that this one stands in for.
    pub(crate) fn plain() -> Self {
        GlobalArgs {
            color: ColorChoice::Never,
            max_size: MAX_SIZE,
            no_pager: true,
            width: None,
            full_names: false,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show where the cost is, and what to ask next
    #[command(
        after_help = "Examples:\n  gristmill callgrind.out.4711\n  gristmill\n  gristmill overview --set --event Ir,CEst \
                      callgrind.out.4711\n  gristmill ./overview\n\nThe word overview can be left out. A file with the name of \
                      a command needs its directory, as in the last example.\n\nExit status: 2 if a profile cannot be read \
                      or does not contain what an option names, otherwise 0."
    )]
    Overview(OverviewArgs),

    /// Show what a profile contains: producer, event types, totals
    #[command(
        after_help = "Examples:\n  gristmill info callgrind.out.4711\n  gristmill info --format json *.out\n  xz -dc \
                      old.xz | gristmill info -\n\nExit status: 2 if a file cannot be read or is not a profile, \
                      otherwise 0. The empty file that Callgrind leaves beside those of threads is passed over."
    )]
    Info(InfoArgs),

    /// List functions with their self and inclusive costs
    #[command(
        after_help = "Examples:\n  gristmill functions callgrind.out.4711\n  gristmill functions --event Ir,CEst --sort \
                      inclusive --limit 20 *.out\n  gristmill functions --group object --format markdown callgrind.out.4711\n  \
                      gristmill functions --cut 'signal_handler -> .*' --format json callgrind.out.4711\n\nExit status: 2 \
                      if a profile cannot be read or does not contain what an option names, otherwise 0."
    )]
    Functions(FunctionsArgs),

    /// Show one function: its costs, callers, callees, cycle, lines and parts
    #[command(
        after_help = "Examples:\n  gristmill show main callgrind.out.4711\n  gristmill show --depth 3 --lines 20 parse *.out\n  \
                      gristmill show --fold-recursion --format markdown '^fib$' callgrind.out.4711\n\nExit status: 2 if a \
                      profile cannot be read, or if no function matches, otherwise 0."
    )]
    Show(ShowArgs),

    /// Draw the call tree; its first line states whether it is exact or an estimate
    #[command(
        after_help = "Examples:\n  gristmill tree cachegrind.out.4711\n  gristmill tree --from parse --min 0.5 --depth 6 \
                      *.out\n  gristmill tree --from malloc --inverted callgrind.out.4711\n  gristmill tree --inverted \
                      --depth 3 callgrind.out.4711\n\nExit status: 2 if a profile \
                      cannot be read or does not contain what an option names, otherwise 0."
    )]
    Tree(TreeArgs),

    /// Show source lines with their costs, as callgrind_annotate and cg_annotate do
    #[command(
        after_help = "Examples:\n  gristmill annotate callgrind.out.4711\n  gristmill annotate --inclusive=yes --tree=both callgrind.out.4711\n  \
                      gristmill annotate --source-map /build/=$PWD/ --format html -o costs.html \
                      callgrind.out.4711\n  gristmill annotate --diff cachegrind.out.1 \
                      cachegrind.out.2\n\nExit status: 2 if a profile cannot be read or does not contain what an option \
                      names, otherwise 0; missing sources are only reported."
    )]
    Annotate(AnnotateArgs),

    /// View a profile in the browser: source, machine code, pictures
    #[command(
        after_help = "Examples:\n  gristmill view callgrind.out.4711\n  gristmill view --watch --source-map /build/=$PWD/ \
                      callgrind.out.4711\n  gristmill view after.out --base before.out\n  gristmill view --answer \
                      '{\"question\":{\"kind\":\"overview\",\"limit\":5}}' callgrind.out.4711\n\nOnly who has the printed address \
                      with its token can ask, from this machine unless --bind says otherwise. Ctrl-C ends it.\n\nExit \
                      status: 2 if a profile cannot be read, the port is not free or a question has no answer, 130 after \
                      Ctrl-C."
    )]
    View(ViewArgs),

    /// Compare two profiles: the change of each function, and its causes
    #[command(
        override_usage = "gristmill diff [OPTIONS] <BASE> <NEW>\n       gristmill diff [OPTIONS] --base <FILE>... --new <FILE>...",
        after_help = "Examples:\n  gristmill diff callgrind.out.before callgrind.out.after\n  gristmill diff --format markdown \
                      before.out after.out > comment.md\n  gristmill diff --base b1.out b2.out b3.out --new n1.out n2.out \
                      n3.out\n  gristmill diff before.out after.out -o difference.callgrind\n  gristmill diff --function parse \
                      before.out after.out\n\nExit status: 2 if a profile cannot be read, or if the two have nothing to \
                      compare, otherwise 0."
    )]
    Diff(DiffArgs),

    /// Add up profiles: by function, line and call, in any number and order
    #[command(
        after_help = "Examples:\n  gristmill merge callgrind.out.* -o all.out\n  gristmill merge --mean run-*.out -o mean.out\n  \
                      gristmill merge --keep-parts callgrind.out.4711-* -o threads.out\n\nA sum does not depend on order or \
                      grouping. The result of --mean, --median or --scale counts as one run when merged again; --keep-parts keeps \
                      the given order. Event types that only some files have are kept, and the result names the number \
                      of files with them.\n\nThe totals of --mean, --median and --scale are calculated exactly and rounded \
                      once. Their functions and lines are then rounded down, and those with the largest remainders up, \
                      until they add up to the totals. Each differs by less than 1 from the exact number.\n\nExit status: \
                      2 if a file cannot be read to its end or the result cannot be written, otherwise 0."
    )]
    Merge(MergeArgs),

    /// Hold benchmarks to budgets, and name the functions that exceed them
    Gate(GateArgs),

    /// Record a program, and say what to ask next
    #[command(
        after_help = "Examples:\n  gristmill record ./program --its-option\n  gristmill record --open -o before.out ./program\n  \
                      gristmill record --dump-instr=yes --cache-sim=yes ./program\n  gristmill record --trace-children=yes make test\n  \
                      gristmill record --toggle-collect='parse(*)' -- ./program\n\nThe options of Callgrind have its spelling. Standard input, \
                      output and error are those of the program; messages go to standard error.\n\nExit status: that of the program; \
                      a signal that ends it ends gristmill, too. 127 if there is no such program, 126 if it cannot be run, 2 if it could not be \
                      recorded."
    )]
    Record(RecordArgs),

    /// Ask a program that is recorded: its status, a part, a new start, its end
    #[command(
        after_help = "Examples:\n  gristmill control 4711 status\n  gristmill control 4711 dump 'after start'\n  gristmill control 4711 off\n  \
                      gristmill control 4711 stop\n\nThis is for programs under Callgrind, also if valgrind was called directly.\n\nExit status: 2 if \
                      the program could not be asked or gave no answer, otherwise 0."
    )]
    Control(ControlArgs),

    /// Check profiles against the format, and report each problem with its location
    #[command(
        after_help = "Examples:\n  gristmill lint callgrind.out.4711\n  gristmill lint --fail-on warning --format sarif \
                      profiles/*.out\n  gristmill lint --list-rules\n\nExit status: 1 if a finding has at least the severity of \
                      --fail-on, otherwise 0; 2 if a file cannot be read."
    )]
    Lint(LintArgs),

    /// Rewrite profiles: repaired, smaller or easier to read
    #[command(
        after_help = "Examples:\n  gristmill rewrite --repair cut-off.out -o whole.out\n  gristmill rewrite --names plain \
                      --positions absolute in.out | less\n  gristmill rewrite --strip-prefix \"$PWD\" *.out -o \
                      public/\n\nExit status: 2 if a profile was refused or could not be read or written, otherwise 0."
    )]
    Rewrite(RewriteArgs),

    /// Print the help of a command
    #[command(after_help = "Examples:\n  gristmill help diff\n  gristmill help gate run")]
    Help(HelpArgs),

    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  eval \"$(gristmill completions bash)\"\n  gristmill completions fish > ~/.config/fish/completions/gristmill.fish"
    )]
    Completions(CompletionsArgs),

    /// Print the manual page, or write the manual pages of all commands
    #[command(after_help = "Examples:\n  gristmill man | man -l -\n  gristmill man ~/.local/share/man/man1")]
    Man(ManArgs),
}

impl Command {
    /// `true` if the answer is a text to read, of any length.
    pub(crate) fn is_read_by_people(&self) -> bool {
        match self {
            Command::Overview(_)
            | Command::Info(_)
            | Command::Functions(_)
            | Command::Show(_)
            | Command::Tree(_)
            | Command::Annotate(_)
            | Command::Diff(_)
            | Command::Lint(_)
            | Command::Help(_) => true,
            Command::Merge(_)
            | Command::Gate(_)
            | Command::Record(_)
            | Command::Control(_)
            | Command::Rewrite(_)
            | Command::View(_)
            | Command::Completions(_)
            | Command::Man(_) => false,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[arg(value_name = "FILE", help = FOUND_FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: InfoFormat,

    /// Read the programs of the profile: say whether each is there, is the recorded build, and has lines
    #[arg(long, help_heading = "Programs")]
    pub(crate) programs: bool,

    #[command(flatten)]
    pub(crate) program: ProgramArgs,
}

#[derive(Debug, Args)]
pub(crate) struct HelpArgs {
    /// Command, with its subcommand if it has some [default: the help of the program]
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Existing directory for one page per command; pages of an earlier version are replaced [default: the main page
    /// to standard output]
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) dir: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long, requires = "dir")]
    pub(crate) force: bool,
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

/// Parses a command line, which starts with the name of the program. The error can print itself and has an exit code.
///
/// A command line without a command is one of `overview`.
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let cli = default_command::parse(words.into_iter().collect())?;
    let compared;
    let files: &[PathBuf] = match &cli.command {
        Command::Overview(args) => &args.files,
        Command::Info(args) => &args.files,
        Command::Functions(args) => &args.files,
        Command::Show(args) => &args.files,
        Command::Tree(args) => &args.files,
        Command::Annotate(args) => &args.files,
        Command::View(args) => {
            compared = args.inputs();
            &compared
        }
        Command::Diff(args) => {
            compared = args.inputs();
            &compared
        }
        Command::Merge(args) => &args.files,
        Command::Lint(args) => &args.files,
        Command::Rewrite(args) => &args.inputs,
        Command::Gate(_)
        | Command::Record(_)
        | Command::Control(_)
        | Command::Help(_)
        | Command::Completions(_)
        | Command::Man(_) => &[],
    };
    // A second read finds standard input empty.
    if files.iter().filter(|file| is_dash(file)).count() > 1 {
        return Err(
            definition().error(ErrorKind::ArgumentConflict, "standard input (-) can be read only once")
        );
    }
    Ok(cli)
}

/// Returns the choice of colours of a command line that may be wrong elsewhere, or asks for help.
pub(crate) fn color_of(words: &[OsString]) -> ColorChoice {
    let words = words.iter().take_while(|word| *word != "--");
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    let mut given = words.iter().enumerate().filter_map(|(index, word)| {
        let word = match word.strip_prefix("--color")? {
            "" => words.get(index + 1)?,
            rest => rest.strip_prefix('=')?,
        };
        ColorChoice::from_str(word, false).ok()
    });
    given.next_back().unwrap_or(ColorChoice::Auto)
}

/// Returns the definition, with its short help (`-h`) made of the long one (`--help`).
pub(crate) fn definition() -> clap::Command {
    with_short_help(full_definition())
}

/// Returns the definition with the whole help of everything, for manual pages.
pub(crate) fn full_definition() -> clap::Command {
    Cli::command()
}

/// Parses words, with or without a command.
fn try_parse(words: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let definition = definition();
    let words = record::with_numbers_as_values(words.into_iter().collect(), &definition);
    let matches = definition.try_get_matches_from(words)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut self::definition()))?;
    if let (Command::Record(args), Some((_, given))) = (&mut cli.command, matches.subcommand()) {
        args.keep_later_start(given);
    }
    Ok(cli)
}

/// Returns the help of a command, given by its words, or the reason why there is none. Printing it is the answer.
pub(crate) fn help_of(command: &[String]) -> clap::Error {
    let words = ["gristmill"].into_iter().chain(command.iter().map(String::as_str)).chain(["--help"]);
    match try_parse(words.map(OsString::from)) {
        Err(help) => help,
        Ok(_) => definition().error(ErrorKind::InvalidSubcommand, "a command has no such subcommand"),
    }
}

/// Sections of options that few command lines use. Only the long help has them.
const RARE_SECTIONS: [&str; 9] = [
    "General options",
    "Inclusive cost",
    "Joining functions",
    "Sources",
    "Comparison",
    record::PARTS,
    record::NAMES,
    record::OUTPUT,
    record::SIMULATION,
];

/// Examples in the short help.
const SHORT_EXAMPLES: usize = 3;

/// Leaves sections of rare options and the exit status out of the short help, so that it fits a screen.
fn with_short_help(command: clap::Command) -> clap::Command {
    let command = command
        .mut_args(|arg| {
            let is_rare = arg.get_help_heading().is_some_and(|section| RARE_SECTIONS.contains(&section));
            if is_rare { arg.hide_short_help(true) } else { arg }
        })
        .mut_subcommands(with_short_help);
    let Some(help) = command.get_after_help().map(ToString::to_string) else { return command };
    let sections: Vec<&str> = help.split("\n\n").collect();
    let examples =
        sections.iter().find(|section| section.starts_with("Examples:")).copied().unwrap_or_default();
    let likeliest: Vec<&str> = examples.lines().take(1 + SHORT_EXAMPLES).collect();
    command.after_help(likeliest.join("\n")).after_long_help(help)
}

/// Parses a whole number of at least `LEAST`.
fn at_least<const LEAST: u64, N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    match text.parse::<u64>() {
        Ok(number) if number >= LEAST => {
            N::try_from(number).map_err(|_| "the number is too large".to_owned())
        }
        _ if LEAST == 0 => Err("expected a whole number, such as 20".to_owned()),
        _ => Err(format!("expected a whole number of at least {LEAST}")),
    }
}

/// Widest width of a report: a line of a table is as long.
pub(crate) const MAX_WIDTH: usize = 10_000;

/// Parses a width that a report can have.
fn columns(text: &str) -> Result<usize, String> {
    at_least::<40, usize>(text).and_then(|columns| match columns {
        ..=MAX_WIDTH => Ok(columns),
        _ => Err(format!("the widest report has {MAX_WIDTH} columns")),
    })
}

/// `true` if a path means standard input or output. A file of that name is `./-`.
pub(crate) fn is_dash(path: &Path) -> bool {
    path.as_os_str() == "-"
}
