//! The file of the program, while it is looked at: processes that the program has forked can write the same one, and do so at their end.

use std::path::Path;

/// Waits until nobody writes a file, and keeps others from it until the end of what is returned. `None` if it cannot be locked.
#[cfg(unix)]
pub(super) fn hold(path: &Path) -> Option<nix::fcntl::Flock<std::fs::File>> {
    use std::fs::File;
    use std::time::{Duration, Instant};

    use nix::errno::Errno;
    use nix::fcntl::{Flock, FlockArg};

    /// The time that a writer may take.
    const MAX_WAIT: Duration = Duration::from_secs(10);
    const BETWEEN_TRIES: Duration = Duration::from_millis(1);

    // To open a pipe would wait for its writer.
    let mut file = if path.metadata().ok()?.is_file() { File::open(path).ok()? } else { return None };
    let start = Instant::now();
    loop {
        match Flock::lock(file, FlockArg::LockSharedNonblock) {
            Ok(held) => return Some(held),
            Err((unlocked, Errno::EWOULDBLOCK | Errno::EINTR)) if start.elapsed() < MAX_WAIT => {
                file = unlocked;
                std::thread::sleep(BETWEEN_TRIES);
            }
            Err(_) => return None,
        }
    }
}

/// Holds nothing: there is no recorder.
#[cfg(not(unix))]
pub(super) fn hold(_: &Path) -> Option<std::convert::Infallible> {
    None
}
