//! The report for a comment on a pull request: the summary first, details folded.

use std::io::{self, Write};

use gristmill_output::grouped;
use gristmill_output::markdown::{escaped as cell, escaped_html as text, titled};

use crate::bound::bounded;
use crate::report::{
    GateReport, NAME_COLUMNS, WHOLE_COLUMNS, budget_difference, difference, own_function, row_names,
    row_note, signed,
};
use crate::verdict::{BenchmarkVerdict, BudgetVerdict, Outcome};

impl GateReport {
    /// Writes the report as Markdown. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "### {} Gristmill gate: {}\n", sign(self.outcome), self.summary())?;
        for refusal in &self.refusals {
            writeln!(out, "The gate cannot decide: {}\n", cell(&refusal.message))?;
        }
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
        budget.base.map_or_else(String::new, |base| bounded(base, budget.base_is_upper_bound)),
        bounded(budget.cost, budget.cost_is_upper_bound),
        budget_difference(budget).unwrap_or_default(),
        budget.allowed
    )
}

fn write_details(verdict: &BenchmarkVerdict, out: &mut dyn Write) -> io::Result<()> {
    if let Some(failure) = &verdict.failure {
        writeln!(out, "**{}** is not determined: {}\n", cell(&verdict.name), cell(failure))?;
    }
    if !verdict.failure_output.is_empty() {
        writeln!(out, "<pre>")?;
        verdict.failure_output.iter().try_for_each(|line| writeln!(out, "{}", text(line)))?;
        writeln!(out, "</pre>\n")?;
    }
    for note in &verdict.notes {
        writeln!(out, "{}: {}\n", cell(&verdict.name), cell(note))?;
    }
    for budget in &verdict.budgets {
        if let Some(note) = &budget.note {
            writeln!(out, "{}, {}: {}\n", cell(&verdict.name), cell(&budget.event), cell(note))?;
        }
        if let Some(own) = budget.own_function.as_ref().filter(|_| budget.outcome != Outcome::Within) {
            let [short, whole] = [NAME_COLUMNS, WHOLE_COLUMNS].map(|columns| own_function(own, columns));
            let (event, own) = (cell(&budget.event), shortened(&short, &whole));
            writeln!(out, "{}, {event}: in {own}\n", cell(&verdict.name))?;
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
    let [names, wholes] = [NAME_COLUMNS, WHOLE_COLUMNS].map(|columns| row_names(&budget.functions, columns));
    for (row, (name, whole)) in budget.functions.iter().zip(names.iter().zip(&wholes)) {
        let change = row.base.map_or_else(|| signed(row.delta), |base| difference(base, row.cost));
        let file = row.file.as_deref().unwrap_or_default();
        writeln!(out, "| {change} | {} | {} | {} |", shortened(name, whole), cell(file), row_note(row))?;
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

/// Returns a text with short names, and with whole names beside the pointer.
fn shortened(short: &str, whole: &str) -> String {
    if short == whole { cell(short) } else { titled(short, whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_in_names_is_escaped() {
        assert_eq!(cell("operator|<T>\n@a_b"), "operator\\|\\<T\\>\\\\n@&#8203;a\\_b");
        assert_eq!(text("a<b> & c"), "a&lt;b&gt; &amp; c");
    }
}
