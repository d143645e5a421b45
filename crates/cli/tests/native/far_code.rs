//! Code above 2 GB, whose operands are too far from its translation.

use super::programs::compile;
use super::{assert_same_output, has_engine};
use crate::harness::*;

/// Copies code with operands relative to its instructions far above, runs it, and prints what it gives. Two operands are in a page that
/// cannot be read: the handler prints the registers and goes on behind the instruction of 7 bytes.
const FAR: &str = r#"
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
__asm__(
    ".globl begin, helper, landing, data, end\n"
    "begin: push %rbx\n mov %rdi, %rbx\n"
    " lea begin(%rip), %rcx\n lea data(%rip), %rax\n sub %rcx, %rax\n"
    " lea data(%rip), %r11\n sub %rcx, %r11\n add %r11, %rax\n"
    " mov $7, %r11\n add data(%rip), %r11\n add %r11, %rax\n"
    " mov $5, %r11\n mov $6, %ecx\n add data+8(%rip), %rax\n add %r11, %rax\n add %rcx, %rax\n"
    " xchg %r11, data+8(%rip)\n add %r11, %rax\n"
    " mov $3, %ecx\n shld %cl, %r11, data(%rip)\n add %rcx, %rax\n add %r11, %rax\n"
    " mov $0x1234, %edx\n mov $0x4321, %ecx\n cmpxchg %ch, data+16(%rip)\n setz %cl\n movzx %cl, %ecx\n add %rcx, %rax\n add %rdx, %rax\n"
    " mov data+24(%rip), %ah\n mov %ch, data+25(%rip)\n"
    " cmp data+8(%rip), %rbx\n jb 1f\n add $77, %rax\n"
    "1: call *data+32(%rip)\n"
    " push data(%rip)\n pop data+48(%rip)\n addq $9, data+48(%rip)\n lock incl data+48(%rip)\n"
    " movdqu data+40(%rip), %xmm0\n paddq data(%rip), %xmm0\n movq %xmm0, %rcx\n add %rcx, %rax\n"
    " jmp *data+56(%rip)\n ud2\n"
    "landing: mov $11, %r11\n mov $12, %ecx\n mov $13, %edx\n"
    " mov begin+8192(%rip), %rsi\n mov begin+8192(%rip), %r11\n mov begin+8192(%rip), %ecx\n nop\n"
    " add %rcx, %rax\n add %r11, %rax\n pop %rbx\n ret\n"
    "helper: add data(%rip), %rax\n ret\n"
    ".balign 16\n data: .quad 100, 200, 0x1300, 0x5555, 0, 300, 400, 0\n end:\n");
extern char begin[], helper[], landing[], data[], end[];
static unsigned long faults;
static void on_fault(int number, siginfo_t *info, void *context) {
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    faults += registers[REG_R11] * 3 + registers[REG_RCX] * 5 + registers[REG_RDX] * 7 + (registers[REG_RIP] & 0xfff)
        + ((long)info->si_addr & 0xffff) + number;
    registers[REG_RIP] += *(unsigned char *)registers[REG_RIP] >= 0x48 && *(unsigned char *)registers[REG_RIP] < 0x50 ? 7 : 6;
}
int main(void) {
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    sigaction(SIGSEGV, &action, 0);
    char *place = mmap((void *)0x2000000000, 3 << 12, PROT_READ | PROT_WRITE | PROT_EXEC,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == MAP_FAILED || mprotect(place + 8192, 4096, PROT_NONE)) return 1;
    memcpy(place, begin, end - begin);
    *(char **)(place + (data - begin) + 32) = place + (helper - begin);
    *(char **)(place + (data - begin) + 56) = place + (landing - begin);
    unsigned long sum = 0;
    for (long i = 0; i < 300; i++) sum = sum * 31 + ((unsigned long (*)(long))place)(i);
    unsigned long *words = (unsigned long *)(place + (data - begin));
    printf("%lx %lu %lx %lx %lx %lx\n", sum, faults, words[0], words[1], words[2], words[6]);
    return 0;
}
"#;

#[test]
fn code_far_above_reaches_what_is_beside_it() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "far", &["-O1"], FAR);
    assert_same_output(folder.path(), "./far");
}

/// Reserves memory at an address, as the runtime of Haskell does: what is below 8 GB it frees, and asks again.
const RESERVES: &str = "#include <stdio.h>\n#include <sys/mman.h>\nint main(void) {\n\
    for (long i = 0; i < 5; i++) {\n\
    char *place = mmap((void *)(0x4200000000 + i * 4096), 1L << 29, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);\n\
    if (place >= (char *)(8L << 30)) { puts(\"above\"); return 0; }\n\
    munmap(place, 1L << 29); }\n\
    puts(\"never above\"); return 0; }\n";

#[test]
fn memory_that_is_asked_for_again_is_where_it_is_asked_for() {
    if !has_engine(&["cc"]) {
        return;
    }
    let folder = folder(&[]);
    compile(folder.path(), "reserves", &["-O1"], RESERVES);
    assert_eq!(assert_same_output(folder.path(), "./reserves"), "above\n");
}
