//! `gristmill FILE`: the first screen.

use std::path::Path;

use gristmill_output::shell_word;
use gristmill_report::{Overview, OverviewOptions};

use crate::args::{OverviewArgs, is_dash};
use crate::commands::{is_for_programs, print_report, warn_of_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::inlined::{warn_of_unused_options, with_inlined};
use crate::load;
use crate::session::Session;

/// Functions, unless `--limit` gives a number.
const DEFAULT_ROWS: usize = 10;

pub(crate) fn run(args: &OverviewArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let files = found_files::or_newest(&args.files, session)?;
    let profile = load::profile(&files, &args.profile.selection, session)?;
    warn_of_unused_options(&[&profile], args.profile.inlined, &args.program, session);
    let profile = with_inlined(profile, args.profile.inlined, &args.program, &[])?;
    let view = load::view(profile, &args.profile, args.format)?;
    let options = OverviewOptions {
        limit: args.format.limit(args.limit, DEFAULT_ROWS, Some(DEFAULT_ROWS)),
        is_for_people: !is_for_programs(args.format),
        omits_next_steps: false,
        selection: quoted(args.profile.selection_words().iter().map(String::as_bytes)),
        rule: quoted(args.profile.rule_words().iter().map(String::as_bytes)),
        // The commands find the same files.
        files: args.files.iter().map(|path| operand(path)).collect::<Vec<_>>().join(" "),
    };
    let report = Overview::new(&view, &options);
    warn_of_notes(&report.head, view.profile(), args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}

fn quoted<'w>(words: impl Iterator<Item = &'w [u8]>) -> String {
    words.map(shell_word).collect::<Vec<_>>().join(" ")
}

/// The path as an argument, quoted for a shell: one that begins with a dash is no option.
fn operand(path: &Path) -> String {
    let is_like_option = path.as_os_str().as_encoded_bytes().starts_with(b"-") && !is_dash(path);
    let path = if is_like_option { Path::new(".").join(path) } else { path.to_owned() };
    shell_word(path.as_os_str().as_encoded_bytes())
}
