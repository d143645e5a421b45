//! Software prefetch: reading memory before it is needed.
//!
//! A cache miss takes as long as some hundred instructions, but the processor can wait for many misses at once. Where the
//! loader knows which entries of a large table it needs next, it reads all of them before it uses the first. Measured on
//! a plain file of 500 MB: loading takes 5% less time.

use std::hint::black_box;
use std::ops::BitXor;

/// Entries that are prefetched together.
pub(crate) const PREFETCH_COUNT: usize = 64;

/// Reads values and discards them, so that they are in the cache.
pub(crate) fn prefetch<T: BitXor<Output = T> + Default>(values: impl Iterator<Item = T>) {
    black_box(values.fold(T::default(), |all, value| all ^ value));
}
