//! Text in HTML and XML.

use std::fmt;

use crate::log_command::begins_log_command;
use crate::printable::{is_unsafe, printable};

/// Text in which nothing is markup, as content or as a quoted attribute, and control characters are spelled out.
///
/// ```
/// use gristmill_output::html::Escaped;
///
/// assert_eq!(Escaped("a<b>").to_string(), "a&lt;b&gt;");
/// assert_eq!(Escaped("a#b ##[error]").to_string(), "a#b &#35;#[error]");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Escaped<T>(pub T);

impl<T: AsRef<str>> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_ref();
        let is_special = |text: &str, at: usize, character: char| {
            is_special(character) || character == '#' && begins_log_command(&text.as_bytes()[at..])
        };
        while let Some((at, character)) =
            rest.char_indices().find(|&(at, character)| is_special(rest, at, character))
        {
            f.write_str(&rest[..at])?;
            let (before, after) = rest.split_at(at + character.len_utf8());
            match character {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '#' => f.write_str("&#35;")?,
                _ => f.write_str(&printable(&before.as_bytes()[at..]))?,
            }
            rest = after;
        }
        f.write_str(rest)
    }
}

/// Returns `true` for a character that is written in another way. Tabs and line ends stay.
fn is_special(character: char) -> bool {
    match character {
        '&' | '<' | '>' | '"' | '\'' => true,
        '\t' | '\n' => false,
        _ => is_unsafe(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(Escaped("<a href='x'>\"&amp;").to_string(), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;amp;");
        assert_eq!(Escaped("\t<\x1b\u{202e}\n").to_string(), "\t&lt;\\x1b\\u{202e}\n");
        assert_eq!(Escaped("größe").to_string(), "größe");
    }
}
