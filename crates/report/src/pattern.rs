//! Patterns that ignore the case of letters, unless they have a capital letter.

use gristmill_profile::symbol::matches_function;
use regex::{Error, Regex, RegexBuilder};

/// Makes a pattern that ignores the case of letters, unless it has a capital letter itself. A letter behind a backslash, as in
/// `\S`, is none.
///
/// # Errors
///
/// If it is not a valid pattern.
///
/// ```
/// let pattern = |text| gristmill_report::pattern(text).expect("valid");
/// assert!(pattern(r"^read\S").is_match("ReadAll"));
/// assert!(!pattern("^Read").is_match("readAll"));
/// ```
pub fn pattern(text: &str) -> Result<Regex, Error> {
    check_text(text)?;
    builder(text).build()
}

/// `true` if a pattern matches a function of this name, by the rule of [`matches_function`].
///
/// ```
/// let pattern = |text| gristmill_report::pattern(text).expect("valid");
/// let is_match = |text| gristmill_report::matches_name(&pattern(text), "fib'2'main");
/// assert!(is_match("^fib$") && is_match("^fib'2'main$") && !is_match("main"));
/// ```
pub fn matches_name(pattern: &Regex, name: &str) -> bool {
    matches_function(name, pattern.as_str(), |name| pattern.is_match(name))
}

/// Bytes of the text of a pattern.
const MAX_TEXT_BYTES: usize = 64 << 10;
/// Classes of characters in a pattern: one takes some kilobytes before it is compiled.
const MAX_CLASSES: usize = 1000;

/// Refuses a text whose parsed form would take much memory. The limit of the compiler is for the compiled form only.
fn check_text(text: &str) -> Result<(), Error> {
    let bytes = text.as_bytes();
    let is_class =
        |pair: &[u8]| matches!(pair, [b'\\', b'w' | b'W' | b'd' | b'D' | b's' | b'S' | b'p' | b'P']);
    let classes =
        bytes.windows(2).filter(|pair| is_class(pair)).count() + memchr::memchr_iter(b'[', bytes).count();
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(Error::Syntax(format!("longer than {MAX_TEXT_BYTES} bytes")));
    }
    if classes > MAX_CLASSES {
        return Err(Error::Syntax(format!("more than {MAX_CLASSES} classes such as \\w or [a-z]")));
    }
    Ok(())
}

fn builder(text: &str) -> RegexBuilder {
    let mut builder = RegexBuilder::new(text);
    builder.case_insensitive(!has_capital_letter(text));
    builder
}

/// Bytes that patterns of one list may take together.
const MAX_BYTES: usize = 24 << 20;
/// The limits of one pattern that are tried, in bytes.
const SIZES: [usize; 6] = [16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 10 << 20];

/// Compiles many patterns: a few letters can ask for megabytes, so that there is a limit for all together.
#[derive(Debug)]
pub(crate) struct PatternBudget {
    left: usize,
}

impl PatternBudget {
    pub(crate) fn new() -> Self {
        PatternBudget { left: MAX_BYTES }
    }

    /// Makes a pattern as [`pattern`] does, as long as the limit is not reached.
    pub(crate) fn pattern(&mut self, text: &str) -> Result<Regex, Error> {
        check_text(text)?;
        let mut builder = builder(text);
        let mut result = Err(Error::CompiledTooBig(self.left));
        // The compiler does not tell what a pattern takes.
        for size in SIZES.into_iter().filter(|&size| size <= self.left) {
            result = builder.size_limit(size).dfa_size_limit(2 * size).build();
            match result {
                Err(Error::CompiledTooBig(_)) => {}
                Ok(_) => {
                    self.left -= size;
                    break;
                }
                Err(_) => break,
            }
        }
        result
    }
}

/// Returns `true` if a pattern has a capital letter, not counting those behind a backslash. See the example of [`pattern()`].
pub fn has_capital_letter(pattern: &str) -> bool {
    let mut rest = pattern.chars();
    while let Some(character) = rest.next() {
        match character {
            // `\p{Lu}` and `\x{4A}` have letters in braces.
            '\\' => {
                let is_class = matches!(rest.next(), Some('p' | 'P' | 'x' | 'u' | 'U'));
                if is_class && rest.as_str().starts_with('{') {
                    rest.find(|&character| character == '}');
                }
            }
            character if character.is_uppercase() => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_patterns_have_one_limit() {
        let accepted = |text: &str| {
            let mut budget = PatternBudget::new();
            (0..2000).take_while(|_| budget.pattern(text).is_ok()).count()
        };
        // Each of them takes several megabytes.
        assert!((1..=6).contains(&accepted(r"\w{80}")));
        assert_eq!(accepted("^std::collections::hash_map::HashMap<K,V>::insert$"), MAX_BYTES / SIZES[0]);
        assert_eq!(accepted(r"\w{10000}"), 0);
    }

    #[test]
    fn texts_of_patterns_have_limits() {
        let reason = |text: &str| pattern(text).map_err(|error| error.to_string());
        assert!(
            reason(&r"\w".repeat(1001)).unwrap_err().ends_with(r"more than 1000 classes such as \w or [a-z]")
        );
        assert!(reason(&"[^a]".repeat(1001)).unwrap_err().contains("classes"));
        assert_eq!(reason(&"a".repeat(65_537)).unwrap_err(), "longer than 65536 bytes");
        assert!(reason(&"(?:std::vector<int>::push_back)|".repeat(1000)).is_ok());
    }
}
