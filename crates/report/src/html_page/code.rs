//! Source text as HTML.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use gristmill_output::source::Span;
use gristmill_output::{html::Escaped, printable};

/// The limit of bytes of a line. Longer lines were written by a program, for a program.
const MAX_LINE_BYTES: usize = 2000;

/// A line of source with its highlighted spans.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) spans: &'t [Span],
}

impl fmt::Display for Code<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.text[..cut(self.text, MAX_LINE_BYTES)];
        let mut at = 0;
        for span in self.spans {
            let (start, end) = (span.start.min(shown.len()), span.end.min(shown.len()));
            if start >= end {
                break;
            }
            plain(&shown[at..start], f)?;
            write!(f, "<span class=t-{}>", span.class.letter())?;
            plain(&shown[start..end], f)?;
            f.write_str("</span>")?;
            at = end;
        }
        plain(&shown[at..], f)?;
        match self.text.len() - shown.len() {
            0 => Ok(()),
            more => write!(f, "<s> … {more} more bytes</s>"),
        }
    }
}

/// The end of the last character within a limit of bytes.
fn cut(text: &[u8], max_bytes: usize) -> usize {
    let mut end = max_bytes.min(text.len());
    while end < text.len() && end > 0 && text[end] & 0xc0 == 0x80 {
        end -= 1;
    }
    end
}

/// Writes source text without markup. Control characters and bytes that are not UTF-8 become escapes.
fn plain(text: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let mut first = true;
    for piece in text.split(|&byte| byte == b'\t') {
        if !first {
            f.write_char('\t')?;
        }
        first = false;
        match printable(piece) {
            Cow::Borrowed(text) => write!(f, "{}", Escaped(text))?,
            Cow::Owned(text) => write!(f, "<s>{}</s>", Escaped(text))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use gristmill_output::source::Class;

    #[test]
    fn code_keeps_its_bytes_apart() {
        let span = |start, end, class| Span { start, end, class };
        let spans = [span(0, 2, Class::Keyword), span(5, 8, Class::Literal)];
        let code = Code { text: b"if x<\"&\">1", spans: &spans };
        assert_eq!(
            code.to_string(),
            "<span class=t-k>if</span> x&lt;<span class=t-l>&quot;&amp;&quot;</span>&gt;1"
        );
        assert_eq!(Code { text: b"\ta\x1b[2J", spans: &[] }.to_string(), "\t<s>a\\x1b[2J</s>");
        let long = "ä".repeat(3000);
        let shown = Code { text: long.as_bytes(), spans: &[span(1990, 2010, Class::Number)] }.to_string();
        assert!(shown.ends_with("</span><s> … 4000 more bytes</s>"), "{shown}");
        assert!(!shown.contains('\\'));
    }
}
