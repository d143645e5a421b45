//! Operands relative to an instruction above 2 GB: they are too far from the copy of the instruction, which reaches them with a register.

use iced_x86::{Encoder, Instruction, InstructionInfoFactory, Register};

use crate::asm::{Asm, Mem, RAX, RCX, RDX, Reg, SCRATCH};
use crate::state::{SPILL1, State};

/// Copies of instructions reach what is below.
const NEAR_END: u64 = 1 << 31;

/// The registers that can take the address. Some instructions have three of them as operands, and the first cannot be used beside `ah` and
/// its like.
const REGISTERS: [(Reg, Register); 4] =
    [(SCRATCH, Register::R11), (RCX, Register::RCX), (RAX, Register::RAX), (RDX, Register::RDX)];

/// `true` if an instruction has an operand relative to its place that is far from its copy.
pub(super) fn is_far(instruction: &Instruction) -> bool {
    instruction.is_ip_rel_memory_operand() && instruction.ip_rel_memory_address() >= NEAR_END
}

/// An instruction with such an operand, and the register that takes its address.
#[derive(Debug)]
pub(super) struct FarOperand {
    register: Reg,
    address: u64,
    /// The instruction with that register.
    encoded: Vec<u8>,
}

impl FarOperand {
    /// Returns `None` if an instruction has no such operand.
    pub(super) fn of(instruction: &Instruction) -> Option<FarOperand> {
        if !is_far(instruction) {
            return None;
        }
        let mut factory = InstructionInfoFactory::new();
        let used = factory.info(instruction).used_registers();
        let is_free = |register| used.iter().all(|used| used.register().full_register() != register);
        REGISTERS.into_iter().filter(|(_, register)| is_free(*register)).find_map(|(register, base)| {
            let mut copy = *instruction;
            copy.set_memory_base(base);
            copy.set_memory_displacement64(0);
            copy.set_memory_displ_size(0);
            let mut encoder = Encoder::new(64);
            encoder.encode(&copy, 0).ok()?;
            Some(FarOperand {
                register,
                address: instruction.ip_rel_memory_address(),
                encoded: encoder.take_buffer(),
            })
        })
    }

    /// Writes the instruction.
    pub(super) fn emit(&self, asm: &mut Asm) {
        match self.register {
            SCRATCH => {}
            RCX => asm.spill_rcx(),
            register => asm.store(Mem::State(SPILL1), register),
        }
        asm.set64(self.register, self.address);
        asm.raw(&self.encoded);
        match self.register {
            SCRATCH => asm.restore_scratch(),
            RCX => asm.restore_rcx(),
            register => asm.load(register, Mem::State(SPILL1)),
        }
    }

    /// Restores the register of the program when the instruction has failed.
    pub(super) fn restore(&self, state: &mut State) {
        state.gpr[usize::from(self.register.0)] = match self.register {
            SCRATCH => state.kept,
            RCX => state.spill0,
            _ => state.spill1,
        };
    }
}
