//! Profiles that a full disk left empty.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// Bytes that are written to find out. A profile needs more than a few.
const TRIED_BYTES: usize = 64 << 10;

/// `true` if nothing can be written to an empty file. Callgrind leaves a file empty if the process runs another program in its place,
/// and if the disk is full at the end, without a word.
pub(crate) fn cannot_be_written(empty: &Path) -> bool {
    let Ok(mut file) = OpenOptions::new().write(true).open(empty) else { return true };
    let written = file.write_all(&[0; TRIED_BYTES]).and_then(|()| file.sync_data());
    // That it is empty again does not matter.
    let _ = file.set_len(0);
    written.is_err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_can_be_written_stays_empty() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("empty");
        std::fs::write(&path, "").unwrap();
        assert!(!cannot_be_written(&path));
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 0);
        assert!(cannot_be_written(folder.path()));
        #[cfg(target_os = "linux")]
        assert!(cannot_be_written(Path::new("/dev/full")));
    }
}
