//! Programs that the tests record.

use std::path::Path;
use std::process::Command;

/// Compiles a program in C.
pub(crate) fn compile(folder: &Path, name: &str, options: &[&str], text: &str) {
    compile_with("cc", folder, &format!("{name}.c"), name, options, text);
}

/// The same for C++.
pub(crate) fn compile_cpp(folder: &Path, name: &str, options: &[&str], text: &str) {
    compile_with("c++", folder, &format!("{name}.cc"), name, options, text);
}

fn compile_with(compiler: &str, folder: &Path, file: &str, name: &str, options: &[&str], text: &str) {
    std::fs::write(folder.join(file), text).unwrap();
    let mut command = Command::new(compiler);
    let built = command.args(options).args(["-o", name, file]).current_dir(folder).output().unwrap();
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
}

pub(crate) const HELLO: &str = "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 3; }\n";

/// Returns a program where one call leads to many functions, in turn.
pub(crate) fn many_targets(count: usize) -> String {
    let functions: String =
        (0..count).map(|index| format!("static int f{index}(int n) {{ return n ^ {index}; }}\n")).collect();
    let names: Vec<String> = (0..count).map(|index| format!("f{index}")).collect();
    format!(
        "#include <stdio.h>\n{functions}static int (*volatile all[])(int) = {{{}}};\n
int main(void) {{ int n = 0; for (int i = 0; i < 3 * {count}; i++) n = all[i % {count}](n); printf(\"%d\\n\", n); return 0; }}\n",
        names.join(", ")
    )
}

/// Targets of one jump in memory that is mapped again with other code. With an argument, signals come meanwhile.
pub(crate) const MAPPED_AGAIN: &str = r#"
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
enum { COUNT = 1000, BYTES = 16 };
#include <signal.h>
#include <sys/time.h>
static volatile int signals;
static void count(int signal) { signals++; }
int main(int count_of_words, char **words) {
    int sum = 0;
    struct itimerval each = {{0, 100}, {0, 100}};
    signal(SIGALRM, count);
    if (count_of_words > 1) setitimer(ITIMER_REAL, &each, 0);
    for (int turn = 0; turn < 3; turn++) {
        unsigned char *code = mmap((void *)0x20000000, COUNT * BYTES, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        for (int i = 0; i < COUNT; i++) {
            int value = i * (turn + 1);
            code[i * BYTES] = 0xb8; /* mov eax, value; ret */
            memcpy(code + i * BYTES + 1, &value, 4);
            code[i * BYTES + 5] = 0xc3;
        }
        for (int round = 0; round < 2; round++)
            for (int i = 0; i < COUNT; i++) sum += ((int (*)(void))(code + i * BYTES))();
        munmap(code, turn == 1 ? COUNT * BYTES / 2 : COUNT * BYTES);
    }
    printf("%d\n", sum);
    return 0;
}
"#;

/// Recursion of one and of two functions, tail calls, calls through pointers.
pub(crate) const CALLS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#define APART __attribute__((noinline)) static
APART int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
APART int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
APART int even(int n);
APART int odd(int n) { __asm__ volatile(""); return n == 0 ? 0 : even(n - 1) + 1; }
APART int even(int n) { __asm__ volatile(""); return n == 0 ? 1 : odd(n - 1) + 1; }
APART int tail(int n) { __asm__ volatile(""); return work(n); }
APART int half(int n) { return n / 2; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
APART int choose(int n) {
    switch (n % 7) { case 0: return work(1); case 1: return n * 3; case 2: return fib(4); case 3: return -n;
    case 4: return half(n); case 5: return n ^ 9; default: return 4; }
}
int main(int argc, char **argv) {
    int (*functions[])(int) = {work, fib, even, odd, tail, half, choose};
    int sum = 0, numbers[200];
    for (int i = 0; i < 60; i++) sum += functions[i * argc % 7](i % 12);
    for (int i = 0; i < 200; i++) numbers[i] = (i * 7919 + 1)%211;
    qsort(numbers, 200, sizeof *numbers, compare);
    printf("%d %d %d\n", sum, numbers[100], fib(12));
    return 0;
}
"#;

/// Three thousand functions: each is active while the next one runs, and some are left by a long jump.
pub(crate) const DEEP: &str = r#"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
static int leaves;
typedef int (*function)(int);
extern function all[];
#define ONE(n) __attribute__((noinline)) static int f##n(int x) { \
    volatile int s = n; for (int i = 0; i < 3; i++) s += i * x; \
    if (leaves && n == 2999) longjmp(place, s); \
    return n == 2999 ? s : all[n + 1](s & 15) + s; }
#define TEN(n) ONE(n##0) ONE(n##1) ONE(n##2) ONE(n##3) ONE(n##4) ONE(n##5) ONE(n##6) ONE(n##7) ONE(n##8) ONE(n##9)
#define HUNDRED(n) TEN(n##0) TEN(n##1) TEN(n##2) TEN(n##3) TEN(n##4) TEN(n##5) TEN(n##6) TEN(n##7) TEN(n##8) TEN(n##9)
#define THOUSAND(n) HUNDRED(n##0) HUNDRED(n##1) HUNDRED(n##2) HUNDRED(n##3) HUNDRED(n##4) HUNDRED(n##5) HUNDRED(n##6) \
    HUNDRED(n##7) HUNDRED(n##8) HUNDRED(n##9)
#define BELOW HUNDRED(1) HUNDRED(2) HUNDRED(3) HUNDRED(4) HUNDRED(5) HUNDRED(6) HUNDRED(7) HUNDRED(8) HUNDRED(9)
#define ALL BELOW THOUSAND(1) THOUSAND(2)
ALL
#undef ONE
#define ONE(n) [n] = f##n,
function all[3000] = { ALL };
int main(void) {
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        leaves = i == 1;
        int left = setjmp(place);
        sum += left ? left : all[100](i);
    }
    printf("%d\n", sum);
    return 0;
}
"#;

/// Long jumps.
pub(crate) const JUMPS: &str = r#"
#include <setjmp.h>
#include <stdio.h>
static jmp_buf place;
__attribute__((noinline)) static void deep(int n) { if (n == 0) longjmp(place, 1); deep(n - 1); __asm__ volatile(""); }
__attribute__((noinline)) static int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int main(void) {
    volatile int sum = 0;
    for (volatile int i = 0; i < 5; i++) { if (setjmp(place) == 0) deep(3 + i); else sum += work(10); }
    printf("%d\n", sum);
    return 0;
}
"#;

/// Repeated string instructions.
pub(crate) const STRINGS: &str = r#"
#include <stdio.h>
int main(void) {
    static char a[300], b[300];
    long left = 0;
    for (long n = 0; n < 40; n++) {
        long count = n; void *to = a; const void *from = b;
        __asm__ volatile("rep stosb" : "+c"(count), "+D"(to) : "a"(n) : "memory");
        count = n; to = b; from = a;
        __asm__ volatile("rep movsb" : "+c"(count), "+D"(to), "+S"(from) : : "memory");
        count = 40; to = a;
        __asm__ volatile("repne scasb" : "+c"(count), "+D"(to) : "a"(0) : "memory", "cc");
        left += count;
        count = n; to = a; from = b;
        __asm__ volatile("cmp %%eax, %%eax; repe cmpsb" : "+c"(count), "+D"(to), "+S"(from) : : "memory", "cc");
        left += count;
    }
    printf("%ld\n", left);
    return 0;
}
"#;

/// A class has a destructor for objects on the heap, which calls that for others.
pub(crate) const NAMESAKES: &str = r#"
volatile long sum;
struct Base { long value; virtual ~Base() { sum += value; } };
struct Derived : Base { Derived() { value = 2; } ~Derived() { sum += 3; } };
template <class T> __attribute__((noinline)) long down(T n) { return n == 0 ? 1 : down((T)(n - 1)) + (n > 3 ? down<T>((T)(n - 3)) : 2); }
int main() {
    for (int i = 0; i < 10; i++) { Base *base = new Derived; delete base; Derived other; }
    return down<int>(7) + down<long>(6) + sum == 0;
}
"#;

pub(crate) const EXCEPTIONS: &str = r#"
#include <stdexcept>
#include <string>
#include <cstdio>
static int ended;
struct Guard { ~Guard() { ended++; } };
__attribute__((noinline)) static void thrower(int n) { Guard guard; if (n == 0) throw std::runtime_error("x"); thrower(n - 1); }
int main() {
    int sum = 0;
    for (int i = 0; i < 6; i++) try { thrower(i); } catch (const std::exception &error) { sum += std::string(error.what()).size(); }
    std::printf("%d %d\n", sum, ended);
}
"#;

/// Asynchronous signals, those of faults, an alternative stack, long jumps out of handlers, calls that are made again.
pub(crate) const SIGNALS: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>
static volatile sig_atomic_t count, alarms;
static sigjmp_buf place;
static char *page;
static void note(int s) { count++; }
static void on_alarm(int s, siginfo_t *i, void *u) { double x = alarms * 1.5; alarms += x >= 0; }
static void jump(int s, siginfo_t *i, void *u) { siglongjmp(place, 1); }
static void repair(int s, siginfo_t *i, void *u) {
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
    count += (char *)i->si_addr == page + 8 ? 100 : 100000;
}
static void skip(int s, siginfo_t *i, void *u) { ((ucontext_t *)u)->uc_mcontext.gregs[REG_RIP] += 2; count += 10000; }
static void on(int signal, void (*handler)(int, siginfo_t *, void *), int flags) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | flags;
    sigaction(signal, &action, 0);
}
int main(void) {
    signal(SIGUSR1, note);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    sigaltstack(&stack, 0);
    on(SIGALRM, on_alarm, SA_ONSTACK | SA_RESTART);
    struct itimerval every = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &every, 0);
    double sum = 0;
    while (alarms < 20) for (int i = 0; i < 1000; i++) sum += i * 0.5;
    char bytes[16];
    int ends[2];
    if (pipe(ends)) return 1;
    if (fork() == 0) { usleep(30000); _exit(write(ends[1], "abc", 3) != 3); }
    long length = read(ends[0], bytes, 3);
    setitimer(ITIMER_REAL, &never, 0);
    printf("%d %ld\n", count, length);
    on(SIGSEGV, jump, 0);
    volatile int jumps = 0;
    for (volatile int i = 0; i < 3; i++) { if (!sigsetjmp(place, 1)) *(volatile int *)8 = 1; else jumps++; }
    if (!sigsetjmp(place, 1)) ((void (*)(void))16)(); else jumps += 10;
    page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    on(SIGSEGV, repair, 0);
    page[8] = 7;
    on(SIGILL, skip, 0);
    __asm__ volatile("ud2");
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    raise(SIGUSR1);
    int before = count;
    sigprocmask(SIG_UNBLOCK, &set, 0);
    printf("%d %d %d %d\n", jumps, page[8], count, count - before);
    on(SIGALRM, on_alarm, 0);
    ualarm(50000, 0);
    int paused = pause();
    printf("%d %d\n", paused, errno == EINTR);
    fflush(stdout);
    abort();
}
"#;

pub(crate) const SIGNALS_OUTPUT: &str = "2 3\n13 7 10103 1\n-1 1\n";

/// Calls that the program makes by itself: with flags for what is called and back, with other addresses on the stack, on two stacks, and
/// through an address that cannot be read.
pub(crate) const WAYS: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#define FUNCTION(name) ".type " #name ", @function\n" #name ":\n"
__asm__(".text\n"
    /* The caller reads flags that it leaves, or it reads those of the caller. */
    FUNCTION(leaves_flags) "cmpl $5, %edi\nret\n.size leaves_flags, .-leaves_flags\n"
    FUNCTION(leaves_flags_deep) "testl %esi, %esi\njz 1f\ndecl %esi\ncall leaves_flags_deep\nret\n"
    "1: cmpl $5, %edi\nret\n.size leaves_flags_deep, .-leaves_flags_deep\n"
    FUNCTION(reads_flags) "setc %al\nmovzbl %al, %eax\nret\n.size reads_flags, .-reads_flags\n"
    FUNCTION(ends_with_flags) "cmpl $7, %edi\njmp reads_flags\n.size ends_with_flags, .-ends_with_flags\n"
    /* It returns to another address than that of the call, with the stack pointer of the call. */
    FUNCTION(by_return) "call 2f\n1: jmp 1b\n2: movq %rsi, (%rsp)\nret\n.size by_return, .-by_return\n"
    /* The address of a call cannot be read, in a block that changes no flags. */
    FUNCTION(fails) "jmp 1f\n1: movq $8, %rcx\npushq %rdx\ncall *(%rcx)\nret\n.size fails, .-fails\n");
int reads_flags(void), ends_with_flags(int), by_return(int, int (*)(int));
void fails(void);
static sigjmp_buf place;
static ucontext_t here, there;
static char stack[65536];
static int switches;
static void handler(int s) { siglongjmp(place, 1); }
static int twice(int n) { return 2 * n; }
static int carry(int n, int depth) {
    int found;
    __asm__ volatile("call leaves_flags_deep\nsetc %b0\nmovzbl %b0, %0" : "=a"(found), "+S"(depth) : "D"(n) : "cc", "memory");
    __asm__ volatile("call leaves_flags\nadcl $0, %0" : "+a"(found) : "D"(n) : "cc", "memory");
    __asm__ volatile("cmpl $3, %%edi\ncall reads_flags\n" : "=a"(n) : "D"(n) : "cc", "memory");
    return 2 * found + n;
}
static void other(void) { for (;;) { switches += twice(1); swapcontext(&there, &here); } }
int main(void) {
    int sum = 0;
    volatile int faults = 0;
    for (int n = 0; n < 10; n++) sum = 3 * sum + carry(n, n % 4) + ends_with_flags(n) + by_return(n, twice);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    makecontext(&there, other, 0);
    for (int n = 0; n < 5; n++) swapcontext(&here, &there);
    signal(SIGSEGV, handler);
    for (volatile int n = 0; n < 4; n++) { if (!sigsetjmp(place, 1)) fails(); else faults++; }
    printf("%d %d %d\n", sum, switches, faults);
    return 0;
}
"#;

/// Returns that end no call: a switch between two stacks within the program, and an address that is pushed.
pub(crate) const SWITCHES: &str = r#"
#include <stdint.h>
#include <stdio.h>
typedef struct { void *sp; } place;
void change(place *from, place *to);
__asm__(".text\n.type change, @function\nchange:\n"
    "pushq %rbp\npushq %rbx\npushq %r12\npushq %r13\npushq %r14\npushq %r15\n"
    "movq %rsp, (%rdi)\nmovq (%rsi), %rsp\n"
    "popq %r15\npopq %r14\npopq %r13\npopq %r12\npopq %rbx\npopq %rbp\nret\n.size change, .-change\n");
static place mine, its;
static char stack[65536] __attribute__((aligned(16)));
static volatile int sum;
#define APART __attribute__((noinline)) static
APART int work(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
APART void consume(void) { for (;;) { for (int i = 0; i < 50; i++) sum ^= i; sum += work(3); change(&its, &mine); } }
APART void produce(void) { for (int n = 0; n < 30; n++) { sum += work(n); change(&mine, &its); } }
APART int pushed(int n) {
    for (int i = 0; i < n; i++)
        __asm__ volatile("leaq 1f(%%rip), %%rax\npushq %%rax\nret\n1:\n" ::: "rax", "memory");
    return n;
}
int main(void) {
    uintptr_t *top = (uintptr_t *)(stack + sizeof stack - 64);
    *--top = 0;
    *--top = (uintptr_t)consume;
    for (int i = 0; i < 6; i++) *--top = 0;
    its.sp = top;
    produce();
    printf("%d %d\n", sum, pushed(5));
    return 0;
}
"#;

/// Libraries that are loaded one after the other, each in the place of the one before: a call through a pointer with few targets, and
/// one with many.
pub(crate) const LOADS: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
static int use(const char *path, int n) {
    void *library = dlopen(path, RTLD_NOW);
    int sum = ((int (*)(int))dlsym(library, "run"))(n);
    for (const char *name = "f0\0f1\0f2\0f3\0f4\0f5\0"; *name; name += 3) sum += ((int (*)(int))dlsym(library, name))(n);
    dlclose(library);
    return sum;
}
int main(void) {
    int sum = 0;
    for (int i = 0; i < 10; i++) sum += use("./first.so", 10 + i) + use("./second.so", 100 + i);
    printf("%d\n", sum);
    return 0;
}
"#;

/// One of these libraries. The functions of both are at the same addresses.
pub(crate) const LOADED: &str = r#"
__attribute__((noinline)) static int help(int n) { int s = 0; for (int i = 0; i < n; i++) s += i * FACTOR; return s; }
int run(int n) { return help(n) + 1; }
#define FUNCTION(name, more) int name(int n) { int s = more; for (int i = 0; i < n; i++) s ^= i * FACTOR; return s; }
FUNCTION(f0, 0) FUNCTION(f1, 1) FUNCTION(f2, 2) FUNCTION(f3, 3) FUNCTION(f4, 4) FUNCTION(f5, 5)
"#;

/// A library that is loaded, replaced by another build, and loaded again.
pub(crate) const BUILDS: &str = r#"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static int use(const char *name) {
    void *library = dlopen("./it.so", RTLD_NOW);
    int sum = ((int (*)(int))dlsym(library, name))(1000);
    dlclose(library);
    return sum;
}
int main(void) {
    int sum = use("before");
    if (REPLACE) return 1;
    return sum == use("after") ? 0 : 2;
}
"#;

pub(crate) const BUILT: &str = r#"
int NAME(int n) { volatile int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
"#;

/// A program with an instruction in the place of `{BYTES}`.
pub(crate) const INSTRUCTION: &str = r#"
#include <unistd.h>
int main(void) {
    if (write(1, "begin\n", 6) != 6) return 1;
    __asm__ volatile(".byte {BYTES}");
    return 0;
}
"#;
