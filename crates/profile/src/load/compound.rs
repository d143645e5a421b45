//! Names made of references to others, as Callgrind writes them with `--compress-mangled=yes`.

use super::naming::is_compound;

/// Puts the names in: `(1116)'2'(1112)` becomes what 1116 stands for, `'2'`, and what 1112 stands for.
///
/// None when the text is not made so, or of numbers that stand for nothing.
pub(super) fn expand<'a>(text: &[u8], meaning: impl Fn(u64) -> Option<&'a [u8]>) -> Option<Vec<u8>> {
    let mut made = Vec::new();
    for (nth, piece) in text.split(|&byte| byte == b'\'').enumerate() {
        if nth > 0 {
            made.push(b'\'');
        }
        if let [b'(', digits @ .., b')'] = piece {
            let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
            made.extend_from_slice(meaning(number)?);
        } else if nth > 0 && !piece.is_empty() && piece.iter().all(u8::is_ascii_digit) {
            // The level of recursion.
            made.extend_from_slice(piece);
        } else {
            return None;
        }
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
        assert_eq!(expand(b"(1)'2'(0)", meaning).as_deref(), Some(&b"fib'2'main"[..]));
        assert_eq!(expand(b"(7)", meaning), None);
        assert_eq!(expand(b"(2)", meaning), None);
        assert_eq!(expand(b"(1)'x", meaning), None);
        assert_eq!(expand(b"(3) r.c", meaning), None);
    }
}
