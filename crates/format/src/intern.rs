//! Names by number: each different name is known by 32 bits.

use std::hash::{BuildHasher, RandomState};

/// The different names of one name space. A file may hold little else than names, so there is one table for all that
/// ask about them.
#[derive(Debug, Default)]
pub(crate) struct Interner<'a> {
    /// Ids by hash, with open addressing; a power of two of them, 0 where nothing is.
    slots: Vec<u32>,
    /// The names but for the empty one, which is 0 and not here; so that of id 1 is the first.
    texts: Vec<&'a [u8]>,
    has_empty: bool,
    hasher: RandomState,
}

/// The empty name; also what stands for a name that is unknown.
pub(crate) const EMPTY: u32 = 0;

impl<'a> Interner<'a> {
    /// The id of a name, which gets one if it has none.
    pub(crate) fn intern(&mut self, text: &'a [u8]) -> u32 {
        if text.is_empty() {
            self.has_empty = true;
            return EMPTY;
        }
        // Half of the slots stay free: each that is taken costs a look at a name elsewhere in memory.
        if self.slots.len() <= 2 * self.texts.len() {
            self.grow();
        }
        let slot = self.slot(text);
        if self.slots[slot] == 0 {
            // More names than there are numbers do not fit into any memory.
            let Ok(id) = u32::try_from(self.texts.len() + 1) else { return EMPTY };
            self.texts.push(text);
            self.slots[slot] = id;
        }
        self.slots[slot]
    }

    /// The id of a name that has one.
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        if text.is_empty() || self.slots.is_empty() {
            return text.is_empty().then_some(EMPTY);
        }
        Some(self.slots[self.slot(text)]).filter(|&id| id != 0)
    }

    /// The name of an id.
    pub(crate) fn text(&self, id: u32) -> &'a [u8] {
        (id as usize).checked_sub(1).and_then(|index| self.texts.get(index)).copied().unwrap_or_default()
    }

    /// How many different names there were.
    pub(crate) fn len(&self) -> usize {
        self.texts.len() + usize::from(self.has_empty)
    }

    /// Gives the memory back that only the search for names needs. The next name to come has it built again.
    pub(crate) fn release(&mut self) {
        self.slots = Vec::new();
    }

    /// Where a name is, or would be. There is always a free slot.
    fn slot(&self, text: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.first_slot(text);
        while self.slots[slot] != 0 && self.text(self.slots[slot]) != text {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn first_slot(&self, text: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        usize::try_from(self.hasher.hash_one(text) & mask as u64).unwrap_or_default()
    }

    #[cold]
    fn grow(&mut self) {
        let count = (4 * self.texts.len()).next_power_of_two().max(16);
        // The old ones go first.
        self.release();
        self.slots = vec![0; count];
        for (id, text) in (1..).zip(&self.texts) {
            // They all differ, so nothing need be compared.
            let mut slot = self.first_slot(text);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.slots[slot] = id;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_one_id() {
        let texts: Vec<Vec<u8>> = (0..5000u32).map(|number| format!("f{number}").into_bytes()).collect();
        let mut names = Interner::default();
        assert_eq!(names.get(b"f0"), None);
        let ids: Vec<u32> = texts.iter().map(|text| names.intern(text)).collect();
        assert_eq!(names.len(), 5000);
        assert_eq!(texts.iter().map(|text| names.intern(text)).collect::<Vec<_>>(), ids);
        for (text, &id) in texts.iter().zip(&ids) {
            assert_eq!((names.get(text), names.text(id)), (Some(id), &text[..]));
        }
        assert_eq!(names.get(b"g"), None);
        assert_eq!(names.len(), 5000);
    }

    #[test]
    fn the_empty_name_counts_once_it_was_there() {
        let mut names = Interner::default();
        assert_eq!((names.get(b""), names.text(EMPTY), names.len()), (Some(EMPTY), &b""[..], 0));
        assert_eq!((names.intern(b""), names.len()), (EMPTY, 1));
    }

    #[test]
    fn released_names_can_still_be_told() {
        let mut names = Interner::default();
        let id = names.intern(b"main");
        names.release();
        assert_eq!((names.text(id), names.len()), (&b"main"[..], 1));
        assert_eq!((names.intern(b"f"), names.intern(b"main"), names.len()), (id + 1, id, 2));
    }
}
