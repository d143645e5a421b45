//! Paths that are equal if they lead to the same file.

use std::path::{Path, PathBuf};

/// Returns the path of a file without links, or the path itself if there is no such file.
pub(crate) fn canonical(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}
