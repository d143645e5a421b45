//! `gristmill diff`: what changed between two profiles, and why.

mod rules;

use std::io::{self, Write};
use std::path::PathBuf;

use gristmill_output::{Look, printable};
use gristmill_profile::Profile;
use gristmill_profile::compare::{
    CompareError, CompareOptions, ComparedTreeView, Comparison, JoinOptions, JoinedId,
};
use gristmill_profile::event_choice::EventSelection;
use gristmill_profile::formula::{Definition, DerivationFault};
use gristmill_report::diff::{
    self, Diff, DiffOptions, DiffTree, DiffTreeOptions, FunctionDiff, MIN_TREE_CHANGE, Page,
};
use gristmill_report::{Grouping, NoMatch, Report as _, find_joined, inlining_notes};
use regex::Regex;

use crate::args::{DiffArgs, DiffFormat, DiffGroup};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::inlined::{sides_with_inlined, warn_of_unused_options};
use crate::load;
use crate::output::{self, Target};
use crate::session::Session;
use crate::source_finder::SourceFinder;
use crate::terminal::printable_path;

/// The limits of nodes of a tree.
const MAX_TREE_NODES: usize = 100;
const MAX_TREE_NODES_FOR_PROGRAMS: usize = 10_000;
/// The limits of rows in text, HTML and Markdown.
const MAX_TEXT_ROWS: usize = 20;
const MAX_PAGE_ROWS: usize = 200;
const MAX_COMMENT_ROWS: usize = 60;
/// The smallest change that people see, in hundred-thousandths of the total.
const MIN_CHANGE: u32 = 10;

pub(crate) fn run(args: &DiffArgs, session: &Session) -> Result<ExitStatus, CliError> {
    if args.list_rules {
        rules::list(session)?;
        return Ok(ExitStatus::Success);
    }
    let format = args.format();
    let filter = args.filter.as_deref().map(load::pattern).transpose()?;
    let joining = joining(args)?;
    let own = load::definitions(&args.derive)?;
    let target = match &args.output {
        Some(path) => output::target(Some(path), &args.inputs(), args.force)?,
        None => Target::Stdout,
    };
    let [base, new] = [args.base_runs(), args.new_runs()];
    for (runs, given, missing) in [(base, "--new", "--base"), (new, "--base", "--new")] {
        if runs.is_empty() {
            return Err(CliError::Usage {
                message: format!("{given} is given without {missing}"),
                hint: Some(format!("{missing} FILE... names the runs of the other side")),
            });
        }
    }
    let recorded = [profiles(base, args, session)?, profiles(new, args, session)?];
    let [base, new] = match args.inlined {
        true => {
            let recorded = recorded.each_ref().map(|runs| runs.iter().collect());
            sides_with_inlined(recorded, &args.program, &args.source.sources_below)?
        }
        false => recorded,
    };
    let files = args.base_runs().iter().chain(args.new_runs());
    for (file, profile) in files.zip(base.iter().chain(&new)) {
        for note in inlining_notes(profile) {
            session.warn(&format!("{}: {note}", printable_path(file)));
        }
    }
    let all: Vec<&Profile> = base.iter().chain(&new).collect();
    warn_of_unused_options(&all, args.inlined, &args.program, session);
    let options = CompareOptions {
        selection: load::selection(&args.selection),
        joining,
        definitions: diff::definitions(base.iter().chain(&new), &own),
        events: match args.event.is_empty() {
            false => EventSelection::Named(args.event.clone()),
            true if is_for_programs(format) => EventSelection::Recorded,
            true => EventSelection::First,
        },
    };
    let [base, new]: [Vec<&Profile>; 2] = [base.iter().collect(), new.iter().collect()];
    if args.tree && matches!(format, DiffFormat::Html | DiffFormat::Callgrind) {
        return Err(CliError::Usage {
            message: "--tree has no such format".to_owned(),
            hint: Some("there are text, json, csv and markdown".to_owned()),
        });
    }
    let comparison = Comparison::new(&base, &new, &options).map_err(|error| refusal_of(&error, &own))?;
    refuse_unlike(args, &comparison)?;
    refuse_underivable(&own, &comparison)?;
    if args.function.is_some() || format == DiffFormat::Callgrind {
        comparison.refuse_wide_lines().map_err(|error| refusal(&error))?;
    }
    let options = options_of(args, format, filter, &comparison)?;
    if let (Some(filter), Some(text), None, false) =
        (&options.filter, &args.filter, &args.function, args.tree)
        && let Some(no_match) = NoMatch::of(&comparison, filter, options.grouping, text)
    {
        load::warn_of_no_match(no_match.noun, text, no_match.nearest.as_deref(), session);
    }
    let function =
        args.function.as_deref().map(|name| function(&comparison, name, &options, session)).transpose()?;
    let look = match target {
        Target::Stdout => session.look(),
        // The width and colors of the reader are unknown.
        Target::File(_) => session.look_of_files(),
    };
    if is_for_programs(format) {
        // Documents for people contain them.
        diff::doubts(&comparison, &options.columns).iter().for_each(|doubt| session.warn(doubt));
    }
    if format == DiffFormat::Callgrind {
        session.write_profile_to(&target, args.force, |out| write_difference(&comparison, out))?;
        return Ok(ExitStatus::Success);
    }
    session.write_to(&target, args.force, |out| {
        if args.tree {
            return Ok(write_tree(&comparison, args, options.columns.clone(), format, &look, out)?);
        }
        match (&function, format) {
            // There can be as many rows as functions.
            (None, DiffFormat::Json) => return Ok(diff::write_json(&comparison, &options, out)?),
            (None, DiffFormat::Csv) => return Ok(diff::write_csv(&comparison, &options, out)?),
            _ => {}
        }
        let report: Box<dyn Page> = match function {
            None => Box::new(Diff::new(&comparison, &options)),
            Some(function) => {
                let sources = SourceFinder::new(&args.source, &args.program.debuginfo_dir, None, session)?;
                Box::new(FunctionDiff::new(&comparison, &options, function, &sources))
            }
        };
        Ok(print(&*report, format, &look, out)?)
    })?;
    Ok(ExitStatus::Success)
}

fn print(report: &dyn Page, format: DiffFormat, look: &Look, out: &mut dyn Write) -> io::Result<()> {
    match format {
        DiffFormat::Json => report.write_json(out),
        DiffFormat::Csv => report.write_csv(out),
        DiffFormat::Markdown => report.write_markdown(out),
        DiffFormat::Html => report.write_html(out),
        DiffFormat::Text | DiffFormat::Callgrind => report.write_text(look, out),
    }
}

fn is_for_programs(format: DiffFormat) -> bool {
    matches!(format, DiffFormat::Json | DiffFormat::Csv | DiffFormat::Callgrind)
}

/// Loads the runs of a side, each with the other files of its recording if that is asked for.
fn profiles(files: &[PathBuf], args: &DiffArgs, session: &Session) -> Result<Vec<Profile>, CliError> {
    let load = |file: &PathBuf| {
        let profile = load::profile(std::slice::from_ref(file), &args.selection, session)?;
        if profile.function_count() == 0 {
            return Err(CliError::Usage {
                message: format!("{}: no function to compare", printable_path(file)),
                hint: Some("gristmill lint shows what is wrong with a profile".to_owned()),
            });
        }
        Ok(profile)
    };
    let runs = files.iter().map(load).collect::<Result<Vec<_>, _>>()?;
    load::together::check_runs(files, &runs, session);
    Ok(runs)
}

fn joining(args: &DiffArgs) -> Result<JoinOptions, CliError> {
    let bytes = |path: &PathBuf| path.as_os_str().as_encoded_bytes().to_owned();
    let pair = |text: &String| match text.split_once('=') {
        Some((from, to)) if !from.is_empty() => Ok((from.as_bytes().to_owned(), to.as_bytes().to_owned())),
        _ => Err(CliError::Usage {
            message: format!("--map '{}': there is no FROM=TO", printable(text.as_bytes())),
            hint: Some("a map looks like /build/old=/build/new".to_owned()),
        }),
    };
    Ok(JoinOptions {
        rules: rules::chosen(&args.rule, &args.no_rule)?,
        strip_prefix: args.strip_prefix.iter().map(bytes).collect(),
        map: args.map.iter().map(pair).collect::<Result<_, _>>()?,
        fold_recursion: args.fold_recursion,
        fold_callers: args.fold_callers,
    })
}

/// The error for sides that cannot be compared with event types of the user.
fn refusal_of(error: &CompareError, own: &[Definition]) -> CliError {
    match error {
        CompareError::UnknownEvent { fault: Some(fault), known, .. }
            if own.iter().any(|definition| fault.prevents(&definition.name)) =>
        {
            underivable(fault, known)
        }
        error => refusal(error),
    }
}

fn refusal(error: &CompareError) -> CliError {
    let hint = match error {
        CompareError::NothingSelected => Some("gristmill info lists the parts".to_owned()),
        CompareError::NoCommonEvent(..) => {
            Some("gristmill info lists the event types of a profile".to_owned())
        }
        CompareError::UnknownEvent { known, .. } => {
            Some(load::known_events(known.iter().map(String::as_bytes)))
        }
        CompareError::TooManyCosts(_) => Some("--event chooses fewer event types".to_owned()),
        _ => None,
    };
    CliError::Usage { message: printable(error.to_string().as_bytes()).into_owned(), hint }
}

fn refuse_unlike(args: &DiffArgs, comparison: &Comparison<'_>) -> Result<(), CliError> {
    let unlike = if args.strict_environment { comparison.environment() } else { Vec::new() };
    if unlike.is_empty() {
        return Ok(());
    }
    let sentences: Vec<String> = unlike.iter().map(diff::warning).collect();
    Err(CliError::Usage {
        message: format!("the recordings differ: {}", sentences.join("; ")),
        hint: Some("without --strict-environment, this is a warning".to_owned()),
    })
}

/// Refuses event types of the user that cannot be derived.
fn refuse_underivable(own: &[Definition], comparison: &Comparison<'_>) -> Result<(), CliError> {
    let is_own = |fault: &&DerivationFault| own.iter().any(|definition| fault.prevents(&definition.name));
    let Some(fault) = comparison.faults().iter().find(is_own) else { return Ok(()) };
    Err(underivable(fault, &common_events(comparison)))
}

fn underivable(fault: &DerivationFault, known: &[String]) -> CliError {
    CliError::Usage {
        message: format!("--derive: {}", printable(fault.to_string().as_bytes())),
        hint: Some(load::known_events(known.iter().map(String::as_bytes))),
    }
}

/// The names of the event types that both sides have.
fn common_events(comparison: &Comparison<'_>) -> Vec<String> {
    comparison.events().iter().filter(|event| event.is_common()).map(diff::event_name).collect()
}

fn options_of(
    args: &DiffArgs,
    format: DiffFormat,
    filter: Option<Regex>,
    comparison: &Comparison<'_>,
) -> Result<DiffOptions, CliError> {
    let is_for_programs = is_for_programs(format);
    let rows = match format {
        DiffFormat::Text => Some(MAX_TEXT_ROWS),
        DiffFormat::Markdown => Some(MAX_COMMENT_ROWS),
        DiffFormat::Html => Some(MAX_PAGE_ROWS),
        DiffFormat::Json | DiffFormat::Csv | DiffFormat::Callgrind => None,
    };
    Ok(DiffOptions {
        columns: comparison.columns().to_vec(),
        grouping: match args.group {
            // Functions that cannot be joined say nothing to people.
            None if !is_for_programs
                && args.filter.is_none()
                && !comparison.nameless_objects().is_empty() =>
            {
                Grouping::Object
            }
            None => Grouping::Function,
            Some(DiffGroup::Object) => Grouping::Object,
            Some(DiffGroup::File) => Grouping::File,
            Some(DiffGroup::Dir) => Grouping::Directory,
            Some(DiffGroup::Class) => Grouping::Class,
            Some(DiffGroup::Crate) => Grouping::Crate,
            Some(DiffGroup::Package) => Grouping::Package,
        },
        sort: args.sort.into(),
        limit: match args.limit {
            Some(0) => None,
            Some(limit) => Some(limit),
            None => rows,
        },
        min: args.min.unwrap_or(if is_for_programs { 0 } else { MIN_CHANGE }),
        filter,
        causes: match args.limit {
            Some(0) => None,
            Some(limit) => Some(limit),
            None => rows.map(|rows| rows.min(MAX_CAUSES)),
        },
        show_joined: args.show_joined,
    })
}

/// The limit of causes for people.
const MAX_CAUSES: usize = 10;

/// Finds the function that an option names.
fn function(
    comparison: &Comparison<'_>,
    query: &str,
    options: &DiffOptions,
    session: &Session,
) -> Result<JoinedId, CliError> {
    let column = options.columns.first().copied().unwrap_or(0);
    let found = find_joined(comparison, query, column).map_err(|error| CliError::Usage {
        message: error.to_string(),
        hint: Some("`gristmill functions FILE` lists them".to_owned()),
    })?;
    found.remark_on_change(query).iter().for_each(|remark| session.tell(remark));
    Ok(found.function.id)
}

/// Writes the call trees of both sides, joined.
fn write_tree(
    comparison: &Comparison<'_>,
    args: &DiffArgs,
    columns: Vec<usize>,
    format: DiffFormat,
    look: &Look,
    out: &mut dyn Write,
) -> io::Result<()> {
    let for_programs = is_for_programs(format);
    let options = DiffTreeOptions {
        columns,
        min: args.min.unwrap_or(if for_programs { 0 } else { MIN_TREE_CHANGE }),
        max_depth: args.depth,
        limit: match args.limit {
            Some(0) => None,
            None if for_programs => Some(MAX_TREE_NODES_FOR_PROGRAMS),
            limit => Some(limit.unwrap_or(MAX_TREE_NODES)),
        },
    };
    let tree = match for_programs {
        true => DiffTree::with_view(comparison, &options, ComparedTreeView::default()),
        false => DiffTree::new(comparison, &options),
    };
    match format {
        DiffFormat::Json => tree.write_json(out),
        DiffFormat::Csv => tree.write_csv(out),
        DiffFormat::Markdown => tree.write_markdown(out),
        DiffFormat::Text | DiffFormat::Html | DiffFormat::Callgrind => tree.write_text(look, out),
    }
}

/// Writes the difference as a profile.
fn write_difference(comparison: &Comparison<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    let creator = format!("gristmill-{} diff", env!("CARGO_PKG_VERSION"));
    comparison.write_difference(&creator, out).map(drop).map_err(|error| {
        CliError::from_sink(&error).unwrap_or_else(|| CliError::Profile {
            message: format!("the difference cannot be written: {}", error.kind()),
            hint: None,
        })
    })
}
