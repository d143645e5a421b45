//! Tests of the words of the command line: a long option has one meaning in all commands, and a meaning has one word.

use std::collections::{BTreeMap, BTreeSet};

/// Options that have another meaning in one command, with the reason.
const EXCEPTIONS: [(&str, &str, &str); 3] = [
    ("annotate", "sort", "callgrind_annotate sorts by event types, other commands by a column"),
    ("annotate", "inclusive", "callgrind_annotate says yes or no, other commands choose a rule"),
    ("annotate", "tree", "callgrind_annotate chooses callers and callees, `diff` draws a tree"),
];

/// Hidden spellings of earlier versions: command, option, old spelling.
const OLD_SPELLINGS: [(&str, &str, &str); 2] =
    [("annotate", "filter", "function"), ("lint", "list-rules", "rules")];

/// Words of a meaning that nothing else may have: two options with the same text would be one meaning with two words.
const WORDS_OF_A_MEANING: usize = 3;

/// An option of a command.
struct Opt {
    command: String,
    long: String,
    help: String,
    /// The names of its values, and their least and greatest count.
    values: (Vec<String>, usize),
    hidden: Vec<String>,
}

impl Opt {
    /// The first words of the help.
    fn meaning(&self) -> Vec<&str> {
        let words = self.help.split(' ').take(WORDS_OF_A_MEANING);
        words.map(|word| word.trim_end_matches(['.', ',', ':', ';'])).collect()
    }

    fn is_exception(&self) -> bool {
        EXCEPTIONS.iter().any(|(command, long, _)| self.command == *command && self.long == *long)
    }
}

fn options() -> Vec<Opt> {
    fn collect(command: &clap::Command, path: &str, options: &mut Vec<Opt>) {
        for arg in command.get_arguments().filter(|arg| !arg.is_global_set() && arg.get_id() != "help") {
            let Some(long) = arg.get_long() else { continue };
            let names = arg.get_value_names().unwrap_or_default();
            let takes_values = arg.get_num_args().is_some_and(|count| count.takes_values());
            let visible: BTreeSet<&str> = arg.get_visible_aliases().unwrap_or_default().into_iter().collect();
            options.push(Opt {
                command: path.to_owned(),
                long: long.to_owned(),
                help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
                values: match takes_values {
                    true => (
                        names.iter().map(ToString::to_string).collect(),
                        arg.get_num_args().map_or(0, |count| count.max_values()),
                    ),
                    false => (Vec::new(), 0),
                },
                hidden: arg
                    .get_all_aliases()
                    .unwrap_or_default()
                    .into_iter()
                    .filter(|alias| !visible.contains(alias))
                    .map(str::to_owned)
                    .collect(),
            });
        }
        for sub in command.get_subcommands() {
            let path = if path.is_empty() {
                sub.get_name().to_owned()
            } else {
                format!("{path} {}", sub.get_name())
            };
            collect(sub, &path, options);
        }
    }
    let mut root = super::full_definition();
    root.build();
    let mut options = Vec::new();
    collect(&root, "", &mut options);
    assert!(options.len() > 100, "{}", options.len());
    options
}

#[test]
fn a_word_has_one_meaning() {
    let options = options();
    let mut by_word: BTreeMap<&str, Vec<&Opt>> = BTreeMap::new();
    for option in options.iter().filter(|option| !option.is_exception()) {
        by_word.entry(&option.long).or_default().push(option);
    }
    let mut different = Vec::new();
    for (word, uses) in by_word {
        for pair in uses.windows(2) {
            let [one, other] = pair else { unreachable!() };
            let both =
                format!("--{word}: {} {:?}, {} {:?}", one.command, one.help, other.command, other.help);
            let (mine, others) = (one.meaning(), other.meaning());
            // A short help may go on in another command.
            let count = mine.len().min(others.len());
            if count < 2 || mine[..count] != others[..count] || one.values != other.values {
                different.push(both);
            }
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn a_meaning_has_one_word() {
    let mut words: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for option in options() {
        words.entry(option.help).or_default().insert(option.long);
    }
    for (help, words) in words {
        assert_eq!(words.len(), 1, "{help}: {words:?}");
    }
}

#[test]
fn exceptions_are_used_and_say_whose_they_are() {
    let options = options();
    for (command, long, reason) in EXCEPTIONS {
        let own = options.iter().find(|option| option.command == command && option.long == long);
        let own = own.unwrap_or_else(|| panic!("{command} --{long}"));
        let others: Vec<&Opt> =
            options.iter().filter(|option| option.long == long && option.command != command).collect();
        assert!(others.iter().any(|other| other.meaning() != own.meaning()), "--{long}: {reason}");
        assert!(own.help.starts_with("As in callgrind_annotate: "), "{command} --{long}: {}", own.help);
    }
}

/// A value that no option takes is refused in words of ours.
#[test]
fn messages_of_wrong_values_are_for_people() {
    let mut refused = 0;
    for option in options().iter().filter(|option| option.values.1 > 0) {
        let value = format!("--{}=@@", option.long);
        let command = option.command.split(' ').filter(|word| !word.is_empty());
        let words = ["gristmill"].into_iter().chain(command).chain([value.as_str(), "a", "b"]);
        let Err(error) = super::parse(words.map(std::ffi::OsString::from)) else { continue };
        let message = error.to_string();
        if message.starts_with("error: invalid value") {
            refused += 1;
            let first = message.lines().next().unwrap();
            // It tells what is expected: in words, or as a list.
            assert!(first.matches(':').count() > 1 || message.contains("[possible values: "), "{message}");
        }
        for foreign in
            ["invalid digit", "invalid float", "invalid variant", "cannot parse", "found in string"]
        {
            assert!(!message.contains(foreign), "{message}");
        }
    }
    assert!(refused > 30, "{refused}");
}

#[test]
fn old_spellings_are_hidden_and_work() {
    let options = options();
    let found: Vec<(&str, &str, &str)> = options
        .iter()
        .flat_map(|option| {
            option.hidden.iter().map(|old| (option.command.as_str(), option.long.as_str(), old.as_str()))
        })
        .collect();
    assert_eq!(found, OLD_SPELLINGS);
    for words in [&["annotate", "--function=x"][..], &["annotate", "--show=Ir"], &["lint", "--rules"]] {
        let words = ["gristmill"].iter().chain(words).map(std::ffi::OsString::from);
        assert!(super::parse(words).is_ok());
    }
}
