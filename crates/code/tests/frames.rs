//! Chains of inlined functions and source lines are those of `llvm-addr2line -i -f`.
#![cfg(target_os = "linux")]
// Tests may panic and print. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gristmill_code::{Binary, Frame, FunctionOrigin, Syntax};
use gristmill_profile::{Profile, Selection};
use harness::{builds, directory, has_tools, installed, is_thorough, open, run};

/// A function and its line, `?` for what is unknown.
type Line = (String, String);

/// The answer of `llvm-addr2line` for each address.
fn addr2line(path: &Path, addresses: &[u64], options: &[&str]) -> Vec<Vec<Line>> {
    let mut command = Command::new("llvm-addr2line");
    command.args(["-a", "-i", "-f"]).args(options).arg("-e").arg(path);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text: String = addresses.iter().map(|address| format!("{address:#x}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut chains: Vec<Vec<Line>> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("0x") && !line.contains(' ') {
            chains.push(Vec::new());
            continue;
        }
        let function = if line == "??" { "?" } else { line };
        let source = lines.next().unwrap();
        let (file, number) = source.rsplit_once(':').unwrap();
        let number = number.split(' ').next().unwrap();
        let file = if file == "??" { "?" } else { file };
        let number = if number == "0" { "?" } else { number };
        chains.last_mut().unwrap().push((function.to_owned(), format!("{file}:{number}")));
    }
    assert_eq!(chains.len(), addresses.len());
    // Nothing is known.
    for chain in &mut chains {
        chain.retain(|line| *line != ("?".to_owned(), "?:?".to_owned()));
    }
    chains
}

/// A path of LLVM with one directory less, if it has one twice: `./csu/./csu/init-first.c`. That is so if the directory of the
/// compilation and that of the file are the same relative path, as in glibc of Debian. There is no such file.
fn without_doubled_directory(path: &str) -> String {
    let halves = path.match_indices("/./").find_map(|(at, _)| {
        let rest = path[at + 1..].strip_prefix(&path[..at])?;
        (path.starts_with("./") && rest.starts_with('/')).then(|| format!("{}{rest}", &path[..at]))
    });
    halves.unwrap_or_else(|| path.to_owned())
}

fn line(frame: &Frame) -> Line {
    (frame.function().unwrap_or("?").to_owned(), frame.source().to_string())
}

/// The addresses of all instructions of every `step`th function.
fn addresses(binary: &Binary, step: usize) -> Vec<u64> {
    let functions = binary.functions();
    // LLVM knows no stubs: it calls them by the function before them.
    let functions = functions.iter().filter(|function| function.origin() != FunctionOrigin::Stubs);
    let ranges = functions.step_by(step).map(|function| function.range());
    ranges.flat_map(|range| binary.instructions(range, Syntax::Att).unwrap()).map(|i| i.address()).collect()
}

fn compare(path: &Path, step: usize) {
    let binary = open(path);
    compare_at(&binary, &addresses(&binary, step));
}

fn compare_at(binary: &Binary, addresses: &[u64]) {
    let path = binary.path();
    // LLVM takes no names from the symbol table of a separate file, unless it is asked about this one.
    let asked = binary.debug_file().unwrap_or(path);
    let expected = addr2line(asked, addresses, &[]);
    let (mut differences, mut inlined) = (0, 0);
    for (address, expected) in addresses.iter().zip(&expected) {
        let found: Vec<Line> = binary.frames(*address).unwrap().iter().map(line).collect();
        // Without debug information, LLVM takes the file from the symbol table, which names one for static functions.
        let mut expected = expected.clone();
        if let ([(_, here)], [(_, there)]) = (&found[..], &mut expected[..])
            && here == "?:?"
            && there.ends_with(":?")
        {
            there.clone_from(here);
        }
        for (_, there) in &mut expected {
            *there = without_doubled_directory(there);
        }
        inlined += usize::from(found.len() > 1);
        // Labels of the assembler inside a function are no functions; 32-bit programs have some.
        if let (Some((here, _)), Some((there, _))) = (found.last(), expected.last_mut())
            && there.starts_with(".L")
        {
            there.clone_from(here);
        }
        if found != expected {
            differences += 1;
            if differences <= 5 {
                println!("{address:#x}\n  here {found:?}\n  llvm {expected:?}");
            }
        }
    }
    println!("{}: {} addresses, {inlined} with inlined functions", path.display(), addresses.len());
    assert_eq!(differences, 0, "{}", path.display());
}

#[test]
fn chains_of_compiled_programs_are_those_of_llvm() {
    if !has_tools(&["llvm-addr2line"]) {
        return;
    }
    let directory = directory("frames");
    for build in builds() {
        let path = build.compile(&directory);
        compare(&path, if is_thorough() { 1 } else { 3 });
    }
}

/// Programs of the machine: some have separate debug information, others only exported symbols.
#[test]
fn chains_of_installed_programs_are_those_of_llvm() {
    if !has_tools(&["llvm-addr2line"]) {
        return;
    }
    for path in installed() {
        let count = open(&path).functions().len();
        compare(&path, (count / if is_thorough() { 1000 } else { 60 }).max(1));
    }
}

/// All addresses of a recording of the compiler: its library of more than 100 MB, that of LLVM, libc and the dynamic linker.
#[test]
fn chains_of_a_recording_of_rustc_are_those_of_llvm() {
    // It takes half a minute.
    if !is_thorough() || !has_tools(&["llvm-addr2line", "rustc", "valgrind"]) {
        return;
    }
    let root = run(Command::new("rustc").args(["--print", "sysroot"]));
    let recording = directory("rustc").join("callgrind.out");
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["-q", "--tool=callgrind", "--dump-instr=yes"]);
    valgrind.arg(format!("--callgrind-out-file={}", recording.display()));
    run(valgrind.arg(Path::new(root.trim()).join("bin/rustc")).arg("--version"));
    let profile = Profile::open(&recording).unwrap();
    let mut by_object: BTreeMap<PathBuf, BTreeSet<u64>> = BTreeMap::new();
    for id in profile.functions() {
        let object = std::ffi::OsStr::from_bytes(profile.object(profile.function(id).object));
        let lines = profile.lines(id, &Selection::default());
        let addresses = lines.places.iter().filter_map(|place| place.address);
        by_object.entry(object.into()).or_default().extend(addresses);
    }
    by_object.retain(|object, _| object.is_file());
    assert!(by_object.keys().any(|object| object.to_string_lossy().contains("librustc_driver")));
    for (object, addresses) in &by_object {
        let binary = open(object);
        let is_of_function = |address: &u64| {
            binary.function(*address).is_some_and(|function| function.origin() != FunctionOrigin::Stubs)
        };
        let addresses: Vec<u64> = addresses.iter().copied().filter(is_of_function).collect();
        compare_at(&binary, &addresses);
    }
}

#[test]
fn threads_share_a_program() {
    if !has_tools(&["g++"]) {
        return;
    }
    let path = directory("threads").join("mill");
    harness::compile("g++", "-g -O2", "mill.cpp", &path);
    let expected = harness::chains(&open(&path));
    let binary = std::sync::Arc::new(open(&path));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let binary = binary.clone();
            std::thread::spawn(move || harness::chains(&binary))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}
