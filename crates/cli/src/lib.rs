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
mod confined;
#[cfg(test)]
mod documents;
mod error;
mod exit_status;
#[cfg(unix)]
mod fatal_signals;
mod found_files;
mod full_disk;
pub mod in_process;
mod inlined;
mod input;
mod interrupt;
mod launcher;
mod lease;
mod limited_writer;
mod load;
mod native;
mod output;
mod output_name;
mod pager;
#[cfg(unix)]
mod pipe_signal;
mod profile_files;
mod programs;
mod progress;
mod session;
mod size;
mod source_finder;
mod stand_in;
mod standard_output;
mod starter;
mod terminal;
mod valgrind;

use std::io::Write as _;
use std::process::ExitCode;

use crate::args::{Command, GlobalArgs, RecordArgs};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::session::Session;

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    interrupt::survive_size_limit();
    #[cfg(unix)]
    fatal_signals::expect_abort();
    let words: Vec<_> = std::env::args_os().collect();
    let other =
        starter::run(&words).or_else(|| native::run(&words)).or_else(|| valgrind::handed_on::run(&words));
    if let Some(code) = other {
        return code;
    }
    interrupt::expect_children();
    if let Some(code) = stand_in::run(&words).or_else(|| completion::run(&words)) {
        return code;
    }
    let cli = match args::parse(words) {
        Ok(cli) => cli,
        Err(error) => {
            let words: Vec<_> = std::env::args_os().collect();
            let color = args::color_of(&words);
            let session = Session::new(&GlobalArgs { color, ..GlobalArgs::plain() });
            return end(explain(&error, &session), &session).into();
        }
    };
    execute(&cli.command, &cli.global).into()
}

/// Runs a command in a session of its own.
fn execute(command: &Command, global: &GlobalArgs) -> ExitStatus {
    let mut session = Session::new(global);
    if command.is_read_by_people() && !global.no_pager {
        session.use_pager();
    }
    end(run(command, global, &session), &session)
}

/// Prints what the parser of arguments says. Help and version are "errors", too; the parser knows which stream they go to.
fn explain(error: &clap::Error, session: &Session) -> Result<ExitStatus, CliError> {
    if error.use_stderr() {
        session.say_usage(error);
        return Ok(ExitStatus::Failure);
    }
    let help = error.render();
    if session.look().has_color {
        write!(session.stdout(), "{}", help.ansi())?;
    } else {
        write!(session.stdout(), "{help}")?;
    }
    Ok(ExitStatus::Success)
}

/// Flushes standard output, reports what failed, and returns the exit status.
fn end(result: Result<ExitStatus, CliError>, session: &Session) -> ExitStatus {
    let status = status_of(result, session);
    if let ExitStatus::OfSignal(signal) = status {
        interrupt::end_by(signal);
    }
    status
}

fn status_of(result: Result<ExitStatus, CliError>, session: &Session) -> ExitStatus {
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

fn run(command: &Command, global: &GlobalArgs, session: &Session) -> Result<ExitStatus, CliError> {
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
        Command::Record(args) => record(args, global, session),
        Command::Control(args) => commands::control::run(args, session),
        Command::Merge(args) => commands::merge::run(args, session),
        Command::Lint(args) => commands::lint::run(args, session),
        Command::Rewrite(args) => commands::rewrite::run(args, session),
        Command::Help(args) => explain(&args::help_of(&args.command), session),
        Command::Completions(args) => commands::completions::run(args, session),
        Command::Man(args) => commands::man::run(args, session),
    }
}

/// Records a program, and goes on with the command that is asked for.
fn record(args: &RecordArgs, global: &GlobalArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let done = commands::record::run(args, session)?;
    if let Some(words) = done.next {
        match args::parse(words) {
            // What it says is on its streams. The status is that of the program.
            Ok(next) => drop(execute(&next.command, global)),
            Err(error) => drop(explain(&error, session)?),
        }
    }
    Ok(done.status)
}
