//! The program as a stand-in for another one, by whose name it is called.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use gristmill_compat::stand_in::{Host, Program, ReadError};
use gristmill_output::source::Sources;
use gristmill_output::{Look, PrintableWriter, io_reason};
use gristmill_profile::{InputBytes, Profile};

use crate::args::GlobalArgs;
use crate::error::CliError;
use crate::input::InputErrorKind;
use crate::load;
use crate::output;
use crate::profile_files::{first_profile, modified, warn_of_doubts};
use crate::session::Session;
use crate::source_finder::SourceFinder;

/// Runs as the program that the first word names, if there is a stand-in for it.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let program = Program::from_word(words.first()?)?;
    let session = Session::new(&GlobalArgs::plain());
    let is_exact = match std::env::var_os(COMPAT).as_ref().map(|value| value.as_encoded_bytes()) {
        None | Some(b"" | b"corrected") => false,
        Some(b"exact") => true,
        Some(_) => {
            session.say_plainly(&format!("{COMPAT} is neither `corrected` nor `exact`\n"));
            return Some(ExitCode::FAILURE);
        }
    };
    let machine = Machine { session: &session, is_exact };
    let outcome = match program {
        Program::CgDiff | Program::CgMerge if session.look().is_terminal => {
            // They print a profile, which may hold any character.
            let mut stdout = session.stdout();
            let mut shown = PrintableWriter::new(&mut *stdout);
            program.run(words, &machine, &mut shown)
        }
        _ => program.run(words, &machine, &mut *session.stdout()),
    };
    if !outcome.message.is_empty() {
        session.say_plainly(&outcome.message);
    }
    Some(outcome.code.into())
}

/// The environment variable that says which numbers callgrind_annotate has: `corrected` or `exact`.
const COMPAT: &str = "GRISTMILL_COMPAT";

/// The files and the terminal of this machine.
struct Machine<'s> {
    session: &'s Session,
    is_exact: bool,
}

impl Host for Machine<'_> {
    fn read(&self, path: &Path) -> Result<InputBytes, ReadError> {
        let input = self.session.read(path).map_err(|error| match &error.kind {
            InputErrorKind::NotFound => ReadError::NotFound,
            InputErrorKind::NoPermission => ReadError::NoPermission,
            InputErrorKind::IsDirectory => ReadError::IsDirectory,
            InputErrorKind::Read(error) => ReadError::Io(io_reason(error)),
            InputErrorKind::TooLarge { .. } | InputErrorKind::NoMemory => ReadError::Other(error.to_string()),
        })?;
        match input.damage {
            Some(damage) => Err(ReadError::Damaged(damage)),
            None => Ok(input.bytes),
        }
    }

    fn open(&self, path: &Path) -> io::Result<()> {
        File::open(path).map(|_| ())
    }

    fn load(&self, path: &Path) -> Result<Profile, String> {
        load::profile_of(&[path.to_owned()], self.session).map_err(|error| error.to_string())
    }

    fn report_doubts(&self, profile: &Profile) {
        warn_of_doubts(profile, self.session);
    }

    fn warn(&self, message: &str) {
        self.session.warn(message);
    }

    fn is_exact(&self) -> bool {
        self.is_exact
    }

    fn find_profile(&self) -> Option<PathBuf> {
        first_profile()
    }

    fn is_readable_file(&self, path: &Path) -> bool {
        path.is_file() && File::open(path).is_ok()
    }

    fn modified(&self, path: &Path) -> Option<SystemTime> {
        modified(path)
    }

    fn working_directory(&self) -> Option<PathBuf> {
        std::env::current_dir().ok()
    }

    fn sources(&self, include: &[PathBuf], profile_time: Option<SystemTime>) -> Box<dyn Sources + '_> {
        Box::new(SourceFinder::below(include.to_vec(), profile_time, self.session))
    }

    fn look(&self) -> Look {
        self.session.look()
    }

    fn write_file(
        &self,
        path: &Path,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        match output::write(path, true, |out| Ok::<(), CliError>(fill(out)?)) {
            Err(error) if !error.is_broken_pipe() => Err(error.to_string()),
            _ => Ok(()),
        }
    }
}
