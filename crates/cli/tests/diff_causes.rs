//! Pairs of profiles with a known truth: one small program, changed in one way after another, built by the compilers of the
//! machine and recorded with Valgrind. `gristmill diff` shows the true cause among the first three, and nothing false.
//!
//! Needs `valgrind` and `gcc`. Where one is missing the test says that it was skipped; with `GRISTMILL_CI` in the environment
//! it fails.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use regex::Regex;
use serde_json::Value;

use harness::{code, has, json, one_in, run, stderr, stdout, text, whole};

const SOURCE: &str = include_str!("diff_causes/mill.c");

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A build of the program, and how it is recorded.
#[derive(Debug, Clone, Copy)]
struct Build<'a> {
    /// The folder of both.
    name: &'a str,
    /// The number of the change.
    change: u32,
    compiler: &'a [&'a str],
    valgrind: &'a [&'a str],
    arguments: &'a [&'a str],
}

const PLAIN: Build<'static> =
    Build { name: "plain", change: 0, compiler: &["-O1"], valgrind: &[], arguments: &[] };

/// Builds and records the program. Returns the profile.
fn recorded(folder: &Path, build: &Build<'_>) -> PathBuf {
    let folder = folder.join(build.name);
    std::fs::create_dir_all(&folder).unwrap();
    let (program, profile) = (folder.join("mill"), folder.join("mill.callgrind"));
    let change = format!("-DCHANGE={}", build.change);
    succeed(
        Command::new("gcc")
            .args(["-g", &change, "-o", text(&program)])
            .args(build.compiler)
            .arg(folder.parent().unwrap().join("mill.c")),
    );
    let out = format!("--callgrind-out-file={}", text(&profile));
    // From its folder, so that the commands are the same.
    succeed(
        Command::new("valgrind")
            .args(["-q", "--tool=callgrind", &out])
            .args(build.valgrind)
            .arg("./mill")
            .args(build.arguments)
            .current_dir(&folder),
    );
    profile
}

/// A pair with its truth.
struct Pair<'a> {
    base: Build<'a>,
    new: Build<'a>,
    truth: Truth,
    /// `true` if inlining can be claimed.
    inlines: bool,
}

enum Truth {
    /// All of these are among the first three causes, as parts of their sentences.
    Causes(&'static [&'static str]),
    /// Text on the first screen; there are no causes besides tiny ones.
    Said(&'static str),
}

fn changed(change: u32, causes: &'static [&'static str]) -> Pair<'static> {
    Pair {
        base: PLAIN,
        new: Build { name: "", change, ..PLAIN },
        truth: Truth::Causes(causes),
        inlines: false,
    }
}

fn pairs() -> Vec<Pair<'static>> {
    let swapped = |mut pair: Pair<'static>| {
        std::mem::swap(&mut pair.base, &mut pair.new);
        pair
    };
    let optimized = Build { name: "o2", compiler: &["-O2"], ..PLAIN };
    let said = |new, said| Pair { base: PLAIN, new, truth: Truth::Said(said), inlines: false };
    vec![
        // Opposite callers are two causes, although little is left of their sum.
        changed(
            2,
            &["up calls polish more often: 1,000 → 2,000", "down calls polish less often: 1,000 → 100"],
        ),
        // Calls of one caller are more expensive than those of another.
        changed(3, &["big_jobs calls work more often: 10 → 20"]),
        changed(4, &["a calls b more often: 100 → 250", "including 2 functions below it"]),
        changed(5, &["fib'2 calls itself more often"]),
        changed(6, &["work costs more by itself"]),
        // Only the arguments of one caller grew.
        changed(7, &["calls of work from big_jobs cost more"]),
        // The compiler makes a call of strlen of strcat with a known text.
        changed(8, &["append_all calls "]),
        changed(9, &["find costs more by itself"]),
        changed(10, &["lookup calls slow_hash more often: 16 → 2,000"]),
        changed(11, &["put calls flush_buffer less often: 3,000 → 46", "flush_buffer costs more per call"]),
        changed(12, &["sift is new, called by grind: +"]),
        swapped(changed(12, &["sift vanished, called by grind before: -"])),
        Pair {
            truth: Truth::Said(
                "compute_score may now be rank (same file, same cost, same calls, same callers)",
            ),
            ..changed(14, &[])
        },
        // Neither its name nor its cost is that of before: another function in the same place would look the same.
        changed(15, &["rank is new, called by scores", "compute_score vanished, called by scores before"]),
        changed(16, &["_pass changed by the same amount"]),
        changed(17, &["count_spaces calls length less often"]),
        Pair {
            inlines: true,
            ..changed(18, &["crack vanished, and its lines are in crush now, as if inlined"])
        },
        Pair {
            inlines: true,
            ..swapped(changed(18, &["crack is new, and its lines were in crush before, as if inlined"]))
        },
        changed(
            19,
            &["insertion_sort vanished, called by sort_all before", "merge_sort is new, called by sort_all"],
        ),
        changed(20, &["calls weigh more often: 200 → 300", "calls weigh more often: 200 → 300"]),
        changed(21, &["checksum is new, called by main"]),
        changed(22, &["contains costs less by itself"]),
        changed(23, &["collect calls grow more often"]),
        // Only the counts of calls changed, not what a call does.
        changed(24, &["keep_big calls release less often: 200 → 20"]),
        changed(25, &["sieve costs more per call: +"]),
        changed(26, &["calls of soak from soak_rye and 1 more caller cost more: "]),
        // One caller with calls of two kinds: no number tells them apart.
        changed(
            27,
            &["presses calls press less often: 620 → 520", "press costs less per call on average: -"],
        ),
        changed(28, &["polish_stone costs less", "dress_wood calls dress more often: 300 → 600"]),
        swapped(changed(10, &["lookup calls slow_hash less often: 2,000 → 16"])),
        // The same binary with other arguments: no compiler did anything.
        Pair {
            base: PLAIN,
            new: Build { name: "twice", arguments: &["2"], ..PLAIN },
            truth: Truth::Causes(&["more often"]),
            inlines: false,
        },
        // What is different about the recording is said, and nothing else.
        said(
            Build { name: "stripped", compiler: &["-O1", "-s"], ..PLAIN },
            "the functions of mill have names on one side only: it was stripped in the new profile",
        ),
        said(
            Build { name: "callers", valgrind: &["--separate-callers=2"], ..PLAIN },
            "functions were separated by their callers only in the new profile",
        ),
        said(
            Build { name: "levels", valgrind: &["--separate-recs=4"], ..PLAIN },
            "recursion-level 1 (--show-joined lists them)",
        ),
        said(
            Build { name: "caches", valgrind: &["--cache-sim=yes"], ..PLAIN },
            "only in the new profile, which was recorded with --cache-sim=yes",
        ),
        // Another level of optimization, where inlining may be claimed.
        Pair { base: PLAIN, new: optimized, truth: Truth::Causes(&[]), inlines: true },
        Pair {
            base: optimized,
            new: Build { name: "o2-apart", compiler: &["-O2", "-fno-inline"], ..PLAIN },
            truth: Truth::Causes(&[]),
            inlines: true,
        },
    ]
}

/// Asserts that no sentence contradicts its numbers, and that effects add up.
fn assert_sentences(answer: &Value) {
    let number = |text: &str| text.replace(',', "").parse::<i128>().unwrap();
    let often = Regex::new(r" (more|less) often: ([\d,]+) → ([\d,]+)").unwrap();
    let itself = Regex::new(r" costs (more|less) by itself: ([\d,]+) → ([\d,]+)").unwrap();
    let each = Regex::new(r" costs? (more|less)(?: per call(?: on average)?)?: (?:\S+ → \S+ each \()?([+-])")
        .unwrap();
    let mut sum: i128 = whole(&answer["other_causes"]["effect"]);
    for cause in answer["causes"].as_array().unwrap() {
        let (said, effect) = (cause["text"].as_str().unwrap(), whole(&cause["effect"]));
        sum += effect;
        assert!(!said.contains("unchanged"), "{said}");
        for pattern in [&often, &itself] {
            for found in pattern.captures_iter(said) {
                let (before, after) = (number(&found[2]), number(&found[3]));
                assert!(if &found[1] == "more" { after > before } else { after < before }, "{said}");
            }
        }
        if let Some(found) = each.captures(said) {
            assert_eq!(&found[1] == "more", &found[2] == "+", "{said}");
            assert_eq!(&found[1] == "more", effect > 0, "{said}: {effect}");
        }
        let parts = cause["functions"].as_array().unwrap().iter().map(|part| whole(&part["effect"]));
        assert_eq!(parts.sum::<i128>(), effect, "{said}");
    }
    if !answer["causes"].as_array().unwrap().is_empty() {
        assert_eq!(sum, whole(&answer["totals"]["Ir"]["change"]), "effects add up");
    }
}

fn check(pair: &Pair<'_>, base: &Path, new: &Path) {
    let [base, new] = [base, new].map(text);
    let output = run(&["diff", "--format", "json", base, new]);
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    let answer = json(&output);
    assert_sentences(&answer);
    let screen = stdout(&run(&["diff", base, new]));
    let shown = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    let total = whole(&answer["totals"]["Ir"]["base"]);
    let causes = answer["causes"].as_array().unwrap();
    // The dynamic linker has some work more or less in each run.
    let large: Vec<&str> = causes
        .iter()
        .filter(|cause| whole(&cause["size"]).abs() * 1000 > total)
        .map(|cause| cause["text"].as_str().unwrap())
        .collect();
    match pair.truth {
        Truth::Causes(truth) => {
            let first = causes.iter().take(3).map(|cause| cause["text"].as_str().unwrap());
            let first: Vec<&str> = first.collect();
            for part in truth {
                assert!(first.iter().any(|cause| cause.contains(part)), "{part}:\n{screen}");
            }
        }
        Truth::Said(said) => {
            assert!(shown.contains(said), "{said}:\n{screen}");
            assert!(large.is_empty(), "{large:?}\n{screen}");
        }
    }
    if !pair.inlines {
        let claim =
            causes.iter().find(|cause| ["inlined", "outlined"].iter().any(|kind| cause["kind"] == *kind));
        assert!(claim.is_none(), "{claim:?}\n{screen}");
    }
    // A function is not both new and vanished under one name.
    let of_kind = |kind: &str| -> Vec<&str> {
        let of_kind = causes.iter().filter(|cause| cause["kind"] == kind);
        of_kind.map(|cause| cause["function"]["name"].as_str().unwrap()).collect()
    };
    let vanished = of_kind("vanished");
    assert!(of_kind("new").iter().all(|name| !vanished.contains(name)), "{screen}");
}

#[test]
fn causes_are_true() {
    if !has(&["valgrind", "gcc"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mill.c"), SOURCE).unwrap();
    let mut pairs = pairs();
    assert!(pairs.len() >= 20);
    let mut nth = 0..;
    // Two of the recordings are needed below.
    pairs.retain(|pair| {
        let is_needed = |build: &Build<'_>| matches!(build.name, "levels" | "callers");
        nth.next().is_some_and(|nth: usize| nth.is_multiple_of(one_in(3)))
            || is_needed(&pair.base)
            || is_needed(&pair.new)
    });
    // Each build once, a few at a time.
    let name = |build: &Build<'_>| match build.name {
        "" => format!("change-{}", build.change),
        name => name.to_owned(),
    };
    let mut builds: Vec<(String, Build<'_>)> =
        pairs.iter().flat_map(|pair| [pair.base, pair.new]).map(|build| (name(&build), build)).collect();
    builds.sort_by(|a, b| a.0.cmp(&b.0));
    builds.dedup_by(|a, b| a.0 == b.0);
    let waiting = Mutex::new(builds);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((name, build)) = { waiting.lock().unwrap().pop() } {
                    recorded(folder.path(), &Build { name: &name, ..build });
                }
            });
        }
    });
    let profile = |build: &Build<'_>| folder.path().join(name(build)).join("mill.callgrind");
    let mut wrong: Vec<String> = Vec::new();
    for pair in &pairs {
        let (base, new) = (profile(&pair.base), profile(&pair.new));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(pair, &base, &new)));
        if let Err(panic) = result {
            let said = panic.downcast_ref::<String>().cloned().unwrap_or_default();
            wrong.push(format!("{} → {}: {said}", name(&pair.base), name(&pair.new)));
        }
    }
    assert!(wrong.is_empty(), "{} of {} pairs:\n{}", wrong.len(), pairs.len(), wrong.join("\n\n"));
    // Folding works where both sides have the same names, too.
    for (build, option) in [("levels", "--fold-recursion"), ("callers", "--fold-callers")] {
        let profile = folder.path().join(build).join("mill.callgrind");
        let count = |options: &[&str]| {
            let answer = json(&run(&[&["diff", "--format", "json"], options, &[text(&profile); 2]].concat()));
            whole(&answer["on_both"])
        };
        assert!(count(&[option]) < count(&[]), "{option}");
    }
}
