//! Stand-ins for callgrind_annotate, cg_annotate, cg_diff and cg_merge: their command lines, output and exit codes.

mod argparse;
mod callgrind_annotate;
mod cg_annotate;
mod cg_diff;
mod cg_merge;
mod cg_tool;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_output::source::Sources;
use gristmill_output::{Look, io_reason};
use gristmill_profile::{InputBytes, Profile};

/// The files and the terminal of a stand-in. Nothing in this crate opens a file.
///
/// See the example of [`Program`].
pub trait Host {
    /// Reads a file and expands it if it is compressed.
    ///
    /// # Errors
    ///
    /// Returns the reason why all of the file cannot be had.
    fn read(&self, path: &Path) -> Result<InputBytes, ReadError>;

    /// Checks that a file can be opened.
    ///
    /// # Errors
    ///
    /// Returns that of the operating system.
    fn open(&self, path: &Path) -> io::Result<()>;

    /// Loads a profile.
    ///
    /// # Errors
    ///
    /// Returns the message to show.
    fn load(&self, path: &Path) -> Result<Profile, String>;

    /// Reports that lines of a profile were skipped or repaired, if any were.
    fn report_doubts(&self, profile: &Profile);

    /// Prints a warning.
    fn warn(&self, message: &str);

    /// `true` if callgrind_annotate is replaced with its errors.
    fn is_exact(&self) -> bool;

    /// Finds the first profile of the working directory.
    fn find_profile(&self) -> Option<PathBuf>;

    /// `true` if the path is a file that can be opened.
    fn is_readable_file(&self, path: &Path) -> bool;

    /// The time when a file was changed.
    fn modified(&self, path: &Path) -> Option<SystemTime>;

    /// The working directory.
    fn working_directory(&self) -> Option<PathBuf>;

    /// The source files of a profile that was written at this time; they are also looked for in `include`.
    fn sources(&self, include: &[PathBuf], profile_time: Option<SystemTime>) -> Box<dyn Sources + '_>;

    /// The look of standard output.
    fn look(&self) -> Look;

    /// Writes a file, which replaces an existing one when all of it is written.
    ///
    /// # Errors
    ///
    /// Returns the message to show.
    fn write_file(
        &self,
        path: &Path,
        fill: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String>;
}

/// A reason why a file cannot be read. See the example of [`Program`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    NotFound,
    /// The file may not be read.
    NoPermission,
    /// The path is a directory.
    IsDirectory,
    /// Reading failed for this reason.
    Io(String),
    /// The compressed data is damaged in this way.
    Damaged(String),
    /// Any other reason, as the whole message.
    Other(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ReadError::NotFound => "no such file",
            ReadError::NoPermission => "permission denied",
            ReadError::IsDirectory => "is a directory",
            ReadError::Io(reason) | ReadError::Damaged(reason) | ReadError::Other(reason) => reason,
        })
    }
}

/// The end of a stand-in: its exit code and its message for standard error. See the example of [`Program`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code.
    pub code: u8,
    /// The message, which may be empty.
    pub message: String,
}

impl Outcome {
    /// The end of a stand-in that did what it was asked for.
    const SUCCESS: Outcome = Outcome { code: 0, message: String::new() };
}

/// A program that has a stand-in.
///
/// ```
/// use gristmill_compat::stand_in::Program;
/// # use std::{io, path::{Path, PathBuf}, time::SystemTime};
/// # use gristmill_compat::stand_in::{Host, ReadError};
/// # use gristmill_output::{Look, source::Sources};
/// # use gristmill_profile::{InputBytes, Profile};
/// # struct NoFiles;
/// # impl Host for NoFiles {
/// #     fn read(&self, _: &Path) -> Result<InputBytes, ReadError> { Err(ReadError::NotFound) }
/// #     fn open(&self, _: &Path) -> io::Result<()> { Err(io::ErrorKind::NotFound.into()) }
/// #     fn load(&self, _: &Path) -> Result<Profile, String> { Err("not found".to_owned()) }
/// #     fn report_doubts(&self, _: &Profile) {}
/// #     fn warn(&self, _: &str) {}
/// #     fn is_exact(&self) -> bool { false }
/// #     fn find_profile(&self) -> Option<PathBuf> { None }
/// #     fn is_readable_file(&self, _: &Path) -> bool { false }
/// #     fn modified(&self, _: &Path) -> Option<SystemTime> { None }
/// #     fn working_directory(&self) -> Option<PathBuf> { None }
/// #     fn sources(&self, _: &[PathBuf], _: Option<SystemTime>) -> Box<dyn Sources + '_> { unimplemented!() }
/// #     fn look(&self) -> Look { Look::plain(80) }
/// #     fn write_file(&self, _: &Path, _: &mut dyn FnMut(&mut dyn io::Write) -> io::Result<()>) -> Result<(), String> {
/// #         Err("not here".to_owned())
/// #     }
/// # }
/// // `NoFiles` is a `Host` without any files.
/// let program = Program::from_word("/usr/bin/cg_merge".as_ref()).unwrap();
/// let words = ["/usr/bin/cg_merge", "a.out"].map(Into::into);
/// let outcome = program.run(&words, &NoFiles, &mut Vec::new());
/// assert_eq!(outcome.code, 1);
/// assert_eq!(outcome.message, "cg_merge: error: [Errno 2] No such file or directory: 'a.out'\n");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// callgrind_annotate
    CallgrindAnnotate,
    /// cg_annotate
    CgAnnotate,
    /// cg_diff
    CgDiff,
    /// cg_merge
    CgMerge,
}

impl Program {
    /// The program that the first word of a command line names.
    pub fn from_word(word: &OsStr) -> Option<Program> {
        Some(match Path::new(word).file_stem().and_then(OsStr::to_str)? {
            "callgrind_annotate" => Program::CallgrindAnnotate,
            "cg_annotate" => Program::CgAnnotate,
            "cg_diff" => Program::CgDiff,
            "cg_merge" => Program::CgMerge,
            _ => return None,
        })
    }

    /// Runs the stand-in with a command line, of which the first word is the program. The output goes to `out`.
    pub fn run(self, words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Outcome {
        let options = words.get(1..).unwrap_or_default();
        match self {
            Program::CallgrindAnnotate => callgrind_annotate::run(options, host, out),
            Program::CgAnnotate => cg_annotate::run(words, host, out),
            Program::CgDiff => cg_diff::run(options, host, out),
            Program::CgMerge => cg_merge::run(options, host, out),
        }
    }
}

/// The message for output that cannot be written. There is none if its reader has gone away.
fn output_error(error: &io::Error) -> Option<String> {
    (error.kind() != io::ErrorKind::BrokenPipe).then(|| format!("standard output: {}", io_reason(error)))
}

#[cfg(test)]
mod testing {
    use std::collections::HashMap;

    use super::*;

    /// A host with files in memory.
    #[derive(Default)]
    pub(super) struct Shelf {
        pub(super) files: HashMap<PathBuf, Vec<u8>>,
        pub(super) is_exact: bool,
    }

    impl Host for Shelf {
        fn read(&self, path: &Path) -> Result<InputBytes, ReadError> {
            self.files.get(path).map(|bytes| bytes.clone().into()).ok_or(ReadError::NotFound)
        }

        fn open(&self, path: &Path) -> io::Result<()> {
            self.files.get(path).map(|_| ()).ok_or_else(|| io::Error::from_raw_os_error(2))
        }

        fn load(&self, path: &Path) -> Result<Profile, String> {
            self.files
                .get(path)
                .map(|bytes| Profile::from_bytes(bytes.clone()))
                .ok_or_else(|| "not found".to_owned())
        }

        fn report_doubts(&self, _: &Profile) {}

        fn warn(&self, _: &str) {}

        fn is_exact(&self) -> bool {
            self.is_exact
        }

        fn find_profile(&self) -> Option<PathBuf> {
            self.files.keys().min().cloned()
        }

        fn is_readable_file(&self, path: &Path) -> bool {
            self.files.contains_key(path)
        }

        fn modified(&self, _: &Path) -> Option<SystemTime> {
            None
        }

        fn working_directory(&self) -> Option<PathBuf> {
            None
        }

        fn sources(&self, _: &[PathBuf], _: Option<SystemTime>) -> Box<dyn Sources + '_> {
            Box::new(NoSources)
        }

        fn look(&self) -> Look {
            Look::plain(80)
        }

        fn write_file(
            &self,
            _: &Path,
            _: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
        ) -> Result<(), String> {
            Err("is read-only".to_owned())
        }
    }

    struct NoSources;

    impl Sources for NoSources {
        fn get(
            &self,
            _: &[u8],
        ) -> Result<std::sync::Arc<gristmill_output::source::SourceText>, gristmill_output::source::SourceError>
        {
            Err(gristmill_output::source::SourceError::Missing)
        }
    }

    #[test]
    fn stand_ins_go_by_the_name_they_are_called_by() {
        let profile = b"cmd: x\nevents: Ir\nfl=a.c\nfn=f\n1 2\nsummary: 2\n".to_vec();
        let shelf = Shelf { files: HashMap::from([("a.out".into(), profile)]), is_exact: false };
        let said = |words: &[&str]| {
            let words: Vec<OsString> = words.iter().map(OsString::from).collect();
            let mut out = Vec::new();
            let outcome = Program::from_word(words.first()?)?.run(&words, &shelf, &mut out);
            Some((outcome.code, outcome.message, String::from_utf8(out).unwrap()))
        };
        let merged = "cmd: x\nevents: Ir\nfl=a.c\nfn=f\n1 4\nsummary: 4\n";
        assert_eq!(
            said(&["bin/cg_merge.exe", "a.out", "a.out"]),
            Some((0, String::new(), merged.to_owned()))
        );
        let (code, message, _) = said(&["cg_merge", "-o", "b.out", "a.out"]).unwrap();
        assert_eq!((code, message.as_str()), (1, "cg_merge: error: is read-only\n"));
        let (code, _, text) = said(&["callgrind_annotate"]).unwrap();
        assert!(code == 0 && text.starts_with("Reading data from 'a.out'...\n"), "{code} {text}");
        assert_eq!(said(&["gristmill", "a.out"]), None);
        assert_eq!(said(&[]), None);
    }
}
