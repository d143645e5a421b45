//! What the numbers of compressed names stand for, at any place of an input.

use crate::hash::Map;

/// Something for each of many numbers: any but the largest of its type.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Numbered {
    /// Real files number from 0 with few gaps, so the number is the index. 0 where there is nothing, otherwise one more.
    dense: Vec<u32>,
    /// For numbers that would leave the list mostly empty.
    sparse: Map<u64, u32>,
    len: usize,
    /// The list may always become as long as this.
    room: usize,
}

impl Numbered {
    /// For the numbers of an input of so many bytes.
    pub(crate) fn for_input(bytes: usize) -> Self {
        Numbered { room: bytes / 64, ..Numbered::default() }
    }

    #[inline]
    pub(crate) fn get(&self, number: u64) -> Option<u32> {
        match usize::try_from(number).ok().and_then(|index| self.dense.get(index)) {
            Some(&entry) if entry != 0 => Some(entry - 1),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&number).copied(),
        }
    }

    pub(crate) fn set(&mut self, number: u64, entry: u32) {
        let is_new = match usize::try_from(number) {
            Ok(index) if index < self.limit().max(self.dense.len()) => {
                if index >= self.dense.len() {
                    self.dense.resize(index + 1, 0);
                }
                std::mem::replace(&mut self.dense[index], entry.wrapping_add(1)) == 0
                    && (self.sparse.is_empty() || self.sparse.remove(&number).is_none())
            }
            _ => self.sparse.insert(number, entry).is_none(),
        };
        self.len += usize::from(is_new);
        if is_new && self.len.is_power_of_two() && !self.sparse.is_empty() {
            self.move_to_dense();
        }
    }

    /// Room for 8 times as many numbers as there are, or for one in 64 bytes of the file, keeps the list in proportion to
    /// the file.
    fn limit(&self) -> usize {
        self.room.max(64 + 8 * self.len)
    }

    /// Numbers come in any order, so many of the first ones may have had no room in the list.
    #[cold]
    fn move_to_dense(&mut self) {
        let limit = self.limit();
        let dense = &mut self.dense;
        // The order does not matter: each goes to its own place.
        self.sparse.retain(|&number, entry| match usize::try_from(number) {
            Ok(index) if index < limit => {
                if index >= dense.len() {
                    dense.resize(index + 1, 0);
                }
                dense[index] = entry.wrapping_add(1);
                false
            }
            _ => true,
        });
    }
}

/// The part in which each number got its meaning, by its index. That is nearly always the first one, which takes no room.
#[derive(Debug, Default)]
pub(crate) struct GivenIn {
    others: Numbered,
}

impl GivenIn {
    #[inline]
    pub(crate) fn get(&self, number: u64) -> u32 {
        self.others.get(number).unwrap_or(0)
    }

    #[inline]
    pub(crate) fn set(&mut self, number: u64, part: u32) {
        if part != 0 || self.others.get(number).is_some() {
            self.others.set(number, part);
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
    first: [Numbered; 3],
    /// Where that happens.
    forgotten: Vec<u64>,
    later: Vec<Meaning>,
    /// The last meaning of each number, where it is in the list and not forgotten.
    last: [Numbered; 3],
}

/// What a number stands for from some byte on. In this order they are looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Meaning {
    space: u32,
    number: u64,
    byte: u64,
    name: u32,
}

impl Numbers {
    /// For an input of so many bytes.
    pub(crate) fn for_input(bytes: usize) -> Self {
        Numbers { first: [(); 3].map(|()| Numbered::for_input(bytes)), ..Numbers::default() }
    }

    /// All numbers are forgotten here.
    pub(crate) fn forget(&mut self, byte: u64) {
        self.forgotten.push(byte);
        self.last = Default::default();
    }

    /// A number stands for this name from here on. To be told in the order of the file.
    pub(crate) fn define(&mut self, space: usize, number: u64, name: u32, byte: u64) {
        match self.now(space, number) {
            Some(known) if known == name => {}
            None if self.forgotten.is_empty() => self.first[space].set(number, name),
            _ => {
                let place = u32::try_from(space).unwrap_or_default();
                self.later.push(Meaning { space: place, number, byte, name });
                self.last[space].set(number, name);
            }
        }
    }

    /// What stands where the first meaning of a number is looked for, to have it at hand.
    #[inline]
    pub(crate) fn first_meaning(&self, space: usize, number: u32) -> u32 {
        self.first[space].dense.get(number as usize).copied().unwrap_or_default()
    }

    /// What a number stands for at the end of what was told so far.
    #[inline]
    pub(crate) fn now(&self, space: usize, number: u64) -> Option<u32> {
        if self.forgotten.is_empty() && self.later.is_empty() {
            return self.first[space].get(number);
        }
        self.last[space]
            .get(number)
            .or_else(|| if self.forgotten.is_empty() { self.first[space].get(number) } else { None })
    }

    /// What a number stands for at this place. Not to be asked before [`Numbers::finish`].
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
            _ if stretch.is_none() => self.first.get(space)?.get(number),
            _ => None,
        }
    }

    /// No more will be told.
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

    #[test]
    fn any_number_is_taken() {
        let mut numbered = Numbered::default();
        let numbers = || (0..).zip([0, 5, 1023, 1 << 40, u64::MAX, 70_000]);
        for (nth, number) in numbers() {
            numbered.set(number, 1);
            numbered.set(number, nth);
        }
        for (nth, number) in numbers() {
            assert_eq!(numbered.get(number), Some(nth));
        }
        assert_eq!(numbered.get(6), None);
        assert!(numbered.dense.len() < 2000);
    }

    #[test]
    fn numbers_that_come_backwards_are_not_kept_apart() {
        let mut numbered = Numbered::default();
        for number in (0..100_000).rev() {
            numbered.set(number, u32::try_from(number).unwrap());
            numbered.set(number, u32::try_from(number + 1).unwrap());
        }
        assert!((0..100_000).all(|number| numbered.get(number).map(u64::from) == Some(number + 1)));
        assert!(numbered.sparse.is_empty() && numbered.len == 100_000);
    }
}
