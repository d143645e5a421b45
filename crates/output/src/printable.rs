//! Text from files, made safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use crate::log_command::{has_command, without_commands};

/// Turns untrusted bytes into text that moves no cursor and turns no line around. Valid UTF-8 stays as it is; control
/// characters, bidirectional controls, line separators and characters without a glyph become escapes (`\t`, `\x1b`,
/// `\u{202e}`), bytes that are not UTF-8 become `\xff`. A backslash stays a backslash: names of some languages are full of
/// them. What a service would take for a command in the log of a build loses its first character:
///
/// ```
/// assert_eq!(gristmill_output::printable(b"sieve\x1b[2J"), "sieve\\x1b[2J");
/// assert_eq!(gristmill_output::printable(b"##[error]sieve"), "\\x23#[error]sieve");
/// ```
pub fn printable(bytes: &[u8]) -> Cow<'_, str> {
    without_commands(printable_characters(bytes))
}

fn printable_characters(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly every name takes this way: one look at it, and no copy.
    if let Ok(text) = std::str::from_utf8(bytes)
        && (is_plain(bytes) || !text.chars().any(is_unsafe))
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\t' => shown.push_str("\\t"),
                '\n' => shown.push_str("\\n"),
                '\r' => shown.push_str("\\r"),
                // Writing to a String does not fail.
                c if is_unsafe(c) && c.is_ascii() => {
                    let _ = write!(shown, "\\x{:02x}", u32::from(c));
                }
                c if is_unsafe(c) => {
                    let _ = write!(shown, "\\u{{{:x}}}", u32::from(c));
                }
                c => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    Cow::Owned(shown)
}

/// Does the same as [`printable`] and returns bytes.
pub fn printable_bytes(bytes: &[u8]) -> Cow<'_, [u8]> {
    match printable(bytes) {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

/// Turns a line of a source file, without its end, into text that is safe to show. Tabs stay: they move the cursor no
/// further than they are meant to.
///
/// ```
/// assert_eq!(&*gristmill_output::printable_line(b"\tx = 1;\x1b"), b"\tx = 1;\\x1b");
/// ```
pub fn printable_line(line: &[u8]) -> Cow<'_, [u8]> {
    // Nearly every line is safe, and is not copied.
    let is_plain = line.iter().fold(true, |is_plain, byte| is_plain & matches!(byte, b'\t' | b' '..=b'~'));
    if is_plain && !has_command(line) {
        return Cow::Borrowed(line);
    }
    if !line.contains(&b'\t') {
        return printable_bytes(line);
    }
    // A command can follow a tab.
    let cells: Vec<Cow<'_, [u8]>> = line.split(|&byte| byte == b'\t').map(printable_bytes).collect();
    Cow::Owned(cells.join(&b'\t'))
}

/// Turns a text of several lines, such as a message, into one that is safe to show. Tabs and line ends stay.
///
/// ```
/// assert_eq!(gristmill_output::printable_lines("a:\n\tb\x1b"), "a:\n\tb\\x1b");
/// ```
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let has_command = text.split(['\t', '\n']).any(|piece| has_command(piece.as_bytes()));
    if !has_command && !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for piece in text.split_inclusive(['\t', '\n']) {
        let kept = piece.trim_end_matches(['\t', '\n']);
        shown.push_str(&printable(kept.as_bytes()));
        shown.push_str(&piece[kept.len()..]);
    }
    Cow::Owned(shown)
}

/// A writer that makes text harmless, for a terminal that a profile itself is written to. Tabs and line ends stay.
///
/// ```
/// use std::io::Write as _;
///
/// use gristmill_output::PrintableWriter;
///
/// let mut out = Vec::new();
/// let mut writer = PrintableWriter::new(&mut out);
/// writer.write_all(b"cmd: \x1b]0;title\x07\n")?;
/// writer.flush()?;
/// assert_eq!(out, b"cmd: \\x1b]0;title\\x07\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct PrintableWriter<W> {
    out: W,
    /// The begin of a line whose end is not written yet: a character may be written in pieces.
    line: Vec<u8>,
}

impl<W: Write> PrintableWriter<W> {
    /// Creates a writer in front of another one. Its last line is written when it is flushed.
    pub fn new(out: W) -> Self {
        PrintableWriter { out, line: Vec::new() }
    }
}

impl<W: Write> Write for PrintableWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            let Some(end) = piece.strip_suffix(b"\n") else {
                self.line.extend_from_slice(piece);
                break;
            };
            self.line.extend_from_slice(end);
            self.out.write_all(&printable_line(&self.line))?;
            self.out.write_all(b"\n")?;
            self.line.clear();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.write_all(&printable_line(&self.line))?;
        self.line.clear();
        self.out.flush()
    }
}

/// Turns a path into text that is safe to show.
pub fn printable_path(path: &Path) -> Cow<'_, str> {
    printable(path.as_os_str().as_encoded_bytes())
}

/// Turns bytes into text, control characters included: for sorting, searching and programs. Bytes that are not UTF-8
/// become U+FFFD.
pub fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Writes an I/O error without the number that the standard library adds to it.
///
/// ```
/// let error = std::io::Error::from_raw_os_error(2);
/// assert!(!gristmill_output::io_reason(&error).contains("os error"));
/// ```
pub fn io_reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// Returns `true` for bytes that are printable ASCII, as nearly all are. It looks at all of them, without a branch for each.
pub(crate) fn is_plain(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |is_plain, byte| is_plain & (b' '..=b'~').contains(byte))
}

/// Returns `true` for a character that is never shown as it is.
pub(crate) fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Line and paragraph separator break lines, the others reorder or hide text, or are text that nobody sees: two names
            // must not read the same.
            '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
                | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}'
                | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_keeps_text() {
        for text in ["main", "größe", "日本", "operator\\", "a b", "", "🦀", "❤\u{fe0f}"] {
            assert!(matches!(printable(text.as_bytes()), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn printable_escapes() {
        for (bytes, shown) in [
            (&b"\x1b[2J"[..], "\\x1b[2J"),
            (b"a\tb\r\n\0", "a\\tb\\r\\n\\x00"),
            (b"\xff\xfeok\xc3", "\\xff\\xfeok\\xc3"),
            ("\u{202e}evil\u{2066}\u{9b}".as_bytes(), "\\u{202e}evil\\u{2066}\\u{9b}"),
            (b"\x7f", "\\x7f"),
            (
                "a\u{e0041}\u{feff}\u{2028}\u{200b}\u{85}".as_bytes(),
                "a\\u{e0041}\\u{feff}\\u{2028}\\u{200b}\\u{85}",
            ),
            (b"\x9b31m", "\\x9b31m"),
            ("ma\u{ad}in\u{3164}".as_bytes(), "ma\\u{ad}in\\u{3164}"),
        ] {
            assert_eq!(printable(bytes), shown);
        }
    }

    #[test]
    fn no_line_is_a_command() {
        assert_eq!(&*printable_line(b"\t::error::x"), b"\t\\x3a:error::x");
        assert_eq!(&*printable_line(b"x\t##[group]"), b"x\t\\x23#[group]");
        assert_eq!(printable_lines("a\n::error::b\n##vso[c]"), "a\n\\x3a:error::b\n\\x23#vso[c]");
    }

    #[test]
    fn lines_keep_tabs() {
        assert!(matches!(printable_line(b"\tx = 1;"), Cow::Borrowed(b"\tx = 1;")));
        assert_eq!(&*printable_line("\tgrö\x1b\t\u{9b}".as_bytes()), "\tgrö\\x1b\t\\u{9b}".as_bytes());
    }

    #[test]
    fn a_character_in_pieces_is_one() {
        let mut out = Vec::new();
        let mut writer = PrintableWriter::new(&mut out);
        for byte in "größe\t\u{9b}\r\nx\x1b".as_bytes() {
            writer.write_all(&[*byte]).unwrap();
        }
        writer.flush().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "größe\t\\u{9b}\\r\nx\\x1b");
    }
}
