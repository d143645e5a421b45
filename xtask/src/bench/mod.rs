//! `cargo xtask bench`: measurements, side by side with other tools, in one run.
//!
//! A benchmark is one file here with `Options` and `run`, and an entry in [`Bench`]. It takes its inputs from `inputs`,
//! lets `rounds` run its contenders in turn, so that whatever disturbs the machine disturbs all of them, and prints a
//! `table`. Nothing is asserted: a measurement that decides something is written down beside the decision.

#[cfg(feature = "bench")]
mod gristmill;
#[cfg(feature = "bench")]
mod inputs;
#[cfg(feature = "bench")]
mod read;
#[cfg(feature = "bench")]
mod rounds;
#[cfg(feature = "bench")]
mod table;

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, clap::Subcommand)]
enum Bench {
    /// Reading all records with all their numbers.
    Read(Measure),
}

/// What all benchmarks let the caller choose.
#[derive(Debug, clap::Args)]
struct Measure {
    /// Size of each generated input: bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "100M")]
    size: u64,
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[cfg(feature = "bench")]
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    match &options.bench {
        Bench::Read(measure) => read::run(measure),
    }
}

/// Only an optimised build is worth a measurement, and only this task needs the other tools: so it builds itself anew.
#[cfg(not(feature = "bench"))]
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let (name, measure) = match &options.bench {
        Bench::Read(measure) => ("read", measure),
    };
    let mut cargo = crate::workspace::cargo();
    cargo.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        "xtask",
        "--features",
        "bench",
        "--",
        "bench",
        name,
    ]);
    cargo.args(["--size", &measure.size.to_string(), "--rounds", &measure.rounds.to_string()]);
    crate::workspace::run(&mut cargo)
}
