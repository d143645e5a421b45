//! The way to a process under the native engine: a request is a file beside its messages, and a signal makes it look there.

use std::fs::File;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::target::Target;
use crate::error::CliError;
use crate::input::reason;
use crate::native;
use crate::output_name::OutputName;

/// Time between two looks for an answer.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// The way to a process.
#[derive(Debug)]
pub(super) struct Engine<'t> {
    target: &'t Target,
    /// The file of its messages.
    messages: PathBuf,
    timeout: Duration,
}

impl<'t> Engine<'t> {
    pub(super) fn find(target: &'t Target, timeout: Duration) -> Result<Engine<'t>, CliError> {
        let pattern = target.option("--log-file").unwrap_or_default();
        match OutputName::parse(&pattern) {
            Ok(name) => Ok(Engine { target, messages: name.of_process(target.process), timeout }),
            Err(error) => Err(failed(format!("process {} takes no requests: {error}", target.process))),
        }
    }

    /// Sends a request and returns the answer. There is none if it ends the process.
    pub(super) fn ask(&self, request: &str) -> Result<String, CliError> {
        let process = self.target.process;
        let begin = Instant::now();
        let (question, answer) = (native::request_path(&self.messages), native::answer_path(&self.messages));
        // It has its messages when it can be asked. Before it has its handler, the signal would end it.
        while !self.messages.exists() || !native::can_wake(process) {
            self.wait(begin)?;
        }
        let messages = File::open(&self.messages)
            .map_err(|error| failed(format!("process {process} cannot be asked: {}", reason(&error))))?;
        // Of two requests at once, one would get the answer of the other.
        let lock = lock(messages);
        if lock.is_none() || question.exists() {
            return Err(self.target.busy());
        }
        let _ = std::fs::remove_file(&answer);
        native::replace(&question, request)
            .map_err(|error| failed(format!("process {process} cannot be asked: {}", reason(&error))))?;
        if !native::wake(process) {
            let _ = std::fs::remove_file(&question);
            return Err(failed(format!(
                "process {process} cannot be asked: it has ended, or belongs to another user"
            )));
        }
        loop {
            if let Ok(text) = std::fs::read_to_string(&answer) {
                let _ = std::fs::remove_file(&answer);
                return Ok(text);
            }
            if let Err(error) = self.wait(begin) {
                let _ = std::fs::remove_file(&question);
                return Err(error);
            }
        }
    }

    /// Waits a moment.
    fn wait(&self, begin: Instant) -> Result<(), CliError> {
        let process = self.target.process;
        if !self.target.is_running() {
            return Err(failed(format!("process {process} has ended before it gave an answer")));
        }
        if begin.elapsed() > self.timeout {
            return Err(self.target.without_answer(self.timeout));
        }
        std::thread::sleep(POLL_INTERVAL);
        Ok(())
    }
}

/// Locks a file until the result is dropped. `None` if another process has locked it.
#[cfg(unix)]
fn lock(file: File) -> Option<nix::fcntl::Flock<File>> {
    nix::fcntl::Flock::lock(file, nix::fcntl::FlockArg::LockExclusiveNonblock).ok()
}

/// Here no process is asked.
#[cfg(not(unix))]
fn lock(file: File) -> Option<File> {
    Some(file)
}

fn failed(message: String) -> CliError {
    CliError::Usage { message, hint: None }
}
