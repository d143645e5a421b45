//! `cargo xtask fuzz [TARGET]`: builds the fuzz targets and runs them, on a stable toolchain.
//!
//! libFuzzer needs coverage counters in the code. `cargo fuzz` turns them on together with a sanitizer, which needs a
//! nightly toolchain; the counters alone are options of LLVM that stable passes on. Nothing here is unsafe code, so a
//! sanitizer would have little to find.

mod crash;
mod programs;

use std::ffi::OsStr;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::SystemTime;

use crate::failure::{Context as _, Failure};
use crate::manifest;
use crate::workspace;

/// Coverage counters for libFuzzer, and checks that a release build omits.
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

/// An input that needs more than this has failed. The time is wall-clock time: on a busy machine, a process can wait for many seconds.
const LIMITS: [&str; 2] = ["-rss_limit_mb=2048", "-timeout=60"];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The target; without it, all targets, as many at once as there are cores.
    target: Option<String>,
    /// Seconds that each target runs.
    #[arg(long, default_value_t = 60)]
    pub(crate) seconds: u32,
    /// Processes that search in parallel.
    #[arg(long, default_value_t = 1)]
    jobs: u32,
    /// Seed of the search: the same seed tries the same inputs in the same order.
    #[arg(long, default_value_t = SEED, value_parser = clap::value_parser!(u32).range(1..))]
    seed: u32,
}

/// A fixed seed: an input that fails in one run of the checks fails in the next.
pub(crate) const SEED: u32 = 4711;

impl Options {
    /// Options that run every target for a short time, for the checks.
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
    // A target searches on one core, so the others take their turn beside it.
    let at_once = std::thread::available_parallelism().map_or(1, NonZero::get);
    let next = AtomicUsize::new(0);
    let search_next = || -> Result<(), Failure> {
        while let Some(target) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
            search(&folder, &built, target, options)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let searches: Vec<_> = (0..at_once.min(chosen.len())).map(|_| scope.spawn(search_next)).collect();
        // All are waited for, even if one has failed.
        let ended: Vec<_> = searches.into_iter().map(ScopedJoinHandle::join).collect();
        ended.into_iter().try_for_each(|ended| {
            ended.unwrap_or_else(|_| Err(Failure::new("the search of a fuzz target panicked".to_owned())))
        })
    })
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
    workspace::run(&mut cargo("build")?)?;
    Ok(target_folder().join(workspace::platform()?).join("release"))
}

/// Checks the targets with clippy. What it shares with their build is compiled once.
pub(crate) fn lint() -> Result<(), Failure> {
    workspace::run(cargo("clippy")?.args(["--", "-D", "warnings"]))
}

/// A cargo that compiles the targets.
fn cargo(task: &str) -> Result<Command, Failure> {
    // Naming the platform, even if it is this one, keeps the flags away from build scripts and procedural macros.
    let platform = workspace::platform()?;
    let mut cargo = workspace::cargo();
    cargo.args([task, "--quiet", "--release", "--manifest-path", "fuzz/Cargo.toml", "--target", &platform]);
    cargo.env("CARGO_TARGET_DIR", target_folder()).env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join("\x1f"));
    Ok(cargo)
}

/// A separate folder: the flags differ, and must not invalidate the usual build.
fn target_folder() -> PathBuf {
    workspace::target().join("fuzz")
}

/// A build of the targets beside other work; it is stopped where this ends.
#[derive(Debug)]
pub(crate) struct Building(Child);

impl Building {
    pub(crate) fn start() -> Result<Building, Failure> {
        let mut cargo = cargo("build")?;
        // Who needs the targets builds them again and says what is wrong.
        cargo.stdout(Stdio::null()).stderr(Stdio::null());
        cargo.spawn().map(Building).context(|| format!("cannot run {}", workspace::shown(&cargo)))
    }

    pub(crate) fn wait(mut self) {
        let _ = self.0.wait();
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn search(folder: &Path, built: &Path, target: &str, options: &Options) -> Result<(), Failure> {
    let inputs = folder.join("corpus").join(target);
    let artifacts = folder.join("artifacts").join(target);
    for made in [&inputs, &artifacts] {
        std::fs::create_dir_all(made).context(|| format!("cannot create {}", made.display()))?;
    }
    seed(&inputs)?;
    if target == "code" {
        programs::seed(&inputs)?;
    }
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
    // libFuzzer writes a long log even when it finds nothing.
    let output = command.output().context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        let stats = text.lines().filter(|line| line.starts_with("stat::"));
        let stats: String = stats.fold(String::new(), |all, line| all + "\n  " + line);
        println!("fuzz {target}: nothing found{stats}");
        return Ok(());
    }
    let log = folder.join("artifacts").join(format!("{target}.log"));
    std::fs::write(&log, &output.stderr).context(|| format!("cannot write {}", log.display()))?;
    println!("{}", crash::reason(&text));
    println!("full log: {}", log.display());
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

/// Looks for a smaller input that fails as well.
fn minimized(program: &Path, artifact: &Path) -> Option<PathBuf> {
    let mut name = artifact.as_os_str().to_owned();
    name.push(".smaller");
    let smaller = PathBuf::from(name);
    let mut command = Command::new(program);
    command.args(["-minimize_crash=1", "-max_total_time=30", "-verbosity=0"]).args(LIMITS);
    command.arg(format!("-exact_artifact_path={}", smaller.display())).arg(artifact);
    // The exit code is a failure even when a smaller input was found.
    let _ = command.output();
    smaller.is_file().then_some(smaller)
}

/// Copies the corpus to the inputs; libFuzzer adds its own files there.
fn seed(inputs: &Path) -> Result<(), Failure> {
    for path in manifest::files()?.iter().filter(|path| !path.starts_with("src/")) {
        let to = inputs.join(format!("seed-{}", path.replace('/', "-")));
        std::fs::copy(manifest::corpus().join(path), &to)
            .context(|| format!("cannot write {}", to.display()))?;
    }
    Ok(())
}
