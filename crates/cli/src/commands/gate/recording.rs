//! Records a benchmark with Valgrind's Callgrind, so that its counts are the same wherever and whenever that is done.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gristmill_profile::merge::{Combine, Merger, WriteMerged};
use gristmill_profile::{Input, Profile};

use super::config::{Benchmark, Config, Recording, Source};
use crate::input::reason;
use crate::load::complete;
use crate::session::Session;
use crate::terminal::{printable, printable_path};

/// How often it is looked whether a recording is done.
const PAUSE: Duration = Duration::from_millis(20);

/// As much of what a failed program said as is shown.
const SAID: usize = 2000;

/// The profile of a benchmark: read, or recorded as often as the configuration says. The error is a sentence.
pub(super) fn profile(benchmark: &Benchmark, config: &Config, session: &Session) -> Result<Profile, String> {
    match &benchmark.source {
        Source::Files(files) => read(files, session),
        Source::Recording(recording) => {
            let mut runs = Vec::new();
            for _ in 0..recording.runs {
                runs.push(once(recording, config, session)?);
            }
            match runs.pop() {
                Some(only) if runs.is_empty() => Ok(only),
                last => median(runs.into_iter().chain(last)),
            }
        }
    }
}

/// One recording, or the files read once more.
pub(super) fn single(benchmark: &Benchmark, config: &Config, session: &Session) -> Result<Profile, String> {
    match &benchmark.source {
        Source::Files(files) => read(files, session),
        Source::Recording(recording) => once(recording, config, session),
    }
}

fn read(files: &[PathBuf], session: &Session) -> Result<Profile, String> {
    let names: Vec<String> = files.iter().map(|path| printable_path(path).into_owned()).collect();
    joined(loaded(files, session)?).map_err(|error| format!("{}: {error}", names.join(", ")))
}

fn loaded(files: &[PathBuf], session: &Session) -> Result<Vec<Profile>, String> {
    let profiles = files.iter().map(|path| complete::load(path, session.max_size, 1));
    profiles.collect::<Result<_, _>>().map_err(|error| error.to_string())
}

/// Several files of one recording, added up.
fn joined(profiles: Vec<Profile>) -> Result<Profile, String> {
    let mut with_costs: Vec<Profile> = profiles
        .into_iter()
        .filter(|profile| profile.event_count() > 0 && profile.function_count() > 0)
        .collect();
    match with_costs.len() {
        0 => Err("there are no costs".to_owned()),
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
        merger.write(&WriteMerged { combine, scale: None }, Vec::new()).map_err(|error| error.to_string())?;
    Ok(Profile::load(vec![Input { name: String::new(), bytes: bytes.into() }]))
}

fn once(recording: &Recording, config: &Config, session: &Session) -> Result<Profile, String> {
    for words in &recording.setup {
        set_up(words, config)?;
    }
    let folder =
        tempfile::tempdir().map_err(|error| format!("no temporary directory: {}", reason(&error)))?;
    let mut command = command(recording, config, folder.path())?;
    run(&mut command, config.timeout, &recording.command.join(" "))?;
    let entries = std::fs::read_dir(folder.path()).map_err(|error| reason(&error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    // One for each process and thread; the names have numbers that differ from run to run, so the order says nothing.
    files.sort();
    joined(loaded(&files, session)?)
        .map_err(|error| format!("valgrind recorded nothing of `{}`: {error}", recording.command.join(" ")))
}

fn set_up(words: &[String], config: &Config) -> Result<(), String> {
    let shown = printable(words.join(" ").as_bytes()).into_owned();
    let Some((program, arguments)) = words.split_first() else { return Ok(()) };
    let mut command = Command::new(program);
    // What it says is for the person at the terminal; standard output is for the verdict.
    command.args(arguments).current_dir(&config.directory).stdin(Stdio::null()).stdout(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("setup `{shown}` ended with {status}")),
        Err(error) => Err(format!("setup `{shown}` cannot be run: {}", reason(&error))),
    }
}

/// Valgrind with the command below it: no address randomisation, fixed caches, and an environment of fixed size.
fn command(recording: &Recording, config: &Config, folder: &Path) -> Result<Command, String> {
    let valgrind = on_path(&config.valgrind)
        .ok_or_else(|| format!("{} is not on the path", printable(config.valgrind.as_bytes())))?;
    let mut command = match without_randomisation() {
        Some((setarch, machine)) => {
            let mut command = Command::new(setarch);
            command.arg(machine).arg("-R").arg(valgrind);
            command
        }
        None => Command::new(valgrind),
    };
    command.arg("--tool=callgrind").args(&recording.options);
    let says = |option: &str| recording.options.iter().any(|given| given.starts_with(option));
    if says("--cache-sim=yes") {
        for (option, cache) in ["--I1=", "--D1=", "--LL="].iter().zip(&config.caches) {
            if !says(option) {
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

/// The program that switches address randomisation off, and the machine that it asks for; None where that is not allowed,
/// as in some containers.
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

/// Where a program is. The environment that it gets has another path than ours.
fn on_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return std::fs::canonicalize(program).ok();
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn run(command: &mut Command, seconds: u64, shown: &str) -> Result<(), String> {
    let shown = printable(shown.as_bytes()).into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{shown}` cannot be run: {}", reason(&error)))?;
    let mut stderr = child.stderr.take();
    // It must be read while the program runs, or the program waits.
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        if let Some(stderr) = &mut stderr {
            let mut piece = [0; 4096];
            while let Ok(count @ 1..) = stderr.read(&mut piece) {
                said.extend_from_slice(&piece[..count]);
                let over = said.len().saturating_sub(SAID);
                said.drain(..over);
            }
        }
        said
    });
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() > Duration::from_secs(seconds) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("`{shown}` took longer than {seconds} seconds"));
            }
            Ok(None) => std::thread::sleep(PAUSE),
            Err(error) => return Err(format!("`{shown}` cannot be waited for: {}", reason(&error))),
        }
    };
    // A process that the command left behind may hold the pipe open for ever, so nobody waits after success.
    if status.success() {
        return Ok(());
    }
    let said = reader.join().unwrap_or_default();
    let said = printable(said.trim_ascii()).into_owned();
    Err(format!("`{shown}` ended with {status}{}{said}", if said.is_empty() { "" } else { ": " }))
}
