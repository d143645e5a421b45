//! `gristmill annotate`: the cost of source lines.

mod cachegrind;
mod callgrind;
mod document;
mod exact;
mod machine_code;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use gristmill_compat::LayoutError;
use gristmill_format::ProducerKind;
use gristmill_output::source::Sources;
use gristmill_output::{Look, lossy, printable};
use gristmill_profile::event_choice::{EventChoice, derivation};
use gristmill_profile::symbol::Symbol;
use gristmill_profile::{FunctionId, Profile};
use regex::Regex;

use crate::args::{AnnotateArgs, AnnotateCompat, AnnotateFormat, AnnotateStyle, YesNo};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::found_files;
use crate::load;
use crate::output;
use crate::profile_files::{is_profile, modified};
use crate::session::Session;
use crate::source_finder::SourceFinder;

/// An annotation to write, with the session that it is written in.
struct Job<'j> {
    pub(crate) args: &'j AnnotateArgs,
    pub(crate) files: &'j Files,
    /// The event types to show; all recorded ones if there are none.
    pub(crate) show: &'j [String],
    pub(crate) profile: &'j Arc<Profile>,
    pub(crate) sources: &'j dyn Sources,
    pub(crate) session: &'j Session,
}

pub(crate) fn run(args: &AnnotateArgs, session: &Session) -> Result<ExitStatus, CliError> {
    if args.compat == AnnotateCompat::Exact {
        return exact::run(args, session);
    }
    if args.name_inlined && args.format == AnnotateFormat::Text {
        return Err(usage(
            "the layouts of other tools have no place for inlined functions",
            "--asm shows them as text, --format json and --format html beside source lines",
        ));
    }
    let mut files = Files::of(args, session)?;
    let target = match &args.output {
        Some(path) => output::targets(Some(path), &files.profiles[..1], args.force)?.remove(0),
        None => output::Target::Stdout,
    };
    files.profiles =
        load::refusal::without_base_files(&load::with_sets(&files.profiles, &args.selection, session)?);
    let files = &files;
    let profile = &Arc::new(load::profile_of(&files.profiles, session)?);
    if !args.diff {
        load::together::check(&files.profiles, args.selection.set, profile, session);
    }
    load::check_selection(profile, &args.selection)?;
    warn_of_no_match(args, profile, session)?;
    let sources = &SourceFinder::new(&args.source, &args.program.debuginfo_dir, files.time(), session)?;
    let show = &shown_events(args, profile)?;
    let job = Job { args, files, show, profile, sources, session };
    if let Some(lines) = args.asm {
        session.write_to(&target, args.force, |out| machine_code::write(&job, lines, out))?;
        return Ok(ExitStatus::Success);
    }
    session.write_to(&target, args.force, |out| match args.format {
        AnnotateFormat::Json | AnnotateFormat::Html => document::write(&job, out),
        AnnotateFormat::Text => match args.style.unwrap_or_else(|| style_of(profile)) {
            AnnotateStyle::Cachegrind => cachegrind::write(&job, out),
            AnnotateStyle::Callgrind => callgrind::write(&job, out),
        },
    })?;
    // The layouts have no room for the reason; documents have told it.
    if args.format == AnnotateFormat::Text {
        warn_of_unread(sources, session);
    }
    Ok(ExitStatus::Success)
}

/// Warns of source files that are there but were not read.
fn warn_of_unread(sources: &SourceFinder<'_>, session: &Session) {
    for (path, reason) in sources.unread() {
        session.warn(&format!("{}: {}", printable(&path), printable(reason.to_string().as_bytes())));
    }
}

/// Warns if no function matches `--filter`, or no source file `--file`.
fn warn_of_no_match(args: &AnnotateArgs, profile: &Profile, session: &Session) -> Result<(), CliError> {
    if let Some(text) = &args.file {
        let pattern = load::pattern(text)?;
        if !profile.files().any(|file| pattern.is_match(&lossy(profile.file(file)))) {
            load::warn_of_no_file("source file", text, session);
        }
    }
    let Some(text) = &args.filter else { return Ok(()) };
    let pattern = load::pattern(text)?;
    let is_match = |function: FunctionId| {
        let name = profile.function(function).name;
        let is_in = |name: &str| gristmill_report::matches_name(&pattern, name);
        // The layouts of other tools have mangled names.
        is_in(&lossy(name)) || is_in(&Symbol::parse(name).shown())
    };
    if !profile.functions().any(is_match) {
        let names: Vec<String> = profile
            .functions()
            .map(|function| Symbol::parse(profile.function(function).name).shown())
            .collect();
        let nearest = gristmill_report::nearest_name(names.iter().map(String::as_str), text);
        load::warn_of_no_match("function", text, nearest, session);
    }
    Ok(())
}

/// Returns the event types to show: those that are asked for, or else all recorded ones with those that the user derives.
fn shown_events(args: &AnnotateArgs, profile: &Profile) -> Result<Vec<String>, CliError> {
    if !args.event.is_empty() || args.derive.is_empty() {
        return Ok(args.event.clone());
    }
    let own = load::definitions(&args.derive)?;
    let choice = EventChoice::new(profile, &own);
    let recorded: Vec<&str> = choice.names().take(profile.event_count()).collect();
    let faults = derivation(profile, &recorded, &own).faults;
    if let Some(fault) = faults.iter().find(|fault| own.iter().any(|own| fault.prevents(&own.name))) {
        return Err(CliError::Usage {
            message: format!("--derive: {}", printable(fault.to_string().as_bytes())),
            hint: Some(load::known_events(EventChoice::new(profile, &[]).names().map(str::as_bytes))),
        });
    }
    let is_own = |name: &str| own.iter().any(|definition| definition.name == name.as_bytes());
    let names = choice.names().enumerate();
    let shown = names.filter(|&(index, name)| index < profile.event_count() || is_own(name));
    Ok(shown.map(|(_, name)| name.to_owned()).collect())
}

impl Job<'_> {
    /// Refuses options of cg_annotate that would change names and costs, where no layout applies them.
    fn refuse_options_of_cachegrind(&self) -> Result<(), CliError> {
        let option = if self.args.diff {
            "--diff"
        } else if self.args.mod_filename.is_some() {
            "--mod-filename"
        } else if self.args.mod_funcname.is_some() {
            "--mod-funcname"
        } else {
            return Ok(());
        };
        Err(usage(
            format!("only the layout of cg_annotate has {option}"),
            "--style cachegrind lays any profile out in that way; gristmill diff compares profiles",
        ))
    }

    /// The look of the output. Text in a file has no colours.
    fn look(&self) -> Look {
        let look = self.session.look();
        // The text is for people, wherever it goes: a file ends up on a terminal or in the log of a build.
        Look { is_terminal: true, has_color: self.args.output.is_none() && look.has_color, ..look }
    }

    /// The pattern of the functions to show.
    fn function(&self) -> Result<Option<Regex>, CliError> {
        self.args.filter.as_deref().map(load::pattern).transpose()
    }

    /// The pattern of the source files to annotate.
    fn file(&self) -> Result<Option<Regex>, CliError> {
        self.args.file.as_deref().map(load::pattern).transpose()
    }

    /// `true` if percentages are shown beside costs.
    fn shows_percentages(&self) -> bool {
        !self.args.no_show_percs && self.args.show_percs.is_none_or(YesNo::is_yes)
    }

    /// `true` if the source files of all listed functions are annotated.
    fn annotates(&self) -> bool {
        self.args.annotate || !self.args.no_annotate && self.args.auto.is_none_or(YesNo::is_yes)
    }
}

/// The files that the command line names.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// The profiles, at least one.
    pub(crate) profiles: Vec<PathBuf>,
    /// Source files to annotate, by the names that the profile has for them.
    pub(crate) sources: Vec<PathBuf>,
}

impl Files {
    fn of(args: &AnnotateArgs, session: &Session) -> Result<Files, CliError> {
        let Some((first, others)) = args.files.split_first() else {
            return Ok(Files { profiles: found_files::newest(session)?, sources: Vec::new() });
        };
        let (profiles, sources) = others.iter().cloned().partition(|path| is_profile(path));
        let mut files = Files { profiles, sources };
        files.profiles.insert(0, first.clone());
        Ok(files)
    }

    /// The time when the oldest of the profiles was written.
    pub(crate) fn time(&self) -> Option<SystemTime> {
        self.profiles.iter().filter_map(|path| modified(path)).min()
    }

    /// The names of the profiles.
    fn names(&self) -> String {
        let names: Vec<_> = self.profiles.iter().map(|path| path.to_string_lossy()).collect();
        names.join(", ")
    }

    /// The source files, by the names that the profile has for them.
    fn source_names(&self) -> Vec<Vec<u8>> {
        self.sources.iter().map(|path| path.as_os_str().as_encoded_bytes().to_vec()).collect()
    }
}

/// Refuses a profile with too many event types, or with too many costs of them on its lines.
fn refuse_many_costs(profile: &Profile) -> Result<(), CliError> {
    let checked = profile.refuse_wide_functions().and_then(|()| profile.refuse_wide_lines());
    checked.map_err(|over| refused(&LayoutError::TooManyCosts(over)))
}

/// The error for a profile that cannot be laid out.
fn refused(error: &LayoutError) -> CliError {
    CliError::Usage {
        hint: match error {
            LayoutError::UnknownEvent { name, known } => Some(match name.rsplit_once(':') {
                Some((event, share)) if known.iter().any(|known| known == event) => format!(
                    "`{}` behind the colon is no share; a share is a number from 0 to 100, as in {event}:90",
                    printable(share.as_bytes())
                ),
                _ => load::known_events(known.iter().map(String::as_bytes)),
            }),
            LayoutError::NothingSelected => Some("gristmill info lists the parts".to_owned()),
            _ => None,
        },
        message: error.to_string(),
    }
}

fn usage(message: impl Into<String>, hint: &str) -> CliError {
    CliError::Usage { message: message.into(), hint: Some(hint.to_owned()) }
}

/// Returns the layout that fits the producer.
fn style_of(profile: &Profile) -> AnnotateStyle {
    if is_cachegrind(profile.producer()) { AnnotateStyle::Cachegrind } else { AnnotateStyle::Callgrind }
}

/// Returns `true` for Cachegrind and its tools.
fn is_cachegrind(producer: ProducerKind) -> bool {
    matches!(producer, ProducerKind::Cachegrind | ProducerKind::CgDiff)
}
