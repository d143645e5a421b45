//! Writes files: whole or not at all, and never over one that exists unless told to.
//!
//! The bytes go to a temporary file in the directory of the target, which replaces the target at the end. Other programs
//! see the old file or the new one, never a part, and neither a failure nor a signal leaves a file behind.

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

/// Links that are followed one after the other, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// The destination of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Stdout,
    File(PathBuf),
}

/// An error while writing a file.
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
            OutputErrorKind::Exists => write!(f, "exists already and was not changed"),
            OutputErrorKind::IsInput => write!(f, "is one of the inputs and was not changed"),
            OutputErrorKind::IsDirectory => write!(f, "is a directory"),
            OutputErrorKind::NotDirectory => write!(f, "is not a directory, which several inputs need"),
            OutputErrorKind::Twice => write!(f, "two of the inputs would be written to it"),
            OutputErrorKind::NoName => {
                write!(f, "is a directory, and standard input has no file name")
            }
            OutputErrorKind::NotFound => write!(f, "its directory does not exist"),
            OutputErrorKind::NoPermission => write!(f, "permission denied"),
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

    pub(crate) fn io(path: &Path, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::AlreadyExists => OutputErrorKind::Exists,
            io::ErrorKind::IsADirectory => OutputErrorKind::IsDirectory,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OutputErrorKind::NotFound,
            io::ErrorKind::PermissionDenied => OutputErrorKind::NoPermission,
            _ => OutputErrorKind::Write(error),
        };
        Self::new(path, kind)
    }

    /// Returns the hint.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match &self.kind {
            OutputErrorKind::Exists | OutputErrorKind::IsInput => "add --force to overwrite it",
            OutputErrorKind::NotDirectory => "name an existing directory, or rewrite one input at a time",
            OutputErrorKind::Twice => "write them into different directories, one after the other",
            OutputErrorKind::IsDirectory | OutputErrorKind::NoName => "name a file in it",
            OutputErrorKind::NotFound => "create the directory first",
            OutputErrorKind::NoPermission | OutputErrorKind::Write(_) => return None,
        };
        Some(hint.to_owned())
    }

    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(&self.kind, OutputErrorKind::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

/// Returns the destination of each input. It is called before any input is read, so that a wrong name shows at once.
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

/// Returns the destination of the one result of several inputs, before any input is read.
pub(crate) fn target(output: Option<&Path>, inputs: &[PathBuf], force: bool) -> Result<Target, OutputError> {
    let Some(output) = output.filter(|output| !is_dash(output)) else { return Ok(Target::Stdout) };
    check(output, inputs, force)?;
    Ok(Target::File(output.to_owned()))
}

/// Removes the extension of a packing from a name: outputs are never packed.
fn unpacked_name(name: &OsStr) -> &OsStr {
    let path = Path::new(name);
    match (path.extension().and_then(OsStr::to_str), path.file_stem()) {
        (Some("gz" | "zst" | "xz" | "bz2"), Some(stem)) => stem,
        _ => name,
    }
}

/// Refuses an existing file, unless it may be overwritten. [`write()`] checks again.
fn check(path: &Path, inputs: &[PathBuf], force: bool) -> Result<(), OutputError> {
    let Ok(metadata) = std::fs::metadata(path) else {
        // It does not exist, or writing reports the error.
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

/// Writes a file with the bytes that `fill` writes. The file appears when `fill` has succeeded; if it fails, nothing has
/// changed.
pub(crate) fn write<E: From<OutputError>>(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let existing = match std::fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            return Err(OutputError::new(path, OutputErrorKind::IsDirectory).into());
        }
        // A pipe or a device such as /dev/null must not be replaced by a file.
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
    // The target of a link is replaced, not the link.
    let target = match &existing {
        Some(_) => std::fs::canonicalize(path),
        None => without_links(path),
    };
    let target = target.map_err(|error| OutputError::io(path, error))?;
    // Dropped last: after the renaming there is nothing to remove.
    let (file, _removed) = RemovedOnInterrupt::create(|| temporary_beside(&target, existing.as_ref()))
        .map_err(|error| OutputError::io(path, error))?;
    // Up to the renaming, returning early removes the temporary file.
    let file = fill_and_flush(path, file, fill)?;
    let renamed = if force { file.persist(&target) } else { file.persist_noclobber(&target) };
    renamed.map_err(|error| OutputError::io(path, error.error))?;
    Ok(())
}

/// Returns the path of a file that does not exist yet: for a link that leads nowhere, the path that it leads to.
fn without_links(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match std::fs::read_link(&target) {
            // A relative one begins in the directory of the link.
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its links form a cycle"))
}

fn fill_and_flush<W: Write, E: From<OutputError>>(
    path: &Path,
    file: W,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<W, E> {
    let mut writer = Watched { inner: BufWriter::with_capacity(BUFFER, file), failure: None };
    let filled = fill(&mut writer);
    // An `io::Error` of a command does not name the file; here the name is known.
    if let Some(error) = writer.failure {
        return Err(OutputError::io(path, error).into());
    }
    filled?;
    let file = writer.inner.into_inner().map_err(|error| OutputError::io(path, error.into_error()))?;
    Ok(file)
}

/// A writer that remembers its first failure.
struct Watched<W: Write> {
    inner: BufWriter<W>,
    failure: Option<io::Error>,
}

impl<W: Write> Watched<W> {
    fn watch<T>(&mut self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| {
            let kind = error.kind();
            // The standard library repeats an interrupted write.
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

/// Creates a temporary file in the same directory, as a file can be renamed within a file system only.
fn temporary_beside(target: &Path, existing: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".gristmill-").suffix(".tmp");
    // A temporary file is readable by its owner only; this one becomes a normal file, as the umask says.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(directory)?;
    if let Some(existing) = existing {
        file.as_file().set_permissions(existing.permissions())?;
    }
    Ok(file)
}
