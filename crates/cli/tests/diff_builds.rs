//! Real programs, built twice by the compilers of the machine and recorded with Valgrind: `gristmill diff` names what
//! was changed between the builds.
//!
//! Needs `valgrind`, and `g++` for C++. Where one is missing the test says that it was skipped; with `GRISTMILL_CI` in the
//! environment it fails.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use harness::{code, has, json, run, stderr, stdout, text};

fn succeed(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Runs a program below Valgrind; the profile that it leaves.
fn recorded(program: &Path, options: &[&str]) -> PathBuf {
    let profile = program.with_extension("callgrind");
    let out = format!("--callgrind-out-file={}", text(&profile));
    succeed(Command::new("valgrind").args(["-q", "--tool=callgrind", &out]).args(options).arg(program));
    profile
}

/// Builds a program of C++ in a folder of its own, which is made.
fn built_cpp(folder: &Path, source: &str) -> PathBuf {
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let (source_file, program) = (folder.join("src/mill.cc"), folder.join("mill"));
    std::fs::write(&source_file, source).unwrap();
    succeed(Command::new("g++").args(["-g", "-O2", "-o", text(&program), text(&source_file)]));
    recorded(&program, &[])
}

/// Builds a program of Rust in a folder of its own, which is made. What `metadata` says goes into the hashes of all
/// symbols.
fn built_rust(folder: &Path, main: &str, stone: &str, metadata: &str) -> PathBuf {
    std::fs::create_dir_all(folder.join("src")).unwrap();
    let (source_file, program) = (folder.join("src/main.rs"), folder.join("mill"));
    std::fs::write(&source_file, main).unwrap();
    std::fs::write(folder.join("src/stone.rs"), stone).unwrap();
    let metadata = format!("metadata={metadata}");
    let options =
        ["--edition=2021", "--crate-name=mill", "-g", "-Copt-level=2", "-Ccodegen-units=1", "-C", &metadata];
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    succeed(Command::new(rustc).args(options).args(["-o", text(&program), text(&source_file)]));
    // Mangled, so that the hashes are there.
    recorded(&program, &["--demangle=no"])
}

/// The causes of a difference: kind, function, caller and effect, the greatest first.
fn causes(answer: &Value) -> Vec<(String, String, String, i64)> {
    let name = |function: &Value| function["name"].as_str().unwrap_or_default().to_owned();
    let causes = answer["causes"].as_array().unwrap().iter();
    causes
        .map(|cause| {
            let kind = cause["kind"].as_str().unwrap().to_owned();
            (kind, name(&cause["function"]), name(&cause["caller"]), cause["effect"].as_i64().unwrap())
        })
        .collect()
}

fn diff(base: &Path, new: &Path, options: &[&str]) -> Value {
    let output = run(&[&["diff", "--format", "json"], options, &[text(base), text(new)]].concat());
    assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
    json(&output)
}

fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn cpp_inlining_calls_a_rename_and_another_directory() {
    if !has(&["valgrind", "g++"]) {
        return;
    }
    let source = include_str!("diff_builds/mill.cc");
    let inlined = replaced(
        source,
        "APART uint32_t crack",
        "static inline __attribute__((always_inline)) uint32_t crack",
    );
    let changed = replaced(&inlined, "round < 10", "round < 13").replace("weigh_sack", "scale_sack");
    let folder = tempfile::tempdir().unwrap();
    let base = built_cpp(&folder.path().join("before"), source);
    let new = built_cpp(&folder.path().join("after/checkout"), &changed);

    let answer = diff(&base, &new, &[]);
    let causes = causes(&answer);
    let found = |kind: &str, function: &str| {
        let found = causes.iter().position(|cause| cause.0 == kind && cause.1.contains(function));
        found.unwrap_or_else(|| panic!("{kind} {function} in {causes:?}"))
    };
    // Both are among the first, and what was called more often weighs most.
    assert_eq!(found("calls", "mill::sieve("), 0);
    assert!(causes[0].2.contains("mill::work("), "{causes:?}");
    assert!(found("inlined", "mill::crack(") <= 2);
    let functions = answer["functions"].as_array().unwrap();
    let calls = functions.iter().find(|row| row["name"].as_str().unwrap().contains("mill::sieve(")).unwrap();
    assert_eq!((&calls["calls"]["base"], &calls["calls"]["new"]), (&10.into(), &13.into()));
    // What only has another name or another place did not change.
    assert_eq!(answer["new"], 0, "{answer}");
    assert_eq!(answer["vanished"], 1);
    let directories = answer["directories"].as_array().unwrap();
    let ends = |value: &Value, end: &str| value.as_str().unwrap().ends_with(end);
    assert!(
        directories
            .iter()
            .any(|pair| ends(&pair["base"], "/before/") && ends(&pair["new"], "/after/checkout/")),
        "{directories:?}"
    );

    let shown = stdout(&run(&["diff", "--width", "80", text(&base), text(&new)]));
    let top: String = shown.lines().take(16).collect::<Vec<_>>().join(" ");
    let top = top.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(top.contains("calls mill::sieve(…) more often: 10 → 13 (+30.00%)"), "{shown}");
    assert!(
        top.contains("mill::crack(unsigned int) vanished, and its lines are in mill::grind(…) now"),
        "{shown}"
    );
    assert!(shown.contains("mill::weigh_sack(…) may now be mill::scale_sack(…)"), "{shown}");

    // The other way round.
    let back = diff(&new, &base, &[]);
    let back = self::causes(&back);
    assert!(back[0].0 == "calls" && back[0].3 < 0, "{back:?}");
    assert!(
        back.iter().take(3).any(|cause| cause.0 == "outlined" && cause.1.contains("mill::crack(")),
        "{back:?}"
    );
}

#[test]
fn rust_inlining_calls_and_other_hashes() {
    if !has(&["valgrind"]) {
        return;
    }
    let (main, stone) = (include_str!("diff_builds/mill.rs"), include_str!("diff_builds/stone.rs"));
    let folder = tempfile::tempdir().unwrap();
    let base = built_rust(&folder.path().join("before"), main, stone, "before");
    let more = replaced(main, "0..10", "0..13");
    let inlined = replaced(stone, "#[inline(never)]\nfn crack", "#[inline(always)]\nfn crack");
    let new = built_rust(&folder.path().join("after"), &more, &inlined, "after");

    let answer = diff(&base, &new, &[]);
    let causes = causes(&answer);
    assert_eq!((causes[0].0.as_str(), causes[0].1.as_str()), ("calls", "mill::sieve"), "{causes:?}");
    let inlining =
        causes.iter().take(3).find(|cause| cause.0 == "inlined" && cause.1 == "mill::stone::crack");
    assert!(inlining.is_some(), "{causes:?}");
    let joins = answer["joined"].as_array().unwrap();
    assert!(joins.iter().any(|join| join["rule"] == "symbol-hash"), "{joins:?}");
    // Without the rule the functions of the program have nothing to do with each other.
    let apart = diff(&base, &new, &["--no-rule", "symbol-hash,rename"]);
    let new_ones = |answer: &Value| answer["new"].as_u64().unwrap();
    assert!(new_ones(&answer) == 0 && new_ones(&apart) >= 4, "{} {}", new_ones(&answer), new_ones(&apart));
}

#[test]
fn rust_in_two_directories_is_the_same() {
    if !has(&["valgrind"]) {
        return;
    }
    let (main, stone) = (include_str!("diff_builds/mill.rs"), include_str!("diff_builds/stone.rs"));
    let folder = tempfile::tempdir().unwrap();
    let base = built_rust(&folder.path().join("one"), main, stone, "same");
    let new = built_rust(&folder.path().join("another/checkout"), main, stone, "other");
    let answer = diff(&base, &new, &["--min", "0.01"]);
    assert_eq!(answer["functions"], Value::Array(Vec::new()));
    assert_eq!((&answer["new"], &answer["vanished"]), (&0.into(), &0.into()));
    let total = &answer["totals"]["Ir"];
    let (base, change) = (total["base"].as_i64().unwrap(), total["change"].as_i64().unwrap());
    assert!(change.abs() * 10_000 < base, "{change} of {base}");
}
