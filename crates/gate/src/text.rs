//! The report for a terminal.

use std::io::{self, Write};

use gristmill_output::{Painter, grouped, printable};

use crate::report::{GateReport, change, difference, row_name, row_note, signed};
use crate::verdict::{BenchmarkVerdict, BudgetVerdict, FunctionChange, Outcome};

impl GateReport {
    /// Writes the report as text. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_text(&self, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
        self.benchmarks.iter().try_for_each(|verdict| write_benchmark(verdict, paint, out))?;
        writeln!(out, "{}", self.summary())
    }
}

fn write_benchmark(verdict: &BenchmarkVerdict, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
    let name = printable(verdict.name.as_bytes());
    let outcome = match verdict.outcome {
        Outcome::Within => paint.green("within budget"),
        Outcome::Advice => paint.yellow("over an advisory budget"),
        Outcome::Over => paint.red("over budget"),
        Outcome::Unknown => paint.red("not determined"),
    };
    writeln!(out, "{}: {outcome}", paint.bold(&name))?;
    if let Some(failure) = &verdict.failure {
        writeln!(out, "  {}", printable(failure.as_bytes()))?;
    }
    for note in &verdict.notes {
        writeln!(out, "  note: {}", printable(note.as_bytes()))?;
    }
    verdict.budgets.iter().try_for_each(|budget| write_budget(budget, paint, out))
}

fn write_budget(budget: &BudgetVerdict, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
    let mark = match budget.outcome {
        Outcome::Within => "ok  ",
        Outcome::Advice => "look",
        Outcome::Over => "OVER",
        Outcome::Unknown => "?   ",
    };
    writeln!(out, "  {mark} {}, allowed {}", printable(change(budget).as_bytes()), budget.allowed)?;
    if let Some(note) = &budget.note {
        writeln!(out, "       {}", printable(note.as_bytes()))?;
    }
    if budget.outcome == Outcome::Within {
        return Ok(());
    }
    let width = budget.functions.iter().map(|row| signed(row.delta).len()).max().unwrap_or(0);
    budget.functions.iter().try_for_each(|row| write_row(row, width, paint, out))?;
    if budget.more_functions > 0 {
        writeln!(out, "       and {} more functions", grouped(budget.more_functions as i128))?;
    }
    if !budget.reasons.is_empty() {
        writeln!(out, "       reasons:")?;
    }
    for reason in &budget.reasons {
        writeln!(out, "       {}  {}", signed(reason.effect), printable(reason.text.as_bytes()))?;
    }
    Ok(())
}

fn write_row(row: &FunctionChange, width: usize, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
    let delta = signed(row.delta);
    write!(out, "       {delta:>width$}  {}", printable(row_name(row).as_bytes()))?;
    if let Some(file) = row.file.as_deref().filter(|file| !file.is_empty()) {
        write!(out, "  {}", paint.dim(printable(file.as_bytes())))?;
    }
    let note = row_note(row);
    match row.base {
        Some(base) if row.name.is_some() && row.cost != 0 => {
            let difference = difference(base, row.cost);
            let percent = difference.split_once(' ').map_or("", |(_, percent)| percent);
            let comma = if note.is_empty() { "" } else { ", " };
            writeln!(out, "  {percent}{comma}{note}")
        }
        _ if note.is_empty() => writeln!(out),
        _ => writeln!(out, "  ({note})"),
    }
}
