//! Fast decimal and hexadecimal text into a buffer that drains to a sink.
//!
//! A plain file is 200 million short lines for each gigabyte, so each number costs a table look-up and a store of fixed
//! width, not a call of the formatting machinery (which alone takes 30 ns for each number).

use std::io::{self, Write};

/// Drained when this full.
const FULL: usize = 256 * 1024;
/// No single line is longer: the longest generated names have a few kilobytes.
const SLACK: usize = 64 * 1024;

pub(crate) struct Text<'a> {
    buffer: Vec<u8>,
    at: usize,
    drained: u64,
    sink: &'a mut dyn Write,
}

/// Of each number below 1000: how many digits it has, its three digits with leading zeros, and four bytes of no meaning, so
/// that three bytes can be taken from wherever its digits begin.
static DIGITS: [[u8; 8]; 1000] = {
    let mut table = [[0; 8]; 1000];
    let mut value = 0;
    let mut digits = [b'0'; 3];
    while value < 1000 {
        let count = if value >= 100 {
            3
        } else if value >= 10 {
            2
        } else {
            1
        };
        table[value] = [count, digits[0], digits[1], digits[2], b' ', b' ', b' ', b' '];
        let mut place = 2;
        while digits[place] == b'9' && place > 0 {
            digits[place] = b'0';
            place -= 1;
        }
        digits[place] += 1;
        value += 1;
    }
    table
};

impl<'a> Text<'a> {
    pub(crate) fn new(sink: &'a mut dyn Write) -> Self {
        Self { buffer: vec![0; FULL + SLACK], at: 0, drained: 0, sink }
    }

    /// Bytes so far.
    pub(crate) fn len(&self) -> u64 {
        self.drained + self.at as u64
    }

    /// To be called between lines.
    #[inline]
    pub(crate) fn drain_if_full(&mut self) -> io::Result<()> {
        if self.at >= FULL { self.drain() } else { Ok(()) }
    }

    pub(crate) fn drain(&mut self) -> io::Result<()> {
        self.sink.write_all(&self.buffer[..self.at])?;
        self.drained += self.at as u64;
        self.at = 0;
        Ok(())
    }

    #[inline]
    pub(crate) fn byte(&mut self, byte: u8) {
        self.buffer[self.at] = byte;
        self.at += 1;
    }

    #[inline]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.buffer[self.at..self.at + bytes.len()].copy_from_slice(bytes);
        self.at += bytes.len();
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the value is below 1000")]
    pub(crate) fn decimal(&mut self, value: u64) {
        if value < 1000 {
            let entry = &DIGITS[value as usize];
            self.digits(entry, usize::from(entry[0]));
        } else {
            self.decimal_long(value);
        }
    }

    fn decimal_long(&mut self, value: u64) {
        if value >= 1_000_000 {
            self.decimal_long(value / 1000);
        } else {
            let entry = &DIGITS[(value / 1000) as usize];
            self.digits(entry, usize::from(entry[0]));
        }
        self.digits(&DIGITS[(value % 1000) as usize], 3);
    }

    /// The last `count` digits of a table entry.
    #[inline]
    fn digits(&mut self, entry: &[u8; 8], count: usize) {
        if let Some((room, _)) = self.buffer[self.at..].split_first_chunk_mut::<3>()
            && let Some((digits, _)) = entry[(4 - count) & 3..].split_first_chunk::<3>()
        {
            *room = *digits;
        }
        self.at += count;
    }

    pub(crate) fn hex(&mut self, value: u64) {
        self.bytes(b"0x");
        let digits = (64 - (value | 1).leading_zeros()).div_ceil(4);
        for digit in (0..digits).rev() {
            self.byte(b"0123456789abcdef"[((value >> (4 * digit)) & 15) as usize]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_the_standard_library_writes_them() {
        let values = [0, 7, 10, 42, 99, 100, 999, 1000, 1001, 65_536, 999_999, 1_000_000, u64::MAX];
        let mut expected = String::new();
        let mut bytes = Vec::new();
        let mut text = Text::new(&mut bytes);
        for value in values {
            expected.push_str(&format!("{value} {value:#x}\n"));
            text.decimal(value);
            text.byte(b' ');
            text.hex(value);
            text.byte(b'\n');
        }
        assert_eq!(text.len(), expected.len() as u64);
        text.drain().unwrap();
        assert_eq!(String::from_utf8(bytes).unwrap(), expected);
    }
}
