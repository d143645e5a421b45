//! The report for a comment on a pull request: the summary first, details folded.

use std::io::{self, Write};

use gristmill_output::grouped;

use crate::report::{GateReport, difference, row_name, row_note, signed};
use crate::verdict::{BenchmarkVerdict, BudgetVerdict, Outcome};

impl GateReport {
    /// Writes the report as Markdown. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "### {} Gristmill gate: {}\n", sign(self.outcome), self.summary())?;
        writeln!(out, "| | benchmark | cost | baseline | now | change | allowed |")?;
        writeln!(out, "|---|---|---|--:|--:|--:|---|")?;
        for verdict in &self.benchmarks {
            for budget in &verdict.budgets {
                write_row(verdict, budget, out)?;
            }
            if verdict.failure.is_some() {
                writeln!(out, "| {} | {} | | | | | |", sign(Outcome::Unknown), cell(&verdict.name))?;
            }
        }
        writeln!(out)?;
        self.benchmarks.iter().try_for_each(|verdict| write_details(verdict, out))
    }
}

fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Within => "✅",
        Outcome::Advice => "👀",
        Outcome::Over => "❌",
        Outcome::Unknown => "❓",
    }
}

fn write_row(verdict: &BenchmarkVerdict, budget: &BudgetVerdict, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| {} | {} | {} | {} | {} | {} | {} |",
        sign(budget.outcome),
        cell(&verdict.name),
        cell(&budget.title()),
        budget.base.map_or_else(String::new, grouped),
        grouped(budget.cost),
        budget.base.map_or_else(String::new, |base| difference(base, budget.cost)),
        budget.allowed
    )
}

fn write_details(verdict: &BenchmarkVerdict, out: &mut dyn Write) -> io::Result<()> {
    if let Some(failure) = &verdict.failure {
        writeln!(out, "**{}** is not determined: {}\n", cell(&verdict.name), cell(failure))?;
    }
    for note in &verdict.notes {
        writeln!(out, "{}: {}\n", cell(&verdict.name), cell(note))?;
    }
    for budget in &verdict.budgets {
        if let Some(note) = &budget.note {
            writeln!(out, "{}, {}: {}\n", cell(&verdict.name), cell(&budget.event), cell(note))?;
        }
        if !budget.functions.is_empty() {
            write_functions(verdict, budget, out)?;
        }
    }
    Ok(())
}

fn write_functions(
    verdict: &BenchmarkVerdict,
    budget: &BudgetVerdict,
    out: &mut dyn Write,
) -> io::Result<()> {
    let open = if budget.outcome == Outcome::Over { " open" } else { "" };
    writeln!(
        out,
        "<details{open}><summary>{}: functions responsible for {}</summary>\n",
        text(&verdict.name),
        text(&budget.title())
    )?;
    writeln!(out, "| change | function | file | |\n|--:|---|---|---|")?;
    for row in &budget.functions {
        let change = row.base.map_or_else(|| signed(row.delta), |base| difference(base, row.cost));
        let file = row.file.as_deref().unwrap_or_default();
        writeln!(out, "| {change} | {} | {} | {} |", cell(row_name(row)), cell(file), row_note(row))?;
    }
    if budget.more_functions > 0 {
        writeln!(out, "| | {} more | | |", grouped(budget.more_functions as i128))?;
    }
    for (index, reason) in budget.reasons.iter().enumerate() {
        let before = if index == 0 { "\n" } else { "" };
        writeln!(out, "{before}- {}: {}", signed(reason.effect), cell(&reason.text))?;
    }
    writeln!(out, "\n</details>\n")
}

/// Escapes a text for a cell of a table: nothing in it is markup of Markdown or HTML.
fn cell(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len() + 8);
    for character in raw.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => escaped.extend(['\\', character]),
            // A name such as @everyone would notify people.
            '@' => escaped.push_str("&#64;"),
            _ => push_text(character, &mut escaped),
        }
    }
    escaped
}

/// Escapes a text for HTML.
fn text(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len() + 8);
    raw.chars().for_each(|character| push_text(character, &mut escaped));
    escaped
}

fn push_text(character: char, escaped: &mut String) {
    match character {
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        '&' => escaped.push_str("&amp;"),
        _ if character.is_control() => escaped.push(' '),
        _ => escaped.push(character),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(cell("operator|<T>\n@a_b"), "operator\\|&lt;T&gt; &#64;a\\_b");
        assert_eq!(text("a<b> & c"), "a&lt;b&gt; &amp; c");
    }
}
