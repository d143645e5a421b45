//! Code that programs make, change and run.

use super::programs::compile;
use super::{assert_same_profile, has_engine, record};
use crate::harness::*;

/// Code that is written again and again: where it runs, between changes of its protection, through another mapping, on the stack.
pub(crate) const CHANGES: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <ucontext.h>
#include <unistd.h>
#define APART __attribute__((noinline)) static
#define AT(address) ((unsigned char *)address)
typedef long (*Code)(long);
static unsigned char *map(long address, int access, int flags, int file) {
    return mmap(AT(address), 8192, access, flags | MAP_FIXED, file, 0);
}
/* A function that adds a constant to its argument in a loop, and may call another one. */
static void emit(unsigned char *p, int constant, int rounds, Code callee) {
    memcpy(p, "\x53\x55\x48\x89\xfb\xbd", 6), p += 6; /* push rbx; push rbp; mov rbx, rdi; mov ebp, … */
    memcpy(p, &rounds, 4), p += 4;
    unsigned char *loop = p;
    memcpy(p, "\x48\x81\xc3", 3), p += 3; /* add rbx, … */
    memcpy(p, &constant, 4), p += 4;
    if (callee) {
        memcpy(p, "\x48\x89\xdf\x48\xb8", 5), p += 5; /* mov rdi, rbx; mov rax, … */
        memcpy(p, &callee, 8), p += 8;
        memcpy(p, "\xff\xd0\x48\x89\xc3", 5), p += 5; /* call rax; mov rbx, rax */
    }
    memcpy(p, "\xff\xcd\x75", 3), p += 3; /* dec ebp; jnz … */
    *p = loop - (p + 1), p++;
    memcpy(p, "\x48\x89\xd8\x5d\x5b\xc3", 6); /* mov rax, rbx; pop rbp; pop rbx; ret */
}
APART long helper(long x) { __asm__ volatile(""); return x * 3 + 1; }
APART long run(unsigned char *write, unsigned char *code, long n, int toggles) {
    long sum = 0;
    for (long i = 0; i < n; i++) {
        if (toggles) mprotect(code, 4096, PROT_READ | PROT_WRITE);
        emit(write, i / 3, 10 + i % 3, i % 2 ? helper : 0);
        if (toggles) mprotect(code, 4096, PROT_READ | PROT_EXEC);
        for (int k = 0; k < 3; k++) sum = sum * 31 + ((Code)code)(sum);
    }
    return sum;
}
static long apply(Code f, long n) { long s = 0; for (long i = 0; i < n; i++) s += f(i); return s; }
APART long nested(long n) {
    long seen = 0;
    long inner(long x) { seen++; return x + seen; }
    return apply(inner, n) + seen;
}
/* Code on the stack that calls. */
APART long on_stack(long n) {
    unsigned char code[64];
    emit(code, 5, n, helper);
    return ((Code)code)(7);
}
static unsigned char *late;
static int faults;
static void handle(int signal, siginfo_t *info, void *data) {
    (void)signal, (void)data;
    faults += info->si_addr == late;
    mprotect(late, 4096, PROT_READ | PROT_EXEC);
}
/* Code that jumps to code that cannot run yet. */
APART long later(unsigned char *code, long n) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, 0);
    late = code + 4096;
    mprotect(late, 4096, PROT_READ | PROT_WRITE);
    emit(late, 3, 4, 0);
    mprotect(late, 4096, PROT_READ);
    int distance = late - (code + 5);
    code[0] = 0xe9, memcpy(code + 1, &distance, 4); /* jmp … */
    long sum = 0;
    for (long i = 0; i < n; i++) sum += ((Code)code)(i);
    return sum;
}
/* Code that lets the processor refuse words that are not aligned, at an address that is not. */
APART long aligned(unsigned char *code) {
    memcpy(code + 3, "\x9c\x58\x48\x0d\x00\x00\x04\x00\x50\x9d\x90\xeb\x00\x9c\x58\x48\x25\xff\xff\xfb\xff\x50\x9d\xc3", 24);
    return ((Code)(code + 3))(0) & 0x40000;
}
/* Code that can be run only, at the end of a file within its mapping, and in shared memory that is attached twice. */
static long at_edges(unsigned char *only) {
    long sum = 0;
    emit(only, 3, 4, 0);
    mprotect(only, 8192, PROT_EXEC);
    sum += ((Code)only)(1);
    mprotect(only, 8192, PROT_READ | PROT_EXEC);
    sum += ((Code)only)(1);
    mprotect(only, 8192, PROT_EXEC);
    sum += ((Code)only)(1);
    int file = memfd_create("short", 0);
    if (ftruncate(file, 4096)) return -1;
    unsigned char *code = mmap(0, 65536, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, file, 0);
    emit(code + 4000, 5, 6, 0);
    sum += ((Code)(code + 4000))(1);
    int id = shmget(IPC_PRIVATE, 4096, 0600 | IPC_CREAT);
    unsigned char *write = shmat(id, 0, 0), *run = shmat(id, 0, 0);
    mprotect(run, 4096, PROT_READ | PROT_EXEC);
    for (int i = 0; i < 3; i++) emit(write, i, 2, 0), sum = sum * 7 + ((Code)run)(1);
    shmdt(write), shmdt(run), shmctl(id, IPC_RMID, 0);
    return sum;
}
int main(int count, char **words) {
    (void)words;
    int all = PROT_READ | PROT_WRITE | PROT_EXEC, own = MAP_PRIVATE | MAP_ANONYMOUS;
    printf("%ld\n", run(AT(0x20000000), map(0x20000000, all, own, -1), 100, 0));
    printf("%ld\n", run(AT(0x20100000), map(0x20100000, PROT_READ | PROT_WRITE, own, -1), 100, 1));
    if (count > 1) {
        printf("%ld\n", at_edges(map(0x20600000, all, own, -1)));
        /* Valgrind does not see this. */
        int file = memfd_create("code", 0);
        if (ftruncate(file, 8192)) return 1;
        unsigned char *write = map(0x20200000, PROT_READ | PROT_WRITE, MAP_SHARED, file);
        printf("%ld\n", run(write, map(0x20300000, PROT_READ | PROT_EXEC, MAP_SHARED, file), 100, 0));
    }
    printf("%ld\n", nested(300));
    printf("%ld\n", on_stack(20));
    printf("%ld\n", later(map(0x20400000, all, own, -1), 20));
    printf("%d %ld\n", faults, aligned(map(0x20500000, all, own, -1)));
    return 0;
}
"#;

/// Threads that write code for each other while all run it.
const TOGETHER: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
typedef long (*Code)(long);
static unsigned char *code;
static pthread_barrier_t barrier;
static void *run(void *data) {
    long number = (long)data, sum = 0;
    for (int round = 0; round < 300; round++) {
        if (round % 4 == number)
            for (int i = 0; i < 64; i++) {
                unsigned char *p = code + 16 * i;
                int constant = round * 64 + i;
                memcpy(p, "\x48\x8d\x87", 3), memcpy(p + 3, &constant, 4), p[7] = 0xc3; /* lea rax, [rdi + …]; ret */
            }
        pthread_barrier_wait(&barrier);
        for (int i = 0; i < 64; i++) sum += ((Code)(code + 16 * i))(number);
        pthread_barrier_wait(&barrier);
    }
    return (void *)sum;
}
int main(void) {
    pthread_t threads[4];
    void *sum;
    code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_barrier_init(&barrier, 0, 4);
    for (long i = 0; i < 4; i++) pthread_create(&threads[i], 0, run, (void *)i);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], &sum), printf("%ld\n", (long)sum);
    return 0;
}
"#;

#[test]
fn code_that_changes_has_the_profile_of_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "changes", &["-O1", "-z", "execstack"], CHANGES);
    assert_same_profile(folder.path(), &["./changes"]);
}

#[test]
fn code_that_changes_does_what_it_does_alone() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "changes", &["-O1", "-z", "execstack"], CHANGES);
    compile(folder.path(), "together", &["-O1", "-pthread"], TOGETHER);
    for program in [&["./changes", "twice"][..], &["./together"]] {
        let alone = std::process::Command::new(program[0])
            .args(&program[1..])
            .current_dir(folder.path())
            .output()
            .unwrap();
        for options in [
            &[][..],
            &["--code-cache=1"],
            &["--count-in-vectors=no"],
            &["--link-blocks=no"],
            &["--dump-every-bb=5000"],
        ] {
            if program[0] == "./together" && options == ["--code-cache=1"] {
                continue;
            }
            let output = record(folder.path(), &[options, &["--force", "-o", "out"], program].concat());
            assert_eq!(output.status, alone.status, "{options:?}: {}", stderr(&output));
            assert_eq!(stdout(&output), stdout(&alone), "{program:?} {options:?}");
        }
    }
}

/// Library code at a place where there was other code, which the same call has run.
const REUSES: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
__attribute__((noinline)) static long call(long (*f)(long), long n) { long s = 0; for (long i = 0; i < n; i++) s += f(i); return s; }
#define OTHER(n) static long other##n(long x) { return x + n; }
OTHER(1) OTHER(2) OTHER(3) OTHER(4) OTHER(5) OTHER(6)
int main(int count, char **words) {
    /* With many targets, a call finds them in another way. */
    long (*others[])(long) = {other1, other2, other3, other4, other5, other6};
    for (int i = 0; count > 2 && i < 6; i++) call(others[i], 2);
    void *library = dlopen("./library.so", RTLD_NOW);
    if (!library) return 1;
    char *at = dlsym(library, "work");
    dlclose(library);
    char *page = (char *)((long)at & ~4095L);
    char *code = mmap(page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    memcpy(code + (at - page), "\x48\x8d\x47\x07\xc3", 5); /* lea rax, [rdi + 7]; ret */
    long sum = call((long (*)(long))at, 100);
    /* Some give up the right to run it before they free it. */
    if (count > 1 && mprotect(code, 4096, PROT_READ | PROT_WRITE)) return 3;
    munmap(code, 4096);
    library = dlopen("./library.so", RTLD_NOW);
    if (dlsym(library, "work") != (void *)at) return 2;
    printf("%ld\n", sum + call((long (*)(long))at, 50));
    return 0;
}
"#;

/// Memory that becomes shorter: what stays keeps its rights.
const SHRINKS: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
int main(void) {
    char *memory = mmap(0, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(memory + 4096, "\x48\x8d\x47\x07\xc3", 5); /* lea rax, [rdi + 7]; ret */
    if (mprotect(memory + 4096, 4096, PROT_READ | PROT_EXEC)) return 1;
    if (mremap(memory, 8 * 4096, 4 * 4096, 0) != memory) return 2;
    memory[0] = 1;
    printf("%ld\n", ((long (*)(long))(memory + 4096))(35));
    return 0;
}
"#;

#[test]
fn memory_that_shrinks_keeps_its_rights() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "shrinks", &["-O1"], SHRINKS);
    let output = record(folder.path(), &["-q", "-o", "a.out", "./shrinks"]);
    assert_eq!((code(&output), stdout(&output).as_str()), (0, "42\n"), "{}", stderr(&output));
}

#[test]
fn a_library_in_the_place_of_other_code_has_its_costs() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(
        folder.path(),
        "library.so",
        &["-O1", "-shared", "-fPIC"],
        "long work(long x) { return x * 3 + 1; }\n",
    );
    compile(folder.path(), "reuses", &["-O1"], REUSES);
    assert_same_profile(folder.path(), &["./reuses"]);
    assert_same_profile(folder.path(), &["./reuses", "gives-up"]);
    assert_same_profile(folder.path(), &["./reuses", "gives-up", "many"]);
}

#[test]
fn compilers_of_running_programs_do_what_they_do_alone() {
    if !has_engine(&["node"]) {
        return;
    }
    let folder = folder(&[]);
    let text = "let m = {}; for (let i = 0; i < 300000; i++) m[i & 1023] = (i * 7) & 4095;\n\
        console.log(Object.values(m).reduce((a, b) => a + b));\n";
    std::fs::write(folder.path().join("sum.js"), text).unwrap();
    std::fs::write(folder.path().join("words"), "one 1\ntwo 22\nthree 3\n").unwrap();
    for program in [&["node", "sum.js"][..], &["grep", "-P", r"(\d)\1", "words"]] {
        let alone = std::process::Command::new(program[0])
            .args(&program[1..])
            .current_dir(folder.path())
            .output()
            .unwrap();
        let output = record(folder.path(), &[&["--force", "-o", "out"], program].concat());
        assert_eq!(output.status, alone.status, "{program:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), stdout(&alone), "{program:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("gristmill: recorded "), "{program:?}: {}", stderr(&output));
    }
}
