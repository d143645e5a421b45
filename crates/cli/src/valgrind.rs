//! The installed Valgrind: where it is, its version, and what keeps its counts the same from run to run.

pub(crate) mod handed_on;
mod in_place;
pub(crate) mod messages;
mod process;
mod randomisation;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub(crate) use self::process::{RECORDER, executable, is_recorded, runs_own_program};
pub(crate) use self::randomisation::{Randomisation, without_randomisation};
use crate::error::CliError;
use crate::input::reason;
use crate::terminal::printable_path;

/// The environment variable that names Valgrind.
pub(crate) const VARIABLE: &str = "GRISTMILL_VALGRIND";

/// The name of its program.
const NAME: &str = "valgrind";

/// Directories that are searched if the environment has no `PATH`.
const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The oldest version whose Callgrind is known to write what is read here.
const MIN_VERSION: Version = Version { major: 3, minor: 13 };

/// Text in each build of this program, also in a copy of it.
const OWN_MARK: &[u8] = b"GRISTMILL_VALGRIND";

/// Text in the launcher of Valgrind: the variable by which it names itself.
const LAUNCHER_MARK: &[u8] = b"VALGRIND_LAUNCHER";

/// The launcher is much smaller.
const MAX_LAUNCHER_BYTES: u64 = 4 << 20;

/// A script that is longer is no wrapper.
const MAX_SCRIPT_BYTES: u64 = 64 << 10;

/// An installed Valgrind.
#[derive(Debug)]
pub(crate) struct Valgrind {
    path: PathBuf,
}

impl Valgrind {
    /// Finds Valgrind: at a path that an option gives, at the one of the environment, or on the path.
    ///
    /// # Errors
    ///
    /// If there is none, with what to install.
    pub(crate) fn find(given: Option<&Path>) -> Result<Valgrind, CliError> {
        match given {
            Some(path) => Valgrind::named("--valgrind", path.as_os_str()),
            None => Valgrind::find_unless(|_| false),
        }
    }

    /// Finds Valgrind at the path of the environment, or on the path, but not one that is left out.
    fn find_unless(is_left_out: impl Fn(&Path) -> bool) -> Result<Valgrind, CliError> {
        if let Some(name) = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
            match Valgrind::named(VARIABLE, &name) {
                Ok(valgrind) if is_left_out(&valgrind.path) => {}
                found => return found,
            }
        }
        let mut found = candidates(OsStr::new(NAME), Path::new("")).filter(|path| !is_own(path));
        found.find(|path| !is_left_out(path)).map(|path| Valgrind { path }).ok_or_else(missing)
    }

    /// Finds the Valgrind that an option or variable names.
    fn named(by: &str, name: &OsStr) -> Result<Valgrind, CliError> {
        let shown = printable_path(Path::new(name)).into_owned();
        match find_program(name, Path::new("")) {
            Some(path) if is_own(&path) => Err(CliError::Usage {
                message: format!("{by}: {shown} is Gristmill under another name"),
                hint: Some("name the program of Valgrind".to_owned()),
            }),
            Some(path) => Ok(Valgrind { path }),
            None => Err(CliError::Usage {
                message: format!("{by}: there is no program {shown}"),
                hint: Some("name the program of Valgrind, such as /usr/bin/valgrind".to_owned()),
            }),
        }
    }

    /// Returns its path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// `true` if it is known to run no other Valgrind: its own launcher, or a script of a distribution, which runs `NAME.bin`.
    fn is_last(&self) -> bool {
        if let Some(text) = script(&self.path) {
            return memchr::memmem::find(&text, b".bin \"$@\"").is_some();
        }
        let mut bytes = Vec::new();
        let file = std::fs::File::open(&self.path);
        let read = file.and_then(|file| file.take(MAX_LAUNCHER_BYTES).read_to_end(&mut bytes));
        read.is_ok() && memchr::memmem::find(&bytes, LAUNCHER_MARK).is_some()
    }

    /// Finds another program of Valgrind: beside it, or on the path.
    pub(crate) fn tool(&self, name: &str) -> Option<PathBuf> {
        let resolved = std::fs::canonicalize(&self.path).ok();
        let directories = [Some(self.path.clone()), resolved].into_iter().flatten();
        let mut beside = directories.filter_map(|path| Some(path.parent()?.join(name)));
        beside
            .find(|path| is_program(path))
            .or_else(|| candidates(OsStr::new(name), Path::new("")).find(|path| is_program(path)))
    }

    /// Refuses a version that is too old, and a program that is no Valgrind.
    pub(crate) fn check_version(&self) -> Result<(), CliError> {
        let shown = printable_path(&self.path);
        let output =
            Command::new(&self.path).arg("--version").stdin(Stdio::null()).output().map_err(|error| {
                CliError::Usage {
                    message: format!("{shown} could not be run: {}", reason(&error)),
                    hint: Some(INSTALL_HINT.to_owned()),
                }
            })?;
        let version = Version::parse(&String::from_utf8_lossy(&output.stdout));
        match version.filter(|_| output.status.success()) {
            Some(version) if version >= MIN_VERSION => Ok(()),
            Some(version) => Err(CliError::Usage {
                message: format!("{shown} is version {version}; at least {MIN_VERSION} is needed"),
                hint: Some(INSTALL_HINT.to_owned()),
            }),
            None => Err(CliError::Usage {
                message: format!("{shown} does not say which version of Valgrind it is"),
                hint: Some(INSTALL_HINT.to_owned()),
            }),
        }
    }
}

const INSTALL_HINT: &str = "install a newer Valgrind, or name one with --valgrind or GRISTMILL_VALGRIND";

/// The error if there is no Valgrind.
fn missing() -> CliError {
    CliError::Usage {
        message: "Valgrind is needed, and there is no program `valgrind` on the path".to_owned(),
        hint: Some(
            match cfg!(unix) {
                true => {
                    "install the package valgrind of your system, or name the program with --valgrind or GRISTMILL_VALGRIND"
                }
                false => {
                    "Valgrind runs on Linux, FreeBSD, Solaris and macOS; record there, and read the profile here"
                }
            }
            .to_owned(),
        ),
    }
}

/// A version of Valgrind, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Version {
    major: u32,
    minor: u32,
}

impl Version {
    /// Parses the answer to `--version`, such as `valgrind-3.26.0.GIT`.
    fn parse(text: &str) -> Option<Version> {
        let (major, rest) = text.trim().strip_prefix("valgrind-")?.split_once('.')?;
        let minor = rest.split(|character: char| !character.is_ascii_digit()).next()?;
        Some(Version { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// Tells where Valgrind has options that are on no command line, if there may be any.
pub(crate) fn options_elsewhere() -> Option<&'static str> {
    let has_variable = std::env::var_os("VALGRIND_OPTS").is_some_and(|value| !value.is_empty());
    let home = std::env::var_os("HOME").map(|home| Path::new(&home).join(".valgrindrc"));
    let has_file = || Path::new(".valgrindrc").exists() || home.is_some_and(|path| path.exists());
    (has_variable || has_file()).then_some("options are in VALGRIND_OPTS or .valgrindrc")
}

/// Returns the path of a program, given by its path relative to a directory or by its name. The recorded command may run with
/// another `PATH`.
pub(crate) fn find_program(program: &OsStr, directory: &Path) -> Option<PathBuf> {
    if Path::new(program).components().nth(1).is_some() || Path::new(program).is_absolute() {
        let path = std::fs::canonicalize(directory.join(program)).ok()?;
        return is_program(&path).then_some(path);
    }
    candidates(program, directory).next()
}

/// Lists the programs of a name in the directories of `PATH`.
fn candidates(name: &OsStr, directory: &Path) -> impl Iterator<Item = PathBuf> {
    let directories = search_path().unwrap_or_else(|| DEFAULT_PATH.into());
    let mut name = name.to_owned();
    name.push(std::env::consts::EXE_SUFFIX);
    // An empty one is the working directory. A name without a directory would be searched on the path again.
    let searched = std::env::split_paths(&directories)
        .map(|searched| if searched.as_os_str().is_empty() { PathBuf::from(".") } else { searched });
    let paths: Vec<PathBuf> = searched.map(|searched| directory.join(searched).join(&name)).collect();
    paths.into_iter().filter(|path| is_program(path))
}

/// Returns `PATH`, if it is set.
pub(crate) fn search_path() -> Option<OsString> {
    std::env::var_os("PATH")
}

/// `true` if a path is a file that may be run.
pub(crate) fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && may_be_run(&metadata))
}

#[cfg(unix)]
fn may_be_run(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
fn may_be_run(_metadata: &std::fs::Metadata) -> bool {
    true
}

/// `true` if a program runs with the rights of another user or group.
#[cfg(unix)]
pub(crate) fn changes_user(path: &Path) -> bool {
    const SET_USER_OR_GROUP: u32 = 0o6000;
    let mode =
        path.metadata().map(|metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()));
    mode.is_ok_and(|mode| mode & SET_USER_OR_GROUP != 0)
}

#[cfg(not(unix))]
pub(crate) fn changes_user(_path: &Path) -> bool {
    false
}

/// `true` if a program is this one, through a link or as a copy, or a script that starts it.
fn is_own(path: &Path) -> bool {
    let resolved = std::fs::canonicalize(path);
    let own = std::env::current_exe().and_then(std::fs::canonicalize);
    if let (Ok(resolved), Ok(own)) = (&resolved, &own)
        && resolved == own
    {
        return true;
    }
    if let Some(text) = script(path) {
        return memchr::memmem::find(&text, b"gristmill").is_some();
    }
    // The launcher of Valgrind is small. A copy of this program, or a hard link to it, is not.
    let is_large = std::fs::metadata(path).is_ok_and(|metadata| metadata.len() > MAX_SCRIPT_BYTES);
    is_large && std::fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, OWN_MARK).is_some())
}

/// Returns the text of a script.
fn script(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(MAX_SCRIPT_BYTES).read_to_end(&mut bytes).ok()?;
    bytes.starts_with(b"#!").then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        let parse = |text: &str| Version::parse(text);
        assert_eq!(parse("valgrind-3.19.0\n"), Some(Version { major: 3, minor: 19 }));
        assert_eq!(parse("valgrind-3.26.0.codspeed6\n"), Some(Version { major: 3, minor: 26 }));
        assert_eq!(parse("valgrind-3.9.GIT").map(|version| version < MIN_VERSION), Some(true));
        assert_eq!(parse("valgrind-4.0.1").map(|version| version >= MIN_VERSION), Some(true));
        for other in ["", "gristmill 0.1.0", "valgrind-", "valgrind-x.y", "valgrind-3"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    #[test]
    fn a_copy_of_this_program_is_not_valgrind() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let own = std::env::current_exe().unwrap();
        std::fs::copy(&own, path("copy")).unwrap();
        std::fs::write(path("script"), "#!/bin/sh\nexec gristmill-as-valgrind \"$@\"\n").unwrap();
        std::fs::write(path("wrapper"), "#!/bin/sh -e\nexec $0.bin \"$@\"\n").unwrap();
        assert!(is_own(&own) && is_own(&path("copy")) && is_own(&path("script")));
        assert!(!is_own(&path("wrapper")) && !is_own(&path("none")));
    }
}
