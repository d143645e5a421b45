//! The files of `gristmill record` are those of Valgrind called directly, for each option of Callgrind; and under the name `valgrind` the
//! program is Valgrind.

#![cfg(all(test, target_os = "linux"))]
// Tests may panic: that is how they fail. Clippy knows that of test functions, but not of what they share.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

mod harness;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use harness::*;

const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static volatile long sum;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) sum += i; }
__attribute__((noinline)) void left(int n) { leaf(n); leaf(n + 1); }
__attribute__((noinline)) void right(int n) { leaf(2 * n); }
__attribute__((noinline)) int down(int n) { sum += n; int rest = n ? down(n - 1) : 0; sum += rest; return rest + 1; }
static void *run(void *n) { left((int)(long)n); return 0; }
int main(int count, char **words) {
    for (int i = 0; i < 3; i++) { left(10 + i); right(20); }
    down(5);
    free(malloc(100));
    if (count > 1) {
        pthread_t thread;
        pthread_create(&thread, 0, run, (void *)50L);
        pthread_join(thread, 0);
    }
    return 0;
}
"#;

/// Options and the words of the program.
const CASES: [(&[&str], &[&str]); 24] = [
    (&[], &[]),
    (&["--dump-instr=yes"], &[]),
    (&["--dump-line=no", "--dump-instr=yes"], &[]),
    (&["--compress-strings=no"], &[]),
    (&["--compress-pos=no"], &[]),
    (&["--collect-jumps=yes"], &[]),
    (&["--separate-threads=yes"], &["threads"]),
    (&["--separate-threads=yes", "--dump-before=down"], &["threads"]),
    (&["--separate-callers=2"], &[]),
    (&["--separate-callers2=leaf"], &[]),
    (&["--separate-recs=4"], &[]),
    (&["--separate-recs3=down"], &[]),
    (&["--skip-plt=no"], &[]),
    (&["--fn-skip=left"], &[]),
    (&["--toggle-collect=right"], &[]),
    (&["--collect-atstart=no"], &[]),
    (&["--instr-atstart=no"], &[]),
    (&["--dump-before=right"], &[]),
    (&["--dump-after=left", "--combine-dumps=yes"], &[]),
    (&["--zero-before=down"], &[]),
    (&["--dump-every-bb=20000"], &[]),
    (&["--demangle=no"], &[]),
    (&["--cache-sim=yes", "--branch-sim=yes"], &[]),
    (&["--trace-children=yes"], &[]),
];

/// The sizes that `record` gives to simulated caches.
const CACHES: [&str; 3] = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"];

fn built_program() -> tempfile::TempDir {
    let folder = folder(&[("program.c", PROGRAM.as_bytes())]);
    let built = Command::new("cc")
        .args(["-g", "-O1", "-pthread", "-o", "program", "program.c"])
        .current_dir(folder.path())
        .status();
    assert!(built.unwrap().success());
    folder
}

/// The files with a beginning that are not empty, by the rest of their name, without process ids.
fn profiles(folder: &Path, beginning: &str) -> BTreeMap<String, String> {
    let mut profiles = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if let Some(rest) = name.strip_prefix(beginning) {
            let text = std::fs::read_to_string(folder.join(&name)).unwrap();
            if !text.is_empty() {
                let lines = text.lines().filter(|line| !line.starts_with("pid: "));
                profiles.insert(rest.to_owned(), lines.collect::<Vec<_>>().join("\n"));
            }
        }
    }
    profiles
}

/// The lines of a profile that say how it is made.
fn structure(text: &str) -> Vec<&str> {
    const MARKS: [&str; 8] =
        ["version:", "creator:", "cmd:", "part:", "thread:", "desc: Trigger", "positions:", "events:"];
    text.lines().filter(|line| MARKS.iter().any(|mark| line.starts_with(mark))).collect()
}

/// A command without address randomisation, if that is allowed.
fn without_randomisation(program: &Path) -> Option<Command> {
    let machine = std::env::consts::ARCH;
    let tried = Command::new("setarch").args([machine, "-R", "true"]).output();
    tried.is_ok_and(|output| output.status.success()).then(|| {
        let mut command = Command::new("setarch");
        command.args([machine, "-R"]).arg(program);
        command
    })
}

fn valgrind() -> PathBuf {
    let directories = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&directories)
        .map(|directory| directory.join("valgrind"))
        .find(|path| path.is_file())
        .unwrap()
}

#[test]
fn files_are_those_of_valgrind() {
    if !has(&["valgrind", "cc"]) {
        return;
    }
    let folder = built_program();
    let path = folder.path();
    for (nth, (options, words)) in CASES.iter().enumerate() {
        let (ours, theirs) = (format!("ours{nth}"), format!("theirs{nth}"));
        let line =
            [&["record", "--engine", "valgrind", "-o", &ours], *options, &["./program"], *words].concat();
        let output = gristmill(&line).current_dir(path).env_remove("TERM").output().unwrap();
        assert_eq!(code(&output), 0, "{options:?}: {}", stderr(&output));
        let direct = without_randomisation(&valgrind());
        let is_fixed = direct.is_some();
        let mut direct = direct.unwrap_or_else(|| Command::new(valgrind()));
        direct.args(["--tool=callgrind", "-q", &format!("--callgrind-out-file={theirs}")]).args(*options);
        if options.contains(&"--cache-sim=yes") {
            direct.args(CACHES);
        }
        // The environment is a part of what the program sees.
        direct.env_remove("NO_COLOR").env_remove("COLUMNS").env_remove("TERM");
        let status = direct.arg("./program").args(*words).current_dir(path).stderr(Stdio::null()).status();
        assert!(status.unwrap().success());
        let (our_texts, their_texts) = (profiles(path, &ours), profiles(path, &theirs));
        assert!(!our_texts.is_empty(), "{options:?}");
        let names: Vec<_> = our_texts.keys().collect();
        assert_eq!(names, their_texts.keys().collect::<Vec<_>>(), "{options:?}");
        for (name, text) in &our_texts {
            assert_eq!(structure(text), structure(&their_texts[name]), "{options:?} {name}");
            // What threads do depends on time. For one function with levels of its own, Callgrind gives names of levels to other
            // functions, depending on addresses within Valgrind.
            if is_fixed && words.is_empty() && *options != ["--separate-recs3=down"] {
                // The order of functions depends on addresses within Valgrind.
                let functions = |beginning: &str| {
                    let file = format!("{beginning}{name}");
                    stdout(&run_in(path, &["functions", "-n", "0", "--no-cycles", "--format", "csv", &file]))
                };
                assert!(functions(&ours) == functions(&theirs), "{options:?} {name}");
            }
        }
    }
}

/// A link to the program under the name `valgrind`.
fn link(folder: &Path) -> PathBuf {
    let link = folder.join("valgrind");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gristmill"), &link).unwrap();
    link
}

/// The words that gungraun gives to Valgrind, in its order.
fn gungraun_words(folder: &Path) -> Vec<String> {
    let folder = text(folder);
    let fixed = [
        "--tool=callgrind",
        "--error-exitcode=0",
        "--trace-children=yes",
        "--fair-sched=try",
        "--vgdb=no",
        "--I1=32768,8,64",
        "--D1=32768,8,64",
        "--LL=8388608,16,64",
        "--cache-sim=yes",
        "--compress-strings=no",
        "--compress-pos=no",
        "--dump-line=yes",
        "--dump-instr=no",
        "--combine-dumps=no",
        "--separate-threads=yes",
        "--toggle-collect=left",
    ];
    let files = [
        format!("--callgrind-out-file={folder}/callgrind.bench.out.#%p"),
        format!("--log-file={folder}/callgrind.bench.log.#%p"),
    ];
    fixed.iter().map(|&word| word.to_owned()).chain(files).collect()
}

#[test]
fn under_the_name_valgrind_gungraun_gets_what_valgrind_gives() {
    if !has(&["valgrind", "cc"]) {
        return;
    }
    let folder = built_program();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let run = |program: &Path, to: &str| {
        let to = folder.path().join(to);
        std::fs::create_dir(&to).unwrap();
        let mut command = without_randomisation(program).unwrap_or_else(|| Command::new(program));
        command.args(gungraun_words(&to)).arg("./program").env_clear().env("LD_LIBRARY_PATH", "");
        let child =
            command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let process = child.id();
        let output = child.wait_with_output().unwrap();
        assert_eq!((stdout(&output).as_str(), stderr(&output).as_str(), code(&output)), ("", "", 0));
        // The process id is that of the process that was started.
        assert!(to.join(format!("callgrind.bench.log.#{process}")).exists());
        profiles(&to, &format!("callgrind.bench.out.#{process}"))
    };
    // `setarch` is searched on the path of the test, Valgrind by the link without one.
    let (ours, theirs) = (run(&link(&bin), "ours"), run(&valgrind(), "theirs"));
    assert_eq!(ours.keys().collect::<Vec<_>>(), ["-01"]);
    let totals = |text: &str| text.lines().rfind(|line| line.starts_with("totals:")).map(str::to_owned);
    assert_eq!(structure(&ours["-01"]), structure(&theirs["-01"]));
    assert_eq!(totals(&ours["-01"]), totals(&theirs["-01"]));
}

#[test]
fn under_the_name_valgrind_the_program_is_valgrind() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let link = link(folder.path());
    let path = search_path_from(folder.path());
    let said = |program: &Path, words: &[&str]| -> (Option<i32>, Vec<u8>, usize) {
        let output: Output =
            Command::new(program).args(words).env("PATH", &path).current_dir(folder.path()).output().unwrap();
        // Process ids have a length of their own.
        (output.status.code(), output.stdout, output.stderr.split(|&byte| byte == b'\n').count())
    };
    for words in [
        &["--version"][..],
        &["--tool=dhat", "--version"],
        &[],
        &["--no-such-option"],
        &["--tool=callgrind", "no-such-program"],
        &["--tool=none", "sh", "-c", "echo out; exit 5"],
        &[
            "-q",
            "--tool=callgrind",
            "--callgrind-out-file=/dev/null",
            "--cache-sim=yes",
            "sh",
            "-c",
            "exit 6",
        ],
        &["-q", "--tool=cachegrind", "--cachegrind-out-file=/dev/null", "true"],
    ] {
        assert_eq!(said(&link, words), said(&valgrind(), words), "{words:?}");
    }
    let version = said(&link, &["--version"]);
    assert!(version.0 == Some(0) && version.1.starts_with(b"valgrind-3."), "{version:?}");
}

#[test]
fn under_the_name_valgrind_nothing_goes_round() {
    let folder = folder(&[]);
    let alone = folder.path().join("alone");
    std::fs::create_dir(&alone).unwrap();
    let link = link(&alone);
    let run =
        |path: &OsStr| Command::new(&link).args(["--tool=none", "true"]).env("PATH", path).output().unwrap();
    let output = run(alone.as_os_str());
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("valgrind: Valgrind is needed"), "{}", stderr(&output));
    // A script that starts the link, without saying what it is, in its place or as another process.
    let script = folder.path().join("valgrind");
    let log = folder.path().join("log");
    for call in ["exec '{}' \"$@\"", "'{}' \"$@\"; exit $?"] {
        let call = call.replace("{}", text(&link));
        // One that goes round for ever ends the test.
        let text = format!(
            "#!/bin/sh\necho x >> '{0}'\nn=0; while read _; do n=$((n+1)); done < '{0}'\n\
             [ $n -lt 9 ] || exit 9\n{call}\n",
            text(&log)
        );
        write_script(&script, &text);
        std::fs::write(&log, "").unwrap();
        let output = run(folder.path().as_os_str());
        assert_eq!(code(&output), 1, "{call}");
        assert!(stderr(&output).contains("starts Gristmill again"), "{}", stderr(&output));
        assert_eq!(std::fs::read(&log).unwrap(), b"x\n");
    }
}

/// In a build directory of Valgrind, or with a program of that name that starts the one of the path.
#[test]
fn under_the_name_valgrind_the_working_directory_of_the_path_is_searched() {
    if !has(&["cc"]) {
        return;
    }
    let source = b"#include <unistd.h>\n#include <stdlib.h>\nint main(int n, char **words) {\n\
        if (!getenv(\"AGAIN\")) return 5;\n execvp(\"valgrind\", words); return 6; }\n";
    let folder = folder(&[("valgrind.c", source)]);
    let built = Command::new("cc").args(["-o", "valgrind", "valgrind.c"]).current_dir(folder.path()).status();
    assert!(built.unwrap().success());
    let alone = folder.path().join("alone");
    std::fs::create_dir(&alone).unwrap();
    let link = link(&alone);
    let run = |again: bool| {
        // Whoever goes round for ever is ended.
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "ulimit -t 5; exec \"$0\" --version"]).arg(&link);
        command.env("PATH", format!("{}:", text(&alone))).current_dir(folder.path());
        if again {
            command.env("AGAIN", "1");
        }
        command.output().unwrap()
    };
    assert_eq!(code(&run(false)), 5);
    let output = run(true);
    assert_eq!(code(&output), 1);
    assert!(stderr(&output).contains("starts Gristmill again"), "{}", stderr(&output));
}

/// A script of a user that runs the `valgrind` of the path, which is the link.
#[test]
fn under_the_name_valgrind_a_script_gets_the_installed_one() {
    if !has(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let link = link(folder.path());
    let script = folder.path().join("script");
    write_script(&script, "#!/bin/sh\necho script >&2\nvalgrind \"$@\"\n");
    let path = search_path_from(folder.path());
    let run = |words: &[&str]| {
        Command::new(&link)
            .args(words)
            .env("PATH", &path)
            .env("GRISTMILL_VALGRIND", &script)
            .output()
            .unwrap()
    };
    let output = run(&["--version"]);
    assert_eq!((stderr(&output).as_str(), code(&output)), ("script\n", 0));
    assert!(stdout(&output).starts_with("valgrind-3."));
    // The program that is recorded may be the link.
    let output = run(&["-q", "--tool=none", "sh", "-c", "valgrind --version"]);
    assert!(code(&output) == 0 && stdout(&output).starts_with("valgrind-3."), "{}", stderr(&output));
}
