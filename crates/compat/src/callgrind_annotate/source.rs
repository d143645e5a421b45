//! An annotated source file.

use std::io::{self, Write};

use gristmill_format::Cost;
use gristmill_output::source::{SourcePainter, SourceText};
use gristmill_profile::source_lines::{FileLines, KeyedCosts, LineCalls, PartialCosts, PartialRow};

use super::cells::{Columns, with_commas};
use super::entries::{NameKey, name_key};
use super::files::DisplayFile;
use super::list::by_costs;
use super::{Report, Text};
use crate::marks::{TITLE_LINE, WARNING_LINE, write_gap, write_warning};
use crate::ranges::Ranges;

/// A source file to be annotated.
#[derive(Debug)]
pub(super) struct Annotated<'a> {
    /// The name by which the file is selected.
    pub(super) name: &'a [u8],
    pub(super) source: &'a SourceText,
    pub(super) lines: &'a FileLines,
    /// The cost of the most expensive line of all files; 0 without colours.
    pub(super) hottest: Cost,
}

impl Report<'_> {
    /// Writes the file, and adds its annotated costs to `annotated`.
    pub(super) fn write_source(
        &self,
        file: &Annotated<'_>,
        annotated: &mut PartialCosts,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Annotated { name, source, lines, hottest } = *file;
        if source.is_newer {
            self.text.write_newer(name, &self.options.data_file, out)?;
        }
        let mut columns = self.columns();
        columns.widen((0..lines.costs.len()).map(|row| lines.costs.row(row)));
        columns.write_head(out)?;
        out.write_all(b"\n\n")?;

        // The cost of all calls from one function to another on the lines of the file.
        let mut weights = KeyedCosts::new(lines.call_costs.width());
        for (at, call) in lines.calls.iter().enumerate() {
            weights.add_row(CallKey::of(self, call), lines.call_costs.row(at));
        }
        let unknown = lines.lines.partition_point(|&line| line == 0);
        let known = lines.lines.get(unknown..).unwrap_or_default();
        let mut text = source.text.split_inclusive(|&byte| byte == b'\n').zip(1u64..).peekable();
        let mut row = unknown;
        let mut is_past_end = false;
        let mut painter = SourcePainter::new(self.options.color, name, hottest);
        for (start, end) in Ranges::new(known.iter().copied(), self.options.context) {
            while let Some((content, _)) = text.next_if(|&(_, line)| line < start) {
                painter.pass(content);
            }
            if start > 1 {
                write_gap(start, out)?;
            }
            let mut next = start;
            while let Some((content, line)) = text.next_if(|&(_, line)| line <= end) {
                let costs = if lines.lines.get(row) == Some(&line) {
                    let costs = lines.costs.row(row);
                    annotated.add_row(0, costs);
                    row += 1;
                    costs
                } else {
                    PartialRow::EMPTY
                };
                painter.begin_costs(columns.events.first().and_then(|event| event.of(costs)), out)?;
                columns.write_row(costs, out)?;
                painter.end_costs(out)?;
                out.write_all(b" ")?;
                if painter.is_on() {
                    painter.write_line(content, out)?;
                } else {
                    self.text.write_source(content, out)?;
                }
                self.write_calls(lines, line, &weights, &columns, out)?;
                if self.options.jumps {
                    self.write_jumps(lines, line, name, &columns, out)?;
                }
                next = line + 1;
            }
            // A range may end beyond the last line.
            if next <= end {
                is_past_end = true;
                break;
            }
            write_gap(end, out)?;
        }
        for (&line, row) in lines.lines.iter().zip(0..).skip(row) {
            columns.write_row(lines.costs.row(row), out)?;
            writeln!(out, " <bogus line {line}>")?;
        }
        out.write_all(b"\n")?;
        if row < lines.lines.len() && is_past_end {
            self.text.write_past_end(name, source.is_newer, out)?;
        }
        if unknown > 0 {
            columns.write_row(lines.costs.row(0), out)?;
            out.write_all(b" <counts for unidentified lines in ")?;
            self.text.write(name, out)?;
            out.write_all(b">\n\n")?;
        }
        Ok(())
    }

    /// Writes the calls made on a line, one row for each callee.
    ///
    /// The original sorts them by the cost of all calls from the caller to the callee, not by that of the calls on this
    /// line.
    fn write_calls(
        &self,
        lines: &FileLines,
        line: u64,
        weights: &KeyedCosts<CallKey>,
        columns: &Columns<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut calls: Vec<usize> = lines.calls_on(line).collect();
        if calls.is_empty() {
            return Ok(());
        }
        calls.sort_by_key(|&at| CallKey::of(self, &lines.calls[at]));
        let width = lines.call_costs.width();
        let (mut sums, mut orders) = (PartialCosts::new(width), PartialCosts::new(width));
        // The index of the first call of each row, and the count of calls.
        let mut rows: Vec<(usize, Cost)> = Vec::new();
        let mut callee = None;
        let mut last = None;
        for at in calls {
            let call = &lines.calls[at];
            let key = CallKey::of(self, call);
            if callee.replace((key.file, key.callee)) != Some((key.file, key.callee)) {
                rows.push((at, 0));
                sums.push_empty();
                orders.push_empty();
            }
            let row = rows.len() - 1;
            rows[row].0 = rows[row].0.min(at);
            rows[row].1 += call.count;
            sums.add_row(row, lines.call_costs.row(at));
            if last.replace(key) != Some(key) {
                orders.add_row(row, weights.get(key));
            }
        }
        let label = |row: usize| {
            let callee = self.profile.function(lines.calls[rows[row].0].callee);
            [self.files.name(self.files.of(callee.file)), b":", callee.name]
        };
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| {
            by_costs(&self.options.sort, orders.row(a), orders.row(b))
                .then_with(|| label(a).iter().copied().flatten().cmp(label(b).iter().copied().flatten()))
                .then_with(|| rows[a].0.cmp(&rows[b].0))
        });
        for row in order {
            columns.write_row(sums.row(row), out)?;
            out.write_all(b" => ")?;
            self.text.write(&label(row).concat(), out)?;
            writeln!(out, " ({}x)", with_commas(rows[row].1))?;
        }
        Ok(())
    }

    /// Writes the jumps that start on a line. The original has none.
    fn write_jumps(
        &self,
        lines: &FileLines,
        line: u64,
        name: &[u8],
        columns: &Columns<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        for jump in lines.jumps_on(line) {
            columns.write_row(PartialRow::EMPTY, out)?;
            out.write_all(b" -> ")?;
            let file = self.files.name(self.files.of(jump.target_file));
            if file != name {
                self.text.write(file, out)?;
                out.write_all(b" ")?;
            }
            match jump.target_line {
                0 => out.write_all(b"an unknown line")?,
                target => write!(out, "line {target}")?,
            }
            let taken = with_commas(jump.taken);
            match jump.executed {
                Some(executed) => writeln!(out, " (taken {taken} of {})", with_commas(executed))?,
                None => writeln!(out, " (taken {taken})")?,
            }
        }
        Ok(())
    }
}

impl Text {
    /// Writes the title of a source file.
    pub(super) fn write_title(self, kind: &str, name: &[u8], out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{TITLE_LINE}\n-- {kind}-annotated source: ")?;
        self.write(name, out)?;
        writeln!(out, "\n{TITLE_LINE}")
    }

    /// Warns that a source file is newer than the profile.
    pub(super) fn write_newer(self, name: &[u8], data_file: &str, out: &mut dyn Write) -> io::Result<()> {
        write_warning(out)?;
        out.write_all(b"@ Source file '")?;
        self.write(name, out)?;
        out.write_all(b"' is more recent than input file '")?;
        self.write(data_file.as_bytes(), out)?;
        out.write_all(b"'.\n")?;
        writeln!(out, "@ Annotations may not be correct.\n{WARNING_LINE}\n")
    }

    /// Warns that lines are past the end of a source file.
    pub(super) fn write_past_end(self, name: &[u8], is_newer: bool, out: &mut dyn Write) -> io::Result<()> {
        write_warning(out)?;
        out.write_all(b"@@\n@@ Information recorded about lines past the end of '")?;
        self.write(name, out)?;
        out.write_all(b"'.\n@@\n@@ Probable cause and solution:\n")?;
        if is_newer {
            out.write_all(b"@@ cause:    '")?;
            self.write(name, out)?;
            out.write_all(CAUSE_IF_NEWER)?;
        } else {
            out.write_all(if name.ends_with(b".h") { CAUSE_IN_HEADER } else { CAUSE })?;
        }
        writeln!(out, "{WARNING_LINE}\n")
    }
}

/// The words of the original, including an option that no longer exists.
const CAUSE_IF_NEWER: &[u8] = b"\
' has changed since information was gathered.
@@           If so, a warning will have already been issued about this.
@@ solution: Recompile program and rerun under \"valgrind --cachesim=yes\" to\x20
@@           gather new information.
@@
";
const CAUSE: &[u8] = b"@@ cause:    not sure, sorry\n@@\n";
const CAUSE_IN_HEADER: &[u8] = b"\
@@ cause:    bug in the Valgrind's debug info reader that screws up with .h
@@           files sometimes
@@ solution: none, sorry
@@
";

/// The callee, and the name of the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct CallKey {
    file: DisplayFile,
    callee: NameKey,
    caller: NameKey,
}

impl CallKey {
    fn of(annotation: &Report<'_>, call: &LineCalls) -> Self {
        let callee = annotation.profile.function(call.callee);
        let caller = annotation.profile.function(call.caller);
        CallKey {
            file: annotation.files.of(callee.file),
            callee: name_key(callee.name),
            caller: name_key(caller.name),
        }
    }
}
