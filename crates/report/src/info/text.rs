//! The report for people.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::{Columns, Cost, PartSurvey, PositionKind, ProducerKind, RULES, Recording};
use gristmill_output::wrap::wrap;
use gristmill_output::{Align, Look, Painter, byte_size, grouped, printable};

use super::derived::DerivedTotal;
use super::table::{Column, GAP, INDENT, Table, cut, wrapped};
use super::{InfoReport, event_meanings};
use crate::read_file::ReadFile;

/// Width of the labels.
const LABEL_WIDTH: usize = 16;

/// Parts that are shown; JSON has all of them.
const MAX_PARTS: usize = 12;

const MAX_EVENT_TYPES: usize = 40;

const MAX_DESCRIPTIONS: usize = 6;

impl<'a> InfoReport<'a> {
    /// Writes the report as text. See the example of [`info`](crate::info).
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_text(&'a self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let mut text = Text { report: self, paint: look.painter(), width: look.width, out };
        text.write_file()?;
        if self.survey.parts.is_empty() {
            text.write_empty()?;
        } else {
            text.write_origin()?;
            text.write_parts()?;
            text.write_events()?;
            text.write_counts()?;
        }
        text.write_findings()
    }
}

/// The report while it is written.
struct Text<'a, 'o> {
    report: &'a InfoReport<'a>,
    paint: Painter,
    width: usize,
    out: &'o mut dyn Write,
}

impl<'a> Text<'a, '_> {
    fn write_file(&mut self) -> io::Result<()> {
        let ReadFile { name, bytes, packing, stored_size, .. } = self.report.file;
        for damage in &self.report.damage {
            for line in wrapped(&format!("warning: {}", damage.text), self.width) {
                writeln!(self.out, "{}", self.paint.yellow(line))?;
            }
        }
        writeln!(self.out, "{}\n", self.paint.bold(name))?;
        let mut size = byte_size(bytes.len() as u64);
        if let Some(packing) = packing {
            size.push_str(&format!(", packed with {packing} to {}", byte_size(*stored_size)));
        }
        self.value("Size", &size)?;
        Ok(())
    }

    /// Writes why there is nothing to report.
    fn write_empty(&mut self) -> io::Result<()> {
        let ReadFile { bytes, damage, .. } = self.report.file;
        if damage.is_some() && bytes.is_empty() {
            return self.value("Content", "none: nothing could be expanded");
        }
        let is_empty = bytes.is_empty();
        let rule = RULES.iter().find(|rule| is_empty && rule.name == "empty-file");
        let Some(rule) = rule else {
            return self.value("Content", "none: only comments and empty lines");
        };
        self.value("Content", &format!("none: {}", rule.summary))?;
        writeln!(self.out)?;
        self.sentence(rule.help)?;
        writeln!(self.out)
    }

    /// Writes the producer, the command and the kind of recording.
    fn write_origin(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        let kind = survey.producer.kind;
        let producer = match (&survey.producer.creator, kind) {
            (Some(creator), ProducerKind::Named) => shown(creator.as_bytes()),
            // `callgrind-3.19.0` names the tool, `xtree-1` does not.
            (Some(creator), _) if begins_with(creator, kind.as_str()) => shown(creator.as_bytes()),
            (Some(creator), _) => format!("{} ({})", kind.as_str(), shown(creator.as_bytes())),
            (None, ProducerKind::Unknown) => "unknown; the file does not name it".to_owned(),
            (None, _) => format!("{}, recognised by the content", kind.as_str()),
        };
        self.value("Producer", &producer)?;
        let mut commands = survey.parts.iter().filter_map(|part| part.header.command);
        if let Some(first) = commands.next() {
            let others = commands.any(|command| command != first);
            let more = if others { "  (other parts have other commands)" } else { "" };
            self.value("Command", &format!("{}{more}", shown(first)))?;
        }
        if let Some(recording) = kind.recording() {
            let words = match recording {
                Recording::Aggregated => "aggregated: costs are summed up over all calls",
                Recording::PerInvocation => "per invocation: each call of a function has its own entry",
                Recording::Sampled => "sampled: costs are estimates, and calls were not counted",
                Recording::PerCallPath => "per call path: a function has an entry for each path to it",
                Recording::Difference => "difference of two profiles: costs may be below 0",
                other => other.as_str(),
            };
            self.value("Recording", words)?;
        }
        let columns = survey.parts[0].header.columns.unwrap_or(Columns::LINE);
        let kinds: Vec<&str> = columns.kinds().iter().map(|&kind| position(kind)).collect();
        self.value("Positions", &kinds.join(", "))?;
        let described = survey.parts[0].header.descriptions.iter().filter(|(_, value)| !value.is_empty());
        for (kind, value) in described.take(MAX_DESCRIPTIONS) {
            let kind = if kind.is_empty() { "Description".to_owned() } else { shown(kind) };
            self.value(&cut(&kind, LABEL_WIDTH - GAP), &shown(value))?;
        }
        Ok(())
    }

    fn write_parts(&mut self) -> io::Result<()> {
        let parts = &self.report.survey.parts;
        let [part] = &parts[..] else {
            self.value("Parts", &grouped(parts.len()))?;
            writeln!(self.out)?;
            return self.write_part_table();
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

    fn write_part_table(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        let has = |field: fn(&PartSurvey<'_>) -> bool| survey.parts.iter().any(field);
        let shown_parts = &survey.parts[..survey.parts.len().min(MAX_PARTS)];
        let mut table = Table::default();
        let mut numbers = |title: &str, cell: &dyn Fn(usize, &PartSurvey<'a>) -> String| {
            let cells = shown_parts.iter().enumerate().map(|(index, part)| cell(index, part)).collect();
            table.columns.push(Column { title: title.to_owned(), cells, align: Align::Right });
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        if has(|part| part.pid.is_some()) {
            // A combined dump has it once for all parts.
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
        let first_event = |part: &PartSurvey<'a>| part.header.event_types().next().map(|event| event.name);
        let event = first_event(&survey.parts[0]);
        let title =
            event.map_or_else(|| "Total".to_owned(), |name| format!("Total {}", cut(&shown(name), 16)));
        numbers(&title, &|_, part| match survey.totals(part).first() {
            Some(&total) if first_event(part) == event => grouped(total),
            _ => "-".to_owned(),
        });
        // Nearly all time ranges are in basic blocks; in the title this leaves columns for the trigger.
        let blocks = b"Basic block ";
        let all_blocks =
            survey.parts.iter().filter_map(|part| part.time_range).all(|range| range.starts_with(blocks));
        let mut texts = |title: &str, cell: &dyn Fn(&PartSurvey<'a>) -> Option<&'a [u8]>| {
            let cells =
                shown_parts.iter().map(|part| cell(part).map_or_else(|| "-".to_owned(), shown)).collect();
            table.columns.push(Column { title: title.to_owned(), cells, align: Align::Left });
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

    /// Writes the event types with their meanings and totals.
    fn write_events(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        let totals = self.report.totals();
        writeln!(self.out)?;
        if totals.is_empty() {
            return self
                .sentence("No event types: without an `events:` line the meaning of costs is unknown.");
        }
        let definition = |name: &[u8]| survey.parts.iter().find_map(|part| part.header.long_name(name));
        let shown_totals: Vec<(&[u8], Cost)> = totals.iter().take(MAX_EVENT_TYPES).collect();
        let mut names: Vec<String> = shown_totals.iter().map(|(name, _)| shown(name)).collect();
        let mut meanings: Vec<String> = shown_totals
            .iter()
            .map(|(name, _)| match definition(name).filter(|long_name| long_name != name) {
                Some(long_name) => shown(long_name),
                None => event_meanings::get(name).unwrap_or_default().to_owned(),
            })
            .collect();
        let mut costs: Vec<String> = shown_totals.iter().map(|&(_, total)| grouped(total)).collect();
        let derived = self.report.derived_totals();
        let shown_derived = &derived[..derived.len().min(MAX_EVENT_TYPES)];
        for DerivedTotal { event, total, missing } in shown_derived {
            let formula = shown(event.formula.unwrap_or_default());
            let long_name = event.long_name.map(|name| format!("{} ", shown(name))).unwrap_or_default();
            let without = match &missing[..] {
                [] => String::new(),
                [name] => format!(", without `{}`", shown(name)),
                [name, others @ ..] => {
                    format!(", without `{}` and {} more", shown(name), grouped(others.len()))
                }
            };
            names.push(shown(event.name));
            meanings.push(format!("{long_name}= {formula}{without}"));
            costs.push(total.map_or_else(|| "not calculable".to_owned(), grouped));
        }
        let mut table = Table::default();
        let claims = self.claims(&shown_totals);
        table.columns.push(Column { title: "Event type".to_owned(), cells: names, align: Align::Left });
        if meanings.iter().any(|meaning| !meaning.is_empty()) {
            table.columns.push(Column { title: "Meaning".to_owned(), cells: meanings, align: Align::Left });
        }
        let title = if survey.parts.len() > 1 { "Total of all parts" } else { "Total" };
        table.columns.push(Column { title: title.to_owned(), cells: costs, align: Align::Right });
        let claimed: Vec<String> = claims.iter().map(|column| format!("`{}`", column.title)).collect();
        table.columns.extend(claims);
        table.write(self.width, self.paint, self.out)?;
        self.more(totals.len() - shown_totals.len() + derived.len() - shown_derived.len())?;
        if !claimed.is_empty() {
            writeln!(self.out)?;
            self.sentence(&format!(
                "Total is the sum of the self costs in the file; {} is the total that the file claims, where it \
                 differs.",
                claimed.join(" or ")
            ))?;
        }
        self.write_differing_parts()
    }

    /// Returns the claimed totals of the only part, as far as they differ from the computed ones.
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
            Some(Column { title: title.to_owned(), cells, align: Align::Right })
        };
        claims.into_iter().filter_map(column).collect()
    }

    /// Writes in how many parts the claimed total differs from the computed one.
    fn write_differing_parts(&mut self) -> io::Result<()> {
        let survey = &self.report.survey;
        if survey.parts.len() < 2 {
            return Ok(());
        }
        let count = |claimed: &dyn Fn(&PartSurvey<'a>) -> Option<&'a [Cost]>| {
            let is_off = |part: &&PartSurvey<'a>| {
                claimed(part).is_some_and(|claimed| differs(claimed, survey.totals(part)))
            };
            survey.parts.iter().filter(is_off).count()
        };
        let summary = count(&|part| survey.claimed_summary(part));
        let totals = count(&|part| survey.claimed_totals(part));
        for (key, count) in [("summary:", summary), ("totals:", totals)] {
            if count > 0 {
                writeln!(self.out)?;
                let all = grouped(survey.parts.len());
                self.sentence(&format!(
                    "In {} of {all} parts `{key}` differs from the sum of the self costs, which is shown here.",
                    grouped(count)
                ))?;
            }
        }
        Ok(())
    }

    fn write_counts(&mut self) -> io::Result<()> {
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

    fn write_findings(&mut self) -> io::Result<()> {
        let findings = &self.report.findings;
        let mut counts = Vec::new();
        if findings.error > 0 {
            counts.push(self.paint.red(plural(findings.error, "error", "errors")).to_string());
        }
        if findings.warning > 0 {
            counts.push(self.paint.yellow(plural(findings.warning, "warning", "warnings")).to_string());
        }
        if findings.note > 0 {
            counts.push(plural(findings.note, "note", "notes"));
        }
        if counts.is_empty() {
            self.value("Findings", "none")?;
        } else {
            // Not broken into lines: it is short, and colours have no width.
            self.labelled("Findings", &counts.join(", "))?;
            let hint = format!("gristmill lint {}", argument(self.report.file));
            writeln!(self.out, "{:INDENT$}{:LABEL_WIDTH$}{}", "", "", self.paint.dim(hint))?;
        }
        let producer = self.report.survey.producer.kind;
        if producer.habits().is_empty() {
            return Ok(());
        }
        self.value("Habits", &format!("of {} are not findings (gristmill lint --habits)", producer.as_str()))
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

    /// Writes a label and a value, which may take several lines.
    fn line(&mut self, label: &str, value: &str, style: impl Fn(Painter, &str) -> String) -> io::Result<()> {
        let lines = wrapped(value, self.width.saturating_sub(INDENT + LABEL_WIDTH));
        let paint = self.paint;
        let mut label = label;
        for line in &lines {
            self.labelled(label, &style(paint, line))?;
            label = "";
        }
        Ok(())
    }

    fn labelled(&mut self, label: &str, value: &str) -> io::Result<()> {
        writeln!(self.out, "{:INDENT$}{:LABEL_WIDTH$}{value}", "", self.paint.dim(label))
    }

    fn sentence(&mut self, sentence: &str) -> io::Result<()> {
        for line in wrap(sentence, self.width.saturating_sub(INDENT)) {
            writeln!(self.out, "{:INDENT$}{line}", "")?;
        }
        Ok(())
    }
}

/// `true` if claimed totals differ from computed ones. Zeros at the end may be left out.
fn differs(claimed: &[Cost], totals: &[Cost]) -> bool {
    claimed.iter().zip(totals).any(|(claimed, total)| claimed != total)
}

fn position(kind: PositionKind) -> &'static str {
    match kind {
        PositionKind::Instr => "instruction address",
        PositionKind::Bb => "basic block",
        PositionKind::Line => "source line",
        _ => "unknown",
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

/// Returns the path as an argument for a shell, or `FILE` if it needs quotes.
fn argument<'a>(file: &ReadFile<'a>) -> Cow<'a, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+,@%:".contains(&byte);
    match file.path.to_str() {
        Some(path) if path.bytes().all(plain) => Cow::Borrowed(path),
        _ => Cow::Borrowed("FILE"),
    }
}
