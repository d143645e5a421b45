//! `--explain` and `--rules`: the rules themselves.

use std::io::{self, Write};

use gristmill_format::{RULES, Rule, Severity};
use serde::Serialize;

use crate::args::LintFormat;
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::{Painted, Painter, printable};
use gristmill_output::wrap::{columns, hang, wrap};

/// So many names are suggested for one that does not exist.
const SUGGESTED: usize = 5;

/// Words are alike from here on; below it a suggestion is a guess.
const ALIKE: f64 = 0.75;

#[derive(Serialize)]
struct Rules {
    rules: Vec<JsonRule>,
}

#[derive(Serialize)]
struct JsonRule {
    name: &'static str,
    severity: &'static str,
    summary: &'static str,
    help: &'static str,
    clause: &'static str,
}

pub(super) fn explain(name: &str, format: LintFormat, session: &Session) -> Result<(), CliError> {
    let name = name.trim().to_ascii_lowercase();
    let Some(rule) = crate::examine::rule(&name) else {
        return Err(unknown_rule(&name));
    };
    let out = &mut *session.stdout();
    if format != LintFormat::Text {
        return json(out, &[rule], format);
    }
    let (paint, width) = (session.paint, session.width);
    writeln!(out, "{} ({})", paint.bold(rule.name), severity(paint, rule.severity, rule.severity.as_str()))?;
    for paragraph in [rule.summary, rule.help] {
        writeln!(out)?;
        for line in wrap(paragraph, width.saturating_sub(2)) {
            writeln!(out, "  {line}")?;
        }
    }
    writeln!(out, "\n{}", hang("  Where from: ", rule.clause, 14, width))?;
    Ok(())
}

pub(super) fn list(format: LintFormat, session: &Session) -> Result<(), CliError> {
    let out = &mut *session.stdout();
    if format != LintFormat::Text {
        return json(out, RULES, format);
    }
    let paint = session.paint;
    let longest = RULES.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    for rule in RULES {
        let head = format!("{:longest$}  {:7}  ", rule.name, rule.severity.as_str());
        let shown = hang(&head, rule.summary, columns(&head), session.width);
        let word = format!("{:7}", rule.severity.as_str());
        writeln!(
            out,
            "{:longest$}  {}{}",
            paint.bold(rule.name),
            severity(paint, rule.severity, &word),
            &shown[longest + 2 + word.len()..]
        )?;
    }
    Ok(())
}

fn severity(paint: Painter, severity: Severity, word: &str) -> Painted<&str> {
    match severity {
        Severity::Error => paint.red(word),
        Severity::Warning => paint.yellow(word),
        Severity::Note => paint.cyan(word),
    }
}

fn json(out: &mut dyn Write, rules: &[&'static Rule], format: LintFormat) -> Result<(), CliError> {
    if format != LintFormat::Json {
        let message = "rules are told as text or as JSON".to_owned();
        return Err(CliError::Usage { message, hint: Some("use --format json, or no --format".to_owned()) });
    }
    let rules = rules
        .iter()
        .map(|rule| JsonRule {
            name: rule.name,
            severity: rule.severity.as_str(),
            summary: rule.summary,
            help: rule.help,
            clause: rule.clause,
        })
        .collect();
    serde_json::to_writer_pretty(&mut *out, &Rules { rules }).map_err(io::Error::from)?;
    writeln!(out)?;
    Ok(())
}

fn unknown_rule(name: &str) -> CliError {
    let alike = alike(name);
    let hint = match alike.as_slice() {
        [] => "gristmill lint --rules lists them all".to_owned(),
        names => format!("did you mean {}?", names.join(", ")),
    };
    let message = format!("there is no rule `{}`", printable(name.as_bytes()));
    CliError::Usage { message, hint: Some(hint) }
}

/// The names most like this one, the closest first.
fn alike(name: &str) -> Vec<&'static str> {
    let mut found: Vec<(f64, &'static str)> = RULES
        .iter()
        .map(|rule| {
            // Whoever remembers one word of the name should find it.
            let is_part = name.len() >= 3 && rule.name.contains(name);
            (strsim::jaro_winkler(name, rule.name) + if is_part { 1.0 } else { 0.0 }, rule.name)
        })
        .filter(|(score, _)| *score > ALIKE)
        .collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(other.1)));
    found.into_iter().take(SUGGESTED).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggestions() {
        assert_eq!(alike("totals-mismach")[0], "totals-mismatch");
        assert!(alike("crlf").contains(&"line-end-crlf"));
        assert!(alike("zzzzzzzz").is_empty());
        assert!(alike("").is_empty());
    }
}
