//! `gristmill gate`: its commands and options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    #[command(subcommand)]
    pub(crate) command: GateCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GateCommand {
    /// Record or read all benchmarks, compare them with the baseline, and report exceeded budgets
    #[command(
        after_help = "Examples:\n  gristmill gate run\n  gristmill gate run --format github parse\n  gristmill gate run \
                      --format markdown -o comment.md --also junit=gate.xml\n\nExit status: 0 within budget, 1 over budget, \
                      2 if that could not be determined."
    )]
    Run(GateRunArgs),

    /// Accept the current costs as the baseline
    #[command(
        after_help = "Examples:\n  gristmill gate bless\n  gristmill gate bless parse\n\nExit status: 2 if a \
                            benchmark could not be measured; the baseline is then unchanged."
    )]
    Bless(GateBlessArgs),

    /// Measure the variation of costs from run to run, and write it into the baseline
    #[command(
        after_help = "Examples:\n  gristmill gate noise --runs 20\n\nExit status: 2 if a benchmark could not be \
                            measured; the baseline is then unchanged."
    )]
    Noise(GateNoiseArgs),

    /// Write a first gristmill.toml
    #[command(
        after_help = "Examples:\n  gristmill gate init target/release/bench --quick\n\nExit status: 2 if the \
                            file exists."
    )]
    Init(GateInitArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Configuration: benchmarks and budgets
    #[arg(long, value_name = "FILE", default_value = "gristmill.toml", value_hint = ValueHint::FilePath)]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct GateRunArgs {
    /// Benchmarks to run [default: all]
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: GateFormat,

    /// Output file [default: standard output]. An existing file is overwritten
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Also write the report in another format; repeatable
    #[arg(long, value_name = "FORMAT=OUT", value_parser = also)]
    pub(crate) also: Vec<(GateFormat, PathBuf)>,

    /// Maximum number of functions for each exceeded budget, 0 for all
    #[arg(long, short = 'n', value_name = "ROWS", default_value = "10")]
    pub(crate) limit: usize,

    /// Compare even if tool or caches are not those of the baseline
    #[arg(long)]
    pub(crate) allow_unlike: bool,

    /// Directory to keep the recorded profiles in, as BENCHMARK.callgrind
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) keep: Option<PathBuf>,

    /// Directory with profiles of the base, as --keep writes them. The report then has reasons for the changes; the
    /// verdict still depends on the baseline only
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) against: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GateBlessArgs {
    /// Benchmarks to accept; the others keep their costs [default: all]
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GateNoiseArgs {
    /// Benchmarks to run [default: all]
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Number of recordings of each
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: u32,
}

#[derive(Debug, Args)]
pub(crate) struct GateInitArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Command of the first benchmark
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    /// Text for a terminal
    Text,
    /// Markdown, for a comment on a pull request
    Markdown,
    /// JSON, as docs/schema describes it
    Json,
    /// JUnit's XML, for build servers
    Junit,
    /// SARIF 2.1.0, for code review tools
    Sarif,
    /// Workflow commands, which GitHub shows beside the lines
    Github,
}

fn also(text: &str) -> Result<(GateFormat, PathBuf), String> {
    let (format, path) = text.split_once('=').ok_or("expected FORMAT=OUT, such as junit=gate.xml")?;
    let format = GateFormat::from_str(format, true)?;
    if path.is_empty() {
        Err("the file name after `=` is missing".to_owned())
    } else {
        Ok((format, path.into()))
    }
}
