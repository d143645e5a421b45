//! The native engine under the name `valgrind`, as programs use Valgrind that run Callgrind for their users.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::harness::*;
use crate::has_engine;
use crate::programs::compile;
use crate::sums::Sums;
use crate::threads::WORK;

/// A link to the program under the name `valgrind`, in a folder of its own.
fn link(folder: &Path) -> PathBuf {
    let folder = folder.join("bin");
    std::fs::create_dir(&folder).unwrap();
    let link = folder.join("valgrind");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), &link).unwrap();
    link
}

/// Starts it as gungraun does, with one variable in the environment, and with options in the middle of its own.
fn start(folder: &Path, options: &[&str], program: &[&str]) -> Child {
    let before =
        ["--tool=callgrind", "--error-exitcode=9", "--trace-children=yes", "--fair-sched=try", "--vgdb=no"];
    let caches = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64", "--cache-sim=no"];
    let after =
        ["--compress-strings=no", "--compress-pos=no", "--combine-dumps=no", "--separate-threads=yes"];
    let mut command = Command::new(folder.join("bin/valgrind"));
    command.args(before).args(options).args(caches).args(after);
    command.args(["--callgrind-out-file=x.out.#%p", "--log-file=x.log.#%p"]).args(program);
    command.env_clear().env("LD_LIBRARY_PATH", "").current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn run(folder: &Path, options: &[&str], program: &[&str]) -> (u32, Output) {
    let child = start(folder, options, program);
    (child.id(), child.wait_with_output().unwrap())
}

fn content(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).unwrap_or_else(|_| panic!("no {name}"))
}

#[test]
fn it_runs_with_nothing_in_the_environment_and_beside_others() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    link(folder.path());
    compile(folder.path(), "threads", &["-O1", "-g", "-pthread"], WORK);
    let expected = Command::new("./threads").current_dir(folder.path()).output().unwrap();
    let children: Vec<Child> = (0..3).map(|_| start(folder.path(), &[], &["./threads"])).collect();
    for child in children {
        let process = child.id();
        let output = child.wait_with_output().unwrap();
        // Streams are the program's alone, and the process is the one that was started.
        assert_eq!(stdout(&output), stdout(&expected), "{}", stderr(&output));
        assert_eq!((stderr(&output).as_str(), output.status), ("", expected.status));
        let profile = content(folder.path(), &format!("x.out.#{process}-01"));
        assert!(profile.contains(&format!("\npid: {process}\n")), "{profile}");
        content(folder.path(), &format!("x.out.#{process}-02"));
        let log = content(folder.path(), &format!("x.log.#{process}"));
        assert!(log.lines().all(|line| line.starts_with(&format!("=={process}== "))), "{log}");
        for part in [
            " Command: ./threads\n",
            " Parent PID: ",
            " Events    : Ir\n",
            " Collected : ",
            " I   refs:      ",
        ] {
            assert!(log.contains(part), "{log}");
        }
    }
}

#[test]
fn the_profile_has_what_its_readers_look_for() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    link(folder.path());
    compile(folder.path(), "calls", &["-O2", "-g"], crate::programs::CALLS);
    let (process, output) = run(folder.path(), &["--toggle-collect=f?b"], &["./calls"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let profile = content(folder.path(), &format!("x.out.#{process}-01"));
    let lines: Vec<&str> = profile.lines().collect();
    let at = |start: &str| {
        lines.iter().position(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}"))
    };
    assert_eq!(lines[0], "# callgrind format");
    let order = [
        "version: 1",
        "creator: ",
        "pid: ",
        "cmd: ./calls",
        "part: 1",
        "thread: 1",
        "desc: Trigger: Program termination",
    ];
    let order: Vec<usize> = order
        .iter()
        .chain(&["positions: line", "events: Ir", "summary: ", "fn="])
        .map(|start| at(start))
        .collect();
    assert!(order.is_sorted(), "{order:?} {profile}");
    assert!(lines.last().unwrap().starts_with("totals: "));
    // Names and positions are written in full.
    assert!(
        !profile.contains("=(1)") && !lines.iter().any(|line| line.starts_with('+') || line.starts_with('*'))
    );
    // What is collected is in the functions of the pattern, and callers have calls alone.
    let total = |name: &str| lines[at(name)].split(' ').nth(1).unwrap().parse::<u64>().unwrap();
    assert!(total("summary: ") == total("totals: ") && total("totals: ") > 0);
    assert!(
        lines.contains(&"fn=main") && lines.contains(&"cfn=fib") && lines.contains(&"fn=fib'2"),
        "{profile}"
    );
    if has(&["callgrind_annotate"]) {
        let file = format!("x.out.#{process}-01");
        let annotated =
            Command::new("callgrind_annotate").arg(&file).current_dir(folder.path()).output().unwrap();
        assert!(stdout(&annotated).contains(":fib'2 ["), "{}", stdout(&annotated));
    }
    let total = Sums::read(&folder.path().join(format!("x.out.#{process}-01"))).total;
    let log = content(folder.path(), &format!("x.log.#{process}"));
    assert!(log.contains(&format!(" Collected : {total}\n")), "{log}");
}

#[test]
fn each_process_has_a_profile_and_a_log() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    link(folder.path());
    let script = "/bin/echo a; (echo b); exit 3";
    let (process, output) = run(folder.path(), &["-q"], &["/bin/sh", "-c", script]);
    // The option for an exit code is one of other tools.
    assert_eq!((stdout(&output).as_str(), stderr(&output).as_str(), code(&output)), ("a\nb\n", "", 3));
    let names = files_below(folder.path());
    let count = |start: &str| {
        let names = names.iter().filter_map(|path| path.file_name()?.to_str());
        names.filter(|name| name.starts_with(start)).count()
    };
    assert_eq!((count("x.out.#"), count("x.log.#")), (3, 3), "{names:?}");
    assert_eq!(content(folder.path(), &format!("x.log.#{process}")), "");
}

#[test]
fn it_ends_as_the_program_does() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    let link = link(folder.path());
    let (process, output) = run(folder.path(), &[], &["/bin/sh", "-c", "kill -SEGV $$"]);
    assert_eq!(output.status.signal(), Some(11));
    assert!(Sums::read(&folder.path().join(format!("x.out.#{process}-01"))).total > 1000);
    // Without a file, the log is on standard error, also if the program closes that.
    let script = "echo out; echo error >&2; exec 2>&-; exit 4";
    let output = Command::new(&link)
        .args(["--tool=callgrind", "--callgrind-out-file=y", "sh", "-c", script])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!((stdout(&output).as_str(), code(&output)), ("out\n", 4));
    let said = stderr(&output);
    assert!(
        said.contains("error\n") && said.contains("== Collected : ") && said.contains("Command: sh -c"),
        "{said}"
    );
}

#[test]
fn what_it_does_not_do_goes_to_valgrind_or_is_refused() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    let link = link(folder.path());
    let ran = folder.path().join("ran");
    let run = |path: &Path, words: &[&str]| {
        let mut command = Command::new(&link);
        command.args(words).current_dir(folder.path()).env("PATH", path).env("HOME", folder.path());
        command.output().unwrap()
    };
    let alone = folder.path().join("bin");
    let touch: &[&str] = &["/usr/bin/touch", "ran"];
    let callgrind = ["--tool=callgrind", "--callgrind-out-file=z"];
    let output = run(&alone, &["--version"]);
    assert_eq!((stdout(&output).as_str(), code(&output)), ("valgrind-3.19.0.gristmill\n", 0));
    for (words, expected) in [
        (&["--cache-sim=yes"][..], "its own engine has no --cache-sim=yes"),
        (&["--no-such-option"], "its own engine has no --no-such-option"),
        (&["--tool=memcheck"], "Valgrind is needed"),
    ] {
        let output = run(&alone, &[&callgrind, words, touch].concat());
        assert_eq!((code(&output), stdout(&output).as_str()), (1, ""), "{words:?}");
        assert!(stderr(&output).contains(expected), "{words:?}: {}", stderr(&output));
        assert!(!ran.exists());
    }
    let output = run(&alone, &["--tool=callgrind", "no-such-program"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (127, ""), "{}", stderr(&output));
    let output = run(&alone, &[]);
    assert_eq!((code(&output), stdout(&output).as_str()), (1, ""), "{}", stderr(&output));
    if has(&["valgrind"]) {
        // The installed one, which simulates caches, and whose options can be elsewhere.
        let path = search_path_from(&alone);
        let path = Path::new(&path);
        let simulated = [&callgrind[..], &["--cache-sim=yes"], touch].concat();
        let output = run(path, &simulated);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        let said = stderr(&output);
        assert_eq!(said.matches("Gristmill hands this on to /").count(), 1, "{said}");
        assert!(said.contains(": its own engine has no --cache-sim=yes\n") && ran.exists(), "{said}");
        assert!(content(folder.path(), "z").contains("events: Ir Dr Dw"));
        let output = run(path, &[&["-q"], &simulated[..]].concat());
        assert!(!stderr(&output).contains("Gristmill"), "{}", stderr(&output));
        std::fs::write(folder.path().join(".valgrindrc"), "--branch-sim=yes\n").unwrap();
        let output = run(path, &[&callgrind[..], touch].concat());
        assert!(
            stderr(&output).contains("options are in VALGRIND_OPTS or .valgrindrc"),
            "{}",
            stderr(&output)
        );
    }
}

#[test]
fn words_write_no_control_character() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    link(folder.path());
    compile(folder.path(), "calls", &["-O2", "-g"], crate::programs::CALLS);
    let title = "a\x1b]0;title\x07b";
    let is_harmless = |text: &str| text.chars().all(|c| !c.is_control() || c == '\n');
    let (process, _) = run(folder.path(), &[], &["./calls", title]);
    let log = content(folder.path(), &format!("x.log.#{process}"));
    assert!(log.contains("a\\x1b]0;title\\x07b") && is_harmless(&log), "{log:?}");
    // Without a log, it is standard error; and what is handed on is named.
    for option in ["--trace-children=yes", &format!("--{title}=1")] {
        let mut command = Command::new(folder.path().join("bin/valgrind"));
        command.args(["--tool=callgrind", option, "./calls", title]).current_dir(folder.path());
        let told = stderr(&command.env("PATH", "/nowhere").output().unwrap());
        assert!(told.contains("title") && is_harmless(&told), "{told:?}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_an_error_before_the_program_runs() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    let link = link(folder.path());
    std::fs::write(folder.path().join("before"), "content").unwrap();
    for option in
        ["--callgrind-out-file=no/such/folder", "--callgrind-out-file=bin", "--log-file=no/such/folder"]
    {
        let mut command = Command::new(&link);
        command.args(["--tool=callgrind", "-q", option, "touch", "ran"]).current_dir(folder.path());
        let output = command.output().unwrap();
        assert_eq!(code(&output), 1, "{option}: {}", stderr(&output));
        assert!(stderr(&output).contains("cannot be written"), "{option}: {}", stderr(&output));
        assert!(!folder.path().join("ran").exists(), "{option}");
    }
    let mut command = Command::new(&link);
    command.args(["--tool=callgrind", "--callgrind-out-file=before", "--trace-children=maybe", "true"]);
    drop(command.current_dir(folder.path()).output().unwrap());
    assert_eq!(content(folder.path(), "before"), "content");
}

#[test]
fn the_last_option_decides_whether_costs_are_collected_from_the_start_on() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    let link = link(folder.path());
    let text = "__attribute__((noinline)) int f(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= i * n; return s; }\n\
        int main(int n, char **words) { (void)words; return f(1000 * n) & f(7) & 3; }\n";
    compile(folder.path(), "program", &["-O1"], text);
    for options in
        [["--toggle-collect=f", "--collect-atstart=yes"], ["--collect-atstart=yes", "--toggle-collect=f"]]
    {
        // Without f, a different environment costs something else.
        let cost = |program: &Path| {
            let mut command = Command::new(program);
            command.args(["--tool=callgrind", "--callgrind-out-file=out"]).args(options).arg("./program");
            command.current_dir(folder.path()).output().unwrap();
            let sums = Sums::read(&folder.path().join("out"));
            std::fs::remove_file(folder.path().join("out")).unwrap();
            sums.total
        };
        let [own, valgrind] = [link.as_path(), Path::new("valgrind")].map(cost);
        assert!(own.abs_diff(valgrind) < 20_000 && (own < 10_000) == (valgrind < 10_000), "{own} {valgrind}");
    }
}
