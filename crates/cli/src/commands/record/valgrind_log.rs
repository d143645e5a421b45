//! The messages of a recording: which processes were recorded, and what is passed on.

use std::collections::BTreeSet;
use std::ffi::OsString;

use crate::error::CliError;
use crate::input::reason;
use crate::native;
use crate::valgrind;
use crate::valgrind::messages::{Ending, MessageDirectory, without_summary};

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
    directory: MessageDirectory,
    /// `true` if the native engine writes them, which has messages only if there is something to say.
    is_native: bool,
}

/// The processes of a recording.
#[derive(Debug)]
pub(super) struct Processes {
    /// The program itself, and what it has forked or started.
    pub(super) all: BTreeSet<u32>,
    /// Those that go on after the end of the program.
    pub(super) running: BTreeSet<u32>,
    /// `true` if the program itself ran under Valgrind.
    pub(super) is_recorded: bool,
}

impl ValgrindLog {
    pub(super) fn new(is_native: bool) -> Result<ValgrindLog, CliError> {
        let directory = MessageDirectory::new().map_err(|error| CliError::Usage {
            message: format!("no temporary directory for the messages of Valgrind: {}", reason(&error)),
            hint: Some("TMPDIR names a directory for temporary files".to_owned()),
        })?;
        Ok(ValgrindLog { directory, is_native })
    }

    /// Returns the option for Valgrind.
    pub(super) fn option(&self) -> OsString {
        self.directory.option()
    }

    /// Lists the processes that were recorded.
    pub(super) fn processes(&self, program: u32) -> Processes {
        let mut all = self.directory.processes();
        let is_program_recorded = all.contains(&program);
        all.insert(program);
        let is_recorded =
            |process: u32| valgrind::is_recorded(process) || valgrind::runs_own_program(process);
        let running = all.iter().copied().filter(|process| *process != program && is_recorded(*process));
        Processes { running: running.collect(), all, is_recorded: is_program_recorded }
    }

    /// Returns how a process has ended under Callgrind. A `.valgrindrc` can have `-q`: then the program itself has no messages, and the
    /// others tell nothing.
    pub(super) fn ending(&self, process: u32, program: u32) -> Ending {
        if self.is_native {
            return Ending::Untold;
        }
        match self.directory.ending(process) {
            Ending::Silent if self.directory.ending(program) == Ending::Silent => Ending::Untold,
            ending => ending,
        }
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
            let Some((text, is_cut_off)) = self.directory.read(*process) else { continue };
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
        processes.all.iter().any(|process| native::failure_path(&self.directory.file(*process)).exists())
    }

    /// Removes the directory, unless a process that goes on needs it: what it forks has a file there as well.
    pub(super) fn close(self, processes: &Processes) {
        if !processes.running.is_empty() && self.directory.goes_on() {
            self.directory.keep();
        }
    }
}
