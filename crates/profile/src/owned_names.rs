//! Interned names that own their text, for adding up and merging profiles.

use crate::id::NameId;
use crate::index::names::{InternedNames, Text, TextStore};

/// Different names, numbered in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnedNames {
    names: InternedNames,
    bytes: OwnedBytes,
}

#[derive(Debug, Clone, Default)]
struct OwnedBytes(Vec<u8>);

impl TextStore for OwnedBytes {
    fn bytes(&self, text: Text) -> &[u8] {
        &self.0[text.start..text.start + text.length]
    }
}

impl OwnedNames {
    /// Returns the index of a name, which is new if the name is.
    pub(crate) fn intern(&mut self, name: &[u8]) -> u32 {
        let text = Text { start: self.bytes.0.len(), length: name.len(), input: None };
        let known = self.names.len();
        let id = self.names.intern(name, || text, &self.bytes);
        if self.names.len() > known {
            self.bytes.0.extend_from_slice(name);
        }
        id.to_u32()
    }

    /// Returns the name with an index.
    pub(crate) fn name(&self, index: u32) -> &[u8] {
        self.bytes.bytes(self.names.text(NameId::from_u32(index)))
    }

    /// Returns how many names there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Returns all names, in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0u32..).take(self.len()).map(|index| self.name(index))
    }
}
