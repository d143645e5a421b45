//! The selection of parts.

use std::ops::RangeInclusive;

/// A selection of parts: by default all of them.
///
/// Each list that is not empty narrows the selection to the parts whose header has a number in one of its ranges.
///
/// ```
/// use gristmill_profile::Selection;
///
/// let selection = Selection { threads: vec![1..=2, 7..=7], ..Selection::default() };
/// assert!(!selection.is_all());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Numbers on `part:` lines.
    pub parts: Vec<RangeInclusive<u64>>,
    /// Threads on `thread:` lines.
    pub threads: Vec<RangeInclusive<u64>>,
    /// Processes on `pid:` lines.
    pub pids: Vec<RangeInclusive<u64>>,
}

impl Selection {
    /// Returns `true` if every part is selected, also one without any numbers.
    pub fn is_all(&self) -> bool {
        self.parts.is_empty() && self.threads.is_empty() && self.pids.is_empty()
    }

    /// Returns `true` if a part with these numbers is selected.
    pub fn includes(&self, part: Option<u64>, thread: Option<u64>, pid: Option<u64>) -> bool {
        let fits = |list: &[RangeInclusive<u64>], number: Option<u64>| {
            list.is_empty() || number.is_some_and(|number| list.iter().any(|range| range.contains(&number)))
        };
        fits(&self.parts, part) && fits(&self.threads, thread) && fits(&self.pids, pid)
    }
}
