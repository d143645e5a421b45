//! Programs with threads.

use std::path::Path;

use super::harness::*;
use super::programs::compile;
use super::sums::Sums;
use super::{has_engine, record};

/// Threads that run at the same time, with recursion, a lock, and memory of their own.
pub(crate) const WORK: &str = r#"
#include <pthread.h>
#include <stdio.h>
#define APART __attribute__((noinline)) static
APART long work(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
APART long fib(long n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void *body(void *p) {
    long n = (long)p, r = work(n * 1000) + fib(10 + n);
    pthread_mutex_lock(&lock);
    total += r;
    pthread_mutex_unlock(&lock);
    return (void *)r;
}
int main(void) {
    pthread_t threads[6];
    long sum = 0;
    for (long i = 0; i < 6; i++) if (pthread_create(&threads[i], 0, body, (void *)i)) return 1;
    for (int i = 0; i < 6; i++) { void *r; pthread_join(threads[i], &r); sum += (long)r; }
    printf("%ld %ld\n", total, sum);
    return 0;
}
"#;

/// Ways in which threads and processes end and meet.
const ENDS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int turns, caught, ready;
static pthread_mutex_t lock;
static __thread int own = 7;
static void *spin(void *p) { for (;;) turns++; return p; }
static void *leave(void *p) { usleep(2000); exit(3); return p; }
static void *late(void *p) { usleep(2000); puts("late"); return p; }
static void on_signal(int s) { caught += own; (void)s; }
static void *wait_for_signal(void *p) { own = 5; ready = 1; while (caught != 5) turns++; return p; }
static void *forks(void *p) {
    int status; pid_t child = fork();
    if (child == 0) { own++; _exit(own); }
    waitpid(child, &status, 0); printf("%d\n", WEXITSTATUS(status)); return p;
}
static void *keeps(void *p) { pthread_mutex_lock(&lock); return p; }
static void *adds(void *p) { __sync_fetch_and_add(&turns, 1); return p; }
static void *sleeps(void *p) { for (;;) pause(); return p; }
static pthread_t start(void *(*f)(void *)) { pthread_t t; if (pthread_create(&t, 0, f, 0)) abort(); return t; }
int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "";
    void *result;
    if (!strcmp(what, "exit")) { start(spin); start(spin); start(sleeps); start(leave); pause(); }
    if (!strcmp(what, "return")) { start(spin); start(sleeps); usleep(3000); return 4; }
    if (!strcmp(what, "leader")) { start(late); pthread_exit(0); }
    if (!strcmp(what, "signal")) {
        struct sigaction action = { .sa_handler = on_signal }; sigaction(SIGUSR1, &action, 0);
        pthread_t t = start(wait_for_signal); while (!ready) usleep(100); pthread_kill(t, SIGUSR1); pthread_join(t, 0); printf("%d\n", caught);
    }
    if (!strcmp(what, "fork")) pthread_join(start(forks), 0);
    if (!strcmp(what, "robust")) {
        pthread_mutexattr_t a; pthread_mutexattr_init(&a); pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&lock, &a); pthread_join(start(keeps), 0);
        puts(pthread_mutex_lock(&lock) == EOWNERDEAD ? "dead" : "alive");
    }
    if (!strcmp(what, "many")) {
        for (int i = 0; i < 300; i++) pthread_join(start(adds), 0);
        pthread_attr_t a; pthread_attr_init(&a); pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
        for (int i = 0; i < 300; i++) { pthread_t t; while (pthread_create(&t, &a, adds, 0)) usleep(100); }
        while (turns < 600) usleep(100);
        printf("%d\n", turns);
    }
    if (!strcmp(what, "cancel")) {
        pthread_t t = start(sleeps); usleep(1000); pthread_cancel(t); pthread_join(t, &result);
        puts(result == PTHREAD_CANCELED ? "canceled" : "returned");
    }
    if (!strcmp(what, "user")) {
        pthread_t t = start(sleeps);
        printf("%d\n", setuid(getuid()) + setgid(getgid()));
        pthread_cancel(t); pthread_join(t, 0);
    }
    if (!strcmp(what, "fault")) { start(spin); usleep(1000); *(volatile int *)8 = 1; }
    return 0;
}
"#;

/// The words of the program, and what it does with each: exit status, or a signal as a shell has it, and output.
const WAYS: [(&str, i32, &str); 10] = [
    ("exit", 3, ""),
    ("return", 4, ""),
    ("leader", 0, "late\n"),
    ("signal", 0, "5\n"),
    ("fork", 0, "8\n"),
    ("robust", 0, "dead\n"),
    ("many", 0, "600\n"),
    ("cancel", 0, "canceled\n"),
    ("user", 0, "0\n"),
    ("fault", 139, ""),
];

/// Functions are bound at the start: two threads at once can both be the first to call one, and each would bind it.
fn build(folder: &Path, name: &str, text: &str) {
    compile(folder, name, &["-O1", "-g", "-pthread", "-Wl,-z,now"], text);
}

#[test]
fn threads_cost_what_they_cost_under_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    build(folder.path(), "work", WORK);
    let options = ["--dump-instr=yes", "./work"];
    let valgrind = [&["record", "--engine", "valgrind", "-q", "-o", "valgrind.out"], &options[..]].concat();
    assert_eq!(code(&run_in(folder.path(), &valgrind)), 0);
    let expected = Sums::read(&folder.path().join("valgrind.out"));
    for _ in 0..one_in(10).max(3) {
        let output = record(folder.path(), &[&["-q", "--force", "-o", "native.out"], &options[..]].concat());
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""));
        let native = Sums::read(&folder.path().join("native.out"));
        // How threads wait for each other depends on the time.
        let differences = expected.of("/work ").differences(&native.of("/work ")).0;
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

#[test]
fn each_thread_has_a_profile_if_that_is_asked() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    build(folder.path(), "work", WORK);
    for engine in ["valgrind", "native"] {
        let options =
            ["record", "--engine", engine, "-q", "--separate-threads=yes", "--dump-instr=yes", "-o"];
        let output = run_in(folder.path(), &[&options[..], &[engine, "./work"]].concat());
        assert_eq!((code(&output), stderr(&output).as_str()), (0, ""), "{engine}");
    }
    for thread in 1..=2 {
        let text = std::fs::read_to_string(folder.path().join(format!("native-{thread:02}"))).unwrap();
        assert!(text.contains(&format!("\nthread: {thread}\n")), "{text}");
    }
    assert!(!folder.path().join("native").exists());
    // Threads that have ended give their numbers to later ones, at times that differ. The first one is main.
    let sums = |name: &str| Sums::read(&folder.path().join(name)).of("/work ");
    let differences = sums("valgrind-01").differences(&sums("native-01")).0;
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn threads_end_as_without_it() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    build(folder.path(), "ends", ENDS);
    for (way, status, text) in WAYS {
        for _ in 0..one_in(20).max(5) {
            let arguments = ["-q", "--force", "-o", "a.out.%p", "./ends", way];
            let output = record(folder.path(), &arguments);
            assert_eq!(
                (shell_status(&output), stdout(&output).as_str()),
                (status, text),
                "{way}: {}",
                stderr(&output)
            );
            assert_eq!(stderr(&output), "", "{way}");
        }
    }
}

/// Returns the status as a shell has it.
pub(crate) fn shell_status(output: &std::process::Output) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0))
}

/// Threads that switch collecting while others write parts.
const SWITCHING: &str = r#"
#include <pthread.h>
#include <valgrind/callgrind.h>
__attribute__((noinline)) long leaf(long x) { long s = 0; for (int i = 0; i < 10; i++) s += x * i; __asm__ volatile("" :: "r"(s)); return s; }
__attribute__((noinline)) long down(int n) { long x = n ? down(n - 1) : 0; __asm__ volatile(""); return x + leaf(n); }
static void *run(void *p) {
    long s = 0;
    for (int i = 0; i < 60; i++) {
        for (int k = 0; k < 100; k++) s += leaf(k);
        CALLGRIND_TOGGLE_COLLECT;
        s += down(3);
        CALLGRIND_TOGGLE_COLLECT;
    }
    return (void *)s;
}
int main(void) {
    pthread_t threads[4];
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return 0;
}
"#;

#[test]
fn no_part_has_a_cost_below_zero() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    build(folder.path(), "switching", SWITCHING);
    let mut calls = Vec::new();
    for _ in 0..6 {
        let words =
            ["-q", "--force", "--combine-dumps=yes", "--dump-every-bb=100", "-o", "a.out", "./switching"];
        let output = record(folder.path(), &words);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        // Also one that wraps around.
        let sums = Sums::read(&folder.path().join("a.out"));
        assert!(sums.total < 10_000_000, "{}", sums.total);
        let text = std::fs::read_to_string(folder.path().join("a.out")).unwrap();
        let has_wrapped =
            |line: &&str| line.split(' ').any(|number| number.len() > 15 && number.starts_with('1'));
        assert_eq!(text.lines().find(has_wrapped), None);
        calls.push(sums.calls("run", "leaf"));
    }
    assert_eq!(calls, vec![4 * 60 * 100; 6]);
}

/// A timer whose thread waits for a signal that is blocked.
const TIMER: &str = r#"
#include <semaphore.h>
#include <signal.h>
#include <time.h>
static sem_t done;
static void notify(union sigval value) { (void)value; sem_post(&done); }
int main(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
    struct itimerspec soon = {.it_value = {0, 1000}};
    sem_init(&done, 0, 0);
    return timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, 0) || sem_wait(&done);
}
"#;

#[test]
fn the_thread_of_a_timer_has_its_signals() {
    if !has_engine(&["cc", "timeout"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "timer", &["-O1", "-pthread"], TIMER);
    for _ in 0..20 {
        let words = [
            "60",
            env!("CARGO_BIN_EXE_gristmill"),
            "record",
            "--engine=native",
            "-q",
            "--force",
            "-o",
            "a.out",
            "./timer",
        ];
        let status =
            std::process::Command::new("timeout").args(words).current_dir(folder.path()).status().unwrap();
        assert!(status.success(), "{status}");
    }
}
