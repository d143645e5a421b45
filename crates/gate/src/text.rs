//! The report for a terminal.

use std::io::{self, Write};

use gristmill_output::{Look, Painter, grouped, printable};

use crate::changes::FunctionChange;
use crate::report::{GateReport, change, difference, own_function, row_names, row_note, signed};
use crate::verdict::{BenchmarkVerdict, BudgetVerdict, Outcome};

/// The columns before the change and the name of a function.
const BEFORE_NAMES: usize = 9;

impl GateReport {
    /// Writes the report as text. See the example of [`GateReport`].
    ///
    /// # Errors
    ///
    /// Those of the output.
    pub fn write_text(&self, look: &Look, out: &mut dyn Write) -> io::Result<()> {
        let paint = look.painter();
        for refusal in &self.refusals {
            writeln!(out, "{}: {}", paint.red("cannot decide"), printable(refusal.message.as_bytes()))?;
        }
        self.benchmarks.iter().try_for_each(|verdict| write_benchmark(verdict, look, out))?;
        writeln!(out, "{}", self.summary())
    }
}

fn write_benchmark(verdict: &BenchmarkVerdict, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = look.painter();
    let name = printable(verdict.name.as_bytes());
    let outcome = match verdict.outcome {
        Outcome::Within => paint.green("within budget"),
        Outcome::Advice => paint.yellow("worth a look"),
        Outcome::Over => paint.red("over budget"),
        Outcome::Unknown => paint.red("not determined"),
    };
    writeln!(out, "{}: {outcome}", paint.bold(&name))?;
    if let Some(failure) = &verdict.failure {
        writeln!(out, "  {}", printable(failure.as_bytes()))?;
    }
    for line in &verdict.failure_output {
        writeln!(out, "    {}", printable(line.as_bytes()))?;
    }
    for note in &verdict.notes {
        writeln!(out, "  note: {}", printable(note.as_bytes()))?;
    }
    verdict.budgets.iter().try_for_each(|budget| write_budget(budget, look, out))
}

fn write_budget(budget: &BudgetVerdict, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    let paint = look.painter();
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
    if let Some(own) = &budget.own_function {
        let file =
            if own.file.is_empty() { String::new() } else { format!("  {}", printable(own.file.as_bytes())) };
        writeln!(
            out,
            "       in {}{}",
            own_function(own, look.name_columns(look.width / 2)),
            paint.dim(&file)
        )?;
    }
    let width = budget.functions.iter().map(|row| signed(row.delta).len()).max().unwrap_or(0);
    let room = look.width.saturating_sub(BEFORE_NAMES + width);
    let names = row_names(&budget.functions, look.name_columns(room));
    for (row, name) in budget.functions.iter().zip(names) {
        write_row(row, &name, width, paint, out)?;
    }
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

fn write_row(
    row: &FunctionChange,
    name: &str,
    width: usize,
    paint: Painter,
    out: &mut dyn Write,
) -> io::Result<()> {
    let delta = signed(row.delta);
    write!(out, "       {delta:>width$}  {name}")?;
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
