//! Recording of benchmarks with Valgrind's Callgrind, so that the counts are the same on every machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gristmill_gate::{Benchmark, Config, ProfileSource, Recording};
use gristmill_output::{printable, printable_path};
use gristmill_profile::merge::{Combine, MergeFormat, Merger};
use gristmill_profile::{Input, Profile};

use crate::input::reason;
use crate::load::complete;
use crate::session::Session;

/// Time between two looks at a running command.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Bytes of the standard error of a failed command that are shown.
const MAX_STDERR_BYTES: usize = 2000;

/// Returns the profile of a benchmark: read, or recorded `runs` times. The error is a sentence.
pub(super) fn profile(benchmark: &Benchmark, config: &Config, session: &Session) -> Result<Profile, String> {
    match &benchmark.source {
        ProfileSource::Files(files) => read(files, session),
        ProfileSource::Recording(recording) => {
            let mut runs = Vec::new();
            for _ in 0..recording.runs {
                runs.push(record(recording, config, session)?);
            }
            match runs.pop() {
                Some(only) if runs.is_empty() => Ok(only),
                last => median(runs.into_iter().chain(last)),
            }
        }
    }
}

/// Records once, or reads the files.
pub(super) fn single_run(
    benchmark: &Benchmark,
    config: &Config,
    session: &Session,
) -> Result<Profile, String> {
    match &benchmark.source {
        ProfileSource::Files(files) => read(files, session),
        ProfileSource::Recording(recording) => record(recording, config, session),
    }
}

fn read(files: &[PathBuf], session: &Session) -> Result<Profile, String> {
    let names: Vec<String> = files.iter().map(|path| printable_path(path).into_owned()).collect();
    sum(load(files, session)?).map_err(|error| format!("{}: {error}", names.join(", ")))
}

fn load(files: &[PathBuf], session: &Session) -> Result<Vec<Profile>, String> {
    let profiles = files.iter().map(|path| complete::load(path, session.max_size, 1));
    profiles.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Adds up the files of one recording.
fn sum(profiles: Vec<Profile>) -> Result<Profile, String> {
    let mut with_costs: Vec<Profile> = profiles
        .into_iter()
        .filter(|profile| profile.event_count() > 0 && profile.function_count() > 0)
        .collect();
    match with_costs.len() {
        0 => Err("no costs".to_owned()),
        1 => with_costs.pop().ok_or_else(String::new),
        _ => {
            let mut merger = Merger::new();
            for profile in &with_costs {
                merger.add(profile).map_err(|error| error.to_string())?;
            }
            written(&merger, Combine::Sum)
        }
    }
}

fn median(runs: impl Iterator<Item = Profile>) -> Result<Profile, String> {
    let mut merger = Merger::keeping_runs();
    for run in runs {
        merger.add(&run).map_err(|error| error.to_string())?;
    }
    written(&merger, Combine::Median)
}

fn written(merger: &Merger, combine: Combine) -> Result<Profile, String> {
    let bytes =
        merger.write(&MergeFormat { combine, scale: None }, Vec::new()).map_err(|error| error.to_string())?;
    Ok(Profile::load(vec![Input { name: String::new(), bytes: bytes.into() }]))
}

fn record(recording: &Recording, config: &Config, session: &Session) -> Result<Profile, String> {
    for words in &recording.setup {
        set_up(words, config)?;
    }
    let folder =
        tempfile::tempdir().map_err(|error| format!("no temporary directory: {}", reason(&error)))?;
    let mut command = command(recording, config, folder.path())?;
    run(&mut command, config.timeout_seconds, &recording.command.join(" "))?;
    let entries = std::fs::read_dir(folder.path()).map_err(|error| reason(&error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // One for each process and thread. The process ids in the names differ from run to run.
    files.sort();
    sum(load(&files, session)?)
        .map_err(|error| format!("valgrind recorded nothing for `{}`: {error}", recording.command.join(" ")))
}

fn set_up(words: &[String], config: &Config) -> Result<(), String> {
    let shown = printable(words.join(" ").as_bytes()).into_owned();
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    // Standard output is for the report.
    command.args(arguments).current_dir(&config.directory).stdin(Stdio::null()).stdout(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("setup `{shown}` ended with {status}")),
        Err(error) => Err(format!("setup `{shown}` could not be run: {}", reason(&error))),
    }
}

/// Builds the command of Valgrind: no address randomisation, fixed caches, and an environment of fixed size.
fn command(recording: &Recording, config: &Config, folder: &Path) -> Result<Command, String> {
    let valgrind = on_path(&config.valgrind)
        .ok_or_else(|| format!("{} was not found on the path", printable(config.valgrind.as_bytes())))?;
    let mut command = match without_randomisation() {
        Some((setarch, machine)) => {
            let mut command = Command::new(setarch);
            command.arg(machine).arg("-R").arg(valgrind);
            command
        }
        None => Command::new(valgrind),
    };
    command.arg("--tool=callgrind").args(&recording.options);
    let is_given = |option: &str| recording.options.iter().any(|given| given.starts_with(option));
    if is_given("--cache-sim=yes") {
        for (option, cache) in ["--I1=", "--D1=", "--LL="].iter().zip(&config.caches) {
            if !is_given(option) {
                command.arg(format!("{option}{cache}"));
            }
        }
    }
    let mut out = OsString::from("--callgrind-out-file=");
    out.push(folder.join("callgrind.out.%p"));
    command.arg(out).arg("--").args(&recording.command);
    command.current_dir(&config.directory).env_clear();
    let fixed = [("HOME", "/"), ("LC_ALL", "C"), ("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TZ", "UTC")];
    let mut environment: BTreeMap<OsString, OsString> =
        fixed.iter().map(|(name, value)| (name.into(), value.into())).collect();
    for name in &recording.keep_environment {
        if let Some(value) = std::env::var_os(name) {
            environment.insert(name.into(), value);
        }
    }
    environment.extend(recording.environment.iter().map(|(name, value)| (name.into(), value.into())));
    command.envs(environment);
    Ok(command)
}

/// Returns the program that switches address randomisation off and the architecture it needs, or `None` where that is not
/// allowed, as in some containers.
fn without_randomisation() -> Option<(PathBuf, &'static str)> {
    let setarch = on_path("setarch")?;
    let machine = std::env::consts::ARCH;
    let tried = Command::new(&setarch)
        .args([machine, "-R", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success()).then_some((setarch, machine))
}

/// Returns the path of a program. The recorded command runs with another `PATH`.
fn on_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return std::fs::canonicalize(program).ok();
    }
    let directories = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&directories).map(|directory| directory.join(program)).find(|path| path.is_file())
}

fn run(command: &mut Command, seconds: u64, shown: &str) -> Result<(), String> {
    let shown = printable(shown.as_bytes()).into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{shown}` could not be run: {}", reason(&error)))?;
    let mut stderr = child.stderr.take();
    // Read while the command runs: a full pipe would block it.
    let reader = std::thread::spawn(move || {
        let mut tail = Vec::new();
        if let Some(stderr) = &mut stderr {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut buffer) {
                tail.extend_from_slice(&buffer[..count]);
                let over = tail.len().saturating_sub(MAX_STDERR_BYTES);
                tail.drain(..over);
            }
        }
        tail
    });
    let start = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if start.elapsed() > Duration::from_secs(seconds) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{shown}` took longer than {seconds} seconds"));
            }
            Ok(None) => std::thread::sleep(POLL_INTERVAL),
            Err(error) => return Err(format!("`{shown}` could not be waited for: {}", reason(&error))),
        }
    };
    // A background process of the command may keep the pipe open, so do not wait for its end after success.
    if status.success() {
        return Ok(());
    }
    let stderr = reader.join().unwrap_or_default();
    let stderr = printable(stderr.trim_ascii());
    let separator = if stderr.is_empty() { "" } else { ": " };
    Err(format!("`{shown}` ended with {status}{separator}{stderr}"))
}
