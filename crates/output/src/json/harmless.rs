//! Documents in which nothing changes a terminal that shows them.

use std::io::{self, Write};

use crate::log_command::{begins_log_command, has_command};
use crate::printable::is_unsafe;

/// Bytes that are looked at together. A look at this many costs little more than one at a few, and they fit into the first cache.
const CHUNK_BYTES: usize = 16 << 10;

/// A writer of documents that replaces characters which are never shown as they are by `\u` escapes: readers get the same
/// strings. Outside of strings, a document has only ASCII characters.
///
/// It holds text back; [`finish`](Harmless::finish) writes the rest.
pub(super) struct Harmless<'w> {
    out: &'w mut dyn Write,
    /// Whole characters: the serializer writes each string, or what is between escapes, at once.
    held: Vec<u8>,
}

impl<'w> Harmless<'w> {
    pub(super) fn new(out: &'w mut dyn Write) -> Self {
        // A row of a document that is written piece by piece takes a few hundred bytes.
        Harmless { out, held: Vec::with_capacity(1 << 10) }
    }

    /// Writes what is held back.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.pass_on()
    }

    fn pass_on(&mut self) -> io::Result<()> {
        write_harmless(&self.held, self.out)?;
        self.held.clear();
        Ok(())
    }

    /// Writes long text without a copy.
    #[cold]
    fn write_long(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pass_on()?;
        if bytes.len() < CHUNK_BYTES {
            self.held.extend_from_slice(bytes);
            return Ok(());
        }
        write_harmless(bytes, self.out)
    }
}

impl Write for Harmless<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes)?;
        Ok(bytes.len())
    }

    // Each name, key and number passes here.
    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.held.len() + bytes.len() > CHUNK_BYTES {
            return self.write_long(bytes);
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.out.flush()
    }
}

fn write_harmless(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    if has_only_shown_ascii(bytes) && !has_command(bytes) {
        return out.write_all(bytes);
    }
    let mut rest = std::str::from_utf8(bytes).map_err(io::Error::other)?;
    while let Some((at, character)) =
        rest.char_indices().find(|&(at, character)| is_escaped(character, &rest.as_bytes()[at..]))
    {
        out.write_all(&rest.as_bytes()[..at])?;
        for unit in character.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
        rest = &rest[at + character.len_utf8()..];
    }
    out.write_all(rest.as_bytes())
}

/// `true` if no byte is that of DEL or of a character that is not ASCII. The serializer has escaped all other controls.
fn has_only_shown_ascii(bytes: &[u8]) -> bool {
    // Without a branch for each, so that many are looked at together.
    bytes.iter().fold(true, |is_shown, &byte| is_shown & (byte < 0x7f))
}

/// `true` for a character that is replaced, at the start of this text. A line end is one of the layout: strings have none.
fn is_escaped(character: char, text: &[u8]) -> bool {
    character != '\n' && is_unsafe(character) || character == '#' && begins_log_command(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json;

    /// Escapes, long strings and the ends of chunks leave nothing out.
    #[test]
    fn documents_of_any_length_are_written_whole() {
        for length in [0, 1, CHUNK_BYTES - 2, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES]
        {
            let text = "ä\u{9b}".repeat(length / 2) + "\n\u{7f}";
            let list = vec![text, "b".to_owned(), "c".repeat(length), String::new()];
            let mut out = Vec::new();
            json::write_pretty(&list, &mut out).unwrap();
            assert!(!out.contains(&0x7f));
            let written = String::from_utf8(out).unwrap();
            assert!(!written.contains('\u{9b}'));
            assert_eq!(serde_json::from_str::<Vec<String>>(&written).unwrap(), list);
        }
    }

    #[test]
    fn strings_stay_the_same_for_readers() {
        let text = "größe \u{9b}31m\u{7f}\u{202e}\u{2028}\u{e0041}\x1b\"##[error]#";
        for print in [json::write_value, json::write_pretty] {
            let mut out = Vec::new();
            print(&text, &mut out).unwrap();
            let written = String::from_utf8(out).unwrap();
            let expected = r##""größe \u009b31m\u007f\u202e\u2028\udb40\udc41\u001b\"\u0023#[error]#""##;
            assert_eq!(written, expected);
            assert_eq!(serde_json::from_str::<String>(&written).unwrap(), text);
        }
    }
}
