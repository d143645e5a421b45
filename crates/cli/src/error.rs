//! The one error of the program: what went wrong, with which file, and what to do about it.

use std::error::Error as _;
use std::fmt;
use std::io;

use gristmill_format::ErrorKind;

use crate::input::{InputError, reason};
use crate::output::OutputError;

/// Ends a command. Shown as `gristmill: FILE: message`, with the hint on a line of its own.
#[derive(Debug)]
pub(crate) enum CliError {
    Input(InputError),
    Output(OutputError),
    /// Writing to standard output failed. A reader that has gone away (a broken pipe) is no error to `main`.
    Stdout(io::Error),
    /// A profile that cannot be read or carried over, with the place in it.
    Profile {
        message: String,
        hint: Option<String>,
    },
    /// The options are valid one by one but not together, or not with these files.
    Usage {
        message: String,
        hint: Option<String>,
    },
}

impl CliError {
    /// A failure of the place that a writer of the library writes to, if it is one: one of standard output, as far as is
    /// known here. For a file, `output` knows better.
    pub(crate) fn of_sink(error: &gristmill_format::Error) -> Option<Self> {
        if error.kind() != ErrorKind::Io {
            return None;
        }
        let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
        Some(Self::Stdout(match source {
            Some(source) => match source.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(source.kind(), source.to_string()),
            },
            None => io::Error::other(error.to_string()),
        }))
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Input(error) => error.hint(),
            Self::Output(error) => error.hint(),
            Self::Stdout(_) => None,
            Self::Profile { hint, .. } | Self::Usage { hint, .. } => hint.clone(),
        }
    }

    /// Whether the reader of our output has had enough, as in `gristmill info … | head`.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Stdout(error) => error.kind() == io::ErrorKind::BrokenPipe,
            Self::Output(error) => error.is_broken_pipe(),
            Self::Input(_) | Self::Profile { .. } | Self::Usage { .. } => false,
        }
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Output(error) => error.fmt(f),
            Self::Stdout(error) => write!(f, "standard output: {}", reason(error)),
            Self::Profile { message, .. } | Self::Usage { message, .. } => f.write_str(message),
        }
    }
}

impl std::error::Error for CliError {}

impl From<InputError> for CliError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<OutputError> for CliError {
    fn from(error: OutputError) -> Self {
        Self::Output(error)
    }
}

/// A command that meets an `io::Error` by itself was writing its report: files go through `input` and `output`, which
/// have errors of their own.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        Self::Stdout(error)
    }
}
