//! The report as JUnit's XML, which build servers show: a suite for each benchmark, a case for each budget.

use std::io::{self, Write};

use gristmill_output::printable;

use crate::report::{Annotation, GateReport};
use crate::verdict::{BenchmarkVerdict, BudgetVerdict, Outcome};

impl GateReport {
    /// Writes the report as JUnit's XML. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_junit(&self, out: &mut dyn Write) -> io::Result<()> {
        let count = |outcome: Outcome| -> usize {
            self.benchmarks.iter().map(|verdict| case_count(verdict, outcome)).sum()
        };
        let refusals = self.refusals.len();
        let cases: usize = refusals + self.benchmarks.iter().map(all_cases).sum::<usize>();
        writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
        writeln!(
            out,
            "<testsuites name=\"gristmill gate\" tests=\"{cases}\" failures=\"{}\" errors=\"{}\">",
            count(Outcome::Over),
            refusals + count(Outcome::Unknown)
        )?;
        if refusals > 0 {
            writeln!(
                out,
                "  <testsuite name=\"gate\" tests=\"{refusals}\" failures=\"0\" errors=\"{refusals}\">"
            )?;
            for refusal in &self.refusals {
                writeln!(out, "    <testcase name=\"configuration\" classname=\"gate\">")?;
                writeln!(out, "      <error message=\"{}\"/>\n    </testcase>", escaped(&refusal.message))?;
            }
            writeln!(out, "  </testsuite>")?;
        }
        self.benchmarks.iter().try_for_each(|verdict| self.write_suite(verdict, out))?;
        writeln!(out, "</testsuites>")
    }

    fn write_suite(&self, verdict: &BenchmarkVerdict, out: &mut dyn Write) -> io::Result<()> {
        let name = escaped(&verdict.name);
        writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
            all_cases(verdict),
            case_count(verdict, Outcome::Over),
            case_count(verdict, Outcome::Unknown)
        )?;
        if let Some(failure) = &verdict.failure {
            writeln!(out, "    <testcase name=\"measurement\" classname=\"{name}\">")?;
            writeln!(out, "      <error message=\"{}\">", escaped(failure))?;
            verdict.failure_output.iter().try_for_each(|line| writeln!(out, "{}", escaped(line)))?;
            writeln!(out, "      </error>\n    </testcase>")?;
        }
        for (index, budget) in verdict.budgets.iter().enumerate() {
            let is_its = |annotation: &&Annotation| {
                annotation.benchmark == verdict.name && annotation.budget == Some(index)
            };
            write_case(verdict, budget, self.annotations.iter().find(is_its), out)?;
        }
        writeln!(out, "  </testsuite>")
    }
}

/// Returns the number of cases. A benchmark that could not be measured is one.
fn all_cases(verdict: &BenchmarkVerdict) -> usize {
    verdict.budgets.len() + usize::from(verdict.failure.is_some())
}

fn case_count(verdict: &BenchmarkVerdict, outcome: Outcome) -> usize {
    let budgets = verdict.budgets.iter().filter(|budget| budget.outcome == outcome).count();
    budgets + usize::from(verdict.failure.is_some() && outcome == Outcome::Unknown)
}

fn write_case(
    verdict: &BenchmarkVerdict,
    budget: &BudgetVerdict,
    annotation: Option<&Annotation>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let name = format!("{}, {}", budget.title(), budget.allowed);
    write!(out, "    <testcase name=\"{}\" classname=\"{}\"", escaped(&name), escaped(&verdict.name))?;
    let message = escaped(annotation.map_or("", |annotation| &annotation.message));
    match budget.outcome {
        Outcome::Within => writeln!(out, "/>"),
        Outcome::Advice => writeln!(out, ">\n      <system-out>{message}</system-out>\n    </testcase>"),
        Outcome::Over => writeln!(out, ">\n      <failure message=\"{message}\"/>\n    </testcase>"),
        Outcome::Unknown => writeln!(out, ">\n      <error message=\"{message}\"/>\n    </testcase>"),
    }
}

/// Escapes a text for XML, also in a quoted attribute. Control characters are spelled out, and the two others that XML forbids
/// become blanks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in printable(text.as_bytes()).chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escaped("a<b> & \"c\"\u{1}\n\u{ffff}"), "a&lt;b&gt; &amp; &quot;c&quot;\\x01\\n ");
    }
}
