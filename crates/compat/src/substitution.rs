//! Substitutions such as `s/old/new/g`, which make different names equal.
//!
//! The pattern has the syntax of Python's `re`, as in cg_annotate. Matching takes time linear in the name, whatever the
//! pattern, so look-around and references back into the pattern are refused.

mod pattern;
mod replacement;

use std::borrow::Cow;
use std::fmt;

use regex::bytes::{Regex, RegexBuilder};

use self::replacement::Replacement;

/// A substitution.
///
/// ```
/// use gristmill_compat::Substitution;
///
/// let substitution = Substitution::parse(r"s/_dl_(.*)/DL_\1/").unwrap();
/// assert_eq!(&*substitution.apply(b"_dl_fixup"), b"DL_fixup");
/// assert_eq!(&*Substitution::parse("s#/build-[0-9]+/#/build/#").unwrap().apply(b"/build-7/a.c"), b"/build/a.c");
/// assert!(Substitution::parse("s/(?=a)/b/").is_err());
/// ```
#[derive(Debug, Clone)]
pub struct Substitution {
    pattern: Regex,
    replacement: Replacement,
    everywhere: bool,
}

/// The reason why a text is not a substitution. See the example of [`Substitution`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubstitutionError {
    message: String,
}

impl SubstitutionError {
    fn new(message: impl Into<String>) -> Self {
        SubstitutionError { message: message.into() }
    }
}

impl fmt::Display for SubstitutionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SubstitutionError {}

impl Substitution {
    /// Parses a substitution: `s`, a delimiter, the pattern, the delimiter, the replacement, the delimiter, and
    /// possibly `g` (replace all matches, not only the first one) and `i` (ignore case).
    ///
    /// Any punctuation can be the delimiter. A backslash escapes it in pattern and replacement.
    ///
    /// # Errors
    ///
    /// If the text is not a substitution, or the pattern is not supported.
    pub fn parse(text: &str) -> Result<Self, SubstitutionError> {
        let (old, new, flags, delimiter) =
            split(text).ok_or_else(|| SubstitutionError::new("it is not of the form s/old/new/"))?;
        let count = |flag| flags.chars().filter(|&other| other == flag).count();
        if flags.chars().any(|flag| !matches!(flag, 'g' | 'i')) || count('g') > 1 || count('i') > 1 {
            return Err(SubstitutionError::new("only g and i can follow the last delimiter"));
        }
        let pattern = pattern::translate(old)?;
        let pattern =
            RegexBuilder::new(&pattern).case_insensitive(count('i') > 0).build().map_err(|error| {
                SubstitutionError::new(match error {
                    regex::Error::CompiledTooBig(_) => "the pattern takes too much memory".to_owned(),
                    // The message has several lines with a picture; the last one is the reason.
                    error => {
                        let text = error.to_string();
                        let reason = text.lines().last().unwrap_or_default();
                        format!("the pattern is wrong: {}", reason.trim_start_matches("error: "))
                    }
                })
            })?;
        let replacement = Replacement::parse(new, delimiter, &pattern)?;
        Ok(Substitution { pattern, replacement, everywhere: count('g') > 0 })
    }

    /// Applies the substitution to a name.
    ///
    /// An empty match is replaced, too, even right after a match that is not empty.
    pub fn apply<'n>(&self, name: &'n [u8]) -> Cow<'n, [u8]> {
        if !self.pattern.is_match(name) {
            return Cow::Borrowed(name);
        }
        let mut made = Vec::with_capacity(name.len());
        let mut copied = 0;
        let mut at = 0;
        while at <= name.len()
            && let Some(captures) = self.pattern.captures_at(name, at)
            && let Some(found) = captures.get(0)
        {
            made.extend_from_slice(&name[copied..found.start()]);
            self.replacement.append(&captures, &mut made);
            copied = found.end();
            at = if found.is_empty() { after(name, found.end()) } else { found.end() };
            if !self.everywhere {
                break;
            }
        }
        made.extend_from_slice(&name[copied..]);
        Cow::Owned(made)
    }
}

/// The end of the character that begins at `at`.
fn after(text: &[u8], at: usize) -> usize {
    let rest = text.get(at + 1..).unwrap_or_default();
    at + 1 + rest.iter().take_while(|&&byte| byte & 0xc0 == 0x80).count()
}

/// Splits a substitution into pattern, replacement, flags and delimiter.
fn split(text: &str) -> Option<(&str, &str, &str, char)> {
    let text = text.strip_prefix('s')?;
    let delimiter = text.chars().next().filter(|&first| {
        !(first.is_alphanumeric() || first.is_whitespace() || first.is_control() || first == '\\')
    })?;
    let text = &text[delimiter.len_utf8()..];
    let (old, text) = split_at_delimiter(text, delimiter)?;
    let (new, flags) = split_at_delimiter(text, delimiter)?;
    Some((old, new, flags, delimiter))
}

fn split_at_delimiter(text: &str, delimiter: char) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    for (at, character) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if character == delimiter {
            return Some((&text[..at], &text[at + delimiter.len_utf8()..]));
        } else {
            is_escaped = character == '\\';
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(substitution: &str, name: &str) -> String {
        let substitution = Substitution::parse(substitution).unwrap();
        String::from_utf8(substitution.apply(name.as_bytes()).into_owned()).unwrap()
    }

    fn refusal(substitution: &str) -> String {
        Substitution::parse(substitution).unwrap_err().to_string()
    }

    /// The right column is the result of Python's `re.sub`.
    #[test]
    fn names_are_as_python_makes_them() {
        for (substitution, name, made) in [
            ("s/a/b/", "banana", "bbnana"),
            ("s/a/b/g", "banana", "bbnbnb"),
            ("s/A/b/ig", "banana", "bbnbnb"),
            ("s/A/b/gi", "banana", "bbnbnb"),
            ("s/A/b/", "banana", "banana"),
            ("s/(b)(a)/\\2\\1/", "banana", "abnana"),
            ("s/(?P<first>b)a/\\g<first>\\g<1>\\g<0>0/", "banana", "bbba0nana"),
            ("s/(x)?b/[\\1]/", "banana", "[]anana"),
            ("s/x*/-/g", "abxd", "-a-b--d-"),
            ("s/x*/-/g", "é", "-é-"),
            ("s/^/src\\//", "a.c", "src/a.c"),
            ("s|\\|a|b|", "x|a", "xb"),
            ("s/\\.c$/.o/", "a.c", "a.o"),
            ("s/[]a]+/x/", "b]a]b", "bxb"),
            ("s/[^]]+/x/", "ab]", "x]"),
            ("s/[[a]/x/g", "[ab", "xxb"),
            ("s/[a&&b]/x/g", "a&b", "xxx"),
            ("s/[a\\-c]/x/g", "a-bc", "xxbx"),
            ("s/[+--]/x/g", "+,-.", "xxx."),
            ("s/[a-]/x/g", "a-b", "xxb"),
            ("s/[-a]/x/g", "a-b", "xxb"),
            ("s/[\\w.]+/x/", "ab.c d", "x d"),
            ("s/a{,2}b/x/", "aaab", "ax"),
            ("s/a{b}/x/", "a{b}", "x"),
            ("s/a{2}/x/", "aaa", "xa"),
            ("s/{/x/", "a{", "ax"),
            ("s/\\Z/x/", "ab", "abx"),
            ("s/\\101\\x42\\u0043/x/", "ABC", "x"),
            ("s/a(?#nothing)b/x/", "ab", "x"),
            ("s/(?i)B/x/", "ab", "ax"),
            ("s/(?:a|b)+?/x/", "ab", "xb"),
            ("s/a/\\n\\t\\\\/", "ba", "b\n\t\\"),
            ("s/a/\\&\\./", "ba", "b\\&\\."),
            ("s/a/\\101\\0/", "ba", "bA\0"),
            ("s/a/$0&/", "ba", "b$0&"),
            ("s/\\</x/", "a<b", "axb"),
            ("s/operator\\(\\)/call/", "f::operator()", "f::call"),
        ] {
            assert_eq!(apply(substitution, name), made, "{substitution} on {name}");
        }
    }

    #[test]
    fn invalid_substitutions_are_reported() {
        for (substitution, reason) in [
            ("", "it is not of the form s/old/new/"),
            ("s/a/b", "it is not of the form s/old/new/"),
            ("a/b/c/", "it is not of the form s/old/new/"),
            ("sabaca", "it is not of the form s/old/new/"),
            ("s/a/b/x", "only g and i can follow the last delimiter"),
            ("s/a/b/gg", "only g and i can follow the last delimiter"),
            ("s/(a)\\1/b/", "the pattern refers back to a group, which is not supported"),
            ("s/(?P<x>a)(?P=x)/b/", "the pattern refers back to a group, which is not supported"),
            ("s/a(?=b)/b/", "the pattern looks around itself with (?=, which is not supported"),
            ("s/a(?!b)/b/", "the pattern looks around itself with (?!, which is not supported"),
            ("s/(?<=b)a/b/", "the pattern looks around itself with (?<=, which is not supported"),
            ("s/(?<!b)a/b/", "the pattern looks around itself with (?<!, which is not supported"),
            ("s/(a)(?(1)b|c)/b/", "the pattern depends on a group with (?(, which is not supported"),
            ("s/(?>a)/b/", "the pattern holds fast what it found with (?>, which is not supported"),
            ("s/a*+/b/", "the pattern holds fast what it found with +, which is not supported"),
            ("s/a**/b/", "the pattern repeats a repetition"),
            ("s/*a/b/", "the pattern repeats nothing"),
            ("s/a\\q/b/", "the pattern has the unknown escape \\q"),
            ("s/a/\\1/", "there is no group 1 in the pattern"),
            ("s/a/\\g<x>/", "there is no group x in the pattern"),
            ("s/a/\\g1/", "\\g needs a group such as <1>"),
            ("s/a/\\q/", "the replacement has the unknown escape \\q"),
            ("s/(a/b/", "the pattern is wrong: unclosed group"),
            ("s/[a/b/", "the pattern has a [ without its ]"),
            ("s/(?L)a/b/", "the pattern has the unknown flag L"),
        ] {
            assert_eq!(refusal(substitution), reason, "{substitution}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let substitution = Substitution::parse("s/a/b/g").unwrap();
        assert_eq!(&*substitution.apply(b"\xffa\xc3a"), b"\xffb\xc3b");
        assert!(matches!(substitution.apply(b"\xff"), Cow::Borrowed(_)));
    }
}
