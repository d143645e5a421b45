//! The files that a profile is loaded from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::Path;

/// Files below this size are read: mapping them saves less than a millisecond.
#[cfg(unix)]
const MIN_MAPPED_BYTES: u64 = 16 << 20;

/// A file to load, or one that a profile was loaded from. See the example of [`Loader`](crate::Loader).
#[derive(Clone, PartialEq, Eq)]
pub struct Input {
    /// Name for messages.
    pub name: String,
    /// Contents, decompressed.
    pub bytes: InputBytes,
}

impl Input {
    /// Opens a file, without decompressing it. See [`InputBytes::from_file`].
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or read.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let bytes = InputBytes::from_file(&File::open(path)?)?;
        Ok(Input { name: path.to_string_lossy().into_owned(), bytes })
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).field("len", &self.bytes.len()).finish()
    }
}

/// The bytes of a file: in memory, or mapped. See the example of [`Loader`](crate::Loader).
#[derive(Clone)]
pub struct InputBytes(Repr);

#[derive(Clone)]
enum Repr {
    Owned(Vec<u8>),
    #[cfg(unix)]
    Mapped(std::sync::Arc<memmap2::Mmap>),
}

impl InputBytes {
    /// Returns the contents of a file: [mapped](InputBytes::mapped) if it is large, otherwise read from its current position.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn from_file(mut file: &File) -> io::Result<Self> {
        if let Some(mapped) = Self::mapped(file) {
            return Ok(mapped);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }

    /// Maps a large file. Returns `None` for a small one, and on systems where a mapped file cannot be replaced.
    ///
    /// Generated profiles of 500 MB load in 90% (one event type) to 75% (13 event types) of the time of reading.
    ///
    /// A mapped file must not be truncated as long as there is a profile of it: access to a page that is gone ends the
    /// program (`SIGBUS`). If the file is overwritten, the profile shows a mixture of both contents.
    pub fn mapped(file: &File) -> Option<Self> {
        mapped::whole(file)
    }
}

impl Deref for InputBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Repr::Owned(bytes) => bytes,
            #[cfg(unix)]
            Repr::Mapped(map) => map,
        }
    }
}

impl From<Vec<u8>> for InputBytes {
    fn from(bytes: Vec<u8>) -> Self {
        InputBytes(Repr::Owned(bytes))
    }
}

/// Copies mapped bytes.
impl From<InputBytes> for Vec<u8> {
    fn from(bytes: InputBytes) -> Self {
        match bytes.0 {
            Repr::Owned(bytes) => bytes,
            #[cfg(unix)]
            Repr::Mapped(map) => map.to_vec(),
        }
    }
}

impl fmt::Debug for InputBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}

/// Equal if the bytes are, wherever they are.
impl PartialEq for InputBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for InputBytes {}

#[cfg(unix)]
#[expect(unsafe_code, reason = "mapping a file is; measured at `InputBytes::mapped`")]
mod mapped {
    use std::fs::File;

    use super::{InputBytes, MIN_MAPPED_BYTES, Repr};

    /// Maps a regular file if it is large.
    pub(super) fn whole(file: &File) -> Option<InputBytes> {
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() < MIN_MAPPED_BYTES {
            return None;
        }
        // SAFETY: the bytes are only read, and every value of a byte is valid; offsets found in them are checked against the
        // length at each access. The documentation of `InputBytes::mapped` says what happens if the file is truncated.
        let map = unsafe { memmap2::Mmap::map(file) }.ok()?;
        Some(InputBytes(Repr::Mapped(map.into())))
    }
}

#[cfg(not(unix))]
mod mapped {
    use std::fs::File;

    use super::InputBytes;

    pub(super) fn whole(_: &File) -> Option<InputBytes> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Profile, Selection};

    #[test]
    fn a_mapped_file_loads_like_one_that_is_read() {
        let mut bytes = b"events: Ir\nfl=a.c\n".to_vec();
        let mut function = 0;
        // Long names: few lines are read sooner where nothing is optimised.
        let name = "some_function_".repeat(100);
        while bytes.len() < 17 << 20 {
            bytes.extend_from_slice(format!("fn=({function}) {name}{function}\n12 3\n+1 4\n").as_bytes());
            function += 1;
        }
        let folder = std::env::temp_dir().join(format!("gristmill-input-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("large");
        std::fs::write(&path, &bytes).unwrap();
        let profile = Profile::open(&path).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();

        #[cfg(unix)]
        assert!(matches!(profile.inputs()[0].bytes, InputBytes(Repr::Mapped(_))));
        assert_eq!(profile.totals(&Selection::default()), [7 * function]);
        assert_eq!(profile.save(), bytes);
        let read = Profile::from_bytes(bytes);
        assert_eq!(profile.inputs()[0].bytes, read.inputs()[0].bytes);
        assert_eq!(profile.index, read.index);
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let error = Profile::open("no/such/file").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
