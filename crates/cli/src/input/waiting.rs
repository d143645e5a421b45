//! A message while a pipe or a device has nothing to read.

use std::io::Write as _;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use super::display_name;
use crate::args::is_dash;

/// Time before the message.
const MESSAGE_DELAY: Duration = Duration::from_secs(3);

/// A guard: if it exists for some time, a message on standard error says what is waited for.
pub(crate) struct Waiting {
    /// The thread ends when this is dropped.
    _done: Sender<()>,
}

impl Waiting {
    /// Begins to wait for a file that is about to be opened, which may block if it is a pipe or a device. Standard input
    /// waits in silence, as it does everywhere.
    pub(crate) fn begin(path: &Path) -> Option<Waiting> {
        let metadata = std::fs::metadata(path).ok()?;
        // A file of the system, as in /proc, has no size, and may have nothing to read either.
        let has_data = metadata.is_file() && metadata.len() > 0;
        if is_dash(path) || has_data || metadata.is_dir() {
            return None;
        }
        let message =
            format!("gristmill: {}: waiting for data: it is a pipe or a device\n", display_name(path));
        let (done, is_done) = mpsc::channel::<()>();
        // Without a thread there is no message.
        let _ = thread::Builder::new().spawn(move || {
            if is_done.recv_timeout(MESSAGE_DELAY) == Err(RecvTimeoutError::Timeout) {
                // If standard error is closed, there is nowhere to report it.
                let _ = std::io::stderr().write_all(message.as_bytes());
            }
        });
        Some(Waiting { _done: done })
    }
}
