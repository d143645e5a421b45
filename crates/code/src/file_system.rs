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
/// Only regular files are opened: debug information can name any path, and a pipe would block.
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

impl FileSource for FileSystem {
    fn open(&self, path: &Path) -> io::Result<Option<FileBytes>> {
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
        contents(&file).map(Some)
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

fn contents(mut file: &File) -> io::Result<FileBytes> {
    let size = file.metadata()?.len();
    if size >= MIN_MAPPED_BYTES
        && let Some(mapped) = mapping::whole(file)
    {
        return Ok(mapped);
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
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
