//! Access to files, which the caller gives to the library.

use std::fmt;
use std::io;
use std::path::Path;

use crate::FileBytes;

/// Opens files for the library, which itself opens none.
///
/// [`FileSystem`](crate::FileSystem) is the one for files of this machine. A viewer in a browser has another one, and a program that
/// fetches files from a server implements [`fetch`](FileSource::fetch).
///
/// ```
/// use std::{collections::BTreeMap, io, path::{Path, PathBuf}};
/// use gristmill_code::{FileBytes, FileSource, Locator};
///
/// struct Archive(BTreeMap<PathBuf, FileBytes>);
///
/// impl FileSource for Archive {
///     fn open(&self, path: &Path) -> io::Result<Option<FileBytes>> {
///         Ok(self.0.get(path).cloned())
///     }
/// }
///
/// let archive = Archive([("/srv/mill".into(), vec![0; 4].into())].into());
/// let locator = Locator::new(archive).map("/home/miller", "/srv");
/// let found = locator.open(Path::new("/home/miller/mill"))?.unwrap();
/// assert_eq!(found.path, Path::new("/srv/mill"));
/// # Ok::<(), gristmill_code::Error>(())
/// ```
pub trait FileSource: Send + Sync {
    /// Opens a file. `Ok(None)` if there is none at this path.
    ///
    /// # Errors
    ///
    /// If there is a file that cannot be read.
    fn open(&self, path: &Path) -> io::Result<Option<FileBytes>>;

    /// Fetches a file by its build id, from a server or a cache. It is asked last, after all paths.
    ///
    /// # Errors
    ///
    /// If the file should be there but cannot be fetched.
    fn fetch(&self, build_id: &BuildId, wanted: Wanted) -> io::Result<Option<FileBytes>> {
        let _ = (build_id, wanted);
        Ok(None)
    }
}

/// A file that belongs to a build id. See the example of [`BuildId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// The program or library itself.
    Program,
    /// Its debug information.
    DebugInfo,
}

/// The build id of a file: bytes that the linker made from its contents.
///
/// ```
/// use gristmill_code::{BuildId, Wanted};
///
/// let id = BuildId::from_bytes([0x3f, 0x01, 0xab]);
/// assert_eq!(id.to_string(), "3f01ab");
/// // Where a debuginfod server has it.
/// let wanted = Wanted::DebugInfo;
/// let kind = if wanted == Wanted::DebugInfo { "debuginfo" } else { "executable" };
/// assert_eq!(format!("buildid/{id}/{kind}"), "buildid/3f01ab/debuginfo");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuildId(Box<[u8]>);

impl BuildId {
    /// Makes a build id from its bytes.
    pub fn from_bytes(bytes: impl AsRef<[u8]>) -> Self {
        Self(bytes.as_ref().into())
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BuildId({self})")
    }
}
