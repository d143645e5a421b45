//! `gristmill control`: requests to a program that runs under Callgrind, through Valgrind's own vgdb, or under the native engine.

mod engine;
mod status;
mod target;
mod vgdb;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use gristmill_output::printable_path;

use self::engine::Engine;
use self::target::Target;
use self::vgdb::Vgdb;
use crate::args::{ControlArgs, Request};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::output_name::files_of_base;
use crate::session::Session;
use crate::valgrind::Valgrind;

/// Time between two looks at a process that ends.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The way to a process.
enum Way<'t> {
    Vgdb(Vgdb<'t>),
    Engine(Engine<'t>),
}

impl Way<'_> {
    /// Sends a request and returns the answer.
    fn ask(&self, request: &str) -> Result<String, CliError> {
        match self {
            Way::Vgdb(vgdb) => vgdb.ask(request),
            Way::Engine(engine) => engine.ask(request),
        }
    }
}

pub(crate) fn run(args: &ControlArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let takes_name = matches!(args.request, Request::Dump | Request::Stop);
    if let Some(name) = &args.name {
        let fault = if !takes_name {
            Some("only dump and stop take a name")
        } else if name.chars().any(char::is_control) {
            Some("a name has no control characters")
        } else {
            None
        };
        if let Some(fault) = fault {
            return Err(CliError::Usage { message: fault.to_owned(), hint: None });
        }
    }
    let target = Target::find(args.pid)?;
    let timeout = Duration::from_secs(args.timeout.into());
    let way = match target.is_native() {
        true => Way::Engine(Engine::find(&target, timeout)?),
        false => Way::Vgdb(Vgdb::find(&Valgrind::find(args.valgrind.as_deref())?, &target, timeout)?),
    };
    match args.request {
        Request::Status => {
            let answer = way.ask("status internal")?;
            status::write(&target, &answer, &mut *session.stdout())?;
        }
        Request::Dump => dump(args, &target, &way, session)?,
        Request::Zero => {
            way.ask("zero")?;
            session.tell(&format!("all costs of process {} are zero now", target.process));
        }
        Request::On => {
            way.ask("instrumentation on")?;
            session.tell(&format!("process {} is counted from now on", target.process));
        }
        Request::Off => {
            way.ask("instrumentation off")?;
            session.tell(&format!("process {} is counted no more", target.process));
        }
        Request::Stop => {
            dump(args, &target, &way, session)?;
            // The answer is the end of the process.
            let killed = way.ask("v.kill");
            if !has_ended(&target, timeout) {
                killed?;
                return Err(CliError::Usage {
                    message: format!("process {} has not ended after {} s", target.process, args.timeout),
                    hint: Some("a longer time is --timeout SECONDS".to_owned()),
                });
            }
            session.tell(&format!("process {} was ended", target.process));
        }
    }
    Ok(ExitStatus::Success)
}

/// Lets the program write what it has counted, and prints the paths of the files.
fn dump(args: &ControlArgs, target: &Target, way: &Way<'_>, session: &Session) -> Result<(), CliError> {
    let before = target.base().map(|base| states(&base)).unwrap_or_default();
    let request = match args.name.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => format!("dump {name}"),
        None => "dump".to_owned(),
    };
    way.ask(&request)?;
    let after = target.base().map(|base| states(&base)).unwrap_or_default();
    // The file of the whole recording is empty until its end.
    let written = after.iter().filter(|state| !before.contains(state) && state.bytes > 0);
    let written: Vec<&Path> = written.map(|state| state.path.as_path()).collect();
    if written.is_empty() {
        session.warn(&format!(
            "process {} has written a part, but it is not known where: see its --callgrind-out-file",
            target.process
        ));
    }
    let working_directory = std::env::current_dir().unwrap_or_default();
    let mut out = session.stdout();
    for path in written {
        let shown = path.strip_prefix(&working_directory).unwrap_or(path);
        if session.look().is_terminal {
            writeln!(out, "{}", printable_path(shown))?;
        } else {
            out.write_all(shown.as_os_str().as_encoded_bytes())?;
            writeln!(out)?;
        }
    }
    Ok(out.flush()?)
}

/// A file at a moment.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
}

fn states(base: &Path) -> Vec<FileState> {
    let state = |path: PathBuf| {
        let metadata = path.metadata().ok()?;
        Some(FileState { path, bytes: metadata.len(), modified: metadata.modified().ok() })
    };
    files_of_base(base).into_iter().filter_map(state).collect()
}

/// Waits for the end of a process. Returns `false` if it takes too long.
fn has_ended(target: &Target, timeout: Duration) -> bool {
    let begin = Instant::now();
    while target.is_running() {
        if begin.elapsed() > timeout {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    true
}
