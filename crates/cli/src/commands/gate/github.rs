//! The verdict as workflow commands, which GitHub shows beside the source line most responsible.

use std::io::{self, Write};

use super::judge::Outcome;
use super::report::{Report, message};
use super::sarif::shown_path;
use crate::terminal::printable;
use gristmill_output::github::{data, property};

pub(super) fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for verdict in &report.verdicts {
        let config = shown_path(&report.config);
        if let Some(failure) = &verdict.failure {
            let title = format!("{} could not be told", verdict.name);
            annotate(out, "error", (&config, verdict.line as u64), &title, failure)?;
        }
        for check in &verdict.checks {
            let (command, what) = match check.outcome {
                Outcome::Within => continue,
                Outcome::Over => ("error", "is over budget"),
                Outcome::Advice => ("warning", "is over an advised budget"),
                Outcome::Unknown => ("error", "could not be told"),
            };
            let (path, line) = report.place(check);
            let title = format!("{} {what}", verdict.name);
            annotate(out, command, (&shown_path(&path), line), &title, &message(verdict, check))?;
        }
    }
    // What a log shows at its end.
    writeln!(out, "{}", report.sentence())
}

fn annotate(
    out: &mut dyn Write,
    command: &str,
    (file, line): (&str, u64),
    title: &str,
    message: &str,
) -> io::Result<()> {
    let message = printable(message.as_bytes());
    let title = printable(title.as_bytes());
    writeln!(
        out,
        "::{command} file={},line={},title={}::{}",
        property(file),
        line.max(1),
        property(&title),
        data(&message)
    )
}
