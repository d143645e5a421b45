//! The annotated source files.

use std::io::{self, Write};

use super::cells::Row;
use super::line_key::LineKey;
use super::lines::{FileTable, LineCalls, LineTables};
use super::list::sort;
use super::names::TextId;
use super::number::Number;
use super::reader::{Names, add};
use super::{ExactReport, Found};
use crate::marks::write_gap;

/// The costs of all lines that are shown.
pub(super) type Annotated = Vec<Option<Number>>;

impl ExactReport<'_> {
    /// Writes the files. Returns the sum of the annotated lines; `None` if nothing is known of any file.
    pub(super) fn write_sources(
        &self,
        found: &[Found],
        tables: &LineTables,
        names: &Names,
        out: &mut dyn Write,
    ) -> io::Result<Option<Annotated>> {
        let mut annotated = None;
        for (found, table) in found.iter().zip(tables.files()) {
            let kind = if found.by_user { "User" } else { "Auto" };
            self.text.write_title(kind, &found.title, out)?;
            let file = names.texts.find(&found.name);
            if file.is_some_and(|file| self.tables.is_named_file(file)) {
                let annotated = annotated.get_or_insert_default();
                self.write_source(found, table, names, annotated, out)?;
            } else {
                self.text.write_unknown(&found.name, out)?;
            }
        }
        Ok(annotated)
    }

    fn write_source(
        &self,
        found: &Found,
        table: &FileTable,
        names: &Names,
        annotated: &mut Annotated,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Found { name, source, .. } = found;
        if source.is_newer {
            self.text.write_newer(name, &self.options.data_file, out)?;
        }
        let mut columns = self.columns();
        table.all_costs().for_each(|costs| columns.widen(Row::Numbers(costs)));
        columns.write_head(out)?;
        out.write_all(b"\n\n")?;
        let calls = table.calls();
        let mut lines = &table.lines()[..];
        // Unknown lines are not looked for in the source.
        if lines.first().is_some_and(|line| line.value == 0) {
            lines = &lines[1..];
        }
        let mut text = source.text.split_inclusive(|&byte| byte == b'\n').zip(1i64..).peekable();
        let context = i64::try_from(self.options.context).unwrap_or(i64::MAX);
        for (start, end) in ranges(lines, context) {
            while text.next_if(|&(_, line)| line < start).is_some() {}
            if start > 1 {
                write_gap(start.unsigned_abs(), out)?;
            }
            let mut next = start;
            while let Some((content, line)) = text.next_if(|&(_, line)| line <= end) {
                let key = LineKey::from_number(line);
                let mut costs = None;
                if let Some((_, rest)) = lines.split_first().filter(|(first, _)| first.value == line) {
                    lines = rest;
                    costs = table.costs(key);
                    add(annotated, costs.unwrap_or_default());
                }
                columns.write_row(costs.map_or(Row::EMPTY, Row::Numbers), out)?;
                out.write_all(b" ")?;
                self.text.write_source(content, out)?;
                let from = calls.partition_point(|&(line, ..)| line < key);
                let to = calls.partition_point(|&(line, ..)| line <= key);
                self.write_calls(&calls[from..to], &columns, out)?;
                next = line + 1;
            }
            // A range may end beyond the last line.
            if next <= end {
                break;
            }
            write_gap(end.unsigned_abs(), out)?;
        }
        for line in lines {
            columns.write_row(table.costs(*line).map_or(Row::EMPTY, Row::Numbers), out)?;
            out.write_all(b" <bogus line ")?;
            match line.text {
                Some(text) => self.text.write(names.texts.text(text), out)?,
                None => write!(out, "{}", line.value)?,
            }
            out.write_all(b">\n")?;
        }
        out.write_all(b"\n")?;
        if !lines.is_empty() {
            self.text.write_past_end(name, source.is_newer, out)?;
        }
        if let Some(costs) = table.costs(LineKey::from_number(0)) {
            columns.write_row(Row::Numbers(costs), out)?;
            out.write_all(b" <counts for unidentified lines in ")?;
            self.text.write(name, out)?;
            out.write_all(b">\n\n")?;
        }
        Ok(())
    }

    /// Writes the calls of a line, sorted by the cost of all calls from the caller to the callee.
    fn write_calls(
        &self,
        calls: &[(LineKey, TextId, TextId, &LineCalls)],
        columns: &super::Columns<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut calls = calls.to_vec();
        let all = |caller: TextId, callee: TextId| {
            self.tables.arc(caller, callee).map_or(&[][..], |arc| &arc.costs)
        };
        let label = |&(_, _, callee, _): &(_, _, TextId, _)| self.names.labels.text(callee);
        sort(&mut calls, &self.sorted, |&(_, caller, callee, _)| all(caller, callee), label);
        for (_, _, callee, calls) in calls {
            columns.write_row(Row::Numbers(&calls.costs), out)?;
            out.write_all(b" => ")?;
            self.write_calls_of(callee, Some(calls.count), out)?;
            writeln!(out)?;
        }
        Ok(())
    }
}

/// The lines around those with costs, as first and last line. Two ranges that touch stay two.
fn ranges(lines: &[LineKey], context: i64) -> Vec<(i64, i64)> {
    let mut ranges: Vec<(i64, i64)> = Vec::new();
    for line in lines {
        let (start, end) = (line.value.saturating_sub(context), line.value.saturating_add(context));
        match ranges.last_mut() {
            Some(last) if start <= last.1 => last.1 = end,
            _ => ranges.push((start, end)),
        }
    }
    ranges
}
