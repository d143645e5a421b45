//! The checks, benchmarks and generators of the project: `cargo xtask TASK`.
//!
//! People and CI run the same tasks. Each task is one file.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to the person at the terminal")]

mod bench;
mod ci;
mod corpus;
mod dist;
mod doc_examples;
mod engine_blocks;
mod failure;
mod fuzz;
mod gen_profile;
mod manifest;
mod page;
mod pictures;
#[path = "../../crates/cli/tests/native/random_blocks.rs"]
#[allow(clippy::unwrap_used, reason = "writing to a text does not fail")]
mod random_blocks;
mod record;
mod screenshots;
mod size;
mod source;
mod structure;
mod targets;
mod ui_types;
mod web_library;
mod words;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Checks, benchmarks and generators of the project")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Run every check in order, stop at the first failure
    Ci(ci::Options),
    /// Build and run the fuzz targets
    Fuzz(fuzz::Options),
    /// Write an invented profile of any size
    GenProfile(gen_profile::Options),
    /// Measure speed and memory, compared with other tools
    Bench(bench::Options),
    /// Check dependencies between files and crates
    Structure,
    /// Check for retired words in comments, texts and names
    Words,
    /// Check that every public type of a library has an example or links to one
    DocExamples,
    /// Compile the libraries for WebAssembly
    Wasm,
    /// Compile the program for Windows
    Windows,
    /// Write the types of the page from the schema of its questions and answers
    UiTypes(ui_types::Options),
    /// Build the library of the page without a server
    WebLibrary(web_library::Options),
    /// Check the corpus against its manifest
    Corpus(corpus::Options),
    /// Build and pack a release
    Dist(dist::Options),
    /// Take the pictures of the README
    Pictures(pictures::Options),
    /// Take pictures of each view of the page
    Screenshots(screenshots::Options),
    /// Record the corpus again, into another folder
    Record(record::Options),
    /// Compare the native engine with Callgrind, on many programs
    EngineDiff(EngineDiffOptions),
    /// Compare random instructions alone and under the native engine
    EngineBlocks(engine_blocks::Options),
}

#[derive(Debug, clap::Args)]
struct EngineDiffOptions {
    /// Only commands that have this text.
    #[arg(long)]
    only: Option<String>,
    /// Write the table of docs/engine.md.
    #[arg(long)]
    write: bool,
    /// The program to compare, instead of building it.
    #[arg(long)]
    program: Option<std::path::PathBuf>,
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
        Task::Wasm => targets::wasm(),
        Task::Windows => targets::windows(),
        Task::UiTypes(options) => ui_types::run(&options),
        Task::WebLibrary(options) => web_library::run(&options),
        Task::Corpus(options) => corpus::run(&options),
        Task::Dist(options) => dist::run(&options),
        Task::Pictures(options) => pictures::run(&options),
        Task::Screenshots(options) => screenshots::run(&options),
        Task::Record(options) => record::run(&options),
        Task::EngineDiff(options) => bench::run_engine_diff(&options),
        Task::EngineBlocks(options) => engine_blocks::run(&options),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}
