//! A small assembler: the few instructions that are added to those of the program.
//!
//! None of those that count changes the flags, except where the caller knows that the program does not need them.

use crate::state::COST;

/// A general register by its number in encodings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Reg(pub(crate) u8);

pub(crate) const RAX: Reg = Reg(0);
pub(crate) const RCX: Reg = Reg(1);
pub(crate) const RDX: Reg = Reg(2);
pub(crate) const RSP: Reg = Reg(4);

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

/// The place of a thread's cost while translated code runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CostPlace {
    /// A word of the state.
    Memory,
    /// `xmm16`, which the program does not know of: an addition takes one cycle, and none of the flags. The numbers from 0 are at an
    /// address.
    Vector { numbers: u32 },
}

/// Bytes of code for a known address.
#[derive(Debug)]
pub(crate) struct Asm {
    base: u64,
    bytes: Vec<u8>,
    cost_place: CostPlace,
}

/// A short jump whose target follows.
#[derive(Debug)]
#[must_use]
pub(crate) struct ShortJump(usize);

impl Asm {
    pub(crate) fn new(base: u64, cost_place: CostPlace) -> Asm {
        Asm { base, bytes: Vec::with_capacity(512), cost_place }
    }

    /// Adds to the cost. Changes the flags, or with `rcx` not.
    pub(crate) fn add_cost(&mut self, value: u16, keeps_flags: bool) {
        match self.cost_place {
            CostPlace::Vector { numbers } => {
                // vpaddq xmm16, xmm16, [number]{1to2}
                self.raw(&[0x62, 0xe1, 0xfd, 0x10, 0xd4, 0x04, 0x25]);
                self.imm32(numbers + 8 * u32::from(value));
            }
            CostPlace::Memory if keeps_flags => self.add_without_flags(Mem::State(COST), value.into()),
            CostPlace::Memory => self.add_to(Mem::State(COST), value.into()),
        }
    }

    /// Adds `rcx` to the cost, with `rax`, and leaves the flags.
    pub(crate) fn add_rcx_to_cost(&mut self) {
        match self.cost_place {
            // vmovq xmm17, rcx; vpaddq xmm16, xmm16, xmm17
            CostPlace::Vector { .. } => {
                self.raw(&[0x62, 0xe1, 0xfd, 0x08, 0x6e, 0xc9]);
                self.raw(&[0x62, 0xa1, 0xfd, 0x00, 0xd4, 0xc1]);
            }
            CostPlace::Memory => self.add_rcx_to(Mem::State(COST)),
        }
    }

    /// Adds `rcx` to a number, with `rax`, and leaves the flags.
    pub(crate) fn add_rcx_to(&mut self, mem: Mem) {
        self.load(RAX, mem);
        self.lea_sum(RAX, RAX, RCX, 0);
        self.store(mem, RAX);
    }

    /// Loads the cost.
    pub(crate) fn load_cost(&mut self, reg: Reg) {
        match self.cost_place {
            // vmovq reg, xmm16
            CostPlace::Vector { .. } => self.raw(&[0x62, 0xe1, 0xfd, 0x08, 0x7e, 0xc0 | reg.0]),
            CostPlace::Memory => self.load(reg, Mem::State(COST)),
        }
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

    /// `sub reg, mem`. Changes the flags.
    pub(crate) fn subtract(&mut self, reg: Reg, mem: Mem) {
        self.with_mem(0x2b, reg, mem);
    }

    /// `add qword mem, reg`. Changes the flags.
    pub(crate) fn add_register_to(&mut self, mem: Mem, reg: Reg) {
        self.with_mem(0x01, reg, mem);
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

    /// Adds to a number with `rcx`, and leaves the flags.
    pub(crate) fn add_without_flags(&mut self, mem: Mem, value: i32) {
        self.load(RCX, mem);
        self.lea(RCX, RCX, value);
        self.store(mem, RCX);
    }

    pub(crate) fn copy(&mut self, to: Reg, from: Reg) {
        self.raw(&[0x48 | ((from.0 >> 3) << 2) | (to.0 >> 3), 0x89, 0xc0 | ((from.0 & 7) << 3) | (to.0 & 7)]);
    }

    /// `mov r32, value`
    pub(crate) fn set(&mut self, to: Reg, value: u32) {
        self.raw(&[0xb8 | to.0]);
        self.imm32(value);
    }

    pub(crate) fn not(&mut self, reg: Reg) {
        self.raw(&[0x48 | (reg.0 >> 3), 0xf7, 0xd0 | (reg.0 & 7)]);
    }

    /// `lea to, [base + displacement]`; the base is one of the first eight registers.
    pub(crate) fn lea(&mut self, to: Reg, base: Reg, displacement: i32) {
        let modrm = |mode: u8| mode | ((to.0 & 7) << 3) | (base.0 & 7);
        self.raw(&[0x48 | ((to.0 >> 3) << 2), 0x8d]);
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

    /// `lea to, [base + index + displacement]`, with registers among the first eight; the index is not `rsp`.
    pub(crate) fn lea_sum(&mut self, to: Reg, base: Reg, index: Reg, displacement: i8) {
        self.raw(&[0x48, 0x8d, 0x44 | (to.0 << 3), (index.0 << 3) | base.0, displacement as u8]);
    }

    /// `shrx to, to, count` of 64 bits, for the first eight registers.
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

    /// Writes instructions that do nothing, so that a displacement behind an opcode of N bytes can be replaced while others run it.
    pub(crate) fn align_displacement(&mut self, opcode_bytes: u64) {
        while (self.here() + opcode_bytes) % 8 > 4 {
            self.raw(&[0x90]);
        }
    }

    /// Writes `jmp target`, which can be replaced, and returns the address of its displacement.
    pub(crate) fn replaceable_jump(&mut self, target: u64) -> u64 {
        self.align_displacement(1);
        self.jump(target)
    }

    /// Writes `jmp target` and returns the address of its displacement.
    pub(crate) fn jump(&mut self, target: u64) -> u64 {
        self.raw(&[0xe9]);
        self.displacement_to(target)
    }

    /// Writes a displacement of 4 bytes to a target, and returns its address.
    pub(crate) fn displacement_to(&mut self, target: u64) -> u64 {
        let at = self.here();
        self.imm32(displacement(at, target));
        at
    }

    /// `jmp [base + displacement]`
    pub(crate) fn jump_through(&mut self, base: Reg, displacement: i8) {
        self.raw(&[0xff, 0x60 | base.0, displacement as u8]);
    }

    /// `jmp gs:[offset]`
    pub(crate) fn jump_through_state(&mut self, offset: i32) {
        self.raw(&[0x65, 0xff, 0x24, 0x25]);
        self.imm32(offset as u32);
    }

    /// `jmp [table + 8 * low byte of hash]`, where the hash of `rcx` is made in `rdx`.
    pub(crate) fn jump_by_hash(&mut self, table: u32) {
        self.set(RDX, 0);
        // crc32 rdx, rcx; movzx edx, dl; jmp [rdx * 8 + table]
        self.raw(&[0xf2, 0x48, 0x0f, 0x38, 0xf1, 0xd1, 0x0f, 0xb6, 0xd2, 0xff, 0x24, 0xd5]);
        self.imm32(table);
    }

    /// `mov dword gs:[offset], value`
    pub(crate) fn set_state32(&mut self, offset: i32, value: u32) {
        self.raw(&[0x65, 0xc7, 0x04, 0x25]);
        self.imm32(offset as u32);
        self.imm32(value);
    }

    /// `mov dword [base + displacement], value`
    pub(crate) fn store32(&mut self, base: Reg, displacement: i8, value: u32) {
        self.raw(&[0xc7, 0x40 | base.0, displacement as u8]);
        self.imm32(value);
    }
}

/// Returns the displacement of a jump whose 4 bytes are at an address.
pub(crate) fn displacement(at: u64, target: u64) -> u32 {
    target.wrapping_sub(at + 4) as u32
}

/// Returns what `crc32` makes of a number, from 0.
pub(crate) fn hash(value: u64) -> u64 {
    let mut crc = value;
    for _ in 0..64 {
        crc = if crc & 1 == 1 { (crc >> 1) ^ 0x82f6_3b78 } else { crc >> 1 };
    }
    crc
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions, Mnemonic, Register};

    use super::*;

    /// Writes instructions and decodes them again.
    fn decoded(write: impl FnOnce(&mut Asm)) -> Vec<iced_x86::Instruction> {
        let mut asm = Asm::new(0x5800_0000, CostPlace::Vector { numbers: 0x6c00_0000 });
        write(&mut asm);
        let decoder = Decoder::with_ip(64, asm.bytes(), asm.base(), DecoderOptions::NONE);
        decoder.into_iter().collect()
    }

    #[test]
    fn instructions_are_encoded_as_they_are_decoded() {
        let found = decoded(|asm| {
            asm.load(RDX, Mem::State(200));
            asm.store(Mem::State(0x7000_0000), RCX);
            asm.load(RCX, Mem::Base(RDX, -32));
            asm.lea(RSP, RSP, -8);
            asm.lea_sum(RCX, RSP, RCX, 1);
            asm.shift_right(RCX, RDX);
            asm.extract_bits(RAX, RDX);
            asm.jump_through(RDX, -24);
            asm.load(RCX, Mem::StackTop);
            asm.lea(RCX, RCX, -0x40_1234);
            asm.add_cost(100, true);
            asm.add_rcx_to_cost();
            asm.load_cost(RDX);
        });
        let text: Vec<(Mnemonic, Register, Register, Register, u64)> = found
            .iter()
            .map(|it| {
                let second = if it.op_count() > 1 { it.op_register(1) } else { Register::None };
                (it.mnemonic(), it.op0_register(), second, it.memory_base(), it.memory_displacement64())
            })
            .collect();
        use Mnemonic::{Jmp, Lea, Mov, Pext, Shrx, Vmovq, Vpaddq};
        let none = Register::None;
        assert_eq!(
            text,
            [
                (Mov, Register::RDX, none, none, 200),
                (Mov, none, Register::RCX, none, 0x7000_0000),
                (Mov, Register::RCX, none, Register::RDX, (-32i64) as u64),
                (Lea, Register::RSP, none, Register::RSP, (-8i64) as u64),
                (Lea, Register::RCX, none, Register::RSP, 1),
                (Shrx, Register::RCX, Register::RCX, none, 0),
                (Pext, Register::EAX, Register::EAX, none, 0),
                (Jmp, none, none, Register::RDX, (-24i64) as u64),
                (Mov, Register::RCX, none, Register::RSP, 0),
                (Lea, Register::RCX, none, Register::RCX, (-0x40_1234i64) as u64),
                (Vpaddq, Register::XMM16, Register::XMM16, none, 0x6c00_0320),
                (Vmovq, Register::XMM17, Register::RCX, none, 0),
                (Vpaddq, Register::XMM16, Register::XMM16, none, 0),
                (Vmovq, Register::RDX, Register::XMM16, none, 0),
            ]
        );
        assert!(found[10].is_broadcast());
        assert_eq!(found[12].op_register(2), Register::XMM17);
        assert_eq!(found[0].segment_prefix(), Register::GS);
        assert_eq!(found[4].memory_index(), Register::RCX);
        assert_eq!((found[5].op_register(2), found[6].op_register(2)), (Register::RDX, Register::EDX));
    }

    #[test]
    fn the_hash_is_that_of_the_processor() {
        #[allow(unsafe_code)]
        fn processor(value: u64) -> u64 {
            // SAFETY: the test runs only where the instruction exists.
            unsafe { std::arch::x86_64::_mm_crc32_u64(0, value) }
        }
        if std::is_x86_feature_detected!("sse4.2") {
            for value in [0, 1, 0x40_1234, 0x7fff_ffff, u64::MAX, 0x1234_5678_9abc_def0] {
                assert_eq!(hash(value), processor(value), "{value:x}");
            }
        }
    }
}
