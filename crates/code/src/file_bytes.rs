//! The bytes of a file.

use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Weak};

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

/// Bytes of a file that are only kept as long as others use them. See [`FileBytes::downgrade`].
#[derive(Clone)]
pub struct WeakFileBytes(Weak<Storage>);

impl FileBytes {
    /// Returns a reference that does not keep the bytes.
    ///
    /// ```
    /// use gristmill_code::FileBytes;
    ///
    /// let bytes = FileBytes::from(vec![1, 2, 3]);
    /// let weak = bytes.downgrade();
    /// assert_eq!(weak.upgrade().unwrap()[..], [1, 2, 3]);
    /// drop(bytes);
    /// assert!(weak.upgrade().is_none());
    /// ```
    pub fn downgrade(&self) -> WeakFileBytes {
        WeakFileBytes(Arc::downgrade(&self.0))
    }

    #[cfg(unix)]
    pub(crate) fn mapped(map: memmap2::Mmap) -> Self {
        Self(Arc::new(Storage::Mapped(map)))
    }
}

impl WeakFileBytes {
    /// Returns the bytes, if something still uses them.
    pub fn upgrade(&self) -> Option<FileBytes> {
        self.0.upgrade().map(FileBytes)
    }
}

impl fmt::Debug for WeakFileBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("bytes of a file")
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
