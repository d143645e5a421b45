//! Reasons why callgrind_annotate refuses a profile.

use std::fmt;
use std::io;

use gristmill_output::printable;
use gristmill_profile::OverBudget;

/// A reason why there is no report. Most are those of the original.
///
/// ```
/// use gristmill_compat::callgrind_annotate::exact::{ExactError, ExactOptions, ExactReport};
///
/// let options = ExactOptions::new("callgrind.out.1".to_owned());
/// let error = ExactReport::new(b"events: Ir\nfl=mill.c\nfn=main\n16 400 5\n", &options).unwrap_err();
/// assert!(matches!(error, ExactError::TooManyCosts(4)));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum ExactError {
    /// The version of the format is above 1.
    TooNew(Vec<u8>),
    /// There is no `events:` line up to this line.
    NoEvents(u64),
    /// This line has more costs than there are event types.
    TooManyCosts(u64),
    /// This line names the file of inlined code before the first function.
    UnexpectedFile(u64),
    /// There is no event type of this name.
    UnknownEvent {
        /// The option that names it.
        option: &'static str,
        /// The name.
        name: String,
    },
    /// The tables would take much more memory than the profile.
    OverBudget(OverBudget),
    /// The output cannot be written.
    Io(io::Error),
}

impl fmt::Display for ExactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExactError::TooNew(version) => {
                write!(f, "version {} of the format is not known here", printable(version))
            }
            ExactError::NoEvents(line) => write!(f, "line {line}: missing events line"),
            ExactError::TooManyCosts(line) => write!(f, "line {line}: more costs than event types"),
            ExactError::UnexpectedFile(line) => write!(f, "line {line}: `fi=` or `fe=` before `fn=`"),
            ExactError::UnknownEvent { option, name } => {
                write!(f, "{option} event `{}' did not appear in input", printable(name.as_bytes()))
            }
            ExactError::OverBudget(over) => write!(f, "costs and names {over}"),
            ExactError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ExactError {}

impl From<OverBudget> for ExactError {
    fn from(over: OverBudget) -> Self {
        ExactError::OverBudget(over)
    }
}

impl From<io::Error> for ExactError {
    fn from(error: io::Error) -> Self {
        ExactError::Io(error)
    }
}
