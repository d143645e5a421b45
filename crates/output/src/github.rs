//! Text in the workflow commands of GitHub, `::error file=a,line=1::message`.

use std::borrow::Cow;

/// Escapes the message of a command, where a line end would begin another one.
///
/// ```
/// assert_eq!(gristmill_output::github::data("50%\n"), "50%25%0A");
/// ```
pub fn data(text: &str) -> Cow<'_, str> {
    escape(text, &['%', '\r', '\n'])
}

/// Escapes the value of a property.
///
/// ```
/// assert_eq!(gristmill_output::github::property("a:b"), "a%3Ab");
/// ```
pub fn property(text: &str) -> Cow<'_, str> {
    escape(text, &['%', '\r', '\n', ':', ','])
}

fn escape<'t>(text: &'t str, special: &[char]) -> Cow<'t, str> {
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if special.contains(&character) {
            escaped.push_str(&format!("%{:02X}", u32::from(character)));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        assert_eq!(data("50%: a,b\r\n"), "50%25: a,b%0D%0A");
        assert_eq!(property("C:\\a,b%\n"), "C%3A\\a%2Cb%25%0A");
        assert!(matches!(property("plain"), Cow::Borrowed("plain")));
    }
}
