//! The words that can stand at the cursor of a command line.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::{Arg, Command, ValueHint};
use gristmill_format::RULES;
use gristmill_profile::compare::JoinRule;

use super::candidate::{Candidate, is_shown};
use super::profile_values::{self, ProfileValue};
use crate::args;

/// The command that is meant if none is named.
const DEFAULT_COMMAND: &str = "overview";
/// The files of a directory that are offered.
const MAX_PATHS: usize = 1000;
/// The options that name profiles to read.
const INPUT_OPTIONS: [&str; 2] = ["base", "new"];

/// A command line without the word that names the program, and the cursor in it.
#[derive(Debug)]
pub(super) struct Situation<'w> {
    /// The words before the cursor.
    pub(super) before: &'w [String],
    /// The word at the cursor, up to it.
    pub(super) current: &'w str,
    /// The words behind the cursor.
    pub(super) after: &'w [String],
}

/// The meaning of the words before the cursor.
struct Read<'c> {
    command: &'c Command,
    /// The option whose value comes next.
    pending: Option<&'c Arg>,
    /// Words that are no options and no commands.
    operands: usize,
    /// The profiles that are named.
    files: Vec<PathBuf>,
    /// `true` after `--`.
    is_escaped: bool,
}

impl Situation<'_> {
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let mut root = args::definition();
        root.build();
        let read = self.read(&root);
        let mut found = read.at(self);
        // Two profiles have many values in common.
        let mut known = HashSet::new();
        found.retain(|candidate| {
            let value = &candidate.value;
            value.starts_with(self.current) && is_shown(value) && known.insert(value.clone())
        });
        found
    }

    fn read<'c>(&self, root: &'c Command) -> Read<'c> {
        let mut read =
            Read { command: root, pending: None, operands: 0, files: Vec::new(), is_escaped: false };
        for word in self.before {
            read.word(word);
        }
        if read.files.is_empty() {
            let is_file = |word: &&String| !word.starts_with('-') && Path::new(word).is_file();
            read.files.extend(self.after.iter().filter(is_file).map(PathBuf::from));
        }
        read
    }
}

impl<'c> Read<'c> {
    /// Reads a word before the cursor.
    fn word(&mut self, word: &str) {
        let is_option = !self.is_escaped && word.len() > 1 && word.starts_with('-');
        if let Some(option) = self.pending.filter(|_| !is_option) {
            if INPUT_OPTIONS.contains(&option.get_id().as_str()) {
                self.files.push(word.into());
            }
            if !takes_several(option) {
                self.pending = None;
            }
            return;
        }
        self.pending = None;
        if is_option {
            match word.split_once('=') {
                _ if word == "--" => self.is_escaped = true,
                Some(_) if word.starts_with("--") => {}
                _ => {
                    self.pending = self.option(word).filter(|(_, value)| value.is_none()).map(|(arg, _)| arg)
                }
            }
            return;
        }
        if self.operands == 0
            && !self.is_escaped
            && let Some(command) = self.command.find_subcommand(word)
        {
            self.command = command;
            return;
        }
        // A word that is no command is a file of the default command.
        if let Some(default) = self.command.find_subcommand(DEFAULT_COMMAND) {
            self.command = default;
        }
        if self.operand().is_some_and(is_path) {
            self.files.push(word.into());
        }
        self.operands += 1;
    }

    /// Finds the option with a value that a word names, and the part of the word that is its value.
    fn option<'w>(&self, word: &'w str) -> Option<(&'c Arg, Option<&'w str>)> {
        let is_long = |arg: &&Arg, name: &str| {
            arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|all| all.contains(&name))
        };
        if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let arg = self.options().find(|arg| is_long(arg, name) && takes_value(arg))?;
            // A value that needs `=` is no word of its own.
            return (value.is_some() || !arg.is_require_equals_set()).then_some((arg, value));
        }
        let mut rest = word.strip_prefix('-')?.chars();
        loop {
            let short = rest.next()?;
            let arg = self.options().find(|arg| {
                arg.get_short() == Some(short)
                    || arg.get_all_short_aliases().is_some_and(|all| all.contains(&short))
            })?;
            if takes_value(arg) {
                let value = rest.as_str();
                return Some((arg, (!value.is_empty()).then_some(value)));
            }
        }
    }

    /// The options of the command, without one those of the default command as well.
    fn options(&self) -> impl Iterator<Item = &'c Arg> + use<'c> {
        let default = self.command.find_subcommand(DEFAULT_COMMAND);
        let more = default.into_iter().flat_map(|default| {
            default.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help")
        });
        self.command.get_arguments().chain(more).filter(|arg| !arg.is_positional())
    }

    /// The operand that comes next.
    fn operand(&self) -> Option<&'c Arg> {
        let command = self.command.find_subcommand(DEFAULT_COMMAND).unwrap_or(self.command);
        let operands: Vec<&Arg> = command.get_positionals().collect();
        let last = operands.last().filter(|last| takes_several(last));
        operands.get(self.operands).or(last).copied()
    }

    /// Returns what can stand at the cursor.
    fn at(&self, situation: &Situation<'_>) -> Vec<Candidate> {
        let current = situation.current;
        let is_option = !self.is_escaped && current.starts_with('-');
        if let Some(option) = self.pending.filter(|_| !is_option) {
            return self.values(option, "", current);
        }
        if is_option {
            return match self.option(current) {
                Some((option, Some(value))) => {
                    self.values(option, &current[..current.len() - value.len()], value)
                }
                _ => self.option_words(),
            };
        }
        let mut found = Vec::new();
        if self.operands == 0 && !self.is_escaped {
            let commands = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            found.extend(
                commands.map(|command| Candidate::new(command.get_name(), &about(command.get_about()))),
            );
        }
        if let Some(operand) = self.operand() {
            found.extend(self.values(operand, "", current));
        }
        found
    }

    fn option_words(&self) -> Vec<Candidate> {
        let words = self.options().filter(|arg| !arg.is_hide_set()).flat_map(|arg| {
            let names = arg.get_long_and_visible_aliases().unwrap_or_default();
            names.into_iter().map(move |name| match arg.is_require_equals_set() {
                false => Candidate::new(&format!("--{name}"), &about(arg.get_help())),
                true => Candidate {
                    is_open: true,
                    ..Candidate::new(&format!("--{name}="), &about(arg.get_help()))
                },
            })
        });
        words.collect()
    }

    /// Returns the values of an option or operand; `before` is the part of the word before the value.
    fn values(&self, arg: &Arg, before: &str, value: &str) -> Vec<Candidate> {
        let delimiter = arg.get_value_delimiter();
        let earlier = delimiter.and_then(|delimiter| value.rfind(delimiter)).map_or(0, |at| at + 1);
        let (earlier, start) = value.split_at(earlier);
        let mut found = self.plain_values(arg, start);
        // The values that are there already.
        found.retain(|candidate| !earlier.split(',').any(|value| value == candidate.value));
        for candidate in &mut found {
            candidate.value = format!("{before}{earlier}{}", candidate.value);
            // Another value may follow.
            candidate.is_open |= delimiter.is_some();
        }
        found
    }

    fn plain_values(&self, arg: &Arg, start: &str) -> Vec<Candidate> {
        let possible = arg.get_possible_values();
        if !possible.is_empty() {
            let shown = possible.iter().filter(|value| !value.is_hide_set());
            return shown.map(|value| Candidate::new(value.get_name(), &about(value.get_help()))).collect();
        }
        let command = self.command.get_name();
        let of_profile = |value| profile_values::of_files(self.files.clone(), value, start.to_owned());
        let value_name = arg.get_value_names().and_then(<[_]>::first).map_or("", |name| name.as_str());
        match (arg.get_id().as_str(), value_name) {
            ("part", _) => of_profile(ProfileValue::Part),
            ("thread", _) => of_profile(ProfileValue::Thread),
            ("pid", _) => of_profile(ProfileValue::Process),
            (_, "EVENT" | "EVENT[:PERCENT]") => of_profile(ProfileValue::Event),
            (_, "FUNCTION") => of_profile(ProfileValue::Function),
            ("object", "REGEX") => of_profile(ProfileValue::ObjectPattern),
            ("file", "REGEX") => of_profile(ProfileValue::FilePattern),
            (_, "REGEX") => of_profile(ProfileValue::FunctionPattern),
            ("explain", _) => RULES.iter().map(|rule| Candidate::new(rule.name, rule.summary)).collect(),
            ("rule" | "no_rule", _) => {
                let rules = JoinRule::ALL.into_iter().map(JoinRule::description);
                let all = (arg.get_id() == "no_rule").then(|| Candidate::new("all", "every rule"));
                rules.map(|rule| Candidate::new(rule.name, rule.about)).chain(all).collect()
            }
            ("command", _) if command == "help" => {
                let definition = args::definition();
                let commands = definition.get_subcommands();
                commands
                    .map(|command| Candidate::new(command.get_name(), &about(command.get_about())))
                    .collect()
            }
            _ => match arg.get_value_hint() {
                ValueHint::FilePath | ValueHint::AnyPath => paths(start, true),
                ValueHint::DirPath => paths(start, false),
                _ => Vec::new(),
            },
        }
    }
}

fn takes_value(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.takes_values())
}

fn takes_several(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.max_values() > 1)
        || arg.is_positional() && matches!(arg.get_action(), clap::ArgAction::Append)
}

fn is_path(arg: &Arg) -> bool {
    matches!(arg.get_value_hint(), ValueHint::FilePath | ValueHint::AnyPath)
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

/// Lists the files and directories, or only the directories, that begin like a path.
fn paths(start: &str, with_files: bool) -> Vec<Candidate> {
    let directory = start.rfind('/').map_or("", |at| &start[..=at]);
    let name_start = &start[directory.len()..];
    let home = || std::env::var("HOME").unwrap_or_default();
    let place = match directory.strip_prefix("~/") {
        Some(below) => format!("{}/{below}", home()),
        None if directory.is_empty() => ".".to_owned(),
        None => directory.to_owned(),
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().take(MAX_PATHS).flatten();
    let mut found: Vec<Candidate> = entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let is_wanted =
                name.starts_with(name_start) && (!name.starts_with('.') || name_start.starts_with('.'));
            // Follows links.
            let is_directory = entry.path().is_dir();
            if !is_wanted || !with_files && !is_directory {
                return None;
            }
            let end = if is_directory { "/" } else { "" };
            Some(Candidate {
                is_open: is_directory,
                ..Candidate::new(&format!("{directory}{name}{end}"), "")
            })
        })
        .collect();
    found.sort_by(|one, other| one.value.cmp(&other.value));
    found
}
