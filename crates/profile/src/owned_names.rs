//! Names of whoever adds up or merges profiles, each kept once.

use crate::index::names::{Bytes, MADE, Names, Text};

/// Names by number, in the order in which they first came.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameList {
    names: Names,
    bytes: Kept,
}

#[derive(Debug, Clone, Default)]
struct Kept(Vec<u8>);

impl Bytes for Kept {
    fn bytes(&self, text: Text) -> &[u8] {
        self.0.get(text.at..text.at + text.len).unwrap_or_default()
    }
}

impl NameList {
    /// The number of a name, which gets one if it has none.
    pub(crate) fn number(&mut self, name: &[u8]) -> u32 {
        let text = Text { at: self.bytes.0.len(), len: name.len(), place: MADE };
        let known = self.names.len();
        let number = self.names.intern(name, || text, &self.bytes);
        if self.names.len() > known {
            self.bytes.0.extend_from_slice(name);
        }
        number
    }

    /// The name with this number; nothing where there is none.
    pub(crate) fn name(&self, number: u32) -> &[u8] {
        self.bytes.bytes(self.names.text(number))
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// All of them, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0u32..).take(self.len()).map(|number| self.name(number))
    }
}
