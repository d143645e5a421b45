//! The program under the name `valgrind`, for Callgrind: its own engine records if it can do everything that the options ask for.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;

use crate::input::reason;
use crate::native;
use crate::output_name::{self, OutputName};
use crate::terminal::printable_path;

use super::{changes_user, find_program, options_elsewhere};

/// Says which engine records: `valgrind` leaves all to Valgrind.
const VARIABLE: &str = "GRISTMILL_ENGINE";

/// Options with yes or no that the engine has.
const YES_OR_NO: [&str; 12] = [
    "--collect-jumps",
    "--dump-instr",
    "--dump-line",
    "--compress-strings",
    "--compress-pos",
    "--combine-dumps",
    "--separate-threads",
    "--collect-atstart",
    "--instr-atstart",
    "--trace-children",
    "--demangle",
    "--skip-plt",
];

/// Options about functions.
const FUNCTIONS: [&str; 5] =
    ["--toggle-collect", "--dump-before", "--dump-after", "--zero-before", "--fn-skip"];

/// Options whose names can have a number.
const NUMBERED: [&str; 2] = ["--separate-callers", "--separate-recs"];

/// Options that the engine has with one value only, which is the default.
const FIXED: [(&str, &str); 4] =
    [("--cache-sim", "no"), ("--branch-sim", "no"), ("--collect-bus", "no"), ("--collect-systime", "no")];

/// Options without effect here.
const WITHOUT_EFFECT: [&str; 7] = [
    "--error-exitcode",
    "--fair-sched",
    "--read-inline-info",
    "--run-libc-freeres",
    "--smc-check",
    "--vgdb",
    "--vgdb-error",
];

/// Sizes of caches: Callgrind simulates if one is given, unless a later option says no.
const CACHES: [&str; 4] = ["--I1", "--D1", "--LL", "--L2"];

/// Options that name files.
const FILES: [&str; 2] = ["--callgrind-out-file", "--log-file"];

/// The request for Callgrind.
const TOOL: &str = "--tool=callgrind";

/// A recording that is asked for with the options of Valgrind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Wanted<'w> {
    options: Vec<OsString>,
    program: &'w [OsString],
    pub(super) is_quiet: bool,
    /// `true` if messages are in a file.
    pub(super) has_log: bool,
}

/// A reason to leave a recording to Valgrind.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// It is for another tool, or is no recording.
    Other,
    /// There is no such program.
    NoProgram,
    /// A file cannot be written, which is an error before the program runs.
    Unwritable(String),
    /// The engine does not do it, for this reason.
    Reason(String),
}

impl<'w> Wanted<'w> {
    /// Parses the words of Valgrind, up to the program.
    pub(super) fn parse(words: &'w [OsString]) -> (Wanted<'w>, Result<(), Left>) {
        let is_option = |word: &OsString| word.as_encoded_bytes().starts_with(b"-");
        let count = words.iter().take_while(|word| is_option(word) && *word != OsStr::new("--")).count();
        let (options, rest) = words.split_at(count);
        let program = rest.strip_prefix(&[OsString::from("--")][..]).unwrap_or(rest);
        let is_any = |names: &[&str]| options.iter().any(|word| names.iter().any(|name| word == name));
        let mut wanted = Wanted {
            options: Vec::new(),
            program,
            is_quiet: is_any(&["-q", "--quiet"]),
            has_log: options.iter().any(|word| named(word).0 == "--log-file"),
        };
        let is_callgrind =
            options.iter().rfind(|word| named(word).0 == "--tool").is_some_and(|word| word == TOOL);
        if !is_callgrind || program.is_empty() || is_any(&["--version", "--help", "-h", "--help-debug"]) {
            return (wanted, Err(Left::Other));
        }
        // The last one counts.
        let asks = |word: &&OsString| *word == "--cache-sim=no" || CACHES.contains(&named(word).0);
        let is_simulated = options.iter().rfind(asks).is_some_and(|word| word != "--cache-sim=no");
        for word in options {
            if let Err(reason) = wanted.add(word, is_simulated) {
                return (wanted, Err(Left::Reason(reason)));
            }
        }
        let has_output = wanted.options.iter().any(|word| named(word).0 == "--callgrind-out-file");
        if !has_output {
            wanted.options.push(format!("--callgrind-out-file={}", output_name::DEFAULT).into());
        }
        (wanted, Ok(()))
    }

    /// Adds an option, if the engine has it.
    fn add(&mut self, word: &OsString, is_simulated: bool) -> Result<(), String> {
        let (name, value) = named(word);
        let shown = word.to_string_lossy();
        // Without a number in the name, the value is one.
        let is_number =
            |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()) && text.parse::<u32>().is_ok();
        let is_numbered =
            NUMBERED.iter().filter_map(|numbered| name.strip_prefix(numbered)).any(|rest| match rest {
                "" => value.is_some_and(is_number),
                rest => is_number(rest),
            });
        match (name, value) {
            ("-q" | "--quiet" | "-v" | "--verbose", None) | ("--tool", _) => return Ok(()),
            (name, Some("yes" | "no")) if YES_OR_NO.contains(&name) => {}
            (name, Some(value)) if FUNCTIONS.contains(&name) && !value.is_empty() => {}
            (_, Some(value)) if is_numbered && !value.is_empty() => {}
            ("--dump-every-bb", Some(value)) if value.parse::<u64>().is_ok() => {}
            (name, Some(_)) if FILES.contains(&name) => {
                self.options.push(absolute(word)?);
                return Ok(());
            }
            (name, Some(_)) if WITHOUT_EFFECT.contains(&name) => return Ok(()),
            (name, Some(_)) if CACHES.contains(&name) && !is_simulated => return Ok(()),
            (name, Some(value)) if FIXED.contains(&(name, value)) => return Ok(()),
            _ => return Err(format!("its own engine has no {shown}")),
        }
        self.options.push(word.clone());
        Ok(())
    }

    /// Becomes the program. Returns the reason if that is not possible; then nothing has happened.
    pub(super) fn record(self) -> Left {
        let Some(program) = self.program.first().and_then(|name| find_program(name, Path::new(""))) else {
            return Left::NoProgram;
        };
        if changes_user(&program) {
            return Left::Reason("the program runs with the rights of another user or group".to_owned());
        }
        if let Some(reason) = native::refusal_of_program(&program) {
            return Left::Reason(reason);
        }
        if let Some(reason) = self.options.iter().find_map(unwritable) {
            return Left::Unwritable(reason);
        }
        Left::Reason(native::run_as_valgrind(self.options, self.is_quiet, self.program))
    }
}

/// Returns why all is left to Valgrind, if the user wants that, or has options elsewhere.
pub(super) fn reason_of_user() -> Option<Left> {
    if std::env::var_os(VARIABLE).is_some_and(|engine| engine == "valgrind") {
        return Some(Left::Other);
    }
    options_elsewhere().map(|reason| Left::Reason(reason.to_owned()))
}

/// Splits an option into its name and its value. What is no text has neither.
fn named(word: &OsString) -> (&str, Option<&str>) {
    let text = word.to_str().unwrap_or_default();
    text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)))
}

/// Returns an option whose file does not depend on the working directory.
fn absolute(word: &OsString) -> Result<OsString, String> {
    let (name, value) = named(word);
    let pattern = OutputName::parse(OsStr::new(value.unwrap_or_default()));
    let pattern = pattern.map_err(|reason| format!("{name}: {reason}"))?;
    let pattern = pattern.absolute_pattern().map_err(|error| format!("{name}: {error}"))?;
    let mut option = OsString::from(format!("{name}="));
    option.push(pattern);
    Ok(option)
}

/// Returns why the file of this process that an option names cannot be written. A file that is there stays.
fn unwritable(option: &OsString) -> Option<String> {
    let (name, value) = named(option);
    if !FILES.contains(&name) {
        return None;
    }
    let path = OutputName::parse(OsStr::new(value?)).ok()?.of_process(std::process::id());
    let is_there = path.symlink_metadata().is_ok();
    let opened = File::options().append(true).create(true).open(&path);
    if !is_there && opened.is_ok() {
        let _ = std::fs::remove_file(&path);
    }
    let error = opened.err()?;
    Some(format!("{name}: {} cannot be written: {}", printable_path(&path), reason(&error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Vec<String>, usize, Result<(), Left>) {
        let words: Vec<OsString> = text.split_whitespace().map(OsString::from).collect();
        let (wanted, result) = Wanted::parse(&words);
        let options = wanted.options.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        (options, wanted.program.len(), result)
    }

    #[test]
    fn options_that_the_engine_has_are_taken() {
        let words = "--fair-sched=try --tool=callgrind -q --error-exitcode=0 --I1=32768,8,64 --cache-sim=no \
            --smc-check=all --vgdb=no --separate-recs3=f* --separate-threads=yes --toggle-collect=*::f::* \
            --callgrind-out-file=/a/out.#%p ./program --tool=none -x";
        let (options, words, result) = parsed(words);
        assert_eq!((words, result), (3, Ok(())));
        let expected = [
            "--separate-recs3=f*",
            "--separate-threads=yes",
            "--toggle-collect=*::f::*",
            "--callgrind-out-file=/a/out.#%p",
        ];
        assert_eq!(options, expected);
        assert_eq!(parsed("--tool=callgrind -- -odd").0, ["--callgrind-out-file=callgrind.out.%p"]);
    }

    #[test]
    fn all_else_is_left_to_valgrind() {
        for words in
            ["", "true", "--version", "--tool=callgrind --version", "--tool=none true", "--tool=callgrind"]
        {
            assert_eq!(parsed(words).2, Err(Left::Other), "{words}");
        }
        for option in [
            "--cache-sim=yes",
            "--I1=32768,8,64",
            "--cache-sim=no --LL=8388608,16,64",
            "--branch-sim=yes",
            "--dump-instr=maybe",
            "--dump-instr",
            "--toggle-collect=",
            "--no-such-option",
            "--separate-callers=",
            "--separate-callers=abc",
            "--separate-callers=3x",
            "--separate-recs=99999999999",
            "--separate-callers99999999999=f",
            "--log-file=%z",
            "--log-fd=9",
        ] {
            let result = parsed(&format!("--tool=callgrind {option} true")).2;
            assert!(matches!(&result, Err(Left::Reason(_))), "{option}: {result:?}");
        }
    }
}
