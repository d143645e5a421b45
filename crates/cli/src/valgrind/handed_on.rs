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

/// Tells a script that calls this program again from one that runs Valgrind: the process that has handed on, which keeps its id.
const GUARD: &str = "GRISTMILL_HANDED_ON_BY";

/// Runs Valgrind with the same words, if the first one is its name. It returns only if there is none.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let (first, arguments) = words.split_first()?;
    if Path::new(first).file_stem() != Some(OsStr::new(NAME)) {
        return None;
    }
    let session = Session::new(&GlobalArgs::plain());
    let say = |message: &str| session.say_plainly(&format!("valgrind: {message}\n"));
    // The process ids have one length, so that the stack of the program begins at the same address each time.
    let guard = format!("{:010}", std::process::id());
    if std::env::var_os(GUARD).is_some_and(|by| by == *guard) {
        say("this is Gristmill, and what it takes for Valgrind starts Gristmill again");
        return Some(FAILURE.into());
    }
    let valgrind = match Valgrind::find(None) {
        Ok(valgrind) => valgrind,
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
    if valgrind.is_foreign_script() {
        command.env(GUARD, guard);
    }
    let error = become_program(&mut command);
    say(&format!("{} could not be run: {}", printable_path(valgrind.path()), reason(&error)));
    Some(FAILURE.into())
}
