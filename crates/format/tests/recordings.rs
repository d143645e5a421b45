//! Files that Valgrind's tools write on the spot, with every option that changes the format.
//!
//! Without Valgrind and a C compiler there is nothing to check, and the tests say so; with `GRISTMILL_CI` set they fail.

// Without this, clippy takes what is not marked as a test for code that may not panic.
#![cfg(test)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

use gristmill_format::{Cost, Line, NameSpace, Reader, ReadingMode, Rewrite};

#[path = "support/faults.rs"]
mod faults;
#[path = "support/lines.rs"]
mod lines;
#[path = "support/meaning.rs"]
mod meaning;
#[path = "support/spelling.rs"]
mod spelling;

use faults::faults;
use lines::lines;
use meaning::{Fact, meaning};
use spelling::{is_written_by_default, plain_and_back};

/// Callgrind's options: a program and what it is recorded with.
const CALLGRIND: [(&str, &str); 46] = [
    ("mill", ""),
    ("mill-dynamic", ""),
    ("mill-fast", "--dump-instr=yes"),
    ("mill-fast", "--dump-instr=yes --collect-jumps=yes"),
    ("mill-dynamic", "--dump-instr=yes --collect-jumps=yes"),
    ("mill", "--collect-jumps=yes"),
    ("mill", "--cache-sim=yes"),
    ("mill", "--branch-sim=yes"),
    ("mill", "--cacheuse=yes"),
    ("mill", "--simulate-wb=yes"),
    ("mill", "--simulate-hwpref=yes"),
    ("crew", "--collect-bus=yes"),
    ("mill-dynamic", "--collect-systime=yes"),
    ("mill-dynamic", "--collect-systime=msec"),
    ("mill-dynamic", "--collect-systime=usec"),
    ("mill-dynamic", "--collect-systime=nsec"),
    ("mill-dynamic", "--compress-strings=no"),
    ("mill-fast", "--compress-pos=no"),
    ("mill-dynamic", "--compress-strings=no --compress-pos=no --dump-instr=yes --collect-jumps=yes"),
    ("mill", "--dump-line=no"),
    ("mill", "--dump-line=no --dump-instr=yes"),
    ("mill", "--dump-bb=yes"),
    ("mill", "--dump-bb=yes --dump-instr=yes --collect-jumps=yes"),
    ("mill", "--dump-bbs=yes"),
    ("mill-fast", "--dump-bbs=yes --dump-instr=yes --collect-jumps=yes"),
    ("mill", "--mangle-names=no"),
    ("mill", "--mangle-names=no --separate-callers=2 --compress-strings=no"),
    ("mill", "--compress-mangled=yes --separate-callers=3 --separate-recs=3"),
    ("mill-dynamic", "--combine-dumps=yes --dump-before=treat_all"),
    ("mill", "--dump-before=treat_all --dump-after=coarse"),
    ("crew", "--separate-threads=yes"),
    ("crew", "--separate-threads=yes --combine-dumps=yes --dump-before=miller"),
    ("crew", "--separate-threads=yes --dump-before=miller --dump-instr=yes"),
    ("mill", "--separate-callers=3"),
    ("mill", "--separate-recs=4"),
    ("mill-dynamic", "--skip-plt=no"),
    ("mill", "--fn-skip=coarse --fn-skip=by_weight"),
    ("mill", "--dump-every-bb=20000 --combine-dumps=yes"),
    ("mill", "--toggle-collect=shift"),
    ("mill", "--zero-before=treat_all"),
    ("mill", "--collect-alloc=yes"),
    ("mill-dynamic", "--show-below-main=yes"),
    ("names", "--demangle=no"),
    ("names", "--separate-callers=2"),
    ("names", "--compress-strings=no"),
    ("mill", "--collect-atstart=no"),
];

/// Other tools: a program, the option that names the file, and the rest.
const OTHERS: [(&str, &str, &str); 10] = [
    ("mill", "--cachegrind-out-file=", "--tool=cachegrind"),
    ("mill", "--cachegrind-out-file=", "--tool=cachegrind --cache-sim=no"),
    ("mill-fast", "--cachegrind-out-file=", "--tool=cachegrind --cache-sim=yes"),
    ("mill-fast", "--cachegrind-out-file=", "--tool=cachegrind --branch-sim=yes"),
    ("mill-dynamic", "--cachegrind-out-file=", "--tool=cachegrind --cache-sim=no --branch-sim=yes"),
    ("leak", "--xtree-memory-file=", "--tool=memcheck --xtree-memory=full"),
    ("leak", "--xtree-memory-file=", "--tool=memcheck --xtree-memory=allocs"),
    ("leak", "--xtree-leak-file=", "--tool=memcheck --leak-check=full --xtree-leak=yes"),
    ("leak", "--xtree-memory-file=", "--tool=massif --massif-out-file=/dev/null --xtree-memory=full"),
    ("leak", "--xtree-memory-file=", "--tool=helgrind --xtree-memory=full"),
];

/// The programs of the corpus: name, compiler, and what it is given.
const PROGRAMS: [(&str, &str, &str); 6] = [
    ("mill", "cc", "-O0 -g -static mill.c stone.c sieve.c"),
    ("mill-fast", "cc", "-O2 -g -static -fno-optimize-sibling-calls mill.c stone.c sieve.c"),
    ("mill-dynamic", "cc", "-O0 -g mill.c stone.c sieve.c"),
    ("crew", "cc", "-O1 -g -static -pthread crew.c stone.c"),
    ("leak", "cc", "-O0 -g leak.c"),
    ("names", "c++", "-std=c++17 -O1 -g -static names.cc"),
];

/// A folder with the programs in it, or why there is none.
fn workshop(name: &str, programs: &[&str]) -> Option<PathBuf> {
    let found = build(name, programs);
    if let Err(lack) = &found {
        assert!(env::var_os("GRISTMILL_CI").is_none(), "{lack}");
        println!("nothing is recorded: {lack}");
    }
    found.ok()
}

fn build(name: &str, programs: &[&str]) -> Result<PathBuf, String> {
    run(Command::new("valgrind").arg("--version"))?;
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/src");
    for (program, compiler, arguments) in PROGRAMS.iter().filter(|program| programs.contains(&program.0)) {
        let mut command = Command::new(compiler);
        command.current_dir(&sources).args(arguments.split(' ')).arg("-o").arg(folder.join(program));
        run(&mut command)?;
    }
    Ok(folder)
}

/// Runs a command that should succeed.
fn run(command: &mut Command) -> Result<Vec<u8>, String> {
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(format!("{command:?}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)))
    }
}

/// Records a program into a folder of its own, and gives back what was written there.
fn record(
    folder: &Path,
    name: &str,
    program: &str,
    file_option: &str,
    options: &str,
) -> Vec<(String, Vec<u8>)> {
    let own = folder.join(name);
    fs::create_dir_all(&own).unwrap();
    let mut command = Command::new("valgrind");
    command.arg("-q").args(options.split_whitespace());
    command.arg(format!("{file_option}{}", own.join("out").display())).arg(folder.join(program));
    run(&mut command).unwrap();
    let mut files: Vec<(String, Vec<u8>)> = fs::read_dir(&own)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            (format!("{program} {options}: {:?}", entry.file_name()), fs::read(entry.path()).unwrap())
        })
        .collect();
    files.sort();
    assert!(files.iter().any(|(_, bytes)| !bytes.is_empty()), "{options}: nothing was written");
    files
}

/// The counts over the recordings.
#[derive(Debug, Default)]
struct Tally {
    files: usize,
    in_default_spelling: usize,
    expanded_names: usize,
    /// The location where a file leaves the grammar of practice.
    deviations: Vec<String>,
}

impl Tally {
    fn check(&mut self, what: &str, file: &[u8]) {
        assert_eq!(faults(file), [""; 0], "{what}");
        if let Some(error) = Reader::with_mode(file, ReadingMode::Practised).find_map(Result::err) {
            let line = usize::try_from(error.location().line).unwrap();
            self.deviations.push(format!("{what}: {error}: {:?}", lines(file).nth(line - 1)));
        }
        let unchanged = Rewrite::default().run(file, Vec::new()).unwrap();
        assert!(unchanged == file, "{what}: not the same when it is only written again");
        if is_written_by_default(file) {
            let back = plain_and_back(file).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(back == file, "{what}: not the same after a way through the plain spelling");
            self.in_default_spelling += 1;
        }
        self.expand_names(what, file);
        self.files += 1;
    }

    /// Names that are made of numbers of others can be put together.
    fn expand_names(&mut self, what: &str, file: &[u8]) {
        let mut reader = Reader::new(file);
        while let Some(record) = reader.next() {
            let Line::Name(key, name) = record.unwrap().line else { continue };
            let is_made_of_numbers =
                name.bytes().starts_with(b"(") && name.bytes().get(1).is_some_and(u8::is_ascii_digit);
            let expanded = reader.expand(NameSpace::Function, &name);
            if key.space() == NameSpace::Function && is_made_of_numbers {
                let expanded = expanded.unwrap_or_else(|| panic!("{what}: {name:?}"));
                let is_left = expanded.windows(2).any(|pair| pair[0] == b'(' && pair[1].is_ascii_digit());
                assert!(!is_left, "{what}: {}", expanded.escape_ascii());
                self.expanded_names += 1;
            } else {
                assert_eq!(expanded, None, "{what}: {name:?}");
            }
        }
    }
}

#[test]
fn recordings_are_what_practice_says() {
    let Some(folder) = workshop("recordings", &PROGRAMS.map(|program| program.0)) else { return };
    let cases: Vec<(&str, &str, String)> = CALLGRIND
        .iter()
        .map(|(program, options)| (*program, "--callgrind-out-file=", format!("--tool=callgrind {options}")))
        .chain(OTHERS.iter().map(|(program, option, rest)| (*program, *option, (*rest).to_owned())))
        .collect();
    // The slow cases are sampled, as everywhere.
    let step = if env::var_os("GRISTMILL_CI").is_some() { 1 } else { 3 };
    let next = AtomicUsize::new(0);
    let work = || {
        let mut tally = Tally::default();
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some((program, file_option, options)) = cases.get(index * step)
        {
            for (what, file) in record(&folder, &index.to_string(), program, file_option, options) {
                tally.check(&what, &file);
            }
        }
        tally
    };
    let tallies = thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.map(|worker| worker.join().unwrap())
    });
    println!("{} recordings: {tallies:?}", cases.len());
    assert!(tallies.iter().all(|tally| tally.deviations.is_empty()));
    assert!(tallies.iter().map(|tally| tally.in_default_spelling).sum::<usize>() > 20 / step);
    assert_ne!(tallies.iter().map(|tally| tally.expanded_names).sum::<usize>(), 0);
}

#[test]
fn differences_and_merges_are_what_practice_says() {
    let Some(folder) = workshop("differences", &["mill", "mill-fast"]) else { return };
    let mut tally = Tally::default();
    for options in ["--cache-sim=no", "--cache-sim=yes"] {
        let options = format!("--tool=cachegrind {options}");
        let mut paths = Vec::new();
        for program in ["mill", "mill-fast"] {
            let name = format!("{program}{}", options.len());
            record(&folder, &name, program, "--cachegrind-out-file=", &options);
            paths.push(folder.join(name).join("out"));
        }
        let difference = run(Command::new("cg_diff").args(&paths)).unwrap();
        tally.check("cg_diff", &difference);
        let merged = folder.join("merged");
        run(Command::new("cg_merge").arg("-o").arg(&merged).args(&paths)).unwrap();
        tally.check("cg_merge", &fs::read(merged).unwrap());
    }
    assert_eq!(tally.files, 4);
    assert!(tally.deviations.is_empty(), "{tally:?}");
}

/// For files that say the same in another order.
/// Callgrind writes the lines of calls relative to the last self cost line, but does not count on from them. Where a
/// call went on when the part before was written, they are two different lines.
#[test]
fn relative_lines_behind_calls_are_the_true_ones() {
    let Some(folder) = workshop("relative", &["mill"]) else { return };
    let record = |positions: &str| {
        let options = format!("--tool=callgrind --combine-dumps=yes --dump-before=sort_grains {positions}");
        let mut files = record(&folder, positions, "mill", "--callgrind-out-file=", &options);
        assert_eq!(files.len(), 1);
        files.remove(0).1
    };
    let relative = record("--compress-pos=yes");
    // Summed up by line: how the costs of a line are spread over lines of the file differs from run to run.
    let own = |file: &[u8]| {
        let mut sums = BTreeMap::new();
        for fact in meaning(file) {
            if let Fact::Own { function, positions, costs } = fact {
                *sums.entry((function, positions)).or_insert(0) += costs.iter().sum::<Cost>();
            }
        }
        sums
    };
    let absolute = own(&record("--compress-pos=no"));
    assert_eq!(own(&relative), absolute);
    // By the rule for all other files the lines would be wrong: there are such calls in this file.
    let of_another = String::from_utf8(relative).unwrap().replace("creator: callgrind-", "creator: other-");
    assert_ne!(own(of_another.as_bytes()), absolute);
}
