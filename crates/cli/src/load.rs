//! Loading of profiles, and the arguments that all reports share: options from arguments, messages from errors.

pub(crate) mod attribution;
pub(crate) mod complete;
mod recording;
pub(crate) mod refusal;
pub(crate) mod together;

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gristmill_output::printable;
use gristmill_profile::event_choice::EventChoice;
use gristmill_profile::formula::{DefinedBy, Definition, DerivationFault};
use gristmill_profile::{Input, Loader, NumberRange, Part, Profile, Selection};
use gristmill_report::{
    Cut, CutError, EventSelection, InclusiveRule, Rates, SubjectId, View, ViewError, ViewOptions,
};
use regex::Regex;

use crate::args::{self, ProfileArgs, ReportFormat, SelectionArgs, is_dash};
use crate::canonical::canonical;
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::printable_path;

/// Loads the files, and with `--set` the other files of their recordings.
pub(crate) fn profile(
    files: &[PathBuf],
    args: &SelectionArgs,
    session: &Session,
) -> Result<Profile, CliError> {
    let paths = refusal::without_base_files(&with_sets(files, args, session)?);
    let profile = profile_of(&paths, session)?;
    check_selection(&profile, args)?;
    together::check(&paths, args.set, &profile, session);
    Ok(profile)
}

/// The limit of named files beside which files without a profile are looked for.
const MAX_LOOKS: usize = 100;

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
    let mut known = HashSet::new();
    let named: Vec<&PathBuf> =
        files.iter().filter(|path| is_dash(path) || known.insert(canonical(path))).collect();
    let files: Vec<&Path> = named.iter().map(|path| path.as_path()).filter(|path| !is_dash(path)).collect();
    let mut recordings = recording::of_all(&files)?.into_iter();
    let mut paths = Vec::new();
    for path in named {
        let found = if is_dash(path) { None } else { recordings.next() };
        if found.as_ref().is_some_and(|found| found.is_alone) {
            session.warn(&format!("{}: there is no other file of this recording", printable_path(path)));
        }
        let set = found.map(|found| found.files).unwrap_or_default();
        // Of several files of a recording the first one has the others. Each look lists the folder.
        if !set.is_empty() && files.len() <= MAX_LOOKS {
            recording::without_profile(path).iter().for_each(|warning| session.warn(warning));
        }
        paths.extend(set.into_iter().filter(|other| known.insert(canonical(other))));
        paths.push(path.clone());
    }
    Ok(paths)
}

/// Returns the files of the recording that a file is part of, in the order of dumps and threads, without those that are empty.
/// Empty if there is no other file.
pub(crate) fn recording(path: &Path, session: &Session) -> Vec<PathBuf> {
    let found = recording::of_all(&[path]).unwrap_or_default().into_iter().next().unwrap_or_default();
    recording::without_profile(path).iter().for_each(|warning| session.warn(warning));
    let files = if found.is_alone { Vec::new() } else { found.files };
    files.into_iter().filter(|file| crate::profile_files::is_profile(file)).collect()
}

/// Loads these files, in this order. Refuses what is no profile.
pub(crate) fn profile_of(paths: &[PathBuf], session: &Session) -> Result<Profile, CliError> {
    let read: Result<Vec<_>, _> = paths.iter().map(|path| session.read(path)).collect();
    let profile = profile_of_inputs(&read?, session);
    refusal::of_profile(&profile, paths).map_or(Ok(profile), Err)
}

/// Loads files that were read, in this order.
pub(crate) fn profile_of_inputs(files: &[crate::input::Input], session: &Session) -> Profile {
    let inputs: Vec<Input> =
        files.iter().map(|file| Input { name: file.name(), bytes: file.bytes.clone() }).collect();
    let total = inputs.iter().map(|input| input.bytes.len() as u64).sum();
    let progress = Mutex::new(session.progress(
        "loading",
        files.first().map_or(Path::new("-"), |file| &file.path),
        Some(total),
    ));
    let advance = |bytes| {
        if let Ok(mut progress) = progress.lock() {
            progress.advance_to(bytes);
        }
    };
    let mut profile = Loader::new().progress(&advance).load(inputs);
    drop(progress);
    for (input, file) in files.iter().enumerate() {
        if let Some(damage) = &file.damage {
            profile.add_packing_damage(input, damage.clone());
        }
    }
    profile
}

/// Makes the view that the options ask for. Without event types, people get the first one and programs get all, and both
/// get those that they derive.
pub(crate) fn view(
    profile: impl Into<Arc<Profile>>,
    args: &ProfileArgs,
    format: ReportFormat,
) -> Result<View, CliError> {
    view_with(profile, &view_options(args, format)?)
}

/// Makes the view with these options. Refuses event types of the user that cannot be derived.
pub(crate) fn view_with(profile: impl Into<Arc<Profile>>, options: &ViewOptions) -> Result<View, CliError> {
    let view = View::new(profile, options).map_err(|error| unseen(&error))?;
    let is_own =
        |fault: &&DerivationFault| options.derive.iter().any(|definition| fault.prevents(&definition.name));
    match view.faults().iter().find(is_own) {
        None => Ok(view),
        Some(fault) => Err(CliError::Usage {
            message: format!("--derive: {}", printable(fault.to_string().as_bytes())),
            hint: Some(known_events(EventChoice::new(view.profile(), &[]).names().map(str::as_bytes))),
        }),
    }
}

/// Takes the event types that rates of misses are made of, for the functions of a view. `None` if the profile lacks them.
pub(crate) fn rates(view: &View, options: &ViewOptions) -> Result<Option<Rates>, CliError> {
    Rates::new(Arc::clone(view.profile()), options).map_err(|error| unseen(&error))
}

/// Makes the options of the view that the arguments ask for.
pub(crate) fn view_options(args: &ProfileArgs, format: ReportFormat) -> Result<ViewOptions, CliError> {
    let is_for_people = matches!(format, ReportFormat::Text | ReportFormat::Markdown);
    Ok(ViewOptions {
        selection: selection(&args.selection),
        events: match args.event.as_slice() {
            [] if is_for_people => EventSelection::First,
            [] => EventSelection::Recorded,
            names => EventSelection::Named(names.to_vec()),
        },
        rule: match args.inclusive {
            args::InclusiveRule::Gristmill => InclusiveRule::Gristmill,
            args::InclusiveRule::Kcachegrind => InclusiveRule::KCachegrind,
            args::InclusiveRule::Annotate => InclusiveRule::CallgrindAnnotate,
        },
        cycles: !args.no_cycles,
        fold_recursion: args.fold_recursion,
        fold_callers: args.fold_callers,
        cuts: cuts(&args.cut)?,
        cut_below: args.cut_below,
        derive: definitions(&args.derive)?,
        ..ViewOptions::default()
    })
}

/// Lists the event types that there are, for a hint.
pub(crate) fn known_events<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> String {
    let names: Vec<_> = names.into_iter().map(printable).collect();
    match &names[..] {
        [] => "the profile has no event types".to_owned(),
        [only] => format!("the only event type is {only}"),
        _ => format!("the event types are {}", names.join(", ")),
    }
}

/// Makes the message of an error of a view, with a hint.
pub(crate) fn unseen(error: &ViewError) -> CliError {
    CliError::Usage {
        hint: match error {
            ViewError::UnknownEvent { known, .. } => Some(known_events(known.iter().map(String::as_bytes))),
            ViewError::NothingSelected => Some("gristmill info lists the parts".to_owned()),
            _ => None,
        },
        message: error.to_string(),
    }
}

/// Refuses a selection that no part fits, and tells the numbers that there are.
pub(crate) fn check_selection(profile: &Profile, args: &SelectionArgs) -> Result<(), CliError> {
    // A profile without parts has another fault, which has its own message.
    let selection = selection(args);
    let fits = |part: Part<'_>| selection.includes(part.number(), part.thread(), part.pid());
    if profile.part_count() == 0 || profile.parts().any(fits) {
        return Ok(());
    }
    let options = [
        (
            "--part",
            "part",
            &args.part,
            profile.parts().filter_map(|part| part.number()).collect::<BTreeSet<u64>>(),
        ),
        ("--thread", "thread", &args.thread, profile.parts().filter_map(|part| part.thread()).collect()),
        ("--pid", "process", &args.pid, profile.parts().filter_map(|part| part.pid()).collect()),
    ];
    let lacks = options.iter().find(|(_, _, given, there)| {
        !given.is_empty() && !there.iter().any(|number| given.iter().any(|range| range.0.contains(number)))
    });
    Err(match lacks {
        Some((option, noun, given, there)) => {
            let given: Vec<String> = given.iter().map(NumberRange::to_string).collect();
            CliError::Usage {
                message: format!("{option} {}: the profile has no such {noun}", given.join(",")),
                hint: Some(there_are(noun, there)),
            }
        }
        None => usage(
            "no part of the profile has all of these numbers".to_owned(),
            "gristmill info lists the parts, with their threads and processes",
        ),
    })
}

/// The numbers that a hint names.
const MAX_NUMBERS: usize = 12;

/// Lists numbers for a hint.
fn there_are(noun: &str, numbers: &BTreeSet<u64>) -> String {
    let named: Vec<String> = numbers.iter().take(MAX_NUMBERS).map(u64::to_string).collect();
    let more = if numbers.len() > MAX_NUMBERS { ", …" } else { "" };
    match numbers.len() {
        0 => format!("leave the option out: the profile does not number any {noun}"),
        1 => format!("the only {noun} is {}", named.join("")),
        _ => format!("the numbers there are: {}{more}", named.join(", ")),
    }
}

/// Makes the selection of parts.
pub(crate) fn selection(args: &SelectionArgs) -> Selection {
    let ranges = |given: &[NumberRange]| given.iter().map(|range| range.0.clone()).collect();
    Selection { parts: ranges(&args.part), threads: ranges(&args.thread), pids: ranges(&args.pid) }
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

fn cuts(texts: &[String]) -> Result<Vec<Cut>, CliError> {
    Cut::parse_all(texts).map_err(|(nth, error)| match error {
        CutError::Pattern(error) => invalid_pattern(&texts[nth], &error),
        error => usage(
            format!("--cut '{}': {error}", printable(texts[nth].as_bytes())),
            "a cut looks like 'caller -> callee'; both are patterns",
        ),
    })
}

/// Parses a pattern, which ignores the case of letters unless it has a capital letter.
pub(crate) fn pattern(text: &str) -> Result<Regex, CliError> {
    gristmill_report::pattern(text).map_err(|error| invalid_pattern(text, &error))
}

/// Warns that no function, or nothing of another kind, matches a pattern.
pub(crate) fn warn_of_no_match(noun: &str, pattern: &str, nearest: Option<&str>, session: &Session) {
    let pattern = printable(pattern.as_bytes());
    let nearest = nearest
        .map_or_else(String::new, |name| format!("; the nearest name is {}", printable(name.as_bytes())));
    session.warn(&format!("no {noun} matches `{pattern}`{nearest}"));
}

/// Warns that a pattern matches no file of a kind, such as a source file.
pub(crate) fn warn_of_no_file(noun: &str, pattern: &str, session: &Session) {
    session.warn(&format!("no {noun} matches `{}`", printable(pattern.as_bytes())));
}

fn invalid_pattern(text: &str, error: &regex::Error) -> CliError {
    let error = error.to_string();
    // The last line has the reason, those before it repeat the pattern.
    let reason = error.lines().last().unwrap_or_default();
    usage(
        format!(
            "`{}` is not a valid pattern: {}",
            printable(text.as_bytes()),
            reason.trim_start_matches("error: ")
        ),
        "put \\ before a character such as ( or * to mean the character itself",
    )
}

fn usage(message: String, hint: &str) -> CliError {
    CliError::Usage { message, hint: Some(hint.to_owned()) }
}

/// Finds the function that an option names. If several match, it is the most expensive one, and a message names the others.
pub(crate) fn function(view: &View, query: &str, session: &Session) -> Result<SubjectId, CliError> {
    let found = view.find_function(query).map_err(|error| CliError::Usage {
        message: error.to_string(),
        hint: Some(match error.nearest {
            Some(name) => format!("the nearest name is {}", printable(name.as_bytes())),
            None => "gristmill functions lists the functions".to_owned(),
        }),
    })?;
    found.remark(query).iter().for_each(|remark| session.tell(remark));
    Ok(found.function.id)
}
