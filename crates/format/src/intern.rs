//! Names by number: each different name is known by 32 bits.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;

/// A hash table of name ids. The names themselves are elsewhere.
#[derive(Debug, Default)]
struct Slots {
    /// Ids by hash, with open addressing; a power of two of them, 0 where nothing is.
    ids: Vec<u32>,
    hasher: RandomState,
}

impl Slots {
    /// Returns the slot of a name, or the free slot for it. There is always a free slot.
    fn slot<'t>(&self, text: &[u8], text_of: impl Fn(u32) -> &'t [u8]) -> usize {
        let mask = self.ids.len() - 1;
        let mut slot = self.first(text);
        while self.ids[slot] != 0 && text_of(self.ids[slot]) != text {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn first(&self, text: &[u8]) -> usize {
        let mask = self.ids.len() - 1;
        usize::try_from(self.hasher.hash_one(text) & mask as u64).unwrap_or_default()
    }

    /// Makes `count` slots, a power of two, for these names and others.
    #[cold]
    fn grow<'t>(&mut self, count: usize, texts: impl Iterator<Item = &'t [u8]>) {
        // The old ones go first.
        self.ids = Vec::new();
        self.ids = vec![0; count];
        for (id, text) in (1..).zip(texts) {
            // They all differ, so nothing need be compared.
            let mut slot = self.first(text);
            while self.ids[slot] != 0 {
                slot = (slot + 1) & (count - 1);
            }
            self.ids[slot] = id;
        }
    }
}

/// The different names of one name space. A file may hold little else than names, so all users of names share one table.
#[derive(Debug, Default)]
pub(crate) struct Interner<'a> {
    slots: Slots,
    /// The names except the empty one, whose id is 0; the name of id 1 is the first.
    texts: Vec<&'a [u8]>,
    has_empty: bool,
}

/// The id of the empty name, and of an unknown one.
pub(crate) const EMPTY: u32 = 0;

impl<'a> Interner<'a> {
    /// The id of a name, which gets one if it has none.
    pub(crate) fn intern(&mut self, text: &'a [u8]) -> u32 {
        if text.is_empty() {
            self.has_empty = true;
            return EMPTY;
        }
        // Half of the slots stay free: each that is taken costs a look at a name elsewhere in memory.
        let slots = self.slots.ids.len();
        if slots <= 2 * self.texts.len() {
            let count = (4 * self.texts.len()).next_power_of_two().max(16);
            self.slots.grow(count, self.texts.iter().copied());
        }
        let slot = self.slot(text);
        if self.slots.ids[slot] == 0 {
            // More names than there are numbers do not fit into any memory.
            let Ok(id) = u32::try_from(self.texts.len() + 1) else { return EMPTY };
            self.texts.push(text);
            self.slots.ids[slot] = id;
        }
        self.slots.ids[slot]
    }

    /// The id of a name that has one.
    pub(crate) fn get(&self, text: &[u8]) -> Option<u32> {
        if text.is_empty() || self.slots.ids.is_empty() {
            return text.is_empty().then_some(EMPTY);
        }
        Some(self.slots.ids[self.slot(text)]).filter(|&id| id != 0)
    }

    /// The name of an id.
    pub(crate) fn text(&self, id: u32) -> &'a [u8] {
        if id == EMPTY { b"" } else { self.texts[id as usize - 1] }
    }

    /// The count of different names.
    pub(crate) fn len(&self) -> usize {
        self.texts.len() + usize::from(self.has_empty)
    }

    /// Gives the memory back that only the search for names needs. The next name to come has it built again.
    pub(crate) fn release(&mut self) {
        self.slots.ids = Vec::new();
    }

    fn slot(&self, text: &[u8]) -> usize {
        self.slots.slot(text, |id| self.text(id))
    }
}

/// Different names, kept: for those that outlive what they were read from. The empty one is a name like any other.
#[derive(Debug, Default)]
pub(crate) struct NameStore {
    slots: Slots,
    /// The bytes of the names, one after the other. Chunks are never moved, so that a large store needs no room for a
    /// second one while it grows.
    chunks: Vec<Vec<u8>>,
    /// The start of each name; it ends at the next one, or with its chunk. That of id 1 is the first.
    starts: Vec<Start>,
    bytes: usize,
}

#[derive(Debug, Clone, Copy)]
struct Start {
    chunk: u32,
    offset: u32,
}

/// The least and the most that a chunk is made for, if no name is longer.
const SMALLEST_CHUNK: usize = 256;
const LARGEST_CHUNK: usize = 1 << 20;

impl NameStore {
    /// The id of a name, which gets one if it has none; ids count up from 1. None when there are no more.
    pub(crate) fn intern(&mut self, text: &[u8]) -> Option<NonZeroU32> {
        let slots = slots_for(self.starts.len() + 1);
        if self.slots.ids.len() < slots {
            self.grow(slots);
        }
        let slot = self.slots.slot(text, |id| self.text(id));
        if self.slots.ids[slot] == 0 {
            let (id, start) = self.push(text)?;
            self.starts.push(start);
            self.slots.ids[slot] = id;
        }
        NonZeroU32::new(self.slots.ids[slot])
    }

    /// The id of a name that has one.
    pub(crate) fn get(&self, text: &[u8]) -> Option<NonZeroU32> {
        if self.slots.ids.is_empty() {
            return None;
        }
        NonZeroU32::new(self.slots.ids[self.slots.slot(text, |id| self.text(id))])
    }

    /// The name of an id.
    pub(crate) fn text(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(&start) = id.checked_sub(1).and_then(|index| self.starts.get(index)) else { return b"" };
        let chunk = &self.chunks[start.chunk as usize];
        let end = match self.starts.get(id) {
            Some(next) if next.chunk == start.chunk => next.offset as usize,
            _ => chunk.len(),
        };
        &chunk[start.offset as usize..end]
    }

    /// Reserves memory for names.
    pub(crate) fn reserve(&mut self, names: usize) {
        let slots = slots_for(names);
        if self.slots.ids.len() < slots {
            self.grow(slots);
        }
        self.starts.reserve(names.saturating_sub(self.starts.len()));
    }

    /// Puts the bytes of a name behind the others.
    fn push(&mut self, text: &[u8]) -> Option<(u32, Start)> {
        let id = u32::try_from(self.starts.len() + 1).ok()?;
        let fits = |chunk: &Vec<u8>| chunk.capacity() - chunk.len() >= text.len();
        let offset = self.chunks.last().filter(|chunk| fits(chunk)).map(Vec::len);
        let offset = offset.and_then(|offset| u32::try_from(offset).ok()).unwrap_or_else(|| {
            let size = self.bytes.clamp(SMALLEST_CHUNK, LARGEST_CHUNK).max(text.len());
            self.chunks.push(Vec::with_capacity(size));
            0
        });
        self.chunks.last_mut()?.extend_from_slice(text);
        self.bytes += text.len();
        Some((id, Start { chunk: u32::try_from(self.chunks.len() - 1).ok()?, offset }))
    }

    #[cold]
    fn grow(&mut self, count: usize) {
        let mut slots = std::mem::take(&mut self.slots);
        let names = u32::try_from(self.starts.len()).unwrap_or(u32::MAX);
        slots.grow(count, (1..=names).map(|id| self.text(id)));
        self.slots = slots;
    }
}

/// The number of slots for a number of names. A quarter stays free: a store is searched less often than an [`Interner`], and may be
/// most of what its owner holds.
fn slots_for(names: usize) -> usize {
    (names.saturating_add(names / 3 + 1)).next_power_of_two().max(16)
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
    fn released_names_keep_their_text() {
        let mut names = Interner::default();
        let id = names.intern(b"main");
        names.release();
        assert_eq!((names.text(id), names.len()), (&b"main"[..], 1));
        assert_eq!((names.intern(b"f"), names.intern(b"main"), names.len()), (id + 1, id, 2));
    }

    #[test]
    fn kept_names_have_one_id_each_and_stay_as_they_are() {
        // Short ones, the empty one, and some that need a chunk of their own.
        let texts: Vec<Vec<u8>> = (0..5000usize)
            .map(|number| number.to_string().repeat(number % 7 * (1 + number % 97)).into_bytes())
            .collect();
        let mut twin = std::collections::BTreeMap::new();
        let mut names = NameStore::default();
        assert_eq!((names.get(b""), names.text(1)), (None, &b""[..]));
        for round in 0..2 {
            for text in &texts {
                let next = u32::try_from(twin.len() + 1).unwrap();
                let id = *twin.entry(text.clone()).or_insert(next);
                let known = NonZeroU32::new(id);
                assert_eq!(names.get(text), known.filter(|id| round == 1 || id.get() < next));
                assert_eq!((names.intern(text), names.get(text)), (known, known));
            }
        }
        for (text, &id) in &twin {
            assert_eq!(names.text(id), text);
        }
        assert_eq!(names.get(b"g"), None);
        let used: usize = names.chunks.iter().map(Vec::capacity).sum();
        assert!(used < 2 * names.bytes + LARGEST_CHUNK, "{used} bytes for {}", names.bytes);
    }

    #[test]
    fn reserved_memory_changes_nothing() {
        let mut names = NameStore::default();
        assert_eq!((names.intern(b"a"), names.intern(b"")), (NonZeroU32::new(1), NonZeroU32::new(2)));
        names.reserve(1000);
        let slots = names.slots.ids.len();
        for number in 0..900 {
            names.intern(format!("f{number}").as_bytes());
        }
        let ids = [&b"a"[..], b"", b"f0"].map(|text| names.get(text).map_or(0, NonZeroU32::get));
        assert_eq!(ids, [1, 2, 3]);
        assert_eq!(names.slots.ids.len(), slots);
    }

    #[test]
    fn names_with_colliding_slots_stay_apart() {
        // So few slots are free that most names meet others on the way to theirs.
        let mut slots = Slots { ids: vec![0; 16], ..Slots::default() };
        let texts: Vec<Vec<u8>> = (0..15u8).map(|byte| vec![byte]).collect();
        for (id, text) in (1..).zip(&texts) {
            let slot = slots.slot(text, |id| &texts[id as usize - 1]);
            assert_eq!(slots.ids[slot], 0);
            slots.ids[slot] = id;
        }
        for (id, text) in (1..).zip(&texts) {
            assert_eq!(slots.ids[slots.slot(text, |id| &texts[id as usize - 1])], id);
        }
    }
}
