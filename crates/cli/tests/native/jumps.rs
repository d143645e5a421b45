//! Jumps within functions, `--collect-jumps`: as often as Callgrind counts them.

use std::collections::BTreeMap;
use std::path::Path;

use gristmill_profile::{Profile, Selection};

use crate::harness::*;
use crate::has_engine;
use crate::programs::{CALLS, DEEP, compile};
use crate::sums::set_environment;

/// Loops, an indirect jump with many targets, jumps of recursion, `loop` and `jrcxz`, and a repetition, which is no jump.
const JUMPS: &str = r#"
#include <stdio.h>
#define APART __attribute__((noinline)) static
APART int choose(int n) {
    switch (n) { case 0: return 5; case 1: return 7; case 2: return 11; case 3: return n * 13; case 4: return 17; case 5: return n ^ 23;
    case 6: return 29 + n; case 7: return 31; case 8: return -n; case 9: return 37; default: return 1; }
}
APART int loops(int n) {
    int s = 0;
    for (int i = 0; i < n; i++) { if (i % 3 == 0) s += i; else if (i % 5 == 0) s ^= i; for (int k = i & 7; k; k--) s += 2 * k; }
    return s;
}
APART int down(int n) { if (n == 0) return 1; int r = down(n - 1); return r % 2 ? r + n : r - n; }
APART int words(int n) {
    static void *places[] = {&&one, &&two, &&three};
    int s = 0;
    goto *places[n % 3];
one: if (++s > 20) return s; n += 1; goto *places[n % 3];
two: if ((s += 2) > 20) return s; n += 2; goto *places[n % 3];
three: if ((s += 3) > 20) return s; n += 1; goto *places[n % 3];
}
APART long counting(long n) {
    long count = 0;
    __asm__ volatile("mov %1, %%rcx; 1: inc %0; loop 1b; 2: dec %1; mov %1, %%rcx; jrcxz 3f; inc %0; jmp 2b; 3:"
        : "+r"(count), "+r"(n) : : "rcx");
    return count;
}
APART void repetition(char *to, char *from, long n) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}
int main(void) {
    long s = 0;
    for (int i = 0; i < 300; i++) s += choose(i % 11) + words(i);
    char from[50] = {1}, to[50];
    repetition(to, from, sizeof to);
    printf("%ld\n", s + loops(1000) + down(20) + counting(30) + to[0]);
    return 0;
}
"#;

const WITH_ADDRESSES: [&str; 2] = ["--collect-jumps=yes", "--dump-instr=yes"];

/// A jump that is changed, by the first argument, when other code has filled a small cache: to another target, to one with a condition, to both.
const CHANGED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static int (*at(unsigned char *code))(int) { return (int (*)(int))code; }
int main(int count, char **words) {
    int way = atoi(words[1]);
    unsigned char *code = mmap((void *)0x20000000, 1 << 20, 7, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    /* xor eax, eax; test edi, edi; jmp two; one: mov al, 1; ret; two: mov al, 2; ret; three: mov al, 3; ret */
    memcpy(code, "\x31\xc0\x85\xff\xeb\x03\xb0\x01\xc3\xb0\x02\xc3\xb0\x03\xc3", 15);
    int sum = 0;
    for (int i = 0; i < 100; i++) sum += at(code)(i & 1);
    for (int i = 0; i < 2000; i++) {
        unsigned char *other = code + 4096 + i * 64;
        for (int k = 0; k < 10; k++) memcpy(other + 4 * k, "\x85\xff\x74\x00", 4); /* test edi, edi; jz */
        other[40] = 0xc3;
        at(other)(1);
    }
    if (way & 1) code[5] = 6;    /* to three */
    if (way & 2) code[4] = 0x75; /* jnz */
    for (int i = 0; i < 100; i++) sum += at(code)(i & 1);
    printf("%d\n", sum);
    return 0;
}
"#;

/// A jump: the function, the address, and where it leads.
type Key = (String, u64, u64);

/// Reads the jumps of the functions of a program: how often they are followed, and how often those with a condition are executed.
fn jumps(path: &Path, program: &str) -> BTreeMap<Key, (i128, i128)> {
    let profile = Profile::from_bytes(std::fs::read(path).unwrap());
    assert_eq!(profile.finding_count(), 0, "{:?}", profile.findings());
    let mut jumps: BTreeMap<Key, (i128, i128)> = BTreeMap::new();
    for id in profile.functions() {
        let function = profile.function(id);
        if !profile.object(function.object).ends_with(program.as_bytes())
            || function.name.starts_with(b"repetition")
        {
            continue;
        }
        for jump in profile.lines(id, &Selection::default()).jumps {
            let name = String::from_utf8_lossy(function.name).into_owned();
            let key = (name, jump.place.address.unwrap(), jump.target.address.unwrap());
            let sum = jumps.entry(key).or_default();
            sum.0 += jump.taken;
            sum.1 += jump.executed.unwrap_or(0);
        }
    }
    jumps
}

fn record(folder: &Path, engine: &str, options: &[&str], program: &str) {
    let mut words = vec!["record", "--engine", engine, "-q", "--force", "-o", engine];
    words.extend(options);
    words.push(program);
    let mut command = gristmill(&words);
    set_environment(command.current_dir(folder), engine);
    let output = command.output().unwrap();
    assert_eq!(stderr(&output), "", "{engine} {options:?} {program}");
}

#[test]
fn jumps_are_those_of_callgrind() {
    if !has_engine(&["valgrind", "cc"]) {
        return;
    }
    let folder = folder(&[]);
    let options = ["-O1", "-g", "-fno-optimize-sibling-calls"];
    for (program, text) in [("jumps", JUMPS), ("calls", CALLS), ("deep", DEEP)] {
        compile(folder.path(), program, &options, text);
    }
    for (options, program) in [
        (&[][..], "jumps"),
        (&["--separate-recs=3", "--separate-callers=1"], "jumps"),
        (&["--toggle-collect=words"], "jumps"),
        (&["--zero-before=loops"], "jumps"),
        (&[], "calls"),
        (&["--fn-skip=work", "--skip-plt=no"], "calls"),
        (&[], "deep"),
    ] {
        for engine in ["native", "valgrind"] {
            record(folder.path(), engine, &[&WITH_ADDRESSES, options].concat(), &format!("./{program}"));
        }
        let [native, valgrind] =
            ["native", "valgrind"].map(|engine| jumps(&folder.path().join(engine), &format!("/{program}")));
        assert!(native.len() > 5, "{options:?} {program}: {native:?}");
        let followed = |jumps: &BTreeMap<Key, (i128, i128)>| -> BTreeMap<Key, i128> {
            jumps.iter().map(|(key, sums)| (key.clone(), sums.0)).collect()
        };
        assert_eq!(followed(&native), followed(&valgrind), "{options:?} {program}");
        // Callgrind leaves executions out in blocks that never follow the jump, and calls the way out of a loop by `loop` its jump.
        for (key, sums) in &native {
            assert!(sums.1 >= valgrind[key].1, "{options:?} {program} {key:?}: {sums:?} {:?}", valgrind[key]);
            assert!(sums.1 == 0 || sums.1 >= sums.0, "{key:?}: {sums:?}");
        }
    }
}

#[test]
fn a_jump_that_is_changed_has_the_counts_of_both() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "changed", &["-O1"], CHANGED);
    for (way, expected) in [
        ("1", ["jump=100 0x20000009", "jump=100 0x2000000c"]),
        ("2", ["jump=100 0x20000009", "jcnd=50/100 0x20000009"]),
        ("3", ["jump=100 0x20000009", "jcnd=50/100 0x2000000c"]),
    ] {
        for options in [&[][..], &["--code-cache=1"]] {
            let words =
                ["-q", "--force", "--collect-jumps=yes", "--dump-instr=yes", "--compress-pos=no", "-o", "a"];
            let words =
                [&["record", "--engine", "native"], &words[..], options, &["./changed", way]].concat();
            let output = run_in(folder.path(), &words);
            assert_eq!(code(&output), 0, "{}", stderr(&output));
            let text = std::fs::read_to_string(folder.path().join("a")).unwrap();
            for jump in expected {
                assert!(text.contains(&format!("{jump} ")), "{way} {options:?}: {jump}: {text}");
            }
        }
    }
}

#[test]
fn the_way_of_counting_makes_no_difference_to_jumps() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "jumps", &["-O1", "-g"], JUMPS);
    let profile = |options: &[&str]| {
        record(folder.path(), "native", options, "./jumps");
        let text = std::fs::read_to_string(folder.path().join("native")).unwrap();
        text.lines()
            .filter(|line| !line.starts_with("pid:"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let expected = profile(&WITH_ADDRESSES);
    assert!(expected.contains("jcnd="), "{expected}");
    for option in ["--count-in-vectors=no", "--link-blocks=no", "--code-cache=1", "--code-cache=100"] {
        let [jumps, addresses] = WITH_ADDRESSES;
        assert!(profile(&[jumps, addresses, option]) == expected, "{option}");
    }
    // Without addresses, they are jumps from line to line.
    let is_jump = |line: &&str| line.starts_with("jump=") || line.starts_with("jcnd=");
    let count = |profile: &str| profile.lines().filter(is_jump).count();
    let by_line = profile(&["--collect-jumps=yes"]);
    assert!(count(&by_line) > 50, "{by_line}");
    // Nothing else changes.
    let costs = |text: &str| -> Vec<String> {
        let mut is_source = false;
        let lines = text.lines().filter(|line| {
            let is_left_out = std::mem::replace(&mut is_source, is_jump(line)) || is_jump(line);
            !is_left_out && !line.starts_with("jfi=")
        });
        lines.map(str::to_owned).collect()
    };
    let plain = ["--dump-instr=yes", "--compress-strings=no", "--compress-pos=no"];
    let without = profile(&plain);
    assert_eq!(count(&without), 0);
    assert_eq!(costs(&without), costs(&profile(&[&plain[..], &["--collect-jumps=yes"]].concat())));
}
