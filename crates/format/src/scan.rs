//! The smallest pieces: blanks, tokens, unsigned numbers and how they are spelled.

/// Blank and tab, the only separators the format knows inside a line.
pub(crate) const fn is_blank(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The bytes after leading blanks.
pub(crate) fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_blank(*first)
    {
        text = rest;
    }
    text
}

/// The bytes before trailing blanks.
pub(crate) fn trim_end(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., last] = text
        && is_blank(*last)
    {
        text = rest;
    }
    text
}

/// The bytes before trailing carriage returns.
pub(crate) fn trim_returns(mut text: &[u8]) -> &[u8] {
    while let [rest @ .., b'\r'] = text {
        text = rest;
    }
    text
}

/// A run of blanks and the token after it; the last item of a line that ends with blanks has an empty token.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token<'a> {
    pub(crate) gap: &'a [u8],
    pub(crate) text: &'a [u8],
    /// Offset of the token in the text that was split.
    pub(crate) offset: usize,
}

/// Splits a text at blanks and keeps the blanks, so that the text can be put together again.
#[derive(Debug, Clone)]
pub(crate) struct Tokens<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Tokens { text, at: 0 }
    }

    /// The blanks after the last token taken.
    pub(crate) fn gap(&self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        &rest[..rest.len() - trim_start(rest).len()]
    }

    /// The text that has not been taken yet, with its blanks.
    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.text[self.at..]
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let gap = self.gap();
        let offset = self.at + gap.len();
        let rest = &self.text[offset..];
        if rest.is_empty() {
            return None;
        }
        let length = rest.iter().position(|&byte| is_blank(byte)).unwrap_or(rest.len());
        self.at = offset + length;
        Some(Token { gap, text: &rest[..length], offset })
    }
}

/// The fault of bytes that are not an unsigned 64-bit number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberFault {
    /// No digit where one is needed; the offset is where it is missed.
    NoDigit(usize),
    /// A byte that is no digit, at this offset.
    BadDigit(usize),
    /// The digits are fine, the value is above 2^64 − 1.
    TooLarge,
}

/// Reads a number of the grammar: decimal digits, or `0x` and hexadecimal digits.
pub(crate) fn number(token: &[u8]) -> Result<u64, NumberFault> {
    let (digits, radix, skipped) = match token {
        [b'0', b'x' | b'X', digits @ ..] => (digits, 16, 2),
        digits => (digits, 10, 0),
    };
    if digits.is_empty() {
        return Err(NumberFault::NoDigit(skipped));
    }
    let mut value = 0u64;
    let mut too_large = false;
    for (offset, &byte) in digits.iter().enumerate() {
        let Some(digit) = char::from(byte).to_digit(radix) else {
            return Err(NumberFault::BadDigit(skipped + offset));
        };
        match value.checked_mul(u64::from(radix)).and_then(|v| v.checked_add(u64::from(digit))) {
            Some(v) => value = v,
            None => too_large = true,
        }
    }
    if too_large { Err(NumberFault::TooLarge) } else { Ok(value) }
}

/// The spelling of an unsigned number: the part of a token that its value does not determine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct NumberForm {
    hexadecimal: bool,
    upper_prefix: bool,
    upper_digits: bool,
    /// Least number of digits, for leading zeros.
    width: usize,
}

impl NumberForm {
    pub(crate) const DECIMAL: Self =
        NumberForm { hexadecimal: false, upper_prefix: false, upper_digits: false, width: 0 };
    pub(crate) const HEXADECIMAL: Self =
        NumberForm { hexadecimal: true, upper_prefix: false, upper_digits: false, width: 0 };

    /// The form of a token that [`number`] reads.
    pub(crate) fn from_token(token: &[u8]) -> Self {
        let (hexadecimal, upper_prefix, digits) = match token {
            [b'0', prefix @ (b'x' | b'X'), digits @ ..] => (true, *prefix == b'X', digits),
            digits => (false, false, digits),
        };
        NumberForm {
            hexadecimal,
            upper_prefix,
            upper_digits: digits.iter().any(u8::is_ascii_uppercase),
            width: if digits.first() == Some(&b'0') { digits.len() } else { 0 },
        }
    }

    /// Writes the value in this form.
    pub(crate) fn write(self, value: u64, out: &mut Vec<u8>) {
        let mut digits = [0u8; 20];
        let mut at = digits.len();
        let mut rest = value;
        let radix = if self.hexadecimal { 16 } else { 10 };
        let letters = if self.upper_digits { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
        loop {
            at -= 1;
            #[expect(clippy::cast_possible_truncation, reason = "a remainder below 16")]
            let digit = (rest % radix) as usize;
            digits[at] = letters[digit];
            rest /= radix;
            if rest == 0 {
                break;
            }
        }
        if self.hexadecimal {
            out.extend_from_slice(if self.upper_prefix { b"0X" } else { b"0x" });
        }
        let digits = &digits[at..];
        out.resize(out.len() + self.width.saturating_sub(digits.len()), b'0');
        out.extend_from_slice(digits);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read() {
        for (token, expected) in [
            (&b"0"[..], Ok(0)),
            (b"18446744073709551615", Ok(u64::MAX)),
            (b"18446744073709551616", Err(NumberFault::TooLarge)),
            (b"0xffffffffffffffff", Ok(u64::MAX)),
            (b"0X1F", Ok(31)),
            (b"0x", Err(NumberFault::NoDigit(2))),
            (b"", Err(NumberFault::NoDigit(0))),
            (b"12a", Err(NumberFault::BadDigit(2))),
            (b"0x1g", Err(NumberFault::BadDigit(3))),
            (b"00012", Ok(12)),
        ] {
            assert_eq!(number(token), expected, "{}", token.escape_ascii());
        }
    }

    #[test]
    fn numbers_keep_their_spelling() {
        for token in [&b"0"[..], b"007", b"42", b"0x1f", b"0X1F", b"0x001f", b"0x0", b"18446744073709551615"]
        {
            let mut out = Vec::new();
            NumberForm::from_token(token).write(number(token).unwrap(), &mut out);
            assert_eq!(out, token, "{}", token.escape_ascii());
        }
    }

    #[test]
    fn tokens_keep_their_gaps() {
        let text = b"  a \tbc  ";
        let mut tokens = Tokens::new(text);
        let mut again = Vec::new();
        for token in tokens.by_ref() {
            again.extend_from_slice(token.gap);
            again.extend_from_slice(token.text);
        }
        again.extend_from_slice(tokens.gap());
        assert_eq!(again, text);
    }
}
