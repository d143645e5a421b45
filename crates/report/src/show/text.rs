//! The report for people, and its callers and callees as a table of values.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::{
    Cell, Column, Look, Table, grouped, lossy, markdown, percent, percent_number, printable, wrap,
};
use gristmill_profile::analysis::{Direction, Unit};
use unicode_width::UnicodeWidthStr as _;

use super::{CycleSummary, HotLine, Listed, Neighbour, Show, json};
use crate::path::{UNKNOWN, base};
use crate::report::Report;
use crate::tree::fitted;
use crate::view::SubjectId;

/// A name gets so many columns at least; where several event types leave less, only the first is shown beside it.
const LEAST_NAME: usize = 30;
/// How wide Markdown is, which does not know where it is shown.
const MARKDOWN: usize = 160;

/// What stands in the last column of a row.
enum Label {
    Text(String),
    /// A function, with a mark before its name.
    Function(&'static str, SubjectId),
    /// A call of a function, and how often.
    Call(SubjectId, String),
}

/// A piece of the report: a sentence above, a table, and sentences below.
struct Section {
    title: String,
    table: Table,
    below: Vec<String>,
}

impl Report for Show<'_> {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_text(look, out)?;
        writeln!(out)?;
        // The whole name, however long: here is the place for it.
        writeln!(out, "{}", look.bold(&self.title()))?;
        for line in self.place() {
            writeln!(out, "  {line}")?;
        }
        writeln!(out)?;
        self.totals().write_text(look, out)?;
        for line in self.calls() {
            wrap::write(out, &line, look.width, 2)?;
        }
        for section in self.sections(look.width) {
            writeln!(out, "\n{}", look.bold(&section.title))?;
            if !section.table.rows.is_empty() {
                section.table.write_text(look, out)?;
            }
            for line in section.below {
                wrap::write_dim(out, &line, look, 2)?;
            }
        }
        Ok(())
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes tables in Markdown.
    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        self.head.write_markdown(out)?;
        writeln!(out, "\n## {}\n", markdown::without_tags(&self.title()))?;
        markdown::write_lines(&self.place(), out)?;
        markdown::write_lines(&self.calls(), out)?;
        writeln!(out)?;
        self.totals().write_markdown(out)?;
        for section in self.sections(MARKDOWN) {
            writeln!(out, "\n### {}\n", markdown::without_tags(&section.title))?;
            if !section.table.rows.is_empty() {
                section.table.write_markdown(out)?;
            }
            for line in section.below {
                writeln!(out, "\n{}", markdown::without_tags(&line))?;
            }
        }
        Ok(())
    }

    /// Writes callers and callees as comma-separated values with exact numbers.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let view = self.view;
        let mut columns = vec![Column::text("relation"), Column::number("distance"), Column::number("calls")];
        columns.extend(view.events().iter().map(|event| Column::number(format!("cost {}", event.name))));
        columns.extend(["name", "file", "object", "via"].map(Column::text));
        let mut rows = Vec::new();
        for (relation, list) in [
            ("caller", &self.callers),
            ("callee", &self.callees),
            ("far caller", &self.far_callers),
            ("far callee", &self.far_callees),
        ] {
            for row in &list.rows {
                let subject = view.subject(row.function);
                let calls = if row.via.is_some() { String::new() } else { row.count.to_string() };
                let mut cells = vec![relation.to_owned(), row.distance.to_string(), calls];
                cells.extend(row.costs.iter().map(Cost::to_string));
                cells.push(subject.name().to_owned());
                cells.push(lossy(view.profile().file(subject.file)));
                cells.push(lossy(view.profile().object(subject.object)));
                cells.push(row.via.map_or_else(String::new, |via| view.subject(via).name().to_owned()));
                rows.push(cells.into_iter().map(Cell::new).collect());
            }
        }
        Table { columns, rows }.write_csv(out)
    }
}

impl Show<'_> {
    fn title(&self) -> String {
        let cycle = self.cycle.as_ref().map(|cycle| format!(" [cycle {}]", cycle.number));
        format!("{}{}", self.name(self.function), cycle.unwrap_or_default())
    }

    fn name(&self, function: SubjectId) -> String {
        printable(self.view.subject(function).name().as_bytes()).into_owned()
    }

    /// Where the function is defined.
    fn place(&self) -> Vec<String> {
        let (subject, profile) = (self.view.subject(self.function), self.view.profile());
        let mut lines = Vec::new();
        for (what, path) in
            [("file  ", profile.file(subject.file)), ("object", profile.object(subject.object))]
        {
            if !path.is_empty() && path != UNKNOWN.as_bytes() {
                lines.push(format!("{what}  {}", printable(path)));
            }
        }
        if self.folded > 1 {
            lines.push(format!("{} functions of the profile, taken as one", grouped(self.folded)));
        }
        lines
    }

    /// Inclusive and self cost, an event type on each line.
    fn totals(&self) -> Table {
        let view = self.view;
        let columns = vec![
            Column::text("Event"),
            Column::number("Inclusive"),
            Column::number("%"),
            Column::number("Self"),
            Column::number("%"),
        ];
        let rows = view.events().iter().enumerate().map(|(nth, event)| {
            let mut cells = vec![Cell::new(printable(event.name.as_bytes()))];
            for cost in [self.inclusive[nth], self.self_costs[nth]] {
                cells.push(Cell::number(cost, event.unit.show(cost)));
                cells.push(Cell::new(percent_number(cost, view.totals()[nth])));
            }
            cells
        });
        Table { columns, rows: rows.collect() }
    }

    /// How often it was called; and where the two ways to its inclusive cost lead apart, both.
    fn calls(&self) -> Vec<String> {
        let functions = |count: usize| match count {
            1 => "1 function".to_owned(),
            _ => format!("{} functions", grouped(count)),
        };
        let times = match self.calls {
            0 => "called".to_owned(),
            1 => "called once".to_owned(),
            calls => format!("called {} times", grouped(calls)),
        };
        let mut line = match self.callers.all {
            0 => "nothing calls it".to_owned(),
            callers => format!("{times} by {}", functions(callers)),
        };
        match self.callees.all {
            0 => line.push_str(", calls nothing"),
            callees => line.push_str(&format!(", calls {}", functions(callees))),
        }
        let mut lines = vec![line];
        for (nth, event) in self.view.events().iter().enumerate() {
            let by_callees = self.by_callees[nth];
            let Some(by_callers) = self.by_callers.as_ref().map(|costs| costs[nth]) else { continue };
            if by_callers != by_callees {
                let what = match self.unit() {
                    Unit::Node(_) => "it cost",
                    Unit::Cycle(_) => "its cycle cost",
                };
                lines.push(format!(
                    "by its callers {what} {} {}, by self cost and callees {}",
                    event.unit.show(by_callers),
                    printable(event.name.as_bytes()),
                    event.unit.show(by_callees)
                ));
            }
        }
        lines
    }

    fn sections(&self, width: usize) -> Vec<Section> {
        let mut sections = Vec::new();
        sections.extend(self.cycle.as_ref().map(|cycle| self.cycle_section(cycle, width)));
        for (title, direction, list) in
            [("Callers", Direction::Callers, &self.callers), ("Callees", Direction::Callees, &self.callees)]
        {
            if list.all > 0 {
                sections.push(self.neighbours(title, direction, list, width));
            }
        }
        for (title, list) in
            [("Callers farther away", &self.far_callers), ("Callees farther away", &self.far_callees)]
        {
            if list.all > 0 {
                sections.push(self.far(title, list, width));
            }
        }
        if self.lines.all > 0 {
            sections.push(self.lines(width));
        }
        if self.parts.all > 0 {
            sections.push(self.by_part(width));
        }
        sections
    }

    /// Columns for the costs of all event types or, where that leaves too little for names, of the first one.
    fn events(&self, columns_each: usize, width: usize, before: usize) -> usize {
        let all = self.view.events().len();
        let widest = |nth: usize| {
            let event = &self.view.events()[nth];
            let title = event.name.width() + 10;
            columns_each * (event.unit.show(self.inclusive[nth]).width().max(title) + 9)
        };
        let needed: usize = (0..all).map(widest).sum();
        if all == 1 || needed + before + LEAST_NAME <= width { all } else { 1 }
    }

    /// A cost and its share of the function's inclusive cost.
    fn cost_cells(&self, nth: usize, cost: Cost, whole: Cost) -> [Cell; 2] {
        let unit = self.view.events()[nth].unit;
        [Cell::number(cost, unit.show(cost)), Cell::new(percent_number(cost, whole))]
    }

    /// What stands above a column of costs: the event type where there are several.
    fn cost_title(&self, nth: usize, what: &str) -> String {
        match self.view.events() {
            [_] => what.to_owned(),
            events => format!("{what} {}", printable(events[nth].name.as_bytes())),
        }
    }

    /// For each event type these columns of costs, each with its share.
    fn cost_columns(&self, events: usize, titles: &[&str]) -> Vec<Column> {
        let titled = |nth: usize| titles.iter().map(move |what| self.cost_title(nth, what));
        let titles = (0..events).flat_map(titled);
        titles.flat_map(|title| [Column::number(title), Column::number("%")]).collect()
    }

    /// Puts names into the last column, as long as there is room for.
    fn with_names(&self, mut table: Table, width: usize, names: Vec<Label>) -> Table {
        let room = width.saturating_sub(table.width_before_last()).max(LEAST_NAME);
        for (cells, label) in table.rows.iter_mut().zip(names) {
            let text = match label {
                Label::Text(text) => text,
                Label::Function(mark, function) => {
                    format!("{mark}{}", self.named(function, room.saturating_sub(mark.width())))
                }
                Label::Call(function, times) => {
                    let name = self.name(function);
                    let left = room.saturating_sub(times.width() + 6);
                    format!("  -> {} {times}", fitted(&name, left))
                }
            };
            if let Some(last) = cells.last_mut() {
                *last = Cell::new(text);
            }
        }
        table
    }

    /// A name, and where there is room for it the file.
    fn named(&self, function: SubjectId, room: usize) -> String {
        let subject = self.view.subject(function);
        let cycles = self.view.inclusive().cycles();
        // Of the function's own cycle enough is said already.
        let own = cycles.cycle_of(self.function.node());
        let cycle = cycles.cycle_of(function.node()).filter(|cycle| Some(*cycle) != own);
        let cycle = cycle.map(|cycle| format!(" [cycle {}]", cycle.number()));
        let cycle = cycle.unwrap_or_default();
        let name = printable(subject.name().as_bytes());
        let name = format!("{}{cycle}", fitted(&name, room.saturating_sub(cycle.width())));
        let file = printable(self.view.profile().file(subject.file)).into_owned();
        let left = room.saturating_sub(name.width() + 3);
        let place = [file.as_str(), base(&file)].into_iter().find(|place| place.width() <= left);
        match place.filter(|place| !place.is_empty() && *place != UNKNOWN) {
            Some(place) => format!("{name} ({place})"),
            None => name,
        }
    }

    fn neighbours(
        &self,
        title: &str,
        direction: Direction,
        list: &Listed<Neighbour>,
        width: usize,
    ) -> Section {
        let events = self.events(1, width, 12);
        let mut columns = vec![Column::number("Calls")];
        columns.extend(self.cost_columns(events, &["Cost"]));
        columns.push(Column::text("Function"));
        // What a member of a cycle cost is no more than its part of it, and its callers called all of it.
        let whole = self.cycle.as_ref().map_or(&self.inclusive, |cycle| &cycle.inclusive);
        let row = |count: Cost, costs: &[Cost], is_inner: bool| {
            let mut cells = vec![Cell::number(count, grouped(count))];
            for (nth, (&cost, &whole)) in costs.iter().zip(whole).enumerate().take(events) {
                cells.extend(self.cost_cells(nth, cost, if is_inner { 0 } else { whole }));
            }
            cells.push(Cell::new(""));
            cells
        };
        let mut rows: Vec<Vec<Cell>> =
            list.rows.iter().map(|near| row(near.count, &near.costs, near.is_inner)).collect();
        let label = |near: &Neighbour| {
            let mark = match () {
                () if near.function == self.function => "itself: ",
                () if near.is_inner => "in the cycle: ",
                () => "",
            };
            Label::Function(mark, near.function)
        };
        let mut names: Vec<Label> = list.rows.iter().map(label).collect();
        if list.all > 1 {
            let (count, sum) = self.sum_of(direction);
            rows.push(row(count, &sum, false));
            let what = if list.rows.len() < list.all {
                format!("sum of all {}", grouped(list.all))
            } else {
                "sum".to_owned()
            };
            let is_recursive = self.cycle.is_some()
                || self.view.graph().arc_between(self.function.node(), self.function.node()).is_some();
            names.push(Label::Text(if is_recursive { format!("{what}, without recursion") } else { what }));
        }
        let shares = if self.cycle.is_some() { " (shares of the cycle)" } else { "" };
        Section {
            title: format!("{title}: {}{shares}", counted(list)),
            table: self.with_names(Table { columns, rows }, width, names),
            below: more(list),
        }
    }

    fn far(&self, title: &str, list: &Listed<Neighbour>, width: usize) -> Section {
        let events = self.events(1, width, 10);
        let mut columns = vec![Column::number("Distance")];
        for nth in 0..events {
            columns.extend([Column::number(self.cost_title(nth, "Inclusive")), Column::number("% of all")]);
        }
        columns.push(Column::text("Function"));
        let rows = list.rows.iter().map(|far| {
            let mut cells = vec![Cell::new(far.distance.to_string())];
            for (nth, &cost) in far.costs.iter().enumerate().take(events) {
                cells.extend(self.cost_cells(nth, cost, self.view.totals()[nth]));
            }
            cells.push(Cell::new(""));
            cells
        });
        let table = Table { columns, rows: rows.collect() };
        let room = width.saturating_sub(table.width_before_last()).max(LEAST_NAME);
        let names = list.rows.iter().map(|far| {
            let name = self.name(far.function);
            let via = far.via.map(|via| self.name(via)).unwrap_or_default();
            let both = format!("{name} by {via}");
            let text = if both.width() <= room { both } else { fitted(&name, room).into_owned() };
            Label::Text(text)
        });
        let names = names.collect();
        Section {
            title: format!("{title}: {}", counted(list)),
            table: self.with_names(table, width, names),
            below: more(list),
        }
    }

    fn cycle_section(&self, cycle: &CycleSummary, width: usize) -> Section {
        let events = self.events(2, width, 4);
        let mut columns = self.cost_columns(events, &["Out of it", "Self"]);
        columns.push(Column::text("Member"));
        let cells = |inclusive: &dyn Fn(usize) -> Cost, own: &dyn Fn(usize) -> Cost| {
            let mut cells = Vec::new();
            for nth in 0..events {
                cells.extend(self.cost_cells(nth, inclusive(nth), cycle.inclusive[nth]));
                cells.extend(self.cost_cells(nth, own(nth), cycle.inclusive[nth]));
            }
            cells.push(Cell::new(""));
            cells
        };
        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut names = Vec::new();
        for &member in &cycle.members.rows {
            rows.push(cells(&|nth| self.view.inclusive_cost(member)[nth], &|nth| {
                self.view.self_cost(member)[nth]
            }));
            names.push(Label::Function("", member));
        }
        rows.push(cells(&|nth| cycle.inclusive[nth], &|nth| cycle.self_costs[nth]));
        names.push(Label::Text(format!("all {} members", grouped(cycle.members.all))));

        let mut below = more(&cycle.members);
        let unit = self.view.events()[0].unit;
        for (arc, costs) in &cycle.entries.rows {
            let (caller, callee) = (self.name(arc.caller), self.name(arc.callee));
            let cost = costs.first().copied().unwrap_or(0);
            below.push(format!(
                "entered by {} -> {} ×{} {}",
                fitted(&caller, width / 3),
                fitted(&callee, width / 3),
                grouped(arc.count),
                unit.show(cost)
            ));
        }
        if cycle.entries.rows.len() < cycle.entries.all {
            let hidden = cycle.entries.all - cycle.entries.rows.len();
            below.push(format!("… and by {} more", grouped(hidden)));
        }
        below.push(match cycle.breaker {
            None => "no single call holds it together".to_owned(),
            Some(breaker) => {
                let (caller, callee) = (self.name(breaker.arc.caller), self.name(breaker.arc.callee));
                let arc = format!("{} -> {}", fitted(&caller, width / 3), fitted(&callee, width / 3));
                let all = grouped(cycle.members.all);
                match (breaker.members_left, breaker.is_best) {
                    (0, _) => format!("without {arc} it falls apart (--cut)"),
                    (left, true) => {
                        format!("cutting {arc} leaves least of it: {} of {all} (--cut)", grouped(left))
                    }
                    (left, false) => format!("cutting {arc} leaves {} of {all} (--cut)", grouped(left)),
                }
            }
        });
        let total = percent(cycle.inclusive[0], self.view.totals()[0]);
        let share = if total.is_empty() { String::new() } else { format!(" ({total})") };
        Section {
            title: format!(
                "Cycle {}: {} functions, {}{share}, called {} times from outside",
                cycle.number,
                grouped(cycle.members.all),
                unit.show(cycle.inclusive[0]),
                grouped(cycle.calls)
            ),
            table: self.with_names(Table { columns, rows }, width, names),
            below,
        }
    }

    fn lines(&self, width: usize) -> Section {
        let has_calls = self.callees.all > 0;
        let titles: &[&str] = if has_calls { &["With calls", "Self"] } else { &["Self"] };
        let events = self.events(titles.len(), width, 4);
        let mut columns = self.cost_columns(events, titles);
        columns.push(Column::text("Line"));
        let mut rows = Vec::new();
        let mut names = Vec::new();
        for line in &self.lines.rows {
            let mut cells = Vec::new();
            for nth in 0..events {
                if has_calls {
                    cells.extend(self.cost_cells(nth, line.inclusive[nth], self.inclusive[nth]));
                }
                cells.extend(self.cost_cells(nth, line.self_costs[nth], self.inclusive[nth]));
            }
            cells.push(Cell::new(""));
            rows.push(cells);
            names.push(Label::Text(self.position(line, width)));
            for call in &line.calls {
                let mut cells: Vec<Cell> = Vec::new();
                for nth in 0..events {
                    let whole = if call.is_inner { 0 } else { self.inclusive[nth] };
                    cells.extend(self.cost_cells(nth, call.costs[nth], whole));
                    cells.extend([Cell::new(""), Cell::new("")]);
                }
                cells.push(Cell::new(""));
                rows.push(cells);
                let inner = if call.is_inner { " (recursive)" } else { "" };
                names.push(Label::Call(call.callee, format!("×{}{inner}", grouped(call.count))));
            }
        }
        let mut below = more(&self.lines);
        if let Some((read, all)) = self.lines_of {
            below.push(format!(
                "these are the lines of the {} dearest of {} functions",
                grouped(read),
                grouped(all)
            ));
        }
        let jumps = self.jumps;
        if jumps.jumps > 0 {
            below.push(format!(
                "{} jumps, {} of them conditional, taken {} times",
                grouped(jumps.jumps),
                grouped(jumps.conditional),
                grouped(jumps.taken)
            ));
        }
        Section {
            title: format!("Hottest lines: {}", counted(&self.lines)),
            table: self.with_names(Table { columns, rows }, width, names),
            below,
        }
    }

    /// `mill.c:12`, with the addresses where there are any.
    fn position(&self, line: &HotLine, width: usize) -> String {
        let addresses = match line.addresses {
            Some((from, to)) if from == to => format!(" 0x{from:x}"),
            Some((from, to)) => format!(" 0x{from:x}–0x{to:x}"),
            None => String::new(),
        };
        let file = printable(line.file.as_bytes());
        // A path says most in its last piece, and on a narrow screen there is only room for that.
        let file = if width < 100 { base(&file) } else { &file };
        let file = if file.is_empty() { UNKNOWN } else { file };
        match line.line {
            Some(number) => format!("{file}:{number}{addresses}"),
            None if addresses.is_empty() => format!("{file}:?"),
            None => format!("{file}{addresses}"),
        }
    }

    fn by_part(&self, width: usize) -> Section {
        let events = self.events(2, width, 12);
        let mut columns = self.cost_columns(events, &["Inclusive", "Self"]);
        columns.push(Column::number("Calls"));
        columns.push(Column::text("Part"));
        let rows = self.parts.rows.iter().map(|part| {
            let mut cells = Vec::new();
            for nth in 0..events {
                cells.extend(self.cost_cells(nth, part.inclusive[nth], self.inclusive[nth]));
                cells.extend(self.cost_cells(nth, part.self_costs[nth], self.inclusive[nth]));
            }
            cells.push(Cell::number(part.calls, grouped(part.calls)));
            cells.push(Cell::new(""));
            cells
        });
        let names =
            self.parts.rows.iter().map(|part| Label::Text(printable(part.name.as_bytes()).into_owned()));
        let (rows, names) = (rows.collect(), names.collect());
        Section {
            title: format!("By part: {}", counted(&self.parts)),
            table: self.with_names(Table { columns, rows }, width, names),
            below: more(&self.parts),
        }
    }
}

/// `12`, or `10 of 12` where some are not shown.
fn counted<T>(list: &Listed<T>) -> String {
    match list.rows.len() {
        shown if shown < list.all => format!("{} of {}", grouped(shown), grouped(list.all)),
        all => grouped(all),
    }
}

fn more<T>(list: &Listed<T>) -> Vec<String> {
    let hidden = list.all - list.rows.len();
    if hidden == 0 { Vec::new() } else { vec![format!("… and {} more", grouped(hidden))] }
}
