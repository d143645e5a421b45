//! Time and memory of other programs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4 as _;

use crate::failure::{Context as _, Failure};
use crate::workspace;

/// Time and memory of one run. The smallest is the fastest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Run {
    /// From the path of a file to the answer.
    pub(super) whole: Duration,
    /// The part of it that was reading the file, if known.
    pub(super) reading: Option<Duration>,
    /// Peak resident memory. The system includes the memory of the process that started it: about 10 MB.
    pub(super) peak: u64,
    /// Time of all processors, which other programs on the machine hardly change.
    pub(super) processors: Duration,
}

/// Runs a program to its end, and returns what it printed.
pub(super) fn measure(command: Command) -> Result<(String, Run), Failure> {
    let (printed, _, run) = watch(command)?;
    Ok((String::from_utf8_lossy(&printed).into_owned(), run))
}

/// Runs a program to its end, and returns how long it took until it began to print.
pub(super) fn measure_beginning(command: Command) -> Result<Run, Failure> {
    let (_, beginning, run) = watch(command)?;
    Ok(Run { whole: beginning, ..run })
}

/// Runs a program to its end without keeping its output. Any exit code is fine, a signal is not.
pub(super) fn measure_silent(mut command: Command) -> Result<Run, Failure> {
    let shown = workspace::shown(&command);
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context(|| format!("cannot run {shown}"))?;
    let used = child.wait4().context(|| format!("cannot wait for {shown}"))?;
    let whole = start.elapsed();
    if used.status.code().is_none_or(|code| code > 2) {
        return Err(Failure::new(format!("{shown} ended with {}", used.status)));
    }
    let processors = used.rusage.utime + used.rusage.stime;
    Ok(Run { whole, reading: None, peak: used.rusage.maxrss, processors })
}

/// Runs a program to its end and returns its output and the time of the first byte.
fn watch(mut command: Command) -> Result<(Vec<u8>, Duration, Run), Failure> {
    let shown = workspace::shown(&command);
    let start = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .context(|| format!("cannot run {shown}"))?;
    let mut printed = Vec::new();
    let mut beginning = Duration::ZERO;
    if let Some(mut stdout) = child.stdout.take() {
        let mut read = |bytes: &mut dyn Read| bytes.read_to_end(&mut printed);
        let first = read(&mut stdout.by_ref().take(1));
        beginning = start.elapsed();
        first.and_then(|_| read(&mut stdout)).context(|| format!("cannot read what {shown} prints"))?;
    }
    let used = child.wait4().context(|| format!("cannot wait for {shown}"))?;
    let whole = start.elapsed();
    if !used.status.success() {
        return Err(Failure::new(format!("{shown} ended with {}", used.status)));
    }
    let processors = used.rusage.utime + used.rusage.stime;
    let run = Run { whole, reading: None, peak: used.rusage.maxrss, processors };
    Ok((printed, beginning, run))
}

/// The path of the program, optimised as it is for users.
pub(super) fn gristmill() -> Result<PathBuf, Failure> {
    workspace::run(workspace::cargo().args(["build", "--quiet", "--release", "--package", "gristmill"]))?;
    Ok(workspace::target().join("release").join(format!("gristmill{}", std::env::consts::EXE_SUFFIX)))
}

/// Returns `true` if a program of this name can be run.
pub(super) fn is_on_path(program: &str) -> bool {
    find(program).is_some()
}

/// Returns the path of a program as the shell finds it.
pub(super) fn find(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| is_file(path))
}

fn is_file(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
