//! vgdb, the program of Valgrind that talks to a process under it.

use std::ffi::OsString;
use std::io::Read;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use gristmill_output::printable_lines;

use super::target::Target;
use crate::error::CliError;
use crate::input::reason;
use crate::interrupt::EndedOnInterrupt;
use crate::starter;
use crate::valgrind::Valgrind;

/// Time between two looks at vgdb.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Variables that the names of the pipes to a process depend on.
const VARIABLES: [&str; 6] = ["TMPDIR", "LOGNAME", "USER", "HOST", "HOSTNAME", "HOME"];

/// Text of vgdb if another one asks the process.
const BUSY: &str = "already speaks with Valgrind";

/// The way to a process.
#[derive(Debug)]
pub(super) struct Vgdb<'t> {
    path: PathBuf,
    target: &'t Target,
    timeout: Duration,
}

impl<'t> Vgdb<'t> {
    /// Finds the program beside Valgrind.
    pub(super) fn find(
        valgrind: &Valgrind,
        target: &'t Target,
        timeout: Duration,
    ) -> Result<Vgdb<'t>, CliError> {
        if target.option("--vgdb").is_some_and(|value| value == "no") {
            return Err(CliError::Usage {
                message: format!(
                    "process {} takes no requests: it was started with --vgdb=no",
                    target.process
                ),
                hint: Some("start it without that option".to_owned()),
            });
        }
        let path = valgrind.tool("vgdb").ok_or_else(|| CliError::Usage {
            message: "vgdb, which is a part of Valgrind, was not found beside it nor on the path".to_owned(),
            hint: Some("install all of Valgrind, or name its program with --valgrind".to_owned()),
        })?;
        Ok(Vgdb { path, target, timeout })
    }

    /// Sends a request and returns the answer.
    pub(super) fn ask(&self, request: &str) -> Result<String, CliError> {
        let process = self.target.process;
        let mut arguments = vec![OsString::from(format!("--pid={process}"))];
        if let Some(prefix) = self.target.option("--vgdb-prefix") {
            let mut option = OsString::from("--vgdb-prefix=");
            option.push(prefix);
            arguments.push(option);
        }
        arguments.push(request.into());
        // If this program is killed, nothing waits for an answer of a program that is stopped.
        let mut command = starter::tied(&self.path, &arguments);
        let mut variables = self.target.variables();
        for name in VARIABLES {
            match variables.remove(std::ffi::OsStr::new(name)) {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |message: String| CliError::Usage { message, hint: None };
        let (mut child, group) = EndedOnInterrupt::spawn(&mut command)
            .map_err(|error| failed(format!("vgdb could not be run: {}", reason(&error))))?;
        let answer = child.stdout.take().map(read_all);
        let messages = child.stderr.take().map(read_all);
        let begin = Instant::now();
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if begin.elapsed() > self.timeout => break None,
                Ok(None) => std::thread::sleep(POLL_INTERVAL),
                Err(error) => {
                    group.end();
                    return Err(failed(format!("vgdb could not be waited for: {}", reason(&error))));
                }
            }
        };
        let Some(status) = status else {
            group.end();
            // It was ended just now.
            let _ = child.wait();
            return Err(self.target.without_answer(self.timeout));
        };
        let text = |reader: Option<JoinHandle<Vec<u8>>>| {
            let bytes = reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let (answer, messages) = (text(answer), text(messages));
        if status.success() {
            return Ok(answer);
        }
        if messages.contains(BUSY) {
            return Err(self.target.busy());
        }
        let last = messages.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason is given");
        Err(CliError::Usage {
            message: format!("process {process} could not be asked: {}", printable_lines(last)),
            hint: Some("this needs the rights of the user who started it".to_owned()),
        })
    }
}

/// Reads a pipe in a thread, because a full one would block who writes to it.
fn read_all(mut pipe: impl Read + Send + 'static) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until then is the answer.
        let _ = pipe.read_to_end(&mut bytes);
        bytes
    })
}
