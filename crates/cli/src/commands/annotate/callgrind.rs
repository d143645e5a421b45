//! The layout of callgrind_annotate: from its options to the report.

use std::io::Write;

use gristmill_compat::LayoutError;
use gristmill_compat::callgrind_annotate::{DifferingTotal, Options, Report, SortKey, Threshold, with_slash};
use gristmill_output::{grouped, printable};

use super::Job;
use crate::args::{AnnotateArgs, AnnotateTree, YesNo};
use crate::error::CliError;
use crate::load;
use crate::profile_files::warn_of_doubts;

pub(super) fn write(job: &Job<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    job.refuse_options_of_cachegrind()?;
    let refused = |error: &LayoutError| super::refused(error);
    super::refuse_many_costs(job.profile)?;
    let options = options(job)?;
    warn_of_doubts(job.profile, job.session);
    let report = Report::new(job.profile, &options).map_err(|error| refused(&error))?;
    report.write(job.sources, out)?;
    // The layout of the original has no line for the reason.
    let total = report.differing_total();
    if let Some(DifferingTotal { event, claimed, computed }) = &total {
        let (event, claimed, computed) = (printable(event.as_bytes()), grouped(*claimed), grouped(*computed));
        let (files, claim) =
            if job.files.profiles.len() == 1 { ("file", "claims") } else { ("files", "claim") };
        job.session.warn(&format!(
            "the {files} {claim} {claimed} {event}, the lines have {computed}: shares here are of what the {files} {claim}, those of gristmill functions of the lines"
        ));
    }
    if total.is_none() && report.has_share_above_whole() {
        job.session.tell("shares above 100% are of calls of a recursion: their costs contain each other");
    }
    Ok(())
}

fn options(job: &Job<'_>) -> Result<Options, CliError> {
    let Job { args, profile, files, .. } = *job;
    let own = load::definitions(&args.derive)?;
    let sort = sort_keys(args)?;
    let threshold = threshold(args)?;
    let mut options = Options::new(profile, files.names());
    let selected = options.select_events(profile, job.show, &sort, threshold, &own);
    selected.map_err(|error| super::refused(&error))?;
    let include = args.source.include.iter();
    let look = job.look();
    Ok(Options {
        selection: load::selection(&args.selection),
        show_percentages: job.shows_percentages(),
        auto: job.annotates(),
        context: args.source_context(),
        inclusive: args.inclusive.is_some_and(YesNo::is_yes),
        callers: matches!(args.tree, AnnotateTree::Caller | AnnotateTree::Both),
        callees: matches!(args.tree, AnnotateTree::Calling | AnnotateTree::Both),
        include_dirs: include.map(|directory| with_slash(&directory.to_string_lossy())).collect(),
        user_files: files.source_names(),
        function: job.function()?,
        file: job.file()?,
        working_directory: std::env::current_dir()
            .ok()
            .map(|directory| directory.into_os_string().into_encoded_bytes()),
        jumps: args.jumps,
        // Under its own name, the program prints for people and the logs of builds.
        spells_controls: true,
        color: look.has_color,
        ..options
    })
}

/// The event types to sort by.
pub(super) fn sort_keys(args: &AnnotateArgs) -> Result<Vec<SortKey>, CliError> {
    let sort = args.sort.as_deref().unwrap_or_default();
    SortKey::parse_all(sort).map_err(|text| CliError::Usage {
        message: format!("--sort: {} is not a share of a total", printable(text.as_bytes())),
        hint: Some("give a number from 0 to 100, as in Ir:90,Dr:50".to_owned()),
    })
}

/// The share at which the list of functions ends.
pub(super) fn threshold(args: &AnnotateArgs) -> Result<Threshold, CliError> {
    let threshold = args.threshold.as_deref().unwrap_or(Options::DEFAULT_THRESHOLD);
    Threshold::parse(threshold).ok_or_else(|| CliError::Usage {
        message: "--threshold takes a number from 0 to 100".to_owned(),
        hint: Some("for example --threshold=90".to_owned()),
    })
}
