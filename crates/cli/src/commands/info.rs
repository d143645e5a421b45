//! `gristmill info`: shows what is in a profile.
//!
//! Each file is read, reported and dropped before the next one, so memory is that of the largest. A file that is not a
//! profile is a failure.

use std::path::Path;

use gristmill_report::info::{InfoReport, JsonPrinter};

use crate::args::{InfoArgs, InfoFormat};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::load::{self, refusal};
use crate::session::Session;

pub(crate) fn run(args: &InfoArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let files = found_files::or_newest(&args.files, session)?;
    let mut status = ExitStatus::Success;
    let mut printer = match args.format {
        InfoFormat::Text => Printer::Text { file_count: 0 },
        InfoFormat::Json => Printer::Json(JsonPrinter::begin(&mut **session.stdout())?),
    };
    for path in &files {
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
        if let Some(refusal) = refusal::of_input(&input) {
            return Err(refusal);
        }
        let mut file = input.as_read_file();
        // Sums with costs that wrapped at their producer mean nothing.
        let restored = load::with_restored_costs(&input);
        if let Some((bytes, _)) = &restored {
            file.bytes = bytes;
        }
        let mut report = InfoReport::new(&file).map_err(|error| CliError::Usage {
            message: error.to_string(),
            hint: Some("name a file that a profiler wrote; it has an `events:` line near its top".to_owned()),
        })?;
        if restored.is_some() {
            // The findings are those of the file as it is.
            let as_it_is = input.as_read_file();
            report.findings = InfoReport::new(&as_it_is).map_or(report.findings, |report| report.findings);
        }
        report.damage.extend(restored.iter().flat_map(|(_, damage)| damage.clone()));
        if matches!(self, Printer::Json(_)) {
            report.damage.iter().for_each(|damage| session.warn(&damage.text));
        }
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
