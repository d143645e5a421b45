//! `cargo xtask bench`: measurements, side by side with other tools, in one run.
//!
//! A benchmark is one file here with `Options` and `run`, and an entry in [`Bench`]. It takes its inputs from `inputs`,
//! lets `rounds` run its contenders in turn, so that whatever disturbs the machine disturbs all of them, and prints a
//! `table`. Only `hostile`, `joined` and `view` assert something, growth, limits and the goals of the viewer: any other measurement that decides
//! something is written down beside the decision.

#[cfg(feature = "bench")]
mod annotate;
#[cfg(feature = "bench")]
#[path = "../../../crates/cli/tests/hostile/budgets.rs"]
mod budgets;
#[cfg(feature = "bench")]
mod code;
#[cfg(feature = "bench")]
mod engine_diff;
#[cfg(feature = "bench")]
mod engine_programs;
#[cfg(feature = "bench")]
mod engine_sums;
#[cfg(feature = "bench")]
mod gristmill;
#[cfg(feature = "bench")]
mod growth;
#[cfg(feature = "bench")]
mod growth_inputs;
#[cfg(feature = "bench")]
mod hostile;
#[cfg(feature = "bench")]
mod inputs;
#[cfg(feature = "bench")]
mod joined;
#[cfg(feature = "bench")]
#[path = "../../../crates/cli/tests/hostile/joined.rs"]
mod joined_shapes;
#[cfg(feature = "bench")]
mod load;
#[cfg(feature = "bench")]
mod merge;
#[cfg(feature = "bench")]
mod once;
#[cfg(feature = "bench")]
mod others;
#[cfg(feature = "bench")]
mod process;
#[cfg(feature = "bench")]
mod read;
#[cfg(feature = "bench")]
mod record;
#[cfg(feature = "bench")]
mod report;
#[cfg(feature = "bench")]
mod rounds;
#[cfg(feature = "bench")]
#[path = "../../../crates/cli/tests/hostile/shapes.rs"]
mod shapes;
#[cfg(feature = "bench")]
#[path = "../../../crates/cli/tests/native/source_path.rs"]
mod source_path;
#[cfg(feature = "bench")]
mod table;
#[cfg(feature = "bench")]
mod view;
#[cfg(feature = "bench")]
mod view_library;

use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Debug, clap::Subcommand)]
enum Bench {
    /// Reading all records with all their numbers.
    Read(ReadOptions),
    /// Loading a whole profile: time and memory, also of large files and hostile ones.
    Load(LoadOptions),
    /// Annotating a profile, against callgrind_annotate.
    Annotate(AnnotateOptions),
    /// Machine code and inlined functions of the compiler, against objdump and llvm-addr2line.
    Code(CodeOptions),
    /// Merging many profiles: time, and memory against that of the result.
    Merge(MergeOptions),
    /// The growth of time and memory on hostile profiles, by command.
    Hostile(HostileOptions),
    /// Time and memory of commands with drawn options on profiles of several hostile shapes.
    Joined(JoinedOptions),
    /// The time of the viewer's answers to what clicks of a page ask, and its memory.
    View(ViewBenchOptions),
    /// The time of programs alone, under the native engine, and under Callgrind.
    Record(RecordBenchOptions),
    /// All tables of docs/performance.md, written there.
    Report(ReportOptions),
    /// One contender of `load`, in a process of its own.
    #[cfg(feature = "bench")]
    #[command(hide = true)]
    LoadOnce(once::Options),
}

#[derive(Debug, clap::Args)]
struct ReadOptions {
    /// Size of each generated input: bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "100M")]
    size: u64,
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Debug, clap::Args)]
struct LoadOptions {
    /// Size of the two large generated inputs: bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "500M")]
    size: u64,
    /// Size of the smallest of the inputs that show how the cost grows; the others have 4 and 16 times as much.
    #[arg(long, value_parser = crate::size::parse, default_value = "16M")]
    step: u64,
    /// Number of calls in the larger hostile inputs.
    #[arg(long, default_value_t = 1_000_000)]
    calls: u64,
    /// A recording of a real program, which all contenders load as well.
    #[arg(long, value_name = "FILE")]
    recording: Option<std::path::PathBuf>,
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Debug, clap::Args)]
struct AnnotateOptions {
    /// Size of each generated input: bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "100M")]
    size: u64,
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Debug, clap::Args)]
struct CodeOptions {
    /// A recording of rustc with --dump-instr=yes, instead of making one with valgrind.
    #[arg(long, value_name = "FILE")]
    recording: Option<std::path::PathBuf>,
    /// Do not disassemble the whole library with objdump, which takes a minute.
    #[arg(long = "skip-whole")]
    skips_whole: bool,
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Debug, clap::Args)]
struct MergeOptions {
    /// Number of files.
    #[arg(long, default_value_t = 1000)]
    files: u64,
    /// Size of each of them: bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "1M")]
    size: u64,
    /// Number of programs that the files come from.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..))]
    programs: u64,
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

#[derive(Debug, clap::Args)]
struct ReportOptions {
    /// The only tables to measure.
    #[arg(long, value_enum, value_name = "TABLE")]
    only: Vec<ReportTable>,
    /// Divide the sizes of all generated inputs by 100, and run one round, to see that it works.
    #[arg(long)]
    quick: bool,
    /// A recording of a real program for the table `load`.
    #[arg(long, value_name = "FILE")]
    recording: Option<std::path::PathBuf>,
    /// A recording of rustc with --dump-instr=yes for the table `code`, instead of making one with valgrind.
    #[arg(long, value_name = "FILE")]
    code_recording: Option<std::path::PathBuf>,
    /// The page to write.
    #[arg(long, value_name = "FILE", default_value = "docs/performance.md")]
    page: std::path::PathBuf,
    /// The program to measure, instead of building it.
    #[arg(long)]
    program: Option<std::path::PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ReportTable {
    Read,
    Load,
    Annotate,
    Code,
}

#[derive(Debug, clap::Args)]
struct ViewBenchOptions {
    /// Size of the generated profile: bytes, or with a suffix: 64K, 100M, 1G. 1 GB, or 100 MB with --library.
    #[arg(long, value_parser = crate::size::parse)]
    size: Option<u64>,
    /// Measure the library of the page without a server, in Node.js.
    #[arg(long)]
    library: bool,
    /// A profile to view instead.
    #[arg(long, value_name = "FILE")]
    profile: Option<std::path::PathBuf>,
    /// Number of functions that are clicked on.
    #[arg(long, default_value_t = 40)]
    functions: u64,
    /// Decides which functions these are.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program to measure, instead of building it.
    #[arg(long)]
    program: Option<std::path::PathBuf>,
}

#[derive(Debug, clap::Args)]
struct RecordBenchOptions {
    /// Size of the file that programs pack and sort: bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "6M")]
    size: u64,
    /// The only program to measure.
    #[arg(long)]
    only: Option<String>,
    /// Do not measure Callgrind, which takes most of the time.
    #[arg(long = "skip-callgrind")]
    skips_callgrind: bool,
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The program to measure, instead of building it.
    #[arg(long)]
    program: Option<std::path::PathBuf>,
}

#[derive(Debug, clap::Args)]
struct HostileOptions {
    /// The only shape to measure.
    #[arg(long)]
    shape: Option<String>,
    /// The only command to measure.
    #[arg(long)]
    command: Option<String>,
    /// Size of the smallest inputs: bytes, or with a suffix: 64K, 100M, 1G.
    #[arg(long, value_parser = crate::size::parse, default_value = "64K")]
    start: u64,
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..16))]
    doublings: u32,
    /// Show all combinations, and do not fail.
    #[arg(long)]
    all: bool,
    /// The program to measure, instead of building it.
    #[arg(long)]
    program: Option<std::path::PathBuf>,
}

#[derive(Debug, clap::Args)]
struct JoinedOptions {
    #[arg(long, default_value_t = 600)]
    seconds: u64,
    /// Another one draws other profiles and commands.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The program to measure, instead of building it.
    #[arg(long)]
    program: Option<std::path::PathBuf>,
}

#[cfg(feature = "bench")]
pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    match &options.bench {
        Bench::Read(options) => read::run(options),
        Bench::Load(options) => load::run(options),
        Bench::Annotate(options) => annotate::run(options),
        Bench::Code(options) => code::run(options),
        Bench::Merge(options) => merge::run(options),
        Bench::Hostile(options) => growth::run(options),
        Bench::Joined(options) => joined::run(options),
        Bench::View(options) => view::run(options),
        Bench::Record(options) => record::run(options),
        Bench::Report(options) => report::run(options),
        Bench::LoadOnce(options) => once::run(options),
    }
}

#[cfg(feature = "bench")]
pub(crate) fn run_engine_diff(options: &crate::EngineDiffOptions) -> Result<(), Failure> {
    engine_diff::run(options)
}

#[cfg(not(feature = "bench"))]
pub(crate) fn run(_: &Options) -> Result<(), Failure> {
    run_with_libraries()
}

#[cfg(not(feature = "bench"))]
pub(crate) fn run_engine_diff(_: &crate::EngineDiffOptions) -> Result<(), Failure> {
    run_with_libraries()
}

/// Builds xtask with optimisation and the libraries to compare with, and runs the same task in it.
#[cfg(not(feature = "bench"))]
fn run_with_libraries() -> Result<(), Failure> {
    let mut cargo = crate::workspace::cargo();
    cargo.args(["run", "--quiet", "--release", "--package", "xtask", "--features", "bench", "--"]);
    crate::workspace::run(cargo.args(std::env::args_os().skip(1)))
}
