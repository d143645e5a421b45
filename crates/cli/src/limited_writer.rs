//! A limit of the text that a command writes.
//!
//! A hostile profile has one long name that each row of a report repeats, so that the text grows with the square of the file.
//! The texts about recordings that were tried have some five bytes for each byte of their files.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Write};
use std::rc::Rc;

/// Bytes that a command may write for each byte that it reads.
const BYTES_PER_BYTE: u64 = 256;

/// Bytes that a command may write however little it reads.
const CONSTANT: u64 = 256 << 20;

/// The bytes that a command may still write. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct Allowance {
    allowed: Rc<Cell<u64>>,
    written: Rc<Cell<u64>>,
}

impl Default for Allowance {
    fn default() -> Self {
        Allowance { allowed: Rc::new(Cell::new(CONSTANT)), written: Rc::default() }
    }
}

impl Allowance {
    /// Allows the text about another file with this many bytes.
    pub(crate) fn add_file(&self, bytes: u64) {
        self.allowed.set(self.allowed.get().saturating_add(bytes.saturating_mul(BYTES_PER_BYTE)));
    }

    /// Removes the limit.
    pub(crate) fn lift(&self) {
        self.allowed.set(u64::MAX);
    }
}

/// A writer that fails with [`TooLong`] where the allowance ends.
pub(crate) struct LimitedWriter<W> {
    out: W,
    allowance: Allowance,
}

impl<W: Write> LimitedWriter<W> {
    pub(crate) fn new(out: W, allowance: &Allowance) -> Self {
        LimitedWriter { out, allowance: allowance.clone() }
    }
}

impl<W: Write> Write for LimitedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Allowance { allowed, written } = &self.allowance;
        if written.get().saturating_add(bytes.len() as u64) > allowed.get() {
            return Err(io::Error::other(TooLong { allowed: allowed.get() }));
        }
        let count = self.out.write(bytes)?;
        written.set(written.get() + count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A text that exceeds what a command may write about its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLong {
    allowed: u64,
}

impl TooLong {
    /// Returns it if it is the cause of an error.
    pub(crate) fn from_io(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the report is not complete: it has more than {} MiB, {BYTES_PER_BYTE} bytes for each byte of its files",
            self.allowed >> 20
        )
    }
}

impl std::error::Error for TooLong {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::CliError;

    #[test]
    fn text_ends_where_the_allowance_ends() {
        let allowance = Allowance::default();
        allowance.add_file(1);
        let mut writer = LimitedWriter::new(io::sink(), &allowance);
        let chunk = vec![b'x'; 1 << 20];
        (0..256).for_each(|_| writer.write_all(&chunk).unwrap());
        writer.write_all(&chunk[..256]).unwrap();
        let error = writer.write_all(b"x").unwrap_err();
        assert_eq!(TooLong::from_io(&error), Some(TooLong { allowed: (256 << 20) + 256 }));
        let shown = CliError::from(error).to_string();
        assert!(shown.starts_with("the report is not complete: it has more than 256 MiB"), "{shown}");
        allowance.lift();
        writer.write_all(b"x").unwrap();
        assert_eq!(TooLong::from_io(&io::Error::other("full")), None);
    }
}
