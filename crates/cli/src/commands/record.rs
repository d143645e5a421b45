//! `gristmill record`: a program under Callgrind, and what was recorded.

mod earlier;
mod held_file;
mod program;
mod recorded;
mod valgrind_log;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gristmill_gate::FIXED_CACHES;
use gristmill_output::shell_word;

use self::earlier::EarlierFiles;
use self::held_file::hold;
use self::recorded::{Recorded, is_written, remove_empty};
use self::valgrind_log::ValgrindLog;
use crate::args::{Engine, Open, RecordArgs};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::input::reason;
use crate::interrupt;
use crate::native;
use crate::output_name::OutputName;
use crate::session::Session;
use crate::starter::{self, Start};
use crate::terminal::printable_path;
use crate::valgrind::{Randomisation, Valgrind, options_elsewhere, without_randomisation};

/// The words of the native engine about a program that it cannot record to its end.
const ENDED_EARLY: &str = "the recording ended early: ";

/// The end of a recording.
pub(crate) struct Done {
    pub(crate) status: ExitStatus,
    /// A command line that goes on with what was recorded.
    pub(crate) next: Option<Vec<OsString>>,
}

impl From<ExitStatus> for Done {
    fn from(status: ExitStatus) -> Done {
        Done { status, next: None }
    }
}

/// A program that ran.
struct Run {
    process: u32,
    status: ExitStatus,
    time: Duration,
}

pub(crate) fn run(args: &RecordArgs, session: &Session) -> Result<Done, CliError> {
    let name = args.output_name().map_err(|reason| CliError::Usage {
        message: format!("--callgrind-out-file: {reason}"),
        hint: None,
    })?;
    let found = match program::check(&args.program) {
        Ok(found) => found,
        Err(refusal) => {
            session.report(&refusal.error);
            return Ok(refusal.status.into());
        }
    };
    let recorder = Recorder::choose(args, found.as_deref())?;
    check_directory(&name)?;
    if !recorder.is_native {
        check_no_pipe(&name)?;
    }
    if let Some(program) = &found {
        check_other_file(&name, program)?;
    }
    let log = ValgrindLog::new(recorder.is_native)?;
    let arguments = arguments(args, recorder.is_native, &name, &log)?;
    if let Some(reason) = recorder.reason.as_ref().filter(|_| !args.quiet) {
        session.tell(&format!("records with Valgrind, as the native engine cannot do this: {reason}"));
    }
    if args.simulates_caches() && !args.quiet {
        tell_caches(args, session);
    }
    if args.verbose {
        let words = [recorder.path.as_os_str().to_owned()].into_iter().chain(arguments.iter().cloned());
        let words: Vec<String> = words.map(|word| shell_word(word.as_encoded_bytes())).collect();
        session.tell(&format!("runs {}", words.join(" ")));
    }
    let start = Start {
        valgrind: &recorder.path,
        arguments: &arguments,
        pattern: &args.callgrind_out_file,
        overwrites: args.force,
    };
    let earlier = match args.force {
        true => EarlierFiles::find_overwritten(&name),
        false => EarlierFiles::find(&name),
    };
    let watch = earlier.watch();
    let run = start_and_wait(&start, args, session);
    let earlier = watch.end();
    let run = run?;
    let mut processes = log.processes(run.process);
    let was_started = run.status.code() != starter::NOT_STARTED;
    if !processes.is_recorded && was_started && is_written(&name, run.process) {
        processes.is_recorded = true;
        session.warn(
            "the program has removed the messages of Valgrind below the directory for temporary files: \
             files of other processes may be missing here",
        );
    }
    if !processes.is_recorded {
        // The starter removes it itself.
        if !args.force && was_started {
            remove_empty(&name.of_process(run.process));
        }
        return Ok(status_without_recording(run.status, session).into());
    }
    let settled = earlier.settle(&name, &processes, args.quiet, session);
    let _held = hold(&name.of_process(run.process));
    let recorded = Recorded::find(&name, run.process, (&processes, &log), &settled, args.combines_dumps());
    let messages = log.messages(&processes, args.verbose);
    let has_failed = log.has_failed(&processes);
    // Without a whole profile they are the reason.
    if !args.quiet || recorded.files.is_empty() || has_failed {
        session.say_plainly(&messages);
    } else {
        let is_reason = |line: &&str| line.contains(ENDED_EARLY);
        session.say_plainly(&messages.split_inclusive('\n').filter(is_reason).collect::<String>());
    }
    if has_failed && messages.is_empty() {
        session.report(&CliError::Usage {
            message: "the profile could not be written".to_owned(),
            hint: Some("is the disk full? The reason could not be written, either".to_owned()),
        });
    }
    log.close(&processes);
    let is_whole = recorded.report(&run.time, recorder.name_in_auto(args), args, session) && !has_failed;
    let status = match run.status {
        ExitStatus::OfProgram(_) if !is_whole => ExitStatus::Failure,
        status => status,
    };
    let next = args.open.filter(|_| is_whole).map(|open| {
        let command = match open {
            Open::Overview => "overview",
            Open::View => "view",
        };
        let words = ["gristmill", command, "--"].map(OsString::from).into_iter();
        words.chain(recorded.files.iter().map(|file| file.clone().into_os_string())).collect()
    });
    Ok(Done { status, next })
}

/// The program that records.
struct Recorder {
    path: PathBuf,
    is_native: bool,
    /// The reason why the native engine cannot record, if it was tried.
    reason: Option<String>,
}

impl Recorder {
    /// Takes the engine that is asked for. By itself, that is the native one where it can do everything that is asked.
    fn choose(args: &RecordArgs, program: Option<&Path>) -> Result<Recorder, CliError> {
        if args.engine == Engine::Valgrind || names_valgrind(args) {
            return Recorder::valgrind(args, None);
        }
        let refusal = match program {
            Some(program) => native::refusal(args, program),
            None => Some("it needs a path to search the program on".to_owned()),
        };
        if refusal.is_none()
            && args.engine == Engine::Auto
            && let Some(reason) = options_elsewhere()
            && let Ok(recorder) = Recorder::valgrind(args, Some(reason.to_owned()))
        {
            return Ok(recorder);
        }
        match refusal {
            None => Ok(Recorder { path: PathBuf::from(native::OWN_PROGRAM), is_native: true, reason: None }),
            Some(reason) if args.engine == Engine::Native => Err(CliError::Usage {
                message: format!("the native engine cannot record this: {reason}"),
                hint: Some("try --engine=valgrind".to_owned()),
            }),
            reason => Recorder::valgrind(args, reason),
        }
    }

    fn valgrind(args: &RecordArgs, reason: Option<String>) -> Result<Recorder, CliError> {
        let valgrind = Valgrind::find(args.valgrind.as_deref()).map_err(|error| match (error, &reason) {
            (CliError::Usage { message, hint }, Some(reason)) => {
                let message = format!("the native engine cannot record this: {reason}; and {message}");
                CliError::Usage { message, hint }
            }
            (error, _) => error,
        })?;
        valgrind.check_version()?;
        Ok(Recorder { path: valgrind.path().to_owned(), is_native: false, reason })
    }

    /// Returns its name, if it was not asked for.
    fn name_in_auto(&self, args: &RecordArgs) -> Option<&'static str> {
        let name = if self.is_native { "the native engine" } else { "Valgrind" };
        (args.engine == Engine::Auto && !names_valgrind(args)).then_some(name)
    }
}

/// `true` if Valgrind is asked for by its path, without an engine.
fn names_valgrind(args: &RecordArgs) -> bool {
    args.engine == Engine::Auto && args.valgrind.is_some()
}

/// Runs the program to its end.
fn start_and_wait(start: &Start<'_>, args: &RecordArgs, session: &Session) -> Result<Run, CliError> {
    let begin = Instant::now();
    let tell_process = |process: u32| {
        if args.verbose {
            session.tell(&format!("process {process}: gristmill control {process} status asks it"));
        }
    };
    let (ended, randomisation) =
        without_randomisation(|| interrupt::run_to_its_end(&mut start.command(), tell_process));
    let (process, status) = ended.map_err(|error| CliError::Usage {
        message: format!("{} could not be run: {}", printable_path(start.valgrind), reason(&error)),
        hint: None,
    })?;
    let time = begin.elapsed();
    if randomisation == Randomisation::On && !args.quiet {
        session.tell(
            "address randomisation could not be switched off here, so counts can differ a little from run to run",
        );
    }
    Ok(Run { process, status: exit_status(status), time })
}

/// Returns the exit status for that of a process that did not become the program, and says what it was unless the process has.
fn status_without_recording(status: ExitStatus, session: &Session) -> ExitStatus {
    let end = match status {
        ExitStatus::OfProgram(starter::NOT_STARTED) => return ExitStatus::Failure,
        // Valgrind, which has said why.
        ExitStatus::OfProgram(program::NOT_FOUND | program::NOT_RUN) => return status,
        ExitStatus::OfSignal(_) => return status,
        other => other.code(),
    };
    session.report(&CliError::Usage {
        message: format!("nothing was recorded: Valgrind ended with status {end} before it ran the program"),
        hint: Some("-v shows how Valgrind is called".to_owned()),
    });
    ExitStatus::Failure
}

/// Returns the exit status for that of a program.
fn exit_status(status: std::process::ExitStatus) -> ExitStatus {
    #[cfg(unix)]
    if let Some(Ok(signal)) = std::os::unix::process::ExitStatusExt::signal(&status).map(u8::try_from) {
        return ExitStatus::OfSignal(signal);
    }
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitStatus::Failure, ExitStatus::OfProgram)
}

/// Refuses a directory that does not exist: Callgrind would find out when the program has ended.
fn check_directory(name: &OutputName) -> Result<(), CliError> {
    let path = name.of_process(std::process::id());
    let usage = |message: String, hint: &str| CliError::Usage { message, hint: Some(hint.to_owned()) };
    if path.is_dir() {
        return Err(usage(
            format!("{} is a directory", printable_path(&path)),
            "give the name of a file in it, such as callgrind.out.%p",
        ));
    }
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() && !parent.is_dir() => {
            Err(usage(format!("there is no directory {}", printable_path(parent)), "make it first"))
        }
        _ => Ok(()),
    }
}

/// Refuses a pipe: Callgrind opens it at the start and at the end, and waits for a reader that has seen the end of the first time.
#[cfg(unix)]
fn check_no_pipe(name: &OutputName) -> Result<(), CliError> {
    use std::os::unix::fs::FileTypeExt as _;
    let path = name.of_process(std::process::id());
    if path.metadata().is_ok_and(|metadata| metadata.file_type().is_fifo()) {
        return Err(CliError::Usage {
            message: format!("{} is a pipe, and Callgrind opens its file twice", printable_path(&path)),
            hint: Some("--engine=native writes to a pipe; or give the name of a file".to_owned()),
        });
    }
    Ok(())
}

/// Nothing is refused: Callgrind does not run here.
#[cfg(not(unix))]
fn check_no_pipe(_: &OutputName) -> Result<(), CliError> {
    Ok(())
}

/// Refuses the file of the program itself, which `--force` would overwrite.
fn check_other_file(name: &OutputName, program: &Path) -> Result<(), CliError> {
    let path = name.of_process(std::process::id());
    let file = |path: &Path| path.canonicalize().ok();
    if file(&path).is_some_and(|output| file(program) == Some(output)) {
        return Err(CliError::Usage {
            message: format!("{} is the program itself", printable_path(&path)),
            hint: Some("give the profile another name".to_owned()),
        });
    }
    Ok(())
}

/// Returns the words for the engine.
fn arguments(
    args: &RecordArgs,
    is_native: bool,
    name: &OutputName,
    log: &ValgrindLog,
) -> Result<Vec<OsString>, CliError> {
    let first = if is_native { native::MARK } else { "--tool=callgrind" };
    let mut arguments: Vec<OsString> = vec![first.into()];
    arguments.push(log.option());
    if is_native {
        arguments.push(format!("--parent={}", std::process::id()).into());
    }
    if let Some(cache_sim) = args.cache_sim {
        arguments.push(if cache_sim.is_yes() { "--cache-sim=yes" } else { "--cache-sim=no" }.into());
    }
    if args.simulates_caches() {
        arguments.extend(caches(args).map(|(cache, size)| format!("--{cache}={size}").into()));
    }
    arguments.extend(args.passed_on());
    let mut out = OsString::from("--callgrind-out-file=");
    let pattern = name.absolute_pattern().map_err(|error| CliError::Usage {
        message: format!("the working directory is not known: {}", reason(&error)),
        hint: None,
    })?;
    out.push(pattern);
    arguments.extend([out, "--".into()]);
    arguments.extend(args.program.iter().cloned());
    Ok(arguments)
}

/// Returns the sizes of the simulated caches.
fn caches(args: &RecordArgs) -> impl Iterator<Item = (&'static str, &str)> {
    let caches = args.caches().into_iter().zip(FIXED_CACHES);
    caches.map(|((cache, given), fixed)| (cache, given.unwrap_or(fixed)))
}

fn tell_caches(args: &RecordArgs, session: &Session) {
    let sizes: Vec<String> = caches(args).map(|(cache, size)| format!("--{cache}={size}")).collect();
    session.tell(&format!("simulates the caches {}", sizes.join(" ")));
}
