//! The report for people.

use std::borrow::Cow;
use std::io::{self, Write};

use gristmill_format::{Cost, PositionKind, ProducerKind, Recording};
use gristmill_output::wrap::wrap;
use gristmill_output::{Align, Look, Painter, byte_size, grouped, lossy, printable};
use gristmill_profile::Part;

use super::derived::DerivedTotal;
use super::long_names::LongNames;
use super::table::{Column, GAP, INDENT, Table, cut, wrapped};
use super::{InfoFile, InfoReport, event_meanings};
use crate::head::doubts;

/// Width of the labels.
const LABEL_WIDTH: usize = 16;

/// Parts that are shown; JSON has all of them.
const MAX_PARTS: usize = 12;

const MAX_EVENT_TYPES: usize = 40;

const MAX_DESCRIPTIONS: usize = 6;

impl InfoReport {
    /// Writes the report as text. See the example of [`info`](crate::info).
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let parts = self.profile.parts().collect();
        let mut text = Text { report: self, parts, paint: look.painter(), width: look.width, out };
        text.write_files()?;
        text.write_origin()?;
        text.write_parts()?;
        text.write_events()?;
        text.write_counts()?;
        text.write_doubts()?;
        text.write_programs()
    }
}

/// The report while it is written.
pub(super) struct Text<'a, 'o> {
    pub(super) report: &'a InfoReport,
    parts: Vec<Part<'a>>,
    pub(super) paint: Painter,
    pub(super) width: usize,
    pub(super) out: &'o mut dyn Write,
}

impl<'a> Text<'a, '_> {
    fn write_files(&mut self) -> io::Result<()> {
        for damage in &self.report.damage {
            for line in wrapped(&format!("warning: {}", damage.text), self.width) {
                writeln!(self.out, "{}", self.paint.yellow(line))?;
            }
        }
        let files = &self.report.files;
        let title = match &files[..] {
            [] => String::new(),
            [only] => only.name.clone(),
            [first, others @ ..] => {
                let (count, noun) = (others.len(), if others.len() == 1 { "file" } else { "files" });
                format!("{} and {} more {noun} of its recording", first.name, grouped(count))
            }
        };
        writeln!(self.out, "{}\n", self.paint.bold(title))?;
        let mut size = byte_size(self.report.size());
        let packed: Vec<_> = files.iter().filter_map(|file| file.packing).collect();
        if let Some(&(packing, _)) = packed.first() {
            let stored_size = packed.iter().map(|(_, stored_size)| stored_size).sum();
            size.push_str(&format!(", packed with {packing} to {}", byte_size(stored_size)));
        }
        self.value("Size", &size)
    }

    /// Writes the producer, the command and the kind of recording.
    fn write_origin(&mut self) -> io::Result<()> {
        let profile = &self.report.profile;
        let kind = profile.producer();
        let creator =
            self.parts.iter().find_map(|part| part.creator()).map(|creator| lossy(creator.trim_ascii()));
        let producer = match (&creator, kind) {
            (Some(creator), ProducerKind::Named) => shown(creator.as_bytes()),
            // `callgrind-3.19.0` names the tool, `xtree-1` does not.
            (Some(creator), _) if begins_with(creator, kind.as_str()) => shown(creator.as_bytes()),
            (Some(creator), _) => format!("{} ({})", kind.as_str(), shown(creator.as_bytes())),
            (None, ProducerKind::Unknown) => "unknown; the file does not name it".to_owned(),
            (None, _) => format!("{}, recognised by the content", kind.as_str()),
        };
        self.value("Producer", &producer)?;
        let mut commands = self.parts.iter().filter_map(Part::command);
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
        let Some(&first) = self.parts.first() else { return Ok(()) };
        let kinds: Vec<&str> = first.columns().kinds().iter().map(|&kind| position(kind)).collect();
        self.value("Positions", &kinds.join(", "))?;
        let described = first.descriptions().filter(|(_, value)| !value.is_empty());
        for (kind, value) in described.take(MAX_DESCRIPTIONS) {
            let kind = if kind.is_empty() { "Description".to_owned() } else { shown(kind) };
            self.value(&cut(&kind, LABEL_WIDTH - GAP), &shown(value))?;
        }
        Ok(())
    }

    fn write_parts(&mut self) -> io::Result<()> {
        let count = self.parts.len();
        if count > 1 {
            self.value("Parts", &grouped(count))?;
        }
        let common = [
            ("Process", self.common(|part| part.pid().map(|pid| pid.to_string()))),
            (
                "Part",
                self.common(|part| part.number().map(|number| number.to_string())).filter(|_| count == 1),
            ),
            ("Thread", self.common(|part| part.thread().map(|thread| thread.to_string()))),
            ("Time range", self.common(|part| part.time_range().map(shown))),
            ("Trigger", self.common(|part| part.trigger().map(shown))),
        ];
        for (label, value) in common {
            if let Some(value) = value {
                self.value(label, &value)?;
            }
        }
        if count == 1 {
            return Ok(());
        }
        writeln!(self.out)?;
        self.write_part_table()
    }

    /// Returns what all parts have in common, which is no column of their table.
    fn common<T: PartialEq>(&self, value: impl Fn(&Part<'a>) -> Option<T>) -> Option<T> {
        let first = value(self.parts.first()?)?;
        self.parts.iter().skip(1).all(|part| value(part).as_ref() == Some(&first)).then_some(first)
    }

    fn write_part_table(&mut self) -> io::Result<()> {
        let profile = &self.report.profile;
        // What all have in common is above the table.
        let number_differs = |field: fn(&Part<'a>) -> Option<u64>| {
            self.parts.iter().any(|part| field(part).is_some()) && self.common(field).is_none()
        };
        let text_differs = |field: fn(&Part<'a>) -> Option<&'a [u8]>| {
            self.parts.iter().any(|part| field(part).is_some()) && self.common(field).is_none()
        };
        let shown_parts = &self.parts[..self.parts.len().min(MAX_PARTS)];
        let mut table = Table::default();
        let files = &self.report.files;
        if files.len() > 1 {
            let cells =
                shown_parts.iter().map(|part| files.get(part.input()).map(file_name).unwrap_or_default());
            table.columns.push(Column {
                title: "File".to_owned(),
                cells: cells.collect(),
                align: Align::Right,
            });
        }
        let mut numbers = |title: &str, cell: &dyn Fn(usize, &Part<'a>) -> String| {
            let cells = shown_parts.iter().enumerate().map(|(index, part)| cell(index, part)).collect();
            table.columns.push(Column { title: title.to_owned(), cells, align: Align::Right });
        };
        let number = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), |number| number.to_string());
        if number_differs(Part::pid) {
            numbers("Process", &|_, part| number(part.pid()));
        }
        if self.parts.iter().any(|part| part.number().is_some()) {
            numbers("Part", &|_, part| number(part.number()));
        } else {
            numbers("Part", &|index, _| format!("{}.", index + 1));
        }
        if number_differs(Part::thread) {
            numbers("Thread", &|_, part| number(part.thread()));
        }
        let first_event = |part: &Part<'a>| part.event_types().first().copied();
        let event = self.parts.first().and_then(first_event);
        let title = event.map_or_else(
            || "Total".to_owned(),
            |event| format!("Total {}", cut(&shown(profile.event(event).name), 16)),
        );
        numbers(&title, &|_, part| match part.totals().first() {
            Some(&total) if first_event(part) == event => grouped(total),
            _ => "-".to_owned(),
        });
        // Nearly all time ranges are in basic blocks; in the title this leaves columns for the trigger.
        let blocks = b"Basic block ";
        let all_blocks =
            self.parts.iter().filter_map(Part::time_range).all(|range| range.starts_with(blocks));
        let mut texts = |title: &str, cell: &dyn Fn(&Part<'a>) -> Option<&'a [u8]>| {
            let cells =
                shown_parts.iter().map(|part| cell(part).map_or_else(|| "-".to_owned(), shown)).collect();
            table.columns.push(Column { title: title.to_owned(), cells, align: Align::Left });
        };
        if text_differs(Part::time_range) {
            let title = if all_blocks { "Basic blocks" } else { "Time range" };
            let skip = if all_blocks { blocks.len() } else { 0 };
            texts(title, &|part| part.time_range().map(|range| &range[skip..]));
        }
        if text_differs(Part::trigger) {
            texts("Trigger", &Part::trigger);
        }
        table.write(self.width, self.paint, self.out)?;
        self.more(self.parts.len() - shown_parts.len())
    }

    /// Writes the event types with their meanings and totals.
    fn write_events(&mut self) -> io::Result<()> {
        let totals = self.report.totals();
        writeln!(self.out)?;
        if totals.is_empty() {
            return self
                .sentence("No event types: without an `events:` line the meaning of costs is unknown.");
        }
        let long_names = LongNames::new(&self.report.profile);
        let shown_totals: Vec<(&[u8], Cost)> = totals.iter().take(MAX_EVENT_TYPES).collect();
        let mut names: Vec<String> = shown_totals.iter().map(|(name, _)| shown(name)).collect();
        let mut meanings: Vec<String> = shown_totals
            .iter()
            .map(|(name, _)| match long_names.get(name).filter(|long_name| long_name != name) {
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
        let title = if self.parts.len() > 1 { "Total of all parts" } else { "Total" };
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
        let [part] = &self.parts[..] else { return Vec::new() };
        let claims = [("summary:", part.claimed_summary()), ("totals:", part.claimed_totals())];
        let column = |(title, claimed): (&str, Option<&[Cost]>)| {
            let claimed = claimed.filter(|claimed| differs(claimed, &part.totals()))?;
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
        if self.parts.len() < 2 {
            return Ok(());
        }
        let (mut summary, mut totals) = (0, 0);
        for part in &self.parts {
            let claims = [(part.claimed_summary(), &mut summary), (part.claimed_totals(), &mut totals)];
            for (claimed, count) in claims {
                *count += usize::from(claimed.is_some_and(|claimed| differs(claimed, &part.totals())));
            }
        }
        for (key, count) in [("summary:", summary), ("totals:", totals)] {
            if count > 0 {
                writeln!(self.out)?;
                let all = grouped(self.parts.len());
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
        let profile = &self.report.profile;
        let names = [
            (self.report.named_objects(), "object", "objects"),
            (self.report.named_files(), "source file", "source files"),
            (profile.function_count(), "function", "functions"),
        ];
        let names: Vec<String> = names
            .iter()
            .filter(|name| name.0 > 0)
            .map(|&(count, one, many)| plural(count as u64, one, many))
            .collect();
        let joined = names.join(", ");
        self.value("Names", if names.is_empty() { "none" } else { &joined })?;
        let (self_costs, calls, jumps) = profile.line_counts();
        let mut lines = format!(
            "{}, of which {} with self cost, {} with calls",
            grouped(profile.line_count()),
            grouped(self_costs),
            grouped(calls)
        );
        if jumps > 0 {
            lines.push_str(&format!(", {} with jumps", grouped(jumps)));
        }
        self.value("Lines", &lines)
    }

    /// Writes whether the files are whole, and how to see what is wrong with them.
    fn write_doubts(&mut self) -> io::Result<()> {
        let InfoReport { profile, damage, files, .. } = self.report;
        match (damage.len(), doubts(profile)) {
            (0, None) => self.value("Damage", "none")?,
            (0, Some(doubts)) => self.value("Damage", &format!("none; {doubts}"))?,
            (1, _) => self.value("Damage", "see the warning above")?,
            (count, _) => self.value("Damage", &format!("see the {} warnings above", grouped(count)))?,
        }
        if !damage.is_empty() {
            let hint = format!("gristmill lint {}", files.first().map_or(Cow::Borrowed("FILE"), argument));
            writeln!(self.out, "{:INDENT$}{:LABEL_WIDTH$}{}", "", "", self.paint.dim(hint))?;
        }
        let producer = profile.producer();
        if producer.habits().is_empty() {
            return Ok(());
        }
        self.value("Habits", &format!("of {} are not findings (gristmill lint --habits)", producer.as_str()))
    }

    pub(super) fn more(&mut self, count: usize) -> io::Result<()> {
        if count == 0 {
            return Ok(());
        }
        let count = grouped(count);
        let line = format!("… and {count} more (--format json lists all)");
        writeln!(self.out, "{:INDENT$}{}", "", self.paint.dim(line))
    }

    pub(super) fn value(&mut self, label: &str, value: &str) -> io::Result<()> {
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

    pub(super) fn sentence(&mut self, sentence: &str) -> io::Result<()> {
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

/// The name of a file without its directory: the files of a recording are in one, which the title has.
fn file_name(file: &InfoFile) -> String {
    let name = file.path.file_name().unwrap_or(file.path.as_os_str());
    shown(name.as_encoded_bytes())
}

/// Returns the path as an argument for a shell, or `FILE` if it needs quotes.
fn argument(file: &InfoFile) -> Cow<'_, str> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./+,@%:".contains(&byte);
    match file.path.to_str() {
        Some(path) if path.bytes().all(plain) => Cow::Borrowed(path),
        _ => Cow::Borrowed("FILE"),
    }
}
