//! The native engine: what it is asked for, what it refuses, and the process that it runs in.
//!
//! The starter runs this program in place of Valgrind, with the options that Valgrind would get and one before them.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod recorder;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::RecordArgs;

/// The first option of the process that the engine runs in.
pub(crate) const MARK: &str = "--native-engine-of-gristmill";

/// The program that the starter runs.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// Returns why the engine cannot do what is asked, if it cannot.
pub(crate) fn refusal(args: &RecordArgs, program: &Path) -> Option<String> {
    if let Some(option) = args.unknown_to_native() {
        return Some(format!("it has no {option} yet"));
    }
    refusal_of_program(program)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
pub(crate) fn refusal_of_program(program: &Path) -> Option<String> {
    let invocation = gristmill_engine::Invocation::find(program, vec![program.as_os_str().to_owned()]);
    gristmill_engine::check(&invocation.program).err().map(|refusal| refusal.to_string())
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
pub(crate) fn refusal_of_program(_program: &Path) -> Option<String> {
    Some("it needs Linux on a processor of the kind x86-64".to_owned())
}

/// Returns the path of a request to a process, by that of its messages.
pub(crate) fn request_path(messages: &Path) -> PathBuf {
    with(messages, ".request")
}

/// Returns the path of the answer.
pub(crate) fn answer_path(messages: &Path) -> PathBuf {
    with(messages, ".answer")
}

/// Returns the path of a file that is there if the profile could not be written.
pub(crate) fn failure_path(messages: &Path) -> PathBuf {
    with(messages, ".failure")
}

/// Returns the command of a program that took the place of another one, if the words of its process are those of one.
pub(crate) fn command_in_place(words: &[OsString]) -> Option<Vec<OsString>> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        let mark = words.iter().position(|word| word == gristmill_engine::Inherited::MARK)?;
        let inherited = gristmill_engine::Inherited::parse(&words[mark + 1..])?;
        let rest = inherited.words.into_iter().skip(1);
        Some([inherited.path.into_os_string()].into_iter().chain(rest).collect())
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = words;
        None
    }
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(end);
    path.into()
}

/// Writes a file that is complete when it is there.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = with(path, ".new");
    std::fs::write(&new, text)?;
    std::fs::rename(new, path)
}

/// Becomes a program in place of Valgrind, with options of this engine and the log that Valgrind would write. Returns the reason if that
/// is not possible; then nothing has happened.
pub(crate) fn run_as_valgrind(mut options: Vec<OsString>, is_quiet: bool, program: &[OsString]) -> String {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    {
        options.push(process::log_style(is_quiet));
        options.push("--".into());
        options.extend(program.iter().cloned());
        process::start(&options)
    }
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = (&mut options, is_quiet, program);
        "it needs Linux on a processor of the kind x86-64".to_owned()
    }
}

/// `true` if a process can be woken up. It cannot while it begins.
pub(crate) fn can_wake(process: u32) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return gristmill_engine::can_wake(process);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = process;
        true
    }
}

/// Lets a process look for a request. `false` if it has ended.
pub(crate) fn wake(process: u32) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return gristmill_engine::wake(process);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = process;
        false
    }
}

/// Runs as the engine, if the words say so. It returns only if the program could not be started.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let [_, mark, arguments @ ..] = words else { return None };
    if mark != OsStr::new(MARK) {
        return None;
    }
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    let code = process::run(arguments);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    let code = {
        let _ = arguments;
        crate::starter::NOT_STARTED.into()
    };
    Some(code)
}
