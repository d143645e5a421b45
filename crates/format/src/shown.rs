//! Pieces of a file in messages.

/// A message is a sentence: of a name of a megabyte its beginning is enough.
const LONGEST_SHOWN: usize = 200;

/// A piece of a file for a message: text as it is, everything that a terminal might act on or not show, escaped.
pub(crate) fn shown(text: &[u8]) -> String {
    let mut end = text.len().min(LONGEST_SHOWN);
    while end + 3 > LONGEST_SHOWN && text.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
        // Not through the middle of a character.
        end -= 1;
    }
    let beginning = &text[..end];
    let mut shown = String::with_capacity(beginning.len() + "…".len());
    for chunk in beginning.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() {
                shown.extend(character.escape_default())
            } else {
                shown.push(character)
            }
        }
        for byte in chunk.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    if beginning.len() < text.len() {
        shown.push('…');
    }
    shown
}
