//! `gristmill gate`: its commands and options.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::at_least;

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
                      --format markdown -o comment.md --also junit=gate.xml\n  gristmill gate run -j 4\n\nExit status: 0 within budget, 1 over budget, \
                      2 if that could not be determined."
    )]
    Run(GateRunArgs),

    /// Accept the current costs as the baseline
    #[command(
        after_help = "Examples:\n  gristmill gate bless\n  gristmill gate bless parse\n\nExit status: 2 if a \
                            benchmark could not be measured; the baseline is then unchanged."
    )]
    Bless(GateBlessArgs),

    /// Measure the variation of costs from run to run, and accept it and the run of median cost
    #[command(
        after_help = "Examples:\n  gristmill gate noise --runs 20\n\nExit status: 2 if a benchmark could not be \
                            measured; the baseline is then unchanged."
    )]
    Noise(GateNoiseArgs),

    /// Write a first gristmill.toml
    #[command(
        after_help = "Examples:\n  gristmill gate init target/release/bench --quick\n\nExit status: 2 if the \
                            file exists, unless --force is given."
    )]
    Init(GateInitArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    /// Configuration: benchmarks and budgets
    #[arg(long, value_name = "FILE", default_value = "gristmill.toml", value_hint = ValueHint::FilePath)]
    pub(crate) config: PathBuf,
}

/// The option of commands that measure.
#[derive(Debug, Args)]
pub(crate) struct DamageArgs {
    /// Use profiles that are cut off or have errors as they are, with a warning
    #[arg(long)]
    pub(crate) allow_damaged: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GateConfigArgs {
    /// Configuration: benchmarks and budgets
    #[arg(long, value_name = "FILE", default_value = "gristmill.toml", value_hint = ValueHint::FilePath)]
    pub(crate) config: PathBuf,

    /// Baseline, instead of the one that the configuration names
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct JobsArgs {
    /// Number of benchmarks to measure at the same time. Their setups run one after another
    #[arg(long, short, value_name = "N", default_value = "1", value_parser = at_least::<1, u16>)]
    pub(crate) jobs: u16,
}

impl JobsArgs {
    pub(crate) fn jobs(&self) -> usize {
        self.jobs.into()
    }
}

#[derive(Debug, Args)]
pub(crate) struct GateRunArgs {
    /// Benchmarks to run [default: all]
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: GateConfigArgs,

    #[command(flatten)]
    pub(crate) jobs: JobsArgs,

    #[command(flatten)]
    pub(crate) damage: DamageArgs,

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
    #[arg(long, value_parser = at_least::<0, usize>, short = 'n', value_name = "ROWS", default_value = "10")]
    pub(crate) limit: usize,

    /// Compare even if settings, tool, caches or string functions are not those of the baseline
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
    pub(crate) config: GateConfigArgs,

    #[command(flatten)]
    pub(crate) jobs: JobsArgs,

    /// Directory to keep the profiles in, as BENCHMARK.callgrind
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) keep: Option<PathBuf>,

    /// Accept an earlier generation that gungraun has kept, such as old or base@main. Its setup does not run
    #[arg(long, value_name = "GENERATION", value_parser = generation)]
    pub(crate) generation: Option<String>,

    #[command(flatten)]
    pub(crate) damage: DamageArgs,
}

#[derive(Debug, Args)]
pub(crate) struct GateNoiseArgs {
    /// Benchmarks to run [default: all]
    #[arg(value_name = "BENCHMARK")]
    pub(crate) benchmarks: Vec<String>,

    #[command(flatten)]
    pub(crate) config: GateConfigArgs,

    #[command(flatten)]
    pub(crate) jobs: JobsArgs,

    #[command(flatten)]
    pub(crate) damage: DamageArgs,

    /// Number of recordings of each
    #[arg(long, value_name = "N", default_value = "5", value_parser = at_least::<2, u32>)]
    pub(crate) runs: u32,
}

#[derive(Debug, Args)]
pub(crate) struct GateInitArgs {
    #[command(flatten)]
    pub(crate) config: ConfigArgs,

    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,

    /// Command of the first benchmark
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
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
    let format = GateFormat::from_str(format, true).map_err(|_| {
        let known: Vec<String> = GateFormat::value_variants()
            .iter()
            .filter_map(|format| format.to_possible_value())
            .map(|value| value.get_name().to_owned())
            .collect();
        format!("there is no format `{format}`; there are {}", known.join(", "))
    })?;
    if path.is_empty() {
        Err("the file name after `=` is missing".to_owned())
    } else {
        Ok((format, path.into()))
    }
}

fn generation(text: &str) -> Result<String, String> {
    let is_named = text.strip_prefix("base@").is_some_and(|name| !name.is_empty() && !name.contains('/'));
    if text == "old" || is_named { Ok(text.to_owned()) } else { Err("expected old or base@NAME".to_owned()) }
}
