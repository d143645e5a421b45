//! The names of the lines of a tree, with guides that connect each to the one above.

use gristmill_output::{Look, grouped};
use unicode_width::UnicodeWidthStr as _;

use super::guides::Guides;
use super::lines::{Content, Line};
use super::{MIN_NAME_COLUMNS, Node, Tree};
use crate::names::{FittedNames, NameRow, RepeatedNames};

/// The columns that the last name of a chain leaves for what says that there are others: `… → `.
const ELISION_COLUMNS: usize = 4;

/// The last column of the text of a tree: names behind their guides. A line is made when it is written.
pub(super) struct DrawnNames<'t> {
    tree: &'t Tree,
    lines: Vec<DrawnLine<'t>>,
    names: FittedNames,
    room: usize,
    has_full_names: bool,
}

struct DrawnLine<'t> {
    /// The guides, and the count of nodes that are left out.
    text: String,
    nodes: &'t [Node],
    /// The first of its names.
    first_name: usize,
}

impl DrawnNames<'_> {
    /// Returns a line.
    pub(super) fn line(&self, nth: usize) -> String {
        let DrawnLine { text, nodes, first_name } = &self.lines[nth];
        let names = (0..nodes.len()).map(|node| self.names.get(first_name + node).to_string()).collect();
        let left = if self.has_full_names { usize::MAX } else { self.room.saturating_sub(text.width()) };
        format!("{text}{}", self.tree.joined(names, &last_calls(nodes), left))
    }
}

impl Tree {
    /// Draws the name of each line behind its guides, within these columns.
    pub(super) fn drawn<'t>(&'t self, lines: &[Line], room: usize, look: &Look) -> DrawnNames<'t> {
        let mut guides = Guides::new(room);
        let mut drawn: Vec<DrawnLine<'t>> = Vec::with_capacity(lines.len());
        let mut names = RepeatedNames::default();
        let mut first_name = 0;
        for line in lines {
            let mut text = guides.next(line.depth, line.is_last);
            let left = room.saturating_sub(text.width());
            let nodes = self.nodes_of(line);
            match line.content {
                Content::Hidden(ref hidden) => text.push_str(&left_out(hidden.count)),
                Content::Nodes(_) | Content::Lone(_) => self.push_names(nodes, left, look, &mut names),
            }
            drawn.push(DrawnLine { text, nodes, first_name });
            first_name += nodes.len();
        }
        let has_full_names = look.has_full_names;
        DrawnNames { tree: self, lines: drawn, names: names.fitted(), room, has_full_names }
    }

    fn push_names<'t>(&'t self, chain: &'t [Node], left: usize, look: &Look, names: &mut RepeatedNames<'t>) {
        let last_columns = match chain.len() {
            0 | 1 => left,
            _ => left.saturating_sub(ELISION_COLUMNS + last_calls(chain).width()),
        };
        for (nth, node) in chain.iter().enumerate() {
            // The name that always stays.
            let is_kept = if self.inverted { nth == 0 } else { nth + 1 == chain.len() };
            let columns = if is_kept { last_columns } else { (left / 3).max(MIN_NAME_COLUMNS) };
            let columns = look.name_columns(columns);
            let entry = self.entry(node);
            names.push(node.entry, columns, || {
                let row = NameRow::new(node.entry, &entry.name, columns)
                    .leaving_out(entry.left_out.as_deref().unwrap_or_default());
                let (file, object) = (entry.file.as_bytes(), entry.object.as_bytes());
                // An address says nothing without its program.
                match entry.name.starts_with("0x") {
                    true => row.at(file, object),
                    false => row.distinguished_by(file, object),
                }
            });
        }
    }

    /// Joins the names of a chain. Of one that is too long, the last name is left, and names from the first one on that fit
    /// before it. If callers follow, the first name is left, and the last one only if it fits as well.
    fn joined(&self, mut names: Vec<String>, last_calls: &str, columns: usize) -> String {
        let arrow = if self.inverted { " ← " } else { " → " };
        let Some(mut last) = names.pop() else { return String::new() };
        last.push_str(last_calls);
        if columns == usize::MAX {
            names.push(last);
            return names.join(arrow);
        }
        if let (Some(first), true) = (names.first(), self.inverted) {
            let shortest = first.width() + arrow.width() + last.width();
            let elided = if names.len() > 1 { ELISION_COLUMNS } else { 0 };
            if shortest + elided > columns {
                return format!("{first}{arrow}…");
            }
        }
        let mut widths = names.iter().map(|name| name.width() + arrow.width());
        if !names.is_empty() && widths.clone().sum::<usize>() + last.width() > columns {
            let mut left = columns.saturating_sub(ELISION_COLUMNS + last.width());
            let fits = |width: &usize| {
                let rest = left.checked_sub(*width);
                left = rest.unwrap_or(0);
                rest.is_some()
            };
            let count = widths.by_ref().take_while(fits).count();
            names.truncate(count);
            names.push("…".to_owned());
        }
        names.push(last);
        names.join(arrow)
    }
}

/// Returns the line for nodes that are left out.
pub(crate) fn left_out(count: usize) -> String {
    match count {
        // That there is one is worth no count.
        1 => "… more".to_owned(),
        count => format!("… {} more", grouped(count)),
    }
}

/// The count of calls of the last node of a chain, ` ×12`, if it is neither 1 nor that of the first, which has a column.
fn last_calls(chain: &[Node]) -> String {
    match chain {
        [first, .., last] if last.calls != first.calls && last.calls.recorded() > 1 => {
            format!(" ×{}", last.calls.text())
        }
        [first, .., last] if last.calls != first.calls && last.calls.has_inlined() => {
            format!(" {}", last.calls.text())
        }
        _ => String::new(),
    }
}
