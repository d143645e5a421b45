//! `gristmill lint`: checks profiles against the format.

mod excerpt;
mod explain;
mod findings;
mod github;
mod json;
mod sarif;
mod text;

use std::io::{self, Write};
use std::path::Path;

use gristmill_format::{Lint, Severity};

use self::findings::{Counts, Subject};
use crate::args::{FailOn, LintArgs, LintFormat};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::session::Session;

/// So many findings of a rule are shown without --all.
const SHOWN: usize = 3;

/// One format of the output.
trait Printer {
    /// Checks a file and writes what was found.
    fn file(&mut self, out: &mut dyn Write, subject: &Subject<'_>) -> io::Result<Counts>;

    /// A file could not be read; `message` names it and has been said on standard error.
    fn unread(&mut self, out: &mut dyn Write, path: &Path, message: &str) -> io::Result<()>;

    /// All files are done.
    fn end(&mut self, out: &mut dyn Write) -> io::Result<()>;
}

pub(crate) fn run(args: &LintArgs, session: &Session) -> Result<ExitStatus, CliError> {
    if args.rules {
        explain::list(args.format, session)?;
        return Ok(ExitStatus::Success);
    }
    if let Some(name) = &args.explain {
        explain::explain(name, args.format, session)?;
        return Ok(ExitStatus::Success);
    }
    let lint = Lint { strict: args.strict, practice: args.practice };
    let limit = if args.all { None } else { Some(SHOWN as u64) };
    let fail_on = match args.fail_on {
        FailOn::Error => Severity::Error,
        FailOn::Warning => Severity::Warning,
        FailOn::Note => Severity::Note,
    };
    let mut printer: Box<dyn Printer> = match args.format {
        LintFormat::Text => Box::new(text::Text::new(session.paint, session.width)),
        LintFormat::Json => Box::new(json::Json::default()),
        LintFormat::Sarif => Box::new(sarif::Sarif::default()),
        LintFormat::Github => Box::new(github::Github),
    };
    let mut status = ExitStatus::Success;
    for path in &args.files {
        match session.read(path) {
            Ok(input) => {
                let subject = Subject::new(&input, lint, limit);
                let counts = printer.file(&mut **session.stdout(), &subject)?;
                if counts.at_least(fail_on) > 0 {
                    status = status.max(ExitStatus::Findings);
                }
            }
            // The other files may be fine.
            Err(error) => {
                let error = CliError::from(error);
                session.report(&error);
                printer.unread(&mut **session.stdout(), path, &error.to_string())?;
                status = ExitStatus::Failure;
            }
        }
    }
    printer.end(&mut **session.stdout())?;
    Ok(status)
}
