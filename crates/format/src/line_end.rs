//! Line ends: what ends a line, and the lines of an input.
//!
//! Files use `\n` or `\r\n`. A `\r` alone ends a line only in a file without any `\n` (old Mac). One `\r` before the end of a
//! line belongs to the line end.

use memchr::memchr;

/// The end of a line.
///
/// See the example of [`LineTerminator`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum LineEnd {
    /// `\n`
    #[default]
    Lf,
    /// `\r\n`
    CrLf,
    /// `\r` alone.
    Cr,
    /// The end of the file.
    Missing,
}

impl LineEnd {
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            LineEnd::Lf => b"\n",
            LineEnd::CrLf => b"\r\n",
            LineEnd::Cr => b"\r",
            LineEnd::Missing => b"",
        }
    }
}

/// The byte that ends the lines of an input: `\n`, or `\r` in a file without any `\n`.
///
/// ```
/// use gristmill_format::raw::LineTerminator;
///
/// let lines = |input| LineTerminator::detect(input).lines(input).collect::<Vec<&[u8]>>();
/// assert_eq!(lines(b"fn=f\r\n1 2\n"), [&b"fn=f"[..], b"1 2"]);
/// assert_eq!(lines(b"fn=f\r1 2"), [&b"fn=f"[..], b"1 2"]);
/// assert_eq!(LineTerminator::detect(b"fn=f\n1 2\n").line_at(b"fn=f\n1 2\n", 5), b"1 2");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineTerminator(u8);

impl LineTerminator {
    /// `\n`.
    pub const LF: LineTerminator = LineTerminator(b'\n');

    /// Finds the terminator of an input.
    pub fn detect(input: &[u8]) -> Self {
        let is_old_mac = memchr(b'\n', input).is_none() && memchr(b'\r', input).is_some();
        LineTerminator(if is_old_mac { b'\r' } else { b'\n' })
    }

    /// The byte.
    #[inline]
    pub fn byte(self) -> u8 {
        self.0
    }

    /// Splits the first line off `rest`: returns its text, its end and the length of both.
    #[inline]
    pub fn split_line(self, rest: &[u8]) -> (&[u8], LineEnd, usize) {
        let (length, taken, end) = match memchr(self.0, rest) {
            Some(length) => (length, length + 1, if self.0 == b'\n' { LineEnd::Lf } else { LineEnd::Cr }),
            None => (rest.len(), rest.len(), LineEnd::Missing),
        };
        match &rest[..length] {
            [text @ .., b'\r'] => (text, if end == LineEnd::Lf { LineEnd::CrLf } else { LineEnd::Cr }, taken),
            text => (text, end, taken),
        }
    }

    /// Returns the text of the line that begins at an offset; empty if that is beyond the input.
    pub fn line_at(self, input: &[u8], byte_offset: u64) -> &[u8] {
        let rest = usize::try_from(byte_offset).ok().and_then(|offset| input.get(offset..));
        self.split_line(rest.unwrap_or_default()).0
    }

    /// Iterates over the texts of all lines.
    pub fn lines(self, input: &[u8]) -> impl Iterator<Item = &[u8]> {
        let mut rest = input;
        std::iter::from_fn(move || {
            let (text, _, taken) = self.split_line(rest);
            let is_end = rest.is_empty();
            rest = &rest[taken..];
            (!is_end).then_some(text)
        })
    }
}
