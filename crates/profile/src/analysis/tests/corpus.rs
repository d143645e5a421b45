//! The profiles of the corpus, and those in the folder that `GRISTMILL_CORPUS` names.

use crate::files::files_outside;

pub(crate) use crate::files::File;

/// All files that are neither damaged on purpose, nor so large that a test would take long.
pub(crate) fn files() -> Vec<File> {
    let mut files = files_outside(&["src", "malformed"]);
    files.retain(|file| file.bytes.len() <= 4 << 20);
    files
}
