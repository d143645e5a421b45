//! The command line: one definition that feeds parsing, `--help`, the shell completions and the manual pages.
//!
//! Nothing here opens a file or prints. [`parse`] turns words into [`Cli`].

mod annotate;
mod diff;
mod gate;
mod lint;
mod merge;
mod profile;
mod reports;
mod rewrite;
mod source;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum, ValueHint};

pub(crate) use self::annotate::{AnnotateArgs, AnnotateFormat, AnnotateStyle, AnnotateTree, YesNo};
pub(crate) use self::diff::{DiffArgs, DiffFormat, DiffGroup};
pub(crate) use self::gate::{
    GateArgs, GateBlessArgs, GateCommand, GateFormat, GateInitArgs, GateNoiseArgs, GateRunArgs,
};
pub(crate) use self::lint::{FailOn, LintArgs, LintFormat};
pub(crate) use self::merge::MergeArgs;
pub(crate) use self::profile::{InclusiveRule, ProfileArgs, SelectionArgs};
pub(crate) use self::reports::{FunctionsArgs, GroupBy, ReportFormat, ShowArgs, SortKey, TreeArgs};
pub(crate) use self::rewrite::{Dropped, NameStyle, PositionStyle, RewriteArgs};
pub(crate) use self::source::SourceArgs;
use crate::size::{self, Size};

/// Help of every FILE argument.
const FILE_HELP: &str = "Profile, or - for standard input. Files packed with gzip, zstd, xz or bzip2 are recognised \
                         by their content";

/// Size of the largest profile that is read by default.
const MAX_SIZE: Size = Size::from_bytes(16 << 30);

#[derive(Debug, Parser)]
#[command(
    name = "gristmill",
    version,
    about = "Read, check, annotate, compare, merge and rewrite profiles in the Callgrind format",
    long_about = "Gristmill reads profiles in the Callgrind format, as Callgrind, Cachegrind and many other tools write \
                  them: it shows their contents and costs, annotates sources, compares and merges profiles, holds \
                  benchmarks to budgets, checks profiles against the format and rewrites them.",
    after_help = "Exit status:\n  0  success\n  1  a check found something\n  2  \
                  failure\n\nExamples:\n  gristmill info callgrind.out.4711\n  gristmill lint --all profile.gz\n  \
                  gristmill rewrite --names plain callgrind.out.4711 -o readable.out",
    // Long lines are hard to read.
    max_term_width = 80,
    // `gristmill info --help` is enough, and completions stay short.
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

    /// Size of the largest profile to read, expanded, such as 200M or 64GiB
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
    /// Defaults without colours, for programs that this one stands in for.
    pub(crate) fn plain() -> Self {
        GlobalArgs { color: ColorChoice::Never, max_size: MAX_SIZE }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show what a profile contains: producer, event types, totals
    #[command(
        after_help = "Examples:\n  gristmill info callgrind.out.4711\n  gristmill info --format json *.out\n  xz -dc \
                      old.xz | gristmill info -\n\nExit status: 2 if a file cannot be read or is not a profile, \
                      otherwise 0, even for an empty file."
    )]
    Info(InfoArgs),

    /// List functions with their self and inclusive costs
    #[command(
        after_help = "Examples:\n  gristmill functions callgrind.out.4711\n  gristmill functions --event Ir,CEst --sort \
                      self --limit 20 *.out\n  gristmill functions --group object --format markdown callgrind.out.4711\n  \
                      gristmill functions --cut 'signal_handler -> .*' --format json callgrind.out.4711\n\nExit status: 2 \
                      if a profile cannot be read or does not contain what an option names, otherwise 0."
    )]
    Functions(FunctionsArgs),

    /// Show one function: its costs, callers, callees, cycle, lines and parts
    #[command(
        after_help = "Examples:\n  gristmill show main callgrind.out.4711\n  gristmill show --depth 3 --lines 20 parse *.out\n  \
                      gristmill show --fold-recursion --format markdown '^fib$' callgrind.out.4711\n\nExit status: 2 if a \
                      profile cannot be read, or if no function or more than one matches, otherwise 0."
    )]
    Show(ShowArgs),

    /// Draw the call tree; its first line states whether it is exact or an estimate
    #[command(
        after_help = "Examples:\n  gristmill tree cachegrind.out.4711\n  gristmill tree --from parse --min 0.5 --depth 6 \
                      *.out\n  gristmill tree --from malloc --inverted callgrind.out.4711\n\nExit status: 2 if a profile \
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

    /// Compare two profiles: the change of each function, and its causes
    #[command(
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
                      gristmill merge --keep-parts callgrind.out.4711-* -o threads.out\n\nThe result does not depend on \
                      order or grouping. Event types that only some files have are kept, and the result names the number \
                      of files with them.\n\nExit status: 2 if a file cannot be read to its end or the result cannot be written, \
                      otherwise 0."
    )]
    Merge(MergeArgs),

    /// Hold benchmarks to budgets, and name the functions that exceed them
    Gate(GateArgs),

    /// Check profiles against the format, and report each problem with its location
    #[command(
        after_help = "Examples:\n  gristmill lint callgrind.out.4711\n  gristmill lint --fail-on warning --format sarif \
                      profiles/*.out\n  gristmill lint --rules\n\nExit status: 1 if a finding has at least the severity of \
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

    /// Print a completion script for a shell
    #[command(
        after_help = "Examples:\n  eval \"$(gristmill completions bash)\"\n  gristmill completions fish > ~/.config/fish/completions/gristmill.fish"
    )]
    Completions(CompletionsArgs),

    /// Print the manual page, or write the manual pages of all commands
    #[command(after_help = "Examples:\n  gristmill man | man -l -\n  gristmill man ~/.local/share/man/man1")]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct InfoArgs {
    #[arg(value_name = "FILE", required = true, help = FILE_HELP, value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: InfoFormat,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Existing directory for one page per command [default: the main page to standard output]
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

/// Parses a command line, which starts with the name of the program. The error can print itself and has an exit code.
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
    // A second read finds standard input empty.
    if files.iter().filter(|file| is_dash(file)).count() > 1 {
        return Err(
            definition().error(ErrorKind::ArgumentConflict, "standard input (-) can be read only once")
        );
    }
    Ok(cli)
}

/// Returns the definition, for completions and manual pages.
pub(crate) fn definition() -> clap::Command {
    Cli::command()
}

/// `true` if a path means standard input or output. A file of that name is `./-`.
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
    fn global_options_are_allowed_anywhere() {
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
    fn lint_needs_files_unless_it_explains_rules() {
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
    fn standard_input_only_once() {
        let error = parse_words(&["info", "-", "a", "-"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
        assert!(error.to_string().contains("only once"));
    }
}
