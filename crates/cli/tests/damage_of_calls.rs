//! Damage inside a file: profiles of Xdebug without some of their blocks, time that counts twice, and joined files.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]

mod harness;

use std::fmt::Write as _;

use gristmill_profile::Profile;
use harness::{code, folder, json, root, run_in, stderr, stdout};

/// Numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// A program that calls at random, as Xdebug records it.
struct Recording<'n> {
    numbers: &'n mut Numbers,
    is_recursive: bool,
    blocks: Vec<String>,
}

impl Recording<'_> {
    /// Runs a function, and returns its inclusive time in nanoseconds.
    fn call(&mut self, name: &str, depth: u64) -> u64 {
        let count = if depth == 0 { 0 } else { 1 + self.numbers.below(4) };
        let called: Vec<(String, u64)> = (0..count)
            .map(|_| {
                let depth = self.numbers.below(depth);
                let level = if self.is_recursive { 0 } else { depth };
                let name = format!("f{level}{}", self.numbers.below(4));
                let time = self.call(&name, depth);
                (name, time)
            })
            .collect();
        let own = 500 + self.numbers.below(100_000);
        self.end(name, own, &called)
    }

    /// Writes the block of a call that ends. Each time is cut to tens of nanoseconds.
    fn end(&mut self, name: &str, own: u64, called: &[(String, u64)]) -> u64 {
        let mut block = format!("fl=/a.php\nfn={name}\n3 {} 0\n", own / 10);
        for (name, time) in called {
            write!(block, "cfl=/a.php\ncfn={name}\ncalls=1 0 0\n5 {} 0\n", time / 10).unwrap();
        }
        self.blocks.push(block + "\n");
        own + called.iter().map(|(_, time)| time).sum::<u64>()
    }
}

/// The blocks of a program, and the time that it took in tens of nanoseconds.
fn record(seed: u64, is_recursive: bool) -> (Vec<String>, u64) {
    let mut recording = Recording { numbers: &mut Numbers(seed), is_recursive, blocks: Vec::new() };
    let mut time = recording.call("{main}", 6);
    // PHP itself calls a destructor.
    time += recording.call("D->__destruct", 0);
    (recording.blocks, time / 10 + 700)
}

fn file(blocks: &[String], summary: u64) -> String {
    let header = "version: 1\ncreator: xdebug 3.2.0 (PHP 8.2)\ncmd: /a.php\npart: 1\npositions: line\n\n\
        events: Time_(10ns) Memory_(bytes)\n\n";
    format!("{header}{}summary: {summary} 400000\n\n", blocks.concat())
}

fn damage(text: &str) -> usize {
    Profile::from_bytes(text.as_bytes().to_vec()).damage().len()
}

#[test]
fn whole_files_balance() {
    for (seed, is_recursive) in (1..300).flat_map(|seed| [(seed, false), (seed, true)]) {
        let (blocks, time) = record(seed, is_recursive);
        let whole = file(&blocks, time);
        assert_eq!(damage(&whole), 0, "{whole}");
    }
}

#[test]
fn lost_blocks_are_found() {
    let is_main = |block: &String| block.contains("fn={main}\n");
    let is_called = |block: &&String| !block.contains("\nfn=D");
    let (mut tried, mut found) = (0, 0);
    for (seed, is_recursive) in (1..300).flat_map(|seed| [(seed, false), (seed, true)]) {
        let (blocks, time) = record(seed, is_recursive);
        let mut numbers = Numbers(seed);
        let left: Vec<String> = blocks.iter().filter(|_| numbers.below(100) >= 43).cloned().collect();
        // What PHP itself calls may also not have been there.
        if left.iter().filter(is_called).count() < blocks.iter().filter(is_called).count() {
            tried += 1;
            found += usize::from(damage(&file(&left, time)) > 0);
        }
        let without: Vec<String> = blocks.iter().filter(|block| !is_main(block)).cloned().collect();
        assert!(damage(&file(&without, time)) > 0, "{seed}");
        if is_recursive {
            continue;
        }
        let index = usize::try_from(numbers.below(blocks.len() as u64)).unwrap();
        let one = [&blocks[..index], &blocks[index + 1..]].concat();
        assert!(damage(&file(&one, time)) > 0 || !is_called(&&blocks[index]), "{seed}");
    }
    // Of few blocks, those that lost their caller may stand for those that are lost.
    println!("{found} of {tried} losses were found");
    assert!(found * 100 >= tried * 98, "{found} of {tried}");
}

#[test]
fn changed_costs_of_calls_are_found() {
    for seed in 1..200 {
        let (blocks, time) = record(seed, false);
        let whole = file(&blocks, time);
        let calls = whole.match_indices("calls=1 0 0\n5 ").map(|(at, found)| at + found.len());
        let calls: Vec<usize> = calls.collect();
        let mut numbers = Numbers(seed);
        let at = calls[usize::try_from(numbers.below(calls.len() as u64)).unwrap()];
        // One digit more.
        let changed = format!("{}9{}", &whole[..at], &whole[at..]);
        assert!(damage(&changed) > 0, "{seed}");
    }
}

/// The output and the messages of a command, without its line breaks.
fn in_one_line(output: &std::process::Output) -> String {
    (stderr(output) + &stdout(output)).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Every command reports the text of the first damage, in each format; merge and gate refuse the file.
fn assert_refused(name: &str, bytes: &[u8], kind: &str, said: &str) {
    let config = format!("[[benchmark]]\nname = \"a\"\nprofile = \"{name}\"\n");
    let folder = folder(&[(name, bytes), ("gristmill.toml", config.as_bytes())]);
    let here = folder.path();
    for command in ["functions", "tree", "info", "annotate"] {
        let output = run_in(here, &[command, name]);
        let shown = in_one_line(&output);
        assert!(code(&output) == 0 && shown.contains(said), "{command}: {shown}");
        let row = match json(&run_in(here, &[command, "--format", "json", name])) {
            answer if command == "info" => answer["files"][0]["damage"][0].clone(),
            answer => answer["damage"][0].clone(),
        };
        assert_eq!(row["kind"], kind, "{command}");
        assert!(row["text"].as_str().unwrap().contains(said), "{command}: {row}");
    }
    let shown = stdout(&run_in(here, &["functions", name]));
    assert!(shown.starts_with(&format!("warning: {name}")), "{shown}");
    assert!(stderr(&run_in(here, &["functions", "--format", "csv", name])).contains(said), "{said}");
    assert_eq!(code(&run_in(here, &["lint", name])), 1);
    let output = run_in(here, &["merge", name]);
    assert!(code(&output) == 2 && stdout(&output).is_empty() && stderr(&output).contains(said));
    assert_eq!(code(&run_in(here, &["merge", name, "--allow-damaged"])), 0);
    for arguments in [&["gate", "bless"][..], &["gate", "run"]] {
        let output = run_in(here, arguments);
        let shown = stdout(&output) + &stderr(&output);
        assert!(code(&output) == 2 && shown.contains(said), "{arguments:?}: {shown}");
    }
}

#[test]
fn every_command_reports_lost_blocks() {
    let (blocks, time) = record(3, true);
    let left: Vec<String> = blocks.iter().step_by(2).cloned().collect();
    let (all, found) = (blocks.len(), left.len());
    assert!(found < all);
    assert_refused("lost", file(&left, time).as_bytes(), "calls", "costs are missing: ");
}

#[test]
fn costs_above_the_time_of_the_program_are_found() {
    let (blocks, time) = record(4, true);
    let main = blocks.iter().position(|block| block.contains("fn={main}\n")).unwrap();
    let mut changed = blocks.clone();
    changed[main] = blocks[main].replace("fn={main}\n3 ", "fn={main}\n3 9");
    let said = format!("it states {} Time_(10ns), its lines have ", gristmill_output::grouped(time));
    assert_refused("more", file(&changed, time).as_bytes(), "totals", &said);
}

/// While a fiber is suspended, its functions take the time of others, too.
#[test]
fn time_of_suspended_fibers_counts_twice() {
    let blocks = [
        "fl=php:internal\nfn=php::Fiber->start\n9 900 0\n\n",
        "fl=/a.php\nfn=busy\n7 50000 0\n\n",
        "fl=php:internal\nfn=php::Fiber::suspend\n4 51000 0\n\n",
        "fl=/a.php\nfn=work\n3 100 0\ncfl=php:internal\ncfn=php::Fiber::suspend\ncalls=1 0 0\n4 51000 0\n\n",
        "fl=php:internal\nfn=php::Fiber->resume\n9 300 0\n\n",
        "fl=/a.php\nfn={main}\n1 800 0\ncfl=php:internal\ncfn=php::Fiber->start\ncalls=1 0 0\n9 900 0\n\
         cfl=/a.php\ncfn=busy\ncalls=1 0 0\n10 50000 0\n\
         cfl=php:internal\ncfn=php::Fiber->resume\ncalls=1 0 0\n11 300 0\n\n",
    ];
    let text = file(&blocks.map(str::to_owned), 52_400);
    let folder = folder(&[("fibers", text.as_bytes())]);
    let said = "fibers: time counts twice: it states 52,400 Time_(10ns), its lines have 103,100;";
    for command in ["functions", "tree", "info", "annotate"] {
        let shown = in_one_line(&run_in(folder.path(), &[command, "fibers"]));
        assert!(
            shown.contains(said) && shown.contains("only the stated total is true"),
            "{command}: {shown}"
        );
    }
    let answer = json(&run_in(folder.path(), &["functions", "--format", "json", "fibers"]));
    let row = &answer["damage"][0];
    assert_eq!(
        (&row["kind"], &row["stated"], &row["found"]),
        (&"counted-twice".into(), &52400.into(), &103_100.into())
    );
    // Everything is there that was recorded.
    let output = run_in(folder.path(), &["merge", "fibers"]);
    assert!(code(&output) == 0 && stderr(&output).contains(said), "{}", stderr(&output));
    let findings = stdout(&run_in(folder.path(), &["lint", "fibers"]));
    assert!(findings.contains("counted-twice") && !findings.contains("summary-below-sum"), "{findings}");
    // Within what rounding can do, nothing is certain.
    assert_eq!(damage(&file(&blocks.map(str::to_owned), 103_094)), 0);
}

#[test]
fn a_doubled_file_is_reported() {
    for (path, said) in [
        ("callgrind/callgrind.out.mill", "repeats part 1 of its process"),
        ("callgrind/callgrind.out.parts", "repeats part 1 of its process"),
        ("cachegrind/cachegrind.out.mill", "has the same text as the one at line"),
    ] {
        let bytes = std::fs::read(root().join("corpus").join(path)).unwrap();
        assert_refused("twice", &[&bytes[..], &bytes].concat(), "repeated", said);
    }
    let appended = std::fs::read(root().join("corpus/dialects/xdebug3-append.txt")).unwrap();
    assert_refused("twice", &[&appended[..], &appended].concat(), "repeated", "has the same text");
}

#[test]
fn files_of_different_programs_in_one_are_reported() {
    let file = |path: &str| std::fs::read(root().join("corpus").join(path)).unwrap();
    let (one, other) = (file("callgrind/callgrind.out.mill"), file("callgrind/callgrind.out.names"));
    assert_refused("both", &[&one[..], &other].concat(), "mixed", "is of another recording (command ");
    let (one_run, other_run) =
        (file("cachegrind/cachegrind.out.mill"), b"cmd: other\nevents: Ir\nfn=f\n1 2\nsummary: 2\n");
    assert_refused("both", &[&one_run[..], other_run].concat(), "mixed", "(command bin/mill | other)");
    // Merging keeps files apart, and says so.
    let folder = folder(&[("one", &one), ("other", &other)]);
    let here = folder.path();
    let output = run_in(here, &["merge", "--keep-parts", "one", "other", "one", "-o", "kept"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let answer = json(&run_in(here, &["functions", "--format", "json", "kept"]));
    assert_eq!(answer["damage"].as_array().map(Vec::len), Some(0), "{answer}");
}
