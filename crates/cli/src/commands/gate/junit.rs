//! The verdict as JUnit's XML, which build servers show: a suite for each benchmark, a case for each budget.

use std::io::{self, Write};

use super::judge::{Check, Outcome, Verdict};
use super::report::{Report, message};

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let count =
        |outcome: Outcome| report.verdicts.iter().map(|verdict| cases(verdict, outcome)).sum::<usize>();
    let all: usize = report.verdicts.iter().map(all_cases).sum();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(
        out,
        "<testsuites name=\"gristmill gate\" tests=\"{all}\" failures=\"{}\" errors=\"{}\">",
        count(Outcome::Over),
        count(Outcome::Unknown)
    )?;
    for verdict in &report.verdicts {
        suite(verdict, out)?;
    }
    writeln!(out, "</testsuites>")
}

/// A benchmark of which nothing can be told is one case.
fn all_cases(verdict: &Verdict) -> usize {
    verdict.checks.len() + usize::from(verdict.failure.is_some())
}

fn cases(verdict: &Verdict, outcome: Outcome) -> usize {
    let checks = verdict.checks.iter().filter(|check| check.outcome == outcome).count();
    checks + usize::from(verdict.failure.is_some() && outcome == Outcome::Unknown)
}

fn suite(verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\">",
        escaped(&verdict.name),
        all_cases(verdict),
        cases(verdict, Outcome::Over),
        cases(verdict, Outcome::Unknown)
    )?;
    if let Some(failure) = &verdict.failure {
        writeln!(out, "    <testcase name=\"measurement\" classname=\"{}\">", escaped(&verdict.name))?;
        writeln!(out, "      <error message=\"{}\"/>\n    </testcase>", escaped(failure))?;
    }
    for check in &verdict.checks {
        case(verdict, check, out)?;
    }
    writeln!(out, "  </testsuite>")
}

fn case(verdict: &Verdict, check: &Check, out: &mut dyn Write) -> io::Result<()> {
    let subject =
        if check.is_total { check.event.clone() } else { format!("{} of {}", check.event, check.subject) };
    let name = format!("{subject}, {}", check.allowed);
    write!(out, "    <testcase name=\"{}\" classname=\"{}\"", escaped(&name), escaped(&verdict.name))?;
    let message = escaped(&message(verdict, check));
    match check.outcome {
        Outcome::Within => writeln!(out, "/>"),
        Outcome::Advice => writeln!(out, ">\n      <system-out>{message}</system-out>\n    </testcase>"),
        Outcome::Over => writeln!(out, ">\n      <failure message=\"{message}\"/>\n    </testcase>"),
        Outcome::Unknown => writeln!(out, ">\n      <error message=\"{message}\"/>\n    </testcase>"),
    }
}

/// Text in XML, also between quotes. Characters that no XML may hold become blanks.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push(' '),
            _ if character.is_control() => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_no_markup() {
        assert_eq!(escaped("a<b> & \"c\"\u{1}\n"), "a&lt;b&gt; &amp; &quot;c&quot;  ");
    }
}
