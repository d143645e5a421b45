//! The meanings of name ids at any location of an input.

use std::num::NonZeroU32;

use gristmill_format::raw::IdTable;

/// A name or a part in an [`IdTable`]: one more than its number, so that `Option` of it takes no more room.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry(NonZeroU32);

impl Entry {
    #[expect(clippy::expect_used, reason = "no input has 2^32 names or parts")]
    fn new(number: u32) -> Self {
        Entry(number.checked_add(1).and_then(NonZeroU32::new).expect("below the largest number"))
    }

    #[inline]
    fn number(self) -> u32 {
        self.0.get() - 1
    }
}

/// The part in which each number got its meaning, by its index. That is nearly always the first one, which takes no room.
#[derive(Debug, Default)]
pub(crate) struct GivenIn {
    others: IdTable<Entry>,
}

impl GivenIn {
    #[inline]
    pub(crate) fn get(&self, number: u64) -> u32 {
        self.others.get(number).map_or(0, Entry::number)
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u64, part: u32) {
        if part != 0 || self.others.get(number).is_some() {
            self.others.set(number, Entry::new(part));
        }
    }
}

/// The meanings of the numbers of one input: in each of its name spaces, at each of its places.
///
/// Nearly all numbers have one meaning in all of a file. So that one is kept by number, and the others in a list. An input
/// may have all numbers forgotten a million times, so what comes after the first time is in the list, too.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Numbers {
    /// The first meanings, up to where all numbers are forgotten.
    first: [IdTable<Entry>; 3],
    /// The offsets where that happens.
    forgotten: Vec<u64>,
    later: Vec<Meaning>,
    /// The last meaning of each number, where it is in the list and not forgotten.
    last: [IdTable<Entry>; 3],
}

/// The meaning of a name id from some byte on. The fields are in the order of lookup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    space: u32,
    number: u64,
    byte: u64,
    name: u32,
}

impl Numbers {
    /// Creates the tables for an input of `bytes` bytes.
    pub(crate) fn for_input(bytes: usize) -> Self {
        Numbers { first: [(); 3].map(|()| IdTable::for_input(bytes)), ..Numbers::default() }
    }

    /// All numbers are forgotten here.
    pub(crate) fn forget(&mut self, byte: u64) {
        self.forgotten.push(byte);
        self.last = Default::default();
    }

    /// Defines a name id from here on. Definitions come in the order of the file.
    pub(crate) fn define(&mut self, space: usize, number: u64, name: u32, byte: u64) {
        match self.now(space, number) {
            Some(known) if known == name => {}
            None if self.forgotten.is_empty() => self.first[space].set(number, Entry::new(name)),
            _ => {
                let place = u32::try_from(space).unwrap_or_default();
                self.later.push(Meaning { space: place, number, byte, name });
                self.last[space].set(number, Entry::new(name));
            }
        }
    }

    /// Reads the memory of the first meaning of an id, to prefetch it.
    #[inline]
    pub(crate) fn first_meaning(&self, space: usize, number: u32) -> u32 {
        self.first[space].get_dense(number).map_or(0, Entry::number)
    }

    /// The latest meaning of an id.
    #[inline]
    pub(crate) fn now(&self, space: usize, number: u64) -> Option<u32> {
        if self.forgotten.is_empty() && self.later.is_empty() {
            return self.first[space].get(number).map(Entry::number);
        }
        self.last[space]
            .get(number)
            .or_else(|| if self.forgotten.is_empty() { self.first[space].get(number) } else { None })
            .map(Entry::number)
    }

    /// The meaning of an id at this byte. It is not defined before [`Numbers::finish`].
    pub(crate) fn at(&self, space: usize, number: u64, byte: u64) -> Option<u32> {
        let forgotten = self.forgotten.partition_point(|&forgotten| forgotten <= byte);
        let stretch = forgotten.checked_sub(1).and_then(|last| self.forgotten.get(last));
        let place = u32::try_from(space).ok()?;
        let later = self
            .later
            .partition_point(|later| (later.space, later.number, later.byte) <= (place, number, byte));
        match later.checked_sub(1).and_then(|index| self.later.get(index)) {
            Some(later)
                if (later.space, later.number) == (place, number)
                    && stretch.is_none_or(|&from| from <= later.byte) =>
            {
                Some(later.name)
            }
            _ if stretch.is_none() => self.first[space].get(number).map(Entry::number),
            _ => None,
        }
    }

    /// Ends the definitions, and sorts them for lookup.
    pub(crate) fn finish(&mut self) {
        // In the order of the file within each number.
        self.later.sort_by_key(|later| (later.space, later.number, later.byte));
        self.later.shrink_to_fit();
        self.forgotten.shrink_to_fit();
        self.last = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_means_what_it_last_was_given() {
        let mut numbers = Numbers::default();
        numbers.define(2, 7, 70, 10);
        numbers.define(2, 7, 70, 20);
        numbers.define(2, 7, 71, 30);
        numbers.define(2, 6, 60, 35);
        numbers.define(2, 7, 70, 40);
        assert_eq!(numbers.now(2, 7), Some(70));
        numbers.forget(50);
        assert_eq!(numbers.now(2, 7), None);
        numbers.define(2, 7, 72, 60);
        numbers.finish();
        let at = |byte| numbers.at(2, 7, byte);
        assert_eq!([10, 29, 30, 39, 40, 49].map(at), [70, 70, 71, 71, 70, 70].map(Some));
        assert_eq!(at(60), Some(72));
        assert_eq!((numbers.at(2, 6, 40), numbers.at(1, 7, 40)), (Some(60), None));
    }
}
