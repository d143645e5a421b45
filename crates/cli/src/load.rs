//! Loading of profiles, and the arguments that all reports share: options from arguments, messages from errors.

pub(crate) mod complete;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gristmill_output::printable;
use gristmill_profile::formula::{DefinedBy, Definition};
use gristmill_profile::{
    FileHeader, HEADER_BYTES, Input, Loader, Profile, Selection, may_share_recording, recording_of,
};
use gristmill_report::{
    Cut, CutError, EventSelection, FindError, InclusiveRule, SubjectId, View, ViewError, ViewOptions,
};
use regex::Regex;

use crate::args::{self, ProfileArgs, ReportFormat, SelectionArgs, is_dash};
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::printable_path;

/// Loads the files, and with `--set` the other files of their recordings.
pub(crate) fn profile(
    files: &[PathBuf],
    args: &SelectionArgs,
    session: &Session,
) -> Result<Profile, CliError> {
    profile_of(&with_sets(files, args, session)?, session)
}

/// Returns the files, and with `--set` the other files of their recordings, each once.
pub(crate) fn with_sets(
    files: &[PathBuf],
    args: &SelectionArgs,
    session: &Session,
) -> Result<Vec<PathBuf>, CliError> {
    if !args.set {
        return Ok(files.to_vec());
    }
    // A file may be given by several paths.
    let whole = |path: &PathBuf| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
    let mut known = HashSet::new();
    let named: Vec<&PathBuf> =
        files.iter().filter(|path| is_dash(path) || known.insert(whole(path))).collect();
    let mut paths = Vec::new();
    for path in named {
        let set = if is_dash(path) { Vec::new() } else { recording(path, session)? };
        paths.extend(set.into_iter().filter(|other| known.insert(whole(other))));
        paths.push(path.clone());
    }
    Ok(paths)
}

/// Loads these files, in this order.
pub(crate) fn profile_of(paths: &[PathBuf], session: &Session) -> Result<Profile, CliError> {
    let mut inputs = Vec::new();
    for path in paths {
        let input = session.read(path)?;
        if let Some(damage) = &input.damage {
            session.warn(&format!("{}: {damage}", input.name()));
        }
        inputs.push(Input { name: input.name(), bytes: input.bytes });
    }
    let total = inputs.iter().map(|input| input.bytes.len() as u64).sum();
    let progress = Mutex::new(session.progress("loading", path_of(paths), Some(total)));
    let advance = |bytes| {
        if let Ok(mut progress) = progress.lock() {
            progress.advance_to(bytes);
        }
    };
    let profile = Loader::new().progress(&advance).load(inputs);
    drop(progress);
    if let Some(foreign) = profile.foreign_input() {
        return Err(usage(
            foreign.to_string(),
            "a profile is what the profiler wrote, with an `events:` line near its top",
        ));
    }
    Ok(profile)
}

fn path_of(paths: &[PathBuf]) -> &Path {
    paths.first().map_or(Path::new("-"), PathBuf::as_path)
}

/// Returns the files of the recording that a file is part of.
fn recording(path: &Path, session: &Session) -> Result<Vec<PathBuf>, CliError> {
    let refused = |message: String| CliError::Usage { message, hint: None };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(refused(format!(
            "{}: the file name is not text, so there is nothing to find other files by",
            printable_path(path)
        )));
    };
    let entries = std::fs::read_dir(folder)
        .map_err(|error| refused(format!("{}: {}", printable_path(folder), crate::input::reason(&error))))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|other| may_share_recording(name, other))
        .collect();
    names.sort_unstable();
    let mut files = Vec::new();
    let mut named = None;
    for other in names {
        let beside = if folder == Path::new(".") { PathBuf::from(&other) } else { folder.join(&other) };
        let Some(header) = header(&beside) else { continue };
        if other == name {
            named = Some(files.len());
        }
        files.push((other, beside, header));
    }
    let headers: Vec<(&str, FileHeader)> =
        files.iter().map(|(name, _, header)| (name.as_str(), header.clone())).collect();
    let Some(named) = named else { return Ok(vec![path.to_owned()]) };
    let set = recording_of(named, &headers);
    if set.len() == 1 {
        session.warn(&format!("{}: there is no other file of this recording", printable_path(path)));
    }
    Ok(set
        .into_iter()
        .map(|place| if place == named { path.to_owned() } else { files[place].1.clone() })
        .collect())
}

/// Reads the header of a file. `None` if it is not a regular file or cannot be read.
fn header(path: &Path) -> Option<FileHeader> {
    use std::io::Read as _;

    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(HEADER_BYTES as u64).read_to_end(&mut bytes).ok()?;
    Some(FileHeader::parse(&bytes))
}

/// Makes the view that the options ask for. Without event types, people get the first one and programs get all.
pub(crate) fn view(
    profile: impl Into<Arc<Profile>>,
    args: &ProfileArgs,
    format: ReportFormat,
) -> Result<View, CliError> {
    let is_for_people = matches!(format, ReportFormat::Text | ReportFormat::Markdown);
    let options = ViewOptions {
        selection: selection(&args.selection),
        events: match args.event.as_slice() {
            [] if is_for_people => EventSelection::First,
            [] => EventSelection::Recorded,
            names => EventSelection::Named(names.to_vec()),
        },
        rule: match args.inclusive {
            args::InclusiveRule::Own => InclusiveRule::Gristmill,
            args::InclusiveRule::Kcachegrind => InclusiveRule::KCachegrind,
            args::InclusiveRule::Annotate => InclusiveRule::CallgrindAnnotate,
        },
        cycles: !args.no_cycles,
        fold_recursion: args.fold_recursion,
        fold_callers: args.fold_callers,
        cuts: args.cut.iter().map(|text| cut(text)).collect::<Result<_, _>>()?,
        cut_below: args.cut_below,
        derive: definitions(&args.derive)?,
    };
    View::new(profile, &options).map_err(|error| unseen(&error))
}

/// Makes the message of an error of a view, with a hint.
pub(crate) fn unseen(error: &ViewError) -> CliError {
    CliError::Usage {
        hint: match error {
            ViewError::UnknownEvent { known, .. } => {
                let known: Vec<_> = known.iter().map(|name| printable(name.as_bytes())).collect();
                Some(format!("there are {}", known.join(", ")))
            }
            ViewError::NothingSelected => Some("gristmill info lists the parts".to_owned()),
            _ => None,
        },
        message: error.to_string(),
    }
}

/// Makes the selection of parts.
pub(crate) fn selection(args: &SelectionArgs) -> Selection {
    Selection { parts: args.part.clone(), threads: args.thread.clone(), pids: args.pid.clone() }
}

/// Parses the event types that the user derives.
pub(crate) fn definitions(texts: &[String]) -> Result<Vec<Definition>, CliError> {
    let definition = |text: &String| {
        Definition::parse(text.as_bytes(), DefinedBy::User).map_err(|error| CliError::Usage {
            message: format!("--derive '{}': {error}", printable(text.as_bytes())),
            hint: Some("a definition looks like 'Cost = Ir + 10 Bm'".to_owned()),
        })
    };
    texts.iter().map(definition).collect()
}

fn cut(text: &str) -> Result<Cut, CliError> {
    text.parse().map_err(|error| match error {
        CutError::Pattern(error) => invalid_pattern(&error),
        error => usage(
            format!("--cut '{}': {error}", printable(text.as_bytes())),
            "a cut looks like 'caller -> callee'; both are patterns",
        ),
    })
}

/// Parses a pattern.
pub(crate) fn pattern(text: &str) -> Result<Regex, CliError> {
    Regex::new(text).map_err(|error| invalid_pattern(&error))
}

fn invalid_pattern(error: &regex::Error) -> CliError {
    usage(error.to_string(), "put \\ before a character such as ( or * to mean the character itself")
}

fn usage(message: String, hint: &str) -> CliError {
    CliError::Usage { message, hint: Some(hint.to_owned()) }
}

/// Finds the function that an option names.
pub(crate) fn function(view: &View, query: &str) -> Result<SubjectId, CliError> {
    view.find_function(query).map_err(|error| CliError::Usage {
        message: error.to_string(),
        hint: match &error {
            FindError::NotFound { nearest, .. } => {
                nearest.as_ref().map(|name| format!("the nearest name is {}", printable(name.as_bytes())))
            }
            FindError::Ambiguous { .. } => {
                Some("say more of the name, or its file or object before it: FILE:NAME".to_owned())
            }
        },
    })
}
