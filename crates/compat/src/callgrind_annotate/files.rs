//! Source files as they are shown: each once, without the working directory.

use std::collections::HashMap;

use gristmill_profile::{FileId, Profile};

/// A source file as it is shown, numbered by [`DisplayFiles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DisplayFile(usize);

impl DisplayFile {
    /// Returns the index into tables of shown files.
    pub(super) fn index(self) -> usize {
        self.0
    }
}

/// The source files of a profile as they are shown. Two paths of the profile may be shown as one file.
#[derive(Debug, Clone)]
pub(super) struct DisplayFiles {
    names: Vec<Vec<u8>>,
    /// The first file of the profile for each shown file.
    firsts: Vec<FileId>,
    of: Vec<DisplayFile>,
    by_name: HashMap<Vec<u8>, DisplayFile>,
}

impl DisplayFiles {
    /// Omits `directory` at the beginning of paths.
    pub(super) fn new(profile: &Profile, directory: Option<&[u8]>) -> Self {
        let directory = directory.filter(|directory| !directory.is_empty());
        let mut files =
            DisplayFiles { names: Vec::new(), firsts: Vec::new(), of: Vec::new(), by_name: HashMap::new() };
        for file in profile.files() {
            let path = profile.file(file);
            let below = directory.and_then(|directory| path.strip_prefix(directory)?.strip_prefix(b"/"));
            let name = below.unwrap_or(path);
            let next = DisplayFile(files.names.len());
            let shown = *files.by_name.entry(name.to_vec()).or_insert(next);
            if shown == next {
                files.names.push(name.to_vec());
                files.firsts.push(file);
            }
            files.of.push(shown);
        }
        files
    }

    /// The shown file of a file of the profile.
    pub(super) fn of(&self, file: FileId) -> DisplayFile {
        self.of[file.index()]
    }

    /// The shown name of a file.
    pub(super) fn name(&self, file: DisplayFile) -> &[u8] {
        &self.names[file.0]
    }

    /// The first file of the profile that is shown as this one: its path is complete.
    pub(super) fn first(&self, file: DisplayFile) -> FileId {
        self.firsts[file.0]
    }

    /// Finds a file by its shown name.
    pub(super) fn find(&self, name: &[u8]) -> Option<DisplayFile> {
        self.by_name.get(name).copied()
    }

    /// The count of shown files.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}
