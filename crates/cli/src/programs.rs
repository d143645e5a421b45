//! The programs that a profile names: its objects.
//!
//! [`ProgramFinder`] opens them with the library `gristmill-code`, which looks up a program at the path that `--binary` gives,
//! then at the path as the profile has it, and its debug information by build id and by name below `--debuginfo-dir` and
//! `/usr/lib/debug`. What it opens, and what servers are asked for, is decided by [`files`].
//!
//! [`ProgramFinder::binary`] is for any command that asks for symbols, lines or inlined functions;
//! [`ProgramFinder::matched`] compares a program with a profile first. The trait [`Programs`] makes both one for reports.

mod debuginfod;
mod decoding;
mod files;
mod http;
mod maps;
mod program;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use gristmill_code::{Binary, Error, ErrorKind, Locator, Matching, ProfileLine, Syntax};
use gristmill_report::program::{Evidence, Program, ProgramError, Programs};

use self::debuginfod::Debuginfod;
pub(crate) use self::decoding::DecodableBytes;
use self::files::ProgramFiles;
pub(crate) use self::maps::{MapUse, warn_of_unused_maps};
use self::maps::{check_maps, parts_of_map};
use self::program::MatchedProgram;
use crate::args::ProgramArgs;
use crate::confined::Confinement;
use crate::error::CliError;

/// The limit of bytes that are decoded to compare a program with a profile: a few milliseconds. Functions that are shown are compared
/// again, each on its own.
const MAX_DECODED_BYTES: u64 = 128 << 10;

type Opened = Result<Arc<Binary>, ProgramError>;

/// The finder of programs. Each is opened once, also if a profile has several spellings of its path.
pub(crate) struct ProgramFinder {
    locator: Locator,
    syntax: Syntax,
    opened: RefCell<HashMap<Vec<u8>, Opened>>,
    /// By path without links, as a profile can spell one path in many ways.
    by_place: RefCell<HashMap<PathBuf, Opened>>,
}

impl ProgramFinder {
    /// Creates a finder. `sources_below` are the values of that option, which hold for programs as well unless
    /// `--programs-below` is given.
    ///
    /// # Errors
    ///
    /// If an option is not valid.
    pub(crate) fn new(args: &ProgramArgs, sources_below: &[PathBuf]) -> Result<Self, CliError> {
        let (option, below) = match args.programs_below.as_slice() {
            [] => ("--sources-below", sources_below),
            below => ("--programs-below", below),
        };
        let options = "`--programs-below` or `--sources-below`";
        let below = Confinement::new(option, below, options)?;
        let servers = if args.debuginfod { Some(Debuginfod::from_environment()?) } else { None };
        check_maps(args, &below)?;
        let mut locator = Locator::new(ProgramFiles::new(below, servers));
        // Later ones come first. Of maps, the first on the command line does.
        for map in args.binary.iter().rev() {
            let (from, to) = parts_of_map(map)?;
            locator = locator.map(from, to);
        }
        for directory in &args.debuginfo_dir {
            // It may be the root of a system.
            let system = Locator::SYSTEM_DEBUG_DIRECTORY.trim_start_matches('/');
            locator = locator.debug_directory(directory).debug_directory(directory.join(system));
        }
        locator = locator.debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
        Ok(ProgramFinder {
            locator,
            syntax: Syntax::default(),
            opened: RefCell::default(),
            by_place: RefCell::default(),
        })
    }

    /// The same finder, with another way to write instructions.
    #[must_use]
    pub(crate) fn with_syntax(self, syntax: Syntax) -> Self {
        ProgramFinder { syntax, ..self }
    }

    /// Opens the program of an object, by its path in the profile.
    ///
    /// # Errors
    ///
    /// If there is no such program, or it cannot be read.
    pub(crate) fn binary(&self, object: &[u8]) -> Opened {
        if object.is_empty() || object == b"???" {
            return Err(ProgramError::Unnamed);
        }
        if let Some(known) = self.opened.borrow().get(object) {
            return known.clone();
        }
        let found = match path_of(object) {
            Some(path) => self.binary_at(&path),
            None => Err(ProgramError::Missing),
        };
        self.opened.borrow_mut().insert(object.to_vec(), found.clone());
        found
    }

    /// Opens the program at a path, or takes the one that was opened at another spelling of it.
    fn binary_at(&self, path: &Path) -> Opened {
        let open = || Binary::open(path, &self.locator).map(Arc::new).map_err(|error| failure(&error));
        let place = self.locator.candidates(path).into_iter().find_map(|path| path.canonicalize().ok());
        let Some(place) = place else { return open() };
        if let Some(known) = self.by_place.borrow().get(&place) {
            return known.clone();
        }
        let found = open();
        self.by_place.borrow_mut().insert(place, found.clone());
        found
    }

    /// Opens the program of an object, and compares it with what the profile says of it.
    ///
    /// # Errors
    ///
    /// If there is no such program, or it or its debug information cannot be read.
    pub(crate) fn matched(
        &self,
        object: &[u8],
        lines: &[ProfileLine<'_>],
    ) -> Result<(Arc<Binary>, Matching), ProgramError> {
        let binary = self.binary(object)?;
        let matching =
            Matching::with_limit(&binary, lines, MAX_DECODED_BYTES).map_err(|error| failure(&error))?;
        Ok((binary, matching))
    }
}

impl Programs for ProgramFinder {
    fn get(&self, object: &[u8], evidence: &[Evidence<'_>]) -> Result<Rc<dyn Program>, ProgramError> {
        let (binary, matching) = self.matched(object, &profile_lines(evidence))?;
        Ok(Rc::new(MatchedProgram::new(binary, matching, self.syntax)))
    }
}

/// The evidence as the library takes it.
pub(crate) fn profile_lines<'p>(evidence: &[Evidence<'p>]) -> Vec<ProfileLine<'p>> {
    let line = |it: &Evidence<'p>| ProfileLine { address: it.address, function: it.function, line: it.line };
    evidence.iter().map(line).collect()
}

/// An error of the library as reports show it.
fn failure(error: &Error) -> ProgramError {
    match error.kind() {
        ErrorKind::NotFound { .. } => ProgramError::Missing,
        ErrorKind::Unreadable(reason) => ProgramError::Unreadable(format!("{}: {reason}", error.file())),
        _ => {
            let text = error.to_string();
            let reason = text.strip_prefix(&format!("{}: ", error.file())).unwrap_or(&text).to_owned();
            ProgramError::Invalid { path: error.file().to_owned(), reason }
        }
    }
}

/// A path of a profile as one of this machine.
#[cfg(unix)]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(PathBuf::from(std::ffi::OsStr::from_bytes(bytes)))
}

/// A path of a profile as one of this machine, where paths are Unicode.
#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
}
