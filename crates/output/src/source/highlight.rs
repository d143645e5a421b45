//! The tokens of source lines, for colours.
//!
//! The lexer knows comments, literals, numbers, keywords and little more of each language: what a reader's eye looks
//! for. It looks at each byte once, so no line is too long, and it never fails: what it does not know stays plain.
//!
//! The usual crate for this, `syntect`, has the grammars of an editor. It was measured (5.3, with regular expressions
//! in pure Rust): it reads 0.3 to 0.4 MB of C or Rust per second, adds 2.4 MB to the program and 32 packages to its
//! build, among them an unmaintained one (`bincode`), and its patterns take time that depends on the text. A file of 3
//! MB would take as long as everything else about a profile of a gigabyte.

mod languages;

use std::collections::HashMap;

use self::languages::Language;

/// The class of a token. See the example of [`Highlighter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A comment, or text that is not code.
    Comment,
    /// Text or a character in quotes.
    Literal,
    /// A number.
    Number,
    /// A keyword.
    Keyword,
    /// A name of a type, as far as its form shows it.
    Type,
    /// A called name: a name before a parenthesis.
    Call,
    /// A directive, an attribute or a decorator.
    Directive,
}

impl Class {
    /// The letter of the class.
    pub fn letter(self) -> char {
        match self {
            Class::Comment => 'c',
            Class::Literal => 'l',
            Class::Number => 'n',
            Class::Keyword => 'k',
            Class::Type => 't',
            Class::Call => 'f',
            Class::Directive => 'd',
        }
    }
}

/// A token of a line: the bytes from `start` to `end`. See the example of [`Highlighter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// The byte after its last.
    pub end: usize,
    /// The class.
    pub class: Class,
}

/// The limit of highlighted bytes of a line. Nobody looks at colours beyond it.
const MAX_LINE_BYTES: usize = 4096;

/// A lexer that reads a source file line by line.
///
/// ```
/// use gristmill_output::source::{Class, Highlighter};
///
/// let mut highlighter = Highlighter::for_path(b"mill.c");
/// let mut spans = Vec::new();
/// highlighter.line(b"if (n) grind();", &mut spans);
/// assert_eq!((spans[0].class, spans[0].end), (Class::Keyword, 2));
/// assert_eq!((spans[1].class, spans[1].start), (Class::Call, 7));
/// ```
#[derive(Debug)]
pub struct Highlighter {
    language: Option<&'static Language>,
    words: HashMap<Vec<u8>, Class>,
    state: State,
}

/// The state at the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    /// In a block comment, with the index of its delimiters and its depth.
    Comment(usize, u32),
    /// In a literal that ends with this quote and as many repetitions or hashes.
    Text(Quote),
    /// In documentation between lines that begin with `=`.
    Pod,
    /// In text around code, such as that of a web page.
    Markup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quote {
    byte: u8,
    /// The count of quotes in a row.
    times: usize,
    /// The count of hashes that follow, in Rust.
    hashes: usize,
    /// `true` if a backslash escapes the next character.
    escapes: bool,
    spans_lines: bool,
}

impl Highlighter {
    /// Creates a lexer for a path, by the ending of its name. Files of unknown languages stay plain.
    pub fn for_path(path: &[u8]) -> Self {
        let language = Language::of(path);
        let words = language.map(Language::words).unwrap_or_default();
        let is_template = language.is_some_and(|language| language.is_template);
        Highlighter { language, words, state: if is_template { State::Markup } else { State::Code } }
    }

    /// Reads the next line, without its end, and puts its tokens into `spans`, in order and without plain text.
    pub fn line(&mut self, text: &[u8], spans: &mut Vec<Span>) {
        spans.clear();
        let Some(language) = self.language else { return };
        Scan { language, words: &self.words, text, at: 0, spans }.line(&mut self.state);
    }
}

struct Scan<'t> {
    language: &'static Language,
    words: &'t HashMap<Vec<u8>, Class>,
    text: &'t [u8],
    at: usize,
    spans: &'t mut Vec<Span>,
}

impl Scan<'_> {
    fn line(&mut self, state: &mut State) {
        self.directive(state);
        while self.at < self.text.len() {
            let start = self.at;
            let class = match *state {
                State::Code => self.code(state),
                State::Comment(which, depth) => Some(self.comment(which, depth, state)),
                State::Text(quote) => Some(self.quoted(quote, state)),
                State::Pod => {
                    self.at = self.text.len();
                    let is_end = [&b"=cut"[..], b"=end"].iter().any(|end| self.text.starts_with(end));
                    *state = if is_end { State::Code } else { State::Pod };
                    Some(Class::Comment)
                }
                State::Markup => {
                    self.to(b"<?");
                    if self.at < self.text.len() {
                        *state = State::Code;
                        self.at += 2;
                        self.at += if self.rest().starts_with(b"php") { 3 } else { 0 };
                    }
                    Some(Class::Comment)
                }
            };
            // Every token takes at least one byte.
            self.at = self.at.max(start + 1).min(self.text.len());
            if let Some(class) = class {
                self.add(start, self.at, class);
            }
        }
        if let State::Text(quote) = *state
            && !quote.spans_lines
            && !self.text.ends_with(b"\\")
        {
            *state = State::Code;
        }
    }

    fn add(&mut self, start: usize, end: usize, class: Class) {
        if start >= MAX_LINE_BYTES {
            return;
        }
        match self.spans.last_mut() {
            Some(last) if last.end == start && last.class == class => last.end = end,
            _ => self.spans.push(Span { start, end, class }),
        }
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Skips to the beginning of `what`, or to the end.
    fn to(&mut self, what: &[u8]) {
        while self.at < self.text.len() && !self.rest().starts_with(what) {
            self.at += 1;
        }
    }

    fn skip(&mut self, fits: impl Fn(u8) -> bool) {
        while self.text.get(self.at).is_some_and(|&byte| fits(byte)) {
            self.at += 1;
        }
    }

    /// Reads a token that only the beginning of a line can be.
    fn directive(&mut self, state: &mut State) {
        if *state != State::Code {
            return;
        }
        if self.language.has_pod && self.text.first() == Some(&b'=') {
            if self.text.get(1).is_some_and(u8::is_ascii_alphabetic) {
                *state = State::Pod;
            }
            return;
        }
        if !self.language.has_preprocessor {
            return;
        }
        self.skip(|byte| byte.is_ascii_whitespace());
        if self.rest().first() != Some(&b'#') {
            return;
        }
        let start = self.at;
        self.at += 1;
        self.skip(|byte| byte == b' ' || byte == b'\t');
        let word = self.at;
        self.skip(|byte| byte.is_ascii_alphabetic());
        let is_include = self.text.get(word..self.at).is_some_and(|word| word.starts_with(b"include"));
        self.add(start, self.at, Class::Directive);
        self.skip(|byte| byte == b' ' || byte == b'\t');
        if is_include && self.rest().first() == Some(&b'<') {
            let start = self.at;
            self.skip(|byte| byte != b'>');
            self.at = (self.at + 1).min(self.text.len());
            self.add(start, self.at, Class::Literal);
        }
    }

    fn code(&mut self, state: &mut State) -> Option<Class> {
        let language = self.language;
        let byte = self.text[self.at];
        if byte.is_ascii_whitespace() {
            self.skip(|byte| byte.is_ascii_whitespace());
            return None;
        }
        if let Some(class) = self.begin_comment(state) {
            return Some(class);
        }
        if byte.is_ascii_digit() {
            self.number();
            return Some(Class::Number);
        }
        if is_word(byte) || language.sigils.contains(&byte) {
            return self.word(state);
        }
        if let Some(quote) = self.quote(0, language.multiline_quotes.contains(&byte)) {
            *state = State::Text(quote);
            self.at += quote.times;
            return Some(Class::Literal);
        }
        if byte == b'\'' && language.has_lifetimes {
            return self.lifetime();
        }
        if language.is_template && self.rest().starts_with(b"?>") {
            *state = State::Markup;
            self.at += 2;
            return Some(Class::Comment);
        }
        let is_attribute =
            language.has_attributes && (self.rest().starts_with(b"#[") || self.rest().starts_with(b"#!["));
        if is_attribute {
            self.skip(|byte| byte != b']');
            self.at = (self.at + 1).min(self.text.len());
            return Some(Class::Directive);
        }
        if byte == b'@' && language.has_decorators {
            self.at += 1;
            self.skip(|byte| is_word(byte) || byte == b'.');
            return Some(Class::Directive);
        }
        self.at += 1;
        None
    }

    fn begin_comment(&mut self, state: &mut State) -> Option<Class> {
        let language = self.language;
        for line in language.line_comments {
            // In these languages a hash inside of a word is part of it, or of an expression.
            let is_apart = !language.comments_stand_apart
                || self.at == 0
                || self.text[self.at - 1].is_ascii_whitespace()
                || self.text[self.at - 1] == b';';
            if is_apart && self.rest().starts_with(line) && !(language.has_attributes && self.is_attribute())
            {
                self.at = self.text.len();
                return Some(Class::Comment);
            }
        }
        for (which, (open, _)) in language.block_comments.iter().enumerate() {
            if self.rest().starts_with(open) {
                self.at += open.len();
                *state = State::Comment(which, 1);
                return Some(Class::Comment);
            }
        }
        None
    }

    fn is_attribute(&self) -> bool {
        self.rest().starts_with(b"#[")
    }

    fn comment(&mut self, which: usize, mut depth: u32, state: &mut State) -> Class {
        let Some(&(open, close)) = self.language.block_comments.get(which) else {
            *state = State::Code;
            return Class::Comment;
        };
        while self.at < self.text.len() {
            if self.rest().starts_with(close) {
                self.at += close.len();
                depth -= 1;
                if depth == 0 {
                    *state = State::Code;
                    return Class::Comment;
                }
            } else if self.language.comments_nest && self.rest().starts_with(open) {
                self.at += open.len();
                depth = depth.saturating_add(1);
            } else {
                self.at += 1;
            }
        }
        *state = State::Comment(which, depth);
        Class::Comment
    }

    /// The quote that begins in `ahead` bytes, if there is one.
    fn quote(&self, ahead: usize, spans_lines: bool) -> Option<Quote> {
        let rest = self.rest().get(ahead..)?;
        let byte = *rest.first().filter(|byte| self.language.quotes.contains(byte))?;
        if self.language.has_lifetimes && byte == b'\'' && !is_character(rest) {
            return None;
        }
        let is_triple = self.language.has_triple_quotes && rest.starts_with(&[byte, byte, byte]);
        Some(Quote {
            byte,
            times: if is_triple { 3 } else { 1 },
            hashes: 0,
            escapes: byte != b'`' || self.language.escapes_in_backticks,
            spans_lines: spans_lines || is_triple,
        })
    }

    fn quoted(&mut self, quote: Quote, state: &mut State) -> Class {
        while let Some(&byte) = self.text.get(self.at) {
            self.at += 1;
            if byte == b'\\' && quote.escapes {
                self.at += 1;
            } else if byte == quote.byte {
                let rest = self.rest();
                let more = quote.times - 1;
                let is_end = rest.len() >= more + quote.hashes
                    && rest[..more].iter().all(|&byte| byte == quote.byte)
                    && rest[more..more + quote.hashes].iter().all(|&byte| byte == b'#');
                if is_end {
                    self.at += more + quote.hashes;
                    *state = State::Code;
                    break;
                }
            }
        }
        self.at = self.at.min(self.text.len());
        Class::Literal
    }

    fn lifetime(&mut self) -> Option<Class> {
        self.at += 1;
        self.skip(is_word);
        Some(Class::Type)
    }

    fn number(&mut self) {
        let mut last = 0;
        while let Some(&byte) = self.text.get(self.at) {
            let next = self.text.get(self.at + 1).copied().unwrap_or_default();
            let is_part = match byte {
                b'.' => next.is_ascii_digit(),
                b'\'' => self.language.has_preprocessor && next.is_ascii_alphanumeric(),
                b'+' | b'-' => matches!(last, b'e' | b'E' | b'p' | b'P') && next.is_ascii_digit(),
                byte => is_word(byte),
            };
            if !is_part {
                break;
            }
            last = byte;
            self.at += 1;
        }
    }

    fn word(&mut self, state: &mut State) -> Option<Class> {
        let start = self.at;
        let has_sigil = self.language.sigils.contains(&self.text[start]);
        self.at += usize::from(has_sigil);
        self.skip(is_word);
        let word = self.text.get(start..self.at).unwrap_or_default();
        if has_sigil {
            return None;
        }
        if let Some(class) = self.begin_prefixed(word, state) {
            return Some(class);
        }
        let next = self.rest().iter().find(|byte| !byte.is_ascii_whitespace()).copied();
        // Macros of Rust are called, too.
        let is_macro = self.language.has_lifetimes && next == Some(b'!') && !self.rest().starts_with(b"!=");
        let meaning = match self.language.ignores_case {
            true => self.words.get(&word.to_ascii_lowercase()),
            false => self.words.get(word),
        };
        let is_type = || {
            // A name of capitals is a constant.
            let is_mixed = word.iter().any(u8::is_ascii_lowercase);
            self.language.capitals_are_types && word[0].is_ascii_uppercase() && is_mixed
        };
        match meaning {
            Some(&class) => Some(class),
            None if is_type() => Some(Class::Type),
            None if next == Some(b'(') || is_macro => Some(Class::Call),
            None => None,
        }
    }

    /// Reads a literal with letters before its quote, such as `r#"raw"#` and `u8"wide"`.
    fn begin_prefixed(&mut self, word: &[u8], state: &mut State) -> Option<Class> {
        let language = self.language;
        if !language.text_prefixes.contains(&word) {
            return None;
        }
        let is_raw = word.iter().any(|byte| matches!(byte, b'r' | b'R'));
        let hashes = match is_raw && language.has_lifetimes {
            true => self.rest().iter().take_while(|&&byte| byte == b'#').count(),
            false => 0,
        };
        let first = self.rest().get(hashes).copied().unwrap_or_default();
        let quote = self.quote(hashes, language.multiline_quotes.contains(&first))?;
        self.at += hashes + quote.times;
        let escapes = quote.escapes && !(is_raw && language.has_lifetimes);
        *state = State::Text(Quote { hashes, escapes, ..quote });
        Some(Class::Literal)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// `true` if a quote of Rust begins a character, not a lifetime.
fn is_character(text: &[u8]) -> bool {
    match text.get(1..) {
        Some([b'\\', ..]) => true,
        Some([first, rest @ ..]) if *first >= 0x80 => rest.iter().take(3).any(|&byte| byte == b'\''),
        Some([_, b'\'', ..]) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of all lines, each with the letter of its class.
    fn pieces(name: &str, text: &str) -> Vec<String> {
        let mut highlighter = Highlighter::for_path(name.as_bytes());
        let mut spans = Vec::new();
        let mut pieces = Vec::new();
        for line in text.lines() {
            highlighter.line(line.as_bytes(), &mut spans);
            for span in &spans {
                pieces.push(format!("{} {}", span.class.letter(), &line[span.start..span.end]));
            }
        }
        pieces
    }

    #[test]
    fn c_and_cpp() {
        assert_eq!(
            pieces("a.c", "#include <stdio.h> // why\nint main(void) { return f(0x1F, 'a', \"b\\\"c\"); }"),
            [
                "d #include",
                "l <stdio.h>",
                "c // why",
                "t int",
                "f main",
                "t void",
                "k return",
                "f f",
                "n 0x1F",
                "l 'a'",
                "l \"b\\\"c\""
            ]
        );
        assert_eq!(pieces("a.cpp", "x = 1'000'000 + 1.5e-3f;"), ["n 1'000'000", "n 1.5e-3f"]);
        assert_eq!(
            pieces("a.h", "/* one\n two */ int /* x */ y"),
            ["c /* one", "c  two */", "t int", "c /* x */"]
        );
        // A literal that is not closed ends with its line.
        assert_eq!(pieces("a.c", "s = \"open\nint x;"), ["l \"open", "t int"]);
        assert_eq!(pieces("/usr/include/c++/12/vector", "class x;"), ["k class"]);
    }

    #[test]
    fn rust() {
        assert_eq!(
            pieces("a.rs", "#[test]\nfn f<'a>(x: &'a str) { println!(\"{}\", 'x') }"),
            ["d #[test]", "k fn", "t 'a", "t 'a", "t str", "f println", "l \"{}\"", "l 'x'"]
        );
        assert_eq!(
            pieces("a.rs", "r#\"a\"b\"# + b'\\'' /* a /* b */ c */ 1"),
            ["l r#\"a\"b\"#", "l b'\\''", "c /* a /* b */ c */", "n 1"]
        );
        assert_eq!(pieces("a.rs", "\"one\ntwo\" 3"), ["l \"one", "l two\"", "n 3"]);
        assert_eq!(pieces("a.rs", "'ä' 'static"), ["l 'ä'", "t 'static"]);
    }

    #[test]
    fn scripts() {
        assert_eq!(
            pieces("a.py", "@cache\ndef f(x):  # why\n    \"\"\"doc\n    more\"\"\"\n    return None"),
            ["d @cache", "k def", "f f", "c # why", "l \"\"\"doc", "l     more\"\"\"", "k return", "k None"]
        );
        assert_eq!(
            pieces("a.pl", "$#list; # c\n=pod\nit's\n=cut\nmy $x = 'y';"),
            ["c # c", "c =pod", "c it's", "c =cut", "k my", "l 'y'"]
        );
        assert_eq!(
            pieces("a.rb", "def go(a) # x\n  \"a#{b}\"\nend"),
            ["k def", "f go", "c # x", "l \"a#{b}\"", "k end"]
        );
        assert_eq!(
            pieces("a.php", "<p>don't</p>\n<?php echo f($x); // y\n?>it's"),
            ["c <p>don't</p>", "c <?php", "k echo", "f f", "c // y", "c ?>it's"]
        );
        assert_eq!(pieces("a.js", "const s = `a\nb` // c"), ["k const", "l `a", "l b`", "c // c"]);
        assert_eq!(pieces("a.go", "func f() { x := `a\\` }"), ["k func", "f f", "l `a\\`"]);
    }

    #[test]
    fn other_files_stay_plain() {
        assert!(pieces("README", "int \"x\" // y").is_empty());
        assert!(pieces("", "int").is_empty());
    }

    #[test]
    fn a_line_of_megabytes_takes_one_look() {
        let mut highlighter = Highlighter::for_path(b"a.c");
        let mut spans = Vec::new();
        highlighter.line(&b"x(\"/*'".repeat(1 << 19), &mut spans);
        assert!(spans.len() < MAX_LINE_BYTES && spans.iter().all(|span| span.start < MAX_LINE_BYTES));
        highlighter.line(b"int", &mut spans);
        assert_eq!(spans.len(), 1);
    }

    proptest::proptest! {
        /// The tokens of any text are in order, not empty, and inside of it.
        #[test]
        fn pieces_are_in_order(
            name in "a\\.(c|rs|py|pl|php|rb|js|go|hs|sh|f90)",
            lines in proptest::collection::vec("[ -~é]{0,30}|[\"'`/*#\\\\<?>=r{}()]{0,12}", 0..12),
        ) {
            let mut highlighter = Highlighter::for_path(name.as_bytes());
            let mut spans = Vec::new();
            for line in lines {
                highlighter.line(line.as_bytes(), &mut spans);
                let mut end = 0;
                for span in &spans {
                    proptest::prop_assert!(span.start >= end && span.end > span.start && span.end <= line.len());
                    end = span.end;
                }
            }
        }
    }
}
