//! `gristmill show`: one function in the round.

use gristmill_report::{Show, ShowOptions};

use crate::args::ShowArgs;
use crate::commands::{print_report, tell_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::load;
use crate::session::Session;

/// So many rows of each list are read at a glance; those who want more say so.
const ROWS: usize = 10;

pub(crate) fn run(args: &ShowArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let profile = load::profile(&args.files, &args.profile.selection, session)?;
    let view = load::view(profile, &args.profile, args.format)?;
    let options = ShowOptions {
        function: load::function(&view, &args.function)?,
        depth: usize::try_from(args.depth).unwrap_or(usize::MAX),
        lines: args.format.limit(args.lines, ROWS, None),
        limit: args.format.limit(args.limit, ROWS, None),
    };
    let report = Show::new(&view, &options)
        .map_err(|error| CliError::Usage { message: error.to_string(), hint: None })?;
    tell_notes(&report.head, args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}
