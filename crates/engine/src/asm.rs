//! A small assembler: the few instructions that are added to those of the program.
//!
//! None of those that count changes the flags, except where the caller knows that the program does not need them.

use crate::state::{Frame, RETURNED_FLAGS, SPILL1};

mod hot;

pub(crate) use hot::HotPlace;

/// A general register by its number in encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reg(pub(crate) u8);

pub(crate) const RAX: Reg = Reg(0);
pub(crate) const RCX: Reg = Reg(1);
pub(crate) const RDX: Reg = Reg(2);
pub(crate) const RSP: Reg = Reg(4);
/// `r11`, which compilers use least. What the program has in it is kept at another place whenever an instruction changes it, so added code
/// changes it and restores it. To spill it first would make each use wait for the one before.
pub(crate) const SCRATCH: Reg = Reg(11);

/// A memory operand of 64 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Mem {
    /// An offset in the memory of the thread, `gs:[offset]`.
    State(i32),
    /// A register and a displacement; not `rsp`, `r12`, `rbp` or `r13`.
    Base(Reg, i8),
    /// `[rsp]`
    StackTop,
}

/// A condition by its number in encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition(u8);

pub(crate) const BELOW: Condition = Condition(2);
pub(crate) const NOT_EQUAL: Condition = Condition(5);

/// Bytes of code for a known address.
#[derive(Debug)]
pub(crate) struct Asm {
    base: u64,
    bytes: Vec<u8>,
    hot_place: HotPlace,
}

/// A short jump whose target follows.
#[derive(Debug)]
#[must_use]
pub(crate) struct ShortJump(usize);

impl Asm {
    pub(crate) fn new(base: u64, hot_place: HotPlace) -> Asm {
        Asm { base, bytes: Vec::with_capacity(512), hot_place }
    }

    /// Adds `rcx` to a number, with `rax`, and leaves the flags.
    pub(crate) fn add_rcx_to(&mut self, mem: Mem) {
        self.load(RAX, mem);
        self.lea_sum(RAX, RAX, RCX, 0);
        self.store(mem, RAX);
    }

    /// Returns the address of the next byte.
    pub(crate) fn here(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Returns how many bytes there are so far.
    pub(crate) fn offset(&self) -> u16 {
        self.bytes.len() as u16
    }

    pub(crate) fn base(&self) -> u64 {
        self.base
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// `push value`, sign-extended.
    pub(crate) fn push_value(&mut self, value: i32) {
        self.raw(&[0x68]);
        self.imm32(value as u32);
    }

    /// `pop reg`, for the upper eight registers.
    pub(crate) fn pop(&mut self, reg: Reg) {
        self.raw(&[0x41, 0x58 | reg.0 & 7]);
    }

    /// `cmp qword mem, reg`
    pub(crate) fn compare(&mut self, mem: Mem, reg: Reg) {
        self.with_mem(0x39, reg, mem);
    }

    /// `cmp qword mem, value`, sign-extended.
    pub(crate) fn compare_with(&mut self, mem: Mem, value: i32) {
        self.with_mem(0x81, Reg(7), mem);
        self.imm32(value as u32);
    }

    /// `cmp byte gs:[offset], value`
    pub(crate) fn compare_byte_with(&mut self, offset: i32, value: u8) {
        self.raw(&[0x65, 0x80, 0x3c, 0x25]);
        self.imm32(offset as u32);
        self.raw(&[value]);
    }

    /// `mov byte gs:[offset], value`
    pub(crate) fn store_byte(&mut self, offset: i32, value: u8) {
        self.raw(&[0x65, 0xc6, 0x04, 0x25]);
        self.imm32(offset as u32);
        self.raw(&[value]);
    }

    /// `movzx r32, byte gs:[offset]`, for the first eight registers.
    pub(crate) fn load_byte(&mut self, to: Reg, offset: i32) {
        self.raw(&[0x65, 0x0f, 0xb6, 0x04 | to.0 << 3, 0x25]);
        self.imm32(offset as u32);
    }

    fn imm32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    /// Replaces 4 bytes that are written already.
    pub(crate) fn replace32(&mut self, at: u64, value: u32) {
        let start = (at - self.base) as usize;
        self.bytes[start..start + 4].copy_from_slice(&value.to_le_bytes());
    }

    fn modrm(&mut self, reg: u8, mem: Mem) {
        let reg = (reg & 7) << 3;
        match mem {
            Mem::State(offset) => {
                self.raw(&[0x04 | reg, 0x25]);
                self.imm32(offset as u32);
            }
            Mem::Base(base, displacement) => self.raw(&[0x40 | reg | (base.0 & 7), displacement as u8]),
            Mem::StackTop => self.raw(&[0x04 | reg, 0x24]),
        }
    }

    fn with_mem(&mut self, opcode: u8, reg: Reg, mem: Mem) {
        if let Mem::State(_) = mem {
            self.raw(&[0x65]);
        }
        let base = if let Mem::Base(base, _) = mem { base.0 >> 3 } else { 0 };
        self.raw(&[0x48 | ((reg.0 >> 3) << 2) | base, opcode]);
        self.modrm(reg.0, mem);
    }

    pub(crate) fn load(&mut self, reg: Reg, mem: Mem) {
        self.with_mem(0x8b, reg, mem);
    }

    pub(crate) fn store(&mut self, mem: Mem, reg: Reg) {
        self.with_mem(0x89, reg, mem);
    }

    /// `mov qword mem, value`, sign-extended.
    pub(crate) fn store_value(&mut self, mem: Mem, value: i32) {
        self.with_mem(0xc7, Reg(0), mem);
        self.imm32(value as u32);
    }

    /// `add qword mem, value`. Changes the flags.
    pub(crate) fn add_to(&mut self, mem: Mem, value: i32) {
        match i8::try_from(value) {
            Ok(value) => {
                self.with_mem(0x83, Reg(0), mem);
                self.raw(&[value as u8]);
            }
            Err(_) => {
                self.with_mem(0x81, Reg(0), mem);
                self.imm32(value as u32);
            }
        }
    }

    /// `inc qword mem`. Changes the flags.
    pub(crate) fn increment(&mut self, mem: Mem) {
        self.with_mem(0xff, Reg(0), mem);
    }

    /// Adds to a number with a register, and leaves the flags.
    pub(crate) fn add_without_flags(&mut self, reg: Reg, mem: Mem, value: i32) {
        self.load(reg, mem);
        self.lea(reg, reg, value);
        self.store(mem, reg);
    }

    /// `mov r32, value`
    pub(crate) fn set(&mut self, to: Reg, value: u32) {
        self.raw(&[0x40 | to.0 >> 3, 0xb8 | to.0 & 7]);
        self.imm32(value);
    }

    /// `mov r64, value`
    pub(crate) fn set64(&mut self, to: Reg, value: u64) {
        self.raw(&[0x48 | to.0 >> 3, 0xb8 | to.0 & 7]);
        self.raw(&value.to_le_bytes());
    }

    /// Loads 8, 4, 2 or 1 bytes at an address. The others of the register become 0.
    pub(crate) fn load_bytes(&mut self, to: Reg, address: u64, count: usize) {
        let is_near = i32::try_from(address).is_ok();
        if !is_near {
            self.set64(to, address);
        }
        let (high, low) = (to.0 >> 3, to.0 & 7);
        let wide = if count == 8 { 0x48 } else { 0x40 };
        self.raw(&[wide | high << 2 | if is_near { 0 } else { high }]);
        self.raw(match count {
            8 | 4 => &[0x8b],
            2 => &[0x0f, 0xb7],
            _ => &[0x0f, 0xb6],
        });
        if is_near {
            self.raw(&[0x04 | low << 3, 0x25]);
            self.imm32(address as u32);
        } else {
            self.raw(&[low << 3 | low]);
        }
    }

    /// `mov dword [rsp + 4], value`
    pub(crate) fn set_upper_half_of_top(&mut self, value: u32) {
        self.raw(&[0xc7, 0x44, 0x24, 0x04]);
        self.imm32(value);
    }

    pub(crate) fn not(&mut self, reg: Reg) {
        self.raw(&[0x48 | (reg.0 >> 3), 0xf7, 0xd0 | (reg.0 & 7)]);
    }

    /// `lea to, [base + displacement]`; the base is not `r12`.
    pub(crate) fn lea(&mut self, to: Reg, base: Reg, displacement: i32) {
        let modrm = |mode: u8| mode | ((to.0 & 7) << 3) | (base.0 & 7);
        self.raw(&[0x48 | ((to.0 >> 3) << 2) | base.0 >> 3, 0x8d]);
        match i8::try_from(displacement) {
            Ok(short) => {
                self.raw(&[modrm(0x40)]);
                if base == RSP {
                    self.raw(&[0x24]);
                }
                self.raw(&[short as u8]);
            }
            Err(_) => {
                self.raw(&[modrm(0x80)]);
                if base == RSP {
                    self.raw(&[0x24]);
                }
                self.imm32(displacement as u32);
            }
        }
    }

    /// `lea to, [base + index + displacement]`; the index is not `rsp`.
    pub(crate) fn lea_sum(&mut self, to: Reg, base: Reg, index: Reg, displacement: i8) {
        let prefix = 0x48 | ((to.0 >> 3) << 2) | ((index.0 >> 3) << 1) | base.0 >> 3;
        let operands = ((index.0 & 7) << 3) | base.0 & 7;
        self.raw(&[prefix, 0x8d, 0x44 | ((to.0 & 7) << 3), operands, displacement as u8]);
    }

    /// `shrx to, to, count` of 64 bits; `to` is among the first eight registers.
    pub(crate) fn shift_right(&mut self, to: Reg, count: Reg) {
        self.raw(&[0xc4, 0xe2, 0x83 | ((!count.0 & 0xf) << 3), 0xf7, 0xc0 | (to.0 << 3) | to.0]);
    }

    /// `pext to, to, mask` of 32 bits, for the first eight registers.
    pub(crate) fn extract_bits(&mut self, to: Reg, mask: Reg) {
        self.raw(&[0xc4, 0xe2, 0x02 | ((!mask.0 & 0xf) << 3), 0xf5, 0xc0 | (to.0 << 3) | mask.0]);
        // The first source is `vvvv`, the mask is `rm`.
        let at = self.bytes.len() - 3;
        self.bytes[at] = 0x02 | ((!to.0 & 0xf) << 3);
    }

    /// Jumps to a place that follows unless the stack pointer, and what is added to it, is above that of the frame of the shadow stack before
    /// the scratch register. Changes that and `rcx`, and no flags.
    pub(crate) fn jump_unless_stack_is_above(&mut self, added: i8) -> ShortJump {
        // The sign of the difference: −x is the complement of x − 1.
        self.load(RCX, Mem::Base(SCRATCH, -Frame::BYTES));
        self.not(RCX);
        self.lea_sum(RCX, RSP, RCX, added);
        self.not(RCX);
        self.set(SCRATCH, 63);
        self.shift_right(RCX, SCRATCH);
        self.jump_if_rcx_is_zero()
    }

    /// Jumps to a place that follows if `rcx` is 0.
    pub(crate) fn jump_if_rcx_is_zero(&mut self) -> ShortJump {
        self.raw(&[0xe3, 0]);
        ShortJump(self.bytes.len())
    }

    /// Ends a short jump here.
    pub(crate) fn land(&mut self, jump: ShortJump) {
        let distance = self.bytes.len() - jump.0;
        debug_assert!(distance < 128);
        self.bytes[jump.0 - 1] = distance as u8;
    }

    /// Lets the jump whose displacement is at an address, which has been written, lead here.
    pub(crate) fn land_here(&mut self, jump: u64) {
        let here = self.here();
        self.replace32(jump, displacement(jump, here));
    }

    /// Writes an instruction that does nothing if one is needed, so that a displacement behind this many bytes can be replaced while others
    /// run it.
    pub(crate) fn align_displacement(&mut self, bytes_before: usize) {
        let end = (self.here() as usize + bytes_before) % 8;
        if end > 4 {
            self.raw(NOTHING[8 - end]);
        }
    }

    /// Writes `jmp target`, which can be replaced as a whole, and returns the address of its displacement.
    pub(crate) fn replaceable_jump(&mut self, target: u64) -> u64 {
        let start = self.here() as usize % 8;
        if start > 3 {
            self.raw(NOTHING[8 - start]);
        }
        self.jump(target)
    }

    /// Writes `jmp target` and returns the address of its displacement.
    pub(crate) fn jump(&mut self, target: u64) -> u64 {
        self.raw(&[0xe9]);
        self.displacement_to(target)
    }

    /// Writes a conditional jump and returns the address of its displacement.
    pub(crate) fn jump_if(&mut self, condition: Condition, target: u64) -> u64 {
        self.raw(&[0x0f, 0x80 | condition.0]);
        self.displacement_to(target)
    }

    /// Writes a short conditional jump to code that is close before it.
    pub(crate) fn jump_back_if(&mut self, condition: Condition, target: u64) {
        let distance = i8::try_from(target as i64 - (self.here() as i64 + 2));
        debug_assert!(distance.is_ok_and(|distance| distance < 0));
        self.raw(&[0x70 | condition.0, distance.unwrap_or(0) as u8]);
    }

    /// Writes a displacement of 4 bytes to a target, and returns its address.
    pub(crate) fn displacement_to(&mut self, target: u64) -> u64 {
        let at = self.here();
        self.imm32(displacement(at, target));
        at
    }

    /// `jmp [base + displacement]`
    pub(crate) fn jump_through(&mut self, base: Reg, displacement: i8) {
        self.raw(&[0x40 | base.0 >> 3, 0xff, 0x60 | base.0 & 7, displacement as u8]);
    }

    /// Notes the flags of a return that takes some along.
    pub(crate) fn note_returned_flags(&mut self) {
        self.store(Mem::State(SPILL1), RAX);
        // lahf; seto al
        self.raw(&[0x9f, 0x0f, 0x90, 0xc0]);
        self.store(Mem::State(RETURNED_FLAGS), RAX);
        self.load(RAX, Mem::State(SPILL1));
    }

    /// Restores them.
    pub(crate) fn restore_returned_flags(&mut self) {
        self.store(Mem::State(SPILL1), RAX);
        self.load(RAX, Mem::State(RETURNED_FLAGS));
        // add al, 127, which overflows if al is 1; sahf
        self.raw(&[0x04, 0x7f, 0x9e]);
        self.load(RAX, Mem::State(SPILL1));
    }

    /// `jmp gs:[offset]`
    pub(crate) fn jump_through_state(&mut self, offset: i32) {
        self.raw(&[0x65, 0xff, 0x24, 0x25]);
        self.imm32(offset as u32);
    }

    /// `jmp [table + 8 * byte of hash]`, where the hash of `rcx` is made in the scratch register.
    pub(crate) fn jump_by_hash(&mut self, table: u32, byte: u8) {
        debug_assert!(byte < HASH_BYTES);
        self.set(SCRATCH, 0);
        // crc32 r11, rcx
        self.raw(&[0xf2, 0x4c, 0x0f, 0x38, 0xf1, 0xd9]);
        if byte > 0 {
            // rorx r11d, r11d, bits
            self.raw(&[0xc4, 0x43, 0x7b, 0xf0, 0xdb, 8 * byte]);
        }
        // movzx r11d, r11b; jmp [r11 * 8 + table]
        self.raw(&[0x45, 0x0f, 0xb6, 0xdb, 0x42, 0xff, 0x24, 0xdd]);
        self.imm32(table);
    }

    /// `mov dword gs:[offset], value`
    pub(crate) fn set_state32(&mut self, offset: i32, value: u32) {
        self.raw(&[0x65, 0xc7, 0x04, 0x25]);
        self.imm32(offset as u32);
        self.imm32(value);
    }
}

/// Instructions that do nothing, by their length: one takes less time than several that are shorter.
pub(crate) const NOTHING: [&[u8]; 9] = [
    &[],
    &[0x90],
    &[0x66, 0x90],
    &[0x0f, 0x1f, 0x00],
    &[0x0f, 0x1f, 0x40, 0x00],
    &[0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00],
    &[0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00],
    &[0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00],
];

/// Returns the displacement of a jump whose 4 bytes are at an address.
pub(crate) fn displacement(at: u64, target: u64) -> u32 {
    target.wrapping_sub(at + 4) as u32
}

/// The length of a hash.
pub(crate) const HASH_BYTES: u8 = 4;

/// Returns what `crc32` makes of a number, from 0.
pub(crate) fn hash(value: u64) -> u64 {
    let mut crc = value;
    for _ in 0..64 {
        crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
    }
    crc
}

#[cfg(test)]
mod tests;
