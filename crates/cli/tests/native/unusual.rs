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
/* A system call, and branches that count. */
APART long by_system_call(long n) {
    long r = 0, pc;
    __asm__ volatile("call 1f\n1: pop %0\n mov $110, %%eax\n syscall" : "=r"(pc) : : "rax", "rcx", "r11", "memory");
    for (long i = 0; i < n; i++) r += leaf(i);
    return r + (pc == 0);
}
APART long by_zero(long n) {
    long r = 0, pc;
    __asm__ volatile("xor %%ecx, %%ecx\n call 1f\n1: pop %0\n jrcxz 2f\n nop\n2:" : "=r"(pc) : : "rcx", "memory");
    for (long i = 0; i < n; i++) r += leaf(i);
    return r + (pc == 0);
}
APART long by_loop(long n) {
    long r = 0, left = n + 1;
    __asm__ volatile("3: inc %0\n call 1f\n1: lea 8(%%rsp), %%rsp\n loop 3b\n mov $3, %%ecx\n4: inc %0\n"
                     " call 1f\n1: add $8, %%rsp\n cmp %%ecx, %%ecx\n loopne 4b\n mov $3, %%ecx\n5: inc %0\n"
                     " call 1f\n1: add $8, %%rsp\n cmp %%ecx, %%ecx\n loope 5b"
                     : "+r"(r), "+c"(left) : : "memory", "cc");
    for (long i = 0; i < n; i++) r += leaf(i);
    return r + left;
}
int main(int count, char **words) {
    (void)words;
    long r = 0;
    for (int i = 0; i < 20; i++) r += by_call(i) + by_jump(i) + by_branch(i);
    for (int i = 0; i < 20; i++) r += by_system_call(i) + by_zero(i);
    /* Callgrind takes these for more than one branch. */
    for (int i = 0; i < 20 && count > 1; i++) r += by_loop(i);
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
    if (signal == SIGTRAP) {
        if (++traps > 9) _Exit(9);
        /* Some virtual machines go on at int1 instead of behind it. */
        if (*(unsigned char *)registers[REG_RIP] == 0xf1) registers[REG_RIP]++;
        return;
    }
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

/// Interrupts, invalid instructions, loads of segments, and the functions of the first fast system calls.
const ODD: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
static int length;
static void handle(int signal, siginfo_t *info, void *data) {
    greg_t *registers = ((ucontext_t *)data)->uc_mcontext.gregs;
    printf("%d %d %llx %lld %d\n", signal, info->si_code, registers[REG_ERR], registers[REG_TRAPNO], *(unsigned char *)registers[REG_RIP]);
    registers[REG_RIP] += length;
}
int main(void) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    for (const int *signal = (const int[]){SIGSEGV, SIGILL, SIGTRAP, 0}; *signal; signal++) sigaction(*signal, &action, 0);
    char maps[1 << 16];
    FILE *file = fopen("/proc/self/maps", "r");
    size_t n = fread(maps, 1, sizeof maps - 1, file);
    maps[n] = 0;
    if (strstr(maps, "[vsyscall]")) {
        int (*of_day)(struct timeval *, void *) = (void *)0xffffffffff600000;
        long (*seconds)(long *) = (void *)0xffffffffff600400;
        long (*processor)(unsigned *, unsigned *, void *) = (void *)0xffffffffff600800;
        struct timeval now;
        unsigned number = -1;
        int failed = of_day(&now, 0);
        long then = seconds(0);
        long last = processor(&number, 0, 0);
        printf("%d %d %d %ld %d\n", failed, then - time(0) < 2, now.tv_sec - time(0) < 2, last, number < 4096);
    }
    length = 2;
    __asm__ volatile("int $0x29");
    __asm__ volatile("int $0x81");
    length = 0;
    __asm__ volatile("int $4\n nop");
    __asm__ volatile(".byte 0xcd, 3\n nop");
    length = 1;
    __asm__ volatile(".byte 0xce");
    length = 2;
    __asm__ volatile("ud2");
    int data, stack;
    __asm__ volatile("mov %%ds, %0\n mov %0, %%ds\n mov %%ss, %1\n mov %1, %%ss\n mov %%es, %0\n mov %0, %%es\n" : "=r"(data), "=r"(stack));
    printf("%x %x\n", data, stack);
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

/// Mappings whose address the kernel chooses or that it makes of large pages, and one where programs with sanitizers want it.
const MAPPINGS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static void map(const char *name, long at, size_t length, int flags, int file, long offset) {
    char *mapped = mmap((void *)at, length, PROT_READ | PROT_WRITE, flags, file, offset);
    if (mapped == MAP_FAILED) { printf("%s: %d\n", name, errno); return; }
    printf("%s: mapped %d\n", name, at && mapped != (char *)at);
    printf("%d %d\n", mprotect(mapped, length, PROT_READ), munmap(mapped, length));
}
int main(void) {
    struct io_uring_params params;
    memset(&params, 0, sizeof params);
    int ring = syscall(SYS_io_uring_setup, 4, &params);
    if (ring >= 0) map("ring", 0, 4096, MAP_SHARED, ring, IORING_OFF_SQES);
    map("large", 0, 1 << 21, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
    int file = memfd_create("large", MFD_HUGETLB);
    if (file >= 0) map("file", 0, 1 << 21, MAP_SHARED | MAP_NORESERVE, file, 0);
    map("sanitizer", 0x600000000000, 1l << 32, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    for (int i = 0; i < 2000; i++)
        if (mmap(0, 4096 * (1 + i % 3), i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED) return 1;
    return 0;
}
"#;

/// The flag for alignment checks is set while signals come, and in code that was written at run time and is not aligned.
const CHECKED: &str = r#"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
static volatile long signals;
static void count(int signal) { signals++; }
extern char code[], end[];
__asm__(".text; code: push %rbp; mov %rsp, %rbp; and $-16, %rsp; pushf; pushf; pop %rax; xor $0x40000, %rax; push %rax; popf;"
    "mov $5, %eax; jmp 1f; 1: nop; popf; leave; ret; end:");
int main(void) {
    char *copy = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int at = 0; at < 8; at++) { memcpy(copy + at, code, end - code); printf("%d\n", ((int (*)(void))(copy + at))()); }
    struct itimerval each = {{0, 1000}, {0, 1000}};
    signal(SIGALRM, count);
    setitimer(ITIMER_REAL, &each, 0);
    while (signals < 20)
        __asm__ volatile("sub $256, %%rsp; pushf; orq $0x40000, (%%rsp); popf; mov $20000, %%ecx; 1: nop; loop 1b;"
            "pushf; andq $~0x40000, (%%rsp); popf; add $256, %%rsp" : : : "rcx", "cc", "memory");
    return 0;
}
"#;

/// A timer whose signals come before the return of a function that sets no flags.
const FLAGLESS: &str = r#"
#include <signal.h>
#include <sys/time.h>
static volatile int ticks;
static void handle(int signal) { (void)signal; ticks++; }
void leaf(void);
__asm__(".text\n.globl leaf\n.type leaf, @function\nleaf:\n.rept 9\n fldpi\n fstp %st(0)\n.endr\n ret\n.size leaf, .-leaf\n");
int main(void) {
    struct itimerval timer = {{0, 500}, {0, 500}};
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &timer, 0);
    for (int i = 0; i < 2000000 || ticks < 20; i++) if (i < 2000000) leaf();
    return 0;
}
"#;

/// A handler that shows the rounding, the precision and the exceptions that it runs with, and not those that the program has chosen.
const REGISTERS: &str = r#"
#include <signal.h>
#include <stdio.h>
static volatile double one = 1, three = 3;
static void handle(int signal) {
    unsigned short control;
    unsigned vectors;
    __asm__ volatile("fnstcw %0; stmxcsr %1" : "=m"(control), "=m"(vectors));
    printf("%d %x %x %a %La\n", signal, control, vectors, one / three, (long double)one / three);
}
int main(void) {
    const unsigned short single = 0x7f, upwards = 0xb7f;
    const unsigned exceptions = 0x1d00, vectors_upwards = 0x5f80;
    signal(SIGUSR1, handle);
    __asm__ volatile("fldcw %0; ldmxcsr %1" : : "m"(upwards), "m"(vectors_upwards));
    raise(SIGUSR1);
    __asm__ volatile("fldcw %0; ldmxcsr %1" : : "m"(single), "m"(exceptions));
    raise(SIGUSR1);
    __asm__ volatile("fstcw %0" : : "m"(single));
    printf("%x %a\n", single, one / three);
    return 0;
}
"#;

/// Waits with a mask that lets several signals come at once, and masks with signals that instructions cause.
const WAITS: &str = r#"
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <unistd.h>
static void tell(const char *what) {
    sigset_t mask, waiting;
    sigprocmask(SIG_BLOCK, 0, &mask);
    sigpending(&waiting);
    printf("%s:", what);
    for (int i = 1; i < 32; i++) if (sigismember(&mask, i)) printf(" %d", i);
    printf(", waiting");
    for (int i = 1; i < 32; i++) if (sigismember(&waiting, i)) printf(" %d", i);
    puts("");
}
static void handle(int signal) { printf("%d ", signal); tell("handler"); }
int main(void) {
    const int signals[] = {SIGUSR1, SIGUSR2, SIGSEGV, SIGFPE};
    const struct timespec time = {5, 0};
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    for (int i = 0; i < 4; i++) signal(signals[i], handle);
    sigprocmask(SIG_BLOCK, &all, 0);
    for (int wait = 0; wait < 4; wait++) {
        for (int i = 0; i < 4; i++) kill(getpid(), signals[i]);
        tell("before");
        if (wait == 0) sigsuspend(&none);
        if (wait == 1) pselect(0, 0, 0, 0, &time, &none);
        if (wait == 2) ppoll(0, 0, &time, &none);
        if (wait == 3) sigprocmask(SIG_SETMASK, &none, &all);
        tell("behind");
    }
    sigprocmask(SIG_BLOCK, &all, &none);
    tell("end");
    return sigprocmask(77, &all, 0) == 0;
}
"#;

/// Threads, and memory for each.
const UNDER_LIMIT: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static pthread_barrier_t barrier;
static void *run(void *data) {
    char *memory = malloc(20 << 20);
    if (memory) memset(memory, 1, 20 << 20);
    pthread_barrier_wait(&barrier);
    return memory ? data : 0;
}
int main(void) {
    pthread_t threads[16];
    void *result;
    pthread_barrier_init(&barrier, 0, 16);
    for (int i = 0; i < 16; i++) if (pthread_create(&threads[i], 0, run, &barrier)) return 1;
    for (int i = 0; i < 16; i++) if (pthread_join(threads[i], &result) || !result) return 2;
    puts(malloc(1500ul << 20) ? "enough" : "too little");
    /* What is replaced does not count twice. */
    char *reserved = mmap(0, 700 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mmap(reserved, 700 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != reserved) return 3;
    return 0;
}
"#;

#[test]
fn a_signal_before_a_return_loses_no_cost() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "flagless", &["-O1"], FLAGLESS);
    let output = record(folder.path(), &["-q", "-o", "a.out", "./flagless"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let functions = run_in(folder.path(), &["functions", "a.out", "--format", "csv"]);
    let text = stdout(&functions);
    let leaf = text.lines().find(|line| line.contains(",leaf,")).unwrap_or(&text);
    assert!(leaf.contains("38000000,"), "{leaf}");
}

#[test]
fn a_limit_of_memory_holds_for_the_program() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "limited", &["-O1", "-pthread"], UNDER_LIMIT);
    for (option, expected) in
        [("-Sv 6000000", "enough\n"), ("-v 20000000", "enough\n"), ("-Sv 1900000", "too little\n")]
    {
        let words =
            format!("ulimit {option}; exec \"$0\" record --engine native -q --force -o a.out ./limited");
        let mut command = Command::new("sh");
        command.args(["-c", &words, env!("CARGO_BIN_EXE_gristmill")]).current_dir(folder.path());
        let output = command.output().unwrap();
        assert_eq!((code(&output), stdout(&output).as_str()), (0, expected), "{option}: {}", stderr(&output));
    }
}

/// Takes all memory that there is, as blocks of a length or as that of threads, and goes on.
const TAKES_ALL: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static size_t length;
static void *take(void *none) {
    for (int i = 0; i < 10000000 && malloc(length); i++);
    return none;
}
__attribute__((noinline)) static int after(void) { return malloc(length) ? 4 : 3; }
int main(int argc, char **argv) {
    length = atol(argv[1]);
    pthread_t thread;
    if (argc > 2 && pthread_create(&thread, 0, take, 0) == 0) pthread_join(thread, 0);
    take(0);
    puts("all taken");
    return after();
}
"#;

/// Before, the end of the program had no memory for the profile, and ended with SIGSEGV.
#[test]
fn a_program_that_takes_all_memory_has_a_profile() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "takes", &["-O1", "-pthread"], TAKES_ALL);
    for option in ["-v 17000000", "-v 30000000", "-d 18000000"] {
        for words in ["200000", "10000000", "1000000 thread"] {
            let line = format!(
                "ulimit {option}; exec \"$0\" record --engine native -q --force -o a.out ./takes {words}"
            );
            let mut command = Command::new("sh");
            command.args(["-c", &line, env!("CARGO_BIN_EXE_gristmill")]).current_dir(folder.path());
            let output = command.output().unwrap();
            let (code, shown) = (code(&output), stdout(&output));
            assert_eq!((code, shown.as_str()), (3, "all taken\n"), "{option} {words}: {}", stderr(&output));
            let shown = run_in(folder.path(), &["show", "after", "a.out"]);
            assert!(shown.status.success(), "{option} {words}: {}", stderr(&shown));
        }
    }
}

/// Programs would miss the memory that the engine takes.
#[test]
fn a_low_limit_that_cannot_be_raised_is_a_reason_for_valgrind() {
    if !has_engine(&[]) {
        return;
    }
    let folder = folder(&[]);
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line, env!("CARGO_BIN_EXE_gristmill")]).current_dir(folder.path());
        command.output().unwrap()
    };
    for limit in ["-v 8000000", "-d 8000000"] {
        let can_be_raised =
            shell(&format!("ulimit {limit}; ulimit {} unlimited", &limit[..2])).status.success();
        let record = format!(
            "ulimit {limit}; exec \"$0\" record --engine native -q --force -o a.out sh -c 'ulimit {}'",
            &limit[..2]
        );
        let output = shell(&record);
        if can_be_raised {
            // The limit is the program's, and stays.
            assert_eq!((code(&output), stdout(&output).as_str()), (0, "8000000\n"), "{}", stderr(&output));
        } else {
            assert_eq!((code(&output), stdout(&output).as_str()), (2, ""), "{}", stderr(&output));
            assert!(stderr(&output).contains("of 7812 MiB that cannot be raised"), "{}", stderr(&output));
        }
    }
}

#[test]
fn program_headers_need_not_be_in_memory() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    let text = "void _start(void) { __asm__(\"mov $60, %eax; mov $7, %edi; syscall\"); }\n";
    compile(folder.path(), "bare", &["-nostdlib", "-static", "-Wl,-N,--build-id=none"], text);
    let output = record(folder.path(), &["-o", "a.out", "./bare"]);
    assert_eq!(code(&output), 7, "{}", stderr(&output));
}

#[test]
fn unusual_programs_have_the_profiles_of_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "pops", &["-O1", "-mno-red-zone"], POPS);
    assert_same_profile(folder.path(), &["./pops"]);
}

#[test]
fn unusual_programs_do_what_they_do_alone() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    for (name, text) in [
        ("pops", POPS),
        ("faults", FAULTS),
        ("odd", ODD),
        ("stacks", STACKS),
        ("ticks", TICKS),
        ("mappings", MAPPINGS),
        ("checked", CHECKED),
        ("registers", REGISTERS),
        ("waits", WAITS),
    ] {
        compile(folder.path(), name, &["-O1", "-pthread", "-mno-red-zone"], text);
        let program = format!("./{name}");
        let expected = Command::new(&program).arg("all").current_dir(folder.path()).output().unwrap();
        let output = record(folder.path(), &["-q", "-o", "a.out", "--force", &program, "all"]);
        assert_eq!(
            (code(&output), stdout(&output), stderr(&output).as_str()),
            (code(&expected), stdout(&expected), ""),
            "{name}"
        );
    }
}

#[test]
fn a_program_at_addresses_of_others_is_refused_with_both_limits() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    for (name, start) in [("low", "0x8000"), ("high", "0x40000000")] {
        let place = format!("-Wl,-Ttext-segment={start}");
        let options = ["-nostdlib", "-static", "-no-pie", &place];
        compile(folder.path(), name, &options, "void _start(void) { for (;;) ; }\n");
        let output = record(folder.path(), &["-o", "a.out", &format!("./{name}")]);
        assert_eq!(code(&output), 2);
        assert!(
            stderr(&output).contains(&format!("is linked for the addresses {start} to ")),
            "{}",
            stderr(&output)
        );
        assert!(stderr(&output).contains("needs them between 0x10000 and 0x30000000"), "{}", stderr(&output));
    }
}
