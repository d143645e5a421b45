//! The stand-in for callgrind_annotate: its options, its choice of a profile, its exit codes.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gristmill_output::printable;
use gristmill_profile::Profile;

use super::{Host, Outcome, output_error};
use crate::callgrind_annotate::exact::{ExactError, ExactOptions, ExactReport};
use crate::callgrind_annotate::{Options, Report, SortKey, Threshold, is_number, split_list, with_slash};

const USAGE: &str = "\
usage: callgrind_annotate [options] [profile [source-files...]]

  Shows the cost of the functions of a profile, and of the lines of their source
  files. Without a profile, the first callgrind.out* of the working directory is
  read. Defaults are in [ ].

    -h --help                show this help
    --version                show the version
    --show=A,B,C             event types to show, in this order [all]
    --sort=A,B,C             event types to sort by [as recorded]; with A:90,B:50
                             the list ends where these percentages are reached
    --threshold=0..100       the list ends where the functions have this
                             percentage of the first event type together [99]
    --show-percs=yes|no      show percentages beside costs [yes]
    --auto=yes|no            annotate the source files of all listed functions [yes]
    --context=N              lines to show around those with costs [8]
    --inclusive=yes|no       show inclusive costs of functions [no]
    --tree=none|caller|calling|both
                             callers and callees of each function [none]
    -I=DIR --include=DIR     also look for source files in this directory
";

/// The version of the replaced callgrind_annotate.
const VERSION: &str = "callgrind_annotate-3.19.0";

/// The exit codes of the original: 255, or the last error of the operating system.
const FAILED: u8 = 255;
const NOT_IN_PROFILE: u8 = 25;
const TOO_NEW: u8 = 25;
const NO_SUCH_FILE: u8 = 2;

/// The reason why there is no report: the message and the exit code.
type Refusal = Outcome;

fn refusal(code: u8, message: impl Into<String>) -> Refusal {
    Outcome { code, message: message.into() }
}

fn usage() -> Refusal {
    refusal(FAILED, USAGE)
}

/// The end of a report whose output cannot be written.
fn output_failed(error: &io::Error) -> Refusal {
    match output_error(error) {
        Some(message) => refusal(FAILED, message),
        None => Outcome::SUCCESS,
    }
}

pub(super) fn run(words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Outcome {
    let result = report(words, host, out);
    let flushed = out.flush().map_err(|error| output_failed(&error));
    match result.and(flushed) {
        Ok(()) => Outcome::SUCCESS,
        Err(refusal) => refusal,
    }
}

/// A parsed command line.
#[derive(Debug)]
struct Request {
    /// The profile, then source files.
    files: Vec<PathBuf>,
    show: Vec<String>,
    sort: Vec<SortKey>,
    threshold: Option<Threshold>,
    show_percentages: bool,
    auto: bool,
    context: u64,
    inclusive: bool,
    callers: bool,
    callees: bool,
    /// The directories for source files, each with a slash at its end.
    include: Vec<String>,
}

impl Request {
    /// Replaces the files by the source files among them.
    fn with_sources(self, sources: impl Iterator<Item = PathBuf>) -> Request {
        Request { files: sources.collect(), ..self }
    }
}

fn report(words: &[OsString], host: &dyn Host, out: &mut dyn Write) -> Result<(), Refusal> {
    let mut request = parse(words, host)?;
    let mut files = std::mem::take(&mut request.files).into_iter();
    let path = match files.next() {
        Some(path) => path,
        None => {
            let found = host.find_profile().ok_or_else(usage)?;
            writeln!(out, "Reading data from '{}'...", found.display())
                .map_err(|error| output_failed(&error))?;
            found
        }
    };
    if let Err(error) = host.open(&path) {
        let code = error.raw_os_error().and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED);
        return Err(refusal(code, format!("File {} not opened\n", path.display())));
    }
    if host.is_exact() {
        return exact_report(&path, request.with_sources(files), host, out);
    }
    let failed = |message: String| refusal(FAILED, message);
    let profile = &host.load(&path).map_err(failed)?;
    if let Some(version) = profile.inputs().first().and_then(|input| newer_version(&input.bytes)) {
        let version = printable(version);
        return Err(refusal(TOO_NEW, format!("version {version} of the format is not known here\n")));
    }
    if profile.event_count() == 0 {
        return Err(refusal(FAILED, "missing events line\n"));
    }
    check_events("--show", request.show.iter(), profile)?;
    check_events("--sort", request.sort.iter().map(|key| &key.name), profile)?;
    let mut options = Options::new(profile, path.to_string_lossy().into_owned());
    let threshold = request.threshold.or_else(|| Threshold::parse(Options::DEFAULT_THRESHOLD));
    let selected = threshold
        .map(|threshold| options.select_events(profile, &request.show, &request.sort, threshold, &[]))
        .transpose();
    selected.map_err(|error| failed(error.to_string()))?;
    options.show_percentages = request.show_percentages;
    options.auto = request.auto;
    options.context = request.context;
    options.inclusive = request.inclusive;
    options.callers = request.callers;
    options.callees = request.callees;
    let include: Vec<PathBuf> = request.include.iter().map(PathBuf::from).collect();
    options.include_dirs = request.include;
    options.user_files = files.map(|file| file.into_os_string().into_encoded_bytes()).collect();
    options.working_directory =
        host.working_directory().map(|directory| directory.into_os_string().into_encoded_bytes());
    let look = host.look();
    options.spells_controls = look.is_terminal || look.has_color;
    options.color = look.has_color;
    let sources = host.sources(&include, host.modified(&path));
    host.report_doubts(profile);
    let report = Report::new(profile, &options).map_err(|error| failed(error.to_string()))?;
    report.write(&*sources, out).map_err(|error| output_failed(&error))
}

/// Prints what the original prints, with its errors. `request` has the source files only.
fn exact_report(path: &Path, request: Request, host: &dyn Host, out: &mut dyn Write) -> Result<(), Refusal> {
    let profile = host.read(path).map_err(|error| refusal(FAILED, format!("{error}\n")))?;
    let include: Vec<PathBuf> = request.include.iter().map(PathBuf::from).collect();
    let look = host.look();
    let defaults = ExactOptions::new(path.to_string_lossy().into_owned());
    let bytes = |path: PathBuf| path.into_os_string().into_encoded_bytes();
    let options = ExactOptions {
        show: request.show,
        sort: request.sort,
        threshold: request.threshold.unwrap_or_else(|| defaults.threshold.clone()),
        show_percentages: request.show_percentages,
        auto: request.auto,
        context: request.context,
        inclusive: request.inclusive,
        callers: request.callers,
        callees: request.callees,
        include_dirs: request.include,
        user_files: request.files.into_iter().map(bytes).collect(),
        working_directory: host.working_directory().map(bytes),
        spells_controls: look.is_terminal,
        ..defaults
    };
    let refused = |error: ExactError| match error {
        ExactError::Io(error) => output_failed(&error),
        ExactError::TooNew(_) | ExactError::UnknownEvent { .. } => {
            refusal(NOT_IN_PROFILE, format!("{error}\n"))
        }
        error => refusal(FAILED, format!("{error}\n")),
    };
    let report = ExactReport::new(&profile, &options).map_err(refused)?;
    if report.malformed_lines() > 0 {
        host.warn(&format!("{}: {}", path.display(), report.doubts()));
    }
    report.write(&*host.sources(&include, host.modified(path)), out).map_err(refused)
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

fn check_events<'n>(
    option: &str,
    mut names: impl Iterator<Item = &'n String>,
    profile: &Profile,
) -> Result<(), Refusal> {
    let is_known =
        |name: &&String| profile.events().any(|event| profile.event(event).name == name.as_bytes());
    match names.find(|name| !is_known(name)) {
        Some(name) => {
            let message = format!("{option} event `{name}' did not appear in input\n");
            Err(refusal(NOT_IN_PROFILE, message))
        }
        None => Ok(()),
    }
}

fn parse(words: &[OsString], host: &dyn Host) -> Result<Request, Refusal> {
    let mut request = Request {
        files: Vec::new(),
        show: Vec::new(),
        sort: Vec::new(),
        threshold: None,
        show_percentages: true,
        auto: true,
        context: 8,
        inclusive: false,
        callers: false,
        callees: false,
        include: Vec::new(),
    };
    for word in words {
        let text = word.to_str().unwrap_or_default();
        if !word.as_encoded_bytes().starts_with(b"-") {
            // The first file is the profile; the others must be found in the directories named before them.
            if !request.files.is_empty() {
                find_source(Path::new(word), &request.include, host)?;
            }
            request.files.push(PathBuf::from(word));
            continue;
        }
        if text == "--version" {
            return Err(refusal(FAILED, format!("{VERSION}\n")));
        }
        let (option, value) = text.split_once('=').ok_or_else(usage)?;
        match option {
            "--show" => request.show = split_list(value).map(str::to_owned).collect(),
            "--sort" => request.sort = SortKey::parse_all(value).map_err(|_| usage())?,
            "--threshold" => request.threshold = Some(Threshold::parse(value).ok_or_else(usage)?),
            "--show-percs" => request.show_percentages = yes_or_no(value)?,
            "--auto" => request.auto = yes_or_no(value)?,
            "--context" => request.context = context(value)?,
            "--inclusive" => request.inclusive = yes_or_no(value)?,
            "--tree" => {
                (request.callers, request.callees) = match value {
                    "none" => (false, false),
                    "caller" => (true, false),
                    "calling" => (false, true),
                    "both" => (true, true),
                    _ => return Err(usage()),
                }
            }
            "-I" | "--include" => request.include.push(with_slash(value)),
            _ => return Err(usage()),
        }
    }
    Ok(request)
}

/// Parses a number of lines: digits and points. The original ignores what follows a point.
fn context(value: &str) -> Result<u64, Refusal> {
    if !is_number(value) {
        return Err(usage());
    }
    match value.split('.').next().unwrap_or_default() {
        "" => Ok(0),
        whole => Ok(whole.parse().unwrap_or(u64::MAX)),
    }
}

fn yes_or_no(value: &str) -> Result<bool, Refusal> {
    match value {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(usage()),
    }
}

fn find_source(name: &Path, include: &[String], host: &dyn Host) -> Result<(), Refusal> {
    // A directory is put before a name as it is; an absolute name does not replace it.
    let below = |directory: &String| {
        let mut path = OsString::from(directory);
        path.push(name);
        PathBuf::from(path)
    };
    if host.is_readable_file(name) || include.iter().any(|directory| host.is_readable_file(&below(directory)))
    {
        return Ok(());
    }
    let message = format!("File {} not found in any of: {}\n", name.display(), include.join(" "));
    Err(refusal(NO_SUCH_FILE, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stand_in::testing::Shelf;

    fn parsed(words: &[&str]) -> Result<(), u8> {
        let words: Vec<OsString> = words.iter().map(OsString::from).collect();
        parse(&words, &Shelf::default()).map(|_| ()).map_err(|refusal| refusal.code)
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
            assert_eq!(parsed(&[words]), Err(FAILED), "{words}");
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
        assert_eq!(parsed(&["profile", "no/such/source.c"]), Err(NO_SUCH_FILE));
    }
}
