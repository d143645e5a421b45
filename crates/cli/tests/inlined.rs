//! Real programs, built with and without inlining by the compilers of the machine and recorded with Valgrind: `--inlined` gives
//! the functions of the one what the recording of the other has.
//!
//! Needs `valgrind`, and `g++` for C++. Where one is missing the test says that it was skipped; with `GRISTMILL_CI` in the
//! environment it fails.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use harness::{code, has, json, run, run_in, stderr, stdout, text, whole};

/// Functions by name: self cost, and count of recorded calls.
type Functions = BTreeMap<String, (i128, i128)>;

const CPP: &str = include_str!("inlined/mill.cc");
const RUST: &str = include_str!("inlined/mill.rs");

/// Instructions that a call takes on both of its sides: arguments, registers that are saved, the call and the return.
const CALL_OVERHEAD: i128 = 12;

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
fn built_cpp(folder: &Path, is_inlined: bool, source: &str) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let (source_file, program) = (folder.join("mill.cc"), folder.join("mill"));
    std::fs::write(&source_file, source).unwrap();
    let maybe =
        if is_inlined { "__attribute__((always_inline)) inline" } else { "__attribute__((noinline))" };
    let maybe = format!("-DMAYBE={maybe}");
    succeed(Command::new("g++").args(["-g", "-O1", &maybe, "-o", text(&program), text(&source_file)]));
    program
}

/// Builds a program of Rust in a folder of its own, which is made.
fn built_rust(folder: &Path, is_inlined: bool) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let (source_file, program) = (folder.join("mill.rs"), folder.join("mill"));
    std::fs::write(&source_file, RUST).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let options = ["--edition=2021", "-g", "-Copt-level=2", "-Ccodegen-units=1", "--check-cfg=cfg(apart)"];
    let mut command = Command::new(rustc);
    command.args(options).args(["-o", text(&program), text(&source_file)]);
    if !is_inlined {
        command.args(["--cfg", "apart"]);
    }
    succeed(&mut command);
    program
}

/// The functions of a report: self cost, and recorded calls, by name.
fn functions(arguments: &[&str], profile: &Path) -> (Value, Functions) {
    let output = run(&[&["functions", "--format=json", text(profile)], arguments].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let answer = json(&output);
    let mut functions: Functions = BTreeMap::new();
    for row in answer["functions"].as_array().unwrap() {
        let (own, calls) = functions.entry(row["name"].as_str().unwrap().to_owned()).or_default();
        *own += whole(&row["self"]["Ir"]);
        *calls += if row["calls"].is_null() { whole(&row["recorded_calls"]) } else { whole(&row["calls"]) };
    }
    let sum: i128 = functions.values().map(|(own, _)| own).sum();
    assert_eq!(sum, whole(&answer["totals"]["Ir"]), "the sum of self costs");
    (answer, functions)
}

/// Compares the functions of a program with inlining with those of the same without. They differ by the overhead of the calls that
/// each function makes and gets, whose count is given.
fn assert_agree(inlined: &Functions, apart: &Functions, parts: &[(&str, i128)]) {
    let cost = |functions: &Functions, part: &str| -> i128 {
        functions.iter().filter(|(name, _)| name.contains(part)).map(|(_, (own, _))| own).sum()
    };
    for &(part, calls) in parts {
        let (own, of_apart) = (cost(inlined, part), cost(apart, part));
        let difference = (of_apart - own).abs();
        assert!(
            own > 0 && of_apart > 0 && difference <= calls * CALL_OVERHEAD,
            "{part}: {own} and {of_apart}, {calls} calls"
        );
        // It is no cost of calls: most of it is in loops.
        assert!(part.contains("sift") || difference * 5 < of_apart, "{part}: {own} and {of_apart}");
    }
}

#[test]
fn inlined_functions_of_cpp_have_the_costs_of_their_compiled_code() {
    if !has(&["valgrind", "g++"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let inlined = recorded(&built_cpp(&folder.path().join("inlined"), true, CPP), &["--dump-instr=yes"]);
    let apart = recorded(&built_cpp(&folder.path().join("apart"), false, CPP), &["--dump-instr=yes"]);
    // `sift` is called 300 times and makes 6,000 calls.
    let parts =
        [("Wheel::turn", 3000), ("grind<unsigned long>", 3000), ("grind<unsigned int>", 300), ("sift", 6300)];
    let (answer, of_inlined) = functions(&["--inlined"], &inlined);
    let (_, of_apart) = functions(&[], &apart);
    assert_agree(&of_inlined, &of_apart, &parts);
    // Nothing is an estimate, and `main` keeps its own.
    let notes = answer["notes"].to_string();
    assert!(notes.contains("inlined functions have ") && !notes.contains("estimate"), "{notes}");
    let (_, recorded) = functions(&[], &inlined);
    assert!(parts.iter().all(|(part, _)| recorded.keys().all(|name| !name.contains(part))), "{recorded:#?}");
    assert!(of_inlined["main"].0 * 20 < recorded["main"].0, "{of_inlined:#?}");

    // The functions of the other build have the same names: nothing is added to them.
    let (_, again) = functions(&["--inlined"], &apart);
    assert_agree(&again, &of_apart, &parts);

    let show = run(&["show", "--inlined", "mill::sift", text(&inlined)]);
    assert!(stdout(&show).contains("inlined by 1 function"), "{}{}", stdout(&show), stderr(&show));
    let tree = run(&["tree", "--inlined", text(&inlined)]);
    assert!(stdout(&tree).contains("inlined"), "{}", stdout(&tree));
    let diff = run(&["diff", "--inlined", "--format=json", text(&apart), text(&inlined)]);
    assert_eq!(code(&diff), 0, "{}", stderr(&diff));
}

/// Changes of the self costs of functions that differ by their count of calls or their code, by name.
fn changes(words: &[&str]) -> (BTreeMap<String, i128>, String) {
    let output = run(&[&["diff", "--format=json", "--limit=0", "--min=0"], words].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let functions = json(&output)["functions"].as_array().unwrap().clone();
    let change =
        |row: &Value| (row["name"].as_str().unwrap().to_owned(), whole(&row["self"]["Ir"]["change"]));
    (functions.iter().map(change).filter(|(_, change)| *change != 0).collect(), stderr(&output))
}

/// The program is built again in its place, so that of the base is gone: what is inlined in the new one is no change.
#[test]
fn a_program_that_is_known_on_one_side_only_stays_as_recorded() {
    if !has(&["valgrind", "g++"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("mill");
    let program = built_cpp(&place, true, CPP);
    let old = recorded(&program, &["--dump-instr=yes"]);
    let base = folder.path().join("base.out");
    std::fs::rename(&old, &base).unwrap();
    // One function more, in front of the others: all addresses change.
    let more = "#include <stdint.h>\n__attribute__((noinline)) uint64_t more(uint64_t n) { uint64_t s = 0; \
                for (uint64_t i = 0; i < 5000; i++) { s += i ^ n; __asm__ volatile(\"\" : \"+r\"(s)); } return s; }\n\
                static uint64_t done = more(3);\n";
    let new = recorded(&built_cpp(&place, true, &format!("{more}{CPP}")), &["--dump-instr=yes"]);
    let (plain, _) = changes(&[text(&base), text(&new)]);
    assert!(plain.iter().any(|(name, change)| name.contains("more") && *change > 10_000), "{plain:#?}");
    let (inlined, said) = changes(&["--inlined", text(&base), text(&new)]);
    // The C library can be known on both sides.
    let of_program =
        |name: &str| ["main", "mill::", "more", "sift", "grind"].iter().any(|part| name.contains(part));
    let of_program = |changes: &BTreeMap<String, i128>| -> Vec<(String, i128)> {
        let own = changes.iter().filter(|(name, _)| of_program(name) && !name.contains("libc_start"));
        own.map(|(name, change)| (name.clone(), *change)).collect()
    };
    assert_eq!(of_program(&inlined), of_program(&plain));
    assert_eq!(said.matches("mill (not known on both sides)").count(), 2, "{said}");
    // Other views than the comparison have the inlined functions of the new program, and no machine code.
    let ask = |question: &str| {
        run(&[
            "view",
            "--inlined",
            "--answer",
            &format!(r#"{{"question":{question}}}"#),
            text(&new),
            "--base",
            text(&base),
        ])
    };
    let found = ask(r#"{"kind":"search","text":"mill::sift","is_pattern":false,"limit":9}"#);
    assert!(!json(&found)["functions"].as_array().unwrap().is_empty(), "{}", stdout(&found));
    let refused = ask(r#"{"kind":"assembly","function":0}"#);
    assert!(code(&refused) == 2 && stderr(&refused).contains("start gristmill view without --inlined"));
    // With one program for both sides, inlined functions are compared.
    let (same, said) = changes(&["--inlined", text(&new), text(&new)]);
    assert!(same.is_empty() && said.contains("inlined functions have "), "{same:#?} {said}");
}

#[test]
fn inlined_functions_of_rust_have_the_costs_of_their_compiled_code() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let inlined = recorded(&built_rust(&folder.path().join("inlined"), true), &["--dump-instr=yes"]);
    let apart = recorded(&built_rust(&folder.path().join("apart"), false), &["--dump-instr=yes"]);
    let (_, of_inlined) = functions(&["--inlined"], &inlined);
    let (_, of_apart) = functions(&["--inlined"], &apart);
    assert_agree(
        &of_inlined,
        &of_apart,
        &[("mill::Wheel::turn", 3000), ("mill::grind", 3300), ("mill::sift", 6300)],
    );
}

#[test]
fn lines_alone_tell_most_functions_and_the_rest_is_an_estimate() {
    if !has(&["valgrind", "g++"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = built_cpp(&folder.path().join("inlined"), true, CPP);
    let (_, by_address) = functions(&["--inlined"], &recorded(&program, &["--dump-instr=yes"]));
    let (answer, by_line) = functions(&["--inlined"], &recorded(&program, &[]));
    // All instructions of these lines are of one function, whatever calls lead to it.
    for name in by_address.keys().filter(|name| name.contains("Wheel::turn") || name.contains("sift")) {
        assert_eq!(by_line.get(name), by_address.get(name), "{name}");
    }
    assert!(answer["notes"].to_string().contains("estimate"), "{}", answer["notes"]);
}

#[test]
fn another_program_changes_nothing_and_is_reported() {
    if !has(&["valgrind", "g++"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let program = built_cpp(&folder.path().join("inlined"), true, CPP);
    let profile = recorded(&program, &["--dump-instr=yes"]);
    let (_, recorded) = functions(&[], &profile);
    let report = |expected: &str| {
        let (answer, functions) = functions(&["--inlined"], &profile);
        let mine = |(name, _): &(&String, &(i128, i128))| *name == "main" || name.contains("sift");
        let of_main: Vec<_> = functions.iter().filter(mine).collect();
        assert_eq!(of_main, recorded.iter().filter(mine).collect::<Vec<_>>());
        assert!(answer["notes"].to_string().contains(expected), "{}", answer["notes"]);
    };
    // Another build of another version, in the same place.
    let other = CPP.replace(
        "int main() {",
        "int unused(int number) { return number * number + 7; }\n\n\n\nint main() {\n    unused(3);",
    );
    built_cpp(&folder.path().join("inlined"), false, &other);
    report("mill (program of another build)");
    std::fs::write(&program, b"\x7fELF and no more").unwrap();
    report("stays as recorded");
    std::fs::remove_file(&program).unwrap();
    report("mill (program not found)");
}

#[test]
fn a_budget_of_the_gate_can_name_an_inlined_function() {
    if !has(&["valgrind", "g++"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    recorded(&built_cpp(folder.path(), true, CPP), &["--dump-instr=yes"]);
    let config = |inlined: &str, max: u32| {
        let text = format!(
            "[[benchmark]]\nname = \"mill\"\nprofile = \"mill.callgrind\"\nallow_old = true\n{inlined}\
             [[benchmark.budget]]\nname = \"sifting\"\nfunction = \"mill::sift\"\nmax = {max}\n"
        );
        std::fs::write(folder.path().join("gristmill.toml"), text).unwrap();
    };
    config("inlined = true\n", 100_000);
    let gate = |command: &str| run_in(folder.path(), &["gate", command]);
    assert_eq!(code(&gate("bless")), 0, "{}", stderr(&gate("bless")));
    assert_eq!(code(&gate("run")), 0, "{}", stdout(&gate("run")));
    config("inlined = true\n", 1000);
    assert_eq!(code(&gate("run")), 1, "{}", stdout(&gate("run")));
    // Without it, there is no such function; and its costs are not comparable with those of the baseline.
    config("", 100_000);
    assert_eq!(code(&gate("run")), 2, "{}", stdout(&gate("run")));
}
