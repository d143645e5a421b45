//! Writes files: whole or not at all, and never over one that exists unless told to.
//!
//! The bytes go to a temporary file in the directory of the target, which takes the target's place at the end. Whoever
//! looks at the target sees the old file or the new one, never half of one, and a failure leaves nothing behind, nor does
//! Ctrl-C.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::args::is_dash;
use crate::input::reason;
use crate::interrupt::RemovedOnInterrupt;
use crate::terminal::printable_path;

const BUFFER: usize = 256 << 10;

/// Where the result of one input goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    File(PathBuf),
}

/// Why a file was not written.
#[derive(Debug)]
pub(crate) struct OutputError {
    pub(crate) path: PathBuf,
    pub(crate) kind: OutputErrorKind,
}

#[derive(Debug)]
pub(crate) enum OutputErrorKind {
    Exists,
    /// It is one of the inputs.
    IsInput,
    IsDirectory,
    /// Several inputs need a directory to go to.
    NotDirectory,
    /// Two inputs would be written to the same file.
    Twice,
    /// Standard input has no name to keep in a directory.
    NoName,
    NotFound,
    NoPermission,
    Write(io::Error),
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", printable_path(&self.path))?;
        match &self.kind {
            OutputErrorKind::Exists => write!(f, "exists already and is left as it is"),
            OutputErrorKind::IsInput => write!(f, "is the input itself and is left as it is"),
            OutputErrorKind::IsDirectory => write!(f, "is a directory"),
            OutputErrorKind::NotDirectory => write!(f, "is not a directory, and several inputs need one"),
            OutputErrorKind::Twice => write!(f, "would be written by two of the inputs"),
            OutputErrorKind::NoName => {
                write!(f, "is a directory, and standard input has no file name to keep in it")
            }
            OutputErrorKind::NotFound => write!(f, "the directory it should be written to does not exist"),
            OutputErrorKind::NoPermission => write!(f, "permission to write it is denied"),
            OutputErrorKind::Write(error) => write!(f, "cannot be written: {}", reason(error)),
        }
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            OutputErrorKind::Write(error) => Some(error),
            _ => None,
        }
    }
}

impl OutputError {
    fn new(path: &Path, kind: OutputErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    fn io(path: &Path, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::AlreadyExists => OutputErrorKind::Exists,
            io::ErrorKind::IsADirectory => OutputErrorKind::IsDirectory,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OutputErrorKind::NotFound,
            io::ErrorKind::PermissionDenied => OutputErrorKind::NoPermission,
            _ => OutputErrorKind::Write(error),
        };
        Self::new(path, kind)
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match &self.kind {
            OutputErrorKind::Exists | OutputErrorKind::IsInput => "to overwrite it, add --force",
            OutputErrorKind::NotDirectory => "name an existing directory, or rewrite one input at a time",
            OutputErrorKind::Twice => "write them into different directories, one after the other",
            OutputErrorKind::IsDirectory | OutputErrorKind::NoName => "name a file in it",
            OutputErrorKind::NotFound => "make the directory first",
            OutputErrorKind::NoPermission | OutputErrorKind::Write(_) => return None,
        };
        Some(hint.to_owned())
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(&self.kind, OutputErrorKind::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Says where each input goes, in their order, before any of them is read: a mistake in the last name should not show
/// after an hour of work on the others.
pub(crate) fn targets(
    output: Option<&Path>,
    inputs: &[PathBuf],
    force: bool,
) -> Result<Vec<Target>, OutputError> {
    let Some(output) = output.filter(|output| !is_dash(output)) else {
        return match inputs {
            [_] => Ok(vec![Target::Stdout]),
            _ => Err(OutputError::new(Path::new("standard output"), OutputErrorKind::NotDirectory)),
        };
    };
    if !output.is_dir() {
        if inputs.len() > 1 {
            return Err(OutputError::new(output, OutputErrorKind::NotDirectory));
        }
        check(output, inputs, force)?;
        return Ok(vec![Target::File(output.to_owned())]);
    }
    let mut taken = HashSet::new();
    let mut targets = Vec::with_capacity(inputs.len());
    for input in inputs {
        let Some(name) = input.file_name().filter(|_| !is_dash(input)) else {
            return Err(OutputError::new(output, OutputErrorKind::NoName));
        };
        let path = output.join(unpacked_name(name));
        if !taken.insert(path.clone()) {
            return Err(OutputError::new(&path, OutputErrorKind::Twice));
        }
        check(&path, inputs, force)?;
        targets.push(Target::File(path));
    }
    Ok(targets)
}

/// Says where the one result of many inputs goes, before any of them is read.
pub(crate) fn target(output: Option<&Path>, inputs: &[PathBuf], force: bool) -> Result<Target, OutputError> {
    let Some(output) = output.filter(|output| !is_dash(output)) else { return Ok(Target::Stdout) };
    check(output, inputs, force)?;
    Ok(Target::File(output.to_owned()))
}

/// What is written is never packed, so a name should not say that it is.
fn unpacked_name(name: &OsStr) -> &OsStr {
    let path = Path::new(name);
    match (path.extension().and_then(OsStr::to_str), path.file_stem()) {
        (Some("gz" | "zst" | "xz" | "bz2"), Some(stem)) => stem,
        _ => name,
    }
}

/// Refuses a file that exists, unless it may be overwritten. [`write()`] makes sure once more, when it counts.
fn check(path: &Path, inputs: &[PathBuf], force: bool) -> Result<(), OutputError> {
    let Ok(metadata) = std::fs::metadata(path) else {
        // It is not there, or writing will tell what is wrong.
        return Ok(());
    };
    if metadata.is_dir() {
        return Err(OutputError::new(path, OutputErrorKind::IsDirectory));
    }
    if force || !metadata.is_file() {
        return Ok(());
    }
    let itself = std::fs::canonicalize(path).ok();
    let is_input = itself.is_some() && inputs.iter().any(|input| std::fs::canonicalize(input).ok() == itself);
    let kind = if is_input { OutputErrorKind::IsInput } else { OutputErrorKind::Exists };
    Err(OutputError::new(path, kind))
}

/// Writes the file at `path` with whatever `fill` writes. The file appears when `fill` has succeeded; if it fails,
/// everything is as before.
pub(crate) fn write<E: From<OutputError>>(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let existing = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(OutputError::new(path, OutputErrorKind::IsDirectory).into());
        }
        // A pipe or a device such as /dev/null holds nothing to lose, and must not be replaced by a file.
        Ok(metadata) if !metadata.is_file() => {
            let device =
                File::options().write(true).open(path).map_err(|error| OutputError::io(path, error))?;
            fill_and_flush(path, device, fill)?;
            return Ok(());
        }
        Ok(_) if !force => return Err(OutputError::new(path, OutputErrorKind::Exists).into()),
        Ok(metadata) => Some(metadata),
        Err(_) => None,
    };
    // The file that a link points to is replaced, not the link.
    let place = match &existing {
        Some(_) => std::fs::canonicalize(path).map_err(|error| OutputError::io(path, error))?,
        None => path.to_owned(),
    };
    // The last to go: after the renaming there is nothing to be removed.
    let (file, _removed) = RemovedOnInterrupt::create(|| temporary_beside(&place, existing.as_ref()))
        .map_err(|error| OutputError::io(path, error))?;
    // Up to the renaming, returning early removes the temporary file.
    let file = fill_and_flush(path, file, fill)?;
    let renamed = if force { file.persist(&place) } else { file.persist_noclobber(&place) };
    renamed.map_err(|error| OutputError::io(path, error.error))?;
    Ok(())
}

fn fill_and_flush<W: Write, E: From<OutputError>>(
    path: &Path,
    file: W,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<W, E> {
    let mut writer = Watched { inner: BufWriter::with_capacity(BUFFER, file), failure: None };
    let filled = fill(&mut writer);
    // A plain `io::Error` in the hands of a command has lost the name of the file; here it is known.
    if let Some(error) = writer.failure {
        return Err(OutputError::io(path, error).into());
    }
    filled?;
    let file = writer.inner.into_inner().map_err(|error| OutputError::io(path, error.into_error()))?;
    Ok(file)
}

/// Remembers the first failure to write.
struct Watched<W: Write> {
    inner: BufWriter<W>,
    failure: Option<io::Error>,
}

impl<W: Write> Watched<W> {
    fn watch<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            // The standard library tries again by itself when it was only interrupted.
            if kind != io::ErrorKind::Interrupted && self.failure.is_none() {
                self.failure = Some(error);
            }
            io::Error::from(kind)
        })
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = self.inner.write(bytes);
        self.watch(result)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let result = self.inner.write_all(bytes);
        self.watch(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = self.inner.flush();
        self.watch(result)
    }
}

/// In the same directory, because a file can only be renamed within a file system.
fn temporary_beside(place: &Path, existing: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let directory = match place.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gristmill-").suffix(".tmp");
    // A temporary file is for its owner only; this one is to become a file like any other, as the umask says.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(directory)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    Ok(file)
}
