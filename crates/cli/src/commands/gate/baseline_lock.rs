//! The lock of a baseline, between the time it is read and the time it is written: commands that accept costs at once do so in turn.
//!
//! The configuration has it, and the baseline, which several configurations can share. That becomes another file when it is written, so its
//! lock holds only if it is still the same one.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// The lock is held only while a small file is read and written.
const MAX_WAIT: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

/// The lock of a baseline, until it is dropped.
#[derive(Debug)]
pub(super) struct BaselineLock {
    _locks: [Option<system::Lock>; 2],
}

impl BaselineLock {
    /// Takes the lock of a baseline of a configuration. A file system that has none is no error.
    ///
    /// # Errors
    ///
    /// If another one has it for too long.
    pub(super) fn take(config: &Path, baseline: &Path) -> io::Result<BaselineLock> {
        let begin = Instant::now();
        Ok(BaselineLock { _locks: [lock(config, begin)?, lock(baseline, begin)?] })
    }
}

fn lock(file: &Path, begin: Instant) -> io::Result<Option<system::Lock>> {
    loop {
        match system::lock(file) {
            Ok(lock) => return Ok(Some(lock)),
            Err(error) if !system::is_taken(&error) => return Ok(None),
            Err(_) if begin.elapsed() < MAX_WAIT => std::thread::sleep(PAUSE),
            Err(error) => return Err(error),
        }
    }
}

#[cfg(unix)]
mod system {
    use std::os::unix::fs::MetadataExt as _;

    use super::{File, Path, io};
    use nix::fcntl::{Flock, FlockArg};

    pub(super) type Lock = Flock<File>;

    pub(super) fn lock(file: &Path) -> io::Result<Lock> {
        if !file.is_file() {
            // A pipe would wait until another program opens it.
            return Err(io::ErrorKind::Unsupported.into());
        }
        let lock = Flock::lock(File::open(file)?, FlockArg::LockExclusiveNonblock)
            .map_err(|(_, error)| io::Error::from(error))?;
        let (locked, now) = (lock.metadata()?, std::fs::metadata(file)?);
        // Another file may have taken its place before the lock was taken.
        match (locked.dev(), locked.ino()) == (now.dev(), now.ino()) {
            true => Ok(lock),
            false => Err(io::ErrorKind::WouldBlock.into()),
        }
    }

    pub(super) fn is_taken(error: &io::Error) -> bool {
        error.kind() == io::ErrorKind::WouldBlock
    }
}

/// A file beside the configuration, which only one can have open, and which the system removes then.
#[cfg(windows)]
mod system {
    use std::os::windows::fs::OpenOptionsExt as _;

    use super::{File, Path, io};

    pub(super) type Lock = File;

    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    const ERROR_ACCESS_DENIED: i32 = 5;
    const ERROR_SHARING_VIOLATION: i32 = 32;

    pub(super) fn lock(file: &Path) -> io::Result<Lock> {
        let mut name = file.as_os_str().to_owned();
        name.push(".lock");
        let mut options = File::options();
        options.write(true).create(true).share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
        options.open(name)
    }

    /// While the file is removed, access to it is denied.
    pub(super) fn is_taken(error: &io::Error) -> bool {
        matches!(error.raw_os_error(), Some(ERROR_SHARING_VIOLATION | ERROR_ACCESS_DENIED))
    }
}

#[cfg(not(any(unix, windows)))]
mod system {
    use super::{File, Path, io};

    pub(super) type Lock = File;

    pub(super) fn lock(_: &Path) -> io::Result<Lock> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn is_taken(_: &io::Error) -> bool {
        false
    }
}
