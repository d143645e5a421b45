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
    /// Record or read every benchmark, compare with the baseline, and say what is over its budget
    #[command(
        after_help = "Examples:\n  gristmill gate run\n  gristmill gate run --format github parse\n  gristmill gate run \
                      --format markdown -o comment.md --also junit=gate.xml\n\nExit status: 0 within budget, 1 over, 2 \
                      when that could not be told."
    )]
    Run(GateRunArgs),

    /// Accept the present costs into the baseline
    #[command(
        after_help = "Examples:\n  gristmill gate bless\n  gristmill gate bless parse\n\nExit status: 2 when a \
                            benchmark could not be measured; the baseline is then left as it is."
    )]
    Bless(GateBlessArgs),

    /// Measure by how much costs differ though nothing changed, and write it into the baseline
    #[command(
        after_help = "Examples:\n  gristmill gate noise --runs 20\n\nExit status: 2 when a benchmark could not be \
                            measured; the baseline is then left as it is."
    )]
    Noise(GateNoiseArgs),

    /// Write a first gristmill.toml to begin with
    #[command(
        after_help = "Examples:\n  gristmill gate init target/release/bench --quick\n\nExit status: 2 when there is \
                            one already."
    )]
    Init(GateInitArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// File that says which benchmarks there are and what they may cost
    #[arg(long, value_name = "FILE", default_value = "gristmill.toml", value_hint = ValueHint::FilePath)]
    pub(crate) config: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct GateRunArgs {
    /// Only these benchmarks
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Write the verdict as text, Markdown, JSON, JUnit, SARIF or GitHub annotations
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    pub(crate) format: GateFormat,

    /// File to write the verdict to; - or nothing is standard output. It is overwritten if it exists
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Also write it in another format, from the same run; may be repeated
    #[arg(long, value_name = "FORMAT=OUT", value_parser = also)]
    pub(crate) also: Vec<(GateFormat, PathBuf)>,

    /// Show so many functions for each event type that is over its budget, 0 for all
    #[arg(long, short = 'n', value_name = "ROWS", default_value = "10")]
    pub(crate) limit: usize,

    /// Compare also where the tool or the caches are not those of the baseline
    #[arg(long)]
    pub(crate) allow_unlike: bool,

    /// Keep the recorded profiles in this directory, as BENCHMARK.callgrind
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) keep: Option<PathBuf>,

    /// Also say why costs changed: compare with the profiles in this directory, which --keep wrote for the base. The
    /// verdict is that of the baseline
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) against: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct GateBlessArgs {
    /// Only these benchmarks; those of the others stay as they are
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GateNoiseArgs {
    /// Only these benchmarks
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// How often each is recorded
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) runs: u32,
}

#[derive(Debug, Args)]
pub(crate) struct GateInitArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// The command of the first benchmark
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum GateFormat {
    Text,
    Markdown,
    Json,
    Junit,
    Sarif,
    Github,
}

fn also(text: &str) -> Result<(GateFormat, PathBuf), String> {
    let (format, path) = text.split_once('=').ok_or("it looks like junit=gate.xml")?;
    let format = GateFormat::from_str(format, true)?;
    if path.is_empty() { Err("there is no file after the =".to_owned()) } else { Ok((format, path.into())) }
}
