//! One door for every check and benchmark of the project: `cargo xtask TASK`.
//!
//! People and CI run the same tasks. One file for each.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to the person at the terminal")]

mod bench;
mod ci;
mod corpus;
mod doc_examples;
mod failure;
mod fuzz;
mod gen_profile;
mod manifest;
mod record;
mod size;
mod source;
mod structure;
mod wasm;
mod words;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "One door for every check and benchmark of the project")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Runs every check, in order, and stops at the first that fails.
    Ci(ci::Options),
    /// Builds and runs the fuzz targets.
    Fuzz(fuzz::Options),
    /// Writes an invented profile of any size.
    GenProfile(gen_profile::Options),
    /// Measures in release mode, side by side with other tools.
    Bench(bench::Options),
    /// Checks which files and crates use which.
    Structure,
    /// Checks that no comment, text or name uses a retired word.
    Words,
    /// Checks that every public type of a library has an example or links to one.
    DocExamples,
    /// Compiles the libraries for WebAssembly.
    Wasm,
    /// Checks corpus/ against its manifest.
    Corpus(corpus::Options),
    /// Records the corpus anew, into a folder of its own.
    Record(record::Options),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().task {
        Task::Ci(options) => ci::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::GenProfile(options) => gen_profile::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Structure => structure::run(),
        Task::Words => words::run(),
        Task::DocExamples => doc_examples::run(),
        Task::Wasm => wasm::run(),
        Task::Corpus(options) => corpus::run(&options),
        Task::Record(options) => record::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
