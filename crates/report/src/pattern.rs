//! Patterns that ignore the case of letters, unless they have a capital letter.

use regex::{Regex, RegexBuilder};

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
pub fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).case_insensitive(!has_capital_letter(text)).build()
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
