//! The outer form of a line, told from its first bytes.

use crate::name::NameKey;
use crate::record::NumbersKey;
use crate::scan::{Tokens, is_blank, trim_start};

/// The apparent kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape<'a> {
    Blank,
    /// Without the `#`.
    Comment(&'a [u8]),
    NewProfile,
    /// Begins like a position.
    Cost,
    Keyed(Keyed<'a>),
    Unknown,
}

/// A word, `:` or `=`, and a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Keyed<'a> {
    pub(crate) key: &'a [u8],
    pub(crate) separator: u8,
    pub(crate) separator_offset: usize,
    /// The text after the separator and its blanks.
    pub(crate) value: &'a [u8],
    pub(crate) value_offset: usize,
}

impl Keyed<'_> {
    pub(crate) fn has_blank_before_separator(&self) -> bool {
        self.separator_offset > self.key.len()
    }
}

/// With this Xdebug begins each profile that it appends to a file.
pub(crate) const NEW_PROFILE: &[u8] = b"==== NEW PROFILING FILE ===";

/// Tells the shape of a line without leading blanks.
pub(crate) fn shape(text: &[u8]) -> Shape<'_> {
    match text.first() {
        None => Shape::Blank,
        Some(b'#') => Shape::Comment(&text[1..]),
        Some(b'0'..=b'9' | b'+' | b'-' | b'*') => Shape::Cost,
        Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => keyed(text).map_or(Shape::Unknown, Shape::Keyed),
        Some(b'=') if text.starts_with(NEW_PROFILE) => Shape::NewProfile,
        Some(byte) if is_blank(*byte) && trim_start(text).is_empty() => Shape::Blank,
        Some(_) => Shape::Unknown,
    }
}

fn keyed(text: &[u8]) -> Option<Keyed<'_>> {
    let key_length = text
        .iter()
        .take(64)
        .position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')))?;
    let separator_offset = text.len() - trim_start(&text[key_length..]).len();
    let separator = *text.get(separator_offset).filter(|byte| matches!(byte, b':' | b'='))?;
    let value = trim_start(&text[separator_offset + 1..]);
    let value_offset = text.len() - value.len();
    Some(Keyed { key: &text[..key_length], separator, separator_offset, value, value_offset })
}

/// `true` if some version of the format gives this key a meaning.
pub(crate) fn is_known_key(separator: u8, key: &[u8]) -> bool {
    if separator == b':' {
        matches!(
            key,
            b"version"
                | b"creator"
                | b"cmd"
                | b"pid"
                | b"part"
                | b"thread"
                | b"desc"
                | b"positions"
                | b"event"
                | b"events"
                | b"summary"
                | b"totals"
                | b"total"
        )
    } else {
        NameKey::parse(key).is_some()
            || NumbersKey::parse(key).is_some()
            || matches!(key, b"calls" | b"rcalls" | b"jump" | b"jcnd" | b"totals")
    }
}

/// `true` if an indented line of costs has no position.
///
/// NYTProf leaves out a position it does not know: then there are only as many numbers as event types.
pub(crate) fn lacks_position(body: &[u8], event_types: usize) -> bool {
    Tokens::new(body).count() <= event_types && body.iter().all(|&b| b.is_ascii_digit() || is_blank(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_value(text: &[u8]) -> Option<(&[u8], u8, &[u8])> {
        match shape(text) {
            Shape::Keyed(keyed) => Some((keyed.key, keyed.separator, keyed.value)),
            _ => None,
        }
    }

    #[test]
    fn shapes() {
        assert_eq!(shape(b""), Shape::Blank);
        assert_eq!(shape(b" \t"), Shape::Blank);
        assert_eq!(shape(b"# x"), Shape::Comment(b" x"));
        assert_eq!(shape(b"+3 1"), Shape::Cost);
        assert_eq!(shape(b"==== NEW PROFILING FILE ======"), Shape::NewProfile);
        assert_eq!(shape(b"frob 1 2 3"), Shape::Unknown);
        assert_eq!(shape(b"\x7fELF"), Shape::Unknown);
        assert_eq!(key_value(b"cmd:  ./a b=c"), Some((&b"cmd"[..], b':', &b"./a b=c"[..])));
        assert_eq!(key_value(b"fn=operator=="), Some((&b"fn"[..], b'=', &b"operator=="[..])));
        assert_eq!(key_value(b"fn = x"), Some((&b"fn"[..], b'=', &b"x"[..])));
        assert_eq!(key_value(b"desc: I1 cache: "), Some((&b"desc"[..], b':', &b"I1 cache: "[..])));
    }
}
