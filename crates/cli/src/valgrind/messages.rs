//! The messages of Valgrind: one file for each process in a directory of its own, so that standard error is the program's. The names
//! of these files also tell which processes were recorded.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::process::{is_recorded, is_recorded_or_begins};
use crate::interrupt::{TemporaryDirectory, end_process};

/// Bytes of messages of a process that are read: a program can write more there by client requests.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;

/// Bytes at the end of a part of the messages that are looked at again: a line can begin there.
const MAX_LINE_BYTES: usize = 4 << 10;

/// The line that Callgrind writes when a process ends, before its profile.
const COLLECTED: &str = "Collected : ";

/// The beginning of the line about a signal that ends a process.
const BY_SIGNAL: &str = "Process terminating with default action of signal ";

/// The line of a process whose parent is in another namespace of process ids.
const WITHOUT_PARENT: &str = "Parent PID: 0";

/// The line before the costs: a summary begins with it, which the profile has as well.
const EVENTS: &str = "Events    : ";

/// The beginnings of lines that each process has.
const BANNER: [&str; 7] = [
    "Callgrind, a call-graph generating cache profiler",
    "Copyright (C) ",
    "Using Valgrind-",
    "Command: ",
    "Parent PID: ",
    "For interactive control, run ",
    "Could not connect to ",
];

/// The reason why a process other than the program can have no profile.
pub(crate) const MISSING_REASON: &str =
    "was killed, could not write one there, or ran a program in its place that is not recorded";

/// The end of a process, as its messages tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It has ended with costs to write.
    WithCosts,
    /// It has ended and collected nothing.
    WithoutCosts,
    /// It has messages, but none about its end: it was killed, could write no more, or ran a program in its place that is not recorded.
    Untold,
    /// It has no messages, not even those of its beginning.
    Silent,
}

impl Ending {
    /// `true` if a process that has ended so and has no profile could not write one.
    pub(crate) fn is_loss(self) -> bool {
        matches!(self, Ending::WithCosts | Ending::Silent)
    }
}

/// Looks at processes that may be about to end, and the time between two.
const MAX_ATTEMPTS: usize = 20;
const ATTEMPT_INTERVAL: Duration = Duration::from_millis(10);

/// The directory of messages.
pub(crate) struct MessageDirectory(TemporaryDirectory);

impl MessageDirectory {
    pub(crate) fn new() -> io::Result<MessageDirectory> {
        TemporaryDirectory::new().map(MessageDirectory)
    }

    /// Returns the option for Valgrind.
    pub(crate) fn option(&self) -> OsString {
        let mut option = OsString::from("--log-file=");
        match self.path().to_str() {
            Some(path) => option.push(path.replace('%', "%%")),
            None => option.push(self.path()),
        }
        option.push("/%p");
        option
    }

    /// Lists the processes that were recorded.
    pub(crate) fn processes(&self) -> BTreeSet<u32> {
        let entries = std::fs::read_dir(self.path()).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
    }

    /// `true` if Callgrind records one of these processes.
    pub(crate) fn is_recording(&self) -> bool {
        self.processes().into_iter().any(is_recorded_or_begins)
    }

    /// `true` if Callgrind goes on to record one of these processes. A signal ends those of a group one after the other.
    pub(crate) fn goes_on(&self) -> bool {
        let mut attempts = 0;
        while self.is_recording() {
            attempts += 1;
            if attempts == MAX_ATTEMPTS {
                return true;
            }
            std::thread::sleep(ATTEMPT_INTERVAL);
        }
        false
    }

    /// Ends the processes that Callgrind still records, wherever they are.
    pub(crate) fn end_recorded(&self) {
        for _ in 0..MAX_ATTEMPTS {
            let processes = self.processes().into_iter();
            let recorded: Vec<u32> = processes.filter(|process| self.is_recorded_here(*process)).collect();
            if recorded.is_empty() {
                return;
            }
            recorded.into_iter().for_each(end_process);
            // One may have started another one.
            std::thread::sleep(ATTEMPT_INTERVAL);
        }
    }

    /// `true` if Callgrind records a process and writes its messages here: an id can be that of another process by now.
    fn is_recorded_here(&self, process: u32) -> bool {
        let Ok(own) = self.file(process).canonicalize() else { return false };
        let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        is_recorded(process)
            && files.into_iter().any(|file| std::fs::read_link(file.path()).is_ok_and(|it| it == own))
    }

    /// Returns the file of a process.
    pub(crate) fn file(&self, process: u32) -> PathBuf {
        self.path().join(process.to_string())
    }

    /// Reads the messages of a process, up to a limit. Returns `true` beside them if there are more.
    pub(crate) fn read(&self, process: u32) -> Option<(String, bool)> {
        let file = File::open(self.file(process)).ok()?;
        let mut bytes = Vec::new();
        // What was read until then is shown.
        let _ = file.take(MAX_MESSAGE_BYTES + 1).read_to_end(&mut bytes);
        let is_cut_off = bytes.len() as u64 > MAX_MESSAGE_BYTES;
        if is_cut_off {
            // Whole lines, if there are any.
            let end = memchr::memrchr(b'\n', &bytes).map_or(bytes.len() - 1, |at| at + 1);
            bytes.truncate(end);
        }
        Some((String::from_utf8_lossy(&bytes).into_owned(), is_cut_off))
    }

    /// Returns how a process has ended.
    pub(crate) fn ending(&self, process: u32) -> Ending {
        // A program can remove files.
        File::open(self.file(process)).map_or(Ending::Untold, |file| ending(file, process))
    }

    /// Counts the processes that a signal has ended: they did not do all of their work.
    pub(crate) fn ended_by_signals(&self) -> usize {
        self.processes()
            .into_iter()
            .filter(|process| self.has(*process, |line| line.starts_with(BY_SIGNAL)))
            .count()
    }

    /// Returns a process whose parent it does not see: it is in a namespace of process ids, where ids are those of other processes, too.
    pub(crate) fn process_of_namespace(&self) -> Option<u32> {
        self.processes().into_iter().find(|process| self.has(*process, |line| line == WITHOUT_PARENT))
    }

    /// `true` if this holds for a line of Valgrind about a process.
    fn has(&self, process: u32, holds: impl Fn(&str) -> bool) -> bool {
        let mut has_one = false;
        if let Ok(file) = File::open(self.file(process)) {
            each_part(file, |text| {
                has_one = own_lines(text, process).any(&holds);
                has_one
            });
        }
        has_one
    }

    /// Leaves the directory there.
    pub(crate) fn keep(self) {
        self.0.keep();
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

/// Looks for the end of a process in all of its messages. There can be more of them than are shown, before that line and behind it.
fn ending(messages: impl io::Read, process: u32) -> Ending {
    let mut ending = Ending::Silent;
    each_part(messages, |text| {
        match collected(text, process) {
            Some(true) => ending = Ending::WithCosts,
            Some(false) => ending = Ending::WithoutCosts,
            None if ending == Ending::Silent => ending = Ending::Untold,
            None => {}
        }
        ending == Ending::WithCosts
    });
    ending
}

/// Looks at messages part by part, until one is enough. Each line is whole in one of them.
fn each_part(mut messages: impl io::Read, mut is_enough: impl FnMut(&str) -> bool) {
    let mut bytes = Vec::new();
    loop {
        let rest = bytes.len();
        match messages.by_ref().take(MAX_MESSAGE_BYTES).read_to_end(&mut bytes) {
            Ok(_) if bytes.len() > rest => {}
            _ => return,
        }
        if is_enough(&String::from_utf8_lossy(&bytes)) {
            return;
        }
        bytes.drain(..bytes.len().saturating_sub(MAX_LINE_BYTES));
    }
}

/// Returns `true` if a process has costs to write, and `false` if it has ended without.
fn collected(messages: &str, process: u32) -> Option<bool> {
    let costs = own_lines(messages, process).filter_map(|line| line.strip_prefix(COLLECTED));
    let has_costs = costs.map(|costs| {
        costs.split_whitespace().any(|cost| cost.bytes().any(|byte| (b'1'..=b'9').contains(&byte)))
    });
    has_costs.max()
}

/// Returns the lines that tell more than that a process ran under Callgrind.
pub(crate) fn without_summary(messages: &str, process: u32) -> impl Iterator<Item = &str> {
    let mut is_summary = false;
    messages.split_inclusive('\n').filter(move |line| match own_line(line, process) {
        Some(text) => {
            is_summary |= text.starts_with(EVENTS);
            !is_summary && !text.trim().is_empty() && !BANNER.iter().any(|known| text.starts_with(known))
        }
        None => true,
    })
}

/// Returns the lines of Valgrind about a process without their beginning.
fn own_lines(messages: &str, process: u32) -> impl Iterator<Item = &str> {
    messages.lines().filter_map(move |line| own_line(line, process))
}

/// Returns a line of Valgrind about a process without its beginning, `==123== `.
fn own_line(line: &str, process: u32) -> Option<&str> {
    let rest = line.strip_prefix("==")?.strip_prefix(&process.to_string())?.strip_prefix("==")?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = "\
        ==12== Callgrind, a call-graph generating cache profiler\n==12== Command: ./p\n==12== \n\
        --12-- warning: no line\n\
        ==12== Process terminating with default action of signal 11 (SIGSEGV)\n==12==    at 0x1: main\n\
        ==12== \n==12== Events    : Ir Dr\n==12== Collected : 0 45\n==12== \n==12== I   refs:      0\n**12** of the program\n";

    #[test]
    fn a_process_that_ended_has_a_summary_which_is_left_out() {
        let ending = |messages: &str, process: u32| ending(messages.as_bytes(), process);
        assert_eq!(ending(MESSAGES, 12), Ending::WithCosts);
        assert_eq!([ending(MESSAGES, 1), ending(MESSAGES, 2)], [Ending::Untold; 2]);
        assert_eq!(ending("==12== Collected : 0 0\n", 12), Ending::WithoutCosts);
        assert_eq!(ending("==12== Callgrind, a call-graph generating cache profiler\n", 12), Ending::Untold);
        assert_eq!(ending("", 12), Ending::Silent);
        assert_eq!(
            without_summary(MESSAGES, 12).collect::<String>(),
            "--12-- warning: no line\n==12== Process terminating with default action of signal 11 (SIGSEGV)\n\
             ==12==    at 0x1: main\n**12** of the program\n"
        );
    }

    #[test]
    fn the_end_is_found_among_many_messages() {
        let many = "**12** m\n".repeat(300_000);
        for end in ["==12== Collected : 0", "==12== Collected : 0 7"] {
            let expected = if end.ends_with('7') { Ending::WithCosts } else { Ending::WithoutCosts };
            // The line may begin in one part of the messages and end in the next one.
            for shift in 0..40 {
                let messages = [&many[..(1 << 20) - shift], "\n", end, "\n", &many].concat();
                assert_eq!(ending(messages.as_bytes(), 12), expected, "{end} {shift}");
            }
        }
    }
}
