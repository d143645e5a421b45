//! The tree for people, and as a table of values.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{
    Cell, Column, Look, Table, csv, grouped, markdown, percent, percent_number, printable,
};
use gristmill_profile::analysis::TreeBasis;
use gristmill_profile::symbol::shorten;
use unicode_width::UnicodeWidthStr as _;

use super::{EntryKind, Node, Tree, json};
use crate::columns::EventColumn;
use crate::report::Report;

/// A name gets so many columns at least, however deep it stands: the depth is a number from there on.
const LEAST_NAME: usize = 24;
/// Names and guides get so many columns at least; where numbers leave less, some are left out.
const LEAST_TREE: usize = 36;
/// How wide Markdown is, which does not know where it is shown.
const MARKDOWN: usize = 110;
/// A path of a table of values says so many names at most, or a deep tree would make a table that grows with its square.
const PATH_NAMES: usize = 64;
/// The same for long names.
const PATH_BYTES: usize = 4096;

/// Which numbers stand before the tree: as many as there is room for.
#[derive(Debug, Clone, Copy)]
struct Detail {
    events: usize,
    with_self: bool,
    with_amounts: bool,
}

impl Report for Tree<'_> {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        for line in self.notes() {
            writeln!(out, "{line}")?;
        }
        writeln!(out)?;
        self.table(look.width).write_text(look, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes Markdown: the tree in a block of code, as its guides only fit under each other there.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        let look = Look::plain(MARKDOWN);
        self.head.write_markdown(out)?;
        markdown::write_lines(&self.notes(), out)?;
        let mut text = Vec::new();
        self.table(look.width).write_text(&look, &mut text)?;
        // A name may hold a fence: a longer one ends the block.
        let text = String::from_utf8_lossy(&text);
        let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.saturating_add(1).max(3));
        write!(out, "\n{fence}text\n{text}{fence}\n")
    }

    /// Writes comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut titles = ["node", "parent", "depth"].map(str::to_owned).to_vec();
        for EventColumn { name, .. } in self.view.events() {
            titles.extend([format!("inclusive {name}"), format!("self {name}")]);
        }
        titles.extend(["calls", "hidden", "guessed", "name", "file", "object", "path"].map(str::to_owned));
        csv::write_line(titles.iter().map(String::as_str), out)?;
        // Line by line, as the paths of all nodes take much more than the tree.
        for (place, node) in self.nodes.iter().enumerate() {
            let entry = self.entry(node);
            let parent = node.parent.map_or_else(String::new, |parent| parent.to_string());
            let mut cells = vec![place.to_string(), parent, node.depth.to_string()];
            for (inclusive, own) in node.inclusive.iter().zip(&node.self_costs) {
                cells.extend([inclusive.to_string(), own.to_string()]);
            }
            cells.extend([node.count.to_string(), node.hidden.to_string()]);
            cells.push(if node.is_guessed { "yes" } else { "no" }.to_owned());
            let path = self.path(place);
            let names = [&entry.name, &entry.file, &entry.object, &path];
            csv::write_line(cells.iter().chain(names).map(String::as_str), out)?;
        }
        Ok(())
    }
}

impl Tree<'_> {
    /// The names from the root to a node; `…` before those of a long path that are nearest to it.
    fn path(&self, node: usize) -> String {
        let above = |&node: &usize| self.nodes[node].parent;
        let mut names: Vec<&str> = Vec::new();
        let mut bytes = 0;
        for node in std::iter::successors(Some(node), above) {
            let name = self.entry(&self.nodes[node]).name.as_str();
            bytes += name.len();
            if names.len() == PATH_NAMES || !names.is_empty() && bytes > PATH_BYTES {
                names.push("…");
                break;
            }
            names.push(name);
        }
        names.reverse();
        names.join(";")
    }

    /// What the tree is based on, first of all, and what of it is shown.
    fn notes(&self) -> Vec<String> {
        let root = self.nodes.first();
        let whole = root.and_then(|root| root.inclusive.first()).copied().unwrap_or(0);
        let name = self.from.as_ref().map(|name| {
            let name = printable(name.as_bytes());
            shorten(&name, 50).into_owned()
        });
        let tree = match (&name, self.inverted) {
            (Some(name), true) => format!("callers of {name}"),
            (Some(name), false) => format!("call tree of {name}"),
            (None, _) => "call tree".to_owned(),
        };
        let mut notes = match &self.basis {
            TreeBasis::Exact => {
                let mut notes = vec![format!("{tree}, exact: the profile tells of each call")];
                notes.extend(match self.unequal_calls {
                    0 => None,
                    1 => Some("  1 call is said to cost something else than what it called".to_owned()),
                    calls => Some(format!(
                        "  {} calls are said to cost something else than what they called",
                        grouped(calls)
                    )),
                });
                notes
            }
            TreeBasis::Callers => {
                vec![
                    format!("{tree}, from recorded callers:"),
                    "  each stack was seen, as far as names tell".to_owned(),
                ]
            }
            TreeBasis::Estimate { .. } if self.view.graph().arcs().len() == 0 => {
                vec![format!("{tree}: the profile tells of no calls, so functions stand side by side")]
            }
            TreeBasis::Estimate { guessed } if guessed.iter().all(|&cost| cost == 0) => {
                let way = if self.inverted { "from each of its callers" } else { "to each of the functions" };
                vec![
                    format!("{tree}, an estimate, 0% of it a guess:"),
                    format!("  there is one way only {way}"),
                ]
            }
            TreeBasis::Estimate { guessed } => {
                let share = percent(guessed.first().copied().unwrap_or(0), whole);
                let share = if share.is_empty() { String::new() } else { format!(", {share} of it a guess") };
                vec![
                    format!("{tree}, an ESTIMATE{share}:"),
                    "  where a function has several callers, all its calls are taken to be alike (~)"
                        .to_owned(),
                ]
            }
        };
        let nodes = self.nodes.len() - usize::from(self.from.is_none() && !self.nodes.is_empty());
        let mut left_out = Vec::new();
        if self.is_limited {
            left_out.push(format!("the {} dearest nodes (--limit)", grouped(nodes)));
        }
        if self.least > 0 {
            let least = format!("{}.{}", self.least / 10, self.least % 10);
            left_out.push(format!("nothing below {}% (--min)", least.trim_end_matches(".0")));
        }
        if let Some(depth) = self.depth {
            left_out.push(format!("{} levels (--depth)", grouped(depth)));
        }
        if let (Some(name), false) = (&name, whole == 0) {
            let of_all = percent(whole, self.view.totals()[0]);
            if !of_all.is_empty() {
                notes.push(format!("{name} is {of_all} of the total; shares are of this"));
            }
        }
        if !left_out.is_empty() && self.nodes.iter().any(|node| node.hidden > 0) {
            notes.push(format!("shown: {}", left_out.join(", ")));
        }
        notes
    }

    /// Where the text begins: the program need not stand above its only function.
    fn first(&self) -> usize {
        match self.nodes.first() {
            Some(root) if self.entry(root).kind == EntryKind::Program => {
                usize::from(root.children == 1 && root.hidden == 0 && self.nodes.len() > 1)
            }
            _ => 0,
        }
    }

    fn table(&self, width: usize) -> Table {
        let events = self.view.events().len();
        let details =
            [(events, true, true), (events, false, true), (events, true, false), (events, false, false)];
        let details = details.into_iter().chain([(1, true, true)]);
        let with_room = |(events, with_self, with_amounts)| {
            let table = self.numbers(Detail { events, with_self, with_amounts });
            let room = width.saturating_sub(table.width_before_last());
            (table, room)
        };
        let fitting = details.map(with_room).find(|&(_, room)| room >= LEAST_TREE);
        let (mut table, room) = fitting.unwrap_or_else(|| with_room((1, false, false)));
        let names = self.drawn(room.max(LEAST_NAME));
        for (cells, name) in table.rows.iter_mut().zip(names) {
            if let Some(last) = cells.last_mut() {
                *last = Cell::new(name);
            }
        }
        table
    }

    /// The numbers of all rows, with nothing in the last column.
    fn numbers(&self, detail: Detail) -> Table {
        let view = self.view;
        let shown = &view.events()[..detail.events.min(view.events().len())];
        let has_counts = self.nodes.iter().any(|node| node.count != 0);
        let mut columns = Vec::new();
        for event in shown {
            let event = printable(event.name.as_bytes());
            let title =
                |what: &str| if shown.len() > 1 { format!("{what} {event}") } else { what.to_owned() };
            columns.push(Column::number(if detail.with_amounts { "%".to_owned() } else { title("%") }));
            if detail.with_amounts {
                columns.push(Column::number(title(if self.inverted { "Cost" } else { "Inclusive" })));
            }
            if detail.with_self {
                columns.push(Column::number(title(if self.inverted { "From here" } else { "Self" })));
            }
        }
        if has_counts {
            columns.push(Column::number("Calls"));
        }
        columns.push(Column::text(if self.inverted { "Function and its callers" } else { "Function" }));
        let whole: Vec<Cost> = self.nodes.first().map_or_else(Vec::new, |root| root.inclusive.clone());

        let row = |node: Option<&Node>, costs: &[Cost]| {
            let mut cells = Vec::new();
            for (nth, event) in shown.iter().enumerate() {
                let unit = event.unit;
                let cost = costs.get(nth).copied().unwrap_or(0);
                let guess = if node.is_some_and(|node| node.is_guessed) { "~" } else { "" };
                let share = percent_number(cost, whole.get(nth).copied().unwrap_or(0));
                cells.push(Cell::new(format!("{guess}{share}")));
                if detail.with_amounts {
                    cells.push(Cell::number(cost, unit.show(cost)));
                }
                if detail.with_self {
                    let own = node.and_then(|node| node.self_costs.get(nth)).filter(|&&own| own != 0);
                    cells.push(Cell::new(own.map_or_else(String::new, |&own| unit.show(own))));
                }
            }
            if has_counts {
                let count = node.map_or(0, |node| node.count);
                cells.push(Cell::new(if count == 0 { String::new() } else { grouped(count) }));
            }
            cells.push(Cell::new(""));
            cells
        };
        let mut rows = Vec::new();
        self.each_row(|line| {
            rows.push(match line {
                Row::Node { node, .. } => row(Some(node), &node.inclusive),
                Row::Hidden { above, .. } => row(None, &above.hidden_costs),
            });
        });
        Table { columns, rows }
    }

    /// The rows in their order: nodes, and below the nodes that are shown a line for those that are not.
    fn each_row<'t>(&'t self, mut take: impl FnMut(Row<'t>)) {
        let first = self.first();
        // Nodes whose children are not all printed, with how many are to come.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (place, node) in self.nodes.iter().enumerate().skip(first) {
            let depth = node.depth - first;
            let is_last = match open.last_mut() {
                Some((above, left)) => {
                    *left -= 1;
                    *left == 0 && self.nodes[*above].hidden == 0
                }
                None => true,
            };
            take(Row::Node { node, depth, is_last });
            open.push((place, node.children));
            while let Some(&(above, 0)) = open.last() {
                open.pop();
                let above = &self.nodes[above];
                if above.hidden > 0 {
                    take(Row::Hidden { above, depth: above.depth - first + 1 });
                }
            }
        }
    }

    /// The names, with guides that show what belongs to what.
    fn drawn(&self, room: usize) -> Vec<String> {
        // Deeper levels are not drawn further to the right, but say how deep they are.
        let levels = (room - LEAST_NAME.min(room)) / 2;
        let names: Vec<Cow<'_, str>> =
            self.entries.iter().map(|entry| printable(entry.name.as_bytes())).collect();
        let mut drawn = Vec::new();
        let mut is_open: Vec<bool> = Vec::new();
        self.each_row(|row| {
            let (depth, is_last) = match row {
                Row::Node { depth, is_last, .. } => (depth, is_last),
                Row::Hidden { depth, .. } => (depth, true),
            };
            let mut line = String::new();
            is_open.truncate(depth.saturating_sub(1));
            for &is_open in is_open.iter().take(levels.min(depth.saturating_sub(1))) {
                line.push_str(if is_open { "│ " } else { "  " });
            }
            if depth > levels {
                line.push_str(&format!("{depth}› "));
            } else if depth > 0 {
                line.push_str(if is_last { "└ " } else { "├ " });
            }
            if depth > 0 && is_open.len() < levels {
                is_open.push(!is_last);
            }
            match row {
                Row::Node { node, .. } => {
                    let left = room.saturating_sub(line.width());
                    line.push_str(&fitted(&names[node.entry], left));
                }
                Row::Hidden { above, .. } => {
                    line.push_str(&format!("… {} more", grouped(above.hidden)));
                }
            }
            drawn.push(line);
        });
        drawn
    }
}

/// A line of the text.
#[derive(Clone, Copy)]
enum Row<'t> {
    Node {
        node: &'t Node,
        depth: usize,
        is_last: bool,
    },
    /// The nodes below one that are not shown.
    Hidden {
        above: &'t Node,
        depth: usize,
    },
}

/// A name that takes so many columns at most; some characters take two.
pub(crate) fn fitted(name: &str, columns: usize) -> Cow<'_, str> {
    let short = shorten(name, columns);
    let mut characters = columns;
    let mut fitted = short;
    while fitted.width() > columns && characters > 0 {
        characters -= (fitted.width() - columns).div_ceil(2).min(characters);
        fitted = shorten(name, characters);
    }
    fitted
}
