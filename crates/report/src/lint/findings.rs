//! The findings of one file: passed on as they are made, counted, or gathered by rule with the first few of each.

use std::collections::HashMap;
use std::fmt;
use std::ops::AddAssign;

use gristmill_format::{Finding, Lint, ProducerKind, RULES, Rule, Severity};
use gristmill_output::grouped;
use schemars::JsonSchema;
use serde::Serialize;

use crate::read_file::ReadFile;

/// A file to be checked. See the example of [`lint`](crate::lint).
#[derive(Debug, Clone, Copy)]
pub struct LintedFile<'a> {
    pub(super) file: &'a ReadFile<'a>,
    lint: Lint,
    /// Findings of each rule to show, or `None` for all.
    pub(super) limit: Option<u64>,
    /// The producer whose habits are not reported.
    producer: Option<ProducerKind>,
    /// The findings, if they are made already.
    made: Option<&'a [Finding<'a>]>,
}

impl<'a> LintedFile<'a> {
    /// A file to be checked this way. `limit` is the count of findings to show of each rule.
    pub fn new(file: &'a ReadFile<'a>, lint: Lint, limit: Option<u64>) -> Self {
        Self { file, lint, limit, producer: Some(file.producer()), made: None }
    }

    /// Reports also what the producer does in its files as a matter of course.
    #[must_use]
    pub fn with_habits(self) -> Self {
        Self { producer: None, ..self }
    }

    /// Makes all findings, to be printed later. `None` if there are more than `limit`; these should be printed when they are
    /// made.
    pub fn make(&self, limit: usize) -> Option<Vec<Finding<'a>>> {
        let mut made = Vec::new();
        let mut count = 0;
        self.run(|finding| {
            count += 1;
            if count <= limit {
                made.push(finding);
            }
        });
        (count <= limit).then_some(made)
    }

    /// Sets the findings that [`make`](LintedFile::make) made of this file.
    #[must_use]
    pub fn with_made(self, made: &'a [Finding<'a>]) -> Self {
        Self { made: Some(made), ..self }
    }

    /// Passes on all findings.
    pub fn run(&self, mut found: impl FnMut(Finding<'a>)) {
        if let Some(made) = self.made {
            return made.iter().cloned().for_each(found);
        }
        let is_habit = |rule: &Rule| self.producer.is_some_and(|producer| rule.is_habit_of(producer));
        self.file.examine(self.lint, |finding| {
            if !is_habit(finding.rule) {
                found(finding);
            }
        });
    }

    /// Gathers the findings by rule: the most severe rules first, then by the first location in the file. Of each rule, up
    /// to `keep` findings are kept.
    pub fn gather(&self, keep: usize) -> (Vec<RuleFindings<'a>>, FindingCounts) {
        let mut groups: Vec<RuleFindings<'a>> = Vec::new();
        let mut indexes: HashMap<&'static str, usize> = HashMap::new();
        let mut counts = FindingCounts::default();
        self.run(|finding| {
            counts.add(finding.rule.severity);
            let index = *indexes.entry(finding.rule.name).or_insert_with(|| {
                groups.push(RuleFindings { rule: finding.rule, count: 0, first: Vec::new() });
                groups.len() - 1
            });
            groups[index].add(finding, keep);
        });
        groups.sort_by_key(|group| {
            let first = group.first.first().map(order);
            (std::cmp::Reverse(group.rule.severity), first, rule_index(group.rule))
        });
        (groups, counts)
    }
}

/// The findings of one rule in one file. See [`LintedFile::gather`] and the example of [`lint`](crate::lint).
#[derive(Debug, Clone)]
pub struct RuleFindings<'a> {
    /// The rule.
    pub rule: &'static Rule,
    /// Count of all findings.
    pub count: u64,
    /// The findings that stand first in the file, in its order.
    pub first: Vec<Finding<'a>>,
}

impl<'a> RuleFindings<'a> {
    fn add(&mut self, finding: Finding<'a>, keep: usize) {
        self.count += 1;
        let index = self.first.partition_point(|other| order(other) <= order(&finding));
        if index < keep {
            self.first.truncate(keep - 1);
            self.first.insert(index, finding);
        }
    }

    /// Returns the count of findings that are not in `first`.
    pub fn omitted(&self) -> u64 {
        self.count - self.first.len() as u64
    }
}

fn order(finding: &Finding<'_>) -> (u64, u64) {
    (finding.location.line, finding.column)
}

/// Returns the index of a rule in the table of rules.
pub(super) fn rule_index(rule: &Rule) -> usize {
    #[expect(clippy::expect_used, reason = "the table has all rules")]
    RULES.iter().position(|other| other.name == rule.name).expect("a rule of the table")
}

/// The count of findings of each severity.
///
/// ```
/// use gristmill_report::lint::FindingCounts;
///
/// let counts = FindingCounts { error: 1, warning: 0, note: 1234 };
/// assert_eq!(counts.to_string(), "1 error, 1,234 notes");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingCounts {
    /// Errors.
    pub error: u64,
    /// Warnings.
    pub warning: u64,
    /// Notes.
    pub note: u64,
}

impl FindingCounts {
    /// Counts a finding of this severity.
    pub fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.error += 1,
            Severity::Warning => self.warning += 1,
            Severity::Note => self.note += 1,
        }
    }

    /// Returns the count of findings of at least this severity.
    pub fn at_least(&self, severity: Severity) -> u64 {
        match severity {
            Severity::Error => self.error,
            Severity::Warning => self.error + self.warning,
            Severity::Note => self.error + self.warning + self.note,
        }
    }
}

impl FindingCounts {
    /// Returns the verdict on a file with these findings, to follow its name.
    ///
    /// ```
    /// use gristmill_report::lint::FindingCounts;
    ///
    /// assert_eq!(FindingCounts::default().verdict(), "valid, no findings");
    /// let counts = FindingCounts { error: 0, warning: 1, note: 2 };
    /// assert_eq!(counts.verdict(), "valid, but not every tool reads it alike: 1 warning, 2 notes");
    /// ```
    pub fn verdict(&self) -> String {
        match self {
            FindingCounts { error: 1.., .. } => format!("not valid, its numbers may be wrong: {self}"),
            FindingCounts { warning: 1.., .. } => {
                format!("valid, but not every tool reads it alike: {self}")
            }
            _ => format!("valid, {self}"),
        }
    }
}

impl AddAssign for FindingCounts {
    fn add_assign(&mut self, other: Self) {
        self.error += other.error;
        self.warning += other.warning;
        self.note += other.note;
    }
}

/// Writes `2 errors, 1 warning`, or `no findings`.
impl fmt::Display for FindingCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (count, word) in [(self.error, "error"), (self.warning, "warning"), (self.note, "note")] {
            if count > 0 {
                let plural = if count == 1 { "" } else { "s" };
                write!(f, "{separator}{} {word}{plural}", grouped(count))?;
                separator = ", ";
            }
        }
        if separator.is_empty() { f.write_str("no findings") } else { Ok(()) }
    }
}

/// Columns of findings, counted in characters. Of the findings in one line, only the text between them is counted.
#[derive(Debug, Default)]
pub(super) struct ColumnCounter<'a> {
    /// The line of the last finding, an offset in it, and the characters before that.
    text: &'a [u8],
    offset: usize,
    count: u64,
}

impl<'a> ColumnCounter<'a> {
    /// Returns the column, from 1, of the byte at an offset. Each byte of invalid UTF-8 counts as one.
    pub(super) fn column(&mut self, text: &'a [u8], byte_offset: u64) -> u64 {
        let byte_offset = usize::try_from(byte_offset).unwrap_or(usize::MAX);
        let (end, beyond) = (byte_offset.min(text.len()), byte_offset.saturating_sub(text.len()));
        if !std::ptr::eq(self.text, text) || end < self.offset {
            *self = ColumnCounter { text, offset: 0, count: 0 };
        }
        let characters =
            |chunk: std::str::Utf8Chunk<'_>| chunk.valid().chars().count() + chunk.invalid().len();
        let between: usize = text[self.offset..end].utf8_chunks().map(characters).sum();
        let count = self.count + between as u64;
        // Within a character, its bytes would count as invalid.
        if text.get(end).is_none_or(|byte| byte & 0xc0 != 0x80) {
            (self.offset, self.count) = (end, count);
        }
        count.saturating_add(beyond as u64).saturating_add(1)
    }
}

#[cfg(test)]
mod tests {
    use gristmill_format::Location;

    use super::*;
    use crate::read_file::rule;

    #[test]
    fn columns_in_characters() {
        let column = |text: &'static [u8], at| ColumnCounter::default().column(text, at);
        let text = "1 größe\t".as_bytes();
        assert_eq!(column(text, 0), 1);
        assert_eq!(column(text, 8), 7);
        assert_eq!(column(text, 10), 9);
        assert_eq!(column(b"\xff\xfex", 2), 3);
        assert_eq!(column(b"ab", 3), 4);
    }

    #[test]
    fn columns_do_not_depend_on_those_before() {
        let lines = ["größe € \u{1f33e} x".as_bytes(), b"\xe2\x82a\xff\x80\x80b\xc3", b""];
        let mut counter = ColumnCounter::default();
        for at in [0, 1, 2, 3, 4, 5, 3, 7, 9, 8, 12, 0, 30, 6, 11, 10] {
            for line in lines {
                for _ in 0..2 {
                    assert_eq!(
                        counter.column(line, at),
                        ColumnCounter::default().column(line, at),
                        "{line:?} {at}"
                    );
                }
            }
        }
        for line in lines {
            for at in 0..20 {
                assert_eq!(
                    counter.column(line, at),
                    ColumnCounter::default().column(line, at),
                    "{line:?} {at}"
                );
            }
        }
    }

    #[test]
    fn counts_by_severity() {
        let counts = FindingCounts { error: 1, warning: 0, note: 1234 };
        assert_eq!(FindingCounts::default().to_string(), "no findings");
        assert_eq!(counts.at_least(Severity::Warning), 1);
        assert_eq!(counts.at_least(Severity::Note), 1235);
    }

    #[test]
    fn first_findings_are_kept() {
        let rule = rule("unknown-line").unwrap();
        let mut group = RuleFindings { rule, count: 0, first: Vec::new() };
        for line in [5, 9, 7, 2, 8] {
            let location = Location { byte: 0, line };
            group.add(Finding { rule, location, column: 1, length: 0, message: "".into(), text: b"" }, 3);
        }
        let lines: Vec<u64> = group.first.iter().map(|finding| finding.location.line).collect();
        assert_eq!((lines, group.count, group.omitted()), (vec![2, 5, 7], 5, 2));
    }
}
