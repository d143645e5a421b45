//! The program to record, looked at before it runs: what Valgrind says of one that it cannot run is short.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::terminal::printable_path;
use crate::valgrind::{changes_user, is_program, search_path};

/// The status if there is no such program, as shells have it.
pub(super) const NOT_FOUND: u8 = 127;

/// The status if a program cannot be run, as shells have it.
pub(super) const NOT_RUN: u8 = 126;

/// A reason not to run a program.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: CliError,
    pub(super) status: ExitStatus,
}

/// Refuses a program that cannot be recorded. Returns its path, if it is known.
pub(super) fn check(words: &[OsString]) -> Result<Option<PathBuf>, Refusal> {
    let Some(program) = words.first() else { return Ok(None) };
    let shown = printable_path(Path::new(program)).into_owned();
    let refusal = |status: u8, message: String, hint: Option<&str>| Refusal {
        error: CliError::Usage { message, hint: hint.map(str::to_owned) },
        status: ExitStatus::OfProgram(status),
    };
    let Some(path) = find(program) else {
        // Without a path to search, Valgrind decides.
        if !has_separator(program) && search_path().is_none() {
            return Ok(None);
        }
        let here = format!("write ./{shown}: it is in this directory");
        let hint = (!has_separator(program) && Path::new(program).is_file()).then_some(here.as_str());
        return Err(refusal(NOT_FOUND, format!("there is no program {shown}"), hint));
    };
    let not_run = |reason: &str, hint: Option<&str>| Err(refusal(NOT_RUN, format!("{shown} {reason}"), hint));
    if path.is_dir() {
        return not_run("is a directory, not a program", None);
    }
    if !is_program(&path) {
        return not_run("may not be run", Some("chmod +x makes a file a program"));
    }
    if changes_user(&path) {
        return not_run(
            "runs with the rights of another user or group, and cannot be recorded",
            Some("record a copy of it without these rights"),
        );
    }
    Ok(Some(path))
}

fn has_separator(program: &OsStr) -> bool {
    program.as_encoded_bytes().contains(&b'/')
}

/// Finds the file of a program: the first that may be run, or else the first of that name.
fn find(program: &OsStr) -> Option<PathBuf> {
    if has_separator(program) {
        let path = PathBuf::from(program);
        return path.exists().then_some(path);
    }
    let paths: Vec<PathBuf> =
        std::env::split_paths(&search_path()?).map(|directory| directory.join(program)).collect();
    let runs = paths.iter().find(|path| is_program(path));
    runs.or_else(|| paths.iter().find(|path| path.is_file())).cloned()
}
