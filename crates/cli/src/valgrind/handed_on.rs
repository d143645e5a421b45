//! The program under the name `valgrind`: what it is asked goes to the installed Valgrind, which runs in its place.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode};

use super::Valgrind;
use crate::args::GlobalArgs;
use crate::input::reason;
use crate::session::Session;
use crate::starter::become_program;
use crate::terminal::printable_path;

/// The name.
const NAME: &str = "valgrind";

/// The status of Valgrind if it cannot do what it is asked.
const FAILURE: u8 = 1;

/// The scripts and programs that were run as Valgrind before, so that one that starts this program again gets the next Valgrind, and none in the end.
const GUARD: &str = "GRISTMILL_HANDED_ON_TO";

/// The character before each of them.
const SEPARATOR: char = ':';

/// Runs Valgrind with the same words, if the first one is its name. It returns only if there is none.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let (first, arguments) = words.split_first()?;
    if Path::new(first).file_stem() != Some(OsStr::new(NAME)) {
        return None;
    }
    let session = Session::new(&GlobalArgs::plain());
    let say = |message: &str| session.say_plainly(&format!("valgrind: {message}\n"));
    let scripts = std::env::var_os(GUARD).unwrap_or_default();
    let scripts = scripts.to_string_lossy();
    let is_before = |path: &Path| scripts.split(SEPARATOR).any(|script| script == name_of(path));
    let valgrind = match Valgrind::find_unless(is_before) {
        Ok(valgrind) => valgrind,
        Err(_) if !scripts.is_empty() => {
            say("this is Gristmill, and what it takes for Valgrind starts Gristmill again");
            return Some(FAILURE.into());
        }
        Err(error) => {
            say(&error.to_string());
            if let Some(hint) = error.hint() {
                say(&hint);
            }
            return Some(FAILURE.into());
        }
    };
    let mut command = Command::new(valgrind.path());
    command.args(arguments);
    if !valgrind.is_last() {
        command.env(GUARD, format!("{scripts}{SEPARATOR}{}", name_of(valgrind.path())));
    }
    let error = become_program(&mut command);
    say(&format!("{} could not be run: {}", printable_path(valgrind.path()), reason(&error)));
    Some(FAILURE.into())
}

/// Returns the path of a script without links, as the guard has it.
fn name_of(script: &Path) -> String {
    let path = std::fs::canonicalize(script).unwrap_or_else(|_| script.to_owned());
    path.to_string_lossy().replace(SEPARATOR, ";")
}
