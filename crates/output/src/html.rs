//! Text in HTML and XML.

use std::fmt;

/// Text in which nothing is markup, as content or as a quoted attribute.
///
/// ```
/// use gristmill_output::html::Escaped;
///
/// assert_eq!(Escaped("a<b>").to_string(), "a&lt;b&gt;");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Escaped<T>(pub T);

impl<T: AsRef<str>> fmt::Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_ref();
        while let Some(at) = rest.find(['&', '<', '>', '"', '\'']) {
            f.write_str(&rest[..at])?;
            f.write_str(match rest.as_bytes()[at] {
                b'&' => "&amp;",
                b'<' => "&lt;",
                b'>' => "&gt;",
                b'"' => "&quot;",
                _ => "&#39;",
            })?;
            rest = &rest[at + 1..];
        }
        f.write_str(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(Escaped("<a href='x'>\"&amp;").to_string(), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;amp;");
        assert_eq!(Escaped("größe").to_string(), "größe");
    }
}
