//! `gristmill tree`: what called what called what.

use gristmill_report::{Tree, TreeOptions};

use crate::args::{InclusiveRule, TreeArgs};
use crate::commands::{print_report, tell_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::load;
use crate::session::Session;

/// So many nodes are still a tree and no forest; those who want more say so.
const NODES: usize = 100;
/// A program reads more, but the stacks of a small profile may be without number.
const NODES_FOR_PROGRAMS: usize = 10_000;

pub(crate) fn run(args: &TreeArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let profile = load::profile(&args.files, &args.profile.selection, session)?;
    let view = load::view(profile, &args.profile, args.format)?;
    let options = TreeOptions {
        from: args.from.as_deref().map(|name| load::function(&view, name)).transpose()?,
        inverted: args.inverted,
        min_share: args.min,
        max_depth: args.depth,
        limit: args.format.limit(args.limit, NODES, Some(NODES_FOR_PROGRAMS)),
    };
    for (option, is_given) in [
        ("--inclusive", args.profile.inclusive != InclusiveRule::Own),
        ("--no-cycles", args.profile.no_cycles),
    ] {
        if is_given {
            session.warn(&format!("a tree has costs and cycles of its own: {option} does nothing here"));
        }
    }
    let report = Tree::new(&view, &options);
    tell_notes(&report.head, args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}
