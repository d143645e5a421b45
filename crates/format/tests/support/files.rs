//! The files that lie in the corpus, and in the folder that `GRISTMILL_CORPUS` names.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// A file with the path it is known by.
pub(crate) struct File {
    /// Relative to its corpus, with `/`.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    /// It lies in the corpus that belongs to the project, where every file can be read.
    pub(crate) is_own: bool,
}

/// Of slow cases, one in this many is tried: all with `GRISTMILL_CI` in the environment, otherwise one in `step`.
pub(crate) fn one_in(step: usize) -> usize {
    if env::var_os("GRISTMILL_CI").is_some() { 1 } else { step }
}

/// The corpus of the project.
pub(crate) fn own_corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Another corpus, on request.
pub(crate) fn other_corpus() -> Option<PathBuf> {
    env::var_os("GRISTMILL_CORPUS").map(PathBuf::from)
}

/// The files of both that may be profiles, sorted by path, except for those in folders with these names.
pub(crate) fn files_outside(folders: &[&str]) -> Vec<File> {
    let mut profiles = files_of(&own_corpus(), true, folders, is_profile);
    if let Some(root) = other_corpus() {
        profiles.extend(files_of(&root, false, folders, is_profile));
    }
    profiles
}

/// All files of the project's corpus, also those that are no profiles.
pub(crate) fn own_files() -> Vec<File> {
    files_of(&own_corpus(), true, &[], |_| true)
}

fn files_of(root: &Path, is_own: bool, left_out: &[&str], is_wanted: impl Fn(&str) -> bool) -> Vec<File> {
    let mut paths = Vec::new();
    walk(root, "", left_out, &mut paths);
    paths.retain(|path| is_wanted(path));
    paths.sort();
    assert!(!paths.is_empty(), "no file in {}", root.display());
    let read = |path: String| {
        let bytes = fs::read(root.join(&path)).expect("a file that can be read");
        File { path, bytes, is_own }
    };
    paths.into_iter().map(read).collect()
}

fn walk(root: &Path, folder: &str, left_out: &[&str], paths: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).expect("a folder of files") {
        let entry = entry.expect("an entry of the folder");
        let name = entry.file_name().into_string().expect("a name in UTF-8");
        let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
        if !entry.file_type().expect("a kind of file").is_dir() {
            paths.push(path);
        } else if !left_out.contains(&name.as_str()) {
            walk(root, &path, left_out, paths);
        }
    }
}

fn is_profile(path: &str) -> bool {
    const OTHER_KINDS: [&str; 9] = [".md", ".tsv", ".gz", ".zst", ".xz", ".bz2", ".c", ".h", ".inc"];
    let Some((_, name)) = path.rsplit_once('/') else { return false };
    !name.starts_with('.') && !OTHER_KINDS.iter().any(|kind| name.ends_with(kind))
}
