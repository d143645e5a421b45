//! A hash that is fast for small keys, with random seeds: a file cannot be made to collide.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A hash map with that hash. Its order must not reach any output.
///
/// ```
/// let mut map = gristmill_profile::hash::Map::default();
/// map.insert(7, "seven");
/// assert_eq!(map.get(&7), Some(&"seven"));
/// ```
pub type Map<K, V> = HashMap<K, V, Seeds>;

/// The random seeds of a hash: the hasher of a [`Map`].
#[derive(Debug, Clone, Copy)]
pub struct Seeds {
    first: u64,
    second: u64,
}

impl Default for Seeds {
    fn default() -> Self {
        let state = RandomState::new();
        Seeds { first: state.hash_one(1), second: state.hash_one(2) | 1 }
    }
}

impl Seeds {
    /// Returns the hash of a text, from the bits that are mixed best.
    pub(crate) fn hash_of(&self, text: &[u8]) -> u32 {
        let mut hasher = self.build_hasher();
        hasher.write(text);
        (hasher.finish() >> 32) as u32
    }
}

impl BuildHasher for Seeds {
    type Hasher = Folding;

    #[inline]
    fn build_hasher(&self) -> Folding {
        Folding { value: self.first, second: self.second }
    }
}

/// A folded-multiply hasher: it multiplies by a seed and XORs the halves of the product. See [`Map`].
#[derive(Debug)]
pub struct Folding {
    value: u64,
    second: u64,
}

impl Folding {
    #[inline]
    fn take(&mut self, word: u64) {
        let product = u128::from(self.value ^ word) * u128::from(self.second);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        self.value = low ^ high ^ self.second.rotate_left(23);
    }
}

impl Hasher for Folding {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.take(u64::from_le_bytes(*word));
        }
        // The last eight bytes overlap those before; the length tells which of them are new.
        let last = bytes.last_chunk::<8>().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            last
        });
        self.take(u64::from_le_bytes(last));
        self.take(bytes.len() as u64);
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.take(u64::from(value));
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.take(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.take(value);
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        self.take(value as u64);
    }

    #[inline]
    fn finish(&self) -> u64 {
        let product = u128::from(self.value) * u128::from(self.second.rotate_left(32) | 1);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
        let (low, high) = (product as u64, (product >> 64) as u64);
        low ^ high
    }
}
