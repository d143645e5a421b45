//! The error of commands: a message that names the file, and a hint.

use std::error::Error as _;
use std::fmt;
use std::io;

use gristmill_format::ErrorKind;

use crate::input::{InputError, reason};
use crate::limited_writer::TooLong;
use crate::output::OutputError;

/// An error that ends a command. It is shown as `gristmill: FILE: message`, with the hint on its own line.
#[derive(Debug)]
pub(crate) enum CliError {
    Input(InputError),
    Output(OutputError),
    /// A failure to write to standard output. `main` ignores a broken pipe.
    Stdout(io::Error),
    /// A profile that cannot be read or converted, with the location.
    Profile {
        message: String,
        hint: Option<String>,
    },
    /// Options that are not valid together, or not with these files.
    Usage {
        message: String,
        hint: Option<String>,
    },
}

impl CliError {
    /// Converts an I/O error of a writer of the library into one of standard output. For a file, `output` replaces it.
    pub(crate) fn from_sink(error: &gristmill_format::Error) -> Option<Self> {
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

    /// `true` if the reader of the output has closed it, as in `gristmill info … | head`.
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

/// An `io::Error` in a command is one of standard output: files go through `input` and `output`, which have other errors.
impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        match TooLong::from_io(&error) {
            Some(too_long) => Self::Profile {
                message: too_long.to_string(),
                hint: Some("show fewer rows with --limit, or only some functions".to_owned()),
            },
            None => Self::Stdout(error),
        }
    }
}
