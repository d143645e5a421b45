//! The cost, the end of the shadow stack, and registers that are spilled: they change most often while translated code runs.

use super::{Asm, Mem, RCX, RDX, Reg};
use crate::state::{COST, Frame, PART_OF_COST, SHADOW, SPILL0, SPILL1};

/// The place of what changes most often while translated code runs: the cost of a thread, the end of its shadow stack, and registers that
/// are spilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HotPlace {
    /// Words of the state.
    Memory,
    /// Vector registers that the program does not know of: an addition takes one cycle, and none of the flags. The numbers from 0 are at
    /// an address.
    Vector { numbers: u32 },
}

/// The words that together are the cost if it is in memory.
const COST_WORD: Mem = Mem::State(COST);
const OTHER_COST_WORD: Mem = Mem::State(PART_OF_COST);

/// A vector register that the program does not know of, by its distance from `xmm16`. They are loaded and stored where translated code is
/// entered and left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hidden(u8);

const COST_VECTOR: Hidden = Hidden(0);
/// It is free between instructions of the program.
const FREE_VECTOR: Hidden = Hidden(1);
const RCX_VECTOR: Hidden = Hidden(2);
const RDX_VECTOR: Hidden = Hidden(3);
const SHADOW_VECTOR: Hidden = Hidden(4);
/// The upper half is 1. The lower one is free, and the only one that the mask `k1` has.
const ONE_VECTOR: Hidden = Hidden(5);
/// The first of those that have the numbers from 1.
const NUMBER_VECTOR: Hidden = Hidden(6);
const NUMBER_VECTORS: u16 = 9;
/// The length of a frame of the shadow stack.
const FRAME_VECTOR: Hidden = Hidden(15);

/// The opcodes of additions and subtractions of vectors.
const VPADDQ: u8 = 0xd4;
const VPSUBQ: u8 = 0xfb;

impl Asm {
    /// `true` if what changes most often is in vector registers.
    pub(crate) fn has_vectors(&self) -> bool {
        self.hot_place != HotPlace::Memory
    }

    /// `vpaddq vector, vector, other`, or `vpsubq`.
    fn with_vector(&mut self, opcode: u8, vector: Hidden, other: Hidden) {
        let prefix = if other.0 < 8 { 0xa1 } else { 0x81 };
        let registers = 0xc0 | vector.0 << 3 | other.0 & 7;
        self.raw(&[0x62, prefix, first_source(vector), 0, opcode, registers]);
    }

    /// `vmovq vector, reg`
    fn set_vector(&mut self, vector: Hidden, reg: Reg) {
        self.raw(&[0x62, 0xe1, 0xfd, 0x08, 0x6e, 0xc0 | vector.0 << 3 | reg.0]);
    }

    /// `vmovq reg, vector`
    fn load_vector(&mut self, reg: Reg, vector: Hidden) {
        self.raw(&[0x62, 0xe1, 0xfd, 0x08, 0x7e, 0xc0 | vector.0 << 3 | reg.0]);
    }

    /// Adds the cost of a block. Changes the flags, or instead a register.
    pub(crate) fn add_cost(&mut self, value: u16, block: u32, changed: Option<Reg>) {
        match (self.hot_place, changed) {
            (HotPlace::Vector { .. }, _) if (1..=NUMBER_VECTORS).contains(&value) => {
                let number = Hidden(NUMBER_VECTOR.0 + value as u8 - 1);
                self.with_vector(VPADDQ, COST_VECTOR, number);
            }
            (HotPlace::Vector { numbers }, _) => {
                // vpaddq xmm16, xmm16, [number]{1to2}
                self.raw(&[0x62, 0xe1, first_source(COST_VECTOR), 0x10, VPADDQ, 0x04, 0x25]);
                self.imm32(numbers + 8 * u32::from(value));
            }
            (HotPlace::Memory, _) => {
                // Blocks that follow on each other were mostly translated so.
                let word = if block.is_multiple_of(2) { COST_WORD } else { OTHER_COST_WORD };
                match changed {
                    Some(reg) => self.add_without_flags(reg, word, value.into()),
                    None => self.add_to(word, value.into()),
                }
            }
        }
    }

    /// Loads the cost to `rcx` if it is in memory. Changes `rdx`, and no flags.
    pub(crate) fn load_cost(&mut self) {
        if self.has_vectors() {
            return;
        }
        self.load(RCX, COST_WORD);
        self.load(RDX, OTHER_COST_WORD);
        self.lea_sum(RCX, RCX, RDX, 0);
    }

    /// Adds `rcx` to the cost, with `rax`, and leaves the flags.
    pub(crate) fn add_rcx_to_cost(&mut self) {
        match self.hot_place {
            HotPlace::Vector { .. } => {
                self.set_vector(FREE_VECTOR, RCX);
                self.with_vector(VPADDQ, COST_VECTOR, FREE_VECTOR);
            }
            HotPlace::Memory => self.add_rcx_to(COST_WORD),
        }
    }

    /// Keeps `rcx` or `rdx`, until it is restored.
    pub(crate) fn spill(&mut self, reg: Reg) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.set_vector(vector_of(reg), reg),
            HotPlace::Memory => self.store(spill_of(reg), reg),
        }
    }

    /// Restores `rcx` or `rdx`.
    pub(crate) fn restore(&mut self, reg: Reg) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.load_vector(reg, vector_of(reg)),
            HotPlace::Memory => self.load(reg, spill_of(reg)),
        }
    }

    /// Loads the end of the shadow stack.
    pub(crate) fn load_shadow(&mut self, reg: Reg) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.load_vector(reg, SHADOW_VECTOR),
            HotPlace::Memory => self.load(reg, Mem::State(SHADOW)),
        }
    }

    /// Adds a frame to the shadow stack, whose end is in `rdx`. Changes `rcx` if that is in memory.
    pub(crate) fn add_frame(&mut self) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.with_vector(VPADDQ, SHADOW_VECTOR, FRAME_VECTOR),
            HotPlace::Memory => {
                self.lea(RCX, RDX, i32::from(Frame::BYTES));
                self.store(Mem::State(SHADOW), RCX);
            }
        }
    }

    /// Takes a frame off the shadow stack, whose end is in `rdx`. Changes `rcx` if that is in memory.
    pub(crate) fn remove_frame(&mut self) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.with_vector(VPSUBQ, SHADOW_VECTOR, FRAME_VECTOR),
            HotPlace::Memory => {
                self.lea(RCX, RDX, -i32::from(Frame::BYTES));
                self.store(Mem::State(SHADOW), RCX);
            }
        }
    }

    /// Stores the cost, after [`Asm::load_cost`], to `[rdx + displacement]`.
    pub(crate) fn store_cost(&mut self, displacement: i8) {
        match self.hot_place {
            // vmovq [rdx + displacement], xmm16
            HotPlace::Vector { .. } => {
                self.raw(&[0x62, 0xe1, 0xfd, 0x08, 0x7e, 0x40 | RDX.0, in_eights(displacement)]);
            }
            HotPlace::Memory => self.store(Mem::Base(RDX, displacement), RCX),
        }
    }

    /// Adds the cost since that at `[rdx + displacement]` to a number of the thread, and 1 to the one behind it. If the cost is in memory, it
    /// changes `rcx`, and the flags or `rdx`.
    pub(crate) fn add_call(&mut self, offset: i32, displacement: i8, keeps_flags: bool) {
        let (cost, count) = (Mem::State(offset), Mem::State(offset + 8));
        if self.has_vectors() {
            // vpsubq xmm21{k1}, xmm16, [rdx + displacement]{1to2}
            let (one, free) = (ONE_VECTOR.0 << 3, FREE_VECTOR.0 << 3);
            let source = first_source(COST_VECTOR);
            self.raw(&[0x62, 0xe1, source, 0x11, VPSUBQ, 0x40 | one | RDX.0, in_eights(displacement)]);
            // vpaddq xmm17, xmm21, gs:[cost]; vmovdqu64 gs:[cost], xmm17
            self.raw(&[0x65, 0x62, 0xe1, first_source(ONE_VECTOR), 0, VPADDQ, 0x04 | free, 0x25]);
            self.imm32(offset as u32);
            self.raw(&[0x65, 0x62, 0xe1, 0xfe, 0x08, 0x7f, 0x04 | free, 0x25]);
            self.imm32(offset as u32);
        } else if keeps_flags {
            // −x is the complement of x, plus 1.
            self.load(RCX, Mem::Base(RDX, displacement));
            self.not(RCX);
            self.load(RDX, COST_WORD);
            self.lea_sum(RCX, RCX, RDX, 1);
            self.load(RDX, OTHER_COST_WORD);
            self.lea_sum(RCX, RCX, RDX, 0);
            self.load(RDX, cost);
            self.lea_sum(RDX, RDX, RCX, 0);
            self.store(cost, RDX);
            self.add_without_flags(RCX, count, 1);
        } else {
            self.load(RCX, COST_WORD);
            self.with_mem(0x03, RCX, OTHER_COST_WORD);
            self.with_mem(0x2b, RCX, Mem::Base(RDX, displacement));
            self.with_mem(0x01, RCX, cost);
            self.add_to(count, 1);
        }
    }
}

/// Returns the byte of a prefix that names the first source of an operation of 64 bits.
fn first_source(vector: Hidden) -> u8 {
    0x85 | (!vector.0 & 0xf) << 3
}

/// Returns a displacement as an instruction for vectors has it.
fn in_eights(displacement: i8) -> u8 {
    debug_assert!(displacement % 8 == 0);
    (displacement / 8) as u8
}

fn vector_of(reg: Reg) -> Hidden {
    if reg == RCX { RCX_VECTOR } else { RDX_VECTOR }
}

fn spill_of(reg: Reg) -> Mem {
    Mem::State(if reg == RCX { SPILL0 } else { SPILL1 })
}
