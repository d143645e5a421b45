//! The program `gristmill`: arguments, files, the terminal and exit codes. What a profile means is known to the
//! libraries below it.
//!
//! ```text
//! args ──▶ lib ──▶ commands/* ──▶ load ──▶ session ──▶ input (expand), output, progress, terminal
//! ```

mod args;
mod canonical;
mod commands;
mod completion;
#[cfg(test)]
mod documents;
mod error;
mod exit_status;
#[cfg(unix)]
mod fatal_signals;
mod found_files;
pub mod in_process;
mod inlined;
mod input;
mod interrupt;
mod limited_writer;
mod load;
mod output;
mod pager;
mod profile_files;
mod programs;
mod progress;
mod session;
mod size;
mod source_finder;
mod stand_in;
mod standard_output;
mod terminal;

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use gristmill_output::printable;

use crate::args::{Command, GlobalArgs};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::session::Session;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    interrupt::survive_size_limit();
    #[cfg(unix)]
    fatal_signals::expect_abort();
    let words: Vec<_> = std::env::args_os().collect();
    if let Some(code) = stand_in::run(&words).or_else(|| completion::run(&words)) {
        return code;
    }
    let cli = match args::parse(words) {
        Ok(cli) => cli,
        Err(error) => {
            let session = Session::new(&GlobalArgs::plain());
            return end(explain(&error, &session), &session).into();
        }
    };
    let mut session = Session::new(&cli.global);
    if cli.command.is_read_by_people() && !cli.global.no_pager {
        session.use_pager();
    }
    end(run(&cli.command, &session), &session).into()
}

/// Prints what the parser of arguments says. Help and version are "errors", too; the parser knows which stream they go to.
fn explain(error: &clap::Error, session: &Session) -> Result<ExitStatus, CliError> {
    if error.use_stderr() {
        let is_printable = |word: OsString| matches!(printable(word.as_encoded_bytes()), Cow::Borrowed(_));
        if std::env::args_os().all(is_printable) {
            // With its colours. If standard error is closed, there is nowhere to report it.
            let _ = error.print();
        } else {
            session.say_plainly(&error.render().to_string());
        }
        return Ok(ExitStatus::Failure);
    }
    if session.look().is_terminal {
        // With its colours.
        error.print()?;
    } else {
        write!(session.stdout(), "{}", error.render())?;
    }
    Ok(ExitStatus::Success)
}

/// Flushes standard output, reports what failed, and returns the exit status.
fn end(result: Result<ExitStatus, CliError>, session: &Session) -> ExitStatus {
    // What was written before a failure still counts.
    let flushed = session.flush();
    match result.and_then(|status| flushed.map(|()| status)) {
        Ok(status) => status,
        // The reader had enough, as `head` has; that is its right.
        Err(error) if error.is_broken_pipe() => ExitStatus::Success,
        Err(error) => {
            session.report(&error);
            ExitStatus::Failure
        }
    }
}

fn run(command: &Command, session: &Session) -> Result<ExitStatus, CliError> {
    match command {
        Command::Overview(args) => commands::overview::run(args, session),
        Command::Info(args) => commands::info::run(args, session),
        Command::Functions(args) => commands::functions::run(args, session),
        Command::Show(args) => commands::show::run(args, session),
        Command::Tree(args) => commands::tree::run(args, session),
        Command::Annotate(args) => commands::annotate::run(args, session),
        Command::View(args) => commands::view::run(args, session),
        Command::Diff(args) => commands::diff::run(args, session),
        Command::Gate(args) => commands::gate::run(args, session),
        Command::Merge(args) => commands::merge::run(args, session),
        Command::Lint(args) => commands::lint::run(args, session),
        Command::Rewrite(args) => commands::rewrite::run(args, session),
        Command::Help(args) => explain(&args::help_of(&args.command), session),
        Command::Completions(args) => commands::completions::run(args, session),
        Command::Man(args) => commands::man::run(args, session),
    }
}
