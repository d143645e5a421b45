//! `gristmill functions`: the flat profile.

use gristmill_format::ProducerKind;
use gristmill_report::{Functions, FunctionsOptions, Grouping};

use crate::args::{FunctionsArgs, GroupBy, InclusiveRule};
use crate::commands::{is_for_programs, print_report, tell_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::load;
use crate::session::Session;

/// So many rows are read at a glance; those who want more say so.
const ROWS: usize = 30;

pub(crate) fn run(args: &FunctionsArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let pattern = |text: &Option<String>| text.as_deref().map(load::pattern).transpose();
    let (filter, object, file) = (pattern(&args.filter)?, pattern(&args.object)?, pattern(&args.file)?);
    let profile = load::profile(&args.files, &args.profile.selection, session)?;
    let view = load::view(profile, &args.profile, args.format)?;
    let relative_to = args.relative_to.as_deref().map(|name| load::function(&view, name)).transpose()?;
    let per_call = args.per_call && calls_are_counted(view.profile(), session);
    let report = Functions::new(
        &view,
        &FunctionsOptions {
            grouping: match args.group {
                None => Grouping::Function,
                Some(GroupBy::Object) => Grouping::Object,
                Some(GroupBy::File) => Grouping::File,
                Some(GroupBy::Dir) => Grouping::Directory,
                Some(GroupBy::Class) => Grouping::Class,
                Some(GroupBy::Cycle) => Grouping::Cycle,
            },
            sort: args.sort.into(),
            limit: args.format.limit(args.limit, ROWS, None),
            filter,
            object,
            file,
            relative_to,
            per_call,
        },
    );
    if per_call && is_for_programs(args.format) {
        session.warn("costs by call are shown in text and Markdown only: --per-call does nothing here");
    }
    if !matches!(args.group, None | Some(GroupBy::Cycle)) && args.profile.inclusive != InclusiveRule::Own {
        session
            .warn("groups cost what they and the calls that leave them cost: --inclusive does nothing here");
    }
    tell_notes(&report.head, args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}

/// In sampled profiles nobody counted calls, so that a cost by call would be made up.
fn calls_are_counted(profile: &gristmill_profile::Profile, session: &Session) -> bool {
    let is_sampled = profile.producers().any(ProducerKind::is_sampled);
    if is_sampled {
        session.warn("this profile was sampled: its calls were not counted, so there are no costs by call");
    }
    !is_sampled
}
