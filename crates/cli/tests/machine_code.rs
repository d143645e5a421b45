//! `gristmill annotate --asm`, and what else reads programs: held to objdump, to other reports, and to damage.

// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]
#![cfg(test)]

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output};

use gristmill_cli::in_process;
use serde_json::Value;

use harness::{
    assert_valid, code, folder, golden, gristmill, has, json, one_in, root, run, run_in, run_measured,
    schema, stderr, stdout, text, whole,
};

const PROFILE: &str = "callgrind/callgrind.out.chute";
const MAP: &str = "--binary=/srv/demo/bin/chute=src/chute.elf";
const SOURCES: &str = "--source-map=/srv/demo=.";

/// Runs in the corpus, as on a terminal of this width.
fn annotate(arguments: &[&str], width: &str) -> Output {
    let mut command = gristmill(&[&["annotate"], arguments].concat());
    command
        .current_dir(root().join("corpus"))
        .env("COLUMNS", width)
        .env("LC_ALL", "C.UTF-8")
        .output()
        .unwrap()
}

fn blessed(name: &str, arguments: &[&str], width: &str) -> String {
    let output = annotate(&[&[MAP, SOURCES, PROFILE], arguments].concat(), width);
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
    let shown = stdout(&output);
    golden(&format!("asm-{name}"), &shown);
    shown
}

#[test]
fn listings_are_as_they_were() {
    blessed("whole", &["--asm"], "80");
    blessed("wide", &["--asm", "--function=^(sort_grains|treat_all)$"], "120");
    blessed("widest", &["--asm", "--function=husk|dry", "--context=0"], "200");
    let plain = blessed("only", &["--asm=only", "--function=treat_all", "--asm-syntax=intel"], "80");
    assert!(!plain.contains("sieve.c:"), "{plain}");
    let info = run_in(&root().join("corpus"), &["info", "--programs", MAP, PROFILE]);
    assert_eq!(code(&info), 0);
    golden("asm-info", &stdout(&info));
}

/// Lines fit the terminal, whatever its width.
#[test]
fn lines_fit() {
    for width in [60, 80, 120, 200] {
        let output =
            annotate(&[MAP, SOURCES, PROFILE, "--asm", "--limit=0", "--threshold=100"], &width.to_string());
        for line in stdout(&output).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}

#[test]
fn arrows_are_ascii_where_text_is() {
    let mut command = gristmill(&["annotate", "--asm=only", MAP, PROFILE]);
    let output = command.current_dir(root().join("corpus")).env("LC_ALL", "C").output().unwrap();
    assert!(stdout(&output).is_ascii(), "{}", stdout(&output));
    assert!(stdout(&output).contains("|  +-> ") || stdout(&output).contains("+-> "));
}

fn document(profile: &Path, more: &[&str]) -> Value {
    let output = run_in(
        &root().join("corpus"),
        &[&["annotate", "--asm", "--format=json", MAP, text(profile)], more].concat(),
    );
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let document = json(&output);
    assert_valid(&schema("assembly.schema.json"), &document, &profile.display().to_string());
    document
}

fn rows<'v>(value: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    value[key].as_array().unwrap().iter()
}

/// Jumps of a profile by a reading of its lines: the count of jumps that were taken, and of those that were reached.
fn jumps_of_file(profile: &Path) -> (i128, i128) {
    let (mut taken, mut executed) = (0, 0);
    for line in std::fs::read_to_string(profile).unwrap().lines() {
        if let Some(rest) = line.strip_prefix("jump=") {
            taken += rest.split(' ').next().unwrap().parse::<i128>().unwrap();
        } else if let Some(rest) = line.strip_prefix("jcnd=") {
            let (followed, of) = rest.split(' ').next().unwrap().split_once('/').unwrap();
            taken += followed.parse::<i128>().unwrap();
            executed += of.parse::<i128>().unwrap();
        }
    }
    (taken, executed)
}

/// Costs of the instructions of a function add up to its self cost, and no jump is lost.
fn check_sums(profile: &Path) {
    let document = document(profile, &[]);
    let flat = json(&run(&["functions", "--format=json", text(profile)]));
    let self_of: BTreeMap<u64, &Value> =
        rows(&flat, "functions").map(|row| (row["id"].as_u64().unwrap(), &row["self"])).collect();
    let events: Vec<&str> = rows(&document, "event_types").map(|event| event.as_str().unwrap()).collect();
    let (mut taken, mut executed) = (0, 0);
    let mut total = 0;
    for function in rows(&document, "functions") {
        for event in &events {
            let sum: i128 = rows(function, "instructions").map(|row| whole(&row["self"][event])).sum();
            let sum = sum + whole(&function["without_address"][event]);
            assert_eq!(sum, whole(&function["self"][event]), "{} {event}", function["name"]);
            let known = &self_of[&function["id"].as_u64().unwrap()][event];
            if !known.is_null() {
                assert_eq!(sum, whole(known), "{} {event}", function["name"]);
            }
        }
        total += whole(&function["self"][events[0]]);
        for jump in rows(function, "instructions").flat_map(|row| rows(row, "jumps")) {
            taken += whole(&jump["taken"]);
            executed += if jump["executed"].is_null() { 0 } else { whole(&jump["executed"]) };
        }
        assert_eq!(function["jumps_without_address"], 0);
    }
    assert_eq!(total, whole(&document["totals"][events[0]]), "all functions");
    assert_eq!((taken, executed), jumps_of_file(profile), "{}", profile.display());
}

#[test]
fn instructions_add_up() {
    let corpus = root().join("corpus/callgrind");
    for name in
        ["chute", "instr-jumps", "instr-only", "instr-bb", "full", "cacheuse", "uncompressed-positions"]
    {
        check_sums(&corpus.join(format!("callgrind.out.{name}")));
    }
}

/// The same for a recording of a program of this machine, whose instructions are those of objdump.
#[test]
fn a_recording_of_this_machine() {
    if !has(&["valgrind", "objdump", "sort"]) {
        return;
    }
    let folder = folder(&[]);
    let profile = folder.path().join("callgrind.out.1");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--tool=callgrind", "--dump-instr=yes", "--collect-jumps=yes", "--branch-sim=yes"]);
    valgrind.arg(format!("--callgrind-out-file={}", profile.display()));
    let output = valgrind.args(["sort", "-r", text(&root().join("corpus/MANIFEST.tsv"))]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    check_sums(&profile);
    let document = document(&profile, &["--limit=40", "--threshold=100"]);
    let programs: Vec<&Value> = rows(&document, "programs").collect();
    for function in rows(&document, "functions").step_by(one_in(8)) {
        let program = programs[usize::try_from(function["program"].as_u64().unwrap()).unwrap()];
        if program["state"] != "same" {
            continue;
        }
        let address = |row: &Value| u64::from_str_radix(&row["address"].as_str().unwrap()[2..], 16).unwrap();
        let listed: BTreeSet<u64> =
            rows(function, "instructions").filter(|row| !row["text"].is_null()).map(address).collect();
        let (Some(first), Some(last)) = (listed.first(), listed.last()) else { continue };
        let mut objdump = Command::new("objdump");
        objdump.arg("-d").arg(format!("--start-address={first}")).arg(format!("--stop-address={}", last + 1));
        let output = objdump.arg(program["found_at"].as_str().unwrap()).output().unwrap();
        let known: BTreeSet<u64> = String::from_utf8_lossy(&output.stdout)
            .lines()
            // Bytes of a long instruction go on in a line without text.
            .filter(|line| line.matches('\t').count() >= 2)
            .filter_map(|line| u64::from_str_radix(line.split_once(':')?.0.trim(), 16).ok())
            .collect();
        let strange: Vec<_> = listed.difference(&known).map(|address| format!("{address:x}")).collect();
        assert!(strange.is_empty(), "{}: {strange:?}", function["name"]);
    }
}

#[test]
fn instructions_are_those_of_objdump() {
    if !has(&["objdump"]) {
        return;
    }
    let program = root().join("corpus/src/chute.elf");
    let output = Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&program).output().unwrap();
    let mut known = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let Some((address, code)) = line.split_once(":\t") else { continue };
        known.insert(u64::from_str_radix(address.trim(), 16).unwrap(), code.to_owned());
    }
    let document = document(&root().join("corpus").join(PROFILE), &[]);
    let mut count = 0;
    for row in rows(&document, "functions").flat_map(|function| rows(function, "instructions")) {
        let address = u64::from_str_radix(&row["address"].as_str().unwrap()[2..], 16).unwrap();
        let code = row["text"].as_str().unwrap_or_else(|| panic!("{address:x} has no instruction"));
        // A prefix such as `cs` may precede the mnemonic.
        let (mnemonic, theirs) = (code.split(' ').next().unwrap(), &known[&address]);
        assert!(
            theirs.split_whitespace().take(3).any(|word| word == mnemonic),
            "{address:x}: {code}, {theirs}"
        );
        count += 1;
    }
    assert!(count > 200, "{count}");
}

/// Without a program, all costs and jumps are listed by address.
#[test]
fn a_missing_program_is_a_message() {
    let profile = std::fs::read_to_string(root().join("corpus").join(PROFILE)).unwrap();
    let folder = folder(&[("profile", profile.replace("/srv/demo/bin/chute", "/no/such/mill").as_bytes())]);
    let path = folder.path().join("profile");
    let output = run(&["annotate", "--asm", "--function=by_weight", text(&path)]);
    let shown = stdout(&output);
    assert_eq!(code(&output), 0);
    let message = "warning: /no/such/mill: program not found; --binary /no/such/mill=FILE says";
    assert!(shown.contains(message), "{shown}");
    assert!(shown.contains("  83    2.3   4004bb  ╭──   taken 40 of 83\n"), "{shown}");
    check_sums(&path);
    let info = stdout(&run(&["info", "--programs", text(&path)]));
    assert!(info.contains("\n  /no/such/mill  100.0  not found\n"), "{info}");
    // Without the option nothing is looked for.
    assert!(!stdout(&run(&["info", text(&path)])).contains("/no/such/mill"));
}

#[test]
fn maps_without_effect_are_reported() {
    let map = "--binary=/gone=src/chute.elf";
    for arguments in [
        &["annotate", "--asm", "--function=husk", map, PROFILE][..],
        &["annotate", "--name-inlined", "--format=json", map, PROFILE],
        &["functions", "--inlined", map, PROFILE],
        &["tree", "--inlined", map, PROFILE],
        &["diff", "--inlined", map, PROFILE, PROFILE],
        &["info", "--programs", map, PROFILE],
    ] {
        let output = run_in(&root().join("corpus"), arguments);
        let said = stderr(&output);
        assert!(said.contains("--binary '/gone=src/chute.elf' has no effect: no program"), "{said}");
        assert_eq!(code(&output), 0);
        let used: Vec<&str> = arguments.iter().map(|it| if *it == map { MAP } else { it }).collect();
        assert!(!stderr(&run_in(&root().join("corpus"), &used)).contains("has no effect"), "{used:?}");
    }
    // JSON has the notes on inlined functions.
    let output = run_in(&root().join("corpus"), &["functions", "--inlined", "--format=json", MAP, PROFILE]);
    assert!(json(&output)["notes"][0].as_str().unwrap().starts_with("inlined functions have "));
    assert_eq!(stderr(&output), "");
    let output = run_in(&root().join("corpus"), &["functions", MAP, PROFILE]);
    assert!(stderr(&output).contains("--binary has no effect without --inlined"), "{}", stderr(&output));
    let output =
        run_in(&root().join("corpus"), &["functions", "--inlined", "--binary=/srv=/no/such", PROFILE]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("--binary '/srv=/no/such': /no/such: no such file"),
        "{}",
        stderr(&output)
    );
}

/// Some functions have other names in the program, as after another build.
#[test]
fn another_build_is_uncertain() {
    let profile = std::fs::read_to_string(root().join("corpus").join(PROFILE)).unwrap();
    let some = profile.replace("(6) treat_all", "(6) treat_some");
    let most = ["sort_grains", "by_weight", "treat_all", "husk", "soak", "dry", "grind"]
        .iter()
        .fold(profile, |text, name| text.replace(name, "elsewhere"));
    let folder = folder(&[("some", some.as_bytes()), ("most", most.as_bytes())]);
    let shown = |name: &str| {
        let path = folder.path().join(name);
        let arguments =
            ["annotate", "--asm", "--binary=/srv/demo/bin/chute=src/chute.elf", "--limit=3", text(&path)];
        stdout(&run_in(&root().join("corpus"), &arguments))
    };
    let some = shown("some");
    assert!(some.contains("src/chute.elf may be another build: ") && some.contains("? mov "), "{some}");
    let most = shown("most");
    assert!(most.contains("src/chute.elf is another program: only ") && !most.contains(" mov "), "{most}");
}

#[test]
fn profiles_without_addresses_are_refused() {
    for (arguments, message) in [
        (&["callgrind/callgrind.out.mill"][..], "no cost has the address of an instruction"),
        (&[PROFILE, "src/mill.c"], "machine code has no source files to choose"),
        (&[PROFILE, "--threshold=101"], "--threshold 101: is no percentage from 0 to 100"),
        (&[PROFILE, "--debuginfod"], "DEBUGINFOD_URLS names no server"),
        (&[PROFILE, "--binary=x"], "--binary 'x': is not FROM=TO"),
    ] {
        let mut command = gristmill(&[&["annotate", "--asm"], arguments].concat());
        let output =
            command.current_dir(root().join("corpus")).env_remove("DEBUGINFOD_URLS").output().unwrap();
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    let text = run_in(&root().join("corpus"), &["annotate", "--name-inlined", PROFILE]);
    assert_eq!(code(&text), 2);
}

/// The lines that `fi=` brings into functions have the names of the inlined functions.
#[test]
fn inlined_functions_have_names() {
    let arguments = ["annotate", "--name-inlined", "--format=json", MAP, SOURCES, PROFILE];
    let output = run_in(&root().join("corpus"), &arguments);
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
    let document = json(&output);
    assert_valid(&schema("annotate.schema.json"), &document, "annotate --name-inlined");
    let grain = rows(&document, "files").find(|file| file["name"] == "/srv/demo/src/grain.h").unwrap();
    let named: BTreeMap<u64, Vec<&str>> = rows(grain, "lines")
        .map(|line| {
            let names = line["inlined"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
            (line["line"].as_u64().unwrap(), names.collect())
        })
        .collect();
    assert_eq!(named[&16], ["mix"]);
    assert_eq!(named[&18], ["mix"]);
    assert!(
        named.iter().filter(|(line, _)| (23..=25).contains(*line)).all(|(_, names)| names == &["clamp"]),
        "{named:?}"
    );
    let page = stdout(&run_in(
        &root().join("corpus"),
        &["annotate", "--name-inlined", "--format=html", MAP, SOURCES, PROFILE],
    ));
    assert!(page.contains("<span class=in>inlined mix</span>"));
    let without =
        json(&run_in(&root().join("corpus"), &["annotate", "--format=json", MAP, SOURCES, PROFILE]));
    assert!(
        rows(&without, "files").flat_map(|file| rows(file, "lines")).all(|line| line["inlined"].is_null())
    );
}

/// Runs in this process, where a panic is a failure of the test.
fn survives(program: &Path, profile: &Path, what: &str) {
    let map = format!("--binary=/srv/demo/bin/chute={}", program.display());
    for format in ["text", "json", "html"] {
        let words =
            ["annotate", "--asm", &format!("--format={format}"), &map, text(profile)].map(OsString::from);
        let outcome = in_process::run(words);
        assert!(outcome.status <= 2, "{what}");
        assert!(!outcome.stdout.is_empty() || !outcome.stderr.is_empty(), "{what}");
    }
    for words in [vec!["annotate", "--name-inlined", "--format=json"], vec!["info", "--programs"]] {
        let words = words.into_iter().chain([map.as_str(), text(profile)]).map(OsString::from);
        assert!(in_process::run(words).status <= 2, "{what}");
    }
}

/// The memory that a process may take that reads a small program, whatever size this claims.
const MAX_PROGRAM_MEMORY: u64 = 64 << 20;

/// Peak memory of a process that reads a program which is nearly all hole, or claims what it does not have.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_whatever_a_program_is() {
    let whole = std::fs::read(root().join("corpus/src/chute.elf")).unwrap();
    let profile = root().join("corpus").join(PROFILE);
    let folder = folder(&[]);
    let program = folder.path().join("chute");
    let map = format!("--binary=/srv/demo/bin/chute={}", program.display());
    let check = |what: &str| {
        for words in [&["annotate", "--asm"][..], &["functions", "--inlined"], &["info", "--programs"]] {
            let (output, peak) = run_measured(&[words, &[map.as_str(), text(&profile)]].concat());
            assert!(code(&output) == 0 || code(&output) == 2, "{what}: {}", stderr(&output));
            if let Some(peak) = peak {
                assert!(peak <= MAX_PROGRAM_MEMORY, "{what}: {words:?} takes {peak} bytes");
            }
        }
    };
    std::fs::write(&program, &whole).unwrap();
    check("the program");
    std::fs::File::options().write(true).open(&program).unwrap().set_len(10 << 30).unwrap();
    check("with a hole of 10 GB");
    std::fs::File::create(&program).unwrap().set_len(10 << 30).unwrap();
    check("all of it a hole");
    // The size of each section in turn, and its offset, as large as they can be.
    let number =
        |at: usize| usize::try_from(u64::from_le_bytes(whole[at..at + 8].try_into().unwrap())).unwrap();
    let half = |at: usize| usize::from(u16::from_le_bytes(whole[at..at + 2].try_into().unwrap()));
    let (headers, size, count) = (number(0x28), half(0x3a), half(0x3c));
    for section in (0..count).step_by(one_in(4)) {
        for (field, value) in [(0x20, u64::MAX), (0x20, 8 << 30), (0x18, u64::MAX / 2)] {
            let at = headers + section * size + field;
            let mut bytes = whole.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            std::fs::write(&program, &bytes).unwrap();
            check(&format!("section {section}, field {field:#x} is {value:#x}"));
        }
    }
    for length in (64..whole.len()).step_by(1999 * one_in(4)) {
        std::fs::write(&program, &whole[..length]).unwrap();
        check(&format!("cut at {length}"));
    }
}

/// A program that is cut off, or whose bytes are others, is a message at worst.
#[test]
fn damaged_programs_are_survived() {
    let whole = std::fs::read(root().join("corpus/src/chute.elf")).unwrap();
    let profile = root().join("corpus").join(PROFILE);
    let folder = folder(&[]);
    let program = folder.path().join("chute");
    for length in (0..whole.len()).step_by(251 * one_in(4)) {
        std::fs::write(&program, &whole[..length]).unwrap();
        survives(&program, &profile, &format!("cut at {length}"));
    }
    // A fixed sequence of numbers, so that a failure comes from the change.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for round in 0..60 / one_in(3) {
        let mut bytes = whole.clone();
        for _ in 0..40 {
            let at = usize::try_from(next() % bytes.len() as u64).unwrap();
            bytes[at] = next().to_le_bytes()[0];
        }
        std::fs::write(&program, &bytes).unwrap();
        survives(&program, &profile, &format!("round {round}"));
    }
    for (what, bytes) in [
        ("another program", std::fs::read(std::env::current_exe().unwrap()).ok()),
        ("text", Some(b"#!/bin/sh".to_vec())),
    ] {
        let Some(bytes) = bytes else { continue };
        std::fs::write(&program, &bytes[..bytes.len().min(4 << 20)]).unwrap();
        survives(&program, &profile, what);
    }
}
