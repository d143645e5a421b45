//! The program under the name `valgrind`: what its own engine does not do goes to the installed Valgrind, which runs in its place.

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, ExitCode};

use super::Valgrind;
use super::in_place::{self, Left, Wanted};
use crate::args::GlobalArgs;
use crate::input::reason;
use crate::session::Session;
use crate::starter::become_program;
use crate::terminal::printable_path;

/// The name.
const NAME: &str = "valgrind";

/// The answer to `--version` without an installed Valgrind: that of the version whose behaviour is followed.
const VERSION: &str = "valgrind-3.19.0.gristmill";

/// The status of Valgrind if it cannot do what it is asked.
const FAILURE: u8 = 1;

/// The status if there is no program to record.
const NO_PROGRAM: u8 = 127;

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
    let (wanted, taken) = Wanted::parse(arguments);
    let (is_silent, has_log) = (wanted.is_quiet, wanted.has_log);
    let left = match in_place::reason_of_user().map_or(taken, Err) {
        Ok(()) => wanted.record(),
        Err(left) => left,
    };
    // From here on, because it has a descriptor that a program must not see.
    let session = Session::new(&GlobalArgs::plain());
    let say = |message: &str| session.say_plainly(&format!("valgrind: {message}\n"));
    if let Left::Unwritable(reason) = &left {
        say(reason);
        return Some(FAILURE.into());
    }
    let scripts = std::env::var_os(GUARD).unwrap_or_default();
    let scripts = scripts.to_string_lossy();
    let is_before = |path: &Path| scripts.split(SEPARATOR).any(|script| script == name_of(path));
    let valgrind = match Valgrind::find_unless(is_before) {
        Ok(valgrind) => valgrind,
        Err(_) if !scripts.is_empty() => {
            say("this is Gristmill, and what it takes for Valgrind starts Gristmill again");
            return Some(FAILURE.into());
        }
        Err(_) if arguments.iter().any(|word| word == "--version") => {
            return Some(print_version(&session));
        }
        Err(_) if left == Left::NoProgram => {
            say("there is no such program");
            return Some(NO_PROGRAM.into());
        }
        Err(error) => {
            if let Left::Reason(reason) = &left {
                say(reason);
            }
            say(&error.to_string());
            if let Some(hint) = error.hint() {
                say(&hint);
            }
            return Some(FAILURE.into());
        }
    };
    if let Left::Reason(reason) = &left
        && !is_silent
        && !has_log
        && scripts.is_empty()
    {
        let (process, path) = (std::process::id(), printable_path(valgrind.path()));
        session.say_plainly(&format!("=={process}== Gristmill hands this on to {path}: {reason}\n"));
    }
    let mut command = Command::new(valgrind.path());
    command.args(arguments);
    if !valgrind.is_last() {
        command.env(GUARD, format!("{scripts}{SEPARATOR}{}", name_of(valgrind.path())));
    }
    let error = become_program(&mut command);
    say(&format!("{} could not be run: {}", printable_path(valgrind.path()), reason(&error)));
    Some(FAILURE.into())
}

/// Prints the version whose options and files are understood.
fn print_version(session: &Session) -> ExitCode {
    let mut stdout = session.stdout();
    let printed = writeln!(stdout, "{VERSION}").and_then(|()| stdout.flush());
    if printed.is_ok() { ExitCode::SUCCESS } else { FAILURE.into() }
}

/// Returns the path of a script without links, as the guard has it.
fn name_of(script: &Path) -> String {
    let path = std::fs::canonicalize(script).unwrap_or_else(|_| script.to_owned());
    path.to_string_lossy().replace(SEPARATOR, ";")
}
