//! Reads a profile into memory: from a path or standard input, expanded if it is packed.
//!
//! Packed files are recognised by their first bytes, never by their name, and expanded once: what a packed file holds is
//! not expanded again. `--max-size` limits the expanded size. A packed file that ends early or is corrupt is read up to
//! the damage; [`Input::damage`] describes it, and the command decides.

mod expand;
mod waiting;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use gristmill_profile::InputBytes;
use gristmill_report::ReadFile;

pub(crate) use self::expand::Packing;
use self::expand::{Ending, Source};
pub(crate) use self::waiting::Waiting;
pub(crate) use gristmill_output::io_reason as reason;

use crate::args::is_dash;
use crate::progress::Progress;
use crate::size::Size;
use crate::terminal::{grouped, printable_path};

/// Bytes of plain data that are read at once; progress is shown in between.
const READ_BYTES: u32 = 32 << 20;

/// Bytes that are expanded at once; they fit into the cache of the processor.
const EXPAND_BYTES: usize = 128 << 10;

/// A profile in memory.
#[derive(Debug)]
pub(crate) struct Input {
    /// Path as given; `-` for standard input.
    pub(crate) path: PathBuf,
    /// The profile, expanded. A large file that is not packed is mapped, not read.
    pub(crate) bytes: InputBytes,
    /// Packing, if it was packed.
    pub(crate) packing: Option<Packing>,
    /// Count of bytes read; fewer than in `bytes` if it was packed.
    pub(crate) stored_size: u64,
    /// Damage of the packing, as a sentence. `bytes` are those before the damage.
    pub(crate) damage: Option<String>,
}

impl Input {
    /// Returns the name for people, without control characters.
    pub(crate) fn name(&self) -> String {
        display_name(&self.path)
    }

    /// The file as reports see it.
    pub(crate) fn as_read_file(&self) -> ReadFile<'_> {
        ReadFile {
            path: &self.path,
            name: self.name().into(),
            is_standard_input: is_dash(&self.path),
            bytes: &self.bytes,
            packing: self.packing.map(Packing::as_str),
            stored_size: self.stored_size,
            damage: self.damage.as_deref(),
            name_mismatch: name_mismatch(&self.path, self.packing).map(Into::into),
        }
    }
}

/// Describes how a file name contradicts the packing of the content. Standard input has no name.
fn name_mismatch(path: &Path, packing: Option<Packing>) -> Option<String> {
    if is_dash(path) {
        return None;
    }
    match (packing, Packing::from_extension(path)) {
        (Some(packing), None) => Some(format!(
            "the content is packed with {packing}, but the file name does not have its extension"
        )),
        (None, Some(named)) => {
            Some(format!("the file name stands for {named}, but the content is not packed"))
        }
        (Some(packing), Some(named)) if packing != named => {
            Some(format!("the file name stands for {named}, but the content is packed with {packing}"))
        }
        _ => None,
    }
}

/// An error while reading a file, with a hint.
#[derive(Debug)]
pub(crate) struct InputError {
    pub(crate) path: PathBuf,
    pub(crate) kind: InputErrorKind,
}

#[derive(Debug)]
pub(crate) enum InputErrorKind {
    NotFound,
    IsDirectory,
    NoPermission,
    /// More bytes than `limit`, expanded if `packing` is known.
    TooLarge {
        limit: Size,
        packing: Option<Packing>,
    },
    NoMemory,
    Read(io::Error),
}

impl std::fmt::Display for InputError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: ", display_name(&self.path))?;
        match &self.kind {
            InputErrorKind::NotFound => write!(f, "no such file"),
            InputErrorKind::IsDirectory => write!(f, "is a directory, not a profile"),
            InputErrorKind::NoPermission => write!(f, "permission denied"),
            InputErrorKind::TooLarge { limit, packing: None } => {
                write!(f, "is larger than {limit}, the limit set by --max-size")
            }
            InputErrorKind::TooLarge { limit, packing: Some(packing) } => {
                write!(f, "the {packing} data expands to more than {limit}, the limit set by --max-size")
            }
            InputErrorKind::NoMemory => write!(f, "does not fit into memory"),
            InputErrorKind::Read(error) => write!(f, "cannot be read: {}", reason(error)),
        }
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            InputErrorKind::Read(error) => Some(error),
            _ => None,
        }
    }
}

impl InputError {
    fn new(path: &Path, kind: InputErrorKind) -> Self {
        Self { path: path.to_owned(), kind }
    }

    fn io(path: &Path, error: io::Error) -> Self {
        let kind = match error.kind() {
            io::ErrorKind::NotFound => InputErrorKind::NotFound,
            io::ErrorKind::PermissionDenied => InputErrorKind::NoPermission,
            io::ErrorKind::IsADirectory => InputErrorKind::IsDirectory,
            io::ErrorKind::OutOfMemory => InputErrorKind::NoMemory,
            _ => InputErrorKind::Read(error),
        };
        Self::new(path, kind)
    }

    /// Returns advice for the user.
    pub(crate) fn hint(&self) -> Option<String> {
        match &self.kind {
            InputErrorKind::NotFound => Some("check the name, or use - to read standard input".to_owned()),
            InputErrorKind::IsDirectory => {
                let name = display_name(&self.path);
                Some(format!("name the files in it, such as {}/callgrind.out.*", name.trim_end_matches('/')))
            }
            InputErrorKind::NoPermission => {
                Some("profiles of another user, or of root, belong to that user".to_owned())
            }
            InputErrorKind::TooLarge { .. } => {
                Some("if you trust this file, raise the limit, such as --max-size 64GiB".to_owned())
            }
            InputErrorKind::NoMemory => {
                Some("a profile takes as much memory as it has bytes once expanded".to_owned())
            }
            InputErrorKind::Read(_) => None,
        }
    }
}

/// The name of an input as messages show it.
pub(crate) fn display_name(path: &Path) -> String {
    if is_dash(path) { "<stdin>".to_owned() } else { printable_path(path).into_owned() }
}

/// The files that are mapped instead of copied into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mapping {
    /// Large ones that are not packed.
    Large,
    /// None.
    Never,
}

/// Reads `path`, or standard input for `-`.
pub(crate) fn read(
    path: &Path,
    max_size: Size,
    mapping: Mapping,
    progress: &mut Progress,
) -> Result<Input, InputError> {
    if is_dash(path) {
        return read_from(path, &mut io::stdin().lock(), max_size, progress);
    }
    let waiting = Waiting::begin(path);
    let mut file = File::open(path).map_err(|error| InputError::io(path, error))?;
    // Metadata of the open file: another file may get the name. The size of a pipe or device is unknown.
    let metadata = file.metadata().map_err(|error| InputError::io(path, error))?;
    if metadata.is_dir() {
        return Err(InputError::new(path, InputErrorKind::IsDirectory));
    }
    let size = metadata.is_file().then_some(metadata.len());
    let head = head(path, &mut file)?;
    drop(waiting);
    if mapping == Mapping::Large
        && let Some(size) = size
        && size <= max_size.bytes()
        && Packing::from_magic(&head).is_none()
        && let Some(bytes) = InputBytes::mapped(&file)
    {
        #[cfg(unix)]
        crate::fatal_signals::expect_truncation();
        progress.advance(size);
        return Ok(Input {
            path: path.to_owned(),
            stored_size: bytes.len() as u64,
            bytes,
            packing: None,
            damage: None,
        });
    }
    read_behind(path, head, &mut file, size, max_size, progress)
}

/// Reads the first bytes of a file, expanded if it is packed: fewer if it ends or is damaged before.
pub(crate) fn read_start(path: &Path, count: usize) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(count as u64).read_to_end(&mut bytes)?;
    let Some(packing) = Packing::from_magic(&bytes) else { return Ok(bytes) };
    let mut source = Source::new(Box::new(Cursor::new(bytes).chain(file)));
    // Dictionaries grow with the data that is expanded, which ends soon.
    let mut expander = packing.expander(&mut source, Size::from_bytes(u64::MAX));
    let (mut start, mut buffer) = (Vec::new(), vec![0; EXPAND_BYTES]);
    while start.len() < count {
        let step = expander.step(&mut buffer);
        start.extend_from_slice(&buffer[..step.produced]);
        if step.ending.is_some() {
            break;
        }
    }
    start.truncate(count);
    Ok(start)
}

/// The size of `path` on disk, where it is a plain file; for progress.
pub(crate) fn stored_size(path: &Path) -> Option<u64> {
    let metadata = std::fs::metadata(path).ok()?;
    metadata.is_file().then_some(metadata.len())
}

/// Reads input of unknown size.
fn read_from<R: Read>(
    path: &Path,
    reader: &mut R,
    max_size: Size,
    progress: &mut Progress,
) -> Result<Input, InputError> {
    let head = head(path, reader)?;
    read_behind(path, head, reader, None, max_size, progress)
}

/// Reads the first bytes, which identify the packing. A pipe may deliver them one by one.
fn head(path: &Path, reader: &mut impl Read) -> Result<Vec<u8>, InputError> {
    let mut head = Vec::with_capacity(expand::MAGIC_LENGTH);
    reader
        .by_ref()
        .take(expand::MAGIC_LENGTH as u64)
        .read_to_end(&mut head)
        .map_err(|error| InputError::io(path, error))?;
    Ok(head)
}

/// Reads the rest after the head.
fn read_behind<R: Read>(
    path: &Path,
    head: Vec<u8>,
    reader: &mut R,
    size: Option<u64>,
    max_size: Size,
    progress: &mut Progress,
) -> Result<Input, InputError> {
    match Packing::from_magic(&head) {
        None => read_plain(path, head, reader, size, max_size, progress),
        Some(packing) => read_packed(path, packing, head, reader, max_size, progress),
    }
}

fn read_plain<R: Read>(
    path: &Path,
    head: Vec<u8>,
    reader: &mut R,
    size: Option<u64>,
    max_size: Size,
    progress: &mut Progress,
) -> Result<Input, InputError> {
    let too_large = || InputError::new(path, InputErrorKind::TooLarge { limit: max_size, packing: None });
    // Known before a byte of it is read; a file that grows meanwhile is caught below.
    if size.is_some_and(|size| size > max_size.bytes()) {
        return Err(too_large());
    }
    let mut bytes = head;
    // All of it is allocated at once: memory is the size of the file, and nothing is copied.
    let missing = size.unwrap_or(0).saturating_sub(bytes.len() as u64);
    reserve(path, &mut bytes, missing)?;
    progress.advance(bytes.len() as u64);
    loop {
        if bytes.len() as u64 > max_size.bytes() {
            return Err(too_large());
        }
        // One byte more than allowed distinguishes "exactly as large" from "larger".
        let allowed = (max_size.bytes() - bytes.len() as u64).saturating_add(1).min(u64::from(READ_BYTES));
        if size.is_none() {
            // Untouched memory costs nothing, and the reader below need not double its buffer.
            grow(path, &mut bytes, READ_BYTES as usize)?;
        }
        match reader.by_ref().take(allowed).read_to_end(&mut bytes) {
            Ok(0) => break,
            Ok(read) => progress.advance(read as u64),
            Err(error) => return Err(InputError::io(path, error)),
        }
    }
    let stored_size = bytes.len() as u64;
    Ok(Input { path: path.to_owned(), bytes: bytes.into(), packing: None, stored_size, damage: None })
}

fn read_packed(
    path: &Path,
    packing: Packing,
    head: Vec<u8>,
    reader: &mut dyn Read,
    max_size: Size,
    progress: &mut Progress,
) -> Result<Input, InputError> {
    let mut source = Source::new(Box::new(Cursor::new(head).chain(reader)));
    let mut bytes = Vec::new();
    progress.count_expanded();
    let ending = {
        let mut expander = packing.expander(&mut source, max_size);
        let mut buffer = vec![0; EXPAND_BYTES];
        loop {
            let step = expander.step(&mut buffer);
            let expanded = &buffer[..step.produced];
            if bytes.len() as u64 + expanded.len() as u64 > max_size.bytes() {
                return Err(InputError::new(
                    path,
                    InputErrorKind::TooLarge { limit: max_size, packing: Some(packing) },
                ));
            }
            grow(path, &mut bytes, expanded.len())?;
            bytes.extend_from_slice(expanded);
            progress.advance(expanded.len() as u64);
            if let Some(ending) = step.ending {
                break ending;
            }
        }
    };
    // A disk that fails is not a damaged file.
    if let Some(error) = source.failure() {
        return Err(InputError::io(path, error));
    }
    let expanded = grouped(bytes.len() as i128);
    let damage = match ending {
        Ending::Whole => None,
        Ending::Truncated => {
            Some(format!("the {packing} data ends before it is complete; {expanded} bytes could be expanded"))
        }
        Ending::Corrupt(what) => {
            Some(format!("the {packing} data is damaged ({what}); {expanded} bytes could be expanded"))
        }
    };
    Ok(Input {
        path: path.to_owned(),
        bytes: bytes.into(),
        packing: Some(packing),
        stored_size: source.taken(),
        damage,
    })
}

/// Reserves memory for `more` bytes of unknown total: it grows by half each time, so that little is copied and memory is
/// never twice the data.
fn grow(path: &Path, bytes: &mut Vec<u8>, more: usize) -> Result<(), InputError> {
    if bytes.capacity() - bytes.len() >= more {
        return Ok(());
    }
    let additional = more.max(bytes.capacity() / 2).max(1 << 20);
    reserve(path, bytes, additional as u64)
}

/// Reserves memory; returns an error where `Vec` would end the program.
fn reserve(path: &Path, bytes: &mut Vec<u8>, more: u64) -> Result<(), InputError> {
    let no_memory = || InputError::new(path, InputErrorKind::NoMemory);
    let more = usize::try_from(more).map_err(|_| no_memory())?;
    bytes.try_reserve_exact(more).map_err(|_| no_memory())
}
