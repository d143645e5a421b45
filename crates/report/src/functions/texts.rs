//! Many texts in one, which is searched faster.

use std::ops::Range;

use regex::Regex;

use super::text_finder::TextFinder;

/// Texts one behind the other.
#[derive(Debug)]
pub(super) struct Texts {
    /// Each text, and a line feed.
    text: String,
    is_ascii: bool,
    /// The offset of each text, and the end.
    starts: Vec<usize>,
}

impl Default for Texts {
    fn default() -> Self {
        Texts { text: String::new(), is_ascii: true, starts: vec![0] }
    }
}

impl Texts {
    pub(super) fn push(&mut self, text: &str) {
        self.is_ascii &= text.is_ascii();
        self.text.push_str(text);
        self.text.push('\n');
        self.starts.push(self.text.len());
    }

    pub(super) fn append(&mut self, more: Texts) {
        let end = self.text.len();
        self.is_ascii &= more.is_ascii;
        self.starts.extend(more.starts[1..].iter().map(|start| end + start));
        self.text.push_str(&more.text);
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(super) fn get(&self, index: usize) -> &str {
        &self.text[self.starts[index]..self.starts[index + 1] - 1]
    }

    /// Returns all texts, each with a line feed.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// `true` if no text has a letter beyond ASCII.
    pub(super) fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    /// Visits the texts of a range that have a plain text without line feeds, which the pattern stands for, in order, until `visit`
    /// returns `false`.
    pub(super) fn visit_found(
        &self,
        pattern: &Regex,
        plain: &str,
        range: Range<usize>,
        mut visit: impl FnMut(usize) -> bool,
    ) {
        let text = &self.text[..self.starts[range.end]];
        let finder = TextFinder::new(pattern, plain, self.is_ascii);
        let mut at = range.start;
        while at < range.end
            && let Some(place) = finder.find_at(text, self.starts[at])
        {
            // Most matches are near the last one.
            let mut step = 1;
            let mut low = at;
            while low + step < range.end && self.starts[low + step] <= place {
                low += step;
                step *= 2;
            }
            let high = (low + step).min(range.end);
            let nth = low + self.starts[low + 1..high].partition_point(|&start| start <= place);
            if !visit(nth) {
                return;
            }
            at = nth + 1;
        }
    }
}
