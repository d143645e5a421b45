//! Commands that run with a time limit. One that takes too long is ended together with its children.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gristmill_gate::Failure;
use gristmill_output::printable;

use crate::input::reason;
use crate::interrupt::EndedOnInterrupt;
use crate::valgrind::RECORDER;

/// Time between two looks at a running command.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// Time that processes which were ended may take to close standard error.
const MAX_CLOSING: Duration = Duration::from_secs(5);

/// Lines of the standard error of a failed command that are shown.
const MAX_LINES: usize = 20;

/// Bytes of the standard error that are kept.
const MAX_STDERR_BYTES: usize = 8 << 10;

/// Characters of a line that are shown.
const MAX_LINE_CHARACTERS: usize = 300;

/// The fate of processes that a command leaves behind.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Remaining {
    /// They go on, as a server that a setup starts.
    Stay,
    /// They are ended, except those that Callgrind records: they write their profiles when they end.
    End,
    /// The command has ended only when they have.
    Wait,
}

/// Runs a command, and returns the id of its process. `shown` names it in errors. `is_recording` tells whether Callgrind still records a
/// process, wherever that is and whatever its standard error is.
pub(super) fn run(
    command: &mut Command,
    seconds: u64,
    shown: &str,
    remaining: Remaining,
    is_recording: &dyn Fn() -> bool,
) -> Result<u32, Failure> {
    // The report is on standard output.
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let keeps_stderr = remaining != Remaining::Stay;
    if keeps_stderr {
        command.stderr(Stdio::piped());
    }
    let (mut child, group) = EndedOnInterrupt::spawn(command)
        .map_err(|error| Failure::from(format!("{shown} could not be run: {}", reason(&error))))?;
    let deadline = Instant::now().checked_add(Duration::from_secs(seconds));
    let stderr = child.stderr.take().map(Tail::read).transpose().map_err(|error| {
        group.end();
        // It was ended just now.
        let _ = child.wait();
        Failure::from(format!("{shown} was ended: its messages cannot be read: {}", reason(&error)))
    })?;
    let Some(status) = wait(&mut child, deadline, shown)? else {
        group.end();
        // It may have joined another group. What it left in that one, the gate's own for example, is not known.
        let _ = child.kill();
        // It was ended just now.
        let _ = child.wait();
        return Err(format!("{shown} took longer than {seconds} seconds").into());
    };
    let remaining = match remaining {
        Remaining::End if group.runs_program(RECORDER) || is_recording() => Remaining::Wait,
        remaining => remaining,
    };
    let is_waited_for = status.success() && remaining == Remaining::Wait;
    if !status.success() || remaining == Remaining::End {
        group.end();
    }
    if let Some(stderr) = &stderr {
        let limit = match (is_waited_for, deadline) {
            // Those that were ended do not keep standard error open; one that has left the group may.
            (false, _) => MAX_CLOSING,
            (true, Some(end)) => end.saturating_duration_since(Instant::now()),
            (true, None) => Duration::from_secs(seconds),
        };
        let is_closed = stderr.wait(limit);
        let is_done = is_closed && (!is_waited_for || wait_for_recorded(is_recording, deadline));
        // Those that were waited for are done, and others have nothing to do any more.
        group.end();
        if !is_done && is_waited_for {
            return Err(format!("{shown} left processes running for longer than {seconds} seconds").into());
        }
        if !is_closed && status.success() {
            return Err(format!("{shown} left a process running in a session of its own").into());
        }
    }
    if status.success() {
        return Ok(child.id());
    }
    let output = stderr.map_or_else(Vec::new, |stderr| lines(&stderr.tail()));
    Err(Failure { message: format!("{shown} ended with {status}"), output })
}

/// Waits until no process is recorded, or returns `false` at the deadline.
fn wait_for_recorded(is_recording: &dyn Fn() -> bool, deadline: Option<Instant>) -> bool {
    // The first messages of a process come a moment after its start, so one look is not enough.
    let mut looks = 0;
    loop {
        looks = if is_recording() { 0 } else { looks + 1 };
        if looks == 2 {
            return true;
        }
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            return false;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Waits for the end of a command, or returns `None` at the deadline.
fn wait(child: &mut Child, deadline: Option<Instant>, shown: &str) -> Result<Option<ExitStatus>, Failure> {
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(Some(status)),
            Ok(None) if deadline.is_some_and(|deadline| Instant::now() > deadline) => return Ok(None),
            Ok(None) => std::thread::sleep(POLL_INTERVAL),
            Err(error) => {
                return Err(format!("{shown} could not be waited for: {}", reason(&error)).into());
            }
        }
    }
}

/// The end of what a command writes. It is read while the command runs, because a full pipe would block it.
struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Fails when the pipe is closed.
    open: Receiver<()>,
}

impl Tail {
    /// Starts a thread that reads a pipe.
    ///
    /// # Errors
    ///
    /// If no thread can be started.
    fn read(mut pipe: impl Read + Send + 'static) -> io::Result<Tail> {
        let (is_read, open) = mpsc::channel();
        let tail = Tail { bytes: Arc::default(), open };
        let bytes = Arc::clone(&tail.bytes);
        std::thread::Builder::new().spawn(move || {
            let _is_read: Sender<()> = is_read;
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend_from_slice(&buffer[..count]);
                let over = bytes.len().saturating_sub(MAX_STDERR_BYTES);
                bytes.drain(..over);
            }
        })?;
        Ok(tail)
    }

    /// Waits until the pipe is closed, or returns `false` after some time.
    fn wait(&self, time: Duration) -> bool {
        self.open.recv_timeout(time) == Err(RecvTimeoutError::Disconnected)
    }

    /// Returns the last bytes that were read.
    fn tail(&self) -> Vec<u8> {
        self.bytes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Returns the last lines of a text, without the process ids of Valgrind, which differ from run to run.
pub(super) fn lines(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let lines = text.lines().map(without_process_id).filter(|line| !line.trim().is_empty());
    let lines = lines.map(|line| {
        let shown: String = line.chars().take(MAX_LINE_CHARACTERS).collect();
        printable(shown.trim_end().as_bytes()).into_owned()
    });
    let lines: Vec<String> = lines.collect();
    lines[lines.len().saturating_sub(MAX_LINES)..].to_vec()
}

/// Returns a line without `==123== ` or `--123-- ` at its start.
fn without_process_id(line: &str) -> &str {
    for mark in ["==", "--"] {
        if let Some((id, rest)) = line.strip_prefix(mark).and_then(|rest| rest.split_once(mark))
            && !id.is_empty()
            && id.bytes().all(|byte| byte.is_ascii_digit())
        {
            return rest.strip_prefix(' ').unwrap_or(rest);
        }
    }
    line
}

/// Returns a command as errors show it.
pub(super) fn quoted(words: &[String]) -> String {
    format!("`{}`", printable(words.join(" ").as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_valgrind_are_lines_without_process_ids() {
        let text =
            b"==12== Callgrind\n==12== \n--12-- warning: \x1b[0m\nvalgrind: ./x: No such file\n==x== y\n";
        let expected = ["Callgrind", "warning: \\x1b[0m", "valgrind: ./x: No such file", "==x== y"];
        let lines = lines(text);
        assert_eq!(lines.len(), expected.len(), "{lines:?}");
        assert_eq!([&lines[0], &lines[2], &lines[3]], [expected[0], expected[2], expected[3]]);
        assert!(!lines[1].contains('\u{1b}'), "{lines:?}");
    }
}
