//! Costs that were restored in the bytes of the inputs.

use gristmill_format::{Cost, Location};

/// A cost that lost its sign at its producer, and has it again in the bytes of its input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RestoredCost {
    pub(crate) input: usize,
    pub(crate) location: Location,
    pub(crate) event: Vec<u8>,
    pub(crate) written: Cost,
    pub(crate) restored: Cost,
    /// Offset of its digits in the input.
    pub(crate) byte: usize,
    /// Number of digits that the producer wrote.
    pub(crate) length: usize,
}

impl RestoredCost {
    /// Writes the restored cost over the digits of the producer, in as many bytes.
    pub(crate) fn restore(&self, bytes: &mut [u8]) {
        self.write(self.restored, bytes);
    }

    /// Writes the digits of the producer again.
    pub(crate) fn undo(&self, bytes: &mut [u8]) {
        self.write(self.written, bytes);
    }

    fn write(&self, cost: Cost, bytes: &mut [u8]) {
        let digits = format!("{cost:<width$}", width = self.length);
        bytes[self.byte..][..self.length].copy_from_slice(digits.as_bytes());
    }
}
