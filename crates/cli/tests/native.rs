//! `gristmill record --engine native`: programs behave as without it, and their profiles are those of Callgrind.

#![cfg(all(test, target_os = "linux", target_arch = "x86_64"))]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

#[path = "native/accidents.rs"]
mod accidents;
#[path = "native/as_valgrind.rs"]
mod as_valgrind;
#[path = "native/changing_code.rs"]
mod changing_code;
#[path = "native/far_code.rs"]
mod far_code;
#[path = "native/flags.rs"]
mod flags;
mod harness;
#[path = "native/jumps.rs"]
mod jumps;
#[path = "native/leaving.rs"]
mod leaving;
#[path = "native/memory.rs"]
mod memory;
#[path = "native/options.rs"]
mod options;
#[path = "native/places.rs"]
mod places;
#[path = "native/processes.rs"]
mod processes;
#[path = "native/programs.rs"]
mod programs;
#[path = "native/random_blocks.rs"]
mod random_blocks;
#[path = "native/signals.rs"]
mod signals;
#[path = "native/source_path.rs"]
mod source_path;
#[path = "native/sums.rs"]
mod sums;
#[path = "native/threads.rs"]
mod threads;
#[path = "native/unusual.rs"]
mod unusual;

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output};

use harness::*;
use programs::*;
use sums::{Sums, environment_of_valgrind, search_path};

/// The greatest difference of two profiles: string routines of the C library take other paths on other offsets in a page.
const MAX_DIFFERENCE: u64 = 100;

/// The instructions of the block that ends a program of random ones.
const LAST_BLOCK_INSTRUCTIONS: u64 = 3;

/// `true` if the processor and the system have what the engine needs. A test that needs it is skipped with a word otherwise.
fn has_engine(tools: &[&str]) -> bool {
    let output = record(tempfile::tempdir().unwrap().path(), &["-q", "true"]);
    let message = stderr(&output);
    if message.contains("the native engine needs a processor") {
        println!("skipped: {message}");
        return false;
    }
    has(tools)
}

fn record(folder: &Path, arguments: &[&str]) -> Output {
    run_in(folder, &[&["record", "--engine", "native"], arguments].concat())
}

/// Records a program that succeeds, and compares its output with that which it has alone. Returns the output.
fn assert_same_output(folder: &Path, program: &str) -> String {
    let alone = Command::new(program).current_dir(folder).output().unwrap();
    let output = record(folder, &["-q", "-o", "a.out.%p", program]);
    assert_eq!((code(&output), stdout(&output)), (0, stdout(&alone)), "{}", stderr(&output));
    stdout(&output)
}

/// Records a program with both engines in the same environment, and compares functions, addresses and calls.
fn assert_same_profile(folder: &Path, program: &[&str]) {
    let options = ["--dump-instr=yes", "--demangle=no"];
    let native =
        [&["record", "--engine", "native", "-q", "--force", "-o", "native.out"], &options[..], program]
            .concat();
    let mut command = gristmill(&native);
    command.current_dir(folder).env_clear().envs(environment_of_valgrind());
    let output = command.output().unwrap();
    let mut command = gristmill(
        &[
            &["record", "--engine", "valgrind", "-q", "--force", "-o", "valgrind.out"][..],
            &["--valgrind-option=--run-libc-freeres=no"],
            &options[..],
            program,
        ]
        .concat(),
    );
    // Valgrind adds its own part of the environment.
    let expected = command.current_dir(folder).env_clear().env("PATH", search_path()).output().unwrap();
    assert_eq!(output.status, expected.status, "{program:?}: {}", stderr(&output));
    assert_eq!(output.stdout, expected.stdout, "{program:?}");
    let sums = [Sums::read(&folder.join("valgrind.out")), Sums::read(&folder.join("native.out"))];
    let (differences, count) = sums[0].differences(&sums[1]);
    assert!(count <= MAX_DIFFERENCE, "{program:?}: {}", differences.join("\n"));
}

#[test]
fn profiles_are_those_of_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    for (name, options, text) in [
        ("hello", &["-O1"][..], HELLO),
        ("calls", &["-O2", "-g"], CALLS),
        ("jumps", &["-O2", "-g"], JUMPS),
        ("strings", &["-O1"], STRINGS),
        ("switches", &["-O1", "-g", "-mno-red-zone"], SWITCHES),
    ] {
        compile(folder.path(), name, options, text);
        assert_same_profile(folder.path(), &[&format!("./{name}")]);
    }
    compile(folder.path(), "static", &["-O2", "-g", "-static"], CALLS);
    assert_same_profile(folder.path(), &["./static"]);
    compile(folder.path(), "targets", &["-O1"], &many_targets(3000));
    assert_same_profile(folder.path(), &["./targets"]);
    std::fs::write(folder.path().join("lines"), "b\na\nc\n".repeat(500)).unwrap();
    for program in
        [&["sort", "lines"][..], &["gzip", "-c", "lines"], &["awk", "{n += NR} END {print n}", "lines"]]
    {
        if Command::new(program[0]).arg("--version").output().is_ok() {
            assert_same_profile(folder.path(), program);
        }
    }
}

#[test]
fn a_library_in_the_place_of_another_has_functions_of_its_own() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "loads", &["-O1", "-g"], LOADS);
    for (name, factor) in [("first.so", "-DFACTOR=3"), ("second.so", "-DFACTOR=7")] {
        compile(folder.path(), name, &["-O1", "-g", "-shared", "-fPIC", factor], LOADED);
    }
    let sums = ["valgrind", "native"].map(|engine| {
        let options = ["record", "--engine", engine, "-q", "--force", "-o", engine, "--dump-instr=yes"];
        let output = run_in(folder.path(), &[&options[..], &["./loads"]].concat());
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{engine}");
        Sums::read(&folder.path().join(engine))
    });
    for library in ["first.so ", "second.so "] {
        let [expected, found] = [&sums[0], &sums[1]].map(|sums| sums.of(library));
        assert!(expected.functions() > 8, "{library}");
        assert_eq!(found.differences(&expected), (Vec::new(), 0), "{library}");
    }
}

#[test]
fn a_library_that_was_built_again_has_functions_of_its_own() {
    if !has_engine(&["cc"]) {
        return;
    }
    for (replace, lost) in
        [("rename(\"new.so\", \"it.so\")", false), ("system(\"cat new.so > it.so\")", true)]
    {
        let folder = folder(&[]);
        compile(folder.path(), "builds", &["-O1", "-g", &format!("-DREPLACE={replace}")], BUILDS);
        for (name, function) in [("it.so", "-DNAME=before"), ("new.so", "-DNAME=after")] {
            compile(folder.path(), name, &["-O1", "-g", "-shared", "-fPIC", function], BUILT);
        }
        let output = record(folder.path(), &["-o", "a.out", "./builds"]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let is_said =
            stderr(&output).contains("it.so: the file, or that with its debug information, was written over");
        assert_eq!(is_said, lost, "{}", stderr(&output));
        let options =
            ["functions", "a.out", "-n", "0", "--object", "/it[.]so", "--filter", "^(before|after)$"];
        let listed = stdout(&run_in(folder.path(), &[&options[..], &["--format", "csv"]].concat()));
        let mut rows: Vec<&str> =
            listed.lines().skip(1).map(|line| line.split('/').next().unwrap()).collect();
        rows.sort_unstable();
        // Both have the same instructions, and each is called once.
        let cost: u64 = rows[0].split(',').next().unwrap().parse().unwrap();
        assert!((3000..20_000).contains(&cost), "{listed}");
        let file = if lost { "???," } else { "" };
        assert_eq!(
            rows,
            [format!("{cost},{cost},1,,after,"), format!("{cost},{cost},1,,before,{file}")],
            "{listed}"
        );
    }
}

#[test]
fn exceptions_end_calls_as_under_callgrind() {
    if !has_engine(&["valgrind", "c++"]) {
        return;
    }
    let folder = folder(&[]);
    compile_cpp(folder.path(), "exceptions", &["-O1", "-g"], EXCEPTIONS);
    assert_same_profile(folder.path(), &["./exceptions"]);
}

#[test]
fn signals_come_while_the_code_cache_is_full() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "again", &["-O1"], MAPPED_AGAIN);
    let alone = Command::new("./again").current_dir(folder.path()).output().unwrap();
    for _ in 0..10 {
        let options = ["-q", "--force", "--code-cache=100", "-o", "a.out", "./again", "signals"];
        let output = record(folder.path(), &options);
        assert_eq!((code(&output), stdout(&output)), (0, stdout(&alone)), "{}", stderr(&output));
    }
}

/// Functions of one file whose shown names are equal are one function: here two destructors of a class, one of which calls the other.
#[test]
fn functions_with_one_shown_name_are_one() {
    if !has_engine(&["valgrind", "c++"]) {
        return;
    }
    let folder = folder(&[]);
    compile_cpp(folder.path(), "namesakes", &["-O0", "-g"], NAMESAKES);
    for (option, parts) in [
        ("--demangle=yes", 0),
        ("--demangle=no", 0),
        ("--separate-recs=3", 0),
        ("--toggle-collect=Derived::~Derived()", 0),
        ("--dump-before=Derived::~Derived()", 20),
    ] {
        let sums = ["valgrind", "native"].map(|engine| {
            let options = ["record", "--engine", engine, "-q", "--force", "-o", engine, "--dump-instr=yes"];
            let output = run_in(folder.path(), &[&options[..], &[option, "./namesakes"]].concat());
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{engine} {option}");
            let part = |number: usize| folder.path().join(format!("{engine}.{number}"));
            assert!(parts == 0 || part(parts).exists(), "{engine} {option}");
            assert!(!part(parts + 1).exists(), "{engine} {option}");
            Sums::read(&folder.path().join(engine)).of("namesakes ")
        });
        assert!(sums[0].functions() > 1, "{option}");
        assert_eq!(sums[1].differences(&sums[0]), (Vec::new(), 0), "{option}");
    }
}

#[test]
fn code_cache_links_and_place_of_counters_do_not_change_the_file() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "calls", &["-O2", "-g"], CALLS);
    compile(folder.path(), "deep", &["-O1"], DEEP);
    compile(folder.path(), "ways", &["-O1"], WAYS);
    compile(folder.path(), "switches", &["-O1", "-mno-red-zone"], SWITCHES);
    compile(folder.path(), "pops", &["-O1", "-mno-red-zone"], unusual::POPS);
    compile(folder.path(), "changes", &["-O1", "-z", "execstack"], changing_code::CHANGES);
    compile(folder.path(), "targets", &["-O1"], &many_targets(1000));
    compile(folder.path(), "again", &["-O1"], MAPPED_AGAIN);
    let programs = [
        &["./targets"][..],
        &["./again"],
        &["./calls"],
        &["./deep"],
        &["./ways"],
        &["./switches"],
        &["./pops"],
        &["./changes"],
        &["sort", "--help"],
    ];
    for program in programs {
        let files = [
            None,
            Some("--code-cache=1"),
            Some("--code-cache=100"),
            Some("--count-in-vectors=no"),
            Some("--link-blocks=no"),
        ]
        .map(|size| {
            let options = ["-q", "--force", "--dump-instr=yes", "-o", "a.out"];
            let output = record(folder.path(), &[&options[..], size.as_slice(), program].concat());
            assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{program:?}");
            let text = std::fs::read_to_string(folder.path().join("a.out")).unwrap();
            let lines: Vec<String> =
                text.lines().filter(|line| !line.starts_with("pid:")).map(str::to_owned).collect();
            (stdout(&output), lines)
        });
        let alone = Command::new(program[0]).args(&program[1..]).current_dir(folder.path()).output().unwrap();
        assert_eq!(files[0].0, stdout(&alone), "{program:?}");
        assert!(files[0].1.len() > 100, "{program:?}");
        assert!(files.iter().all(|file| *file == files[0]), "{program:?}");
        // An instruction that fails takes none of the counts.
        let costs = files[0].1.iter().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        assert!(costs.into_iter().all(|cost| cost < 1 << 40), "{program:?}");
    }
}

#[test]
fn random_instructions_do_the_same_and_are_counted() {
    if !has_engine(&["cc"]) {
        return;
    }
    for seed in 0..(40 / one_in(10) as u64) {
        let has_undefined_flags = seed % 2 == 0;
        let source = random_blocks::program(seed, 1000, has_undefined_flags);
        let folder = folder(&[("random.S", source.as_bytes())]);
        let built = Command::new("cc")
            .args(["-nostdlib", "-static", "-o", "random", "random.S"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert!(built.status.success(), "{seed}: {}", String::from_utf8_lossy(&built.stderr));
        let expected = Command::new("./random").current_dir(folder.path()).output().unwrap();
        assert!(expected.status.success() && !expected.stdout.is_empty());
        let counters = if seed % 3 == 0 { "--count-in-vectors=no" } else { "--count-in-vectors=yes" };
        let output = record(folder.path(), &["-q", counters, "-o", "native.out", "./random"]);
        assert_eq!(code(&output), 0, "{seed}: {}", stderr(&output));
        assert!(output.stdout == expected.stdout, "seed {seed}: registers, flags or memory differ");
        if !has_undefined_flags && has(&["valgrind"]) {
            let arguments = ["record", "--engine", "valgrind", "-q", "-o", "valgrind.out", "./random"];
            run_in(folder.path(), &arguments);
            let total = |name: &str| Sums::read(&folder.path().join(name)).total;
            // Callgrind does not count the block that ends the program.
            let last = LAST_BLOCK_INSTRUCTIONS;
            assert_eq!(total("native.out"), total("valgrind.out") + last, "{seed}");
        }
    }
}

#[test]
fn signals_reach_the_program() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "signals", &["-O1"], SIGNALS);
    let expected = Command::new("./signals").current_dir(folder.path()).output().unwrap();
    assert_eq!(stdout(&expected), SIGNALS_OUTPUT);
    for _ in 0..one_in(1).max(3) {
        let output = record(folder.path(), &["-o", "a.out", "--force", "./signals"]);
        assert_eq!(stdout(&output), SIGNALS_OUTPUT, "{}", stderr(&output));
        assert_eq!(output.status.signal(), expected.status.signal());
        assert!(Sums::read(&folder.path().join("a.out")).total > 1000);
    }
}

#[test]
fn the_program_has_its_streams_status_and_children() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    for (script, status, text) in [
        ("echo out; exit 7", 7, "out\n"),
        ("(echo child; exit 3); echo $?", 0, "child\n3\n"),
        ("true | cat; readlink /proc/$$/comm; cat /proc/$$/comm", 0, "sh\n"),
    ] {
        let output = record(folder.path(), &["-o", "%p.out", "sh", "-c", script]);
        assert_eq!(
            (code(&output), stdout(&output).as_str()),
            (status, text),
            "{script}: {}",
            stderr(&output)
        );
    }
    for (name, number) in [("SEGV", 11), ("TERM", 15), ("ABRT", 6), ("USR1", 10), ("KILL", 9)] {
        let output = record(folder.path(), &["-o", "s.%p", "sh", "-c", &format!("kill -{name} $$")]);
        assert_eq!(output.status.signal(), Some(number), "{name}: {}", stderr(&output));
        assert_eq!(number != 9, stderr(&output).contains("gristmill: recorded "), "{name}");
    }
}

#[test]
fn what_it_cannot_do_is_refused_before_the_program_runs() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    write_script(&folder.path().join("text"), "no program\n");
    std::fs::write(folder.path().join("text"), "no program").unwrap();
    let ran = folder.path().join("ran");
    for (options, expected) in [
        (&["--cache-sim=yes"][..], "it has no simulation of caches yet"),
        (&["--branch-sim=yes"], "it has no --branch-sim=yes yet"),
        (&["--valgrind-option=--smc-check=all"], "it has no --valgrind-option yet"),
    ] {
        let output = record(folder.path(), &[options, &["sh", "-c", "touch ran"]].concat());
        assert_eq!(code(&output), 2, "{options:?}");
        assert!(stderr(&output).contains(expected), "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("try --engine=valgrind"), "{}", stderr(&output));
        assert!(!ran.exists());
    }
    let output = record(folder.path(), &["./text"]);
    assert!(stderr(&output).contains("is not an ELF program"), "{}", stderr(&output));
}

#[test]
fn what_it_finds_it_cannot_do_ends_with_a_reason_and_a_profile() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    for (name, instruction, expected) in [
        ("vectors", "0x62, 0xf1, 0x7d, 0x48, 0xef, 0xc0", "an instruction of AVX-512"),
        ("transaction", "0xc7, 0xf8, 0, 0, 0, 0", "a transaction"),
        ("segment", "0x65, 0x8b, 0x04, 0x25, 0, 0, 0, 0", "the segment gs"),
    ] {
        compile(folder.path(), name, &["-O1"], &INSTRUCTION.replace("{BYTES}", instruction));
        let output = record(folder.path(), &["-o", &format!("{name}.out"), &format!("./{name}")]);
        assert_eq!((code(&output), stdout(&output).as_str()), (2, "begin\n"), "{name}: {}", stderr(&output));
        let said = stderr(&output);
        assert!(said.contains("the recording ended early: ") && said.contains(expected), "{name}: {said}");
        assert!(Sums::read(&folder.path().join(format!("{name}.out"))).total > 1000, "{name}");
        // With `-q`, that is all.
        let output = record(folder.path(), &["-q", "-o", &format!("{name}.q"), &format!("./{name}")]);
        let said = stderr(&output);
        assert!(said.contains(expected) && said.lines().count() == 1, "{name}: {said}");
    }
}
