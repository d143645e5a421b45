//! The handler for Ctrl-C while a file is written: it removes temporary files, and the program ends with 130, as shells
//! expect.
//!
//! It is installed with the first such file; before, Ctrl-C ends the program as usual.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tempfile::NamedTempFile;

/// The exit status; that of Ctrl-C unless there was another failure.
static STATUS: AtomicI32 = AtomicI32::new(130);

/// `true` if the handler is installed.
static IS_SET_UP: AtomicBool = AtomicBool::new(false);

static TEMPORARY_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn temporary_files() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set of paths is valid even after a panic.
    TEMPORARY_FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A guard: while it exists, Ctrl-C removes the file.
#[derive(Debug)]
pub(crate) struct RemovedOnInterrupt(PathBuf);

impl RemovedOnInterrupt {
    /// Creates a temporary file.
    pub(crate) fn create(
        create: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<(NamedTempFile, RemovedOnInterrupt)> {
        set_up();
        // The handler waits for this lock, so it knows the file.
        let mut files = temporary_files();
        let file = create()?;
        files.insert(file.path().to_owned());
        let removed = RemovedOnInterrupt(file.path().to_owned());
        Ok((file, removed))
    }
}

impl Drop for RemovedOnInterrupt {
    fn drop(&mut self) {
        temporary_files().remove(&self.0);
    }
}

/// Installs the handler, once.
pub(crate) fn set_up() {
    static SET_UP: Once = Once::new();
    // Where Ctrl-C is ignored, as in the background of a script, it stays so. If this fails, a temporary file may be left.
    SET_UP.call_once(|| {
        let is_set_up = ctrlc::try_set_handler(remove_and_exit).is_ok();
        IS_SET_UP.store(is_set_up, Ordering::Relaxed);
    });
}

/// Ends the program as with Ctrl-C, but with the status of a failure. Returns `false` if the handler is not installed. It
/// is safe in a signal handler.
#[cfg(unix)]
pub(crate) fn fail() -> bool {
    use nix::sys::signal::{Signal, raise};

    STATUS.store(crate::exit_status::ExitStatus::Failure as i32, Ordering::Relaxed);
    IS_SET_UP.load(Ordering::Relaxed) && raise(Signal::SIGINT).is_ok()
}

/// Removes the files and ends the program. It runs in its own thread, so it may wait for the lock, and keeps it: no other
/// file is begun.
fn remove_and_exit() {
    let files = temporary_files();
    for file in files.iter() {
        // The file may just have been renamed.
        let _ = std::fs::remove_file(file);
    }
    #[expect(clippy::exit, reason = "`main` is busy and cannot be asked")]
    std::process::exit(STATUS.load(Ordering::Relaxed))
}
