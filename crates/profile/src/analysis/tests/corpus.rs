//! The profiles of the corpus, and those in the folder that `GRISTMILL_CORPUS` names.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A file of a corpus.
pub(crate) struct File {
    /// Its path in the corpus.
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    /// It is of the project's own corpus.
    pub(crate) is_own: bool,
}

/// All files that are neither packed, nor damaged on purpose, nor so large that a test would take long.
pub(crate) fn files() -> Vec<File> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let mut files = Vec::new();
    for (root, is_own) in [(Some(own), true), (env::var_os("GRISTMILL_CORPUS").map(PathBuf::from), false)] {
        let Some(root) = root else { continue };
        let mut paths = Vec::new();
        walk(&root, &mut paths);
        paths.sort();
        for path in paths {
            let bytes = fs::read(&path).unwrap();
            let is_packed = bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(b"\x28\xb5\x2f\xfd");
            if !is_packed && bytes.len() <= 4 << 20 {
                let name = path.strip_prefix(&root).unwrap().display().to_string().replace('\\', "/");
                files.push(File { name, bytes, is_own });
            }
        }
    }
    files
}

fn walk(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true if path.ends_with("src") || path.ends_with("malformed") => {}
            true => walk(&path, paths),
            false => paths.push(path),
        }
    }
}
