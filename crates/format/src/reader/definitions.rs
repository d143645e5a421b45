//! What the numbers of one name space stand for, in as little memory as possible: in large files this table is most of
//! what reading touches beside the file, and whether it fits into the cache decides how long a name line takes.

use std::num::NonZeroU64;

use crate::name::NameTable;

#[derive(Debug)]
pub(super) struct Definitions<'a> {
    input: &'a [u8],
    places: NameTable<Place>,
    /// Where the current part begins.
    part_begins: usize,
    /// Names that a [`Place`] has no room for.
    oversized: Vec<&'a [u8]>,
}

/// Where a name stands in the input: in the high bits its offset, in the low ones its length plus one.
#[derive(Debug, Clone, Copy)]
struct Place(NonZeroU64);

const LENGTH_BITS: u32 = 24;
const LENGTH_MASK: u64 = (1 << LENGTH_BITS) - 1;
/// In place of a length: the offset is an index into the oversized names.
const OVERSIZED: u64 = LENGTH_MASK;

impl Place {
    fn new(offset: usize, length: u64) -> Option<Place> {
        let offset = u64::try_from(offset).ok().filter(|offset| offset >> (u64::BITS - LENGTH_BITS) == 0)?;
        NonZeroU64::new(offset << LENGTH_BITS | length).map(Place)
    }
}

impl<'a> Definitions<'a> {
    /// For a reader that begins at this place of the input.
    pub(super) fn new(input: &'a [u8], at: usize) -> Self {
        Definitions {
            input,
            places: NameTable::for_input(input.len() - at),
            part_begins: 0,
            oversized: Vec::new(),
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, id: u64) -> Option<&'a [u8]> {
        let Place(place) = self.places.get(id)?;
        let (offset, length) = (place.get() >> LENGTH_BITS, place.get() & LENGTH_MASK);
        #[expect(clippy::cast_possible_truncation, reason = "both are of a slice that is in memory")]
        let (offset, length) = (offset as usize, length as usize);
        if length as u64 == OVERSIZED {
            return self.oversized.get(offset).copied();
        }
        self.input.get(offset..)?.get(..length - 1)
    }

    /// Whether the current part has given this meaning, which [`Definitions::get`] told.
    pub(super) fn is_of_part(&self, text: &[u8]) -> bool {
        self.offset(text) >= self.part_begins
    }

    /// What is defined from this place of the input on is of another part.
    pub(super) fn begin_part(&mut self, at: usize) {
        self.part_begins = at;
    }

    /// Gives a number its meaning; `text` is a piece of the input.
    pub(super) fn set(&mut self, id: u64, text: &'a [u8]) {
        let length = text.len() as u64 + 1;
        let place = Place::new(self.offset(text), length).filter(|_| length < OVERSIZED).or_else(|| {
            self.oversized.push(text);
            Place::new(self.oversized.len() - 1, OVERSIZED)
        });
        if let Some(place) = place {
            self.places.set(id, place);
        }
    }

    /// Where a piece of the input begins.
    fn offset(&self, text: &[u8]) -> usize {
        let offset = text.as_ptr().addr().wrapping_sub(self.input.as_ptr().addr());
        debug_assert!(offset <= self.input.len() && text.len() <= self.input.len() - offset);
        offset
    }

    pub(super) fn clear(&mut self) {
        self.places.clear();
        self.oversized.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        let mut input = b"(1) main (2)  (3) ".to_vec();
        input.resize(input.len() + (1 << LENGTH_BITS), b'x');
        let mut definitions = Definitions::new(&input, 0);
        let [main, empty, long] = [&input[4..8], &input[13..13], &input[18..]];
        for (id, text) in [(1, main), (2, empty), (3, long), (u64::MAX, &long[1..])] {
            assert_eq!(definitions.get(id), None);
            definitions.set(id, text);
            assert!(definitions.get(id) == Some(text), "{id}");
        }
        definitions.begin_part(13);
        assert!(!definitions.is_of_part(main) && definitions.is_of_part(empty));
        definitions.set(1, long);
        assert!(definitions.get(1) == Some(long) && definitions.is_of_part(long));
        definitions.clear();
        assert_eq!(definitions.get(1), None);
    }
}
