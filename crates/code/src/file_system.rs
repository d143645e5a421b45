//! The files of this machine.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use crate::{FileBytes, FileSource};

/// Files below this size are read: 32 MB take some 10 ms, and what was read cannot vanish. Larger ones are mapped.
const MIN_MAPPED_BYTES: u64 = 32 << 20;

/// The files of this machine.
///
/// Files of less than 32 MB are read, larger ones are mapped where the system has that. A mapped file that is overwritten in place
/// shows a mixture of both contents; if it is truncated, the access to a page that is gone ends the program with `SIGBUS`, unless
/// the program handles the signal, as `gristmill` does. Linkers and package managers replace a file instead, which is harmless:
/// the mapping keeps the old one.
///
/// Only regular files are opened: debug information can name any path, and a pipe would block. No more is read than the size that
/// a file states, which is none for the files of the system in `/proc`.
///
/// ```
/// use std::path::Path;
/// use gristmill_code::{FileSource, FileSystem};
///
/// assert!(FileSystem.open(Path::new("/no/such/file"))?.is_none());
/// # #[cfg(unix)]
/// assert!(FileSystem.open(Path::new("/dev/zero"))?.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FileSystem;

impl FileSystem {
    /// Opens a file as [`FileSource::open`] does, but maps it if it has more than `max_read_bytes`, where the system has that. So
    /// what a profile names takes no more memory than its user allows.
    ///
    /// ```
    /// use gristmill_code::FileSystem;
    ///
    /// assert!(FileSystem.open_within("/no/such/file".as_ref(), 1 << 20)?.is_none());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If there is a file that cannot be read.
    pub fn open_within(&self, path: &Path, max_read_bytes: u64) -> io::Result<Option<FileBytes>> {
        match fs::metadata(path) {
            Ok(metadata) if !metadata.is_file() => return Ok(None),
            Ok(_) => {}
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if is_absent(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.read(&file, max_read_bytes).map(Some)
    }

    /// Reads or maps a file that is open, as [`FileSystem::open_within`] does.
    ///
    /// ```
    /// # let directory = std::env::temp_dir();
    /// # let path = directory.join(format!("gristmill-read-{}", std::process::id()));
    /// # std::fs::write(&path, "mill")?;
    /// let file = std::fs::File::open(&path)?;
    /// assert_eq!(&gristmill_code::FileSystem.read(&file, 1 << 20)?[..], b"mill");
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn read(&self, file: &File, max_read_bytes: u64) -> io::Result<FileBytes> {
        contents(file, max_read_bytes)
    }
}

impl FileSource for FileSystem {
    fn open(&self, path: &Path) -> io::Result<Option<FileBytes>> {
        self.open_within(path, u64::MAX)
    }
}

fn is_absent(error: &io::Error) -> bool {
    // A path of another system can have a name that is no directory here, or characters that no name may have.
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::InvalidFilename
    )
}

fn contents(file: &File, max_read_bytes: u64) -> io::Result<FileBytes> {
    let size = file.metadata()?.len();
    if (size >= MIN_MAPPED_BYTES || size > max_read_bytes)
        && let Some(mapped) = mapping::whole(file)
    {
        return Ok(mapped);
    }
    // A file of the system, as in /proc, states no size: reading it may wait or never end. It counts as empty.
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(usize::try_from(size).unwrap_or(usize::MAX))?;
    file.take(size).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

#[cfg(unix)]
#[allow(unsafe_code)]
mod mapping {
    use std::fs::File;

    use crate::FileBytes;

    pub(super) fn whole(file: &File) -> Option<FileBytes> {
        // SAFETY: the bytes are only read. Another process can change or truncate the file while it is mapped: what is read is
        // then any bytes, which every reader here has to expect from a file anyway, or the program ends with SIGBUS, as the
        // documentation of `FileSystem` says.
        unsafe { memmap2::Mmap::map(file) }.ok().map(FileBytes::mapped)
    }
}

#[cfg(not(unix))]
mod mapping {
    use std::fs::File;

    use crate::FileBytes;

    pub(super) fn whole(_: &File) -> Option<FileBytes> {
        None
    }
}
