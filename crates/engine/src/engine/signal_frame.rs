//! The frame of a handler on the stack of the program, as the kernel makes it, and the way back from it with `rt_sigreturn`.
#![allow(unsafe_code)]

use std::arch::asm;

use linux_raw_sys::general as sys;

use super::master_handler::word;
use crate::address_space::AddressSpace;
use crate::raw;
use crate::state::State;

/// The saved vector registers: the legacy area, its header, and the upper halves.
const EXTENDED_BYTES: u64 = 832;
const UPPER_HALVES: u64 = 576;
const XMM: u64 = 160;

/// The offset at which the kernel describes the area, within its unused part.
const SOFTWARE_BYTES: u64 = 464;
const MAGIC1: u64 = 0x4650_5853;
const MAGIC2: u32 = 0x4650_5845;

/// Sizes of the frame: return address, `ucontext`, `siginfo`.
const CONTEXT_BYTES: u64 = 8 * word::COUNT as u64;
const DATA_BYTES: u64 = 128;

/// Flags of a `ucontext`: there is an extended area, and the stack segment is saved.
const CONTEXT_FLAGS: u64 = 1 | 2 | 4;

/// Segments of 64-bit programs: code, and stack in the upper 16 bits.
const SEGMENTS: u64 = 0x33 | 0x2b << 48;

/// The contents of a frame beside the registers.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) signal: u32,
    pub(crate) handler: u64,
    pub(crate) restorer: u64,
    pub(crate) pc: u64,
    /// The stack to begin with, and the address that the frame must be above: an alternative stack can be full.
    pub(crate) top: u64,
    pub(crate) bottom: u64,
    /// The alternative stack, as `sigaltstack` describes it.
    pub(crate) alternative: [u64; 3],
}

/// Writes a frame and sets the registers for the handler. `None` if the stack cannot be written.
pub(crate) fn push(state: &mut State, space: &AddressSpace, delivery: &Delivery) -> Option<()> {
    let area = (delivery.top - EXTENDED_BYTES - 4) & !63;
    let frame = ((area - (8 + CONTEXT_BYTES + DATA_BYTES)) & !15) - 8;
    let is_writable =
        |address: u64| space.protection(address).is_some_and(|protection| protection & sys::PROT_WRITE != 0);
    if frame <= delivery.bottom || !is_writable(frame) || !is_writable(delivery.top - 1) {
        return None;
    }
    let (context, data) = (frame + 8, frame + 8 + CONTEXT_BYTES);
    let mut words = [0u64; word::COUNT];
    words[0] = CONTEXT_FLAGS;
    words[word::STACK..word::STACK + 3].copy_from_slice(&delivery.alternative);
    for (index, register) in word::ORDER.iter().enumerate() {
        words[word::REGISTERS + index] = state.gpr[*register];
    }
    words[word::RIP] = delivery.pc;
    words[word::FLAGS] = state.flags;
    words[word::SEGMENTS] = SEGMENTS;
    words[word::ERROR] = state.fault[0];
    words[word::TRAP] = state.fault[1];
    words[26] = state.saved_mask;
    words[word::FAULT_ADDRESS] = state.fault[2];
    words[word::FLOATING_POINT] = area;
    words[word::MASK] = state.saved_mask;
    let bytes = |words: &[u64]| -> Vec<u8> { words.iter().flat_map(|word| word.to_ne_bytes()).collect() };
    // SAFETY: the stack is the program's, and mapped for writing.
    unsafe {
        raw::write64(frame, delivery.restorer);
        raw::write_bytes(context, &bytes(&words));
        raw::write_bytes(data, &bytes(&state.signal_data));
        save_vectors(state, area);
    }
    clear_vectors(state);
    state.gpr[4] = frame;
    state.gpr[7] = u64::from(delivery.signal);
    state.gpr[6] = data;
    state.gpr[2] = context;
    state.gpr[0] = 0;
    // Forward, without traps.
    state.flags &= !0x1_0500;
    Some(())
}

/// Writes x87 and vector registers to an area of the program.
///
/// # Safety
///
/// The area is aligned, is the program's, and is mapped for writing.
unsafe fn save_vectors(state: &State, area: u64) {
    // SAFETY: the engine does not use x87, so its registers are the program's; those of vectors are in the state.
    unsafe {
        asm!("fxsave64 [{}]", in(reg) area, options(nostack, preserves_flags));
        for (index, vector) in state.vectors.iter().enumerate() {
            let index = index as u64;
            raw::write64(area + XMM + 16 * index, vector[0]);
            raw::write64(area + XMM + 16 * index + 8, vector[1]);
            raw::write64(area + UPPER_HALVES + 16 * index, vector[2]);
            raw::write64(area + UPPER_HALVES + 16 * index + 8, vector[3]);
        }
        raw::write64(area + SOFTWARE_BYTES, MAGIC1 | (EXTENDED_BYTES + 4) << 32);
        raw::write64(area + SOFTWARE_BYTES + 8, u64::from(crate::cpuid::STATE_MASK));
        raw::write64(area + SOFTWARE_BYTES + 16, EXTENDED_BYTES);
        raw::write64(area + 512, u64::from(crate::cpuid::STATE_MASK));
        for offset in (520..UPPER_HALVES).step_by(8) {
            raw::write64(area + offset, 0);
        }
        raw::write_bytes(area + EXTENDED_BYTES, &MAGIC2.to_ne_bytes());
    }
}

/// Gives the handler x87 and vector registers as a program begins with them.
fn clear_vectors(state: &mut State) {
    state.vectors = Default::default();
    // SAFETY: the engine uses neither x87 nor this control register, so both are the program's.
    unsafe { asm!("fninit", "ldmxcsr [{}]", in(reg) &raw const FIRST_CONTROL, options(nostack)) };
}

/// The control register of vector instructions that a program begins with: no exception stops it.
static FIRST_CONTROL: u32 = 0x1f80;

/// The contents of a frame beside the registers, as the handler left them.
#[derive(Debug)]
pub(crate) struct Returned {
    pub(crate) pc: u64,
    pub(crate) mask: u64,
    pub(crate) alternative: [u64; 3],
}

/// Takes the registers back from the frame that the stack pointer is behind. `None` if it cannot be read.
pub(crate) fn pop(state: &mut State, space: &AddressSpace) -> Option<Returned> {
    let context = state.gpr[4];
    let is_readable =
        |address: u64| space.protection(address).is_some_and(|protection| protection & sys::PROT_READ != 0);
    if !is_readable(context) || !is_readable(context + CONTEXT_BYTES) {
        return None;
    }
    // SAFETY: the range is mapped for reading.
    let word = |index: usize| unsafe { raw::read64(context + 8 * index as u64) };
    for (index, register) in word::ORDER.iter().enumerate() {
        state.gpr[*register] = word(word::REGISTERS + index);
    }
    const CHANGEABLE: u64 = 0x4_0dd5;
    state.flags = state.flags & !CHANGEABLE | word(word::FLAGS) & CHANGEABLE;
    let area = word(word::FLOATING_POINT);
    if area != 0 && area % 16 == 0 && is_readable(area) && is_readable(area + EXTENDED_BYTES) {
        // SAFETY: as above; what is loaded to vector registers here is in the state as well.
        unsafe { load_vectors(state, area) };
    }
    let mut alternative = [0; 3];
    for (index, value) in alternative.iter_mut().enumerate() {
        *value = word(word::STACK + index);
    }
    Some(Returned { pc: word(word::RIP), mask: word(word::MASK), alternative })
}

/// Loads x87 registers, and those of vectors to the state.
///
/// # Safety
///
/// The area is aligned, and mapped for reading.
unsafe fn load_vectors(state: &mut State, area: u64) {
    // SAFETY: the caller gives the area; the registers that change are listed.
    unsafe {
        let is_extended =
            raw::read64(area + SOFTWARE_BYTES) as u32 == MAGIC1 as u32 && raw::read64(area + 512) & 4 != 0;
        for (index, vector) in state.vectors.iter_mut().enumerate() {
            let index = index as u64;
            vector[0] = raw::read64(area + XMM + 16 * index);
            vector[1] = raw::read64(area + XMM + 16 * index + 8);
            for half in 0..2 {
                let upper = raw::read64(area + UPPER_HALVES + 16 * index + 8 * half);
                vector[2 + half as usize] = if is_extended { upper } else { 0 };
            }
        }
        // A mask of exceptions that the processor does not know would be a fault.
        let mut copy = Aligned([0; 512]);
        copy.0.copy_from_slice(raw::bytes(area, 512));
        copy.0[26] = 0;
        copy.0[27] = 0;
        asm!(
            "fxrstor64 [{}]", in(reg) &raw const copy,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _,
            out("xmm6") _, out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
            out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
            options(nostack),
        );
    }
}

#[repr(align(16))]
struct Aligned([u8; 512]);
