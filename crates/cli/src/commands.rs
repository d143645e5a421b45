//! The commands, one file each: from plain options to library calls to output.

pub(crate) mod annotate;
pub(crate) mod completions;
pub(crate) mod control;
pub(crate) mod diff;
pub(crate) mod functions;
pub(crate) mod gate;
pub(crate) mod info;
pub(crate) mod lint;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod overview;
pub(crate) mod record;
pub(crate) mod rewrite;
pub(crate) mod show;
pub(crate) mod tree;
pub(crate) mod view;

use std::io::Write as _;

use gristmill_profile::Profile;
use gristmill_report::{Head, Report, inlining_notes};

use crate::args::ReportFormat;
use crate::error::CliError;
use crate::session::Session;

/// Writes a report in a format, and flushes it: dropping a large profile takes time.
fn print_report(report: &dyn Report, format: ReportFormat, session: &Session) -> Result<(), CliError> {
    let out = &mut *session.stdout();
    match format {
        ReportFormat::Text => report.write_text(&session.look(), out),
        ReportFormat::Json => report.write_json(out),
        ReportFormat::Csv => report.write_csv(out),
        ReportFormat::Markdown => report.write_markdown(out),
    }?;
    out.flush().map_err(CliError::Stdout)
}

/// Warns about the notes of a report in formats that cannot show them.
fn warn_of_notes(head: &Head, profile: &Profile, format: ReportFormat, session: &Session) {
    if !is_for_programs(format) {
        return;
    }
    head.damage.iter().for_each(|damage| session.warn(&damage.text));
    // JSON has all notes. Those on inlined functions are no warnings: somebody asked for these.
    let silent = if matches!(format, ReportFormat::Json) { inlining_notes(profile) } else { Vec::new() };
    head.notes.iter().filter(|note| !silent.contains(note)).for_each(|note| session.warn(note));
}

fn is_for_programs(format: ReportFormat) -> bool {
    matches!(format, ReportFormat::Json | ReportFormat::Csv)
}
