//! The program in this process, for tests that run it thousands of times.

use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::Path;
use std::rc::Rc;

use clap::{Arg, ArgAction, Command as Definition};
use gristmill_output::printable_lines;

use crate::args;
use crate::exit_status::ExitStatus;
use crate::session::Session;

/// The exit status and output of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The exit status.
    pub status: u8,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

/// Runs the program with these arguments, without a terminal and without the word that names it.
///
/// ```
/// let outcome = gristmill_cli::in_process::run(["functions".into(), "no-such-file".into()]);
/// assert_eq!((outcome.status, outcome.stdout), (2, Vec::new()));
/// assert!(outcome.stderr.starts_with(b"gristmill: no-such-file: no such file"));
/// ```
pub fn run(words: impl IntoIterator<Item = OsString>) -> Outcome {
    let (stdout, stderr) = (Kept::default(), Kept::default());
    let status = match args::parse(std::iter::once("gristmill".into()).chain(words)) {
        Ok(cli) => {
            let session = Session::in_process(cli.global.max_size, stdout.clone(), stderr.clone());
            crate::end(crate::run(&cli.command, &cli.global, &session), &session)
        }
        Err(error) => {
            let (kept, status) = match error.use_stderr() {
                true => (&stderr, ExitStatus::Failure),
                false => (&stdout, ExitStatus::Success),
            };
            kept.0.borrow_mut().extend_from_slice(printable_lines(&error.to_string()).as_bytes());
            status
        }
    };
    Outcome { status: status.code(), stdout: stdout.0.take(), stderr: stderr.0.take() }
}

/// A stream that keeps everything written to it.
#[derive(Debug, Clone, Default)]
struct Kept(Rc<RefCell<Vec<u8>>>);

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stands for the second profile in [`NEEDS`].
const SECOND_PROFILE: &str = "SECOND PROFILE";

/// Options of a command that need another word.
const NEEDS: [(&str, &str, &str); 11] = [
    ("annotate", "diff", "--style=cachegrind"),
    ("annotate", "diff", SECOND_PROFILE),
    ("annotate", "mod-filename", "--style=cachegrind"),
    ("annotate", "mod-funcname", "--style=cachegrind"),
    ("annotate", "name-inlined", "--format=json"),
    ("diff", "depth", "--tree"),
    ("functions", "then", "--group=object"),
    // Most of what is merged in tests looks cut off.
    ("merge", "keep-parts", "--allow-damaged"),
    ("merge", "mean", "--allow-damaged"),
    ("merge", "median", "--allow-damaged"),
    ("merge", "scale", "--allow-damaged"),
];

/// Options that are about files to write, or take no profile, or start a server.
const OTHER_OPTIONS: [&str; 4] = ["force", "list-rules", "no-open", "watch"];

/// Commands that read no profile, and `gate`, which runs programs.
const OTHER_COMMANDS: [&str; 6] = ["gate", "record", "control", "completions", "help", "man"];

/// Options that need a value, with one that fits every profile.
const VALUES: [(&str, &str); 22] = [
    ("binary", "/=/"),
    ("context", "2"),
    ("cut", "a -> ."),
    ("cut-below", "5"),
    ("depth", "3"),
    ("derive", "Derived = 2 Ir"),
    ("file", "."),
    ("filter", "a"),
    ("lines", "3"),
    ("limit", "3"),
    ("map", "/=/x/"),
    ("min", "1"),
    ("mod-filename", "s/a/b/"),
    ("mod-funcname", "s/a/b/"),
    ("no-rule", "all"),
    ("object", "."),
    ("part", "1"),
    ("pid", "1"),
    ("scale", "1/3"),
    ("strip-prefix", "/"),
    ("thread", "1"),
    ("threshold", "100"),
];

/// Questions of the page, for `gristmill view --answer`: each kind, with its members in several ways.
const QUESTIONS: [&str; 24] = [
    r#"{"kind":"overview","limit":5}"#,
    r#"{"kind":"summary"}"#,
    r#"{"kind":"functions","group":"function","sort":"inclusive","start":0,"count":50}"#,
    r#"{"kind":"functions","group":"file","sort":"per_call","ascending":true,"filter":"a","start":1,"count":3}"#,
    r#"{"kind":"functions","group":"cycle","sort":"object","start":0,"count":3}"#,
    r#"{"kind":"function","function":0,"depth":3,"limit":20}"#,
    r#"{"kind":"find","name":"main","file":"","object":""}"#,
    r#"{"kind":"search","text":"a","limit":20}"#,
    r#"{"kind":"search","text":"^.*a","is_pattern":true,"limit":3}"#,
    r#"{"kind":"tree","min_share":10,"max_depth":20,"limit":200}"#,
    r#"{"kind":"tree","from":0,"inverted":true,"min_share":0,"max_depth":5,"limit":100}"#,
    r#"{"kind":"flame","order":"cost","resolution":1000}"#,
    r#"{"kind":"flame","from":0,"inverted":true,"order":"name","zoom":["main"],"resolution":100}"#,
    r#"{"kind":"graph","callers":3,"callees":3,"nodes":40,"min_share":10,"cluster":"object"}"#,
    r#"{"kind":"graph","around":0,"callers":2,"callees":5,"nodes":20,"min_share":0,"cluster":"function"}"#,
    r#"{"kind":"treemap","width":800,"height":600}"#,
    r#"{"kind":"treemap","from":0,"callers":true,"width":80,"height":60}"#,
    r#"{"kind":"matches","pattern":"a"}"#,
    r#"{"kind":"matches","from":0,"inverted":true,"pattern":"."}"#,
    r#"{"kind":"source","function":0}"#,
    r#"{"kind":"source","file":"a.c"}"#,
    r#"{"kind":"assembly","function":0}"#,
    r#"{"kind":"parts"}"#,
    r#"{"kind":"findings","limit":20}"#,
];

/// Questions of the page that need a base.
const COMPARISONS: [&str; 10] = [
    r#"{"kind":"changes","group":"function","sort":"self_change","limit":20}"#,
    r#"{"kind":"changes_tree","min_share":10,"limit":100}"#,
    r#"{"kind":"changes_page","group":"function","sort":"inclusive_change","side":"worse","start":1,"count":20}"#,
    r#"{"kind":"changes_page","group":"file","sort":"name","filter":"a","start":0,"count":5}"#,
    r#"{"kind":"changes_flame","order":"name","resolution":1000}"#,
    r#"{"kind":"changes_flame","from":{"name":"main"},"inverted":true,"order":"cost","zoom":["main"],"resolution":100}"#,
    r#"{"kind":"changes_treemap","width":800,"height":600}"#,
    r#"{"kind":"changes_graph","callers":2,"callees":3,"nodes":40,"min_share":10,"cluster":"object"}"#,
    r#"{"kind":"changes_graph","around":{"name":"main"},"callers":2,"callees":5,"nodes":20,"min_share":0,"cluster":"function"}"#,
    r#"{"kind":"changed_function","function":{"name":"main"}}"#,
];

/// Pages of a profile, or of a comparison, on standard output.
const EXPORTS: [[&str; 2]; 3] = [
    ["--export=-", "--export-share=50%"],
    ["--export=-", "--export-share=99%"],
    ["--export=-", "--export-share=100%"],
];

/// Lists the ways to report about profiles that the definition of the arguments knows: each command, then with each of its flags
/// and each value of its options, one at a time. `of_files` are profiles, of which a command takes as many as it can.
///
/// ```
/// use std::path::Path;
///
/// let lines = gristmill_cli::in_process::command_lines([Path::new("a"), Path::new("b")]);
/// let words = |line: &[&str]| line.iter().map(Into::into).collect::<Vec<std::ffi::OsString>>();
/// assert!(lines.contains(&words(&["functions", "a"])));
/// assert!(lines.contains(&words(&["diff", "--format=json", "a", "b"])));
/// ```
pub fn command_lines(of_files: [&Path; 2]) -> Vec<Vec<OsString>> {
    let definition = args::definition();
    let commands = definition.get_subcommands();
    let reports = commands.filter(|command| !OTHER_COMMANDS.contains(&command.get_name()));
    reports.flat_map(|command| command_lines_of(command, of_files)).collect()
}

fn command_lines_of(command: &Definition, of_files: [&Path; 2]) -> Vec<Vec<OsString>> {
    let mut profiles = of_files.into_iter().cycle();
    let mut files: Vec<OsString> = Vec::new();
    for argument in command.get_positionals() {
        match argument.get_id().as_str() {
            "function" => files.push(".".into()),
            _ => files.extend(profiles.next().map(Into::into)),
        }
    }
    let line = |options: Vec<OsString>| {
        std::iter::once(command.get_name().into()).chain(options).chain(files.iter().cloned()).collect()
    };
    // Without a question or an export it would wait for questions.
    if command.get_name() == "view" {
        let asks = |question: &str| format!(r#"--answer={{"question":{question}}}"#).into();
        let base = [OsStr::new("--base="), of_files[1].as_os_str()].into_iter().collect::<OsString>();
        let with_base = |question| vec![asks(question), base.clone()];
        let of_questions = QUESTIONS.into_iter().map(|question| vec![asks(question)]);
        let of_comparisons = COMPARISONS.into_iter().map(with_base);
        let of_options = command.get_arguments().flat_map(options_of);
        let of_options = of_options.map(|option| vec![asks(QUESTIONS[0]), option]);
        let of_exports = EXPORTS.map(|options| options.map(OsString::from).to_vec());
        let of_exported_comparisons =
            of_exports.clone().map(|options| [options, vec![base.clone()]].concat());
        let of_exports = of_exports.into_iter().chain(of_exported_comparisons);
        return of_questions.chain(of_comparisons).chain(of_options).chain(of_exports).map(line).collect();
    }
    let options = command.get_arguments().flat_map(|argument| {
        let needs = NEEDS.iter().filter(|(of_command, option, _)| {
            *of_command == command.get_name() && argument.get_long() == Some(*option)
        });
        let needed = needs.map(|&(_, _, needed)| match needed {
            SECOND_PROFILE => of_files[1].into(),
            option => option.into(),
        });
        let needed: Vec<OsString> = needed.collect();
        options_of(argument).into_iter().map(move |option| [vec![option], needed.clone()].concat())
    });
    std::iter::once(Vec::new()).chain(options).map(line).collect()
}

/// Returns an option with each of its values; none for a positional argument and for [`OTHER_OPTIONS`].
fn options_of(argument: &Arg) -> Vec<OsString> {
    let known = argument.get_long().filter(|name| !OTHER_OPTIONS.contains(name));
    let Some(name) = known else { return Vec::new() };
    let with = |value: &str| format!("--{name}={value}").into();
    match argument.get_action() {
        ArgAction::SetTrue => vec![format!("--{name}").into()],
        ArgAction::Set | ArgAction::Append => {
            let possible = argument.get_possible_values();
            let known = VALUES.iter().filter(|(option, _)| *option == name).map(|(_, value)| *value);
            match possible.is_empty() {
                true => known.map(with).collect(),
                false => possible.iter().map(|value| with(value.get_name())).collect(),
            }
        }
        _ => Vec::new(),
    }
}
