//! `cargo xtask fuzz [TARGET]`: builds the fuzz targets and lets them run for a while, on a stable toolchain.
//!
//! libFuzzer needs coverage counters in the code. `cargo fuzz` turns them on together with a sanitizer, which needs a
//! nightly toolchain; the counters alone are options of LLVM that stable passes on. Nothing here is unsafe code, so a
//! sanitizer would have little to find.

mod crash;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::SystemTime;

use crate::failure::{Context as _, Failure};
use crate::manifest;
use crate::workspace;

/// The coverage that libFuzzer reads, and checks that a release build leaves out.
const FLAGS: [&str; 10] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "--cfg=fuzzing",
    // With more units the linker drops counters of some of them.
    "-Ccodegen-units=1",
    "-Cdebug-assertions",
    "-Coverflow-checks",
    "-Cdebuginfo=line-tables-only",
];

/// An input that takes more than this has failed.
const LIMITS: [&str; 2] = ["-rss_limit_mb=2048", "-timeout=10"];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// All targets, one after the other, when none is named.
    target: Option<String>,
    /// How long each target runs.
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u32,
    /// Processes that search side by side.
    #[arg(long, default_value_t = 1)]
    jobs: u32,
    /// What the choices of the search follow from: the same inputs in the same order, as long as time lasts.
    #[arg(long, default_value_t = SEED, value_parser = clap::value_parser!(u32).range(1..))]
    seed: u32,
}

/// Any number would do, but the same one always: what fails in one run of the checks is to fail in the next.
const SEED: u32 = 4711;

impl Options {
    /// Every target for a short time, as the checks want it.
    pub(crate) fn smoke(seconds: u32) -> Self {
        Self { target: None, seconds, jobs: 1, seed: SEED }
    }
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let folder = workspace::root().join("fuzz");
    let targets = targets(&folder)?;
    let chosen: Vec<&String> = match &options.target {
        None => targets.iter().collect(),
        Some(name) => targets.iter().filter(|target| *target == name).collect(),
    };
    if chosen.is_empty() {
        return Err(Failure::new(format!("no such fuzz target; there are {}", targets.join(", "))));
    }
    let built = build()?;
    for target in chosen {
        search(&folder, &built, target, options)?;
    }
    Ok(())
}

/// A target is a file below `fuzz/fuzz_targets/`.
fn targets(folder: &Path) -> Result<Vec<String>, Failure> {
    let sources = folder.join("fuzz_targets");
    let entries = std::fs::read_dir(&sources).context(|| format!("cannot list {}", sources.display()))?;
    let mut targets: Vec<String> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension() == Some(OsStr::new("rs")))
        .filter_map(|path| path.file_stem().and_then(OsStr::to_str).map(str::to_owned))
        .collect();
    targets.sort_unstable();
    Ok(targets)
}

/// Builds all targets; gives the folder they are in.
fn build() -> Result<PathBuf, Failure> {
    // Naming the platform, even if it is this one, keeps the flags away from build scripts and procedural macros.
    let platform = workspace::platform()?;
    // A folder of its own: with other flags everything is built anew, which must not drive out the usual build.
    let built = workspace::target().join("fuzz");
    let mut cargo = workspace::cargo();
    cargo.args([
        "build",
        "--quiet",
        "--release",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target",
        &platform,
    ]);
    cargo.env("CARGO_TARGET_DIR", &built).env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    workspace::run(&mut cargo)?;
    Ok(built.join(platform).join("release"))
}

fn search(folder: &Path, built: &Path, target: &str, options: &Options) -> Result<(), Failure> {
    let inputs = folder.join("corpus").join(target);
    let artifacts = folder.join("artifacts").join(target);
    for made in [&inputs, &artifacts] {
        std::fs::create_dir_all(made).context(|| format!("cannot create {}", made.display()))?;
    }
    seed(&inputs)?;
    println!("fuzz {target}: {} s, seed {}", options.seconds, options.seed);

    let program = built.join(target);
    let mut command = Command::new(&program);
    command.arg(&inputs).arg(format!("-artifact_prefix={}/", artifacts.display())).current_dir(folder);
    command.arg(format!("-max_total_time={}", options.seconds));
    command.arg(format!("-seed={}", options.seed));
    command.args(LIMITS).args(["-max_len=65536", "-dict=callgrind.dict"]);
    command.args(["-print_final_stats=1", "-verbosity=0"]);
    if options.jobs > 1 {
        command.arg(format!("-fork={}", options.jobs));
    }
    let start = SystemTime::now();
    // libFuzzer has much to say even when all is well.
    let output = command.output().context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        for line in text.lines().filter(|line| line.starts_with("stat::")) {
            println!("  {line}");
        }
        return Ok(());
    }
    let log = folder.join("artifacts").join(format!("{target}.log"));
    std::fs::write(&log, &output.stderr).context(|| format!("cannot write {}", log.display()))?;
    println!("{}", crash::reason(&text));
    println!("all that was said: {}", log.display());
    match crash::artifact(&text, &artifacts, start) {
        Some(artifact) => Err(failed(target, output.status, &program, &artifact)?),
        None => {
            Err(Failure::new(format!("fuzz target {target} ended with {} and left no input", output.status)))
        }
    }
}

/// Shows the input that a target failed with.
fn failed(target: &str, status: ExitStatus, program: &Path, artifact: &Path) -> Result<Failure, Failure> {
    let read = |path: &Path| std::fs::read(path).context(|| format!("cannot read {}", path.display()));
    let mut shown = artifact.to_owned();
    let mut input = read(&shown)?;
    println!("the input, {} bytes: {}", input.len(), artifact.display());
    if input.len() > crash::SHOWN_INPUT
        && let Some(smaller) = minimized(program, artifact)
    {
        shown = smaller;
        input = read(&shown)?;
        println!("a smaller one, {} bytes: {}", input.len(), shown.display());
    }
    println!("{}", crash::shown_input(&input));
    let again = format!("{} {}", program.display(), shown.display());
    Ok(Failure::new(format!("fuzz target {target} ended with {status}; reproduce it with: {again}")))
}

/// A smaller input that fails as well, if one is found soon.
fn minimized(program: &Path, artifact: &Path) -> Option<PathBuf> {
    let mut name = artifact.as_os_str().to_owned();
    name.push(".smaller");
    let smaller = PathBuf::from(name);
    let mut command = Command::new(program);
    command.args(["-minimize_crash=1", "-max_total_time=30", "-verbosity=0"]).args(LIMITS);
    command.arg(format!("-exact_artifact_path={}", smaller.display())).arg(artifact);
    // It fails even when it has found something.
    let _ = command.output();
    smaller.is_file().then_some(smaller)
}

/// Copies the files of the corpus to the inputs, where libFuzzer adds its own findings.
fn seed(inputs: &Path) -> Result<(), Failure> {
    for path in manifest::files()?.iter().filter(|path| !path.starts_with("src/")) {
        let to = inputs.join(format!("seed-{}", path.replace('/', "-")));
        std::fs::copy(manifest::corpus().join(path), &to)
            .context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}
