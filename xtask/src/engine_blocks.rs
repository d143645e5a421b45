//! `cargo xtask engine-blocks`: programs of random instructions, alone and under the native engine: registers, flags, memory and counts.
//!
//! Each program runs under the engine in several ways, which must give the same file: counters in memory and in vectors, three sizes of
//! the code cache, blocks that lead to each other and blocks that do not, jumps that are counted and jumps that are not.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::failure::{Context as _, Failure};
use crate::{random_blocks, workspace};

/// Blocks of a program.
const BLOCKS_OF_PROGRAM: u64 = 10_000;

const COLLECT_JUMPS: &str = "--collect-jumps=yes";

/// The options of all ways. Positions as differences depend on the jumps that are between.
const SAME: [&str; 2] = ["--dump-instr=yes", "--compress-pos=no"];

/// The ways to run, by their options.
const WAYS: [(&str, &[&str]); 7] = [
    ("default", &[]),
    ("counters in memory", &["--count-in-vectors=no"]),
    ("smallest code cache", &["--code-cache=1"]),
    ("code cache of 1 MB", &["--code-cache=1024", "--count-in-vectors=no"]),
    ("no links", &["--link-blocks=no"]),
    ("counted jumps", &[COLLECT_JUMPS]),
    ("counted jumps, counters in memory", &[COLLECT_JUMPS, "--count-in-vectors=no"]),
];

/// The most programs that a message names.
const MAX_FAILURES: usize = 10;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// The count of blocks, at least.
    #[arg(long, default_value_t = 100_000)]
    blocks: u64,
    /// The number of the first program.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// The program to check, instead of building it.
    #[arg(long)]
    program: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let program = match &options.program {
        Some(program) => program.clone(),
        None => {
            workspace::run(workspace::cargo().args([
                "build",
                "--quiet",
                "--release",
                "--package",
                "gristmill",
            ]))?;
            workspace::target().join("release/gristmill")
        }
    };
    let folder = std::env::temp_dir().join(format!("engine-blocks-{}", std::process::id()));
    std::fs::create_dir_all(&folder).context(|| format!("cannot make {}", folder.display()))?;
    let count = options.blocks.div_ceil(BLOCKS_OF_PROGRAM);
    let mut failures = Vec::new();
    for number in options.first..options.first + count {
        if let Some(difference) = difference(&program, &folder, number)? {
            println!("program {number}: {difference}");
            failures.push(number.to_string());
        }
        let done = (number - options.first + 1) * BLOCKS_OF_PROGRAM;
        if done.is_multiple_of(10 * BLOCKS_OF_PROGRAM) {
            println!("{done} blocks, each in {} ways, {} programs differ", WAYS.len(), failures.len());
        }
    }
    let _ = std::fs::remove_dir_all(&folder);
    let done = count * BLOCKS_OF_PROGRAM;
    if !failures.is_empty() {
        failures.truncate(MAX_FAILURES);
        return Err(Failure::new(format!("of {done} blocks, some differ: programs {}", failures.join(", "))));
    }
    println!("{done} blocks do the same alone and under the engine, in {} ways", WAYS.len());
    Ok(())
}

/// Returns how a program does not do the same in all ways.
fn difference(program: &Path, folder: &Path, number: u64) -> Result<Option<String>, Failure> {
    let has_undefined_flags = number.is_multiple_of(2);
    let blocks = usize::try_from(BLOCKS_OF_PROGRAM).unwrap_or(usize::MAX);
    let source = random_blocks::program(number, blocks, has_undefined_flags);
    let path = folder.join("random.S");
    std::fs::write(&path, source).context(|| format!("cannot write {}", path.display()))?;
    let output = |command: &mut Command| -> Result<Output, Failure> {
        let shown = workspace::shown(command);
        let output = command.current_dir(folder).output().context(|| format!("cannot run {shown}"))?;
        match output.status.success() {
            true => Ok(output),
            false => {
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(Failure::new(format!(
                    "{shown} of program {number} ended with {}: {message}",
                    output.status
                )))
            }
        }
    };
    output(Command::new("cc").args(["-nostdlib", "-static", "-o", "random", "random.S"]))?;
    let alone = output(&mut Command::new("./random"))?;
    let mut first: Option<Vec<String>> = None;
    for (way, options) in WAYS {
        let mut command = Command::new(program);
        command.args(["record", "--engine", "native", "-q", "--force", "-o", "profile"]);
        let recorded = output(command.args(SAME).args(options).arg("./random"))?;
        if recorded.stdout != alone.stdout {
            return Ok(Some(format!("registers, flags or memory differ ({way})")));
        }
        let path = folder.join("profile");
        let profile = std::fs::read_to_string(&path).context(|| format!("cannot read {}", path.display()))?;
        let lines = without_jumps(&profile).filter(|line| !line.starts_with("pid:"));
        let lines: Vec<String> = lines.map(str::to_owned).collect();
        match &first {
            Some(first) if *first != lines => return Ok(Some(format!("counts differ ({way})"))),
            Some(_) => {}
            None => first = Some(lines),
        }
    }
    Ok(None)
}

/// Returns the lines of a profile, except for jumps and their sources.
fn without_jumps(profile: &str) -> impl Iterator<Item = &str> {
    let mut is_source = false;
    profile.lines().filter(move |line| {
        let is_jump = line.starts_with("jump=") || line.starts_with("jcnd=");
        let is_left_out = std::mem::replace(&mut is_source, is_jump) || is_jump;
        !is_left_out && !line.starts_with("jfi=")
    })
}
