//! `gristmill info`: shows what is in a profile.
//!
//! Each file is read, reported and dropped before the next one, so memory is that of the largest. An empty file is reported
//! like any other, as Callgrind writes such files; one that is not a profile is a failure.

use std::path::Path;

use gristmill_report::info::{InfoReport, JsonPrinter};

use crate::args::{InfoArgs, InfoFormat};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::session::Session;

pub(crate) fn run(args: &InfoArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut status = ExitStatus::Success;
    let mut printer = match args.format {
        InfoFormat::Text => Printer::Text { file_count: 0 },
        InfoFormat::Json => Printer::Json(JsonPrinter::begin(&mut **session.stdout())?),
    };
    for path in &args.files {
        if let Err(error) = printer.write_file(path, session) {
            if error.is_broken_pipe() || matches!(error, CliError::Stdout(_)) {
                return Err(error);
            }
            // The other files may be fine.
            session.report(&error);
            status = ExitStatus::Failure;
        }
    }
    if let Printer::Json(printer) = printer {
        printer.end(&mut **session.stdout())?;
    }
    Ok(status)
}

/// One form of the output.
enum Printer {
    Text { file_count: usize },
    Json(JsonPrinter),
}

impl Printer {
    fn write_file(&mut self, path: &Path, session: &Session) -> Result<(), CliError> {
        let input = session.read(path)?;
        let file = input.as_read_file();
        let report = InfoReport::new(&file).map_err(|error| CliError::Usage {
            message: error.to_string(),
            hint: Some("name a file that a profiler wrote; it has an `events:` line near its top".to_owned()),
        })?;
        let out = &mut **session.stdout();
        match self {
            Printer::Text { file_count } => {
                if *file_count > 0 {
                    writeln!(out)?;
                }
                *file_count += 1;
                report.write_text(&session.look(), out)?;
            }
            Printer::Json(printer) => printer.write_file(&report, out)?,
        }
        Ok(())
    }
}
