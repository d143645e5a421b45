//! All files below some directories, to find one by the end of its path.
//!
//! A base name alone says little: there are many a `util.c`. So the file is taken whose path has the most components at
//! its end in common with the one that is looked for, and at least two. If several have as many, all of them are told.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::components;

/// Enough for the sources of a kernel and of a distribution's compilers; their index takes tens of megabytes.
pub(super) const MOST_FILES: usize = 1_000_000;

#[derive(Debug, Default)]
pub(super) struct FileIndex {
    folders: Vec<Folder>,
    /// By base name, the folders that have such a file.
    files: HashMap<OsString, Vec<usize>>,
    /// There are more files than are looked at.
    pub(super) is_cut: bool,
    /// How many directories could not be read.
    pub(super) unreadable: usize,
}

#[derive(Debug)]
enum Folder {
    Root {
        path: PathBuf,
        /// Its components, wherever links and `..` lead.
        components: Vec<Vec<u8>>,
    },
    Below {
        parent: usize,
        name: OsString,
    },
}

/// What was found for a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Match {
    None,
    /// The files with the most components in common, in the order of their paths.
    Best(Vec<PathBuf>),
    /// Files that are called the same and stand in folders that are not.
    NameOnly(Vec<PathBuf>),
}

impl FileIndex {
    /// Looks at all files below. Hidden directories are left out, and so are links to directories, which may lead in
    /// circles.
    pub(super) fn of(roots: &[PathBuf]) -> Self {
        Self::of_at_most(roots, MOST_FILES)
    }

    fn of_at_most(roots: &[PathBuf], most: usize) -> Self {
        let mut index = FileIndex::default();
        let mut count = 0;
        let mut waiting: Vec<(PathBuf, usize)> = Vec::new();
        for path in roots {
            let canonical = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
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
                if count == most {
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
        // Directories that are searched may lie in each other.
        found.dedup_by_key(|path| std::fs::canonicalize(&*path).unwrap_or_else(|_| path.clone()));
        // Above a directory that is searched, paths may well differ; and who asks for a bare name gets it.
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

    /// How many components at the end of `wanted` are those of the folder.
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

    /// Files below a new folder, and where each of the paths is found there.
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
        match FileIndex::of(&[folder.path().to_owned()]).find(path.as_bytes()) {
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
    fn hidden_folders_and_circles_are_left_out() {
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
        let index = FileIndex::of(&[folder.path().to_owned()]);
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
        let index = FileIndex::of(&roots);
        assert_eq!(index.find(b"/build/two/x.c"), Match::Best(vec![folder.path().join("two/x.c")]));
        assert_eq!(index.find(b"/build/one/x.c"), Match::Best(vec![folder.path().join("one/../one/x.c")]));
    }

    #[test]
    fn there_is_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..5 {
            std::fs::write(folder.path().join(number.to_string()), "").unwrap();
        }
        assert!(FileIndex::of_at_most(&[folder.path().to_owned()], 4).is_cut);
        assert!(!FileIndex::of_at_most(&[folder.path().to_owned()], 5).is_cut);
        assert_eq!(FileIndex::of(&[folder.path().join("nowhere")]).unreadable, 1);
    }
}
