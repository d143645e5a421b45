//! The verdict for a comment on a pull request: the answer first, details folded away.

use std::io::{self, Write};

use super::judge::{Check, Outcome, Verdict};
use super::report::{Report, difference, row_name, row_note, signed};
use crate::terminal::grouped;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "### {} Gristmill gate: {}\n", sign(report.outcome()), report.sentence())?;
    writeln!(out, "| | benchmark | cost | baseline | now | change | allowed |")?;
    writeln!(out, "|---|---|---|--:|--:|--:|---|")?;
    for verdict in &report.verdicts {
        for check in &verdict.checks {
            row(verdict, check, out)?;
        }
        if verdict.failure.is_some() {
            writeln!(out, "| {} | {} | | | | | |", sign(Outcome::Unknown), cell(&verdict.name))?;
        }
    }
    writeln!(out)?;
    for verdict in &report.verdicts {
        details(report, verdict, out)?;
    }
    Ok(())
}

fn sign(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Within => "✅",
        Outcome::Advice => "👀",
        Outcome::Over => "❌",
        Outcome::Unknown => "❓",
    }
}

fn row(verdict: &Verdict, check: &Check, out: &mut dyn Write) -> io::Result<()> {
    let subject = if check.is_total {
        cell(&check.event)
    } else {
        format!("{} of {}", cell(&check.event), cell(&check.subject))
    };
    writeln!(
        out,
        "| {} | {} | {subject} | {} | {} | {} | {} |",
        sign(check.outcome),
        cell(&verdict.name),
        check.base.map_or_else(String::new, grouped),
        grouped(check.cost),
        check.base.map_or_else(String::new, |base| difference(base, check.cost)),
        check.allowed
    )
}

fn details(report: &Report, verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
    if let Some(failure) = &verdict.failure {
        writeln!(out, "**{}** could not be told: {}\n", cell(&verdict.name), cell(failure))?;
    }
    for note in &verdict.notes {
        writeln!(out, "{}: {}\n", cell(&verdict.name), cell(note))?;
    }
    for check in &verdict.checks {
        if let Some(note) = &check.note {
            writeln!(out, "{}, {}: {}\n", cell(&verdict.name), cell(&check.event), cell(note))?;
        }
        let (rows, more) = report.told(check);
        if rows.is_empty() {
            continue;
        }
        // What is over its budget is what people came for.
        let open = if check.outcome == Outcome::Over { " open" } else { "" };
        let subject = if check.is_total { String::new() } else { format!(" of {}", text(&check.subject)) };
        writeln!(
            out,
            "<details{open}><summary>{}: functions responsible for {}{subject}</summary>\n",
            text(&verdict.name),
            text(&check.event)
        )?;
        writeln!(out, "| change | function | file | |\n|--:|---|---|---|")?;
        for row in rows {
            let (name, file) = row_name(row);
            let change = row.base.map_or_else(|| signed(row.delta()), |base| difference(base, row.cost));
            writeln!(out, "| {change} | {} | {} | {} |", cell(name), cell(file), row_note(row))?;
        }
        if more > 0 {
            writeln!(out, "| | {} more | | |", grouped(more))?;
        }
        for (nth, reason) in check.reasons.iter().enumerate() {
            let before = if nth == 0 { "\n" } else { "" };
            writeln!(out, "{before}- {}: {}", signed(reason.effect), cell(&reason.text))?;
        }
        writeln!(out, "\n</details>\n")?;
    }
    Ok(())
}

/// Text in a cell of a table, with nothing in it that Markdown or HTML would take for its own.
fn cell(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len() + 8);
    for character in raw.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' => escaped.extend(['\\', character]),
            // A name such as @everyone would call people.
            '@' => escaped.push_str("&#64;"),
            _ => push_text(character, &mut escaped),
        }
    }
    escaped
}

/// Text in HTML.
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
    fn names_stay_names() {
        assert_eq!(cell("operator|<T>\n@a_b"), "operator\\|&lt;T&gt; &#64;a\\_b");
        assert_eq!(text("a<b> & c"), "a&lt;b&gt; &amp; c");
    }
}
