//! Search of names for a pattern that stands for a text: without the machinery of patterns, which takes most of the time.

use regex::Regex;

use crate::pattern::has_capital_letter;

/// Finds the places of a pattern that stands for a text.
pub(super) enum TextFinder<'p> {
    /// The text, with letters of ASCII in any case if that is `true`.
    Text(&'p [u8], bool),
    /// Letters in any case that have relatives beyond ASCII.
    Pattern(&'p Regex),
}

impl<'p> TextFinder<'p> {
    /// Makes one for a pattern that stands for a text. `is_ascii` tells what the haystack has.
    pub(super) fn new(pattern: &'p Regex, text: &'p str, is_ascii: bool) -> Self {
        let ignores_case = !has_capital_letter(pattern.as_str());
        match text.is_empty() || ignores_case && !(text.is_ascii() && is_ascii) {
            true => TextFinder::Pattern(pattern),
            false => TextFinder::Text(text.as_bytes(), ignores_case),
        }
    }

    /// Returns the first place at or after an offset.
    pub(super) fn find_at(&self, haystack: &str, start: usize) -> Option<usize> {
        let (text, ignores_case) = match *self {
            TextFinder::Text(text, ignores_case) => (text, ignores_case),
            TextFinder::Pattern(pattern) => return Some(pattern.find_at(haystack, start)?.start()),
        };
        let haystack = haystack.as_bytes();
        let last = haystack.len().checked_sub(text.len())?;
        let first = text[0];
        let other = if ignores_case { first.to_ascii_uppercase() } else { first };
        let mut at = start;
        while at <= last {
            at += memchr::memchr2(first, other, &haystack[at..=last])?;
            let found = &haystack[at..at + text.len()];
            if if ignores_case { found.eq_ignore_ascii_case(text) } else { found == text } {
                return Some(at);
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn places_are_those_of_the_pattern(haystack in "[a-cA-Ckſ\u{212a}_:.-]{0,24}", text in "[a-cA-Ck_:.-]{1,3}") {
            let pattern = crate::pattern(&regex::escape(&text)).unwrap();
            let finder = TextFinder::new(&pattern, &text, haystack.is_ascii());
            let starts = (0..=haystack.len()).filter(|&start| haystack.is_char_boundary(start));
            for start in starts {
                let expected = pattern.find_at(&haystack, start).map(|found| found.start());
                prop_assert_eq!(finder.find_at(&haystack, start), expected, "{:?} in {:?} from {}", text, haystack, start);
            }
        }
    }
}
