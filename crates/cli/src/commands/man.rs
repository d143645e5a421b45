//! `gristmill man`: manual pages, made from the definition of the command line.

use std::path::Path;

use clap_mangen::Man;

use crate::args::{self, ManArgs};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::output;
use crate::session::Session;

pub(crate) fn run(args: &ManArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut definition = args::definition();
    // Gives each command its full name and the global options.
    definition.build();
    match &args.dir {
        None => Man::new(definition).render(&mut *session.stdout())?,
        Some(directory) => {
            for command in definition.get_subcommands() {
                write_page(command, directory)?;
            }
            write_page(&definition, directory)?;
        }
    }
    Ok(ExitStatus::Success)
}

/// Pages of an earlier version are replaced: they are ours by their name, and made, not written.
fn write_page(command: &clap::Command, directory: &Path) -> Result<(), CliError> {
    let page = Man::new(command.clone());
    let path = directory.join(page.get_filename());
    output::write(&path, true, |mut out| Ok(page.render(&mut out)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing;

    #[test]
    fn main_page_goes_to_standard_output() {
        let (session, stdout, _) = testing::session();
        run(&ManArgs { dir: None }, &session).unwrap();
        let page = stdout.text();
        assert!(page.contains(".TH gristmill 1"));
        assert!(page.contains("gristmill\\-lint(1)"));
    }

    #[test]
    fn one_page_per_command() {
        let directory = tempfile::tempdir().unwrap();
        // Twice: the second time replaces the pages.
        for _ in 0..2 {
            let (session, _, _) = testing::session();
            run(&ManArgs { dir: Some(directory.path().to_owned()) }, &session).unwrap();
        }
        for name in ["", "-info", "-lint", "-rewrite", "-completions", "-man"] {
            let page = std::fs::read_to_string(directory.path().join(format!("gristmill{name}.1"))).unwrap();
            assert!(page.contains(".SH OPTIONS"), "{name}");
        }
    }

    #[test]
    fn missing_directory_is_an_error() {
        let (session, _, _) = testing::session();
        let error = run(&ManArgs { dir: Some("does/not/exist".into()) }, &session).unwrap_err();
        assert!(error.to_string().contains("does/not/exist"));
    }
}
