//! The annotated profile as a document: JSON, or a page of HTML.

use std::io::Write;
use std::sync::Arc;

use gristmill_compat::callgrind_annotate::SortKey;
use gristmill_output::printable;
use gristmill_output::source::SourceError;
use gristmill_report::annotate::{Annotation, AnnotationOptions, PageOptions, SourceRemark};
use gristmill_report::assembly::has_addresses;
use gristmill_report::{EventSelection, View, ViewOptions};

use super::Job;
use crate::args::AnnotateFormat;
use crate::error::CliError;
use crate::load;
use crate::profile_files::warn_of_doubts;
use crate::programs::{ProgramFinder, warn_of_unused_maps};
use crate::session::Session;
use crate::terminal::grouped;

/// The limit of missing files that are named, the most expensive first. The document has all of them.
const MAX_NAMED: usize = 5;

pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    job.refuse_options_of_cachegrind()?;
    let Job { args, .. } = *job;
    let view = view(job)?;
    let options = AnnotationOptions {
        function: job.function()?,
        subject: None,
        file: job.file()?,
        named: job.files.source_names(),
    };
    let mut annotation =
        Annotation::new(&view, &options, job.sources).map_err(|error| load::unseen(&error))?;
    if args.name_inlined {
        let programs = ProgramFinder::new(&args.program, &args.source.sources_below)?;
        warn_of_unused_maps(&args.program, &[job.profile], job.session);
        annotation = annotation.with_inlined(&programs);
        if !has_addresses(job.profile, &load::selection(&args.selection)) {
            job.session.warn("inlined functions need addresses: record with --dump-instr=yes");
        }
        for (text, hint) in annotation.program_remarks() {
            let hint = hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default();
            job.session.warn(&format!("{text}{hint}"));
        }
    }
    warn_of_doubts(job.profile, job.session);
    tell_remarks(&annotation, job.session);
    match args.format {
        AnnotateFormat::Html => {
            annotation.write_html(&PageOptions { context: args.source_context() }, out)?
        }
        AnnotateFormat::Json | AnnotateFormat::Text => annotation.write_json(out)?,
    }
    Ok(())
}

/// Reports remarks on source files. Sources of system libraries are rarely installed, so missing files are reported
/// together.
fn tell_remarks(annotation: &Annotation<'_>, session: &Session) {
    let is_missing = |remark: &SourceRemark| *remark == SourceRemark::Unavailable(SourceError::Missing);
    let (missing, others): (Vec<_>, Vec<_>) =
        annotation.remarks().partition(|(_, remark)| is_missing(remark));
    for (path, remark) in others {
        session.warn(&format!("{path}: {}", printable(remark.to_string().as_bytes())));
    }
    match missing.as_slice() {
        [] => {}
        [(path, remark)] => session.warn(&format!("{path}: {remark}")),
        missing => {
            let mut message = format!("{} source files were not found:", grouped(missing.len() as i128));
            message.extend(missing.iter().take(MAX_NAMED).map(|(path, _)| format!("\n    {path}")));
            if missing.len() > MAX_NAMED {
                message.push_str("\n    …");
            }
            session.warn(&message);
        }
    }
}

/// The view of the requested event types, with the one that decides the order first.
pub(super) fn view(job: &Job<'_>) -> Result<View, CliError> {
    let Job { args, show, profile, .. } = *job;
    let names =
        || profile.events().map(|event| String::from_utf8_lossy(profile.event(event).name).into_owned());
    let sort = SortKey::parse_all(args.sort.as_deref().unwrap_or_default()).unwrap_or_default();
    let first = sort.into_iter().next().map(|key| key.name).filter(|name| !name.is_empty());
    let events = match (first, show) {
        (None, []) => EventSelection::Recorded,
        (None, shown) => EventSelection::Named(shown.to_vec()),
        (Some(first), shown) => {
            let mut events = if shown.is_empty() { names().collect() } else { shown.to_vec() };
            events.retain(|event| *event != first);
            events.insert(0, first);
            EventSelection::Named(events)
        }
    };
    let options = ViewOptions {
        selection: load::selection(&args.selection),
        derive: load::definitions(&args.derive)?,
        events,
        ..ViewOptions::default()
    };
    load::view_with(Arc::clone(profile), &options)
}
