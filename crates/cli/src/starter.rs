//! The process that becomes the recorded program: this program under another name. It does what only that process can do, and then runs
//! Valgrind in its place, with the same process id.
//!
//! It ends with the process that records it, and knows the process id that is in the names of the files.

use std::ffi::{OsStr, OsString};
use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::args::GlobalArgs;
use crate::error::CliError;
use crate::input::reason;
use crate::interrupt;
use crate::output_name::OutputName;
use crate::session::Session;
use crate::terminal::printable_path;

/// The name by which this program is the starter.
const NAME: &str = "gristmill: starter";

/// The exit status of a starter that could not start Valgrind, and has said why. Programs that start others have it for that.
pub(crate) const NOT_STARTED: u8 = 125;

/// A word for each answer to whether existing files are overwritten.
const OVERWRITE: &str = "overwrite";
const KEEP: &str = "keep";

/// A word for each answer to whether the end of children is ignored, as by who started this program.
const IGNORE: &str = "ignore children";
const EXPECT: &str = "expect children";

/// The start of a program that is recorded.
#[derive(Debug)]
pub(crate) struct Start<'s> {
    pub(crate) valgrind: &'s Path,
    pub(crate) arguments: &'s [OsString],
    /// The names of the files, as the user gave them.
    pub(crate) pattern: &'s OsStr,
    /// `true` if existing files are overwritten.
    pub(crate) overwrites: bool,
}

impl Start<'_> {
    /// Builds the command.
    pub(crate) fn command(&self) -> Command {
        let Some(own) = own_program() else {
            let mut command = Command::new(self.valgrind);
            command.args(self.arguments);
            return command;
        };
        let mut command = Command::new(own);
        #[cfg(unix)]
        std::os::unix::process::CommandExt::arg0(crate::pipe_signal::keep(&mut command), NAME);
        command
            .arg(std::process::id().to_string())
            .arg(if self.overwrites { OVERWRITE } else { KEEP })
            .arg(if interrupt::ignored_children() { IGNORE } else { EXPECT })
            .arg(self.pattern)
            .arg(self.valgrind)
            .args(self.arguments);
        command
    }
}

/// Builds a command that ends with this process, where the system has that.
pub(crate) fn tied(program: &Path, arguments: &[OsString]) -> Command {
    Start { valgrind: program, arguments, pattern: OsStr::new(""), overwrites: true }.command()
}

/// Returns the file of this program. On Linux the link leads to it even if it was removed or replaced.
fn own_program() -> Option<PathBuf> {
    let link = Path::new("/proc/self/exe");
    if cfg!(unix) && link.exists() { Some(link.to_owned()) } else { None }
}

/// Runs as the starter, if the first word is its name. It returns only if the program could not be started.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let [name, parent, overwriting, children, pattern, valgrind, arguments @ ..] = words else { return None };
    if name != NAME {
        return None;
    }
    let session = Session::new(&GlobalArgs::plain());
    let failed = Some(NOT_STARTED.into());
    if !ends_with(parent) {
        session.report(&CliError::Usage {
            message: "nothing was recorded: the process that records has ended".to_owned(),
            hint: None,
        });
        return failed;
    }
    let claimed = match overwriting == KEEP {
        true => claim(pattern),
        false => Ok(None),
    };
    let claimed = match claimed {
        Ok(claimed) => claimed,
        Err(error) => {
            session.report(&error);
            return failed;
        }
    };
    if children == IGNORE {
        interrupt::ignore_children();
    }
    let error = become_program(Command::new(valgrind).args(arguments));
    if let Some(path) = claimed {
        // It is empty.
        let _ = std::fs::remove_file(path);
    }
    session.report(&CliError::Usage {
        message: format!("{} could not be run: {}", printable_path(Path::new(valgrind)), reason(&error)),
        hint: None,
    });
    failed
}

/// Creates the file of the program, as Callgrind will, so that another recording of that name finds it. Refuses if there is a file that
/// this one would overwrite, or mix with its own. Devices and pipes may be written to.
fn claim(pattern: &OsStr) -> Result<Option<PathBuf>, CliError> {
    let Ok(name) = OutputName::parse(pattern) else { return Ok(None) };
    let exists = |path: &Path| CliError::Usage {
        message: format!("{} already exists", printable_path(path)),
        hint: Some("choose another name with -o, or use --force to overwrite it".to_owned()),
    };
    let is_file = |path: &Path| path.metadata().is_ok_and(|metadata| metadata.is_file());
    let process = std::process::id();
    if let Some(existing) = name.files_of(process).into_iter().find(|path| is_file(path)) {
        return Err(exists(&existing));
    }
    let path = name.of_process(process);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(&path) {
        Ok(_) => Ok(Some(path)),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match is_file(&path) {
            true => Err(exists(&path)),
            false => Ok(None),
        },
        Err(error) => Err(CliError::Usage {
            message: format!("{} cannot be written: {}", printable_path(&path), reason(&error)),
            hint: Some("-o names another file".to_owned()),
        }),
    }
}

/// Lets this process end with the one that records it. Returns `false` if that has ended already.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn ends_with(parent: &OsStr) -> bool {
    use nix::sys::signal::Signal;

    // Where it is not possible, the program goes on alone, as it would without being recorded.
    let _ = nix::sys::prctl::set_pdeathsig(Signal::SIGKILL);
    parent.to_str() == Some(&nix::unistd::getppid().to_string())
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn ends_with(_parent: &OsStr) -> bool {
    true
}

/// Runs a program in place of this one. Returns only if that fails.
#[cfg(unix)]
pub(crate) fn become_program(command: &mut Command) -> std::io::Error {
    std::os::unix::process::CommandExt::exec(crate::pipe_signal::keep(command))
}

#[cfg(not(unix))]
pub(crate) fn become_program(_command: &mut Command) -> std::io::Error {
    std::io::ErrorKind::Unsupported.into()
}
