//! The call tree as text, Markdown and CSV.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{
    Aligned, Cell, Column, CostUnit, Look, csv, grouped, json, markdown, percent, percent_number, printable,
    wrap,
};

use super::lines::{Content, Line};
use super::{Basis, MIN_NAME_COLUMNS, Node, Tree, path};
use crate::amount::estimate_mark;
use crate::columns::EventColumn;
use crate::names::short;
use crate::report::Report;

/// The least columns of names and guides. If numbers leave less, some numbers are left out.
pub(crate) const MIN_TREE_COLUMNS: usize = 36;
/// The columns of Markdown, whose place of display is not known.
pub(crate) const MARKDOWN_COLUMNS: usize = 110;
/// The columns of a name in a sentence.
const MAX_NAME_IN_NOTES: usize = 50;
/// The numbers before the tree: as many as fit.
#[derive(Debug, Clone, Copy)]
struct Detail {
    events: usize,
    with_self: bool,
    with_amounts: bool,
}

impl Report for Tree {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        for line in self.notes(look.name_columns(MAX_NAME_IN_NOTES)) {
            wrap::write(out, &line, look.width, 2)?;
        }
        writeln!(out)?;
        self.table(look).write_text(look, out)
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes Markdown: the tree in a code block, where its guides are aligned.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_markdown(out)?;
        let look = Look { has_full_names: false, ..Look::plain(MARKDOWN_COLUMNS) };
        markdown::write_lines(&self.notes(MAX_NAME_IN_NOTES), out)?;
        self.table(&look).write_fenced(&look, out)
    }

    /// Writes CSV with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut titles = ["node", "parent", "depth"].map(str::to_owned).to_vec();
        for EventColumn { name, .. } in &self.head.events {
            titles.extend([format!("inclusive {name}"), format!("self {name}")]);
        }
        titles.extend(
            ["calls", "hidden", "guessed", "self guessed", "name", "file", "object", "path", "calls guessed"]
                .map(str::to_owned),
        );
        csv::write_line(titles.iter().map(String::as_str), out)?;
        // Line by line: the paths of all nodes take much more memory than the tree.
        for (place, node) in self.nodes.iter().enumerate() {
            let entry = self.entry(node);
            let parent = node.parent.map_or_else(String::new, |parent| parent.to_string());
            let mut cells = vec![place.to_string(), parent, node.depth.to_string()];
            for (inclusive, own) in node.inclusive.iter().zip(&node.self_costs) {
                cells.extend([inclusive.to_string(), own.to_string()]);
            }
            cells.extend([node.calls.for_programs(), node.hidden.to_string()]);
            let yes_no = |is_true| if is_true { "yes" } else { "no" }.to_owned();
            cells.extend([node.is_guessed, node.is_self_guessed].map(yes_no));
            let above = |node: usize| self.nodes[node].parent;
            let path = path(place, |node| (self.entry(&self.nodes[node]).name.as_str(), above(node)));
            let names = [&entry.name, &entry.file, &entry.object, &path, &yes_no(node.calls.is_guessed())];
            csv::write_line(cells.iter().chain(names).map(String::as_str), out)?;
        }
        Ok(())
    }
}

impl Tree {
    /// The remarks above the tree: its origin, and the limits of what is shown.
    fn notes(&self, name_columns: usize) -> Vec<String> {
        let whole = self.nodes[0].inclusive[0];
        let name = self.from.as_ref().map(|name| short(name, name_columns));
        let tree = match (&name, self.inverted) {
            (Some(name), true) => format!("callers of {name}"),
            (Some(name), false) => format!("call tree of {name}"),
            (None, true) => String::new(),
            (None, false) => "call tree".to_owned(),
        };
        let of_tree = |separator, text: &str| match tree.as_str() {
            "" => text.to_owned(),
            tree => format!("{tree}{separator}{text}"),
        };
        let title = tree.is_empty().then(|| "bottom-up: functions by self cost, callers below".to_owned());
        let basis = match (self.basis, &self.guessed) {
            (Basis::Exact, _) => {
                let mut notes = vec![of_tree(", ", "exact: the profile has each call")];
                notes.extend(match self.unequal_calls {
                    0 => None,
                    1 => {
                        Some("  in all selected parts, the stated cost of 1 call differs from the sum of what it called".to_owned())
                    }
                    calls => Some(format!(
                        "  in all selected parts, the stated costs of {} calls differ from the sums of what they called",
                        grouped(calls)
                    )),
                });
                notes
            }
            (Basis::Callers, _) => vec![
                of_tree(", ", "from recorded callers:"),
                "  each stack occurred, as far as the names show".to_owned(),
            ],
            (Basis::Estimate, _) if !self.has_calls => {
                let text = match self.nodes.len() {
                    0 | 1 if self.from.is_none() => "no function is selected or left",
                    0..=2 => "no calls are selected or left",
                    _ => "no calls are selected or left, so functions are side by side",
                };
                vec![of_tree(": ", text)]
            }
            (Basis::Estimate, Some(guessed))
                if guessed.iter().any(|&cost| cost != 0)
                    || self.nodes.iter().any(|node| node.is_guessed || node.is_self_guessed) =>
            {
                let share = percent(guessed[0], whole);
                let share = if share.is_empty() { "some of it".to_owned() } else { share };
                vec![
                    of_tree(", ", &format!("an estimate: {share} apportioned, marked ~")),
                    "  divided among the callers of a function as if all its calls were alike,".to_owned(),
                    "  or where a call states another cost than what it called".to_owned(),
                ]
            }
            (Basis::Estimate, _) if self.nodes.iter().any(|node| node.calls.is_guessed()) => vec![
                of_tree(", ", "no cost of it is an estimate;"),
                "  counts of calls are, marked ~: divided among the callers of the function above".to_owned(),
            ],
            (Basis::Estimate, _) => vec![
                of_tree(", ", "nothing of it is an estimate:"),
                "  the profile states what each way costs".to_owned(),
            ],
        };
        let mut notes: Vec<String> = title.into_iter().chain(basis).collect();
        let nodes = self.nodes.len() - usize::from(self.from.is_none());
        let mut left_out = Vec::new();
        if self.is_limited {
            left_out.push(format!("the {} most expensive nodes (--limit)", grouped(nodes)));
        }
        if self.min_share > 0 {
            let share = format!("{}.{}", self.min_share / 10, self.min_share % 10);
            left_out.push(format!("nothing below {}% (--min)", share.trim_end_matches(".0")));
        }
        if let Some(depth) = self.max_depth {
            left_out.push(format!("{} levels (--depth)", grouped(depth)));
        }
        if let (Some(name), false) = (&name, whole == 0) {
            let of_all = percent(whole, self.head.totals[0]);
            if !of_all.is_empty() {
                notes.push(format!("{name} is {of_all} of the total; percentages are of this"));
            }
        }
        if self.nodes.iter().any(|node| node.is_upper_bound) {
            notes.push(self.upper_limit_note.to_owned());
        }
        if !left_out.is_empty() && self.nodes.iter().any(|node| node.hidden > 0) {
            notes.push(format!("shown: {}", left_out.join(", ")));
        }
        notes
    }

    fn table(&self, look: &Look) -> TreeTable<'_> {
        let lines = self.lines();
        let events = self.head.events.len();
        let details =
            [(events, true, true), (events, false, true), (events, true, false), (events, false, false)];
        let details = details.into_iter().chain([(1, true, true)]);
        let with_room = |(events, with_self, with_amounts)| {
            let detail = Detail { events, with_self, with_amounts };
            let rows = lines.iter().map(|line| self.cells(line, detail));
            let aligned = Aligned::new(self.columns(detail), rows);
            let room = look.width.saturating_sub(aligned.width_before_last());
            (detail, aligned, room)
        };
        let fitting = details.map(with_room).find(|&(.., room)| room >= MIN_TREE_COLUMNS);
        let (detail, aligned, room) = fitting.unwrap_or_else(|| with_room((1, false, false)));
        let names = self.drawn(&lines, room.max(MIN_NAME_COLUMNS), look);
        TreeTable {
            aligned,
            row_count: lines.len(),
            row: Box::new(move |nth| (self.cells(&lines[nth], detail), names.line(nth))),
        }
    }

    /// The event types that are shown.
    fn shown(&self, detail: Detail) -> &[EventColumn] {
        &self.head.events[..detail.events.min(self.head.events.len())]
    }

    fn columns(&self, detail: Detail) -> Vec<Column> {
        let shown = self.shown(detail);
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
                columns.push(Column::number(title(if self.inverted { "No caller" } else { "Self" })));
            }
        }
        if self.has_counts {
            columns.push(Column::number("Calls"));
        }
        columns.push(Column::text(if self.inverted { "Function and its callers" } else { "Function" }));
        columns
    }

    /// The numbers of a line, with an empty last column.
    fn cells(&self, line: &Line, detail: Detail) -> Vec<Cell> {
        let shown = self.shown(detail);
        let whole = &self.nodes[0].inclusive;
        // A chain has the costs and calls of its first node, but the self cost of all.
        let row = |nodes: &[Node], costs: &[Cost], is_guessed: bool| {
            let mut cells = Vec::new();
            for (nth, event) in shown.iter().enumerate() {
                let unit = event.unit;
                let cost = costs[nth];
                let guess = estimate_mark(is_guessed);
                let limit = if nodes.first().is_some_and(|node| node.is_upper_bound) { "≤" } else { guess };
                let share = percent_number(cost, whole[nth]);
                cells.push(Cell::new(format!("{guess}{share}")));
                if detail.with_amounts {
                    cells.push(Cell::new(format!("{limit}{}", unit.show(cost))));
                }
                if detail.with_self {
                    let own: Cost = nodes.iter().map(|node| node.self_costs[nth]).sum();
                    let is_guessed =
                        nodes.iter().any(|node| node.is_self_guessed && node.self_costs[nth] != 0);
                    let guess = estimate_mark(is_guessed);
                    let text = format!("{guess}{}", unit.show(own));
                    cells.push(Cell::new(if own == 0 { String::new() } else { text }));
                }
            }
            if self.has_counts {
                let node = nodes.first();
                let node = node.filter(|node| node.calls.exact() != Some(0) || node.calls.is_guessed());
                let text = node.map(|node| node.calls.text_with(|count| CostUnit::Count.show(count)));
                cells.push(Cell::new(text.unwrap_or_default()));
            }
            cells.push(Cell::new(""));
            cells
        };
        match (&line.content, self.nodes_of(line)) {
            (Content::Hidden(hidden), _) => row(&[], &hidden.costs, hidden.is_guessed),
            (_, nodes) => row(nodes, &nodes[0].inclusive, nodes[0].is_guessed),
        }
    }
}

/// The text of a tree: rows with their numbers and a last column, which are made when they are written. A row takes many times
/// the memory of a node, and a long name may be in all of them.
pub(crate) struct TreeTable<'t> {
    /// The columns, with the widths of all rows.
    pub(crate) aligned: Aligned,
    pub(crate) row_count: usize,
    /// Makes a row: its numbers, with an empty last column, and the text for that.
    pub(crate) row: Box<dyn Fn(usize) -> (Vec<Cell>, String) + 't>,
}

impl TreeTable<'_> {
    pub(crate) fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.aligned.write_titles(look, out)?;
        (0..self.row_count)
            .map(&self.row)
            .try_for_each(|(numbers, name)| self.aligned.write_row_ending(&numbers, &name, look, out))
    }

    /// Writes the tree in a code block, where its guides are aligned.
    pub(crate) fn write_fenced(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        // A name may contain a fence: a longer one ends the block. To write twice takes less memory than to keep the text.
        let mut fences = FenceLength::default();
        self.write_text(look, &mut fences)?;
        let fence = "`".repeat(fences.longest.saturating_add(1).max(3));
        write!(out, "\n{fence}text\n")?;
        self.write_text(look, out)?;
        writeln!(out, "{fence}")
    }
}

/// Counts the signs of the longest fence in what is written.
#[derive(Default)]
struct FenceLength {
    longest: usize,
    open: usize,
}

impl Write for FenceLength {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        for &byte in text {
            self.open = if byte == b'`' { self.open + 1 } else { 0 };
            self.longest = self.longest.max(self.open);
        }
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
