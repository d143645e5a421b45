//! The limit of decoding.

use gristmill_code::Binary;

/// The limit of times that all code is decoded, and the bytes in addition. Functions of real programs hardly share code; those of
/// a hostile one can all have all of its code.
const MAX_DECODINGS: u64 = 16;
const FREE_BYTES: u64 = 1 << 20;

/// The bytes of code of a program that may still be decoded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DecodableBytes(u64);

impl DecodableBytes {
    /// Allows for decoding all code some times.
    pub(crate) fn new(binary: &Binary) -> Self {
        let sizes = binary.code_ranges().into_iter().map(|range| range.end - range.start);
        let code_bytes = sizes.fold(0, u64::saturating_add);
        DecodableBytes(code_bytes.saturating_mul(MAX_DECODINGS).saturating_add(FREE_BYTES))
    }

    /// `true` if this many bytes may be decoded.
    pub(crate) fn has(self, byte_count: u64) -> bool {
        byte_count <= self.0
    }

    /// The bytes that are left after this many.
    #[must_use]
    pub(crate) fn without(self, byte_count: u64) -> Self {
        DecodableBytes(self.0.saturating_sub(byte_count))
    }
}
