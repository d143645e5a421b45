//! `gristmill show`: one function with its callers, callees and lines, beside their source.

use std::path::Path;

use gristmill_output::{printable, shell_word};
use gristmill_report::{Show, ShowOptions};

use crate::args::{ReportFormat, ShowArgs};
use crate::commands::{print_report, warn_of_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::inlined::{warn_of_unused_options, with_inlined};
use crate::load;
use crate::profile_files::{is_profile, modified};
use crate::session::Session;
use crate::source_finder::SourceFinder;

/// Rows of each list for people, unless an option gives a number.
const DEFAULT_ROWS: usize = 10;

pub(crate) fn run(args: &ShowArgs, session: &Session) -> Result<ExitStatus, CliError> {
    if args.files.is_empty() && Path::new(&args.function).is_file() && is_profile(Path::new(&args.function)) {
        let file = shell_word(args.function.as_bytes());
        return Err(CliError::Usage {
            message: format!("{file} is a profile, and no function is named"),
            hint: Some(format!(
                "gristmill show FUNCTION {file}; gristmill {file} lists the hottest functions"
            )),
        });
    }
    let files = found_files::or_newest(&args.files, session)?;
    let profile = load::profile(&files, &args.profile.selection, session)?;
    warn_of_unused_options(&[&profile], args.profile.inlined, &args.program, session);
    let profile = with_inlined(profile, args.profile.inlined, &args.program, &args.source.sources_below)?;
    let mut options = load::view_options(&args.profile, args.format)?;
    options.bypasses_hidden = true;
    let view = load::attribution::view(profile, &args.attribution, &mut options, "show FUNCTION", session)?;
    let function = load::function(&view, &args.function, session)?;
    load::attribution::refuse_unseen(&view, &args.attribution, function)?;
    let options = ShowOptions {
        function,
        depth: usize::try_from(args.depth).unwrap_or(usize::MAX),
        lines: args.format.limit(args.lines, DEFAULT_ROWS, None),
        limit: args.format.limit(args.limit, DEFAULT_ROWS, None),
    };
    let report = Show::new(&view, &options)
        .map_err(|error| CliError::Usage { message: error.to_string(), hint: None })?;
    let report = match args.format {
        // It has no lines.
        ReportFormat::Csv => report,
        _ => {
            let time = files.iter().filter_map(|path| modified(path)).min();
            report.with_sources(&SourceFinder::new(&args.source, &args.program.debuginfo_dir, time, session)?)
        }
    };
    for (path, remark) in report.source_remarks() {
        session.warn(&format!("{path}: {}", printable(remark.to_string().as_bytes())));
    }
    warn_of_notes(&report.head, view.profile(), args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}
