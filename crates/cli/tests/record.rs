//! `gristmill record` with the installed Valgrind: the program behaves as without it, and leaves its profile.

#![cfg(all(test, target_os = "linux"))]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;
#[path = "record/programs.rs"]
mod programs;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use harness::*;
use programs::*;

/// Records with Valgrind, unless the arguments name an engine.
fn record(folder: &Path, arguments: &[&str]) -> Output {
    let has_engine = arguments.iter().any(|argument| argument.starts_with("--engine"));
    let engine = if has_engine { &[][..] } else { &["--engine", "valgrind"] };
    run_in(folder, &[&["record"], engine, arguments].concat())
}

#[test]
fn the_program_has_its_streams_and_its_status() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let shell = ["sh", "-c", "cat; echo err >&2; exit 7"];
    let mut child =
        gristmill(&[&["record", "--engine", "valgrind", "-o", "q.out", "-q"], &shell[..]].concat());
    child.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"in\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str(), code(&output)), ("in\n", "err\n", 7));
    let output = record(folder.path(), &[&["-o", "a.out"], &shell[..]].concat());
    let said = stderr(&output);
    assert_eq!((stdout(&output).as_str(), code(&output)), ("", 7));
    assert!(said.starts_with("err\ngristmill: recorded ") && said.contains(" instructions ("), "{said}");
    assert!(said.contains(" s: a.out\n") && said.ends_with("gristmill: next: gristmill a.out\n"), "{said}");
    let mode = std::fs::metadata(folder.path().join("a.out")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let output = run_in(folder.path(), &["info", "a.out"]);
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
}

#[test]
fn all_messages_of_valgrind_are_there_on_request() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let said = stderr(&record(folder.path(), &["-v", "-o", "a.out", "true"]));
    for expected in
        ["gristmill: runs ", " --tool=callgrind ", " control ", "== Command: true\n", "Collected : "]
    {
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn a_signal_that_ends_the_program_ends_record() {
    if !has(&["valgrind"]) {
        return;
    }
    for (name, number) in [("SEGV", 11), ("TERM", 15), ("ABRT", 6), ("USR1", 10), ("KILL", 9)] {
        let folder = folder(&[]);
        let output = record(folder.path(), &["-o", "a.out", "sh", "-c", &format!("kill -{name} $$")]);
        assert_eq!(output.status.signal(), Some(number), "{name}: {}", stderr(&output));
        assert_eq!(names(folder.path(), ""), ["a.out"], "{name}");
        assert!(stderr(&output).contains("gristmill: recorded "), "{name}: {}", stderr(&output));
    }
}

#[test]
fn signals_are_for_the_program() {
    if !has(&["valgrind"]) {
        return;
    }
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        if is_ignored(number) {
            println!("skipped: {name} is ignored here");
            continue;
        }
        let folder = folder(&[]);
        let (child, process) = start_endless(folder.path(), &["-o", "a.out"]);
        send(name, child.id());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(i32::try_from(number).unwrap()), "{name}");
        assert!(stderr(&output).contains("gristmill: recorded "), "{name}: {}", stderr(&output));
        assert_ends(process);
        assert_eq!(names(folder.path(), "a"), ["a.out"]);
    }
}

/// A program that handles a signal decides itself.
#[test]
fn a_program_that_handles_a_signal_goes_on() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let shell = "trap 'echo handled; exit 3' TERM; echo $$ > pid.new; mv pid.new pid; while :; do :; done";
    let child =
        start(folder.path(), &["record", "--engine", "valgrind", "-q", "-o", "a.out", "sh", "-c", shell]);
    while !folder.path().join("pid").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    send("TERM", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str(), code(&output)), ("handled\n", "", 3));
}

/// The terminal gives Ctrl-C to all processes. The program gets it once.
#[test]
fn ctrl_c_at_a_terminal_reaches_the_program_once() {
    if !has(&["valgrind", "script"]) || is_ignored(2) {
        return;
    }
    let folder = folder(&[]);
    let shell = "n=0; trap 'n=$((n+1))' INT; echo $$ > pid.new; mv pid.new pid; \
                 until [ $n -gt 0 ]; do :; done; sleep 1; exit $n";
    std::fs::write(folder.path().join("run"), shell).unwrap();
    // A shell that stays, as `/bin/sh` of Debian does, would end by the signal itself.
    let command = format!("exec {} record -q -o a.out sh run", env!("CARGO_BIN_EXE_gristmill"));
    let mut child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    while !folder.path().join("pid").exists() {
        assert_eq!(child.try_wait().unwrap(), None);
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let mut terminal = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut terminal, b"\x03").unwrap();
    let status = child.wait().unwrap();
    drop(terminal);
    assert_eq!(status.code(), Some(1));
    assert_eq!(names(folder.path(), "a"), ["a.out"]);
}

#[test]
fn nothing_is_left_if_the_program_or_record_is_killed() {
    if !has(&["valgrind"]) {
        return;
    }
    let killed = folder(&[]);
    let (child, process) = start_endless(killed.path(), &["-o", "a.out"]);
    send("KILL", process);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(9));
    assert!(stderr(&output).contains("nothing was recorded: a.out was not written"), "{}", stderr(&output));
    assert_eq!(names(killed.path(), "a"), [""; 0]);

    let alone = folder(&[]);
    let (mut child, process) = start_endless(alone.path(), &["-o", "a.out"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_ends(process);
}

#[test]
fn a_program_that_cannot_be_run_is_refused_as_shells_do() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[("plain", b"x"), ("here", b"#!/bin/sh\n")]);
    write_script(&folder.path().join("here"), "#!/bin/sh\n");
    std::fs::copy("/bin/true", folder.path().join("other")).unwrap();
    std::fs::set_permissions(folder.path().join("other"), PermissionsExt::from_mode(0o4755)).unwrap();
    for (program, status, expected) in [
        ("no-such-program", 127, "there is no program no-such-program"),
        ("./no-such-program", 127, "there is no program ./no-such-program"),
        ("here", 127, "write ./here"),
        ("./plain", 126, "./plain may not be run"),
        ("/tmp", 126, "/tmp is a directory"),
        ("./other", 126, "rights of another user"),
    ] {
        let output = record(folder.path(), &[program]);
        assert_eq!(code(&output), status, "{program}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{program}: {}", stderr(&output));
        assert_eq!(names(folder.path(), "callgrind"), [""; 0]);
    }
    for (options, expected) in [
        (&["-o", "no/such"][..], "there is no directory no"),
        (&["-o", "."], ". is a directory"),
        (&["-o", "%z"], "behind %"),
        (&["--valgrind-option=--bogus"], "--bogus"),
        (&["--engine=native", "--branch-sim=yes"], "no --branch-sim=yes yet"),
    ] {
        let output = record(folder.path(), &[options, &["true"]].concat());
        assert_eq!(code(&output), 2, "{options:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(expected), "{options:?}: {}", stderr(&output));
    }
}

#[test]
fn nothing_is_overwritten_unless_that_is_asked_for() {
    if !has(&["valgrind"]) {
        return;
    }
    for existing in ["a.out", "a.out.1", "a.out-01", "a.out.2-01"] {
        let folder = folder(&[(existing, b"kept")]);
        let output = record(folder.path(), &["-o", "a.out", "true"]);
        assert_eq!(code(&output), 2);
        assert!(stderr(&output).contains(&format!("{existing} already exists")), "{}", stderr(&output));
        assert_eq!(names(folder.path(), ""), [existing]);
        let output = record(folder.path(), &["--force", "-o", "a.out", "true"]);
        assert_eq!(code(&output), 0);
        // What an earlier recording left is not taken for a file of this one.
        assert!(stderr(&output).ends_with("next: gristmill a.out\n"), "{}", stderr(&output));
    }
}

#[test]
fn each_process_has_its_file() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let shell = ["sh", "-c", "/bin/true; /bin/true; exit 0"];
    let output = record(folder.path(), &shell);
    let said = stderr(&output);
    assert!(said.contains("only `sh` was recorded") && said.contains("--trace-children=yes"), "{said}");
    assert_eq!(names(folder.path(), "callgrind.out.").len(), 1);
    let output = record(folder.path(), &[&["--trace-children=yes"], &shell[..]].concat());
    let said = stderr(&output);
    assert!(said.contains("3 files: callgrind.out."), "{said}");
    let files = names(folder.path(), "callgrind.out.");
    assert_eq!(files.len(), 4);
    assert_eq!(files.iter().filter(|file| said.contains(*file)).count(), 3, "{said}");
    // One name for all is possible, but has only the last one.
    let output = record(folder.path(), &[&["--trace-children=yes", "-o", "one.out"], &shell[..]].concat());
    assert!(stderr(&output).contains("3 processes wrote one.out"), "{}", stderr(&output));
}

#[test]
fn words_and_paths_of_any_bytes_are_passed_on() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let odd = folder.path().join("100%p and more");
    std::fs::create_dir(&odd).unwrap();
    let word = OsStr::from_bytes(b"a b\xff\n'");
    let mut command =
        gristmill(&["record", "--engine", "valgrind", "-o", "x y.%p", "sh", "-c", "printf %s \"$1\"", "sh"]);
    let output = command.arg(word).current_dir(&odd).output().unwrap();
    assert_eq!((output.stdout.as_slice(), code(&output)), (word.as_bytes(), 0), "{}", stderr(&output));
    let files = names(&odd, "x y.");
    assert_eq!(files.len(), 1);
    assert!(stderr(&output).ends_with(&format!("gristmill '{}'\n", files[0])), "{}", stderr(&output));
}

#[test]
fn an_empty_environment_and_closed_descriptors_are_enough() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let output = gristmill(&[
        "record",
        "--engine",
        "valgrind",
        "-o",
        "a.out",
        "/bin/sh",
        "-c",
        "exec <&- >&- 2>&-; exit 5",
    ])
    .env_clear()
    .current_dir(folder.path())
    .output()
    .unwrap();
    assert_eq!((stdout(&output).as_str(), code(&output)), ("", 5), "{}", stderr(&output));
    assert!(stderr(&output).contains(" s: a.out\n"), "{}", stderr(&output));
}

#[test]
fn a_full_disk_is_reported_and_leaves_no_part_of_a_profile() {
    if !has(&["valgrind", "unshare"]) {
        return;
    }
    let folder = folder(&[]);
    let shell = "mount -t tmpfs -o size=20k none . && cd . && exec \"$0\" record -o a.out true";
    let run = |shell: &str| {
        Command::new("unshare")
            .args(["-rm", "sh", "-c", &shell.replace("cd .", &format!("cd {}", text(folder.path())))])
            .arg(env!("CARGO_BIN_EXE_gristmill"))
            .current_dir(folder.path())
            .output()
            .unwrap()
    };
    if !run("mount -t tmpfs -o size=20k none .").status.success() {
        println!("skipped: no file system can be mounted here");
        return;
    }
    let output = run(shell);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("a.out: removed, as it was cut off"), "{}", stderr(&output));
    let output = run(&shell.replace("exec \"$0\" record -o a.out true", "\"$0\" record -o a.out true; ls"));
    assert_eq!(stdout(&output), "");
}

#[test]
fn a_pipe_is_refused_before_the_program_runs() {
    if !has(&["valgrind", "mkfifo"]) {
        return;
    }
    let folder = folder(&[]);
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let output = record(folder.path(), &["--engine=valgrind", "-o", "pipe", "touch", "ran"]);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("pipe is a pipe, and Callgrind opens its file twice"),
        "{}",
        stderr(&output)
    );
    assert!(!folder.path().join("ran").exists());
}

#[test]
fn recordings_can_run_beside_each_other() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let started: Vec<_> =
        (0..4).map(|_| start(folder.path(), &["record", "--engine", "valgrind", "true"])).collect();
    let mut said: Vec<String> = started
        .into_iter()
        .map(|child| {
            let output = child.wait_with_output().unwrap();
            assert_eq!(code(&output), 0);
            stderr(&output).rsplit(' ').next().unwrap().trim().to_owned()
        })
        .collect();
    said.sort();
    assert_eq!(names(folder.path(), ""), said);
    assert_eq!(said.len(), 4);
}

#[test]
fn the_first_screen_follows_on_request() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let output = record(folder.path(), &["--open", "-o", "a.out", "sh", "-c", "exit 3"]);
    assert_eq!(code(&output), 3);
    let screen = stdout(&run_in(folder.path(), &["a.out"]));
    assert_eq!(stdout(&output), screen);
    assert!(!stderr(&output).contains("next:"), "{}", stderr(&output));
}

#[test]
fn caches_have_sizes_that_are_the_same_everywhere() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let output = record(folder.path(), &["--D1=16384,4,64", "-o", "a.out", "true"]);
    let said = stderr(&output);
    assert!(said.contains("caches --I1=32768,8,64 --D1=16384,4,64 --LL=8388608,16,64\n"), "{said}");
    assert!(!said.contains("warning"), "{said}");
    let profile = std::fs::read_to_string(folder.path().join("a.out")).unwrap();
    assert!(profile.contains("desc: D1 cache: 16384 B, 64 B, 4-way associative\n"));
}

#[test]
fn what_is_no_usable_valgrind_is_refused() {
    let folder = folder(&[]);
    write_script(&folder.path().join("old"), "#!/bin/sh\necho valgrind-3.9.0\n");
    write_script(&folder.path().join("other"), "#!/bin/sh\necho hello\n");
    write_script(
        &folder.path().join("silent"),
        "#!/bin/sh\ncase \"$*\" in --version) echo valgrind-3.19.0; exit;; esac\nexit 3\n",
    );
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), folder.path().join("valgrind")).unwrap();
    for (valgrind, expected) in [
        ("./old", "version 3.9; at least 3.13 is needed"),
        ("./other", "does not say which version"),
        ("./none", "there is no program ./none"),
        ("./silent", "nothing was recorded: Valgrind ended with status 3"),
        ("./valgrind", "Gristmill under another name"),
    ] {
        for option in [true, false] {
            let mut command = match option {
                true => gristmill(&["record", "--valgrind", valgrind, "/bin/true"]),
                false => gristmill(&["record", "--engine", "valgrind", "/bin/true"]),
            };
            if !option {
                command.env("GRISTMILL_VALGRIND", valgrind);
            }
            let output = command.current_dir(folder.path()).output().unwrap();
            assert_eq!(code(&output), 2);
            assert!(stderr(&output).contains(expected), "{valgrind}: {}", stderr(&output));
        }
    }
    let output = gristmill(&["record", "--engine", "valgrind", "/bin/true"])
        .env("PATH", folder.path())
        .output()
        .unwrap();
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("Valgrind is needed") && stderr(&output).contains("install"));
}
