//! All verdicts together, and what every format needs of them.

use std::path::{Path, PathBuf};

use super::judge::{Check, Outcome, Responsible, Verdict};
use crate::terminal::grouped;

/// What a run of the gate came to.
#[derive(Debug)]
pub(super) struct Report {
    /// The configuration, which is what an annotation is about if no source line is.
    pub(super) config: PathBuf,
    /// Where the paths of source files begin.
    pub(super) directory: PathBuf,
    pub(super) verdicts: Vec<Verdict>,
    /// So many functions of each budget are told of.
    pub(super) limit: usize,
}

impl Report {
    pub(super) fn outcome(&self) -> Outcome {
        self.verdicts.iter().map(|verdict| verdict.outcome).max().unwrap_or(Outcome::Within)
    }

    /// The functions of a budget that are told of, and how many are not.
    pub(super) fn told<'c>(&self, check: &'c Check) -> (&'c [Responsible], usize) {
        let count =
            if self.limit == 0 { check.functions.len() } else { self.limit.min(check.functions.len()) };
        (check.functions.get(..count).unwrap_or_default(), check.functions.len() - count)
    }

    /// The verdict in a sentence.
    pub(super) fn sentence(&self) -> String {
        let count = |outcome| self.verdicts.iter().filter(|verdict| verdict.outcome == outcome).count();
        let all = self.verdicts.len();
        let benchmarks = if all == 1 { "1 benchmark".to_owned() } else { format!("{all} benchmarks") };
        let parts: Vec<String> = [
            (count(Outcome::Over), "over budget"),
            (count(Outcome::Unknown), "could not be told"),
            (count(Outcome::Advice), "to look at"),
        ]
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
        if parts.is_empty() {
            format!("{benchmarks}, all within budget")
        } else {
            format!("{benchmarks}: {}", parts.join(", "))
        }
    }

    /// The line to show a verdict beside: where the function stands that is most responsible, if its file is here, or else
    /// the budget.
    pub(super) fn place(&self, check: &Check) -> (PathBuf, u64) {
        let worst = check.functions.iter().filter(|row| row.delta() > 0);
        let places = worst.filter_map(|row| Some((row.function.as_ref()?.file.as_str(), row.line?)));
        let mut places = places
            .filter(|(file, _)| Path::new(file).is_relative())
            .map(|(file, line)| (self.directory.join(file), line));
        let source = places.find(|(path, _)| path.is_file());
        source.unwrap_or_else(|| (self.config.clone(), check.line as u64))
    }
}

/// `Ir 1,000 → 1,200, +200 (+20.00 %)`
pub(super) fn change(check: &Check) -> String {
    let subject = if check.is_total { String::new() } else { format!(" of {}", check.subject) };
    match check.base {
        None => format!("{}{subject} {}", check.event, grouped(check.cost)),
        Some(base) if base == check.cost => format!("{}{subject} {}, unchanged", check.event, grouped(base)),
        Some(base) => format!(
            "{}{subject} {} → {}, {}",
            check.event,
            grouped(base),
            grouped(check.cost),
            difference(base, check.cost)
        ),
    }
}

/// `+200 (+20.00 %)`
pub(super) fn difference(base: i128, cost: i128) -> String {
    match percent(base, cost) {
        Some(percent) => format!("{} ({percent})", signed(cost - base)),
        None => signed(cost - base),
    }
}

pub(super) fn signed(number: i128) -> String {
    if number > 0 { format!("+{}", grouped(number)) } else { grouped(number) }
}

/// By how much a cost changed in percent of what it was, in hundredths; None where it was nothing.
pub(super) fn percent(base: i128, cost: i128) -> Option<String> {
    let hundredths = (cost - base).checked_mul(10_000)?.checked_div(base.abs())?;
    let sign = match hundredths {
        0 if cost != base => return Some(if cost > base { "+0.00 %" } else { "-0.00 %" }.to_owned()),
        0 => "",
        1.. => "+",
        _ => "-",
    };
    let hundredths = hundredths.unsigned_abs();
    Some(format!("{sign}{}.{:02} %", hundredths / 100, hundredths % 100))
}

/// What a row is about.
pub(super) fn row_name(row: &Responsible) -> (&str, &str) {
    match &row.function {
        Some(name) => (&name.name, &name.file),
        None => ("functions too small to be listed", ""),
    }
}

/// What else there is to say of a row: how often it was called, or that it is new.
pub(super) fn row_note(row: &Responsible) -> String {
    match (row.note, row.calls) {
        (Some(note), _) => note.to_owned(),
        (None, Some((before, after))) if before != after => {
            format!("calls {} → {}", grouped(before), grouped(after))
        }
        _ => String::new(),
    }
}

/// A check in words: what it came to, and why.
pub(super) fn message(verdict: &Verdict, check: &Check) -> String {
    let mut text = format!("{}: {}", verdict.name, change(check));
    match check.outcome {
        Outcome::Within => {}
        Outcome::Over | Outcome::Advice if check.limit.is_some() => {
            text.push_str(&format!("; allowed: {}", check.allowed));
        }
        _ => text.push_str("; could not be told"),
    }
    if let Some(note) = &check.note {
        text.push_str(&format!("; {note}"));
    }
    let told: Vec<String> = check
        .functions
        .iter()
        .take(3)
        .map(|row| format!("{} {}", row_name(row).0, signed(row.delta())))
        .collect();
    if !told.is_empty() && check.outcome != Outcome::Within {
        text.push_str(&format!("; most by {}", told.join(", ")));
    }
    if let Some(reason) = check.reasons.first() {
        text.push_str(&format!("; {}", reason.text));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents() {
        for (base, cost, shown) in [
            (1000, 1200, Some("+20.00 %")),
            (3, 2, Some("-33.33 %")),
            (1_000_000, 1_000_001, Some("+0.00 %")),
            (1_000_000, 999_999, Some("-0.00 %")),
            (5, 5, Some("0.00 %")),
            (-10, -5, Some("+50.00 %")),
            (0, 5, None),
        ] {
            assert_eq!(percent(base, cost).as_deref(), shown, "{base} {cost}");
        }
    }
}
