//! The cost, the end of the shadow stack, and registers that are spilled or kept: they change most often while translated code runs.

use super::{Asm, Mem, RCX, Reg, SCRATCH};
use crate::state::{COST, Frame, KEPT, PART_OF_COST, SHADOW, SPILL0};

/// The place of what changes most often while translated code runs: the cost of a thread, the end of its shadow stack, and registers that
/// are spilled or kept.
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
const KEPT_VECTOR: Hidden = Hidden(3);
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
        self.raw(&[0x62, with_general(reg), 0xfd, 0x08, 0x6e, 0xc0 | vector.0 << 3 | reg.0 & 7]);
    }

    /// `vmovq reg, vector`
    fn load_vector(&mut self, reg: Reg, vector: Hidden) {
        self.raw(&[0x62, with_general(reg), 0xfd, 0x08, 0x7e, 0xc0 | vector.0 << 3 | reg.0 & 7]);
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

    /// Loads the cost to `rcx` if it is in memory. Changes the scratch register, and no flags.
    pub(crate) fn load_cost(&mut self) {
        if self.has_vectors() {
            return;
        }
        self.load(RCX, COST_WORD);
        self.load(SCRATCH, OTHER_COST_WORD);
        self.lea_sum(RCX, RCX, SCRATCH, 0);
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

    /// Copies a register to its place: a vector, or a word of the state.
    fn put_aside(&mut self, reg: Reg, vector: Hidden, word: i32) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.set_vector(vector, reg),
            HotPlace::Memory => self.store(Mem::State(word), reg),
        }
    }

    /// Loads a register from its place.
    fn take_back(&mut self, reg: Reg, vector: Hidden, word: i32) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.load_vector(reg, vector),
            HotPlace::Memory => self.load(reg, Mem::State(word)),
        }
    }

    /// Keeps `rcx`, until it is restored.
    pub(crate) fn spill_rcx(&mut self) {
        self.put_aside(RCX, RCX_VECTOR, SPILL0);
    }

    /// Restores `rcx`.
    pub(crate) fn restore_rcx(&mut self) {
        self.take_back(RCX, RCX_VECTOR, SPILL0);
    }

    /// Keeps what an instruction of the program has written to the scratch register.
    pub(crate) fn keep_scratch(&mut self) {
        self.put_aside(SCRATCH, KEPT_VECTOR, KEPT);
    }

    /// Gives the scratch register back to the program.
    pub(crate) fn restore_scratch(&mut self) {
        self.take_back(SCRATCH, KEPT_VECTOR, KEPT);
    }

    /// Loads the end of the shadow stack.
    pub(crate) fn load_shadow(&mut self, reg: Reg) {
        self.take_back(reg, SHADOW_VECTOR, SHADOW);
    }

    /// Adds a frame to the shadow stack, whose end is in the scratch register. Changes `rcx` if that is in memory.
    pub(crate) fn add_frame(&mut self) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.with_vector(VPADDQ, SHADOW_VECTOR, FRAME_VECTOR),
            HotPlace::Memory => {
                self.lea(RCX, SCRATCH, i32::from(Frame::BYTES));
                self.store(Mem::State(SHADOW), RCX);
            }
        }
    }

    /// Takes a frame off the shadow stack, whose end is in the scratch register. Changes `rcx` if that is in memory.
    pub(crate) fn remove_frame(&mut self) {
        match self.hot_place {
            HotPlace::Vector { .. } => self.with_vector(VPSUBQ, SHADOW_VECTOR, FRAME_VECTOR),
            HotPlace::Memory => {
                self.lea(RCX, SCRATCH, -i32::from(Frame::BYTES));
                self.store(Mem::State(SHADOW), RCX);
            }
        }
    }

    /// Stores the cost, after [`Asm::load_cost`], to a displacement from the scratch register.
    pub(crate) fn store_cost(&mut self, displacement: i8) {
        match self.hot_place {
            // vmovq [r11 + displacement], xmm16
            HotPlace::Vector { .. } => {
                let operands = 0x40 | SCRATCH.0 & 7;
                self.raw(&[0x62, with_general(SCRATCH), 0xfd, 0x08, 0x7e, operands, in_eights(displacement)]);
            }
            HotPlace::Memory => self.store(Mem::Base(SCRATCH, displacement), RCX),
        }
    }

    /// Adds the cost since that at a displacement from the scratch register to a number of the thread, and 1 to the one behind it. If the cost
    /// is in memory, it changes `rcx`, and the flags or the scratch register.
    pub(crate) fn add_call(&mut self, offset: i32, displacement: i8, keeps_flags: bool) {
        let (cost, count) = (Mem::State(offset), Mem::State(offset + 8));
        if self.has_vectors() {
            // vpsubq xmm21{k1}, xmm16, [r11 + displacement]{1to2}
            let (one, free) = (ONE_VECTOR.0 << 3, FREE_VECTOR.0 << 3);
            let (prefix, source) = (with_general(SCRATCH), first_source(COST_VECTOR));
            let operands = 0x40 | one | SCRATCH.0 & 7;
            self.raw(&[0x62, prefix, source, 0x11, VPSUBQ, operands, in_eights(displacement)]);
            // vpaddq xmm17, xmm21, gs:[cost]; vmovdqu64 gs:[cost], xmm17
            self.raw(&[0x65, 0x62, 0xe1, first_source(ONE_VECTOR), 0, VPADDQ, 0x04 | free, 0x25]);
            self.imm32(offset as u32);
            self.raw(&[0x65, 0x62, 0xe1, 0xfe, 0x08, 0x7f, 0x04 | free, 0x25]);
            self.imm32(offset as u32);
        } else if keeps_flags {
            // −x is the complement of x, plus 1.
            self.load(RCX, Mem::Base(SCRATCH, displacement));
            self.not(RCX);
            self.load(SCRATCH, COST_WORD);
            self.lea_sum(RCX, RCX, SCRATCH, 1);
            self.load(SCRATCH, OTHER_COST_WORD);
            self.lea_sum(RCX, RCX, SCRATCH, 0);
            self.load(SCRATCH, cost);
            self.lea_sum(SCRATCH, SCRATCH, RCX, 0);
            self.store(cost, SCRATCH);
            self.add_without_flags(RCX, count, 1);
        } else {
            self.load(RCX, COST_WORD);
            self.with_mem(0x03, RCX, OTHER_COST_WORD);
            self.with_mem(0x2b, RCX, Mem::Base(SCRATCH, displacement));
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

/// Returns the byte of a prefix for one of the hidden vectors up to the eighth, and a general register.
fn with_general(reg: Reg) -> u8 {
    if reg.0 < 8 { 0xe1 } else { 0xc1 }
}
