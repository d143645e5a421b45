//! Texts that stay where they stand: in the bytes of an input, or in a list of those that stand in none.

use gristmill_format::raw::{PackedRange, UnpackedRange};

use crate::hash::Seeds;

/// Where a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Text {
    pub(crate) at: usize,
    pub(crate) len: usize,
    /// The input it stands in; one past the last is the list of made texts.
    pub(crate) place: u32,
}

/// That a text stands in no input.
pub(crate) const MADE: u32 = u32::MAX;

/// What texts are looked up in.
pub(crate) trait Bytes {
    /// The bytes of a text.
    fn bytes(&self, text: Text) -> &[u8];
}

/// The different names of one kind, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    /// With open addressing; a power of two of them.
    slots: Vec<Slot>,
    texts: Vec<Packed>,
    /// Texts that do not fit a [`PackedRange`].
    oversized: Vec<Text>,
    seeds: Seeds,
}

/// The hash of a name is kept beside its id, so that texts are hardly ever looked at: they lie all over the input.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    hash: u32,
    /// Plus one; 0 where nothing is.
    id: u32,
}

/// A [`Text`] in half the room. There may be as many as a fifth of the lines, so nothing is aligned to eight bytes.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(Rust, packed(4))]
struct Packed {
    range: PackedRange,
    place: u32,
}

/// Equal when the same names have the same ids.
impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        self.texts == other.texts && self.oversized == other.oversized
    }
}

impl Names {
    /// With these seeds, whose hashes can be taken before it is known where the name goes.
    pub(crate) fn with_seeds(seeds: Seeds) -> Self {
        Names { seeds, ..Names::default() }
    }

    /// The id of a name, which gets one if it has none.
    pub(crate) fn intern(&mut self, name: &[u8], text: impl FnOnce() -> Text, bytes: &impl Bytes) -> u32 {
        self.intern_hashed(self.seeds.hash_of(name), || name, text, bytes)
    }

    /// The same for a name whose hash is known. The name itself is asked for only if one with that hash is there.
    pub(crate) fn intern_hashed<'n>(
        &mut self,
        hash: u32,
        name: impl Fn() -> &'n [u8],
        text: impl FnOnce() -> Text,
        bytes: &impl Bytes,
    ) -> u32 {
        if 4 * (self.texts.len() + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let slot = self.slot(hash, name, bytes);
        if self.slots[slot].id == 0 {
            // More names than there are numbers fit into no memory.
            let id = u32::try_from(self.texts.len() + 1).unwrap_or(u32::MAX);
            let text = self.pack(text());
            self.texts.push(text);
            self.slots[slot] = Slot { hash, id };
        }
        self.slots[slot].id - 1
    }

    /// What stands where names with this hash are looked for first, to have it at hand.
    pub(crate) fn first_slot(&self, hash: u32) -> u32 {
        self.slots.get(hash as usize & self.slots.len().wrapping_sub(1)).map_or(0, |slot| slot.id)
    }

    /// The id of a name that has one.
    pub(crate) fn get(&self, name: &[u8], bytes: &impl Bytes) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        self.slots[self.slot(self.seeds.hash_of(name), || name, bytes)].id.checked_sub(1)
    }

    pub(crate) fn text(&self, id: u32) -> Text {
        let Packed { range, place } = self.texts[id as usize];
        match range.unpack() {
            UnpackedRange::Range(range) => Text { at: range.start, len: range.len(), place },
            UnpackedRange::Oversized(index) => self.oversized[index],
        }
    }

    fn pack(&mut self, text: Text) -> Packed {
        let range = PackedRange::new(text.at, text.len).unwrap_or_else(|| {
            self.oversized.push(text);
            PackedRange::oversized(self.oversized.len() - 1)
        });
        Packed { range, place: text.place }
    }

    pub(crate) fn len(&self) -> usize {
        self.texts.len()
    }

    /// Where a name is, or would be. There is always a free slot.
    fn slot<'n>(&self, hash: u32, name: impl Fn() -> &'n [u8], bytes: &impl Bytes) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while let Slot { hash: other, id } = self.slots[slot]
            && id != 0
            && (other != hash || bytes.bytes(self.text(id - 1)) != name())
        {
            slot = (slot + 1) & mask;
        }
        slot
    }

    #[cold]
    fn grow(&mut self) {
        let count = (2 * self.slots.len()).max(16);
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); count]);
        for filled in old.into_iter().filter(|slot| slot.id != 0) {
            // They all differ, so nothing need be compared.
            let mut slot = filled.hash as usize & (count - 1);
            while self.slots[slot].id != 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = filled;
        }
    }

    /// No more will be added.
    pub(crate) fn release(&mut self) {
        self.texts.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneInput(Vec<u8>);

    impl Bytes for OneInput {
        fn bytes(&self, text: Text) -> &[u8] {
            &self.0[text.at..][..text.len]
        }
    }

    #[test]
    fn names_are_found_again() {
        // The last name is too long to be packed.
        let numbers: String = (0..5000).map(|number| format!("{number:05}")).collect();
        let input = OneInput([numbers.as_bytes(), &vec![b'x'; 1 << 24]].concat());
        let mut places: Vec<Text> = (0..5000).map(|nth| Text { at: 5 * nth, len: 5, place: 7 }).collect();
        places.push(Text { at: numbers.len(), len: 1 << 24, place: 9 });
        places.push(Text { at: 3, len: 0, place: MADE });
        let mut names = Names::default();
        for round in 0..2 {
            for (id, &text) in (0..).zip(&places) {
                assert_eq!(names.get(input.bytes(text), &input), (round > 0).then_some(id));
                assert_eq!(names.intern(input.bytes(text), || text, &input), id);
                assert_eq!(names.text(id), text);
            }
        }
        assert_eq!(names.len(), places.len());
    }

    #[test]
    fn names_of_one_hash_stay_apart() {
        let input = OneInput(b"abcabc".to_vec());
        let mut names = Names::default();
        let mut id = |at| {
            let text = Text { at, len: 1, place: 0 };
            names.intern_hashed(3, || &input.0[at..=at], || text, &input)
        };
        assert_eq!([0, 1, 2, 3, 4, 5].map(&mut id), [0, 1, 2, 0, 1, 2]);
    }
}
