//! Programs that do what few do: they take return addresses off the stack, repair faults, need much stack, or have many signals.

use std::process::Command;

use super::programs::compile;
use super::{assert_same_profile, has_engine, record};
use crate::harness::*;

/// Code that finds its own address by a call, ends that call without a return, and goes on by a jump, a branch, or a call.
pub(crate) const POPS: &str = r#"
#include <stdio.h>
#define APART __attribute__((noinline)) static
APART long leaf(long i) { __asm__ volatile(""); return i * 3; }
APART long by_call(long n) {
    long r = 0, pc;
    __asm__ volatile("call 1f\n1: pop %0" : "=r"(pc) : : "memory");
    for (long i = 0; i < n; i++) r += leaf(i);
    return r + (pc == 0);
}
APART long by_jump(long n) {
    long r = 0;
    __asm__ volatile("call 1f\n1: add $8, %%rsp\n cmp %%rsp, %%rsp\n jmp 2f\n nop\n2: sete %b0" : "+r"(r) : : "memory", "cc");
    for (long i = 0; i < n; i++) r += i ^ n;
    return r + leaf(n);
}
APART long by_branch(long n) {
    long r = 0;
    for (long i = 0; i < n; i++) {
        __asm__ volatile("call 1f\n1: lea 8(%%rsp), %%rsp\n test $1, %1\n jz 2f\n add $7, %0\n2:" : "+r"(r) : "r"(i) : "memory", "cc");
        __asm__ volatile("call 1f\n1: add $8, %%rsp\n cmp $5, %1\n jg 2f\n add $9, %0\n2:" : "+r"(r) : "r"(i) : "memory", "cc");
        __asm__ volatile("call 1f\n1: add $8, %%rsp\n cmp $6, %1\n jb 2f\n add $11, %0\n2:" : "+r"(r) : "r"(i) : "memory", "cc");
    }
    return r;
}
int main(void) {
    long r = 0;
    for (int i = 0; i < 20; i++) r += by_call(i) + by_jump(i) + by_branch(i);
    printf("%ld\n", r);
    return 0;
}
"#;

/// Faults that a handler repairs, goes on behind, or leaves: also within repeated instructions, and traps.
const FAULTS: &str = r#"
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
static char *memory;
static sigjmp_buf place;
static int leaves, traps, here;
static void handle(int signal, siginfo_t *info, void *data) {
    greg_t *registers = ((ucontext_t *)data)->uc_mcontext.gregs;
    here += signal != SIGTRAP && (long)info->si_addr == registers[REG_RIP];
    if (signal == SIGTRAP) { if (++traps > 9) _Exit(9); return; }
    if (signal == SIGILL || signal == SIGFPE) { registers[REG_RIP] += 2; return; }
    if (leaves) siglongjmp(place, 1);
    mprotect((void *)((long)info->si_addr & ~4095L), 4096, PROT_READ | PROT_WRITE);
}
__attribute__((noinline)) static void fill(char *to, size_t n) {
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}
__attribute__((noinline)) static int same(char *a, char *b, size_t n) {
    int equal;
    __asm__ volatile("repe cmpsb\n sete %b0\n movzbl %b0, %0" : "=a"(equal), "+S"(a), "+D"(b), "+c"(n) : : "memory", "cc");
    return equal;
}
int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    for (const int *signal = (const int[]){SIGSEGV, SIGILL, SIGFPE, SIGTRAP, 0}; *signal; signal++)
        sigaction(*signal, &action, 0);
    memory = mmap(0, 60 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fill(memory, 20 * 4096);
    int equal = same(memory, memory + 20 * 4096, 19 * 4096);
    __asm__ volatile("int3\n nop\n .byte 0xf1\n nop");
    __asm__ volatile("ud2");
    __asm__ volatile("xor %%ecx, %%ecx\n xor %%edx, %%edx\n mov $1, %%eax\n div %%ecx" : : : "rax", "rcx", "rdx", "cc");
    leaves = 1;
    if (!sigsetjmp(place, 1)) fill(memory, 1ul << 40);
    printf("%d %d %d\n", equal, traps, here);
    return 0;
}
"#;

/// Recursion that needs more frames than a thread of usual size has, and more stack than the process had at its start.
const STACKS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
__attribute__((noinline)) static long deep(long n) {
    long depth = n ? deep(n - 1) + 1 : 0;
    __asm__ volatile("" : : : "memory");
    return depth;
}
__attribute__((noinline)) static long large(long n) {
    volatile char bytes[1000];
    bytes[0] = 1;
    return n ? large(n - 1) + bytes[0] : 0;
}
static void *run(void *data) { *(long *)data = deep(*(long *)data); return 0; }
int main(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    long n = 8500000;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1ul << 29);
    pthread_create(&thread, &attributes, run, &n);
    pthread_join(thread, 0);
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = 64 << 20;
    int failed = setrlimit(RLIMIT_STACK, &limit);
    printf("%ld %d %ld\n", n, failed, large(20000));
    return 0;
}
"#;

/// A timer that ends every tenth of a millisecond, with a handler that it can interrupt as well.
const TICKS: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
static volatile long ticks, depth;
static void handle(int signal) { (void)signal; depth++; ticks++; depth--; }
int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handle;
    action.sa_flags = SA_NODEFER | SA_RESTART;
    sigaction(SIGALRM, &action, 0);
    struct itimerval timer = {{0, 100}, {0, 100}};
    setitimer(ITIMER_REAL, &timer, 0);
    long sum = 0;
    for (long i = 0; i < 300000000; i++) sum += i ^ (sum >> 3);
    memset(&timer, 0, sizeof timer);
    setitimer(ITIMER_REAL, &timer, 0);
    printf("%ld %ld %d\n", sum, depth, ticks > 10);
    return 0;
}
"#;

#[test]
fn unusual_programs_have_the_profiles_of_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "pops", &["-O1", "-mno-red-zone"], POPS);
    compile(folder.path(), "faults", &["-O1"], FAULTS);
    for program in ["./pops", "./faults"] {
        assert_same_profile(folder.path(), &[program]);
    }
}

#[test]
fn unusual_programs_do_what_they_do_alone() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    for (name, text) in [("pops", POPS), ("faults", FAULTS), ("stacks", STACKS), ("ticks", TICKS)] {
        compile(folder.path(), name, &["-O1", "-pthread", "-mno-red-zone"], text);
        let program = format!("./{name}");
        let expected = Command::new(&program).current_dir(folder.path()).output().unwrap();
        let output = record(folder.path(), &["-q", "-o", "a.out", "--force", &program]);
        assert_eq!(
            (code(&output), stdout(&output), stderr(&output).as_str()),
            (code(&expected), stdout(&expected), ""),
            "{name}"
        );
    }
}
