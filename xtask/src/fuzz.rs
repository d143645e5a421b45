//! `cargo xtask fuzz [TARGET]`: builds the fuzz targets and lets them run for a while, on a stable toolchain.
//!
//! libFuzzer needs coverage counters in the code. `cargo fuzz` turns them on together with a sanitizer, which needs a
//! nightly toolchain; the counters alone are options of LLVM that stable passes on. Nothing here is unsafe code, so a
//! sanitizer would have little to find.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

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
}

impl Options {
    /// Every target for a short time, as the checks want it.
    pub(crate) fn smoke(seconds: u32) -> Self {
        Self { target: None, seconds, jobs: 1 }
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
    println!("fuzz {target}: {} s", options.seconds);

    let program = built.join(target);
    let mut command = Command::new(&program);
    command.arg(&inputs).arg(format!("-artifact_prefix={}/", artifacts.display())).current_dir(folder);
    command.arg(format!("-max_total_time={}", options.seconds));
    command.args(["-rss_limit_mb=2048", "-timeout=10", "-max_len=65536", "-dict=callgrind.dict"]);
    command.args(["-print_final_stats=1", "-verbosity=0"]);
    if options.jobs > 1 {
        command.arg(format!("-fork={}", options.jobs));
    }
    // libFuzzer has much to say even when all is well.
    let output = command.output().context(|| format!("cannot run {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        for line in text.lines().filter(|line| line.starts_with("stat::")) {
            println!("  {line}");
        }
        return Ok(());
    }
    eprintln!("{text}");
    let reproduce = match newest(&artifacts) {
        Some(artifact) => format!("reproduce it with: {} {}", program.display(), artifact.display()),
        None => "it left no input behind".to_owned(),
    };
    Err(Failure::new(format!("fuzz target {target} ended with {}; {reproduce}", output.status)))
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

fn newest(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).ok()?.filter_map(Result::ok);
    let latest = entries.max_by_key(|entry| entry.metadata().and_then(|data| data.modified()).ok());
    latest.map(|entry| entry.path())
}
