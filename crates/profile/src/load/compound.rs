//! Names made of references to others, as Callgrind writes them with `--compress-mangled=yes`.

use super::naming::is_compound;

/// Puts the names in: `(1116)'2'(1112)` becomes what 1116 stands for, `'2'`, and what 1112 stands for.
///
/// None when the text is not made so, or of numbers that stand for nothing; and when there is no room left for so many
/// bytes, as a short line can put in a long name many times. Each byte takes of the room, whatever comes of it.
pub(super) fn expand<'a>(
    text: &[u8],
    room: &mut usize,
    meaning: impl Fn(u64) -> Option<&'a [u8]>,
) -> Option<Vec<u8>> {
    let mut made = Vec::new();
    for (nth, piece) in text.split(|&byte| byte == b'\'').enumerate() {
        if nth > 0 {
            made.push(b'\'');
        }
        let piece = if let [b'(', digits @ .., b')'] = piece {
            let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
            meaning(number)?
        } else if nth > 0 && !piece.is_empty() && piece.iter().all(u8::is_ascii_digit) {
            // The level of recursion.
            piece
        } else {
            return None;
        };
        *room = room.checked_sub(piece.len())?;
        made.extend_from_slice(piece);
    }
    // A name that stands for itself, or for another such name, would not end.
    (!is_compound(&made)).then_some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_put_in() {
        let meaning = |number| match number {
            0 => Some(&b"main"[..]),
            1 => Some(&b"fib"[..]),
            2 => Some(&b"(1)"[..]),
            _ => None,
        };
        let mut room = 17;
        let mut expand = |text: &[u8]| expand(text, &mut room, meaning);
        assert_eq!(expand(b"(1)'2'(0)").as_deref(), Some(&b"fib'2'main"[..]));
        assert_eq!(expand(b"(7)"), None);
        assert_eq!(expand(b"(2)"), None);
        assert_eq!(expand(b"(1)'x"), None);
        assert_eq!(expand(b"(3) r.c"), None);
        // 8 of 17 bytes were put in above, then 3 by each name that came to nothing: so many are left.
        assert_eq!(expand(b"(1)").as_deref(), Some(&b"fib"[..]));
        assert_eq!(expand(b"(0)"), None);
    }
}
