//! The files that a profile is loaded from.

use std::fmt;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Deref;
use std::path::Path;

/// Smaller files are read: what it saves to map them is not worth a millisecond.
#[cfg(unix)]
const LEAST_MAPPED: u64 = 16 << 20;

/// A file to be loaded, or the file that a part came from.
#[derive(Clone, PartialEq, Eq)]
pub struct Input {
    /// What it is called, for messages only.
    pub name: String,
    /// What is in it, not packed.
    pub bytes: InputBytes,
}

impl Input {
    /// A file as it is: what is packed stays packed. See [`InputBytes::of_file`].
    ///
    /// # Errors
    ///
    /// Those of opening and reading.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let path = path.as_ref();
        let bytes = InputBytes::of_file(&File::open(path)?)?;
        Ok(Input { name: path.to_string_lossy().into_owned(), bytes })
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).field("len", &self.bytes.len()).finish()
    }
}

/// The bytes of a file: in memory, or where the system keeps the file.
#[derive(Clone)]
pub struct InputBytes(Repr);

#[derive(Clone)]
enum Repr {
    Owned(Vec<u8>),
    #[cfg(unix)]
    Mapped(std::sync::Arc<memmap2::Mmap>),
}

impl InputBytes {
    /// What is in a file: [mapped](InputBytes::mapped) if it is large, else read from where it stands.
    ///
    /// # Errors
    ///
    /// Those of reading.
    pub fn of_file(mut file: &File) -> io::Result<Self> {
        if let Some(mapped) = Self::mapped(file) {
            return Ok(mapped);
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes.into())
    }

    /// All of a large file, mapped instead of read; None for any other, and on systems that do not let a mapped file be
    /// replaced. Generated profiles of 500 MB load in nine tenths (a single event type) to three quarters (13) of the time.
    ///
    /// A mapped file must not be cut short as long as there is a profile of it: where a page is no longer there, the system
    /// ends the program (`SIGBUS`). If something else is written into it, the profile is of both.
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

/// Mapped ones are copied.
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

/// Equal when the bytes are, wherever they are.
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

    use super::{InputBytes, LEAST_MAPPED, Repr};

    /// All of a plain file, where it is large.
    pub(super) fn whole(file: &File) -> Option<InputBytes> {
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() < LEAST_MAPPED {
            return None;
        }
        // SAFETY: the bytes are only read, and as bytes, of which every value is valid; what is found in them is checked
        // against where they end, not taken on trust from an earlier look. That they end elsewhere all of a sudden is in the
        // documentation of `InputBytes::mapped`.
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
    fn large_files_are_as_if_they_were_read() {
        let mut bytes = b"events: Ir\nfl=a.c\n".to_vec();
        let mut function = 0;
        while bytes.len() < 17 << 20 {
            bytes.extend_from_slice(
                format!("fn=({function}) some_function_{function}\n12 3\n+1 4\n").as_bytes(),
            );
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
        let read = Profile::of(bytes);
        assert_eq!(profile.inputs()[0].bytes, read.inputs()[0].bytes);
        assert_eq!(profile.index, read.index);
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        let error = Profile::open("no/such/file").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }
}
