//! The objects and functions of code: of pages whose protection changes, of segments that share a page, and with odd names.

use std::process::Command;

use super::programs::compile;
use super::sums::Sums;
use super::{assert_same_output, assert_same_profile, has_engine, record};
use crate::harness::*;

/// A program that makes its own code writable, and back: as patches of code do, and the loader of programs with relocations of code.
const PATCHES: &str = r#"
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
__attribute__((noinline)) static long leaf(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; __asm__ volatile("" : : "r"(s)); return s; }
static void protect(int access) { mprotect((void *)((uintptr_t)leaf & ~4095ul), 4096, access); }
int main(void) {
    long sum = leaf(100);
    protect(PROT_READ | PROT_WRITE | PROT_EXEC);
    sum += leaf(1000);
    volatile char *end = (volatile char *)leaf;
    *end = *end;
    protect(PROT_READ | PROT_EXEC);
    sum += leaf(500);
    printf("%ld\n", sum);
    return 0;
}
"#;

/// A program that moves its code to memory without a file, as for large pages.
const MOVES: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
extern char _start[], etext[];
__attribute__((noinline)) long work(long n) { long s = 0; for (long i = 0; i < n; i++) s += i ^ s; __asm__ volatile("" : : "r"(s)); return s; }
static void move(void) {
    char *code = (char *)((unsigned long)_start & ~4095ul);
    size_t length = (etext - code + 4095) & ~4095ul;
    char *copy = mmap(0, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(copy, code, length);
    mprotect(copy, length, PROT_READ | PROT_EXEC);
    mremap(copy, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, code);
}
int main(void) {
    long sum = work(1000);
    move();
    for (int i = 0; i < 10; i++) sum += work(1000);
    printf("%ld\n", sum);
    return 0;
}
"#;

/// A program whose changes of protection end at a hole, or at a file that was not opened for writing.
const PARTLY: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { ALL = PROT_READ | PROT_WRITE | PROT_EXEC };
static char *pages(void) {
    char *pages = mmap(0, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int page = 0; page < 3; page++) memcpy(pages + page * 4096, "\xb8\7\0\0\0\xc3", 6);
    return pages;
}
static int run(char *code) {
    fflush(stdout);
    if (fork() == 0) _exit(((int (*)(void))code)());
    int status;
    wait(&status);
    return status;
}
int main(void) {
    char *first = pages(), *second = pages();
    munmap(first + 4096, 4096);
    int result = mprotect(first, 3 * 4096, ALL);
    printf("%d %d %x %x\n", result, errno == ENOMEM, run(first), run(first + 8192));
    int file = open("/proc/self/exe", O_RDONLY);
    mmap(second + 4096, 4096, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0);
    result = mprotect(second, 3 * 4096, ALL);
    printf("%d %d %x %x\n", result, errno == EACCES, run(second), run(second + 8192));
    result = mprotect(first + 4096, 8192, ALL);
    printf("%d %d %x\n", result, errno == ENOMEM, run(first + 8192));
    result = mprotect(first, -4096, PROT_READ);
    printf("%d %d %x\n", result, errno == ENOMEM, run(first));
    return 0;
}
"#;

#[test]
fn a_change_of_protection_that_fails_is_made_in_part() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "partly", &["-O1"], PARTLY);
    let output = assert_same_output(folder.path(), "./partly");
    assert!(output.starts_with("-1 1 700 "), "{output}");
}

const SEGMENTS: &str = r#"
#include <stdio.h>
#define IN(section_name) __attribute__((noinline, section(section_name)))
IN(".first") long first(long n) { long s = 0; for (long i = 0; i < n; i++) s += i; __asm__ volatile("" : : "r"(s)); return s; }
IN(".second") long second(long n) { long s = 0; for (long i = 0; i < n; i++) s ^= i; __asm__ volatile("" : : "r"(s)); return s; }
int main(void) { printf("%ld\n", first(1000) + second(2000)); return 0; }
"#;

#[test]
fn code_keeps_its_functions_where_it_can_be_written() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "patches", &["-O1", "-g"], PATCHES);
    let relocated = ["-O1", "-g", "-fno-pic", "-mcmodel=large", "-pie", "-Wl,-z,notext"];
    compile(folder.path(), "relocated", &relocated, PATCHES);
    let sections = ["-Wl,--section-start=.first=0x10000100", "-Wl,--section-start=.second=0x20000300"];
    compile(folder.path(), "segments", &[&["-O1", "-g", "-no-pie"][..], &sections].concat(), SEGMENTS);
    compile(folder.path(), "sections", &["-O1", "-g"], SEGMENTS);
    compile(folder.path(), "moves", &["-O1", "-g"], MOVES);
    for program in ["./patches", "./relocated", "./sections", "./moves"] {
        assert_same_profile(folder.path(), &[program]);
    }
    // Callgrind knows the functions of the first of these segments only.
    let output = record(folder.path(), &["-q", "-o", "segments.out", "./segments"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let sums = Sums::read(&folder.path().join("segments.out"));
    assert_eq!(["first", "second"].map(|callee| sums.calls("main", callee)), [1, 1]);
}

#[test]
fn program_headers_can_be_at_the_end_of_a_file() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "libmoved.so", &["-O1", "-shared", "-fPIC"], "int hot(int x) { return x * 7; }\n");
    let text = "int hot(int x);\nint main(void) { int s = 0; for (int i = 0; i < 100; i++) s += hot(i); return s == 1; }\n";
    compile(
        folder.path(),
        "caller",
        &["-O1", "-L.", "-Wl,-rpath,$ORIGIN", "-Wl,--no-as-needed", "-lmoved"],
        text,
    );
    let library = folder.path().join("libmoved.so");
    let mut bytes = std::fs::read(&library).unwrap();
    let number = |at: usize, length: usize| {
        bytes[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    // The offset of the headers, and their count and size.
    let (start, length) = (number(32, 8), number(54, 2) * number(56, 2));
    let headers = bytes[start..start + length].to_vec();
    bytes.resize(1 << 17, 0);
    bytes[32..40].copy_from_slice(&(1u64 << 17).to_le_bytes());
    bytes.extend(headers);
    std::fs::write(&library, bytes).unwrap();
    let output = record(folder.path(), &["-q", "-o", "a.out", "./caller"]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    assert_eq!(Sums::read(&folder.path().join("a.out")).calls("main", "hot"), 100);
}

#[test]
fn odd_names_do_not_cost_the_profile() {
    if !has_engine(&["cc", "objcopy"]) {
        return;
    }
    let folder = folder(&[]);
    let text = "__attribute__((noinline)) int plain(int x) { __asm__ volatile(\"\"); return x * 7; }\n\
        # 9 \"two\\nlines.c\"\nint main(void) { int s = 0; for (int i = 0; i < 100; i++) s += plain(i); return s == 1; }\n";
    compile(folder.path(), "odd.o", &["-O1", "-g", "-c"], text);
    for (name, written) in
        [(" blank", "\\x20blank"), ("two\nlines", "two\\nlines"), ("end\r", "end\\r"), ("(3)", "\\x283)")]
    {
        let renamed = format!("--redefine-sym=plain={name}");
        for words in [&["objcopy", &renamed, "odd.o", "named.o"][..], &["cc", "named.o", "-o", "odd"]] {
            let status = Command::new(words[0]).args(&words[1..]).current_dir(folder.path()).status();
            assert!(status.unwrap().success(), "{words:?}");
        }
        for compressed in ["yes", "no"] {
            let option = format!("--compress-strings={compressed}");
            let output = record(folder.path(), &["-q", "--force", &option, "-o", "a.out", "./odd"]);
            assert_eq!(code(&output), 0, "{name:?}: {}", stderr(&output));
            assert_eq!(Sums::read(&folder.path().join("a.out")).calls("main", written), 100, "{name:?}");
        }
    }
}

/// Looks for its own code, stack and heap among its mappings, and for a program that is not it.
const MAPPINGS: &str = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
static void look(const char *path) {
    char line[4096], access[8], name[4096], here;
    char *heap = (char *)sbrk(4096), *reserved = mmap(0, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *maps = fopen(path, "r");
    unsigned long start, end, offset, before = 0;
    int others = 0, disorder = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        name[0] = 0;
        if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %4095s", &start, &end, access, &offset, name) < 4) printf("? %s", line);
        disorder += start < before || end <= start;
        before = end;
        others += strstr(name, "gristmill") != 0;
        if (start <= (unsigned long)look && (unsigned long)look < end) printf("code %s %s\n", access, strrchr(name, '/'));
        if (start <= (unsigned long)&here && (unsigned long)&here < end) printf("stack %s %s\n", access, name);
        if (start <= (unsigned long)heap && (unsigned long)heap < end) printf("heap %s %s\n", access, name);
        if (start <= (unsigned long)reserved && (unsigned long)reserved < end) printf("reserved %s\n", access);
    }
    printf("%d %d\n", others, disorder);
    if (maps) fclose(maps);
}
int main(void) {
    char path[99];
    look("/proc/self/maps");
    sprintf(path, "/proc/%d/task/%d/maps", getpid(), getpid());
    look(path);
    return 0;
}
"#;

#[test]
fn mappings_are_those_of_the_program() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "mappings", &["-O1"], MAPPINGS);
    let output = assert_same_output(folder.path(), "./mappings");
    assert!(output.starts_with("code r-xp /mappings\nheap rw-p [heap]\n"), "{output}");
    assert!(output.contains("stack rw-p [stack]\n0 0\n"), "{output}");
}
