//! Programs that leave the engine little to work with, and ends that nobody wanted.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::harness::*;
use crate::programs::compile;
use crate::sums::Sums;
use crate::{has_engine, record};

/// The longest wait, for things that happen long before.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Closes everything, or limits itself.
const MEAN: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
static void limit(int resource, long value) {
    struct rlimit limit = {value, value};
    setrlimit(resource, &limit);
    getrlimit(resource, &limit);
    printf("%ld %ld\n", (long)limit.rlim_cur, (long)limit.rlim_max);
    fflush(stdout);
}
int main(int argc, char **argv) {
    switch (argv[1][0]) {
    case 'c': for (int i = 0; i < 4096; i++) close(i); return 3;
    case 'f': limit(RLIMIT_NOFILE, 0); return dup(1) < 0 ? 4 : 9;
    case 's': limit(RLIMIT_FSIZE, 10); return 5;
    case 'o': { int last = 0; while (dup(1) >= 0) last++; return last > 10 ? 6 : 9; }
    case 'm': {
        limit(RLIMIT_AS, 50000000);
        for (int i = 0; i < 200; i++) { char *p = malloc(1 << 20); if (!p) return i > 5 ? 7 : 9; memset(p, 1, 1 << 20); }
        return 8; }
    default: { volatile char c[1 << 20]; memset((char *)c, 1, sizeof c); return main(argc, argv) + c[9]; }
    }
}
"#;

#[test]
fn a_program_that_leaves_nothing_to_the_engine_has_a_profile() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "mean", &["-O0"], MEAN);
    for what in ["close", "files", "size", "open", "memory", "recursion"] {
        let shell = |program: &str| format!("ulimit -n 300; exec {program} {what}");
        let mut command = Command::new("sh");
        let expected = command.args(["-c", &shell("./mean")]).current_dir(folder.path()).output().unwrap();
        let program =
            format!("{} record --engine native -q -o {what}.out ./mean", env!("CARGO_BIN_EXE_gristmill"));
        let output =
            Command::new("sh").args(["-c", &shell(&program)]).current_dir(folder.path()).output().unwrap();
        let said = stderr(&output);
        assert_eq!((output.status, stdout(&output)), (expected.status, stdout(&expected)), "{what}: {said}");
        assert_ne!(expected.status.code(), Some(9), "{what}");
        assert!(Sums::read(&folder.path().join(format!("{what}.out"))).total > 10_000, "{what}: {said}");
    }
}

#[test]
fn nothing_is_left_of_a_recording_that_is_killed() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    let temporary = folder.path().join("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let script = "echo $$ > here; while :; do :; done";
    for script in [script, &script.replace("while :; do :; done", "exec sleep 1000")] {
        let words =
            ["record", "--engine", "native", "--trace-children=yes", "-o", "a.out", "sh", "-c", script];
        let mut command = gristmill(&words);
        command.current_dir(folder.path()).env("TMPDIR", &temporary).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let begin = Instant::now();
        let wait = |what: &dyn Fn() -> bool| {
            while !what() {
                assert!(begin.elapsed() < MAX_WAIT, "{script}");
                std::thread::sleep(Duration::from_millis(5));
            }
        };
        let here = folder.path().join("here");
        wait(&|| std::fs::read(&here).is_ok_and(|text| text.ends_with(b"\n")));
        let process = std::fs::read_to_string(&here).unwrap().trim().to_owned();
        child.kill().unwrap();
        child.wait().unwrap();
        wait(&|| {
            let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        });
        std::fs::remove_file(&here).unwrap();
        // A program that another one has replaced has ended.
        let replaced = folder.path().join("a.out.1");
        if script.contains("exec") && replaced.exists() {
            assert!(Sums::read(&replaced).total > 10_000);
            std::fs::remove_file(&replaced).unwrap();
        }
        assert_eq!(files_below(folder.path()), Vec::<std::path::PathBuf>::new(), "{script}");
        assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{script}");
    }
}

#[test]
fn a_profile_that_cannot_be_written_is_not_there() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    // The directory is gone when the program ends.
    std::fs::create_dir(folder.path().join("gone")).unwrap();
    let output = record(folder.path(), &["-o", "gone/a.out", "rm", "-r", "gone"]);
    assert_eq!(code(&output), 2);
    assert!(stderr(&output).contains("the profile could not be written: "), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("nothing was recorded: gone/a.out was not written"),
        "{}",
        stderr(&output)
    );
    // What was there as the recorder began, and what is written by others, stays.
    assert_eq!(files_below(folder.path()), Vec::<std::path::PathBuf>::new());
    let output = record(folder.path(), &["-o", "b.out", "sh", "-c", "kill -KILL $$"]);
    assert_eq!(output.status.signal(), Some(9));
    assert_eq!(files_below(folder.path()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn nothing_of_an_earlier_profile_follows_one_that_is_cut_off() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    let earlier = "fn=f\n".repeat(100_000) + "totals: 4711\n";
    std::fs::write(folder.path().join("a.out"), earlier).unwrap();
    let output = record_with_small_files(folder.path(), 8, "--force -o a.out true");
    let said = stderr(&output);
    assert_eq!(code(&output), 2, "{said}");
    assert!(
        said.contains("the profile could not be written: ")
            && said.contains("a.out: removed, as it was cut off"),
        "{said}"
    );
    assert_eq!(files_below(folder.path()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_pipe_gets_the_profile_and_is_not_waited_for_without_end() {
    if !has_engine(&["mkfifo"]) {
        return;
    }
    let folder = folder(&[]);
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = record(folder.path(), &["-o", "pipe", "true"]);
    assert!(stderr(&output).contains("no process reads the pipe"), "{}", stderr(&output));
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    let output = record(folder.path(), &["-o", "pipe", "true"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let read = reader.wait_with_output().unwrap().stdout;
    assert!(
        read.starts_with(b"# callgrind format") && text_has_end(&read),
        "{}",
        String::from_utf8_lossy(&read)
    );
}

#[test]
fn a_part_that_cannot_be_written_leaves_the_others_whole() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "parts", &["-O0"], "void f(void) {} int main(void) { f(); return 3; }");
    let output = record(folder.path(), &["--dump-before=f", "-o", "all", "./parts"]);
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    let first = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let first = first.filter(|path| path.to_string_lossy().contains("all.")).min().unwrap();
    // The second part does not fit.
    let blocks = std::fs::metadata(first).unwrap().len() / 512 + 1;
    let words = "--combine-dumps=yes --dump-before=f -o one ./parts";
    let output = record_with_small_files(folder.path(), blocks, words);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("the profile could not be written: "), "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.path().join("one")).unwrap();
    assert_eq!((text.matches("\npart:").count(), text.matches("\ntotals:").count()), (1, 1));
    assert!(text_has_end(text.as_bytes()));
    // A device that takes nothing.
    let output = record(folder.path(), &["-o", "/dev/full", "./parts"]);
    assert_eq!(code(&output), 2, "{}", stderr(&output));
}

/// A filter of system calls that allows these alone. Others fail, and the engine cannot ask who its parent is.
const FILTERED: &str = r#"
#include <linux/filter.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
    int allowed[] = {SYS_read, SYS_write, SYS_exit_group, SYS_brk, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_rt_sigprocmask, SYS_close,
        SYS_newfstatat, SYS_statx, SYS_openat, SYS_prlimit64, SYS_getpid, SYS_lseek, SYS_fcntl, SYS_mremap, SYS_unlink, SYS_unlinkat,
        SYS_getdents64, SYS_ftruncate, SYS_sigaltstack};
    struct sock_filter filter[100] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, 0}};
    unsigned short length = 1;
    for (unsigned i = 0; i < sizeof allowed / sizeof *allowed; i++) {
        filter[length++] = (struct sock_filter){BPF_JMP | BPF_JEQ | BPF_K, 0, 1, allowed[i]};
        filter[length++] = (struct sock_filter){BPF_RET | BPF_K, 0, 0, 0x7fff0000};
    }
    filter[length++] = (struct sock_filter){BPF_RET | BPF_K, 0, 0, count > 1 ? 0x80000000 : 0x50001};
    struct sock_fprog program = {length, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, 2, &program)) return 1;
    write(1, "filtered\n", 9);
    return 42;
}
"#;

#[test]
fn a_filter_of_system_calls_does_not_change_what_a_program_does() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "filtered", &["-O1"], FILTERED);
    let output = record(folder.path(), &["-q", "-o", "a.out", "./filtered"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (42, "filtered\n"), "{}", stderr(&output));
    assert!(text_has_end(&std::fs::read(folder.path().join("a.out")).unwrap()));
    // With a filter that ends the program, it ends no earlier than where the engine writes the profile.
    let output = record(folder.path(), &["-q", "-o", "b.out", "./filtered", "ends"]);
    assert_eq!(stdout(&output), "filtered\n", "{}", stderr(&output));
}

/// Ends by a fault in the handler of faults, or by one that is blocked.
const CRASH: &str = r#"
#include <signal.h>
static int *volatile nowhere;
static void handle(int signal) { (void)signal; *nowhere = 1; }
int main(int argc, char **argv) {
    sigset_t all;
    sigfillset(&all);
    signal(SIGSEGV, handle);
    if (argc > 1) sigprocmask(SIG_BLOCK, &all, 0);
    *nowhere = 1;
    return 0;
}
"#;

#[test]
fn a_program_that_ends_by_a_blocked_fault_has_a_profile() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "crash", &["-O1"], CRASH);
    for words in [&["./crash"][..], &["./crash", "blocked"]] {
        let output = record(folder.path(), &[&["-q", "--force", "-o", "a.out"], words].concat());
        assert_eq!(output.status.signal(), Some(11), "{}", stderr(&output));
        assert!(text_has_end(&std::fs::read(folder.path().join("a.out")).unwrap()));
        std::fs::remove_file(folder.path().join("a.out")).unwrap();
    }
}

#[test]
fn a_program_is_not_overwritten_with_its_profile() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "own", &["-O0"], "int main(void) { return 3; }");
    std::os::unix::fs::symlink("own", folder.path().join("link")).unwrap();
    let before = std::fs::read(folder.path().join("own")).unwrap();
    for name in ["own", "link", "./link"] {
        let output = record(folder.path(), &["--force", "-o", name, "./own"]);
        assert_eq!(code(&output), 2, "{}", stderr(&output));
        assert!(stderr(&output).contains("is the program itself"), "{}", stderr(&output));
    }
    assert!(std::fs::read(folder.path().join("own")).unwrap() == before);
}

/// Records where no file can have more than this many blocks of 512 bytes.
fn record_with_small_files(folder: &Path, blocks: u64, words: &str) -> Output {
    let program = env!("CARGO_BIN_EXE_gristmill");
    let line = format!("ulimit -f {blocks}; exec {program} record --engine native {words}");
    Command::new("sh").args(["-c", &line]).current_dir(folder).output().unwrap()
}

fn text_has_end(profile: &[u8]) -> bool {
    let text = String::from_utf8_lossy(profile);
    text.lines().next_back().is_some_and(|line| line.starts_with("totals:"))
}
