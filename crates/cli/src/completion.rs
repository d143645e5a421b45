//! Completions: answers to the scripts that `gristmill completions` prints for Bash, Zsh and fish.
//!
//! The shell runs `gristmill __complete SHELL …` with the words of the command line. The answer has one candidate per line.
//! Nothing is ever printed on standard error, and a profile that is large, slow or damaged costs its candidates only.

mod candidate;
mod candidates;
mod profile_values;
mod shell_line;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use self::candidate::Candidate;
use self::candidates::Situation;
use self::shell_line::ShellLine;

/// The word that asks for completions. It is no command that people type, so no help has it.
const WORD: &str = "__complete";

/// The scripts, by the names of their shells.
pub(crate) const BASH: &str = include_str!("completion/gristmill.bash");
pub(crate) const FISH: &str = include_str!("completion/gristmill.fish");
pub(crate) const ZSH: &str = include_str!("completion/gristmill.zsh");

/// Answers if the command line asks for completions.
pub(crate) fn run(words: &[OsString]) -> Option<ExitCode> {
    if words.get(1)? != WORD {
        return None;
    }
    // A message would appear in the middle of the command line that is being typed.
    std::panic::set_hook(Box::new(|_| {}));
    let words: Vec<String> = words[2..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let answer = answer(&words).unwrap_or_default();
    // A shell that no longer listens needs no answer.
    let _ = std::io::stdout().write_all(answer.as_bytes());
    // A profile may still be loading in another thread; it is not waited for.
    Some(ExitCode::SUCCESS)
}

/// Takes a command line apart as a shell does.
#[cfg(test)]
pub(crate) fn words_of(line: &str) -> Vec<String> {
    ShellLine::parse(&format!("{line} "), "").words
}

/// Returns the lines for a shell. `None` if it asks in a way that is not known.
fn answer(words: &[String]) -> Option<String> {
    let (shell, rest) = words.split_first()?;
    match (shell.as_str(), rest) {
        ("bash", [breaks, before, after]) => {
            let line = ShellLine::parse(before, breaks);
            let after = ShellLine::parse(after, breaks);
            let rest: Vec<String> = after.words.into_iter().chain([after.current]).collect();
            let situation = Situation { before: line.words.get(1..)?, current: &line.current, after: &rest };
            let lines = situation.candidates().into_iter().filter_map(|candidate| line.reply(&candidate));
            Some(lines.map(|line| line + "\n").collect())
        }
        ("zsh", [index, words @ ..]) => {
            let index: usize = index.parse().ok()?;
            let current = words.get(index).map_or("", String::as_str);
            let after = words.get(index + 1..).unwrap_or_default();
            let before = words.get(1..index.min(words.len()).max(1))?;
            Some(with_descriptions(&Situation { before, current, after }))
        }
        ("fish", [count, words @ ..]) => {
            let count: usize = count.parse().ok()?;
            // The current word is as it is typed, the others are without quotes.
            let current = words.get(count).map_or("", String::as_str);
            let current = ShellLine::parse(current, "").current;
            Some(with_descriptions(&Situation {
                before: words.get(1..count)?,
                current: &current,
                after: &[],
            }))
        }
        _ => None,
    }
}

/// Returns lines with a candidate, a tab and its description each.
fn with_descriptions(situation: &Situation<'_>) -> String {
    let line = |candidate: Candidate| format!("{}\t{}\n", candidate.value, candidate.about);
    situation.candidates().into_iter().map(line).collect()
}
