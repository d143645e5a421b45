//! The exit status of the program.

use std::process::ExitCode;

/// The exit status of a command. The numbers are a promise to scripts. Besides these there are
/// 128 and the number of a signal, such as 130 for Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    /// Done, nothing found.
    Success = 0,
    /// Done, and the check found something.
    Findings = 1,
    /// Something could not be done.
    Failure = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
