//! The profile that is meant if no file is named: the newest recording of the working directory.

use std::cmp::Reverse;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::error::CliError;
use crate::load;
use crate::profile_files::{is_profile, modified};
use crate::session::Session;
use crate::terminal::{grouped, printable_path};

/// The directories of gungraun and of the programs that it comes from, where each benchmark has a directory.
const BENCHMARKS: [&str; 2] = ["target/gungraun", "target/iai"];
/// Those directories are this deep: target, package, file, group and benchmark.
const MAX_DEPTH: usize = 6;
/// The files below them that are looked at.
const MAX_FILES: usize = 100_000;

/// Returns the files, or the newest recording if there are none.
pub(crate) fn or_newest(files: &[PathBuf], session: &Session) -> Result<Vec<PathBuf>, CliError> {
    if files.is_empty() { newest(session) } else { Ok(files.to_vec()) }
}

/// Finds the newest profile, and with it the other files of its recording. Says which it is.
pub(crate) fn newest(session: &Session) -> Result<Vec<PathBuf>, CliError> {
    let mut candidates = candidates();
    candidates.sort_by_key(|(time, path)| (Reverse(*time), Reverse(path.clone())));
    // What cannot be opened is reported instead of another file.
    let is_read = |path: &PathBuf| is_profile(path) || File::open(path).is_err();
    let Some(path) = candidates.into_iter().map(|(_, path)| path).find(is_read) else {
        return Err(none_found());
    };
    let files = match load::recording(&path, session) {
        files if files.is_empty() => vec![path],
        files => files,
    };
    session.tell(&match files.as_slice() {
        [only] => format!("reading {}, the newest profile here", printable_path(only)),
        [first, others @ ..] => {
            let noun = if others.len() == 1 { "file" } else { "files" };
            let count = grouped(others.len());
            format!(
                "reading {} and {count} more {noun} of this recording, the newest here",
                printable_path(first)
            )
        }
        [] => String::new(),
    });
    Ok(files)
}

fn none_found() -> CliError {
    CliError::Usage {
        message:
            "no file is named, and there is no profile here: looked for callgrind.out*, cachegrind.out*, \
                  xtmemory*, xtleak* and cg*.out, and below target/gungraun and target/iai"
                .to_owned(),
        hint: Some(
            "name a file, or record one: gristmill record PROGRAM; gristmill --help lists the commands"
                .to_owned(),
        ),
    }
}

/// Lists the files that are called like profiles, with the times when they were written.
fn candidates() -> Vec<(Option<SystemTime>, PathBuf)> {
    let mut found: Vec<PathBuf> =
        entries(Path::new(".")).filter(|entry| is_called_profile(&name(entry))).collect();
    // `./a` is shown as `a`.
    found.iter_mut().for_each(|path| *path = path.file_name().map(PathBuf::from).unwrap_or_default());
    let mut directories: Vec<(PathBuf, usize)> = BENCHMARKS.iter().map(|path| (path.into(), 0)).collect();
    let mut seen = 0;
    while let Some((directory, depth)) = directories.pop() {
        for path in entries(&directory) {
            seen += 1;
            if seen > MAX_FILES {
                break;
            }
            // A link could lead back.
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if metadata.is_dir() && depth < MAX_DEPTH {
                directories.push((path, depth + 1));
            } else if metadata.is_file() && is_of_benchmark(&name(&path)) {
                found.push(path);
            }
        }
    }
    // A file of the system, as in /proc, has no size, and reading it may wait.
    found.retain(|path| path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0));
    found.into_iter().map(|path| (modified(&path), path)).collect()
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns `true` for a name that Valgrind or Xdebug gives to a profile.
fn is_called_profile(name: &str) -> bool {
    let starts = ["callgrind.out", "cachegrind.out", "xtmemory", "xtleak"];
    let is_backup = [".old", ".log", ".svg", ".html", ".json", "~"].iter().any(|end| name.ends_with(end));
    let is_short = name.starts_with("cg") && name.ends_with(".out");
    (is_short || starts.iter().any(|start| name.starts_with(start))) && !is_backup
}

/// Returns `true` for a name that gungraun or iai gives to the profile of the last run of a benchmark.
fn is_of_benchmark(name: &str) -> bool {
    let is_of_gungraun =
        ["callgrind.", "cachegrind."].iter().any(|tool| name.starts_with(tool)) && name.ends_with(".out");
    let is_of_iai = name.starts_with("cachegrind.out.") && !name.ends_with(".old");
    is_of_gungraun || is_of_iai
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_profiles_are_known() {
        for name in [
            "callgrind.out.4711",
            "callgrind.out.4711-02",
            "callgrind.out",
            "cachegrind.out.1.gz",
            "xtmemory.kcg.12",
            "cgrun.out",
        ] {
            assert!(is_called_profile(name), "{name}");
        }
        for name in ["callgrind.annotated", "callgrind.out.1.old", "callgrind.out.1.svg", "a.out", "cg.rs"] {
            assert!(!is_called_profile(name), "{name}");
        }
        for name in ["callgrind.sort.out", "callgrind.sort.case_1.t1.p1.out", "cachegrind.out.bench"] {
            assert!(is_of_benchmark(name), "{name}");
        }
        for name in
            ["callgrind.sort.out.old", "callgrind.sort.out.base@main", "callgrind.sort.log", "summary.json"]
        {
            assert!(!is_of_benchmark(name), "{name}");
        }
    }
}
