//! The exit status of the program.

use std::process::ExitCode;

/// The exit status of a command. The numbers are a promise to scripts. Besides these there are
/// 128 and the number of a signal, such as 130 for Ctrl-C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ExitStatus {
    /// Done, nothing found.
    Success,
    /// Done, and the check found something.
    Findings,
    /// Something could not be done.
    Failure,
    /// A program was recorded, and this is its status.
    OfProgram(u8),
    /// A program was recorded, and this signal ended it.
    #[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has signals that end a program"))]
    OfSignal(u8),
}

/// The status of a program that a signal ended is this and the number of the signal, as shells have it.
const SIGNAL_STATUS: u8 = 128;

impl ExitStatus {
    /// Returns the number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Findings => 1,
            Self::Failure => 2,
            Self::OfProgram(code) => code,
            Self::OfSignal(signal) => SIGNAL_STATUS | signal,
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}
