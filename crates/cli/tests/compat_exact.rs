//! With `GRISTMILL_COMPAT=exact`, the program prints what the installed callgrind_annotate prints: the same bytes, for every
//! profile of the corpus, recordings that are made here, and eight sets of options.
//!
//! Two things may differ, as the order of the original is that of a hash. Annotated files are compared as a set. Callers and
//! callees may be in another order if the original, too, prints these rows in another order with another seed of its hash.
//!
//! `GRISTMILL_CORPUS=FOLDER` adds the profiles of another corpus.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]
#![cfg(unix)]

mod harness;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use harness::{has, one_in, other_corpus, root};

const ORIGINAL: &str = "callgrind_annotate";

/// The options of the runs. `LAST` is the last event type of the profile.
const OPTION_SETS: [&str; 8] = [
    "-I=root",
    "--tree=both --auto=no",
    "--inclusive=yes --tree=both --threshold=100 --auto=no",
    "--inclusive=yes -I=root",
    "--threshold=100 -I=root --context=0 --show-percs=no",
    "--threshold=60 --tree=calling --show-percs=no -I=root --context=2",
    "--sort=LAST --show=LAST --auto=no --inclusive=yes --tree=caller",
    "--sort=LAST:80 -I=root --include=root/srv/demo --tree=both",
];

/// The recordings that every option set is tried with, at least.
const MIN_RECORDINGS: usize = 30;

/// Spreads small seeds over all bits: the hash of short texts does not depend on some of them.
const SEED_FACTOR: u128 = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835;

/// Seeds of the original's hash besides 0.
const SEEDS: std::ops::RangeInclusive<u32> = 1..=24;

/// A folder to work in, with the sources of profiles in it and the program under its other name.
struct Workshop {
    here: PathBuf,
    link: PathBuf,
}

impl Workshop {
    fn new(name: &str) -> Workshop {
        let here = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&here);
        let sources = here.join("root/srv/demo/src");
        fs::create_dir_all(&sources).unwrap();
        for entry in fs::read_dir(root().join("corpus/src")).unwrap() {
            let path = entry.unwrap().path();
            let copy = sources.join(path.file_name().unwrap());
            fs::write(&copy, fs::read(&path).unwrap()).unwrap();
            // One source is newer than all recordings.
            let is_newer = path.file_stem().is_some_and(|stem| stem == "stone");
            set_time(&copy, if is_newer { 4_000_000_000 } else { 1_000_000_000 });
        }
        let link = here.join(ORIGINAL);
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), &link).unwrap();
        Workshop { here, link }
    }

    fn print(&self, program: &Path, options: &[String], profile: &Path, seed: u32) -> Printed {
        let output = Command::new(program)
            .current_dir(&self.here)
            .env("PWD", &self.here)
            .env("GRISTMILL_COMPAT", "exact")
            .env("PERL_HASH_SEED", format!("{:032x}", u128::from(seed).wrapping_mul(SEED_FACTOR)))
            // The order of keys also depends on the seed, not only on the order in which they come.
            .env("PERL_PERTURB_KEYS", "2")
            .args(options)
            .arg(profile)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let stdout = output.stdout.iter().map(|&byte| char::from(byte)).collect();
        Printed { succeeded: output.status.success(), stdout }
    }

    /// Compares both programs; returns the difference.
    fn difference(&self, options: &[String], profile: &Path) -> Option<String> {
        let theirs = self.print(Path::new(ORIGINAL), options, profile, 0);
        let ours = self.print(&self.link, options, profile, 0);
        if ours == theirs {
            return None;
        }
        if ours.succeeded != theirs.succeeded {
            return Some(format!("succeeded: {}, the original: {}", ours.succeeded, theirs.succeeded));
        }
        let (wanted, found) = (Report::new(&theirs.stdout), Report::new(&ours.stdout));
        if let Some(different) = wanted.difference(&found) {
            return Some(different);
        }
        if wanted.groups == found.groups {
            return None;
        }
        let others: Vec<Report> = SEEDS
            .map(|seed| Report::new(&self.print(Path::new(ORIGINAL), options, profile, seed).stdout))
            .collect();
        let groups = wanted.groups.iter().zip(&found.groups).enumerate();
        let wrong = groups.filter(|(nth, (rows, ours))| {
            let others: Vec<_> = others.iter().map(|other| breaks(rows, &other.groups[*nth])).collect();
            let ours = breaks(rows, ours);
            // A break that every seed keeps is one of the order.
            (0..rows.len()).any(|at| !ours[at] && others.iter().all(|other| other[at]))
        });
        wrong.map(|(_, (rows, ours))| format!("order: {ours:#?} should be {rows:#?}")).next()
    }
}

/// For each row, `true` if the same rows as in `order` come up to there.
fn breaks(order: &[String], rows: &[String]) -> Vec<bool> {
    let places: HashMap<&String, usize> = order.iter().zip(0..).collect();
    let mut last = 0;
    let place = |row: &String| places.get(row).copied().unwrap_or(usize::MAX);
    let reached = rows.iter().map(|row| {
        last = last.max(place(row));
        last
    });
    reached.enumerate().map(|(at, last)| at == last).collect()
}

fn set_time(path: &Path, seconds: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
    fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// The output of a program, every byte as a character.
#[derive(Debug, PartialEq, Eq)]
struct Printed {
    succeeded: bool,
    stdout: String,
}

/// A report, with its annotated files sorted, and its callers and callees apart from the other lines.
struct Report {
    /// All lines, with a mark for each group.
    lines: Vec<String>,
    /// Callers or callees that stand together.
    groups: Vec<Vec<String>>,
}

impl Report {
    fn new(text: &str) -> Report {
        let title = "-".repeat(80);
        let lines: Vec<&str> = text.split('\n').collect();
        let mut sections: Vec<Vec<&str>> = vec![Vec::new()];
        for (number, line) in lines.iter().enumerate() {
            let next = lines.get(number + 1).copied().unwrap_or_default();
            let is_title = *line == title;
            let begins = next.starts_with("-- User-annotated") || next.starts_with("-- Auto-annotated");
            let ends = next.starts_with("The following files chosen")
                || lines.get(number + 3).is_some_and(|line| line.ends_with("  events annotated"));
            if is_title && (begins || ends) {
                sections.push(Vec::new());
            }
            sections.last_mut().unwrap().push(line);
        }
        let is_file = |section: &Vec<&str>| {
            section.get(1).is_some_and(|line| line.starts_with("-- User-") || line.starts_with("-- Auto-"))
        };
        let (mut files, others): (Vec<_>, Vec<_>) = sections.into_iter().partition(is_file);
        files.sort();
        let mut others = others.into_iter();
        let ordered = others.next().into_iter().chain(files).chain(others);
        let mut report = Report { lines: Vec::new(), groups: Vec::new() };
        let mut sign = None;
        for line in ordered.flatten() {
            let found = sign_of(line);
            if found.is_none() {
                report.lines.push(line.to_owned());
            } else {
                if found != sign {
                    report.lines.push(format!("group {found:?}"));
                    report.groups.push(Vec::new());
                }
                report.groups.last_mut().unwrap().push(line.to_owned());
            }
            sign = found;
        }
        report
    }

    /// The first difference besides the order of rows in a group.
    fn difference(&self, other: &Report) -> Option<String> {
        let different = self.lines.iter().zip(&other.lines).find(|(one, other)| one != other);
        if let Some((one, other)) = different {
            return Some(format!("should be {one:?}\n  but is    {other:?}"));
        }
        if self.lines.len() != other.lines.len() {
            return Some(format!("{} lines, should be {}", other.lines.len(), self.lines.len()));
        }
        let sorted = |rows: &[String]| {
            let mut rows = rows.to_vec();
            rows.sort();
            rows
        };
        let groups = self.groups.iter().map(|rows| sorted(rows));
        let mut pairs = groups.zip(other.groups.iter().map(|rows| sorted(rows)));
        pairs.find(|(one, other)| one != other).map(|(one, other)| format!("{other:#?} should be {one:#?}"))
    }
}

/// The sign of a row with a caller or callee: it ends with the count of calls, and an object.
fn sign_of(line: &str) -> Option<&'static str> {
    let end = match line.rfind(" [") {
        Some(at) if line.ends_with(']') => at,
        _ => line.len(),
    };
    let (_, count) = line[..end].strip_suffix("x)")?.rsplit_once(" (")?;
    if !count.bytes().all(|byte| byte.is_ascii_digit() || byte == b',') {
        return None;
    }
    ["  < ", "  >   ", "  => "].into_iter().find(|sign| line.contains(sign))
}

/// The option sets for a profile.
fn option_sets(profile: &Path) -> Vec<Vec<String>> {
    let content = fs::read(profile).unwrap();
    let events = content.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"events:"));
    let events = String::from_utf8_lossy(events.unwrap_or_default()).into_owned();
    let last = events.split_ascii_whitespace().last().unwrap_or("Ir");
    let words = |set: &&str| set.replace("LAST", last).split(' ').map(str::to_owned).collect();
    OPTION_SETS.iter().map(words).collect()
}

/// Compares every `step`th run of all profiles with all option sets, on all cores.
fn compare(workshop: &Workshop, profiles: &[PathBuf], step: usize) {
    let runs: Vec<(&PathBuf, Vec<String>)> = profiles
        .iter()
        .flat_map(|profile| option_sets(profile).into_iter().map(move |options| (profile, options)))
        .step_by(step)
        .collect();
    assert!(!runs.is_empty());
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some((profile, options)) = runs.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Some(difference) = workshop.difference(options, profile) {
                let text = format!("{} {}: {difference}", options.join(" "), profile.display());
                wrong.lock().unwrap().push(text);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let mut wrong = wrong.into_inner().unwrap();
    wrong.sort();
    println!("{} of {} runs are equal", runs.len() - wrong.len(), runs.len());
    assert!(wrong.is_empty(), "{} of {} runs are wrong:\n{}", wrong.len(), runs.len(), wrong.join("\n"));
}

fn is_installed() -> bool {
    // It has no option that succeeds.
    has(&[ORIGINAL])
}

/// Compressed profiles are expanded; the original refuses them.
fn is_plain(path: &PathBuf) -> bool {
    !fs::read(path).unwrap().starts_with(b"\x1f\x8b")
}

#[test]
fn own_corpus() {
    if !is_installed() {
        return;
    }
    let workshop = Workshop::new("exact-own");
    let profiles: Vec<PathBuf> = harness::corpus().into_iter().filter(is_plain).collect();
    assert!(profiles.len() >= 60, "{}", profiles.len());
    // What was recorded, not written by hand.
    let is_recording = |path: &&PathBuf| {
        let content = fs::read(path).unwrap();
        let wrote = |creator: &[u8]| content.windows(creator.len()).any(|text| text == creator);
        wrote(b"\ncreator: callgrind-") || wrote(b"desc: I1 cache:")
    };
    let recordings = profiles.iter().filter(is_recording).count();
    assert!(recordings >= MIN_RECORDINGS, "{recordings}");
    compare(&workshop, &profiles, one_in(19));
}

/// Files of the other corpus that are not compared, and why.
const LEFT_OUT: [&str; 3] = [
    // The original waits for a pipe that nobody writes to.
    "C7-fifo-path.out",
    // Expands without end.
    "bomb",
    // The original calculates a position beyond 64 bits as a fraction, and leaves out the line.
    "34-pos-overflow.out",
];

#[test]
fn outside_corpus() {
    let Some(folder) = other_corpus() else { return };
    if !is_installed() {
        return;
    }
    let workshop = Workshop::new("exact-outside");
    let mut profiles = harness::files_below(&folder);
    profiles.retain(|path| {
        let name = path.to_string_lossy();
        let has_events = |path: &PathBuf| fs::read(path).unwrap().windows(7).any(|text| text == b"events:");
        path.metadata().unwrap().len() < 250_000
            && !LEFT_OUT.iter().any(|left_out| name.contains(left_out))
            && is_plain(path)
            && has_events(path)
    });
    compare(&workshop, &profiles, one_in(29));
}

const RECURSION: &str = "\
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int main(void) {
    int grains[200];
    for (int i = 0; i < 200; i++) grains[i] = (i * 7919) & 127;
    qsort(grains, 200, sizeof *grains, compare);
    printf(\"%d %d %d\\n\", fib(12), even(20), grains[0]);
    return 0;
}
";

const TEMPLATES: &str = "\
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>
template <typename T> T sum(const std::vector<T> &grains) {
    T total{};
    for (const auto &grain : grains) total += grain;
    return total;
}
template <int N> int husk(int n) { return n + husk<N - 1>(n); }
template <> int husk<0>(int n) { return n; }
int main() {
    std::vector<int> a; std::vector<double> b; std::map<std::string, int> c;
    for (int i = 0; i < 100; i++) { a.push_back(i * 31 & 15); b.push_back(i / 3.0); c[std::to_string(i & 7)] += i; }
    std::sort(a.begin(), a.end()); std::sort(b.begin(), b.end());
    std::cout << sum(a) + sum(b) + husk<9>(3) + c.size() << std::endl;
}
";

/// Recordings of recursive functions, templates, inlined code, parts and threads of this machine.
#[test]
fn recordings() {
    if !is_installed() || !has(&["valgrind", "cc", "g++"]) {
        return;
    }
    let workshop = Workshop::new("exact-live");
    let here = &workshop.here;
    fs::write(here.join("recursion.c"), RECURSION).unwrap();
    fs::write(here.join("templates.cc"), TEMPLATES).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).current_dir(here).args(arguments).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {output:?}");
    };
    run("cc", &["-g", "-O0", "-o", "recursion", "recursion.c"]);
    run("cc", &["-g", "-O2", "-o", "recursion-fast", "recursion.c"]);
    run("g++", &["-g", "-O0", "-o", "templates", "templates.cc"]);
    run("g++", &["-g", "-O2", "-o", "templates-fast", "templates.cc"]);
    let recordings: &[(&str, &[&str])] = &[
        ("recursion", &["./recursion"]),
        ("recursion-levels", &["--separate-recs=3", "--cache-sim=yes", "--branch-sim=yes", "./recursion"]),
        ("recursion-fast", &["--dump-instr=yes", "--collect-jumps=yes", "./recursion-fast"]),
        ("recursion-callers", &["--separate-callers=2", "--compress-strings=no", "./recursion"]),
        ("templates", &["./templates"]),
        ("templates-fast", &["--cache-sim=yes", "./templates-fast"]),
        ("parts", &["--dump-every-bb=20000", "--combine-dumps=yes", "./recursion"]),
        ("positions", &["--compress-pos=no", "--dump-instr=yes", "./templates-fast"]),
        ("perl", &["perl", "-e", "print join ',', sort map { $_ * 7 & 5 } 1 .. 50"]),
        ("no-lines", &["--dump-line=no", "--dump-instr=yes", "./templates"]),
        ("basic-blocks", &["--dump-bb=yes", "--collect-bus=yes", "./recursion"]),
        ("toggled", &["--toggle-collect=fib", "--cacheuse=yes", "./recursion"]),
        ("mangled", &["--demangle=no", "--skip-plt=no", "./templates"]),
        ("list", &["ls", "-l", "/usr"]),
        ("sort", &["sort", "templates.cc"]),
        ("shell", &["sh", "-c", "for n in 1 2 3; do echo $n; done"]),
    ];
    let mut profiles = Vec::new();
    for (name, arguments) in recordings.iter().step_by(one_in(16)) {
        let path = here.join(format!("callgrind.out.{name}"));
        let out = format!("--callgrind-out-file={}", path.display());
        let options = ["-q", "--tool=callgrind", &out];
        run("valgrind", &[&options, *arguments].concat());
        profiles.push(path);
    }
    // Sources are older than the recordings, but not by a second.
    ["recursion.c", "templates.cc"].iter().for_each(|name| set_time(&here.join(name), 1_000_000_000));
    compare(&workshop, &profiles, one_in(3));
}

/// Under its own name, the program prints the same, except for control characters.
#[test]
fn own_name() {
    let workshop = Workshop::new("exact-name");
    let profile = root().join("corpus/callgrind/callgrind.out.parts");
    for options in ["--tree=both -I=root", "--inclusive=yes --sort=Ir:70 --show-percs=no --context=1 -I=root"]
    {
        let words: Vec<String> = options.split(' ').map(str::to_owned).collect();
        let link = workshop.print(&workshop.link, &words, &profile, 0);
        let words: Vec<&str> = ["annotate", "--compat=exact"].into_iter().chain(options.split(' ')).collect();
        let output = harness::gristmill(&words).current_dir(&workshop.here).arg(&profile).output().unwrap();
        assert!(link.succeeded && harness::code(&output) == 0, "{output:?}");
        assert_eq!(harness::stdout(&output), link.stdout);
    }
    for option in ["--jumps", "--part=1", "--style=cachegrind", "--format=json", "--derive=X=Ir"] {
        let output = harness::run(&["annotate", "--compat=exact", option, profile.to_str().unwrap()]);
        assert_eq!(harness::code(&output), 2, "{option}");
        assert!(harness::stderr(&output).contains("callgrind_annotate has no --"), "{option}");
    }
}

#[test]
fn the_variable_has_two_values() {
    let workshop = Workshop::new("exact-variable");
    let profile = root().join("corpus/callgrind/callgrind.out.parts");
    let run = |value: &str| {
        let mut command = Command::new(&workshop.link);
        command.env("GRISTMILL_COMPAT", value).arg("--auto=no").arg(&profile).output().unwrap()
    };
    let totals = |value: &str| {
        let output = harness::stdout(&run(value));
        output.lines().find(|line| line.ends_with("  PROGRAM TOTALS")).map(str::to_owned)
    };
    assert_eq!(totals(""), totals("corrected"));
    assert_ne!(totals("exact"), totals("corrected"));
    let output = run("more");
    assert!(!output.status.success());
    assert!(harness::stderr(&output).contains("GRISTMILL_COMPAT is neither `corrected` nor `exact`"));
}
