//! The answer for people.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::{Columns, Cost, PartSurvey, PositionKind, ProducerKind, RULES, Recording};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::{Report, meaning};
use crate::input::Input;
use crate::session::Session;
use crate::terminal::{Painter, byte_size, grouped, printable};
use gristmill_output::wrap::wrap;

/// Left of every line but the file's name.
const INDENT: usize = 2;

/// Where the values of the first lines stand.
const VALUES: usize = 16;

/// Who wants all parts of a file with more of them wants a program to read them.
const PARTS_SHOWN: usize = 12;

const EVENTS_SHOWN: usize = 40;

const DESCRIPTIONS_SHOWN: usize = 6;

/// A command line may be as long as a file.
const LINES_SHOWN: usize = 3;

pub(super) fn write(report: &Report<'_>, session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut text = Text { report, paint: session.paint, width: session.width, out };
    text.file()?;
    if report.survey.parts.is_empty() {
        text.nothing()?;
    } else {
        text.origin()?;
        text.parts()?;
        text.events()?;
        text.counts()?;
    }
    text.findings()
}

struct Text<'r, 'o> {
    report: &'r Report<'r>,
    paint: Painter,
    width: usize,
    out: &'o mut dyn Write,
}

impl<'r> Text<'r, '_> {
    fn file(&mut self) -> io::Result<()> {
        let Input { bytes, packing, stored_size, damage, .. } = self.report.input;
        writeln!(self.out, "{}\n", self.paint.bold(self.report.input.name()))?;
        let mut size = byte_size(bytes.len() as u64);
        if let Some(packing) = packing {
            size.push_str(&format!(", packed with {packing} to {}", byte_size(*stored_size)));
        }
        self.value("Size", &size)?;
        if let Some(damage) = damage {
            // The first word is what the eye should meet.
            self.line("Damaged", damage, |paint, line| paint.red(line).to_string())?;
        }
        Ok(())
    }

    fn nothing(&mut self) -> io::Result<()> {
        let Input { bytes, damage, .. } = self.report.input;
        if damage.is_some() && bytes.is_empty() {
            return self.value("Content", "none: nothing could be expanded");
        }
        let is_empty = bytes.is_empty();
        let rule = RULES.iter().find(|rule| is_empty && rule.name == "empty-file");
        match rule {
            Some(rule) => self.value("Content", &format!("none: {}", rule.summary))?,
            None => self.value("Content", "none: there are only comments and empty lines")?,
        }
        match rule {
            Some(rule) => {
                writeln!(self.out)?;
                self.sentence(rule.help)?;
                writeln!(self.out)
            }
            None => Ok(()),
        }
    }

    /// Who wrote it and how.
    fn origin(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        let kind = survey.producer.kind;
        let producer = match (&survey.producer.creator, kind) {
            (Some(creator), ProducerKind::Named) => shown(creator.as_bytes()),
            // `callgrind-3.19.0` says as much as "Callgrind", `xtree-1` does not.
            (Some(creator), _) if begins_with(creator, kind.as_str()) => shown(creator.as_bytes()),
            (Some(creator), _) => format!("{} ({})", kind.as_str(), shown(creator.as_bytes())),
            (None, ProducerKind::Unknown) => "unknown; the file does not say".to_owned(),
            (None, _) => format!("{}, to judge by the content", kind.as_str()),
        };
        self.value("Producer", &producer)?;
        let mut commands = survey.parts.iter().filter_map(|part| part.header.command);
        if let Some(first) = commands.next() {
            let others = commands.any(|command| command != first);
            let more = if others { "  (other parts have others)" } else { "" };
            self.value("Command", &format!("{}{more}", shown(first)))?;
        }
        if let Some(recording) = kind.recording() {
            let words = match recording {
                Recording::Aggregated => "aggregated: costs are summed up over all calls",
                Recording::PerInvocation => "per invocation: each call of a function has its own entry",
                Recording::Sampled => "sampled: costs are estimates, and call counts are not counts",
                Recording::PerCallPath => "per call path: a function has an entry for each way to it",
                Recording::Difference => "difference of two profiles: costs may be below 0",
                other => other.as_str(),
            };
            self.value("Recording", words)?;
        }
        let columns = survey.parts[0].header.columns.unwrap_or(Columns::LINE);
        let kinds: Vec<&str> = columns.kinds().iter().map(|&kind| position(kind)).collect();
        self.value("Positions", &kinds.join(", "))?;
        let described = survey.parts[0].header.descriptions.iter().filter(|(_, value)| !value.is_empty());
        for (kind, value) in described.take(DESCRIPTIONS_SHOWN) {
            let kind = if kind.is_empty() { "Description".to_owned() } else { shown(kind) };
            self.value(&cut(&kind, VALUES - GAP), &shown(value))?;
        }
        Ok(())
    }

    fn parts(&mut self) -> io::Result<()> {
        let parts = &self.report.survey.parts;
        let [part] = &parts[..] else {
            self.value("Parts", &grouped(parts.len() as Cost))?;
            writeln!(self.out)?;
            return self.part_table();
        };
        let numbers = [("Process", part.pid), ("Part", part.part), ("Thread", part.thread)];
        for (label, number) in numbers {
            if let Some(number) = number {
                self.value(label, &number.to_string())?;
            }
        }
        for (label, text) in [("Time range", part.time_range), ("Trigger", part.trigger)] {
            if let Some(text) = text {
                self.value(label, &shown(text))?;
            }
        }
        Ok(())
    }

    fn part_table(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        let has = |field: fn(&PartSurvey<'_>) -> bool| survey.parts.iter().any(field);
        let shown_parts = &survey.parts[..survey.parts.len().min(PARTS_SHOWN)];
        let mut table = Table::default();
        let mut numbers = |title: &str, of: &dyn Fn(usize, &PartSurvey<'r>) -> String| {
            let cells = shown_parts.iter().enumerate().map(|(index, part)| of(index, part)).collect();
            table.columns.push(Column { title: title.to_owned(), cells, side: Side::Right });
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        if has(|part| part.pid.is_some()) {
            // Combined dumps say it once, for all of them.
            let mut last = None;
            let pids: Vec<Option<u64>> = shown_parts
                .iter()
                .map(|part| {
                    last = part.pid.or(last);
                    last
                })
                .collect();
            numbers("Process", &|index, _| number(pids[index]));
        }
        if has(|part| part.part.is_some()) {
            numbers("Part", &|_, part| number(part.part));
        } else {
            numbers("Part", &|index, _| format!("{}.", index + 1));
        }
        if has(|part| part.thread.is_some()) {
            numbers("Thread", &|_, part| number(part.thread));
        }
        let first_event = |part: &PartSurvey<'r>| part.header.event_types().next().map(|event| event.name);
        let event = first_event(&survey.parts[0]);
        let title =
            event.map_or_else(|| "Total".to_owned(), |name| format!("Total {}", cut(&shown(name), 16)));
        numbers(&title, &|_, part| match survey.totals(part).first() {
            Some(&total) if first_event(part) == event => grouped(total),
            _ => "-".to_owned(),
        });
        // Nearly all time ranges count basic blocks; said once it leaves room for the trigger.
        let blocks = b"Basic block ";
        let all_blocks =
            survey.parts.iter().filter_map(|part| part.time_range).all(|range| range.starts_with(blocks));
        let mut texts = |title: &str, of: &dyn Fn(&PartSurvey<'r>) -> Option<&'r [u8]>| {
            let cells =
                shown_parts.iter().map(|part| of(part).map_or_else(|| "-".to_owned(), shown)).collect();
            table.columns.push(Column { title: title.to_owned(), cells, side: Side::Left });
        };
        if has(|part| part.time_range.is_some()) {
            let title = if all_blocks { "Basic blocks" } else { "Time range" };
            let skip = if all_blocks { blocks.len() } else { 0 };
            texts(title, &|part| part.time_range.map(|range| &range[skip..]));
        }
        if has(|part| part.trigger.is_some()) {
            texts("Trigger", &|part| part.trigger);
        }
        table.write(self.width, self.paint, self.out)?;
        self.more(survey.parts.len() - shown_parts.len())
    }

    /// The event types, what they mean, how much of each there is.
    fn events(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        let totals = self.report.totals();
        let part = &survey.parts[0];
        writeln!(self.out)?;
        if totals.len() == 0 {
            return self.sentence(
                "No event types: there is no `events:` line, so nobody can know what the costs are.",
            );
        }
        let definition = |name: &[u8]| survey.parts.iter().find_map(|part| part.header.long_name(name));
        let shown_totals: Vec<(&[u8], Cost)> = totals.iter().take(EVENTS_SHOWN).collect();
        let mut names: Vec<String> = shown_totals.iter().map(|(name, _)| shown(name)).collect();
        let mut meanings: Vec<String> = shown_totals
            .iter()
            .map(|(name, _)| match definition(name).filter(|long_name| long_name != name) {
                Some(long_name) => shown(long_name),
                None => meaning::of(name).unwrap_or_default().to_owned(),
            })
            .collect();
        let mut costs: Vec<String> = shown_totals.iter().map(|&(_, total)| grouped(total)).collect();
        // The first part speaks for all: a formula belongs to the tool, not to a time span.
        for event in part.header.event_types().skip(part.header.event_count()).take(EVENTS_SHOWN) {
            let formula = shown(event.formula.unwrap_or_default());
            names.push(shown(event.name));
            meanings.push(match event.long_name {
                Some(long_name) => format!("{} = {formula}", shown(long_name)),
                None => format!("= {formula}"),
            });
            costs.push("derived".to_owned());
        }
        let mut table = Table::default();
        let claims = self.claims(&shown_totals);
        table.columns.push(Column { title: "Event type".to_owned(), cells: names, side: Side::Left });
        if meanings.iter().any(|meaning| !meaning.is_empty()) {
            table.columns.push(Column { title: "Meaning".to_owned(), cells: meanings, side: Side::Left });
        }
        let title = if survey.parts.len() > 1 { "Total of all parts" } else { "Total" };
        table.columns.push(Column { title: title.to_owned(), cells: costs, side: Side::Right });
        let claimed: Vec<String> = claims.iter().map(|column| format!("`{}`", column.title)).collect();
        table.columns.extend(claims);
        table.write(self.width, self.paint, self.out)?;
        self.more(totals.len() - shown_totals.len())?;
        if !claimed.is_empty() {
            writeln!(self.out)?;
            self.sentence(&format!(
                "Total is the sum of the self costs in the file; {} is what the file says, where it says something \
                 else.",
                claimed.join(" or ")
            ))?;
        }
        self.differing_parts()
    }

    /// What the only part says of its totals, where that is something else.
    fn claims(&self, totals: &[(&[u8], Cost)]) -> Vec<Column> {
        let survey = &self.report.survey;
        let [part] = &survey.parts[..] else { return Vec::new() };
        let claims = [("summary:", survey.claimed_summary(part)), ("totals:", survey.claimed_totals(part))];
        let column = |(title, claimed): (&str, Option<&[Cost]>)| {
            let claimed = claimed.filter(|claimed| differs(claimed, survey.totals(part)))?;
            let cell = |(claimed, &(_, total)): (&Cost, &(_, Cost))| {
                if *claimed == total { String::new() } else { grouped(claimed) }
            };
            let cells = claimed.iter().zip(totals).map(cell).collect();
            Some(Column { title: title.to_owned(), cells, side: Side::Right })
        };
        claims.into_iter().filter_map(column).collect()
    }

    /// How many of many parts say something else than their sums.
    fn differing_parts(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        if survey.parts.len() < 2 {
            return Ok(());
        }
        let count = |claimed: &dyn Fn(&PartSurvey<'r>) -> Option<&'r [Cost]>| {
            let is_off = |part: &&PartSurvey<'r>| {
                claimed(part).is_some_and(|claimed| differs(claimed, survey.totals(part)))
            };
            survey.parts.iter().filter(is_off).count()
        };
        let summary = count(&|part| survey.claimed_summary(part));
        let totals = count(&|part| survey.claimed_totals(part));
        for (key, count) in [("summary:", summary), ("totals:", totals)] {
            if count > 0 {
                writeln!(self.out)?;
                let all = grouped(survey.parts.len() as Cost);
                self.sentence(&format!(
                    "In {} of {all} parts `{key}` differs from the sum of the self costs, which is what is shown here.",
                    grouped(count)
                ))?;
            }
        }
        Ok(())
    }

    fn counts(&mut self) -> io::Result<()> {
        writeln!(self.out)?;
        let counts = &self.report.survey.counts;
        let names = [
            (counts.objects, "object", "objects"),
            (counts.files, "source file", "source files"),
            (counts.functions, "function", "functions"),
        ];
        let names: Vec<String> = names
            .iter()
            .filter(|name| name.0 > 0)
            .map(|&(count, one, many)| plural(count, one, many))
            .collect();
        let joined = names.join(", ");
        self.value("Names", if names.is_empty() { "none" } else { &joined })?;
        let mut lines = format!(
            "{}, of which {} with self cost, {} with calls",
            grouped(counts.lines),
            grouped(counts.cost_lines),
            grouped(counts.arcs)
        );
        if counts.jumps > 0 {
            lines.push_str(&format!(", {} with jumps", grouped(counts.jumps)));
        }
        self.value("Lines", &lines)
    }

    fn findings(&mut self) -> io::Result<()> {
        let findings = &self.report.findings;
        let mut counts = Vec::new();
        if findings.errors > 0 {
            counts.push(self.paint.red(plural(findings.errors, "error", "errors")).to_string());
        }
        if findings.warnings > 0 {
            counts.push(self.paint.yellow(plural(findings.warnings, "warning", "warnings")).to_string());
        }
        if findings.notes > 0 {
            counts.push(plural(findings.notes, "note", "notes"));
        }
        if counts.is_empty() {
            return self.value("Findings", "none");
        }
        // Coloured, so it is measured by nobody; it is short.
        self.labelled("Findings", &counts.join(", "))?;
        let hint = format!("gristmill lint {}", argument(self.report.input));
        writeln!(self.out, "{:INDENT$}{:VALUES$}{}", "", "", self.paint.dim(hint))
    }

    fn more(&mut self, count: usize) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        let count = grouped(count);
        let line = format!("… and {count} more (--format json lists all)");
        writeln!(self.out, "{:INDENT$}{}", "", self.paint.dim(line))
    }

    fn value(&mut self, label: &str, value: &str) -> io::Result<()> {
        self.line(label, value, |_, line| line.to_owned())
    }

    /// A label and a value of as many lines as it needs.
    fn line(&mut self, label: &str, value: &str, dress: impl Fn(Painter, &str) -> String) -> io::Result<()> {
        let lines = wrapped(value, self.width.saturating_sub(INDENT + VALUES));
        let paint = self.paint;
        let mut label = label;
        for line in &lines {
            self.labelled(label, &dress(paint, line))?;
            label = "";
        }
        Ok(())
    }

    fn labelled(&mut self, label: &str, value: &str) -> io::Result<()> {
        writeln!(self.out, "{:INDENT$}{:VALUES$}{value}", "", self.paint.dim(label))
    }

    fn sentence(&mut self, sentence: &str) -> io::Result<()> {
        for line in wrap(sentence, self.width.saturating_sub(INDENT)) {
            writeln!(self.out, "{:INDENT$}{line}", "")?;
        }
        Ok(())
    }
}

/// Whether what a file says is not what it holds. Zeros at the end may be left out.
fn differs(claimed: &[Cost], totals: &[Cost]) -> bool {
    claimed.iter().zip(totals).any(|(claimed, total)| claimed != total)
}

fn position(kind: PositionKind) -> &'static str {
    match kind {
        PositionKind::Instr => "instruction address",
        PositionKind::Bb => "basic block",
        PositionKind::Line => "source line",
        _ => "an unknown one",
    }
}

fn shown(text: &[u8]) -> String {
    printable(text).into_owned()
}

fn begins_with(text: &str, beginning: &str) -> bool {
    text.get(..beginning.len()).is_some_and(|start| start.eq_ignore_ascii_case(beginning))
}

fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { one } else { many })
}

/// The input as one would type it, where that needs no quoting.
fn argument(input: &Input) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+,@%:".contains(&byte);
    match input.path.to_str() {
        Some(path) if path.bytes().all(plain) => Cow::Borrowed(path),
        _ => Cow::Borrowed("FILE"),
    }
}

/// Cuts a text to a number of columns.
fn cut(text: &str, width: usize) -> Cow<'_, str> {
    if text.width() <= width {
        return Cow::Borrowed(text);
    }
    let mut used = 1;
    let mut kept = String::new();
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(character);
    }
    kept.push('…');
    Cow::Owned(kept)
}

/// A text in a few lines of at most `width` columns, broken at blanks where there are any, and cut if it is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(10);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let mut rest = word;
        let begins_line = lines.last().is_some_and(String::is_empty);
        if !begins_line {
            if used + 1 + word.width() <= width {
                push(&mut lines, " ");
                used += 1;
            } else {
                lines.push(String::new());
                used = 0;
            }
        }
        // A word that no line can hold is broken anywhere.
        while rest.width() > width {
            let mut end = 0;
            let mut columns = 0;
            for (index, character) in rest.char_indices() {
                columns += character.width().unwrap_or(0);
                if columns > width {
                    break;
                }
                end = index + character.len_utf8();
            }
            push(&mut lines, &rest[..end]);
            lines.push(String::new());
            rest = &rest[end..];
            if lines.len() > LINES_SHOWN {
                break;
            }
        }
        push(&mut lines, rest);
        used += rest.width();
        if lines.len() > LINES_SHOWN {
            break;
        }
    }
    if lines.len() > LINES_SHOWN {
        lines.truncate(LINES_SHOWN);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), width).into_owned();
        }
    }
    lines
}

fn push(lines: &mut [String], text: &str) {
    if let Some(last) = lines.last_mut() {
        last.push_str(text);
    }
}

#[derive(Default)]
struct Table {
    columns: Vec<Column>,
}

struct Column {
    title: String,
    /// There may be fewer than there are rows.
    cells: Vec<String>,
    side: Side,
}

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Left,
    Right,
}

impl Column {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width()).max().unwrap_or(0).max(self.title.width())
    }
}

/// Between two columns.
const GAP: usize = 2;

impl Table {
    /// Numbers get what they need; texts share the rest, the widest give way first.
    fn widths(&self, width: usize) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(Column::width).collect();
        let available = width.saturating_sub(INDENT + GAP * self.columns.len().saturating_sub(1));
        loop {
            let used: usize = widths.iter().sum();
            let texts = self
                .columns
                .iter()
                .zip(&widths)
                .enumerate()
                .filter(|(_, (column, _))| column.side == Side::Left);
            let Some((widest, &columns)) =
                texts.map(|(index, (_, width))| (index, width)).max_by_key(|(_, width)| **width)
            else {
                return widths;
            };
            if used <= available || columns <= 8 {
                return widths;
            }
            widths[widest] =
                columns.saturating_sub(used - available).max(8).max(self.second(widest, &widths));
            if widths[widest] == columns {
                widths[widest] -= 1;
            }
        }
    }

    /// The widest text column but one: no text is cut further while another is wider.
    fn second(&self, widest: usize, widths: &[usize]) -> usize {
        let texts = self.columns.iter().zip(widths).enumerate();
        texts
            .filter(|(index, (column, _))| *index != widest && column.side == Side::Left)
            .map(|(_, (_, &width))| width)
            .max()
            .unwrap_or(0)
    }

    fn write(&self, width: usize, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
        let widths = self.widths(width);
        let rows = self.columns.iter().map(|column| column.cells.len()).max().unwrap_or(0);
        let titles = self.columns.iter().map(|column| column.title.as_str());
        writeln!(out, "{:INDENT$}{}", "", paint.dim(self.row(titles, &widths)))?;
        for row in 0..rows {
            let cells = self.columns.iter().map(|column| column.cells.get(row).map_or("", String::as_str));
            writeln!(out, "{:INDENT$}{}", "", self.row(cells, &widths))?;
        }
        Ok(())
    }

    fn row<'t>(&self, cells: impl Iterator<Item = &'t str>, widths: &[usize]) -> String {
        let mut row = String::new();
        for ((cell, column), &width) in cells.zip(&self.columns).zip(widths) {
            if !row.is_empty() {
                row.push_str("  ");
            }
            let cell = cut(cell, width);
            let blanks = " ".repeat(width.saturating_sub(cell.width()));
            match column.side {
                Side::Left => row.extend([&*cell, &blanks]),
                Side::Right => row.extend([&*blanks, &*cell]),
            }
        }
        row.truncate(row.trim_end().len());
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_broken_and_cut() {
        assert_eq!(wrapped("a b c", 80), ["a b c"]);
        assert_eq!(wrapped("one two three four", 10), ["one two", "three four"]);
        assert_eq!(wrapped("abcdefghijklmnop q", 10), ["abcdefghij", "klmnop q"]);
        assert_eq!(wrapped(&"x".repeat(100), 10), ["xxxxxxxxxx", "xxxxxxxxxx", "xxxxxxxxx…"]);
        assert_eq!(wrapped("one two three four five six seven", 10), ["one two", "three four", "five six …"]);
    }

    #[test]
    fn cut_at_columns() {
        assert_eq!(cut("main", 4), "main");
        assert_eq!(cut("mains", 4), "mai…");
        assert_eq!(cut("日本語", 5), "日本…");
    }
}
