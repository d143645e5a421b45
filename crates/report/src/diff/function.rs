//! One function on both sides: its callers, its callees, and its source lines with the costs of both.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

use gristmill_output::json::{self, ByEvent, EventNames};
use gristmill_output::{Cell, Column, CostUnit, LazyTable, Look, Table, csv, markdown, printable, wrap};
use gristmill_profile::compare::{
    Change, ComparedArc, ComparedLine, Comparison, Explanation, JoinedId, JoinedPathId, Sample, Side,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::alignment::aligned;
use super::amounts::{from_to, signed, signed_percent, tone};
use super::moved::{Moved, moved_file};
use super::notes::remarks_beside_cost;
use super::text::write_warning;
use super::{CallRow, CauseRow, Delta, DiffHead, DiffOptions, DiffRow, FunctionRefs, LineRow, safe};
use crate::names::{NameRow, fitted, short, whole};
use crate::path::UNKNOWN;
use crate::report::Report;
use gristmill_output::source::{SourceText, Sources};
use gristmill_profile::ordered::OrderedMap;
use gristmill_profile::symbol::Fitted;

/// A function on both sides, with its callers, callees and source lines. See the example of [`Diff`](super::Diff).
#[derive(Debug, Serialize, JsonSchema)]
pub struct FunctionDiff {
    /// The two sides.
    #[serde(flatten)]
    pub head: DiffHead,
    /// The function.
    #[serde(rename = "function")]
    pub row: DiffRow,
    /// Its callers, the greatest change first.
    pub callers: Vec<CallRow>,
    /// Its callees, the greatest change first.
    pub callees: Vec<CallRow>,
    /// Its source lines, by file and position.
    pub lines: Vec<LineRow>,
    /// Problems with source files: missing ones, and ones that are newer than the profiles.
    #[serde(skip)]
    pub faults: Vec<String>,
    /// The causes that the change of the function is a part of.
    #[serde(skip)]
    causes: Vec<CauseRow>,
    #[serde(skip)]
    texts: BTreeMap<Arc<str>, Texts>,
}

/// The source texts of a file.
#[derive(Debug, Default)]
struct Texts {
    base: Option<Arc<SourceText>>,
    new: Option<Arc<SourceText>>,
}

/// The lines of a function in one file.
struct FileLines {
    file: JoinedPathId,
    name: Arc<str>,
    texts: Texts,
    rows: Vec<LineRow>,
    faults: Vec<String>,
}

impl FileLines {
    fn new(
        refs: &FunctionRefs<'_, '_>,
        (file, [base, new]): (JoinedPathId, [Option<&[u8]>; 2]),
        lines: Vec<ComparedLine>,
        sources: &dyn Sources,
        names: &EventNames,
    ) -> Self {
        let mut faults = Vec::new();
        let mut get = |path: Option<&[u8]>| {
            let path = path.filter(|path| !path.is_empty() && *path != UNKNOWN.as_bytes())?;
            let found = sources.get(path);
            if let Err(fault) = &found {
                faults.push(format!("{}: {fault}", printable(path)));
            }
            let source = found.ok()?;
            if source.is_newer {
                faults.push(format!("{}: is newer than the profile", printable(source.found_at.as_bytes())));
            }
            Some(source)
        };
        let texts = Texts {
            new: get(new),
            // One path has one text.
            base: if base == new { None } else { get(base) },
        };
        let name: Arc<str> = String::from_utf8_lossy(new.or(base).unwrap_or_default()).into();
        let rows = line_rows(refs, &name, lines.into_iter(), &texts, names);
        FileLines { file, name, texts, rows, faults }
    }
}

impl Texts {
    /// Returns the text to show lines of.
    fn shown(&self) -> Option<&Arc<SourceText>> {
        self.new.as_ref().or(self.base.as_ref())
    }
}

impl FunctionDiff {
    /// Reads the lines of a function of a comparison.
    ///
    /// If the sources of both sides are found, lines are joined by their text, and otherwise by their numbers.
    pub fn new(
        comparison: &Comparison<'_>,
        options: &DiffOptions,
        function: JoinedId,
        sources: &dyn Sources,
    ) -> Self {
        let head = DiffHead::new(comparison, &options.columns);
        let refs = FunctionRefs::new(comparison);
        let columns = (&head.event_types, &options.columns[..]);
        let mut by_file: OrderedMap<JoinedPathId, Vec<ComparedLine>> = OrderedMap::default();
        for line in comparison.lines(function, &options.columns) {
            by_file.or_default(line.place.file).push(line);
        }
        let moved = moved_file(comparison, function, &by_file, sources);
        if let Some(Moved { base, new, .. }) = moved {
            let lines = by_file.remove(base).unwrap_or_default();
            by_file.or_default(new).extend(lines);
        }
        let mut files: Vec<FileLines> = Vec::new();
        for (file, lines) in by_file.into_iter() {
            let paths = moved.filter(|moved| moved.new == file).map(|moved| moved.paths.map(Some));
            let paths = paths.unwrap_or(comparison.path(file));
            files.push(FileLines::new(&refs, (file, paths), lines, sources, &head.event_types));
        }
        // The function's own file first.
        let own = comparison.file(function);
        let is_own = |file| file == own || moved.is_some_and(|moved| moved.new == file);
        files.sort_by_key(|of_file| (!is_own(of_file.file), comparison.path(of_file.file)));
        let (mut lines, mut faults, mut texts) = (Vec::new(), Vec::new(), BTreeMap::new());
        for of_file in files {
            texts.insert(of_file.name, of_file.texts);
            faults.extend(of_file.faults);
            // The lines of a single file are not copied.
            if lines.is_empty() { lines = of_file.rows } else { lines.extend(of_file.rows) }
        }
        faults.dedup();
        let is_part = |cause: &&Explanation| cause.functions.iter().any(|(other, _)| *other == function);
        let explanations = comparison.explain(options.leading()).causes;
        let causes = explanations.iter().filter(is_part);
        let calls =
            |arcs: Vec<usize>, end: fn(&ComparedArc) -> JoinedId| call_rows(&refs, arcs, end, columns);
        let mut row = DiffRow::from_function(comparison, function, columns);
        row.complete(&refs);
        FunctionDiff {
            row,
            callers: calls(comparison.incoming(function).collect(), |arc| arc.caller),
            callees: calls(comparison.outgoing(function).collect(), |arc| arc.callee),
            lines,
            faults,
            causes: causes.map(|cause| CauseRow::new(&refs, cause, options.leading())).collect(),
            texts,
            head,
        }
    }
}

/// Makes rows of arcs, the greatest change first.
fn call_rows(
    refs: &FunctionRefs<'_, '_>,
    mut arcs: Vec<usize>,
    end: fn(&ComparedArc) -> JoinedId,
    (names, columns): (&EventNames, &[usize]),
) -> Vec<CallRow> {
    let comparison = refs.comparison;
    arcs.sort_by_key(|&arc| {
        let cost = comparison.arc_cost(arc, columns[0]);
        (Reverse((cost.delta().abs(), cost.new.median)), arc)
    });
    let row = |arc: usize| CallRow {
        function: refs.get(end(&comparison.arc(arc))),
        calls: Delta(comparison.arc(arc).count),
        inclusive: ByEvent::new(
            names,
            columns.iter().map(|&column| Delta(comparison.arc_cost(arc, column))).collect::<Vec<_>>(),
        ),
    };
    arcs.into_iter().map(row).collect()
}

/// The columns of a name in a sentence.
const MAX_NAME_IN_SENTENCES: usize = 50;
/// The columns of the names of callers and callees: the rest of the row says more.
const MAX_NAME_IN_TABLES: usize = 40;

impl Report for FunctionDiff {
    fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", look.bold(&self.head.title()))?;
        for doubt in &self.head.doubts {
            write_warning(doubt, look, out)?;
        }
        writeln!(out, "{}", look.bold(&short(&self.row.name, look.name_columns(look.width))))?;
        writeln!(out, "{}", safe(&self.row.file))?;
        for line in self.remarks(look.name_columns(MAX_NAME_IN_SENTENCES)) {
            wrap::write(out, &line, look.width, 2)?;
        }
        for (what, table) in self.tables(look.name_columns(MAX_NAME_IN_TABLES)) {
            writeln!(out, "\n{}", look.bold(&what))?;
            table.write_text(look, out)?;
        }
        for fault in &self.faults {
            writeln!(out, "{}", look.dim(fault))?;
        }
        Ok(())
    }

    fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "**{}**\n", markdown::escaped(&self.place()))?;
        for doubt in &self.head.doubts {
            writeln!(out, "> ⚠ {}\n", markdown::escaped(doubt))?;
        }
        for line in self.remarks(MAX_NAME_IN_SENTENCES) {
            writeln!(out, "- {}", markdown::escaped(&line))?;
        }
        for (what, table) in self.tables(MAX_NAME_IN_TABLES) {
            writeln!(out, "\n{}\n", markdown::escaped(&what))?;
            table.write_markdown(out)?;
        }
        Ok(())
    }

    fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes the source lines.
    fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut columns = Vec::new();
        for event in &self.head.events {
            columns
                .extend(["change", "base", "new"].map(|of| Column::number(format!("{} {of}", event.name))));
        }
        columns.extend(["base line", "new line"].map(Column::number));
        columns.extend(["file", "source"].map(Column::text));
        let number = |line: Option<u64>| line.map_or_else(String::new, |line| line.to_string());
        Table { columns, rows: Vec::new() }.write_csv(out)?;
        // The path of a file can be long, so there is one row at a time.
        self.lines.iter().try_for_each(|line| {
            let mut cells: Vec<Cow<'_, str>> = Vec::new();
            for change in &*line.self_costs {
                let numbers = [change.delta(), change.base.median, change.new.median];
                cells.extend(numbers.map(|cost| Cow::Owned(cost.to_string())));
            }
            cells.extend([number(line.base_line), number(line.new_line)].map(Cow::Owned));
            cells.extend([&*line.file, line.source.as_deref().unwrap_or_default()].map(Cow::Borrowed));
            csv::write_line(cells.iter().map(|cell| &**cell), out)
        })
    }
}

impl FunctionDiff {
    fn place(&self) -> String {
        let name = safe(&self.row.name);
        if self.row.file.is_empty() { name } else { format!("{name}  {}", safe(&self.row.file)) }
    }

    /// Lists remarks on the function as a whole.
    pub(super) fn remarks(&self, name_columns: usize) -> Vec<String> {
        let mut lines = Vec::new();
        for (nth, event) in self.head.events.iter().enumerate() {
            let remark = |what: &str, change: Change| {
                let sign = if change.is_none() {
                    String::new()
                } else {
                    format!(", {}", signed(change.delta(), event.unit))
                };
                format!("{} {what}: {}{sign}", safe(&event.name), from_to(change, event.unit))
            };
            lines.push(remark("self", *self.row.self_costs[nth]));
            if self.head.has_calls {
                lines.push(remark("inclusive", *self.row.inclusive[nth]));
            }
        }
        lines.extend(self.remarks_beside_costs(name_columns));
        lines
    }

    /// Lists remarks on the function as a whole, except the changes of its costs.
    pub(super) fn remarks_beside_costs(&self, name_columns: usize) -> Vec<String> {
        let mut lines = remarks_beside_cost(&self.head, &self.row, name_columns);
        lines.extend(self.causes.iter().map(|cause| cause.sentence.shortened(name_columns)));
        lines
    }

    /// Returns the tables with their titles: callers, callees, and the lines of each file.
    pub(super) fn tables(&self, name_columns: usize) -> Vec<(String, LazyTable<'_>)> {
        let mut tables = Vec::new();
        for (title, calls) in [("Callers", &self.callers), ("Callees", &self.callees)] {
            if !calls.is_empty() {
                tables.push((title.to_owned(), self.call_table(calls, name_columns)));
            }
        }
        for of_file in self.lines.chunk_by(|a, b| Arc::ptr_eq(&a.file, &b.file)) {
            let Some(file) = of_file.first().map(|line| &*line.file) else { continue };
            let name = if file.is_empty() { "(file not known)".to_owned() } else { safe(file) };
            tables.push((name, self.line_table(file, of_file)));
        }
        tables
    }

    fn call_table(&self, calls: &[CallRow], name_columns: usize) -> LazyTable<'_> {
        const MAX_ROWS: usize = 12;
        let mut columns = vec![Column::number("New calls"), Column::number("Change")];
        for event in &self.head.events {
            let title = format!("Inclusive {} change", safe(&event.name));
            columns.extend([Column::number(title), Column::number("% of its base")]);
        }
        columns.push(Column::text("Function"));
        let row = |call: &CallRow| {
            let mut cells = vec![
                Cell::new(CostUnit::Count.show(call.calls.new.median)),
                Cell::new(if call.calls.is_none() {
                    String::new()
                } else {
                    signed(call.calls.delta(), CostUnit::Count)
                })
                .toned(tone(*call.calls)),
            ];
            for (cost, event) in call.inclusive.iter().zip(&self.head.events) {
                let texts =
                    [signed(cost.delta(), event.unit), signed_percent(cost.delta(), cost.base.median)];
                cells.extend(texts.map(|text| Cell::new(text).toned(tone(**cost))));
            }
            cells
        };
        let labels = calls.iter().take(MAX_ROWS).map(|CallRow { function, .. }| {
            let row = NameRow::new(function.id.index(), &function.name, name_columns);
            row.distinguished_by(function.file.as_bytes(), b"")
        });
        let name = |(call, fitted): (&CallRow, Fitted)| {
            let whole = Some(whole(&call.function.name)).filter(|whole| *whole != fitted.name);
            let mut cells = row(call);
            cells.push(Cell { whole, ..Cell::new(fitted.to_string()) });
            cells
        };
        let mut rows: Vec<Vec<Cell>> = calls.iter().zip(fitted(labels)).map(name).collect();
        if calls.len() > MAX_ROWS {
            let mut cells: Vec<Cell> = (1..columns.len()).map(|_| Cell::new("")).collect();
            cells.push(Cell::new(format!("… {} more", calls.len() - MAX_ROWS)));
            rows.push(cells);
        }
        LazyTable { columns, rows: Box::new(move || Box::new(rows.clone().into_iter())) }
    }

    fn line_table<'r>(&'r self, file: &str, lines: &'r [LineRow]) -> LazyTable<'r> {
        let mut columns = Vec::new();
        let several = self.head.events.len() > 1;
        for event in &self.head.events {
            let name = safe(&event.name);
            let title = |what: &str| if several { format!("{name} {what}") } else { what.to_owned() };
            columns.extend(["Base", "New", "Change"].map(|what| Column::number(title(what))));
        }
        columns.push(Column::number("Line"));
        columns.push(Column::text(""));
        let text = self.texts.get(file).and_then(Texts::shown);
        let source: Vec<&'r [u8]> = text.map_or(Vec::new(), |text| text.lines().collect());
        let source: Rc<[&'r [u8]]> = source.into();
        let rows = move || -> Box<dyn Iterator<Item = Vec<Cell>> + 'r> {
            Box::new(self.line_cells_in_context(lines, Rc::clone(&source)))
        };
        LazyTable { columns, rows: Box::new(rows) }
    }

    /// Makes the cells of lines, and of those around them.
    fn line_cells_in_context<'r>(
        &'r self,
        lines: &'r [LineRow],
        source: Rc<[&'r [u8]]>,
    ) -> impl Iterator<Item = Vec<Cell>> + 'r {
        /// The count of lines that are shown around those with costs.
        const CONTEXT: u64 = 2;
        let blank = |line: String, text: String| {
            let mut cells = vec![Cell::new(""); 3 * self.head.events.len()];
            cells.extend([Cell::new(line), Cell::new(text)]);
            cells
        };
        let around = move |from: u64, to: u64, rows: &mut Vec<Vec<Cell>>| {
            for number in from..=to {
                let at = usize::try_from(number).unwrap_or(usize::MAX).wrapping_sub(1);
                let Some(line) = source.get(at) else { break };
                rows.push(blank(number.to_string(), shown_line(line)));
            }
        };
        let mut last: u64 = 0;
        let ends = lines.iter().map(Some).chain([None]);
        ends.flat_map(move |line| {
            let mut rows = Vec::new();
            let Some(line) = line else {
                if last > 0 {
                    around(last.saturating_add(1), last.saturating_add(CONTEXT), &mut rows);
                }
                return rows;
            };
            if let Some(number) = line.new_line.filter(|&number| number > 0) {
                // The lines between the last line and this one that are near either.
                let until = number.saturating_sub(1);
                if last > 0 && until.saturating_sub(last) > 2 * CONTEXT {
                    around(last + 1, last + CONTEXT, &mut rows);
                    rows.push(blank("…".to_owned(), String::new()));
                    around(number - CONTEXT, until, &mut rows);
                } else if last > 0 {
                    around(last.saturating_add(1), until, &mut rows);
                } else {
                    around(number.saturating_sub(CONTEXT).max(1), until, &mut rows);
                }
                last = number;
            }
            rows.push(self.line_cells(line));
            rows
        })
    }

    fn line_cells(&self, line: &LineRow) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (change, event) in line.self_costs.iter().zip(&self.head.events) {
            cells.push(Cell::new(event.unit.show(change.base.median)));
            cells.push(Cell::new(event.unit.show(change.new.median)));
            cells.push(
                Cell::new(if change.is_none() { String::new() } else { signed(change.delta(), event.unit) })
                    .toned(tone(**change)),
            );
        }
        cells.push(Cell::new(match (line.base_line, line.new_line) {
            (_, Some(0)) | (Some(0), None) => "?".to_owned(),
            (_, Some(number)) => number.to_string(),
            (Some(number), None) => format!("-{number}"),
            (None, None) => String::new(),
        }));
        let mut text = line.source.as_deref().map_or_else(String::new, |text| shown_line(text.as_bytes()));
        if line.new_line == Some(0) || line.base_line == Some(0) && line.new_line.is_none() {
            text = "(line not known)".to_owned();
        }
        cells.push(Cell::new(text));
        cells
    }
}

/// Returns a source line that is safe to show; tabs become spaces to keep columns aligned.
fn shown_line(line: &[u8]) -> String {
    let line = String::from_utf8_lossy(line).replace('\t', "    ");
    safe(&line)
}

/// Joins the lines of a file of both sides by their text or by their numbers.
fn line_rows(
    refs: &FunctionRefs<'_, '_>,
    file: &Arc<str>,
    lines: impl Iterator<Item = ComparedLine>,
    texts: &Texts,
    names: &EventNames,
) -> Vec<LineRow> {
    let [base_text, new_text] = [&texts.base, &texts.new].map(|source| -> Vec<&[u8]> {
        source.as_ref().map_or(Vec::new(), |source| source.lines().collect())
    });
    // By line of the base: its index in the new text, if any, and the count of new lines before it.
    let mut new_of: Vec<(Option<usize>, usize)> = Vec::new();
    if !base_text.is_empty() && !new_text.is_empty() {
        let mut before = 0;
        for place in aligned(&base_text, &new_text) {
            before = place.map_or(before, |place| place + 1);
            new_of.push((place, before));
        }
    }
    // Returns the new number of a line of the base, if any, and the new number to sort it by.
    let place_of = |number: u64| -> (Option<u64>, u64) {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        match index.and_then(|index| new_of.get(index)) {
            Some((Some(new), _)) => (Some(*new as u64 + 1), *new as u64 + 1),
            Some((None, before)) => (None, *before as u64),
            // A line beyond the end of the base's text is not the line of the new text that has its number.
            None if (1..=new_text.len() as u64).contains(&number) && !new_of.is_empty() => {
                (None, new_text.len() as u64)
            }
            None => (Some(number), number),
        }
    };
    let text = |lines: &[&[u8]], number: u64| {
        let at = usize::try_from(number).ok()?.checked_sub(1)?;
        lines.get(at).map(|line| String::from_utf8_lossy(line).into_owned())
    };
    let shown = if new_text.is_empty() { &base_text } else { &new_text };
    // The keys sort a removed line behind the new line that it followed.
    let mut rows: Vec<((u64, bool, u64), LineRow)> = Vec::new();
    for line in lines {
        let number = line.place.line;
        for side in Side::ALL {
            let of_side = |changes: &[Change]| -> Vec<Delta> {
                changes.iter().map(|change| Delta(one_side(change, side))).collect()
            };
            let call = |(callee, count, costs): &(JoinedId, Change, Vec<Change>)| CallRow {
                function: refs.get(*callee),
                calls: Delta(one_side(count, side)),
                inclusive: ByEvent::new(names, of_side(costs)),
            };
            let (new_line, after) = match side {
                Side::Base => place_of(number),
                Side::New => (Some(number), number),
            };
            let mut row = LineRow {
                file: Arc::clone(file),
                base_line: (side == Side::Base).then_some(number),
                new_line,
                source: match new_line {
                    Some(new) => text(shown, new),
                    None => text(&base_text, number),
                },
                self_costs: ByEvent::new(names, of_side(&line.costs)),
                calls: line.calls.iter().map(call).collect(),
            };
            if row.is_zero() {
                continue;
            }
            let key = (after, new_line.is_none(), if new_line.is_none() { number } else { 0 });
            match rows.last_mut() {
                Some((last, joined)) if *last == key => joined.join(&mut row),
                _ => rows.push((key, row)),
            }
        }
    }
    rows.sort_by_key(|(key, _)| *key);
    rows.dedup_by(|(next_key, next), (key, row)| {
        let is_same = next_key == key;
        if is_same {
            row.join(next);
        }
        is_same
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Returns a change with the sample of one side only.
fn one_side(change: &Change, side: Side) -> Change {
    match side {
        Side::Base => Change { new: Sample::default(), ..*change },
        Side::New => Change { base: Sample::default(), ..*change },
    }
}

impl LineRow {
    /// `true` if neither its self costs nor its calls have any number other than 0.
    fn is_zero(&self) -> bool {
        let is_zero = |delta: &Delta| **delta == Change::default();
        let is_empty = |call: &CallRow| is_zero(&call.calls) && call.inclusive.iter().all(is_zero);
        self.self_costs.iter().all(is_zero) && self.calls.iter().all(is_empty)
    }

    /// Adds the other side of the line, and takes its calls. Calls are in the order of their callees.
    fn join(&mut self, other: &mut LineRow) {
        self.base_line = self.base_line.or(other.base_line);
        add_up(&mut self.self_costs, &other.self_costs);
        let mut others = std::mem::take(&mut other.calls).into_iter().peekable();
        let mut calls = Vec::with_capacity(self.calls.len().max(others.len()));
        for mut call in self.calls.drain(..) {
            while let Some(other) = others.next_if(|other| other.function.id < call.function.id) {
                calls.push(other);
            }
            if let Some(other) = others.next_if(|other| other.function.id == call.function.id) {
                add_up(std::slice::from_mut(&mut call.calls), &[other.calls]);
                add_up(&mut call.inclusive, &other.inclusive);
            }
            calls.push(call);
        }
        calls.extend(others);
        self.calls = calls;
    }
}

/// Adds changes, each of which has one side.
fn add_up(sums: &mut [Delta], changes: &[Delta]) {
    for (Delta(sum), change) in sums.iter_mut().zip(changes) {
        for (sum, sample) in [(&mut sum.base, change.base), (&mut sum.new, change.new)] {
            sum.median += sample.median;
            sum.min += sample.min;
            sum.max += sample.max;
        }
    }
}
