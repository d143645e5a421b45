//! `gristmill annotate`: the cost of source lines.

mod cachegrind;
mod callgrind;
mod document;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use gristmill_compat::LayoutError;
use gristmill_format::ProducerKind;
use gristmill_output::source::Sources;
use gristmill_output::{Look, printable};
use gristmill_profile::Profile;
use regex::Regex;

use crate::args::{AnnotateArgs, AnnotateFormat, AnnotateStyle, YesNo};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::load;
use crate::output;
use crate::profile_files::{first_profile, is_profile, modified};
use crate::session::Session;
use crate::source_finder::SourceFinder;

/// An annotation to write, with the session that it is written in.
struct Job<'j> {
    pub(crate) args: &'j AnnotateArgs,
    pub(crate) files: &'j Files,
    pub(crate) profile: &'j Arc<Profile>,
    pub(crate) sources: &'j dyn Sources,
    pub(crate) session: &'j Session,
}

pub(crate) fn run(args: &AnnotateArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut files = Files::of(args, session)?;
    let target = match &args.output {
        Some(path) => output::targets(Some(path), &files.profiles[..1], args.force)?.remove(0),
        None => output::Target::Stdout,
    };
    files.profiles = load::with_sets(&files.profiles, &args.selection, session)?;
    let files = &files;
    let profile = &Arc::new(load::profile_of(&files.profiles, session)?);
    let sources = &SourceFinder::new(&args.source, files.time(), session)?;
    let job = Job { args, files, profile, sources, session };
    session.write_to(&target, args.force, |out| match args.format {
        AnnotateFormat::Json | AnnotateFormat::Html => document::write(&job, out),
        AnnotateFormat::Text => match args.style.unwrap_or_else(|| style_of(profile)) {
            AnnotateStyle::Cachegrind => cachegrind::write(&job, out),
            AnnotateStyle::Callgrind => callgrind::write(&job, out),
        },
    })?;
    Ok(ExitStatus::Success)
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
        // Coloured text is for people, wherever it goes.
        let look = self.session.look();
        let is_shown = self.args.output.is_none();
        Look {
            is_terminal: is_shown && (look.is_terminal || look.has_color),
            has_color: is_shown && look.has_color,
            ..look
        }
    }

    /// The pattern of the functions to show.
    fn function(&self) -> Result<Option<Regex>, CliError> {
        self.args.function.as_deref().map(load::pattern).transpose()
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
            let found = first_profile().ok_or_else(|| CliError::Usage {
                message: "there is no callgrind.out* or cachegrind.out* here".to_owned(),
                hint: Some("name the profile to read".to_owned()),
            })?;
            session.tell(&format!("reading {}", crate::terminal::printable_path(&found)));
            return Ok(Files { profiles: vec![found], sources: Vec::new() });
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

/// The error for a profile that cannot be laid out.
fn refused(error: &LayoutError) -> CliError {
    CliError::Usage {
        hint: match error {
            LayoutError::UnknownEvent { known, .. } => {
                let known: Vec<_> = known.iter().map(|name| printable(name.as_bytes())).collect();
                Some(format!("there are {}", known.join(", ")))
            }
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
