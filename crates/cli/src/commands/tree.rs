//! `gristmill tree`: the call tree.

use gristmill_report::{Tree, TreeOptions};

use crate::args::{InclusiveRule, TreeArgs};
use crate::commands::{is_for_programs, print_report, warn_of_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::inlined::{warn_of_unused_options, with_inlined};
use crate::load;
use crate::session::Session;

/// Nodes for people, unless `--limit` gives a number.
const DEFAULT_NODES: usize = 100;
/// Nodes for programs. There is a limit, as even a small profile can have billions of stacks.
const DEFAULT_NODES_FOR_PROGRAMS: usize = 10_000;

pub(crate) fn run(args: &TreeArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let files = found_files::or_newest(&args.files, session)?;
    let profile = load::profile(&files, &args.profile.selection, session)?;
    warn_of_unused_options(&[&profile], args.profile.inlined, &args.program, session);
    let profile = with_inlined(profile, args.profile.inlined, &args.program, &[])?;
    let mut options = load::view_options(&args.profile, args.format)?;
    options.bypasses_hidden = true;
    let view = load::attribution::view(profile, &args.attribution, &mut options, "tree", session)?;
    let from = args.from.as_deref().map(|name| load::function(&view, name, session)).transpose()?;
    from.map_or(Ok(()), |from| load::attribution::refuse_unseen(&view, &args.attribution, from))?;
    let options = TreeOptions {
        from,
        inverted: args.inverted,
        min_share: args.min,
        max_depth: args.depth,
        max_members: None,
        is_for_people: !is_for_programs(args.format),
        splits_chains: args.no_chains,
        limit: args.format.limit(args.limit, DEFAULT_NODES, Some(DEFAULT_NODES_FOR_PROGRAMS)),
    };
    for (option, is_given) in [
        ("--inclusive", args.profile.inclusive != InclusiveRule::Gristmill),
        ("--no-cycles", args.profile.no_cycles),
    ] {
        if is_given {
            session.warn(&format!("{option} has no effect: a call tree has costs and cycles of its own"));
        }
    }
    let report = Tree::new(&view, &options);
    warn_of_notes(&report.head, view.profile(), args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}
