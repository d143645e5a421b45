//! An index of all files below some directories, which finds a file by the end of its path.
//!
//! A base name alone says little: many files are named `util.c`. So a match has at least two components at the end of
//! both paths, and the file with the most such components is taken. If several have as many, all of them are named.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::components;
use crate::canonical::canonical;

/// The limit of files: enough for a kernel and the compilers of a distribution. The index takes tens of megabytes.
pub(super) const MAX_FILES: usize = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct FileIndex {
    folders: Vec<Folder>,
    /// The directories that have a file of a base name.
    files: HashMap<OsString, Vec<usize>>,
    /// `true` if there are more files than the limit.
    pub(super) is_cut: bool,
    /// The count of unreadable directories.
    pub(super) unreadable: usize,
}

#[derive(Debug)]
enum Folder {
    Root {
        path: PathBuf,
        /// The components of the canonical path.
        components: Vec<Vec<u8>>,
    },
    Below {
        parent: usize,
        name: OsString,
    },
}

/// The result of a search.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Match {
    None,
    /// The files with the longest common end, sorted by path.
    Best(Vec<PathBuf>),
    /// Files of the same name in directories of other names.
    NameOnly(Vec<PathBuf>),
}

impl FileIndex {
    /// Indexes all files below directories. Hidden directories are skipped, and so are links to directories, which may
    /// form a loop.
    pub(super) fn new(roots: &[PathBuf]) -> Self {
        Self::with_limit(roots, MAX_FILES)
    }

    fn with_limit(roots: &[PathBuf], max_files: usize) -> Self {
        let mut index = FileIndex::default();
        let mut count = 0;
        let mut waiting: Vec<(PathBuf, usize)> = Vec::new();
        for path in roots {
            let canonical = canonical(path);
            let components = components(canonical.as_os_str().as_encoded_bytes())
                .into_iter()
                .map(<[u8]>::to_vec)
                .collect();
            waiting.push((path.clone(), index.folders.len()));
            index.folders.push(Folder::Root { path: path.clone(), components });
        }
        while let Some((path, folder)) = waiting.pop() {
            let Ok(entries) = std::fs::read_dir(&path) else {
                index.unreadable += 1;
                continue;
            };
            for entry in entries.flatten() {
                let name = entry.file_name();
                let Ok(kind) = entry.file_type() else { continue };
                if kind.is_dir() {
                    if !name.as_encoded_bytes().starts_with(b".") {
                        waiting.push((entry.path(), index.folders.len()));
                        index.folders.push(Folder::Below { parent: folder, name });
                    }
                    continue;
                }
                let is_file = kind.is_file() || std::fs::metadata(entry.path()).is_ok_and(|it| it.is_file());
                if !is_file {
                    continue;
                }
                if count == max_files {
                    index.is_cut = true;
                    return index;
                }
                count += 1;
                index.files.entry(name).or_default().push(folder);
            }
        }
        index
    }

    pub(super) fn find(&self, path: &[u8]) -> Match {
        let wanted = components(path);
        let Some((base, folders)) = wanted.split_last() else { return Match::None };
        let Some(base) = super::path_of(base).map(PathBuf::into_os_string) else { return Match::None };
        let mut best: Vec<usize> = Vec::new();
        let mut most = 0;
        for &folder in self.files.get(&base).into_iter().flatten() {
            let same = self.in_common(folder, folders);
            if same > most {
                best.clear();
                most = same;
            }
            if same == most {
                best.push(folder);
            }
        }
        let mut found: Vec<PathBuf> = best.iter().map(|&folder| self.path(folder).join(&base)).collect();
        found.sort_unstable();
        // One searched directory may contain another.
        found.dedup_by_key(|path| canonical(path));
        // Above a searched directory paths may differ. A bare name matches any directory.
        let is_enough = most > 0 || folders.is_empty() || best.iter().all(|&folder| self.is_root(folder));
        match found.is_empty() {
            true => Match::None,
            false if is_enough => Match::Best(found),
            false => Match::NameOnly(found),
        }
    }

    fn is_root(&self, folder: usize) -> bool {
        matches!(self.folders.get(folder), Some(Folder::Root { .. }))
    }

    /// The count of components at the end of `wanted` that equal those of the directory.
    fn in_common(&self, mut folder: usize, wanted: &[&[u8]]) -> usize {
        let mut same = 0;
        let mut rest = wanted.iter().rev();
        loop {
            match self.folders.get(folder) {
                Some(Folder::Below { parent, name }) => {
                    if rest.next().is_none_or(|wanted| *wanted != name.as_encoded_bytes()) {
                        return same;
                    }
                    same += 1;
                    folder = *parent;
                }
                Some(Folder::Root { components, .. }) => {
                    let pairs = rest.zip(components.iter().rev());
                    return same + pairs.take_while(|(wanted, name)| *wanted == name).count();
                }
                None => return same,
            }
        }
    }

    fn path(&self, mut folder: usize) -> PathBuf {
        let mut names = Vec::new();
        loop {
            match self.folders.get(folder) {
                Some(Folder::Below { parent, name }) => {
                    names.push(name);
                    folder = *parent;
                }
                Some(Folder::Root { path, .. }) => return path.join(names.iter().rev().collect::<PathBuf>()),
                None => return Path::new("").to_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files found for a path below a new directory with these files.
    fn found(files: &[&str], path: &str) -> Match {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let place = folder.path().join(file);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, "").unwrap();
        }
        let relative = |found: Vec<PathBuf>| {
            found.iter().map(|path| path.strip_prefix(folder.path()).unwrap().to_owned()).collect()
        };
        match FileIndex::new(&[folder.path().to_owned()]).find(path.as_bytes()) {
            Match::Best(found) => Match::Best(relative(found)),
            Match::NameOnly(found) => Match::NameOnly(relative(found)),
            Match::None => Match::None,
        }
    }

    fn best(paths: &[&str]) -> Match {
        Match::Best(paths.iter().map(PathBuf::from).collect())
    }

    #[test]
    fn the_longest_common_end_wins() {
        let files = ["a/src/x.c", "b/src/x.c", "src/x.c", "x.c", "c/y/x.c"];
        assert_eq!(found(&files, "/build/b/src/x.c"), best(&["b/src/x.c"]));
        assert_eq!(found(&files, "/build/c/y/x.c"), best(&["c/y/x.c"]));
        assert_eq!(found(&files, "/b/./src/z/../x.c"), best(&["b/src/x.c"]));
        assert_eq!(found(&files, "b\\src\\x.c"), best(&["b/src/x.c"]));
    }

    #[test]
    fn equals_are_all_told() {
        let files = ["a/src/x.c", "b/src/x.c"];
        assert_eq!(found(&files, "/build/src/x.c"), best(&["a/src/x.c", "b/src/x.c"]));
        assert_eq!(found(&files, "x.c"), best(&["a/src/x.c", "b/src/x.c"]));
    }

    #[test]
    fn a_name_alone_is_not_enough() {
        let files = ["a/util.c", "main.c"];
        assert_eq!(found(&files, "/build/b/util.c"), Match::NameOnly(vec!["a/util.c".into()]));
        assert_eq!(found(&files, "/build/b/main.c"), best(&["main.c"]));
        assert_eq!(found(&files, "util.c"), best(&["a/util.c"]));
        assert_eq!(found(&files, "/build/b/other.c"), Match::None);
        assert_eq!(found(&files, "/"), Match::None);
    }

    #[test]
    fn hidden_folders_and_link_cycles_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let place = folder.path().join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(place, "").unwrap();
        };
        file(".git/src/x.c");
        file("src/.x.c");
        #[cfg(unix)]
        std::os::unix::fs::symlink("..", folder.path().join("src/up")).unwrap();
        let index = FileIndex::new(&[folder.path().to_owned()]);
        assert_eq!(index.find(b"src/x.c"), Match::None);
        assert_eq!(index.find(b"src/.x.c"), Match::Best(vec![folder.path().join("src/.x.c")]));
        assert_eq!((index.unreadable, index.is_cut), (0, false));
    }

    #[test]
    fn the_folder_itself_has_a_name() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one/x.c", "two/x.c"] {
            std::fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let roots = [folder.path().join("one"), folder.path().join("two"), folder.path().join("one/../one")];
        let index = FileIndex::new(&roots);
        assert_eq!(index.find(b"/build/two/x.c"), Match::Best(vec![folder.path().join("two/x.c")]));
        assert_eq!(index.find(b"/build/one/x.c"), Match::Best(vec![folder.path().join("one/../one/x.c")]));
    }

    #[test]
    fn there_is_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            std::fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        assert!(FileIndex::with_limit(&[folder.path().to_owned()], 4).is_cut);
        assert!(!FileIndex::with_limit(&[folder.path().to_owned()], 5).is_cut);
        assert_eq!(FileIndex::new(&[folder.path().join("nowhere")]).unreadable, 1);
    }
}
