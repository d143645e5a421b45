//! The files that may be read as programs.
//!
//! A profile, and a program, may name any file: only regular files are opened, and with `--programs-below` or
//! `--sources-below` only those below its directories. A large file is mapped, so what is not looked at costs no memory.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use gristmill_code::{BuildId, FileBytes, FileSource, FileSystem, Wanted, WeakFileBytes};

use super::debuginfod::Debuginfod;
use crate::confined::{Confinement, is_absent};

/// The bytes of programs that are read, all together. Those of a usual profile have fewer; of one that names all programs of a
/// system, the others are mapped, which takes memory only for what is looked at.
const MAX_READ_BYTES: u64 = 64 << 20;

/// The largest file where files cannot be mapped: all of it is in memory.
#[cfg(not(unix))]
const MAX_BYTES: u64 = 1 << 30;

/// The files of this machine that may be read, and what servers have.
pub(super) struct ProgramFiles {
    /// The directories that programs must be below.
    below: Confinement,
    /// The servers to ask for what is not here.
    pub(super) servers: Option<Debuginfod>,
    /// The bytes of files that were read instead of mapped.
    read_bytes: AtomicU64,
    /// The open files, by the path without links: debug information can name one file in thousands of ways.
    open: Mutex<HashMap<PathBuf, WeakFileBytes>>,
}

impl ProgramFiles {
    pub(super) fn new(below: Confinement, servers: Option<Debuginfod>) -> Self {
        ProgramFiles { below, servers, read_bytes: AtomicU64::new(0), open: Mutex::default() }
    }

    /// Opens a file by its path without links, which may have changed since.
    pub(super) fn open_resolved(&self, canonical: PathBuf) -> io::Result<FileBytes> {
        self.below.check(&canonical)?;
        let metadata = std::fs::metadata(&canonical)?;
        if !metadata.is_file() {
            return Err(io::Error::other("is no regular file"));
        }
        #[cfg(not(unix))]
        if metadata.len() > MAX_BYTES {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("is larger than {} MiB", MAX_BYTES >> 20),
            ));
        }
        // A program that is replaced while it is read keeps its bytes; one that is truncated ends the command with a message.
        #[cfg(unix)]
        crate::fatal_signals::expect_truncation();
        let known = || self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bytes) = known().get(&canonical).and_then(WeakFileBytes::upgrade) {
            return Ok(bytes);
        }
        let left = MAX_READ_BYTES.saturating_sub(self.read_bytes.load(Ordering::Relaxed));
        let (file, _) = self.below.open(&canonical)?;
        let bytes = FileSystem.read(&file, left)?;
        let size = bytes.len() as u64;
        self.read_bytes.fetch_add(if size > left { 0 } else { size }, Ordering::Relaxed);
        known().insert(canonical, bytes.downgrade());
        Ok(bytes)
    }
}

impl FileSource for ProgramFiles {
    fn open(&self, path: &Path) -> io::Result<Option<FileBytes>> {
        match std::fs::canonicalize(path).and_then(|canonical| self.open_resolved(canonical)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn fetch(&self, build_id: &BuildId, wanted: Wanted) -> io::Result<Option<FileBytes>> {
        match &self.servers {
            Some(servers) => servers.fetch(build_id, wanted),
            None => Ok(None),
        }
    }
}
