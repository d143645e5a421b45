//! The messages of Valgrind: one file for each process in a directory of its own, so that standard error is the program's. The names
//! of these files also tell which processes were recorded.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;

use crate::error::CliError;
use crate::input::reason;
use crate::interrupt::TemporaryDirectory;
use crate::native;
use crate::valgrind;
use crate::valgrind::messages::{has_collected, without_summary};

/// Bytes of messages of a process that are passed on: a program can write more there by client requests.
const MAX_MESSAGE_BYTES: u64 = 1 << 20;

/// Bytes of messages of all processes that are passed on.
const MAX_ALL_MESSAGE_BYTES: usize = 16 << 20;

/// Said in place of what is not passed on.
const CUT_OFF: &str = "== more messages of Valgrind are left out here\n";

/// Messages that tell nothing here: sizes of caches are given, and a request of the user is no news.
const KNOWN: [&str; 5] = [
    " warning: L3 cache found",
    " warning: specified LL cache",
    " warning: simulated LL cache",
    " monitor command request to kill this process",
    " Reset valgrind output to log",
];

/// The directory of messages.
pub(super) struct ValgrindLog {
    directory: TemporaryDirectory,
}

/// The processes of a recording.
#[derive(Debug)]
pub(super) struct Processes {
    /// The program itself, and what it has forked or started.
    pub(super) all: BTreeSet<u32>,
    /// Those that go on after the end of the program.
    pub(super) running: BTreeSet<u32>,
    /// Those that ended with costs to write under Callgrind.
    pub(super) with_costs: BTreeSet<u32>,
    /// `true` if the program itself ran under Valgrind.
    pub(super) is_recorded: bool,
}

impl ValgrindLog {
    pub(super) fn new() -> Result<ValgrindLog, CliError> {
        let directory = TemporaryDirectory::new().map_err(|error| CliError::Usage {
            message: format!("no temporary directory for the messages of Valgrind: {}", reason(&error)),
            hint: Some("TMPDIR names a directory for temporary files".to_owned()),
        })?;
        Ok(ValgrindLog { directory })
    }

    /// Returns the option for Valgrind.
    pub(super) fn option(&self) -> OsString {
        let mut option = OsString::from("--log-file=");
        let path = self.directory.path().to_string_lossy().replace('%', "%%");
        match self.directory.path().to_str() {
            Some(_) => option.push(path),
            None => option.push(self.directory.path()),
        }
        option.push("/%p");
        option
    }

    /// Lists the processes that were recorded.
    pub(super) fn processes(&self, program: u32) -> Processes {
        let entries = std::fs::read_dir(self.directory.path()).into_iter().flatten().flatten();
        let mut all: BTreeSet<u32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        let is_program_recorded = all.contains(&program);
        all.insert(program);
        let is_recorded =
            |process: u32| valgrind::is_recorded(process) || valgrind::runs_own_program(process);
        let running = all.iter().copied().filter(|process| *process != program && is_recorded(*process));
        let with_costs = all.iter().copied().filter(|process| {
            self.read(*process).is_some_and(|(messages, _)| has_collected(&messages, *process))
        });
        Processes {
            running: running.collect(),
            with_costs: with_costs.collect(),
            all,
            is_recorded: is_program_recorded,
        }
    }

    /// Reads the messages of a process, up to a limit. Returns `true` beside them if there are more.
    fn read(&self, process: u32) -> Option<(String, bool)> {
        let file = File::open(self.directory.path().join(process.to_string())).ok()?;
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

    /// Returns the messages of all processes.
    pub(super) fn messages(&self, processes: &Processes, are_all_wanted: bool) -> String {
        let is_wanted = |line: &&str| !KNOWN.iter().any(|known| line.contains(known));
        let mut messages = String::new();
        for process in &processes.all {
            if messages.len() >= MAX_ALL_MESSAGE_BYTES {
                messages.push_str(CUT_OFF);
                break;
            }
            let Some((text, is_cut_off)) = self.read(*process) else { continue };
            match are_all_wanted {
                true => messages.push_str(&text),
                false => messages.extend(without_summary(&text, *process).filter(is_wanted)),
            }
            if !messages.is_empty() && !messages.ends_with('\n') {
                messages.push('\n');
            }
            if is_cut_off {
                messages.push_str(CUT_OFF);
            }
        }
        messages
    }

    /// `true` if the native engine could not write a profile of one of these processes.
    pub(super) fn has_failed(&self, processes: &Processes) -> bool {
        let path = |process: &u32| self.directory.path().join(process.to_string());
        processes.all.iter().any(|process| native::failure_path(&path(process)).exists())
    }

    /// Removes the directory, unless a process that goes on needs it: what it forks has a file there as well.
    pub(super) fn close(self, processes: &Processes) {
        if !processes.running.is_empty() {
            self.directory.keep();
        }
    }
}
