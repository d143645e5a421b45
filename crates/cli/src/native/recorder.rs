//! The client of the engine: files have the names that Valgrind would give them, and messages go to where the user reads them.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use gristmill_engine::Client;
use gristmill_output::{grouped, printable};

use super::{answer_path, failure_path, replace, request_path};
use crate::output_name::OutputName;

/// The mode of files of messages: a profile has the same.
const MODE: u32 = 0o600;

/// The mode of the log that Valgrind would write.
const LOG_MODE: u32 = 0o644;

/// The client.
#[derive(Debug)]
pub(super) struct Recorder {
    pub(super) output: OutputName,
    pub(super) messages: Messages,
}

/// The way that messages go.
#[derive(Debug)]
pub(super) enum Messages {
    /// To a file for each process, which the command that records shows at the end.
    Files(OutputName),
    /// To where Valgrind would write them.
    Log(Log),
}

/// A log as that of Valgrind.
#[derive(Debug)]
pub(super) struct Log {
    /// The file of each process. Without one, it is standard error.
    pub(super) name: Option<OutputName>,
    pub(super) is_quiet: bool,
    /// The process that the program begins in, and its words.
    pub(super) process: u32,
    pub(super) command: Vec<OsString>,
    /// Standard error as it was, if it is the log.
    pub(super) stream: Option<Stream>,
}

impl Log {
    /// Returns a log for this process, which is about to run a program.
    pub(super) fn new(name: Option<OutputName>, is_quiet: bool, command: Vec<OsString>) -> Log {
        // The program can close it, or write it to another file.
        let stream = if name.is_none() { Stream::copy() } else { None };
        Log { name, is_quiet, process: std::process::id(), command, stream }
    }

    fn begin(&self, process: u32) {
        if let Some(name) = &self.name {
            let mut options = OpenOptions::new();
            // Without a log, the program runs as well.
            drop(
                options.write(true).create(true).truncate(true).mode(LOG_MODE).open(name.of_process(process)),
            );
        }
        if process != self.process {
            return;
        }
        let words: Vec<_> = self.command.iter().map(|word| word.to_string_lossy()).collect();
        let mut lines = vec![
            format!("Gristmill {}, its own engine in place of Callgrind", env!("CARGO_PKG_VERSION")),
            format!("Command: {}", words.join(" ")),
        ];
        if self.name.is_some() {
            lines.push(format!("Parent PID: {}", std::os::unix::process::parent_id()));
        }
        lines.extend(["", "For interactive control, run 'gristmill control PID status'."].map(str::to_owned));
        self.say(process, &lines);
    }

    fn end(&self, process: u32, total: u64) {
        let lines = [
            String::new(),
            "Events    : Ir".to_owned(),
            format!("Collected : {total}"),
            String::new(),
            format!("I   refs:      {}", grouped(total)),
        ];
        self.say(process, &lines);
    }

    fn say(&self, process: u32, lines: &[String]) {
        if !self.is_quiet {
            self.write(process, lines);
        }
    }

    fn write(&self, process: u32, lines: &[String]) {
        // Words and paths can have control characters, and this may be a terminal.
        let line = |line: &String| format!("=={process}== {}\n", printable(line.as_bytes()));
        let text: String = lines.iter().map(line).collect();
        let written = match (&self.name, &self.stream) {
            (Some(name), _) => append(&name.of_process(process), LOG_MODE, &text),
            (None, Some(stream)) => stream.write(&text),
            (None, None) => Ok(()),
        };
        // There is nowhere to say that.
        drop(written);
    }
}

/// A copy of standard error, as a file with its device and its number: the program can close the copy, and open another file there.
#[derive(Debug)]
pub(super) struct Stream {
    file: File,
    identity: (u64, u64),
}

impl Stream {
    fn copy() -> Option<Stream> {
        let file = gristmill_engine::copy_of_standard_error()?;
        let identity = Stream::identity(&file).ok()?;
        Some(Stream { file, identity })
    }

    fn identity(file: &File) -> std::io::Result<(u64, u64)> {
        let metadata = file.metadata()?;
        Ok((metadata.dev(), metadata.ino()))
    }

    fn write(&self, text: &str) -> std::io::Result<()> {
        match Stream::identity(&self.file)? == self.identity {
            true => (&self.file).write_all(text.as_bytes()),
            false => Ok(()),
        }
    }
}

fn append(path: &Path, mode: u32, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

impl Client for Recorder {
    fn request(&self, process: u32) -> Option<String> {
        let path = request_path(&self.path(process)?);
        let request = std::fs::read_to_string(&path).ok()?;
        std::fs::remove_file(&path).ok()?;
        Some(request)
    }

    fn answer(&self, process: u32, answer: &str) {
        if let Some(path) = self.path(process) {
            // Without it, the user learns that there is none.
            let _ = replace(&answer_path(&path), answer);
        }
    }

    fn output(&self, process: u32) -> PathBuf {
        self.output.of_process(process)
    }

    fn begin(&self, process: u32) {
        match &self.messages {
            // Without it, the recorder finds the profile alone.
            Messages::Files(name) => drop(append(&name.of_process(process), MODE, "")),
            Messages::Log(log) => log.begin(process),
        }
    }

    fn tell(&self, process: u32, message: &str) {
        match &self.messages {
            Messages::Files(name) => {
                // A path in it can have more than one line.
                let text = format!("gristmill: warning: {}\n", printable(message.as_bytes()));
                drop(append(&name.of_process(process), MODE, &text));
            }
            Messages::Log(log) => log.write(process, &[format!("Warning: {message}")]),
        }
    }

    fn fail(&self, process: u32) {
        if let Messages::Files(name) = &self.messages {
            drop(append(&failure_path(&name.of_process(process)), MODE, ""));
        }
    }

    fn abandon(&self, process: u32) {
        // The directory of messages, and the file that was made to keep the name.
        if let Messages::Files(name) = &self.messages
            && let Some(folder) = name.of_process(process).parent()
        {
            drop(std::fs::remove_dir_all(folder));
        }
        let output = self.output(process);
        if output.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() == 0) {
            drop(std::fs::remove_file(output));
        }
    }

    fn end(&self, process: u32, total: u64) {
        if let Messages::Log(log) = &self.messages {
            log.end(process, total);
        }
    }
}

impl Recorder {
    /// Returns the file of messages of a process, beside which requests are.
    fn path(&self, process: u32) -> Option<PathBuf> {
        let name = match &self.messages {
            Messages::Files(name) => Some(name),
            Messages::Log(log) => log.name.as_ref(),
        };
        name.map(|name| name.of_process(process))
    }
}
