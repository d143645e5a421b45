//! The reasons why a question has no answer.

use std::fmt;

use gristmill_output::printable;
use gristmill_profile::compare::CompareError;
use gristmill_report::ViewError;

/// The reason why a question has no answer: one sentence. See the example of [the crate](crate).
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The view cannot be made: an unknown event type, or nothing is selected.
    View(ViewError),
    /// No function has that id.
    UnknownFunction(u32),
    /// A text is no pattern.
    Pattern {
        /// The text.
        text: String,
        /// The reason.
        reason: String,
    },
    /// A text of the scope cannot be read.
    Scope {
        /// The name of the member.
        member: &'static str,
        /// The text.
        text: String,
        /// The reason.
        reason: String,
    },
    /// No cost has the address of an instruction.
    NoAddresses,
    /// Inlined functions are shown, and machine code is that of recorded ones. A page without a server shows none.
    #[cfg(not(target_family = "wasm"))]
    Inlined,
    /// There is no base to compare with.
    NoBase,
    /// Functions are hidden, focused on or left out, or calls are cut, which a comparison does not know.
    NotCompared,
    /// The sides cannot be compared.
    Compare(CompareError),
    /// No function is meant, for this reason.
    NoSuchFunction(String),
    /// The profile has no source file of this path.
    NoSuchFile(String),
    /// A question for source names neither a function nor a file.
    NothingToShow,
    /// The finders of sources and programs no longer work.
    NoFiles,
    /// The page no longer waits for the answer.
    Cancelled,
    /// The answer cannot be written, for this reason.
    Write(String),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &str| printable(text.as_bytes()).into_owned();
        match self {
            Refusal::View(error) => f.write_str(&shown(&error.to_string())),
            Refusal::UnknownFunction(id) => {
                write!(f, "there is no function with the id {id}: the profile was loaded again")
            }
            Refusal::Pattern { text, reason } => {
                write!(f, "`{}` is not a valid pattern: {}", shown(text), shown(reason))
            }
            Refusal::Scope { member, text, reason } => {
                write!(f, "{member}: `{}`: {}", shown(text), shown(reason))
            }
            Refusal::NoAddresses => f.write_str(
                "no cost has the address of an instruction: record with gristmill record --dump-instr=yes, or with \
                 valgrind --tool=callgrind --dump-instr=yes, and --collect-jumps=yes for jumps",
            ),
            #[cfg(not(target_family = "wasm"))]
            Refusal::Inlined => f.write_str(
                "machine code is that of functions as they were recorded: start gristmill view without --inlined to see it",
            ),
            Refusal::NoBase => f.write_str("there is nothing to compare with: start gristmill view with --base FILE"),
            Refusal::NotCompared => {
                f.write_str("a comparison does not know hidden functions, functions that are left out, focus and cut calls: remove them")
            }
            Refusal::Compare(error) => f.write_str(&shown(&error.to_string())),
            Refusal::NoSuchFunction(reason) => f.write_str(&shown(reason)),
            Refusal::NoSuchFile(path) => write!(f, "the profile has no source file `{}`", shown(path)),
            Refusal::NothingToShow => f.write_str("choose a function or a source file"),
            Refusal::NoFiles => f.write_str("sources and programs can no longer be read: start gristmill view again"),
            Refusal::Cancelled => f.write_str("the question was cancelled"),
            Refusal::Write(reason) => write!(f, "the answer cannot be written: {}", shown(reason)),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<ViewError> for Refusal {
    fn from(error: ViewError) -> Self {
        Refusal::View(error)
    }
}
