//! `gristmill annotate`: source lines with what they cost.

pub(crate) mod cachegrind;
pub(crate) mod callgrind;
mod document;
mod source_files;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use gristmill_format::{Lint, ProducerKind};
use gristmill_profile::Profile;

use crate::ExitStatus;
use crate::args::{AnnotateArgs, AnnotateFormat, AnnotateStyle, is_dash};
use crate::error::CliError;
use crate::load;
use crate::output;
use crate::session::Session;

pub(crate) use source_files::SourceFiles;

pub(crate) fn run(args: &AnnotateArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let files = Files::of(args, session)?;
    let target = match &args.output {
        Some(path) => output::targets(Some(path), &files.profiles[..1], args.force)?.remove(0),
        None => output::Target::Stdout,
    };
    let profile = load::profile(&files.profiles, &args.selection, session)?;
    let sources = SourceFiles::new(&args.source, files.time(), session)?;
    match (args.format, args.style.unwrap_or_else(|| style_of(&profile))) {
        (AnnotateFormat::Text, AnnotateStyle::Cachegrind) => {
            session.write_to(&target, args.force, |out| {
                cachegrind::write(args, &profile, &files, &sources, session, out)
            })?
        }
        (AnnotateFormat::Text, AnnotateStyle::Callgrind) => session.write_to(&target, args.force, |out| {
            callgrind::write(args, &profile, &files, &sources, session, out)
        })?,
        (AnnotateFormat::Json | AnnotateFormat::Html, _) => session.write_to(&target, args.force, |out| {
            document::write(args, &profile, &files, &sources, session, out)
        })?,
    }
    Ok(ExitStatus::Success)
}

/// What the arguments that are no options mean.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// There is at least one.
    pub(crate) profiles: Vec<PathBuf>,
    /// Source files to annotate, by the names that the profile has for them.
    pub(crate) sources: Vec<PathBuf>,
}

impl Files {
    fn of(args: &AnnotateArgs, session: &Session) -> Result<Files, CliError> {
        let Some((first, others)) = args.files.split_first() else {
            let found = recorded_here().ok_or_else(|| CliError::Usage {
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

    /// When the oldest of the profiles was written.
    pub(crate) fn time(&self) -> Option<SystemTime> {
        let time = |path: &PathBuf| std::fs::metadata(path).ok()?.modified().ok();
        self.profiles.iter().filter_map(time).min()
    }

    /// What the profiles are called.
    fn names(&self) -> String {
        let names: Vec<_> = self.profiles.iter().map(|path| path.to_string_lossy()).collect();
        names.join(", ")
    }
}

/// The first profile in the current folder, as callgrind_annotate takes it.
pub(crate) fn recorded_here() -> Option<PathBuf> {
    let entries = std::fs::read_dir(".").ok()?;
    let mut names: Vec<PathBuf> =
        entries.filter_map(|entry| entry.ok().map(|entry| PathBuf::from(entry.file_name()))).collect();
    names.sort_unstable();
    let begins =
        |name: &&PathBuf, with: &str| name.as_os_str().as_encoded_bytes().starts_with(with.as_bytes());
    let found = ["callgrind.out", "cachegrind.out"]
        .iter()
        .find_map(|with| names.iter().find(|name| begins(name, with)));
    found.cloned()
}

/// Whether a file is a profile, going by its beginning: one that is packed is, and one that has a line with event types.
fn is_profile(path: &Path) -> bool {
    const HEAD: u64 = 64 << 10;
    const PACKED: [&[u8]; 4] = [b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"];
    if is_dash(path) {
        return true;
    }
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head));
    let has_events = || head.split(|&byte| byte == b'\n').any(|line| line.starts_with(b"events:"));
    read.is_ok() && (PACKED.iter().any(|magic| head.starts_with(magic)) || has_events())
}

/// The layout that fits who wrote the profile.
fn style_of(profile: &Profile) -> AnnotateStyle {
    if profile.inputs().first().is_some_and(|input| is_of_cachegrind(&input.bytes)) {
        AnnotateStyle::Cachegrind
    } else {
        AnnotateStyle::Callgrind
    }
}

/// Whether Cachegrind or one of its tools wrote a profile.
fn is_of_cachegrind(bytes: &[u8]) -> bool {
    const HEAD: usize = 64 << 10;
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    let kind = Lint::default().run(head, |_| {}).producer.kind;
    matches!(kind, ProducerKind::Cachegrind | ProducerKind::CgDiff)
}
