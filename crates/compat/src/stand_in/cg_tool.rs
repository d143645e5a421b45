//! The common ground of cg_annotate, cg_diff and cg_merge: reading files, failures and exit codes.

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use gristmill_output::{printable, printable_path};
use gristmill_profile::InputBytes;

use super::argparse::{self, Declared, Given, Meaning, quoted};
use super::{Host, Outcome, ReadError, output_error};
use crate::{CachegrindError, Substitution};

/// The version of the replaced programs.
const VERSION: &str = "3.28.0";

/// The exit code of a program that could not do what it was asked for.
const FAILED: u8 = 1;
/// The exit code for a wrong command line.
const MISUSED: u8 = 2;

/// One of the programs.
pub(super) struct Tool {
    pub(super) name: &'static str,
    /// The text before the error of a wrong command line.
    pub(super) usage: &'static str,
    /// The text after the usage when help is asked for.
    pub(super) help: &'static str,
}

/// The reason why a program ends without its result.
#[derive(Debug)]
pub(super) enum Failure {
    /// The command line is wrong.
    Usage(String),
    /// The number of files is wrong. The exit code is that of other failures.
    WrongFiles(String),
    /// A file is wrong, or what was asked of it.
    Data(String),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    /// The failure of a file that the original would refuse.
    pub(super) fn refused(path: &Path, error: &CachegrindError) -> Self {
        Failure::Data(format!("{}:{}: {error}", printable_path(path), error.line))
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Output(error)
    }
}

impl Tool {
    /// Runs the program and makes its outcome.
    pub(super) fn run(
        &self,
        out: &mut dyn Write,
        run: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
    ) -> Outcome {
        let result = run(&mut *out);
        // Text that was written before a failure counts.
        let flushed = out.flush();
        let (usage, message, code) = match result.and(flushed.map_err(Failure::Output)) {
            Ok(()) => return Outcome::SUCCESS,
            Err(Failure::Output(error)) => match output_error(&error) {
                Some(message) => ("", message, FAILED),
                None => return Outcome::SUCCESS,
            },
            Err(Failure::Data(message)) => ("", message, FAILED),
            Err(Failure::Usage(message)) => (self.usage, message, MISUSED),
            Err(Failure::WrongFiles(message)) => (self.usage, message, FAILED),
        };
        Outcome { code, message: format!("{usage}{}: error: {message}\n", self.name) }
    }

    /// Reads a command line and passes its files and the program's own options on in their order. Returns the unknown
    /// words, or `None` if help or the version was asked for, which is then written.
    pub(super) fn read_words<T: Copy>(
        &self,
        options: &[Declared<T>],
        words: &[OsString],
        out: &mut dyn Write,
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
            out.write_all(asked.as_bytes())?;
            return Ok(None);
        }
        Ok(Some(words.unrecognized))
    }
}

/// Reads a file.
pub(super) fn read(path: &Path, host: &dyn Host) -> Result<InputBytes, Failure> {
    host.read(path).map_err(|error| {
        let name = quoted(&path.to_string_lossy());
        Failure::Data(match error {
            ReadError::NotFound => format!("[Errno 2] No such file or directory: {name}"),
            ReadError::NoPermission => format!("[Errno 13] Permission denied: {name}"),
            ReadError::IsDirectory => format!("[Errno 21] Is a directory: {name}"),
            ReadError::Io(reason) => format!("{reason}: {name}"),
            ReadError::Damaged(damage) => format!("{}: {damage}", printable_path(path)),
            ReadError::Other(message) => message,
        })
    })
}

/// Parses the value of `--mod-filename` or `--mod-funcname`.
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

/// Refuses unknown words.
pub(super) fn unrecognized<W: Display>(words: impl Iterator<Item = W>) -> Result<(), Failure> {
    let words: Vec<String> = words.map(|word| printable(word.to_string().as_bytes()).into_owned()).collect();
    if words.is_empty() {
        return Ok(());
    }
    Err(Failure::Usage(format!("unrecognized arguments: {}", words.join(" "))))
}

/// The failure of a command line that names too few files.
pub(super) fn missing(names: &[&str]) -> Failure {
    Failure::Usage(format!("the following arguments are required: {}", names.join(", ")))
}

/// The failure of files that were recorded with different event types.
pub(super) fn different_events() -> Failure {
    Failure::Data("events in data files don't match".to_owned())
}

/// Refuses a result that a small hostile file would make fill the disk: a row for each line, with a number for each of a
/// million event types.
pub(super) fn check_size(rows: usize, events: usize) -> Result<(), Failure> {
    const MAX_NUMBERS: usize = 1 << 31;
    if rows.saturating_mul(events) > MAX_NUMBERS {
        return Err(Failure::Data(format!("{events} events are too many for {rows} lines")));
    }
    Ok(())
}
