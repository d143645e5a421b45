//! `--compat exact`: the numbers of callgrind_annotate, with its errors.

use gristmill_compat::callgrind_annotate::exact::{ExactError, ExactOptions, ExactReport};
use gristmill_compat::callgrind_annotate::with_slash;

use gristmill_output::printable;
use gristmill_output::source::{SourceError, Sources as _};

use super::{callgrind, usage};
use crate::args::{AnnotateArgs, AnnotateFormat, AnnotateStyle, AnnotateTree, YesNo};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::output;
use crate::profile_files::modified;
use crate::session::Session;
use crate::source_finder::SourceFinder;

/// Prints what the original prints. The first file is the profile, all others are source files.
pub(super) fn run(args: &AnnotateArgs, session: &Session) -> Result<ExitStatus, CliError> {
    refuse_other_options(args)?;
    let found = if args.files.is_empty() { found_files::newest(session)? } else { Vec::new() };
    let mut files = args.files.iter().chain(&found);
    let Some(path) = files.next() else {
        return Err(usage("there is no profile", "name a profile"));
    };
    let input = session.read(path)?;
    if let Some(damage) = &input.damage {
        return Err(usage(
            format!("{}: {damage}", input.name()),
            "--compat exact reads undamaged files only",
        ));
    }
    let name = path.to_string_lossy().into_owned();
    let is_yes = |choice: Option<YesNo>| choice.is_none_or(YesNo::is_yes);
    let options = ExactOptions {
        show: args.event.clone(),
        sort: callgrind::sort_keys(args)?,
        threshold: callgrind::threshold(args)?,
        show_percentages: !args.no_show_percs && is_yes(args.show_percs),
        auto: args.annotate || !args.no_annotate && is_yes(args.auto),
        context: args.source_context(),
        inclusive: args.inclusive.is_some_and(YesNo::is_yes),
        callers: matches!(args.tree, AnnotateTree::Caller | AnnotateTree::Both),
        callees: matches!(args.tree, AnnotateTree::Calling | AnnotateTree::Both),
        include_dirs: args.source.include.iter().map(|path| with_slash(&path.to_string_lossy())).collect(),
        user_files: files.map(|file| file.as_os_str().as_encoded_bytes().to_vec()).collect(),
        working_directory: std::env::current_dir()
            .ok()
            .map(|directory| directory.into_os_string().into_encoded_bytes()),
        // Under its own name, the program prints for people and the logs of builds.
        spells_controls: true,
        ..ExactOptions::new(name)
    };
    let sources = SourceFinder::new(&args.source, &args.program.debuginfo_dir, modified(path), session)?;
    for file in &options.user_files {
        if matches!(sources.get(file), Err(SourceError::Missing)) {
            let hint = "all files but the first are source files, as for callgrind_annotate";
            return Err(usage(format!("{}: no such file", printable(file)), hint));
        }
    }
    let refused = |error: ExactError| match error {
        ExactError::Io(error) => CliError::from(error),
        error => CliError::Usage { message: format!("{}: {error}", input.name()), hint: None },
    };
    let report = ExactReport::new(&input.bytes, &options).map_err(refused)?;
    if report.malformed_lines() > 0 {
        session.warn(&format!("{}: {}", input.name(), report.doubts()));
    }
    let target = match &args.output {
        Some(output) => output::targets(Some(output), std::slice::from_ref(path), args.force)?.remove(0),
        None => output::Target::Stdout,
    };
    session.write_to(&target, args.force, |out| report.write(&sources, out).map_err(refused))?;
    super::warn_of_unread(&sources, session);
    Ok(ExitStatus::Success)
}

/// Refuses options that the original does not have.
fn refuse_other_options(args: &AnnotateArgs) -> Result<(), CliError> {
    let selection = &args.selection;
    let options = [
        ("--style cachegrind", args.style == Some(AnnotateStyle::Cachegrind)),
        ("--format", args.format != AnnotateFormat::Text),
        ("--jumps", args.jumps),
        ("--filter", args.filter.is_some()),
        ("--file", args.file.is_some()),
        ("--diff", args.diff),
        ("--mod-filename", args.mod_filename.is_some()),
        ("--mod-funcname", args.mod_funcname.is_some()),
        ("--derive", !args.derive.is_empty()),
        ("--set", selection.set),
        ("--part", !selection.part.is_empty()),
        ("--thread", !selection.thread.is_empty()),
        ("--pid", !selection.pid.is_empty()),
    ];
    match options.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(usage(
            format!("callgrind_annotate has no {option}"),
            "leave out --compat exact, or the option",
        )),
        None => Ok(()),
    }
}
