//! Interning: equal keys get the same index.

use std::hash::Hash;

use crate::hash::Map;

/// Indices of keys, in the order in which the keys first came.
#[derive(Debug, Clone)]
pub(crate) struct Interner<K> {
    indices: Map<K, u32>,
}

impl<K> Default for Interner<K> {
    fn default() -> Self {
        Interner { indices: Map::default() }
    }
}

impl<K: Hash + Eq> Interner<K> {
    /// Returns the index of a key, and `true` if the key is a new one.
    ///
    /// # Panics
    ///
    /// Above 2^32 − 1 keys, which fit into no memory.
    pub(crate) fn intern(&mut self, key: K) -> (usize, bool) {
        let next = self.indices.len();
        #[expect(clippy::expect_used, reason = "2^32 keys do not fit into memory")]
        let index = *self.indices.entry(key).or_insert_with(|| u32::try_from(next).expect("fewer than 2^32"));
        (index as usize, index as usize == next)
    }
}
