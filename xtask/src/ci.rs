//! `cargo xtask ci`: runs every check in order and stops at the first failure.

use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::{corpus, doc_examples, fuzz, page, structure, targets, ui_types, web_library, words, workspace};

/// The seed of property tests. With a fixed one, a check fails only for what changed; `cargo test` alone tries
/// other values each time.
const PROPERTY_SEED: &str = "PROPTEST_RNG_SEED";

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// List the steps and exit.
    #[arg(long)]
    list: bool,
    /// Run only these steps.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STEP")]
    only: Vec<Step>,
    /// Skip these steps.
    #[arg(long, value_enum, value_delimiter = ',', value_name = "STEP", conflicts_with = "only")]
    skip: Vec<Step>,
    /// Seconds that each fuzz target runs.
    #[arg(long, default_value_t = 60)]
    fuzz_seconds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Step {
    Format,
    Structure,
    Words,
    DocExamples,
    UiTypes,
    Corpus,
    Clippy,
    Docs,
    Tests,
    Page,
    Wasm,
    Windows,
    Fuzz,
}

impl Step {
    const ALL: [Self; 13] = [
        Self::Format,
        Self::Structure,
        Self::Words,
        Self::DocExamples,
        Self::UiTypes,
        Self::Corpus,
        Self::Clippy,
        Self::Docs,
        Self::Tests,
        Self::Page,
        Self::Wasm,
        Self::Windows,
        Self::Fuzz,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Format => "format",
            Self::Structure => "structure",
            Self::Words => "words",
            Self::DocExamples => "doc-examples",
            Self::UiTypes => "ui-types",
            Self::Corpus => "corpus",
            Self::Clippy => "clippy",
            Self::Docs => "docs",
            Self::Tests => "tests",
            Self::Page => "page",
            Self::Wasm => "wasm",
            Self::Windows => "windows",
            Self::Fuzz => "fuzz",
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Format => "the code is formatted",
            Self::Structure => "no dependency cycle, every crate on its level",
            Self::Words => "no retired word in comments, texts and names",
            Self::DocExamples => "every public type of a library shows its use",
            Self::UiTypes => "the types of the page are those of its answers",
            Self::Corpus => "the corpus matches its manifest",
            Self::Clippy => "clippy has no warnings",
            Self::Docs => "the documentation builds without a warning",
            Self::Tests => "all tests pass",
            Self::Page => "the page of the viewer is built from its sources, and passes its tests",
            Self::Wasm => "the libraries compile for WebAssembly, and that of the page is current",
            Self::Windows => "the program compiles for Windows",
            Self::Fuzz => "each fuzz target runs without a crash",
        }
    }

    fn run(self, options: &Options) -> Result<(), Failure> {
        match self {
            Self::Format => {
                cargo(&["fmt", "--all", "--check"])?;
                // The fuzz targets are a workspace of their own.
                cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])
            }
            Self::Structure => structure::run(),
            Self::Words => words::run(),
            Self::DocExamples => doc_examples::run(),
            Self::UiTypes => ui_types::run(&ui_types::Options::check()),
            Self::Corpus => corpus::run(&corpus::Options::default()),
            Self::Clippy => {
                let lint = |packages: &[&str]| {
                    let clippy = ["clippy", "--quiet", "--all-targets"];
                    cargo(&[&clippy[..], packages, &["--", "-D", "warnings"]].concat())
                };
                lint(&["--workspace", "--features", "xtask/bench"])?;
                // Without the feature, other code takes the place of the benchmarks.
                lint(&["--package", "xtask"])?;
                fuzz::lint()
            }
            Self::Docs => {
                let mut docs = workspace::cargo();
                docs.args(["doc", "--quiet", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings");
                workspace::run(&mut docs)
            }
            Self::Tests => {
                let mut tests = workspace::cargo();
                tests.args(["test", "--workspace"]);
                if std::env::var_os(PROPERTY_SEED).is_none() {
                    tests.env(PROPERTY_SEED, fuzz::SEED.to_string());
                }
                workspace::run(&mut tests)
            }
            Self::Page => page::check(),
            Self::Wasm => {
                targets::wasm()?;
                web_library::run(&web_library::Options::check())
            }
            Self::Windows => targets::windows(),
            Self::Fuzz => fuzz::run(&fuzz::Options::smoke(options.fuzz_seconds)),
        }
    }
}

fn cargo(arguments: &[&str]) -> Result<(), Failure> {
    workspace::run(workspace::cargo().args(arguments))
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if options.list {
        for step in Step::ALL {
            println!("{:<12} {}", step.name(), step.about());
        }
        return Ok(());
    }
    let mut done = Vec::new();
    let mut building = None;
    for step in chosen(options) {
        // The tests of the page wait most of their time.
        if step == Step::Page && chosen(options).any(|step| step == Step::Fuzz) {
            building = Some(fuzz::Building::start()?);
        }
        println!("==> {}: {}", step.name(), step.about());
        let start = Instant::now();
        if step == Step::Fuzz
            && let Some(building) = building.take()
        {
            building.wait();
        }
        let outcome = step.run(options);
        done.push((step, start.elapsed(), outcome.is_ok()));
        if let Err(failure) = outcome {
            summary(&done);
            return Err(Failure::new(format!("step {} failed: {failure}", step.name())));
        }
    }
    summary(&done);
    Ok(())
}

fn chosen(options: &Options) -> impl Iterator<Item = Step> {
    Step::ALL
        .into_iter()
        .filter(|step| options.only.is_empty() || options.only.contains(step))
        .filter(|step| !options.skip.contains(step))
}

fn summary(done: &[(Step, Duration, bool)]) {
    println!("\n{:<12}  {:<6}  {:>9}", "step", "", "seconds");
    for (step, time, passed) in done {
        println!(
            "{:<12}  {:<6}  {:>9.1}",
            step.name(),
            if *passed { "passed" } else { "FAILED" },
            time.as_secs_f64()
        );
    }
    let total: Duration = done.iter().map(|(_, time, _)| *time).sum();
    println!("{:<12}  {:<6}  {:>9.1}", "all", "", total.as_secs_f64());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(only: &[Step], skip: &[Step]) -> Options {
        Options { list: false, only: only.to_vec(), skip: skip.to_vec(), fuzz_seconds: 1 }
    }

    #[test]
    fn chosen_steps_keep_their_order() {
        let chosen = |only, skip| chosen(&options(only, skip)).collect::<Vec<_>>();
        assert_eq!(chosen(&[], &[]), Step::ALL);
        assert_eq!(chosen(&[Step::Tests, Step::Format], &[]), [Step::Format, Step::Tests]);
        assert_eq!(chosen(&[], &[Step::Fuzz, Step::Docs]).len(), Step::ALL.len() - 2);
    }
}
