//! The options of `gristmill record`. Those of Callgrind have its spelling.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap::{ArgMatches, Args, ValueEnum, ValueHint};
use gristmill_gate::refused_option;

use super::{YesNo, at_least};
use crate::output_name::{self, OutputName};

/// The name of the command.
const COMMAND: &str = "record";

const RECORDED: &str = "Recorded";
pub(super) const PARTS: &str = "Parts and time spans";
pub(super) const NAMES: &str = "Functions and calls";
pub(super) const OUTPUT: &str = "Contents of the file";
pub(super) const SIMULATION: &str = "Caches and Valgrind";

/// Options that Callgrind also writes with a number behind the name: `--separate-callers2=FUNCTION`.
const NUMBERED: [&str; 2] = ["--separate-callers", "--separate-recs"];

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// Program to record, with its arguments
    #[arg(
        value_name = "PROGRAM",
        required = true,
        num_args = 1..,
        trailing_var_arg = true,
        value_hint = ValueHint::CommandWithArguments
    )]
    pub(crate) program: Vec<OsString>,

    /// Way to record: native for the engine of this program, valgrind, or auto for native where it can do everything that is asked
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine, help_heading = SIMULATION)]
    pub(crate) engine: Engine,

    /// Program of Valgrind [default: GRISTMILL_VALGRIND, or valgrind on the path]
    #[arg(long, value_name = "PATH", value_hint = ValueHint::ExecutablePath, help_heading = SIMULATION)]
    pub(crate) valgrind: Option<PathBuf>,

    /// Name of the profile; %p is the process id, %q{NAME} a variable
    #[arg(
        long,
        short = 'o',
        value_name = "NAME",
        default_value = output_name::DEFAULT,
        value_hint = ValueHint::FilePath
    )]
    pub(crate) callgrind_out_file: OsString,

    /// Overwrite existing files
    #[arg(long)]
    pub(crate) force: bool,

    /// Also record what it starts, each process into a file of its own
    #[arg(long, value_name = "yes|no", hide_possible_values = true)]
    pub(crate) trace_children: Option<YesNo>,

    /// Go on to the first screen, or with view to the viewer
    #[arg(
        long,
        value_name = "WHERE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "overview",
        hide_possible_values = true
    )]
    pub(crate) open: Option<Open>,

    /// Print only what prevents a recording
    #[arg(long, short, conflicts_with = "verbose")]
    pub(crate) quiet: bool,

    /// Print all messages of Valgrind as well, and its command line
    #[arg(long, short)]
    pub(crate) verbose: bool,

    /// Costs of each instruction, for machine code
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = RECORDED)]
    dump_instr: Option<YesNo>,

    /// Jumps, for the arrows beside code
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = RECORDED)]
    collect_jumps: Option<YesNo>,

    /// One profile for each thread
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = RECORDED)]
    separate_threads: Option<YesNo>,

    /// Simulated caches, with sizes that are the same on every machine
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = RECORDED)]
    pub(crate) cache_sim: Option<YesNo>,

    /// Simulated prediction of branches
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = SIMULATION)]
    branch_sim: Option<YesNo>,

    /// Costs within calls of this function only, as f or A::*; repeatable
    #[arg(long, value_name = "FUNCTION", value_parser = function, help_heading = RECORDED)]
    toggle_collect: Vec<OsString>,

    /// Collect costs from the start; with no, a function or a request of the program begins
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = PARTS)]
    collect_atstart: Option<YesNo>,

    /// Instrument from the start; with no, the program is faster until gristmill control PID on
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = PARTS)]
    instr_atstart: Option<YesNo>,

    /// Write a part when this function is entered; repeatable
    #[arg(long, value_name = "FUNCTION", value_parser = function, help_heading = PARTS)]
    dump_before: Vec<OsString>,

    /// Write a part when this function is left; repeatable
    #[arg(long, value_name = "FUNCTION", value_parser = function, help_heading = PARTS)]
    dump_after: Vec<OsString>,

    /// Set all costs to zero when this function is entered; repeatable
    #[arg(long, value_name = "FUNCTION", value_parser = function, help_heading = PARTS)]
    zero_before: Vec<OsString>,

    /// Write a part after each N basic blocks
    #[arg(long, value_name = "N", value_parser = at_least::<0, u64>, help_heading = PARTS)]
    dump_every_bb: Option<u64>,

    /// All parts in one file
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = PARTS)]
    combine_dumps: Option<YesNo>,

    /// Tell functions apart by N callers; N=FUNCTION does so for one function; repeatable
    #[arg(long, value_name = "N", value_parser = separation, help_heading = NAMES)]
    separate_callers: Vec<Separation>,

    /// Tell levels of recursion apart, up to N; N=FUNCTION does so for one function; repeatable
    #[arg(long, value_name = "N", value_parser = separation, help_heading = NAMES)]
    separate_recs: Vec<Separation>,

    /// Leave out the sections through which libraries are called
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = NAMES)]
    skip_plt: Option<YesNo>,

    /// Give costs of this function to its callers; repeatable
    #[arg(long, value_name = "FUNCTION", value_parser = function, help_heading = NAMES)]
    fn_skip: Vec<OsString>,

    /// Write names of C++ and Rust as in their sources
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = NAMES)]
    demangle: Option<YesNo>,

    /// Costs of each source line
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = OUTPUT)]
    dump_line: Option<YesNo>,

    /// Short names, written in full once
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = OUTPUT)]
    compress_strings: Option<YesNo>,

    /// Positions as differences
    #[arg(long, value_name = "yes|no", hide_possible_values = true, help_heading = OUTPUT)]
    compress_pos: Option<YesNo>,

    /// Size, associativity and line size of the first cache for instructions
    #[arg(long = "I1", value_name = "SIZE,N,LINE", value_parser = cache, help_heading = SIMULATION)]
    i1: Option<String>,

    /// Size, associativity and line size of the first cache for data
    #[arg(long = "D1", value_name = "SIZE,N,LINE", value_parser = cache, help_heading = SIMULATION)]
    d1: Option<String>,

    /// Size, associativity and line size of the last cache
    #[arg(long = "LL", value_name = "SIZE,N,LINE", value_parser = cache, help_heading = SIMULATION)]
    ll: Option<String>,

    /// Memory of the native engine for translated code, in KiB; for tests
    #[arg(long, value_name = "KIB", value_parser = at_least::<1, u64>, hide = true)]
    code_cache: Option<u64>,

    /// Count in a vector register if the native engine has one for it; for tests
    #[arg(long, value_name = "yes|no", hide = true)]
    count_in_vectors: Option<YesNo>,

    /// Let translated code of the native engine lead to the next block without it; for tests
    #[arg(long, value_name = "yes|no", hide = true)]
    link_blocks: Option<YesNo>,

    /// Another option for Valgrind, unchecked, such as --smc-check=all; repeatable
    #[arg(
        long,
        value_name = "OPTION",
        value_parser = valgrind_option,
        allow_hyphen_values = true,
        help_heading = SIMULATION
    )]
    valgrind_option: Vec<OsString>,
}

/// A way to record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    /// An installed Valgrind.
    Valgrind,
    /// The engine of this program.
    Native,
    /// The best one for what is asked.
    Auto,
}

/// The answer to `--open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Open {
    /// The first screen
    Overview,
    /// The viewer, in the browser
    View,
}

/// A count of callers or levels, for all functions or for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Separation {
    count: u32,
    function: Option<String>,
}

impl RecordArgs {
    /// Forgets whether costs are collected from the start if a function to collect in is given after it: that says no, and the later of
    /// the two holds, as under Callgrind.
    pub(super) fn keep_later_start(&mut self, given: &ArgMatches) {
        let last = |id| given.indices_of(id).and_then(Iterator::last);
        if last("toggle_collect") > last("collect_atstart") {
            self.collect_atstart = None;
        }
    }

    /// Parses the name of the profile.
    pub(crate) fn output_name(&self) -> Result<OutputName, String> {
        OutputName::parse(&self.callgrind_out_file)
    }

    /// `true` if caches are simulated. Callgrind does so as well if the size of one is given.
    pub(crate) fn simulates_caches(&self) -> bool {
        match self.cache_sim {
            Some(cache_sim) => cache_sim.is_yes(),
            None => self.caches().iter().any(|(_, size)| size.is_some()),
        }
    }

    /// `true` if all parts are in one file.
    pub(crate) fn combines_dumps(&self) -> bool {
        self.combine_dumps.is_some_and(YesNo::is_yes)
    }

    /// Returns the sizes of caches that are given, by the name of the cache.
    pub(crate) fn caches(&self) -> [(&'static str, Option<&str>); 3] {
        [("I1", self.i1.as_deref()), ("D1", self.d1.as_deref()), ("LL", self.ll.as_deref())]
    }

    /// Returns the first option that the native engine cannot follow.
    pub(crate) fn unknown_to_native(&self) -> Option<&'static str> {
        let is_yes = |value: Option<YesNo>| value.is_some_and(YesNo::is_yes);
        let options = [
            ("simulation of caches", self.simulates_caches()),
            ("--branch-sim=yes", is_yes(self.branch_sim)),
            ("--valgrind-option", !self.valgrind_option.is_empty()),
        ];
        options.into_iter().find(|(_, is_asked)| *is_asked).map(|(option, _)| option)
    }

    /// Returns the options that Callgrind gets as they are given.
    pub(crate) fn passed_on(&self) -> Vec<OsString> {
        let yes_or_no = [
            ("dump-instr", self.dump_instr),
            ("dump-line", self.dump_line),
            ("compress-strings", self.compress_strings),
            ("compress-pos", self.compress_pos),
            ("combine-dumps", self.combine_dumps),
            ("collect-jumps", self.collect_jumps),
            ("separate-threads", self.separate_threads),
            ("skip-plt", self.skip_plt),
            ("instr-atstart", self.instr_atstart),
            ("trace-children", self.trace_children),
            ("demangle", self.demangle),
            ("branch-sim", self.branch_sim),
            ("count-in-vectors", self.count_in_vectors),
            ("link-blocks", self.link_blocks),
        ];
        let with_value = |(option, value): &(&str, Option<YesNo>)| {
            let value = if (*value)?.is_yes() { "yes" } else { "no" };
            Some(format!("--{option}={value}").into())
        };
        // A function to collect in says that costs are not collected from the start, unless that is said after it.
        let start = with_value(&("collect-atstart", self.collect_atstart));
        let yes_or_no = yes_or_no.iter().filter_map(with_value);
        let functions = [
            ("toggle-collect", &self.toggle_collect),
            ("dump-before", &self.dump_before),
            ("dump-after", &self.dump_after),
            ("zero-before", &self.zero_before),
            ("fn-skip", &self.fn_skip),
        ];
        let functions = functions.iter().flat_map(|(option, names)| {
            names.iter().map(move |name| {
                let mut word = OsString::from(format!("--{option}="));
                word.push(name);
                word
            })
        });
        let separations =
            [("separate-callers", &self.separate_callers), ("separate-recs", &self.separate_recs)];
        let separations = separations.iter().flat_map(|(option, separations)| {
            separations.iter().map(move |Separation { count, function }| match function {
                Some(function) => format!("--{option}{count}={function}").into(),
                None => format!("--{option}={count}").into(),
            })
        });
        let blocks = self.dump_every_bb.map(|count| format!("--dump-every-bb={count}").into());
        let code_cache = self.code_cache.map(|size| format!("--code-cache={size}").into());
        let others = self.valgrind_option.iter().cloned().chain(code_cache);
        yes_or_no.chain(functions).chain(start).chain(separations).chain(blocks).chain(others).collect()
    }
}

/// Rewrites `--separate-callers2=FUNCTION` to `--separate-callers=2=FUNCTION` among the options of the command: the parser knows no
/// options with a number in their name.
pub(super) fn with_numbers_as_values(mut words: Vec<OsString>, definition: &clap::Command) -> Vec<OsString> {
    let is_numbered =
        |word: &OsString| NUMBERED.iter().any(|name| word.as_encoded_bytes().starts_with(name.as_bytes()));
    let Some(command) = words.iter().position(|word| word == COMMAND) else { return words };
    if !words.iter().skip(command).any(is_numbered) {
        return words;
    }
    let takes_value = |word: &OsStr| {
        let own = definition.find_subcommand(COMMAND).into_iter().flat_map(clap::Command::get_arguments);
        let mut arguments = own.chain(definition.get_arguments());
        let word = word.to_string_lossy();
        arguments.any(|argument| {
            let is_it = match word.strip_prefix("--") {
                Some(long) => argument.get_long() == Some(long),
                None => {
                    let mut short = word.chars().skip(1);
                    argument.get_short() == short.next() && short.next().is_none()
                }
            };
            let takes_any = argument.get_action().takes_values() && !argument.is_require_equals_set();
            is_it && takes_any
        })
    };
    let mut index = command + 1;
    while let Some(word) = words.get_mut(index) {
        let bytes = word.as_encoded_bytes();
        if !bytes.starts_with(b"-") || bytes == b"--" {
            break;
        }
        if let Some(rewritten) = word.to_str().and_then(number_as_value) {
            *word = rewritten.into();
        }
        index += if takes_value(&words[index]) { 2 } else { 1 };
    }
    words
}

fn number_as_value(word: &str) -> Option<String> {
    NUMBERED.iter().find_map(|name| {
        let rest = word.strip_prefix(name)?;
        let (number, function) = rest.split_once('=')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| format!("{name}={number}={function}"))
    })
}

fn engine(text: &str) -> Result<Engine, String> {
    match text {
        "valgrind" => Ok(Engine::Valgrind),
        "auto" => Ok(Engine::Auto),
        "native" => Ok(Engine::Native),
        _ => Err("expected valgrind, native or auto".to_owned()),
    }
}

fn function(text: &str) -> Result<OsString, String> {
    if text.is_empty() { Err("expected the name of a function".to_owned()) } else { Ok(text.into()) }
}

fn separation(text: &str) -> Result<Separation, String> {
    let (count, function) = match text.split_once('=') {
        Some((count, function)) => (count, Some(function.to_owned())),
        None => (text, None),
    };
    if function.as_deref() == Some("") {
        return Err("the name of the function behind = is missing".to_owned());
    }
    let count = at_least::<0, u32>(count)?;
    Ok(Separation { count, function })
}

/// Parses the size of a cache as Callgrind has it.
fn cache(text: &str) -> Result<String, String> {
    let numbers: Vec<u64> = text.split(',').filter_map(|number| number.parse().ok()).collect();
    if numbers.len() != 3 || text.split(',').count() != 3 || numbers.contains(&0) {
        return Err("expected SIZE,ASSOCIATIVITY,LINE, such as 32768,8,64".to_owned());
    }
    Ok(text.to_owned())
}

fn valgrind_option(text: &str) -> Result<OsString, String> {
    if !text.starts_with('-') || text == "--" || text == "-" {
        return Err("expected an option of Valgrind, such as --smc-check=all".to_owned());
    }
    match refused_option(text) {
        Some(reason) => {
            let name = text.split('=').next().unwrap_or(text);
            Err(format!("{name} is not passed on: {reason}"))
        }
        None => Ok(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, parse};

    fn parsed(line: &[&str]) -> Result<RecordArgs, String> {
        let words = ["gristmill", "record"].iter().chain(line).map(OsString::from);
        match parse(words).map_err(|error| error.to_string())?.command {
            Command::Record(args) => Ok(args),
            other => Err(format!("{other:?}")),
        }
    }

    fn passed_on(line: &[&str]) -> Vec<String> {
        let options = parsed(line).unwrap().passed_on();
        options.into_iter().map(|option| option.into_string().unwrap()).collect()
    }

    #[test]
    fn options_of_callgrind_are_passed_on_in_its_spelling() {
        let line = [
            "-o",
            "a.out",
            "--dump-instr=yes",
            "--separate-callers2=f=g",
            "--separate-callers",
            "3",
            "--separate-recs4=h",
            "--toggle-collect=A::b(int, char)",
            "--dump-every-bb=0",
            "--valgrind-option=--smc-check=all",
            "p",
            "--separate-recs4=i",
        ];
        assert_eq!(
            passed_on(&line),
            [
                "--dump-instr=yes",
                "--toggle-collect=A::b(int, char)",
                "--separate-callers2=f=g",
                "--separate-callers=3",
                "--separate-recs4=h",
                "--dump-every-bb=0",
                "--smc-check=all",
            ]
        );
        assert_eq!(parsed(&line).unwrap().program, ["p", "--separate-recs4=i"]);
    }

    /// Each of the two options says whether costs are collected from the start.
    #[test]
    fn the_later_of_two_options_about_the_start_holds() {
        let (function, start) = ("--toggle-collect=f", "--collect-atstart=yes");
        assert_eq!(passed_on(&[function, start, "p"]), [function, start]);
        assert_eq!(passed_on(&[start, function, "p"]), [function]);
        let other = "--toggle-collect=g";
        assert_eq!(passed_on(&[function, other, start, "p"]), [function, other, start]);
        assert_eq!(passed_on(&[function, start, other, "p"]), [function, other]);
        assert_eq!(passed_on(&["--collect-atstart=no", "p"]), ["--collect-atstart=no"]);
    }

    #[test]
    fn options_behind_the_program_are_its_own() {
        for line in [&["p", "--force", "--color=x", "-o"][..], &["--", "p", "--force", "--color=x", "-o"]] {
            let args = parsed(line).unwrap();
            assert_eq!(args.program, ["p", "--force", "--color=x", "-o"]);
            assert!(!args.force);
        }
        assert_eq!(parsed(&["--open", "p"]).unwrap().open, Some(Open::Overview));
        assert_eq!(parsed(&["--open=view", "p"]).unwrap().open, Some(Open::View));
    }

    #[test]
    fn wrong_options_are_refused_by_name() {
        for (line, expected) in [
            (&["--dump-insts=yes", "p"][..], "'--dump-insts'"),
            (&["--dump-instr=maybe", "p"], "'--dump-instr <yes|no>'"),
            (&["--engine=x", "p"], "expected valgrind, native or auto"),
            (&["--I1=1,2", "p"], "such as 32768,8,64"),
            (&["--LL=0,8,64", "p"], "such as 32768,8,64"),
            (&["--separate-callers=x", "p"], "expected a whole number"),
            (&["--separate-recs2=", "p"], "the name of the function"),
            (&["--toggle-collect=", "p"], "expected the name of a function"),
            (&["--valgrind-option=--tool=dhat", "p"], "the tool is callgrind"),
            (&["--valgrind-option=-q", "p"], "-q is not passed on: the messages of Valgrind"),
            (&["--valgrind-option=--time-stamp=yes", "p"], "--time-stamp is not passed on"),
            (&["--valgrind-option=x", "p"], "expected an option of Valgrind"),
            (&["--force"], "PROGRAM"),
            (&[], "PROGRAM"),
        ] {
            let error = parsed(line).unwrap_err();
            assert!(error.contains(expected), "{line:?}: {error}");
        }
    }

    #[test]
    fn a_size_of_a_cache_asks_for_a_simulation() {
        assert!(parsed(&["--I1=32768,8,64", "p"]).unwrap().simulates_caches());
        assert!(parsed(&["--cache-sim=yes", "p"]).unwrap().simulates_caches());
        assert!(!parsed(&["p"]).unwrap().simulates_caches());
    }
}
