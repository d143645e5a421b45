//! Programs that run beside a test, and their files.

// Each test program uses a part of this.
#![allow(dead_code)]

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::harness::*;

/// Far above what a program under Valgrind needs.
const MAX_TIME: Duration = Duration::from_secs(60);

/// A shell that tells its process id and then runs until it is ended.
pub(crate) const ENDLESS: &str = "echo $$ > pid.new; mv pid.new pid; while :; do :; done";

/// Starts the program. Signals that the tests may have inherited as ignored stay so.
pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Child {
    gristmill(arguments).current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Starts an endless program under `record`, with Valgrind unless the options name an engine, and returns the process of `record` and the id of the program.
pub(crate) fn start_endless(folder: &Path, options: &[&str]) -> (Child, u32) {
    start_program(folder, &[options, &["sh", "-c", ENDLESS]].concat())
}

/// The same with a program that writes its id to `pid`.
pub(crate) fn start_program(folder: &Path, words: &[&str]) -> (Child, u32) {
    let has_engine = words.contains(&"--engine");
    let engine = if has_engine { &[][..] } else { &["--engine", "valgrind"] };
    let arguments = [&["record"], engine, words].concat();
    let mut child = start(folder, &arguments);
    let begin = Instant::now();
    loop {
        let text = std::fs::read_to_string(folder.join("pid")).unwrap_or_default();
        if let Some(process) = text.strip_suffix('\n') {
            return (child, process.parse().unwrap());
        }
        assert_eq!(child.try_wait().unwrap(), None, "it has ended");
        assert!(begin.elapsed() < MAX_TIME, "the program did not start");
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits for the end of a process that is nobody's child any more.
pub(crate) fn assert_ends(process: u32) {
    let begin = Instant::now();
    let is_running = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    };
    while is_running() {
        assert!(begin.elapsed() < MAX_TIME, "process {process} goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The names of the files in a folder that begin so, in order.
pub(crate) fn names(folder: &Path, beginning: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.retain(|name| name.starts_with(beginning));
    names.sort();
    names
}

/// `true` if the tests were started with a signal ignored, as in the background of a script.
pub(crate) fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 << (signal - 1) != 0
}
