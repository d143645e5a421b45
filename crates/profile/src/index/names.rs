//! Interned names, whose text stays where it is: in the bytes of an input, or in a list of texts that are in no input.

use gristmill_format::raw::{PackedRange, UnpackedRange};

use crate::hash::Seeds;
use crate::id::{InputId, NameId};

/// A range of bytes that hold a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Text {
    pub(crate) start: usize,
    pub(crate) length: usize,
    /// The input that it is in; none for the list of texts that are in no input.
    pub(crate) input: Option<InputId>,
}

/// The bytes that texts are ranges of.
pub(crate) trait TextStore {
    /// Returns the bytes of a text.
    fn bytes(&self, text: Text) -> &[u8];
}

/// The different names of one name space, with an id each: a hash table with open addressing.
#[derive(Debug, Clone, Default)]
pub(crate) struct InternedNames {
    /// As many as a power of two, or none.
    slots: Vec<Slot>,
    texts: Vec<PackedText>,
    /// Texts that do not fit into a [`PackedText`].
    oversized: Vec<Text>,
    seeds: Seeds,
}

/// The hash of a name beside its id, so that texts are hardly ever read: they lie all over the input.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    hash: u32,
    id: Option<NameId>,
}

/// A [`Text`] in half the memory. There may be as many as a fifth of the lines, so nothing is aligned to eight bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(Rust, packed(4))]
struct PackedText {
    range: PackedRange,
    input: Option<InputId>,
}

/// Equal if the same texts, at the same offsets, have the same ids. Slots depend on the seeds, and do not count.
impl PartialEq for InternedNames {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts && self.oversized == other.oversized
    }
}

impl InternedNames {
    /// Creates an empty table with known seeds, so that names can be hashed before they get here.
    pub(crate) fn with_seeds(seeds: Seeds) -> Self {
        InternedNames { seeds, ..InternedNames::default() }
    }

    /// Returns the id of a name, which is new if the name is.
    pub(crate) fn intern(
        &mut self,
        name: &[u8],
        text: impl FnOnce() -> Text,
        store: &impl TextStore,
    ) -> NameId {
        self.intern_hashed(self.seeds.hash_of(name), || name, text, store)
    }

    /// Does the same for a name with a known hash. The name itself is read only if there is one with that hash.
    pub(crate) fn intern_hashed<'n>(
        &mut self,
        hash: u32,
        name: impl Fn() -> &'n [u8],
        text: impl FnOnce() -> Text,
        store: &impl TextStore,
    ) -> NameId {
        if 4 * (self.texts.len() + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let slot = self.slot(hash, name, store);
        match self.slots[slot].id {
            Some(id) => id,
            None => {
                let id = NameId::new(self.texts.len());
                let text = self.pack(text());
                self.texts.push(text);
                self.slots[slot] = Slot { hash, id: Some(id) };
                id
            }
        }
    }

    /// Returns what is in the first slot for a hash, to prefetch it.
    pub(crate) fn first_slot(&self, hash: u32) -> u32 {
        let slot = hash as usize & self.slots.len().wrapping_sub(1);
        self.slots.get(slot).and_then(|slot| slot.id).map_or(0, NameId::to_u32)
    }

    /// Returns the id of a name that has one.
    pub(crate) fn get(&self, name: &[u8], store: &impl TextStore) -> Option<NameId> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(self.seeds.hash_of(name), || name, store)].id
    }

    /// Returns the text of a name.
    #[inline]
    pub(crate) fn text(&self, id: NameId) -> Text {
        self.unpack(self.texts[id.index()])
    }

    #[inline]
    fn unpack(&self, PackedText { range, input }: PackedText) -> Text {
        match range.unpack() {
            UnpackedRange::Range(range) => Text { start: range.start, length: range.len(), input },
            UnpackedRange::Oversized(index) => self.oversized[index],
        }
    }

    fn pack(&mut self, text: Text) -> PackedText {
        let range = PackedRange::new(text.start, text.length).unwrap_or_else(|| {
            self.oversized.push(text);
            PackedRange::oversized(self.oversized.len() - 1)
        });
        PackedText { range, input: text.input }
    }

    /// Returns how many names there are.
    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Returns the length of the longest name, 0 if there is none.
    pub(crate) fn longest(&self) -> usize {
        self.texts.iter().map(|&text| self.unpack(text).length).max().unwrap_or(0)
    }

    /// Returns the slot that a name is in, or would be in. There is always a free slot.
    fn slot<'n>(&self, hash: u32, name: impl Fn() -> &'n [u8], store: &impl TextStore) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Slot { hash: other, id: Some(id) } = self.slots[slot]
            && (other != hash || store.bytes(self.text(id)) != name())
        {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let count = (2 * self.slots.len()).max(16);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); count]);
        for filled in old.into_iter().filter(|slot| slot.id.is_some()) {
            // All of them differ, so nothing is compared.
            let mut slot = filled.hash as usize & (count - 1);
            while self.slots[slot].id.is_some() {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = filled;
        }
    }

    /// Frees memory that was reserved for more names.
    pub(crate) fn release(&mut self) {
        self.texts.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneInput(Vec<u8>);

    impl TextStore for OneInput {
        fn bytes(&self, text: Text) -> &[u8] {
            &self.0[text.start..][..text.length]
        }
    }

    #[test]
    fn interned_names_are_found_again() {
        // The last name is too long to be packed.
        let numbers: String = (0..5000).map(|number| format!("{number:05}")).collect();
        let input = OneInput([numbers.as_bytes(), &vec![b'x'; 1 << 24]].concat());
        let mut texts: Vec<Text> =
            (0..5000).map(|nth| Text { start: 5 * nth, length: 5, input: Some(InputId::new(7)) }).collect();
        texts.push(Text { start: numbers.len(), length: 1 << 24, input: Some(InputId::new(9)) });
        texts.push(Text { start: 3, length: 0, input: None });
        let mut names = InternedNames::default();
        for round in 0..2 {
            for (id, &text) in (0..).map(NameId::new).zip(&texts) {
                assert_eq!(names.get(input.bytes(text), &input), (round > 0).then_some(id));
                assert_eq!(names.intern(input.bytes(text), || text, &input), id);
                assert_eq!(names.text(id), text);
            }
        }
        assert_eq!(names.len(), texts.len());
    }

    #[test]
    fn names_with_the_same_hash_get_different_ids() {
        let input = OneInput(b"abcabc".to_vec());
        let mut names = InternedNames::default();
        let mut id = |start| {
            let text = Text { start, length: 1, input: Some(InputId::new(0)) };
            names.intern_hashed(3, || &input.0[start..=start], || text, &input).index()
        };
        assert_eq!([0, 1, 2, 3, 4, 5].map(&mut id), [0, 1, 2, 0, 1, 2]);
    }
}
