//! The folders of the workspace, and calls of other programs.

use std::error::Error;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::failure::{Context as _, Failure};

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The folder that cargo builds in; the environment may set it.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The cargo that runs this task, at the root of the workspace.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// The platform that programs are built for here, as the compiler names it.
pub(crate) fn platform() -> Result<String, Failure> {
    let output = Command::new("rustc").arg("-vV").output().context(|| "cannot run rustc".to_owned())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| Failure::new("rustc -vV names no host"))
}

/// Writes a file that appears only when it is complete.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), Box<dyn Error>>,
) -> Result<(), Failure> {
    let unfinished = path.with_extension("unfinished");
    let mut file = File::create(&unfinished).context(|| format!("cannot create {}", unfinished.display()))?;
    write(&mut file).context(|| format!("cannot write {}", unfinished.display()))?;
    std::fs::rename(&unfinished, path).context(|| format!("cannot rename to {}", path.display()))
}

/// Runs a program with its output passed through; an exit code other than 0 is a failure.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.status().context(|| format!("cannot run {}", shown(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::new(format!("{} ended with {status}", shown(command))))
    }
}

/// The command as it would be typed.
pub(crate) fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words: Vec<_> =
        std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy).collect();
    words.join(" ")
}
