//! Leases of files: while this program has the lease of a file, the system lets who opens that file for writing wait, so that its content
//! can be saved first. Linux has them, on its own file systems. If the lease is not dropped, the system lets the other one go on after
//! 45 seconds, and at once if this program has ended.

use std::fs::File;
use std::io;
use std::path::Path;

/// The lease of a file, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lease {
    file: File,
}

impl Lease {
    /// Takes the lease of a file.
    ///
    /// # Errors
    ///
    /// If the file system has no leases, or the file is open for writing, or belongs to another user.
    pub(crate) fn take(path: &Path) -> io::Result<Lease> {
        let file = File::open(path)?;
        system::lease(&file)?;
        Ok(Lease { file })
    }

    /// Returns how many leases there may be at once: each takes a file descriptor, and others are needed as well.
    pub(crate) fn max_count() -> usize {
        system::max_descriptors() / 4
    }

    /// `true` if a process waits to open the file for writing.
    pub(crate) fn is_wanted(&self) -> bool {
        system::is_wanted(&self.file)
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd as _;

    use nix::libc::{self, c_int};
    use nix::sys::resource::{Resource, getrlimit};

    /// Some systems have no limit.
    const MAX_DESCRIPTORS: u64 = 4096;

    /// Chooses the signal that says that a lease is wanted. The libc crate does not have its name.
    const F_SETSIG: c_int = 10;

    /// The kind of a lease that ends when a file is opened for writing: `F_RDLCK`, which has another type on some systems.
    const HELD: c_int = 0;

    pub(super) fn lease(file: &File) -> io::Result<()> {
        // By default the signal is SIGIO, which would end this program. This one does nothing.
        call(file, F_SETSIG, libc::SIGURG)?;
        call(file, libc::F_SETLEASE, HELD).map(drop)
    }

    pub(super) fn max_descriptors() -> usize {
        let (soft, _) = getrlimit(Resource::RLIMIT_NOFILE).unwrap_or_default();
        soft.min(MAX_DESCRIPTORS).try_into().unwrap_or(0)
    }

    pub(super) fn is_wanted(file: &File) -> bool {
        call(file, libc::F_GETLEASE, 0).is_ok_and(|lease| lease != HELD)
    }

    #[expect(unsafe_code, reason = "no safe interface has these calls")]
    fn call(file: &File, command: c_int, argument: c_int) -> io::Result<c_int> {
        // SAFETY: the descriptor is open as long as the file, and these commands take a number.
        match unsafe { libc::fcntl(file.as_raw_fd(), command, argument) } {
            -1 => Err(io::Error::last_os_error()),
            result => Ok(result),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    use std::fs::File;
    use std::io;

    pub(super) fn lease(_file: &File) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn max_descriptors() -> usize {
        0
    }

    pub(super) fn is_wanted(_file: &File) -> bool {
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn who_writes_waits_for_the_lease() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        std::fs::write(&path, "old").unwrap();
        let Ok(lease) = Lease::take(&path) else { return };
        assert!(!lease.is_wanted());
        let writer = std::thread::spawn({
            let path = path.clone();
            move || std::fs::write(path, "new").unwrap()
        });
        while !lease.is_wanted() {
            std::thread::yield_now();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        drop(lease);
        writer.join().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}
