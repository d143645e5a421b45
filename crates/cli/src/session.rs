//! The environment of a command: the resolved global options, standard output and standard error.
//!
//! A test makes a session that writes into memory, so commands are tested without a process.

use std::borrow::Cow;
use std::cell::{Cell, RefCell, RefMut};
use std::ffi::OsString;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::Path;
use std::rc::Rc;

use crate::args::GlobalArgs;
use crate::error::CliError;
use crate::input::{self, Input, InputError, Mapping};
use crate::limited_writer::{Allowance, LimitedWriter};
use crate::output::{self, Target};
use crate::pager::{self, PagedOutput};
use crate::progress::Progress;
use crate::size::Size;
use crate::standard_output;
use crate::terminal::{self, Painter};
use gristmill_output::{Look, PrintableWriter, printable, printable_lines};

/// Size of the buffer of standard output.
const BUFFER_BYTES: usize = 64 << 10;

pub(crate) struct Session {
    /// Colours for standard output.
    pub(crate) paint: Painter,
    /// Colours for standard error, which may be a terminal when standard output is not.
    paint_errors: Painter,
    /// Columns that a report may fill.
    pub(crate) width: usize,
    /// `true` if names are not shortened to fit them.
    has_full_names: bool,
    /// The look of reports that an option writes to a file.
    look_of_files: Look,
    /// The largest profile to read, expanded.
    pub(crate) max_size: Size,
    /// `true` if standard output is a terminal.
    terminal: bool,
    show_progress: bool,
    /// `true` if files are copied into memory, whatever their size.
    copies_files: Cell<bool>,
    /// `true` while a pager has the terminal. Messages go there, too.
    is_paged: Rc<Cell<bool>>,
    /// The text that the command may write.
    allowance: Allowance,
    stdout: RefCell<Box<dyn Write>>,
    stderr: RefCell<Box<dyn Write>>,
}

impl Session {
    pub(crate) fn new(args: &GlobalArgs) -> Self {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let allowance = Allowance::default();
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, standard_output::open());
        let width = terminal::width(args.width);
        Self {
            paint: Painter::new(terminal::use_color(args.color, &stdout)),
            paint_errors: Painter::new(terminal::use_color(args.color, &stderr)),
            width: width.columns,
            has_full_names: args.full_names || !width.is_limit,
            look_of_files: Look {
                has_full_names: args.full_names || args.width.is_none(),
                ..Look::plain(args.width.unwrap_or(terminal::PIPE_WIDTH))
            },
            max_size: args.max_size,
            terminal: stdout.is_terminal(),
            show_progress: true,
            copies_files: Cell::default(),
            is_paged: Rc::default(),
            stdout: RefCell::new(Box::new(LimitedWriter::new(buffered, &allowance))),
            allowance,
            stderr: RefCell::new(Box::new(stderr)),
        }
    }

    /// Sends answers that are longer than the screen through a pager, if standard output is a terminal.
    pub(crate) fn use_pager(&mut self) {
        // The search for the pager is for terminals only.
        let Some(command) = self.terminal.then(pager::command).flatten() else { return };
        let output = PagedOutput::new(command, standard_output::open(), Rc::clone(&self.is_paged));
        let buffered = BufWriter::with_capacity(BUFFER_BYTES, output);
        self.stdout = RefCell::new(Box::new(LimitedWriter::new(buffered, &self.allowance)));
    }

    /// Creates a session without a terminal, colours and progress that writes to these.
    pub(crate) fn in_process(
        max_size: Size,
        stdout: impl Write + 'static,
        stderr: impl Write + 'static,
    ) -> Self {
        let allowance = Allowance::default();
        Session {
            paint: Painter::new(false),
            paint_errors: Painter::new(false),
            width: terminal::PIPE_WIDTH,
            has_full_names: true,
            look_of_files: Look::plain(terminal::PIPE_WIDTH),
            max_size,
            terminal: false,
            show_progress: false,
            copies_files: Cell::default(),
            is_paged: Rc::default(),
            stdout: RefCell::new(Box::new(LimitedWriter::new(stdout, &allowance))),
            allowance,
            stderr: RefCell::new(Box::new(stderr)),
        }
    }

    /// Returns the look of reports.
    pub(crate) fn look(&self) -> Look {
        Look {
            width: self.width,
            is_terminal: self.terminal,
            has_color: self.paint.is_on(),
            has_full_names: self.has_full_names,
        }
    }

    /// Returns the look of reports that an option writes to a file. The width and colours of their reader are not known.
    pub(crate) fn look_of_files(&self) -> Look {
        self.look_of_files
    }

    /// Standard output, buffered; `main` flushes it. It can be held once at a time: take it, write, let go.
    pub(crate) fn stdout(&self) -> RefMut<'_, Box<dyn Write>> {
        self.stdout.borrow_mut()
    }

    /// Reads one input (`-` is standard input), with progress. The command reports its `damage`.
    pub(crate) fn read(&self, path: &Path) -> Result<Input, InputError> {
        let mut progress = self.progress("reading", path, input::stored_size(path));
        let mapping = if self.copies_files.get() { Mapping::Never } else { Mapping::Large };
        let result = input::read(path, self.max_size, mapping, &mut progress);
        progress.finish();
        if let Ok(input) = &result {
            self.allow_file(input.bytes.len());
        }
        result
    }

    /// Copies files into memory from now on instead of mapping large ones. A command that runs for hours must not end, or mix two
    /// contents, when a file is written again.
    pub(crate) fn copy_files(&self) {
        self.copies_files.set(true);
    }

    /// Allows the text about a file with this many bytes.
    pub(crate) fn allow_file(&self, bytes: usize) {
        self.allowance.add_file(bytes as u64);
    }

    /// Starts the progress of another task with a file, such as checking it, over `total` bytes.
    pub(crate) fn progress(&self, doing: &str, path: &Path, total: Option<u64>) -> Progress {
        if !self.show_progress {
            return Progress::hidden();
        }
        // The end of a path is more specific than its start.
        let name = match path.file_name() {
            Some(name) if path != Path::new("-") => terminal::printable(name.as_encoded_bytes()).into_owned(),
            _ => input::display_name(path),
        };
        Progress::on_stderr(format!("{doing} {name}"), total)
    }

    /// Prints an error on standard error. The command may continue, for example with the next file, and then ends with
    /// `ExitStatus::Failure`.
    pub(crate) fn report(&self, error: &CliError) {
        self.say(self.paint_errors.red("gristmill:"), &error.to_string(), error.hint().as_deref());
    }

    /// Prints a warning on standard error, which does not change the exit status.
    pub(crate) fn warn(&self, message: &str) {
        self.say(self.paint_errors.yellow("gristmill: warning:"), message, None);
    }

    /// Prints a message on standard error, as standard output is for the result.
    pub(crate) fn tell(&self, message: &str) {
        self.say(self.paint_errors.dim("gristmill:"), message, None);
    }

    /// Prints a text of another program, which this one stands in for, on standard error.
    pub(crate) fn say_plainly(&self, text: &str) {
        // If standard error is closed, there is nowhere to report it.
        let _ = self.stderr().write_all(printable_lines(text).as_bytes());
    }

    /// Prints what is wrong with the command line. It may have words of it, which are escaped where they need to be.
    pub(crate) fn say_usage(&self, error: &clap::Error) {
        let text = error.render();
        let is_printable = |word: OsString| matches!(printable(word.as_encoded_bytes()), Cow::Borrowed(_));
        if self.paint_errors.is_on() && std::env::args_os().all(is_printable) {
            let _ = write!(self.stderr(), "{}", text.ansi());
        } else {
            self.say_plainly(&text.to_string());
        }
    }

    fn say(&self, prefix: impl std::fmt::Display, message: &str, hint: Option<&str>) {
        // Messages may name anything: files, words of the command line, what a configuration says.
        let message = printable_lines(message);
        let mut stderr = self.stderr();
        // If standard error is closed, there is nowhere to report it.
        let _ = writeln!(stderr, "{prefix} {message}");
        if let Some(hint) = hint.map(printable_lines) {
            let _ = writeln!(stderr, "{} {hint}", self.paint_errors.dim("  hint:"));
        }
    }

    /// Returns standard error, after flushing standard output: on a terminal, messages stay in order.
    fn stderr(&self) -> RefMut<'_, Box<dyn Write>> {
        // A failure here shows again when the output is flushed at the end. While it is borrowed, it is flushed later.
        if let Ok(mut stdout) = self.stdout.try_borrow_mut() {
            let _ = stdout.flush();
            if self.is_paged.get() && io::stderr().is_terminal() {
                return stdout;
            }
        }
        self.stderr.borrow_mut()
    }

    /// Writes the bytes of `fill` to `target`; a file appears only when all of it is written.
    pub(crate) fn write_to(
        &self,
        target: &Target,
        force: bool,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        match target {
            Target::Stdout => fill(&mut *self.stdout()),
            Target::File(path) => {
                output::write(path, force, |out| fill(&mut LimitedWriter::new(out, &self.allowance)))
            }
        }
    }

    /// Does the same as [`Session::write_to`] with the text of a profile, whose bytes are those of its files. On a terminal,
    /// control characters are spelled out. It can have each name wherever it is mentioned, and has no limit.
    pub(crate) fn write_profile_to(
        &self,
        target: &Target,
        force: bool,
        fill: impl FnOnce(&mut dyn Write) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        self.allowance.lift();
        self.write_to(target, force, |out| {
            if !self.terminal || *target != Target::Stdout {
                return fill(out);
            }
            let mut shown = PrintableWriter::new(out);
            let done = fill(&mut shown);
            let flushed = shown.flush();
            done.and_then(|()| Ok(flushed?))
        })
    }

    /// Flushes standard output.
    pub(crate) fn flush(&self) -> Result<(), CliError> {
        self.stdout.borrow_mut().flush().map_err(CliError::Stdout)
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! A session that writes into memory.

    use std::rc::Rc;

    use super::*;

    /// The output of a command.
    #[derive(Clone, Default)]
    pub(crate) struct Capture(Rc<RefCell<Vec<u8>>>);

    impl Capture {
        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.borrow().clone()).unwrap()
        }
    }

    impl Write for Capture {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.borrow_mut().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Without colour, 80 columns wide, and what goes to standard output and standard error.
    pub(crate) fn session() -> (Session, Capture, Capture) {
        let (stdout, stderr) = (Capture::default(), Capture::default());
        let max_size = Size::from_bytes(1 << 30);
        let session = Session::in_process(max_size, stdout.clone(), stderr.clone());
        (session, stdout, stderr)
    }
}

#[cfg(test)]
mod tests {
    use super::testing::session;
    use super::*;

    #[test]
    fn output_and_messages_are_separate() {
        let (session, stdout, stderr) = session();
        writeln!(session.stdout(), "answer").unwrap();
        let error = session.read(Path::new("does/not/exist")).unwrap_err();
        session.report(&error.into());
        session.warn("careful");
        session.flush().unwrap();
        assert_eq!(stdout.text(), "answer\n");
        assert_eq!(
            stderr.text(),
            "gristmill: does/not/exist: no such file\n  hint: check the name, or use - to read standard input\n\
             gristmill: warning: careful\n"
        );
    }
}
