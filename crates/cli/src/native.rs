//! The native engine: what it is asked for, what it refuses, and the process that it runs in.
//!
//! The starter runs this program in place of Valgrind, with the options that Valgrind would get and one before them.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::args::RecordArgs;

/// The first option of the process that the engine runs in.
pub(crate) const MARK: &str = "--native-engine-of-gristmill";

/// The program that the starter runs.
pub(crate) const OWN_PROGRAM: &str = "/proc/self/exe";

/// Returns why the engine cannot do what is asked, if it cannot.
pub(crate) fn refusal(args: &RecordArgs, program: &Path) -> Option<String> {
    if let Some(option) = args.unknown_to_native() {
        return Some(format!("it has no {option} yet"));
    }
    refusal_of_program(program)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn refusal_of_program(program: &Path) -> Option<String> {
    let invocation = gristmill_engine::Invocation::find(program, vec![program.as_os_str().to_owned()]);
    gristmill_engine::check(&invocation.program).err().map(|refusal| refusal.to_string())
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn refusal_of_program(_program: &Path) -> Option<String> {
    Some("it needs Linux on a processor of the kind x86-64".to_owned())
}

/// Returns the path of a request to a process, by that of its messages.
pub(crate) fn request_path(messages: &Path) -> PathBuf {
    messages.with_extension("request")
}

/// Returns the path of the answer.
pub(crate) fn answer_path(messages: &Path) -> PathBuf {
    messages.with_extension("answer")
}

/// Writes a file that is complete when it is there.
pub(crate) fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    std::fs::write(&new, text)?;
    std::fs::rename(new, path)
}

/// Lets a process look for a request. `false` if it has ended.
pub(crate) fn wake(process: u32) -> bool {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return gristmill_engine::wake(process);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    {
        let _ = process;
        false
    }
}

/// Runs as the engine, if the words say so. It returns only if the program could not be started.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    let [_, mark, arguments @ ..] = words else { return None };
    if mark != OsStr::new(MARK) {
        return None;
    }
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    let code = process::run(arguments);
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    let code = {
        let _ = arguments;
        crate::starter::NOT_STARTED.into()
    };
    Some(code)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod process {
    use std::ffi::{OsStr, OsString};
    use std::fs::OpenOptions;
    use std::io::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::{Path, PathBuf};
    use std::process::ExitCode;

    use gristmill_engine::{Choice, Choices, Client, Inherited, Invocation, Options};

    use super::{answer_path, replace, request_path};
    use crate::args::GlobalArgs;
    use crate::error::CliError;
    use crate::output_name::OutputName;
    use crate::session::Session;
    use crate::starter::NOT_STARTED;
    use crate::terminal::printable_path;
    use crate::valgrind::find_program;

    /// The client of the engine: files have the names that Valgrind would give them.
    #[derive(Debug)]
    struct Recorder {
        output: OutputName,
        log: OutputName,
    }

    impl Recorder {
        fn create(path: &Path, message: &str) {
            let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
            // Without it, the recorder finds the profile alone.
            let _ = file.and_then(|mut file| file.write_all(message.as_bytes()));
        }
    }

    impl Client for Recorder {
        fn request(&self, process: u32) -> Option<String> {
            let path = request_path(&self.log.of_process(process));
            let request = std::fs::read_to_string(&path).ok()?;
            std::fs::remove_file(&path).ok()?;
            Some(request)
        }

        fn answer(&self, process: u32, answer: &str) {
            // Without it, the user learns that there is none.
            let _ = replace(&answer_path(&self.log.of_process(process)), answer);
        }

        fn output(&self, process: u32) -> PathBuf {
            self.output.of_process(process)
        }

        fn begin(&self, process: u32) {
            Recorder::create(&self.log.of_process(process), "");
        }

        fn tell(&self, process: u32, message: &str) {
            let text = format!("gristmill: warning: {message}\n");
            Recorder::create(&self.log.of_process(process), &text);
        }
    }

    pub(super) fn run(arguments: &[OsString]) -> ExitCode {
        let reason = match options(arguments) {
            Ok(options) => {
                let inherited = options.inherited.clone();
                let environment = match &inherited {
                    Some(inherited) => inherited.variables(),
                    None => std::env::vars_os().collect(),
                };
                let reason = gristmill_engine::run(options, &environment).to_string();
                if let Some(inherited) = inherited {
                    run_unrecorded(arguments, &inherited, &reason);
                }
                reason
            }
            Err(reason) => reason,
        };
        let message = format!("nothing was recorded: {reason}");
        // It has a descriptor that the program must not see.
        let session = Session::new(&GlobalArgs::plain());
        session.report(&CliError::Usage { message, hint: None });
        NOT_STARTED.into()
    }

    /// Runs a program that is not recorded in place of one that was. Returns only if that is not possible.
    fn run_unrecorded(arguments: &[OsString], inherited: &Inherited, reason: &str) {
        if let Ok(recorder) = recorder(arguments) {
            let (process, path) = (std::process::id(), printable_path(&inherited.path));
            let message = format!("process {process} runs {path}, which is not recorded: {reason}");
            recorder.tell(process, &message);
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

    fn recorder(options: &[OsString]) -> Result<Recorder, String> {
        let name = |option: &str| OutputName::parse(value(options, option).ok_or("no file is given")?);
        Ok(Recorder { output: name("callgrind-out-file")?, log: name("log-file")? })
    }

    fn options(arguments: &[OsString]) -> Result<Options, String> {
        let end = arguments.iter().position(|word| word == OsStr::new("--") || word == Inherited::MARK);
        let end = end.ok_or("no program is given")?;
        let (known, words) = (&arguments[..end], arguments[end + 1..].to_vec());
        let value = |name: &str| value(known, name);
        let is_yes =
            |name: &str, default: bool| value(name).map_or(default, |value| value == OsStr::new("yes"));
        let (invocation, inherited) = if arguments[end] == Inherited::MARK {
            let inherited = Inherited::parse(&words).ok_or("the words of the program are incomplete")?;
            (Invocation::executed(&inherited.path, inherited.words.clone()), Some(inherited))
        } else {
            let given = words.first().ok_or("no program is given")?;
            let program = find_program(given, Path::new("")).ok_or("there is no such program")?;
            (Invocation::find(&program, words), None)
        };
        let mut options = Options::new(invocation, Box::new(recorder(known)?));
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
        options.collects_at_start = is_yes("collect-atstart", true) && value("toggle-collect").is_none();
        options.is_counted_at_start = is_yes("instr-atstart", true);
        options.combines_parts = is_yes("combine-dumps", false);
        options.dump_every =
            value("dump-every-bb").and_then(|count| count.to_str()?.parse().ok()).unwrap_or(0);
        options.separates_threads = is_yes("separate-threads", false);
        options.counts_in_vectors = is_yes("count-in-vectors", true);
        options.links_blocks = is_yes("link-blocks", true);
        let code_cache = value("code-cache").and_then(|size| size.to_str()?.parse::<u64>().ok());
        options.code_cache_bytes = code_cache.map_or(u64::MAX, |size| size.saturating_mul(1024));
        Ok(options)
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
}
