//! The prose of a source file: its comments, strings and identifiers.

/// A stretch of prose, and where it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Prose {
    pub(crate) kind: ProseKind,
    pub(crate) text: String,
    /// The line number of its first line, from 1.
    pub(crate) line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProseKind {
    /// `///` and `//!`; lines that follow each other are one stretch.
    Doc,
    /// `//` and `/* */`, likewise.
    Comment,
    /// The text between the quotes. Byte strings are data and left out.
    String,
    /// An identifier; see [`words_of_identifier`].
    Identifier,
    /// A file that is not Rust.
    File,
}

/// Returns the prose of a Rust file. Text that is not valid Rust gives some prose, never an error.
pub(crate) fn prose_of_rust(text: &str) -> Vec<Prose> {
    let mut lexer = Lexer { bytes: text.as_bytes(), text, at: 0, line: 1, found: Vec::new(), comment_end: 0 };
    lexer.run();
    lexer.found
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: usize,
    found: Vec<Prose>,
    /// The line of the last comment if only blanks follow it, else 0.
    comment_end: usize,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let rest = &self.text[self.at..];
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                }
                b' ' | b'\t' | b'\r' => self.at += 1,
                _ if rest.starts_with("//") => self.line_comment(rest),
                _ if rest.starts_with("/*") => self.block_comment(rest),
                _ => {
                    self.comment_end = 0;
                    self.code(byte, rest);
                }
            }
        }
    }

    fn code(&mut self, byte: u8, rest: &str) {
        match byte {
            b'"' => self.string(0, false),
            b'\'' => self.char_or_lifetime(rest),
            b'0'..=b'9' => self.at += word_length(rest),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                let length = word_length(rest);
                let word = &rest[..length];
                let after = &rest[length..];
                let hashes = after.len() - after.trim_start_matches('#').len();
                let quoted = after[hashes..].starts_with('"');
                let is_raw = matches!(word, "r" | "br" | "cr");
                if quoted && (is_raw || (hashes == 0 && matches!(word, "b" | "c"))) {
                    self.at += length + hashes;
                    self.string(if is_raw { hashes + 1 } else { 0 }, word.starts_with('b'));
                } else {
                    self.push(ProseKind::Identifier, word.to_owned(), self.line);
                    self.at += length;
                }
            }
            _ => self.at += rest.chars().next().map_or(1, char::len_utf8),
        }
    }

    fn push(&mut self, kind: ProseKind, text: String, line: usize) {
        self.found.push(Prose { kind, text, line });
    }

    fn line_comment(&mut self, rest: &str) {
        let comment = rest.lines().next().unwrap_or_default();
        self.at += comment.len();
        let is_doc =
            comment.starts_with("//!") || (comment.starts_with("///") && !comment.starts_with("////"));
        let kind = if is_doc { ProseKind::Doc } else { ProseKind::Comment };
        let text = comment.trim_start_matches(['/', '!']).trim_start();
        match self.found.last_mut() {
            Some(last) if last.kind == kind && self.comment_end + 1 == self.line && self.line > 1 => {
                last.text.push('\n');
                last.text.push_str(text);
            }
            _ => self.push(kind, text.to_owned(), self.line),
        }
        self.comment_end = self.line;
    }

    fn block_comment(&mut self, rest: &str) {
        let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
        self.push(ProseKind::Comment, rest[..length].to_owned(), self.line);
        self.line += rest[..length].matches('\n').count();
        self.at += length;
    }

    /// Takes a string whose opening quote is next; `raw` is one more than the number of `#`, or 0 if it has escapes.
    fn string(&mut self, raw: usize, is_bytes: bool) {
        let start = self.at + 1;
        let mut end = start;
        while let Some(&byte) = self.bytes.get(end) {
            if byte == b'\\' && raw == 0 {
                end += 1;
            } else if byte == b'"'
                && (raw == 0
                    || self.bytes[end + 1..].iter().take_while(|byte| **byte == b'#').count() >= raw - 1)
            {
                break;
            }
            end += 1;
        }
        let end = end.min(self.bytes.len());
        let inner = self.text.get(start..end).unwrap_or_default();
        let line = self.line;
        self.line += inner.matches('\n').count();
        self.at = (end + 1).min(self.bytes.len());
        if !is_bytes {
            // A backslash at the end of a line joins it to the next.
            self.push(ProseKind::String, inner.replace("\\\n", " \n").replace("\\n", "  "), line);
        }
    }

    fn char_or_lifetime(&mut self, rest: &str) {
        let mut chars = rest.char_indices().skip(1);
        let length = match (chars.next(), chars.next()) {
            (Some((_, '\\')), Some((at, escaped))) => {
                let from = at + escaped.len_utf8();
                rest[from..].find('\'').map_or(from, |end| from + end + 1)
            }
            (Some(_), Some((at, '\''))) => at + 1,
            _ => 1,
        };
        self.at += length;
    }
}

fn word_length(text: &str) -> usize {
    text.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(text.len())
}

/// Takes an identifier apart: `most_expensive` and `MostExpensive` are `most expensive`.
pub(crate) fn words_of_identifier(name: &str) -> String {
    let mut words = String::new();
    let mut after_small = false;
    for char in name.chars() {
        if char == '_' || (char.is_uppercase() && after_small) {
            words.push(' ');
        }
        if char != '_' {
            words.extend(char.to_lowercase());
        }
        after_small = char.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, kind: ProseKind) -> Vec<(String, usize)> {
        let prose = prose_of_rust(text).into_iter();
        prose.filter(|prose| prose.kind == kind).map(|prose| (prose.text, prose.line)).collect()
    }

    #[test]
    fn comments_that_follow_each_other_are_one() {
        let text = "/// A doc\n/// comment.\nfn f() {} // after\n// next\n\n// apart\n";
        assert_eq!(of(text, ProseKind::Doc), [("A doc\ncomment.".to_owned(), 1)]);
        let comments = of(text, ProseKind::Comment);
        assert_eq!(comments, [("after\nnext".to_owned(), 3), ("apart".to_owned(), 6)]);
    }

    #[test]
    fn strings_of_all_kinds_are_taken_whole() {
        let text =
            r####"let a = "x \" // y"; let b = r#"q " r"#; let c = b"data"; let d = '"'; let e = "z";"####;
        let strings: Vec<String> = of(text, ProseKind::String).into_iter().map(|(text, _)| text).collect();
        assert_eq!(strings, ["x \\\" // y", "q \" r", "z"]);
    }

    #[test]
    fn lifetimes_and_characters_do_not_confuse_it() {
        let text = "fn f<'a>(x: &'a str) { g('\\'', 'x', '\\u{1F600}'); } // end";
        assert_eq!(of(text, ProseKind::Comment), [("end".to_owned(), 1)]);
    }

    #[test]
    fn identifiers_are_taken_apart() {
        let names = ["MostExpensive", "most_expensive", "MAX_COST"];
        assert_eq!(names.map(words_of_identifier), ["most expensive", "most expensive", "max cost"]);
    }
}
