//! The bytes of a file.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// The bytes of a file, in memory or mapped. A clone shares them.
///
/// ```
/// use gristmill_code::FileBytes;
///
/// let bytes = FileBytes::from(vec![1, 2, 3]);
/// assert_eq!(bytes[..], [1, 2, 3]);
/// ```
#[derive(Clone)]
pub struct FileBytes(Arc<Storage>);

enum Storage {
    Owned(Vec<u8>),
    #[cfg(unix)]
    Mapped(memmap2::Mmap),
}

impl FileBytes {
    #[cfg(unix)]
    pub(crate) fn mapped(map: memmap2::Mmap) -> Self {
        Self(Arc::new(Storage::Mapped(map)))
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0 {
            Storage::Owned(bytes) => bytes,
            #[cfg(unix)]
            Storage::Mapped(map) => map,
        }
    }
}

impl From<Vec<u8>> for FileBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Storage::Owned(bytes)))
    }
}

impl fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.len())
    }
}
