//! Options and requests: functions by their callers, when costs are counted, and the parts that are written, as under Callgrind.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::harness::*;
use crate::programs::compile;
use crate::sums::{Sums, set_environment};
use crate::{MAX_DIFFERENCE, has_engine};

/// Calls of functions by several others, recursion of one and of two, and a phase.
const PHASES: &str = r#"
#include <stdio.h>
#define FUNCTION __attribute__((noinline))
volatile long sink;
FUNCTION void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
FUNCTION void work(int n) { leaf(n); sink++; leaf(2); }
FUNCTION int odd(int n);
FUNCTION int even(int n) { sink++; if (n == 0) return 1; int r = odd(n - 1); sink++; return r; }
FUNCTION int odd(int n) { sink++; if (n == 0) return 0; int r = even(n - 1); sink++; return r; }
FUNCTION int fib(int n) { if (n < 2) return n; int a = fib(n - 1); int b = fib(n - 2); sink += a; return a + b; }
FUNCTION void phase(int k) { work(k); even(5); sink++; }
int main(void) {
    work(3); phase(4); fib(12); phase(6); leaf(5);
    printf("%ld\n", (long)sink);
    return 0;
}
"#;

/// Requests, by the first argument. The instructions are those of the headers of Valgrind, which need not be installed.
const REQUESTS: &str = r#"
#include <stdio.h>
#define FUNCTION __attribute__((noinline))
volatile long sink;
static inline unsigned long request(unsigned long code, const void *text) {
    unsigned long words[6] = {code, (unsigned long)text}, result = 0;
    __asm__ volatile("rol $3, %%rdi; rol $13, %%rdi; rol $61, %%rdi; rol $51, %%rdi; xchg %%rbx, %%rbx"
        : "+d"(result) : "a"(words) : "cc", "memory");
    return result;
}
#define DUMP request(0x43540000, 0)
#define ZERO request(0x43540001, 0)
#define TOGGLE request(0x43540002, 0)
#define DUMP_AT(text) request(0x43540003, text)
#define START request(0x43540004, 0)
#define STOP request(0x43540005, 0)
FUNCTION void leaf(int n) { for (int i = 0; i < n; i++) sink += i; }
FUNCTION void work(int n) { leaf(n); sink++; leaf(2); }
FUNCTION void inner(void) { TOGGLE; sink++; }
FUNCTION void outer(void) { sink++; inner(); sink++; }
int main(int count, char **words) {
    unsigned long runs_on_valgrind = request(0x1001, 0);
    work(3);
    if (count > 1) switch (words[1][0]) {
        case 'd': DUMP; work(4); DUMP_AT("a name"); work(5); break;
        case 'z': work(4); ZERO; work(5); break;
        case 't': work(4); TOGGLE; work(5); TOGGLE; work(6); break;
        case 'o': work(4); outer(); work(5); outer(); work(6); break;
        case 's': work(4); START; work(5); outer(); STOP; work(6); START; work(7); break;
        case 'x': work(4); STOP; work(5); DUMP_AT("phase/1"); work(6); break;
        case 'e': { DUMP; FILE *part = fopen(words[2], "r"); printf("%s\n", part ? "written" : "missing"); } break;
    }
    printf("%lu %ld\n", runs_on_valgrind, (long)sink);
    return 0;
}
"#;

/// Records with both engines, and compares all files: their names, heads, functions and calls.
fn assert_same_files(folder: &Path, options: &[&str], program: &[&str]) {
    let outputs = ["native", "valgrind"].map(|engine| {
        let files = folder.join(engine);
        let _ = std::fs::remove_dir_all(&files);
        std::fs::create_dir(&files).unwrap();
        let output = format!("{engine}/out");
        let mut words = vec!["record", "--engine", engine, "-q", "-o", &output, "--dump-instr=yes"];
        if engine == "valgrind" {
            words.push("--valgrind-option=--run-libc-freeres=no");
        }
        let mut command = gristmill(&[&words, options, program].concat());
        set_environment(command.current_dir(folder), engine);
        let output = command.output().unwrap();
        assert_eq!(stderr(&output), "", "{engine} {options:?} {program:?}");
        (code(&output), stdout(&output))
    });
    assert_eq!(outputs[0], outputs[1], "{options:?} {program:?}");
    let names = ["native", "valgrind"].map(|engine| {
        let entries = std::fs::read_dir(folder.join(engine)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    });
    assert_eq!(names[0], names[1], "{options:?} {program:?}");
    for name in &names[0] {
        let paths = ["native", "valgrind"].map(|engine| folder.join(engine).join(name));
        let [native, valgrind] = paths.each_ref().map(|path| head(path));
        assert_eq!(native, valgrind, "{options:?} {program:?} {name}");
        let [native, valgrind] = paths.map(|path| Sums::read(&path));
        let (differences, sum) = valgrind.differences(&native);
        let difference = differences.join("\n");
        assert!(sum <= MAX_DIFFERENCE, "{options:?} {program:?} {name}: {difference}");
    }
}

/// Returns the lines that tell what a file is.
fn head(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let is_head = |line: &&str| {
        ["version:", "cmd:", "part:", "thread:", "desc: Trigger:", "positions:", "events:"]
            .iter()
            .any(|key| line.starts_with(key))
    };
    // Callgrind writes two spaces before the command.
    text.lines().filter(is_head).map(|line| line.replace("  ", " ")).collect()
}

#[test]
fn options_about_functions_do_what_they_do_under_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "phases", &["-O1", "-g", "-fno-optimize-sibling-calls"], PHASES);
    for options in [
        &["--separate-callers=3"][..],
        &["--separate-callers2=leaf", "--separate-callers1=w*k", "--separate-recs=3"],
        &["--separate-recs4=fib", "--separate-recs=1"],
        &["--separate-recs=12", "--separate-callers=1"],
        &["--fn-skip=work", "--fn-skip=odd"],
        &["--toggle-collect=work"],
        &["--skip-plt=no"],
        &["--skip-plt=no", "--separate-callers=2"],
        &["--toggle-collect=fib", "--separate-callers=1"],
        &["--collect-atstart=no", "--toggle-collect=even"],
        &["--dump-before=phase"],
        &["--dump-after=work"],
        &["--dump-before=fib", "--dump-after=fib", "--zero-before=phase"],
        &["--dump-before=phase", "--combine-dumps=yes"],
        &["--dump-before=phase", "--separate-threads=yes", "--compress-strings=no"],
    ] {
        assert_same_files(folder.path(), options, &["./phases"]);
    }
}

#[test]
fn the_native_engine_records_unless_it_cannot() {
    if !has_engine(&["valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let run = |arguments: &[&str]| {
        let output = run_in(
            folder.path(),
            &[&["record", "--force", "-o", "a.out"], arguments, &["/bin/true"]].concat(),
        );
        let creator = std::fs::read_to_string(folder.path().join("a.out")).unwrap_or_default();
        let creator =
            creator.lines().find(|line| line.starts_with("creator: ")).unwrap_or_default().to_owned();
        (code(&output), creator.replace(env!("CARGO_PKG_VERSION"), ""), stderr(&output))
    };
    let (status, creator, said) = run(&[]);
    assert_eq!((status, creator.as_str()), (0, "creator: gristmill-engine-"));
    assert!(said.contains(" s by the native engine: a.out\n"), "{said}");
    assert_eq!(run(&["-q"]).2, "");
    let (status, creator, said) = run(&["--cache-sim=yes"]);
    assert!(status == 0 && creator.starts_with("creator: callgrind-"), "{creator}");
    let reason = "gristmill: records with Valgrind, as the native engine cannot do this: it has no simulation of caches yet\n";
    assert!(said.starts_with(reason) && said.contains(" s by Valgrind: a.out\n"), "{said}");
    // Valgrind can have options that are on no command line.
    std::fs::write(folder.path().join(".valgrindrc"), "--branch-sim=yes\n").unwrap();
    let (status, creator, said) = run(&[]);
    assert!(status == 0 && creator.starts_with("creator: callgrind-"), "{creator}");
    assert!(said.contains("cannot do this: options are in VALGRIND_OPTS or .valgrindrc\n"), "{said}");
    assert_eq!(run(&["--engine=native"]).1, "creator: gristmill-engine-");
    std::fs::remove_file(folder.path().join(".valgrindrc")).unwrap();
    // What is asked for by its name is not named.
    let valgrind = run_in(folder.path(), &["record", "--engine", "valgrind", "-o", "b.out", "/bin/true"]);
    assert!(!stderr(&valgrind).contains(" by "), "{}", stderr(&valgrind));
    // Neither can.
    let mut alone = gristmill(&["record", "-o", "c.out", "--branch-sim=yes", "/bin/true"]);
    let output = alone.current_dir(folder.path()).env("PATH", "/nonexistent").output().unwrap();
    let said = stderr(&output);
    assert!(
        code(&output) == 2 && said.contains("it has no --branch-sim=yes yet; and Valgrind is needed"),
        "{said}"
    );
}

#[test]
fn a_program_with_a_sanitizer_is_refused() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "libtsan.so.9", &["-shared", "-fPIC"], "int in_library(void) { return 0; }\n");
    let text = "int in_library(void); int main(void) { return in_library(); }\n";
    compile(
        folder.path(),
        "dynamic",
        &["-L.", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-l:libtsan.so.9"],
        text,
    );
    let text = "void __asan_init(void) {} int main(void) { return 0; }\n";
    compile(folder.path(), "static", &["-rdynamic"], text);
    for (program, sanitizer) in [("./dynamic", "libtsan.so.9"), ("./static", "__asan_init")] {
        let output = crate::record(folder.path(), &["-o", "a.out", program]);
        let said = stderr(&output);
        let reason = format!("was built with a sanitizer ({sanitizer}), which needs the process for itself");
        assert!(code(&output) == 2 && said.contains(&reason), "{said}");
    }
}

#[test]
fn a_pipe_as_dynamic_linker_is_not_waited_for() {
    if !has_engine(&["cc", "mkfifo"]) {
        return;
    }
    let folder = folder(&[]);
    let linker = folder.path().join("linker");
    assert!(std::process::Command::new("mkfifo").arg(&linker).status().unwrap().success());
    let option = format!("-Wl,--dynamic-linker={}", linker.display());
    compile(folder.path(), "piped", &[option.as_str()], "int main(void) { return 0; }\n");
    let output = crate::record(folder.path(), &["-o", "a.out", "./piped"]);
    assert!(code(&output) == 2 && stderr(&output).contains("is not a regular file"), "{}", stderr(&output));
}

/// The dynamic linker looks symbols up in one way while there is one thread, and in another way then.
const THREAD: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static void *body(void *p) { return (void *)(long)(abs(-3) + atoi("4")); }
int main(void) {
    pthread_t thread;
    void *sum;
    puts("begin");
    if (pthread_create(&thread, 0, body, 0) || pthread_join(thread, &sum)) return 1;
    printf("%ld\n", (long)sum);
    return 0;
}
"#;

#[test]
fn calls_are_counted_by_the_blocks_that_they_end_where_collecting_is_switched() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "thread", &["-O1", "-g", "-fno-builtin", "-pthread", "-Wl,-z,lazy"], THREAD);
    assert_same_files(folder.path(), &["--toggle-collect=body"], &["./thread"]);
}

#[test]
fn requests_do_what_they_do_under_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "requests", &["-O1", "-g", "-fno-optimize-sibling-calls"], REQUESTS);
    for (options, way) in [
        (&[][..], "d"),
        (&[], "z"),
        (&[], "t"),
        (&[], "o"),
        (&[], "s"),
        (&[], "x"),
        (&["--instr-atstart=no"], "s"),
        (&["--collect-atstart=no"], "t"),
        (&["--toggle-collect=outer"], "o"),
        (&["--separate-threads=yes"], "d"),
        (&["--combine-dumps=yes"], "d"),
    ] {
        assert_same_files(folder.path(), options, &["./requests", way]);
    }
}

/// Requests behind branches: blocks before them are counted before them.
const BRANCHES: &str = r#"
typedef unsigned long word;
static inline __attribute__((always_inline)) void ask(word number) {
    word answer = 0;
    volatile word words[6] = {number, 0, 0, 0, 0, 0};
    __asm__ volatile("rol $3, %%rdi\n\trol $13, %%rdi\n\trol $61, %%rdi\n\trol $51, %%rdi\n\txchg %%rbx, %%rbx"
                     : "=d"(answer) : "a"(words), "0"(answer) : "cc", "memory");
}
enum { DUMP = 0x43540000, ZERO, TOGGLE, DUMP_AT, START, STOP };
__attribute__((noinline)) unsigned work(unsigned count, char way) {
    unsigned a = 1, b = 0;
    for (unsigned i = 0; i < count; i++) {
        a = a * 1103515245 + 12345;
        if (a & 0x10000) {
            b += a;
            if (a & 0x20000) {
                b ^= a;
                if (way == 'z' && a >> 18 == 5) { ask(ZERO); b += 3; }
            } else b -= 3;
        } else if (a & 0x40000) {
            b = b * 3 + 1;
            if (way == 'd' && i % 1000 == 7) ask(DUMP);
        }
        if (way == 't' && i % 777 == 3) ask(TOGGLE);
        if (way == 's' && i == 5000) ask(STOP);
        if (way == 's' && i == 6000) ask(START);
    }
    return b;
}
int main(int count, char **words) { return work(20000 * count, words[1][0]) & 1; }
"#;

#[test]
fn requests_behind_branches_do_what_they_do_under_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "branches", &["-O2", "-g"], BRANCHES);
    for way in ["d", "z", "t", "s"] {
        assert_same_files(folder.path(), &[], &["./branches", way]);
        for entry in std::fs::read_dir(folder.path().join("native")).unwrap() {
            let name = entry.unwrap().file_name();
            let [native, valgrind] = ["native", "valgrind"]
                .map(|engine| Sums::read(&folder.path().join(engine).join(&name)).of("branches "));
            assert_eq!(valgrind.differences(&native), (Vec::new(), 0), "{way} {name:?}");
        }
    }
}

#[test]
fn a_part_is_written_when_the_request_returns() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "requests", &["-O1"], REQUESTS);
    let output = run_in(
        folder.path(),
        &["record", "--engine", "native", "-q", "-o", "a.out", "./requests", "e", "a.out.1"],
    );
    assert!(stdout(&output).starts_with("written\n1 "), "{}{}", stdout(&output), stderr(&output));
    // Without the engine, requests do nothing.
    let plain = Command::new("./requests").arg("d").current_dir(folder.path()).output().unwrap();
    assert_eq!(stdout(&plain), "0 25\n");
}

#[test]
fn parts_of_blocks_add_up() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "phases", &["-O1"], PHASES);
    let total = |options: &[&str], output: &str| {
        let words = [&["record", "--engine", "native", "-q", "-o", output], options, &["./phases"]].concat();
        let recorded = run_in(folder.path(), &words);
        assert_eq!((code(&recorded), stderr(&recorded).as_str()), (0, ""));
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let parts: Vec<_> =
            entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(output)).collect();
        let totals: Vec<u64> = parts.iter().map(|part| Sums::read(part).total).collect();
        (totals.len(), totals.iter().sum::<u64>())
    };
    // A call that begins where a part ends is counted in the next one.
    let calls = |options: &[&str], output: &str| {
        total(options, output);
        let words = ["functions", "--format", "json", "-n", "0", "--filter=^(fib|work|leaf)$"];
        let entries = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
        let parts = entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(output));
        let parts: Vec<String> = parts.map(|path| path.to_str().unwrap().to_owned()).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        let functions = run_in(folder.path(), &[&words[..], &parts].concat());
        let answer: serde_json::Value = serde_json::from_str(&stdout(&functions)).unwrap();
        let rows = answer["functions"].as_array().unwrap().clone();
        let mut calls: Vec<_> =
            rows.iter().map(|row| (row["name"].to_string(), row["calls"].to_string())).collect();
        calls.sort();
        calls
    };
    let whole_calls = calls(&[], "one.out");
    assert!(whole_calls.len() > 1, "{whole_calls:?}");
    assert_eq!(calls(&["--dump-every-bb=499"], "many.out"), whole_calls);
    let (whole_count, whole) = total(&[], "whole.out");
    let (part_count, parts) = total(&["--dump-every-bb=5000"], "parts.out");
    assert_eq!((whole_count, whole), (1, parts));
    assert!(part_count > 4, "{part_count}");
}

/// Waits in each way, with all signals blocked that can be, and says if something else ends that.
const WAITS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int main(void) {
    FILE *file = fopen("new", "w");
    fprintf(file, "%d\n", getpid());
    fclose(file);
    rename("new", "pid");
    sigset_t all;
    sigfillset(&all);
    int queue = epoll_create1(0), word = 0;
    for (int way = 0; way < 9; way++) {
        struct timespec time = {0, 300000000};
        struct timespec mask_time = time;
        int result = 0, expected = 0;
        switch (way) {
        case 0: result = poll(0, 0, 300); break;
        case 1: result = nanosleep(&time, 0); break;
        case 2: result = clock_nanosleep(CLOCK_MONOTONIC, 0, &time, 0); break;
        case 3: { struct epoll_event event; result = epoll_wait(queue, &event, 1, 300); break; }
        case 4: { struct epoll_event event; result = epoll_pwait(queue, &event, 1, 300, &all); break; }
        case 5: expected = -ETIMEDOUT; result = syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, 0, 0) ? -errno : 0; break;
        case 6: result = ppoll(0, 0, &mask_time, &all); break;
        case 8: expected = -EAGAIN; result = sigtimedwait(&all, 0, &time) < 0 ? -errno : 1; break;
        case 7: result = pselect(0, 0, 0, 0, &mask_time, &all); break;
        }
        if (result != expected) printf("%d: %d %s\n", way, result, errno == EINTR ? "interrupted" : "failed");
    }
    return 0;
}
"#;

#[test]
fn a_program_does_not_notice_that_it_is_asked() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "waits", &["-O1"], WAITS);
    let mut command = gristmill(&["record", "--engine", "native", "-q", "-o", "a.out", "./waits"]);
    command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let process = loop {
        match std::fs::read_to_string(folder.path().join("pid")) {
            Ok(text) => break text.trim().to_owned(),
            Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
        }
    };
    // A wait that began again with each request would not end.
    let requests = ["status", "dump", "off", "on", "zero"].into_iter().cycle().take(400);
    let mut answers = 0;
    for request in requests {
        if child.try_wait().unwrap().is_some() {
            break;
        }
        answers += u32::from(code(&run_in(folder.path(), &["control", &process, request])) == 0);
    }
    assert!(child.try_wait().unwrap().is_some(), "it still waits");
    assert!(answers > 10, "{answers}");
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stdout(&output), stderr(&output)), (0, String::new(), String::new()));
}

#[test]
fn a_program_is_not_harmed_by_a_request_at_its_start() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    for _ in 0..10 {
        let mut command = gristmill(&["record", "--engine", "native", "--force", "-o", "a.out", "true"]);
        command.current_dir(folder.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let process = child.id().to_string();
        while child.try_wait().unwrap().is_none() {
            run_in(folder.path(), &["control", &process, "status"]);
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    }
}

#[test]
fn each_part_before_a_function_has_the_call_of_it() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    let text = "__attribute__((noinline)) int mid(int n) { __asm__ volatile(\"\"); return n * 3; }\n\
        int main(void) { int s = 0; for (int i = 0; i < 4; i++) s += mid(i); return s & 1; }\n";
    compile(folder.path(), "program", &["-O1"], text);
    let options = ["-q", "--dump-before=mid", "--zero-before=mid", "-o", "a.out", "./program"];
    assert_eq!(code(&crate::record(folder.path(), &options)), 0);
    for part in ["a.out.2", "a.out.3", "a.out.4", "a.out"] {
        let functions = run_in(folder.path(), &["functions", part, "--format", "json"]);
        let answer: serde_json::Value = serde_json::from_str(&stdout(&functions)).unwrap();
        let rows = answer["functions"].as_array().unwrap();
        let mid = rows.iter().find(|row| row["name"] == "mid").unwrap();
        assert_eq!(mid["calls"], 1, "{part}: {mid}");
    }
}

/// Readers that know the names of a whole file take a number for one name.
#[test]
fn names_have_one_number_in_all_parts_of_a_file() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "phases", &["-O1", "-g"], PHASES);
    let options = ["-q", "--dump-before=phase", "--dump-after=fib", "--combine-dumps=yes", "-o", "a.out"];
    let output = crate::record(folder.path(), &[&options[..], &["./phases"]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.path().join("a.out")).unwrap();
    let mut names = std::collections::BTreeMap::new();
    let mut count = 0;
    for line in text.lines() {
        let Some((key, (number, name))) =
            line.split_once("=(").and_then(|(key, rest)| Some((key, rest.split_once(") ")?)))
        else {
            continue;
        };
        let space = if key.ends_with("fn") {
            "fn"
        } else if key.ends_with("ob") {
            "ob"
        } else {
            "fl"
        };
        assert_eq!(*names.entry((space, number)).or_insert(name), name, "{line}");
        count += 1;
    }
    // Each part has the names that it needs.
    assert!(names.len() > 100 && count > names.len() && text.matches("\npart: ").count() > 2, "{count}");
}
