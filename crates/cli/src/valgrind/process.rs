//! Processes under Valgrind, as `/proc` shows them. Other systems than Linux do not tell.

use std::path::Path;

/// The beginning of the name of the program that a process runs while Callgrind records it.
pub(crate) const RECORDER: &str = "callgrind-";

/// The beginning of the name of the launcher of Valgrind.
const LAUNCHER: &str = "valgrind";

/// `true` if Callgrind records a process.
pub(crate) fn is_recorded(process: u32) -> bool {
    executable(process).is_some_and(|name| name.starts_with(RECORDER))
}

/// `true` if Callgrind records a process, or is about to: Valgrind starts what a recorded program becomes by its launcher.
pub(crate) fn is_recorded_or_begins(process: u32) -> bool {
    executable(process).is_some_and(|name| name.starts_with(RECORDER) || name.starts_with(LAUNCHER))
}

/// `true` if a process runs this program, as one does that the native engine records.
pub(crate) fn runs_own_program(process: u32) -> bool {
    executable(process).is_some_and(|name| Some(name) == executable(std::process::id()))
}

/// Returns the file name of what a process runs; none for one that has ended.
pub(crate) fn executable(process: u32) -> Option<String> {
    let link = Path::new("/proc").join(process.to_string()).join("exe");
    let program = std::fs::read_link(link).ok()?;
    Some(program.file_name()?.to_string_lossy().into_owned())
}
