//! Search for programs and their debug information.

use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::{BuildId, Error, ErrorKind, FileBytes, FileSource, Wanted};

/// Finds programs and their debug information.
///
/// A program is looked for where a profile says, after the [mappings](Locator::map). Its debug information can be in other files:
///
/// | file | looked for |
/// |---|---|
/// | separate debug information | `DIR/.build-id/xx/yyyy.debug`, then the name in `.gnu_debuglink` beside the program, in `.debug` beside it, in `DIR/path/of/program` and in `DIR`, then by [`FileSource::fetch`] |
/// | shared debug information of dwz (`.gnu_debugaltlink`) | its path, relative to the file that names it, then `DIR/.build-id` |
/// | split debug information | the package `PROGRAM.dwp`, then each `.dwo` where the program says, after the mappings, then beside the program |
///
/// `DIR` is each [debug directory](Locator::debug_directory). A file is taken only if it belongs to the program: its build id is equal,
/// or its checksum is that of `.gnu_debuglink`, or its id is that of the `.dwo`.
///
/// ```
/// use gristmill_code::{Binary, FileSystem, Locator};
///
/// let locator = Locator::new(FileSystem)
///     .map("/build/mill", "/srv/mill")
///     .debug_directory(Locator::SYSTEM_DEBUG_DIRECTORY);
/// let error = Binary::open("/build/mill/grind", &locator).unwrap_err();
/// assert_eq!(error.to_string(), "/build/mill/grind: no such file; tried /srv/mill/grind, /build/mill/grind");
/// ```
#[derive(Clone)]
pub struct Locator {
    files: Arc<dyn FileSource>,
    mappings: Vec<(PathBuf, PathBuf)>,
    debug_directories: Vec<PathBuf>,
}

/// A file that was found. See the example of [`FileSource`].
#[derive(Debug, Clone)]
pub struct FoundFile {
    /// Its path.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: FileBytes,
}

impl Locator {
    /// The directory in which Linux distributions put separate debug information. It is looked at only if it is added.
    pub const SYSTEM_DEBUG_DIRECTORY: &str = "/usr/lib/debug";

    /// Makes a locator that opens files through a source.
    pub fn new(files: impl FileSource + 'static) -> Self {
        Self { files: Arc::new(files), mappings: Vec::new(), debug_directories: Vec::new() }
    }

    /// Adds a mapping: a path that begins with the directories `from`, or is equal to it, is looked for under `to` first. Later
    /// mappings come before earlier ones.
    #[must_use]
    pub fn map(mut self, from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Self {
        self.mappings.push((from.into(), to.into()));
        self
    }

    /// Adds a directory of debug information.
    #[must_use]
    pub fn debug_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.debug_directories.push(directory.into());
        self
    }

    /// Opens a file where its path says, after the mappings.
    ///
    /// # Errors
    ///
    /// If there is a file that cannot be read.
    pub fn open(&self, path: &Path) -> Result<Option<FoundFile>, Error> {
        for path in self.candidates(path) {
            if let Some(bytes) = self.read(&path)? {
                return Ok(Some(FoundFile { path, bytes }));
            }
        }
        Ok(None)
    }

    /// Returns the paths at which a file can be, in the order in which they are tried.
    pub fn candidates(&self, path: &Path) -> Vec<PathBuf> {
        let mapped = self.mappings.iter().rev().filter_map(|(from, to)| {
            let below = path.strip_prefix(from).ok()?;
            Some(if below.as_os_str().is_empty() { to.clone() } else { to.join(below) })
        });
        mapped.chain([path.to_owned()]).collect()
    }

    pub(crate) fn read(&self, path: &Path) -> Result<Option<FileBytes>, Error> {
        let unreadable = |error: std::io::Error| {
            Error::new(&path.to_string_lossy(), ErrorKind::Unreadable(error.to_string()))
        };
        self.files.open(path).map_err(unreadable)
    }

    pub(crate) fn fetch(&self, build_id: &BuildId, wanted: Wanted) -> Result<Option<FileBytes>, Error> {
        let unreadable = |error: std::io::Error| {
            Error::new(&format!("build id {build_id}"), ErrorKind::Unreadable(error.to_string()))
        };
        self.files.fetch(build_id, wanted).map_err(unreadable)
    }

    /// Returns the paths of a file in the `.build-id` directories.
    pub(crate) fn build_id_candidates(&self, build_id: &BuildId) -> Vec<PathBuf> {
        let Some((first, rest)) = build_id.as_bytes().split_first() else { return Vec::new() };
        let name = format!(".build-id/{first:02x}/{}.debug", BuildId::from_bytes(rest));
        self.debug_directories.iter().map(|directory| directory.join(&name)).collect()
    }

    /// Returns the paths of the file that `.gnu_debuglink` of a program names.
    pub(crate) fn debug_link_candidates(&self, program: &Path, name: &str) -> Vec<PathBuf> {
        // A name with directories could point anywhere.
        let Some(name) = Path::new(name).file_name() else { return Vec::new() };
        let directory = program.parent().unwrap_or(Path::new(""));
        let mut paths = vec![directory.join(name), directory.join(".debug").join(name)];
        let below: PathBuf =
            directory.components().filter(|component| matches!(component, Component::Normal(_))).collect();
        for debug in &self.debug_directories {
            paths.push(debug.join(&below).join(name));
            paths.push(debug.join(name));
        }
        paths.dedup();
        paths
    }
}

impl fmt::Debug for Locator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Locator")
            .field("mappings", &self.mappings)
            .field("debug_directories", &self.debug_directories)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileSystem;

    fn locator() -> Locator {
        Locator::new(FileSystem).debug_directory("/usr/lib/debug")
    }

    #[test]
    fn later_mappings_come_first_and_whole_components_count() {
        let locator = locator().map("/a", "/x").map("/a/b", "/y");
        assert_eq!(locator.candidates(Path::new("/a/b/c")), ["/y/c", "/x/b/c", "/a/b/c"].map(PathBuf::from));
        assert_eq!(locator.candidates(Path::new("/a/b")), ["/y", "/x/b", "/a/b"].map(PathBuf::from));
        assert_eq!(locator.candidates(Path::new("/ab")), [PathBuf::from("/ab")]);
    }

    #[test]
    fn a_debug_link_stays_in_its_directories() {
        let paths = locator().debug_link_candidates(Path::new("/usr/bin/mill"), "../../etc/passwd");
        let expected = [
            "/usr/bin/passwd",
            "/usr/bin/.debug/passwd",
            "/usr/lib/debug/usr/bin/passwd",
            "/usr/lib/debug/passwd",
        ];
        assert_eq!(paths, expected.map(PathBuf::from));
        assert!(locator().debug_link_candidates(Path::new("/usr/bin/mill"), "..").is_empty());
    }

    #[test]
    fn a_build_id_is_split_after_its_first_byte() {
        let paths = locator().build_id_candidates(&BuildId::from_bytes([0x0a, 0xbc, 0xde]));
        assert_eq!(paths, [PathBuf::from("/usr/lib/debug/.build-id/0a/bcde.debug")]);
        assert!(locator().build_id_candidates(&BuildId::from_bytes([])).is_empty());
    }
}
