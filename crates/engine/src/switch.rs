//! The way into translated code and out of it.
//!
//! Everything of the program is saved: general registers, flags, the base of `fs`, vector registers. The engine runs with the base of
//! `fs` and the stack that it had, so the standard library works in it.
#![allow(unsafe_code)]

use std::arch::naked_asm;

use crate::state::{
    COST, EXIT, FLAGS, Frame, GUEST_FS, HANDLER, HAS_VECTOR, HOST_FS, HOST_RSP, KEPT, LEAVE, OWN_ADDRESS,
    PART_OF_COST, PENDING, RESUME, SHADOW, SPILL0, VECTORS,
};

/// Runs translated code from `resume` on, until the thread ends.
///
/// # Safety
///
/// The base of `gs` is a complete state, whose `resume` is translated code.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rax, rsp",
        "and rsp, -64",
        "sub rsp, 64",
        "mov [rsp], rax",
        "mov gs:[{host_rsp}], rsp",
        "rdfsbase rax",
        "mov gs:[{host_fs}], rax",
        "jmp {go_on}",
        host_rsp = const HOST_RSP,
        host_fs = const HOST_FS,
        go_on = sym go_on,
    )
}

/// Saves the program's state and calls the handler. Translated code jumps here.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn leave() -> ! {
    naked_asm!(
        "mov gs:[0], rax",
        "mov gs:[8], rcx",
        "mov gs:[16], rdx",
        "mov gs:[24], rbx",
        "mov gs:[32], rsp",
        "mov gs:[40], rbp",
        "mov gs:[48], rsi",
        "mov gs:[56], rdi",
        "mov gs:[64], r8",
        "mov gs:[72], r9",
        "mov gs:[80], r10",
        "mov gs:[88], r11",
        "mov gs:[96], r12",
        "mov gs:[104], r13",
        "mov gs:[112], r14",
        "mov gs:[120], r15",
        "mov rsp, gs:[{host_rsp}]",
        "pushfq",
        "pop qword ptr gs:[{flags}]",
        // Without alignment checks, and forward.
        "push 0x202",
        "popfq",
        "rdfsbase rax",
        "mov gs:[{guest_fs}], rax",
        "mov rax, gs:[{host_fs}]",
        "wrfsbase rax",
        "mov rax, gs:[{part_of_cost}]",
        "add gs:[{cost}], rax",
        "mov qword ptr gs:[{part_of_cost}], 0",
        "mov rdi, gs:[{own_address}]",
        "vmovdqa [rdi+{vectors}], ymm0",
        "vmovdqa [rdi+{vectors}+32], ymm1",
        "vmovdqa [rdi+{vectors}+64], ymm2",
        "vmovdqa [rdi+{vectors}+96], ymm3",
        "vmovdqa [rdi+{vectors}+128], ymm4",
        "vmovdqa [rdi+{vectors}+160], ymm5",
        "vmovdqa [rdi+{vectors}+192], ymm6",
        "vmovdqa [rdi+{vectors}+224], ymm7",
        "vmovdqa [rdi+{vectors}+256], ymm8",
        "vmovdqa [rdi+{vectors}+288], ymm9",
        "vmovdqa [rdi+{vectors}+320], ymm10",
        "vmovdqa [rdi+{vectors}+352], ymm11",
        "vmovdqa [rdi+{vectors}+384], ymm12",
        "vmovdqa [rdi+{vectors}+416], ymm13",
        "vmovdqa [rdi+{vectors}+448], ymm14",
        "vmovdqa [rdi+{vectors}+480], ymm15",
        "vzeroupper",
        "cmp qword ptr gs:[{has_vector}], 0",
        "je 2f",
        "vmovq gs:[{cost}], xmm16",
        "vmovq gs:[{spill0}], xmm18",
        "vmovq gs:[{kept}], xmm19",
        "vmovq gs:[{shadow}], xmm20",
        "2:",
        "mov esi, gs:[{exit}]",
        "call qword ptr gs:[{handler}]",
        "test eax, eax",
        "je {go_on}",
        // The thread has ended: its state may be another one's already.
        "mov rsp, [rsp]",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
        host_rsp = const HOST_RSP,
        flags = const FLAGS,
        guest_fs = const GUEST_FS,
        host_fs = const HOST_FS,
        own_address = const OWN_ADDRESS,
        vectors = const VECTORS,
        has_vector = const HAS_VECTOR,
        cost = const COST,
        part_of_cost = const PART_OF_COST,
        spill0 = const SPILL0,
        kept = const KEPT,
        shadow = const SHADOW,
        exit = const EXIT,
        handler = const HANDLER,
        go_on = sym go_on,
    )
}

/// Loads the program's state and goes on with translated code.
#[unsafe(naked)]
unsafe extern "C" fn go_on() -> ! {
    naked_asm!(
        "cmp qword ptr gs:[{has_vector}], 0",
        "je 2f",
        "vmovq xmm16, gs:[{cost}]",
        "vmovq xmm18, gs:[{spill0}]",
        "vmovq xmm19, gs:[88]",
        "vmovq xmm20, gs:[{shadow}]",
        // What counts calls: a 1 in the upper half, and the mask of the lower one.
        "mov eax, 1",
        "kmovw k1, eax",
        "vpbroadcastq xmm21, rax",
        // The numbers from 1 to 9, and the length of a frame.
        "vmovdqa64 xmm22, xmm21",
        "vpaddq xmm23, xmm22, xmm21",
        "vpaddq xmm24, xmm23, xmm21",
        "vpaddq xmm25, xmm24, xmm21",
        "vpaddq xmm26, xmm25, xmm21",
        "vpaddq xmm27, xmm26, xmm21",
        "vpaddq xmm28, xmm27, xmm21",
        "vpaddq xmm29, xmm28, xmm21",
        "vpaddq xmm30, xmm29, xmm21",
        "mov eax, {frame_bytes}",
        "vpbroadcastq xmm31, rax",
        "2:",
        "mov rdi, gs:[{own_address}]",
        "vmovdqa ymm0, [rdi+{vectors}]",
        "vmovdqa ymm1, [rdi+{vectors}+32]",
        "vmovdqa ymm2, [rdi+{vectors}+64]",
        "vmovdqa ymm3, [rdi+{vectors}+96]",
        "vmovdqa ymm4, [rdi+{vectors}+128]",
        "vmovdqa ymm5, [rdi+{vectors}+160]",
        "vmovdqa ymm6, [rdi+{vectors}+192]",
        "vmovdqa ymm7, [rdi+{vectors}+224]",
        "vmovdqa ymm8, [rdi+{vectors}+256]",
        "vmovdqa ymm9, [rdi+{vectors}+288]",
        "vmovdqa ymm10, [rdi+{vectors}+320]",
        "vmovdqa ymm11, [rdi+{vectors}+352]",
        "vmovdqa ymm12, [rdi+{vectors}+384]",
        "vmovdqa ymm13, [rdi+{vectors}+416]",
        "vmovdqa ymm14, [rdi+{vectors}+448]",
        "vmovdqa ymm15, [rdi+{vectors}+480]",
        "mov rax, gs:[{guest_fs}]",
        "wrfsbase rax",
        "push qword ptr gs:[{flags}]",
        "popfq",
        "mov rax, gs:[0]",
        "mov rcx, gs:[8]",
        "mov rdx, gs:[16]",
        "mov rbx, gs:[24]",
        "mov rsp, gs:[32]",
        "mov rbp, gs:[40]",
        "mov rsi, gs:[48]",
        "mov rdi, gs:[56]",
        "mov r8, gs:[64]",
        "mov r9, gs:[72]",
        "mov r10, gs:[80]",
        "mov r11, gs:[88]",
        "mov gs:[{kept}], r11",
        "mov r12, gs:[96]",
        "mov r13, gs:[104]",
        "mov r14, gs:[112]",
        "mov r15, gs:[120]",
        "jmp qword ptr gs:[{resume}]",
        ".globl gristmill_engine_go_on_end",
        ".hidden gristmill_engine_go_on_end",
        "gristmill_engine_go_on_end:",
        own_address = const OWN_ADDRESS,
        vectors = const VECTORS,
        guest_fs = const GUEST_FS,
        has_vector = const HAS_VECTOR,
        cost = const COST,
        spill0 = const SPILL0,
        kept = const KEPT,
        shadow = const SHADOW,
        frame_bytes = const Frame::BYTES,
        flags = const FLAGS,
        resume = const RESUME,
    )
}

/// Returns the address of [`leave`].
pub(crate) fn leave_address() -> u64 {
    leave as *const () as u64
}

/// Gives the thread of the process the memory of a thread of the program.
///
/// # Safety
///
/// There is a state at the address, and no other thread has it.
pub(crate) unsafe fn set_thread(address: u64) {
    // SAFETY: neither Rust nor the C library use the base of `gs`.
    unsafe {
        std::arch::asm!("wrgsbase {}", in(reg) address, options(nostack, preserves_flags));
    }
}

/// Runs translated code until the thread ends.
///
/// # Safety
///
/// The thread has a state, whose `resume` is translated code, and whose `handler` takes a state and an exit.
pub(crate) unsafe fn run() {
    // SAFETY: the caller has set the state.
    unsafe { enter() };
}

/// The result of a system call that a signal kept from being made, or that will be made again.
pub(crate) const RESTART: i64 = -512;

/// Makes a system call of the program, unless a signal waits. Between the look for a signal and the call, the
/// handler of signals ends it.
///
/// # Safety
///
/// As the call.
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn program_call(number: u64, arguments: *const [u64; 6]) -> i64 {
    naked_asm!(
        "mov rax, rdi",
        "mov r11, rsi",
        "mov rdi, [r11]",
        "mov rsi, [r11+8]",
        "mov rdx, [r11+16]",
        "mov r10, [r11+24]",
        "mov r8, [r11+32]",
        "mov r9, [r11+40]",
        ".globl gristmill_engine_call_check",
        ".hidden gristmill_engine_call_check",
        "gristmill_engine_call_check:",
        "cmp qword ptr gs:[{pending}], 0",
        "jne 2f",
        ".globl gristmill_engine_call",
        ".hidden gristmill_engine_call",
        "gristmill_engine_call:",
        "syscall",
        ".globl gristmill_engine_call_end",
        ".hidden gristmill_engine_call_end",
        "gristmill_engine_call_end:",
        "ret",
        "2:",
        "mov rax, {restart}",
        "ret",
        pending = const PENDING,
        restart = const RESTART,
    )
}

unsafe extern "C" {
    static gristmill_engine_go_on_end: u8;
    static gristmill_engine_call_check: u8;
    static gristmill_engine_call: u8;
    static gristmill_engine_call_end: u8;
}

/// Code that a signal can interrupt and that the handler of signals must know.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place {
    /// On the way into translated code.
    GoingOn,
    /// The first instruction on the way out.
    Leaving,
    /// Before a system call, or in one that the kernel makes again.
    Call,
    Elsewhere,
}

/// Tells where an instruction of the engine is.
pub(crate) fn place(address: u64) -> Place {
    let start = go_on as *const () as u64;
    let end = &raw const gristmill_engine_go_on_end as u64;
    let (check, call) =
        (&raw const gristmill_engine_call_check as u64, &raw const gristmill_engine_call as u64);
    if (start..end).contains(&address) {
        Place::GoingOn
    } else if address == leave_address() {
        Place::Leaving
    } else if (check..=call).contains(&address) {
        Place::Call
    } else {
        Place::Elsewhere
    }
}

/// Returns where a system call of the program ends.
pub(crate) fn call_end() -> u64 {
    &raw const gristmill_engine_call_end as u64
}

const _: () = assert!(LEAVE > 0);
