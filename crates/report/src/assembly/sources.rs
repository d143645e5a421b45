//! Single lines of source files.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use gristmill_output::source::{SourceText, Sources, lines_of};

/// The source files that were asked for, with the start of each line.
pub(super) struct SourceCache<'s> {
    sources: &'s dyn Sources,
    files: RefCell<HashMap<Vec<u8>, Option<Arc<SourceLines>>>>,
}

/// A source file whose lines can be had one by one.
pub(super) struct SourceLines {
    source: Arc<SourceText>,
    /// The byte range of each line.
    ranges: Vec<(u32, u32)>,
}

impl<'s> SourceCache<'s> {
    pub(super) fn new(sources: &'s dyn Sources) -> Self {
        SourceCache { sources, files: RefCell::default() }
    }

    /// Returns the file at a path of the profile or of a program, if it can be read.
    pub(super) fn file(&self, path: &[u8]) -> Option<Arc<SourceLines>> {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let found = self.sources.get(path).ok().map(|source| Arc::new(SourceLines::new(source)));
        self.files.borrow_mut().insert(path.to_vec(), found.clone());
        found
    }

    /// The count of files that could not be read.
    pub(super) fn missing_count(&self) -> usize {
        self.files.borrow().values().filter(|file| file.is_none()).count()
    }
}

impl SourceLines {
    fn new(source: Arc<SourceText>) -> Self {
        let start = source.text.as_ptr() as usize;
        // A source file has at most 64 MiB.
        #[expect(clippy::cast_possible_truncation, reason = "offsets in a file of at most 64 MiB")]
        let range = |line: &[u8]| {
            let from = line.as_ptr() as usize - start;
            (from as u32, (from + line.len()) as u32)
        };
        SourceLines { ranges: lines_of(&source.text).map(range).collect(), source }
    }

    /// Returns the text of a line without its end, from 1. `None` if the file ends before it.
    pub(super) fn line(&self, number: u64) -> Option<&[u8]> {
        let nth = usize::try_from(number.checked_sub(1)?).ok()?;
        let &(from, to) = self.ranges.get(nth)?;
        self.source.text.get(from as usize..to as usize)
    }
}

impl fmt::Debug for SourceCache<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceCache").field("files", &self.files.borrow().len()).finish()
    }
}
