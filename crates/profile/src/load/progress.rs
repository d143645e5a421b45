//! Tells how much was read.

use std::fmt;
use std::sync::{Mutex, PoisonError};

/// So many bytes of a piece are read before it is told of.
pub(super) const TOLD: u64 = 1 << 20;

/// How much all threads together have read.
pub(super) struct Progress<'f> {
    tell: Option<&'f (dyn Fn(u64) + Sync)>,
    read: Mutex<u64>,
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("read", &self.read).finish_non_exhaustive()
    }
}

impl<'f> Progress<'f> {
    pub(super) fn new(tell: Option<&'f (dyn Fn(u64) + Sync)>) -> Self {
        Progress { tell, read: Mutex::new(0) }
    }

    /// So many bytes more were read. It is told under the lock, so that what is told never goes back.
    pub(super) fn add(&self, bytes: u64) {
        self.change(|read| read + bytes);
    }

    /// So many bytes were read in all: of pieces that had to be read again nothing was told, or too much.
    pub(super) fn reach(&self, bytes: u64) {
        self.change(|read| read.max(bytes));
    }

    fn change(&self, change: impl FnOnce(u64) -> u64) {
        if let Some(tell) = self.tell {
            let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
            *read = change(*read);
            tell(*read);
        }
    }
}
