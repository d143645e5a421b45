//! A hash that is fast for small keys, and whose collisions nobody can foresee.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A map with such a hash. Its order is never looked at.
pub type Map<K, V> = HashMap<K, V, Seeds>;

/// Two random numbers that a hash begins with.
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
    /// The hash of a text, in the bits that are best mixed.
    pub(crate) fn hash_of(&self, text: &[u8]) -> u32 {
        let mut hasher = self.build_hasher();
        hasher.write(text);
        u32::try_from(hasher.finish() >> 32).unwrap_or_default()
    }
}

impl BuildHasher for Seeds {
    type Hasher = Folding;

    #[inline]
    fn build_hasher(&self) -> Folding {
        Folding { value: self.first, second: self.second }
    }
}

/// Multiplies by a secret number and folds the upper half of the product over the lower.
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
        // The last eight bytes once more, where there are so many: the length tells which of them were new.
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
