//! `gristmill record` of programs that start others: which files are theirs, and what is said of them. A script stands in for Valgrind, so
//! that processes have the ids that a test needs.

#![cfg(all(test, target_os = "linux"))]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use harness::*;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// The beginning of the script. `profile ID FORKS` prints the profile of a process.
const VALGRIND: &str = r#"#!/bin/sh
case "$*" in --version) echo valgrind-3.19.0; exit;; esac
for word; do
    case $word in
        --log-file=*) log=${word#*=} log=${log%\%p};;
        --callgrind-out-file=*) out=${word#*=} out=${out%\%p};;
    esac
done
profile() {
    printf 'version: 1\ncreator: callgrind-3.19.0\npid: %s\ncmd: ./x\npart: 1\npositions: line\nevents: Ir\n\n' $1
    printf 'ob=/lib/libc.so.6\nfn=fork\n1 1\n\nob=./x\nfn=main\n1 5\ncob=/lib/libc.so.6\ncfn=fork\n'
    printf 'calls=%s 1\n1 %s\n\ntotals: 6\n' $2 $2
}
: > "$log$$"
profile $$ ${forks:-1} > "$out$$"
"#;

/// The id of a process that is forked. No process of the system has it.
const FORKED: u32 = 2_000_000_000;

/// Writes a script that goes on so.
fn script(folder: &Path, rest: &str) {
    write_script(&folder.join("fake"), &format!("{VALGRIND}{rest}\n"));
}

/// Records with a script that goes on so.
fn record(folder: &Path, script: &str, options: &[&str]) -> Output {
    self::script(folder, script);
    run_in(folder, &[&["record", "--valgrind", "./fake", "-o", "x.%p"], options, &["/bin/true"]].concat())
}

/// The texts of files, by name.
fn texts(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let texts = entries.map(|entry| {
        (entry.file_name().into_string().unwrap(), std::fs::read_to_string(entry.path()).unwrap())
    });
    texts.filter(|(name, _)| name.starts_with("x.")).collect()
}

#[test]
fn a_process_with_the_id_of_an_earlier_recording_overwrites_nothing() {
    let script = format!(
        ": > \"$log\"{FORKED}; profile {FORKED} 1 > \"$out\"{FORKED}; profile {FORKED} 1 > \"$out\"{FORKED}.1"
    );
    let (old, new) = (format!("x.{FORKED}"), format!("x.{FORKED}_2"));
    let folder = folder(&[(&old, b"old"), ("x.1999999999", b"other")]);
    let output = record(folder.path(), &script, &[]);
    let said = stderr(&output);
    assert_eq!(code(&output), 0, "{said}");
    assert!(said.contains("3 files: x.") && said.contains(&format!(", {new}.1, {new}\n")), "{said}");
    assert!(said.contains("has the id of an earlier recording"), "{said}");
    let texts = texts(folder.path());
    assert_eq!((texts[&old].as_str(), texts["x.1999999999"].as_str()), ("old", "other"));
    assert_eq!(texts.len(), 5);
    assert!(texts[&new].starts_with("version: 1\n"));
}

/// The program is not started then, so nothing else is said.
#[test]
fn a_file_of_the_program_itself_is_the_only_reason() {
    let folder = folder(&[]);
    script(folder.path(), "");
    let mut last = std::process::Command::new("true").spawn().unwrap();
    last.wait().unwrap();
    // One of the next ids will be that of the program.
    for id in last.id()..last.id() + 3_000 {
        std::fs::write(folder.path().join(format!("x.{id}")), "old").unwrap();
    }
    let output = record(folder.path(), "", &[]);
    let said = stderr(&output);
    assert_eq!((code(&output), said.lines().count()), (2, 2), "{said}");
    assert!(said.contains(" already exists\n  hint: choose another name with -o"), "{said}");
}

#[test]
fn the_files_of_earlier_recordings_are_overwritten_on_request() {
    let old = format!("x.{FORKED}");
    let folder = folder(&[(&old, b"old")]);
    let script = format!(": > \"$log\"{FORKED}; profile {FORKED} 1 > \"$out\"{FORKED}");
    let output = record(folder.path(), &script, &["--force"]);
    assert!(stderr(&output).contains("2 files: x."), "{}", stderr(&output));
    assert!(texts(folder.path())[&old].starts_with("version: 1\n"));
}

/// The program is killed, or becomes another one, but what it forked has a profile.
#[test]
fn what_the_program_started_is_not_taken_for_the_program() {
    let folder = folder(&[]);
    let script = format!(": > \"$log\"{FORKED}; profile {FORKED} 1 > \"$out\"{FORKED}; : > \"$out$$\"");
    let output = record(folder.path(), &script, &[]);
    let said = stderr(&output);
    assert!(code(&output) == 2 && said.contains("the program itself has no profile: x."), "{said}");
    assert_eq!(texts(folder.path()).keys().map(String::as_str).collect::<Vec<_>>(), [format!("x.{FORKED}")]);
}

/// A disk that was full when a process ended can have space again. Callgrind tells there what it counted, and nothing of a process that
/// becomes another program.
#[test]
fn an_empty_profile_of_a_process_that_counted_is_missed() {
    for (messages, threads, is_missed) in [
        ("Collected : 0 12", "", true),
        ("Collected : 0", "", false),
        ("Command: ./y", "", false),
        ("Collected : 12", "profile 2000000000 1 > \"$out\"2000000000-01", false),
    ] {
        let folder = folder(&[]);
        let script = format!(
            "echo '=={FORKED}== Events    : Ir\n=={FORKED}== {messages}' > \"$log\"{FORKED}; : > \"$out\"{FORKED}; {threads}"
        );
        let output = record(folder.path(), &script, &[]);
        let said = stderr(&output);
        assert_eq!(code(&output), if is_missed { 2 } else { 0 }, "{messages}: {said}");
        let removed = format!("x.{FORKED}: removed, as it was cut off");
        assert_eq!(said.contains(&removed), is_missed, "{messages}: {said}");
        assert!(said.contains(" instructions (Ir)"), "{messages}: {said}");
        assert!(!said.contains("Collected"), "{messages}: {said}");
    }
}

/// A profile that could not be written is missed. Of a process that was killed, or became another program, the messages do not tell.
#[test]
fn a_process_without_a_profile_is_missed_or_named() {
    let named = format!("gristmill: process {FORKED} left no profile: it was killed, ");
    let cut_off = format!("x.{FORKED}: removed, as it was cut off");
    let lost = format!("x.{FORKED}: this profile could not be written");
    let many = "printf '%02000000d\\n' 7";
    for (rest, status, expected) in [
        // No space for the messages, either.
        (": > \"$log\"ID; : > \"$out\"ID".to_owned(), 2, &cut_off),
        (": > \"$log\"ID".to_owned(), 2, &lost),
        (
            format!("{{ {many}; echo '==ID== Collected : 7'; {many}; }} > \"$log\"ID; : > \"$out\"ID"),
            2,
            &cut_off,
        ),
        ("echo '==ID== Command: y' > \"$log\"ID; : > \"$out\"ID".to_owned(), 0, &named),
        ("echo '==ID== Command: y' > \"$log\"ID".to_owned(), 0, &named),
        // With `-q` in a file of options, there are no messages at all.
        (": > \"$log$$\"; : > \"$log\"ID; : > \"$out\"ID".to_owned(), 0, &named),
        ("echo '==ID== Collected : 0' > \"$log\"ID; : > \"$out\"ID".to_owned(), 0, &String::new()),
    ] {
        let folder = folder(&[]);
        let script =
            format!("echo \"==$$== Command: ./x\" > \"$log$$\"\n{}", rest.replace("ID", &FORKED.to_string()));
        let output = record(folder.path(), &script, &["--trace-children=yes"]);
        let said = stderr(&output);
        assert_eq!(code(&output), status, "{rest}: {}", &said[said.len().saturating_sub(999)..]);
        assert!(said.contains(expected), "{rest}: {}", &said[said.len().saturating_sub(999)..]);
        assert_eq!(said.contains("left no profile"), *expected == named, "{rest}");
        assert!(said.contains(" instructions (Ir)"), "{rest}");
    }
    let folder = folder(&[]);
    let each = |id: u32| format!("echo '=={id}== Command: y' > \"$log\"{id}\n");
    let script: String = (FORKED..FORKED + 7).map(each).collect();
    let said = stderr(&record(folder.path(), &script, &["--trace-children=yes"]));
    assert!(said.contains("7 processes left no profile (2000000000, 2000000001, "), "{said}");
    assert!(said.contains("2000000004, ...): each was killed"), "{said}");
}

/// Callgrind writes no profile of a process that becomes another program.
#[test]
fn an_earlier_recording_is_not_taken_for_one_of_a_process_that_wrote_none() {
    let old = format!("x.{FORKED}");
    let text = format!("version: 1\ncreator: callgrind-3.19.0\npid: {FORKED}\nevents: Ir\nfn=main\n1 7\n");
    let folder = folder(&[(&old, text.as_bytes())]);
    let output = record(folder.path(), &format!(": > \"$log\"{FORKED}"), &[]);
    let said = stderr(&output);
    assert!(code(&output) == 0 && said.contains("recorded 6 instructions"), "{said}");
    assert_eq!(texts(folder.path())[&old], text);
}

/// In a container, the process ids of two recordings are often the same.
#[test]
fn parts_of_an_earlier_recording_are_not_counted() {
    let folder = folder(&[]);
    // The script says which id the program has, as if it had been that of the earlier one.
    let old = format!(
        "version: 1\ncreator: callgrind-3.19.0\npid: {FORKED}\npart: 1\nevents: Ir\nfn=main\n1 7\ntotals: 7\n"
    );
    for name in ["x.out", "x.out.1", "x.out.2", "x.out.3"] {
        std::fs::write(folder.path().join(name), &old).unwrap();
    }
    let script = format!(
        ": > \"$log\"{FORKED}; rm -f x.out; profile {FORKED} 1 > x.out; profile {FORKED} 1 > x.out.1"
    );
    self::script(folder.path(), &script);
    let options = ["record", "--valgrind", "./fake", "--force", "-o", "x.out", "/bin/true"];
    let output = run_in(folder.path(), &options);
    let said = stderr(&output);
    assert!(
        said.contains("recorded 12 instructions") && said.contains(" 2 files: x.out.1, x.out\n"),
        "{said}"
    );
    assert!(said.contains("x.out.2 and 1 more are of an earlier recording"), "{said}");
}

#[test]
fn recordings_of_one_name_do_not_meet() {
    let folder = folder(&[]);
    script(folder.path(), "while [ ! -e go ]; do sleep 0.01; done; profile $$ 1 > x.out");
    let arguments = ["record", "--valgrind", "./fake", "-o", "x.out", "/bin/true"];
    let mut started: Vec<_> = (0..2)
        .map(|_| gristmill(&arguments).current_dir(folder.path()).stderr(Stdio::piped()).spawn().unwrap())
        .collect();
    // One of them is refused, before the other one has written anything.
    let refused = loop {
        match started.iter_mut().position(|child| child.try_wait().unwrap().is_some()) {
            Some(refused) => break started.remove(refused),
            None => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    assert!(stderr(&refused.wait_with_output().unwrap()).contains("x.out already exists"));
    std::fs::write(folder.path().join("go"), "").unwrap();
    let other = started.remove(0).wait_with_output().unwrap();
    assert!(code(&other) == 0 && stderr(&other).contains(" s: x.out\n"), "{}", stderr(&other));
}

#[test]
fn a_file_that_cannot_be_written_is_noticed_before_the_start() {
    let folder = folder(&[]);
    script(folder.path(), ": > started");
    let output = run_in(folder.path(), &["record", "--valgrind", "./fake", "-o", "/proc/x", "/bin/true"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("/proc/x cannot be written: "), "{}", stderr(&output));
    assert!(!folder.path().join("started").exists());
    // Nothing is left if Valgrind does not begin.
    std::fs::write(folder.path().join("fake"), "#!/bin/sh\necho valgrind-3.19.0\n").unwrap();
    let output = run_in(folder.path(), &["record", "--valgrind", "./fake", "-o", "x.out", "/bin/true"]);
    assert!(code(&output) == 2 && texts(folder.path()).is_empty(), "{}", stderr(&output));
}

#[test]
fn a_name_that_looks_like_an_option_is_a_file() {
    for name in ["-", "-x"] {
        let folder = folder(&[]);
        script(folder.path(), "profile $$ 1 > \"$out\"");
        let option = format!("-o{name}");
        let output = run_in(folder.path(), &["record", "--valgrind", "./fake", &option, "/bin/true"]);
        let said = stderr(&output);
        assert!(
            said.contains("recorded 6 instructions") && said.ends_with(&format!("gristmill ./{name}\n")),
            "{said}"
        );
    }
}

#[test]
fn a_program_that_empties_the_temporary_directory_is_recorded() {
    let folder = folder(&[]);
    let output = record(folder.path(), "rm -r \"$log\"; exit 4", &[]);
    let said = stderr(&output);
    assert!(code(&output) == 4 && said.contains("recorded 6 instructions"), "{said}");
    assert!(said.contains("warning: the program has removed the messages of Valgrind"), "{said}");
}

#[test]
fn forks_are_counted_by_process() {
    let folder = folder(&[]);
    let forked = |count: u32| {
        let of_one = |id: u32| format!(": > \"$log\"{id}; profile {id} {} > \"$out\"{id}\n", id - FORKED + 1);
        format!(
            "forks=3; profile $$ 3 > \"$out$$\"\n{}",
            (0..count).map(|nth| of_one(FORKED + nth)).collect::<String>()
        )
    };
    let said = stderr(&record(folder.path(), &forked(3), &[]));
    assert!(said.contains("3 processes were forked") && !said.contains("left a profile"), "{said}");
    // One has become another program.
    let said = stderr(&record(folder.path(), &forked(2), &["--force"]));
    assert!(said.contains("not each process that it forked (3 calls of fork) left a profile"), "{said}");
}

#[test]
fn messages_without_end_are_cut_off() {
    let folder = folder(&[]);
    let line = "x".repeat(99);
    let script = format!("n=0; while [ $n -lt 20000 ]; do echo {line}; n=$((n+1)); done > \"$log$$\"");
    let said = stderr(&record(folder.path(), &script, &[]));
    assert!(said.len() < (1 << 20) + 1000, "{}", said.len());
    assert!(said.contains(&format!("\n{line}\n== more messages of Valgrind are left out here\n")));
    let script = String::from("printf '%02000000d' 7 > \"$log$$\"");
    let said = stderr(&record(folder.path(), &script, &[]));
    assert!(said.contains("000\n== more messages of Valgrind are left out here\n"), "{}", said.len());
}

#[test]
fn who_ignores_the_end_of_children_can_record() {
    if !has(&["valgrind", "cc", "env"]) {
        return;
    }
    let program =
        b"#include <signal.h>\nint main(void) { return signal(SIGCHLD, SIG_DFL) == SIG_IGN ? 5 : 6; }\n";
    let folder = folder(&[("program.c", program)]);
    let built = Command::new("cc").args(["-o", "program", "program.c"]).current_dir(folder.path()).status();
    assert!(built.unwrap().success());
    let ignoring = |words: &[&str]| {
        let mut command = Command::new("env");
        command.arg("--ignore-signal=CHLD").args(words).current_dir(folder.path()).output().unwrap()
    };
    let output = ignoring(&[
        env!("CARGO_BIN_EXE_gristmill"),
        "record",
        "--engine",
        "valgrind",
        "-o",
        "a.out",
        "./program",
    ]);
    assert!(stderr(&output).contains("gristmill: recorded "), "{}", stderr(&output));
    // The program sees what it sees without Gristmill: some shells in between do not pass it on.
    assert_eq!(code(&output), code(&ignoring(&["valgrind", "-q", "--tool=none", "./program"])));
}

/// A script starts programs in the background so that they ignore SIGINT. One with a handler gets it all the same.
#[test]
fn a_program_in_the_background_of_a_script_gets_its_signals() {
    if !has(&["valgrind", "cc", "env"]) {
        return;
    }
    let program = b"#include <signal.h>\n#include <unistd.h>\nstatic void end(int signal) { _exit(signal == SIGINT ? 5 : 6); }\n\
                    int main(void) { signal(SIGINT, end); write(1, \"ready\\n\", 6); for (;;) pause(); }\n";
    let folder = folder(&[("program.c", program)]);
    let built = Command::new("cc").args(["-o", "program", "program.c"]).current_dir(folder.path()).status();
    assert!(built.unwrap().success());
    for engine in ["native", "valgrind"] {
        let mut command = Command::new("env");
        command.args([
            "--ignore-signal=INT",
            env!("CARGO_BIN_EXE_gristmill"),
            "record",
            "--engine",
            engine,
            "--force",
        ]);
        command.args(["-o", "a.out", "./program"]).current_dir(folder.path());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut ready = [0; 6];
        child.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
        kill(Pid::from_raw(child.id().try_into().unwrap()), Signal::SIGINT).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(5), "{engine}");
    }
}
