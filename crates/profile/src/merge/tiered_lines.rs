//! The lines of a function in lists of levels: few new lines are not copied into many old ones.

use super::line::{PackedLine, PackedLines};
use super::line_key::LineKey;

/// This many lists of a level become one of the next.
const LISTS_PER_LEVEL: usize = 16;

/// The lines of one function. A merge has millions of functions, most with a few lines.
#[derive(Debug, Clone)]
pub(super) enum TieredLines {
    /// All runs together, in one sorted list.
    One(PackedLines),
    /// Runs apart, in several sorted lists.
    Apart(Box<RunLines>),
}

/// The lines of one function by run. Adding the lines of a run takes time in proportion to them, as lines are copied once for
/// each level.
#[derive(Debug, Clone, Default)]
pub(super) struct RunLines {
    lists: Vec<PackedLines>,
    /// The level of each list; levels descend.
    levels: Vec<u8>,
}

impl Default for TieredLines {
    fn default() -> Self {
        TieredLines::One(PackedLines::default())
    }
}

impl TieredLines {
    pub(super) fn len(&self) -> usize {
        self.lists().iter().map(PackedLines::len).sum()
    }

    /// Goes through all lines, those of one list after those of the other.
    pub(super) fn iter(&self) -> impl Iterator<Item = PackedLine<'_>> {
        self.lists().iter().flat_map(PackedLines::iter)
    }

    /// Returns the list that lines are added to: the only one, or a new one if runs are kept apart.
    pub(super) fn open(&mut self, keeps_runs: bool) -> &mut PackedLines {
        if keeps_runs && let TieredLines::One(lines) = self {
            let mut apart = RunLines::default();
            if lines.len() > 0 {
                apart.push(std::mem::take(lines), 0);
            }
            *self = TieredLines::Apart(Box::new(apart));
        }
        match self {
            TieredLines::One(lines) => lines,
            TieredLines::Apart(apart) => apart.push(PackedLines::default(), 0),
        }
    }

    /// Ends adding lines.
    pub(super) fn close(&mut self) {
        if let TieredLines::Apart(apart) = self {
            apart.close();
        }
    }

    /// The sorted lists of lines: one, or several if runs are kept apart.
    pub(super) fn lists(&self) -> &[PackedLines] {
        match self {
            TieredLines::One(lines) if lines.len() == 0 => &[],
            TieredLines::One(lines) => std::slice::from_ref(lines),
            TieredLines::Apart(apart) => &apart.lists,
        }
    }

    /// Sums the lines under other keys.
    pub(super) fn relabeled(&self, change: impl Fn(&mut LineKey)) -> TieredLines {
        match self {
            TieredLines::One(lines) => TieredLines::One(lines.relabeled(&change)),
            TieredLines::Apart(apart) => TieredLines::Apart(Box::new(RunLines {
                lists: apart.lists.iter().map(|list| list.relabeled(&change)).collect(),
                levels: apart.levels.clone(),
            })),
        }
    }
}

impl RunLines {
    fn push(&mut self, lines: PackedLines, level: u8) -> &mut PackedLines {
        self.levels.push(level);
        self.lists.push(lines);
        let last = self.lists.len() - 1;
        &mut self.lists[last]
    }

    fn close(&mut self) {
        while let Some(first) = self.levels.len().checked_sub(LISTS_PER_LEVEL)
            && let Some(&level) = self.levels.last()
            && self.levels[first] == level
        {
            let merged = PackedLines::merged(&self.lists[first..]);
            self.lists.truncate(first);
            self.levels.truncate(first);
            self.push(merged, level + 1);
        }
    }
}
