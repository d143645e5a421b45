//! The process that the engine runs in.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::ExitCode;

use gristmill_engine::{Choice, Choices, Client as _, Inherited, Invocation, Options};

use super::recorder::{Log, Messages, Recorder};
use crate::args::GlobalArgs;
use crate::error::CliError;
use crate::output_name::OutputName;
use crate::session::Session;
use crate::starter::NOT_STARTED;
use crate::valgrind::find_program;

/// The option that makes messages those of Valgrind, and its values.
const LOG_STYLE: &str = "log-style";
const LIKE_VALGRIND: &str = "valgrind";
const QUIET: &str = "quiet";

pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    let message = format!("nothing was recorded: {}", start(arguments));
    // It has a descriptor that the program must not see.
    let session = Session::new(&GlobalArgs::plain());
    session.report(&CliError::Usage { message, hint: None });
    NOT_STARTED.into()
}

/// Becomes the program. Returns the reason if that is not possible; then nothing has happened.
pub(super) fn start(arguments: &[OsString]) -> String {
    let options = match options(arguments) {
        Ok(options) => options,
        Err(reason) => return reason,
    };
    let inherited = options.inherited.clone();
    let environment = match &inherited {
        Some(inherited) => inherited.environment.clone(),
        None => gristmill_engine::environment(),
    };
    let reason = gristmill_engine::run(options, &environment).to_string();
    if let Some(inherited) = inherited {
        run_unrecorded(arguments, &inherited, &reason);
    }
    reason
}

/// Splits words into options and the program, with the mark between them.
fn split(arguments: &[OsString]) -> Option<(&[OsString], &OsStr, &[OsString])> {
    let end = arguments.iter().position(|word| word == OsStr::new("--") || word == Inherited::MARK)?;
    Some((&arguments[..end], &arguments[end], &arguments[end + 1..]))
}

/// Runs a program that is not recorded in place of one that was. Returns only if that is not possible.
fn run_unrecorded(arguments: &[OsString], inherited: &Inherited, reason: &str) {
    let recorder = split(arguments).map(|(known, ..)| recorder(known, inherited.words.clone()));
    if let Some(Ok(recorder)) = recorder {
        recorder.tell(std::process::id(), &gristmill_engine::unrecorded(inherited, reason));
    }
    // The caller says that there is no recording.
    drop(gristmill_engine::run_unrecorded(inherited));
}

/// Returns the value of an option.
fn value<'o>(options: &'o [OsString], name: &str) -> Option<&'o OsStr> {
    let prefix = format!("--{name}=");
    let found = options.iter().rev().find_map(|word| word.as_bytes().strip_prefix(prefix.as_bytes()));
    found.map(OsStr::from_bytes)
}

fn recorder(options: &[OsString], command: Vec<OsString>) -> Result<Recorder, String> {
    let name = |option: &str| value(options, option).map(OutputName::parse).transpose();
    let (output, log) = (name("callgrind-out-file")?, name("log-file")?);
    let messages = match value(options, LOG_STYLE) {
        Some(style) => Messages::Log(Log::new(log, style == OsStr::new(QUIET), command)),
        None => Messages::Files(log.ok_or("no file is given")?),
    };
    Ok(Recorder { output: output.ok_or("no file is given")?, messages })
}

/// Returns the option that makes messages those of Valgrind.
pub(super) fn log_style(is_quiet: bool) -> OsString {
    format!("--{LOG_STYLE}={}", if is_quiet { QUIET } else { LIKE_VALGRIND }).into()
}

fn options(arguments: &[OsString]) -> Result<Options, String> {
    let (known, mark, words) = split(arguments).ok_or("no program is given")?;
    let value = |name: &str| value(known, name);
    let is_yes = |name: &str, default: bool| value(name).map_or(default, |value| value == OsStr::new("yes"));
    let (invocation, inherited) = if mark == Inherited::MARK {
        let inherited = Inherited::parse(words).ok_or("the words of the program are incomplete")?;
        (Invocation::executed(&inherited.path, inherited.words.clone()), Some(inherited))
    } else {
        let given = words.first().ok_or("no program is given")?;
        let program = find_program(given, Path::new("")).ok_or("there is no such program")?;
        (Invocation::find(&program, words.to_vec()), None)
    };
    let client = recorder(known, invocation.command.clone())?;
    let mut options = Options::new(invocation, Box::new(client));
    options.parent = match &inherited {
        Some(inherited) => inherited.parent,
        None => value("parent").and_then(|parent| parent.to_str()?.parse().ok()),
    };
    options.ignores_pipe_signal = match &inherited {
        Some(inherited) => inherited.ignores_pipe_signal,
        None => crate::pipe_signal::is_ignored(),
    };
    options.inherited = inherited;
    if is_yes("trace-children", false) {
        let own = [super::OWN_PROGRAM, super::MARK].map(OsString::from);
        options.words_for_others = Some(own.into_iter().chain(known.iter().cloned()).collect());
    }
    options.by_instruction = is_yes("dump-instr", false);
    options.by_line = is_yes("dump-line", true);
    options.compresses_names = is_yes("compress-strings", true);
    options.compresses_positions = is_yes("compress-pos", true);
    options.choices = choices(known);
    options.choices.skips_stubs = is_yes("skip-plt", true);
    options.choices.demangles = is_yes("demangle", true);
    options.collects_at_start = collects_at_start(known);
    options.is_counted_at_start = is_yes("instr-atstart", true);
    options.combines_parts = is_yes("combine-dumps", false);
    options.collects_jumps = is_yes("collect-jumps", false);
    options.dump_every = value("dump-every-bb").and_then(|count| count.to_str()?.parse().ok()).unwrap_or(0);
    options.separates_threads = is_yes("separate-threads", false);
    options.counts_in_vectors = is_yes("count-in-vectors", true);
    options.links_blocks = is_yes("link-blocks", true);
    let code_cache = value("code-cache").and_then(|size| size.to_str()?.parse::<u64>().ok());
    options.code_cache_bytes = code_cache.map_or(u64::MAX, |size| size.saturating_mul(1024));
    Ok(options)
}

/// `true` if costs are collected from the start on. The option for a function to collect in says that they are not, and the last one of the
/// two options counts.
fn collects_at_start(options: &[OsString]) -> bool {
    let last = options.iter().rev().find_map(|option| {
        let option = option.as_bytes();
        let chosen = option.strip_prefix(b"--collect-atstart=").map(|value| value == b"yes");
        chosen.or_else(|| option.starts_with(b"--toggle-collect=").then_some(false))
    });
    last.unwrap_or(true)
}

/// Returns what options say of functions.
fn choices(options: &[OsString]) -> Choices {
    let mut choices = Choices::default();
    for option in options {
        let Some((name, value)) = option.to_str().and_then(|option| option.split_once('=')) else {
            continue;
        };
        let choice = match name {
            "--toggle-collect" => Choice::ToggleCollect,
            "--dump-before" => Choice::DumpBefore,
            "--dump-after" => Choice::DumpAfter,
            "--zero-before" => Choice::ZeroBefore,
            "--fn-skip" => Choice::Skip,
            "--separate-callers" => {
                choices.callers = value.parse().unwrap_or(0);
                continue;
            }
            "--separate-recs" => {
                choices.levels = value.parse().unwrap_or(1);
                continue;
            }
            _ => {
                let number = |prefix: &str| name.strip_prefix(prefix)?.parse::<u32>().ok();
                let callers = number("--separate-callers").map(Choice::Callers);
                match callers.or_else(|| number("--separate-recs").map(Choice::Levels)) {
                    Some(choice) => choice,
                    None => continue,
                }
            }
        };
        choices.functions.push((value.as_bytes().to_vec(), choice));
    }
    choices
}
