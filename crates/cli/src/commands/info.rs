//! `gristmill info`: shows what is in a profile.
//!
//! As text, consecutive files of one recording make one report; JSON has each file for itself. Each recording is read,
//! reported and dropped before the next one, so memory is that of the largest. A file that is not a profile is a failure.

use std::path::Path;

use gristmill_profile::{FileHeader, HEADER_BYTES};
use gristmill_report::info::{InfoFile, InfoReport, JsonPrinter};

use crate::args::{InfoArgs, InfoFormat};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::input::{Input, Packing};
use crate::load::{self, refusal};
use crate::programs::{MapUse, ProgramFinder};
use crate::session::Session;

pub(crate) fn run(args: &InfoArgs, session: &Session) -> Result<ExitStatus, CliError> {
    // Beside the files of threads, Callgrind leaves an empty one.
    let files = refusal::without_base_files(&found_files::or_newest(&args.files, session)?);
    let mut status = ExitStatus::Success;
    let mut printer = match args.format {
        InfoFormat::Text => Printer::Text { has_report: false },
        InfoFormat::Json => Printer::Json(JsonPrinter::begin(&mut **session.stdout())?),
    };
    // Without the option no program is looked at: the command stays as fast as it is.
    let programs = if args.programs { Some(ProgramFinder::new(&args.program, &[])?) } else { None };
    let mut programs = programs.as_ref().map(|finder| (finder, MapUse::new(&args.program)));
    let mut recording = Recording::default();
    for path in &files {
        let input = match read(path, session) {
            Ok(input) => input,
            Err(error) => {
                // The other files may be fine.
                session.report(&error);
                status = ExitStatus::Failure;
                continue;
            }
        };
        let header = FileHeader::parse(&input.bytes[..input.bytes.len().min(HEADER_BYTES)]);
        if !printer.joins_files() || !recording.has_run(&header) {
            printer.write(&std::mem::take(&mut recording).files, programs.as_mut(), session)?;
        }
        recording.header = header;
        recording.files.push(input);
    }
    printer.write(&recording.files, programs.as_mut(), session)?;
    if let Some((_, maps)) = programs {
        maps.warn_of_unused(session);
    }
    if let Printer::Json(printer) = printer {
        printer.end(&mut **session.stdout())?;
    }
    Ok(status)
}

fn read(path: &Path, session: &Session) -> Result<Input, CliError> {
    let input = session.read(path)?;
    match refusal::of_input(&input) {
        Some(refusal) => Err(refusal),
        None => Ok(input),
    }
}

/// Consecutive files of one run.
#[derive(Default)]
struct Recording {
    files: Vec<Input>,
    /// Of the last one.
    header: FileHeader,
}

impl Recording {
    fn has_run(&self, header: &FileHeader) -> bool {
        let FileHeader { pid, command, .. } = header;
        pid.is_some() && (*pid, command) == (self.header.pid, &self.header.command)
    }
}

/// One form of the output.
enum Printer {
    Text { has_report: bool },
    Json(JsonPrinter),
}

impl Printer {
    /// `true` if the files of a recording make one report.
    fn joins_files(&self) -> bool {
        matches!(self, Printer::Text { .. })
    }

    fn write(
        &mut self,
        files: &[Input],
        programs: Option<&mut (&ProgramFinder, MapUse<'_>)>,
        session: &Session,
    ) -> Result<(), CliError> {
        if files.is_empty() {
            return Ok(());
        }
        let profile = load::profile_of_inputs(files, session);
        let mut report = InfoReport::new(files.iter().map(description).collect(), profile);
        if let Some((programs, maps)) = programs {
            maps.see(&report.profile);
            report = report.with_programs(*programs);
        }
        let out = &mut **session.stdout();
        match self {
            Printer::Text { has_report } => {
                if std::mem::replace(has_report, true) {
                    writeln!(out)?;
                }
                report.write_text(&session.look(), out)?;
            }
            Printer::Json(printer) => {
                report.damage.iter().for_each(|damage| session.warn(&damage.text));
                printer.write_file(&report, out)?;
            }
        }
        Ok(())
    }
}

fn description(input: &Input) -> InfoFile {
    let packing = input.packing.map(Packing::as_str);
    InfoFile {
        path: input.path.clone(),
        name: input.name(),
        packing: packing.map(|packing| (packing, input.stored_size)),
    }
}
