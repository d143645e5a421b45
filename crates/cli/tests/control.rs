//! `gristmill control`: requests to a program under the installed Valgrind.

#![cfg(all(test, target_os = "linux"))]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic)]

mod harness;
#[path = "record/programs.rs"]
mod programs;

use std::path::Path;
use std::process::Command;

use harness::*;
use programs::*;

fn control(folder: &Path, process: u32, words: &[&str]) -> (String, String, i32) {
    let output = run_in(folder, &[&["control", &process.to_string()], words].concat());
    (stdout(&output), stderr(&output), code(&output))
}

#[test]
fn a_program_answers_and_writes_parts_until_it_is_stopped() {
    if has(&["valgrind", "vgdb"]) {
        assert_answers("valgrind");
    }
}

#[test]
fn a_program_under_the_native_engine_does_so_as_well() {
    let output = run(&["record", "--engine", "native", "-q", "-o", "/dev/null", "true"]);
    if code(&output) == 0 {
        assert_answers("native");
    } else {
        assert!(stderr(&output).contains("the native engine needs"), "{}", stderr(&output));
    }
}

fn assert_answers(engine: &str) {
    let folder = folder(&[]);
    let path = folder.path();
    let (child, process) = start_endless(path, &["--engine", engine, "-o", "a.out"]);
    let (status, said, code) = control(path, process, &["status"]);
    assert_eq!((said.as_str(), code), ("", 0));
    assert!(status.starts_with(&format!("process    {process} sh -c ")), "{status}");
    assert!(status.contains("\ncounting   on\nIr         "), "{status}");
    // The part is on the disk when the request returns.
    assert_eq!(control(path, process, &["dump", "after start"]), ("a.out.1\n".to_owned(), String::new(), 0));
    let part = std::fs::read_to_string(path.join("a.out.1")).unwrap();
    assert!(part.contains("\ndesc: Trigger: dump after start\n") && part.contains("\ntotals: "));
    // The process that records it stands for it.
    assert_eq!(control(path, child.id(), &["dump"]).0, "a.out.2\n");
    assert_eq!(control(path, process, &["off"]).2, 0);
    let status = control(path, process, &["status"]).0;
    assert!(status.contains("counting   off"));
    if engine == "native" {
        // What was counted before is in the next part.
        let counted = status.lines().find_map(|line| line.strip_prefix("Ir ")).unwrap().replace(',', "");
        assert_eq!(control(path, process, &["dump"]).0, "a.out.3\n");
        let part = std::fs::read_to_string(path.join("a.out.3")).unwrap();
        assert!(part.contains(&format!("\ntotals: {}\n", counted.trim())), "{status}{part}");
    }
    assert_eq!(control(path, process, &["on"]).2, 0);
    let (_, said, code) = control(path, process, &["zero"]);
    assert!(code == 0 && said.contains("are zero now"), "{said}");
    let (written, said, code) = control(path, process, &["stop", "the end"]);
    let (last, files) = match engine {
        "native" => ("a.out.4\n", "4 files: a.out.1, a.out.2, a.out.3, a.out.4"),
        _ => ("a.out.3\n", "3 files: a.out.1, a.out.2, a.out.3"),
    };
    assert_eq!((written.as_str(), code), (last, 0));
    assert!(said.contains(&format!("process {process} was ended")), "{said}");
    let output = child.wait_with_output().unwrap();
    assert!(stderr(&output).contains(files), "{}", stderr(&output));
    assert_ends(process);
}

/// A thread that makes no system call, until its program is ended.
const SPINNING: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) static long turn(long n) { return n * 5 + 1; }
static void *spin(void *p) { for (volatile long n = 0;;) n = turn(n); return p; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, spin, 0);
    FILE *file = fopen("pid", "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    for (;;) pause();
}
"#;

#[test]
fn the_status_has_the_cost_of_threads_that_compute() {
    let output = run(&["record", "--engine", "native", "-q", "-o", "/dev/null", "true"]);
    if code(&output) != 0 || !has(&["cc"]) {
        return;
    }
    let folder = folder(&[("spin.c", SPINNING.as_bytes())]);
    let path = folder.path();
    let built =
        Command::new("cc").args(["-O1", "-pthread", "-o", "spin", "spin.c"]).current_dir(path).status();
    assert!(built.unwrap().success());
    let (child, process) = start_program(path, &["--engine", "native", "-o", "a.out", "./spin"]);
    let cost = || -> u64 {
        let (status, said, _) = control(path, process, &["status"]);
        let line = status.lines().find_map(|line| line.strip_prefix("Ir "));
        line.unwrap_or_else(|| panic!("{status}{said}")).trim().replace(',', "").parse().unwrap()
    };
    let first = cost();
    std::thread::sleep(std::time::Duration::from_millis(50));
    let second = cost();
    assert!(second > first + 10_000, "{first} {second}");
    let (_, said, _) = control(path, process, &["stop"]);
    child.wait_with_output().unwrap();
    let part = std::fs::read_to_string(path.join("a.out.1")).unwrap();
    let total: u64 = part.lines().find_map(|line| line.strip_prefix("totals: ")).unwrap().parse().unwrap();
    assert!(total >= second, "{total} {second} {said}");
}

#[test]
fn what_cannot_be_asked_is_named() {
    if !has(&["valgrind", "vgdb"]) {
        return;
    }
    let folder = folder(&[]);
    let path = folder.path();
    let own = std::process::id();
    let (_, said, code) = control(path, own, &["status"]);
    assert!(code == 2 && said.contains(&format!("process {own} does not run under Callgrind")), "{said}");
    let (_, said, code) = control(path, 2_000_000_000, &["dump"]);
    assert!(code == 2 && said.contains("there is no process 2000000000"), "{said}");
    assert_eq!(control(path, own, &["zero", "name"]).1, "gristmill: only dump and stop take a name\n");

    let (child, process) = start_endless(path, &["-o", "a.out"]);
    let (_, said, _) = control(path, own, &["status"]);
    assert!(said.contains(&format!("{process} (sh -c ")), "{said}");
    let (_, said, code) = control(path, process, &["dump", "a\nb"]);
    assert!(code == 2 && said.contains("no control characters"), "{said}");
    // One that is stopped gives no answer.
    send("STOP", process);
    let (_, said, code) = control(path, process, &["--timeout", "1", "status"]);
    assert!(code == 2 && said.contains("gives no answer after 1 s"), "{said}");
    send("CONT", process);
    send("KILL", process);
    child.wait_with_output().unwrap();

    let deaf = tempfile::tempdir().unwrap();
    let (child, process) = start_endless(deaf.path(), &["-o", "a.out", "--valgrind-option=--vgdb=no"]);
    let (_, said, code) = control(deaf.path(), process, &["status"]);
    assert!(code == 2 && said.contains("--vgdb=no"), "{said}");
    send("KILL", process);
    child.wait_with_output().unwrap();
}

/// The names of the pipes depend on the environment of the program, and not on that of who asks.
#[test]
fn another_environment_does_not_matter() {
    if !has(&["valgrind", "vgdb"]) {
        return;
    }
    let folder = folder(&[]);
    let (child, process) = start_endless(folder.path(), &["-o", "a.out"]);
    let output = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["control", &process.to_string(), "status"])
        .env_clear()
        .env("LOGNAME", "somebody")
        .env("TMPDIR", "/nowhere")
        .output()
        .unwrap();
    send("KILL", process);
    child.wait_with_output().unwrap();
    assert_eq!((stderr(&output).as_str(), code(&output)), ("", 0));
}

#[test]
fn one_request_is_answered_at_a_time_and_ends_with_who_asks() {
    if !has(&["valgrind", "vgdb"]) {
        return;
    }
    let folder = folder(&[]);
    let path = folder.path();
    let (child, process) = start_endless(path, &["-o", "a.out"]);
    send("STOP", process);
    let mut asking = start(path, &["control", &process.to_string(), "status"]);
    let (vgdb, said) = loop {
        if asking.try_wait().unwrap().is_some() {
            // The other one came first.
            asking = start(path, &["control", &process.to_string(), "status"]);
        }
        let (_, said, code) = control(path, process, &["--timeout", "1", "status"]);
        assert_eq!(code, 2);
        // Until the first one has begun, the second one waits.
        let id = asking.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        if let Ok(vgdb) = children.trim().parse()
            && said.contains("another request")
        {
            break (vgdb, said);
        }
    };
    assert!(!said.contains("rights"), "{said}");
    asking.kill().unwrap();
    asking.wait().unwrap();
    assert_ends(vgdb);
    send("CONT", process);
    assert_eq!(control(path, process, &["status"]).2, 0);
    send("KILL", process);
    child.wait_with_output().unwrap();
}

#[test]
fn requests_at_once_have_their_own_answers_or_none() {
    let output = run(&["record", "--engine", "native", "-q", "-o", "/dev/null", "true"]);
    if code(&output) != 0 {
        println!("skipped: {}", stderr(&output));
        return;
    }
    let folder = folder(&[]);
    let path = folder.path();
    let (child, process) = start_endless(path, &["--engine", "native", "-o", "a.out"]);
    let mut parts = std::collections::BTreeSet::new();
    for _ in 0..20 {
        let dump = start(path, &["control", &process.to_string(), "dump"]);
        let (status, said, status_code) = control(path, process, &["status"]);
        let dump = dump.wait_with_output().unwrap();
        let is_right = status.starts_with("process ") && status.contains("\ncounting   on\n");
        assert!(status_code == 0 && is_right || said.contains("another request"), "{status}{said}");
        let (part, said) = (stdout(&dump), stderr(&dump));
        let is_new = code(&dump) == 0 && part.lines().count() == 1 && parts.insert(part.clone());
        assert!(is_new || said.contains("another request"), "{part}{said}");
    }
    assert!(!parts.is_empty());
    send("KILL", process);
    child.wait_with_output().unwrap();
}
