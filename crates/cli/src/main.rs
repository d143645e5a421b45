//! The program `gristmill`: arguments, files, the terminal and exit codes. What a profile means is known to the
//! libraries below it.
//!
//! ```text
//! args ──▶ main ──▶ commands/* ──▶ load ──▶ session ──▶ input (expand), output, progress, terminal
//! ```

mod args;
mod commands;
#[cfg(unix)]
mod cut_short;
mod error;
mod exit_status;
mod input;
mod interrupt;
mod load;
mod output;
mod profile_files;
mod progress;
mod session;
mod size;
mod source_finder;
mod stand_in;
mod terminal;

use std::process::ExitCode;

use crate::args::Command;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::session::Session;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().collect();
    if let Some(code) = stand_in::run(&words) {
        return code;
    }
    let cli = match args::parse(words) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are "errors" of the parser, too; it knows which stream they go to. Printing fails when
            // nobody listens any more, and then there is nobody to tell.
            let _ = error.print();
            return if error.use_stderr() { ExitStatus::Failure } else { ExitStatus::Success }.into();
        }
    };
    let session = Session::new(&cli.global);
    let result = run(&cli.command, &session);
    // What was written before a failure still counts.
    let flushed = session.flush();
    match result.and_then(|status| flushed.map(|()| status)) {
        Ok(status) => status.into(),
        // The reader had enough, as `head` has; that is its right.
        Err(error) if error.is_broken_pipe() => ExitStatus::Success.into(),
        Err(error) => {
            session.report(&error);
            ExitStatus::Failure.into()
        }
    }
}

fn run(command: &Command, session: &Session) -> Result<ExitStatus, CliError> {
    match command {
        Command::Info(args) => commands::info::run(args, session),
        Command::Functions(args) => commands::functions::run(args, session),
        Command::Show(args) => commands::show::run(args, session),
        Command::Tree(args) => commands::tree::run(args, session),
        Command::Annotate(args) => commands::annotate::run(args, session),
        Command::Diff(args) => commands::diff::run(args, session),
        Command::Gate(args) => commands::gate::run(args, session),
        Command::Merge(args) => commands::merge::run(args, session),
        Command::Lint(args) => commands::lint::run(args, session),
        Command::Rewrite(args) => commands::rewrite::run(args, session),
        Command::Completions(args) => commands::completions::run(args, session),
        Command::Man(args) => commands::man::run(args, session),
    }
}
