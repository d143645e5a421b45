//! Source files as they are shown: without the working directory, and each once.

use std::collections::HashMap;

use gristmill_profile::{FileId, Profile};

/// A number for a source file as it is shown.
pub(super) type DisplayFile = usize;

/// The source files of a profile as they are shown. Two paths of the profile may be the same file.
#[derive(Debug, Clone)]
pub(super) struct DisplayFiles {
    names: Vec<Vec<u8>>,
    /// The first file of the profile that is shown so.
    firsts: Vec<FileId>,
    of: Vec<DisplayFile>,
    by_name: HashMap<Vec<u8>, DisplayFile>,
}

impl DisplayFiles {
    /// Leaves off `directory` where a path begins with it.
    pub(super) fn new(profile: &Profile, directory: Option<&[u8]>) -> Self {
        let directory = directory.filter(|directory| !directory.is_empty());
        let mut files =
            DisplayFiles { names: Vec::new(), firsts: Vec::new(), of: Vec::new(), by_name: HashMap::new() };
        for file in (0..profile.file_count()).map(FileId::new) {
            let path = profile.file(file);
            let below = directory.and_then(|directory| path.strip_prefix(directory)?.strip_prefix(b"/"));
            let name = below.unwrap_or(path);
            let next = files.names.len();
            let shown = *files.by_name.entry(name.to_vec()).or_insert(next);
            if shown == next {
                files.names.push(name.to_vec());
                files.firsts.push(file);
            }
            files.of.push(shown);
        }
        files
    }

    /// How a file of the profile is shown.
    pub(super) fn of(&self, file: FileId) -> DisplayFile {
        self.of.get(file.index()).copied().unwrap_or_default()
    }

    /// Its name.
    pub(super) fn name(&self, file: DisplayFile) -> &[u8] {
        self.names.get(file).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first file of the profile that is shown so: its path is the full one.
    pub(super) fn first(&self, file: DisplayFile) -> Option<FileId> {
        self.firsts.get(file).copied()
    }

    /// The file of this name.
    pub(super) fn find(&self, name: &[u8]) -> Option<DisplayFile> {
        self.by_name.get(name).copied()
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }
}
