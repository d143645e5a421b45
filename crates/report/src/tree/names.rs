//! The names of the lines of a tree, with guides that connect each to the one above.

use gristmill_output::{Look, grouped};
use unicode_width::UnicodeWidthStr as _;

use super::guides::Guides;
use super::lines::{Content, Line};
use super::{MIN_NAME_COLUMNS, Node, Tree};
use crate::names::{NameRow, fitted};

/// The columns that the last name of a chain leaves for what says that there are others: `… → `.
const ELISION_COLUMNS: usize = 4;

impl Tree {
    /// Writes the name of each line behind its guides, within these columns.
    pub(super) fn drawn(&self, lines: &[Line], room: usize, look: &Look) -> Vec<String> {
        let mut guides = Guides::new(room);
        let mut drawn: Vec<String> = Vec::with_capacity(lines.len());
        let mut names: Vec<NameRow<'_>> = Vec::new();
        for &Line { depth, is_last, ref content } in lines {
            let mut text = guides.next(depth, is_last);
            let left = room.saturating_sub(text.width());
            match content {
                // That there is one is worth no count.
                Content::Hidden(1, _) => text.push_str("… more"),
                Content::Hidden(count, _) => text.push_str(&format!("… {} more", grouped(*count))),
                Content::Nodes(chain) => self.push_names(&self.nodes[chain.clone()], left, look, &mut names),
                Content::Lone(above) => {
                    self.push_names(std::slice::from_ref(&self.lone[above]), left, look, &mut names);
                }
            }
            drawn.push(text);
        }
        let mut fitted = fitted(names).into_iter().map(|name| name.to_string());
        for (text, line) in drawn.iter_mut().zip(lines) {
            let nodes = self.nodes_of(line);
            let names: Vec<String> = fitted.by_ref().take(nodes.len()).collect();
            let left = look.name_columns(room.saturating_sub(text.width()));
            text.push_str(&self.joined(names, &last_calls(nodes), left));
        }
        drawn
    }

    fn push_names<'t>(&'t self, chain: &'t [Node], left: usize, look: &Look, names: &mut Vec<NameRow<'t>>) {
        let last_columns = match chain.len() {
            0 | 1 => left,
            _ => left.saturating_sub(ELISION_COLUMNS + last_calls(chain).width()),
        };
        for (nth, node) in chain.iter().enumerate() {
            // The name that always stays.
            let is_kept = if self.inverted { nth == 0 } else { nth + 1 == chain.len() };
            let columns = if is_kept { last_columns } else { (left / 3).max(MIN_NAME_COLUMNS) };
            let entry = self.entry(node);
            let row = NameRow::new(node.entry, &entry.name, look.name_columns(columns))
                .hashed(entry.hash.as_deref().unwrap_or_default());
            let (file, object) = (entry.file.as_bytes(), entry.object.as_bytes());
            // An address says nothing without its program.
            names.push(match entry.name.starts_with("0x") {
                true => row.at(file, object),
                false => row.distinguished_by(file, object),
            });
        }
    }

    /// Joins the names of a chain. Of one that is too long, the last name is left, and names from the first one on that fit
    /// before it. If callers follow, the first name is left, and the last one only if it fits as well.
    fn joined(&self, mut names: Vec<String>, last_calls: &str, columns: usize) -> String {
        let arrow = if self.inverted { " ← " } else { " → " };
        let Some(mut last) = names.pop() else { return String::new() };
        last.push_str(last_calls);
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
