//! Reports how many bytes were read.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// Bytes of a chunk between two reports.
pub(super) const REPORT_BYTES: u64 = 1 << 20;

/// The number of bytes that all threads together have read.
pub(super) struct Progress<'f> {
    report: Option<&'f (dyn Fn(u64) + Sync)>,
    read: Mutex<u64>,
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("read", &self.read).finish_non_exhaustive()
    }
}

impl<'f> Progress<'f> {
    pub(super) fn new(report: Option<&'f (dyn Fn(u64) + Sync)>) -> Self {
        Progress { report, read: Mutex::new(0) }
    }

    /// Adds bytes that were read. The lock is held during the report, so that reports never decrease.
    pub(super) fn add(&self, bytes: u64) {
        self.change(|read| read + bytes);
    }

    /// Raises the number to this at the end of an input: what is read again may not have been reported. If more was
    /// reported, it stays.
    pub(super) fn reach(&self, bytes: u64) {
        self.change(|read| read.max(bytes));
    }

    fn change(&self, change: impl FnOnce(u64) -> u64) {
        if let Some(report) = self.report {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            *read = change(*read);
            report(*read);
        }
    }
}
