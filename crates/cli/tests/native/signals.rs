//! Signals that come while the engine is between two states of the program, and those that wait for one thread.

use std::process::Command;

use super::programs::compile;
use super::sums::Sums;
use super::threads::shell_status;
use super::{assert_same_output, assert_same_profile, has_engine, record};
use crate::harness::*;

/// Each way ends with 0 if the program was treated well, or with the signal that it is for.
const SENT: &str = r#"
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int alarms, users, faults;
static volatile pid_t own;
static char *volatile page;
static int *volatile nowhere;
static sigjmp_buf place;
static void handle(int signal, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(signal, &action, 0);
}
static void on_alarm(int s) { (void)s; alarms++; }
static void on_user(int s) { (void)s; if (getpid() != own) _exit(9); users++; }
static void on_fault(int s) { (void)s; faults++; mprotect(page, 4096, PROT_READ | PROT_WRITE); }
static void on_last_fault(int s) { signal(s, SIG_DFL); raise(s); }
static void every(int microseconds) {
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    handle(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &timer, 0);
}
static pid_t send_each(int microseconds) {
    pid_t child = fork();
    if (child == 0) for (;;) { usleep(microseconds); if (getppid() != own || kill(own, SIGUSR1)) _exit(0); }
    return child;
}
static int has_blocked(void) {
    sigset_t mask, none;
    sigprocmask(SIG_SETMASK, 0, &mask);
    sigemptyset(&none);
    return memcmp(&mask, &none, 8) != 0;
}
static void end(pid_t child) { kill(child, SIGKILL); waitpid(child, 0, 0); }
static int ends_of_handlers(void) {
    handle(SIGUSR1, on_user);
    every(1000);
    pid_t child = send_each(500);
    while (alarms < 300 || users < 300) if (has_blocked()) return 2;
    end(child);
    return 0;
}
static int repair(void) {
    page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    handle(SIGSEGV, on_fault);
    every(500);
    for (int i = 0; i < 3000 || alarms < 300; i++) { *page = i; mprotect(page, 4096, PROT_READ); }
    return faults < 3000 || has_blocked();
}
static int forks(void) {
    handle(SIGUSR1, on_user);
    pid_t sender = send_each(50);
    int status, wrong = 0;
    for (int i = 0; i < 300; i++) {
        pid_t child = fork();
        if (child == 0) _exit(has_blocked());
        waitpid(child, &status, 0);
        wrong += status != 0;
    }
    end(sender);
    return wrong ? 3 : users == 0;
}
static void *crash(void *p) { *nowhere = 1; return p; }
static int in_thread(void) {
    pthread_t thread;
    handle(SIGSEGV, on_last_fault);
    pthread_create(&thread, 0, crash, 0);
    pthread_join(thread, 0);
    return 4;
}
static void *take(void *p) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    int signal = 0;
    sigwait(&set, &signal);
    return signal == SIGSEGV ? p : 0;
}
static int waits_in_thread(void) {
    sigset_t set;
    void *result;
    pthread_t thread;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&thread, 0, take, &set);
    pthread_kill(thread, SIGSEGV);
    pthread_join(thread, &result);
    return result != &set;
}
static void jump_out(int s) { (void)s; faults++; siglongjmp(place, 1); }
static int blocked_for_a_call(void) {
    sigset_t all;
    struct timespec time = {0, 200000000};
    pid_t child = fork();
    if (child == 0) { usleep(50000); kill(own, SIGSEGV); _exit(0); }
    sigfillset(&all);
    handle(SIGSEGV, jump_out);
    if (!sigsetjmp(place, 1)) { ppoll(0, 0, &time, &all); return 5; }
    waitpid(child, 0, 0);
    if (!sigsetjmp(place, 1)) *nowhere = 1;
    return faults != 2 || has_blocked();
}
#define DISARMS (1u << 31)
static char stacks[2][32768];
static int on_stack(int which) { char c; return &c >= stacks[which] && &c < stacks[which] + sizeof stacks[which]; }
static void on_nested(int s) { (void)s; users += on_stack(1); }
static void on_disarmed(int s) {
    (void)s;
    stack_t now, other = {.ss_sp = stacks[1], .ss_size = sizeof stacks[1]};
    sigaltstack(0, &now);
    users += on_stack(0) && now.ss_flags == SS_DISABLE && sigaltstack(&other, 0) == 0;
    raise(SIGUSR2);
}
static int disarms(void) {
    stack_t now, stack = {.ss_sp = stacks[0], .ss_size = sizeof stacks[0], .ss_flags = DISARMS};
    struct sigaction action = {.sa_handler = on_disarmed, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, 0);
    action.sa_handler = on_nested;
    sigaction(SIGUSR2, &action, 0);
    sigaltstack(&stack, 0);
    raise(SIGUSR1);
    sigaltstack(0, &now);
    return users != 2 || now.ss_flags != DISARMS || now.ss_sp != stacks[0];
}
int main(int argc, char **argv) {
    own = getpid();
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'e': return ends_of_handlers();
    case 'r': return repair();
    case 'f': return forks();
    case 'c': return in_thread();
    case 'd': return disarms();
    case 'p': return blocked_for_a_call();
    default: return waits_in_thread();
    }
}
"#;

/// The ways, and how a shell names the end of the program.
const WAYS: [(&str, i32); 7] =
    [("ends", 0), ("repair", 0), ("forks", 0), ("crash", 139), ("disarm", 0), ("poll", 0), ("wait", 0)];

#[test]
fn signals_reach_those_whom_they_are_for() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "sent", &["-O1", "-pthread"], SENT);
    for (way, expected) in WAYS {
        let output = record(folder.path(), &["-q", "-o", &format!("{way}.out"), "./sent", way]);
        assert_eq!(shell_status(&output), expected, "{way}: {}", stderr(&output));
        assert!(Sums::read(&folder.path().join(format!("{way}.out"))).total > 10_000, "{way}");
    }
}

/// A handler of two signals that interrupts itself, and one whose function was called before.
const NESTED: &str = r#"
#include <signal.h>
#include <unistd.h>
static volatile int left = 2;
__attribute__((noinline)) static long work(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ n; __asm__ volatile("" : : "r"(s)); return s; }
__attribute__((noinline)) static void handle(int s) { work(7); if (left-- > 0) kill(getpid(), s == SIGUSR1 ? SIGUSR2 : SIGUSR1); work(3); }
__attribute__((noinline)) static void called(int s) { work(5); if (s == 0) kill(getpid(), SIGHUP); work(2); }
int main(void) {
    signal(SIGUSR1, handle), signal(SIGUSR2, handle), signal(SIGHUP, called);
    kill(getpid(), SIGUSR1);
    called(0);
    return 0;
}
"#;

#[test]
fn handlers_that_are_active_already_are_levels_of_a_recursion() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "nested", &["-O1", "-g", "-fno-optimize-sibling-calls"], NESTED);
    assert_same_profile(folder.path(), &["--separate-recs=5", "./nested"]);
    let sums = Sums::read(&folder.path().join("native.out"));
    assert_eq!((sums.calls("handle'2", "work"), sums.calls("called'2", "work")), (2, 2));
}

/// A thread that is in a call while parts of the profile end, and costs nothing meanwhile.
const WAITING: &str = r#"
#include <pthread.h>
#include <unistd.h>
static int ends[2], ready[2];
__attribute__((noinline)) static void wait_for_end(void) { char c; write(ready[1], "", 1); read(ends[0], &c, 1); }
static void *work(void *p) { for (int i = 0; i < 3; i++) wait_for_end(); return p; }
__attribute__((noinline)) void part(void) { __asm__ volatile(""); }
int main(void) {
    pthread_t thread;
    char c;
    if (pipe(ends) || pipe(ready)) return 1;
    pthread_create(&thread, 0, work, 0);
    for (int i = 0; i < 3; i++) {
        read(ready[0], &c, 1);
        usleep(20000);
        for (int k = 0; k < 4; k++) part();
        write(ends[1], "", 1);
    }
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn a_call_is_counted_in_one_part() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "waiting", &["-O1", "-pthread"], WAITING);
    let words = ["-q", "--dump-after=part", "--combine-dumps=yes", "-o", "a.out", "./waiting"];
    let output = record(folder.path(), &words);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = std::fs::read_to_string(folder.path().join("a.out")).unwrap();
    assert_eq!(text.matches("\npart:").count(), 13);
    let sums = Sums::read(&folder.path().join("a.out"));
    assert_eq!(sums.calls("work", "wait_for_end"), 3);
    assert_eq!(sums.calls("main", "part"), 12);
}

/// Handlers that lead the program to another function, which leaves by a long jump.
const LED: &str = r#"
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
static sigjmp_buf place;
static int led;
__attribute__((noinline)) static long work(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ n; __asm__ volatile("" : : "r"(s)); return s; }
__attribute__((noinline)) static void leaves(void) { led += work(300) != 1; siglongjmp(place, 1); }
static void *volatile target;
static void lead(int s, siginfo_t *info, void *data) {
    (void)s, (void)info;
    ucontext_t *context = data;
    greg_t *registers = context->uc_mcontext.gregs;
    long *top = (long *)(((registers[REG_RSP] - 128) & -16) - 8);
    *top = registers[REG_RIP];
    registers[REG_RSP] = (long)top;
    registers[REG_RIP] = (long)target;
}
__attribute__((noinline)) static void jumped(void) { if (!sigsetjmp(place, 1)) raise(SIGUSR1); }
int main(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO};
    action.sa_sigaction = lead;
    sigaction(SIGUSR1, &action, 0);
    target = leaves;
    for (int i = 0; i < 10; i++) jumped();
    printf("%d\n", led);
    return 0;
}
"#;

#[test]
fn functions_that_handlers_lead_to_have_their_costs() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "led", &["-O1", "-g"], LED);
    assert_same_profile(folder.path(), &["./led"]);
    assert_eq!(Sums::read(&folder.path().join("native.out")).calls("leaves", "work"), 10);
}

/// Many short blocks, which leave their counting to those behind them.
const BRANCHES: &str = r#"
unsigned work(unsigned count) {
    unsigned a = 1, b = 7, c = 0;
    for (unsigned i = 0; i < count; i++) {
        a = a * 1103515245 + 12345;
        if (a & 0x10000) {
            if (a & 0x20000) b += a; else b ^= a >> 3;
            if (b % 3 == 0) c += b; else if (c & 1) c ^= a;
        } else if (a & 0x40000) c -= b;
        else if (a & 0x80000) { c++; b--; }
        switch (a >> 20 & 7) {
            case 0: c += 1; break;
            case 1: b ^= 2; break;
            case 2: c -= a; break;
            case 3: b += c; break;
            default: c ^= b;
        }
        if (c > b) b += 3;
        if (a & 0x100000) continue;
        c += 5;
    }
    return a ^ b ^ c;
}
"#;

/// Interrupts them in any place, if there is an argument.
const INTERRUPTS: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
unsigned work(unsigned count);
static volatile int ticks;
static void on_alarm(int s) { (void)s; ticks++; }
int main(int count, char **words) {
    (void)words;
    struct itimerval often = {{0, 40}, {0, 40}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    if (count > 1) setitimer(ITIMER_REAL, &often, 0);
    unsigned result = work(1000000);
    setitimer(ITIMER_REAL, &never, 0);
    printf("%u %d\n", result, ticks >= (count > 1 ? 50 : 0));
    return 0;
}
"#;

#[test]
fn blocks_that_are_interrupted_have_their_costs() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "libwork.so", &["-O2", "-g", "-shared", "-fPIC"], BRANCHES);
    compile(
        folder.path(),
        "interrupts",
        &["-O2", "-L.", "-Wl,-rpath,.", "-Wl,--no-as-needed", "-lwork"],
        INTERRUPTS,
    );
    for mode in [&[][..], &["--count-in-vectors=no"], &["--code-cache=1"], &["--link-blocks=no"]] {
        let sums = ["", "often"].map(|word| {
            let command =
                [&["-q", "--force", "-o", "a.out", "--dump-instr=yes"], mode, &["./interrupts"]].concat();
            let command = if word.is_empty() { command } else { [&command[..], &[word]].concat() };
            let output = record(folder.path(), &command);
            assert!(stdout(&output).ends_with(" 1\n"), "{}{}", stdout(&output), stderr(&output));
            Sums::read(&folder.path().join("a.out")).of("libwork.so ")
        });
        assert!(sums[0].functions() > 0);
        assert_eq!(sums[0].differences(&sums[1]), (Vec::new(), 0), "{mode:?}");
    }
}

/// Services run programs with the signal of a closed pipe ignored.
#[test]
fn signals_that_are_ignored_stay_so() {
    if !has_engine(&["cc", "sh", "valgrind"]) {
        return;
    }
    let folder = folder(&[]);
    let text = "#include <signal.h>\n#include <stdio.h>\nint main(void) {\n\
        int signals[] = {SIGPIPE, SIGXFSZ, SIGABRT};\n\
        for (int i = 0; i < 3; i++) {\n\
        struct sigaction action; sigaction(signals[i], 0, &action); printf(\"%d\", action.sa_handler == SIG_IGN); }\n\
        return 0; }\n";
    compile(folder.path(), "signals", &[], text);
    let gristmill = env!("CARGO_BIN_EXE_gristmill");
    for engine in ["native", "valgrind"] {
        for (trap, expected) in [("trap '' PIPE;", "100"), ("trap '' XFSZ ABRT;", "011"), ("", "000")] {
            let script =
                format!("{trap} exec {gristmill} record --engine {engine} -q --force -o a.out ./signals");
            let mut command = Command::new("sh");
            let output = command.args(["-c", &script]).current_dir(folder.path()).output().unwrap();
            assert_eq!(stdout(&output), expected, "{engine} {trap} {}", stderr(&output));
        }
    }
}

/// Handles the signal of a fault on an alternative stack, and fails again there.
const FAILS_AGAIN: &str = r#"
#include <signal.h>
#include <sys/mman.h>
static void handler(int signal) { *(volatile int *)8 = signal; }
int main(void) {
    char *memory = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {.ss_sp = memory + (1 << 19), .ss_size = 65536};
    sigaltstack(&stack, 0);
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_NODEFER | SA_ONSTACK};
    sigaction(SIGSEGV, &action, 0);
    *(volatile int *)0 = 1;
    return 0;
}
"#;

#[test]
fn a_full_alternative_stack_ends_the_program() {
    use std::os::unix::process::ExitStatusExt as _;
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "fails", &["-O1"], FAILS_AGAIN);
    let output = record(folder.path(), &["-o", "a.out", "./fails"]);
    assert_eq!(output.status.signal(), Some(11), "{}", stderr(&output));
}

/// Ignores the signals of faults. Each way prints what it sees, and `fault` then causes one.
const IGNORES: &str = r#"
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
static volatile int handled, alarms;
static void on_fault(int s) { handled += s; }
static void on_alarm(int s) { (void)s; alarms++; }
static void ask(const char *who) {
    struct sigaction action;
    printf("%s", who);
    for (int i = 0; i < 5; i++) { sigaction(faults[i], 0, &action); printf(" %d", action.sa_handler == SIG_IGN); }
    printf("\n");
    fflush(stdout);
}
static void fail(int signal) {
    volatile int one = 1, zero = 0;
    if (signal == SIGSEGV) *(volatile int *)8 = 0;
    if (signal == SIGFPE) one = one / zero;
    if (signal == SIGILL) __asm__ volatile("ud2");
    if (signal == SIGTRAP) __asm__ volatile("int3");
}
static void sent(void) {
    struct timespec start, end;
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    pid_t own = getpid(), child = fork();
    if (child == 0) for (int i = 0; i < 400; i++) { usleep(500); kill(own, faults[i % 5]); if (i == 399) _exit(0); }
    clock_gettime(CLOCK_MONOTONIC, &start);
    int result = poll(0, 0, 300);
    clock_gettime(CLOCK_MONOTONIC, &end);
    long passed = (end.tv_sec - start.tv_sec) * 1000 + (end.tv_nsec - start.tv_nsec) / 1000000;
    printf("%d %d\n", result, passed >= 299);
    waitpid(child, 0, 0);
    for (int i = 0; i < 5; i++) kill(own, faults[i]);
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &often, 0);
    while (alarms < 200) kill(own, SIGTRAP);
    setitimer(ITIMER_REAL, &never, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGSEGV);
    signal(SIGSEGV, on_fault);
    sigprocmask(SIG_BLOCK, &set, 0);
    kill(own, SIGSEGV);
    signal(SIGSEGV, SIG_IGN);
    signal(SIGSEGV, on_fault);
    sigprocmask(SIG_UNBLOCK, &set, 0);
    printf("%d\n", handled);
    kill(own, SIGSEGV);
    printf("%d\n", handled);
    signal(SIGSEGV, SIG_IGN);
}
int main(int count, char **words) {
    const char *way = words[1];
    int status;
    if (!strcmp(way, "ask")) { ask("program"); return 0; }
    for (int i = 0; i < 5; i++) if (count > 3) signal(faults[i], SIG_IGN);
    if (!strcmp(way, "sent")) sent();
    if (!strcmp(way, "hand")) {
        if (fork() == 0) { ask("child"); execl(words[0], words[0], "ask", (char *)0); }
        wait(&status);
        if (vfork() == 0) { execl(words[0], words[0], "ask", (char *)0); _exit(1); }
        wait(&status);
        execl("./nowhere", "nowhere", (char *)0);
        ask("same");
    }
    fflush(stdout);
    fail(atoi(words[2]));
    return 3;
}
"#;

#[test]
fn faults_that_are_ignored_end_the_program_with_a_profile() {
    use std::os::unix::process::ExitStatusExt as _;
    if !has_engine(&["cc", "sh"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "ignores", &["-O1"], IGNORES);
    let gristmill = env!("CARGO_BIN_EXE_gristmill");
    // Those that are ignored from the start, or by the program.
    let ways = [("", "fault"), ("trap '' SEGV FPE ILL TRAP;", "fault"), ("", "sent"), ("", "hand")];
    for (trap, way) in ways {
        for signal in ["11", "8", "4", "5"] {
            let last = if trap.is_empty() { "own" } else { "" };
            let options =
                if way == "hand" { &["--trace-children=no", "--trace-children=yes"][..] } else { &[""] };
            for option in options {
                let run = |before: &str| {
                    let script = format!("{trap} exec {before} ./ignores {way} {signal} {last}");
                    Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().unwrap()
                };
                let alone = run("");
                let output = run(&format!("{gristmill} record --engine native --force {option} -o a.%p"));
                let what = format!("{trap} {way} {signal} {option}: {}", stderr(&output));
                assert_eq!(alone.status.signal().map(|signal| signal.to_string()).as_deref(), Some(signal));
                assert_eq!((output.status, stdout(&output)), (alone.status, stdout(&alone)), "{what}");
                assert!(stderr(&output).contains("gristmill: recorded "), "{what}");
            }
        }
    }
}

/// Prints the alternative stack as handlers and the program see it, for each of its flags.
const STACKS: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
static char memory[65536];
static int nested;
static void ask(const char *what) {
    stack_t now;
    sigaltstack(0, &now);
    printf("%s %x %d %zu\n", what, now.ss_flags, now.ss_sp != 0, now.ss_size);
}
static void handle(int signal, siginfo_t *data, void *context) {
    (void)data;
    stack_t stack = ((ucontext_t *)context)->uc_stack;
    printf("saved %x %d %zu\n", stack.ss_flags, stack.ss_sp != 0, stack.ss_size);
    ask("inside");
    if (nested-- > 0) raise(signal);
}
int main(void) {
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigaction(SIGUSR1, &action, 0);
    for (int mode = 0; mode < 8; mode++) {
        stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory, .ss_flags = (mode & 3) | (mode > 3 ? 1u << 31 : 0)};
        printf("set %d\n", sigaltstack(&stack, 0));
        ask("before");
        nested = 1;
        raise(SIGUSR1);
        ask("after");
    }
    sigfillset(&action.sa_mask);
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGUSR1, 0, &action);
    for (int signal = 1; signal < 64; signal++) if (!sigismember(&action.sa_mask, signal)) printf("%d\n", signal);
    return 0;
}
"#;

#[test]
fn programs_see_signals_as_the_kernel_shows_them() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "stacks", &["-O1"], STACKS);
    let output = assert_same_output(folder.path(), "./stacks");
    assert!(output.contains("saved 0 1 65536\ninside 1 1 65536\nsaved 0 1 65536\n"), "{output}");
}
