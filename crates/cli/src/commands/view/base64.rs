//! Bytes as text of letters, digits, `+` and `/`: base64, as RFC 4648 defines it.

use std::io::{self, Write};

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// Bytes of text that are written at once.
const BUFFER_BYTES: usize = 64 << 10;

/// A writer of bytes as base64, which [`finish`](Base64Writer::finish) ends.
pub(super) struct Base64Writer<W> {
    sink: W,
    text: Vec<u8>,
    /// Bytes that are not written yet: fewer than three.
    rest: Vec<u8>,
}

impl<W: Write> Base64Writer<W> {
    pub(super) fn new(sink: W) -> Self {
        Base64Writer { sink, text: Vec::with_capacity(BUFFER_BYTES + 4), rest: Vec::with_capacity(3) }
    }

    fn group(&mut self, bytes: [u8; 3], digits: usize) -> io::Result<()> {
        let [one, two, three] = bytes.map(u32::from);
        let bits = one << 16 | two << 8 | three;
        let digit = |shift: u32| DIGITS[(bits >> shift & 63) as usize];
        let text = [18, 12, 6, 0].map(digit);
        self.text.extend_from_slice(&text[..digits]);
        self.text.resize(self.text.len() + 4 - digits, b'=');
        if self.text.len() >= BUFFER_BYTES {
            self.sink.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Writes the last bytes and returns the sink.
    pub(super) fn finish(mut self) -> io::Result<W> {
        match *self.rest.as_slice() {
            [one, two] => self.group([one, two, 0], 3)?,
            [one] => self.group([one, 0, 0], 2)?,
            _ => {}
        }
        self.sink.write_all(&self.text)?;
        Ok(self.sink)
    }
}

impl<W: Write> Write for Base64Writer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut left = bytes;
        while let Some((&byte, after)) = left.split_first()
            && !self.rest.is_empty()
        {
            self.rest.push(byte);
            left = after;
            if let [one, two, three] = *self.rest.as_slice() {
                self.rest.clear();
                self.group([one, two, three], 4)?;
            }
        }
        let (groups, rest) = left.as_chunks::<3>();
        for &group in groups {
            self.group(group, 4)?;
        }
        self.rest.extend_from_slice(rest);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(pieces: &[&[u8]]) -> String {
        let mut writer = Base64Writer::new(Vec::new());
        for piece in pieces {
            writer.write_all(piece).unwrap();
        }
        String::from_utf8(writer.finish().unwrap()).unwrap()
    }

    #[test]
    fn the_vectors_of_the_definition() {
        for (bytes, expected) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(text(&[bytes.as_bytes()]), expected);
        }
        assert_eq!(text(&[&[0xfb, 0xff, 0xbf]]), "+/+/");
    }

    #[test]
    fn pieces_of_any_length_make_the_same_text() {
        let bytes: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let whole = text(&[&bytes]);
        for length in [1, 2, 3, 4, 5, 1000] {
            assert_eq!(text(&bytes.chunks(length).collect::<Vec<_>>()), whole, "{length}");
        }
    }
}
