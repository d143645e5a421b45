//! Recordings of Callgrind: addresses are those of the file, and another build is recognised.
#![cfg(target_os = "linux")]
// Tests may panic and print. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gristmill_code::{Agreement, Matching, ProfileLine};
use gristmill_profile::{Profile, Selection};
use harness::{compile, directory, has_tools, is_thorough, open, run};

/// Records a program with addresses.
fn record(program: &Path) -> Profile {
    let output = program.with_extension("callgrind");
    let mut command = Command::new("valgrind");
    command.args(["-q", "--tool=callgrind", "--dump-instr=yes"]);
    command.arg(format!("--callgrind-out-file={}", output.display())).arg(program).arg("40");
    run(&mut command);
    Profile::open(&output).unwrap()
}

/// The lines of each object of a profile.
fn lines_by_object(profile: &Profile) -> BTreeMap<PathBuf, Vec<ProfileLine<'_>>> {
    let mut by_object: BTreeMap<PathBuf, Vec<ProfileLine<'_>>> = BTreeMap::new();
    for id in profile.functions() {
        let function = profile.function(id);
        let object = std::ffi::OsStr::from_bytes(profile.object(function.object));
        let lines = by_object.entry(object.into()).or_default();
        for place in profile.lines(id, &Selection::default()).places {
            let Some(address) = place.address else { continue };
            lines.push(ProfileLine { address, function: function.name, line: place.line });
        }
    }
    by_object
}

fn agreement_of(path: &Path, lines: &[ProfileLine<'_>]) -> (u64, Agreement) {
    let matching = Matching::new(&open(path), lines).unwrap();
    let agreement = matching.agreement();
    println!("{}: distance {:#x}, {agreement:?}", path.display(), matching.distance());
    (matching.distance(), agreement)
}

#[test]
fn recordings_agree_with_their_programs() {
    if !has_tools(&["valgrind", "gcc", "g++", "rustc"]) {
        return;
    }
    let directory = directory("matching");
    for (name, compiler, options, source) in [
        ("pie", "gcc", "-g -O2", "mill.c"),
        ("fixed", "gcc", "-g -O2 -no-pie", "mill.c"),
        ("static", "gcc", "-g -O2 -static", "mill.c"),
        ("static-pie", "gcc", "-g -O2 -static-pie", "mill.c"),
        ("prelinked", "gcc", "-g -O2 -Wl,-Ttext-segment=0x7000000", "mill.c"),
        ("cpp", "g++", "-g -O2", "mill.cpp"),
        ("cpp-O0", "g++", "-g", "mill.cpp"),
        ("rust", "rustc", "--edition=2021 -g -O", "mill.rs"),
        ("rust-v0", "rustc", "--edition=2021 -g -C symbol-mangling-version=v0", "mill.rs"),
    ] {
        if !is_thorough() && !["pie", "prelinked", "cpp-O0"].contains(&name) {
            continue;
        }
        let path = directory.join(name);
        compile(compiler, options, source, &path);
        let profile = record(&path);
        let objects = lines_by_object(&profile);
        assert!(objects[&path].len() > 50, "{name}");
        for (object, lines) in objects.iter().filter(|(object, _)| object.is_file()) {
            if !is_thorough() && *object != path {
                continue;
            }
            let (distance, agreement) = agreement_of(object, lines);
            assert_eq!(distance, 0, "{name}");
            assert!(agreement.is_same_build() || !agreement.is_known(), "{name}: {agreement:?}");
        }
    }
}

#[test]
fn another_build_and_another_address_are_recognised() {
    if !has_tools(&["valgrind", "gcc"]) {
        return;
    }
    let directory = directory("matching-other");
    let path = directory.join("mill");
    compile("gcc", "-g -O2", "mill.c", &path);
    let profile = record(&path);
    let objects = lines_by_object(&profile);
    let lines = &objects[&path];

    let other = directory.join("other");
    compile("gcc", "-g -O0", "mill.c", &other);
    let (_, agreement) = agreement_of(&other, lines);
    assert!(agreement.is_known() && !agreement.is_same_build(), "{agreement:?}");

    // A stripped program: Callgrind knows neither names nor lines.
    let bare: Vec<ProfileLine<'_>> = lines
        .iter()
        .map(|line| ProfileLine { function: b"0x0000000000001149", line: None, ..*line })
        .collect();
    let (_, agreement) = agreement_of(&path, &bare);
    assert_eq!((agreement.compared_names(), agreement.compared_lines()), (0, 0));
    assert!(agreement.is_same_build(), "{agreement:?}");
    let (_, agreement) = agreement_of(&other, &bare);
    assert!(agreement.is_known() && !agreement.is_same_build(), "{agreement:?}");
    let (_, agreement) = agreement_of(&path, &bare[..5]);
    assert!(!agreement.is_known(), "{agreement:?}");

    // As a producer writes that does not subtract the load address.
    let moved: Vec<ProfileLine<'_>> =
        lines.iter().map(|line| ProfileLine { address: line.address + 0x5555_5555_4000, ..*line }).collect();
    let (distance, agreement) = agreement_of(&path, &moved);
    assert_eq!(distance, 0x5555_5555_4000);
    assert!(agreement.is_same_build(), "{agreement:?}");

    // After a small change of the source, one function does not agree. Its instructions have moved by a byte.
    let matching = Matching::new(&open(&path), lines).unwrap();
    assert!(matching.agreement().is_complete(), "{:?}", matching.agreement());
    let of_function = |name: &str, distance: u64| {
        let lines = lines.iter().filter(|line| line.function == name.as_bytes());
        let moved: Vec<ProfileLine<'_>> =
            lines.map(|line| ProfileLine { address: line.address + distance, line: None, ..*line }).collect();
        assert!(moved.len() > 3, "{name}");
        matching.agreement_of(&open(&path), &moved).unwrap()
    };
    assert!(of_function("main", 0).is_complete());
    assert!(of_function("main", 1).is_contradicted(), "{:?}", of_function("main", 1));

    let (_, agreement) = agreement_of(&path, &[]);
    assert!(!agreement.is_known() && !agreement.is_same_build());
}
