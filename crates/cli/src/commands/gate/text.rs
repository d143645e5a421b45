//! The verdict for a terminal.

use std::io::{self, Write};

use super::judge::{Outcome, Verdict};
use super::report::{Report, change, difference, row_name, row_note, signed};
use crate::terminal::{Painter, grouped, printable};

pub(super) fn write(report: &Report, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
    for verdict in &report.verdicts {
        one(report, verdict, paint, out)?;
    }
    writeln!(out, "{}", report.sentence())
}

fn one(report: &Report, verdict: &Verdict, paint: Painter, out: &mut dyn Write) -> io::Result<()> {
    let name = printable(verdict.name.as_bytes());
    match verdict.outcome {
        Outcome::Within => writeln!(out, "{}: {}", paint.bold(&name), paint.green("within budget"))?,
        Outcome::Advice => {
            writeln!(out, "{}: {}", paint.bold(&name), paint.yellow("within budget, but look"))?
        }
        Outcome::Over => writeln!(out, "{}: {}", paint.bold(&name), paint.red("over budget"))?,
        Outcome::Unknown => writeln!(out, "{}: {}", paint.bold(&name), paint.red("could not be told"))?,
    }
    if let Some(failure) = &verdict.failure {
        writeln!(out, "  {}", printable(failure.as_bytes()))?;
    }
    for note in &verdict.notes {
        writeln!(out, "  note: {}", printable(note.as_bytes()))?;
    }
    for check in &verdict.checks {
        let mark = match check.outcome {
            Outcome::Within => "ok  ",
            Outcome::Advice => "look",
            Outcome::Over => "OVER",
            Outcome::Unknown => "?   ",
        };
        writeln!(out, "  {mark} {}, allowed {}", printable(change(check).as_bytes()), check.allowed)?;
        if let Some(note) = &check.note {
            writeln!(out, "       {}", printable(note.as_bytes()))?;
        }
        if check.outcome == Outcome::Within {
            continue;
        }
        let (rows, more) = report.told(check);
        let width = rows.iter().map(|row| signed(row.delta()).len()).max().unwrap_or(0);
        for row in rows {
            let (name, file) = row_name(row);
            let delta = signed(row.delta());
            write!(out, "       {delta:>width$}  {}", printable(name.as_bytes()))?;
            if !file.is_empty() {
                write!(out, "  {}", paint.dim(printable(file.as_bytes())))?;
            }
            let note = row_note(row);
            match row.base {
                Some(base) if row.function.is_some() && row.cost != 0 => {
                    let part = difference(base, row.cost);
                    let part = part.split_once(' ').map_or("", |(_, part)| part);
                    let comma = if note.is_empty() { "" } else { ", " };
                    writeln!(out, "  {}{comma}{note}", part)?;
                }
                _ if note.is_empty() => writeln!(out)?,
                _ => writeln!(out, "  ({note})")?,
            }
        }
        if more > 0 {
            writeln!(out, "       and {} more functions", grouped(more))?;
        }
        if !check.reasons.is_empty() {
            writeln!(out, "       why:")?;
        }
        for reason in &check.reasons {
            writeln!(out, "       {}  {}", signed(reason.effect), printable(reason.text.as_bytes()))?;
        }
    }
    Ok(())
}
