//! From files to what is looked at: reads profiles, loads them into one, and resolves what was asked of all reports.

pub(crate) mod complete;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gristmill_format::{ErrorKind, Lint};
use gristmill_output::printable;
use gristmill_profile::analysis;
use gristmill_profile::formula::{DefinedBy, Definition};
use gristmill_profile::{FileHeader, Input, Loader, Profile, Selection, recording_of};
use gristmill_report::{Cut, Subject, SubjectId, View, ViewError, ViewOptions};
use regex::Regex;

use crate::args::{InclusiveRule, ProfileArgs, ReportFormat, SelectionArgs, is_dash};
use crate::error::CliError;
use crate::session::Session;
use crate::terminal::printable_path;

/// Loads the files, and with `--set` those that belong to the same recording.
pub(crate) fn profile(
    files: &[PathBuf],
    args: &SelectionArgs,
    session: &Session,
) -> Result<Profile, CliError> {
    profile_of(&with_sets(files, args, session)?, session)
}

/// The files, and with `--set` those that belong to the same recording: each once.
pub(crate) fn with_sets(
    files: &[PathBuf],
    args: &SelectionArgs,
    session: &Session,
) -> Result<Vec<PathBuf>, CliError> {
    if !args.set {
        return Ok(files.to_vec());
    }
    // A file may be named in more than one way.
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
    refuse_foreign(&profile)?;
    Ok(profile)
}

fn path_of(paths: &[PathBuf]) -> &Path {
    paths.first().map_or(Path::new("-"), PathBuf::as_path)
}

/// A file that is no profile has no functions, which would look like an answer.
fn refuse_foreign(profile: &Profile) -> Result<(), CliError> {
    let foreign = profile.findings().iter().find(|finding| matches!(finding.kind, ErrorKind::NotAProfile(_)));
    let Some(finding) = foreign else { return Ok(()) };
    let name = profile.inputs().get(finding.input).map_or("", |input| input.name.as_str());
    Err(CliError::Usage {
        message: format!("{name}: {}", finding.kind),
        hint: Some("a profile is what the profiler wrote, with an `events:` line near its top".to_owned()),
    })
}

/// Whether calls were not counted but seen in samples. Who wrote a profile shows at its beginning.
pub(crate) fn is_sampled(profile: &Profile) -> bool {
    profile.inputs().iter().any(|input| {
        let head = &input.bytes[..input.bytes.len().min(HEADER)];
        Lint::default().run(head, |_| {}).producer.kind.is_sampled()
    })
}

/// As much of a file as a header takes, and more.
const HEADER: usize = 64 << 10;

/// The files beside one that are of the same recording.
fn recording(path: &Path, session: &Session) -> Result<Vec<PathBuf>, CliError> {
    let usage = |message: String| CliError::Usage { message, hint: None };
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return Err(usage(format!("{}: has no name that others could begin with", printable_path(path))));
    };
    // What stands before the first number: names of one recording have that in common.
    let base = name.split_once(|c: char| c.is_ascii_digit()).map_or(name, |(base, _)| base);
    let entries = std::fs::read_dir(folder)
        .map_err(|error| usage(format!("{}: {}", printable_path(folder), crate::input::reason(&error))))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|other| other.starts_with(base) || name.starts_with(other.as_str()))
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
        session.warn(&format!("{}: no other file of this recording is beside it", printable_path(path)));
    }
    Ok(set
        .into_iter()
        .map(|place| if place == named { path.to_owned() } else { files[place].1.clone() })
        .collect())
}

/// The header of a file; none of what is no plain file, or cannot be read.
fn header(path: &Path) -> Option<FileHeader> {
    use std::io::Read as _;

    if !std::fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(HEADER as u64).read_to_end(&mut bytes).ok()?;
    Some(FileHeader::of(&bytes))
}

/// What is looked at, as the options say. `all_events` where no event type is asked for and a program reads the answer.
pub(crate) fn view(
    profile: impl Into<Arc<Profile>>,
    args: &ProfileArgs,
    format: ReportFormat,
) -> Result<View, CliError> {
    let profile = profile.into();
    let mut options = options(args)?;
    let is_for_people = matches!(format, ReportFormat::Text | ReportFormat::Markdown);
    if options.events.is_empty() && is_for_people {
        let first = profile.events().next().map(|event| profile.event(event));
        options.events =
            first.map(|event| String::from_utf8_lossy(event.name).into_owned()).into_iter().collect();
    }
    look_at(profile, &options)
}

/// A view of a profile.
pub(crate) fn look_at(profile: Arc<Profile>, options: &ViewOptions) -> Result<View, CliError> {
    View::new(profile, options).map_err(|error| unseen(&error))
}

/// Why what was asked for cannot be seen, and what could be.
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

/// The parts that are asked for.
pub(crate) fn selection(args: &SelectionArgs) -> Selection {
    Selection { parts: args.part.clone(), threads: args.thread.clone(), pids: args.pid.clone() }
}

/// Derived event types of the user's own.
pub(crate) fn definitions(texts: &[String]) -> Result<Vec<Definition>, CliError> {
    let definition = |text: &String| {
        Definition::parse(text.as_bytes(), DefinedBy::User).map_err(|error| CliError::Usage {
            message: format!("--derive '{}': {error}", printable(text.as_bytes())),
            hint: Some("a definition looks like 'Cost = Ir + 10 Bm'".to_owned()),
        })
    };
    texts.iter().map(definition).collect()
}

fn options(args: &ProfileArgs) -> Result<ViewOptions, CliError> {
    let mut options = ViewOptions {
        selection: selection(&args.selection),
        events: args.event.clone(),
        rule: match args.inclusive {
            InclusiveRule::Own => analysis::InclusiveRule::Gristmill,
            InclusiveRule::Kcachegrind => analysis::InclusiveRule::KCachegrind,
            InclusiveRule::Annotate => analysis::InclusiveRule::CallgrindAnnotate,
        },
        cycles: !args.no_cycles,
        fold_recursion: args.fold_recursion,
        fold_callers: args.fold_callers,
        cut_below: args.cut_below,
        derive: definitions(&args.derive)?,
        ..ViewOptions::default()
    };
    for text in &args.cut {
        let Some((caller, callee)) = text.split_once("->") else {
            return Err(CliError::Usage {
                message: format!("--cut '{}': there is no ->", printable(text.as_bytes())),
                hint: Some("a cut looks like 'caller -> callee'; both are patterns".to_owned()),
            });
        };
        options.cuts.push(Cut { caller: pattern(caller.trim())?, callee: pattern(callee.trim())? });
    }
    Ok(options)
}

/// A pattern of the user's.
pub(crate) fn pattern(text: &str) -> Result<Regex, CliError> {
    Regex::new(text).map_err(|error| CliError::Usage {
        message: format!("{error}"),
        hint: Some("put \\ before a character such as ( or * to mean the character itself".to_owned()),
    })
}

/// The one function that is meant: by its name, with its file or object before it where several have the name; or else by
/// the only name that it is a part of, or the only one that matches it as a pattern.
pub(crate) fn function(view: &View, asked: &str) -> Result<SubjectId, CliError> {
    let all = || view.subjects();
    let by = |fits: &dyn Fn(&str) -> bool| -> Vec<SubjectId> {
        all().filter(|(_, subject)| fits(subject.name())).map(|(id, _)| id).collect()
    };
    let mut found = by(&|name| name == asked);
    if found.is_empty() {
        found = all().filter(|(_, subject)| is_placed(view, *subject, asked)).map(|(id, _)| id).collect();
    }
    if found.is_empty() {
        found = fitting(asked, by);
    }
    match found.as_slice() {
        [only] => Ok(*only),
        [] => {
            let nearest = all()
                .map(|(_, subject)| (strsim::jaro_winkler(subject.name(), asked), subject.name()))
                .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(a.1)));
            let nearest =
                nearest.map(|(_, name)| format!("the nearest name is {}", printable(name.as_bytes())));
            Err(no_function(asked, nearest))
        }
        _ => {
            found.sort_by_key(|&id| (std::cmp::Reverse(view.inclusive_cost(id)[0]), id));
            Err(several_functions(
                asked,
                &found,
                |&id| {
                    let subject = view.subject(id);
                    let (file, object) =
                        (view.profile().file(subject.file), view.profile().object(subject.object));
                    let place = match (file, object) {
                        (b"", object) => object.to_vec(),
                        (file, b"") => file.to_vec(),
                        (file, object) => [file, b" in ", object].concat(),
                    };
                    (subject.name().to_owned(), place)
                },
                "say more of the name, or its file or object before it: FILE:NAME",
            ))
        }
    }
}

/// Whether what is asked for is a file or an object, or the end of its path, and after a colon the name of the function.
fn is_placed(view: &View, subject: Subject<'_>, asked: &str) -> bool {
    let place = asked.strip_suffix(subject.name()).and_then(|place| place.strip_suffix(':'));
    let Some(place) = place.filter(|place| !place.is_empty()) else { return false };
    let ends_so = |path: &[u8]| {
        let before = path.strip_suffix(place.as_bytes());
        before.is_some_and(|before| before.is_empty() || before.ends_with(b"/"))
    };
    ends_so(view.profile().file(subject.file)) || ends_so(view.profile().object(subject.object))
}

/// What is meant by a name: what is called so, or else what has it in its name, or else what matches it as a pattern.
/// `by` says whose names fit.
pub(crate) fn fitting<T>(asked: &str, by: impl Fn(&dyn Fn(&str) -> bool) -> Vec<T>) -> Vec<T> {
    let lower = asked.to_lowercase();
    let mut found = by(&|name| name == asked);
    if found.is_empty() {
        found = by(&|name| name.to_lowercase().contains(&lower));
    }
    if found.is_empty()
        && let Ok(pattern) = Regex::new(asked)
    {
        found = by(&|name| pattern.is_match(name));
    }
    found
}

/// No function fits.
pub(crate) fn no_function(asked: &str, hint: Option<String>) -> CliError {
    CliError::Usage { message: format!("no function is called `{}`", printable(asked.as_bytes())), hint }
}

/// More than one fits; `told` says name and place of each, `hint` what to do.
pub(crate) fn several_functions<T, P: AsRef<[u8]>>(
    asked: &str,
    found: &[T],
    told: impl Fn(&T) -> (String, P),
    hint: &str,
) -> CliError {
    const MOST_CHOICES: usize = 10;
    let mut message = format!("{} functions fit `{}`:", found.len(), printable(asked.as_bytes()));
    message.extend(found.iter().take(MOST_CHOICES).map(|one| {
        let (name, place) = told(one);
        format!("\n    {}  {}", printable(name.as_bytes()), printable(place.as_ref()))
    }));
    if found.len() > MOST_CHOICES {
        message.push_str("\n    …");
    }
    CliError::Usage { message, hint: Some(hint.to_owned()) }
}
