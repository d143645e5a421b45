//! `gristmill gate` leaves no process and no file behind, and waits for nothing that may never come.

#![cfg(all(test, target_os = "linux"))]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used)]

mod harness;

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use harness::*;

const PROFILE: &str = "events: Ir\nfn=main\n1 10\n";

/// Far above the limits of the tests, far below the time that their processes would take.
const MAX_TIME: Duration = Duration::from_secs(40);

/// A folder with a configuration, a directory for temporary files, and a script in place of Valgrind.
fn gate_folder(config: &str, valgrind: &str) -> tempfile::TempDir {
    let folder = folder(&[("gristmill.toml", config.as_bytes()), ("valgrind", valgrind.as_bytes())]);
    std::fs::set_permissions(folder.path().join("valgrind"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir(folder.path().join("tmp")).unwrap();
    folder
}

/// A configuration with a command to record.
fn recording(rest: &str) -> String {
    format!("[gate]\nvalgrind = \"./valgrind\"\n{rest}\n[[benchmark]]\nname = \"a\"\ncommand = \"true\"\n")
}

/// The beginning of a script in place of Valgrind. `profile` prints a profile, `$out` and `$log` begin the names of profiles and messages.
fn recorder() -> String {
    let text = "pid: 1\nevents: Ir\nfn=main\n1 10\ntotals: 10\n";
    format!(
        "#!/bin/sh\nfor word; do case $word in --callgrind-out-file=*) out=${{word#*=}} out=${{out%\\%p}};; \
         --log-file=*) log=${{word#*=}} log=${{log%\\%p}};; esac; done\n\
         profile() {{ printf '{}'; }}\n",
        text.replace('\n', "\\n")
    )
}

/// Half of a profile looks like an improvement. Callgrind leaves a file empty if there is no space, and if the process ran another program.
#[test]
fn an_empty_profile_of_what_had_a_cost_is_no_improvement() {
    let script = recorder();
    let full = "a profile could not be written: is the disk full?";
    let no_profile = "`true` has no profile of its own, only what it started has";
    for (rest, refusal) in [
        ("profile > ${out}$$; : > ${out}2000000000", ""),
        (": > ${out}$$; profile > ${out}$$-01", ""),
        (
            "profile > ${out}$$; : > ${out}2000000000; echo '==2000000000== Collected : 7' > ${log}2000000000",
            full,
        ),
        (
            "profile > ${out}$$; : > ${out}2000000000; profile > ${out}2000000000-01; \
             echo '==2000000000== Collected : 7' > ${log}2000000000",
            "",
        ),
        // No space for the messages, either.
        ("profile > ${out}$$; : > ${out}2000000000; : > ${log}2000000000", full),
        ("profile > ${out}$$; : > ${log}2000000000", full),
        ("profile > ${out}$$; : > ${out}2000000000; echo '==2000000000== Command: y' > ${log}2000000000", ""),
        // More messages than are shown.
        (
            "profile > ${out}$$; : > ${out}2000000000; \
             { printf '%02000000d\\n' 7; echo '==2000000000== Collected : 7'; printf '%02000000d' 7; } > ${log}2000000000",
            full,
        ),
        ("profile > ${out}$$; : > ${out}$$.1", full),
        (": > ${out}$$; profile > ${out}$$.1", no_profile),
        (": > ${out}$$; profile > ${out}2000000000", no_profile),
    ] {
        let folder = gate_folder(&recording(""), &format!("{script}{rest}\n"));
        let output = run_in(folder.path(), &["gate", "bless"]);
        let said = [stdout(&output), stderr(&output)].concat();
        assert_eq!(code(&output), if refusal.is_empty() { 0 } else { 2 }, "{rest}: {said}");
        assert!(said.contains(refusal), "{rest}: {said}");
    }
}

/// A helper that is killed leaves no profile, and nobody may look at how it ended.
#[test]
fn another_count_of_recorded_processes_is_not_comparable() {
    let helper = "helper() { echo \"==$1== Command: y\" > $log$1; : > $out$1; }";
    let script = format!("{}{helper}\nprofile > $out$$\n. ./helpers\n", recorder());
    let config = recording("") + "options = [\"--trace-children=yes\"]\n";
    let folder = gate_folder(&config, &script);
    let gate = |command: &str, helpers: &str| {
        std::fs::write(folder.path().join("helpers"), helpers).unwrap();
        let output = run_in(folder.path(), &["gate", command]);
        (code(&output), [stdout(&output), stderr(&output)].concat())
    };
    let (all, killed) = ("helper 2000000000; profile > ${out}2000000000\n", "helper 2000000000\n");
    assert_eq!(gate("bless", all), (0, "gristmill: a: Ir 20\n".to_owned()));
    assert_eq!(gate("run", all).0, 0);
    for (helpers, now) in [(killed, "2 (1 without a profile) now"), ("", "1 now")] {
        let (status, said) = gate("run", helpers);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains(&format!("recorded processes: 2 in the baseline, {now}")), "{said}");
    }
    // A baseline that accepts it says so.
    let (status, said) = gate("bless", killed);
    assert!(status == 0 && said.contains("note: 1 process left no profile, and its cost is not"), "{said}");
    assert_eq!(gate("run", killed).0, 0);
    // One of an earlier version does not have the number.
    let path = folder.path().join("gristmill-baseline.toml");
    let baseline = std::fs::read_to_string(&path).unwrap();
    let earlier = baseline.replace("\"recorded processes\" = \"2 (1 without a profile)\"", "");
    assert_ne!(earlier, baseline);
    std::fs::write(&path, earlier).unwrap();
    assert_eq!(gate("run", "").0, 0);
}

/// A helper that a signal ends leaves the profile of what it did until then.
#[test]
fn another_count_of_processes_that_a_signal_ended_is_not_comparable() {
    let script = format!("{}profile > $out$$\nprofile > ${{out}}2000000000\n. ./helpers\n", recorder());
    let traced = recording("") + "options = [\"--trace-children=yes\"]\n";
    for config in [recording(""), traced] {
        let folder = gate_folder(&config, &script);
        let gate = |command: &str, helpers: &str| {
            std::fs::write(folder.path().join("helpers"), helpers).unwrap();
            let output = run_in(folder.path(), &["gate", command]);
            (code(&output), [stdout(&output), stderr(&output)].concat())
        };
        let (whole, ended) = (
            "echo '==2000000000== Collected : 7' > ${log}2000000000\n",
            "printf '==2000000000== Process terminating with default action of signal 15 (SIGTERM)\n\
             ==2000000000== Collected : 7\n' > ${log}2000000000\n",
        );
        assert_eq!(gate("bless", whole).0, 0);
        let (status, said) = gate("run", ended);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains("processes that a signal ended: none in the baseline, 1 now"), "{said}");
        let (status, said) = gate("bless", ended);
        assert!(status == 0 && said.contains("1 process was ended by a signal"), "{said}");
        assert_eq!(gate("run", ended).0, 0);
        let (status, said) = gate("run", whole);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains("processes that a signal ended: 1 in the baseline, none now"), "{said}");
    }
}

/// Processes of sandboxes have ids that others have, too, and write the same files.
#[test]
fn processes_of_a_namespace_are_refused() {
    let script = format!("{}profile > $out$$\necho '==1== Parent PID: 0' > ${{log}}1\n", recorder());
    let folder = gate_folder(&recording(""), &script);
    let output = run_in(folder.path(), &["gate", "bless"]);
    let said = [stdout(&output), stderr(&output)].concat();
    assert_eq!(code(&output), 2, "{said}");
    assert!(said.contains("process 1 of it runs in a namespace of process ids"), "{said}");
}

/// An option that has Valgrind say less is accepted, but the messages tell how processes ended.
#[test]
fn valgrind_is_not_made_quiet() {
    let script =
        format!("{}case \" $* \" in *' -q '*|*' --quiet '*) exit 9;; esac\nprofile > $out$$\n", recorder());
    let config = recording("") + "options = [\"-q\", \"--quiet\", \"--dump-instr=yes\"]\n";
    let folder = gate_folder(&config, &script);
    let output = run_in(folder.path(), &["gate", "bless"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    // As it was in the baselines of those who have it.
    let baseline = std::fs::read_to_string(folder.path().join("gristmill-baseline.toml")).unwrap();
    assert!(baseline.contains("\"options\" = [\"-q\", \"--quiet\", \"--dump-instr=yes\"]"), "{baseline}");
}

/// Signals are not ignored in a program that `sh` starts so, even where the tests run in the background of a script.
fn start(folder: &Path, arguments: &str) -> Child {
    Command::new("sh")
        .args(["-c", &format!("exec \"$0\" {arguments}"), env!("CARGO_BIN_EXE_gristmill")])
        .current_dir(folder)
        .env("TMPDIR", folder.join("tmp"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The process id in a file, as soon as it is there.
fn process_id(path: &Path) -> u32 {
    let start = Instant::now();
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if let Some(line) = text.strip_suffix('\n') {
            return line.parse().unwrap();
        }
        assert!(start.elapsed() < MAX_TIME, "{} was not written", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn send(signal: &str, process: u32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits for the end of a process that is nobody's child any more.
fn assert_ends(process: u32) {
    let start = Instant::now();
    let is_running = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    };
    while is_running() {
        assert!(start.elapsed() < Duration::from_secs(5), "process {process} goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_ignored(signal: u32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 << (signal - 1) != 0
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_signal_ends_the_command_and_removes_its_files() {
    let script = "#!/bin/sh\nsleep 300 &\necho $! > child.new\nmv child.new child\nwait\n";
    let setup = "[[benchmark]]\nname = \"a\"\nprofile = \"p\"\nsetup = [\"./valgrind\"]\n";
    for (signal, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)] {
        if is_ignored(number) {
            println!("skipped: {signal} is ignored here");
            continue;
        }
        for config in [&recording(""), setup] {
            let folder = gate_folder(config, script);
            let gate = start(folder.path(), "gate run");
            let child = process_id(&folder.path().join("child"));
            send(signal, gate.id());
            let output = gate.wait_with_output().unwrap();
            assert_eq!(code(&output), 128 + i32::try_from(number).unwrap(), "{signal}: {}", stderr(&output));
            assert_eq!((stdout(&output), stderr(&output)), (String::new(), String::new()), "{signal}");
            assert_ends(child);
            assert_eq!(names(&folder.path().join("tmp")), [""; 0], "{signal}");
        }
    }
}

#[test]
fn without_threads_a_command_is_ended() {
    let script = "#!/bin/sh\necho $$ > child.new\nmv child.new child\nexec sleep 300\n";
    let folder = gate_folder(&recording(""), script);
    // More than the address space has: the system refuses each thread.
    let output = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(["gate", "run"])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path().join("tmp"))
        .env("RUST_MIN_STACK", "140737488355328")
        .output()
        .unwrap();
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stdout(&output).contains("its messages cannot be read"), "{}", stdout(&output));
    assert_eq!(names(&folder.path().join("tmp")), [""; 0]);
}

#[test]
fn a_signal_that_is_ignored_stays_so() {
    let script = "#!/bin/sh\necho $$ > child.new\nmv child.new child\nexec sleep 300\n";
    let folder = gate_folder(&recording(""), script);
    let gate = Command::new("sh")
        .args(["-c", "trap '' HUP INT; exec \"$0\" gate run", env!("CARGO_BIN_EXE_gristmill")])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let child = process_id(&folder.path().join("child"));
    send("HUP", gate.id());
    send("INT", gate.id());
    std::thread::sleep(Duration::from_millis(200));
    send("TERM", gate.id());
    let output = gate.wait_with_output().unwrap();
    assert_eq!(code(&output), 128 + 15);
    assert_ends(child);
}

#[test]
fn a_recorded_process_in_a_session_of_its_own_ends_at_the_limit() {
    if !has(&["valgrind", "cc"]) {
        return;
    }
    let program = r#"
#include <stdio.h>
#include <unistd.h>
int main(void) {
    if (fork() == 0) {
        setsid();
        FILE *file = fopen("child", "w");
        fprintf(file, "%d\n", getpid());
        fclose(file);
        sleep(300);
    }
    return 0;
}
"#;
    let config = "[gate]\ntimeout = 4\n[[benchmark]]\nname = \"x\"\ncommand = \"./leaves\"\n";
    let folder = folder(&[("gristmill.toml", config.as_bytes()), ("leaves.c", program.as_bytes())]);
    let mut compiler = Command::new("cc");
    compiler.args(["-o", "leaves", "leaves.c"]).current_dir(folder.path());
    assert!(compiler.status().unwrap().success());
    let output = run_in(folder.path(), &["gate", "bless"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("left processes running for longer than 4 seconds"),
        "{}",
        stderr(&output)
    );
    assert_ends(process_id(&folder.path().join("child")));
}

#[test]
fn a_process_that_holds_a_pipe_open_blocks_nothing() {
    if !has(&["setsid"]) {
        return;
    }
    // In the group of the command, and in a session of its own, which ends by itself.
    for start_child in ["sleep 300", "setsid sleep 60"] {
        for (end, reason) in [("exit 3", "ended with exit status: 3"), ("sleep 300", "longer than 1 seconds")]
        {
            let script = format!("#!/bin/sh\necho said >&2\n{start_child} &\necho $! > child\n{end}\n");
            let folder = gate_folder(&recording("timeout = 1"), &script);
            let begin = Instant::now();
            let output = start(folder.path(), "gate run").wait_with_output().unwrap();
            assert!(begin.elapsed() < MAX_TIME, "{script}");
            assert_eq!(code(&output), 2);
            assert!(stdout(&output).contains(reason), "{script}: {}", stdout(&output));
            if end == "exit 3" {
                assert!(stdout(&output).contains("said"), "{script}: {}", stdout(&output));
            }
            let child = process_id(&folder.path().join("child"));
            if start_child == "sleep 300" {
                assert_ends(child);
            } else {
                send("KILL", child);
            }
        }
    }
}

#[test]
fn a_setup_has_a_time_limit() {
    let config =
        "[gate]\nsetup_timeout = 1\n[[benchmark]]\nname = \"a\"\nprofile = \"p\"\nsetup = [\"./valgrind\"]\n";
    let folder = gate_folder(config, "#!/bin/sh\nsleep 300 &\necho $! > child\nwait\n");
    let begin = Instant::now();
    let output = start(folder.path(), "gate run").wait_with_output().unwrap();
    assert!(begin.elapsed() < MAX_TIME);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("took longer than 1 seconds"), "{}", stdout(&output));
    assert_ends(process_id(&folder.path().join("child")));
}

#[test]
fn a_command_that_joins_the_group_of_the_gate_is_ended() {
    if !has(&["perl"]) {
        return;
    }
    let config =
        "[gate]\nsetup_timeout = 1\n[[benchmark]]\nname = \"a\"\nprofile = \"p\"\nsetup = [\"./valgrind\"]\n";
    let script = "#!/usr/bin/perl\nsetpgrp(0, getpgrp(getppid()));\nopen(F, \">\", \"child\"); print F \"$$\\n\"; close F;\n\
        sleep 300;\n";
    let folder = gate_folder(config, script);
    let output = run_limited(folder.path(), &["gate", "run"]);
    assert_eq!(code(&output), 2);
    assert!(stdout(&output).contains("took longer than 1 seconds"), "{}", stdout(&output));
    assert_ends(process_id(&folder.path().join("child")));
}

#[test]
fn a_pipe_that_is_named_as_the_baseline_is_waited_for_aloud() {
    let folder = folder(&[("gristmill.toml", b"[[benchmark]]\nname = \"a\"\nprofile = \"p\"\n")]);
    assert!(Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap().success());
    let mut gate = start(folder.path(), "gate run --baseline pipe");
    let mut line = String::new();
    BufReader::new(gate.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "gristmill: pipe: waiting for data: it is a pipe or a device\n");
    gate.kill().unwrap();
    gate.wait().unwrap();
}

/// Runs a command that is ended if it takes too long.
fn run_limited(folder: &Path, arguments: &[&str]) -> Output {
    let limited = [&["60", env!("CARGO_BIN_EXE_gristmill")], arguments].concat();
    Command::new("timeout").args(limited).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_configuration_without_end_is_refused() {
    let folder = folder(&[]);
    let output = run_limited(folder.path(), &["gate", "run", "--config", "/dev/zero"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("/dev/zero: is larger than 64 MiB"), "{}", stderr(&output));
}

#[test]
fn pipes_and_devices_are_not_opened() {
    let profile = "[[benchmark]]\nname = \"a\"\nprofile = \"thing\"\n";
    let baseline = format!("[gate]\nbaseline = \"thing\"\n{}", profile.replace("\"thing\"", "\"good\""));
    let command = "[[benchmark]]\nname = \"a\"\ncommand = \"./thing\"\n";
    let against = profile.replace("\"thing\"", "\"good\"");
    for (config, arguments, reason) in [
        (profile, &["run"][..], "thing: is a pipe or a device"),
        (profile, &["bless"], "thing: is a pipe or a device"),
        (&baseline, &["run"], "thing: is a pipe or a device"),
        (command, &["run"], "`./thing` is a pipe or a device"),
        (&against, &["run", "--against", "kept"], "no reasons: kept/a.callgrind: is a pipe or a device"),
    ] {
        for thing in ["pipe", "/dev/zero"] {
            let folder = folder(&[("gristmill.toml", config.as_bytes()), ("good", PROFILE.as_bytes())]);
            let path = folder.path();
            assert!(Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
            std::os::unix::fs::symlink(thing, path.join("thing")).unwrap();
            if arguments.contains(&"--against") {
                std::fs::create_dir(path.join("kept")).unwrap();
                std::os::unix::fs::symlink("../thing", path.join("kept/a.callgrind")).unwrap();
                assert_eq!(code(&run_in(path, &["gate", "bless"])), 0);
            }
            let output = run_limited(path, &[&["gate"], arguments].concat());
            let said = stdout(&output) + &stderr(&output);
            assert!(said.contains(reason), "{arguments:?} {thing}: {said}");
            assert_eq!(code(&output), if arguments.contains(&"--against") { 0 } else { 2 }, "{said}");
        }
    }
    // What is no file of a disk has no size, and may wait for something to read.
    let folder = folder(&[("gristmill.toml", profile.as_bytes())]);
    std::os::unix::fs::symlink("/proc/self/status", folder.path().join("thing")).unwrap();
    let output = run_limited(folder.path(), &["gate", "run"]);
    assert!(stdout(&output).contains("thing: the file is empty"), "{}", stdout(&output));
}

#[test]
fn control_characters_of_a_configuration_are_escaped() {
    let evil = "x\\u001b]0;y\\u0007\\u009b2J\\u202e";
    let whole = |rest: &str| format!("[[benchmark]]\nname = \"a\"\n{rest}\n");
    let mut configs = vec![
        whole(&format!("profile = \"{evil}\"")),
        whole(&format!("profile = \"{evil}*\"")),
        whole(&format!("profile = \"good\"\nsetup = [\"{evil}\"]")),
        whole(&format!("profile = \"good\"\nsetup = [[\"sh\", \"-c\", \"exit 3\", \"{evil}\"]]")),
        whole(&format!("profile = \"good\"\nignore = [\"{evil}\"]")),
        whole(&format!("profile = \"good\"\nignore = [\"({evil}\"]")),
        whole(&format!("gungraun = \"{evil}\"")),
        whole(&format!("command = \"{evil}\"")),
        whole(&format!("command = \"./{evil}\"")),
        whole(&format!("command = \"true\"\noptions = [\"{evil}\"]")),
        whole(&format!("command = \"true\"\noptions = [\"--{evil}=no\"]")),
        whole(&format!("command = \"true\"\nenvironment = {{ \"{evil}=\" = \"1\" }}")),
        whole(&format!("command = \"true\"\nkeep_environment = [\"{evil}=\"]")),
        whole(&format!("profile = \"good\"\n\"{evil}\" = 1")),
        format!("[[benchmark]]\nname = \"{evil}\"\nprofile = \"good\"\n"),
        format!("[[benchmark]]\nname = \"{evil}\"\nprofile = \"bad\"\n"),
        format!("[\"{evil}\"]\nx = 1\n"),
        format!("[gate\n# {evil}\n"),
    ];
    for key in ["baseline", "increase", "share", "valgrind"] {
        configs.push(format!("[gate]\n{key} = \"{evil}\"\n{}", whole("command = \"true\"")));
    }
    for key in ["events", "advise", "ignore", "caches"] {
        configs.push(format!("[gate]\n{key} = [\"{evil}\"]\n{}", whole("profile = \"good\"")));
    }
    for (key, more) in [
        ("name", "function = \"main\"\nmax = 1"),
        ("function", "name = \"b\"\nmax = 1"),
        ("event", "max = 1"),
        ("increase", ""),
        ("increase", "max = 1"),
        (evil, ""),
    ] {
        let key = if key == evil { format!("\"{evil}\"") } else { key.to_owned() };
        for table in ["benchmark.budget", "budget"] {
            configs.push(format!("{}[[{table}]]\n{key} = \"{evil}\"\n{more}\n", whole("profile = \"good\"")));
        }
    }
    // Terminals know more of them, and text that turns around; programs get these as they are.
    let is_unsafe = |character: char, is_text: bool| match is_text {
        true => (character.is_control() && character != '\n') || character == '\u{202e}',
        false => character.is_ascii_control() && character != '\n',
    };
    for config in configs {
        let folder = folder(&[("gristmill.toml", config.as_bytes()), ("good", PROFILE.as_bytes())]);
        for arguments in [
            &["run"][..],
            &["bless"],
            &["run"],
            &["run", "--format", "github"],
            &["run", "--format", "markdown"],
            &["run", "--format", "junit"],
            &["run", "--format", "json"],
            &["run", "--format", "sarif"],
            &["run", "a", "b\u{1b}"],
            &["noise", "--runs", "2"],
        ] {
            let output = run_limited(folder.path(), &[&["gate"], arguments].concat());
            let said = stdout(&output) + &stderr(&output);
            let is_text = !arguments.contains(&"--format");
            assert!(
                !said.contains(|character| is_unsafe(character, is_text)),
                "{arguments:?}\n{config}\n{said:?}"
            );
        }
    }
}
