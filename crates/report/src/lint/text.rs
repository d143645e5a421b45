//! Findings for people: grouped by rule, each location with its line and a marker, the help once.

use std::io::{self, Write};
use std::path::Path;

use gristmill_format::{Finding, Severity};
use gristmill_output::wrap::{columns, hang, wrap};
use gristmill_output::{Look, Painted, Painter, grouped, printable};

use super::excerpt::excerpt;
use super::findings::{FindingCounts, LintedFile, RuleFindings};
use super::{DEFAULT_LIMIT, LintPrinter};

/// Findings of a rule that are kept in memory if all are shown. For a rule with more, the file is checked again.
const MAX_KEPT: usize = 500;

/// The margin of a line of the file.
const GUTTER: &str = "    | ";

/// A printer of text. See the example of [`lint`](crate::lint).
#[derive(Debug)]
pub struct TextPrinter {
    paint: Painter,
    width: usize,
    file_count: u64,
    /// The count of files with an error.
    invalid_count: u64,
    unread_count: u64,
    counts: FindingCounts,
    /// `true` if the last file took more than one line.
    needs_gap: bool,
}

impl TextPrinter {
    /// A printer of text with this look.
    pub fn new(look: &Look) -> Self {
        Self {
            paint: look.painter(),
            width: look.width,
            file_count: 0,
            invalid_count: 0,
            unread_count: 0,
            counts: FindingCounts::default(),
            needs_gap: false,
        }
    }

    fn write_group(
        &self,
        file: &LintedFile<'_>,
        group: &RuleFindings<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let rule = group.rule;
        let head = format!("{}[{}]: ", rule.severity.as_str(), rule.name);
        let shown = hang(&head, rule.summary, 4, self.width);
        // The text is broken into lines first: an escape sequence has no width.
        let word = rule.severity.as_str();
        let rest = shown.strip_prefix(word).unwrap_or(&shown);
        let name = format!("[{}]", rule.name);
        let rest = rest.strip_prefix(&name).unwrap_or(rest);
        write!(out, "{}{}", paint_severity(self.paint, rule.severity, word), self.paint.bold(name))?;
        writeln!(out, "{rest}")?;

        let mut previous = rule.summary.to_owned();
        let omitted = group.omitted();
        if file.limit.is_some() || omitted == 0 {
            for finding in &group.first {
                self.write_finding(file, finding, &mut previous, out)?;
            }
            if omitted > 0 {
                let omitted = format!("… and {} more", grouped(omitted));
                writeln!(out, "  {}", self.paint.dim(omitted))?;
            }
        } else {
            let mut result = Ok(());
            file.run(|finding| {
                if result.is_ok() && finding.rule == rule {
                    result = self.write_finding(file, &finding, &mut previous, out);
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

    /// Writes a finding. A message that is the same as the `previous` one is not repeated.
    fn write_finding(
        &self,
        file: &LintedFile<'_>,
        finding: &Finding<'_>,
        previous: &mut String,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let location = format!("{}:{}:{}", file.file.name, finding.location.line, finding.column);
        let message = printable(finding.message.as_bytes());
        if *message == **previous {
            writeln!(out, "  {}", self.paint.bold(location))?;
        } else {
            let shown = hang(&format!("  {location}: "), &message, 4, self.width);
            let rest = shown.trim_start().strip_prefix(&location).unwrap_or(&shown);
            writeln!(out, "  {}{}", self.paint.bold(&location), rest)?;
            *previous = message.into_owned();
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
        let marker = paint_severity(self.paint, finding.rule.severity, &marker);
        writeln!(out, "{gutter}{:before$}{marker}", "", before = excerpt.before)
    }

    /// Writes one line per rule: notes are many, and few need action.
    fn write_notes(&self, groups: &[RuleFindings<'_>], out: &mut dyn Write) -> io::Result<()> {
        if groups.is_empty() {
            return Ok(());
        }
        let rows: Vec<[String; 3]> = groups
            .iter()
            .map(|group| {
                let location = group.first.first().map(|finding| (finding.location.line, finding.column));
                let (line, column) = location.unwrap_or((1, 1));
                [group.rule.name.to_owned(), grouped(group.count), format!("{line}:{column}")]
            })
            .collect();
        let [name, count, location] =
            [0, 1, 2].map(|cell| rows.iter().map(|row| row[cell].len()).max().unwrap_or(0));
        writeln!(out, "{}: count, first location", paint_severity(self.paint, Severity::Note, "notes"))?;
        for (group, row) in groups.iter().zip(&rows) {
            // The message of one finding may not hold for the others.
            let message = match group.first.first() {
                Some(finding) if group.count == 1 => printable(finding.message.as_bytes()),
                _ => group.rule.summary.into(),
            };
            let head = format!("  {:name$}  {:>count$}  {:<location$}  ", row[0], row[1], row[2]);
            let shown = hang(&head, &message, columns(&head), self.width);
            let rest = &shown[2 + group.rule.name.len()..];
            writeln!(out, "  {}{rest}", self.paint.bold(group.rule.name))?;
        }
        writeln!(out)
    }
}

/// Returns the verdict on a file with these findings, to follow its name.
fn verdict(groups: &[RuleFindings<'_>], counts: &FindingCounts) -> String {
    let has = |rule: &str| groups.iter().any(|group| group.rule.name == rule);
    if has("not-a-profile") {
        format!("not a profile: {counts}")
    } else if has("empty-file") {
        format!("empty, without any cost: {counts}")
    } else {
        counts.verdict()
    }
}

/// Returns a word in the colour of a severity.
pub(super) fn paint_severity(paint: Painter, severity: Severity, word: &str) -> Painted<&str> {
    match severity {
        Severity::Error => paint.red(word),
        Severity::Warning => paint.yellow(word),
        Severity::Note => paint.cyan(word),
    }
}

impl LintPrinter for TextPrinter {
    fn write_file(&mut self, file: &LintedFile<'_>, out: &mut dyn Write) -> io::Result<FindingCounts> {
        let (groups, counts) = file.gather(if file.limit.is_some() { DEFAULT_LIMIT } else { MAX_KEPT });
        let full_count = match file.limit {
            Some(_) => groups.partition_point(|group| group.rule.severity > Severity::Note),
            None => groups.len(),
        };
        let (full, notes) = groups.split_at(full_count);
        if self.needs_gap || self.file_count > 0 && !groups.is_empty() {
            writeln!(out)?;
        }
        self.needs_gap = !groups.is_empty();
        full.iter().try_for_each(|group| self.write_group(file, group, out))?;
        self.write_notes(notes, out)?;
        writeln!(out, "{}: {}", self.paint.bold(&file.file.name), verdict(&groups, &counts))?;
        self.file_count += 1;
        self.invalid_count += u64::from(counts.error > 0);
        self.counts += counts;
        Ok(counts)
    }

    fn write_unread(&mut self, _: &Path, _: &str, _: &mut dyn Write) -> io::Result<()> {
        self.unread_count += 1;
        Ok(())
    }

    fn end(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let file_count = self.file_count + self.unread_count;
        if file_count < 2 {
            return Ok(());
        }
        if self.needs_gap {
            writeln!(out)?;
        }
        let verdict = match (self.invalid_count, self.unread_count) {
            (0, 0) => ", all valid".to_owned(),
            (0, _) => String::new(),
            (count, _) => format!(", {} not valid", grouped(count)),
        };
        write!(out, "{} files{verdict}: {}", grouped(file_count), self.counts)?;
        match self.unread_count {
            0 => writeln!(out),
            count => writeln!(out, "; {} could not be read", grouped(count)),
        }
    }
}
