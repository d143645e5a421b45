//! What lint finds in one file: passed on as it is found, counted, or gathered by rule with the first few of each.

use std::collections::HashMap;
use std::fmt;
use std::ops::AddAssign;

use gristmill_format::{Finding, Lint, RULES, Rule, Severity};

use crate::examine::examine;
use crate::input::Input;

/// A file that was read, and how to check it.
pub(super) struct Subject<'a> {
    pub(super) input: &'a Input,
    lint: Lint,
    /// How many findings of each rule to show; `None` for all.
    pub(super) limit: Option<u64>,
}

impl<'a> Subject<'a> {
    pub(super) fn new(input: &'a Input, lint: Lint, limit: Option<u64>) -> Self {
        Self { input, lint, limit }
    }

    /// Hands out all findings: those about the packing, then those about what was in it.
    pub(super) fn run(&self, found: impl FnMut(Finding<'a>)) {
        examine(self.input, self.lint, found);
    }

    /// Gathers the findings by rule, the worst rules first, and of those what stands first in the file.
    pub(super) fn gather(&self, keep: usize) -> (Vec<Group<'a>>, Counts) {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let mut places: HashMap<&'static str, usize> = HashMap::new();
        let mut counts = Counts::default();
        self.run(|finding| {
            counts.add(finding.rule.severity);
            let place = *places.entry(finding.rule.name).or_insert_with(|| {
                groups.push(Group { rule: finding.rule, count: 0, kept: Vec::new() });
                groups.len() - 1
            });
            groups[place].add(finding, keep);
        });
        groups.sort_by_key(|group| {
            let first = group.kept.first().map(place_of);
            (std::cmp::Reverse(group.rule.severity), first, index_of(group.rule))
        });
        (groups, counts)
    }
}

/// The findings of one rule in one file.
pub(super) struct Group<'a> {
    pub(super) rule: &'static Rule,
    /// How many there are.
    pub(super) count: u64,
    /// Those that stand first in the file, in its order.
    pub(super) kept: Vec<Finding<'a>>,
}

impl<'a> Group<'a> {
    fn add(&mut self, finding: Finding<'a>, keep: usize) {
        self.count += 1;
        let place = self.kept.partition_point(|other| place_of(other) <= place_of(&finding));
        if place < keep {
            self.kept.truncate(keep - 1);
            self.kept.insert(place, finding);
        }
    }

    /// How many of them are not among the first `shown`.
    pub(super) fn beyond(&self, shown: usize) -> u64 {
        self.count.saturating_sub(shown as u64)
    }
}

fn place_of(finding: &Finding<'_>) -> (u64, u64) {
    (finding.location.line, finding.column)
}

/// The place of a rule in the table.
pub(super) fn index_of(rule: &Rule) -> usize {
    RULES.iter().position(|other| other.name == rule.name).unwrap_or(RULES.len())
}

/// How many findings there are of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Counts {
    pub(super) error: u64,
    pub(super) warning: u64,
    pub(super) note: u64,
}

impl Counts {
    pub(super) fn add(&mut self, severity: Severity) {
        match severity {
            Severity::Error => self.error += 1,
            Severity::Warning => self.warning += 1,
            Severity::Note => self.note += 1,
        }
    }

    /// How many are at least this bad.
    pub(super) fn at_least(&self, severity: Severity) -> u64 {
        match severity {
            Severity::Error => self.error,
            Severity::Warning => self.error + self.warning,
            Severity::Note => self.error + self.warning + self.note,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.error += other.error;
        self.warning += other.warning;
        self.note += other.note;
    }
}

/// `2 errors, 1 warning`, or `no findings`.
impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (count, word) in [(self.error, "error"), (self.warning, "warning"), (self.note, "note")] {
            if count > 0 {
                let plural = if count == 1 { "" } else { "s" };
                write!(f, "{separator}{} {word}{plural}", crate::terminal::grouped(count))?;
                separator = ", ";
            }
        }
        if separator.is_empty() { f.write_str("no findings") } else { Ok(()) }
    }
}

/// The column, from 1, of the byte at an offset, counted in characters; a byte that belongs to none counts as one.
pub(super) fn character_column(text: &[u8], offset: u64) -> u64 {
    let offset = usize::try_from(offset).unwrap_or(usize::MAX);
    let (before, beyond) = match text.get(..offset) {
        Some(before) => (before, 0),
        None => (text, offset.saturating_sub(text.len())),
    };
    let characters: usize =
        before.utf8_chunks().map(|chunk| chunk.valid().chars().count() + chunk.invalid().len()).sum();
    (characters.saturating_add(beyond) as u64).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use gristmill_format::Location;

    use super::*;
    use crate::examine::rule;

    #[test]
    fn columns_in_characters() {
        let text = "1 größe\t".as_bytes();
        assert_eq!(character_column(text, 0), 1);
        assert_eq!(character_column(text, 8), 7);
        assert_eq!(character_column(text, 10), 9);
        assert_eq!(character_column(b"\xff\xfex", 2), 3);
        assert_eq!(character_column(b"ab", 3), 4);
    }

    #[test]
    fn counts_read_well() {
        let counts = Counts { error: 1, warning: 0, note: 1234 };
        assert_eq!(counts.to_string(), "1 error, 1,234 notes");
        assert_eq!(Counts::default().to_string(), "no findings");
        assert_eq!(counts.at_least(Severity::Warning), 1);
        assert_eq!(counts.at_least(Severity::Note), 1235);
    }

    #[test]
    fn groups_keep_what_stands_first() {
        let rule = rule("unknown-line").unwrap();
        let mut group = Group { rule, count: 0, kept: Vec::new() };
        for line in [5, 9, 7, 2, 8] {
            let location = Location { byte: 0, line };
            group.add(Finding { rule, location, column: 1, length: 0, message: "".into(), text: b"" }, 3);
        }
        let lines: Vec<u64> = group.kept.iter().map(|finding| finding.location.line).collect();
        assert_eq!((lines, group.count, group.beyond(3)), (vec![2, 5, 7], 5, 2));
    }
}
