//! The call tree of a difference as text, Markdown and CSV.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{
    Aligned, Cell, Column, CostUnit, Look, Table, Tone, csv, grouped, json, markdown, printable, wrap,
};
use gristmill_profile::compare::Change;
use unicode_width::UnicodeWidthStr as _;

use super::{DiffTree, DiffTreeNode};
use crate::amount::estimate_mark;
use crate::diff::amounts::{percent_of_share, signed, signed_percent, tone};
use crate::names::{NameRow, RepeatedNames};
use crate::report::Report;
use crate::tree::{
    Basis, EntryKind, Guides, MARKDOWN_COLUMNS, MIN_NAME_COLUMNS, MIN_TREE_COLUMNS, TreeTable, left_out, path,
};

/// The numbers before the tree: as many as fit.
#[derive(Debug, Clone, Copy)]
struct Detail {
    events: usize,
    with_self: bool,
    with_calls: bool,
    with_sides: bool,
}

/// A line of the text.
struct Line {
    depth: usize,
    is_last: bool,
    content: Content,
}

/// The content of a [`Line`].
enum Content {
    /// A node.
    Node(usize),
    /// The count of nodes that are left out below this one.
    Hidden(usize),
}

impl Report for DiffTree {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        for note in self.notes() {
            wrap::write(out, &note, look.width, 2)?;
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
        markdown::write_lines(&self.notes(), out)?;
        let look = Look { has_full_names: false, ..Look::plain(MARKDOWN_COLUMNS) };
        self.table(&look).write_fenced(&look, out)
    }

    /// Writes CSV with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let sides = ["change", "base", "new"];
        let mut titles = ["node", "parent", "depth"].map(str::to_owned).to_vec();
        for event in &self.head.events {
            for what in ["inclusive", "self"] {
                titles.extend(sides.map(|side| format!("{what} {} {side}", event.name)));
            }
        }
        titles.extend(sides.map(|side| format!("calls {side}")));
        let others = ["hidden", "guessed", "self guessed", "name", "base name", "file", "object", "path"];
        titles.extend(others.map(str::to_owned));
        csv::write_line(titles.iter().map(String::as_str), out)?;
        // Line by line: the paths of all nodes take much more memory than the tree.
        for (place, node) in self.nodes.iter().enumerate() {
            let entry = &self.entries[node.entry];
            let parent = node.parent.map_or_else(String::new, |parent| parent.to_string());
            let mut cells = vec![place.to_string(), parent, node.depth.to_string()];
            let numbers = |change: &Change| {
                [change.delta(), change.base.median, change.new.median].map(|cost| cost.to_string())
            };
            for (inclusive, own) in node.inclusive.iter().zip(&*node.self_costs) {
                cells.extend([inclusive, own].into_iter().flat_map(|change| numbers(change)));
            }
            cells.extend(numbers(&node.calls));
            cells.push(node.hidden.to_string());
            let yes_no = |is_true| if is_true { "yes" } else { "no" }.to_owned();
            cells.extend([node.is_guessed, node.is_self_guessed].map(yes_no));
            let path = path(place, |node| {
                let DiffTreeNode { entry, parent, .. } = &self.nodes[node];
                (self.entries[*entry].name.as_str(), *parent)
            });
            let base_name = entry.base_name.as_deref().unwrap_or_default();
            let names = [&*entry.name, base_name, &entry.file, &entry.object, &path];
            csv::write_line(cells.iter().map(String::as_str).chain(names), out)?;
        }
        Ok(())
    }
}

impl DiffTree {
    /// The remarks above the tree: its origin, and the limits of what is shown.
    fn notes(&self) -> Vec<String> {
        let is_marked = |node: &DiffTreeNode| {
            node.is_guessed || node.is_self_guessed && node.self_costs.iter().any(|cost| !cost.is_none())
        };
        let is_count_marked = |node: &DiffTreeNode| node.is_count_guessed && !node.calls.is_none();
        let basis = match self.basis {
            Basis::Exact => "exact: the profiles have each call",
            Basis::Callers => {
                "from recorded callers: each stack occurred on a side, as far as the names show"
            }
            Basis::Estimate if !self.head.has_calls => "there are no calls, so functions are side by side",
            Basis::Estimate if self.nodes.iter().any(is_marked) => {
                "~ marks numbers that a side does not determine: there, cost is divided among the callers of a function as if \
                 all its calls were alike, or a call states another cost than what it called"
            }
            Basis::Estimate if self.nodes.iter().any(is_count_marked) => {
                "~ marks counts of calls that a side does not determine: several ways lead to the caller"
            }
            Basis::Estimate => "no number that is shown is an estimate",
        };
        let mut notes = vec![format!("call trees of both sides, joined by path; {basis}")];
        if self.has_medians() {
            notes.push(
                "numbers are medians of several runs: those of a node and of what is below it do not add up"
                    .to_owned(),
            );
        }
        let mut left_out = Vec::new();
        if self.is_limited {
            left_out.push(format!(
                "the {} nodes that changed most (--limit)",
                grouped(self.nodes.len().saturating_sub(1))
            ));
        }
        match self.min {
            0 => {}
            min => {
                let share = percent_of_share(min);
                left_out.push(format!("nothing below {share}% of the greatest change (--min)"));
            }
        }
        if let Some(depth) = self.max_depth {
            left_out.push(format!("{} levels (--depth)", grouped(depth)));
        }
        if !left_out.is_empty() && self.nodes.iter().any(|node| node.hidden > 0) {
            notes.push(format!("shown: {}", left_out.join(", ")));
        }
        notes
    }

    /// Makes the lines of the text: each before those below it. The program is left out above its only function.
    fn lines(&self) -> Vec<Line> {
        let mut children = vec![0; self.nodes.len()];
        self.nodes.iter().filter_map(|node| node.parent).for_each(|parent| children[parent] += 1);
        // Of nodes that are left out, only a change is worth a line.
        let changes: Vec<_> = (0..self.head.events.len()).map(|nth| self.hidden_changes(nth)).collect();
        let is_changed = |node: usize| {
            changes.iter().any(|changes| changes.as_ref().is_none_or(|changes| changes[node] != 0))
        };
        let has_hidden: Vec<bool> =
            (0..self.nodes.len()).map(|node| self.nodes[node].hidden > 0 && is_changed(node)).collect();
        let is_program = self.entries[self.nodes[0].entry].kind == EntryKind::Program;
        let is_alone = is_program && children[0] == 1 && !has_hidden[0] && self.nodes.len() > 1;
        let first = usize::from(is_alone);
        let mut lines = Vec::new();
        // By open node: itself, and the count of nodes below that are still to come.
        let mut open: Vec<(usize, usize)> = Vec::new();
        for (node, &below) in children.iter().enumerate().skip(first) {
            let is_last = open.last_mut().is_none_or(|(above, left)| {
                *left -= 1;
                *left == 0 && !has_hidden[*above]
            });
            lines.push(Line { depth: open.len(), is_last, content: Content::Node(node) });
            open.push((node, below));
            while let Some((node, _)) = open.pop_if(|(_, left)| *left == 0) {
                if has_hidden[node] {
                    let depth = open.len() + 1;
                    lines.push(Line { depth, is_last: true, content: Content::Hidden(node) });
                }
            }
        }
        lines
    }

    fn table(&self, look: &Look) -> TreeTable<'_> {
        let lines = self.lines();
        let events = self.head.events.len();
        let detail =
            |events, with_self, with_calls, with_sides| Detail { events, with_self, with_calls, with_sides };
        let with_room = |detail| {
            let table = self.numbers(&lines, detail);
            let room = look.width.saturating_sub(table.width_before_last());
            (table, room)
        };
        let details = [
            detail(events, true, true, true),
            detail(events, false, true, true),
            detail(events, false, false, true),
            detail(1, false, true, true),
            detail(1, false, false, true),
        ];
        let fitting = details.into_iter().map(with_room).find(|&(_, room)| room >= MIN_TREE_COLUMNS);
        let (numbers, room) = fitting.unwrap_or_else(|| with_room(detail(1, false, false, false)));
        let name = self.drawn(lines, room.max(MIN_NAME_COLUMNS), look);
        let Table { columns, rows } = numbers;
        TreeTable {
            aligned: Aligned::new(columns, rows.iter()),
            row_count: rows.len(),
            row: Box::new(move |nth| (rows[nth].clone(), name(nth))),
        }
    }

    /// The numbers of all rows, with an empty last column.
    fn numbers(&self, lines: &[Line], detail: Detail) -> Table {
        let shown = &self.head.events[..detail.events];
        let has_counts = detail.with_calls && self.nodes.iter().any(|node| *node.calls != Change::default());
        let mut columns = Vec::new();
        for event in shown {
            let event = printable(event.name.as_bytes());
            let title =
                |what: &str| if shown.len() > 1 { format!("{what} {event}") } else { what.to_owned() };
            columns.extend([Column::number(title("Change")), Column::number("%")]);
            if detail.with_sides {
                columns.extend(["Base", "New"].map(|what| Column::number(title(what))));
            }
            if detail.with_self {
                columns.push(Column::number(title("Self ±")));
            }
        }
        if has_counts {
            columns.push(Column::number("Calls ±"));
        }
        columns.push(Column::text("Function"));
        let hidden: Vec<_> = (0..shown.len()).map(|nth| self.hidden_changes(nth)).collect();
        // Hidden nodes cost the rest of the node above: a guess if that or another node below is one.
        let mut is_rest_guessed: Vec<bool> =
            self.nodes.iter().map(|node| node.is_guessed || node.is_self_guessed).collect();
        for node in self.nodes.iter().filter(|node| node.is_guessed) {
            node.parent.into_iter().for_each(|parent| is_rest_guessed[parent] = true);
        }
        let rows = lines.iter().map(|line| {
            let mut cells = Vec::new();
            for (nth, event) in shown.iter().enumerate() {
                let whole = self.head.totals[nth].base.median;
                let (change, own, sides) = match line.content {
                    Content::Node(node) => {
                        let node = &self.nodes[node];
                        let change = *node.inclusive[nth];
                        let guess = estimate_mark(node.is_guessed);
                        let own = *node.self_costs[nth];
                        let sides = [change.base, change.new]
                            .map(|side| format!("{guess}{}", event.unit.show(side.median)));
                        let guess_of_own = estimate_mark(node.is_self_guessed);
                        let own = match own.delta() {
                            0 => Cell::new(""),
                            delta => Cell::new(format!("{guess_of_own}{}", signed(delta, event.unit)))
                                .toned(tone(own)),
                        };
                        let cell = |text: String| Cell::new(format!("{guess}{text}")).toned(tone(change));
                        let delta = change.delta();
                        ([signed(delta, event.unit), signed_percent(delta, whole)].map(cell), own, sides)
                    }
                    Content::Hidden(node) => {
                        let guess = estimate_mark(is_rest_guessed[node]);
                        let cells = match hidden[nth].as_ref().map(|changes| changes[node]) {
                            Some(delta) => {
                                [signed(delta, event.unit), signed_percent(delta, whole)].map(|text| {
                                    Cell::new(format!("{guess}{text}")).toned(Tone::from_change(delta))
                                })
                            }
                            None => [Cell::new(""), Cell::new("")],
                        };
                        (cells, Cell::new(""), Default::default())
                    }
                };
                cells.extend(change);
                if detail.with_sides {
                    cells.extend(sides.map(Cell::new));
                }
                if detail.with_self {
                    cells.push(own);
                }
            }
            if has_counts {
                cells.push(match line.content {
                    Content::Node(node) if !self.nodes[node].calls.is_none() => {
                        let (node, calls) = (&self.nodes[node], *self.nodes[node].calls);
                        let guess = estimate_mark(node.is_count_guessed);
                        Cell::new(format!("{guess}{}", signed(calls.delta(), CostUnit::Count)))
                            .toned(tone(calls))
                    }
                    _ => Cell::new(""),
                });
            }
            cells.push(Cell::new(""));
            cells
        });
        Table { columns, rows: rows.collect() }
    }

    fn has_medians(&self) -> bool {
        self.head.base_runs.len() > 1 || self.head.new_runs.len() > 1
    }

    /// By node: the change of the nodes that are left out right below it. `None` with several runs, as medians do not add up.
    fn hidden_changes(&self, nth: usize) -> Option<Vec<Cost>> {
        if self.has_medians() {
            return None;
        }
        let left = |node: &DiffTreeNode| node.inclusive[nth].delta() - node.self_costs[nth].delta();
        let mut changes: Vec<Cost> = self.nodes.iter().map(left).collect();
        for node in &self.nodes {
            if let Some(parent) = node.parent {
                changes[parent] -= node.inclusive[nth].delta();
            }
        }
        Some(changes)
    }

    /// Draws the name of each line behind its guides, within these columns.
    fn drawn<'t>(&'t self, lines: Vec<Line>, room: usize, look: &Look) -> Box<dyn Fn(usize) -> String + 't> {
        let mut guides = Guides::new(room);
        let mut names = RepeatedNames::default();
        // Guides, with the place of the name behind them if there is one.
        let mut drawn: Vec<(String, Option<usize>)> = Vec::with_capacity(lines.len());
        let mut name_count = 0;
        for line in lines {
            let mut text = guides.next(line.depth, line.is_last);
            let name = match line.content {
                Content::Node(node) => {
                    let id = self.nodes[node].entry;
                    let columns = look.name_columns(room.saturating_sub(text.width()));
                    let entry = &self.entries[id];
                    names.push(id, columns, || {
                        NameRow::new(id, &entry.name, columns)
                            .distinguished_by(entry.file.as_bytes(), entry.object.as_bytes())
                    });
                    name_count += 1;
                    Some(name_count - 1)
                }
                Content::Hidden(node) => {
                    text.push_str(&left_out(self.nodes[node].hidden));
                    None
                }
            };
            drawn.push((text, name));
        }
        let names = names.fitted();
        Box::new(move |nth| {
            let (text, name) = &drawn[nth];
            name.map_or_else(|| text.clone(), |name| format!("{text}{}", names.get(name)))
        })
    }
}
