//! The command that is meant if none is named: `overview`.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::Subcommand as _;
use clap::error::ContextKind;

use super::{Cli, Command};

/// The name of the command.
const DEFAULT: &str = "overview";

/// Global options with a value.
const WITH_VALUE: [&str; 2] = ["--color", "--max-size"];

/// Parses a command line. If it names no command, it is one of the default command.
pub(super) fn parse(mut words: Vec<OsString>) -> Result<Cli, clap::Error> {
    let is_default = match FirstWord::of(words.get(1..).unwrap_or_default()) {
        FirstWord::None | FirstWord::File => true,
        FirstWord::Command => false,
        FirstWord::Option => !words.iter().skip(1).any(|word| is_command(word)),
        // A word that is not like a command is a missing file.
        FirstWord::Unknown => match super::try_parse(words.clone()) {
            Err(error) => error.get(ContextKind::SuggestedSubcommand).is_none(),
            Ok(cli) => return Ok(cli),
        },
    };
    if is_default && !words.is_empty() {
        words.insert(1, DEFAULT.into());
    }
    super::try_parse(words)
}

/// The kind of the first word that is no global option.
#[derive(Debug, PartialEq, Eq)]
enum FirstWord {
    /// There is none.
    None,
    /// A command, or an option that asks for help or the version.
    Command,
    /// Another option.
    Option,
    File,
    Unknown,
}

impl FirstWord {
    fn of(words: &[OsString]) -> Self {
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let text = word.to_string_lossy();
            match &*text {
                _ if is_command(word) => return FirstWord::Command,
                "-h" | "--help" | "-V" | "--version" => return FirstWord::Command,
                "-" | "--" => return FirstWord::File,
                option if WITH_VALUE.contains(&option) => drop(words.next()),
                option if WITH_VALUE.iter().any(|with| is_with_value(option, with)) => {}
                option if option.starts_with('-') => return FirstWord::Option,
                path if path.contains(['/', '\\', '.']) || Path::new(word).exists() => {
                    return FirstWord::File;
                }
                _ => return FirstWord::Unknown,
            }
        }
        FirstWord::None
    }
}

fn is_with_value(option: &str, name: &str) -> bool {
    option.strip_prefix(name).is_some_and(|rest| rest.starts_with('='))
}

fn is_command(word: &OsStr) -> bool {
    word.to_str().is_some_and(Command::has_subcommand)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn a_command_line_without_a_command_is_an_overview() {
        for line in [
            "gristmill",
            "gristmill -",
            "gristmill a.out b.out",
            "gristmill no/such",
            "gristmill profile",
            "gristmill -- info",
            "gristmill --color never a.out",
            "gristmill --color=never --max-size 1K a.out",
            "gristmill --color never",
            "gristmill --format json a.out",
            "gristmill -n 3 ./info",
        ] {
            assert!(matches!(parse(words(line)).unwrap().command, Command::Overview(_)), "{line}");
        }
    }

    #[test]
    fn other_command_lines_stay() {
        for line in [
            "gristmill info",
            "gristmill --color never info a.out",
            "gristmill --help",
            "gristmill -V",
            "gristmill funtions",
            "gristmill anotate a.out",
            "gristmill --limit 3 functions a.out",
        ] {
            let parsed = parse(words(line));
            assert!(!matches!(parsed, Ok(Cli { command: Command::Overview(_), .. })), "{line}");
        }
    }
}
