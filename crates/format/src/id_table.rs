//! The id table: values by the name ids of a file.

use std::collections::HashMap;

/// A table of values by name id: the numbers in parentheses, as in `fn=(12)`.
///
/// A file may choose its ids, so memory stays in proportion to the number of entries (and to the size of the input), however
/// large or scattered the ids are. Most ids are small and dense and cost one array access.
///
/// `Option<T>` is stored for each id, so a `T` with a niche takes half the memory.
///
/// ```
/// use std::num::NonZeroU32;
/// use gristmill_format::raw::IdTable;
///
/// let mut table = IdTable::for_input(1 << 20);
/// let name = NonZeroU32::new(7).unwrap();
/// table.set(12, name);
/// table.set(u64::MAX, name);
/// assert_eq!((table.get(12), table.get(13), table.get(u64::MAX)), (Some(name), None, Some(name)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct IdTable<T> {
    /// Real files count ids from 0 with few gaps, so the id is the index.
    dense: Vec<Option<T>>,
    /// Ids that would leave the vector mostly empty.
    sparse: HashMap<u64, T>,
    len: usize,
    /// The length that the vector may always reach.
    granted_len: usize,
}

impl<T> Default for IdTable<T> {
    fn default() -> Self {
        IdTable { dense: Vec::new(), sparse: HashMap::new(), len: 0, granted_len: 0 }
    }
}

impl<T: Copy> IdTable<T> {
    /// Creates a table for the ids of an input of `byte_count` bytes.
    pub fn for_input(byte_count: usize) -> Self {
        IdTable { granted_len: byte_count / 64, ..IdTable::default() }
    }

    /// Returns the value of an id.
    #[inline(always)]
    pub fn get(&self, id: u64) -> Option<T> {
        match usize::try_from(id).ok().and_then(|index| self.dense.get(index)) {
            Some(Some(value)) => Some(*value),
            _ => self.get_sparse(id),
        }
    }

    #[inline(never)]
    fn get_sparse(&self, id: u64) -> Option<T> {
        if self.sparse.is_empty() { None } else { self.sparse.get(&id).copied() }
    }

    /// Returns what the array holds for an id, and ignores ids outside it. Reading it early prefetches [`IdTable::get`].
    #[inline]
    pub fn get_dense(&self, id: u32) -> Option<T> {
        self.dense.get(id as usize).copied().flatten()
    }

    /// Sets the value of an id.
    pub fn set(&mut self, id: u64, value: T) {
        let is_new = match usize::try_from(id) {
            Ok(index) if index < self.limit().max(self.dense.len()) => {
                if index >= self.dense.len() {
                    self.dense.resize(index + 1, None);
                }
                self.dense[index].replace(value).is_none()
                    && (self.sparse.is_empty() || self.sparse.remove(&id).is_none())
            }
            _ => self.sparse.insert(id, value).is_none(),
        };
        self.len += usize::from(is_new);
        if is_new && self.len.is_power_of_two() && !self.sparse.is_empty() {
            self.move_to_dense();
        }
    }

    /// The vector keeps in proportion to the file: 8 places for each id that is set, or one for each 64 bytes of the file.
    fn limit(&self) -> usize {
        self.granted_len.max(64 + 8 * self.len)
    }

    /// Moves ids to the vector that were set before it was allowed to be long enough. They would cost a hash at each use.
    #[cold]
    fn move_to_dense(&mut self) {
        let limit = self.limit();
        let dense = &mut self.dense;
        // The order does not matter: each id has its own index.
        self.sparse.retain(|&id, value| match usize::try_from(id) {
            Ok(index) if index < limit => {
                if index >= dense.len() {
                    dense.resize(index + 1, None);
                }
                dense[index] = Some(*value);
                false
            }
            _ => true,
        });
    }

    /// Removes all values. The length in proportion to the input is granted once: a file may be cleared as often as it has
    /// lines.
    pub fn clear(&mut self) {
        *self = IdTable::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_is_taken() {
        for byte_count in [0, 1 << 16] {
            let mut table = IdTable::for_input(byte_count);
            let ids = || (0..).zip([0, 5, 1023, 1 << 40, u64::MAX, 70_000]);
            for (nth, id) in ids() {
                table.set(id, 99);
                table.set(id, nth);
            }
            for (nth, id) in ids() {
                assert_eq!(table.get(id), Some(nth));
            }
            assert_eq!((table.get(6), table.len), (None, 6));
            assert!(table.dense.len() < 2048, "a large id must not make a large table");
            table.clear();
            assert!(ids().all(|(_, id)| table.get(id).is_none()));
        }
    }

    #[test]
    fn ids_that_come_backwards_become_dense() {
        let mut table = IdTable::default();
        for id in (0..100_000).rev() {
            table.set(id, id);
            table.set(id, id + 1);
        }
        assert!((0..100_000).all(|id| table.get(id) == Some(id + 1)));
        assert!(table.sparse.is_empty() && table.len == 100_000);
        assert_eq!((table.get_dense(7), table.get_dense(u32::MAX)), (Some(8), None));
    }
}
