//! Flags that the program needs are those that it has alone.

use std::process::Command;

use super::has_engine;
use super::programs::compile;
use crate::harness::*;

/// A handler of a signal lets code between a comparison and its branch go on by way of a function that saves and restores everything, as the
/// runtime of Go interrupts goroutines. And returns that are jumps, behind a comparison.
const INTERRUPTED: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
void way(void);
int below(int);
int below_by_return(int);
int is_set(int);
__asm__("below: cmp $5, %edi\n int3\n setb %al\n movzbl %al, %eax\n ret\n"
        "way: pushfq\n push %rax\n xor %eax, %eax\n pop %rax\n popfq\n ret\n"
        "below_by_return: lea 1f(%rip), %rax\n push %rax\n cmp $5, %edi\n ret\n1: setb %al\n movzbl %al, %eax\n ret\n"
        "is_set: lea 1f(%rip), %rax\n push %rax\n bt $1, %edi\n ret\n1: setc %al\n movzbl %al, %eax\n ret\n");
static void interrupt(int signal, siginfo_t *what, void *context) {
    (void)signal; (void)what;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    registers[REG_RSP] -= 8;
    *(long *)registers[REG_RSP] = registers[REG_RIP];
    registers[REG_RIP] = (long)way;
}
int main(void) {
    struct sigaction action = { .sa_sigaction = interrupt, .sa_flags = SA_SIGINFO };
    sigaction(SIGTRAP, &action, 0);
    for (int i = 0; i < 1000; i++) {
        int n = i % 10;
        if (below(n) != (n < 5) || below_by_return(n) != (n < 5) || is_set(n) != (n >> 1 & 1)) {
            printf("wrong at %d: %d %d %d\n", i, below(n), below_by_return(n), is_set(n));
            return 1;
        }
    }
    puts("right");
    return 0;
}
"#;

#[test]
fn a_return_to_interrupted_code_keeps_the_flags() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "interrupted", &["-O1", "-g", "-mno-red-zone"], INTERRUPTED);
    let alone = Command::new(folder.path().join("interrupted")).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&alone.stdout), "right\n");
    for options in [&[][..], &["--count-in-vectors=no"], &["--link-blocks=no"], &["--toggle-collect=below"]] {
        let words = ["record", "--engine", "native", "-q", "--force", "-o", "a"];
        let output = run_in(folder.path(), &[&words[..], options, &["./interrupted"]].concat());
        assert_eq!(code(&output), 0, "{options:?}: {}{}", stdout(&output), stderr(&output));
        assert_eq!(stdout(&output), "right\n", "{options:?}");
    }
}
