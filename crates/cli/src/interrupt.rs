//! Ctrl-C while a file is being written: what is half written goes, and the program ends with 130, as shells expect.
//!
//! Before the first such file nothing is set up, and Ctrl-C ends the program as it ends any other.

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use tempfile::NamedTempFile;

/// What the program ends with: of Ctrl-C, as long as nothing else is to blame.
static STATUS: AtomicI32 = AtomicI32::new(130);

/// Ctrl-C does what is said here.
static IS_SET_UP: AtomicBool = AtomicBool::new(false);

static HALF_WRITTEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn half_written() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    // A set of paths is whole even if somebody panicked who had it.
    HALF_WRITTEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// For as long as this is there, Ctrl-C removes the file.
#[derive(Debug)]
pub(crate) struct RemovedOnInterrupt(PathBuf);

impl RemovedOnInterrupt {
    /// Creates a temporary file.
    pub(crate) fn create(
        create: impl FnOnce() -> io::Result<NamedTempFile>,
    ) -> io::Result<(NamedTempFile, RemovedOnInterrupt)> {
        set_up();
        // Whoever presses Ctrl-C now waits until the file is known.
        let mut files = half_written();
        let file = create()?;
        files.insert(file.path().to_owned());
        let removed = RemovedOnInterrupt(file.path().to_owned());
        Ok((file, removed))
    }
}

impl Drop for RemovedOnInterrupt {
    fn drop(&mut self) {
        half_written().remove(&self.0);
    }
}

/// From here on, Ctrl-C removes what is half written.
pub(crate) fn set_up() {
    static SET_UP: Once = Once::new();
    // Where Ctrl-C is ignored, as in the background of a script, it stays so. Should it fail, a file may be left behind at
    // worst.
    SET_UP.call_once(|| {
        let is_set_up = ctrlc::try_set_handler(remove_and_exit).is_ok();
        IS_SET_UP.store(is_set_up, Ordering::Relaxed);
    });
}

/// The program is about to end as with Ctrl-C, only that it has failed; false where nothing was set up for that. A signal
/// handler may do this.
#[cfg(unix)]
pub(crate) fn fail() -> bool {
    use nix::sys::signal::{Signal, raise};

    STATUS.store(crate::exit_status::ExitStatus::Failure as i32, Ordering::Relaxed);
    IS_SET_UP.load(Ordering::Relaxed) && raise(Signal::SIGINT).is_ok()
}

/// Runs in a thread of its own, so it may wait for the lock. It is never given back: no other file begins.
fn remove_and_exit() {
    let files = half_written();
    for file in files.iter() {
        // It may have got its name in this moment.
        let _ = std::fs::remove_file(file);
    }
    #[expect(clippy::exit, reason = "`main` is busy and cannot be asked")]
    std::process::exit(STATUS.load(Ordering::Relaxed))
}
