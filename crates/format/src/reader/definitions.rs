//! The meanings of the ids of one name space, in little memory. In large files this table is most of the memory that reading
//! touches besides the file, and its fit into the cache decides how long a name line takes.

use crate::id_table::IdTable;
use crate::packed_range::{PackedRange, UnpackedRange};

#[derive(Debug)]
pub(super) struct Definitions<'a> {
    input: &'a [u8],
    ranges: IdTable<PackedRange>,
    /// The offset of the beginning of the current part.
    part_begins: usize,
    /// Names that do not fit a [`PackedRange`].
    oversized: Vec<&'a [u8]>,
}

impl<'a> Definitions<'a> {
    /// For a reader that begins at this place of the input.
    pub(super) fn new(input: &'a [u8], at: usize) -> Self {
        Definitions {
            input,
            ranges: IdTable::for_input(input.len() - at),
            part_begins: 0,
            oversized: Vec::new(),
        }
    }

    #[inline(always)]
    pub(super) fn get(&self, id: u64) -> Option<&'a [u8]> {
        match self.ranges.get(id)?.unpack() {
            UnpackedRange::Range(range) => Some(&self.input[range]),
            UnpackedRange::Oversized(index) => Some(self.oversized[index]),
        }
    }

    /// `true` if the current part has given this meaning, which [`Definitions::get`] told.
    pub(super) fn is_of_part(&self, text: &[u8]) -> bool {
        self.offset(text) >= self.part_begins
    }

    /// Begins another part at this offset of the input.
    pub(super) fn begin_part(&mut self, at: usize) {
        self.part_begins = at;
    }

    /// Gives a number its meaning; `text` is a piece of the input.
    pub(super) fn set(&mut self, id: u64, text: &'a [u8]) {
        let range = PackedRange::new(self.offset(text), text.len()).unwrap_or_else(|| {
            self.oversized.push(text);
            PackedRange::oversized(self.oversized.len() - 1)
        });
        self.ranges.set(id, range);
    }

    /// The offset of a slice in the input.
    fn offset(&self, text: &[u8]) -> usize {
        let offset = text.as_ptr().addr().wrapping_sub(self.input.as_ptr().addr());
        debug_assert!(offset <= self.input.len() && text.len() <= self.input.len() - offset);
        offset
    }

    pub(super) fn clear(&mut self) {
        self.ranges.clear();
        self.oversized.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_again() {
        let mut input = b"(1) main (2)  (3) ".to_vec();
        input.resize(input.len() + (1 << 24), b'x');
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
