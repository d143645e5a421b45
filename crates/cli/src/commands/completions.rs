//! `gristmill completions`: a completion script, made from the definition of the command line.

use crate::args::{self, CompletionsArgs};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::session::Session;

pub(crate) fn run(args: &CompletionsArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut script = Vec::new();
    // Into memory first: the generator panics when it cannot write, and a pipe may be closed early.
    clap_complete::generate(args.shell, &mut args::definition(), "gristmill", &mut script);
    session.stdout().write_all(&script)?;
    Ok(ExitStatus::Success)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use clap_complete::Shell;

    use super::*;
    use crate::session::testing;

    #[test]
    fn every_shell_knows_every_command() {
        for &shell in Shell::value_variants() {
            let (session, stdout, _) = testing::session();
            run(&CompletionsArgs { shell }, &session).unwrap();
            for word in ["info", "lint", "rewrite", "completions", "man", "strip-prefix", "max-size"] {
                assert!(stdout.text().contains(word), "{shell} {word}");
            }
        }
    }
}
