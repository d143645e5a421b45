//! `gristmill show`: one function with its callers, callees and lines.

use std::path::Path;

use gristmill_output::shell_word;
use gristmill_report::{Show, ShowOptions};

use crate::args::ShowArgs;
use crate::commands::{print_report, warn_of_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::load;
use crate::profile_files::is_profile;
use crate::session::Session;

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
    let view = load::view(profile, &args.profile, args.format)?;
    let options = ShowOptions {
        function: load::function(&view, &args.function, session)?,
        depth: usize::try_from(args.depth).unwrap_or(usize::MAX),
        lines: args.format.limit(args.lines, DEFAULT_ROWS, None),
        limit: args.format.limit(args.limit, DEFAULT_ROWS, None),
    };
    let report = Show::new(&view, &options)
        .map_err(|error| CliError::Usage { message: error.to_string(), hint: None })?;
    warn_of_notes(&report.head, args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}
