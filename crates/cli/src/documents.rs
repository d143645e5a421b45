//! A test of the documents: each command line in them can be typed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::args;
use crate::completion::words_of;

fn markdown(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect()
}

/// The commands of a document: lines in blocks of a shell, without what the shell does with the output.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    for block in text.split("```").skip(1).step_by(2) {
        let Some(("sh" | "console", lines)) = block.split_once('\n') else { continue };
        for line in lines.replace("\\\n", " ").lines() {
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let Some(at) = line.match_indices("gristmill").map(|(at, _)| at).find(|at| {
                let (before, rest) = line.split_at(*at);
                let begins = before.is_empty() || before.ends_with("| ") || before.ends_with("\"$(");
                begins && (rest == "gristmill" || rest.starts_with("gristmill "))
            }) else {
                continue;
            };
            let end = [" | ", " > ", " #", "  #", ")\""].iter().filter_map(|end| line[at..].find(end)).min();
            commands.push(line[at..end.map_or(line.len(), |end| at + end)].to_owned());
        }
    }
    commands
}

#[test]
fn commands_of_documents_can_be_typed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut documents = markdown(&root.join("docs"));
    documents.extend([
        root.join("README.md"),
        root.join("crates/cli/README.md"),
        root.join("CONTRIBUTING.md"),
    ]);
    let mut count = 0;
    for document in documents {
        for command in commands(&std::fs::read_to_string(&document).unwrap()) {
            count += 1;
            let words = words_of(&command).into_iter().map(OsString::from);
            if let Err(error) = args::parse(words) {
                panic!("{}: {command}: {error}", document.display());
            }
        }
    }
    assert!(count > 50, "{count}");
}

/// The examples in the help are command lines, too.
#[test]
fn examples_of_the_help_can_be_typed() {
    fn check(command: &clap::Command, count: &mut usize) {
        let help = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        for line in help.lines().map(str::trim).filter(|line| line.starts_with("gristmill")) {
            *count += 1;
            let end = line.find(" | ").into_iter().chain(line.find(" > ")).min().unwrap_or(line.len());
            let words = words_of(&line[..end]).into_iter().map(OsString::from);
            if let Err(error) = args::parse(words) {
                panic!("{line}: {error}");
            }
        }
        command.get_subcommands().for_each(|sub| check(sub, count));
    }
    let mut count = 0;
    check(&args::definition(), &mut count);
    assert!(count > 25, "{count}");
}
