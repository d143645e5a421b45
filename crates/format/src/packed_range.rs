//! Byte ranges in eight bytes.

use std::num::NonZeroU64;

const LENGTH_BITS: u32 = 24;
const LENGTH_MASK: u64 = (1 << LENGTH_BITS) - 1;
/// In place of a length: the offset is an index into the owner's list of oversized ranges.
const OVERSIZED: u64 = LENGTH_MASK;

/// A byte range of an input in eight bytes: its offset in the high bits, its length plus one in the low ones.
///
/// A table of all names of a large file decides how much of the cache is left, so an entry must be small. `Option` of it is
/// no larger. Ranges that do not fit (16 MiB long, or beyond 1 TiB) go to a list of their owner's.
///
/// ```
/// use gristmill_format::raw::{PackedRange, UnpackedRange};
///
/// let packed = PackedRange::new(4, 3).unwrap();
/// assert_eq!(packed.unpack(), UnpackedRange::Range(4..7));
/// assert_eq!(PackedRange::new(0, 1 << 24), None);
/// assert_eq!(PackedRange::oversized(5).unpack(), UnpackedRange::Oversized(5));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedRange(NonZeroU64);

/// The contents of a [`PackedRange`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnpackedRange {
    /// A byte range.
    Range(std::ops::Range<usize>),
    /// An index into the owner's list of ranges that do not fit.
    Oversized(usize),
}

impl PackedRange {
    /// Packs a range; `None` if it does not fit.
    pub fn new(offset: usize, length: usize) -> Option<Self> {
        let length = u64::try_from(length).ok()?.checked_add(1).filter(|&length| length < OVERSIZED)?;
        Self::from_fields(offset, length)
    }

    /// Packs an index into the owner's list of ranges that do not fit.
    ///
    /// # Panics
    ///
    /// If the index is 2^40 or more: no memory holds that many long ranges.
    #[expect(clippy::expect_used, reason = "no memory holds 2^40 ranges of 16 MiB")]
    pub fn oversized(index: usize) -> Self {
        Self::from_fields(index, OVERSIZED).expect("fewer than 2^40 oversized ranges")
    }

    fn from_fields(offset: usize, length: u64) -> Option<Self> {
        let offset = u64::try_from(offset).ok().filter(|offset| offset >> (u64::BITS - LENGTH_BITS) == 0)?;
        NonZeroU64::new(offset << LENGTH_BITS | length).map(PackedRange)
    }

    /// Returns the range or the index.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "both come from a `usize`")]
    pub fn unpack(self) -> UnpackedRange {
        let (offset, length) = ((self.0.get() >> LENGTH_BITS) as usize, self.0.get() & LENGTH_MASK);
        if length == OVERSIZED {
            return UnpackedRange::Oversized(offset);
        }
        UnpackedRange::Range(offset..offset + (length as usize - 1))
    }
}
