//! Errors in the files of the gate, with their locations.

use std::fmt;
use std::path::PathBuf;

use gristmill_output::printable_path;

/// An error in the configuration or in the baseline. See the example of [`Config`](crate::Config).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Line of the error, or 0 if it is about the whole file.
    pub line: usize,
    /// A message without the location.
    pub message: String,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = printable_path(&self.path);
        match self.line {
            0 => write!(f, "{path}: {}", self.message),
            line => write!(f, "{path}:{line}: {}", self.message),
        }
    }
}

impl std::error::Error for FileError {}

/// Returns the line number of a byte.
pub(crate) fn line_at(text: &str, byte_offset: usize) -> usize {
    1 + text.bytes().take(byte_offset).filter(|&byte| byte == b'\n').count()
}
