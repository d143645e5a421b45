//! The lint rules themselves: a list, or the explanation of one.

use std::io::{self, Write};

use gristmill_format::{ProducerKind, RULES, Rule, Severity};
use gristmill_output::wrap::{columns, hang, wrap};
use gristmill_output::{Look, json};
use schemars::JsonSchema;
use serde::Serialize;

use super::text::paint_severity;
use crate::read_file::rule;

/// Names that are suggested for one that does not exist.
const MAX_SUGGESTIONS: usize = 5;

/// Lowest similarity of a suggestion.
const MIN_SIMILARITY: f64 = 0.75;

/// Lint rules.
///
/// ```
/// use gristmill_report::lint::RuleList;
///
/// assert!(RuleList::all().rules.len() > 100);
/// let one = RuleList::one("totals-mismatch").unwrap();
/// assert_eq!(one.rules[0].severity, "error");
/// assert!(RuleList::one("no-such-rule").is_none());
/// ```
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleList {
    /// The rules.
    pub rules: Vec<RuleRow>,
}

/// A lint rule. See the example of [`RuleList`].
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RuleRow {
    /// Its name.
    pub name: &'static str,
    /// Severity of its findings: `error`, `warning` or `note`.
    pub severity: &'static str,
    /// The problem, in one line.
    pub summary: &'static str,
    /// Advice for a finding.
    pub help: &'static str,
    /// The part of the format's description that it is based on.
    pub clause: &'static str,
    /// Producers that do so in their files as a matter of course; a file of theirs has no such finding.
    pub habit_of: Vec<&'static str>,
    #[serde(skip)]
    level: Severity,
}

impl RuleRow {
    fn new(rule: &'static Rule) -> Self {
        RuleRow {
            name: rule.name,
            severity: rule.severity.as_str(),
            summary: rule.summary,
            help: rule.help,
            clause: rule.clause,
            habit_of: rule.producers().map(ProducerKind::as_str).collect(),
            level: rule.severity,
        }
    }
}

impl RuleList {
    /// Returns all rules.
    pub fn all() -> Self {
        RuleList { rules: RULES.iter().copied().map(RuleRow::new).collect() }
    }

    /// Returns the rule with a name.
    pub fn one(name: &str) -> Option<Self> {
        Some(RuleList { rules: vec![RuleRow::new(rule(name)?)] })
    }

    /// Writes the rules as JSON.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        json::write(self, out)
    }

    /// Writes a table with the summary of each rule.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_table(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let longest = self.rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
        for rule in &self.rules {
            let word = format!("{:7}", rule.severity);
            let head = format!("{:longest$}  {word}  ", rule.name);
            let shown = hang(&head, rule.summary, columns(&head), look.width);
            writeln!(
                out,
                "{:longest$}  {}{}",
                look.bold(rule.name),
                paint_severity(look.painter(), rule.level, &word),
                &shown[longest + 2 + word.len()..]
            )?;
        }
        Ok(())
    }

    /// Writes an explanation of each rule.
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_explanations(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        for rule in &self.rules {
            let severity = paint_severity(look.painter(), rule.level, rule.severity);
            writeln!(out, "{} ({severity})", look.bold(rule.name))?;
            for paragraph in [rule.summary, rule.help] {
                writeln!(out)?;
                for line in wrap(paragraph, look.width.saturating_sub(2)) {
                    writeln!(out, "  {line}")?;
                }
            }
            writeln!(out, "\n{}", hang("  Based on: ", rule.clause, 12, look.width))?;
            if !rule.habit_of.is_empty() {
                let producers = format!("{} (not reported of their files)", rule.habit_of.join(", "));
                writeln!(out, "{}", hang("  Habit of: ", &producers, 12, look.width))?;
            }
        }
        Ok(())
    }
}

/// Returns the names of rules that are most similar to a name, the most similar first.
///
/// ```
/// assert_eq!(gristmill_report::lint::similar_rules("totals-mismach")[0], "totals-mismatch");
/// ```
pub fn similar_rules(name: &str) -> Vec<&'static str> {
    let mut found: Vec<(f64, &'static str)> = RULES
        .iter()
        .map(|rule| {
            // One word of a name is enough to find it.
            let is_part = name.len() >= 3 && rule.name.contains(name);
            (strsim::jaro_winkler(name, rule.name) + if is_part { 1.0 } else { 0.0 }, rule.name)
        })
        .filter(|(score, _)| *score > MIN_SIMILARITY)
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    found.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similar_names_are_found() {
        assert_eq!(similar_rules("totals-mismach")[0], "totals-mismatch");
        assert!(similar_rules("crlf").contains(&"line-end-crlf"));
        assert!(similar_rules("zzzzzzzz").is_empty());
        assert!(similar_rules("").is_empty());
    }
}
