//! Findings as workflow commands, which GitHub shows beside the file. It shows only the first few of a run, so the worst
//! come first.

use std::io::{self, Write};
use std::path::Path;

use gristmill_format::{Finding, Severity};

use super::findings::{Counts, Subject, character_column};
use super::{Printer, SHOWN};
use crate::args::is_dash;
use crate::terminal::{grouped, printable};
use gristmill_output::github::{data, property};

/// With --all so many annotations of a rule come first where they belong; those of a rule with more come last.
const KEPT: usize = 500;

pub(super) struct Github;

impl Printer for Github {
    fn file(&mut self, out: &mut dyn Write, subject: &Subject<'_>) -> io::Result<Counts> {
        let keep = if subject.limit.is_some() { SHOWN } else { KEPT };
        let (groups, counts) = subject.gather(keep);
        for group in &groups {
            let more = group.beyond(group.kept.len());
            if more > 0 && subject.limit.is_none() {
                let mut result = Ok(());
                subject.run(|finding| {
                    if result.is_ok() && finding.rule == group.rule {
                        result = annotation(out, &subject.input.path, &finding, 0);
                    }
                });
                result?;
                continue;
            }
            for (index, finding) in group.kept.iter().enumerate() {
                let more = if index + 1 == group.kept.len() { more } else { 0 };
                annotation(out, &subject.input.path, finding, more)?;
            }
        }
        Ok(counts)
    }

    fn unread(&mut self, out: &mut dyn Write, path: &Path, message: &str) -> io::Result<()> {
        write!(out, "::error ")?;
        file(out, path)?;
        writeln!(out, "title=gristmill::{}", data(message))
    }

    fn end(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}

/// `more` findings of the same rule are not written.
fn annotation(out: &mut dyn Write, path: &Path, finding: &Finding<'_>, more: u64) -> io::Result<()> {
    let command = match finding.rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    write!(out, "::{command} ")?;
    file(out, path)?;
    let message = printable(finding.message.as_bytes());
    write!(
        out,
        "line={},col={},title={}::{}",
        finding.location.line,
        character_column(finding.text, finding.column - 1),
        property(finding.rule.name),
        data(&message),
    )?;
    match more {
        0 => writeln!(out),
        more => writeln!(out, " (and {} more like this in the file)", grouped(more)),
    }
}

/// Standard input has no name to show anything beside.
fn file(out: &mut dyn Write, path: &Path) -> io::Result<()> {
    if is_dash(path) { Ok(()) } else { write!(out, "file={},", property(&path.to_string_lossy())) }
}
