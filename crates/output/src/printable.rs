//! Text from files, made safe to show.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// Turns untrusted bytes into text that moves no cursor and turns no line around. Valid UTF-8 stays as it is; control
/// characters, bidirectional controls and line separators become escapes (`\t`, `\x1b`, `\u{202e}`), bytes that are not
/// UTF-8 become `\xff`. A backslash stays a backslash: names of some languages are full of them.
///
/// ```
/// assert_eq!(gristmill_output::printable(b"sieve\x1b[2J"), "sieve\\x1b[2J");
/// ```
pub fn printable(bytes: &[u8]) -> Cow<'_, str> {
    // Nearly every name takes this way: one look at it, and no copy.
    if let Ok(text) = std::str::from_utf8(bytes)
        && !text.chars().any(is_unsafe)
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
    if !line.contains(&b'\t') {
        return printable_bytes(line);
    }
    let cells: Vec<Cow<'_, [u8]>> = line.split(|&byte| byte == b'\t').map(printable_bytes).collect();
    Cow::Owned(cells.join(&b'\t'))
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

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            // Line and paragraph separator break lines, the others reorder or hide what follows.
            '\u{061c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_keeps_text() {
        for text in ["main", "größe", "日本", "operator\\", "a b", ""] {
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
        ] {
            assert_eq!(printable(bytes), shown);
        }
    }
}
