//! Positions as callgrind_annotate reads them: relative ones are replaced in the text of a line.

use std::borrow::Cow;

use super::names::is_space;

/// The rest of a text.
pub(super) fn from<'t>(text: &Cow<'t, [u8]>, start: usize) -> Cow<'t, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(&text[start..]),
        Cow::Owned(text) => Cow::Owned(text[start..].to_vec()),
    }
}

/// Reads a number in one of the usual spellings, and returns what follows it.
pub(super) fn usual_number(text: &[u8], base: i64) -> Option<(i64, &[u8])> {
    let (sign, digits) = match text.first()? {
        b'*' => (b'*', &text[1..]),
        &sign @ (b'+' | b'-') => (sign, &text[1..]),
        _ => (b' ', text),
    };
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let rest = &digits[count..];
    if rest.first().is_some_and(|&byte| !is_space(byte)) {
        return None;
    }
    if sign == b'*' {
        return (count == 0).then_some((base, rest));
    }
    if !(1..=18).contains(&count) || sign == b' ' && count > 1 && digits[0] == b'0' {
        return None;
    }
    let value = digits[..count].iter().fold(0, |value, &digit| value * 10 + i64::from(digit - b'0'));
    match sign {
        b'+' => Some((base.saturating_add(value), rest)).filter(|&(value, _)| value >= 0),
        b'-' => Some((base.saturating_sub(value), rest)),
        _ => Some((value, rest)),
    }
}

/// Returns the text behind an address in one of the usual spellings.
pub(super) fn after_address(text: &[u8], base: i64) -> Option<&[u8]> {
    let Some(digits) = text.strip_prefix(b"0x") else {
        return usual_number(text, base).map(|(_, rest)| rest);
    };
    let count = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let rest = &digits[count..];
    (count > 0 && rest.first().is_some_and(|&byte| is_space(byte))).then_some(rest)
}

/// The line that relative numbers are relative to.
#[derive(Debug)]
pub(super) struct Base {
    pub(super) value: i64,
    /// Its spelling, if that is not the usual one.
    pub(super) text: Option<Vec<u8>>,
}

/// Replaces a relative number at the beginning of a text by an absolute one. Where a sum is below 0, its sign makes it
/// relative again.
pub(super) fn absolute<'t>(text: &'t [u8], base: &Base) -> Cow<'t, [u8]> {
    let mut text = Cow::Borrowed(text);
    for sign in [b'+', b'-'] {
        let digits = text.iter().skip(1).take_while(|byte| byte.is_ascii_digit()).count();
        if text.first() == Some(&sign) && digits > 0 {
            let offset = String::from_utf8_lossy(&text[1..=digits]).parse().unwrap_or(i64::MAX);
            let sum = if sign == b'+' {
                base.value.saturating_add(offset)
            } else {
                base.value.saturating_sub(offset)
            };
            text = Cow::Owned([sum.to_string().as_bytes(), &text[digits + 1..]].concat());
            if sign == b'-' {
                return text;
            }
        }
    }
    match text.strip_prefix(b"*") {
        Some(rest) => {
            let line = base.text.clone().unwrap_or_else(|| base.value.to_string().into_bytes());
            Cow::Owned([&line, rest].concat())
        }
        None => text,
    }
}

/// The length of the number at the beginning of a text, which ends there or at white space.
pub(super) fn position_length(text: &[u8]) -> Option<usize> {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let hexadecimal = text.strip_prefix(b"0x").map_or(0, |digits| digits.iter().take_while(is_word).count());
    let length = if hexadecimal > 0 {
        2 + hexadecimal
    } else {
        let sign = usize::from(text.starts_with(b"-"));
        let digits = text[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return None;
        }
        sign + digits
    };
    text.get(length).is_none_or(|&byte| is_space(byte)).then_some(length)
}
