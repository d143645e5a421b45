//! `gristmill functions`: the flat profile.

use gristmill_format::ProducerKind;
use gristmill_output::printable;
use gristmill_profile::FileId;
use gristmill_report::{Functions, FunctionsOptions, Grouping, ProgramLines, View};

use crate::args::{FunctionsArgs, GroupBy, InclusiveRule, SortKey, ThenBy};
use crate::commands::{is_for_programs, print_report, warn_of_notes};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::inlined::{warn_of_unused_options, with_inlined};
use crate::load;
use crate::profile_files::modified;
use crate::session::Session;
use crate::source_finder::SourceFinder;

/// Rows for people, unless `--limit` gives a number.
const DEFAULT_ROWS: usize = 30;

pub(crate) fn run(args: &FunctionsArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let pattern = |text: &Option<String>| text.as_deref().map(load::pattern).transpose();
    let (filter, object, file) = (pattern(&args.filter)?, pattern(&args.object)?, pattern(&args.file)?);
    let files = found_files::or_newest(&args.files, session)?;
    let profile = load::profile(&files, &args.profile.selection, session)?;
    warn_of_unused_options(&[&profile], args.profile.inlined, &args.program, session);
    let profile = with_inlined(profile, args.profile.inlined, &args.program, &args.source.sources_below)?;
    let mut options = load::view_options(&args.profile, args.format)?;
    let redistributes = load::attribution::is_given(&args.attribution);
    if redistributes && matches!(args.group, Some(GroupBy::Thread | GroupBy::Part)) {
        return Err(CliError::Usage {
            message: "--focus, --exclude and --hide have no meaning for threads and parts".to_owned(),
            hint: Some("choose them with --thread or --part".to_owned()),
        });
    }
    if args.group == Some(GroupBy::Line) {
        refuse_for_lines(args, redistributes)?;
    }
    if args.then.is_some() && matches!(args.group, Some(GroupBy::Cycle | GroupBy::Thread | GroupBy::Part)) {
        return Err(CliError::Usage {
            message: "--then goes below groups of functions, not below cycles, threads and parts".to_owned(),
            hint: Some("choose a thread with --thread, a part with --part".to_owned()),
        });
    }
    let view = load::attribution::view(profile, &args.attribution, &mut options, "functions", session)?;
    let relative_to =
        args.relative_to.as_deref().map(|name| load::function(&view, name, session)).transpose()?;
    let chosen = FunctionsOptions {
        sort: args.sort.into(),
        limit: args.format.limit(args.limit, DEFAULT_ROWS, None),
        filter,
        object,
        file,
        relative_to,
        ..FunctionsOptions::default()
    };
    if args.group == Some(GroupBy::Line) {
        if args.profile.inclusive != InclusiveRule::Gristmill {
            session.warn(
                "--inclusive has no effect on lines: they have their self cost and the cost of their calls",
            );
        }
        let time = files.iter().filter_map(|path| modified(path)).min();
        let sources = SourceFinder::new(&args.source, &args.program.debuginfo_dir, time, session)?;
        return print_lines(args, &view, &chosen, &sources, session);
    }
    let rates = if args.rates { load::rates(&view, &options)? } else { None };
    if args.rates && rates.is_none() {
        session.warn(
            "--rates has no effect: the profile has no simulation of caches or branches; record with --cache-sim=yes --branch-sim=yes",
        );
    }
    let per_call = args.per_call && calls_are_counted(view.profile(), session);
    let grouping = match args.group {
        // Lines are another report.
        None | Some(GroupBy::Line) => Grouping::Function,
        Some(GroupBy::Object) => Grouping::Object,
        Some(GroupBy::File) => Grouping::File,
        Some(GroupBy::Dir) => Grouping::Directory,
        Some(GroupBy::Class) => Grouping::Class,
        Some(GroupBy::Crate) => Grouping::Crate,
        Some(GroupBy::Package) => Grouping::Package,
        Some(GroupBy::Cycle) => Grouping::Cycle,
        Some(GroupBy::Thread) => Grouping::Thread,
        Some(GroupBy::Part) => Grouping::Part,
    };
    let options = FunctionsOptions {
        grouping,
        then: args.then.map(|then| (grouping_of(then), if is_for_programs(args.format) { 100 } else { 5 })),
        per_call,
        folds_start_up: !args.no_fold_start_up,
        rates,
        ..chosen
    };
    Functions::check(&view, grouping).map_err(|error| load::unseen(&error))?;
    let report = Functions::new(&view, &options);
    if per_call && is_for_programs(args.format) {
        session.warn("--per-call has no effect: only text and Markdown have costs per call");
    }
    if !matches!(args.group, None | Some(GroupBy::Cycle))
        && args.profile.inclusive != InclusiveRule::Gristmill
    {
        session
            .warn("--inclusive has no effect on groups: their inclusive cost is self cost plus cost of the calls that leave them");
    }
    if matches!(args.group, Some(GroupBy::Thread | GroupBy::Part))
        && (args.object.is_some() || args.file.is_some())
    {
        session.warn("--object and --file have no effect on threads and parts: these have all functions");
    }
    if report.matching == 0
        && let Some(filter) = &args.filter
    {
        // Groups have names of their own.
        let nearest = if grouping == Grouping::Function { view.nearest_name(filter) } else { None };
        load::warn_of_no_match(grouping.nouns().0, filter, nearest.as_deref(), session);
    }
    warn_of_missing_objects(args, &view, &options, session);
    warn_of_missing_sources(args, view.subjects().map(|(_, subject)| subject.file), &view, &options, session);
    warn_of_notes(&report.head, view.profile(), args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}

/// Refuses options that have no meaning for source lines.
fn refuse_for_lines(args: &FunctionsArgs, redistributes: bool) -> Result<(), CliError> {
    let refused = [
        (redistributes, "--focus, --exclude and --hide have", "choose functions with --filter"),
        (args.then.is_some(), "--then has", "leave it out: each line has its function"),
        (args.per_call, "--per-call has", "leave it out: a profile does not count how often a line runs"),
        (args.rates, "--rates has", "show the event types of the misses with --event"),
        (args.sort == SortKey::Calls, "--sort calls has", "sort by self, inclusive or name"),
    ];
    match refused.into_iter().find(|(is_given, ..)| *is_given) {
        None => Ok(()),
        Some((_, option, hint)) => Err(CliError::Usage {
            message: format!("{option} no meaning for source lines"),
            hint: Some(hint.to_owned()),
        }),
    }
}

/// Prints the most expensive source lines.
fn print_lines(
    args: &FunctionsArgs,
    view: &View,
    options: &FunctionsOptions,
    sources: &SourceFinder<'_>,
    session: &Session,
) -> Result<ExitStatus, CliError> {
    let report = ProgramLines::new(view, options)
        .map_err(|error| CliError::Usage { message: error.to_string(), hint: None })?
        .with_sources(sources);
    if let Some(filter) = &args.filter
        && !view.subjects().any(|(_, subject)| options.takes_name(subject.name()))
    {
        load::warn_of_no_match("function", filter, view.nearest_name(filter).as_deref(), session);
    }
    warn_of_missing_objects(args, view, options, session);
    // Inlined code is in files that no function begins in.
    warn_of_missing_sources(args, view.profile().files(), view, options, session);
    for (path, remark) in report.source_remarks() {
        session.warn(&format!("{path}: {}", printable(remark.to_string().as_bytes())));
    }
    warn_of_notes(&report.head, view.profile(), args.format, session);
    print_report(&report, args.format, session)?;
    Ok(ExitStatus::Success)
}

/// Warns if no object file matches the pattern for them.
fn warn_of_missing_objects(args: &FunctionsArgs, view: &View, options: &FunctionsOptions, session: &Session) {
    let (Some(text), Some(pattern)) = (&args.object, &options.object) else { return };
    let object = |object| String::from_utf8_lossy(view.profile().object(object));
    if !view.subjects().any(|(_, subject)| pattern.is_match(&object(subject.object))) {
        load::warn_of_no_file("object file", text, session);
    }
}

/// Warns if none of these source files matches the pattern for them.
fn warn_of_missing_sources(
    args: &FunctionsArgs,
    mut files: impl Iterator<Item = FileId>,
    view: &View,
    options: &FunctionsOptions,
    session: &Session,
) {
    let (Some(text), Some(pattern)) = (&args.file, &options.file) else { return };
    if !files.any(|file| pattern.is_match(&String::from_utf8_lossy(view.profile().file(file)))) {
        load::warn_of_no_file("source file", text, session);
    }
}

fn grouping_of(then: ThenBy) -> Grouping {
    match then {
        ThenBy::Function => Grouping::Function,
        ThenBy::Object => Grouping::Object,
        ThenBy::File => Grouping::File,
        ThenBy::Dir => Grouping::Directory,
        ThenBy::Class => Grouping::Class,
        ThenBy::Crate => Grouping::Crate,
        ThenBy::Package => Grouping::Package,
    }
}

/// `true` if calls were counted. A sampled profile has no counts, so a cost per call would be wrong.
fn calls_are_counted(profile: &gristmill_profile::Profile, session: &Session) -> bool {
    let is_sampled = profile.producers().any(ProducerKind::is_sampled);
    if is_sampled {
        session.warn("--per-call has no effect: the profile is sampled, and its calls were not counted");
    }
    !is_sampled
}
