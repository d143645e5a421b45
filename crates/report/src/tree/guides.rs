//! The guides before the names of a tree, which connect each line to the one above.

/// The least columns of a name. A deeper level is not indented further, but has its depth as a number.
pub(crate) const MIN_NAME_COLUMNS: usize = 24;

/// The guides of a tree, line by line.
#[derive(Debug)]
pub(crate) struct Guides {
    /// The count of levels that are indented.
    levels: usize,
    /// By level: `true` if more lines of it follow.
    is_open: Vec<bool>,
}

impl Guides {
    /// Begins a tree within these columns.
    pub(crate) fn new(room: usize) -> Self {
        Guides { levels: (room - MIN_NAME_COLUMNS.min(room)) / 2, is_open: Vec::new() }
    }

    /// Returns the guides of the next line.
    pub(crate) fn next(&mut self, depth: usize, is_last: bool) -> String {
        let Guides { levels, is_open } = self;
        let mut text = String::new();
        is_open.truncate(depth.saturating_sub(1));
        for &is_open in is_open.iter().take((*levels).min(depth.saturating_sub(1))) {
            text.push_str(if is_open { "│ " } else { "  " });
        }
        if depth > *levels {
            text.push_str(&format!("{depth}› "));
        } else if depth > 0 {
            text.push_str(if is_last { "└ " } else { "├ " });
        }
        if depth > 0 && is_open.len() < *levels {
            is_open.push(!is_last);
        }
        text
    }
}
