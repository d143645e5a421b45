//! The paths of a profile, to be searched.

use std::ops::Range;

use gristmill_output::lossy;
use gristmill_profile::threads::map_on_threads;
use regex::Regex;

use super::filtered_functions::plain_text;
use super::name_index::ranges;
use super::texts::Texts;

/// Paths as one text: they are far apart in a profile, so that to look at each takes longer than to search it.
///
/// ```
/// use gristmill_report::{PathIndex, pattern};
///
/// let paths: [&[u8]; 3] = [b"libc.so.6", b"main.c", b"Lib/os.py"];
/// let index = PathIndex::new(paths.into_iter());
/// assert_eq!(index.matching(&pattern("lib").expect("valid"), 20), ["libc.so.6", "Lib/os.py"]);
/// ```
#[derive(Debug)]
pub struct PathIndex(Texts);

impl PathIndex {
    /// Reads paths.
    pub fn new<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut texts = Texts::default();
        paths.for_each(|path| texts.push(&lossy(path)));
        PathIndex(texts)
    }

    /// Returns the first paths that match, at most `limit`, looking at them on all cores.
    pub fn matching(&self, pattern: &Regex, limit: usize) -> Vec<String> {
        let text = plain_text(pattern.as_str());
        let found = map_on_threads(ranges(self.0.len()), |range| match &text {
            Some(text) => self.found(pattern, text, range, limit),
            None => {
                // Threads that search with one pattern wait for each other.
                let pattern = pattern.clone();
                range.filter(|&nth| pattern.is_match(self.0.get(nth))).take(limit).collect()
            }
        });
        found.concat().into_iter().take(limit).map(|nth| self.0.get(nth).to_owned()).collect()
    }

    fn found(&self, pattern: &Regex, text: &str, range: Range<usize>, limit: usize) -> Vec<usize> {
        let mut found = Vec::new();
        self.0.visit_found(&pattern.clone(), text, range, |nth| {
            found.push(nth);
            found.len() < limit
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn found_paths_are_the_first_that_match(
            paths in prop::collection::vec("[a-cAB/\u{212a}\n.]{0,6}", 0..20),
            pattern in prop::sample::select(&["", "a", "b/", "A", "k", "ab", "a.", "^a", r"\.", r"b\n"][..]),
            limit in 0usize..4,
        ) {
            let pattern = crate::pattern(pattern).unwrap();
            let naive: Vec<&String> = paths.iter().filter(|path| pattern.is_match(path)).take(limit).collect();
            let index = PathIndex::new(paths.iter().map(String::as_bytes));
            let found = index.matching(&pattern, limit);
            prop_assert_eq!(found.iter().collect::<Vec<_>>(), naive);
        }
    }
}
