//! `gristmill completions`: a completion script. Those for Bash, Zsh and fish ask the program itself; those for other shells
//! are made from the definition of the command line.

use clap_complete::Shell;

use crate::args::{self, CompletionsArgs};
use crate::completion;
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::session::Session;

pub(crate) fn run(args: &CompletionsArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut made = Vec::new();
    let script = match args.shell {
        Shell::Bash => completion::BASH.as_bytes(),
        Shell::Zsh => completion::ZSH.as_bytes(),
        Shell::Fish => completion::FISH.as_bytes(),
        shell => {
            // Into memory first: the generator panics when it cannot write, and a pipe may be closed early.
            clap_complete::generate(shell, &mut args::definition(), "gristmill", &mut made);
            &made
        }
    };
    session.stdout().write_all(script)?;
    Ok(ExitStatus::Success)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;
    use crate::session::testing;

    #[test]
    fn every_shell_has_a_script() {
        for &shell in Shell::value_variants() {
            let (session, stdout, _) = testing::session();
            run(&CompletionsArgs { shell }, &session).unwrap();
            let asks = matches!(shell, Shell::Bash | Shell::Zsh | Shell::Fish);
            assert_eq!(stdout.text().contains(" __complete "), asks, "{shell}");
            for word in ["info", "lint", "rewrite", "completions", "man", "strip-prefix", "max-size"] {
                assert!(asks || stdout.text().contains(word), "{shell} {word}");
            }
        }
    }
}
