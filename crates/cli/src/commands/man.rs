//! `gristmill man`: manual pages, made from the definition of the command line.

use std::path::{Path, PathBuf};

use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};

use crate::args::{self, ManArgs};
use crate::error::CliError;
use crate::exit_status::ExitStatus;
use crate::output::{self, OutputError, OutputErrorKind};
use crate::session::Session;

pub(crate) fn run(args: &ManArgs, session: &Session) -> Result<ExitStatus, CliError> {
    let mut definition = args::full_definition();
    // Gives each command its full name and the global options.
    definition.build();
    match &args.dir {
        None => session.stdout().write_all(&page(&definition, None)?)?,
        Some(directory) => {
            let mut pages = Vec::new();
            collect_pages(&definition, None, directory, &mut pages)?;
            // Before any page is written.
            pages.retain(|(path, page)| std::fs::read(path).ok().as_ref() != Some(page));
            if !args.force
                && let Some((path, _)) = pages.iter().find(|(path, _)| is_foreign(path))
            {
                return Err(OutputError { path: path.clone(), kind: OutputErrorKind::Exists }.into());
            }
            for (path, page) in pages {
                output::write::<CliError>(&path, true, |out| Ok(out.write_all(&page)?))?;
            }
        }
    }
    Ok(ExitStatus::Success)
}

/// The first line of each page. A file with it is a page of an earlier version, which is replaced.
const MARK: &str = ".\\\" Made by `gristmill man`; changes are lost.\n";

/// `true` if there is something that `gristmill man` has not written.
fn is_foreign(path: &Path) -> bool {
    // What cannot be read is not known to be ours.
    path.symlink_metadata().is_ok()
        && std::fs::read(path).map_or(true, |bytes| !bytes.starts_with(MARK.as_bytes()))
}

/// Collects the page of a command and those of its subcommands, each with its path.
fn collect_pages(
    command: &clap::Command,
    parent: Option<&clap::Command>,
    directory: &Path,
    pages: &mut Vec<(PathBuf, Vec<u8>)>,
) -> Result<(), CliError> {
    let path = directory.join(Man::new(command.clone()).get_filename());
    pages.push((path, page(command, parent)?));
    command.get_subcommands().try_for_each(|sub| collect_pages(sub, Some(command), directory, pages))
}

/// Returns the manual page of a command.
fn page(command: &clap::Command, parent: Option<&clap::Command>) -> Result<Vec<u8>, CliError> {
    let page = Man::new(command.clone());
    let mut out = MARK.as_bytes().to_vec();
    page.render_title(&mut out)?;
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut out)?;
    }
    closing_sections(command, parent).to_writer(&mut out)?;
    if command.get_version().is_some() {
        page.render_version_section(&mut out)?;
    }
    Ok(out)
}

/// Returns the sections made of the text below the help: notes, examples and exit status, then the related pages.
fn closing_sections(command: &clap::Command, parent: Option<&clap::Command>) -> Roff {
    let mut roff = Roff::new();
    let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for (title, start) in [("NOTES", ""), ("EXAMPLES", "Examples:"), ("EXIT STATUS", "Exit status:")] {
        let mut paragraphs = help.split("\n\n").filter(|text| match start {
            "" => !text.is_empty() && !text.starts_with("Examples:") && !text.starts_with("Exit status:"),
            _ => text.starts_with(start),
        });
        let Some(first) = paragraphs.next() else { continue };
        roff.control("SH", [title]);
        for paragraph in std::iter::once(first).chain(paragraphs) {
            roff.control("PP", []);
            let text = paragraph.strip_prefix(start).unwrap_or(paragraph);
            let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            for (index, line) in lines.iter().enumerate() {
                if index > 0 {
                    roff.control("br", []);
                }
                roff.text([roman(*line)]);
            }
        }
    }
    let name = |command: &clap::Command| command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let own = name(command);
    let siblings = parent.into_iter().flat_map(clap::Command::get_subcommands).map(name);
    let mut related: Vec<String> = parent.map(name).into_iter().chain(siblings).collect();
    related.retain(|other| *other != own);
    related.extend(ORIGINALS.map(str::to_owned));
    roff.control("SH", ["SEE ALSO"]);
    let pages: Vec<String> = related.iter().map(|name| format!("{name}(1)")).collect();
    roff.text([roman(pages.join(", "))]);
    roff
}

/// The programs of Valgrind that have to do with the format.
const ORIGINALS: [&str; 3] = ["valgrind", "callgrind_annotate", "callgrind_control"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing;

    #[test]
    fn main_page_goes_to_standard_output() {
        let (session, stdout, _) = testing::session();
        run(&ManArgs { dir: None, force: false }, &session).unwrap();
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
            run(&ManArgs { dir: Some(directory.path().to_owned()), force: false }, &session).unwrap();
        }
        for name in ["", "-info", "-lint", "-rewrite", "-completions", "-man", "-gate"] {
            let page = std::fs::read_to_string(directory.path().join(format!("gristmill{name}.1"))).unwrap();
            assert!(page.contains(".SH OPTIONS"), "{name}");
        }
        let page = std::fs::read_to_string(directory.path().join("gristmill-gate-run.1")).unwrap();
        let after = |start: &str| page.split_once(start).map(|(_, rest)| rest).unwrap_or_default();
        assert!(after(".SH EXAMPLES").contains("gristmill gate run \\-\\-format github parse"), "{page}");
        assert!(after(".SH \"EXIT STATUS\"").contains("0 within budget"), "{page}");
        assert!(after(".SH \"SEE ALSO\"").contains("gristmill\\-gate\\-bless(1)"), "{page}");
    }

    #[test]
    fn only_own_pages_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let write = |force| {
            let (session, _, _) = testing::session();
            run(&ManArgs { dir: Some(directory.path().to_owned()), force }, &session)
        };
        let path = directory.path().join("gristmill-lint.1");
        std::fs::write(&path, ".TH gristmill-lint 1\nBy hand.\n").unwrap();
        let error = write(false).unwrap_err();
        assert!(
            error.to_string().ends_with("gristmill-lint.1: exists already and was not changed"),
            "{error}"
        );
        assert_eq!(error.hint().as_deref(), Some("add --force to overwrite it"));
        // Nothing was written, not even another page.
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
        assert!(std::fs::read_to_string(&path).unwrap().ends_with("By hand.\n"));
        write(true).unwrap();
        // A page of an earlier version is replaced.
        std::fs::write(&path, format!("{MARK}.TH gristmill-lint 1\nEarlier.\n")).unwrap();
        write(false).unwrap();
        assert!(!std::fs::read_to_string(&path).unwrap().contains("Earlier."));
    }

    #[test]
    fn missing_directory_is_an_error() {
        let (session, _, _) = testing::session();
        let error = run(&ManArgs { dir: Some("does/not/exist".into()), force: false }, &session).unwrap_err();
        assert!(error.to_string().contains("does/not/exist"));
    }
}
