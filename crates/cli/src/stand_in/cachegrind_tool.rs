//! What cg_annotate, cg_diff and cg_merge have in common: how they read files, how they fail, what they exit with.

use std::ffi::OsString;
use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use gristmill_compat::argparse::{self, Declared, Given, Meaning, quoted};
use gristmill_compat::{CachegrindFault, Substitution};

use crate::args::GlobalArgs;
use crate::error::CliError;
use crate::input::{Input, InputErrorKind, reason};
use crate::session::Session;
use crate::terminal::{printable, printable_path};

/// The version of Valgrind whose programs are stood in for.
const VERSION: &str = "3.28.0";

/// Something could not be done.
const FAILED: u8 = 1;
/// The command line is wrong.
const MISUSED: u8 = 2;

/// One of the programs.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// Printed before what is wrong with a command line.
    pub(super) usage: &'static str,
    /// Printed after the usage when help is asked for.
    pub(super) help: &'static str,
}

/// Why a program ends without its result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The command line is right but for how many files there are; the exit code is that of other failures.
    WrongFiles(String),
    /// A file is wrong, or what was asked of it.
    Data(String),
    /// The output was closed, or could not be written.
    Output(CliError),
}

impl Failure {
    /// A file that is not as it should be.
    pub(super) fn of(path: &Path, fault: &CachegrindFault) -> Self {
        Failure::Data(format!("{}:{}: {fault}", printable_path(path), fault.line))
    }
}

impl From<CliError> for Failure {
    fn from(error: CliError) -> Self {
        Failure::Output(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::Output(error.into())
    }
}

impl Tool {
    /// Runs the program and says why it failed, if it did.
    pub(super) fn run(
        &self,
        words: &[OsString],
        run: impl FnOnce(&[OsString], &Session) -> Result<(), Failure>,
    ) -> ExitCode {
        let session = Session::new(&GlobalArgs::plain());
        let result = run(words, &session).and_then(|()| Ok(session.flush()?));
        let Err(failure) = result else { return ExitCode::SUCCESS };
        let (usage, message, code) = match failure {
            Failure::Output(error) if error.is_broken_pipe() => return ExitCode::SUCCESS,
            Failure::Output(error) => ("", error.to_string(), FAILED),
            Failure::Data(message) => ("", message, FAILED),
            Failure::Usage(message) => (self.usage, message, MISUSED),
            Failure::WrongFiles(message) => (self.usage, message, FAILED),
        };
        // What was written before a failure still counts.
        let _ = session.flush();
        session.say_plainly(&format!("{usage}{}: error: {message}\n", self.name));
        code.into()
    }

    /// Reads a command line, and hands out its files and the options of the program's own in their order. The result is
    /// the words that mean nothing, or None if help or the version was asked for, which is printed then.
    pub(super) fn read_words<T: Copy>(
        &self,
        options: &[Declared<T>],
        words: &[OsString],
        session: &Session,
        mut take: impl FnMut(Given<T>) -> Result<(), Failure>,
    ) -> Result<Option<Vec<OsString>>, Failure> {
        let words = argparse::read(options, words).map_err(Failure::Usage)?;
        for given in words.given {
            let asked = match given {
                Given::Option(Meaning::Help, _) => format!("{}\n{}", self.usage, self.help),
                Given::Option(Meaning::Version, _) => format!("{}-{VERSION}\n", self.name),
                Given::Option(Meaning::Own(meaning), value) => {
                    take(Given::Option(meaning, value))?;
                    continue;
                }
                Given::Positional(file) => {
                    take(Given::Positional(file))?;
                    continue;
                }
            };
            session.stdout().write_all(asked.as_bytes())?;
            return Ok(None);
        }
        Ok(Some(words.unrecognized))
    }

    /// Reads a file.
    pub(super) fn read(&self, path: &Path, session: &Session) -> Result<Input, Failure> {
        let input = session.read(path).map_err(|error| {
            let name = quoted(&path.to_string_lossy());
            Failure::Data(match &error.kind {
                InputErrorKind::NotFound => format!("[Errno 2] No such file or directory: {name}"),
                InputErrorKind::NoPermission => format!("[Errno 13] Permission denied: {name}"),
                InputErrorKind::IsDirectory => format!("[Errno 21] Is a directory: {name}"),
                InputErrorKind::Read(error) => format!("{}: {name}", reason(error)),
                InputErrorKind::TooLarge { .. } | InputErrorKind::NoMemory => error.to_string(),
            })
        })?;
        match &input.damage {
            Some(damage) => Err(Failure::Data(format!("{}: {damage}", printable_path(path)))),
            None => Ok(input),
        }
    }
}

/// The value of `--mod-filename` or `--mod-funcname`.
pub(super) fn substitution(option: &str, value: &OsString) -> Result<Substitution, Failure> {
    let text = value.to_string_lossy();
    Substitution::parse(&text).map_err(|error| {
        let error = error.to_string();
        Failure::Usage(format!(
            "argument {option}: invalid regex value: {}: {}",
            quoted(&text),
            printable(error.as_bytes())
        ))
    })
}

/// What is wrong where there are words that mean nothing.
pub(super) fn unrecognized<W: Display>(words: impl Iterator<Item = W>) -> Result<(), Failure> {
    let words: Vec<String> = words.map(|word| printable(word.to_string().as_bytes()).into_owned()).collect();
    if words.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!("unrecognized arguments: {}", words.join(" "))))
}

/// What is wrong where files should be named and are not.
pub(super) fn missing(names: &[&str]) -> Failure {
    Failure::Usage(format!("the following arguments are required: {}", names.join(", ")))
}

/// What is wrong where files were recorded with different events.
pub(super) fn different_events() -> Failure {
    Failure::Data("events in data files don't match".to_owned())
}

/// Every row has a number for each event. A small file made to do harm names a million of them, and would fill the disk.
pub(super) fn check_size(rows: usize, events: usize) -> Result<(), Failure> {
    const MOST_NUMBERS: usize = 1 << 31;
    if rows.saturating_mul(events) > MOST_NUMBERS {
        return Err(Failure::Data(format!("{events} events are too many for {rows} lines")));
    }
    Ok(())
}
