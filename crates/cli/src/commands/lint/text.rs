//! Findings for people: grouped by rule, each place with its line and a marker, what to do said once.

use std::io::{self, Write};

use gristmill_format::{Finding, Severity};

use super::excerpt::excerpt;
use super::findings::{Counts, Group, Subject};
use super::{Printer, SHOWN};
use crate::input::display_name;
use crate::terminal::{Painter, grouped, printable};
use gristmill_output::wrap::{columns, hang, wrap};

/// With --all so many findings of a rule are kept in memory; of a rule with more, the file is looked through again.
const KEPT: usize = 500;

/// What a line of the file is shown behind.
const GUTTER: &str = "    | ";

pub(super) struct Text {
    paint: Painter,
    width: usize,
    files: u64,
    unread: u64,
    counts: Counts,
    /// The last file had more than one line to it.
    wants_gap: bool,
}

impl Text {
    pub(super) fn new(paint: Painter, width: usize) -> Self {
        Self { paint, width, files: 0, unread: 0, counts: Counts::default(), wants_gap: false }
    }

    fn group(&self, out: &mut dyn Write, subject: &Subject<'_>, group: &Group<'_>) -> io::Result<()> {
        let rule = group.rule;
        let head = format!("{}[{}]: ", rule.severity.as_str(), rule.name);
        let shown = hang(&head, rule.summary, 4, self.width);
        // Colours come last: an escape sequence has no width.
        let word = rule.severity.as_str();
        let rest = shown.strip_prefix(word).unwrap_or(&shown);
        let name = format!("[{}]", rule.name);
        let rest = rest.strip_prefix(&name).unwrap_or(rest);
        write!(out, "{}{}", self.severity(rule.severity, word), self.paint.bold(name))?;
        writeln!(out, "{rest}")?;

        let mut said = rule.summary.to_owned();
        if subject.limit.is_some() || group.beyond(group.kept.len()) == 0 {
            for finding in &group.kept {
                self.finding(out, subject, finding, &mut said)?;
            }
            let more = group.beyond(group.kept.len());
            if more > 0 {
                let more = format!("… and {} more", grouped(more));
                writeln!(out, "  {}", self.paint.dim(more))?;
            }
        } else {
            let mut result = Ok(());
            subject.run(|finding| {
                if result.is_ok() && finding.rule == rule {
                    result = self.finding(out, subject, &finding, &mut said);
                }
            });
            result?;
        }
        for (index, line) in wrap(rule.help, self.width - 8).into_iter().enumerate() {
            match index {
                0 => writeln!(out, "  {} {line}", self.paint.green("help:"))?,
                _ => writeln!(out, "        {line}")?,
            }
        }
        writeln!(out)
    }

    /// `said` is the sentence that stands above; it need not be said again.
    fn finding(
        &self,
        out: &mut dyn Write,
        subject: &Subject<'_>,
        finding: &Finding<'_>,
        said: &mut String,
    ) -> io::Result<()> {
        let place =
            format!("{}:{}:{}", display_name(&subject.input.path), finding.location.line, finding.column);
        let message = printable(finding.message.as_bytes());
        if *message == **said {
            writeln!(out, "  {}", self.paint.bold(place))?;
        } else {
            let shown = hang(&format!("  {place}: "), &message, 4, self.width);
            let rest = shown.trim_start().strip_prefix(&place).unwrap_or(&shown);
            writeln!(out, "  {}{}", self.paint.bold(&place), rest)?;
            *said = message.into_owned();
        }
        if finding.text.is_empty() {
            return Ok(());
        }
        let start = usize::try_from(finding.column - 1).unwrap_or(usize::MAX);
        let length = usize::try_from(finding.length).unwrap_or(usize::MAX);
        let marked = start..start.saturating_add(length);
        let excerpt = excerpt(finding.text, marked, self.width.saturating_sub(columns(GUTTER)));
        let marker = excerpt.marker();
        let gutter = self.paint.dim(GUTTER);
        writeln!(out, "{gutter}{}", excerpt.line)?;
        let marker = self.severity(finding.rule.severity, &marker);
        writeln!(out, "{gutter}{:before$}{marker}", "", before = excerpt.before)
    }

    /// One line per rule: notes are many, and most of them no reason to do anything.
    fn notes(&self, out: &mut dyn Write, groups: &[Group<'_>]) -> io::Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        let rows: Vec<[String; 3]> = groups
            .iter()
            .map(|group| {
                let place = group.kept.first().map(|finding| (finding.location.line, finding.column));
                let (line, column) = place.unwrap_or((1, 1));
                [group.rule.name.to_owned(), grouped(group.count), format!("{line}:{column}")]
            })
            .collect();
        let [name, count, place] =
            [0, 1, 2].map(|cell| rows.iter().map(|row| row[cell].len()).max().unwrap_or(0));
        writeln!(out, "{}: how many, first where", self.severity(Severity::Note, "notes"))?;
        for (group, row) in groups.iter().zip(&rows) {
            // Of several, what is said about one of them does not hold for all.
            let message = match group.kept.first() {
                Some(finding) if group.count == 1 => printable(finding.message.as_bytes()),
                _ => group.rule.summary.into(),
            };
            let head = format!("  {:name$}  {:>count$}  {:<place$}  ", row[0], row[1], row[2]);
            let shown = hang(&head, &message, columns(&head), self.width);
            let rest = &shown[2 + group.rule.name.len()..];
            writeln!(out, "  {}{rest}", self.paint.bold(group.rule.name))?;
        }
        writeln!(out)
    }

    fn severity<'t>(&self, severity: Severity, text: &'t str) -> crate::terminal::Painted<&'t str> {
        match severity {
            Severity::Error => self.paint.red(text),
            Severity::Warning => self.paint.yellow(text),
            Severity::Note => self.paint.cyan(text),
        }
    }
}

impl Printer for Text {
    fn file(&mut self, out: &mut dyn Write, subject: &Subject<'_>) -> io::Result<Counts> {
        let keep = if subject.limit.is_some() { SHOWN } else { KEPT };
        let (groups, counts) = subject.gather(keep);
        let in_full = match subject.limit {
            Some(_) => groups.partition_point(|group| group.rule.severity > Severity::Note),
            None => groups.len(),
        };
        let (in_full, notes) = groups.split_at(in_full);
        if self.wants_gap || self.files > 0 && !groups.is_empty() {
            writeln!(out)?;
        }
        self.wants_gap = !groups.is_empty();
        for group in in_full {
            self.group(out, subject, group)?;
        }
        self.notes(out, notes)?;
        let name = display_name(&subject.input.path);
        writeln!(out, "{}: {counts}", self.paint.bold(&name))?;
        self.files += 1;
        self.counts += counts;
        Ok(counts)
    }

    fn unread(&mut self, _: &mut dyn Write, _: &std::path::Path, _: &str) -> io::Result<()> {
        self.unread += 1;
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.files + self.unread < 2 {
            return Ok(());
        }
        if self.wants_gap {
            writeln!(out)?;
        }
        write!(out, "{} files: {}", grouped(self.files + self.unread), self.counts)?;
        match self.unread {
            0 => writeln!(out),
            unread => writeln!(out, "; {} could not be read", grouped(unread)),
        }
    }
}
