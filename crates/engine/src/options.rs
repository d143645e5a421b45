//! The options of a recording, and its client.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::choices::Choices;
use crate::inherited::Inherited;
use crate::invocation::Invocation;

/// The client of a recording, as in the example of [`Options`]. Calls come from the process that is recorded, one at a time; it is forked without notice.
pub trait Client: fmt::Debug {
    /// Returns the file that the profile of a process is written to.
    fn output(&self, process: u32) -> PathBuf;

    /// Notes that a process begins to be recorded: the first one, and each that it forks.
    fn begin(&self, process: u32);

    /// Says something about the recording of a process.
    fn tell(&self, process: u32, message: &str);

    /// Notes that a profile, or a part of it, could not be written. The reason was said.
    fn fail(&self, process: u32) {
        let _ = process;
    }

    /// Notes that a process has ended, and what was counted in it in all.
    fn end(&self, process: u32, total: u64) {
        let _ = (process, total);
    }

    /// Notes that the process that records has ended, and the program ends with it. It leaves no profile.
    fn abandon(&self, process: u32) {
        let _ = process;
    }

    /// Returns a request of the user to a process that [`wake`](crate::wake) has woken up, and forgets it. None is made by default.
    fn request(&self, process: u32) -> Option<String> {
        let _ = process;
        None
    }

    /// Gives the user the answer.
    fn answer(&self, process: u32, answer: &str) {
        let _ = (process, answer);
    }
}

/// The options of a recording.
///
/// ```no_run
/// use std::path::PathBuf;
///
/// use gristmill_engine::{Client, Invocation, Options};
///
/// #[derive(Debug)]
/// struct Quiet;
///
/// impl Client for Quiet {
///     fn output(&self, process: u32) -> PathBuf {
///         format!("/tmp/callgrind.out.{process}").into()
///     }
///
///     fn begin(&self, _process: u32) {}
///
///     fn tell(&self, _process: u32, _message: &str) {}
/// }
///
/// let gzip = Invocation::find("/usr/bin/gzip".as_ref(), vec!["gzip".into(), "--version".into()]);
/// let options = Options::new(gzip, Box::new(Quiet));
/// // Here this process becomes the program.
/// let refusal = gristmill_engine::run(options, &gristmill_engine::environment());
/// println!("gzip cannot be recorded: {refusal}");
/// ```
#[derive(Debug)]
pub struct Options {
    /// The client, which names files and gets messages.
    pub client: Box<dyn Client>,
    /// The program with its words.
    pub invocation: Invocation,
    /// The words that let the program of this process record another one, up to where what tells of that begins. `None` if the
    /// programs that the program runs in its place are not recorded.
    pub words_for_others: Option<Vec<OsString>>,
    /// The process that records, if the program ends with it.
    pub parent: Option<u32>,
    /// The program, its signals and more, if it takes the place of one that was recorded.
    pub inherited: Option<Inherited>,
    /// `true` if the program begins with `SIGPIPE` ignored. Programs in Rust ignore it themselves, so the process does not tell.
    pub ignores_pipe_signal: bool,
    /// `true` if each instruction has its cost.
    pub by_instruction: bool,
    /// `true` if each source line has its cost.
    pub by_line: bool,
    /// `true` if names are written once.
    pub compresses_names: bool,
    /// `true` if positions are written as differences.
    pub compresses_positions: bool,
    /// Options about functions.
    pub choices: Choices,
    /// `true` if costs are collected from the start on.
    pub collects_at_start: bool,
    /// `true` if calls are followed and costs are counted from the start on.
    pub is_counted_at_start: bool,
    /// The count of blocks after which a part of the profile is written. 0 for none.
    pub dump_every: u64,
    /// `true` if all parts are written to one file.
    pub combines_parts: bool,
    /// `true` if jumps within functions are counted.
    pub collects_jumps: bool,
    /// `true` if each thread has a profile of its own, whose name ends with its number.
    pub separates_threads: bool,
    /// `true` if the cost is counted in a vector register where the processor has one that the program does not know of. The counts
    /// are the same.
    pub counts_in_vectors: bool,
    /// `true` if translated code leads to the next block without the engine. The counts are the same.
    pub links_blocks: bool,
    /// The memory for translated code, as far as there is so much. If it is full, all is translated again; the counts are the same.
    pub code_cache_bytes: u64,
}

impl Options {
    /// Records a program with the options that Callgrind has without others.
    pub fn new(invocation: Invocation, client: Box<dyn Client>) -> Options {
        Options {
            client,
            invocation,
            words_for_others: None,
            parent: None,
            inherited: None,
            ignores_pipe_signal: false,
            by_instruction: false,
            by_line: true,
            compresses_names: true,
            compresses_positions: true,
            choices: Choices::default(),
            collects_at_start: true,
            is_counted_at_start: true,
            dump_every: 0,
            combines_parts: false,
            collects_jumps: false,
            separates_threads: false,
            counts_in_vectors: true,
            links_blocks: true,
            code_cache_bytes: u64::MAX,
        }
    }

    pub(crate) fn report(&self, message: &str) {
        self.client.tell(std::process::id(), message);
    }

    /// Returns the value of `cmd:`, with Callgrind's escapes.
    pub(crate) fn command_line(&self) -> Vec<u8> {
        let mut line = Vec::new();
        for (index, word) in self.invocation.command.iter().enumerate() {
            if index > 0 {
                line.push(b' ');
            }
            for byte in word.as_bytes() {
                match byte {
                    b'\n' => line.extend_from_slice(b"\\n"),
                    b'\r' => line.extend_from_slice(b"\\r"),
                    b'\\' if index > 0 => line.extend_from_slice(b"\\\\"),
                    byte => line.push(*byte),
                }
            }
        }
        line
    }
}
