//! The process that is asked: it, or the one that it records, runs under Callgrind. What a process runs is read from `/proc`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use gristmill_output::printable;

use crate::error::CliError;
use crate::native;
use crate::output_name::{self, OutputName};
use crate::valgrind::{executable, is_recorded, runs_own_program};

/// Tools of Valgrind other than Callgrind.
const OTHER_TOOLS: [&str; 9] =
    ["memcheck", "cachegrind", "helgrind", "drd", "massif", "dhat", "lackey", "none", "exp-bbv"];

/// Processes that a hint names.
const MAX_NAMED: usize = 5;

/// A process under Callgrind.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) process: u32,
    /// The words of Valgrind and of the program.
    words: Vec<OsString>,
}

impl Target {
    /// Finds the process: the one that is named, or the program that it records.
    pub(super) fn find(process: u32) -> Result<Target, CliError> {
        if !Path::new("/proc/self/exe").exists() {
            // Other systems do not tell. vgdb does.
            return Ok(Target { process, words: Vec::new() });
        }
        if !folder(process).exists() {
            return Err(refusal(format!("there is no process {process}")));
        }
        let own = std::iter::once(process).chain(children(process));
        let recorded = own.filter(|process| can_be_asked(*process)).collect::<Vec<u32>>();
        if let Some(&found) = recorded.first() {
            return Ok(Target { process: found, words: words(&folder(found).join("cmdline")) });
        }
        let runs = executable(process).unwrap_or_default();
        let tool = OTHER_TOOLS.iter().find(|tool| runs.starts_with(&format!("{tool}-")));
        Err(refusal(match tool {
            Some(tool) => format!("process {process} runs under {tool}, not under Callgrind"),
            None => format!("process {process} does not run under Callgrind"),
        }))
    }

    /// Returns the command line of the program.
    pub(super) fn command(&self) -> String {
        let words = self.words.iter().skip(1 + self.options().count());
        let mut words: Vec<OsString> = words.skip_while(|word| *word == "--").cloned().collect();
        if let Some(started) = native::command_in_place(&self.words) {
            words = started;
        }
        words.iter().map(|word| printable(word.as_encoded_bytes()).into_owned()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the value of an option of Valgrind.
    pub(super) fn option(&self, name: &str) -> Option<OsString> {
        let value = |word: &OsString| {
            let rest = word.as_encoded_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(text(rest))
        };
        self.options().filter_map(value).last()
    }

    fn options(&self) -> impl Iterator<Item = &OsString> {
        let is_option = |word: &&OsString| {
            let bytes = word.as_encoded_bytes();
            bytes.starts_with(b"-") && bytes != b"--"
        };
        self.words.iter().skip(1).take_while(is_option)
    }

    /// Returns a variable of the environment that Valgrind was started with.
    pub(super) fn variables(&self) -> BTreeMap<OsString, OsString> {
        let words = words(&folder(self.process).join("environ"));
        let variables = words.iter().filter_map(|word| {
            let bytes = word.as_encoded_bytes();
            let at = bytes.iter().position(|&byte| byte == b'=')?;
            Some((text(&bytes[..at]), text(&bytes[at + 1..])))
        });
        variables.collect()
    }

    /// Returns the name of the profile, which those of parts and threads begin with.
    pub(super) fn base(&self) -> Option<PathBuf> {
        let pattern = self.option("--callgrind-out-file").unwrap_or_else(|| output_name::DEFAULT.into());
        let name = OutputName::parse(&pattern).ok()?.of_process(self.process);
        // Unless the program has changed its directory.
        let directory = std::fs::read_link(folder(self.process).join("cwd")).unwrap_or_default();
        Some(directory.join(name))
    }

    /// `true` if the process has not ended.
    pub(super) fn is_running(&self) -> bool {
        can_be_asked(self.process)
    }

    /// Returns the error of a process that has not answered in time.
    pub(super) fn without_answer(&self, timeout: Duration) -> CliError {
        CliError::Usage {
            message: format!(
                "process {} gives no answer after {} s: it may be stopped, or at work on something large",
                self.process,
                timeout.as_secs()
            ),
            hint: Some("a longer time is --timeout SECONDS".to_owned()),
        }
    }

    /// Returns the error of a process that is at work on another request.
    pub(super) fn busy(&self) -> CliError {
        CliError::Usage {
            message: format!("process {} has not answered another request yet", self.process),
            hint: Some("ask again when it has".to_owned()),
        }
    }

    /// `true` if the native engine records the process.
    pub(super) fn is_native(&self) -> bool {
        // Valgrind has the same words as this program under its name.
        is_native(&self.words) && runs_own_program(self.process)
    }
}

/// Returns the error for a process that cannot be asked, with those that can.
fn refusal(message: String) -> CliError {
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut processes: Vec<u32> =
        processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    processes.retain(|process| can_be_asked(*process));
    processes.sort_unstable();
    let named: Vec<String> = processes
        .iter()
        .take(MAX_NAMED)
        .map(|&process| {
            let target = Target { process, words: words(&folder(process).join("cmdline")) };
            format!("{process} ({})", target.command())
        })
        .collect();
    let hint = match (&named[..], processes.len().saturating_sub(MAX_NAMED)) {
        ([], _) => "no process runs under Callgrind: gristmill record starts one".to_owned(),
        (_, 0) => format!("under Callgrind: {}", named.join(", ")),
        (_, more) => format!("under Callgrind: {} and {more} more", named.join(", ")),
    };
    CliError::Usage { message, hint: Some(hint) }
}

/// `true` if Callgrind or the native engine records a process.
fn can_be_asked(process: u32) -> bool {
    is_recorded(process) || runs_own_program(process) && is_native(&words(&folder(process).join("cmdline")))
}

/// `true` if the words are those of a process of the native engine.
fn is_native(words: &[OsString]) -> bool {
    // Under the name `valgrind`, the options are those of Valgrind.
    let stands_in = || {
        let name = words.first().and_then(|word| Path::new(word).file_stem());
        name == Some(OsStr::new("valgrind")) && words.iter().any(|word| word == "--tool=callgrind")
    };
    words.get(1).is_some_and(|word| word == native::MARK) || stands_in()
}

fn folder(process: u32) -> PathBuf {
    Path::new("/proc").join(process.to_string())
}

/// Lists the children of the threads of a process.
fn children(process: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(folder(process).join("task")).into_iter().flatten().flatten();
    let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|child| child.parse().ok()).collect::<Vec<u32>>())
        .collect()
}

/// Reads words that end with a zero byte each.
fn words(path: &Path) -> Vec<OsString> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let bytes = bytes.strip_suffix(b"\0").unwrap_or(&bytes);
    if bytes.is_empty() { Vec::new() } else { bytes.split(|&byte| byte == 0).map(text).collect() }
}

#[cfg(unix)]
fn text(bytes: &[u8]) -> OsString {
    let text: &std::ffi::OsStr = std::os::unix::ffi::OsStrExt::from_bytes(bytes);
    text.to_owned()
}

#[cfg(not(unix))]
fn text(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}
