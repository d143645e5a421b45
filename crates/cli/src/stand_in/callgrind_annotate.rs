//! Called as callgrind_annotate: its options, its way to choose a file, its exit codes.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::ValueEnum;
use gristmill_compat::callgrind_annotate::Threshold;
use gristmill_output::printable;
use gristmill_profile::Profile;

use crate::args::{AnnotateArgs, GlobalArgs};
use crate::commands::annotate::callgrind::{self, SortKey, is_number, with_slash};
use crate::commands::annotate::{Files, Job, recorded_here};
use crate::error::CliError;
use crate::load;
use crate::session::Session;
use crate::source_files::SourceFiles;

const USAGE: &str = "\
usage: callgrind_annotate [options] [profile [source-files...]]

  Shows the functions of a profile by what they cost, and their source files line
  by line. Without a profile, the first callgrind.out* here is read. In [ ] stands
  what holds if nothing is said.

    -h --help                show this
    --version                show the version
    --show=A,B,C             event types to show, in this order [all]
    --sort=A,B,C             event types to sort by [as recorded]; with A:90,B:50
                             the list ends where these percentages are reached
    --threshold=0..100       the list ends where the functions have this
                             percentage of the first event type together [99]
    --show-percs=yes|no      percentages beside the costs [yes]
    --auto=yes|no            annotate the source files of all functions listed [yes]
    --context=N              lines to show around those with costs [8]
    --inclusive=yes|no       functions with all that they called [no]
    --tree=none|caller|calling|both
                             callers and callees of each function [none]
    -I=DIR --include=DIR     look for source files in this directory, too
";

/// The version of callgrind_annotate whose place is taken.
const VERSION: &str = "callgrind_annotate-3.19.0";

/// How the original ends: with 255, or with whatever the operating system last complained of.
const FAILED: u8 = 255;
const NOT_IN_PROFILE: u8 = 25;
const TOO_NEW: u8 = 25;
const NO_SUCH_FILE: u8 = 2;

/// Why there is no report: what to say, and the exit code.
#[derive(Debug, PartialEq, Eq)]
struct Refusal {
    message: String,
    code: u8,
}

impl Refusal {
    fn new(code: u8, message: impl Into<String>) -> Self {
        Refusal { message: message.into(), code }
    }

    fn usage() -> Self {
        Refusal::new(FAILED, USAGE)
    }
}

pub(crate) fn run(words: &[OsString]) -> ExitCode {
    let session = Session::new(&GlobalArgs::plain());
    let result = report(words, &session);
    let flushed = session.flush();
    match result.and_then(|()| flushed.map_err(|error| failure(&error))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(refusal) if refusal.message.is_empty() => refusal.code.into(),
        Err(refusal) => {
            session.say_plainly(&refusal.message);
            refusal.code.into()
        }
    }
}

/// A reader that had enough is told nothing.
fn failure(error: &CliError) -> Refusal {
    if error.is_broken_pipe() { Refusal::new(0, "") } else { Refusal::new(FAILED, error.to_string()) }
}

fn report(words: &[OsString], session: &Session) -> Result<(), Refusal> {
    let mut args = parse(words)?;
    let mut files = args.files.drain(..);
    let (profiles, sources) = (files.next(), files.collect());
    let path = match profiles {
        Some(path) => path,
        None => {
            let found = recorded_here().ok_or_else(Refusal::usage)?;
            let told = writeln!(session.stdout(), "Reading data from '{}'...", found.display());
            told.map_err(|error| failure(&error.into()))?;
            found
        }
    };
    if let Err(error) = File::open(&path) {
        let code = error.raw_os_error().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED);
        return Err(Refusal::new(code, format!("File {} not opened\n", path.display())));
    }
    let files = &Files { profiles: vec![path], sources };
    let profile =
        load::profile(&files.profiles, &args.selection, session).map_err(|error| failure(&error))?;
    let profile = &Arc::new(profile);
    if let Some(version) = profile.inputs().first().and_then(|input| newer_version(&input.bytes)) {
        let version = printable(version);
        return Err(Refusal::new(TOO_NEW, format!("version {version} of the format is not known here\n")));
    }
    if profile.event_count() == 0 {
        return Err(Refusal::new(FAILED, "missing events line\n"));
    }
    check_events("--show", &args.show, profile)?;
    let sort = SortKey::parse_all(args.sort.as_deref().unwrap_or_default()).map_err(|_| Refusal::usage())?;
    let sort: Vec<String> = sort.into_iter().map(|key| key.name).collect();
    check_events("--sort", &sort, profile)?;
    let sources = &SourceFiles::new(&args.source, files.time(), session).map_err(|error| failure(&error))?;
    let job = Job { args: &args, files, profile, sources, session };
    let mut out = session.stdout();
    callgrind::write(&job, &mut *out).map_err(|error| failure(&error))
}

/// The version of the format that the header of a profile names, if the original refuses it. Its header ends with `events:`.
fn newer_version(profile: &[u8]) -> Option<&[u8]> {
    let header = profile.split(|&byte| byte == b'\n').take_while(|line| !line.starts_with(b"events:"));
    let mut versions = header.filter_map(|line| {
        let value = line.strip_prefix(b"version:")?.trim_ascii_start();
        let end = value.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(value.len());
        value.get(..end)
    });
    versions.find(|version| {
        let zeros = version.iter().take_while(|&&digit| digit == b'0').count();
        !matches!(version.get(zeros..), Some(b"" | b"1"))
    })
}

fn check_events(option: &str, names: &[String], profile: &Profile) -> Result<(), Refusal> {
    let is_known =
        |name: &&String| profile.events().any(|event| profile.event(event).name == name.as_bytes());
    match names.iter().find(|name| !is_known(name)) {
        Some(name) => {
            let message = format!("{option} event `{name}' did not appear in input\n");
            Err(Refusal::new(NOT_IN_PROFILE, message))
        }
        None => Ok(()),
    }
}

fn parse(words: &[OsString]) -> Result<AnnotateArgs, Refusal> {
    let mut args = AnnotateArgs { context: 8, ..AnnotateArgs::default() };
    for word in words {
        let text = word.to_str().unwrap_or_default();
        if !word.as_encoded_bytes().starts_with(b"-") {
            // The first is the profile; the others must be found in the directories that were named before.
            if !args.files.is_empty() {
                find_source(Path::new(word), &args.source.include)?;
            }
            args.files.push(PathBuf::from(word));
            continue;
        }
        if text == "--version" {
            return Err(Refusal::new(FAILED, format!("{VERSION}\n")));
        }
        let (option, value) = text.split_once('=').ok_or_else(Refusal::usage)?;
        match option {
            "--show" => args.show = names(value),
            "--sort" => {
                SortKey::parse_all(value).map_err(|_| Refusal::usage())?;
                args.sort = Some(value.to_owned());
            }
            "--threshold" => args.threshold = Some(threshold(value)?),
            "--show-percs" => args.show_percs = Some(one_of(value)?),
            "--auto" => args.auto = Some(one_of(value)?),
            "--context" => args.context = context(value)?,
            "--inclusive" => args.inclusive = Some(one_of(value)?),
            "--tree" => args.tree = one_of(value)?,
            "-I" | "--include" => args.source.include.push(PathBuf::from(with_slash(value))),
            _ => return Err(Refusal::usage()),
        }
    }
    Ok(args)
}

fn names(value: &str) -> Vec<String> {
    let mut names: Vec<String> = value.split(',').map(str::to_owned).collect();
    while names.last().is_some_and(String::is_empty) {
        names.pop();
    }
    names
}

fn threshold(value: &str) -> Result<String, Refusal> {
    match Threshold::parse(value) {
        Some(threshold) => Ok(threshold.text),
        None => Err(Refusal::usage()),
    }
}

/// Digits and points; what stands after a point changes nothing.
fn context(value: &str) -> Result<u64, Refusal> {
    if !is_number(value) {
        return Err(Refusal::usage());
    }
    match value.split('.').next().unwrap_or_default() {
        "" => Ok(0),
        whole => Ok(whole.parse().unwrap_or(u64::MAX)),
    }
}

/// One of the words that the option of the same name takes.
fn one_of<T: ValueEnum>(value: &str) -> Result<T, Refusal> {
    T::from_str(value, false).map_err(|_| Refusal::usage())
}

fn find_source(name: &Path, include: &[PathBuf]) -> Result<(), Refusal> {
    // A directory is put before a name as it is; an absolute name does not replace it.
    let below = |directory: &PathBuf| {
        let mut path = directory.clone().into_os_string();
        path.push(name);
        PathBuf::from(path)
    };
    let is_there = |path: &Path| path.is_file() && File::open(path).is_ok();
    if is_there(name) || include.iter().any(|directory| is_there(&below(directory))) {
        return Ok(());
    }
    let directories: Vec<_> = include.iter().map(|directory| directory.to_string_lossy()).collect();
    let message = format!("File {} not found in any of: {}\n", name.display(), directories.join(" "));
    Err(Refusal::new(NO_SUCH_FILE, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(words: &[&str]) -> Result<AnnotateArgs, u8> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words).map_err(|refusal| refusal.code)
    }

    #[test]
    fn options_are_spelled_as_the_original_has_them() {
        for words in [
            &["--show=Ir,Dr"][..],
            &["--sort=Ir:50,Dr:3.5%"],
            &["--threshold=99%"],
            &["--threshold=.5"],
            &["--context=1.5"],
            &["-I=/usr/src", "--include=x"],
            &["--tree=both", "profile", "--auto=no"],
        ] {
            assert!(parsed(words).is_ok(), "{words:?}");
        }
        for words in [
            "-h",
            "--help",
            "--version",
            "--show",
            "-I",
            "-Ix",
            "--include",
            "--threshold=101",
            "--threshold=",
            "--threshold=-1",
            "--context=",
            "--context=x",
            "--tree=x",
            "--inclusive",
            "--auto=maybe",
            "--jumps",
            "-",
            "--",
        ] {
            assert_eq!(parsed(&[words]).map(|_| ()), Err(FAILED), "{words}");
        }
    }

    #[test]
    fn versions_are_known_up_to_1() {
        for (profile, version) in [
            (&b"version: 2\nevents: Ir\n"[..], Some(&b"2"[..])),
            (b"pid: 1\nversion:  10.5\nevents: Ir\n", Some(b"10")),
            (b"version: 1\nversion:2", Some(b"2")),
            (b"version: 01\nevents: Ir\n", None),
            (b"version: 0.9.6\nevents: Ir\n", None),
            (b"version: x2\nversion:\n version: 2\nevents: Ir\n", None),
            (b"events: Ir\nversion: 2\n", None),
        ] {
            assert_eq!(newer_version(profile), version, "{profile:?}");
        }
    }

    #[test]
    fn sources_must_be_there() {
        assert_eq!(parsed(&["profile", "no/such/source.c"]).map(|_| ()), Err(NO_SUCH_FILE));
    }
}
