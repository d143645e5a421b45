//! The annotated costs of source lines are those in the file, for programs that are recorded here.
//!
//! The costs of each line are added up from the file by a reader of the tests, which shares nothing with the program.
//! Without Valgrind and compilers there is nothing to check, and the tests say so; with `GRISTMILL_CI` set they fail.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]

#[path = "callgrind_annotate/callees.rs"]
mod callees;
#[path = "callgrind_annotate/facts.rs"]
#[allow(dead_code)]
mod facts;
mod harness;
#[path = "callgrind_annotate/reading.rs"]
mod reading;
#[path = "callgrind_annotate/rules.rs"]
#[allow(dead_code)]
mod rules;
#[path = "../../format/tests/support/words.rs"]
mod words;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

use facts::{Facts, Given, add};
use harness::{code, root, run_in, stderr};
use words::text;

/// Costs by line; line 0 is where it is not known.
type Lines = BTreeMap<u64, Given>;

/// The folder with both programs in it, or why there is none.
fn build() -> Result<tempfile::TempDir, String> {
    let folder = tempfile::tempdir().unwrap();
    run(Command::new("valgrind").arg("--version"))?;
    let at = |name: &str| folder.path().join(name);
    fs::copy(root().join("corpus/src/names.cc"), at("names.cc")).unwrap();
    fs::copy(root().join("crates/cli/tests/annotated_costs/hopper.rs"), at("hopper.rs")).unwrap();
    run(Command::new("c++").args(["-std=c++17", "-O1", "-g", "-o"]).arg(at("names")).arg(at("names.cc")))?;
    // The compiler that builds the tests. Newer forms of debugging information are beyond some Valgrinds.
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    run(Command::new(rustc)
        .args(["--edition=2021", "-Copt-level=1", "-g", "-Cdwarf-version=4", "-o"])
        .arg(at("hopper"))
        .arg(at("hopper.rs")))?;
    Ok(folder)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
}

fn workshop() -> Option<tempfile::TempDir> {
    let built = build();
    if let Err(lack) = &built {
        assert!(env::var_os("GRISTMILL_CI").is_none(), "{lack}");
        println!("nothing is recorded: {lack}");
    }
    built.ok()
}

/// Returns the costs of each line of each source file.
fn by_line(facts: &Facts) -> BTreeMap<String, Lines> {
    let mut files: BTreeMap<String, Lines> = BTreeMap::new();
    for row in facts.blocks.iter().flat_map(|block| &block.rows).filter(|row| row.call.is_none()) {
        add(files.entry(row.file.clone()).or_default().entry(row.line).or_default(), &row.costs);
    }
    files
}

/// Splits a line into its costs and the text after them.
fn cells(line: &str, columns: usize) -> Option<(Given, &str)> {
    let mut rest = line;
    let mut costs = Given::new();
    for _ in 0..columns {
        let cell;
        (cell, rest) = rest.trim_start_matches(' ').split_once(' ')?;
        costs.push(match cell {
            "." => None,
            _ => Some(cell.replace(',', "").parse().ok()?),
        });
    }
    Some((costs, rest.strip_prefix(' ')?))
}

/// The number in `<bogus line 7>`.
fn bogus(text: &str) -> Option<u64> {
    text.strip_prefix("<bogus line ")?.strip_suffix('>')?.parse().ok()
}

/// Returns the costs of the lines of a section. It has all lines of the source, so they need no numbers.
fn section(lines: &[&str], source: &str, columns: usize, unknown: &str) -> Lines {
    let mut found = Lines::new();
    let mut source = source.split('\n');
    let mut awaited = source.next();
    let mut number = 0;
    for line in lines {
        let Some((costs, said)) = cells(line, columns) else { continue };
        let key = if Some(said) == awaited {
            awaited = source.next();
            number += 1;
            number
        } else if let Some(number) = bogus(said) {
            number
        } else if said.starts_with(unknown) {
            0
        } else {
            assert!(said.starts_with("=> "), "{line:?}, but {awaited:?} comes next");
            continue;
        };
        if costs.iter().any(Option::is_some) {
            assert!(found.insert(key, costs).is_none(), "{line:?} is there twice");
        }
    }
    assert!(awaited.is_none_or(str::is_empty), "{awaited:?} is missing");
    found
}

/// Counts of compared files and lines.
#[derive(Debug, Default)]
struct Tally {
    files: usize,
    lines: usize,
    lines_of_program: usize,
}

/// The format of a layout.
struct Layout {
    arguments: &'static [&'static str],
    /// The start of the title of an annotated file.
    title: &'static str,
    /// The start of the row of unknown lines.
    unknown: &'static str,
}

const CALLGRIND: Layout = Layout {
    arguments: &["--style=callgrind", "--threshold=100", "--show-percs=no", "--context=1000000"],
    title: "-- Auto-annotated source: ",
    unknown: "<counts for unidentified lines in ",
};

const CACHEGRIND: Layout = Layout {
    arguments: &["--style=cachegrind", "--threshold=0", "--no-show-percs", "--context=1000000"],
    title: "-- Annotated source file: ",
    unknown: "<unknown (line 0)>",
};

/// Returns `true` if the source file exists. Most libraries have paths relative to the folder of their build.
fn is_there(file: &str) -> bool {
    Path::new(file).is_absolute() && Path::new(file).is_file()
}

/// Compares what is printed with what the file says.
fn check(folder: &Path, program: &str, profile: &str, layout: &Layout) -> Tally {
    let content = fs::read(folder.join(profile)).unwrap();
    // It is looked at from elsewhere, so that names stay as they are.
    let elsewhere = tempfile::tempdir().unwrap();
    let facts = Facts::read(&[&content], "/nowhere");
    let path = folder.join(profile);
    let arguments = [&["annotate"], layout.arguments, &[path.to_str().unwrap()]].concat();
    let output = run_in(elsewhere.path(), &arguments);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let printed = text(&output.stdout);
    let lines: Vec<&str> = printed.lines().collect();
    let wanted = by_line(&facts);
    let mut tally = Tally::default();
    let mut annotated = Given::new();
    for (nth, line) in lines.iter().enumerate() {
        let Some(file) = line.strip_prefix(layout.title) else { continue };
        // The other layout has sections of files that cannot be read, too.
        if !is_there(file) {
            continue;
        }
        let below = &lines[nth + 2..];
        let end = below.iter().position(|line| line.starts_with("-----------")).unwrap_or(below.len());
        let source = text(&fs::read(file).unwrap());
        let found = section(&below[..end], &source, facts.events.len(), layout.unknown);
        let wanted = wanted.get(file).unwrap_or_else(|| panic!("{file} is no file of the profile"));
        for line in wanted.keys().chain(found.keys()) {
            assert_eq!(found.get(line), wanted.get(line), "{profile}: {file}:{line}");
        }
        wanted.iter().filter(|(line, _)| **line != 0).for_each(|(_, costs)| add(&mut annotated, costs));
        tally.files += 1;
        tally.lines += found.len();
        if Path::new(file).file_stem().is_some_and(|stem| stem == program) {
            tally.lines_of_program += found.len();
        }
    }
    // Every file that exists is there, so nothing is lost with a whole file.
    let existing = wanted.keys().filter(|file| is_there(file));
    assert_eq!(tally.files, existing.count(), "{profile}");
    if layout.title == CALLGRIND.title {
        let last = lines.iter().rfind(|line| line.ends_with("  events annotated")).unwrap();
        assert_eq!(cells(last, facts.events.len()).unwrap().0, annotated, "{profile}");
    }
    tally
}

fn record(folder: &Path, program: &str, options: &str, nth: usize) -> String {
    let name = format!("{program}.{nth}");
    let tool = if options.contains("cachegrind") { "cachegrind" } else { "callgrind" };
    run(Command::new("valgrind")
        .args(["-q"])
        .args(options.split(' '))
        .arg(format!("--{tool}-out-file={}", folder.join(&name).display()))
        .arg(folder.join(program)))
    .unwrap();
    name
}

fn check_all(recordings: &[&str], layout: &Layout) {
    let Some(folder) = workshop() else { return };
    for program in ["names", "hopper"] {
        for (nth, options) in recordings.iter().enumerate() {
            let profile = record(folder.path(), program, options, nth);
            let tally = check(folder.path(), program, &profile, layout);
            println!("{program} {options}: {tally:?}");
            assert!(tally.lines_of_program > 10, "{program} {options}: {tally:?}");
        }
    }
}

#[test]
fn callgrind_lines_cost_what_the_file_says() {
    check_all(
        &[
            "--tool=callgrind",
            "--tool=callgrind --cache-sim=yes --branch-sim=yes",
            "--tool=callgrind --dump-instr=yes --collect-jumps=yes",
            "--tool=callgrind --combine-dumps=yes --dump-before=main --separate-recs=4",
        ],
        &CALLGRIND,
    );
}

#[test]
fn cachegrind_lines_cost_what_the_file_says() {
    check_all(
        &["--tool=cachegrind --cache-sim=yes", "--tool=cachegrind --cache-sim=no --branch-sim=yes"],
        &CACHEGRIND,
    );
}
